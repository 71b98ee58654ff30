"""Which shapes may touch: rules that are made once, with the world, and the pairs that follow from them."""

from __future__ import annotations

import fnmatch
import math
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cardan._algebra.errors import OverlapWarning, UnsupportedError, check_known, levels_inside
from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import Vector3
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.tree import supports
from cardan._motion.collision import Candidate, points
from cardan._motion.contact.touching import ContactPair
from cardan._motion.simulation.articulation import Pattern, select_names, tests_of
from cardan._robot.description import Shape
from cardan._robot.geometry.shapes import GROUNDS, Plane, Sphere, TriangleMesh
from cardan._robot.geometry.support import ENDING, box_about
from cardan._robot.model import WORLD, Material, Model
from cardan._robot.records import ContactSurface

MANY = 200
"""Pairs, from which on a program is warned of: a step of a walking robot costs about as much as 100."""
SHOWN = 32
"""Pairs, up to which a list shows them."""
PAIR = "pair, shape or body"
TOKEN = re.compile(r"\[!?+\]?+[^\]]*\]|.", re.DOTALL)
"""What one character, or an asterisk, stands for in a glob."""

Disabled = Collection[tuple[str, str]]
"""Pairs of names of bodies."""

WORLD_NODE = -1
NO_SURFACE = Material()
TIME = 1e-2
"""[s]: what stands on one point sinks by g TIME^2, a millimetre on Earth."""
LIGHT = 5e4
"""The least stiffness [N/m] that is not given: that of 5 kg. Light things sink by less than a millimetre."""
ROUNDING = 1e-9
"""Overlap [m] that may be rounding: shapes that just meet, as closed fingers do, may touch."""


class _Solid(NamedTuple):
    """A collision shape, the node it rides on, the tree of that, and what to call it."""

    shape: Shape
    node: int
    root: int
    name: str


@dataclass(frozen=True)
class Rules:
    """Which collision shapes may touch, by their places in document order.

    Two shapes may if they move relative to one another, each is in a group that the other's mask has, they are of
    different families and not both strangers, and they are not kept apart.
    """

    solids: tuple[_Solid, ...]
    families: tuple[int, ...]  # those of one family do not touch one another, -1 for none
    apart: frozenset[tuple[int, int]]  # pairs of places, the lower one first, that do not
    together: frozenset[tuple[int, int]]  # and that do although they are of one family, or strangers
    # And what contact of some pairs feels, which touch whatever else keeps them apart
    surfaces: Mapping[tuple[int, int], ContactSurface] = field(default_factory=dict)
    strangers: frozenset[int] = frozenset()  # places of shapes of which no two touch
    gliding: frozenset[tuple[int, int]] = frozenset()  # pairs that are apart as long as joints stay where they are

    def partners(self, i: int) -> np.ndarray:
        """Return the places of all shapes that may touch one, in order."""
        node, group, mask, family = self._columns
        found = (group & mask[i] != 0) & (mask & group[i] != 0)
        masked = found.copy()
        found &= ((family < 0) | (family != family[i])) & ~(self.is_stranger & self.is_stranger[i])
        apart, together, own = self._exceptions
        found[apart.get(i, [])] = False
        found[together.get(i, [])] = masked[together.get(i, [])]
        found[own.get(i, [])] = True
        return np.flatnonzero(found & (node != node[i]))

    def later(self, i: int) -> np.ndarray:
        """Return those of them that come later."""
        found = self.partners(i)
        return found[np.searchsorted(found, i) :]

    def numbers(self, pairs: np.ndarray) -> np.ndarray:
        """Return where pairs of places (n, 2), the lower one first, come among all pairs."""
        found = np.empty(len(pairs), dtype=int)
        for i in np.unique(pairs[:, 0]).tolist():
            own = pairs[:, 0] == i
            found[own] = self._first[i] + np.searchsorted(self.later(i), pairs[own, 1])
        return found

    @cached_property
    def _first(self) -> np.ndarray:
        """The number of each place's first pair."""
        return np.cumsum([0, *(len(self.later(i)) for i in range(len(self.solids)))])

    def only(self, shapes: np.ndarray, pairs: Iterable[tuple[int, int]] = ()) -> Rules:
        """Return those with one of some shapes, of which an array says if it is one, and of some pairs that may touch.

        So a few shapes among many are chosen without a list of their pairs, unless they were chosen among a few.
        """
        kept, chosen = frozenset(pairs), {*np.flatnonzero(shapes).tolist()}
        others = frozenset(range(len(shapes))) - chosen
        surfaces = {both: own for both, own in self.surfaces.items() if both in kept or not chosen.isdisjoint(both)}
        if self.strangers <= others:
            together = kept | {both for both in self.together if not chosen.isdisjoint(both)}
            return replace(self, together=together, surfaces=surfaces, strangers=others)
        listed = kept | {both for both in self if not chosen.isdisjoint(both)}
        return Rules(self.solids, (0,) * len(shapes), frozenset(), listed, surfaces)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for i in range(len(self.solids)):
            for j in self.later(i).tolist():
                yield i, j

    def __len__(self) -> int:
        return sum(len(self.partners(i)) for i in range(len(self.solids))) // 2

    @cached_property
    def _columns(self) -> tuple[np.ndarray, ...]:
        shapes = [solid.shape for solid in self.solids]
        rows = [s.node for s in self.solids], [s.group for s in shapes], [s.mask for s in shapes], self.families
        return tuple(np.array(row, dtype=np.int64) for row in rows)

    @cached_property
    def is_stranger(self) -> np.ndarray:
        """Whether each shape is a stranger, as its place says."""
        return np.isin(np.arange(len(self.solids)), [*self.strangers])

    @cached_property
    def _exceptions(self) -> tuple[dict[int, list[int]], ...]:
        found: tuple[dict[int, list[int]], ...] = {}, {}, {}
        for listed, pairs in zip(found, (self.apart, self.together, self.surfaces), strict=True):
            for i, j in pairs:
                listed.setdefault(i, []).append(j)
                listed.setdefault(j, []).append(i)
        return found


class PairList(Sequence["ContactPair"]):
    """Pairs of shapes that may touch, in order; they are made when somebody asks for one.

    A world of a thousand bodies has half a million of them, and steps of many bodies (`crowd`) need the rules alone.
    """

    def __init__(self, rules: Rules, stiffness: Sequence[float]) -> None:
        self.rules = rules
        self.stiffness: tuple[float, ...] = tuple(stiffness)  # of each shape's surface, where it is not given [N/m]

    @cached_property
    def _all(self) -> tuple[ContactPair, ...]:
        return tuple(self.pair(i, j) for i, j in self.rules)

    def pair(self, i: int, j: int) -> ContactPair:
        """Return the pair of two places."""
        one, other = self.rules.solids[i], self.rules.solids[j]
        # The world is node -1: so the first shape of a pair moves.
        a, b = (one, other) if one.node > other.node else (other, one)
        material = _combined(a.shape.surface or NO_SURFACE, b.shape.surface or NO_SURFACE)
        margin, own = a.shape.margin + b.shape.margin, self.rules.surfaces.get((i, j))
        if own is not None:
            material, margin = own.material, margin if own.margin is None else own.margin
        if material.stiffness is None:
            material = replace(material, stiffness=self.stiffness[i if a is one else j])
        first, second = ((s.shape.body, s.shape.geometry, s.shape.pose) for s in (a, b))
        running = a.shape.surface_velocity, b.shape.surface_velocity
        return ContactPair(*first, *second, material, f"{a.name}/{b.name}", margin, running)

    def selected(self, pattern: Pattern, where: str) -> PairList:
        """Return those that a pattern names; see `select_pairs`."""
        shapes = [(solid.name, solid.shape.body) for solid in self.rules.solids]
        rows = ((i, self.rules.later(i)) for i in range(len(shapes)))
        return PairList(self.rules.only(*_named(shapes, rows, pattern, where)), self.stiffness)

    def but_between(self, bodies: Collection[str]) -> PairList:
        """Return those that are not between two of some bodies."""
        others = np.array([solid.shape.body not in bodies for solid in self.rules.solids], dtype=bool)
        return PairList(self.rules.only(others), self.stiffness)

    def on_joints_that_turn(self) -> PairList:
        """Return these and what is left out because joints move it along a plane: inputs may turn them."""
        rules = replace(self.rules, apart=self.rules.apart - self.rules.gliding, gliding=frozenset())
        return PairList(rules, self.stiffness)

    def on_grounds(self) -> list[ContactPair]:
        """Return the pairs of a shape and something without an end."""
        grounds = [k for k, s in enumerate(self.rules.solids) if isinstance(s.shape.geometry, GROUNDS)]
        found = {(min(i, j), max(i, j)) for i in grounds for j in self.rules.partners(i).tolist()}
        return [self.pair(*both) for both in sorted(found)]

    def of_each_kind(self) -> list[ContactPair]:
        """Return the first pair of each two types of shapes that may touch."""
        kinds = np.array([id(type(solid.shape.geometry)) for solid in self.rules.solids], dtype=np.int64)
        known = set(kinds.tolist())
        found: dict[frozenset[int], tuple[int, int]] = {}
        for i, own in enumerate(kinds.tolist()):
            missing = {kind for kind in known if frozenset((own, kind)) not in found}
            if not missing:
                continue
            later = self.rules.later(i)
            for kind in missing.intersection(kinds[later].tolist()):
                found[frozenset((own, kind))] = i, int(later[np.argmax(kinds[later] == kind)])
        return [self.pair(*both) for both in found.values()]

    def near(self, pose_of: Callable[[str], np.ndarray]) -> tuple[list[ContactPair], Iterator[ContactPair]]:
        """Return the pairs the balls about which meet, and those of what has no end; a half space is below its plane.

        Those with a ground come first, then all others, each made when it is asked for: they may be a million.

        Args:
            pose_of: where a body is: homogeneous matrices X_world_body, shape (4, 4).
        """
        grounds = {k for k, solid in enumerate(self.rules.solids) if isinstance(solid.shape.geometry, GROUNDS)}
        places = list(self.near_places(pose_of))
        others = (self.pair(*both) for both in places if grounds.isdisjoint(both))
        return [self.pair(*both) for both in places if not grounds.isdisjoint(both)], others

    def near_places(self, pose_of: Callable[[str], np.ndarray]) -> Iterator[tuple[int, int]]:
        """Yield the places of the shapes of these pairs."""
        balls = [_ball(solid.shape, pose_of) for solid in self.rules.solids]
        centre, radius, normal = (np.array(part) for part in zip(*balls, strict=True)) if balls else [np.empty(0)] * 3
        along = centre[:, 0].copy() if balls else centre  # most are apart along one axis, which is quickly seen
        for i in range(len(balls)):
            later = i + 1 + np.flatnonzero(np.abs(along[i + 1 :] - along[i]) <= radius[i + 1 :] + radius[i])
            way = centre[later] - centre[i]
            meets = np.einsum("ij,ij->i", way, way) <= (radius[later] + radius[i]) ** 2
            meets &= (way @ normal[i] <= radius[later]) | (radius[later] == math.inf)
            meets &= (np.einsum("ij,ij->i", -way, normal[later]) <= radius[i]) | (radius[i] == math.inf)
            if meets.any():  # rules take longer
                yield from ((i, j) for j in np.intersect1d(later[meets], self.rules.later(i), True).tolist())

    def __len__(self) -> int:
        return len(self._all) if "_all" in vars(self) else len(self.rules)

    def __bool__(self) -> bool:
        return next(iter(self.rules), None) is not None

    def __getitem__(self, k: Any) -> Any:
        return self._all[k]

    def __iter__(self) -> Iterator[ContactPair]:
        return iter(self._all)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairList):
            return isinstance(other, tuple) and self._all == other
        return self is other or (self.rules, self.stiffness) == (other.rules, other.stiffness)

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __repr__(self) -> str:
        count = len(self)
        return repr(self._all) if count <= SHOWN else f"<{count} pairs of shapes>"


_combined = lru_cache(Material.combined)
"""The material of a contact: pairs are many, and surfaces few."""


def _ball(shape: Shape, pose_of: Callable[[str], np.ndarray]) -> tuple[np.ndarray, float, np.ndarray]:
    """Return the middle and the radius of a ball about a shape in the world [m], infinite if it has no end.

    The third is the normal of a half space, whose middle is on its plane; of others it is 0.
    """
    X = pose_of(shape.body) @ shape.pose.matrix().astype(float)
    if not isinstance(shape.geometry, ENDING):
        return X[:3, 3], math.inf, X[:3, 2] if isinstance(shape.geometry, Plane) else np.zeros(3)
    middle, half = (np.array([*map(float, part)]) for part in box_about(shape.geometry))
    radius = half[0] if isinstance(shape.geometry, Sphere) else np.linalg.norm(half)
    return X[:3, :3] @ middle + X[:3, 3], float(radius), np.zeros(3)


class Pairs(NamedTuple):
    """Which pairs of shapes may touch; and names of those left out because they overlap from the beginning."""

    touching: PairList
    overlapping: tuple[str, ...] = ()


def contact_pairs(
    model: Model,
    shapes: Iterable[Shape],
    disabled: Disabled = (),
    rest: Sequence[float] | Kinematics | None = None,
    keep_overlapping: bool = False,
    families: Mapping[str, str] | None = None,
    enabled: Disabled = (),
    surfaces: Iterable[ContactSurface] = (),
) -> Pairs:
    """Return the pairs of collision shapes that may touch.

    Left out are shapes that do not move relative to one another, shapes of two bodies that a joint connects (also
    through bodies fixed on them; joints on the world count as none), groups that are in no mask of the other, and pairs
    of bodies that are disabled. So are planes of the world and what joints move along them alone: friction would brake
    what they do not bear. So are pairs that overlap at rest and cannot be meant to touch, with a warning: two shapes of
    one tree; a shape and the world, if no joint moves it along the contact's normal.

    Args:
        model: whose bodies the shapes are on.
        shapes: visual ones count for nothing.
        disabled: pairs of names of bodies, in either order.
        rest: the configuration [rad, m], or where bodies are in it, in which shapes of one tree should not overlap;
            None to keep those that do.
        keep_overlapping: whether to keep them all the same.
        families: bodies of one family do not touch one another: its name, by body.
        enabled: pairs of names of bodies, in either order, that may touch all the same: families, joints and `disabled`
            do not count for them.
        surfaces: what contact of some shapes feels, which may touch whatever else keeps them apart.

    Raises:
        UnknownNameError: for a body that does not exist.
        UnsupportedError: for a triangle mesh on a body that moves.

    Warns:
        OverlapWarning: of what is left out because it overlaps.

    Examples:
        >>> dog = cardan.robots.quadruped()
        >>> len(cardan.simulation.contact_pairs(dog.model(base="floating"), dog.shapes)[0]) > 0
        True
    """
    for body in (body for pair in (*disabled, *enabled) for body in pair):
        check_known("body", body, (WORLD, *model.body_names), "disabled pairs")
    solids = _solids(model, shapes)
    rules = _rules(model, solids, disabled, families or {}, enabled)
    rules = replace(rules, surfaces=_surfaces(solids, surfaces))
    overlapping: dict[tuple[int, int], str] = {}
    gliding: frozenset[tuple[int, int]] = frozenset()
    if rest is not None and not keep_overlapping:
        is_suspect = _suspicion(model, solids)
        kinematics = rest if isinstance(rest, Kinematics) else Kinematics(model, rest)
        pairs = PairList(rules, [LIGHT] * len(rules.solids))
        gliding = frozenset(_gliding(rules, is_suspect, kinematics))
        near = pairs.near_places(lambda body: kinematics.pose(body).matrix().astype(float))
        for i, j in (both for both in near if is_suspect(*both) and both not in rules.surfaces):
            pair = pairs.pair(i, j)
            least = -ROUNDING if (i, j) in gliding else ROUNDING  # what lies on a plane there is named, too
            if depth(kinematics, pair) > least and (is_of_one_tree(model, pair) or not _can_part(kinematics, pair)):
                overlapping[i, j] = pair.name
    if overlapping:
        warnings.warn(OverlapWarning(model.name, list(overlapping.values())), stacklevel=levels_inside())
    stiffness, gone = bearing(model, rules), overlapping.keys() | gliding  # none of which has a surface of its own
    rules = replace(rules, apart=rules.apart | gone, together=rules.together - gone)
    rules = replace(rules, gliding=gliding - overlapping.keys())
    return Pairs(PairList(rules, stiffness), tuple(overlapping.values()))


def _rules(
    model: Model, solids: Sequence[_Solid], disabled: Disabled, families: Mapping[str, str], enabled: Disabled
) -> Rules:
    on_body: dict[str, list[int]] = {}
    on_node: dict[int, list[int]] = {}
    carrier = _carriers(model)
    for k, solid in enumerate(solids):
        on_body.setdefault(solid.shape.body, []).append(k)
        on_node.setdefault(carrier[solid.node], []).append(k)

    def places(ends: Iterable[tuple[Any, Any]], of: Mapping[Any, list[int]]) -> set[tuple[int, int]]:
        both = ((i, j) for a, b in ends for i in of.get(a, ()) for j in of.get(b, ()))
        return {(min(i, j), max(i, j)) for i, j in both if i != j}

    node = {body: carrier[model.attachment(body).node] for body in (WORLD, *model.body_names)}
    ends = ((node[c.parent], node[c.child]) for c in (*model.connections, *model.closures))
    joined = [pair for pair in ends if WORLD_NODE not in pair]  # what hangs on the world may touch it
    still = places(((own, own) for at, own in carrier.items() if at != own), on_node)
    on = places(enabled, on_body) - still
    apart = (places(joined, on_node) | places(disabled, on_body) | still) - on
    numbers = {name: n for n, name in enumerate(dict.fromkeys(families.values()))}
    own = tuple(numbers[families[s.shape.body]] if s.shape.body in families else -1 for s in solids)
    return Rules(tuple(solids), own, frozenset(apart), frozenset(on))


def _carriers(model: Model) -> dict[int, int]:
    """Return the node that moves what is on each: not its own if its joint never moves, as one that copies by 0."""
    found = {WORLD_NODE: WORLD_NODE}
    for node in model.nodes:  # a parent comes before its children
        joint = node.joint
        columns = joint.motion_subspace(joint.manifold.neutral()) if joint.has_constant_motion_subspace else None
        is_still = columns is not None and all(is_zero(x) for column in columns for x in column.scalars())
        found[node.index] = found[node.parent] if is_still else node.index
    return found


def _surfaces(solids: Sequence[_Solid], surfaces: Iterable[ContactSurface]) -> dict[tuple[int, int], ContactSurface]:
    """Return surfaces of contacts by the places of their shapes, the lower one first."""

    def places(body: str, name: str) -> list[int]:
        own = [(k, solid.shape) for k, solid in enumerate(solids) if solid.shape.body == body]
        return [k for k, shape in own if not name or shape.name == name]

    found: dict[tuple[int, int], ContactSurface] = {}
    for own in surfaces:
        sides = (places(*side) for side in zip((own.a, own.b), own.shapes, strict=True))
        those = {(min(i, j), max(i, j)): own for i, j in product(*sides) if solids[i].node != solids[j].node}
        if not those:
            what = f"the contact of {own.a!r} and {own.b!r} is left out, which has a surface of its own"
            why = "no collision shapes of both move relative to one another"
            warnings.warn(f"{what}: {why}", stacklevel=levels_inside())
        found |= those
    return found


def _suspicion(model: Model, solids: Sequence[_Solid]) -> Callable[[int, int], bool]:
    """Return who says if two shapes may not be meant to touch: of one tree, or of the world and a tree that is held."""
    roots = [solid.root for solid in solids]
    loose = {root for root in {*roots} - {WORLD_NODE} if model.nodes[root].joint.is_floating}

    def is_suspect(i: int, j: int) -> bool:
        ends = roots[i], roots[j]
        return ends[0] == ends[1] or (WORLD_NODE in ends and loose.isdisjoint(ends))

    return is_suspect


def _gliding(rules: Rules, is_suspect: Callable[[int, int], bool], rest: Kinematics) -> Iterator[tuple[int, int]]:
    """Yield pairs with planes of the world of which no joint moves the other shape but along the plane, wherever it is.

    Nothing would bear such a shape but its joints, whatever force along the normal a law of contact asks for. Motions
    along a plane are a group: what is one at rest is one everywhere, if joints move bodies alike wherever they are.
    """
    model = rest.model
    for i, solid in enumerate(rules.solids):
        if isinstance(solid.shape.geometry, Plane) and solid.node == WORLD_NODE:
            x, y, z = (rest.pose(solid.shape.body) @ solid.shape.pose).rotation.columns()
            for j in rules.partners(i).tolist():
                node, both = rules.solids[j].node, (min(i, j), max(i, j))
                if is_suspect(i, j) and both not in rules.surfaces:
                    moving = any(_moves(rest, node, point, z) for point in (Vector3.zero(), x, y))
                    joints = (model.nodes[k].joint for k in supports(model, node))
                    if not moving and all(joint.has_constant_motion_subspace for joint in joints):
                        yield both


def bearing(model: Model, rules: Rules) -> list[float]:
    """Return the stiffness of each shape's contacts where it is not given: that which bears what may press there.

    Trees that may touch one another, and others through them, may all stand on one point: k = M / TIME^2 with their
    mass M, so that under gravity g it is g TIME^2 deep, whatever the masses.

    Source: `solref` of MuJoCo, whose stiffness is a mass over the square of a time as well.
    """
    roots = roots_of(model)
    masses = dict.fromkeys(roots, 0.0)
    for node in model.nodes:
        masses[roots[node.index]] += float(node.inertia.mass)
    heap = list(range(len(model.nodes)))  # of each tree's root, the first tree that may press on it

    def first(root: int) -> int:
        while heap[root] != root:
            heap[root] = heap[heap[root]]
            root = heap[root]
        return root

    for trees in _may_meet(rules):
        for root in trees[1:]:
            one, other = sorted((first(trees[0]), first(root)))
            heap[other] = one
    total: dict[int, float] = {}
    for root, mass in masses.items():
        total[first(root)] = total.get(first(root), 0.0) + mass
    own = [solid.root for solid in rules.solids]
    return [LIGHT if r == WORLD_NODE else max(total[first(r)] / TIME**2, LIGHT) for r in own]


def _may_meet(rules: Rules) -> Iterator[list[int]]:
    """Yield lists of trees that may touch one another, directly or through others.

    Shapes of one group and mask are alike to others, unless single pairs of them are told apart: those are looked at
    one by one.
    """
    family = rules.families
    apart = (pair for pair in rules.apart if family[pair[0]] < 0 or family[pair[0]] != family[pair[1]])
    alone = {k for pair in (*apart, *rules.together) for k in pair}
    alike: dict[tuple[int, int], set[tuple[int, int]]] = {}  # trees, each with its family, by group and mask
    for k, solid in enumerate(rules.solids):
        if solid.root == WORLD_NODE:
            continue
        if k in alone:
            others = {rules.solids[j].root for j in rules.partners(k).tolist()} - {WORLD_NODE}
            yield [solid.root, *sorted(others)]
        else:
            alike.setdefault((solid.shape.group, solid.shape.mask), set()).add((solid.root, family[k]))
    for (group, mask), one in alike.items():
        for (other_group, other_mask), other in alike.items():
            both = sorted(one | other)
            differ = len({(of, root if of < 0 else -1) for root, of in both}) > 1
            if group & other_mask and other_group & mask and differ:
                yield [root for root, _ in both]


def roots_of(model: Model) -> list[int]:
    """Return the first node of each node's tree."""
    found: list[int] = []
    for node in model.nodes:  # a parent comes before its children
        found.append(node.index if node.parent < 0 else found[node.parent])
    return found


def select_pairs(pairs: Sequence[ContactPair], pattern: Pattern, where: str) -> tuple[ContactPair, ...]:
    """Return the pairs a pattern names: by their names in either order, or that of one of their shapes or bodies.

    Raises:
        UnknownNameError: if nothing is selected, other than by an empty list.
    """
    n = len(pairs)
    names = [pair.name.partition("/") for pair in pairs]
    shapes = [(name[0], pair.a) for name, pair in zip(names, pairs, strict=True)]
    shapes += [(name[2], pair.b) for name, pair in zip(names, pairs, strict=True)]
    named, between = _named(shapes, [(np.arange(n), np.arange(n, 2 * n))], pattern, where)
    chosen = np.flatnonzero(named[:n] | named[n:]).tolist() + [i for i, _ in between]
    return tuple(pairs[k] for k in sorted(chosen))


def _named(
    shapes: Sequence[tuple[str, str]], rows: Iterable[tuple[Any, np.ndarray]], pattern: Pattern, where: str
) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Return which shapes a pattern names, and which pairs of others.

    Args:
        shapes: the names of each and of its body.
        rows: pairs of their places: one or as many, and several.
        pattern: as `World.with_contacts` takes it.
        where: they are, for errors.
    """
    if isinstance(pattern, (list, tuple, set, frozenset)) and not pattern:
        return np.zeros(len(shapes), bool), []
    tests, names = tests_of(PAIR, pattern), np.array([name for name, _ in shapes], dtype=object)
    named = np.array([any(matches(name) for name in own for matches in tests.values()) for own in shapes], bool)
    between = {test: is_meant for test in tests if (is_meant := _between(test, names))}
    missing, listed = {**tests}, list[tuple[int, int]]()
    met = np.zeros(len(shapes), bool)
    for ends, j in rows:
        i, found = np.broadcast_to(ends, j.shape), np.zeros(j.shape, bool)
        met[i] = met[j] = True
        for test, is_meant in between.items():
            own = is_meant(i, j)
            found |= own
            if own.any():
                missing.pop(test, None)
        found &= ~(named[i] | named[j])
        listed += zip(i[found].tolist(), j[found].tolist(), strict=True)
    if missing:
        known = {name for own, has_pairs in zip(shapes, met, strict=True) if has_pairs for name in own}
        select_names(PAIR, sorted(known), [*missing], where)  # which says what means nothing
    return named, listed


def _between(test: str | re.Pattern[str], names: np.ndarray) -> Callable[[np.ndarray, np.ndarray], Any] | None:
    """Return what says if a test means the name "a/b" or "b/a" of pairs of places; None if it can mean no such name.

    A glob does if one of its tokens means the stroke, those before it a, and those after it b. So names of pairs, which
    may be millions, are not written. An asterisk may mean the end of a and the beginning of b, too.
    """
    if isinstance(test, re.Pattern):
        means: Any = np.frompyfunc(lambda a, b: bool(test.fullmatch(f"{a}/{b}") or test.fullmatch(f"{b}/{a}")), 2, 1)
        return lambda i, j: means(names[i], names[j]).astype(bool)
    halves = []
    for token in TOKEN.finditer(test):
        if fnmatch.fnmatchcase("/", token[0]):
            end, start = token.span()[:: -1 if token[0] == "*" else 1]
            both = test[:end], test[start:]
            halves.append([np.array([fnmatch.fnmatchcase(own, half) for own in names], bool) for half in both])
    return (lambda i, j: np.any([(a[i] & b[j]) | (a[j] & b[i]) for a, b in halves], axis=0)) if halves else None


def is_of_one_tree(model: Model, pair: ContactPair) -> bool:
    """Return whether joints connect the two bodies of a pair, other than through the world."""
    a, b = (supports(model, model.attachment(body).node)[-1:] for body in (pair.a, pair.b))
    return a == b != []


def depth(kinematics: Kinematics, pair: ContactPair) -> float:
    """Return how deep two shapes are in one another [m]; -inf if they are of kinds cardan has no page for."""
    return max((-float(candidate.gap) for candidate in _candidates(kinematics, pair)), default=-math.inf)


def _candidates(kinematics: Kinematics, pair: ContactPair) -> Sequence[Candidate]:
    X_a, X_b = kinematics.pose(pair.a) @ pair.pose_a, kinematics.pose(pair.b) @ pair.pose_b
    try:
        return points(pair.shape_a, X_a, pair.shape_b, X_b)
    except UnsupportedError:
        return ()


def _can_part(kinematics: Kinematics, pair: ContactPair) -> bool:
    """Return whether a joint moves the first shape of a pair along the normal, at one of the points that overlap.

    Otherwise no force between it and the world could part them, and friction would only hold what shall turn.
    """
    node, X = kinematics.model.attachment(pair.a).node, kinematics.pose(pair.a) @ pair.pose_a
    deep = (candidate for candidate in _candidates(kinematics, pair) if float(candidate.gap) < -ROUNDING)
    return any(_moves(kinematics, node, X @ own.point, X.rotation @ own.normal) for own in deep)


def _moves(kinematics: Kinematics, node: int, point: Vector3, normal: Vector3) -> bool:
    """Return whether a joint moves a point of a node's body along a normal."""
    path, S = supports(kinematics.model, node), kinematics.relative.S
    twists = (kinematics.poses[own] @ column for own in path for column in S[own])  # at the world's origin
    speeds = (twist.linear + twist.angular.cross(point) for twist in twists)
    return any(abs(float(speed.dot(normal))) > ROUNDING * math.hypot(*map(float, speed)) for speed in speeds)


def _solids(model: Model, shapes: Iterable[Shape]) -> list[_Solid]:
    found: list[_Solid] = []
    taken: dict[str, int] = {}
    roots = roots_of(model)
    for shape in shapes:
        if shape.role != "collision":
            continue
        base = shape.name or shape.body  # several shapes of one body get numbers
        taken[base] = count = taken.get(base, 0) + 1
        node = model.attachment(shape.body).node
        root = WORLD_NODE if node == WORLD_NODE else roots[node]
        found.append(_Solid(shape, node, root, base if count == 1 else f"{base}#{count}"))
        if isinstance(shape.geometry, TriangleMesh) and node != WORLD_NODE:
            what = f"contact of the triangle mesh {found[-1].name!r} on the moving body {shape.body!r}"
            instead = "its convex hull, Hull.of(mesh.vertices), or several hulls of its parts; or give it role='visual'"
            raise UnsupportedError(what, "cardan's own collision", instead)
    return found


def warn_of_many(name: str, pairs: Sequence[ContactPair], instead: str, because: str = "") -> None:
    """Warn of a world all pairs of which one program looks at in every step, if some have to go by one."""
    count = len(pairs)
    if count > MANY:
        warnings.warn(
            f"{count} pairs of shapes may touch in world {name!r}, and one program looks at all of them: disable "
            f"contact of bodies that never meet, use groups and masks, or {instead}{f' ({because})' * bool(because)}.",
            stacklevel=levels_inside(),
        )
