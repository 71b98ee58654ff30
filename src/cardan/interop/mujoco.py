"""MuJoCo: quaternions (w, x, y, z); a free joint's linear velocity in world axes, its angular velocity in the body's.

Joints act on bodies, whose own axes turn a ball's quaternion and velocity. Several hinges and slides in one body are
any joint with an axis for each coordinate. Forces on bodies (`xfrc_applied`): at the centre of mass, world axes.

Source: MuJoCo documentation, "Computation: floating objects" and "Modeling: body, joint"; mjData.
"""

from __future__ import annotations

from cardan.interop import order
from cardan.interop.ball_chart import Ball
from cardan.interop.chart import Chart, Same, Turn
from cardan.interop.convention import AXIS_BY_AXIS, Convention, WrenchForm
from cardan.interop.free_chart import Free
from cardan.interop.plane_chart import Plane
from cardan.joints import Composite, FloatingMRP, FreeFlyer, Planar, PlanarAngle, Spherical, UnboundedRevolute
from cardan.model import WORLD, Connection, Model


def convention() -> Convention:
    """Return MuJoCo's conventions."""
    joints = "free (of a body in the world), ball, hinge, slide, and hinges and slides in a row"
    return Convention("MuJoCo", _chart, joints, order.depth_first, WrenchForm("com", "world"))


def _chart(model: Model, c: Connection) -> Chart | None:
    joint = c.joint
    if isinstance(joint, AXIS_BY_AXIS):
        return Same(joint)
    if isinstance(joint, Composite) and all(isinstance(part, AXIS_BY_AXIS) for part in joint.joints):
        return Same(joint)
    if isinstance(joint, UnboundedRevolute):
        return Turn(joint, "angle")
    if isinstance(joint, Spherical):
        return Ball(joint, "wxyz", "child", c.child_pose.rotation)
    if isinstance(joint, (Planar, PlanarAngle)):
        return Plane(joint, "angle", "parent")
    if isinstance(joint, (FreeFlyer, FloatingMRP)) and c.parent == WORLD:
        return Free(joint, "wxyz", "mixed", "body", left=c.parent_pose, right=c.child_pose.inverse())
    return None
