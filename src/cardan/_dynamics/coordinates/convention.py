"""A library's conventions: the record each peer's function makes, and what their joints have in common.

What kind of joint one is follows from what it does: a user's hinge is a hinge in every library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cardan._algebra.manifolds import Euclidean, UnitComplex
from cardan._algebra.manifolds.manifold import identity_rows
from cardan._algebra.spatial import SE3, Representation, Vector3
from cardan._dynamics.coordinates.chart import Chart, Rule, same
from cardan._robot import joints as J
from cardan._robot.joints import Joint, Revolute, UnboundedRevolute
from cardan._robot.joints.joint import Scalars
from cardan._robot.joints.recognise import Hinge, hinge_of
from cardan._robot.model import Connection, Model


@dataclass(frozen=True)
class _Unrolled(Joint):
    """A joint whose coordinate is a point on the circle, by the angle instead."""

    joint: Any
    manifold = Euclidean(1)

    def transform(self, q: Scalars) -> SE3:
        return self.joint.transform(self.joint.manifold.from_angle(q[0]))


def kind_of(joint: Joint) -> type[Joint]:
    """Return the shipped joint whose coordinates these are up to where q = 0 is placed; its own type if none is."""
    if isinstance(joint.manifold, UnitComplex):
        return UnboundedRevolute if turn_of(joint) else type(joint)
    hinge = hinge_of(joint)
    return type(hinge.joint) if hinge else type(joint)


def turn_of(joint: Joint) -> Hinge | None:
    """Return the hinge, by its angle, that a joint is whose coordinate is a point on the circle; None for any other."""
    if not isinstance(joint.manifold, UnitComplex):
        return None
    hinge = hinge_of(_Unrolled(joint))
    return hinge if hinge and isinstance(hinge.joint, Revolute) else None


def is_free(joint: Joint) -> bool:
    """Return whether a joint leaves its child free and its velocity is the child's twist: S = 1."""
    if joint.nv != 6 or not joint.has_constant_motion_subspace:
        return False
    return [list(row) for row in joint.subspace(joint.neutral()).rows()] == identity_rows(6)


Kinds = tuple[type[J.Joint], ...]
ONE_AXIS: Kinds = (J.Revolute, J.Prismatic)
AXIS_BY_AXIS: Kinds = (J.Revolute, J.Prismatic, J.Universal, J.SphericalZYX, J.Translation, J.Cylindrical, J.D6)
"""Joints whose coordinates are those of slides and hinges in a row."""
PLANAR: Kinds = (J.Planar, J.PlanarAngle)
FREE: Kinds = (J.FreeFlyer, J.FloatingMRP)


@dataclass(frozen=True)
class WrenchForm:
    """How a wrench on a body is written there.

    It is taken about the body's origin, its centre of mass, or the origin of its joint's child frame; along the body's
    axes (about a joint, its child frame's) or the world's, and in `"inertial"` about the world's origin.
    """

    point: Literal["origin", "com", "joint"] = "origin"
    representation: Representation = "body"
    moment_first: bool = False


@dataclass(frozen=True)
class Convention:
    """How a library writes what this one calls q, v and what goes along them."""

    title: str
    charts: Mapping[type[J.Joint], Rule]  # of the joints it has, by `kind_of`
    joints: str  # the same in words, for the error about any other joint
    order: Callable[[Model], list[str]]  # names of joints in the order of the coordinates; fixed ones may be among them
    wrench: WrenchForm
    mimics: bool = True  # whether a mimic joint has coordinates of its own there

    def chart(self, model: Model, c: Connection) -> Chart | None:
        """Return how a joint, not a mimic, is written there; None if the library has no such joint."""
        rule = self.charts.get(type(c.joint)) or self.charts.get(kind_of(c.joint))
        return rule(model, c) if rule else None


def each(kinds: Iterable[type[J.Joint]], rule: Rule = same) -> dict[type[J.Joint], Rule]:
    """Return the table of several kinds of joints under one rule."""
    return dict.fromkeys(kinds, rule)


def in_a_row(is_part: Callable[[J.Joint], bool]) -> Rule:
    """Return the rule of a composite whose parts the library has, and writes as they are written here."""
    return lambda model, c: same(model, c) if all(map(is_part, getattr(c.joint, "joints", ()))) else None


def at_right_angles(model: Model, c: Connection) -> Chart | None:
    """The rule of a universal joint whose axes must be at right angles."""
    joint: Any = c.joint
    return same(model, c) if abs(joint.axis1.dot(joint.axis2)) < 1e-9 else None


def centre_of_mass(merged: bool) -> Callable[[Model, str], Vector3]:
    """Return the function that gives a body's centre of mass in its own frame; the origin if it has no mass.

    If `merged`, all that is fixed to the body is part of it.
    """

    def point(model: Model, body: str) -> Vector3:
        own, at = model.body(body).inertia, model.attachment(body)
        if merged:
            total = model.nodes[at.node].inertia
            return at.pose.inverse_act(total.com) if total.mass > 0.0 else Vector3.zero()
        return own.com if own is not None and own.mass > 0.0 else Vector3.zero()

    return point
