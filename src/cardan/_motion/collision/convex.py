"""Any two convex shapes: the direction along which they are farthest apart, or least deep, by their support points.

Let C be the set of differences x = x_a - x_b of points of both shapes' cores. Along a unit vector n, from B to A,

    s(n) = min over C of n . x                  the separation along n; the gap is its greatest over all n

Apart, the greatest s is the distance of C from 0, and n points to its nearest point. Overlapping, 0 is in C; then

    q = (s(n) - d) n                            is outside of C, d > 0, and the direction n' from q to the nearest
                                                point of C has s(n') >= s(n)

since s(n') = n' . q + |v| with v from q to that point, |v| >= d and n' . q >= s(n) - d. So the same search, for the
point of C nearest to a point q, does both: q stays 0 while no pass finds 0 in C, and then follows the best n found. It
ends where the normal of the surface points to 0: the least depth there is nearby. From there q tries four sides of n,
as long as passes last: a face beside an edge may be less deep.

Every pass takes the point w of C that is least along n, and replaces the simplex of four points by the three that carry
its point nearest to q. What it returns is the best n of all passes: s(n) is a true separation, so that shapes said to
be apart are apart.

Source: Gilbert, Johnson and Keerthi, A fast procedure for computing the distance between complex objects (1988), for
the search; Ericson, Real-Time Collision Detection (2005), sections 5.1.2 to 5.1.6, for the simplex; van den Bergen,
Collision Detection in Interactive 3D Environments (2003), section 4.3, for its end. The point q that
moves is made here.
Cost: a pass is 780 operations and the support points of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import repeat_while
from cardan._algebra.scalar import absolute, clip, logical_and, logical_not, logical_or, maximum, minimum, sqrt, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.candidate import Candidate, X, Y, Z, in_precision, select
from cardan._motion.collision.support_points import extent_of, middle_of, radius_of, support
from cardan._robot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Sphere

PASSES = 28
ROUND_PASSES = 20  # of a core that is a point or a line: its radius bears most overlaps, so that cores are apart
# Of the sizes, in double and single precision: what is rounding, and where a search has found its point.
TOLERANCE = 1e-14, 1e-6
REACHED = 1e-10, 3e-6
# For derivatives of curved shapes: a normal is as exact as the root of the gap's error, and takes more passes.
FINE_PASSES = 48
FINE = 1e-15, 3e-6
CURVED = Cylinder, Ellipsoid
TRIES = 4  # of other directions, once a least depth is found
ASIDE = math.cos(0.8), math.sin(0.8)  # how far they are turned away
# How far outside of C the point q is: of the depth, and of the sizes.
OUTSIDE = 0.05, 0.01
ALIGNED = 1e-6  # squared sine between q and n below which q is not aside
SMALL = 1e-60  # a square that is only a divisor's guard
THIN = 1e-20, 1e-11  # squared sine of a triangle's angle below which its edges do for it


class Vertex(NamedTuple):
    """A point of C: x = x_a - x_b, and x_a, both in A's frame."""

    x: Vector3
    on_a: Vector3


class Witness(NamedTuple):
    """The gap of two shapes along n, and the points that have it, all in A's frame: gap = n . (on_a - on_b).

    Derivatives of the gap by poses are those of n . (on_a - on_b) with n, on_a held in A and on_b held in B.
    """

    gap: Scalar
    n: Vector3
    on_a: Vector3
    on_b: Vector3


class Nearest(NamedTuple):
    """The point nearest to 0 of a tetrahedron: its square, and the weights of the corners that carry it."""

    squared: Scalar
    weights: tuple[Scalar, ...]


class Search(NamedTuple):
    """What a pass leaves: the simplex, q and whether 0 was found in C, and the best direction so far."""

    simplex: tuple[Vertex, ...]
    q: Vector3
    inside: Scalar  # 1 if so, else 0
    n: Vector3
    separation: Scalar
    on_a: Vector3
    tries: Scalar  # of other directions
    done: Scalar  # 1 if so, else 0


def witness(a: Geometry, X_a: SE3, b: Geometry, X_b: SE3, enough: Scalar | None = None, fine: bool = False) -> Witness:
    """Return the gap of two shapes, along which direction, and between which points; as in `search`."""
    X_ab = SE3(X_a.rotation.T @ X_b.rotation, X_a.inverse_act(X_b.translation))
    radii = radius_of(a) + radius_of(b)
    found = search(a, b, X_ab, None if enough is None else enough + radii, fine)
    gap, on_a = found.separation - radii, found.on_a - found.n * radius_of(a)
    return Witness(gap, found.n, on_a, on_a - found.n * gap)


def convex_convex(
    a: Geometry, X_a: SE3, b: Geometry, X_b: SE3, enough: Scalar | None = None, fine: bool = False
) -> list[Candidate]:
    """Return the candidate of the least gap; `enough` and `fine` as in `search`."""
    gap, n, on_a, _ = witness(a, X_a, b, X_b, enough, fine)
    return [Candidate(gap, on_a, n)]


def search(a: Geometry, b: Geometry, X_ab: SE3, enough: Scalar | None = None, fine: bool = False) -> Search:
    """Return what the passes leave.

    With `enough` they end as soon as they know on which side of it the separation is. `fine` is for derivatives.
    """
    fine = fine and isinstance(a, CURVED) | isinstance(b, CURVED)
    size = extent_of(a) + extent_of(b)
    # No entry is a plain number, so that batches of NumPy's keep their shape from pass to pass.
    zero = 0.0 * sum((*X_ab.rotation.entries(), *X_ab.translation), 0.0)

    def lowest(n: Vector3) -> Vertex:
        on_a = support(a, -n) + Vector3(zero, zero, zero)
        return Vertex(on_a - X_ab @ support(b, X_ab.rotation.transpose_apply(n)), on_a)

    towards = middle_of(a) - X_ab @ middle_of(b) + Vector3(zero, zero, zero)
    n, first = _first([_unit(towards, X), *_axes(a, b, X_ab, towards)], lowest)
    n, first = n + Vector3(zero, zero, zero), Vertex(*(v + Vector3(zero, zero, zero) for v in first))
    start = Search((first,) * 4, Vector3(zero, zero, zero), zero, n, n.dot(first.x), first.on_a, zero, zero)

    def improved(*state: Any) -> Search:
        old = Search(*state)
        new = _improved(old, lowest, size, FINE if fine else REACHED)
        if enough is not None:
            less = logical_and(new.inside > 0.5, enough >= 0.0)
            known = logical_or(less, new.separation > enough)
            new = new._replace(done=where(known, 1.0, new.done))
        return new

    is_round = not {Sphere, Capsule}.isdisjoint((type(a), type(b)))
    passes = FINE_PASSES if fine else ROUND_PASSES if is_round else PASSES
    return Search(*repeat_while(passes, lambda *state: Search(*state).done < 0.5, improved, *start))


def _first(directions: list[Vector3], lowest: Callable[[Vector3], Vertex]) -> tuple[Vector3, Vertex]:
    """Return the direction of greatest separation, and the point of C that is least along it."""
    best, *others = ((n, lowest(n)) for n in directions)
    for n, vertex in others:
        better = n.dot(vertex.x) > best[0].dot(best[1].x)
        best = _held(better, (n, vertex), best)
    return best


def _axes(a: Geometry, b: Geometry, X_ab: SE3, towards: Vector3) -> list[Vector3]:
    """Return the normals of flat ends, towards A: thin cylinders and boxes part along these."""
    normals: list[Vector3] = []
    for shape, axes in ((a, (X, Y, Z)), (b, tuple(X_ab.rotation.columns()))):
        normals += {Box: axes, Cylinder: axes[2:]}.get(type(shape), ())
    return [n * where(n.dot(towards) < 0.0, -1.0, 1.0) for n in normals]


def _improved(
    old: Search, lowest: Callable[[Vector3], Vertex], size: Scalar, reached_at: tuple[float, float]
) -> Search:
    """Return a search after one pass."""
    tolerance = in_precision(old.separation, *TOLERANCE) * size
    relative = [vertex.x - old.q for vertex in old.simplex]
    nearest = _nearest(relative)
    encloses = _encloses(relative, tolerance)
    kept, weights = _carrying(old.simplex, nearest.weights)
    v, on_a = (_combined(points, weights) for points in zip(*kept, strict=True))
    v = v - old.q
    n = _direction([vertex.x - old.q for vertex in kept], weights, v, old.n)
    n = select(encloses, -n, n)
    w = lowest(n)
    separation = n.dot(w.x)
    better, enough = separation > old.separation, in_precision(old.separation, *reached_at) * size
    best, best_n = maximum(separation, old.separation), select(better, n, old.n)
    within, was_inside = logical_or(encloses, nearest.squared < tolerance * tolerance), old.inside > 0.5
    inside = logical_or(was_inside, within)
    fails = logical_and(old.tries > 0.5, within)  # that direction is deeper than the best
    ahead = separation > old.separation + tolerance
    moves = logical_and(logical_and(inside, logical_or(ahead, logical_not(was_inside))), logical_not(fails))
    # No point of C is nearer to q than w along n: where v is no farther, it is the nearest.
    reached = n.dot(w.x - old.q) >= n.dot(v) - enough
    ends = logical_or(fails, logical_and(reached, logical_not(moves)))
    turns = logical_and(logical_and(ends, inside), old.tries < TRIES - 0.5)
    # The best n may be found before the points that have it: not those that are nearest to a q aside.
    along = best_n.dot(old.q)
    aligned = along * along >= (1.0 - ALIGNED) * old.q.norm_squared()
    faithful = logical_and(separation > old.separation - enough, aligned)
    beyond = best - (OUTSIDE[0] * absolute(best) + OUTSIDE[1] * size)
    q = select(moves, best_n * beyond, select(turns, _aside(best_n, old.tries) * beyond, old.q))
    return Search(
        (*kept, w),
        q,
        where(inside, 1.0, 0.0),
        best_n,
        best,
        select(logical_or(ahead, faithful), on_a, old.on_a),
        old.tries + where(turns, 1.0, 0.0),
        where(logical_and(ends, logical_not(turns)), 1.0, 0.0),
    )


def _aside(n: Vector3, tries: Scalar) -> Vector3:
    """Return a direction beside n, on another side in each try."""
    u = _unit(n.cross(select(absolute(n.z) < 0.7, Z, X)), Y)
    side = select(logical_or(tries < 0.5, logical_and(tries > 1.5, tries < 2.5)), u, n.cross(u))
    return n * ASIDE[0] + side * where(tries < 1.5, ASIDE[1], -ASIDE[1])


def _held(condition: Any, old: Any, new: Any) -> Any:
    """Return the old where the condition holds: of a scalar, or of each part of what has parts."""
    if isinstance(old, tuple):
        parts = [_held(condition, *both) for both in zip(old, new, strict=True)]
        return tuple.__new__(type(old), parts)
    return where(condition, old, new)


def _unit(d: Vector3, otherwise: Vector3) -> Vector3:
    squared = d.norm_squared()
    there = squared > SMALL
    return select(there, d * (1.0 / sqrt(where(there, squared, 1.0))), otherwise)


def _combined(points: Any, weights: Any) -> Vector3:
    return reduce(Vector3.__add__, (point * weight for point, weight in zip(points, weights, strict=True)))


# --- the simplex ----------------------------------------------------------------------------------------------------


def _nearest(y: list[Vector3]) -> Nearest:
    """Return the point nearest to 0 of a tetrahedron's surface: of its edges and faces at the newest corner, the last.

    The others were looked at in passes before.
    """
    *_, w = y
    to_w = [w - e for e in y[:3]]
    squares = [e.norm_squared() for e in to_w]
    found = []
    for k in range(3):
        t = clip(-y[k].dot(to_w[k]) / where(squares[k] > SMALL, squares[k], 1.0), 0.0, 1.0)
        found.append((True, (y[k] + to_w[k] * t).norm_squared(), _weights({k: 1.0 - t, 3: t})))
    thin = in_precision(w.x, *THIN)
    for j, k in ((0, 1), (1, 2), (2, 0)):
        m = to_w[j].cross(to_w[k])
        mm, height = m.norm_squared(), m.dot(w)
        wide = logical_and(mm > thin * squares[j] * squares[k], mm > SMALL)
        inverse = 1.0 / where(wide, mm, 1.0)
        across = m.cross(w) * inverse
        s, t = across.dot(to_w[k]), -across.dot(to_w[j])
        within = logical_and(logical_and(s > 0.0, t > 0.0), logical_and(s + t < 1.0, wide))
        found.append((within, height * height * inverse, _weights({j: s, k: t, 3: 1.0 - s - t})))
    (_, squared, weights), *others = found
    best = Nearest(squared, weights)
    for exists, squared, weights in others:
        better = logical_and(exists, squared < best.squared)
        best = _held(better, Nearest(squared, weights), best)
    return best


def _weights(of: dict[int, Scalar]) -> tuple[Scalar, ...]:
    return tuple(of.get(k, 0.0) for k in range(4))


def _encloses(y: list[Vector3], tolerance: Scalar) -> Any:
    """Return whether 0 is within a tetrahedron that has a volume: the four parts about it are of one sign."""
    a, b, c, w = y
    cw, ab = c.cross(w), a.cross(b)
    parts = b.dot(cw), -a.dot(cw), w.dot(ab), -c.dot(ab)
    total = sum(parts[1:], parts[0])
    sign = where(total < 0.0, -1.0, 1.0)
    least = reduce(minimum, (part * sign for part in parts))
    longest = reduce(maximum, (e.norm_squared() for e in y))
    return logical_and(least > 0.0, total * sign > 10.0 * tolerance * longest)


def _carrying(simplex: tuple[Vertex, ...], weights: tuple[Scalar, ...]) -> tuple[list[Vertex], list[Scalar]]:
    """Return three points of four without the one of least weight, the newest first; of equal ones the oldest goes."""
    *old, w = simplex
    *of_old, of_w = weights
    la, lb, lc = of_old
    drops_w = of_w <= 0.0
    drops_c = logical_and(lc <= la, lc <= lb)
    drops_a = logical_and(logical_not(drops_c), la < lb)
    pairs = [(*vertex, weight) for vertex, weight in zip((*old, w), (*of_old, of_w), strict=True)]
    a, b, c, new = pairs
    one = _held(drops_w, a, new)
    two = _held(drops_w, b, _held(drops_a, b, a))
    three = _held(drops_w, c, _held(drops_c, b, c))
    three_points = [one, two, three]
    return [Vertex(x, on_a) for x, on_a, _ in three_points], [weight for *_, weight in three_points]


def _direction(y: list[Vector3], weights: list[Scalar], v: Vector3, last: Vector3) -> Vector3:
    """Return the direction of v: that of the triangle's normal, where it is known better than v itself."""
    e, f = y[1] - y[0], y[2] - y[0]
    m = e.cross(f)
    ee, ff, mm, vv = e.norm_squared(), f.norm_squared(), m.norm_squared(), v.norm_squared()
    # Rounding turns v by its part of |v|, and m by that part of the triangle's height.
    within = reduce(minimum, weights) > 0.0
    flat = logical_and(within, mm > vv * maximum(ee, ff))
    m = m * where(m.dot(v) < 0.0, -1.0, 1.0)
    return _unit(select(flat, m, v), last)
