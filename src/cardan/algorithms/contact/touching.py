"""The contacts of pairs of shapes at one moment."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol

from cardan.algorithms.collision import points
from cardan.algorithms.contact.point import WORLD, Contact
from cardan.algorithms.implicit import Moment
from cardan.geometry.shapes import Box, Ellipsoid, Geometry, Sphere
from cardan.records import Material
from cardan.spatial import SE3


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


def contacts(moment: Moment, pairs: Iterable[Pair]) -> list[Contact]:
    """Return the contacts of pairs: those of each pair's candidates."""
    return [contact for pair in pairs for contact in _of_pair(moment, pair)]


def _of_pair(moment: Moment, pair: Pair) -> list[Contact]:
    a, X_a = _place(moment, pair.a, pair.shape_a, pair.pose_a)
    b, X_b = _place(moment, pair.b, pair.shape_b, pair.pose_b)
    if a == WORLD:
        (a, X_a), (b, X_b), (shape_a, shape_b) = (b, X_b), (a, X_a), (pair.shape_b, pair.shape_a)
    else:
        shape_a, shape_b = pair.shape_a, pair.shape_b
    found = []
    for candidate in points(shape_a, _in_world(moment, a, X_a), shape_b, _in_world(moment, b, X_b)):
        seen = candidate._replace(
            gap=candidate.gap - pair.margin, point=X_a @ candidate.point, normal=X_a.rotation @ candidate.normal
        )
        centres, extents = (X_a.translation, X_b.translation), (_extent(shape_a), _extent(shape_b))
        found.append(Contact(moment, (a, b), seen, pair.material, centres, extents))
    return found


def _place(moment: Moment, body: str, shape: Geometry, pose: SE3) -> tuple[int, SE3]:
    """Return the node that a shape rides on, and its pose there; how a sphere is turned does not matter."""
    at = moment.model.attachment(body)
    X = at.pose @ pose
    return at.node, SE3(None, X.translation) if isinstance(shape, Sphere) else X


def _in_world(moment: Moment, node: int, X: SE3) -> SE3:
    return X if node == WORLD else moment.poses[node] @ X


def _extent(shape: Geometry) -> float:
    """Return about how far a shape reaches from its centre; 0 of a half space."""
    if isinstance(shape, Box):
        return 0.5 * math.hypot(*shape.size)
    if isinstance(shape, Ellipsoid):
        return max(shape.radii)
    length = 0.5 * getattr(shape, "length", 0.0)
    radius = getattr(shape, "radius", 0.0)
    return math.hypot(length, radius)
