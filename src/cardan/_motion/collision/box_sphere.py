"""A box and a sphere: the point of the box nearest to the centre c, or the nearest face where c is inside.

    outside     d = c - clip(c, -h, h),  distance |d|, normal from d
    inside      distance max_k (|c_k| - h_k) <= 0, normal along that axis

Source: Ericson, Real-Time Collision Detection (2005), section 5.1.3.
Cost: 94 operations.
"""

from __future__ import annotations

from cardan._algebra.scalar import absolute, clip, logical_and, maximum, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.candidate import Candidate, length_and_direction, select
from cardan._robot.geometry.shapes import Box, Sphere


def box_sphere(a: Box, X_a: SE3, b: Sphere, X_b: SE3) -> list[Candidate]:
    """Return the candidate."""
    h = Vector3(*a.size) * 0.5
    c = X_a.inverse_act(X_b.translation)
    nearest = Vector3(*(clip(e, -s, s) for e, s in zip(c, h, strict=True)))
    depth, face = nearest_face(c, h)
    length, outward = length_and_direction(c - nearest, face)
    distance = where(length > 0.0, length, depth)
    return [Candidate(distance - b.radius, c - outward * distance, -outward)]


def nearest_face(c: Vector3, h: Vector3) -> tuple[Scalar, Vector3]:
    """Return the height of c above the face whose plane it is highest above, and that face's outward normal."""
    x, y, z = (absolute(e) - s for e, s in zip(c, h, strict=True))
    is_x = logical_and(x >= y, x >= z)
    axis = select(is_x, (1.0, 0.0, 0.0), select(y >= z, (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    outward = Vector3(*(where(e < 0.0, -w, w) for e, w in zip(c, axis, strict=True)))
    return maximum(maximum(x, y), z), outward
