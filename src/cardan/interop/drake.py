"""Drake: quaternions (w, x, y, z) before positions, angular velocity before linear, both in the parent's axes.

Velocities of a floating, ball or planar joint are those of the child's frame M in the parent's frame F, along F's axes
at M's origin. A ball joint is three angles. Joints are numbered depth first, siblings in document order. Spatial forces
on bodies: [moment; force] about the body's origin, world axes (`ExternallyAppliedSpatialForce` with p_BoBq_B = 0).

Source: Drake documentation of QuaternionFloatingJoint, BallRpyJoint, PlanarJoint, UniversalJoint, ScrewJoint and
multibody spatial vectors.
"""

from __future__ import annotations

from cardan.interop import order
from cardan.interop.ball_chart import Ball
from cardan.interop.chart import Chart, Same, Turn
from cardan.interop.convention import ONE_AXIS, Convention, WrenchForm, is_orthogonal
from cardan.interop.free_chart import Free
from cardan.interop.plane_chart import Plane
from cardan.joints import (
    FloatingMRP,
    FreeFlyer,
    Helical,
    Planar,
    PlanarAngle,
    Spherical,
    SphericalZYX,
    UnboundedRevolute,
    Universal,
)
from cardan.model import Connection, Model


def convention() -> Convention:
    """Return Drake's conventions."""
    joints = "revolute, prismatic, screw, universal (axes at right angles), ball (roll, pitch, yaw), planar, floating"
    wrench = WrenchForm("origin", "world", moment_first=True)
    return Convention("Drake", _chart, joints, order.depth_first, wrench)


def _chart(model: Model, c: Connection) -> Chart | None:
    joint = c.joint
    if isinstance(joint, (*ONE_AXIS, Helical)) or (isinstance(joint, Universal) and is_orthogonal(joint)):
        return Same(joint)
    if isinstance(joint, UnboundedRevolute):
        return Turn(joint, "angle")
    if isinstance(joint, (Spherical, SphericalZYX)):
        return Ball(joint, "rpy", "parent")
    if isinstance(joint, (Planar, PlanarAngle)):
        return Plane(joint, "angle", "parent")
    if isinstance(joint, (FreeFlyer, FloatingMRP)):
        return Free(joint, "wxyz", "mixed", "mixed", position_first=False, linear_first=False, outer="parent")
    return None
