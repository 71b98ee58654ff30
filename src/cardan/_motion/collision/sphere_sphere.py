"""Two spheres: one candidate, on the line of centres.

    gap = |p_a - p_b| - r_a - r_b

Source: Ericson, Real-Time Collision Detection (2005), section 4.3.1.
Cost: 41 operations.
"""

from __future__ import annotations

from cardan._algebra.spatial import SE3, Vector3
from cardan._motion.collision.candidate import Candidate, Z, between_spheres
from cardan._robot.geometry.shapes import Sphere


def sphere_sphere(a: Sphere, X_a: SE3, b: Sphere, X_b: SE3) -> list[Candidate]:
    """Return the candidate; spheres with one centre part along z of A."""
    d = X_a.rotation.transpose_apply(X_a.translation - X_b.translation)
    return [between_spheres(d, Vector3.zero(), (a.radius, b.radius), Z)]
