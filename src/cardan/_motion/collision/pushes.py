"""How much too near shapes are: the sum of a hinge of their distances, and the force that says how it changes.

With x = reach - d, how much the distance d is short of a reach,

    h(x) = 0 where x < 0,     x^2 / (2 b) up to x = b,     x - b / 2 from there on          b: the band

and e = sum of h over obstacles beside one shape. Its rate, as the shape moves by the twist V, is -(f . V), with

    f = sum of h'(x) (n, p x n)             n: normal, p: the nearest point on the shape, seen from the world's origin

What is farther away than the reach adds nothing, and costs its bounds (`spines`). A pair of shapes that both move has a
sum of its own: of one.

Cost: 17 operations for a shape and an obstacle, the page of those that are near.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import each, when
from cardan._algebra.scalar import maximum, minimum
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.bounds import may_meet
from cardan._motion.collision.distance import witnesses
from cardan._motion.collision.spines import Ball, Spine, square
from cardan._motion.collision.table import Two, in_order, kind_of, of_sizes, rows_of
from cardan._robot.geometry.shapes import GROUNDS

ROWS = 8  # obstacles of a loop


class Push(NamedTuple):
    """The sum of hinges [m], and f: forces on the first shape, in world axes, moments about the world's origin."""

    error: Scalar
    force: Vector3
    moment: Vector3

    def __add__(self, other: Any) -> Push:
        return Push(*(a + b for a, b in zip(self, other, strict=True)))


NONE = Push(0.0, Vector3.zero(), Vector3.zero())


def push_of_obstacles(pairs: Sequence[Two], reach: Scalar, band: float) -> Push:
    """Return the push on one shape, the first of all pairs, by shapes that stand still."""
    a, X_a, *_ = pairs[0]
    spine, total = Spine.of(a, X_a), NONE
    near: dict[Any, list[tuple[Two, Scalar]]] = {}
    for two in pairs:
        if isinstance(two.b, GROUNDS):
            total = total + _push(two, reach, band)
        else:
            ball = Ball.of(two.b, two.X_b)
            excess = spine.squared_distance(ball.middle) - square(spine.outer + ball.outer + reach)
            near.setdefault(kind_of(two.b), []).append((two, excess))

    for rows in near.values():
        for k in range(0, len(rows), ROWS):
            total = total + _push_of_rows(rows[k : k + ROWS], reach, band)
    return total


def _push_of_rows(rows: Sequence[tuple[Two, Scalar]], reach: Scalar, band: float) -> Push:
    a, X_a, like, _ = rows[0][0]

    def push(sizes: Any, X_b: SE3, excess: Scalar) -> Push:
        return when(excess < 0.0, lambda: _push(Two(a, X_a, of_sizes(like, sizes), X_b), reach, band), NONE)

    def total() -> Push:
        columns = rows_of([two.b for two, _ in rows]), [two.X_b for two, _ in rows], [excess for _, excess in rows]
        return reduce(Push.__add__, each(push, *columns))

    return when(reduce(minimum, (excess for _, excess in rows)) < 0.0, total, NONE)


def push_of_two(two: Two, reach: Scalar, band: float) -> Push:
    """Return the push on the first of two shapes that both move."""
    ordered, _ = in_order(two)
    return when(may_meet(*ordered, reach), lambda: _push(two, reach, band), NONE)


def _push(two: Two, reach: Scalar, band: float) -> Push:
    ((gap, n, on_a, _),) = witnesses([two])
    x = reach - gap
    slope = minimum(maximum(x, 0.0), band) * (1.0 / band)
    error = slope * slope * (0.5 * band) + maximum(x - band, 0.0)
    return Push(error, n * slope, on_a.cross(n) * slope)
