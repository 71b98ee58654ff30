"""The farthest point of a convex shape along a direction d, how its surface is there, and its radius.

    sphere      core: its centre            radius r
    capsule     core: its axis              radius r
    box         the corner that d points to
    cylinder    on the rim: r (d_x, d_y) / |(d_x, d_y)|, +- l / 2
    cone        the tip where l d_z > r |(d_x, d_y)|, else on the rim
    ellipsoid   D D d / |D d|, D = diag(radii)
    hull        the vertex of greatest d . x

At its point p a curved surface bends, K = dp/dd, and others go on straight along some directions e:

    capsule     e = z between the ends
    box         e = x, y or z, which the point is between the faces of
    cylinder    K = (rho / |(d_x, d_y)|) t t^T, t = (-d_y, d_x, 0) / |(d_x, d_y)|, rho the distance of p from the axis;
                e = z on the side; e = x, y on a cap
    cone        the same K; e from the rim to the tip on the side; e = x, y on the base
    ellipsoid   K = (D D - p p^T) / |D d|

Source: Ericson, Real-Time Collision Detection (2005), section 9.5.2; van den Bergen, Collision Detection in Interactive
3D Environments (2003), section 4.3.4.
Cost: 0, 2, 6, 12, 17 and 15 operations; a hull's is 8 for each vertex.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import mul
from typing import Any, NamedTuple

from cardan._algebra.scalar import absolute, logical_and, logical_or, maximum, where
from cardan._algebra.spatial import Matrix3, Scalar, Vector3
from cardan._motion.collision.candidate import PARALLEL, X, Y, Z, chosen, in_precision, length_and_direction, select
from cardan._robot.geometry.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Geometry, Hull, Sphere


class Triangle(NamedTuple):
    """A triangle by its corners, which may be symbols."""

    a: Vector3
    b: Vector3
    c: Vector3


def support(shape: Geometry, d: Vector3) -> Vector3:
    """Return the point of a shape's core farthest along d, in the shape's frame; d has any length but 0."""
    return SUPPORT_POINTS[type(shape)](shape, d)


def farthest_along(shape: Geometry, d: Vector3) -> Scalar:
    """Return the most d . x of all points x of a shape's core: of a hull half as many operations as its point takes."""
    if not isinstance(shape, Hull):
        return d.dot(support(shape, d))
    found = [d.dot(Vector3(*vertex)) for vertex in shape.vertices]
    while len(found) > 1:  # by halves, so that none waits for all before it
        found = [reduce(maximum, found[k : k + 2]) for k in range(0, len(found), 2)]
    return found[0]


def _towards(x: Scalar, size: Scalar) -> Scalar:
    return where(x < 0.0, -0.5 * size, 0.5 * size)


def _outwards(v: Vector3, otherwise: Vector3 = X) -> tuple[Scalar, Vector3]:
    """Return how far a vector is from the axis z, and to which side."""
    return length_and_direction(Vector3(v.x, v.y, 0.0), otherwise)


def _of_cylinder(shape: Cylinder, d: Vector3, p: Vector3 | None = None) -> Vector3:
    """Return the point of the rim; with a point p of the same rim, there where d is the axis."""
    _, (x, y, _) = _outwards(d) if p is None else _outwards(d, _outwards(p)[1])
    return Vector3(x * shape.radius, y * shape.radius, _towards(d.z if p is None else p.z, shape.length))


def _of_cone(shape: Cone, d: Vector3, p: Vector3 | None = None) -> Vector3:
    out, (x, y, _) = _outwards(d) if p is None else _outwards(d, _outwards(p)[1])
    half = 0.5 * shape.length
    rim = Vector3(x * shape.radius, y * shape.radius, -half)
    return select(shape.length * d.z > shape.radius * out if p is None else p.z > 0.0, Z * half, rim)


def _of_ellipsoid(shape: Ellipsoid, d: Vector3) -> Vector3:
    D = Vector3(*shape.radii)
    _, direction = length_and_direction(d * D, Vector3.zero())
    return direction * D


def farthest_of(hull: Hull, d: Vector3, squares: float = 0.0) -> Vector3:
    """Return the vertex x with the greatest d . x + squares x . x, the first of equal ones."""
    return _farthest(hull.vertices, d, squares)[1]


def _farthest(vertices: Sequence[Sequence[Scalar]], d: Vector3, squares: float) -> tuple[Scalar, Vector3]:
    """Return the most of d . x + squares x . x and its vertex: by halves, so that no vertex waits for all before it."""
    if len(vertices) > 1:
        half = len(vertices) // 2
        return _farther(*(_farthest(part, d, squares) for part in (vertices[:half], vertices[half:])))
    x = Vector3(*vertices[0])
    return (sum(map(mul, d, x), squares * x.norm_squared()) if squares else d.dot(x)), x


def _farther(a: tuple[Scalar, Vector3], b: tuple[Scalar, Vector3]) -> tuple[Scalar, Vector3]:
    return chosen(b[0] > a[0], b, a)


SUPPORT_POINTS: dict[type, Callable[[Any, Vector3], Vector3]] = {
    Sphere: lambda shape, d: Vector3.zero(),
    Capsule: lambda shape, d: Vector3(0.0, 0.0, _towards(d.z, shape.length)),
    Box: lambda shape, d: Vector3(*map(_towards, d, shape.size)),
    Cylinder: _of_cylinder,
    Cone: _of_cone,
    Ellipsoid: _of_ellipsoid,
    Hull: farthest_of,
    Triangle: lambda shape, d: reduce(_farther, ((d.dot(x), x) for x in shape))[1],
}


# --- surfaces -------------------------------------------------------------------------------------------------------

# A point that is not on a rim is of a cap or side whose normal is within this sine.
ON_CAP = 1e-6, 1e-3
ON_SIDE = 1e-3
IN_CAP = 1e-3  # of the radius: a point that is so far within a cap is of it, whatever a search says of its normal
WITHIN = 1e-6, 1e-4  # of the sizes: how far from its rim a point of a side or cap is
LEANS = 1e-13, 1e-6  # what rounding makes of a normal's part along an edge
SHORT = 1e-9, 1e-4  # of its radius: a capsule of less length is a sphere, for where on its axis a point is is rounding


class Surface(NamedTuple):
    """What a shape is like where its point p is farthest along a unit vector d, as functions of shape, d and p.

    Of corners and ends that are equally far, `point` is that at which p is: to rounding, d does not tell them apart.
    It bends by K = dp/dd, and goes on straight in some directions across d; these are 0 if it does not.
    """

    point: Callable[[Any, Vector3, Vector3], Vector3]
    bend: Callable[[Any, Vector3, Vector3], Matrix3]
    goes_on: Callable[[Any, Vector3, Vector3], list[Vector3]]


def _bend_of_ellipsoid(shape: Ellipsoid, d: Vector3, p: Vector3) -> Matrix3:
    D = Vector3(*shape.radii)
    reach, direction = length_and_direction(d * D, Vector3.zero())
    p = direction * D
    inverse = 1.0 / where(reach > 0.0, reach, 1.0)
    return (Matrix3.diagonal(*(D * D)) - p.outer(p)) * inverse


def _bend_around_z(shape: Any, d: Vector3, p: Vector3) -> Matrix3:
    (out, (x, y, _)), (rho, _) = _outwards(d, _outwards(p)[1]), _outwards(p)
    t = Vector3(-y, x, 0.0)
    on_rim = where(_is_between(rho, 2.0 * shape.radius), 1.0, in_precision(rho, *ON_CAP))  # of a cap nothing bends
    return t.outer(t * (rho / where(out > PARALLEL, out, on_rim)))


def _straight(shape: Any, d: Vector3, p: Vector3) -> Matrix3:
    return Matrix3.zero()


def _on_capsule(shape: Capsule, d: Vector3, p: Vector3) -> list[Vector3]:
    is_long = shape.length > in_precision(p.z, *SHORT) * shape.radius
    return [select(logical_and(is_long, _goes_along(d.z, p.z, shape.length)), Z, Vector3.zero())]


def _on_box(shape: Box, d: Vector3, p: Vector3) -> list[Vector3]:
    sides = zip(d, p, shape.size, (X, Y, Z), strict=True)
    return [select(_goes_along(e, x, size), axis, Vector3.zero()) for e, x, size, axis in sides]


def _goes_along(d: Scalar, x: Scalar, size: Scalar) -> Any:
    """Return whether a point x is between two ends, or d leads from its end to the other one."""
    return logical_or(_is_between(x, size), _leans_away(d * x, size))


def _leans_away(along: Scalar, size: Scalar) -> Any:
    """Return whether d . p is negative, by more than rounding makes of 0."""
    return along < -size * in_precision(along, *LEANS)


def _is_between(x: Scalar, size: Scalar) -> Any:
    return absolute(x) < (0.5 - 0.5 * in_precision(x, *WITHIN)) * size


def _on_cylinder(shape: Cylinder, d: Vector3, p: Vector3) -> list[Vector3]:
    rho, _ = _outwards(p)
    on_cap = _leaves_rim(shape, d, p, rho < (1.0 - IN_CAP) * shape.radius)
    on_side = logical_and(absolute(d.z) < ON_SIDE, _is_between(p.z, shape.length))
    on_side = logical_or(on_side, _leans_away(d.z * p.z, shape.length))
    none = Vector3.zero()
    return [select(on_cap, X, select(on_side, Z, none)), select(on_cap, Y, none)]


def _leaves_rim(shape: Any, d: Vector3, p: Vector3, is_within: Any) -> Any:
    """Return whether a point is of a cap: where it is well within, or d is its normal, or leans away from its rim."""
    (out, _), (rho, _) = _outwards(d), _outwards(p)
    is_normal = logical_and(out < in_precision(rho, *ON_CAP), _is_between(rho, 2.0 * shape.radius))
    return logical_or(is_within, logical_or(is_normal, _leans_away(d.x * p.x + d.y * p.y, shape.radius)))


def _on_cone(shape: Cone, d: Vector3, p: Vector3) -> list[Vector3]:
    r, h = shape.radius, shape.length
    (out, (x, y, _)), (rho, _) = _outwards(d), _outwards(p)
    slant, upwards = length_and_direction(Vector3(-x * r, -y * r, h), Z)
    further = r * out - h * d.z  # the rim than the tip
    is_low = logical_and(p.z < 0.0, further >= 0.0)
    on_base = logical_and(is_low, _leaves_rim(shape, d, p, rho < (0.5 - p.z / h - IN_CAP) * r))
    along = logical_and(absolute(further) < ON_SIDE * slant, _is_between(p.z, h))
    along = logical_or(along, _leans_away(-further * p.z, slant * h))
    none = Vector3.zero()
    return [select(on_base, X, select(along, upwards, none)), select(on_base, Y, none)]


SURFACES: dict[type, Surface] = {
    Capsule: Surface(lambda shape, d, p: support(shape, p), _straight, _on_capsule),
    Box: Surface(lambda shape, d, p: support(shape, p), _straight, _on_box),
    Cylinder: Surface(_of_cylinder, _bend_around_z, _on_cylinder),
    Cone: Surface(_of_cone, _bend_around_z, _on_cone),
    Ellipsoid: Surface(lambda shape, d, p: support(shape, d), _bend_of_ellipsoid, lambda shape, d, p: []),
}
CURVED = frozenset({Cylinder, Cone, Ellipsoid})


# --- sizes ----------------------------------------------------------------------------------------------------------


def radius_of(shape: Geometry) -> Scalar:
    """Return how far a shape reaches around its core."""
    return shape.radius if isinstance(shape, (Sphere, Capsule)) else 0.0


def middle_of(shape: Geometry) -> Vector3:
    """Return a point within a shape's core: of a hull, the mean of its vertices."""
    if isinstance(shape, Hull):
        return Vector3(*shape.mean)
    if isinstance(shape, Triangle):
        return (shape.a + shape.b + shape.c) * (1.0 / 3.0)
    return Vector3.zero()


def extent_of(shape: Geometry) -> Scalar:
    """Return about how large a shape's core is: what rounding is measured by."""
    if isinstance(shape, Hull):
        return 0.5 * reduce(maximum, Vector3(*shape.high) - Vector3(*shape.low))
    if isinstance(shape, Triangle):
        return 0.5 * reduce(maximum, (absolute(e) for side in (shape.b - shape.a, shape.c - shape.a) for e in side))
    if isinstance(shape, Box):
        return 0.5 * sum(shape.size)
    if isinstance(shape, Ellipsoid):
        return sum(shape.radii)
    if isinstance(shape, (Cylinder, Cone)):
        return shape.radius + 0.5 * shape.length
    return 0.5 * getattr(shape, "length", 0.0)
