"""RigidBodyDynamics.jl: quaternions (w, x, y, z) before positions, angular parts before linear ones, body axes.

Joints are numbered breadth first, siblings in document order; q and v are those of `configuration(state)` and
`velocity(state)`. A mimic joint is an ordinary one there. A wrench is angular first in whatever frame it names: here in
the body's.

Source: RigidBodyDynamics.jl, joint types, `SpanningTree` and `parse_urdf`; FACTS, section 5.
"""

from __future__ import annotations

from cardan.interop import order
from cardan.interop.ball_chart import Ball
from cardan.interop.chart import Chart, Same, Turn
from cardan.interop.convention import ONE_AXIS, Convention, WrenchForm
from cardan.interop.free_chart import Free
from cardan.interop.plane_chart import Plane
from cardan.joints import FloatingMRP, FreeFlyer, Planar, PlanarAngle, Spherical, UnboundedRevolute
from cardan.model import Connection, Model


def convention() -> Convention:
    """Return RigidBodyDynamics.jl's conventions."""
    joints = "Revolute, SinCosRevolute, Prismatic, Planar, QuaternionSpherical, QuaternionFloating, SPQuatFloating"
    wrench = WrenchForm("origin", "body", moment_first=True)
    return Convention("RigidBodyDynamics.jl", _chart, joints, order.breadth_first, wrench)


def _chart(model: Model, c: Connection) -> Chart | None:
    joint = c.joint
    if isinstance(joint, ONE_AXIS):
        return Same(joint)
    if isinstance(joint, UnboundedRevolute):
        return Turn(joint, "sin_cos")
    if isinstance(joint, Spherical):
        return Ball(joint, "wxyz")
    if isinstance(joint, (Planar, PlanarAngle)):
        return Plane(joint, "angle", "child")
    if isinstance(joint, (FreeFlyer, FloatingMRP)):
        form = "mrp" if isinstance(joint, FloatingMRP) else "wxyz"
        return Free(joint, form, "body", "body", position_first=False, linear_first=False)
    return None
