"""Efforts along the joints, and bounds on the distance of two bodies, as rows of a step.

Drives, damping, friction, stops and springs: an effort tau acts on the two bodies of its joint by the wrenches
S (S^T S)^-1 tau; what it works on is the rate S^+ V. One that answers to the acceleration, tau - W a, is over a step of
h a row of the same kind as a constraint, with a compliance: of its impulse l,

    J V' + l / W = J V_n + h tau / W

The rope and the rod of `Distance` joints are rows that only push:

    d >= minimum:  C = d - minimum >= 0        d <= maximum:  C = maximum - d >= 0        d = |p|

along the line between the two origins. A bound takes part in a step if the bodies would be beyond it at the step's end,
moving as they please; where both bounds are one, it is a rod, which always does.

Source: the laws of `drives.py`; Macklin, Mueller and Chentanez, XPBD (2016), for forces as compliant constraints;
Baraff, Fast contact force computation for nonpenetrating rigid bodies (1994), for C >= 0, l >= 0, C l = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan._algebra.scalar import is_zero, maximum, sqrt, where
from cardan._algebra.spatial import Force, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.lengths import bounds_of
from cardan._motion.maximal_steps.bodies import BodyState, Efforts, JointedPair, PlacedJoint, Row, System

SOFT = 1e-9
"""Share of the bodies' own inertia by which efforts answer to the acceleration at least: 1 / W must exist."""
OUT = 1e9
"""By how many times its own gain a bound that takes no part is softer."""

NEAREST = 1e-12
"""A distance [m] at which there is no direction any more."""


class EffortRows(NamedTuple):
    """The efforts of a step."""

    units: list[Row]  # the nv rows of unit efforts
    plain: list[Scalar]  # along v, what acts on the bodies before they move; 0 where a row does
    rest: list[Scalar]  # along v, what acts after
    rows: list[Row]  # of the efforts that answer, and of drives' inertias; then W, tau and J V_n of each
    weights: list[Scalar]
    forces: list[Scalar]
    rates: list[Scalar]

    def momentum(self, armature: Vector, twists: Sequence[Motion], h: float) -> list[Scalar]:
        """Return the momentum of the drives at the bodies' mean twists, and what acts after, along v."""
        return [p + h * rest for p, rest in zip(rotors(self.units, armature, twists), self.rest, strict=True)]

    def start(self, system: System, h: float) -> list[Scalar]:
        """Return estimates of the impulses: those of each row alone, which do not overshoot."""
        parts = zip(self.rows, self.weights, self.forces, strict=True)
        return [h * f / (1.0 + w * system.gain(row)) for row, w, f in parts]

    def lag(self, twists: Sequence[Motion], multipliers: Vector, h: float) -> list[Scalar]:
        """Return J V' + l / W - J V_n - h tau / W."""
        parts = zip(self.rows, self.weights, self.forces, self.rates, multipliers, strict=True)
        return [row.velocity(twists) - rate + (amount - h * f) / w for row, w, f, rate, amount in parts]


def rotors(units: Sequence[Row], armature: Vector, twists: Sequence[Motion]) -> list[Scalar]:
    """Return the momentum of the drives at the bodies' twists, along v."""
    return [0.0 if is_zero(a) else a * row.velocity(twists) for a, row in zip(armature, units, strict=True)]


def effort_rows(
    system: System, joined: Sequence[PlacedJoint], loads: Efforts, v: Vector, share: float = 1.0
) -> EffortRows:
    """Return the efforts at a state with velocity v; of those that do not answer, a share acts before bodies move."""
    model, units = system.model, system.effort_rows(joined)
    armature, constant = model.passive("armature"), [is_zero(w) for w in loads.W]
    before = [share * tau if still else tau for tau, still in zip(loads.tau, constant, strict=True)]
    rest = [(1.0 - share) * tau if still else 0.0 for tau, still in zip(loads.tau, constant, strict=True)]
    # What neither answers nor has a rotor is an impulse that is known beforehand: a row for it would cost a factor.
    chosen = [i for i in range(model.nv) if not (constant[i] and is_zero(armature[i]))]
    plain = [0.0 if i in chosen else before[i] for i in range(model.nv)]
    weights = [loads.W[i] + armature[i] + SOFT / system.gain(units[i]) for i in chosen]
    rows, forces, rates = [units[i] for i in chosen], [before[i] for i in chosen], [v[i] for i in chosen]
    return EffortRows(units, plain, rest, rows, weights, forces, rates)


class DistanceBound(NamedTuple):
    """A bound on a distance: sign (d - limit) >= 0; 0 for a rod."""

    pair: JointedPair
    sign: float
    limit: float

    def value(self, placed: Sequence[BodyState]) -> Scalar:
        return (sqrt(self.pair.across(placed).translation.norm_squared()) - self.limit) * (self.sign or 1.0)

    def row(self, joint: PlacedJoint) -> Row:
        """Return the row along the line between both origins, of which the sign says what pushes."""
        R, p = joint.X
        d = maximum(sqrt(p.norm_squared()), NEAREST)  # at 0 every direction is as good, and none is NaN
        direction = R.transpose_apply(p) * ((self.sign or 1.0) / d)
        return Row(0.0, self.pair.wrenches(joint.X, Force(direction, Vector3.zero())))


class DistanceBounds:
    """The bounds of a step: of joints where it begins; `free` are the bodies where they would be at its end without."""

    def __init__(self, system: System, joined: Sequence[PlacedJoint], free: Sequence[BodyState]) -> None:
        self.bounds = [DistanceBound(pair, *bound) for pair in system.pairs for bound in bounds_of(pair.joint)]
        by_pair = {id(j.pair): j for j in joined}
        self.rows = [bound.row(by_pair[id(bound.pair)]) for bound in self.bounds]
        self.acting = [True if b.sign == 0.0 else b.value(free) < 0.0 for b in self.bounds]
        self.compliances = [
            # A row that takes no part stays in the factor, but soft: which ones do is a symbol when this is traced.
            where(acting, 0.0, OUT * system.gain(row))
            for acting, row in zip(self.acting, self.rows, strict=True)
        ]

    def lag(self, placed: Sequence[BodyState], multipliers: Vector, h: float) -> list[Scalar]:
        """Return what is left of the rows."""
        parts = zip(self.bounds, self.acting, self.compliances, multipliers, strict=True)
        return [where(acting, b.value(placed) * (1.0 / h), 0.0) + c * e for b, acting, c, e in parts]

    def pushing(self, multipliers: Vector) -> list[Scalar]:
        """Return multipliers that do not pull, of the bounds that are not rods."""
        return [e if b.sign == 0.0 else maximum(e, 0.0) for b, e in zip(self.bounds, multipliers, strict=True)]
