"""Which shapes may touch: listed once, when a world is made; all of them are looked at in every step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

from cardan._algebra.errors import OverlapWarning, UnsupportedError, check_known, levels_inside
from cardan._algebra.spatial import SE3
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.tree import supports
from cardan._motion.collision import Candidate, points
from cardan._motion.simulation.articulation import Pattern, select_names
from cardan._robot.description import Shape
from cardan._robot.geometry.shapes import Geometry, TriangleMesh
from cardan._robot.model import WORLD, Material, Model

MANY = 200
"""Pairs, from which on a warning says so: a step of a walking robot costs about as much as 100."""

Disabled = Collection[tuple[str, str]]
"""Pairs of names of bodies."""

WORLD_NODE = -1
TIME = 1e-2
"""[s]: what stands on one point sinks by g TIME^2, a millimetre on Earth."""
LIGHT = 5e4
"""The least stiffness [N/m] that is not given: that of 5 kg. Light things sink by less than a millimetre."""
ROUNDING = 1e-9
"""Overlap [m] that may be rounding: shapes that just meet, as closed fingers do, may touch."""


@dataclass(frozen=True, slots=True)
class ContactPair:
    """Two shapes that may touch, the first on a body that moves.

    Attributes:
        a: name of the body of the first shape.
        shape_a: the first geometry.
        pose_a: X_a_shape.
        b: name of the body of the second shape, or `"world"`.
        shape_b: the second geometry.
        pose_b: X_b_shape.
        material: of the contact, that of both surfaces combined; its stiffness is a number in the pairs of a world.
        name: the names of both shapes.
        margin: how far apart they feel one another [m]: the sum of both shapes'.

    Examples:
        >>> world = cardan.robots.quadruped().world("floating", ground=True)
        >>> world.pairs[0].b
        'world'
    """

    a: str
    shape_a: Geometry
    pose_a: SE3
    b: str
    shape_b: Geometry
    pose_b: SE3
    material: Material
    name: str
    margin: float = 0.0

    def __repr__(self) -> str:
        kinds = f"{type(self.shape_a).__name__} and {type(self.shape_b).__name__}"
        return f"<ContactPair {self.name!r}: {kinds}, friction {self.material.friction:g}>"


class _Solid(NamedTuple):
    """A collision shape, the node it rides on, and what to call it."""

    shape: Shape
    node: int
    name: str


class Pairs(NamedTuple):
    """Which pairs of shapes may touch; and names of those left out because they overlap from the beginning."""

    touching: tuple[ContactPair, ...]
    overlapping: tuple[str, ...] = ()


def contact_pairs(
    model: Model,
    shapes: Iterable[Shape],
    disabled: Disabled = (),
    rest: Sequence[float] | None = None,
    keep_overlapping: bool = False,
    families: Mapping[str, str] | None = None,
    enabled: Disabled = (),
) -> Pairs:
    """Return the pairs of collision shapes that may touch.

    Left out are shapes that do not move relative to one another, shapes of two bodies that a joint connects (also
    through bodies fixed on them; joints on the world count as none), groups that are in no mask of the other, and pairs
    of bodies that are disabled. So are pairs that overlap at rest and cannot be meant to touch, with a warning: two
    shapes of one tree; a shape and the world, if no joint moves it along the contact's normal.

    Args:
        model: whose bodies the shapes are on.
        shapes: visual ones count for nothing.
        disabled: pairs of names of bodies, in either order.
        rest: the configuration [rad, m] in which shapes of one tree should not overlap; None to keep those that do.
        keep_overlapping: whether to keep them all the same.
        families: bodies of one family do not touch one another: its name, by body.
        enabled: pairs of names of bodies, in either order, that may touch all the same: families, joints and `disabled`
            do not count for them.

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
    node = {body: model.attachment(body).node for body in (WORLD, *model.body_names)}
    for body in (body for pair in (*disabled, *enabled) for body in pair):
        check_known("body", body, node, "disabled pairs")
    off, on = (set(map(frozenset, given)) for given in (disabled, enabled))
    ends = (frozenset((node[c.parent], node[c.child])) for c in (*model.connections, *model.closures))
    joined = {pair for pair in ends if WORLD_NODE not in pair}  # what hangs on the world may touch it
    found, family = [], families or {}
    for one, other in combinations(_solids(model, shapes), 2):
        bodies, nodes = frozenset((one.shape.body, other.shape.body)), frozenset((one.node, other.node))
        own = family.get(one.shape.body)
        is_family = own is not None and own == family.get(other.shape.body)
        related = nodes in joined or is_family or bodies in off
        if len(nodes) == 2 and (not related or bodies in on) and one.shape.may_touch(other.shape):
            # The world is node -1: so the first shape of a pair moves.
            a, b = (one, other) if one.node > other.node else (other, one)
            material = (a.shape.surface or Material()).combined(b.shape.surface or Material())
            first, second = ((s.body, s.geometry, s.pose) for s in (a.shape, b.shape))
            margin = a.shape.margin + b.shape.margin
            found.append(ContactPair(*first, *second, material, f"{a.name}/{b.name}", margin))
    if len(found) > MANY:
        warnings.warn(
            f"{len(found)} pairs of shapes may touch in model {model.name!r}, and every step looks at all of them: "
            "disable contact of bodies that never meet, or use groups and masks, or cardan.solvers.MuJoCo.",
            stacklevel=levels_inside(),
        )
    found = bearing(model, found)
    if rest is None or keep_overlapping:
        return Pairs(tuple(found))
    inside, kinematics = [], Kinematics(model, rest)
    for pair in found:
        a, b = (_root(model, body) for body in (pair.a, pair.b))
        is_candidate = a == b or b == WORLD_NODE
        if is_candidate and depth(kinematics, pair) > ROUNDING and (a == b or not _can_part(kinematics, pair)):
            inside.append(pair.name)
    if inside:
        warnings.warn(OverlapWarning(model.name, inside), stacklevel=levels_inside())
    return Pairs(tuple(p for p in found if p.name not in inside), tuple(inside))


def bearing(model: Model, pairs: Iterable[ContactPair]) -> list[ContactPair]:
    """Return pairs whose stiffness is a number: where it is not given, that which bears what may press there.

    Trees that may touch one another, and others through them, may all stand on one point: k = M / TIME^2 with their
    mass M, so that under gravity g it is g TIME^2 deep, whatever the masses.

    Source: `solref` of MuJoCo, whose stiffness is a mass over the square of a time as well.
    """
    listed = list(pairs)
    masses = dict.fromkeys(range(WORLD_NODE, len(model.nodes)), 0.0)
    for node in model.nodes:
        masses[supports(model, node.index)[-1]] += float(node.inertia.mass)
    heap = {root: {root} for root in masses}  # trees that may press on one another, by each of them
    for pair in listed:
        a, b = _root(model, pair.a), _root(model, pair.b)
        if WORLD_NODE not in (a, b) and heap[a] is not heap[b]:
            heap[a] |= heap[b]
            heap |= dict.fromkeys(heap[b], heap[a])
    found = []
    for pair in listed:
        if pair.material.stiffness is None:
            M = sum(masses[root] for root in heap[_root(model, pair.a)])
            pair = replace(pair, material=replace(pair.material, stiffness=max(M / TIME**2, LIGHT)))
        found.append(pair)
    return found


def select_pairs(pairs: Sequence[ContactPair], pattern: Pattern, where: str) -> tuple[ContactPair, ...]:
    """Return the pairs a pattern names: by their names in either order, or that of one of their shapes or bodies.

    Raises:
        UnknownNameError: if nothing is selected, other than by an empty list.
    """
    if isinstance(pattern, (list, tuple, set, frozenset)) and not pattern:
        return ()
    labels: dict[str, set[str]] = {}
    for pair in pairs:
        a, _, b = pair.name.partition("/")
        labels[pair.name] = {pair.name, f"{b}/{a}", a, b, pair.a, pair.b}
    known = sorted({e for own in labels.values() for e in own})
    names = select_names("pair, shape or body", known, pattern, where=where)
    return tuple(pair for pair in pairs if not labels[pair.name].isdisjoint(names))


def is_of_one_tree(model: Model, pair: ContactPair) -> bool:
    """Return whether joints connect the two bodies of a pair, other than through the world."""
    a, b = (_root(model, body) for body in (pair.a, pair.b))
    return a == b != WORLD_NODE


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
    model, X = kinematics.model, kinematics.pose(pair.a) @ pair.pose_a
    for candidate in _candidates(kinematics, pair):
        if float(candidate.gap) < -ROUNDING:
            point, normal = X @ candidate.point, X.rotation @ candidate.normal
            for node in supports(model, model.attachment(pair.a).node):
                across = kinematics.poses[node]
                for column in kinematics.relative.S[node]:
                    twist = across @ column  # at the world's origin
                    speed = twist.linear + twist.angular.cross(point)
                    if abs(float(speed.dot(normal))) > ROUNDING * math.hypot(*map(float, speed)):
                        return True
    return False


def _root(model: Model, body: str) -> int:
    path = supports(model, model.attachment(body).node)
    return path[-1] if path else WORLD_NODE


def _solids(model: Model, shapes: Iterable[Shape]) -> list[_Solid]:
    found: list[_Solid] = []
    taken: dict[str, int] = {}
    for shape in shapes:
        if shape.role != "collision":
            continue
        base = shape.name or shape.body  # several shapes of one body get numbers
        taken[base] = count = taken.get(base, 0) + 1
        found.append(_Solid(shape, model.attachment(shape.body).node, base if count == 1 else f"{base}#{count}"))
        if isinstance(shape.geometry, TriangleMesh) and found[-1].node != WORLD_NODE:
            what = f"contact of the triangle mesh {found[-1].name!r} on the moving body {shape.body!r}"
            instead = "its convex hull, Hull.of(mesh.vertices), or several hulls of its parts; or give it role='visual'"
            raise UnsupportedError(what, "cardan's own collision", instead)
    return found
