"""Shapes on a plane: the candidates are points of the shape, their gaps the heights above the plane.

With n the plane's normal and h the height of the shape's origin, a point x of the shape has the height h + n . x, all
in the shape's frame: one row of the rotation and one number are all that is needed of a pose.

    sphere      -r n                                            1 point
    capsule     -r n about both ends                            2 points
    ellipsoid   -D D n / |D n|, D = diag(radii)                 1 point
    box         the corners of the face that looks down most    4 points
    cylinder    on the lower rim the lowest point and those 120 degrees to either side, so that it stands;
                on the other rim the lowest, so that it lies    4 points
    cone        on the rim as a cylinder; and the tip           4 points
    hull        the lowest vertex and three more that span what is nearly as low    4 points

The lowest point of the shape is always among them. Of a hull with the lowest vertex p and the others d = x - p, each
higher by e, the three are those with the largest

    |d|^2 - (L / t) e       the farthest, q;    then to both sides of the line p q    +-(n x q) . d - (|q| / t) e

where t is the slope up to which a vertex counts as low and L the hull's size. A vertex that is found again is none.
Where q is p, nothing is nearly as low, and nothing is beside: most of the time a hull lies on one vertex.

Source: the support functions of convex shapes (Ericson, Real-Time Collision Detection, 2005, sections 5.2 and 9.5.1).
Cost: 7, 14, 26, 45, 46, 40 and 8 to 32 a vertex operations on the world's own z = 0, 23 more on any other plane.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from cardan._algebra.arrays.repeat import when
from cardan._algebra.scalar import absolute, logical_and, logical_not, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.candidate import FAR, Candidate, X, Z, axis_of, existing, length_and_direction
from cardan._motion.collision.support_points import farthest_of
from cardan._robot.geometry.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Geometry, Hull, Plane, Sphere

LOW = 0.05  # the slope t of a hull's head: a sole that bends by less than 3 degrees stands on its rim
SAME = 1e-3  # vertices nearer than this, in sizes of the hull, are one point of contact


def on_plane(a: Geometry, X_a: SE3, b: Plane, X_b: SE3, reach: Scalar = math.inf) -> list[Candidate]:
    normal = axis_of(X_b)
    height, n = normal.dot(X_a.translation - X_b.translation), X_a.rotation.transpose_apply(normal)
    return candidates_above(a, height, n, reach)


def candidates_above(a: Geometry, h: Scalar, n: Vector3, reach: Scalar = math.inf) -> list[Candidate]:
    """Return the candidates on a plane with A's origin at a height h above it [m], n its normal in A's frame.

    Of a hull whose lowest vertex is out of reach [m] there are no others.
    """
    return _hull(a, h, n, reach) if isinstance(a, Hull) else ABOVE[type(a)](a, h, n)


def _sphere(a: Sphere, h: Scalar, n: Vector3) -> list[Candidate]:
    return [Candidate(h - a.radius, n * -a.radius, n)]


def _capsule(a: Capsule, h: Scalar, n: Vector3) -> list[Candidate]:
    ends = [Vector3(0.0, 0.0, sign * 0.5 * a.length) for sign in (-1.0, 1.0)]
    return [Candidate(h + n.dot(end) - a.radius, end - n * a.radius, n) for end in ends]


def _ellipsoid(a: Ellipsoid, h: Scalar, n: Vector3) -> list[Candidate]:
    depth, direction = length_and_direction(n * Vector3(*a.radii), Vector3.zero())
    return [Candidate(h - depth, -(direction * Vector3(*a.radii)), n)]


def _box(a: Box, h: Scalar, n: Vector3) -> list[Candidate]:
    """Return the corners of the face that looks down most: the lowest corner, and along two edges from there."""
    corner = Vector3(*(where(e > 0.0, -0.5 * s, 0.5 * s) for e, s in zip(n, a.size, strict=True)))
    steep = Vector3(*map(absolute, n))
    face_x = logical_and(steep.x > steep.y, steep.x > steep.z)
    face_z = logical_and(logical_not(face_x), steep.z >= steep.y)
    x, y, z = corner * -2.0
    u = Vector3(where(face_x, 0.0, x), where(face_x, y, 0.0), 0.0)
    v = Vector3(0.0, where(face_z, y, 0.0), where(face_z, 0.0, z))
    dx, dy, dz = steep * Vector3(*a.size)
    low, du, dv = h + n.dot(corner), where(face_x, dy, dx), where(face_z, dy, dz)
    ways = [(corner, low), (corner + u, low + du), (corner + v, low + dv), (corner + u + v, low + (du + dv))]
    return [Candidate(gap, point, n) for point, gap in ways]


def _cylinder(a: Cylinder, h: Scalar, n: Vector3) -> list[Candidate]:
    centre = Z * where(n.z > 0.0, -0.5 * a.length, 0.5 * a.length)
    rim = _lowest_of_rim(a.radius, n)
    return [Candidate(h + n.dot(p), p, n) for p in (*(centre + p for p in rim), rim[0] - centre)]


def _cone(a: Cone, h: Scalar, n: Vector3) -> list[Candidate]:
    tip = Z * (0.5 * a.length)
    return [Candidate(h + n.dot(p), p, n) for p in (*(p - tip for p in _lowest_of_rim(a.radius, n)), tip)]


def _lowest_of_rim(radius: Scalar, n: Vector3) -> list[Vector3]:
    """Return the lowest point of a circle about z along n, and those 120 degrees to either side."""
    _, (x, y, _) = length_and_direction(Vector3(-n.x, -n.y, 0.0), X)
    lowest = Vector3(x, y, 0.0) * radius
    aside = Vector3(-y, x, 0.0) * (math.sin(math.radians(120.0)) * radius)
    return [lowest, lowest * -0.5 + aside, lowest * -0.5 - aside]


def _hull(a: Hull, h: Scalar, n: Vector3, reach: Scalar = math.inf) -> list[Candidate]:
    """Return the four; no other than the lowest where that is out of reach [m]."""
    low = farthest_of(a, -n)
    lowest = Candidate(h + n.dot(low), low, n)
    return [lowest, *when(lowest.gap < reach, lambda: _others(a, lowest), [lowest._replace(gap=FAR)] * 3)]


def _others(a: Hull, lowest: Candidate) -> list[Candidate]:
    """Return q, and where it is not p the two beside the line."""
    size, (gap, low, n) = (Vector3(*a.high) - Vector3(*a.low)).norm(), lowest

    def at(x: Vector3, found: Sequence[Vector3]) -> Candidate:
        apart = [(x - other).norm_squared() > (SAME * size) ** 2 for other in found]
        return existing(reduce(logical_and, apart), Candidate(gap + n.dot(x - low), x, n))

    # |x - p|^2 - (L / t) n . (x - p) is x . x less a linear function of x, and a number.
    far = farthest_of(a, -(low * 2.0 + n * (size / LOW)), squares=1.0)

    def beside() -> list[Candidate]:
        across, length = n.cross(far - low), (far - low).norm()
        left, right = (farthest_of(a, side - n * (length / LOW)) for side in (across, -across))
        return [at(left, (low, far)), at(right, (low, far, left))]

    farthest = at(far, (low,))
    return [farthest, *when(farthest.gap < FAR, beside, [lowest._replace(gap=FAR)] * 2)]


ABOVE: dict[type, Callable[[Any, Scalar, Vector3], list[Candidate]]] = {
    Sphere: _sphere,
    Capsule: _capsule,
    Ellipsoid: _ellipsoid,
    Box: _box,
    Cylinder: _cylinder,
    Cone: _cone,
    Hull: _hull,
}
