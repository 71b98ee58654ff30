"""Drake: quaternions (w, x, y, z) before positions, angular velocity before linear, both in the parent's axes.

Velocities of a floating, ball or planar joint are those of the child's frame M in the parent's frame F, along F's axes
at M's origin. A ball joint is three angles. Joints are numbered depth first, siblings in document order. Spatial forces
on bodies: [moment; force] about the body's origin, world axes (`ExternallyAppliedSpatialForce` with p_BoBq_B = 0).

Source: Drake documentation of QuaternionFloatingJoint, BallRpyJoint, PlanarJoint, UniversalJoint, ScrewJoint and
multibody spatial vectors.
"""

from __future__ import annotations

from cardan._dynamics.coordinates import numbering
from cardan._dynamics.coordinates.chart import Free, ball, circle, plane
from cardan._dynamics.coordinates.convention import (
    FREE,
    ONE_AXIS,
    PLANAR,
    Convention,
    WrenchForm,
    at_right_angles,
    each,
)
from cardan._robot import joints as J

CHARTS = {
    **each((*ONE_AXIS, J.Helical)),
    J.Universal: at_right_angles,
    J.UnboundedRevolute: circle("angle"),
    **each((J.Spherical, J.SphericalZYX), ball("rpy", "parent")),
    **each(PLANAR, plane("angle", "parent")),
    **each(FREE, Free("wxyz", "mixed", "mixed", reverse=True, outer="parent")),
}


def convention() -> Convention:
    """Return Drake's conventions."""
    joints = "revolute, prismatic, screw, universal (axes at right angles), ball (roll, pitch, yaw), planar, floating"
    wrench = WrenchForm("origin", "mixed", moment_first=True)
    return Convention("Drake", CHARTS, joints, numbering.depth_first, wrench)
