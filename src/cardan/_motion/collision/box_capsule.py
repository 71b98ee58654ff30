"""A box and a capsule: the nearest sphere of the capsule, and the one where its overlap with the box ends.

In the box's frame the capsule's axis is x(t) = c + t u, |t| <= l/2. The squared distance of x(t) from the box is
convex, and half its slope

    g(t) = u . (x - clip(x, -h, h))

is piecewise linear and rises: it bends where x(t) crosses one of the six planes of faces. So among these and both ends
are two neighbours between which g is linear and has its zero: no iteration.

An axis that enters the box is first moved out, by the depth along the best of the three normals of faces and the three
u x e_k (separating axes), until it touches. Then the normal is that axis.

The second candidate is the sphere furthest from the first among those over the same face, or along the same edge, so
that a capsule lying there does not rock.

Source: made here; Gottschalk, Lin and Manocha, OBBTree (1996), for the separating axes.
Cost: 631 operations.
"""

from __future__ import annotations

from cardan._algebra.scalar import absolute, clip, logical_and, maximum, minimum, sqrt, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.box_sphere import nearest_face
from cardan._motion.collision.candidate import (
    Candidate,
    X,
    Y,
    Z,
    existing,
    in_precision,
    length_and_direction,
    select,
)
from cardan._robot.geometry.shapes import Box, Capsule

PARALLEL = 1e-12  # a component of a direction below which it is none
ROUNDING = 1e-15, 5e-7  # of a separation along a normal, in double and single precision; over the sine, along a product
FLAT = 1e-15  # a rise of g [m] below which it has no zero of its own
BESIDE = 0.1  # a component of the normal from which on the contact is beside the box along that axis


def box_capsule(a: Box, X_a: SE3, b: Capsule, X_b: SE3) -> list[Candidate]:
    """Return the nearest sphere, and that at the other end of the overlap."""
    h, half = Vector3(*a.size) * 0.5, 0.5 * b.length
    c = X_a.inverse_act(X_b.translation)
    u = X_a.rotation.transpose_apply(Vector3(*(row[2] for row in X_b.rotation.rows())))
    separation, axis = _best_axis(c, u, h, half)
    inside = separation <= 0.0
    depth = minimum(separation, 0.0)
    c = c - axis * depth
    bends = [_crossings(*each, half) for each in zip(c, u, h, strict=True)]
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
        oblique = squared > PARALLEL
        inverse = 1.0 / sqrt(where(oblique, squared, 1.0))
        offset = across.dot(c)
        reach = Vector3(*map(absolute, across)).dot(h)
        separation = (absolute(offset) - reach) * inverse
        better = logical_and(oblique, separation - error * inverse > best)
        best = where(better, separation, best)
        axis = select(better, across * where(offset < 0.0, -inverse, inverse), axis)
    return best, axis


def _crossings(c: Scalar, u: Scalar, h: Scalar, half: Scalar) -> tuple[Scalar, Scalar]:
    """Return where the axis enters and leaves the slab |x_k| <= h along one axis of the box, cut to its length."""
    inverse = where(absolute(u) > PARALLEL, 1.0 / where(absolute(u) > PARALLEL, u, 1.0), 1e15)
    below, above = (clip((side - c) * inverse, -half, half) for side in (-h, h))
    return minimum(below, above), maximum(below, above)


def _zero_of_slope(c: Vector3, u: Vector3, h: Vector3, ts: list[Scalar]) -> Scalar:
    """Return the t of least distance; ts are both ends, and all bends between them."""
    slopes = [u.dot(_beyond(c + u * t, h)) for t in ts]
    start, end = ts[:2]
    low, high = minimum(slopes[0], 0.0), maximum(slopes[1], 0.0)
    g0, g1, t0, t1 = low, high, start, end
    for t, g in zip(ts, slopes, strict=True):
        falling = g < 0.0
        t0, g0 = maximum(t0, where(falling, t, start)), maximum(g0, where(falling, g, low))
        t1, g1 = minimum(t1, where(falling, end, t)), minimum(g1, where(falling, high, g))
    rise = g1 - g0
    steep = rise > FLAT
    return t0 + (t1 - t0) * where(steep, -g0 / where(steep, rise, 1.0), 0.0)


def _overlap(bends: list[tuple[Scalar, Scalar]], outward: Vector3, half: Scalar) -> tuple[Scalar, Scalar]:
    """Return where the axis is over the box, seen along the normal; empty if the first is not below the last."""
    first, last = -half, half
    for (enters, leaves), e in zip(bends, outward, strict=True):
        over = absolute(e) < BESIDE
        first = maximum(first, where(over, enters, -half))
        last = minimum(last, where(over, leaves, half))
    return first, last
