"""The variational step in maximal coordinates: all joints at once, along the directions of the step's beginning.

With T0 the wrenches of all joints where a step begins, l their impulses, and C their residuals at the bodies' places,

    pi = M V_n + M X (u - v) + T0 l,      x_n+1 = x_n moved by the velocity of pi,      C(x_n+1) = 0

l is found by iterations l <- l - G^-1 C(x_n+1) / h with G = T0^T M^-1 T0, factored once. As u is what joints allow
(`rigid_step.py`), M X (u - v) is the impulse of all forces, and one along T0: of what bodies and forces may do together
this is all. So where forces are conservative, half of them before and half after, the step is symplectic and of order
2: energy does not drift, momenta are kept but for rounding.

Efforts that answer to the acceleration, and rotors, do so to the velocity that the bodies really take: by u' - u it
changes their impulse by -(A + W) (u' - u). Each is a row of the same system, with the compliance 1 / (A + W). With any
W all forces act before the bodies move, as in every implicit Euler step, of order 1.

Source: Ryckaert, Ciccotti and Berendsen (1977), Andersen (1983) for SHAKE and RATTLE; Hairer, Lubich and Wanner,
Geometric Numerical Integration (2006), section VII.1.4; `bodies.py` for the turning of bodies; Macklin, Mueller and
Chentanez, XPBD (2016), for forces as compliant constraints.
Cost: the joints at so many places, and one factorisation as sparse as the joints' tree.
"""

from __future__ import annotations

from cardan._algebra.scalar import is_zero
from cardan._dynamics.algorithms.proximal import regularization
from cardan._motion.maximal_steps.bodies import BodyState, responses
from cardan._motion.maximal_steps.distance_bounds import DistanceBounds
from cardan._motion.maximal_steps.rigid_step import Closing, Flight

DEPENDENT = 1e4
"""Roundings (`Regularization.nu`) of the diagonal of G below which rows count as dependent."""
SOFT = 1e-9
"""Share of the bodies' own inertia by which efforts answer to the acceleration at least: 1 / W must exist."""


def variational(iterations: int = 2) -> Closing:
    """Return how joints close: by so many iterations for the impulses of all of them."""
    return Closing(close_at_once, iterations, in_halves=True)


def close_at_once(flight: Flight, iterations: int) -> list[BodyState]:
    """See `Closing`."""
    system, h, joined, flying = flight.system, flight.h, flight.joined, flight.bodies
    bounds = DistanceBounds(system, joined, [b.moved(h) for b in flying])
    fixed = [row for j in joined for row in j.rows]
    answering = [i for i, w in enumerate(flight.inertias) if not is_zero(w)]
    felt = [flight.units[i] for i in answering]
    softness = [1.0 / (flight.inertias[i] + SOFT / system.gain(flight.units[i])) for i in answering]
    rows = [*fixed, *bounds.rows, *felt]
    compliances = [*[0.0] * len(fixed), *bounds.compliances, *softness]
    solver = responses(system.bodies, rows, compliances, DEPENDENT * regularization(flight.q).nu if rows else 0.0)
    first, last = len(fixed), len(fixed) + len(bounds.rows)

    now, multipliers = flying, [0.0] * len(rows)
    for _ in range(iterations):
        placed = [b.moved(h) for b in now]
        left = [e * (1.0 / h) for e in system.residuals(placed, joined)]
        left += bounds.lag(placed, multipliers[first:last], h)
        twists, parts = [b.twist() for b in now], zip(felt, answering, softness, multipliers[last:], strict=True)
        left += [row.velocity(twists) - flight.mean[i] + c * e for row, i, c, e in parts]
        multipliers = [e + d for e, d in zip(multipliers, solver.solve([-e for e in left]), strict=True)]
        multipliers[first:last] = bounds.pushing(multipliers[first:last])
        closing = system.impulses(rows, multipliers)
        kick = [a + b for a, b in zip(flight.kick, closing, strict=True)]
        now = flight._replace(kick=kick).bodies
    return [b.moved(h) for b in now]
