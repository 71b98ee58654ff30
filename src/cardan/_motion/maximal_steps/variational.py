"""The variational step in maximal coordinates: all joints at once, along the directions of the step's beginning.

With x the bodies' places, T0 the wrenches of all joints there and l their impulses, pi the momenta (`bodies.py`),

    pi = M V_n + h/2 f(x_n) + T0 l,      x_n+1 = x_n moved by the velocity of pi,      C(x_n+1) = 0
    v_n+1 = M_q^-1 (X^T pi' + h/2 f(x_n+1))

l is found by iterations l <- l - G^-1 C(x_n+1) / h with G = T0^T M^-1 T0, factored once. Where the forces are
conservative the step is symplectic and of order 2: energy does not drift, momenta are kept but for rounding. Efforts
that answer to the acceleration (`effort_rows.py`) are rows of the same system; with any of them all forces act before
the bodies move, as in every implicit Euler step, of order 1. Contacts push on the mean velocities that this leaves
(`non_penetration.py`); the joints' impulses are then found once more.

Source: Ryckaert, Ciccotti and Berendsen (1977), Andersen (1983) for SHAKE and RATTLE; Hairer, Lubich and Wanner,
Geometric Numerical Integration (2006), section VII.1.4; `bodies.py` for the turning of bodies.
Cost: the joints at iterations + 1 places, one factorisation as sparse as the joints' tree, and M_q.
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import Force, Scalar
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.proximal import regularization
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.touching import ContactPair
from cardan._motion.maximal_steps.bodies import BodyState, Efforts, StepResult, System, responses
from cardan._motion.maximal_steps.effort_rows import DistanceBounds, effort_rows, rotors
from cardan._motion.maximal_steps.non_penetration import Touched
from cardan._robot.model import Model

DEPENDENT = 1e4
"""Roundings (`Regularization.nu`) of the diagonal of G below which rows count as dependent."""


def variational_step(
    model: Model, q: Vector, v: Vector, loads: Efforts, h: float, iterations: int = 2, pairs: Sequence[ContactPair] = ()
) -> StepResult:
    """Return the state after a step of h [s] under efforts along v.

    So many iterations are taken for the impulses of the joints.
    """
    system = System(model)
    start = system.placed(q, v)
    joined = system.joined(start, system.near(q))
    # Half of the forces before and half after is symplectic; forces that answer within the step act as a whole before.
    share = 0.5 if all(map(is_zero, loads.W)) else 1.0
    answering = effort_rows(system, joined, loads, v, share)
    fixed = [row for j in joined for row in j.rows]
    kick = system.impulses(answering.units, [h * e for e in answering.plain])
    bounds = DistanceBounds(system, joined, [b.moved(h) for b in system.started(start, kick, h, share * h)])
    rows = [*fixed, *bounds.rows, *answering.rows]
    compliances = [*[0.0] * len(fixed), *bounds.compliances, *(1.0 / w for w in answering.weights)]
    solver = responses(system.bodies, rows, compliances, DEPENDENT * regularization(q).nu if model.nv else 0.0)
    first, last = len(fixed), len(fixed) + len(bounds.rows)
    # From those of each row alone on: starts that overshoot would need more iterations.
    multipliers = [*[0.0] * last, *answering.start(system, h)]

    def moving(kick: Sequence[Force], multipliers: Vector) -> list[BodyState]:
        total = [a + b for a, b in zip(kick, system.impulses(rows, multipliers), strict=True)]
        return system.started(start, total, h, share * h)

    def solved(kick: Sequence[Force], multipliers: list[Scalar]) -> list[Scalar]:
        for _ in range(iterations):
            now = moving(kick, multipliers)
            placed = [b.moved(h) for b in now]
            left = [e * (1.0 / h) for e in system.residuals(placed, joined)]
            left += bounds.lag(placed, multipliers[first:last], h)
            left += answering.lag([b.twist() for b in now], multipliers[last:], h)
            multipliers = [e + d for e, d in zip(multipliers, solver.solve([-e for e in left]), strict=True)]
            multipliers[first:last] = bounds.pushing(multipliers[first:last])
        return multipliers

    multipliers, armature, touched = solved(kick, multipliers), model.passive("armature"), None
    if pairs:
        twists = [b.twist() for b in moving(kick, multipliers)]
        momenta = [body.impulse(twist) for body, twist in zip(system.bodies, twists, strict=True)]
        mean = system.velocity_of(momenta, q, rotors(answering.units, armature, twists))
        touched = Touched(system, start, Snapshot(model, q, v), mean, loads.W, h, pairs)
        kick = [a + b for a, b in zip(kick, touched.wrenches, strict=True)]
        multipliers = solved(kick, multipliers)  # once more: the contacts' impulses bend the joints
    now = moving(kick, multipliers)
    own = answering.momentum(armature, [b.twist() for b in now], h)
    end = [b.moved(h)._replace(v=b.v + model.gravity * ((1.0 - share) * h)) for b in now]
    stepped = system.coordinates_after(end, q, h, own)
    return stepped if touched is None else touched.left(stepped, end)
