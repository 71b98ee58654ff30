"""The free flyer with six coordinates: orientation by modified Rodrigues parameters."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.manifolds import MRP
from cardan._algebra.manifolds import SE3 as RigidMotions
from cardan._robot.joints.catalogue.free_flyer import FloatingJoint


@dataclass(frozen=True, slots=True)
class FloatingMRP(FloatingJoint):
    """Any motion. q: position of the child in the parent frame [m], then modified Rodrigues parameters.

    v: twist of the child in child axes at its origin, linear part first [m/s, rad/s].

    Examples:
        >>> cardan.joints.FloatingMRP().nq
        6
    """

    manifold = RigidMotions(MRP())
    _names_of_q = ("px", "py", "pz", "s1", "s2", "s3")
