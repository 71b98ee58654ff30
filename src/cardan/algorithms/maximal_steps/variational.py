"""The variational step in maximal coordinates: all joints at once, along the directions of the step's beginning.

With x the bodies' places, T0 the wrenches of all joints there and l their impulses, pi the momenta (`bodies.py`),

    pi = M V_n + h/2 f(x_n) + T0 l,      x_n+1 = x_n moved by the velocity of pi,      C(x_n+1) = 0
    v_n+1 = M_q^-1 (X^T pi' + h/2 f(x_n+1))

l is found by iterations l <- l - G^-1 C(x_n+1) / h with G = T0^T M^-1 T0, factored once. Where the forces are
conservative the step is symplectic and of order 2: energy does not drift, momenta are kept but for rounding. Efforts that
answer to the acceleration, tau - W a (drives, stops, armature), are rows of the same system with the compliance 1 / W,
of order 1 as in every implicit Euler step.

Source: Ryckaert, Ciccotti and Berendsen (1977), Andersen (1983) for SHAKE and RATTLE; Hairer, Lubich and Wanner,
Geometric Numerical Integration (2006), section VII.1.4; `bodies.py` for the turning of bodies.
Cost: the rows at iterations + 2 places, one factorisation as sparse as the joints' tree, and M_q.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan.algorithms.maximal_steps.bodies import (
    EffortLaw,
    Efforts,
    Joined,
    Placed,
    Responses,
    Row,
    System,
    gain,
    impulses,
    momentum_after_turn,
    turn_of_momentum,
)
from cardan.algorithms.proximal import regularization
from cardan.algorithms.tree import Vector
from cardan.model import Model
from cardan.scalar import is_zero
from cardan.spatial import Force, Motion, Scalar

DEPENDENT = 1e4
"""Roundings (`Regularization.nu`) of the diagonal of G below which rows count as dependent."""

SOFT = 1e-6
"""Share of the joint's inertia by which efforts answer to the acceleration at least: 1 / W must exist."""


class Stepped(NamedTuple):
    """A state after a step, and the gaps of the joints on the way [m, rad]."""

    q: list[Scalar]
    v: list[Scalar]
    gaps: list[Scalar]


def variational_step(model: Model, q: Vector, v: Vector, efforts: EffortLaw, h: float, iterations: int = 2) -> Stepped:
    """Return the state after a step.

    Args:
        model: the robot.
        q: configuration.
        v: velocity.
        efforts: along v, of a state and the step.
        h: the step [s].
        iterations: for the impulses of the joints.
    """
    system = System(model)
    start = system.placed(q, v)
    joined = system.joined(start, system.near(q))
    loads = efforts(q, v, h)
    kick, drives = _kicked(system, start, joined, loads, v, h)
    rows = [row for j in joined for row in j.rows]
    small = DEPENDENT * regularization(q).nu if len(q) else 0.0
    solver = Responses(system.bodies, [*rows, *drives.rows], [*[0.0] * len(rows), *drives.compliances], small)
    multipliers = [*[0.0] * len(rows), *drives.multipliers]
    for _ in range(iterations):
        moved = _moved(system, start, kick, [*rows, *drives.rows], multipliers, h)
        rates = [e * (1.0 / h) for e in system.residuals([b.moved(h) for b in moved], joined)]
        twists = [b.twist() for b in moved]
        lag = drives.lag(twists, multipliers[len(rows) :])
        steps = solver.factor.solve([-e for e in (*rates, *lag)])
        multipliers = [e + d for e, d in zip(multipliers, steps, strict=True)]
    moved = _moved(system, start, kick, [*rows, *drives.rows], multipliers, h)
    return _finished(system, moved, q, loads, efforts, h)


class Drives(NamedTuple):
    """Rows of the efforts that answer to the acceleration: J V + l / W = J V_n + h tau / W."""

    rows: list[Row]
    compliances: list[Scalar]
    targets: list[Scalar]
    multipliers: list[Scalar]

    def lag(self, twists: Sequence[Motion], multipliers: Vector) -> list[Scalar]:
        """Return what is left of the rows."""
        parts = zip(self.rows, self.compliances, self.targets, multipliers, strict=True)
        return [row.velocity(twists) + c * amount - target for row, c, target, amount in parts]


def answering(model: Model, loads: Efforts) -> list[int]:
    """Return the degrees of freedom whose efforts answer to the acceleration."""
    armature = model.passive("armature")
    return [i for i in range(model.nv) if not (is_zero(loads.W[i]) and is_zero(armature[i]))]


def _kicked(
    system: System, start: Sequence[Placed], joined: Sequence[Joined], loads: Efforts, v: Vector, h: float
) -> tuple[list[Force], Drives]:
    """Return the impulses of half a step's forces on the bodies, and the rows of those that answer."""
    model = system.model
    efforts = system.effort_rows(joined)
    chosen = answering(model, loads)
    plain = [0.0 if i in chosen else 0.5 * h * loads.tau[i] for i in range(model.nv)]
    kick = impulses(len(start), efforts, plain)
    weights = [loads.W[i] + model.passive("armature")[i] + SOFT / gain(system.bodies, efforts[i]) for i in chosen]
    compliances = [1.0 / w for w in weights]
    share = [1.0 if not is_zero(loads.W[i]) else 0.5 for i in chosen]
    wanted = [s * h * loads.tau[i] for s, i in zip(share, chosen, strict=True)]
    targets = [v[i] + c * e for i, c, e in zip(chosen, compliances, wanted, strict=True)]
    return kick, Drives([efforts[i] for i in chosen], compliances, targets, wanted)


def _moved(
    system: System, start: Sequence[Placed], kick: Sequence[Force], rows: Sequence[Row], multipliers: Vector, h: float
) -> list[Placed]:
    """Return the bodies where they were, with the velocities that take them through the step."""
    total = [a + b for a, b in zip(kick, impulses(len(start), rows, multipliers), strict=True)]
    found = []
    for body, b, impulse in zip(system.bodies, start, total, strict=True):
        R = b.pose.rotation
        v = b.v + system.model.gravity * (0.5 * h) + R @ impulse.linear * (1.0 / body.mass)
        momentum = body.J @ b.w + impulse.angular
        found.append(b._replace(v=v, w=turn_of_momentum(body, momentum, body.J_inverse @ momentum, h)))
    return found


def _finished(
    system: System, moved: Sequence[Placed], q: Vector, loads: Efforts, efforts: EffortLaw, h: float
) -> Stepped:
    """Return the state at the end of the bodies' way, after the other half of the forces."""
    model = system.model
    end = [b.moved(h) for b in moved]
    after, gaps = system.configuration_of(end, q)
    mean = [e * (1.0 / h) for e in model.manifold.difference(q, after)]
    momenta = [
        body.momentum(b._replace(v=b.v + model.gravity * (0.5 * h)), momentum_after_turn(body, b.w, h))
        for body, b in zip(system.bodies, end, strict=True)
    ]
    later = efforts(after, mean, h)
    tau = [0.5 * h * t if is_zero(w) else 0.0 for t, w in zip(later.tau, loads.W, strict=True)]
    armature = [a * rate + t for a, rate, t in zip(model.passive("armature"), mean, tau, strict=True)]
    return Stepped(after, system.velocity_of(momenta, after, armature), gaps)
