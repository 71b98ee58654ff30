"""Whether all pairs of shapes are apart: what is surely so, or surely not, costs a few operations; the rest its page.

The spine of a shape that moves and the ball of an obstacle (`spines`) tell most. Only what they leave open is looked at
by its page, and a state of which it is known that it is not free takes part in nothing any more: native code leaves out
what no state needs that is computed with it. Obstacles are rows of numbers: their pages are loops over a few of one
kind.

Source: Ericson, Real-Time Collision Detection (2005), section 4.1, for bounds.
Cost: 17 operations for a shape and an obstacle.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from cardan._algebra.arrays.repeat import each, when
from cardan._algebra.scalar import logical_and, minimum, where
from cardan._algebra.spatial import SE3, Scalar
from cardan._motion.collision.bounds import may_meet
from cardan._motion.collision.box_box import box_box, box_separation
from cardan._motion.collision.box_round import box_capsule
from cardan._motion.collision.convex import witness
from cardan._motion.collision.distance import SEARCHED, seen_from_a, unit_of
from cardan._motion.collision.nearest_triangle import is_apart
from cardan._motion.collision.round_shapes import capsule_capsule, capsule_sphere, sphere_sphere
from cardan._motion.collision.spines import Ball, Spine, square
from cardan._motion.collision.table import PAIRS, Two, check_page, in_order, kind_of, of_alike, of_sizes, rows_of
from cardan._robot.geometry.shapes import Box, Plane, TriangleMesh

APART = 1e30  # a gap [m] beyond every margin: nothing is computed with it
ROWS = 8  # obstacles of a loop: of those of a loop that one state is near, all are looked at in turn
FIRST = box_capsule, capsule_capsule  # pages whose first candidate has the least gap
SHORT = sphere_sphere, capsule_sphere, capsule_capsule  # pages that are not worth to ask whether they are needed


def are_apart(pairs: Sequence[Two], margin: Scalar) -> Any:
    """Return whether all pairs are farther apart than a margin [m]."""
    moving: list[Two] = []
    standing: dict[Any, list[Two]] = {}  # by the shape that moves
    for two in pairs:
        check_page(type(two.a), type(two.b))
        if _stands_still(two.X_b):
            standing.setdefault((two.a, *map(id, two.X_a.translation)), []).append(two)
        else:
            moving.append(two)
    apart: Any = 1.0
    for own in reversed(standing.values()):  # what is farther out is rather in the way
        apart = _when_apart(apart, lambda apart, own=own: _with_obstacles(own, margin, apart))
    if moving:
        apart = _when_apart(apart, lambda apart: _with_one_another(moving, margin, apart))
    return apart > 0.5


def _stands_still(X: SE3) -> bool:
    return all(isinstance(e, float) for e in (*X.rotation.entries(), *X.translation))


def _when_apart(apart: Any, body: Any) -> Any:
    return body(apart) if isinstance(apart, float) else when(apart > 0.5, body, 0.0, apart)


def _and(apart: Any, also: Any) -> Any:
    return where(also, apart, 0.0)


# --- shapes that stand still ----------------------------------------------------------------------------------------


def _with_obstacles(pairs: Sequence[Two], margin: Scalar, apart: Any) -> Any:
    """Return whether one shape is apart from obstacles, too, where it is said to be apart so far."""
    spine = Spine.of(pairs[0].a, pairs[0].X_a)
    left: dict[
        Any, list[tuple[Two, Scalar]]
    ] = {}  # by kind and unit; each with a number that is below 0 where it may be near
    hit: Scalar = 1.0  # below 0 where it is
    for two in pairs:
        if isinstance(two.b, TriangleMesh):
            may_be_near = logical_and(may_meet(*two, margin), apart > 0.5)
            apart = when(may_be_near, lambda two=two, apart=apart: _and(apart, _gap(two, margin) > margin), apart)
            continue
        if isinstance(two.b, Plane):
            apart = _and(apart, _gap(two, margin) > margin)
            continue
        ball = Ball.of(two.b, two.X_b)
        squared = spine.squared_distance(ball.middle)
        if spine.inner >= 0.0 and ball.inner >= 0.0:
            hit = minimum(hit, squared - square(spine.inner + ball.inner + margin))
        if (spine.inner, ball.inner) != (spine.outer, ball.outer):
            squared = squared - square(spine.outer + ball.outer + margin)
            left.setdefault((kind_of(two.b), unit_of(two)), []).append((two, squared))
    apart = _and(apart, hit > 0.0)
    for (_, unit), rows in left.items():
        for k in range(0, len(rows), ROWS):
            apart = _with_rows(rows[k : k + ROWS], margin, apart, unit)
    return apart


def _with_rows(rows: Sequence[tuple[Two, Scalar]], margin: Scalar, apart: Any, unit: float) -> Any:
    """Return the same for obstacles of one kind."""
    (a, X_a, like, _), _ = rows[0]

    def gap(sizes: Any, X_b: SE3, near: Scalar) -> Scalar:
        two = Two(a, X_a, of_sizes(like, sizes), X_b)
        return when(logical_and(near <= 0.0, apart > 0.5), lambda: _gap(two, margin, unit), APART)

    def least() -> Scalar:
        columns = rows_of([two.b for two, _ in rows]), [two.X_b for two, _ in rows], [near for _, near in rows]
        return reduce(minimum, each(gap, *columns))

    some_near = reduce(minimum, (near for _, near in rows)) <= 0.0
    return _and(apart, when(logical_and(some_near, apart > 0.5), least, APART) > margin)


# --- shapes that move -----------------------------------------------------------------------------------------------


def _with_one_another(pairs: Sequence[Two], margin: Scalar, apart: Any) -> Any:
    def gap(two: Two, unit: float) -> Scalar:
        if PAIRS[type(two.a), type(two.b)] in SHORT:
            return _gap(two, margin, unit)
        return when(logical_and(may_meet(*two, margin), apart > 0.5), lambda: _gap(two, margin, unit), APART)

    found = of_alike([in_order(two)[0] for two in pairs], gap, [unit_of(two) for two in pairs])
    return _and(apart, reduce(minimum, found) > margin)


def _gap(two: Two, margin: Scalar, unit: float = 1.0) -> Scalar:
    """Return a gap of two shapes, looked at in a unit, that is on the same side of the margin as theirs."""
    two, _ = in_order(two)
    if isinstance(two.b, TriangleMesh):
        return where(is_apart(two.a, two.X_ab, two.b, margin), APART, -APART)
    page = PAIRS[type(two.a), type(two.b)]
    if page is box_box and isinstance(two.a, Box) and isinstance(two.b, Box):
        # Along their axes boxes are never farther apart than they are, and as deep.
        separation = box_separation(two.a, two.X_a, two.b, two.X_b)
        unsure = logical_and(separation > 0.0, separation <= margin)
        return when(unsure, lambda: witness(*two, margin).gap, separation)
    if page in SEARCHED:
        return witness(*seen_from_a(two, unit), margin * (1.0 / unit)).gap * unit
    first, *others = page(*two)
    return first.gap if page in FIRST else reduce(minimum, (c.gap for c in others), first.gap)
