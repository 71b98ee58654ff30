"""A step with drives, friction and stops: the forces along the joints, and on which part of its line each is.

Source: `drives.py` for the decision; the step is any of this room's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cardan._algebra.scalar import absolute, maximum
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.drives import DriveCommand, JointForces
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.touching import Pair
from cardan._motion.maximal_steps.bodies import Efforts, PartialStep, StepResult
from cardan._motion.maximal_steps.effort_rows import has_bounds
from cardan._motion.maximal_steps.non_penetration import SWEEPS, estimated
from cardan._robot.model import Model

Start = Callable[[Model, Vector, Vector, float], PartialStep]
"""The beginning of a step of (model, q, v, h)."""


def advance(
    model: Model, q: Vector, v: Vector, command: DriveCommand, h: float, start: Start, *, limits: bool = True
) -> tuple[tuple[Vector, Vector, Vector], Scalar]:
    """Return q, v and the mean accelerations of a step of h [s] that bodies and joints take as `start` says.

    And by how much velocities are wrong at most, because a search ended [rad/s, m/s]: gaps over the step, and forces
    that are not what they should be. `limits` says whether the joints' position limits are stops.
    """
    begun = start(model, q, v, h)
    forces = JointForces(model, begun.q, v, command, h, limits=limits)

    def mean(after: Vector) -> list[Scalar]:
        return [(new - old) * (1.0 / h) for new, old in zip(after, v, strict=True)]

    lines = forces.linear()
    if not forces.are_lines:  # decided once more: which part of its line a force is on hangs on the acceleration
        efforts = Efforts(*forces.total(lines))
        a = mean(begun.estimate(efforts) if begun.estimate else begun.finish(efforts).v)
        lines = forces.linear(forces.on(lines, a), a)
    stepped = begun.finish(Efforts(*forces.total(lines)))
    a = mean(stepped.v)
    residual = maximum(forces.residual(forces.on(lines, a), a), stepped.slack)
    for gap in stepped.gaps:
        residual = maximum(residual, absolute(gap) * (1.0 / h))
    return (stepped.q, stepped.v, a), residual


def at_start(step: Callable[..., StepResult], *, iterations: int, pairs: Sequence[Pair] = ()) -> Start:
    """Return the beginning of a step whose efforts are those where it begins."""

    def start(model: Model, q: Vector, v: Vector, h: float) -> PartialStep:
        def finish(loads: Efforts) -> StepResult:
            return step(model, q, v, loads, h, iterations, pairs)

        def estimate(loads: Efforts) -> list[Scalar]:
            return estimated(Snapshot(model, q, v), loads, h, pairs, iterations * SWEEPS)

        bounded = any(has_bounds(c.joint) for c in (*model.connections, *model.closures))
        return PartialStep(q, finish, None if bounded else estimate)

    return start
