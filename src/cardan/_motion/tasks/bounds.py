"""Position limits, in two kinds: bounds of a coordinate itself, and all others.

Where a limit coordinate is an entry of q, and one velocity moves that entry and nothing else does, the entry is kept
between its bounds by stopping there. Every other limit coordinate l(q) (of an orientation, of a pose in the plane, of
a joint of one's own, of a dependent joint of a cluster) becomes a task, whose error is how far l is outside, and 0
inside.

Which is which is seen from what the manifold makes of symbols, not from its class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cardan._algebra.arrays.symbolic import symbolic
from cardan._algebra.by_identity import known_of_each
from cardan._algebra.scalar import is_zero, logical_and, logical_or, maximum, minimum, where
from cardan._algebra.spatial import Scalar
from cardan._compiler.program import Array
from cardan._compiler.program.expr import Expr, Graph
from cardan._dynamics.algorithms.linear import Rows
from cardan._dynamics.call.function import function
from cardan._dynamics.functions.derivatives import derivative
from cardan._motion.tasks.task import Task
from cardan._robot.joints.catalogue.of_another import Follower
from cardan._robot.model import Model


class Bound(NamedTuple):
    """Where an entry of q must stay: its number, that of the velocity that moves it, its least and greatest value."""

    q: int
    v: int
    lower: float
    upper: float


def entries_of_limits(model: Model) -> dict[int, int]:
    """Return for each velocity whose limit coordinate is an entry of q, which it alone moves, the number of that."""
    q = list(Graph().symbols([Array("q", (model.nq,))]))
    coordinates = model.manifold.limit_coordinates(q)
    rates = model.manifold.velocity_to_configuration_derivative_jacobian(q)
    found = {}
    for i in range(model.nv):
        moved = [k for k, row in enumerate(rates) if not is_zero(row[i])]
        if len(moved) != 1:
            continue
        movers = [e for e in rates[moved[0]] if not is_zero(e)]
        if len(movers) == 1 and not isinstance(movers[0], Expr) and movers[0] == 1.0:
            own, entry = coordinates[i], q[moved[0]]
            # Symbols are one if their instructions are; their == would be an instruction itself.
            if isinstance(own, Expr) and (own.index, own.negative) == (entry.index, entry.negative):
                found[i] = moved[0]
    return found


def bounds_of(model: Model) -> tuple[Bound, ...]:
    """Return the bounds of entries of q that are finite."""
    found = [Bound(k, i, float(model.lower[i]), float(model.upper[i])) for i, k in entries_of_limits(model).items()]
    return tuple(b for b in found if math.isfinite(b.lower) or math.isfinite(b.upper))


def clipped(q: Sequence[Scalar], bounds: Sequence[Bound]) -> list[Scalar]:
    inside = list(q)
    for k, _, lower, upper in bounds:
        above = inside[k] if lower == -math.inf else maximum(inside[k], lower)
        inside[k] = above if upper == math.inf else minimum(above, upper)
    return inside


def freedoms(nv: int, q: Sequence[Scalar], gradient: Sequence[Scalar], bounds: Sequence[Bound]) -> list[Scalar]:
    """Return for each velocity 1, and 0 where a descent would push an entry of q past the bound it is at."""
    free: list[Scalar] = [1.0] * nv
    for k, i, lower, upper in bounds:
        below, above = logical_and(q[k] <= lower, gradient[i] > 0.0), logical_and(q[k] >= upper, gradient[i] < 0.0)
        free[i] = where(logical_or(below, above), 0.0, 1.0)
    return free


@dataclass(frozen=True, eq=False)
class WithinLimits(Task):
    """Some limit coordinates are to be between their limits: those that are no entries of q.

    Error (n,): how far each is above its upper limit, or minus how far it is below its lower one; 0 between.
    """

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return [x - minimum(maximum(x, own.lower), own.upper) for own, x, _ in coordinates_of_limits(model, q)]

    def jacobian(self, model: Model, q: Any, target: Any) -> Rows:
        found = [(logical_or(x < own.lower, x > own.upper), rates) for own, x, rates in coordinates_of_limits(model, q)]
        return [[where(is_outside, rate, 0.0) for rate in rates] for is_outside, rates in found]


class Limit(NamedTuple):
    """Limits of a coordinate: its number, the name of its joint, its least and greatest value."""

    number: int  # along v, and behind that of the coordinates of dependent joints
    joint: str
    lower: float
    upper: float


@known_of_each
def other_limits(model: Model) -> tuple[Limit, ...]:
    """Return the finite limits of coordinates that are no entries of q."""
    entries, ends = entries_of_limits(model), zip(model.lower.tolist(), model.upper.tolist(), strict=True)
    names = {j: node.name for node in model.nodes if not node.joint.primaries for j in node.v}
    rows = [(names[j], *pair) for j, pair in enumerate(ends)]
    for node, own in _dependent(model):
        rows += [(node.name, *pair) for pair in zip(own.limits.lower, own.limits.upper, strict=True)]
    found = [Limit(k, *row) for k, row in enumerate(rows) if k not in entries]
    return tuple(own for own in found if math.isfinite(own.lower) or math.isfinite(own.upper))


def coordinates_of_limits(model: Model, q: Any) -> list[tuple[Limit, Scalar, Sequence[Scalar]]]:
    """Return these limits with the coordinate of each, and its rates along v."""
    x, rates = _coordinates(model, q), _rates(model, q)
    return [(own, x[own.number], rates[own.number]) for own in other_limits(model)]


@function
def _coordinates(model: Model, q: Any) -> Any:
    """Return the limit coordinates along v, and behind them those of dependent joints."""
    x = list(model.manifold.limit_coordinates(q))
    for node, own in _dependent(model):
        x += own.manifold.limit_coordinates(node.joint.inner_configuration(node.configuration(q)))
    return symbolic(x, (len(x),))


_rates = derivative(_coordinates, "q")


def _dependent(model: Model) -> list[tuple[Any, Any]]:
    """Return the joints of clusters that have limits of their own, and these."""
    with_own = ((node, node.joint.own) for node in model.nodes if isinstance(node.joint, Follower))
    return [(node, own) for node, own in with_own if own and own.limits.lower]
