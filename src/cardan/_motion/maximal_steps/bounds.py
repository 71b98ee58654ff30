"""Bounds on the distance of two bodies, as rows that only push: the rope and the rod of `Distance` joints.

    d >= minimum:  C = d - minimum >= 0        d <= maximum:  C = maximum - d >= 0        d = |p|

along the line between the two origins. A bound takes part in a step if the bodies would be beyond it at the step's end,
moving as they please; where both bounds are one, it is a rod, which always does.

Source: Baraff, Fast contact force computation for nonpenetrating rigid bodies (1994), for C >= 0, l >= 0, C l = 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from cardan._algebra.scalar import maximum, sqrt, where
from cardan._algebra.spatial import Force, Scalar, Vector3
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.maximal_steps.bodies import Joined, Pair, Placed, Row, System, gain
from cardan._robot.joints import Distance, Joint, Reversed

OUT = 1e9
"""By how many times its own gain a bound that takes no part is softer."""

NEAREST = 1e-12
"""A distance [m] at which there is no direction any more."""


class Bound(NamedTuple):
    """A bound on a distance: sign (d - limit) >= 0; 0 for a rod."""

    pair: Pair
    sign: float
    limit: float

    def value(self, placed: Sequence[Placed]) -> Scalar:
        """Return how far the bodies are from it."""
        p = self.pair.across(placed).translation
        return (sqrt(p.norm_squared()) - self.limit) * (self.sign or 1.0)


class Bounds:
    """The bounds of a system over a step.

    Args:
        system: the bodies and joints.
        joined: the joints where the step begins.
        free: the bodies where they would be at its end without them.
    """

    def __init__(self, system: System, joined: Sequence[Joined], free: Sequence[Placed]) -> None:
        self.bounds = [bound for pair in system.pairs for bound in bounds_of(pair)]
        by_pair = {id(j.pair): j for j in joined}
        self.rows = [_row(bound, by_pair[id(bound.pair)]) for bound in self.bounds]
        self.acting = [True if b.sign == 0.0 else b.value(free) < 0.0 for b in self.bounds]
        self.compliances = [
            where(acting, 0.0, OUT * gain(system.bodies, row))
            for acting, row in zip(self.acting, self.rows, strict=True)
        ]

    def lag(self, placed: Sequence[Placed], multipliers: Vector, h: float) -> list[Scalar]:
        """Return what is left of the rows."""
        parts = zip(self.bounds, self.acting, self.compliances, multipliers, strict=True)
        return [where(acting, b.value(placed) * (1.0 / h), 0.0) + c * e for b, acting, c, e in parts]

    def pushing(self, multipliers: Vector) -> list[Scalar]:
        """Return multipliers that do not pull, of the bounds that are not rods."""
        return [e if b.sign == 0.0 else maximum(e, 0.0) for b, e in zip(self.bounds, multipliers, strict=True)]


def bounds_of(pair: Pair) -> list[Bound]:
    """Return the bounds of a joint."""
    joint = distance_of(pair.joint)
    if joint is None:
        return []
    lower, upper = joint.minimum, math.inf if joint.maximum is None else joint.maximum
    if lower == upper:
        return [Bound(pair, 0.0, lower)]
    found = [Bound(pair, 1.0, lower)] if lower > 0.0 else []
    return found if math.isinf(upper) else [*found, Bound(pair, -1.0, upper)]


def distance_of(joint: Joint) -> Distance | None:
    """Return the distance joint that a joint is, whichever way round: the distance is the same; none that gives way."""
    inner = joint.joint if isinstance(joint, Reversed) else joint
    return inner if isinstance(inner, Distance) and not inner.has_efforts else None


def has_bounds(joint: Joint) -> bool:
    """Return whether a joint is a distance joint that bounds anything."""
    own = distance_of(joint)
    return own is not None and (own.minimum > 0.0 or own.maximum is not None)


def _row(bound: Bound, joined: Joined) -> Row:
    R, p = joined.X
    d = maximum(sqrt(p.norm_squared()), NEAREST)
    direction = R.transpose_apply(p) * ((bound.sign or 1.0) / d)
    return Row(0.0, bound.pair.wrenches(joined.X, Force(direction, Vector3.zero())))
