"""Position-based dynamics over any joint: what bodies have moved, one joint after the other moves back.

Each joint in turn, with C its residual, T its wrenches,

    l = -(T^T M^-1 T)^-1 C,        x moved by M^-1 T l

Velocities are what the bodies have moved by, over h. Of order 1; energy is lost at first order. What the iterations
leave is the gap.

Source: Macklin, Mueller and Chentanez, XPBD: position-based simulation of compliant constrained dynamics (2016);
Mueller et al., Detailed rigid body simulation with extended position based dynamics (2020). All rows of a joint at
once, the turning of bodies by momenta (`bodies.py`), and forces as joints allow (`rigid_step.py`), are this house's.
Cost: all joints once in every iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cardan._algebra.arrays.repeat import repeat
from cardan._algebra.scalar import maximum
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.proximal import regularization
from cardan._motion.maximal_steps.bodies import BodyState, responses
from cardan._motion.maximal_steps.distance_bounds import DistanceBounds
from cardan._motion.maximal_steps.rigid_step import Closing, Flight

DEPENDENT = 1e2
"""Roundings (`Regularization.nu`) of the diagonal that keep a joint's own rows independent."""


def xpbd(iterations: int = 4) -> Closing:
    """Return how joints close: in so many iterations over all of them."""
    return Closing(close_by_passes, iterations, in_halves=False)


def close_by_passes(flight: Flight, iterations: int) -> list[BodyState]:
    """See `Closing`."""
    h = flight.h
    placed = _closed(flight, [b.moved(h) for b in flight.bodies], iterations)
    parts = zip(flight.start, placed, strict=True)
    return [b._replace(v=(b.p - a.p) * (1.0 / h), w=a.turning_to(b.r, h)) for a, b in parts]


def _closed(flight: Flight, placed: Sequence[BodyState], iterations: int) -> list[BodyState]:
    """Return the bodies moved back to where their joints want them, one joint after the other."""
    system, joined = flight.system, flight.joined
    bounds = DistanceBounds(system, joined, placed)
    small = DEPENDENT * regularization(flight.q).nu if system.model.nv else 0.0

    def once(places: list[Any], near: list[Any], pushed: list[Scalar]) -> tuple[list[Any], list[Any], list[Scalar]]:
        now, near, pushed = _at(placed, places), list(near), list(pushed)
        for k, (bound, row) in enumerate(zip(bounds.bounds, bounds.rows, strict=True)):
            total = pushed[k] - bound.value(now) / system.gain(row)
            total = total if bound.sign == 0.0 else maximum(total, 0.0)  # in sum it pushes; one pass may take back
            now, pushed[k] = system.shifted(now, [row], [total - pushed[k]]), total
        for k in range(len(joined)):
            own = system.joint(k, now, near)
            near[k], still = own.q, [0.0] * len(own.rows)
            amounts = responses(system.bodies, own.rows, still, small).solve([-row.residual for row in own.rows])
            now = system.shifted(now, own.rows, amounts)
        return [(b.p, b.r) for b in now], near, pushed

    start = [(b.p, b.r) for b in placed], [j.q for j in joined], [0.0] * len(bounds.rows)
    return _at(placed, repeat(iterations, once, *start)[0])


def _at(placed: Sequence[BodyState], places: Sequence[Any]) -> list[BodyState]:
    return [b._replace(p=p, r=r) for b, (p, r) in zip(placed, places, strict=True)]
