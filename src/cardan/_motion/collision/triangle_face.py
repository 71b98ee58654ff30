"""A triangle: its plane, and whether a point is above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cardan._algebra.scalar import logical_and, sqrt
from cardan._algebra.spatial import Scalar, Vector3


class Face(NamedTuple):
    """A triangle by its corners and its unit normal, about which they run counter-clockwise."""

    corners: Sequence[Vector3]
    normal: Vector3

    @staticmethod
    def of(corners: Sequence[Vector3]) -> Face:
        a, b, c = corners
        m = (b - a).cross(c - a)
        return Face(corners, m * (1.0 / sqrt(m.norm_squared())))

    def height(self, p: Vector3) -> Scalar:
        """Return how far a point is above the plane [m]."""
        return self.normal.dot(p - self.corners[0])

    def has(self, p: Vector3, slack: Scalar) -> Any:
        """Return whether a point of the plane is on the triangle, or beside it by a slack at most [m]."""
        found: Any = True
        for out, start in zip(self.outwards(), self.corners, strict=True):
            found = logical_and(found, out.dot(p - start) <= slack * out.norm())
        return found

    def outwards(self) -> list[Vector3]:
        """Return for each corner the way across the side from there, out of the triangle, as long as the side."""
        a, b, c = self.corners
        return [side.cross(self.normal) for side in (b - a, c - b, a - c)]
