"""Where two convex shapes are nearest, to rounding, and how that changes as they move: by what is nearest of each.

Along -n and n the shapes A and B have support points p_a and p_b. A corner is one for many n. On a curved surface they
move as n turns, by K = dp/dn (`bend`). Along an edge, in a face, and along a straight line of a curved surface a shape
has many: it goes on along e, one direction or two (`goes_on`). With x = p_a - p_b the distance d and n satisfy

    x + sum tau e = d n           e . n = 0                       tau: how far along e the nearest point is

Let n turn by delta, across n. With r = x across n, H = K_a + K_b + d, e~ across n so that e~ . e = 1 and 0 for the
other e, and M = t (t . H t)^-1 t for the t across all e (all of H^-1, one line, or nothing), Newton's step is

    delta = delta_e + M (r - H delta_e)           delta_e = -sum (e . n) e~

It converges quadratically from what the search found. Points stay where they were found along edges and in faces, as
others may be as near. What is nearest is settled on the way: a point that went beyond an edge is on it next, and what n
does not press against an edge leaves it. If the separation along n is then less than that which was found, the step is
not used: shapes that touch in more than one way.

As A and B move, what was nearest goes with them. Let r be the way from B's point to A's, across the n that goes with A,
and beta how far the n that goes with B is turned from that. The same conditions say how n turns, and to second order

    delta = M r + N beta                N = P_b + M (K_b - H P_b),   P_b = sum of e~ e over those e that are B's
    d = n . x + delta . r - (delta . (K_a + d) delta + (delta - beta) . K_b (delta - beta)) / 2

So x, r and beta are all that depends on the motion, and the rest is numbers of the pose that is looked at (`Local`).
First and second derivatives of d, and first ones of n and of the nearest points, are those of these lines.

Source: Montana, The kinematics of contact and grasp (1988), for contact that rolls; Newton's method on the conditions
of Karush, Kuhn and Tucker; made here of them.
Cost: 400 operations and the support points of both for a step; 200 for the distance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import repeat, when
from cardan._algebra.scalar import clip, logical_and, logical_not, maximum, where
from cardan._algebra.spatial import SE3, Matrix3, Scalar, Vector3
from cardan._motion.collision.candidate import NOWHERE, Candidate, chosen, in_precision, select
from cardan._motion.collision.convex import REACHED, TOLERANCE, Search, Witness, search
from cardan._motion.collision.simplex import SMALL, unit
from cardan._motion.collision.support_points import CURVED, SURFACES, Triangle, extent_of, radius_of, support
from cardan._robot.geometry.shapes import Geometry, Hull, Sphere
from cardan._robot.geometry.support import box_about

CONTACT_STEPS = 2  # from a search that ended `ROUGHLY`, for contact
STEPS = 6  # of Newton's, where a surface is curved; between corners one is exact
SETTLED = 1e-3  # of the sizes: how far beside the edge or face that it is on a nearest point may be
ROUGHLY = 1e-8, 3e-7  # where a search among curved surfaces ends, of the sizes, in double and single precision
OBLIQUE = 1e-12  # squared sine of two directions below which they are one
# Of corners that carry the nearest point the least weight, and how far they are apart, of the sizes.
CARRIES = 1e-7, 1e-3


class Local(NamedTuple):
    """The distance of two shapes' cores near a pose, in A's frame."""

    n: Vector3
    n_b: Vector3  # in B's frame
    on_a: Vector3
    on_b: Vector3  # in B's frame
    M: Matrix3
    N: Matrix3
    K_a: Matrix3
    K_b: Matrix3
    slides: Matrix3  # what A's nearest point moves along its own e, of the way that it must


def nearest_features(a: Geometry, b: Geometry, X_ab: SE3) -> tuple[Witness, Local]:
    """Return where two shapes are nearest, and how that changes."""
    kinds = {type(a), type(b)}
    is_curved = not CURVED.isdisjoint(kinds)
    # steps settle what is nearest of a curved surface, but not of corners that a search found
    settles = is_curved and kinds.isdisjoint((Hull, Triangle))
    steps, reached = STEPS if is_curved else 1, ROUGHLY if settles else REACHED
    return _to_rounding(a, b, X_ab, search(a, b, X_ab, shallow=0.0, reached=reached), steps)


def smooth_convex(a: Geometry, X_a: SE3, b: Geometry, X_b: SE3, reach: Scalar | None = None) -> list[Candidate]:
    """Return the candidate of an ellipsoid and another shape, to rounding; none of what is farther than a reach."""
    X_ab = SE3(X_a.rotation.T @ X_b.rotation, X_a.inverse_act(X_b.translation))

    def is_far(found: Search) -> Any:
        return False if reach is None else found.separation > reach + (radius_of(a) + radius_of(b))

    def nearest() -> Candidate:
        gap, n, on_a, _ = _to_rounding(a, b, X_ab, found, CONTACT_STEPS)[0]
        return Candidate(gap, on_a, n)

    found = search(a, b, X_ab, None if reach is None else is_far, reached=ROUGHLY)
    return [nearest() if reach is None else when(logical_not(is_far(found)), nearest, NOWHERE)]


def _to_rounding(a: Geometry, b: Geometry, X_ab: SE3, found: Search, steps: int) -> tuple[Witness, Local]:
    """Return where two shapes are nearest, by steps of Newton's from what a search found."""
    A, B = _sides(a, b, X_ab, [v.on_a for v in found.simplex[:3]], [v.x for v in found.simplex[:3]], found.weights)

    def step(n: Vector3, on_a: Vector3, on_b: Vector3) -> tuple[Vector3, Vector3, Vector3]:
        c = _conditions(A, B, n, on_a, on_b)
        return unit(n + c.delta, n), c.on_a, c.on_b

    begin = found.n, found.on_a, found.on_a - found.nearest
    n, on_a, on_b = repeat(steps, step, *begin)
    separation = n.dot(support(a, -n) - X_ab @ support(b, X_ab.rotation.transpose_apply(n)))
    tolerance = in_precision(found.separation, *TOLERANCE) * (extent_of(a) + extent_of(b))
    used = separation >= found.separation - tolerance
    n, on_a, on_b, separation = chosen(used, (n, on_a, on_b, separation), (*begin, found.separation))
    c = _conditions(A, B, n, on_a, on_b)
    off = [(side.at(n, p)[0] - p).norm_squared() for side, p in ((A, c.on_a), (B, c.on_a - n * separation))]
    used = logical_and(used, reduce(maximum, off) < (SETTLED * (extent_of(a) + extent_of(b))) ** 2)
    on_a, matrices = chosen(used, (c.on_a, c.matrices), (found.on_a, (Matrix3.zero(),) * len(c.matrices)))
    return _known(a, b, X_ab, n, on_a, separation, matrices)


def features_at(a: Geometry, b: Geometry, X_ab: SE3, found: Candidate) -> tuple[Witness, Local]:
    """Return the same where the nearest points are known, of shapes other than hulls."""
    n, separation = found.normal, found.gap + (radius_of(a) + radius_of(b))
    on_a = found.point + n * radius_of(a)
    c = _conditions(*_sides(a, b, X_ab, [on_a], [n * separation], [1.0]), n, on_a, on_a - n * separation)
    return _known(a, b, X_ab, n, on_a, separation, c.matrices)


def _known(a: Geometry, b: Geometry, X_ab: SE3, n: Vector3, on_a: Vector3, separation: Scalar, matrices: Any) -> Any:
    on_b, n_b = X_ab.inverse_act(on_a - n * separation), X_ab.rotation.transpose_apply(n)
    return _witness(a, b, n, on_a, separation), Local(n, n_b, on_a, on_b, *matrices)


def witness_near(a: Geometry, b: Geometry, X_ab: SE3, known: Local) -> Witness:
    """Return the gap and its points at a pose near that of what is known."""
    n, n_b, on_a, on_b, M, N, K_a, K_b, slides = known
    x, turned = on_a - X_ab @ on_b, X_ab.rotation @ n_b
    along = n.dot(x)
    r, beta = x - n * along, turned - n * n.dot(turned)
    delta = M @ r + N @ beta
    rest = delta - beta
    moved_a, moved_b = K_a @ delta, K_b @ rest
    bent = delta.dot(moved_a + delta * along) + rest.dot(moved_b)
    way = delta * along - r + moved_a + moved_b
    on_a = on_a + slides @ way - moved_a
    return _witness(a, b, unit(n + delta, n), on_a, along + delta.dot(r) - bent * 0.5)


def _witness(a: Geometry, b: Geometry, n: Vector3, on_a: Vector3, separation: Scalar) -> Witness:
    """Return the witness of two shapes from the separation of their cores."""
    gap, on_a = separation - (radius_of(a) + radius_of(b)), on_a - n * radius_of(a)
    return Witness(gap, n, on_a, on_a - n * gap)


# --- what is nearest of each ----------------------------------------------------------------------------------------


class Side(NamedTuple):
    """What of a shape is nearest, in A's frame, as functions of n and of the point that seems nearest."""

    at: Callable[[Vector3, Vector3], tuple[Vector3, list[Vector3]]]  # a point of it, and directions e; 0 where it ends
    bend: Callable[[Vector3, Vector3], Matrix3]  # K


def _sides(a: Geometry, b: Geometry, X_ab: SE3, on_a: Any, x: Any, weights: Sequence[Scalar]) -> tuple[Side, Side]:
    """Return what of both is nearest: points of A's core, x = x_a - x_b, and the weights by which they carry that."""
    on_b = [p - way for p, way in zip(on_a, x, strict=True)]
    return _side(a, SE3(), -1.0, on_a, weights), _side(b, X_ab, 1.0, on_b, weights)


def _side(shape: Geometry, X: SE3, sign: float, points: Sequence[Vector3], weights: Sequence[Scalar]) -> Side:
    """Return what of the shape at X is nearest; its points along sign n carry the nearest one."""
    if type(shape) not in SURFACES:
        corner = (X.translation, []) if isinstance(shape, Sphere) else _corner(extent_of(shape), points, weights)
        return Side(lambda n, p: corner, lambda n, p: Matrix3.zero())
    R, surface, (_, sides) = X.rotation, SURFACES[type(shape)], box_about(shape)

    def outwards(n: Vector3) -> Vector3:
        return R.transpose_apply(n * sign)

    def at(n: Vector3, p: Vector3) -> tuple[Vector3, list[Vector3]]:
        d = outwards(n)
        p = Vector3(*(clip(e, -half, half) for e, half in zip(X.inverse_act(p), sides, strict=True)))
        corner, ways = surface.point(shape, d, p), surface.goes_on(shape, d, p)
        return X @ sum((e * e.dot(p - corner) for e in ways), corner), [R @ e for e in ways]

    return Side(at, lambda n, p: surface.bend(shape, outwards(n), X.inverse_act(p)).rotated(R))


def _corner(size: Scalar, points: Sequence[Vector3], weights: Sequence[Scalar]) -> tuple[Vector3, list[Vector3]]:
    """Return the point that corners carry, and the ways to those that carry something from that which carries most."""
    most, corner = weights[0], points[0]
    for point, weight in zip(points[1:], weights[1:], strict=True):
        corner, most = select(weight > most, point, corner), where(weight > most, weight, most)
    least, apart = in_precision(most, *CARRIES), in_precision(most, *CARRIES) * size
    carried, ways = corner, []
    for point, weight in zip(points, weights, strict=True):
        e = point - corner
        carries = logical_and(weight > least, e.norm_squared() > apart * apart)
        ways.append(select(carries, e, Vector3.zero()))
        carried = carried + ways[-1] * weight
    return carried, ways


# --- Newton's step --------------------------------------------------------------------------------------------------


class Conditions(NamedTuple):
    """What the conditions say along a direction n."""

    delta: Vector3
    on_a: Vector3
    on_b: Vector3
    matrices: tuple[Matrix3, ...]  # M, N, K_a, K_b and what slides, as in `Local`


class Way(NamedTuple):
    """A direction in which a shape goes on, or 0."""

    e: Vector3
    of_b: Scalar  # 1 if it is B's, else 0


def _conditions(A: Side, B: Side, n: Vector3, on_a: Vector3, on_b: Vector3) -> Conditions:
    """Return what they say where points of both seem nearest."""
    (p_a, ways_a), (p_b, ways_b) = A.at(n, on_a), B.at(n, on_b)
    x = p_a - p_b
    d = n.dot(x)
    r = x - n * d
    ways = _two_of(n, [*(Way(e, 0.0) for e in ways_a), *(Way(e, 1.0) for e in ways_b)])
    on_a, on_b, along, of_a, of_b = p_a, p_b, Vector3.zero(), Matrix3.zero(), Matrix3.zero()
    for way, dual in zip(ways, _duals(n, *ways), strict=True):
        tau = -dual.dot(r)
        on_a, on_b = on_a + way.e * (tau * (1.0 - way.of_b)), on_b - way.e * (tau * way.of_b)
        along = along - dual * way.e.dot(n)
        of_a = of_a + way.e.outer(dual * (1.0 - way.of_b))
        of_b = of_b + dual.outer(way.e * way.of_b)
    K_a, K_b = A.bend(n, on_a), B.bend(n, on_b)
    H = K_a + K_b + Matrix3.diagonal(d, d, d)
    M = _free(n, H, *ways)
    N = of_b + M @ (K_b - H @ of_b)
    delta = along + M @ (r - H @ along)
    # where the points are after the step
    on_a = on_a + of_a @ (H @ delta) - K_a @ delta
    return Conditions(delta, on_a, on_a - (n + delta) * d, (M, N, K_a, K_b, of_a))


def _two_of(n: Vector3, ways: Sequence[Way]) -> tuple[Way, Way]:
    """Return the longest way of those across n, and of the others that which is widest beside it.

    Of a shape that is small beside the other one, rounding puts points between ends of edges that n is not across. A
    face of the other one, which goes on in two directions across n, has them both.
    """
    none = Way(Vector3.zero(), 0.0)
    first, most_across, second = none, 0.0, none
    for way in ways:
        squared, along = way.e.norm_squared(), n.dot(way.e)
        share = along * along / where(squared > 0.0, squared, 1.0)
        score = squared / (share + OBLIQUE)
        first, most_across = chosen(score > most_across, way, first), maximum(score, most_across)
    for way in ways:
        area, most = (n.dot(first.e.cross(other.e)) for other in (way, second))
        second = chosen(area * area > most * most, way, second)
    c = n.dot(first.e.cross(second.e))
    is_wide = c * c > OBLIQUE * (first.e.norm_squared() * second.e.norm_squared())
    return first, chosen(is_wide, second, none)


def _duals(n: Vector3, first: Way, second: Way) -> tuple[Vector3, Vector3]:
    """Return for each way e a vector e~ across n with e~ . e = 1, and 0 for the other; 0 if there is no such way."""
    e = first.e - n * n.dot(first.e)
    ee, c = e.norm_squared(), n.dot(first.e.cross(second.e))
    alone, both = ee > SMALL, c * c > SMALL
    single = e * where(alone, 1.0 / where(alone, ee, 1.0), 0.0)
    inverse = where(both, 1.0 / where(both, c, 1.0), 0.0)
    return select(both, second.e.cross(n) * inverse, single), n.cross(first.e) * inverse


def _free(n: Vector3, H: Matrix3, first: Way, second: Way) -> Matrix3:
    """Return M = t (t . H t)^-1 t for the t across n and all ways; 0 where H is not positive."""
    t = n.cross(first.e)
    tt, c = t.norm_squared(), n.dot(first.e.cross(second.e))
    along = t.dot(H @ t)
    one = t.outer(t * _inverse(along))
    nn = n.outer(n)
    a, b, c_ = (H + nn * (1.0 - n.dot(H @ n))).rows()
    columns = b.cross(c_), c_.cross(a), a.cross(b)
    det = a.dot(columns[0])
    is_positive = logical_and(H.trace() > n.dot(H @ n), det > 0.0)
    every = Matrix3.from_columns(*columns) * where(is_positive, _inverse(det), 0.0) - nn * where(is_positive, 1.0, 0.0)
    return chosen(c * c > SMALL, Matrix3.zero(), chosen(tt > SMALL, one, every))


def _inverse(x: Scalar) -> Scalar:
    """Return 1 / x, or 0 unless x is positive."""
    there = x > SMALL
    return where(there, 1.0 / where(there, x, 1.0), 0.0)
