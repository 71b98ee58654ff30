"""A library's conventions: the record each peer's file makes, and what their joints have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cardan.errors import UnknownNameError
from cardan.interop.chart import Chart
from cardan.joints import D6, Cylindrical, Prismatic, Revolute, SphericalZYX, Translation, Universal
from cardan.model import Connection, Model
from cardan.spatial import Vector3

ONE_AXIS = (Revolute, Prismatic)
AXIS_BY_AXIS = (Revolute, Prismatic, Universal, SphericalZYX, Translation, Cylindrical, D6)
"""Joints whose coordinates are those of slides and hinges in a row."""


@dataclass(frozen=True)
class WrenchForm:
    """How a wrench on a body is written there.

    Args:
        point: about which point: the body's origin, its centre of mass, the origin of its joint's child frame, or the
            world's.
        axes: along which axes: the body's, the world's, or those of its joint's child frame.
        moment_first: whether the moment comes before the force.
    """

    point: Literal["origin", "com", "joint", "world"] = "origin"
    axes: Literal["body", "world", "joint"] = "body"
    moment_first: bool = False


@dataclass(frozen=True)
class Convention:
    """How a library writes what this one calls q, v and what goes along them.

    Args:
        title: the library's name.
        chart: `chart(model, connection)` of a joint, not a mimic; None if the library has no such joint.
        joints: the joints it has, in words, for the error when `chart` returns None.
        order: the names of a model's joints in the order of its coordinates; fixed joints may be among them.
        wrench: how it takes wrenches on bodies.
        mimics: whether a mimic joint has coordinates of its own there.
    """

    title: str
    chart: Callable[[Model, Connection], Chart | None]
    joints: str
    order: Callable[[Model], list[str]]
    wrench: WrenchForm
    mimics: bool = True


def centre_of_mass(model: Model, body: str, merged: bool) -> Vector3:
    """Return a body's centre of mass in its own frame, or that of all that is fixed to it; the origin without mass."""
    own = model.body(body).inertia
    if merged:
        at = model.attachment(body)
        total = model.nodes[at.node].inertia
        return at.pose.inverse_act(total.com) if total.mass > 0.0 else Vector3.zero()
    return own.com if own is not None and own.mass > 0.0 else Vector3.zero()


def is_orthogonal(joint: Any) -> bool:
    """Return whether the two axes of a universal joint are at right angles."""
    return abs(joint.axis1.dot(joint.axis2)) < 1e-9


def check_choice(option: str, value: Any, choices: Sequence[str]) -> None:
    """Raise `UnknownNameError` unless the value of an option is one of its choices."""
    if value not in choices:
        raise UnknownNameError(f"choice of {option}", value, choices)
