"""MuJoCo: quaternions (w, x, y, z); a free joint's linear velocity in world axes, its angular velocity in the body's.

Joints act on bodies, whose own axes turn a ball's quaternion and velocity. Several hinges and slides in one body are
any joint with an axis for each coordinate. Forces on bodies (`xfrc_applied`): at the centre of mass, world axes.

Source: MuJoCo documentation, "Computation: floating objects" and "Modeling: body, joint"; mjData.
"""

from __future__ import annotations

from cardan._dynamics.coordinates import numbering
from cardan._dynamics.coordinates.chart import Free, ball, circle, plane
from cardan._dynamics.coordinates.convention import AXIS_BY_AXIS, FREE, PLANAR, Convention, WrenchForm, each, in_a_row
from cardan._dynamics.coordinates.recognised import kind_of
from cardan._robot import joints as J

CHARTS = {
    **each(AXIS_BY_AXIS),
    J.Composite: in_a_row(lambda joint: kind_of(joint) in AXIS_BY_AXIS),
    J.UnboundedRevolute: circle("angle"),
    J.Spherical: ball("wxyz", of_body=True),
    **each(PLANAR, plane("angle", "parent")),
    **each(FREE, Free("wxyz", "mixed", "body", of_base=True)),
}


def convention() -> Convention:
    """Return MuJoCo's conventions."""
    joints = "free (of a body in the world), ball, hinge, slide, and hinges and slides in a row"
    return Convention("MuJoCo", CHARTS, joints, numbering.depth_first, WrenchForm("com", "mixed"))
