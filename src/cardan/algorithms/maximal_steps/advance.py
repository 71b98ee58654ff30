"""A step with drives, friction and stops: the forces along the joints, and on which part of its line each is.

Source: `drives.py` for the decision; the step is any of this room's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cardan.algorithms.drives import Elements, Servo
from cardan.algorithms.maximal_steps.bodies import Efforts, Stepped
from cardan.algorithms.maximal_steps.efforts import with_springs
from cardan.algorithms.tree import Vector
from cardan.model import Model
from cardan.scalar import absolute, maximum
from cardan.spatial import Scalar

Step = Callable[[Model, Vector, Vector, Efforts, float], Stepped]


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
    model: Model, q: Vector, v: Vector, servo: Servo, h: float, step: Step, *, passes: int = 2, limits: bool = True
) -> Advanced:
    """Return the state after a step.

    Args:
        model: the robot.
        q: configuration.
        v: velocity.
        servo: what drives are asked for.
        h: the step [s].
        step: how bodies and joints take it.
        passes: how often it is decided which part of its line a force is on; one is exact where they have no ends.
        limits: whether the joints' position limits are stops.
    """
    elements = Elements(model, q, v, servo, h, limits=limits)
    lines = elements.linear()
    stepped, a = _taken(model, q, v, elements.total(lines), h, step)
    for _ in range(0 if elements.are_lines else passes - 1):
        lines = elements.linear(elements.on(lines, a), a)
        stepped, a = _taken(model, q, v, elements.total(lines), h, step)
    residual = elements.residual(elements.on(lines, a), a)
    for gap in stepped.gaps:
        residual = maximum(residual, absolute(gap) * (1.0 / h))
    return Advanced(stepped.q, stepped.v, a, residual)


def _taken(
    model: Model, q: Vector, v: Vector, total: tuple[Vector, Vector], h: float, step: Step
) -> tuple[Stepped, list[Scalar]]:
    stepped = step(model, q, v, with_springs(model, *total, q, v, h), h)
    return stepped, [(new - old) * (1.0 / h) for new, old in zip(stepped.v, v, strict=True)]
