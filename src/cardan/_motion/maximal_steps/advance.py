"""A step with drives, friction and stops: the forces along the joints, and on which part of its line each is.

Source: `drives.py` for the decision; the step is any of this room's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cardan._algebra.scalar import absolute, maximum
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.drives import DriveCommand, JointForces
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.touching import Pair
from cardan._motion.maximal_steps.bodies import Begun, Efforts, Stepped
from cardan._motion.maximal_steps.bounds import has_bounds
from cardan._motion.maximal_steps.non_penetration import SWEEPS, estimated
from cardan._robot.model import Model

Start = Callable[[Model, Vector, Vector, float], Begun]
"""The beginning of a step of (model, q, v, h)."""


class Advanced(NamedTuple):
    """A state after a step.

    Attributes:
        q: configuration.
        v: velocity.
        a: mean accelerations.
        residual: by how much velocities are wrong at most, because a search ended: gaps over the step, and forces that
            are not what they should be [rad/s, m/s].
    """

    q: list[Scalar]
    v: list[Scalar]
    a: list[Scalar]
    residual: Scalar


def advance(
    model: Model, q: Vector, v: Vector, servo: DriveCommand, h: float, start: Start, *, limits: bool = True
) -> Advanced:
    """Return the state after a step.

    Args:
        model: the robot.
        q: configuration.
        v: velocity.
        servo: what drives are asked for.
        h: the step [s].
        start: how bodies and joints take it.
        limits: whether the joints' position limits are stops.
    """
    begun = start(model, q, v, h)
    elements = JointForces(model, begun.q, v, servo, h, limits=limits)

    def mean(after: Vector) -> list[Scalar]:
        return [(new - old) * (1.0 / h) for new, old in zip(after, v, strict=True)]

    lines = elements.linear()
    if not elements.are_lines:  # decided once more: which part of its line a force is on hangs on the acceleration
        efforts = Efforts(*elements.total(lines))
        a = mean(begun.estimate(efforts) if begun.estimate else begun.finish(efforts).v)
        lines = elements.linear(elements.on(lines, a), a)
    stepped = begun.finish(Efforts(*elements.total(lines)))
    a = mean(stepped.v)
    residual = maximum(elements.residual(elements.on(lines, a), a), stepped.slack)
    for gap in stepped.gaps:
        residual = maximum(residual, absolute(gap) * (1.0 / h))
    return Advanced(stepped.q, stepped.v, a, residual)


def at_start(step: Callable[..., Stepped], *, iterations: int, pairs: Sequence[Pair] = ()) -> Start:
    """Return the beginning of a step whose efforts are those where it begins."""

    def start(model: Model, q: Vector, v: Vector, h: float) -> Begun:
        def finish(loads: Efforts) -> Stepped:
            return step(model, q, v, loads, h, iterations, pairs)

        def estimate(loads: Efforts) -> list[Scalar]:
            return estimated(Snapshot(model, q, v), loads, h, pairs, iterations * SWEEPS)

        bounded = any(has_bounds(c.joint) for c in (*model.connections, *model.closures))
        return Begun(q, finish, None if bounded else estimate)

    return start
