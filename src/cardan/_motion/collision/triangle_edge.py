"""A convex shape on a straight edge between two faces: the direction of the greatest separation between their normals.

Seen along the edge, the shape is a convex outline and the edge a point, the origin. For unit vectors n of the arc from
one face's normal to the other one's, the separation is

    s(n) = min over the outline of n . y

Let a be the point of the outline that is the lowest along the first n of an arc, and b that along its last. The normal
n of their chord is in the arc. If no point is lower along n, the chord is a side of the outline. Else w is the lowest,
and s grows towards the last where w . (along x n) > 0: there w takes the place of a, else that of b.

If the foot of the origin is on the side that is left, n is its normal. Else the nearer of a and b is the nearest. Where
that is behind the side, the nearest of all is out of the arc, or the shape overlaps the edge.

Source: the separation of a point from a polygon, made here of the support points of Ericson, Real-Time Collision
Detection (2005), section 9.5.2.
Cost: a support point and 60 operations for each point of the outline that is tried: one or two, mostly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import repeat_while, when
from cardan._algebra.scalar import absolute, clip, logical_and, logical_not, logical_or, maximum, where
from cardan._algebra.spatial import Scalar, Vector3
from cardan._motion.collision.candidate import FAR, in_precision, length_and_direction, select

PASSES = 60
ROUNDING = 1e-12, 1e-6  # of the size, in double and single precision: by how much a point counts as lower


class OnEdge(NamedTuple):
    """Where a shape is nearest to an edge."""

    gap: Scalar  # [m], more than the reach where that is known to be so
    n: Vector3  # unit vector from the edge to the shape
    point: Vector3  # of the shape, seen from the edge's middle [m]
    is_one: Any  # whether it is one point that is the lowest all along the arc
    is_known: Any  # not where the shape may overlap the edge with no side of its outline


def on_edge(
    lowest: Callable[[Vector3], Vector3],
    ends: tuple[Vector3, Vector3],
    along: Vector3,
    n: Vector3,
    size: Scalar,
    reach: Scalar,
) -> OnEdge:
    """Return where a shape is nearest to a straight line through the origin, on the arc between two vectors.

    `lowest(n)` is the point of the shape that is the lowest along n, and n is between both ends of the arc.
    """

    def further(a: Vector3, b: Vector3, n: Vector3, best: Scalar, _: Scalar) -> tuple[Any, ...]:
        _, n = length_and_direction(along.cross(b - a), n)
        w = lowest(n)
        best, towards_b = maximum(best, n.dot(w)), along.cross(n).dot(w) > 0.0
        is_over = logical_or(n.dot(a) - n.dot(w) <= slack, best > reach)
        a_moves, b_moves = (logical_and(own, logical_not(is_over)) for own in (towards_b, logical_not(towards_b)))
        return select(a_moves, w, a), select(b_moves, w, b), n, best, where(is_over, 1.0, 0.0)

    a, b = (lowest(end) for end in ends)
    slack = in_precision(a.x, *ROUNDING) * (size + sum(map(absolute, a), 0.0))
    best = reduce(maximum, (end.dot(own) * (1.0 / end.norm()) for end, own in zip(ends, (a, b), strict=True)))
    is_one = (b - a).norm_squared() <= 0.0
    begin = a, b, n, best, where(logical_or(is_one, best > reach), 1.0, 0.0)
    a, b, n, best, _ = repeat_while(PASSES, lambda *state: state[-1] < 0.5, further, *begin)
    before, behind = (along.cross(n).dot(end) for end in (a, b))
    is_on_side = logical_and(before >= 0.0, logical_and(behind <= 0.0, before > behind))
    point = a + (b - a) * clip(before / where(before > behind, before - behind, 1.0), 0.0, 1.0)
    way = point - along * point.dot(along)
    length, direction = length_and_direction(way, n)
    is_known = logical_or(is_on_side, way.dot(n) > 0.0)
    gap = where(is_on_side, n.dot(point), where(is_known, length, -length))
    # Behind the side, what is apart along any direction is nearest along one that is out of the arc.
    is_asked = logical_not(logical_or(is_known, best > 0.0))
    apart = when(is_asked, lambda: direction.dot(lowest(direction)), best)
    beyond = logical_and(logical_not(is_known), apart > slack)
    is_known = logical_and(is_known, gap >= best - slack)
    return OnEdge(where(beyond, FAR, maximum(gap, best)), select(is_on_side, n, direction), point, is_one, is_known)
