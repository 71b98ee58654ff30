"""Whether all pairs of shapes are apart: what is surely so, or surely not, costs a few operations; the rest its page.

The spine of a shape that moves and the ball of an obstacle (`spines`) tell most. They are looked at first, of a few
shapes after the others, the largest first: only what they leave open is looked at by its page. A state of which it is
known that it is not free takes part in nothing any more: native code leaves out what no state needs that is computed
with it. Obstacles are rows of numbers: bounds and pages are loops over them. Written out, the bounds are read more
slowly than they are computed.

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
from cardan._motion.collision.distance import SEARCHED, seen_from_a
from cardan._motion.collision.nearest_triangle import is_apart
from cardan._motion.collision.round_shapes import capsule_capsule, capsule_sphere, sphere_sphere
from cardan._motion.collision.spines import Ball, Spine, square
from cardan._motion.collision.table import (
    PAIRS,
    Two,
    check_page,
    in_order,
    kind_of,
    of_alike,
    of_sizes,
    rows_of,
    unit_of,
)
from cardan._robot.geometry.shapes import GROUNDS, Box, TriangleMesh

STAGE = 3  # shapes whose bounds are looked at together
APART = 1e30  # a gap [m] beyond every margin: nothing is computed with it
FIRST = box_capsule, capsule_capsule  # pages whose first candidate has the least gap
SHORT = sphere_sphere, capsule_sphere, capsule_capsule  # pages that are not worth to ask whether they are needed


def are_apart(pairs: Sequence[Two], margin: Scalar) -> Any:
    """Return whether all pairs are farther apart than a margin [m]."""
    moving, others = list[Two](), list[Two]()
    standing: dict[Any, list[Two]] = {}  # by the shape that moves
    for two in pairs:
        check_page(type(two.a), type(two.b))
        if not _stands_still(two.X_b):
            moving.append(two)
        elif isinstance(two.b, GROUNDS):
            others.append(two)
        else:
            standing.setdefault((two.a, *map(id, two.X_a.translation)), []).append(two)
    alike: dict[Any, list[list[Two]]] = {}  # by the obstacles
    for own in sorted(standing.values(), key=_size, reverse=True):
        alike.setdefault(tuple(id(two.X_b) for two in own), []).append(own)
    apart: Any = 1.0
    bounds: dict[int, Scalar] = {}  # above 0 where all are apart, but for those of which it is known already
    for shapes in (own[k : k + STAGE] for own in alike.values() for k in range(0, len(own), STAGE)):
        none = [(APART, APART)] * len(shapes)
        found = when(apart > 0.5, lambda own=shapes: _bounds(own, margin), none)
        apart = _and(apart, reduce(minimum, (hit for hit, _ in found)) > 0.0)
        bounds |= {id(own): excess for own, (_, excess) in zip(shapes, found, strict=True)}
    for two in others:
        near = logical_and(not isinstance(two.b, TriangleMesh) or may_meet(*two, margin), apart > 0.5)
        apart = when(near, lambda two=two, apart=apart: _and(apart, _gap(two, margin) > margin), apart)
    for own in reversed(standing.values()):  # what is farther out is rather hit
        near = logical_and(bounds[id(own)] <= 0.0, apart > 0.5)
        apart = when(near, lambda own=own, apart=apart: _by_pages(own, margin, apart), apart)
    return (when(apart > 0.5, lambda: _with_one_another(moving, margin, apart), 0.0) if moving else apart) > 0.5


def _stands_still(X: SE3) -> bool:
    return all(isinstance(e, float) for e in (*X.rotation.entries(), *X.translation))


def _and(apart: Any, also: Any) -> Any:
    return where(also, apart, 0.0)


# --- shapes that stand still ----------------------------------------------------------------------------------------


def _size(pairs: Sequence[Two]) -> float:
    """Return about how much of a shape is in the way."""
    spine = Spine.of(pairs[0].a, SE3())
    return spine.outer * (spine.half + spine.outer)


def _bounds(shapes: Sequence[list[Two]], margin: Scalar) -> list[tuple[Scalar, Scalar]]:
    """Return for each of some shapes beside the same obstacles what is below 0 where one is surely not apart.

    With it goes what is above 0 where all others are.
    """
    result = []
    spines, balls = [Spine.of(own[0].a, own[0].X_a) for own in shapes], _balls(shapes[0])
    rows = each(lambda middle: [spine.squared_distance(middle) for spine in spines], [ball.middle for ball in balls])
    by_radii: dict[tuple[float, float], list[Any]] = {}
    for ball, row in zip(balls, rows, strict=True):
        by_radii.setdefault((ball.inner, ball.outer), []).append(row)
    for k, spine in enumerate(spines):
        hit = excess = APART
        for (inner, outer), found in by_radii.items():
            least = reduce(minimum, (row[k] for row in found))
            if spine.inner >= 0.0 and inner >= 0.0:
                hit = minimum(hit, least - square(spine.inner + inner + margin))
            if (spine.inner, inner) != (spine.outer, outer):
                excess = minimum(excess, least - square(spine.outer + outer + margin))
        result.append((hit, excess))
    return result


def _balls(pairs: Sequence[Two]) -> list[Ball]:
    return [Ball.of(two.b, two.X_b) for two in pairs]


def _by_pages(pairs: Sequence[Two], margin: Scalar, apart: Any) -> Any:
    """Return whether one shape is apart from obstacles, too, where it is said to be apart so far."""
    spine, alike = Spine.of(pairs[0].a, pairs[0].X_a), dict[Any, list[Two]]()
    for two, ball in zip(pairs, _balls(pairs), strict=True):
        if (spine.inner, ball.inner) != (spine.outer, ball.outer):
            alike.setdefault((kind_of(two.b), unit_of(two)), []).append(two)
    for (_, unit), rows in alike.items():
        apart = _with_rows(rows, spine, margin, apart, unit)
    return apart


def _with_rows(rows: Sequence[Two], spine: Spine, margin: Scalar, apart: Any, unit: float) -> Any:
    """Return the same for obstacles of one kind."""
    a, X_a, like, _ = rows[0]

    def gap(sizes: Any, X_b: SE3, ball: Ball) -> Scalar:
        near = spine.squared_distance(ball.middle) <= square(spine.outer + ball.outer + margin)
        two = Two(a, X_a, of_sizes(like, sizes), X_b)
        return when(logical_and(near, apart > 0.5), lambda: _gap(two, margin, unit), APART)

    found = each(gap, rows_of([two.b for two in rows]), [two.X_b for two in rows], _balls(rows))
    return _and(apart, reduce(minimum, found) > margin)


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
