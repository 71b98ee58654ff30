"""Spheres and capsules: the spheres of both that are nearest; of capsules side by side also those at the overlap's end.

    sphere-sphere       gap = |p_a - p_b| - r_a - r_b
    capsule-sphere      the capsule's sphere at t = clip(c_z, -l/2, l/2), c: the other centre in the capsule's frame
    cylinder-sphere     c is rho - r beyond the side and |c_z| - l/2 beyond the cap: outside, the distance is that of
                        what is beyond; inside, the greater of both is the depth
    cone-sphere         c is beyond the side by (l rho + r (c_z - l/2)) / |(l, r)|, and beyond the base by -c_z - l/2.
                        The greater is the distance; but where the foot of c is on neither, that from tip or rim

In the frame of a capsule A, whose axis is z, the axis of another one, B, is c + t v. The distance of s z and c + t v is
least where

    s = c_z - v_z (v_x c_x + v_y c_y) / (v_x^2 + v_y^2)          t = s v_z - v . c          s = c_z + t v_z

each clipped to its capsule, in this order; nothing cancels where they are nearly parallel. Parallel axes have no s of
least distance: then it is where the overlap of B's shadow on A begins. The second candidate is the overlap's other end,
so that two capsules along one another do not rock; those that cross at more than 30 degrees touch at one point.

Source: Ericson, Real-Time Collision Detection (2005), sections 4.3.1, 4.5.1 and 5.1.9; Lumelsky, On fast computation of
distance between line segments (1985).
Cost: 41, 45, 79, 110 and 157 operations.
"""

from __future__ import annotations

from cardan._algebra.scalar import absolute, clip, logical_and, logical_or, maximum, minimum, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.candidate import (
    Candidate,
    X,
    Z,
    axis_of,
    between_spheres,
    existing,
    in_precision,
    length_and_direction,
    select,
)
from cardan._robot.geometry.shapes import Capsule, Cone, Cylinder, Sphere

PARALLEL = 1e-20, 1e-11  # squared sines, in double and single precision: below, v_x and v_y are rounding
CROSSING = 0.25  # squared sine of 30 degrees


def sphere_sphere(a: Sphere, X_a: SE3, b: Sphere, X_b: SE3) -> list[Candidate]:
    """Return the candidate; spheres with one centre part along z of A."""
    d = X_a.rotation.transpose_apply(X_a.translation - X_b.translation)
    return [between_spheres(d, Vector3.zero(), (a.radius, b.radius), Z)]


def capsule_sphere(a: Capsule, X_a: SE3, b: Sphere, X_b: SE3) -> list[Candidate]:
    """Return the candidate; a sphere whose centre is on the axis parts along x of A."""
    c = X_a.inverse_act(X_b.translation)
    centre = Vector3(0.0, 0.0, clip(c.z, -0.5 * a.length, 0.5 * a.length))
    return [between_spheres(centre - c, centre, (a.radius, b.radius), X)]


def cylinder_sphere(a: Cylinder, X_a: SE3, b: Sphere, X_b: SE3) -> list[Candidate]:
    """Return the candidate; a sphere whose centre is on the axis parts along it, or along x of A."""
    c = X_a.inverse_act(X_b.translation)
    rho, out = length_and_direction(Vector3(c.x, c.y, 0.0), X)
    up = Z * where(c.z < 0.0, -1.0, 1.0)
    side, cap = rho - a.radius, absolute(c.z) - 0.5 * a.length
    inwards = select(side > cap, out, up)
    length, outward = length_and_direction(out * maximum(side, 0.0) + up * maximum(cap, 0.0), inwards)
    distance = where(length > 0.0, length, maximum(side, cap))
    return [Candidate(distance - b.radius, c - outward * distance, -outward)]


def cone_sphere(a: Cone, X_a: SE3, b: Sphere, X_b: SE3) -> list[Candidate]:
    """Return the candidate; a sphere whose centre is on the axis parts along it, or through the side towards x of A."""
    c = X_a.inverse_act(X_b.translation)
    rho, out = length_and_direction(Vector3(c.x, c.y, 0.0), X)
    slant, of_side = length_and_direction(out * a.length + Z * a.radius, Z)
    tip, height = Z * (0.5 * a.length), c.z + 0.5 * a.length
    along = a.length * height - a.radius * (rho - a.radius)  # how far up the side, times its length
    at_tip, at_rim = along >= slant * slant, logical_and(along < 0.0, rho > a.radius)
    corner = select(at_tip, c - tip, out * (rho - a.radius) + Z * height)
    length, off_corner = length_and_direction(corner, of_side)
    side, base = of_side.dot(c - tip), -height
    at_corner = logical_or(at_tip, at_rim)
    distance = where(at_corner, length, maximum(side, base))
    outward = select(at_corner, off_corner, select(side > base, of_side, -Z))
    return [Candidate(distance - b.radius, c - outward * distance, -outward)]


def capsule_capsule(a: Capsule, X_a: SE3, b: Capsule, X_b: SE3) -> list[Candidate]:
    """Return the nearest spheres, and those at the other end of the overlap."""
    c = X_a.inverse_act(X_b.translation)
    v = X_a.rotation.transpose_apply(axis_of(X_b))
    along, sine = v.dot(c), v.x * v.x + v.y * v.y
    la, lb = 0.5 * a.length, 0.5 * b.length
    _, across = length_and_direction(Vector3(-v.y, v.x, 0.0), X)

    def candidate(s: Scalar, t: Scalar) -> Candidate:
        centre = Vector3(0.0, 0.0, s)
        return between_spheres(centre - c - v * t, centre, (a.radius, b.radius), across)

    shadow = absolute(v.z) * lb
    first, last = maximum(-la, c.z - shadow), minimum(la, c.z + shadow)
    parallel = sine < in_precision(v.z, *PARALLEL)
    # The divisor is 1 where the result is not used: a division by 0 there would make derivatives NaN.
    s = where(parallel, first, c.z - v.z * (v.x * c.x + v.y * c.y) / where(parallel, 1.0, sine))
    t = clip(clip(s, -la, la) * v.z - along, -lb, lb)
    s = clip(c.z + t * v.z, -la, la)
    other = where(s - first > last - s, first, last)
    overlap = logical_and(first < last, sine < CROSSING)
    return [candidate(s, t), existing(overlap, candidate(other, clip(other * v.z - along, -lb, lb)))]
