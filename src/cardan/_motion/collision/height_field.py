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
The field is a solid. A point in it leaves by the nearest of the plane above it, the walls and the base, and one outside
meets the nearest wall. So what comes in beside the rim or from below is as deep as it is far behind that face, and not
as it is below the surface. A point that is above the surface and beside the rectangle meets nothing, but for a round
shape, which the rim meets as an edge, at the height that it has nearest to the middle. No face meets the rim.

Source: the surface is MuJoCo's, documented at its `hfield`; planes of triangles: Ericson, Real-Time Collision Detection
(2005), section 3.4.
Cost: 70 operations and four heights for each look at the surface, two looks for each candidate of a round shape; the
same for every size of the field. Near walls 60 more for each point.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from cardan._algebra.arrays.repeat import when
from cardan._algebra.scalar import absolute, clip, logical_and, logical_not, maximum, minimum, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.candidate import (
    FAR,
    Candidate,
    Z,
    any_exists,
    chosen,
    existing,
    length_and_direction,
    select,
)
from cardan._motion.collision.on_plane import candidates_above
from cardan._motion.collision.support_points import middle_of
from cardan._motion.collision.terrain import cell_at, slopes, terrain_of
from cardan._robot.geometry.shapes import Capsule, Ellipsoid, Geometry, HeightField, Hull, Sphere

Face = tuple[Scalar, Vector3]
"""How far a point is outside of a plane [m], and that plane's unit normal, in the field's frame."""


class _Look(NamedTuple):
    """What a point, in the field's frame, has beneath itself, or beneath the nearest place of the rim."""

    point: Vector3
    top: Face
    beside: Scalar  # how far it is beside the rectangle, along x or y [m]; negative over it
    wall: Scalar  # how far it is outside of the walls or the base, negative within

    @property
    def is_behind(self) -> Scalar:
        """A number that is positive where a wall or the base is nearer than the surface, or the point is outside."""
        return self.wall - minimum(self.top[0], 0.0)


def on_height_field(a: Geometry, X_a: SE3, b: HeightField, X_b: SE3) -> list[Candidate]:
    X_ba = SE3(X_b.rotation.T @ X_a.rotation, X_b.inverse_act(X_a.translation))
    if isinstance(a, (Sphere, Ellipsoid, Capsule)):
        return [_round(a, X_ba, b, k, start) for k, start in enumerate(_starts(a))]
    middle = middle_of(a)
    (face,) = _faces(b, [_look(b, X_ba @ middle)])
    lowest, *others = candidates_above(a, *_in_shape(X_ba, middle, face))
    if not isinstance(a, Hull):
        return _moved(b, X_ba, [lowest, *others])
    # A hull mostly has no others: then their places are not looked for in the table.
    return [*_moved(b, X_ba, [lowest]), *when(any_exists(others), lambda: _moved(b, X_ba, others), others)]


def _starts(a: Geometry) -> list[Vector3]:
    """Return the points beneath which the surface is looked at first, one for each candidate of a round shape."""
    if isinstance(a, Capsule):
        return [Vector3(0.0, 0.0, sign * 0.5 * a.length) for sign in (-1.0, 1.0)]
    return [Vector3.zero()]


def _round(a: Geometry, X_ba: SE3, b: HeightField, k: int, start: Vector3) -> Candidate:
    first = _look(b, X_ba @ start)
    (face,) = _faces(b, [first])
    nearest = _in_shape(X_ba, start, face)
    lowest = candidates_above(a, *nearest)[k].point
    below = _look(b, X_ba @ lowest)
    is_over = logical_and(first.is_behind <= 0.0, below.beside <= 0.0)
    return candidates_above(a, *chosen(is_over, _in_shape(X_ba, lowest, below.top), nearest))[k]


def _moved(b: HeightField, X_ba: SE3, found: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates of a plane as those of what is beneath or beside their points."""
    looks, moved = [_look(b, X_ba @ c.point) for c in found], []
    for c, look, (gap, normal) in zip(found, looks, _faces(b, looks), strict=True):
        falls_beside = logical_and(look.beside > 0.0, look.top[0] > 0.0)
        exists = logical_and(c.gap < 0.5 * FAR, logical_not(falls_beside))
        moved.append(existing(exists, Candidate(gap, c.point, X_ba.rotation.transpose_apply(normal))))
    return moved


def _in_shape(X_ba: SE3, point: Vector3, face: Face) -> tuple[Scalar, Vector3]:
    """Return the height of A's origin above a plane, and its normal in A's frame; `face` is that of a point of A."""
    gap, normal = face
    n = X_ba.rotation.transpose_apply(normal)
    return gap - n.dot(point), n


def _look(b: HeightField, p: Vector3) -> _Look:
    half = [0.5 * side for side in b.size]
    beside = maximum(absolute(p.x) - half[0], absolute(p.y) - half[1])
    return _Look(p, _surface(b, _over(b, p)), beside, maximum(beside, terrain_of(b).base - p.z))


def _over(b: HeightField, p: Vector3) -> Vector3:
    """Return the point of the rectangle that is nearest, at the height of a point."""
    x, y = (clip(e, -0.5 * side, 0.5 * side) for e, side in zip((p.x, p.y), b.size, strict=True))
    return Vector3(x, y, p.z)


def _faces(b: HeightField, looks: Sequence[_Look]) -> list[Face]:
    """Return the planes that points meet."""
    tops = [look.top for look in looks]
    is_any_behind = reduce(maximum, (look.is_behind for look in looks)) > 0.0
    return when(is_any_behind, lambda: [chosen(look.is_behind > 0.0, _side(b, look), look.top) for look in looks], tops)


def _side(b: HeightField, look: _Look) -> Face:
    """Return the wall or base that is nearest to a point; of one that is also above the surface, the rim."""
    p, (above, n) = look.point, look.top
    away = p - _over(b, p)
    signs = [where(e > 0.0, 1.0, -1.0) for e in (p.x, p.y)]
    along_x = absolute(p.x) - 0.5 * b.size[0] > absolute(p.y) - 0.5 * b.size[1]
    far, way = length_and_direction(away, select(along_x, (signs[0], 0.0, 0.0), (0.0, signs[1], 0.0)))
    wall, low = where(far > 0.0, far, look.beside), terrain_of(b).base - p.z
    way, wall = select(low > wall, -Z, way), maximum(low, wall)
    is_edge, gap, edge = logical_and(above > 0.0, wall > 0.0), *_edge((above, n), (wall, way))
    return where(is_edge, gap, maximum(above, wall)), select(is_edge, edge, select(wall > above, way, n))


def _edge(top: Face, wall: Face) -> Face:
    """Return the plane through the rim that a point meets, which is beside a wall and higher than the rim there.

    If the surface falls towards the rim, and the foot of the point is on its plane, it is that plane.
    """
    (a, n), (b, way) = top, wall
    across = n.dot(way)
    falls = maximum(across, 0.0)
    out = maximum(b - falls * (a + falls * b), 0.0)
    length, normal = length_and_direction(n * a + way * out, n)
    return where(length > 0.0, (a * (a + across * b) + out * b) / where(length > 0.0, length, 1.0), a), normal


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
