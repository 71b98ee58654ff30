"""A capsule and a sphere: the sphere of the capsule nearest to the other one.

    t = clip(c_z, -l/2, l/2)        c: the sphere's centre in the capsule's frame, whose axis is z

Source: Ericson, Real-Time Collision Detection (2005), section 4.5.1.
Cost: 45 operations.
"""

from __future__ import annotations

from cardan._algebra.scalar import clip
from cardan._algebra.spatial import SE3, Vector3
from cardan._motion.collision.candidate import Candidate, X, between_spheres
from cardan._robot.geometry.shapes import Capsule, Sphere


def capsule_sphere(a: Capsule, X_a: SE3, b: Sphere, X_b: SE3) -> list[Candidate]:
    """Return the candidate; a sphere whose centre is on the axis parts along x of A."""
    c = X_a.inverse_act(X_b.translation)
    centre = Vector3(0.0, 0.0, clip(c.z, -0.5 * a.length, 0.5 * a.length))
    return [between_spheres(centre - c, centre, (a.radius, b.radius), X)]
