"""The free flyer: no constraint, orientation by unit quaternion."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.manifolds import SE3 as RigidMotions
from cardan._robot.joints.catalogue.floating import FloatingJoint


@dataclass(frozen=True, slots=True)
class FreeFlyer(FloatingJoint):
    """Any motion. q: position of the child in the parent frame [m], then unit quaternion (x, y, z, w).

    v: twist of the child in child axes at its origin, linear part first [m/s, rad/s].

    Examples:
        >>> cardan.joints.FreeFlyer().neutral()
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    """

    manifold = RigidMotions()
    _names_of_q = ("px", "py", "pz", "x", "y", "z", "w")
