"""Position-based dynamics over any joint: bodies move as they please, then one joint after the other moves them back.

From where gravity and efforts take the bodies in a step of h, each joint in turn, with C its residual, T its wrenches,

    l = -(T^T M^-1 T)^-1 C,        x moved by M^-1 T l,        l += ...

and efforts that answer to the acceleration likewise, with the compliance 1 / W, along S. Velocities are what the bodies
have moved by, over h. Of order 1; energy is lost at first order. What the iterations leave is the gap.

Source: Macklin, Mueller and Chentanez, XPBD: position-based simulation of compliant constrained dynamics (2016);
Mueller et al., Detailed rigid body simulation with extended position based dynamics (2020). All rows of a joint at
once, and the turning of bodies by momenta (`bodies.py`), are this house's.
Cost: all joints once in every iteration.
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan.algorithms.maximal_steps.bodies import (
    Efforts,
    Placed,
    Responses,
    Row,
    Stepped,
    System,
    finished,
    gain,
    impulses,
    mean_turning,
    started,
    turned,
)
from cardan.algorithms.maximal_steps.bounds import Bounds
from cardan.algorithms.maximal_steps.efforts import effort_rows
from cardan.algorithms.proximal import regularization
from cardan.algorithms.tree import Vector
from cardan.model import Model
from cardan.scalar import maximum
from cardan.spatial import Scalar

DEPENDENT = 1e2
"""Roundings (`Regularization.nu`) of the diagonal that keep a joint's own rows independent."""


def xpbd_step(model: Model, q: Vector, v: Vector, loads: Efforts, h: float, iterations: int = 4) -> Stepped:
    """Return the state after a step.

    Args:
        model: the robot.
        q: configuration.
        v: velocity.
        loads: efforts along v.
        h: the step [s].
        iterations: over all joints.
    """
    system = System(model)
    start = system.placed(q, v)
    joined = system.joined(start, system.near(q))
    answering = effort_rows(system, joined, loads, v)
    kick = impulses(len(start), answering.units, [h * e for e in answering.plain])
    placed = [b.moved(h) for b in started(system, start, kick, h, h)]
    bounds = Bounds(system, joined, placed)
    small = DEPENDENT * regularization(q).nu if model.nv else 0.0
    done: list[Scalar] = [0.0] * len(answering.rows)
    pushed: list[Scalar] = [0.0] * len(bounds.rows)
    for _ in range(iterations):
        for k, row in enumerate(answering.rows):
            lag = answering.lag([b.twist() for b in _moving(start, placed, h)], done, h)[k]
            amount = -lag / (gain(system.bodies, row) + 1.0 / answering.weights[k])
            done[k] = done[k] + amount
            placed = shifted(system, placed, [row], [h * amount])
        for k, row in enumerate(bounds.rows):
            amount = -bounds.bounds[k].value(placed) / gain(system.bodies, row)
            total = pushed[k] + amount if bounds.bounds[k].sign == 0.0 else maximum(pushed[k] + amount, 0.0)
            placed, pushed[k] = shifted(system, placed, [row], [total - pushed[k]]), total
        for k in range(len(joined)):
            joined = system.joined(placed, [j.q for j in joined])
            rows = joined[k].rows
            solver = Responses(system.bodies, rows, [0.0] * len(rows), small)
            placed = shifted(system, placed, rows, solver.solve([-row.residual for row in rows]))
    return finished(system, _moving(start, placed, h), q, h)


def shifted(system: System, placed: Sequence[Placed], rows: Sequence[Row], multipliers: Vector) -> list[Placed]:
    """Return the bodies moved by M^-1 T l."""
    found = []
    touched = {k for row in rows for k in row.wrenches}
    total = impulses(len(placed), rows, multipliers)
    for k, (body, b) in enumerate(zip(system.bodies, placed, strict=True)):
        found.append(_shifted(b, body.response(total[k])) if k in touched else b)
    return found


def _shifted(b: Placed, change) -> Placed:
    return b._replace(p=b.p + b.pose.rotation @ change.linear, r=turned(b.r, change.angular))


def _moving(start: Sequence[Placed], placed: Sequence[Placed], h: float) -> list[Placed]:
    """Return the bodies with the velocities that took them where they are."""
    return [
        b._replace(v=(b.p - a.p) * (1.0 / h), w=mean_turning(a.r, b.r, h)) for a, b in zip(start, placed, strict=True)
    ]
