"""Efforts along the joints in maximal coordinates: drives, damping, friction, stops, springs, as rows.

An effort tau acts on the two bodies of its joint by the wrenches S (S^T S)^-1 tau; what it works on is the rate S^+ V.
One that answers to the acceleration, tau - W a, is over a step of h a row of the same kind as a constraint, with a
compliance: of its impulse l,

    J V' + l / W = J V_n + h tau / W

Source: the laws of `drives.py`; Macklin, Mueller and Chentanez, XPBD (2016), for forces as compliant constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import Motion, Scalar
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.maximal_steps.bodies import Body, Efforts, Joined, Row, System, gain

SOFT = 1e-9
"""Share of the bodies' own inertia by which efforts answer to the acceleration at least: 1 / W must exist."""


class EffortRows(NamedTuple):
    """The efforts of a step.

    Attributes:
        units: the nv rows of unit efforts.
        plain: along v, what acts on the bodies before they move; 0 where a row does.
        rest: along v, what acts after.
        rows: of each of the efforts that answer, and of drives' inertias.
        weights: W of each.
        forces: tau of each.
        rates: J V_n of each.
    """

    units: list[Row]
    plain: list[Scalar]
    rest: list[Scalar]
    rows: list[Row]
    weights: list[Scalar]
    forces: list[Scalar]
    rates: list[Scalar]

    def momentum(self, armature: Vector, twists: Sequence[Motion], h: float) -> list[Scalar]:
        """Return the momentum of the drives at the bodies' mean twists, and what acts after, along v."""
        return [p + h * rest for p, rest in zip(rotors(self.units, armature, twists), self.rest, strict=True)]

    def start(self, bodies: Sequence[Body], h: float) -> list[Scalar]:
        """Return estimates of the impulses: those of each row alone, which do not overshoot."""
        parts = zip(self.rows, self.weights, self.forces, strict=True)
        return [h * f / (1.0 + w * gain(bodies, row)) for row, w, f in parts]

    def lag(self, twists: Sequence[Motion], multipliers: Vector, h: float) -> list[Scalar]:
        """Return J V' + l / W - J V_n - h tau / W."""
        parts = zip(self.rows, self.weights, self.forces, self.rates, multipliers, strict=True)
        return [row.velocity(twists) - rate + (amount - h * f) / w for row, w, f, rate, amount in parts]


def rotors(units: Sequence[Row], armature: Vector, twists: Sequence[Motion]) -> list[Scalar]:
    """Return the momentum of the drives at the bodies' twists, along v."""
    return [0.0 if is_zero(a) else a * row.velocity(twists) for a, row in zip(armature, units, strict=True)]


def effort_rows(system: System, joined: Sequence[Joined], loads: Efforts, v: Vector, share: float = 1.0) -> EffortRows:
    """Return the efforts at a state.

    Args:
        system: the bodies and joints.
        joined: the joints at the state.
        loads: the efforts.
        v: velocity.
        share: of those that do not answer, how much acts before the bodies move.
    """
    model, units = system.model, system.effort_rows(joined)
    armature, constant = model.passive("armature"), [is_zero(w) for w in loads.W]
    before = [share * tau if still else tau for tau, still in zip(loads.tau, constant, strict=True)]
    rest: list[Scalar] = [(1.0 - share) * tau if still else 0.0 for tau, still in zip(loads.tau, constant, strict=True)]
    chosen = [i for i in range(model.nv) if not (constant[i] and is_zero(armature[i]))]
    plain = [0.0 if i in chosen else before[i] for i in range(model.nv)]
    weights = [loads.W[i] + armature[i] + SOFT / gain(system.bodies, units[i]) for i in chosen]
    rows, forces, rates = [units[i] for i in chosen], [before[i] for i in chosen], [v[i] for i in chosen]
    return EffortRows(units, plain, rest, rows, weights, forces, rates)
