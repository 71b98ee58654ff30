"""Bounds on the distance of two bodies as rows of a step: the ropes and rods of `Distance` joints.

    d >= minimum:  C = d - minimum >= 0        d <= maximum:  C = maximum - d >= 0        d = |p|

along the line between the two origins; they only push. A bound takes part in a step if the bodies would be beyond it at
the step's end, moving as they please; where both bounds are one, it is a rod, which always does.

Source: Baraff, Fast contact force computation for nonpenetrating rigid bodies (1994), for C >= 0, l >= 0, C l = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan._algebra.scalar import maximum, sqrt, where
from cardan._algebra.spatial import Force, Scalar, Vector3
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.lengths import bounds_of
from cardan._motion.maximal_steps.bodies import BodyState, JointedPair, PlacedJoint, Row, System

OUT = 1e9
"""By how many times its own gain a bound that takes no part is softer."""

NEAREST = 1e-12
"""A distance [m] at which there is no direction any more."""


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
