"""The variational step in maximal coordinates: all joints at once, along the directions of the step's beginning.

With T0 the wrenches of all joints where a step begins, l their impulses, and C their residuals at the bodies' places,

    pi = M V_n + M X (u - v) + T0 l,      x_n+1 = x_n moved by the velocity of pi,      C(x_n+1) = 0

l is found by iterations l <- l - G^-1 C(x_n+1) / h with G = T0^T M^-1 T0, factored once. As u is what joints allow
(`rigid_step.py`), M X (u - v) is the impulse of all forces, and one along T0: of what bodies and forces may do together
this is all. So where forces are conservative, half of them before and half after, the step is symplectic and of order
2: energy does not drift, momenta are kept but for rounding.

That holds where C is 0. Where bodies turn far, more iterations follow, and each goes half as far if the error grew.
Where these do not end either, the step closes joints as XPBD does, and loses energy.

Efforts that answer to the acceleration, and rotors, do so to the velocity that the bodies really take: by u' - u it
changes their impulse by -(A + W) (u' - u). Each is a row of the same system, with the compliance 1 / (A + W). With any
W all forces act before the bodies move, as in every implicit Euler step, of order 1.

Source: Ryckaert, Ciccotti and Berendsen (1977), Andersen (1983) for SHAKE and RATTLE; Hairer, Lubich and Wanner,
Geometric Numerical Integration (2006), section VII.1.4; `bodies.py` for the turning of bodies; Macklin, Mueller and
Chentanez, XPBD (2016), for forces as compliant constraints.
Cost: the joints at so many places, and one factorisation as sparse as the joints' tree.
"""

from __future__ import annotations

from typing import Any

from cardan._algebra.arrays.repeat import converging, when
from cardan._algebra.scalar import is_zero, maximum, minimum, where
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.linear import dot
from cardan._dynamics.algorithms.proximal import regularization
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.maximal_steps.bodies import BodyState, responses
from cardan._motion.maximal_steps.distance_bounds import DistanceBounds
from cardan._motion.maximal_steps.rigid_step import Closing, Flight
from cardan._motion.maximal_steps.xpbd import close_by_passes

DEPENDENT = 1e4
"""Roundings (`Regularization.nu`) of the diagonal of G below which rows count as dependent."""
EXACT, ROUNDING, MOST = 1e-5, 4.0, 40
"""By how much velocities may be wrong that close joints [m/s, rad/s], beside so many roundings (`Regularization.nu`) of
places over h; and how many more iterations that takes at most."""
PASSES = 4  # of XPBD, where iterations do not end
TINY = 1e-30
SOFT = 1e-9
"""Share of the bodies' own inertia by which efforts answer to the acceleration at least: 1 / W must exist."""


def variational(iterations: int = 2) -> Closing:
    """Return how joints close: by so many iterations for the impulses of all of them."""
    return Closing(close_at_once, iterations, in_halves=True)


def close_at_once(flight: Flight, iterations: int) -> list[BodyState]:
    """See `Closing`."""
    system, h, joined = flight.system, flight.h, flight.joined
    bounds = DistanceBounds(system, joined, [b.moved(h) for b in flight.bodies])
    fixed = [row for j in joined for row in j.rows]
    answering = [i for i, w in enumerate(flight.inertias) if not is_zero(w)]
    felt = [flight.units[i] for i in answering]
    softness = [1.0 / (flight.inertias[i] + SOFT / system.gain(flight.units[i])) for i in answering]
    rows = [*fixed, *bounds.rows, *felt]
    compliances = [*[0.0] * len(fixed), *bounds.compliances, *softness]
    solver = responses(system.bodies, rows, compliances, DEPENDENT * regularization(flight.q).nu if rows else 0.0)
    first, last = len(fixed), len(fixed) + len(bounds.rows)

    def left(multipliers: Vector) -> list[Scalar]:
        now = moving(multipliers)
        placed = [b.moved(h) for b in now]
        found = [e * (1.0 / h) for e in system.residuals(placed, joined)]
        found += bounds.lag(placed, multipliers[first:last], h)
        twists, parts = [b.twist() for b in now], zip(felt, answering, softness, multipliers[last:], strict=True)
        return [*found, *(row.velocity(twists) - flight.mean[i] + c * e for row, i, c, e in parts)]

    def moving(multipliers: Vector) -> list[BodyState]:
        closing = system.impulses(rows, multipliers)
        return flight._replace(kick=[a + b for a, b in zip(flight.kick, closing, strict=True)]).bodies

    def after(multipliers: Vector, change: Vector, share: Scalar) -> list[Scalar]:
        found = [e + share * d for e, d in zip(multipliers, change, strict=True)]
        return [*found[:first], *bounds.pushing(found[first:last]), *found[last:]]

    def nearer(_: Any, expected: Any, multipliers: Any, change: Any, share: Any, error: Any) -> Any:
        tried = after(multipliers, change, share)
        found = left(tried)
        now = dot(found, found)
        better = now < error
        following = [where(better, *both) for both in zip(solver.solve([-e for e in found]), change, strict=True)]
        kept = [where(better, *both) for both in zip(tried, multipliers, strict=True)]
        return 0.0, where(better, now, expected), kept, following, where(better, 1.0, 0.5 * share), minimum(now, error)

    if not rows:
        return [b.moved(h) for b in flight.bodies]
    multipliers, change, errors = [0.0] * len(rows), [0.0] * len(rows), []
    for _ in range(iterations):
        multipliers = after(multipliers, change, 1.0)
        found = left(multipliers)
        change = solver.solve([-e for e in found])
        errors.append(dot(found, found))
    # What the last iteration leaves, by what the first and the last have found: their errors fall evenly.
    expected = errors[-1] * errors[-1] / maximum(errors[0], TINY) if iterations > 1 else errors[-1]
    size = sum((b.p.norm_squared() for b in flight.start), 0.0)
    small = EXACT * EXACT + size * (ROUNDING * regularization(flight.q).nu / h) ** 2
    start = 0.0, expected, multipliers, change, 1.0, errors[-1]
    found = converging(MOST, 1, lambda _, expected, *others: expected > small, nearer, *start)
    _, expected, multipliers, change, share, _ = found
    closed = [b.moved(h) for b in moving(after(multipliers, change, share))]
    return when(expected > small, lambda: close_by_passes(flight, PASSES), closed)
