"""The distance of two shapes, the points that have it, and what becomes of it as their bodies move.

    d = n . (p_a - p_b)          n: the unit normal, which points from B to A; p_a, p_b: the nearest points, or the
                                 deepest ones where the shapes overlap and d < 0

As d is the least (or, of depths, the greatest) over points and directions, it does not change with these to first
order: its derivatives are those of n . (p_a - p_b) with n held, p_a held on A and p_b held on B. At a kink, where other
points or directions do as well, they are those of one of the sides.

A short page of closed form is differentiated as it is written. Where nearest points are searched for, what the search
is given has no derivative, so that no pass of it is differentiated. What it finds has those of `nearest_features`.

Source: Danskin, The theory of max-min (1967), for the derivative of a least value; the pages for the distances.
Cost: that of the page, or of the search; derivatives 200 operations for each pair that is searched for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from cardan._algebra.arrays.repeat import each, when
from cardan._algebra.scalar import held, logical_and, logical_or, minimum, where
from cardan._algebra.spatial import SE3, Matrix3, Scalar, Vector3
from cardan._motion.collision.bounds import may_meet
from cardan._motion.collision.box_box import box_box
from cardan._motion.collision.box_round import box_capsule
from cardan._motion.collision.candidate import FAR, Candidate, select
from cardan._motion.collision.convex import Witness, convex_convex
from cardan._motion.collision.flat_contact import flat_convex
from cardan._motion.collision.nearest_features import Local, features_at, nearest_features, witness_near
from cardan._motion.collision.round_shapes import capsule_capsule
from cardan._motion.collision.table import (
    PAIRS,
    Page,
    Two,
    check_page,
    in_order,
    is_in_order,
    kind_of,
    of_alike,
    of_sizes,
    points_of,
    sizes_of,
)

# Their candidates are made for contact: of boxes apart they may be farther in than the nearest points.
SEARCHED = (convex_convex, box_box, flat_convex)
LONG = (box_capsule, capsule_capsule)  # closed forms whose derivatives are longer than those of what is nearest


def witnesses(pairs: Sequence[Two]) -> list[Witness]:
    """Return for each pair its distance, normal and nearest points, in the world's axes."""
    ordered = [in_order(two) for two in pairs]
    is_searched = [PAIRS[type(two.a), type(two.b)] in (*SEARCHED, *LONG) for two, _ in ordered]
    own = [Two(two.a, SE3(), two.b, two.X_ab) for two, _ in ordered]
    known = iter(_searched([two for two, searched in zip(own, is_searched, strict=True) if searched]))
    listed = iter(
        points_of([two for two, searched in zip(own, is_searched, strict=True) if not searched], page_of=_nearest_page)
    )
    found = [next(known) if searched else _of_candidate(*next(listed)) for searched in is_searched]
    return [_in_world(*given, witness) for given, witness in zip(ordered, found, strict=True)]


def _searched(pairs: Sequence[Two]) -> list[Witness]:
    """Return witnesses that are searched for, in A's frame; the search itself has no derivative."""
    still = [Two(two.a, SE3(), two.b, _held(two.X_b)) for two in pairs]
    known = of_alike(still, lambda two, _: _features(two), [None] * len(pairs))
    return [_near(two, *found) for two, found in zip(pairs, known, strict=True)]


def _features(two: Two) -> tuple[Witness, Local]:
    if PAIRS[type(two.a), type(two.b)] not in LONG:
        return nearest_features(two.a, two.b, two.X_ab)
    (found,) = _nearest_page(two)(two.a, SE3(), two.b, two.X_ab)
    return features_at(two.a, two.b, two.X_ab, found)


def _near(two: Two, found: Witness, local: Local) -> Witness:
    """Return what was found, with its derivatives."""
    moved = witness_near(two.a, two.b, two.X_b, local)
    points = [Vector3(*map(held, *both)) for both in zip(found[1:], moved[1:], strict=True)]
    return Witness(held(found.gap, moved.gap), *points)


def _of_candidate(candidate: Candidate) -> Witness:
    gap, point, normal = candidate
    return Witness(gap, normal, point, point - normal * gap)


def _in_world(two: Two, swapped: bool, found: Witness) -> Witness:
    """Return a witness in the world's axes, of two shapes in the order that was asked for."""
    X_a = two.X_a
    n, on_a, on_b = X_a.rotation @ found.n, X_a @ found.on_a, X_a @ found.on_b
    return Witness(found.gap, -n, on_b, on_a) if swapped else Witness(found.gap, n, on_a, on_b)


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
    return lambda a, X_a, b, X_b: [reduce(_nearer, page(a, X_a, b, X_b))]


def _nearer(one: Candidate, other: Candidate) -> Candidate:
    first = one.gap <= other.gap
    point, normal = select(first, one.point, other.point), select(first, one.normal, other.normal)
    return Candidate(where(first, one.gap, other.gap), point, normal)


def _held(X: SE3) -> SE3:
    """Return a pose that is the same and has no derivative."""
    return SE3(Matrix3([[held(e) for e in row] for row in X.rotation]), Vector3(*map(held, X.translation)))
