"""Which shapes may touch: collision groups as bits, filtered pairs as pairs of bodies.

Two shapes of cardan touch if each one's group has a bit of the other's mask. Groups of USD forbid: two shapes do not
touch if any group of one filters any group of the other. So every set of groups that shapes are in gets a bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from cardan._reach.formats.usd.shapes import Solid
from cardan._reach.formats.usd.stage import Stage, pxr
from cardan._reach.formats.usd.values import Scene, flag, targets, value
from cardan._robot.geometry.shapes import ALL_BITS
from cardan._robot.geometry.touching import EVERYTHING

MAX_GROUPS = 100
"""Their collections are asked for every shape: more of them take time for nothing a mask of 32 bits can hold."""
MAX_CLASSES = 31
MAX_PAIRS = 20_000


def bits_of(stage: Stage, scene: Scene, solids: Sequence[Solid]) -> list[tuple[int, int]]:
    """Return group and mask of each geometry."""
    if not scene.groups:
        return [EVERYTHING] * len(solids)
    if len(scene.groups) > MAX_GROUPS:
        told = f"there are {len(scene.groups)} collision groups, more than {MAX_GROUPS}: they are left out"
        stage.report.warn(stage.where(scene.groups[0]), told)
        return [EVERYTHING] * len(solids)
    filters = _filters(scene.groups)
    members = [pxr().UsdPhysics.CollisionGroup(g).GetCollidersCollectionAPI() for g in scene.groups]
    queries = {str(e.GetPrim().GetPath()): e.ComputeMembershipQuery() for e in members}
    inside = [frozenset(p for p, q in queries.items() if q.IsPathIncluded(s.prim.GetPath())) for s in solids]
    bits = _bits(stage, scene, dict.fromkeys(inside), filters)
    return [bits.get(groups, EVERYTHING) for groups in inside]


def _filters(groups: Sequence[Any]) -> Mapping[str, set[str]]:
    """Return the groups each group does not touch; groups that are merged by name count as one."""
    paths = [str(g.GetPath()) for g in groups]
    names = {str(g.GetPath()): str(value(g, "physics:mergeGroup") or g.GetPath()) for g in groups}
    same = {name: {p for p in paths if names[p] == name} for name in names.values()}
    found: dict[str, set[str]] = {p: set() for p in paths}
    for group in groups:
        named = {str(path) for path in targets(group, "physics:filteredGroups")} & set(paths)
        others = {p for e in named for p in same[names[e]]}
        if flag(group, "physics:invertFilteredGroups", False):
            others = set(paths) - others
        for one, other in product(same[names[str(group.GetPath())]], others):
            found[one].add(other)
            found[other].add(one)
    return found


def _bits(
    stage: Stage, scene: Scene, classes: Mapping[frozenset[str], None], filters: Mapping[str, set[str]]
) -> dict[frozenset[str], tuple[int, int]]:
    filtering = [c for c in classes if any(filters[group] for group in c)]
    if len(filtering) > MAX_CLASSES:
        told = f"shapes are in {len(filtering)} different sets of collision groups; a mask has room for {MAX_CLASSES}"
        stage.report.warn(stage.where(scene.groups[0]), told + ": they are left out")
        return {}
    bit = {c: 2 << k for k, c in enumerate(filtering)}

    def mask(c: frozenset[str]) -> int:
        forbidden = {other for group in c for other in filters[group]}
        return ALL_BITS & ~sum(bit[other] for other in filtering if other & forbidden)

    return {c: (bit[c], mask(c)) for c in filtering}


def filtered_pairs(stage: Stage, scene: Scene) -> Iterator[tuple[str, str]]:
    """Yield the pairs of bodies, by path, that a FilteredPairsAPI keeps apart."""
    count = 0
    for prim in scene.prims:
        for path in targets(prim, "physics:filteredPairs"):
            other = stage.usd.GetPrimAtPath(path)
            if not other:
                stage.report.remark(
                    stage.where(prim), f"physics:filteredPairs names {str(path)!r}, which does not exist"
                )
                continue
            for one, two in product(_bodies(scene, prim), _bodies(scene, other)):
                count += 1
                if count > MAX_PAIRS:
                    stage.report.warn(
                        stage.where(prim), f"more than {MAX_PAIRS} filtered pairs: the others are left out"
                    )
                    return
                if one != two:
                    yield one, two


def _bodies(scene: Scene, prim: Any) -> list[str]:
    """Return the body a prim is part of, or all bodies below it."""
    body, path = scene.body_of(prim), f"{prim.GetPath()}/"
    return [body] if body else [each for each in scene.bodies if each.startswith(path)]
