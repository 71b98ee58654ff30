"""A box and a sphere or capsule: the sphere nearest to the box, and of a capsule that where its overlap with it ends.

A sphere at c, in the box's frame:

    outside     d = c - clip(c, -h, h),  distance |d|, normal from d
    inside      distance max_k (|c_k| - h_k) <= 0, normal along that axis

A capsule's axis is x(t) = c + t u, |t| <= l/2. The squared distance of x(t) from the box is convex, and half its slope

    g(t) = u . (x - clip(x, -h, h))

is piecewise linear and rises: it bends where x(t) crosses one of the six planes of faces. So among these and both ends
are two neighbours between which g is linear and has its zero: no iteration.

An axis that enters the box is first moved out, by the depth along the best of the three normals of faces and the three
u x e_k (separating axes), until it touches. Then the normal is that axis.

The second candidate is the sphere furthest from the first among those over the same face, or along the same edge, so
that a capsule lying there does not rock.

Source: Ericson, Real-Time Collision Detection (2005), section 5.1.3, for the sphere; made here for the capsule, with
Gottschalk, Lin and Manocha, OBBTree (1996), for the separating axes.
Cost: 94 and 631 operations.
"""

from __future__ import annotations

from cardan._algebra.scalar import absolute, clip, logical_and, maximum, minimum, sqrt, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.candidate import (
    PARALLEL,
    ROUNDING,
    Candidate,
    X,
    Y,
    Z,
    axis_of,
    crossings,
    existing,
    in_precision,
    length_and_direction,
    select,
)
from cardan._robot.geometry.shapes import Box, Capsule, Sphere

FLAT = 1e-15  # a rise of g [m] below which it has no zero of its own
BESIDE = 0.1  # a component of the normal from which on the contact is beside the box along that axis


def box_sphere(a: Box, X_a: SE3, b: Sphere, X_b: SE3) -> list[Candidate]:
    """Return the candidate; c itself may be inside."""
    h = Vector3(*a.size) * 0.5
    c = X_a.inverse_act(X_b.translation)
    nearest = Vector3(*(clip(e, -s, s) for e, s in zip(c, h, strict=True)))
    depth, face = nearest_face(c, h)
    length, outward = length_and_direction(c - nearest, face)
    distance = where(length > 0.0, length, depth)
    return [Candidate(distance - b.radius, c - outward * distance, -outward)]


def nearest_face(c: Vector3, h: Vector3) -> tuple[Scalar, Vector3]:
    """Return the height of c above the face whose plane it is highest above, and that face's outward normal."""
    x, y, z = (absolute(e) - s for e, s in zip(c, h, strict=True))
    is_x = logical_and(x >= y, x >= z)
    axis = select(is_x, (1.0, 0.0, 0.0), select(y >= z, (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    outward = Vector3(*(where(e < 0.0, -w, w) for e, w in zip(c, axis, strict=True)))
    return maximum(maximum(x, y), z), outward


def box_capsule(a: Box, X_a: SE3, b: Capsule, X_b: SE3) -> list[Candidate]:
    """Return the nearest sphere, and that at the other end of the overlap."""
    h, half = Vector3(*a.size) * 0.5, 0.5 * b.length
    c = X_a.inverse_act(X_b.translation)
    u = X_a.rotation.transpose_apply(axis_of(X_b))
    separation, axis = _best_axis(c, u, h, half)
    inside = separation <= 0.0
    depth = minimum(separation, 0.0)
    c = c - axis * depth  # out of the box, until it touches
    bends = []
    for along in zip(c, u, h, strict=True):
        below, above = (clip(t, -half, half) for t in crossings(*along))
        bends.append((minimum(below, above), maximum(below, above)))
    t = _zero_of_slope(c, u, h, [-half, half, *(t for pair in bends for t in pair)])

    def candidate(t: Scalar) -> Candidate:
        x = c + u * t
        distance, direction = length_and_direction(_beyond(x, h), axis)
        outward, gap = select(inside, axis, direction), distance + depth
        return Candidate(gap - b.radius, x + axis * depth - outward * gap, -outward)

    nearest = candidate(t)
    first, last = _overlap(bends, nearest.normal, half)
    other = candidate(where(t - first > last - t, first, last))
    return [nearest, existing(first < last, other)]


def _beyond(x: Vector3, h: Vector3) -> Vector3:
    """Return x from the nearest point of the box: none where it is inside."""
    return Vector3(*(e - clip(e, -s, s) for e, s in zip(x, h, strict=True)))


def _best_axis(c: Vector3, u: Vector3, h: Vector3, half: Scalar) -> tuple[Scalar, Vector3]:
    """Return the largest separation along an axis (the depth, if negative), and this axis, pointing out of the box."""
    best, axis = nearest_face(c, h + Vector3(*map(absolute, u)) * half)
    error = in_precision(u.x, *ROUNDING) * (sum(h) + half)
    for edge in (X, Y, Z):
        across = u.cross(edge)
        squared = across.norm_squared()
        oblique = squared > PARALLEL  # else the divisor is 1, so that derivatives stay finite
        inverse = 1.0 / sqrt(where(oblique, squared, 1.0))
        offset = across.dot(c)
        reach = Vector3(*map(absolute, across)).dot(h)
        separation = (absolute(offset) - reach) * inverse
        better = logical_and(oblique, separation - error * inverse > best)
        best = where(better, separation, best)
        axis = select(better, across * where(offset < 0.0, -inverse, inverse), axis)
    return best, axis


def _zero_of_slope(c: Vector3, u: Vector3, h: Vector3, ts: list[Scalar]) -> Scalar:
    """Return the t of least distance; ts are both ends, and all bends between them."""
    slopes = [u.dot(_beyond(c + u * t, h)) for t in ts]
    start, end = ts[:2]
    low, high = minimum(slopes[0], 0.0), maximum(slopes[1], 0.0)
    g0, g1, t0, t1 = low, high, start, end  # g rises: of the ts before its zero take the last, of the others the first
    for t, g in zip(ts, slopes, strict=True):
        falling = g < 0.0
        t0, g0 = maximum(t0, where(falling, t, start)), maximum(g0, where(falling, g, low))
        t1, g1 = minimum(t1, where(falling, end, t)), minimum(g1, where(falling, high, g))
    rise = g1 - g0
    steep = rise > FLAT  # else the divisor is 1, and the whole stretch is equally near
    return t0 + (t1 - t0) * where(steep, -g0 / where(steep, rise, 1.0), 0.0)


def _overlap(bends: list[tuple[Scalar, Scalar]], outward: Vector3, half: Scalar) -> tuple[Scalar, Scalar]:
    """Return where the axis is over the box, seen along the normal; empty if the first is not below the last."""
    first, last = -half, half
    for (enters, leaves), e in zip(bends, outward, strict=True):
        over = absolute(e) < BESIDE
        first = maximum(first, where(over, enters, -half))
        last = minimum(last, where(over, leaves, half))
    return first, last
