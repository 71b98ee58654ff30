"""Pinocchio: the conventions of this library, but for the order of joints and unlimited angles.

Its URDF reader goes depth first and takes siblings by their joints' names; a `continuous` joint is (cos, sin). A mimic
joint has coordinates of its own unless the reader is told `mimic=True` (here `mimics=False`). External forces: in the
joint's frame, at its origin, one a joint, so rows of bodies on one joint are to be added.

Source: Pinocchio documentation, "Joints" and "Conventions"; FACTS, sections 1 and 2.
"""

from __future__ import annotations

import functools
import math

from cardan._dynamics.coordinates import numbering
from cardan._dynamics.coordinates.chart import Chart, Free, circle, plane, same
from cardan._dynamics.coordinates.convention import Convention, WrenchForm, check_choice, each, in_a_row
from cardan._dynamics.coordinates.forms import Circle, form_of
from cardan._dynamics.coordinates.recognised import kind_of
from cardan._robot import joints as J
from cardan._robot.model import Connection, Model

SAME = (
    J.Prismatic,
    J.Helical,
    J.Universal,
    J.Spherical,
    J.SphericalZYX,
    J.Translation,
    J.Planar,
    J.FreeFlyer,
    J.Ellipsoid,
)


def convention(continuous: Circle = "cos_sin") -> Convention:
    """Return Pinocchio's conventions.

    Args:
        continuous: how a revolute joint without limits is written: `"cos_sin"` (as its URDF reader makes them, type
            JointModelRUBX and its like) or `"angle"` (JointModelRX).
    """
    check_choice("continuous", continuous, ("cos_sin", "angle"))

    def hinge(model: Model, c: Connection) -> Chart | None:
        unlimited = all(math.isinf(e) for e in (*(c.limits.lower or ()), *(c.limits.upper or ())))
        return circle(continuous if unlimited else "angle")(model, c)

    charts = {
        **each(SAME, same),
        J.Revolute: hinge,
        J.UnboundedRevolute: circle("cos_sin"),
        J.PlanarAngle: plane("cos_sin", "child"),
        J.FloatingMRP: Free("xyzw"),
        J.Composite: in_a_row(_is_part),
    }
    joints = (
        "revolute, unbounded revolute, prismatic, helical, universal, spherical, spherical ZYX, translation, planar, "
        "free flyer, ellipsoid, and composites of these"
    )
    order = functools.partial(numbering.depth_first, by_name=True)
    return Convention("Pinocchio", charts, joints, order, WrenchForm("joint"))


def _is_part(joint: J.Joint) -> bool:
    kind = kind_of(joint)
    return kind in (*SAME, J.Revolute) or (kind is J.UnboundedRevolute and form_of(joint.manifold) == "cos_sin")
