"""Articulations: the trees of a world, under their names; and how names are chosen by patterns."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from cardan._algebra.errors import MechanismError, ParameterError, UnknownNameError
from cardan._robot.model import WORLD, Model

Pattern = str | re.Pattern[str] | Sequence[str]
"""Names as file names are matched (`"robot*"`), a list of such, or a compiled regular expression for whole names."""


@dataclass(frozen=True, slots=True)
class Articulation:
    """Bodies connected by joints, as one thing: a robot.

    Attributes:
        name: its name.
        joints: names of its joints, fixed and mimic ones included, in document order.
        bodies: names of its bodies, in document order.
        links: names of those of its bodies that move on joints of their own, in the order of `World.links`.
        root: the body its first joint attaches to the world.
        q_slice: where its coordinates are in q.
        v_slice: where its velocities are in v.
        is_floating: whether its root moves freely.

    Examples:
        >>> world = cardan.robots.arm7().world()
        >>> world.articulations["arm7"].q_slice
        slice(0, 7, None)
    """

    name: str
    joints: tuple[str, ...]
    bodies: tuple[str, ...]
    links: tuple[str, ...]
    root: str
    q_slice: slice
    v_slice: slice
    is_floating: bool

    @property
    def nq(self) -> int:
        """Number of its coordinates."""
        return self.q_slice.stop - self.q_slice.start

    @property
    def nv(self) -> int:
        """Number of its degrees of freedom."""
        return self.v_slice.stop - self.v_slice.start


def articulations(model: Model, named: Mapping[str, Sequence[str]]) -> dict[str, Articulation]:
    """Return the articulations of a model by name, of the joints of each; those that close loops have no coordinates.

    They are in document order, as states have their coordinates, and not in the order in which they were named.
    """
    place = {c.name: k for k, c in enumerate(model.connections)}
    moving = {joint: k for k, joint in enumerate(c.name for c in model.connections if c.joint.nv)}
    body = {name: k for k, name in enumerate(model.body_names)}
    found = [_articulation(model, name, joints, place, moving, body) for name, joints in named.items()]
    return {a.name: a for a in sorted(found, key=lambda a: place[a.joints[0]])}


def _articulation(
    model: Model,
    name: str,
    joints: Sequence[str],
    place: Mapping[str, int],
    moving: Mapping[str, int],
    body: Mapping[str, int],
) -> Articulation:
    """Return one; the mappings say which in the model each joint, each that moves and each body is."""
    own = [model.connections[k] for k in sorted({place[joint] for joint in joints if joint in place})]
    at = sorted(moving[c.name] for c in own if c.name in moving)
    if not own or (at and at[-1] - at[0] >= len(at)):
        chosen = {c.name for c in own}
        between = [joint for joint in list(moving)[at[0] : at[-1]] if joint not in chosen] if at else []
        what = f"joints {between[:6]} stand between its own" if own else "has no joint"
        raise MechanismError(f"articulation {name!r}: {what}; add the joints of an articulation one after the other.")
    bodies = {c.child for c in own}
    roots = [c for c in own if c.parent not in bodies]
    on_world = [c for c in roots if c.parent == WORLD]
    if not on_world or len(on_world) < len(roots):
        got = ", ".join(repr(c.name) for c in roots if c.parent != WORLD)
        raise MechanismError(
            f"articulation {name!r} does not begin at the world: {got} moves on a body whose joint is not among its "
            "joints. Name all joints from the world on."
        )
    q, v = zip(*(model.slices[c.name] for c in own), strict=True)
    return Articulation(
        name=name,
        joints=tuple(c.name for c in own),
        bodies=tuple(sorted(bodies, key=body.__getitem__)),
        links=tuple(c.child for c in own if c.joint.nv),
        root=on_world[0].child,
        q_slice=slice(q[0].start, q[-1].stop),
        v_slice=slice(v[0].start, v[-1].stop),
        is_floating=on_world[0].joint.is_floating and len(on_world) == 1,
    )


def select_names(kind: str, names: Sequence[str], pattern: Any, where: str = "view") -> list[str]:
    """Return those of the names of a kind of things that a `Pattern` matches.

    A list of names keeps its order. What patterns match is in the order of the names.

    Raise `UnknownNameError` if nothing matches; for a list, if something in it matches nothing.
    """
    matched: set[str] = set()
    tests = tests_of(kind, pattern)
    for test, matches in tests.items():
        found = {name for name in names if matches(name)}
        if not found:
            shown = test if isinstance(test, str) else test.pattern
            raise UnknownNameError(f"{kind} that matches the pattern, nor one", shown, names, where)
        matched |= found
    in_order = isinstance(pattern, (list, tuple)) and matched == {*tests}  # names alone, as those of frames
    return [*pattern] if in_order else [name for name in names if name in matched]


def tests_of(kind: str, pattern: Any) -> dict[str | re.Pattern[str], Callable[[str], Any]]:
    """Return what says if a name is one that a `Pattern` means, by what it consists of."""
    tests = list(pattern) if isinstance(pattern, (list, tuple, set, frozenset)) else [pattern]
    if not tests or not all(isinstance(test, (str, re.Pattern)) for test in tests) or len({*tests}) < len(tests):
        expected = "a pattern such as 'leg*', a list of names, each once, or a compiled regular expression"
        raise ParameterError(f"pattern of {kind}", got=pattern, expected=expected)
    return {t: partial(fnmatch.fnmatchcase, pat=t) if isinstance(t, str) else t.fullmatch for t in tests}
