"""The contacts of pairs of shapes at one moment."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from cardan._algebra.spatial import SE3
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._motion.collision import Candidate, Two, points_of
from cardan._motion.contact.point import WORLD, Contact
from cardan._robot.geometry.shapes import Box, Ellipsoid, Geometry, Sphere
from cardan._robot.records import Material


class Pair(Protocol):
    """Two shapes that may touch."""

    @property
    def a(self) -> str:
        """Name of the first body, one that moves."""
        ...

    @property
    def shape_a(self) -> Geometry:
        """Its shape."""
        ...

    @property
    def pose_a(self) -> SE3:
        """The shape in the body."""
        ...

    @property
    def b(self) -> str:
        """Name of the other body, or `"world"`."""
        ...

    @property
    def shape_b(self) -> Geometry:
        """Its shape."""
        ...

    @property
    def pose_b(self) -> SE3:
        """The shape in the body."""
        ...

    @property
    def material(self) -> Material:
        """Of both surfaces combined."""
        ...

    @property
    def margin(self) -> float:
        """How far apart they feel one another [m]."""
        ...


def contacts(moment: Snapshot, pairs: Iterable[Pair]) -> list[Contact]:
    """Return the contacts of pairs: those of each pair's candidates."""
    listed = list(pairs)
    sides = [_sides(moment, pair) for pair in listed]
    placed = [Two(a.shape, a.pose_in_world(moment), b.shape, b.pose_in_world(moment)) for a, b in sides]
    found = points_of(placed, [a.X for a, _ in sides])
    return [
        _contact(moment, pair, a, b, candidate)
        for pair, (a, b), those in zip(listed, sides, found, strict=True)
        for candidate in those
    ]


class _Side(NamedTuple):
    """A shape of a pair, the node that it rides on, and its pose there."""

    shape: Geometry
    node: int
    X: SE3

    def pose_in_world(self, moment: Snapshot) -> SE3:
        return self.X if self.node == WORLD else moment.poses[self.node] @ self.X


def _sides(moment: Snapshot, pair: Pair) -> tuple[_Side, _Side]:
    """Return both sides, the first on a node that moves."""
    a, b = _side(moment, pair.a, pair.shape_a, pair.pose_a), _side(moment, pair.b, pair.shape_b, pair.pose_b)
    return (b, a) if a.node == WORLD else (a, b)


def _side(moment: Snapshot, body: str, shape: Geometry, pose: SE3) -> _Side:
    """Return a shape and its place; how a sphere is turned does not matter."""
    at = moment.model.attachment(body)
    X = at.pose @ pose
    return _Side(shape, at.node, SE3(None, X.translation) if isinstance(shape, Sphere) else X)


def _contact(moment: Snapshot, pair: Pair, a: _Side, b: _Side, candidate: Candidate) -> Contact:
    seen = candidate._replace(gap=candidate.gap - pair.margin)
    centres, extents = (a.X.translation, b.X.translation), (_extent(a.shape), _extent(b.shape))
    return Contact(moment, (a.node, b.node), seen, pair.material, centres, extents)


def _extent(shape: Geometry) -> float:
    """Return about how far a shape reaches from its centre; 0 of a half space."""
    if isinstance(shape, Box):
        return 0.5 * math.hypot(*shape.size)
    if isinstance(shape, Ellipsoid):
        return max(shape.radii)
    length = 0.5 * getattr(shape, "length", 0.0)
    radius = getattr(shape, "radius", 0.0)
    return math.hypot(length, radius)
