"""Whether two shapes may meet: by a box about one and the height of a plane, or by spheres and boxes about both.

    shape-plane     h + n . c - sum |n_i| b_i < reach       c, b: middle and half sides of the box about the shape
    two shapes      |p_a - p_b| < r_a + r_b + reach          p, r: middle and radius of the sphere about each
                    |n . (p_a - p_b)| < sum |n_i| b_i + sum |n_j| b_j + reach      along the axes n of both boxes

A terrain is the half space below its highest point, triangles are a box along their frame. Bounds are never smaller
than the shapes, so that no pair that may meet is left out.

Source: Ericson, Real-Time Collision Detection (2005), sections 4.2.3, 4.3 and 5.2.3.
Cost: 15 operations with a plane, 25 of two shapes, and 110 where their spheres meet.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from cardan._algebra.arrays.repeat import when
from cardan._algebra.scalar import absolute, logical_and, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.candidate import axis_of
from cardan._motion.collision.terrain import terrain_of
from cardan._motion.collision.triangle_grid import ground_of
from cardan._robot.geometry.shapes import Geometry, HeightField, Plane, Sphere, TriangleMesh
from cardan._robot.geometry.support import box_about


def may_meet(a: Geometry, X_a: SE3, b: Geometry, X_b: SE3, reach: Scalar) -> Any:
    """Return whether two shapes, of which b may be a plane or a terrain, may be nearer than a reach [m]."""
    middle, half = box_about(a)
    if isinstance(b, (Plane, HeightField)):
        normal = axis_of(X_b)
        top = terrain_of(b).highest if isinstance(b, HeightField) else 0.0
        n = X_a.rotation.transpose_apply(normal)
        height = normal.dot(X_a.translation - X_b.translation) - top + n.dot(middle)
        return height - Vector3(*map(absolute, n)).dot(half) < reach
    if isinstance(b, TriangleMesh):
        ground, X_ba = ground_of(b), SE3(X_b.rotation.T @ X_a.rotation, X_b.inverse_act(X_a.translation))
        sides = [Vector3(*map(absolute, row)).dot(half) + reach for row in X_ba.rotation.rows()]
        away = X_ba @ middle - (ground.low + ground.high) * 0.5
        near = (
            absolute(e) <= 0.5 * own + side for e, own, side in zip(away, ground.high - ground.low, sides, strict=True)
        )
        return reduce(logical_and, near)
    other, far = box_about(b)
    between = X_a @ middle - X_b @ other
    most = half.norm() + far.norm() + reach
    near = between.norm_squared() < most * most
    if isinstance(a, Sphere) and isinstance(b, Sphere):
        return near
    return when(near, lambda: where(_boxes_meet(between, X_a, half, X_b, far, reach), 1.0, 0.0), 0.0) > 0.5


def _boxes_meet(between: Vector3, X_a: SE3, half: Vector3, X_b: SE3, far: Vector3, reach: Scalar) -> Any:
    """Return whether two boxes may be nearer than a reach, by all six of their axes; their middles are so far apart."""
    R = X_a.rotation.T @ X_b.rotation
    by_a = zip(X_a.rotation.transpose_apply(between), half, R.rows(), [far] * 3, strict=True)
    by_b = zip(X_b.rotation.transpose_apply(between), far, R.columns(), [half] * 3, strict=True)
    return reduce(
        logical_and,
        (
            absolute(away) < own + Vector3(*map(absolute, along)).dot(other) + reach
            for away, own, along, other in (*by_a, *by_b)
        ),
    )
