"""Joints as hinges and slides in a row, the joints simulators have: a product of exponentials.

    X(q) = X(0) exp(S_1 q_1) exp(S_2 q_2) ...          S_k a turn about, or a slide along, an axis in the child frame

A chain of joints with placements between is one, too: every axis is carried to the child frame at q = 0.

Source: Brockett (1984), robotic manipulators and the product of exponentials formula; Lynch and Park, Modern Robotics
(2017), section 4.1.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cardan._algebra.spatial import SE3, Vector3
from cardan._dynamics.coordinates.convention import turn_of
from cardan._robot import joints as J
from cardan._robot.joints.recognise import hinge_of
from cardan._robot.joints.serial import ChainJoint

Kind = Literal["hinge", "slide", "ball", "free"]
ORIGIN = Vector3.zero()
X, Y, Z = Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Step:
    """One of the joints in the row.

    Attributes:
        kind: what it is.
        axis: of a hinge or slide, in the child frame at q = 0.
        point: the place of a hinge or ball in the child frame at q = 0 [m].
    """

    kind: Kind
    axis: Vector3 = Z
    point: Vector3 = ORIGIN

    def seen_from(self, X_ab: SE3) -> Step:
        """Return the step in the axes of a frame a, being given in those of b."""
        return Step(self.kind, X_ab.rotation @ self.axis, X_ab @ self.point)


@dataclass(frozen=True, slots=True)
class Chain:
    """A joint as steps in a row.

    Attributes:
        rest: X(0), the child frame in the parent frame where all coordinates are 0.
        steps: from the parent to the child.
    """

    rest: SE3
    steps: tuple[Step, ...]


def _still(*steps: Step) -> Chain:
    return Chain(SE3.identity(), steps)


def _row(kind: Kind, *axes: Vector3) -> tuple[Step, ...]:
    return tuple(Step(kind, axis) for axis in axes)


CHAINS: dict[type[J.Joint], Callable[[Any], Chain]] = {
    J.Spherical: lambda joint: _still(Step("ball")),
    J.FreeFlyer: lambda joint: _still(Step("free")),
    J.FloatingMRP: lambda joint: _still(Step("free")),
    J.SphericalZYX: lambda joint: _still(*_row("hinge", Z, Y, X)),
    J.Translation: lambda joint: _still(*_row("slide", X, Y, Z)),
    J.Cylindrical: lambda joint: _still(*_row("slide", joint.axis), *_row("hinge", joint.axis)),
    J.Planar: lambda joint: _still(*_row("slide", X, Y), *_row("hinge", Z)),
    J.PlanarAngle: lambda joint: _still(*_row("slide", joint.x_axis, joint.y_axis), *_row("hinge", joint.normal)),
}
"""Joints whose row is not found by itself: hinges, slides and chains are."""


def chain_of(joint: J.Joint) -> Chain | None:
    """Return a joint as steps in a row; None if it is no such row. A mimic joint is what it is made of."""
    if isinstance(joint, J.Mimic):
        return chain_of(joint.joint)
    if joint.nv == 0:
        return Chain(joint.transform(()), ())
    if type(joint) in CHAINS:
        return CHAINS[type(joint)](joint)
    return _in_a_row(joint.links) if isinstance(joint, ChainJoint) else _one_step(joint)


def _one_step(joint: J.Joint) -> Chain | None:
    """Return a hinge or slide, whoever wrote it; its coordinate may be a point on the circle."""
    found = hinge_of(joint) or turn_of(joint)
    if found is None or (isinstance(found.joint, J.Helical) and found.joint.pitch != 0.0):
        return None
    kind: Kind = "slide" if isinstance(found.joint, J.Prismatic) else "hinge"
    return Chain(found.before @ found.after, (Step(kind, found.joint.axis).seen_from(found.after.inverse()),))


def _in_a_row(links: Sequence[tuple[Any, SE3 | None]]) -> Chain | None:
    """Return a chain of joints as one row, its steps seen from the last child frame."""
    rest, rows = SE3.identity(), []
    for joint, placement in links:
        chain = chain_of(joint)
        if chain is None:
            return None
        rest = (rest if placement is None else rest @ placement) @ chain.rest
        rows.append((rest, chain.steps))
    end = rest.inverse()
    return Chain(rest, tuple(step.seen_from(end @ X) for X, steps in rows for step in steps))
