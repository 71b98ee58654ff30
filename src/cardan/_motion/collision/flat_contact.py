"""Two convex shapes that meet with faces or edges: up to four points of the overlap, so that what lies does not rock.

Along the normal n of their least gap, each shape shows the other a quadrilateral, its *feature*:

    box, hull   the points farthest along d, tilted a little to both sides, then across the line between these two: a
                face's corners, or an edge's ends
    cylinder    standing: four points of its rim; lying: both ends of the line that is farthest along d
    cone        the same, of which one end is the tip
    capsule     the same line

Seen along n, the intersection of two quadrilaterals has at most eight corners: for each of the eight sides, where its
part inside the other one begins. The candidates are the first one to one side, that which is farthest from it, that
which is farthest from the line between these, and that which is farthest out of the triangle of all three. The gap
there is the distance along n from the point of one feature to the plane of the other. Two lines have no area: where
they are nearly parallel, the ends of their overlap are the candidates. There they are x apart, seen along n. With r
the sum of both radii of curvature and x = r sin t, both surfaces are along n of one another at a part of x, and farther
apart by r (1 - cos t).

The least gap belongs to one of the candidates: if it is none of these, the last is the point where the shapes touch.

Source: Liang and Barsky, A new concept and method for line clipping (1984); as `box_box`.
Cost: 1500 operations, and four support points of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import each, when
from cardan._algebra.scalar import absolute, clip, logical_and, logical_not, logical_or, maximum, minimum, sqrt, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.candidate import (
    COINCIDENT,
    FAR,
    NOWHERE,
    Candidate,
    X,
    across,
    chosen,
    length_and_direction,
    select,
)
from cardan._motion.collision.convex import Witness, extent_of, radius_of, witness
from cardan._motion.collision.support_points import support
from cardan._robot.geometry.shapes import Capsule, Cone, Cylinder, Geometry

TILT = 0.08  # [rad] between the normal and where corners of a face are looked for
MARGIN = 1e-6  # of the sizes: of two sides that coincide, that of A is inside, that of B is not
NARROW = 1e-6  # sine between a feature's diagonals below which it is a line
SLANTED = 0.9  # cosine to the normal below which a feature is no face of the contact
STANDING = 0.7  # cosine between a cylinder's axis and the normal above which it meets with its cap
CROSSING = 0.03  # squared sine of 10 degrees: lines that cross at more touch at one point
LINES = Capsule, Cylinder, Cone

Two = tuple[Scalar, Scalar]


class Feature(NamedTuple):
    """Four points of a surface, counter-clockwise about the direction they are farthest along."""

    points: tuple[Vector3, ...]
    is_line: Any  # of `LINES`: the second point and the third are its ends
    radii: Sequence[Scalar] = (0.0, 0.0)  # of curvature around it, at its ends

    def radius_at(self, part: Scalar) -> Scalar:
        first, last = self.radii
        return first + (last - first) * part


class Outline(NamedTuple):
    """A feature seen along n: its corners and sides, from each corner to the next; and its plane, through `at`."""

    corners: list[Two]
    sides: list[Two]
    faces: Any  # whether it has an area that looks along n: of others nothing is on its plane
    at: Vector3
    m: Vector3  # the plane's normal, divided by its component along n


class Corner(NamedTuple):
    """A corner of the intersection."""

    exists: Any
    at: Vector3  # on the surface of A
    gap: Scalar


def flat_convex(a: Geometry, X_a: SE3, b: Geometry, X_b: SE3, reach: Scalar | None = None) -> list[Candidate]:
    """Return four candidates; none of what is farther apart than a reach."""
    deepest = witness(a, X_a, b, X_b, reach=reach)
    if reach is None:
        return manifold(a, X_a, b, X_b, deepest)
    return when(deepest.gap <= reach, lambda: manifold(a, X_a, b, X_b, deepest), [NOWHERE] * 4)


def manifold(a: Geometry, X_a: SE3, b: Geometry, X_b: SE3, deepest: Witness) -> list[Candidate]:
    """Return four candidates of two shapes whose least gap is known."""
    X_ab = SE3(X_a.rotation.T @ X_b.rotation, X_a.inverse_act(X_b.translation))
    n, size = deepest.n, extent_of(a) + extent_of(b)
    of_a = _feature(a, -n)
    of_b = _feature(b, X_ab.rotation.transpose_apply(n))
    # Counter-clockwise about n, both; A's is about -n.
    of_a = of_a._replace(points=tuple(p - n * radius_of(a) for p in reversed(of_a.points)), radii=of_a.radii[::-1])
    of_b = of_b._replace(points=tuple(X_ab @ p + n * radius_of(b) for p in of_b.points))
    u, v = across(n)
    corners = _corners(_outline(of_a, n, u, v), _outline(of_b, n, u, v), of_a, of_b, n, MARGIN * size)
    if isinstance(a, LINES) and isinstance(b, LINES):
        both = logical_and(of_a.is_line, of_b.is_line)
        first, second, *others = corners
        along = zip(_along(of_a, of_b, n, both), (first, second), strict=True)
        corners = [*(_chosen(both, *pair) for pair in along), *others]
    return _four(corners, deepest, u, v, MARGIN * size)


# --- features -------------------------------------------------------------------------------------------------------


def _feature(shape: Geometry, d: Vector3) -> Feature:
    """Return what a shape shows along a unit vector d, in its own frame."""
    if isinstance(shape, Capsule):
        ends = Vector3(0.0, 0.0, -0.5 * shape.length), Vector3(0.0, 0.0, 0.5 * shape.length)
        return Feature((ends[0], ends[0], ends[1], ends[1]), absolute(d.z) < STANDING, (shape.radius,) * 2)
    if isinstance(shape, (Cylinder, Cone)):
        return _of_rim(shape, d)

    def both_ways(side: Vector3) -> list[Vector3]:
        return each(lambda direction: support(shape, direction), [d + side * TILT, d - side * TILT])

    u, v = across(d)
    one, other = both_ways(u)
    left, right = both_ways(length_and_direction(d.cross(one - other), v)[1])  # v alone may find the same two
    return Feature((one, left, other, right), False)


def _of_rim(shape: Cylinder | Cone, d: Vector3) -> Feature:
    _, (x, y, _) = length_and_direction(Vector3(d.x, d.y, 0.0), X)
    sign = -1.0 if isinstance(shape, Cone) else where(d.z < 0.0, -1.0, 1.0)
    out = Vector3(x * shape.radius, y * shape.radius, 0.0)
    left = Vector3(-out.y, out.x, 0.0) * sign
    up = Vector3(0.0, 0.0, 0.5 * shape.length * sign)
    cap = out + up, left + up, up - out, up - left
    radii, other = (shape.radius,) * 2, out - up
    if isinstance(shape, Cone):
        slant = sqrt(shape.radius * shape.radius + shape.length * shape.length)
        radii, other = (shape.radius * slant / maximum(shape.length, COINCIDENT), 0.0), -up
    line = out + up, out + up, other, other
    stands = d.z * sign > STANDING
    return Feature(tuple(select(stands, *both) for both in zip(cap, line, strict=True)), logical_not(stands), radii)


def _outline(feature: Feature, n: Vector3, u: Vector3, v: Vector3) -> Outline:
    points = feature.points
    corners = [(u.dot(p), v.dot(p)) for p in points]
    sides = [(corners[(k + 1) % 4][0] - x, corners[(k + 1) % 4][1] - y) for k, (x, y) in enumerate(corners)]
    d, e = points[2] - points[0], points[3] - points[1]
    m = d.cross(e)
    mm, up = m.norm_squared(), m.dot(n)
    has_area = mm > NARROW * NARROW * (d.norm_squared() * e.norm_squared()) + COINCIDENT
    faces = logical_and(has_area, up > 0.0)
    faces = logical_and(faces, up * up > SLANTED * SLANTED * mm)
    return Outline(corners, sides, faces, sum(points[1:], points[0]) * 0.25, m * (1.0 / where(faces, up, 1.0)))


# --- the intersection -----------------------------------------------------------------------------------------------


def _corners(A: Outline, B: Outline, of_a: Feature, of_b: Feature, n: Vector3, margin: Scalar) -> list[Corner]:
    """Return for each side of both features where its part inside the other begins."""
    found = []
    for k in range(4):
        t, exists = _entry(A.corners[k], A.sides[k], B, margin)
        at = of_a.points[k] + (of_a.points[(k + 1) % 4] - of_a.points[k]) * t
        found.append(Corner(exists, at, B.m.dot(at - B.at)))
    for k in range(4):
        t, exists = _entry(B.corners[k], B.sides[k], A, -0.5 * margin)
        at = of_b.points[k] + (of_b.points[(k + 1) % 4] - of_b.points[k]) * t
        gap = A.m.dot(A.at - at)
        found.append(Corner(exists, at + n * gap, gap))
    return found


def _entry(start: Two, side: Two, other: Outline, margin: Scalar) -> tuple[Scalar, Any]:
    """Return the part of a side at which it enters an outline, and whether it does; a side of no length does not."""
    (x, y), (dx, dy) = start, side
    enters, leaves, parallel_outside = 0.0, 1.0, False
    length = dx * dx + dy * dy
    for (qx, qy), (fx, fy) in zip(other.corners, other.sides, strict=True):
        size = absolute(fx) + absolute(fy)
        inside = fx * (y - qy) - fy * (x - qx) + margin * size  # times the side's length, and so is what it changes by
        rate = fx * dy - fy * dx
        moving = absolute(rate) > 1e-12 * size * (absolute(dx) + absolute(dy))
        t = -inside / where(moving, rate, 1.0)
        rising = rate > 0.0
        enters = maximum(enters, where(logical_and(moving, rising), t, 0.0))
        leaves = minimum(leaves, where(logical_and(moving, logical_not(rising)), t, 1.0))
        outside = logical_and(logical_not(moving), inside < 0.0)
        parallel_outside = logical_or(parallel_outside, outside)
    meets = logical_and(enters <= leaves, logical_not(parallel_outside))
    return clip(enters, 0.0, 1.0), logical_and(logical_and(meets, length > margin * margin), other.faces)


def _along(of_a: Feature, of_b: Feature, n: Vector3, both: Any) -> list[Corner]:
    """Return the ends of the overlap of two lines, if they are nearly parallel and have one."""
    start, e = of_a.points[1], of_a.points[2] - of_a.points[1]
    f = of_b.points[2] - of_b.points[1]
    ee, ff, ef = e.norm_squared(), f.norm_squared(), e.dot(f)
    long = logical_and(ee > COINCIDENT, ff > COINCIDENT)
    per = 1.0 / where(ee > COINCIDENT, ee, 1.0)
    s, t = (e.dot(p - start) * per for p in of_b.points[1:3])
    first, last = maximum(minimum(s, t), 0.0), minimum(maximum(s, t), 1.0)
    parallel = logical_and(long, ee * ff - ef * ef < CROSSING * ee * ff)
    exists = logical_and(logical_and(both, parallel), first < last)
    _, aside = length_and_direction(n.cross(e), X)
    change = t - s
    inverse = 1.0 / where(absolute(change) > COINCIDENT, change, 1.0)
    found = []
    for part in (first, last):
        at = start + e * part
        there = clip((part - s) * inverse, 0.0, 1.0)
        opposite = of_b.points[1] + f * there
        own, other = of_a.radius_at(part), of_b.radius_at(there)
        way, r = at - opposite, own + other
        x = aside.dot(way)
        squared = r * r - x * x
        is_above = logical_and(exists, squared > 0.0)
        part, per = sqrt(where(is_above, squared, 1.0)), 1.0 / where(is_above, r, 1.0)
        falls = 1.0 - part * per
        at = at - aside * (x * own * per) + n * (own * falls)
        found.append(Corner(is_above, at, n.dot(way) + r * falls))
    return found


# --- the candidates -------------------------------------------------------------------------------------------------


def _four(corners: Sequence[Corner], deepest: Witness, u: Vector3, v: Vector3, margin: Scalar) -> list[Candidate]:
    """Return the corners that are farthest apart, each once, and the deepest point if it is none of these."""
    n = deepest.n
    one = _farthest(corners, (u + v).dot)
    two = _farthest(corners, lambda at: (at - one[1].at).norm_squared())
    three = _farthest(corners, lambda at: absolute(n.cross(two[1].at - one[1].at).dot(at - one[1].at)))
    triangle = [corner.at for _, corner in (one, two, three)]
    sides = [(p, n.cross(p - q)) for p, q in zip(triangle, (triangle[1], triangle[2], triangle[0]), strict=True)]
    outwards = where(sides[0][1].dot(triangle[2] - triangle[0]) < 0.0, 1.0, -1.0)
    four = _farthest(corners, lambda at: reduce(maximum, (out.dot(at - p) * outwards for p, out in sides)))
    picked: list[tuple[Scalar, Corner]] = []
    for number, corner in (one, two, three, four):
        new = reduce(logical_and, (number != other for other, _ in picked), number >= 0.0)
        picked.append((number, corner._replace(exists=new)))
    # What the features leave out cannot be deeper than the least gap.
    gaps = [where(corner.exists, maximum(corner.gap, deepest.gap), FAR) for _, corner in picked]
    least = reduce(minimum, gaps)
    missed = least > deepest.gap + margin
    gaps = [where(gap > least, gap, where(missed, gap, deepest.gap)) for gap in gaps]
    *others, last = (Candidate(gap, corner.at, n) for gap, (_, corner) in zip(gaps, picked, strict=True))
    return [*others, chosen(missed, Candidate(deepest.gap, deepest.on_a, n), last)]


def _farthest(corners: Sequence[Corner], measure: Callable[[Vector3], Scalar]) -> tuple[Scalar, Corner]:
    """Return which corner has the most of a measure, and that one; -1 if there is none."""
    best, number, farthest = -0.5 * FAR, -1.0, corners[0]._replace(exists=False)
    for k, corner in enumerate(corners):
        most = where(corner.exists, measure(corner.at), -FAR)
        better = most > best
        best, number = where(better, most, best), where(better, float(k), number)
        farthest = _chosen(better, corner, farthest)
    return number, farthest


def _chosen(condition: Any, one: Corner, two: Corner) -> Corner:
    exists = logical_or(logical_and(condition, one.exists), logical_and(logical_not(condition), two.exists))
    return Corner(exists, select(condition, one.at, two.at), where(condition, one.gap, two.gap))
