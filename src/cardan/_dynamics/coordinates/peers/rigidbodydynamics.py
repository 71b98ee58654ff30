"""RigidBodyDynamics.jl: quaternions (w, x, y, z) before positions, angular parts before linear ones, body axes.

Joints are numbered breadth first, siblings in document order; q and v are those of `configuration(state)` and
`velocity(state)`. A mimic joint is an ordinary one there. A wrench is angular first in whatever frame it names: here in
the body's.

Source: RigidBodyDynamics.jl, joint types, `SpanningTree` and `parse_urdf`; FACTS, section 5.
"""

from __future__ import annotations

from cardan._dynamics.coordinates import numbering
from cardan._dynamics.coordinates.chart import Free, ball, circle, plane
from cardan._dynamics.coordinates.convention import FREE, ONE_AXIS, PLANAR, Convention, WrenchForm, each
from cardan._robot import joints as J

CHARTS = {
    **each(ONE_AXIS),
    J.UnboundedRevolute: circle("sin_cos"),
    J.Spherical: ball("wxyz"),
    **each(PLANAR, plane("angle", "child")),
    **each(FREE, Free("wxyz", reverse=True)),
    J.FloatingMRP: Free("mrp", reverse=True),
}


def convention() -> Convention:
    """Return RigidBodyDynamics.jl's conventions."""
    joints = "Revolute, SinCosRevolute, Prismatic, Planar, QuaternionSpherical, QuaternionFloating, SPQuatFloating"
    wrench = WrenchForm("origin", "body", moment_first=True)
    return Convention("RigidBodyDynamics.jl", CHARTS, joints, numbering.breadth_first, wrench)
