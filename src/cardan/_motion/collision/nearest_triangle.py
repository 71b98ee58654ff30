"""Which triangle of a surface is nearest to a convex shape: all are looked at, but most by their bounds alone.

Let c be a point in the shape, R the radius about it that holds the shape, m and r the same of a triangle. Then

    |m - c| - R - r  <=  distance  <=  |m - c|

A triangle is searched (`convex`) if its lower bound is below the least distance so far, which begins with the least of
the upper bounds. The surface has no inside: a shape that crosses no triangle is apart from it, on either side.

Source: Ericson, Real-Time Collision Detection (2005), section 4.3, for spheres as bounds.
Cost: 30 operations a triangle; a search for those that are near.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.cell import Table, cell
from cardan._algebra.arrays.repeat import repeat, when
from cardan._algebra.scalar import logical_and, minimum, sqrt, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.candidate import FAR
from cardan._motion.collision.convex import witness
from cardan._motion.collision.known_tables import made_once
from cardan._motion.collision.support_points import Triangle, extent_of
from cardan._robot.geometry.shapes import Geometry, TriangleMesh
from cardan._robot.geometry.support import box_about

STRIDE = 13  # numbers of a triangle: its corners, a point on it, the radius about that
AREA = 1e-12  # of its longest side squared: a triangle of less takes no part


class Triangles(NamedTuple):
    """A surface as a table."""

    table: Table
    size: int

    def bound(self, k: Scalar) -> tuple[Vector3, Scalar]:
        """Return a point on a triangle, and the radius about it that holds the triangle."""
        x, y, z, radius = (cell(self.table, k * float(STRIDE) + float(9 + e)) for e in range(4))
        return Vector3(x, y, z), radius

    def triangle(self, k: Scalar) -> Any:
        """Return a `Triangle`, which stands for a geometry where support points do."""
        numbers = [cell(self.table, k * float(STRIDE) + float(e)) for e in range(9)]
        return Triangle(*(Vector3(*numbers[e : e + 3]) for e in (0, 3, 6)))


@made_once
def triangles_of(mesh: TriangleMesh) -> Triangles:
    vertices, triangles = mesh.surface()
    corners = np.asarray(vertices, float)[np.asarray(triangles)]
    sides = corners - np.roll(corners, 1, axis=1)
    longest = (sides**2).sum(axis=-1).max(axis=-1)
    corners = corners[np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=-1) > AREA * longest]
    middles = corners.mean(axis=1)
    radii = np.linalg.norm(corners - middles[:, None], axis=-1).max(axis=-1)
    rows = np.concatenate([corners.reshape(-1, 9), middles, radii[:, None]], axis=1)
    return Triangles(Table(rows), len(rows))


def nearest_triangle(a: Geometry, X_ab: SE3, mesh: TriangleMesh) -> Any:
    """Return the `Triangle` nearest to a shape, or that in which it is deepest."""
    surface, (middle, half) = triangles_of(mesh), box_about(a)
    c, outer = X_ab.inverse_act(middle), half.norm()
    zero = 0.0 * c.x

    def least(k: Scalar, best: Scalar) -> tuple[Scalar, Scalar]:
        m, _ = surface.bound(k)
        return k + 1.0, minimum(best, (m - c).norm_squared())

    def nearer(k: Scalar, best: Scalar, which: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        m, radius = surface.bound(k)
        is_near = _is_within(m - c, best + outer + radius)
        gap = when(is_near, lambda: witness(a, SE3(), surface.triangle(k), X_ab).gap, FAR)
        return k + 1.0, minimum(best, gap), where(gap < best, k, which)

    _, squared = repeat(surface.size, least, zero, zero + FAR * FAR)
    # A little more than the bound, so that the nearest one is found below it.
    begin = sqrt(squared) + 1e-3 * extent_of(a) + 1e-6 * outer
    return surface.triangle(repeat(surface.size, nearer, zero, begin, zero)[2])


def is_apart(a: Geometry, X_ab: SE3, mesh: TriangleMesh, margin: Scalar) -> Any:
    """Return whether a shape is farther from all triangles than a margin [m]."""
    surface, (middle, half) = triangles_of(mesh), box_about(a)
    c, outer = X_ab.inverse_act(middle), half.norm()
    zero = 0.0 * c.x

    def also(k: Scalar, apart: Scalar) -> tuple[Scalar, Scalar]:
        m, radius = surface.bound(k)
        is_asked = logical_and(_is_within(m - c, margin + outer + radius), apart > 0.5)
        gap = when(is_asked, lambda: witness(a, SE3(), surface.triangle(k), X_ab, margin).gap, FAR)
        return k + 1.0, where(gap > margin, apart, 0.0)

    return repeat(surface.size, also, zero, zero + 1.0)[1] > 0.5


def _is_within(way: Vector3, reach: Scalar) -> Any:
    return logical_and(reach >= 0.0, way.norm_squared() <= reach * reach)
