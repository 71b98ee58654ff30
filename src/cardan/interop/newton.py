"""Newton: quaternions (x, y, z, w); the velocity of a free joint's child centre of mass, in the parent's anchor axes.

A ball's angular velocity is in the parent's anchor axes. A free joint's `joint_qd` is along those axes, its `joint_f`
a wrench in world axes (newton issue 3308), so their product is power only where the two agree; the converter gives
`joint_f` as Newton takes it. Mass matrix and accelerations are along `joint_qd`. Forces on bodies (`body_f`): at the
centre of mass, world axes.

Source: Newton documentation, "Conventions" and "Articulations"; FACTS, section 9.
"""

from __future__ import annotations

from cardan.interop import order
from cardan.interop.ball_chart import Ball
from cardan.interop.chart import Chart, Same, Turn
from cardan.interop.convention import AXIS_BY_AXIS, Convention, WrenchForm, centre_of_mass, is_orthogonal
from cardan.interop.free_chart import Free
from cardan.interop.plane_chart import Plane
from cardan.joints import (
    Distance,
    FloatingMRP,
    FreeFlyer,
    Planar,
    PlanarAngle,
    Spherical,
    UnboundedRevolute,
    Universal,
)
from cardan.model import Connection, Model


def convention(merged_bodies: bool = False) -> Convention:
    """Return Newton's conventions.

    Args:
        merged_bodies: whether bodies joined by fixed joints are one there (`collapse_fixed_joints=True`), with one
            centre of mass.
    """

    def chart(model: Model, c: Connection) -> Chart | None:
        joint = c.joint
        if isinstance(joint, Universal) and not is_orthogonal(joint):
            return None
        if isinstance(joint, AXIS_BY_AXIS):
            return Same(joint)
        if isinstance(joint, UnboundedRevolute):
            return Turn(joint, "angle")
        if isinstance(joint, Spherical):
            return Ball(joint, "xyzw", "parent")
        if isinstance(joint, (Planar, PlanarAngle)):
            return Plane(joint, "angle", "parent")
        if isinstance(joint, (FreeFlyer, FloatingMRP, Distance)):
            point = c.child_pose.inverse_act(centre_of_mass(model, c.child, merged_bodies))
            return Free(joint, "xyzw", "mixed", "mixed", point=point, effort_in_world=True, outer="parent")
        return None

    joints = "free, distance, ball, revolute, prismatic, and D6 (up to three linear, then three angular axes)"
    return Convention("Newton", chart, joints, order.depth_first, WrenchForm("com", "world"))
