"""Position-based dynamics over any joint: bodies move as they please, then one joint after the other moves them back.

From where gravity and efforts take the bodies in a step of h, each joint in turn, with C its residual, T its wrenches,

    l = -(T^T M^-1 T)^-1 C,        x moved by M^-1 T l,        l += ...

and its efforts that answer to the acceleration with it, with the compliance 1 / W along S. Velocities are what the
bodies have moved by, over h. Of order 1; energy is lost at first order. What the iterations leave is the gap.

Source: Macklin, Mueller and Chentanez, XPBD: position-based simulation of compliant constrained dynamics (2016);
Mueller et al., Detailed rigid body simulation with extended position based dynamics (2020). All rows of a joint at
once, and the turning of bodies by momenta (`bodies.py`), are this house's.
Cost: all joints once in every iteration.
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan.algorithms.maximal_steps.bodies import (
    Efforts,
    Joined,
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
from cardan.joints import Mimic
from cardan.model import Model
from cardan.scalar import maximum
from cardan.spatial import Motion, Scalar

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
    driven = [[i for i, dof in enumerate(answering.dofs) if dof in _dofs(j)] for j in joined]
    done: list[Scalar] = [0.0] * len(answering.rows)
    placed = [b.moved(h) for b in started(system, start, kick, h, h)]
    bounds = Bounds(system, joined, placed)
    small = DEPENDENT * regularization(q).nu if model.nv else 0.0
    pushed: list[Scalar] = [0.0] * len(bounds.rows)
    for _ in range(iterations):
        for k, row in enumerate(bounds.rows):
            amount = -bounds.bounds[k].value(placed) / gain(system.bodies, row)
            total = pushed[k] + amount if bounds.bounds[k].sign == 0.0 else maximum(pushed[k] + amount, 0.0)
            placed, pushed[k] = shifted(system, placed, [row], [total - pushed[k]]), total
        for k, own in enumerate(driven):
            joined = system.joined(placed, [j.q for j in joined])
            fixed, efforts = joined[k].rows, [answering.rows[i] for i in own]
            lag = answering.lag(_mean_twists(start, placed, h), done, h)
            left = [*(row.residual for row in fixed), *(h * lag[i] for i in own)]
            compliances = [*[0.0] * len(fixed), *(1.0 / answering.weights[i] for i in own)]
            rows = [*fixed, *efforts]
            amounts = Responses(system.bodies, rows, compliances, small).solve([-e for e in left])
            placed = shifted(system, placed, rows, amounts)
            for i, amount in zip(own, amounts[len(fixed) :], strict=True):
                done[i] = done[i] + amount * (1.0 / h)
    own = answering.momentum(model.passive("armature"), _mean_twists(start, placed, h), h)
    return finished(system, _moving(start, placed, h), q, h, own)


def _dofs(joined: Joined) -> tuple[int, ...]:
    """Return the degrees of freedom of a joint that has its own."""
    node = joined.pair.node
    return () if node is None or isinstance(node.joint, Mimic) else node.v


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


def _mean_twists(start: Sequence[Placed], placed: Sequence[Placed], h: float) -> list[Motion]:
    """Return the twists that took the bodies where they are, in their axes at the start."""
    moving = _moving(start, placed, h)
    return [a._replace(v=b.v, w=b.w).twist() for a, b in zip(start, moving, strict=True)]
