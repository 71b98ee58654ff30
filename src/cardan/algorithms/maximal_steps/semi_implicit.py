"""The semi-implicit step with springs for joints: what a joint does not allow is pushed back by its gap and rate.

Bodies move with the velocities they have, in parts of h, and with C the residuals of all joints along the wrenches T of
the step's beginning,

    v <- v - h M^-1 T (k C + d T^T V),        x <- x moved by v

then gravity and efforts act where they have come to, as in an implicit step, v' = (M_q + W)^-1 (p + dt tau + W v).
The spring of each row is by default as stiff as its bodies' inertia and h allow, k = 0.02 / (h^2 g) with
g = T^T M^-1 T, and half damped, d = sqrt(0.02) / (h g): some twelve such rows may add up on a body before it gets
unstable. Of order 1; gaps are those of springs that stretch. Coordinates keep none: each step begins with closed
joints, and its velocities are projected to those the joints allow (`bodies.py`).

Source: Newton's `SolverSemiImplicit` for the idea; Hairer, Lubich and Wanner (2006), section I.1.5, for the bound.
Cost: all joints once in every part of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan.algorithms.maximal_steps.bodies import (
    Begun,
    Efforts,
    Placed,
    Row,
    Stepped,
    System,
    finished,
    gain,
    impulses,
    momentum_after_turn,
    started,
)
from cardan.algorithms.maximal_steps.bounds import Bounds
from cardan.algorithms.tree import Vector
from cardan.model import Model
from cardan.scalar import maximum, where
from cardan.spatial import Motion, Scalar

STIFFNESS, DAMPING = 0.02, 0.5
"""k h^2 g, and the share of critical damping."""


class Spring(NamedTuple):
    """What holds a row."""

    row: Row
    stiffness: Scalar
    damping: Scalar

    def force(self, residual: Scalar, twists: Sequence[Motion]) -> Scalar:
        """Return what it pulls back with."""
        return -(self.stiffness * residual + self.damping * self.row.velocity(twists))


def semi_implicit_step(
    model: Model,
    q: Vector,
    v: Vector,
    loads: Efforts,
    h: float,
    parts: int = 4,
    stiffness: float | None = None,
    damping: float | None = None,
) -> Stepped:
    """Return the state after a step.

    Args:
        model: the robot.
        q: configuration.
        v: velocity.
        loads: efforts along v.
        h: the step [s].
        parts: into which the step is cut.
        stiffness: of the springs [N/m, N m/rad]; by default each row's own.
        damping: [N s/m, N m s/rad]; by default each row's own.
    """
    return semi_implicit_start(model, q, v, h, parts, stiffness, damping).finish(loads)


def semi_implicit_start(
    model: Model,
    q: Vector,
    v: Vector,
    h: float,
    parts: int = 4,
    stiffness: float | None = None,
    damping: float | None = None,
) -> Begun:
    """Return a step whose bodies have moved, so that efforts answer to where they are; see `semi_implicit_step`."""
    system, part = System(model), h / parts
    placed = start = system.placed(q, v)
    joined = system.joined(start, system.near(q))
    ends = Bounds(system, joined, [b.moved(h) for b in start])
    holding = [_spring(system, row, part, stiffness, damping) for j in joined for row in j.rows]
    stopping = [_spring(system, row, part, stiffness, damping) for row in ends.rows]
    rows = [spring.row for spring in (*holding, *stopping)]
    for _ in range(parts):
        twists = [b.twist() for b in placed]
        left = zip(holding, system.residuals(placed, joined), strict=True)
        forces = [*(spring.force(e, twists) for spring, e in left), *_pushes(ends, stopping, placed, twists)]
        kick = impulses(len(start), rows, [part * f for f in forces])
        placed = [b.moved(part) for b in started(system, placed, kick, part, 0.0)]
        slowed = zip(system.bodies, placed, strict=True)
        placed = [b._replace(w=body.J_inverse @ momentum_after_turn(body, b.w, part)) for body, b in slowed]

    placed = [b._replace(v=b.v + model.gravity * h) for b in placed]

    def finish(loads: Efforts) -> Stepped:
        felt = zip(loads.tau, loads.W, model.passive("armature"), v, strict=True)
        return finished(system, placed, q, 0.0, [h * tau + (w + a) * rate for tau, w, a, rate in felt], loads.W)

    return Begun(system.configuration_of(placed, q)[0], finish)


def _spring(system: System, row: Row, h: float, stiffness: float | None, damping: float | None) -> Spring:
    inertia = 1.0 / gain(system.bodies, row)
    own = 2.0 * DAMPING * STIFFNESS**0.5 / h * inertia
    return Spring(
        row, STIFFNESS / (h * h) * inertia if stiffness is None else stiffness, own if damping is None else damping
    )


def _pushes(
    ends: Bounds, stopping: Sequence[Spring], placed: Sequence[Placed], twists: Sequence[Motion]
) -> list[Scalar]:
    """Return the forces of bounds: rods hold, the others push where they are overrun."""
    found = []
    for bound, spring in zip(ends.bounds, stopping, strict=True):
        gap = bound.value(placed)
        force = spring.force(gap, twists)
        found.append(force if bound.sign == 0.0 else where(gap < 0.0, maximum(force, 0.0), 0.0))
    return found
