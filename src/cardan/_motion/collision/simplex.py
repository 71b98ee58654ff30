"""Four points of a set, and which three of them carry the one that is nearest to 0.

The nearest point of a tetrahedron a b c w is a corner, on an edge or on a face, or 0 is within. w is the newest corner:
what is not at w was looked at in passes before. On the edge from w to y, and on the face w, y_j, y_k with m = (w - y_j)
x (w - y_k), it is

    y + t (w - y)        t = -y . (w - y) / |w - y|^2, in [0, 1]
    s y_j + t y_k + (1 - s - t) w       s = (m x w) . (w - y_k) / |m|^2,  t = -(m x w) . (w - y_j) / |m|^2

if all three weights are positive.

Source: Ericson, Real-Time Collision Detection (2005), sections 5.1.2 to 5.1.6.
Cost: 500 operations.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.scalar import clip, logical_and, logical_not, maximum, minimum, sqrt, where
from cardan._algebra.spatial import Scalar, Vector3
from cardan._motion.collision.candidate import chosen, in_precision, select

SMALL = 1e-60  # a square that is only a divisor's guard
THIN = 1e-20, 1e-11  # squared sine of a triangle's angle below which its edges do for it


class Vertex(NamedTuple):
    """A point of the set of differences x = x_a - x_b, and x_a, both in A's frame."""

    x: Vector3
    on_a: Vector3


class Nearest(NamedTuple):
    """The point nearest to 0 of a tetrahedron: its square, and the weights of the corners that carry it."""

    squared: Scalar
    weights: tuple[Scalar, ...]


def unit(d: Vector3, otherwise: Vector3) -> Vector3:
    squared = d.norm_squared()
    there = squared > SMALL
    return select(there, d * (1.0 / sqrt(where(there, squared, 1.0))), otherwise)


def combined(points: Any, weights: Any) -> Vector3:
    return reduce(Vector3.__add__, (point * weight for point, weight in zip(points, weights, strict=True)))


def nearest(y: list[Vector3]) -> Nearest:
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
        best = chosen(better, Nearest(squared, weights), best)
    return best


def _weights(of: dict[int, Scalar]) -> tuple[Scalar, ...]:
    return tuple(of.get(k, 0.0) for k in range(4))


def encloses(y: list[Vector3], tolerance: Scalar) -> Any:
    """Return whether 0 is within a tetrahedron that has a volume: the four parts about it are of one sign."""
    a, b, c, w = y
    cw, ab = c.cross(w), a.cross(b)
    parts = b.dot(cw), -a.dot(cw), w.dot(ab), -c.dot(ab)
    total = sum(parts[1:], parts[0])
    sign = where(total < 0.0, -1.0, 1.0)
    least = reduce(minimum, (part * sign for part in parts))
    longest = reduce(maximum, (e.norm_squared() for e in y))
    return logical_and(least > 0.0, total * sign > 10.0 * tolerance * longest)


def carrying(simplex: tuple[Vertex, ...], weights: tuple[Scalar, ...]) -> tuple[list[Vertex], list[Scalar]]:
    """Return three points of four without the one of least weight, the newest first; of equal ones the oldest goes."""
    *old, w = simplex
    *of_old, of_w = weights
    la, lb, lc = of_old
    drops_w = of_w <= 0.0
    drops_c = logical_and(lc <= la, lc <= lb)
    drops_a = logical_and(logical_not(drops_c), la < lb)
    pairs = [(*vertex, weight) for vertex, weight in zip((*old, w), (*of_old, of_w), strict=True)]
    a, b, c, new = pairs
    one = chosen(drops_w, a, new)
    two = chosen(drops_w, b, chosen(drops_a, b, a))
    three = chosen(drops_w, c, chosen(drops_c, b, c))
    three_points = [one, two, three]
    return [Vertex(x, on_a) for x, on_a, _ in three_points], [weight for *_, weight in three_points]


def direction(y: list[Vector3], weights: list[Scalar], v: Vector3, last: Vector3) -> Vector3:
    """Return the direction of v: that of the triangle's normal, where it is known better than v itself."""
    e, f = y[1] - y[0], y[2] - y[0]
    m = e.cross(f)
    ee, ff, mm, vv = e.norm_squared(), f.norm_squared(), m.norm_squared(), v.norm_squared()
    # Rounding turns v by its part of |v|, and m by that part of the triangle's height.
    within = reduce(minimum, weights) > 0.0
    flat = logical_and(within, mm > vv * maximum(ee, ff))
    m = m * where(m.dot(v) < 0.0, -1.0, 1.0)
    return unit(select(flat, m, v), last)
