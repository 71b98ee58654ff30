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

from cardan._algebra.scalar import floor, logical_and, where
from cardan._algebra.spatial import SE3, Matrix3, Scalar, Vector3
from cardan._motion.collision.box_box import box_box
from cardan._motion.collision.box_round import box_capsule, box_sphere
from cardan._motion.collision.candidate import Candidate, select
from cardan._motion.collision.convex import Witness, convex_convex
from cardan._motion.collision.flat_contact import flat_convex
from cardan._motion.collision.table import PAIRS, Page, Two, check_page, points_of
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


def are_apart(pairs: Sequence[Two], margin: Scalar) -> Scalar:
    """Return whether all pairs are farther apart than a margin [m]; those whose bounds are cost nothing more."""

    def page_of(two: Two) -> Page:
        page = PAIRS[type(two.a), type(two.b)]
        if page in SEARCHED:
            return lambda a, X_a, b, X_b: convex_convex(a, X_a, b, X_b, margin)
        return _nearest_page(two)

    found = points_of(pairs, None, [margin] * len(pairs), page_of)
    return reduce(logical_and, (candidate.gap > margin for (candidate,) in found), True)


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
    kinds = type(a), type(b)
    return PAIRS.get(kinds, PAIRS.get(kinds[::-1])) in HELD


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
