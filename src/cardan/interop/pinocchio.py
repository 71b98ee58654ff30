"""Pinocchio: the conventions of this library, but for the order of joints and unlimited angles.

Its URDF reader goes depth first and takes siblings by their joints' names; a `continuous` joint is (cos, sin). A mimic
joint has coordinates of its own unless the reader is told `mimic=True` (here `mimics=False`). External forces: in the
joint's frame, at its origin, one a joint, so rows of bodies on one joint are to be added.

Source: Pinocchio documentation, "Joints" and "Conventions"; FACTS, sections 1 and 2.
"""

from __future__ import annotations

import math

from cardan.interop import order
from cardan.interop.chart import Chart, Circle, Same, Turn
from cardan.interop.convention import Convention, WrenchForm, check_choice
from cardan.interop.free_chart import Free
from cardan.interop.plane_chart import Plane
from cardan.joints import (
    Composite,
    Ellipsoid,
    FloatingMRP,
    FreeFlyer,
    Helical,
    Joint,
    Planar,
    PlanarAngle,
    Prismatic,
    Revolute,
    Spherical,
    SphericalZYX,
    Translation,
    UnboundedRevolute,
    Universal,
)
from cardan.model import Connection, Model

SAME = (Prismatic, Helical, Universal, Spherical, SphericalZYX, Translation, Planar, FreeFlyer, Ellipsoid)
COMPOSED = (*SAME, Revolute, UnboundedRevolute)


def convention(continuous: Circle = "cos_sin") -> Convention:
    """Return Pinocchio's conventions.

    Args:
        continuous: how a revolute joint without limits is written: `"cos_sin"` (as its URDF reader makes them, type
            JointModelRUBX and its like) or `"angle"` (JointModelRX).
    """
    check_choice("continuous", continuous, ("cos_sin", "angle"))

    def chart(model: Model, c: Connection) -> Chart | None:
        joint = c.joint
        if isinstance(joint, Revolute):
            unlimited = all(math.isinf(e) for e in (*(c.limits.lower or ()), *(c.limits.upper or ())))
            return Turn(joint, continuous if unlimited else "angle")
        if isinstance(joint, UnboundedRevolute):
            return Turn(joint, "cos_sin")
        if isinstance(joint, PlanarAngle):
            return Plane(joint, "cos_sin", "child")
        if isinstance(joint, FloatingMRP):
            return Free(joint, "xyzw", "body", "body")
        return Same(joint) if isinstance(joint, SAME) or _is_composed(joint) else None

    joints = (
        "revolute, unbounded revolute, prismatic, helical, universal, spherical, spherical ZYX, translation, planar, "
        "free flyer, ellipsoid, and composites of these"
    )
    return Convention("Pinocchio", chart, joints, order.depth_first_by_name, WrenchForm("joint", "joint"))


def _is_composed(joint: Joint) -> bool:
    if not isinstance(joint, Composite):
        return False
    whole = all(isinstance(j, COMPOSED) for j in joint.joints)
    return whole and all(j.order == "cos_sin" for j in joint.joints if isinstance(j, UnboundedRevolute))
