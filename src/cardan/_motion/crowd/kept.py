"""The impulses at the contacts of a step, with which sweeps begin the next one: part of a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._motion.crowd.tables import BITS, MASK

NAMES = ("contact_key", "contact_feature", "contact_impulse", "contact_shapes")


@dataclass(frozen=True, eq=False)
class KeptImpulses:
    """Contacts of all worlds, in the order of their keys."""

    key: np.ndarray  # kind of pair, and the numbers of both shapes: int64 (n,)
    feature: np.ndarray  # which candidate of the pair: int32 (n,)
    impulse: np.ndarray  # on the first body, along the axes of the world [N s], (n, 3)
    shapes: int  # of one world

    def __post_init__(self) -> None:
        for array in (self.key, self.feature, self.impulse):  # copies of a state share them
            array.setflags(write=False)

    def of_worlds(self, chosen: np.ndarray) -> KeptImpulses:
        """Return those of some of the worlds, which become worlds 0, 1, ..."""
        world = self._world
        order = np.argsort(world, kind="stable")
        count = np.bincount(world, minlength=int(chosen.max(initial=-1)) + 1)
        first, count = (np.cumsum(count) - count)[chosen], count[chosen]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        own, shift = order[np.repeat(first, count) + within], np.repeat(np.arange(len(chosen)) - chosen, count)
        return self._of(own, shift)

    def without(self, left_out: np.ndarray) -> KeptImpulses:
        """Return those of the worlds that a mask does not name."""
        own = np.flatnonzero(~left_out[self._world])
        return self._of(own, 0)

    @property
    def _world(self) -> np.ndarray:
        return ((self.key >> BITS) & MASK) // max(self.shapes, 1)

    def _of(self, own: np.ndarray, worlds: Any) -> KeptImpulses:
        """Return some of them, in order, of worlds with higher numbers."""
        shift = worlds * self.shapes
        key, feature, impulse = self.key[own] + ((shift << BITS) + shift), self.feature[own], self.impulse[own]
        order = np.lexsort((feature, key))
        return KeptImpulses(key[order], feature[order], impulse[order], self.shapes)

    def moved(self, worlds: int) -> KeptImpulses:
        """Return the same of worlds with higher numbers."""
        shift = worlds * self.shapes
        return KeptImpulses(self.key + ((shift << BITS) + shift), self.feature, self.impulse, self.shapes)

    @staticmethod
    def together(parts: Sequence[KeptImpulses]) -> KeptImpulses:
        """Return those of several groups of worlds in one list."""
        key, feature, impulse = (np.concatenate([getattr(p, n) for p in parts]) for n in ("key", "feature", "impulse"))
        order = np.lexsort((feature, key))
        return KeptImpulses(key[order], feature[order], impulse[order], parts[0].shapes)

    def arrays(self) -> dict[str, np.ndarray]:
        return dict(zip(NAMES, (self.key, self.feature, self.impulse, np.array(self.shapes)), strict=True))

    @staticmethod
    def of_arrays(arrays: Mapping[str, Any]) -> KeptImpulses | None:
        """Return what `arrays` holds; None if there is none."""
        if NAMES[0] not in arrays:
            return None
        key, feature, impulse, shapes = (arrays[name] for name in NAMES)
        return KeptImpulses(
            np.asarray(key, np.int64), np.asarray(feature, np.int32), np.asarray(impulse, float), int(shapes)
        )


NOTHING = KeptImpulses(np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, 3)), 0)
