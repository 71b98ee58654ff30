"""The farthest point of a convex shape along a direction, and what of the shape is a radius around its core.

    sphere      core: its centre            radius r
    capsule     core: its axis              radius r
    box         the corner that d points to
    cylinder    on the rim: r (d_x, d_y) / |(d_x, d_y)|, +- l / 2
    ellipsoid   D D d / |D d|, D = diag(radii)
    hull        the vertex of greatest d . x

Source: Ericson, Real-Time Collision Detection (2005), section 9.5.2; van den Bergen, Collision Detection in Interactive
3D Environments (2003), section 4.3.4.
Cost: 0, 2, 6, 12 and 15 operations; a hull's is 9 for each vertex.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from cardan._algebra.scalar import maximum, where
from cardan._algebra.spatial import Scalar, Vector3
from cardan._motion.collision.candidate import X, length_and_direction, select
from cardan._motion.collision.row_hull import RowHull
from cardan._robot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Hull, Sphere


def support(shape: Geometry, d: Vector3) -> Vector3:
    """Return the point of a shape's core farthest along d, in the shape's frame; d has any length but 0."""
    return SUPPORT_POINTS[type(shape)](shape, d)


def _towards(x: Scalar, size: Scalar) -> Scalar:
    return where(x < 0.0, -0.5 * size, 0.5 * size)


def _of_cylinder(shape: Cylinder, d: Vector3) -> Vector3:
    _, (x, y, _) = length_and_direction(Vector3(d.x, d.y, 0.0), X)
    return Vector3(x * shape.radius, y * shape.radius, _towards(d.z, shape.length))


def _of_ellipsoid(shape: Ellipsoid, d: Vector3) -> Vector3:
    D = Vector3(*shape.radii)
    _, direction = length_and_direction(d * D, Vector3.zero())
    return direction * D


def farthest_of(hull: Hull | RowHull, d: Vector3, squares: float = 0.0) -> Vector3:
    """Return the vertex x with the greatest d . x + squares x . x, the first of equal ones."""
    if isinstance(hull, RowHull):
        return hull.farthest(d, squares)
    found = [(d.dot(x) + squares * float(x.norm_squared()), x) for x in (Vector3(*e) for e in hull.vertices)]
    return reduce(_farther, found)[1]


def _farther(a: tuple[Scalar, Vector3], b: tuple[Scalar, Vector3]) -> tuple[Scalar, Vector3]:
    return maximum(a[0], b[0]), select(b[0] > a[0], b[1], a[1])


SUPPORT_POINTS: dict[type, Callable[[Any, Vector3], Vector3]] = {
    Sphere: lambda shape, d: Vector3.zero(),
    Capsule: lambda shape, d: Vector3(0.0, 0.0, _towards(d.z, shape.length)),
    Box: lambda shape, d: Vector3(*map(_towards, d, shape.size)),
    Cylinder: _of_cylinder,
    Ellipsoid: _of_ellipsoid,
    Hull: farthest_of,
    RowHull: farthest_of,
}


def radius_of(shape: Geometry) -> Scalar:
    """Return how far a shape reaches around its core."""
    return shape.radius if isinstance(shape, (Sphere, Capsule)) else 0.0


def middle_of(shape: Geometry) -> Vector3:
    """Return a point within a shape's core: of a hull, the mean of its vertices."""
    if isinstance(shape, RowHull):
        return shape.middle
    if not isinstance(shape, Hull):
        return Vector3.zero()
    return Vector3(*(sum(column) / len(shape.vertices) for column in zip(*shape.vertices, strict=True)))


def extent_of(shape: Geometry) -> Scalar:
    """Return about how large a shape's core is: what rounding is measured by."""
    if isinstance(shape, RowHull):
        return 0.5 * reduce(maximum, shape.high - shape.low)
    if isinstance(shape, Hull):
        return 0.5 * max(max(column) - min(column) for column in zip(*shape.vertices, strict=True))
    if isinstance(shape, Box):
        return 0.5 * sum(shape.size)
    if isinstance(shape, Ellipsoid):
        return sum(shape.radii)
    if isinstance(shape, Cylinder):
        return shape.radius + 0.5 * shape.length
    return 0.5 * getattr(shape, "length", 0.0)
