"""What two robots say beside how they move and weigh: limits, passive properties, shapes, frames, names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from cardan._reach.comparison.differences import Difference
from cardan._reach.comparison.matching import ComparedRobot
from cardan._reach.comparison.motion import shift
from cardan._robot.description import Mechanism
from cardan._robot.joints import Coupled, Limits, Mimic
from cardan._robot.model import Connection
from cardan._robot.records import Material

_PASSIVE = ("damping", "friction", "armature", "drive_stiffness", "drive_damping", "spring_stiffness", "spring_rest")
_PASSIVE += ("compliance",)
_LIMITS = tuple(f.name for f in fields(Limits))
_LOOKS = ("rgba", "texture")
_TOUCH = ("margin", "density", "surface_velocity")
_Pair = tuple[str, Any, Any]  # what it is, and its values in a and in b


def of_joint(a: Connection, b: Connection, tolerance: float) -> list[Difference]:
    if bool(a.joint.primaries) != bool(b.joint.primaries):
        where = "a" if a.joint.primaries else "b"
        return [Difference("joint", a.name, f"copies another joint in {where} alone")]
    if isinstance(a.joint, Coupled) and a.joint != b.joint:
        return [Difference("joint", a.name, "coupling", str(a.joint), str(b.joint))]
    pairs: list[_Pair] = []
    if isinstance(a.joint, Mimic) and isinstance(b.joint, Mimic):
        pairs += _pairs(a.joint, b.joint, ("primary", "multiplier", "offset"), "mimic.")
    if a.joint.nv == b.joint.nv:  # else their limits are lists of other lengths
        numbers = [*_pairs(a.limits, b.limits, _LIMITS, "limits."), *_pairs(a, b, _PASSIVE)]
        pairs += [(what, _plain(x), _plain(y)) for what, x, y in numbers]
    return list(_differing("joint", a.name, pairs, tolerance))


def _plain(numbers: tuple[float, ...]) -> Any:
    return float(numbers[0]) if len(numbers) == 1 else tuple(map(float, numbers))


def _pairs(a: Any, b: Any, names: Iterable[str], prefix: str = "") -> list[_Pair]:
    """Return the values of two records under some names."""
    return [(prefix + name, getattr(a, name), getattr(b, name)) for name in names]


def _differing(kind: str, where: str, pairs: Iterable[_Pair], tolerance: float) -> Iterator[Difference]:
    for what, x, y in pairs:
        if not _alike(x, y, tolerance):
            yield Difference(kind, where, what, x, y)


def _alike(a: Any, b: Any, tolerance: float) -> bool:
    if any(value is None or isinstance(value, str) for value in (a, b)):
        return a is b or a == b
    return _near(a, b, tolerance)


def _near(a: Any, b: Any, tolerance: float) -> bool:
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if x.shape != y.shape:
        return False
    with np.errstate(invalid="ignore"):  # inf - inf: equal infinities are compared before
        size = np.maximum(np.abs(x), np.abs(y))
        same = (x == y) | (np.isfinite(size) & (np.abs(x - y) <= tolerance * size))
    return bool(same.all())


def compare_records(
    a: ComparedRobot, b: ComparedRobot, offsets: Mapping[str, np.ndarray], tolerance: float
) -> list[Difference]:
    found = list(_frames(a, b, offsets, tolerance))
    found += _shapes(a, b, offsets, tolerance)
    for kind in ("named_configurations", "groups", "actuators"):
        found += _by_name(kind, _stated(a, kind), _stated(b, kind), tolerance)
    mine, theirs = ({frozenset(pair) for pair in view.thing.disabled_contacts} for view in (a, b))
    for pair in sorted(mine ^ theirs, key=sorted):
        where = "a" if pair in mine else "b"
        found.append(Difference("record", " / ".join(sorted(pair)), f"this contact is disabled in {where} alone"))
    surfaces = [{_contact(own): own for own in view.thing.contact_surfaces} for view in (a, b)]
    for key in sorted(surfaces[0].keys() | surfaces[1].keys(), key=sorted):
        mine, theirs = (own.get(key) for own in surfaces)
        if mine is None or theirs is None or (mine.material, mine.margin) != (theirs.material, theirs.margin):
            name = " / ".join(body for body, _ in sorted(key))
            found.append(Difference("record", name, "this contact has another surface of its own in a than in b"))
    return found


def _contact(own: Any) -> frozenset[tuple[str, str]]:
    """Return both sides of a contact: names of a body and of a shape on it."""
    return frozenset(zip((own.a, own.b), own.shapes, strict=True))


def _frames(
    a: ComparedRobot, b: ComparedRobot, offsets: Mapping[str, np.ndarray], tolerance: float
) -> Iterator[Difference]:
    mine, theirs = ({frame.name: frame for frame in view.thing.frames} for view in (a, b))
    for name in [*mine, *(name for name in theirs if name not in mine)]:
        if name not in mine or name not in theirs:
            yield Difference("record", name, f"this frame is in {'a' if name in mine else 'b'} alone")
            continue
        one, two = mine[name], theirs[name]
        if one.kind != two.kind:
            yield Difference("record", name, "this frame is of another kind", one.kind, two.kind)
        if one.body != two.body:
            yield Difference("record", name, "this frame is on another body", one.body, two.body)
            continue
        there = offsets.get(one.body, np.eye(4)) @ two.pose.matrix()
        if way := shift(one.pose.matrix(), there, tolerance):
            yield Difference("record", name, "this frame is elsewhere", cause="it" + way)


def _shapes(
    a: ComparedRobot, b: ComparedRobot, offsets: Mapping[str, np.ndarray], tolerance: float
) -> Iterator[Difference]:
    mine, theirs = list(a.thing.shapes), list(b.thing.shapes)
    touching: dict[tuple[int, int, int, int], str] = {}
    for body in offsets:
        for role in ("visual", "collision"):
            one = [shape for shape in mine if shape.body == body and shape.role == role]
            two = [shape for shape in theirs if shape.body == body and shape.role == role]
            if len(one) != len(two):
                yield Difference("shape", body, f"number of {role} shapes", len(one), len(two))
                continue
            for k, (s, t) in enumerate(zip(one, two, strict=True)):
                yield from _shape(f"{body}, {role} {k}", s, t, offsets[body], tolerance)
                if role == "collision":
                    touching.setdefault((s.group, s.mask, t.group, t.mask), f"{body}, {role} {k}")
    yield from _touching(touching)


def _touching(kinds: Mapping[tuple[int, int, int, int], str]) -> Iterator[Difference]:
    """Yield which shapes may touch in one robot alone; formats number the bits that say so anew.

    The kinds are group and mask in the first robot and in the second, with the first shape that has them.
    """
    for (i, one), (j, two) in combinations_with_replacement(enumerate(kinds), 2):
        in_a = bool(one[0] & two[1]) and bool(two[0] & one[1])
        in_b = bool(one[2] & two[3]) and bool(two[2] & one[3])
        if in_a != in_b:
            names = list(kinds.values())
            others = "shapes of its own group and mask" if i == j else names[j]
            yield Difference("shape", names[i], f"group, mask: may touch {others} in {'a' if in_a else 'b'} alone")
            return


def _shape(where: str, s: Any, t: Any, offset: np.ndarray, tolerance: float) -> Iterator[Difference]:
    if type(s.geometry) is not type(t.geometry):
        yield Difference("shape", where, "geometry", type(s.geometry).__name__, type(t.geometry).__name__)
        return
    pairs = _pairs(s.geometry, t.geometry, [f.name for f in fields(s.geometry) if f.compare and f.name != "path"])
    if getattr(s.geometry, "path", None) and s.geometry.path == t.geometry.path:
        pairs = [pair for pair in pairs if pair[0] != "uri"]
    yield from _differing("shape", where, pairs, tolerance)
    if way := shift(s.pose.matrix(), offset @ t.pose.matrix(), tolerance):
        yield Difference("shape", where, "this shape is elsewhere", cause="it" + way)
    touching = s.role == "collision"
    # A density or margin of 0 says as little as none.
    pairs = [(what, x or None, y or None) for what, x, y in _pairs(s, t, (*_LOOKS, *(_TOUCH if touching else ())))]
    if touching:
        names = [f.name for f in fields(Material)]
        pairs += _pairs(s.surface or Material(), t.surface or Material(), names, "surface.")
    yield from _differing("shape", where, pairs, tolerance)


def _stated(view: ComparedRobot, kind: str) -> dict[str, Any]:
    """Return what is stated by name; configurations with all their joints."""
    parts = getattr(view.thing, kind)
    if kind == "named_configurations" and isinstance(view.thing, Mechanism):
        neutral = {c.name: tuple(map(float, c.joint.neutral())) for c in view.tree.values() if c.joint.nq}
        return {name: {**neutral, **given} for name, given in parts.items()}
    return dict(parts) if isinstance(parts, Mapping) else {part.name: part for part in parts}


def _by_name(kind: str, mine: Mapping[str, Any], theirs: Mapping[str, Any], tolerance: float) -> Iterator[Difference]:
    for name in [*mine, *(name for name in theirs if name not in mine)]:
        if name not in mine or name not in theirs:
            where = "a" if name in mine else "b"
            yield Difference("record", name, f"is among the {kind.replace('_', ' ')} of {where} alone")
        elif not _same(mine[name], theirs[name], tolerance):
            yield Difference("record", name, f"differs among the {kind.replace('_', ' ')}")


def _same(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        alike = [key for key in a if key in b and len(a[key]) == len(b[key])]  # other coordinates are told elsewhere
        return a.keys() == b.keys() and all(_near(a[key], b[key], tolerance) for key in alike)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return _near(a, b, tolerance)
    return a == b
