"""Shapes on terrain: the candidates on the plane of a triangle, each then on the plane of the triangle beneath itself.

A point at x, y is in the cell of column j and row i, at the fractions s and t of its sides. With the heights f at the
cell's corners, f10 that at the next column, the surface (`HeightField`) is

    z = f00 + (f10 - f00) s + (f11 - f10) t    where s >= t          the triangle of the greater x
    z = f00 + (f11 - f01) s + (f01 - f00) t    elsewhere             that of the greater y

a plane with the slopes a = dz/dx and b = dz/dy, of normal n = (-a, -b, 1) / sqrt(1 + a^2 + b^2). The point is above it
by h = n_z (p_z - z). The plane under the middle of a shape (of a capsule, under each end) says which points of it are
candidates, as `on_plane` has them. What is under such a point says its gap and normal: of a round shape also where the
point is.

So a level or tilted field is what a plane is. At edges this is approximate, by choice, for a triangle's plane goes on
beyond its edges:
    - a sphere of radius r on a convex edge of angle d is felt up to r (1 - cos d) early, in a concave one as much late;
    - a peak or edge that a face, a side or the middle of an axis lies on is not felt: only candidate points are.
Beside the rectangle, and below the base, there is nothing.

Source: the surface is MuJoCo's, documented at its `hfield`; planes of triangles: Ericson, Real-Time Collision Detection
(2005), section 3.4.
Cost: 60 operations and four heights for each look at the surface, two looks for each candidate of a round shape; the
same for every size of the field.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import when
from cardan._algebra.scalar import absolute, logical_and
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.candidate import FAR, Candidate, any_exists, existing
from cardan._motion.collision.on_plane import candidates_above
from cardan._motion.collision.support_points import middle_of
from cardan._motion.collision.terrain import cell_at, slopes, terrain_of
from cardan._robot.geometry.shapes import Capsule, Ellipsoid, Geometry, HeightField, Hull, Sphere


class _Beneath(NamedTuple):
    """The plane of the triangle beneath a point of A, in A's frame."""

    height: Scalar  # of A's origin above the plane [m]
    normal: Vector3
    exists: Any  # whether the point is over the rectangle, and above the base


def on_height_field(a: Geometry, X_a: SE3, b: HeightField, X_b: SE3) -> list[Candidate]:
    X_ba = SE3(X_b.rotation.T @ X_a.rotation, X_b.inverse_act(X_a.translation))
    if isinstance(a, (Sphere, Ellipsoid, Capsule)):
        return [_round(a, X_ba, b, k, start) for k, start in enumerate(_starts(a))]
    first = _beneath(b, X_ba, middle_of(a))
    lowest, *others = candidates_above(a, first.height, first.normal)
    if not isinstance(a, Hull):
        return [_moved(b, X_ba, c) for c in (lowest, *others)]
    # A hull mostly has no others: then their places are not looked for in the table.
    return [_moved(b, X_ba, lowest), *when(any_exists(others), lambda: [_moved(b, X_ba, c) for c in others], others)]


def _starts(a: Geometry) -> list[Vector3]:
    """Return the points beneath which the surface is looked at first, one for each candidate of a round shape."""
    if isinstance(a, Capsule):
        return [Vector3(0.0, 0.0, sign * 0.5 * a.length) for sign in (-1.0, 1.0)]
    return [Vector3.zero()]


def _round(a: Geometry, X_ba: SE3, b: HeightField, k: int, start: Vector3) -> Candidate:
    first = _beneath(b, X_ba, start)
    lowest = candidates_above(a, first.height, first.normal)[k].point
    height, normal, exists = _beneath(b, X_ba, lowest)
    return existing(exists, candidates_above(a, height, normal)[k])


def _moved(b: HeightField, X_ba: SE3, c: Candidate) -> Candidate:
    """Return a candidate of a plane as one of the triangle beneath its point."""
    height, normal, exists = _beneath(b, X_ba, c.point)
    found = Candidate(height + normal.dot(c.point), c.point, normal)
    return existing(logical_and(exists, c.gap < 0.5 * FAR), found)


def _beneath(b: HeightField, X_ba: SE3, point: Vector3) -> _Beneath:
    p = X_ba @ point
    above, n = _surface(b, p)
    normal = X_ba.rotation.transpose_apply(n)
    inside = logical_and(absolute(p.x) <= 0.5 * b.size[0], absolute(p.y) <= 0.5 * b.size[1])
    return _Beneath(above - normal.dot(point), normal, logical_and(inside, p.z > terrain_of(b).base))


def _surface(b: HeightField, p: Vector3) -> tuple[Scalar, Vector3]:
    """Return how far a point is above the plane of the triangle beneath it [m], and that plane's normal."""
    terrain = terrain_of(b)
    counts = terrain.columns, terrain.rows
    (j, s), (i, t) = (_place(x, side, n) for x, side, n in zip((p.x, p.y), b.size, counts, strict=True))
    plane = slopes(terrain, j, i, t > s)
    n = plane.normal(*((count - 1) / side for count, side in zip(counts, b.size, strict=True)))
    return (p.z - (plane.height + plane.by_u * s + plane.by_v * t)) * n.z, n


def _place(x: Scalar, side: float, count: int) -> tuple[Scalar, Scalar]:
    """Return the number of a cell along a side of so many heights, and where in it a point is [-]."""
    cells = (x * (1.0 / side) + 0.5) * float(count - 1)
    number = cell_at(cells, count)
    return number, cells - number
