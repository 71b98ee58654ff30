"""Any two convex shapes: the direction along which they are farthest apart, or least deep, by their support points.

Let C be the set of differences x = x_a - x_b of points of both shapes' cores. Along a unit vector n, from B to A,

    s(n) = min over C of n . x                  the separation along n; the gap is its greatest over all n

Apart, the greatest s is the distance of C from 0, and n points to its nearest point. Overlapping, 0 is in C; then

    q = (s(n) - d) n                            is outside of C, d > 0, and the direction n' from q to the nearest
                                                point of C has s(n') >= s(n)

since s(n') = n' . q + |v| with v from q to that point, |v| >= d and n' . q >= s(n) - d. So the same search, for the
point of C nearest to a point q, does both: q stays 0 while no pass finds 0 in C, and then follows the best n found.
Beside C it does so, too, where 0 is so near (`NEAR`) that s < d: as above, and v is long enough to say its direction.
It ends where the normal of the surface points to 0: the least depth there is nearby. Others may be less: so it begins
again from the directions of greatest separation among some all around (`starts`), and the best of all ends counts.
What hardly overlaps does so only if it is as little deep just behind an edge that is near (`_behind_edges`).
Where every depth counts, of hulls that are deep, a walk over all directions (`directions`) then proves that none is 1 %
less, or finds one that is, from which it begins again.
Boxes are least deep along a normal of a face or of two edges that cross (`_axes`): there it begins, and ends.

Every pass takes the point w of C that is least along n, and replaces the simplex of four points by the three that carry
its point nearest to q (`simplex`). What it returns is the best n of all passes: s(n) is a true separation, so that
shapes said to be apart are apart.

Source: Gilbert, Johnson and Keerthi, A fast procedure for computing the distance between complex objects (1988), for
the search; van den Bergen, Collision Detection in Interactive 3D Environments (2003), section 4.3, for its end. The
point q that moves is made here.
Cost: a pass is 780 operations and the support points of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import each, repeat_while, when
from cardan._algebra.scalar import absolute, logical_and, logical_not, logical_or, maximum, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.candidate import FAR, Candidate, X, Y, Z, chosen, in_precision, select
from cardan._motion.collision.directions import LESS, Walk, walked
from cardan._motion.collision.simplex import Vertex, carrying, combined, direction, encloses, nearest, unit
from cardan._motion.collision.support_points import CURVED, extent_of, middle_of, radius_of, support
from cardan._robot.geometry.shapes import Box, Capsule, Cone, Cylinder, Geometry, Hull

PASSES = 200
# Of the sizes, in double and single precision: what is rounding, and where a search has found its point.
TOLERANCE = 1e-14, 1e-6
REACHED = 1e-10, 3e-6
# How far outside of C the point q is: of the depth, and of the sizes.
OUTSIDE = 0.05, 0.01
NEAR = 0.003  # of the sizes: nearer to C than that, 0 is left for a point q. From 0, rounding would turn the way to C.
SHALLOW = 0.004  # of the sizes: the depth of what rests on something
# Less deep, another face of C is nearer only over an edge that meets it at an angle a: within cot(a / 2) of the depth.
BESIDE_EDGE = 2.0  # of the depth: of 1 900 000 pairs, none over which one was nearer was farther than 1.8, of slivers
# So C is looked at once, so far behind such an edge (the tangent of half that angle, of flat and curved shapes), ...
BEHIND_EDGE = 0.005, 0.03
NEARLY = 1.05  # ... and searched again if it is no deeper there than that, ...
GOES_ON = 0.9  # ... or is still so far along the normal: then it was an edge of the triangle alone.
DOUBTFUL = 1e-4  # of the sizes: the depth from which on that is asked
STARTS = 3
WALKS = 64  # at most: after each the depth is 1 % less
DEEP = 0.02  # of the sizes: less deep, 9 000 of 9 000 searches from these directions found the least
# Where it begins again: from the best of these, and the best of those that are more than 26 degrees away, ...
DIRECTIONS = [Vector3(*d) * (1.0 / math.hypot(*d)) for d in product((-1.0, 0.0, 1.0), repeat=3) if any(d)]
BESIDE = 0.9
BEHIND_END = 0.9999  # given up where a search from behind an edge comes within a degree of the best end, ...
BESIDE_END = 0.99  # ... and others within 8 degrees of it, and they are worse


class Witness(NamedTuple):
    """The gap of two shapes along n, and the points that have it, all in A's frame: gap = n . (on_a - on_b).

    Derivatives of the gap by poses are those of n . (on_a - on_b) with n, on_a held in A and on_b held in B.
    """

    gap: Scalar
    n: Vector3
    on_a: Vector3
    on_b: Vector3


class Search(NamedTuple):
    """What a pass leaves."""

    simplex: tuple[Vertex, ...]  # three points that carry the one of C nearest to q, and the newest
    weights: tuple[Scalar, ...]  # of the three
    q: Vector3
    inside: Scalar  # 1 if 0 was found in C, else 0
    n: Vector3  # the best direction so far
    separation: Scalar
    done: Scalar  # 1 if so, else 0

    @property
    def on_a(self) -> Vector3:
        """The point of A's core that is nearest."""
        return combined([vertex.on_a for vertex in self.simplex[:3]], self.weights)

    @property
    def nearest(self) -> Vector3:
        """The point of C that is nearest to q."""
        return combined([vertex.x for vertex in self.simplex[:3]], self.weights)

    @property
    def edges(self) -> list[tuple[Vector3, Scalar]]:
        """To which side of that each edge of its triangle is, across n, and how far."""
        a, b, c = (vertex.x for vertex in self.simplex[:3])
        found = []
        for weight, corner, here, there in zip(self.weights, (a, b, c), (b, c, a), (c, a, b), strict=True):
            side = unit((there - here).cross(self.n), X)
            height = side.dot(here - corner)
            found.append((side * where(height < 0.0, -1.0, 1.0), weight * absolute(height)))
        return found

    def is_beside(self, away: Scalar) -> Any:
        """Return whether an edge is so near, beside the depth, that the face behind it may be nearer."""
        return away < -BESIDE_EDGE * self.separation


def witness(
    a: Geometry, X_a: SE3, b: Geometry, X_b: SE3, enough: Scalar | None = None, reach: Scalar | None = None
) -> Witness:
    """Return the gap of two shapes, along which direction, and between which points.

    With `enough`, a gap on the same side of that is enough; with `reach`, a lower bound of a gap that is more.
    """
    X_ab = SE3(X_a.rotation.T @ X_b.rotation, X_a.inverse_act(X_b.translation))
    radii = radius_of(a) + radius_of(b)
    if enough is not None:
        found = search(a, b, X_ab, lambda own: _is_on_a_side(own, enough + radii), 0.0)
    elif reach is not None:
        found = search(a, b, X_ab, lambda own: own.separation > reach + radii)
    else:
        found = search(a, b, X_ab)
    gap, on_a = found.separation - radii, found.on_a - found.n * radius_of(a)
    return Witness(gap, found.n, on_a, on_a - found.n * gap)


def convex_convex(a: Geometry, X_a: SE3, b: Geometry, X_b: SE3, reach: Scalar | None = None) -> list[Candidate]:
    """Return the candidate of the least gap; `reach` as in `witness`."""
    gap, n, on_a, _ = witness(a, X_a, b, X_b, reach=reach)
    return [Candidate(gap, on_a, n)]


def search(
    a: Geometry,
    b: Geometry,
    X_ab: SE3,
    is_known: Callable[[Search], Any] | None = None,
    shallow: float = SHALLOW,
    reached: tuple[float, float] = REACHED,
) -> Search:
    """Return what the best search leaves.

    It ends once what is found says all that is to be known (`is_known`). Up to a depth `shallow`, of the sizes,
    the first that is found is taken for the least; if that is 0, no depth of a hull beyond `DEEP` is 1 % less.
    `reached` says where a search has found its point.
    """
    size = extent_of(a) + extent_of(b)
    # No entry is a plain number, so that batches of NumPy's keep their shape from pass to pass.
    zero = 0.0 * sum((*X_ab.rotation.entries(), *X_ab.translation), 0.0)
    nothing = Vector3(zero, zero, zero)

    def lowest(n: Vector3, on_a: Vector3 | None = None) -> Vertex:
        on_a = (support(a, -n) if on_a is None else on_a) + nothing
        return Vertex(on_a - X_ab @ support(b, X_ab.rotation.transpose_apply(n)), on_a)

    def improved(old: Search) -> Search:
        return ended(_improved(old, lowest, size, reached))

    def ended(found: Search) -> Search:
        return found if is_known is None else found._replace(done=where(is_known(found), 1.0, found.done))

    def searched(begin: Search) -> Search:
        return repeat_while(PASSES, lambda own: own.done < 0.5, improved, begin)

    def begun_at(n: Vector3, separation: Scalar, best: Search) -> Search:
        done = where(separation > -FAR, zero, 1.0)
        return best._replace(q=n * _beyond(separation, size), n=n, separation=separation, done=done)

    def begins(best: Search) -> list[tuple[Vector3, Scalar]]:
        is_deep, over = is_open(best, shallow), none[0]
        if shallow:
            is_flat = CURVED.isdisjoint((type(a), type(b)))
            over = when(logical_not(is_deep), lambda: _behind_edges(best, lowest, is_flat), over)
        is_worth = logical_or(is_deep, over[1] > -FAR)
        return [over, *when(is_worth, lambda: _starts(a, best.n, lowest), none[1:])]

    def again(k: Scalar, starts: Any, best: Search) -> Any:
        starts = when(logical_and(k > 0.5, k < 1.5), lambda: begins(best), starts)
        (n, separation), *others = starts
        begun = chosen(k < 0.5, best, begun_at(n, separation, best))

        def goes_on(own: Search) -> Any:
            apart = own.n.dot(best.n) < where(k < 1.5, BEHIND_END, BESIDE_END)
            elsewhere = logical_or(own.separation > best.separation, apart)
            return logical_and(own.done < 0.5, logical_or(k < 0.5, elsewhere))

        found = repeat_while(PASSES, goes_on, improved, begun)
        is_better = logical_or(k < 0.5, found.separation > best.separation)
        return k + 1.0, [*others, starts[0]], chosen(is_better, found, best)

    def is_open(best: Search, depth: float) -> Any:
        is_deep = best.separation < -depth * size
        return is_deep if is_known is None else logical_and(is_deep, logical_not(is_known(best)))

    def going(k: Scalar, starts: Any, best: Search) -> Any:
        is_doubtful = reduce(logical_or, (best.is_beside(away) for _, away in best.edges))
        is_doubtful = logical_and(is_doubtful, logical_or(k < 1.5, starts[-1][1] > -FAR))
        is_unknown = logical_or(is_open(best, shallow), logical_and(is_open(best, DOUBTFUL), is_doubtful))
        return logical_or(k < 0.5, logical_and(is_unknown, k <= 1.0 + STARTS))

    towards = middle_of(a) - X_ab @ middle_of(b) + nothing
    n, first = _first([unit(towards, X), *_axes(a, b, X_ab, towards)], lowest)
    n, first = n + nothing, Vertex(*(v + nothing for v in first))
    begin = ended(Search((first,) * 4, (zero + 1.0, zero, zero), nothing, zero, n, n.dot(first.x), zero))
    if isinstance(a, Box) and isinstance(b, Box):  # that direction is the best of all
        return searched(begin)
    none = [(nothing, zero - FAR)] * (1 + STARTS)
    best = repeat_while(2 + STARTS, going, again, zero, none, begin)[2]
    if shallow or not any(isinstance(shape, Hull) for shape in (a, b)):
        return best

    def walking(walk: Walk, best: Search) -> Any:
        return logical_and(is_open(best, DEEP), walk.goes_on)

    def further(walk: Walk, best: Search) -> Any:
        walk = walked(walk, best.separation, best.nearest, lambda n: lowest(n).x)
        begun = begun_at(unit(walk.middle(), X), best.separation * LESS, best)
        found = searched(begun._replace(done=1.0 - walk.is_better))
        is_better = logical_and(walk.is_better > 0.5, found.separation > best.separation)
        return walk, chosen(is_better, found, best)

    return repeat_while(WALKS, walking, further, Walk.begin(zero), best)[1]


def _is_on_a_side(found: Search, enough: Scalar) -> Any:
    """Return whether it is known on which side of it the separation is."""
    less = logical_and(found.inside > 0.5, enough >= 0.0)
    return logical_or(less, found.separation > enough)


def _first(directions: list[Vector3], lowest: Callable[[Vector3], Vertex]) -> tuple[Vector3, Vertex]:
    """Return the direction of greatest separation, and the point of C that is least along it."""
    best, *others = ((n, lowest(n)) for n in directions)
    for n, vertex in others:
        better = n.dot(vertex.x) > best[0].dot(best[1].x)
        best = chosen(better, (n, vertex), best)
    return best


def _axes(a: Geometry, b: Geometry, X_ab: SE3, towards: Vector3) -> list[Vector3]:
    """Return the normals of flat ends and of crossing lines, towards A: thin shapes part along these, boxes always."""
    normals: list[Vector3] = []
    lines: list[Sequence[Vector3]] = []
    for shape, axes in ((a, (X, Y, Z)), (b, tuple(X_ab.rotation.columns()))):
        normals += {Box: axes, Cylinder: axes[2:], Cone: axes[2:]}.get(type(shape), ())
        lines.append({Box: axes, Cylinder: axes[2:], Capsule: axes[2:]}.get(type(shape), ()))
    normals += [unit(e.cross(f), X) for e, f in product(*lines)]
    return [n * where(n.dot(towards) < 0.0, -1.0, 1.0) for n in normals]


def _starts(a: Geometry, n: Vector3, lowest: Callable[..., Vertex]) -> list[tuple[Vector3, Scalar]]:
    """Return directions of great separation, one beside the other, and how great it is."""
    points = [support(a, -d) for d in DIRECTIONS]
    separations = each(lambda d, on_a: d.dot(lowest(d, on_a).x), DIRECTIONS, points)
    found = []
    for _ in range(STARTS):
        separations = [where(n.dot(d) > BESIDE, -FAR, s) for s, d in zip(separations, DIRECTIONS, strict=True)]
        best, n = separations[0], DIRECTIONS[0]
        for separation, d in zip(separations[1:], DIRECTIONS[1:], strict=True):
            better = separation > best
            best, n = where(better, separation, best), select(better, d, n)
        found.append((n, best))
    return found


def _behind_edges(best: Search, lowest: Callable[..., Vertex], is_flat: bool) -> tuple[Vector3, Scalar]:
    """Return of the directions just over edges the one of least depth; -FAR if no face behind them may be nearer."""
    n, least, tilt = best.n, best.separation, BEHIND_EDGE[0] if is_flat else BEHIND_EDGE[1]
    farther = 1.01 / where(least < 0.0, -least, 1.0)
    corners = (vertex.x - best.nearest for vertex in best.simplex[: 3 if is_flat else 0])
    at_corner = reduce(logical_or, (best.is_beside(way.norm()) for way in corners), False)

    def behind(side: Vector3, away: Scalar) -> tuple[Vector3, Scalar]:
        t = tilt + away * farther  # the tangent of half the angle: from away / depth on, the edge is less deep
        d = (n * (1.0 - t * t) - side * (2.0 * t)) * (1.0 / (1.0 + t * t))
        w = lowest(d).x
        separation = d.dot(w)
        may_be = reduce(logical_or, (separation > NEARLY * least, n.dot(w) < GOES_ON * least, at_corner))
        return d, where(logical_and(best.is_beside(away), may_be), separation, -FAR)

    found = each(behind, *zip(*best.edges, strict=True))
    return reduce(lambda one, other: chosen(other[1] > one[1], other, one), found)


def _improved(
    old: Search, lowest: Callable[[Vector3], Vertex], size: Scalar, reached_at: tuple[float, float]
) -> Search:
    """Return a search after one pass."""
    tolerance = in_precision(old.separation, *TOLERANCE) * size
    enough = in_precision(old.separation, *reached_at) * size
    relative = [vertex.x - old.q for vertex in old.simplex]
    found, is_around = nearest(relative), encloses(relative, tolerance)
    kept, weights = carrying(old.simplex, found.weights)
    y = [vertex.x - old.q for vertex in kept]
    v = combined(y, weights)
    n = direction(y, weights, v, old.n)
    n = select(is_around, -n, n)
    w = lowest(n)
    separation = n.dot(w.x)
    best = maximum(separation, old.separation)
    best_n = select(separation > old.separation, n, old.n)
    has_moved = old.q.norm_squared() > 0.0
    at_zero = logical_or(is_around, found.squared < tolerance * tolerance)
    inside = logical_or(old.inside > 0.5, logical_and(at_zero, logical_not(has_moved)))
    is_near = logical_or(at_zero, found.squared < (NEAR * size) * (NEAR * size))
    moves = logical_or(
        logical_and(is_near, logical_not(has_moved)),
        logical_and(has_moved, separation > old.separation + tolerance),
    )
    # No point of C is nearer to q than w along n: where v is no farther, it is the nearest.
    reached = n.dot(w.x - old.q) >= n.dot(v) - enough
    return Search(
        (*kept, w),
        tuple(weights),
        select(moves, best_n * _beyond(best, size), old.q),
        where(inside, 1.0, 0.0),
        best_n,
        best,
        where(logical_and(reached, logical_not(moves)), 1.0, 0.0),
    )


def _beyond(separation: Scalar, size: Scalar) -> Scalar:
    """Return how far along the best direction the point q is."""
    return separation - (OUTSIDE[0] * absolute(separation) + OUTSIDE[1] * size)
