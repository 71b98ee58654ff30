"""The distance of two shapes, the points that have it, and what becomes of it as their bodies move.

    d = n . (p_a - p_b)          n: the unit normal, which points from B to A; p_a, p_b: the nearest points, or the
                                 deepest ones where the shapes overlap and d < 0

As d is the least (or, of depths, the greatest) over points and directions, it does not change with these to first
order: its derivatives are those of n . (p_a - p_b) with n held, p_a held on A and p_b held on B. At a kink, where other
points or directions do as well, they are those of one of the sides.

A page of closed form is differentiated as it is written, and its second derivatives are right, too. Where the nearest
points are searched for, what the search is given is held: h(x) is x, and its derivative is 0. So no pass is
differentiated; second derivatives then miss how the normal turns.

Source: Danskin, The theory of max-min (1967), for the derivative of a least value; the pages for the distances.
Cost: that of the page, and 100 operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from cardan._algebra.arrays.repeat import each, when
from cardan._algebra.scalar import floor, logical_and, logical_or, minimum, where
from cardan._algebra.spatial import SE3, Matrix3, Scalar, Vector3
from cardan._motion.collision.bounds import may_meet
from cardan._motion.collision.box_box import box_box
from cardan._motion.collision.box_round import box_capsule, box_sphere
from cardan._motion.collision.candidate import FAR, Candidate, select
from cardan._motion.collision.convex import Witness, convex_convex
from cardan._motion.collision.flat_contact import flat_convex
from cardan._motion.collision.table import (
    PAIRS,
    Page,
    Two,
    check_page,
    is_in_order,
    kind_of,
    of_sizes,
    points_of,
    sizes_of,
)
from cardan._robot.geometry.shapes import Geometry

# Their candidates are made for contact: of boxes apart they may be farther in than the nearest points.
FOR_CONTACT = (box_box, flat_convex)
SEARCHED = (convex_convex, *FOR_CONTACT)
HELD = (*SEARCHED, box_capsule, box_sphere)
# Below 1 a number is held to 2^-52, above to its last bit.
STEP = 2.0**-52


def witnesses(pairs: Sequence[Two]) -> list[Witness]:
    """Return for each pair its distance, normal and nearest points, in the world's axes."""
    seen = [_as_given(two) for two in pairs]
    found = points_of(seen, page_of=_nearest_page)
    return [_in_world(two, given, candidate) for two, given, (candidate,) in zip(pairs, seen, found, strict=True)]


def are_apart(pairs: Sequence[Two], margin: Scalar) -> Any:
    """Return whether all pairs are farther apart than a margin [m]; those whose bounds are cost nothing more.

    Shapes that stand still are one loop for each kind and each shape that moves: what they are is numbers, not code.
    """
    moving, standing = [], {}
    for two in pairs:
        check_page(type(two.a), type(two.b))
        if all(isinstance(e, float) for e in (*two.X_b.rotation.entries(), *two.X_b.translation)):
            key = two.a, kind_of(two.b), tuple(map(id, two.X_a.translation))
            standing.setdefault(key, []).append(two)
        else:
            moving.append(two)
    found = points_of(moving, None, [margin] * len(moving), lambda two: _telling_page(two, margin))
    gaps = [candidate.gap for (candidate,) in found]
    gaps += [_least_of_standing(alike, margin) for alike in standing.values()]
    return reduce(logical_and, (gap > margin for gap in gaps), True)


def _least_of_standing(alike: Sequence[Two], margin: Scalar) -> Scalar:
    """Return the least gap of one shape and several that stand still, of one kind, or more than the margin."""
    a, X_a, like, _ = alike[0]

    def gap(sizes: Any, X_b: SE3) -> Scalar:
        two = Two(a, X_a, of_sizes(like, sizes), X_b)
        ordered = two if is_in_order(two) else two.swapped
        page = _telling_page(ordered, margin)
        return when(may_meet(*ordered, margin), lambda: page(*ordered)[0].gap, FAR)

    near = [may_meet(*(two if is_in_order(two) else two.swapped), margin) for two in alike]
    rows = [sizes_of(two.b) for two in alike], [two.X_b for two in alike]
    return when(reduce(logical_or, near), lambda: reduce(minimum, each(gap, *rows)), FAR)


def _telling_page(two: Two, margin: Scalar) -> Page:
    """Return the page whose gap tells on which side of the margin that of two shapes is."""
    if PAIRS[type(two.a), type(two.b)] in SEARCHED:
        return lambda a, X_a, b, X_b: convex_convex(a, X_a, b, X_b, margin)
    return _nearest_page(two)


def _nearest_page(two: Two) -> Page:
    """Return the page that gives one candidate, that of the least gap."""
    page = PAIRS[type(two.a), type(two.b)]
    if page in SEARCHED:
        return lambda a, X_a, b, X_b: convex_convex(a, X_a, b, X_b, fine=True)
    return lambda a, X_a, b, X_b: [reduce(_nearer, page(a, X_a, b, X_b))]


def _nearer(one: Candidate, other: Candidate) -> Candidate:
    first = one.gap <= other.gap
    point, normal = select(first, one.point, other.point), select(first, one.normal, other.normal)
    return Candidate(where(first, one.gap, other.gap), point, normal)


def _as_given(two: Two) -> Two:
    """Return two shapes as seen from A, B's pose held if their page is to pass no derivative on."""
    check_page(type(two.a), type(two.b))
    X_ab = two.X_ab
    return Two(two.a, SE3(), two.b, _held(X_ab) if _is_held(two.a, two.b) else X_ab)


def _is_held(a: Geometry, b: Geometry) -> bool:
    return PAIRS.get((type(a), type(b)), PAIRS.get((type(b), type(a)))) in HELD


def _held(X: SE3) -> SE3:
    """Return a pose that is the same and has no derivative."""
    return SE3(Matrix3([[hold(e) for e in row] for row in X.rotation]), Vector3(*map(hold, X.translation)))


def hold(x: Scalar) -> Scalar:
    """Return a number as it is, with the derivative 0: as so many whole steps."""
    return floor(x * (1.0 / STEP)) * STEP


def _in_world(two: Two, given: Two, found: Candidate) -> Witness:
    """Return a witness whose points ride on their bodies: its distance has the right derivative."""
    X_a, n = two.X_a, found.normal
    opposite = found.point - n * found.gap
    on_a, on_b, normal = X_a @ found.point, X_a @ opposite, X_a.rotation @ n
    if not _is_held(two.a, two.b):
        return Witness(found.gap, normal, on_a, on_b)
    riding = two.X_ab @ given.X_b.inverse_act(opposite)
    return Witness(n.dot(found.point - riding), normal, on_a, X_a @ riding)
