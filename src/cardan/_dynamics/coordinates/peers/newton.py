"""Newton: quaternions (x, y, z, w); the velocity of a free joint's child centre of mass, in the parent's anchor axes.

A ball's angular velocity is in the parent's anchor axes. A free joint's `joint_qd` is along those axes, its `joint_f`
a wrench in world axes (newton issue 3308), so their product is power only where the two agree; the converter gives
`joint_f` as Newton takes it. Mass matrix and accelerations are along `joint_qd`. Forces on bodies (`body_f`): at the
centre of mass, world axes.

Source: Newton documentation, "Conventions" and "Articulations"; FACTS, section 9.
"""

from __future__ import annotations

from cardan._dynamics.coordinates import numbering
from cardan._dynamics.coordinates.chart import Free, ball, circle, plane
from cardan._dynamics.coordinates.convention import (
    AXIS_BY_AXIS,
    FREE,
    PLANAR,
    Convention,
    WrenchForm,
    at_right_angles,
    centre_of_mass,
    each,
)
from cardan._robot import joints as J


def convention(merged_bodies: bool = False) -> Convention:
    """Return Newton's conventions.

    Args:
        merged_bodies: whether bodies joined by fixed joints are one there (`collapse_fixed_joints=True`), with one
            centre of mass.
    """
    point = centre_of_mass(merged_bodies)
    charts = {
        **each(AXIS_BY_AXIS),
        J.Universal: at_right_angles,
        J.UnboundedRevolute: circle("angle"),
        J.Spherical: ball("xyzw", "parent"),
        **each(PLANAR, plane("angle", "parent")),
        **each((*FREE, J.Distance), Free("xyzw", "mixed", "mixed", point=point, effort_in_world=True, outer="parent")),
    }
    joints = "free, distance, ball, revolute, prismatic, and D6 (up to three linear, then three angular axes)"
    return Convention("Newton", charts, joints, numbering.depth_first, WrenchForm("com", "mixed"))
