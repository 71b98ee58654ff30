"""Position limits, in two kinds: bounds of a coordinate itself, and all others.

Where a limit coordinate is an entry of q, and one velocity moves that entry and nothing else does, the entry is kept
between its bounds by stopping there. Every other limit coordinate l(q) (of an orientation, of a pose in the plane, of
a joint of one's own) becomes a task, whose error is how far l is outside, and 0 inside.

Which is which is seen from what the manifold makes of symbols, not from its class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cardan._algebra.by_identity import known_of_each
from cardan._algebra.scalar import is_zero, logical_and, logical_or, maximum, minimum, where
from cardan._algebra.spatial import Scalar
from cardan._compiler.program import Array
from cardan._compiler.program.expr import Expr, Graph
from cardan._dynamics.algorithms.configuration import limit_coordinates
from cardan._dynamics.algorithms.linear import Rows
from cardan._dynamics.functions.derivatives import derivative
from cardan._motion.tasks.task import Task
from cardan._robot.model import Model

_rates = derivative(limit_coordinates, "q")


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

    coordinates: tuple[int, ...]  # their numbers along v

    def error(self, model: Model, q: Any, target: Any) -> Any:
        found = model.manifold.limit_coordinates(q)
        return [found[i] - minimum(maximum(found[i], a), b) for i, a, b in self._limits(model)]

    def jacobian(self, model: Model, q: Any, target: Any) -> Rows:
        found, rates = model.manifold.limit_coordinates(q), _rates(model, q)
        outside = [(i, logical_or(found[i] < a, found[i] > b)) for i, a, b in self._limits(model)]
        return [[where(is_outside, rate, 0.0) for rate in rates[i]] for i, is_outside in outside]

    def _limits(self, model: Model) -> list[tuple[int, float, float]]:
        return [(i, float(model.lower[i]), float(model.upper[i])) for i in self.coordinates]


@known_of_each
def other_limits(model: Model) -> tuple[int, ...]:
    """Return the numbers of the limited coordinates that are no entries of q."""
    is_limited = [math.isfinite(a) or math.isfinite(b) for a, b in zip(model.lower, model.upper, strict=True)]
    entries = entries_of_limits(model)
    return tuple(i for i in range(model.nv) if is_limited[i] and i not in entries)
