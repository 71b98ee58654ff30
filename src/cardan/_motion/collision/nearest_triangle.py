"""Which triangle of a surface is nearest to a convex shape: all are looked at, but most by their bounds alone.

Let c be a point in the shape, R the radius about it that holds the shape, m and r the same of a triangle. Then

    |m - c| - R - r  <=  distance  <=  |m - c|

A triangle is searched (`convex`) if its lower bound is below the least distance so far, which begins with the least of
the upper bounds. The surface has no inside: a shape that crosses no triangle is apart from it, on either side.

Source: Ericson, Real-Time Collision Detection (2005), section 4.3, for spheres as bounds.
Cost: 30 operations a triangle; a search for those that are near.
"""

from __future__ import annotations

from typing import Any

from cardan._algebra.arrays.repeat import repeat, when
from cardan._algebra.scalar import logical_and, minimum, sqrt, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.candidate import FAR
from cardan._motion.collision.convex import witness
from cardan._motion.collision.support_points import Triangle, extent_of
from cardan._motion.collision.triangle_grid import Grid, ground_of
from cardan._robot.geometry.shapes import Geometry, TriangleMesh
from cardan._robot.geometry.support import box_about


def nearest_triangle(a: Geometry, X_ab: SE3, mesh: TriangleMesh) -> Any:
    """Return the `Triangle` nearest to a shape, or that in which it is deepest."""
    faces, (middle, half) = ground_of(mesh).faces, box_about(a)
    c, outer = X_ab.inverse_act(middle), half.norm()
    zero = 0.0 * c.x

    def least(k: Scalar, best: Scalar) -> tuple[Scalar, Scalar]:
        m, _ = faces.bound(k)
        return k + 1.0, minimum(best, (m - c).norm_squared())

    def nearer(k: Scalar, best: Scalar, which: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        m, radius = faces.bound(k)
        is_near = _is_within(m - c, best + outer + radius)
        gap = when(is_near, lambda: witness(a, SE3(), _triangle(faces, k), X_ab).gap, FAR)
        return k + 1.0, minimum(best, gap), where(gap < best, k, which)

    _, squared = repeat(faces.total, least, zero, zero + FAR * FAR)
    # A little more than the bound, so that the nearest one is found below it.
    begin = sqrt(squared) + 1e-3 * extent_of(a) + 1e-6 * outer
    return _triangle(faces, repeat(faces.total, nearer, zero, begin, zero)[2])


def is_apart(a: Geometry, X_ab: SE3, mesh: TriangleMesh, margin: Scalar) -> Any:
    """Return whether a shape is farther from all triangles than a margin [m]."""
    faces, (middle, half) = ground_of(mesh).faces, box_about(a)
    c, outer = X_ab.inverse_act(middle), half.norm()
    zero = 0.0 * c.x

    def also(k: Scalar, apart: Scalar) -> tuple[Scalar, Scalar]:
        m, radius = faces.bound(k)
        is_asked = logical_and(_is_within(m - c, margin + outer + radius), apart > 0.5)
        gap = when(is_asked, lambda: witness(a, SE3(), _triangle(faces, k), X_ab, margin).gap, FAR)
        return k + 1.0, where(gap > margin, apart, 0.0)

    return repeat(faces.total, also, zero, zero + 1.0)[1] > 0.5


def _is_within(way: Vector3, reach: Scalar) -> Any:
    return logical_and(reach >= 0.0, way.norm_squared() <= reach * reach)


def _triangle(faces: Grid, k: Scalar) -> Any:
    """Return a `Triangle`, which stands for a geometry where support points do."""
    return Triangle(*faces.features.vectors(k, 0, 3))
