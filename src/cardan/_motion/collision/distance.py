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

from cardan._algebra.scalar import held
from cardan._algebra.spatial import SE3, Matrix3, Vector3
from cardan._motion.collision.box_box import box_box
from cardan._motion.collision.box_round import box_capsule
from cardan._motion.collision.candidate import Candidate, chosen
from cardan._motion.collision.convex import Witness, convex_convex
from cardan._motion.collision.flat_contact import flat_convex
from cardan._motion.collision.nearest_features import Local, features_at, nearest_features, smooth_convex, witness_near
from cardan._motion.collision.nearest_triangle import nearest_triangle
from cardan._motion.collision.on_triangles import on_triangles
from cardan._motion.collision.round_shapes import capsule_capsule
from cardan._motion.collision.table import (
    PAIRS,
    Page,
    Two,
    in_order,
    in_unit,
    of_alike,
    points_of,
    unit_of,
)
from cardan._robot.geometry.shapes import TriangleMesh

# Their candidates are made for contact: where edges of boxes cross beside a face, they may be farther apart than these.
SEARCHED = (convex_convex, box_box, flat_convex, smooth_convex)
LONG = (box_capsule, capsule_capsule)  # closed forms whose derivatives are longer than those of what is nearest


def witnesses(pairs: Sequence[Two]) -> list[Witness]:
    """Return for each pair its distance, normal and nearest points, in the world's axes."""
    ordered = [in_order(two) for two in pairs]
    pages = [PAIRS[type(two.a), type(two.b)] for two, _ in ordered]
    searched = [k for k, page in enumerate(pages) if page in (*SEARCHED, *LONG, on_triangles)]
    listed = [k for k in range(len(pairs)) if k not in set(searched)]
    units = [unit_of(two) for two in pairs]
    own = [seen_from_a(two, unit) for (two, _), unit in zip(ordered, units, strict=True)]
    known = of_alike([_still(own[k]) for k in searched], lambda two, _: _features(two), [None] * len(searched))
    found = {k: _near(own[k], *local) for k, local in zip(searched, known, strict=True)}
    candidates = points_of([own[k] for k in listed], page_of=nearest_page)
    found |= {k: _of_candidate(candidate) for k, (candidate,) in zip(listed, candidates, strict=True)}
    return [_in_world(*given, found[k], units[k]) for k, given in enumerate(ordered)]


def seen_from_a(two: Two, unit: float) -> Two:
    """Return two shapes in the frame of A, their lengths in a unit."""
    a, _, b, _ = own = in_unit(two, unit)
    return Two(a, SE3(), b, own.X_ab)


def _still(two: Two) -> Two:
    """Return two shapes, seen from A, whose poses have no derivative."""
    R, p = two.X_b
    return two._replace(X_b=SE3(Matrix3([[held(e) for e in row] for row in R]), Vector3(*map(held, p))))


def _features(two: Two) -> tuple[Witness, Local]:
    if isinstance(two.b, TriangleMesh):
        return nearest_features(two.a, nearest_triangle(two.a, two.X_ab, two.b), two.X_ab)
    if PAIRS[type(two.a), type(two.b)] not in LONG:
        return nearest_features(two.a, two.b, two.X_ab)
    (found,) = nearest_page(two)(two.a, SE3(), two.b, two.X_ab)
    return features_at(two.a, two.b, two.X_ab, found)


def _near(two: Two, found: Witness, local: Local) -> Witness:
    """Return what was found, with its derivatives."""
    moved = witness_near(two.a, two.b, two.X_b, local)
    points = [Vector3(*map(held, *both)) for both in zip(found[1:], moved[1:], strict=True)]
    return Witness(held(found.gap, moved.gap), *points)


def _of_candidate(candidate: Candidate) -> Witness:
    gap, point, normal = candidate
    return Witness(gap, normal, point, point - normal * gap)


def _in_world(two: Two, swapped: bool, found: Witness, unit: float) -> Witness:
    """Return a witness in the world's axes, of two shapes in the order that was asked for, from one in a unit."""
    X_a, gap = two.X_a, found.gap * unit
    n, on_a, on_b = X_a.rotation @ found.n, X_a @ (found.on_a * unit), X_a @ (found.on_b * unit)
    return Witness(gap, -n, on_b, on_a) if swapped else Witness(gap, n, on_a, on_b)


def nearest_page(two: Two) -> Page:
    """Return the page that gives one candidate, that of the least gap."""
    page = PAIRS[type(two.a), type(two.b)]

    def nearest(*two: Any) -> list[Candidate]:
        return [reduce(lambda one, other: chosen(one.gap <= other.gap, one, other), page(*two))]

    return nearest
