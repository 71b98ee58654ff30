"""Two boxes: the axis that separates them best, and the face of contact, clipped, or the two edges that cross.

Of the 15 axes (three normals of A, three of B, nine a_i x b_j) the one with the greatest separation

    s = |n . p| - sum_k h_k |n . a_k| - sum_k h_k |n . b_k|          p: centre of B from that of A

says whether the boxes overlap (s < 0), how deep, and along what. If it is a normal, its face is the *reference*, and
the face of the other box that looks at it most is *incident*. Both, seen along the normal, are a rectangle and a
parallelogram, whose intersection has at most eight corners: every side of the intersection lies on one of the eight
sides, no two on the same, and begins at one corner. So the candidates are: for each of the eight sides, going round,
where its part inside the other figure begins, if there is one. The gap is the height of the incident face there.
If the axis is a product of two edges, these touch at one point.

Boxes that are apart, one beside the other, may have no such corner, or only ones that are further away, or edges whose
lines are nearest beyond their ends. Then a corner of one box is as near to the other box as the boxes are (`_beside`),
and the first candidate is these two points. So every candidate is a point of either box, and the smallest gap is the
depth where the boxes overlap, and their distance where they do not. (Edges that cross within 2.6 degrees of a face are
left to the face, whose corners hold better; the gap is then that of the corners.)

Source: Gottschalk, Lin and Manocha, OBBTree (1996); Liang and Barsky, A new concept and method for line clipping
(1984), for the part of a side inside; one candidate a side is made here.
Cost: 1450 operations, and 500 where boxes are beside one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import when
from cardan._algebra.scalar import absolute, clip, logical_and, logical_not, logical_or, maximum, minimum, sqrt, where
from cardan._algebra.spatial import SE3, Matrix3, Scalar, Vector3
from cardan._motion.collision.candidate import (
    FAR,
    NOWHERE,
    PARALLEL,
    ROUNDING,
    Candidate,
    X,
    Y,
    Z,
    chosen,
    crossings,
    existing,
    in_precision,
    length_and_direction,
    select,
)
from cardan._robot.geometry.shapes import Box

ALIGNED = 0.999  # cosine to a face's normal above which crossing edges are left to that face, whose corners are more
MARGIN = 1e-6  # of the faces' sizes: of two sides that coincide, the incident one is inside, the reference's is not

CYCLES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))

Two = tuple[Scalar, Scalar]
# A corner of the intersection, at centre + a u + b v on the incident face: a, b, and whether it exists.
Corner = tuple[Scalar, Scalar, Any]


class OrientedBox(NamedTuple):
    """A box in the frame of A: its centre, its axes as unit vectors, its half sizes along them."""

    centre: Vector3
    axes: tuple[Vector3, Vector3, Vector3]
    half: Vector3

    def corner(self, direction: Vector3) -> Vector3:
        steps = (axis * where(axis.dot(direction) < 0.0, -h, h) for axis, h in zip(self.axes, self.half, strict=True))
        return sum(steps, self.centre)


class Face(NamedTuple):
    """A rectangle in the frame of A: its centre, its sides' directions u and v, half their lengths."""

    centre: Vector3
    u: Vector3
    v: Vector3
    half: Two


class Edges(NamedTuple):
    """Two edges, of A along e and of B along f, with the separation along n from A to B; `certain` despite rounding."""

    certain: Scalar
    separation: Scalar
    n: Vector3
    e: Vector3
    f: Vector3


def box_box(a: Box, X_a: SE3, b: Box, X_b: SE3) -> list[Candidate]:
    """Return eight candidates."""
    A, B, of_a, of_b, edges = _separations(a, X_a, b, X_b)
    on_b = _largest(of_b) > _largest(of_a)
    reference, other = _facing(chosen(on_b, B, A), select(on_b, of_b, of_a)), chosen(on_b, A, B)
    separation, n = where(on_b, _largest(of_b), _largest(of_a)), reference.axes[2]
    n = n * where(n.dot(other.centre - reference.centre) < 0.0, -1.0, 1.0)
    rectangle = Face(reference.centre + n * reference.half[2], *reference.axes[:2], reference.half[:2])
    incident = _incident_face(other, n, rectangle)
    corners = _corners(rectangle, incident)
    any_corner = reduce(logical_or, (exists for _, _, exists in corners))
    flat = logical_and(any_corner, absolute(edges.n.dot(n)) > ALIGNED)
    crossing = logical_and(edges.certain > separation, logical_not(flat))
    of_faces = _face_candidates(corners, rectangle, incident, n, on_b)
    crossed, within = _edge_candidate(edges, A, B)
    first, *more = (existing(logical_not(crossing), candidate) for candidate in of_faces)
    first = chosen(crossing, existing(logical_or(within, edges.separation <= 0.0), crossed), first)
    least = reduce(minimum, (candidate.gap for candidate in more), first.gap)
    nearest = maximum(where(crossing, edges.separation, separation), 0.0) + MARGIN * (sum(A.half) + sum(B.half))
    beside = when(least > nearest, lambda: _beside(A, B), NOWHERE)
    return [chosen(beside.gap < least, beside, first), *more]


def box_separation(a: Box, X_a: SE3, b: Box, X_b: SE3) -> Scalar:
    """Return the greatest separation along the 15 axes: the gap where boxes overlap, else their distance at most."""
    *_, of_a, of_b, edges = _separations(a, X_a, b, X_b)
    faces = maximum(_largest(of_a), _largest(of_b))
    return where(edges.certain > faces, edges.separation, faces)


def _facing(box: OrientedBox, merit: Sequence[Scalar]) -> OrientedBox:
    """Return the box with its axes turned round so that the one of most merit is the third."""
    x, y, z = merit
    is_x = logical_and(x >= y, x >= z)
    is_y = logical_and(logical_not(is_x), y >= z)
    (a, b, c), (h, k, m) = box.axes, box.half
    u, v, w = (select(is_x, p, select(is_y, q, r)) for p, q, r in ((b, c, a), (c, a, b), (a, b, c)))
    half = select(is_x, (k, m, h), select(is_y, (m, h, k), (h, k, m)))
    return OrientedBox(box.centre, (u, v, w), half)


# --- separating axes ----------------------------------------------------------------------------------------------


def _separations(a: Box, X_a: SE3, b: Box, X_b: SE3) -> tuple[OrientedBox, OrientedBox, Vector3, Vector3, Edges]:
    """Return both boxes in the frame of A, their separations along both ones' normals, and the best of edges."""
    R = Matrix3(X_a.rotation.T @ X_b.rotation)
    R_abs = Matrix3([[absolute(e) for e in row] for row in R])
    A = OrientedBox(Vector3.zero(), (X, Y, Z), Vector3(*a.size) * 0.5)
    x, y, z = R.columns()
    B = OrientedBox(X_a.inverse_act(X_b.translation), (x, y, z), Vector3(*b.size) * 0.5)
    of_a = _face_separations(B.centre, A.half, R_abs @ B.half)
    of_b = _face_separations(R.transpose_apply(B.centre), B.half, R_abs.transpose_apply(A.half))
    return A, B, of_a, of_b, _best_edges(R, B.centre, R_abs, A.half, B.half)


def _largest(three: Sequence[Scalar]) -> Scalar:
    return maximum(maximum(three[0], three[1]), three[2])


def _face_separations(p: Vector3, half: Vector3, reach: Vector3) -> Vector3:
    """Return s along the normals of a box's faces; the other box is at p in its frame and reaches that far from it."""
    return Vector3(*(absolute(e) - (s + r) for e, s, r in zip(p, half, reach, strict=True)))


def _best_edges(R: Matrix3, p: Vector3, R_abs: Matrix3, half_a: Vector3, half_b: Vector3) -> Edges:
    """Return the edges whose product separates most; those that are parallel do not."""
    best = Edges(-FAR, -FAR, Z, X, Y)
    error = in_precision(R[0][0], *ROUNDING) * (sum(half_a) + sum(half_b))
    for i, k, o in CYCLES:
        for (j, m, n), column in zip(CYCLES, R.columns(), strict=True):
            u, v = column[o], column[k]  # a_i x b_j = v a_o - u a_k
            squared = u * u + v * v
            oblique = squared > PARALLEL  # else the divisor is 1, so that derivatives stay finite
            inverse = 1.0 / sqrt(where(oblique, squared, 1.0))
            offset = v * p[o] - u * p[k]
            reach_a = R_abs[o][j] * half_a[k] + R_abs[k][j] * half_a[o]
            reach_b = sum(absolute(v * R[o][w] - u * R[k][w]) * half_b[w] for w in (m, n))  # of R as it is, to rounding
            separation = (absolute(offset) - (reach_a + reach_b)) * inverse
            outward = where(offset < 0.0, -inverse, inverse)
            axis = (X, Y, Z)[o] * (v * outward) - (X, Y, Z)[k] * (u * outward)
            certain = separation - error * inverse
            better = logical_and(oblique, certain > best.certain)
            numbers = (where(better, *both) for both in zip((certain, separation), best[:2], strict=True))
            vectors = (select(better, *both) for both in zip((axis, (X, Y, Z)[i], column), best[2:], strict=True))
            best = Edges(*numbers, *vectors)
    return best


def _edge_candidate(edges: Edges, A: OrientedBox, B: OrientedBox) -> tuple[Candidate, Any]:
    """Return the nearest points of two lines c_a + s e and c_b + t f, and whether both are on the boxes' edges.

    With d between them, e . d and f . d vanish.
    """
    _, separation, n, e, f = edges
    corner = A.corner(n)
    # Parallel edges, which are never the best, keep a divisor of 1.
    d, cosine, squared = B.corner(-n) - corner, e.dot(f), e.cross(f).norm_squared()
    inverse = 1.0 / where(squared > PARALLEL, squared, 1.0)
    s, t = ((e - f * cosine).dot(d) * inverse, (e * cosine - f).dot(d) * inverse)
    on_a, on_b = corner + e * s, corner + d + f * t - B.centre
    margin = MARGIN * (sum(A.half) + sum(B.half))  # more than rounding leaves, also across what is thin
    inside = [absolute(x) <= h + margin for x, h in zip(on_a, A.half, strict=True)]
    inside += [absolute(axis.dot(on_b)) <= h + margin for axis, h in zip(B.axes, B.half, strict=True)]
    point = (clip(x, -h, h) for x, h in zip(on_a, A.half, strict=True))
    return Candidate(separation, Vector3(*point), -n), reduce(logical_and, inside)


# --- one beside the other -----------------------------------------------------------------------------------------


def _beside(A: OrientedBox, B: OrientedBox) -> Candidate:
    """Return the corner that is nearest to the other box, and the point of that which is nearest to it.

    Boxes that are nearest elsewhere are so along one of the 15 axes.
    """
    (squared_b, corner, back), (squared_a, on_a, away) = _nearest_corner(B, A), _nearest_corner(A, B)
    is_of_b = squared_b < squared_a
    gap, normal = length_and_direction(select(is_of_b, -back, away), Z)
    return Candidate(gap, select(is_of_b, corner - back, on_a), normal)


def _nearest_corner(box: OrientedBox, other: OrientedBox) -> tuple[Scalar, Vector3, Vector3]:
    """Return which corner of a box is nearest to another: the squared distance, the corner, and the way to it."""
    u, v, w = (axis * h for axis, h in zip(box.axes, box.half, strict=True))
    found = []
    for e in (u + v, u - v, -u - v, v - u):
        for corner in (box.centre + (e + w), box.centre + (e - w)):
            seen = corner - other.centre
            away = [x - clip(x, -h, h) for x, h in zip(map(seen.dot, other.axes), other.half, strict=True)]
            found.append((Vector3(*away).norm_squared(), corner, Vector3(*away)))
    squared, corner, away = reduce(lambda one, two: chosen(one[0] <= two[0], one, two), found)
    return squared, corner, sum((axis * x for axis, x in zip(other.axes, away, strict=True)), Vector3.zero())


# --- face against face --------------------------------------------------------------------------------------------


def _incident_face(other: OrientedBox, n: Vector3, reference: Face) -> Face:
    """Return the face that looks against n most; u and v go round it as those of the reference do round theirs."""
    box = _facing(other, [absolute(n.dot(axis)) for axis in other.axes])
    (u, v, w), (hu, hv, hw) = box.axes, box.half
    centre = box.centre - w * where(w.dot(n) < 0.0, -hw, hw)
    area = u.dot(reference.u) * v.dot(reference.v) - u.dot(reference.v) * v.dot(reference.u)
    return Face(centre, u, select(area < 0.0, -v, v), (hu, hv))


def _corners(reference: Face, incident: Face) -> list[Corner]:
    """Return, for each side of both faces, where the part of it inside the other begins."""
    (hx, hy), (hu, hv) = reference.half, incident.half
    ux, uy, vx, vy = (e.dot(axis) for e in (incident.u, incident.v) for axis in (reference.u, reference.v))
    offset = incident.centre - reference.centre
    cx, cy = offset.dot(reference.u), offset.dot(reference.v)
    per_area = 1.0 / (ux * vy - uy * vx)  # at least 1 / sqrt(3): of three axes, the one along n most

    def to_reference(a: Scalar, b: Scalar) -> Two:
        return a * ux + b * vx, a * uy + b * vy

    def to_incident(x: Scalar, y: Scalar) -> Two:
        return (vy * x - vx * y) * per_area, (ux * y - uy * x) * per_area

    margin = MARGIN * (hx + hy + hu + hv)
    corners, within = [], (hx + margin, hy + margin)
    for (a, b), (da, db), length in _sides(hu, hv):
        x, y = to_reference(a, b)
        t, exists = _entry((x + cx, y + cy), to_reference(da, db), length, within)
        corners.append((a + da * t, b + db * t, exists))
    within = (hu - 0.5 * margin, hv - 0.5 * margin)  # both, rather than none, where rounding leaves it open
    for (x, y), direction, length in _sides(hx, hy):
        (a, b), (da, db) = to_incident(x - cx, y - cy), to_incident(*direction)
        t, exists = _entry((a, b), (da, db), length, within)
        corners.append((a + da * t, b + db * t, exists))
    return corners


def _face_candidates(corners: list[Corner], reference: Face, incident: Face, n: Vector3, on_b: Any) -> list[Candidate]:
    """Return the corners as candidates."""
    centre, u, v, _ = incident
    height, du, dv = n.dot(centre - reference.centre), n.dot(u), n.dot(v)
    normal = select(on_b, n, -n)

    def candidate(a: Scalar, b: Scalar, exists: Any) -> Candidate:
        gap = height + a * du + b * dv
        point = centre + u * a + v * b + normal * where(on_b, 0.0, gap)
        return existing(exists, Candidate(gap, point, normal))

    return [candidate(*corner) for corner in corners]


def _sides(h: Scalar, k: Scalar) -> list[tuple[Two, Two, Scalar]]:
    """Return start, direction and length of the sides of a rectangle of half sizes h, k, going round."""
    starts, directions = ((-h, -k), (h, -k), (h, k), (-h, k)), ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
    return list(zip(starts, directions, (2.0 * h, 2.0 * k, 2.0 * h, 2.0 * k), strict=True))


def _entry(start: Two, direction: Two, length: Scalar, half: Two) -> tuple[Scalar, Any]:
    """Return where a side enters a rectangle about the origin (how far from its start), and whether it does."""
    enters, leaves = 0.0, length
    for x, d, h in zip(start, direction, half, strict=True):
        one, two = crossings(x, d, h)
        enters, leaves = maximum(enters, minimum(one, two)), minimum(leaves, maximum(one, two))
    return clip(enters, 0.0, length), enters <= leaves
