"""The contacts of pairs of shapes at one moment."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from cardan._algebra.spatial import SE3
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._motion.collision import Two, points_of
from cardan._motion.contact.point import WORLD, Contact
from cardan._robot.geometry.shapes import Box, Ellipsoid, Geometry, Hull, Sphere
from cardan._robot.records import Material


class Pair(Protocol):
    """Two shapes that may touch, the first on a body that moves: what contact reads of a `simulation.ContactPair`."""

    @property
    def a(self) -> str: ...
    @property
    def shape_a(self) -> Geometry: ...
    @property
    def pose_a(self) -> SE3: ...
    @property
    def b(self) -> str: ...
    @property
    def shape_b(self) -> Geometry: ...
    @property
    def pose_b(self) -> SE3: ...
    @property
    def material(self) -> Material: ...
    @property
    def margin(self) -> float: ...


class _Collider(NamedTuple):
    """A shape of a pair, the node that it rides on, and its pose there."""

    shape: Geometry
    node: int
    X: SE3

    @staticmethod
    def of(moment: Snapshot, body: str, shape: Geometry, pose: SE3) -> _Collider:
        at = moment.model.attachment(body)
        X = at.pose @ pose
        # How a sphere is turned does not matter: along its node's axes it costs least.
        return _Collider(shape, at.node, SE3(None, X.translation) if isinstance(shape, Sphere) else X)

    def pose_in_world(self, moment: Snapshot) -> SE3:
        return self.X if self.node == WORLD else moment.poses[self.node] @ self.X

    @property
    def extent(self) -> float:
        """About how far the shape reaches from its centre; 0 of a half space."""
        if isinstance(self.shape, Box):
            return 0.5 * math.hypot(*self.shape.size)
        if isinstance(self.shape, Ellipsoid):
            return max(self.shape.radii)
        if isinstance(self.shape, Hull):
            return max(math.hypot(*vertex) for vertex in self.shape.vertices)
        return math.hypot(0.5 * getattr(self.shape, "length", 0.0), getattr(self.shape, "radius", 0.0))


def contacts(moment: Snapshot, pairs: Iterable[Pair]) -> list[Contact]:
    listed = list(pairs)
    sides = []
    for pair in listed:
        a = _Collider.of(moment, pair.a, pair.shape_a, pair.pose_a)
        b = _Collider.of(moment, pair.b, pair.shape_b, pair.pose_b)
        sides.append((b, a) if a.node == WORLD else (a, b))  # the first on a node that moves
    placed = [Two(a.shape, a.pose_in_world(moment), b.shape, b.pose_in_world(moment)) for a, b in sides]
    found = []
    for pair, (a, b), candidates in zip(listed, sides, points_of(placed, [a.X for a, _ in sides]), strict=True):
        centres, extents = (a.X.translation, b.X.translation), (a.extent, b.extent)
        for candidate in candidates:
            near = candidate._replace(gap=candidate.gap - pair.margin)
            found.append(Contact(moment, (a.node, b.node), near, pair.material, centres, extents))
    return found
