"""What a state keeps of a step beside its coordinates: impulses at contacts, with which the next one begins; rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cardan._motion.crowd.tables import BITS, MASK

NAMES = ("contact_key", "contact_feature", "contact_impulse", "contact_shapes", "rest", "rest_q")
UNKNOWN = np.int64(-1)  # a kind of pair
NOBODY = np.empty((0, 0), np.int32), np.empty((0, 0))  # is at rest


@dataclass(frozen=True, eq=False)
class KeptImpulses:
    """Contacts of all worlds, in the order of their keys."""

    key: np.ndarray  # kind of pair, below 0 if it is not known yet, and the numbers of both shapes: int64 (n,)
    feature: np.ndarray  # which candidate of the pair: int32 (n,)
    impulse: np.ndarray  # on the first body, along the axes of the world [N s], (n, 3)
    shapes: int  # of one world
    # of each world, as `sleep` has them: int32 (worlds, trees); no worlds if none sleeps
    rest: np.ndarray = field(default_factory=lambda: NOBODY[0])
    rest_q: np.ndarray = field(default_factory=lambda: NOBODY[1])  # (worlds, nq)

    def __post_init__(self) -> None:
        for array in (self.key, self.feature, self.impulse, self.rest, self.rest_q):  # copies of a state share them
            array.flags.writeable = False

    def of_worlds(self, chosen: np.ndarray) -> KeptImpulses:
        """Return those of some of the worlds, which become worlds 0, 1, ..."""
        world = self._world
        order = np.argsort(world, kind="stable")
        count = np.bincount(world, minlength=int(chosen.max(initial=-1)) + 1)
        first, count = (np.cumsum(count) - count)[chosen], count[chosen]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        own, shift = order[np.repeat(first, count) + within], np.repeat(np.arange(len(chosen)) - chosen, count)
        rest, rest_q = (a[chosen] if len(a) else a for a in (self.rest, self.rest_q))
        return self._of(own, shift, rest=rest, rest_q=rest_q)

    def without(self, left_out: np.ndarray) -> KeptImpulses:
        """Return those of the worlds that a mask does not name; in the others nobody is at rest."""
        own = np.flatnonzero(~left_out[self._world])
        rest = np.where(left_out[:, None], 0, self.rest).astype(np.int32) if len(self.rest) else self.rest
        return self._of(own, 0, rest=rest)

    @property
    def _world(self) -> np.ndarray:
        return ((self.key >> BITS) & MASK) // max(self.shapes, 1)

    def _of(self, own: Any, worlds: Any, **others: Any) -> KeptImpulses:
        """Return some of them, of worlds with higher numbers."""
        shift = worlds * self.shapes
        return self._with_keys(self.key[own] + ((shift << BITS) + shift), own, **others)

    def _with_keys(self, key: np.ndarray, own: Any = slice(None), **others: Any) -> KeptImpulses:
        """Return some of them under other keys, in order; and with `others` in place of what there is besides."""
        order = np.lexsort((self.feature[own], key))
        feature, impulse = self.feature[own][order], self.impulse[own][order]
        return replace(self, key=key[order], feature=feature, impulse=impulse, **others)

    def moved(self, worlds: int) -> KeptImpulses:
        """Return the same of worlds with higher numbers."""
        return self._of(slice(None), worlds)

    def renumbered(self, numbers: np.ndarray, nodes: np.ndarray, shapes: int) -> KeptImpulses:
        """Return those of contacts that another scene has, too; all are awake.

        Args:
            numbers: of this scene's shapes in that one, -1 of what is not there.
            nodes: of these: the shape on the later one comes first.
            shapes: how many that scene has.
        """
        world, each = self._world, max(self.shapes, 1)
        a, b = ((self.key >> BITS) & MASK) % each, (self.key & MASK) % each
        own = np.flatnonzero((numbers[a] >= 0) & (numbers[b] >= 0) & (nodes[a] > nodes[b]))
        first, second = (world[own] * shapes + numbers[side[own]] for side in (a, b))
        key = (UNKNOWN << 2 * BITS) | (first << BITS) | second
        return self._with_keys(key, own, shapes=shapes, rest=NOBODY[0], rest_q=NOBODY[1])

    def of_kinds(self, kind: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> KeptImpulses:
        """Return the same with kinds of pairs that were not known, by what gives them of the numbers of shapes."""
        if not len(self.key) or self.key[0] >= 0:
            return self
        a, b = (self.key >> BITS) & MASK, self.key & MASK
        return self._with_keys((kind(a, b).astype(np.int64) << 2 * BITS) | (a << BITS) | b)

    @staticmethod
    def together(parts: Sequence[KeptImpulses]) -> KeptImpulses:
        """Return those of several groups of worlds in one list."""
        names = "key", "feature", "impulse", "rest", "rest_q"
        found = replace(parts[0], **{name: np.concatenate([getattr(p, name) for p in parts]) for name in names})
        return found._with_keys(found.key)

    def arrays(self) -> dict[str, np.ndarray]:
        shapes = np.array(self.shapes)
        own = self.key, self.feature, self.impulse, shapes, self.rest, self.rest_q
        return dict(zip(NAMES, own, strict=True))

    @staticmethod
    def of_arrays(arrays: Mapping[str, Any]) -> KeptImpulses | None:
        """Return what `arrays` holds; None if there is none."""
        if NAMES[0] not in arrays:
            return None
        key, feature, impulse, shapes = (arrays[name] for name in NAMES[:4])
        rest, rest_q = (arrays.get(name, none) for name, none in zip(NAMES[4:], NOBODY, strict=True))
        key, feature, rest = np.asarray(key, np.int64), np.asarray(feature, np.int32), np.asarray(rest, np.int32)
        return KeptImpulses(key, feature, np.asarray(impulse, float), int(shapes), rest, np.asarray(rest_q, float))


NOTHING = KeptImpulses(np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, 3)), 0)
