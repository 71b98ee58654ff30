"""A segment along a shape, and the capsules about it that are in the shape and around it; balls about its middle.

Let half of the segment, the *spine*, be h, the radius of the inner capsule r and of the outer one R. Another shape is
between two balls about its middle m, of radii r' and R'. With t = clip(z . (m - c), -h, h) for a spine through c along
z, and the squared distance of m from it,

    d^2 = |m - c|^2 - t (2 z . (m - c) - t)

both are farther apart than a reach if d > R + R' + reach, and not if d <= r + r' + reach. For spheres and capsules
beside spheres both bounds are one.

Source: Ericson, Real-Time Collision Detection (2005), section 5.1.2, for points and segments.
Cost: 17 operations for a shape and an obstacle.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from cardan._algebra.errors import MissingExtraError
from cardan._algebra.scalar import absolute, clip
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._robot.geometry.hull import planes_of_hull
from cardan._robot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Hull, Sphere
from cardan._robot.geometry.support import box_about

FULL = Sphere, Capsule, Box, Cylinder  # shapes that have in them the capsule about their spine with the shortest side
ROUND = Sphere, Capsule, Ellipsoid  # shapes within the capsule about their spine with the other side
NONE = -1.0


def square(reach: Scalar) -> Scalar:
    """Return the square of a distance, with its sign."""
    return reach * absolute(reach)


class Spine(NamedTuple):
    """A segment in a shape, and the capsules about it that are in the shape, and around it."""

    middle: Vector3
    axis: Vector3
    half: float
    inner: float  # radius [m]; below 0 if there is none
    outer: float

    @staticmethod
    def of(shape: Geometry, X: SE3) -> Spine:
        """Return the spine of a shape, along the longest side of the box about it.

        Its ends are as far within the box as its shortest side is long, for most have ends that are round so far.
        """
        middle, sides = box_about(shape)
        half = list(map(float, sides))
        axis = max(range(3), key=half.__getitem__)
        short, long = sorted(half[:axis] + half[axis + 1 :])
        inner, outer = short if isinstance(shape, FULL) else NONE, math.hypot(short, short, long)
        if isinstance(shape, ROUND):
            inner, outer = max(inner, 0.0), long
        elif isinstance(shape, Hull):
            end = (half[axis] - short) * np.eye(3)[axis]
            inner, outer = _radii_of_hull(shape, tuple(map(float, middle)), tuple(end.tolist()))
        return Spine(X @ middle, list(X.rotation.columns())[axis], half[axis] - short, inner, outer)

    def squared_distance(self, p: Vector3) -> Scalar:
        way = p - self.middle
        if not self.half:
            return way.norm_squared()
        along = self.axis.dot(way)
        t = clip(along, -self.half, self.half)
        return way.norm_squared() - t * (along * 2.0 - t)


class Ball(NamedTuple):
    """The balls about a shape's middle that are in the shape, and around it."""

    middle: Vector3
    inner: float  # radius [m]; below 0 if there is none
    outer: float

    @staticmethod
    def of(shape: Geometry, X: SE3) -> Ball:
        middle, sides = box_about(shape)
        half = list(map(float, sides))
        inner = min(half) if isinstance(shape, (*FULL, *ROUND)) else NONE
        outer = max(half) if isinstance(shape, ROUND) else math.hypot(*half)
        if isinstance(shape, Hull):
            inner, outer = _radii_of_hull(shape, tuple(map(float, middle)))
        return Ball(X @ middle, inner, outer)


@lru_cache(256)
def _radii_of_hull(
    hull: Hull, middle: tuple[float, ...], end: tuple[float, ...] = (0.0, 0.0, 0.0)
) -> tuple[float, float]:
    """Return the radii of the capsules about a segment, from its middle to one end, in a hull and around it."""
    vertices, way = np.array(hull.vertices), np.array(end)
    points, length = vertices - middle, float(np.linalg.norm(way))
    along = np.clip(points @ way / max(length, 1e-300), -length, length) / max(length, 1e-300)
    outer = float(np.linalg.norm(points - along[:, None] * way, axis=1).max())
    try:
        planes = planes_of_hull(vertices)
    except MissingExtraError:  # then the page decides
        planes = np.empty((0, 4))
    depths = -planes @ (*middle, 1.0) - np.abs(planes[:, :3] @ way)
    return float(depths.min()) * (1.0 - 1e-9) if len(planes) else NONE, outer
