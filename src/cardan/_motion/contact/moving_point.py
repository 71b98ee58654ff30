"""How fast the lowest point of a body on a plane goes over its shape, and with it the lever of the contact.

Seen along axes at rest, the lever r from a shape's centre to its lowest point changes by

    r' = w x r + d,     d the point's velocity over the shape, where the normal turns by n' = -w x n

    sphere       r' = 0: its lever is -n times the radius, however it turns
    capsule      r' = w x (r + n radius)
    ellipsoid    d = -D (1 - u u^T) D n' / |D n|,   D = diag(radii),   u = D n / |D n|
    cylinder     d = (k x r) (k . n  n . w - k . w) / (1 - (k . n)^2) on its rims, k its axis
    cone         the same on its rim; its tip is a corner, which a turn about k leaves in its place
    box, hull    d = 0: it is a corner

all in the body's axes. A contact acts where the point is at the step's beginning, on bodies that go on with the
velocities of its end. These are asked for at the lever of the step's middle, r + dt/2 r': so the mean of a lever before
and after, and a coin that rolls round on its rim keeps its energy to second order of the step. With the lever of the
beginning it gains at first order. A body that turns by more than a radian in a step has no such mean: then r' is that
of a turn by a radian. Nor has a point that races round the rim of what is nearly flat: its lever's mean is near the
axis, and r' would throw the body up. Of a way round by p radians in a step, p / (1 + 4 p^2) counts, and likewise over
an ellipsoid.

Source: Montana, The kinematics of contact and grasp (1988), for the velocity of a point of contact.
Cost: 9 operations for a corner, 40 for a rim.
"""

from __future__ import annotations

from collections.abc import Callable

from cardan._algebra.scalar import maximum, sqrt
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._dynamics.algorithms.whips import MOST
from cardan._robot.geometry.shapes import Capsule, Cone, Cylinder, Ellipsoid, Geometry, Sphere

FLAT = 1e-6  # the square of a tilt below which a rim has no lowest point

LeverRate = Callable[[Vector3, Vector3, Vector3, Scalar], Vector3]
"""Of w, n, r and dt: r'."""


def turn_followed(w: Vector3, dt: float) -> Vector3:
    """Return an angular velocity, or so much of it as a lever can follow in a step."""
    return w * (1.0 / sqrt(maximum(w.norm_squared() * (dt / MOST) ** 2, 1.0)))


def lever_rate(shape: Geometry, X: SE3) -> LeverRate | None:
    """Return what gives r' of a shape at a pose in its node, along the node's axes; None if that is 0."""
    if isinstance(shape, Sphere):
        return None
    if isinstance(shape, Capsule):
        radius = shape.radius
        return lambda w, n, r, _: w.cross(r + n * radius)
    if isinstance(shape, (Cylinder, Cone)):
        k = X.rotation @ Vector3(0.0, 0.0, 1.0)
        return lambda w, n, r, dt: (w + k * _round_rim(k, w, n, dt)).cross(r)
    if isinstance(shape, Ellipsoid):
        D = Vector3(*shape.radii)
        turn = X.rotation.transpose_apply
        return lambda w, n, r, dt: w.cross(r) + X.rotation @ _over_ellipsoid(D, turn(w), turn(n), dt)
    return lambda w, n, r, _: w.cross(r)


def _round_rim(k: Vector3, w: Vector3, n: Vector3, dt: Scalar) -> Scalar:
    """Return the angular velocity at which the lowest point goes round a rim, as much of it as counts."""
    up = k.dot(n)
    rate = (up * n.dot(w) - k.dot(w)) / (1.0 - up * up + FLAT)
    return rate * _counted(rate * rate, dt)


def _over_ellipsoid(D: Vector3, w: Vector3, n: Vector3, dt: Scalar) -> Vector3:
    scaled, rate = D * n, D * n.cross(w)
    size = scaled.norm_squared()
    d = D * (scaled * (scaled.dot(rate) / size) - rate) * (1.0 / scaled.norm())
    return d * _counted(d.norm_squared() / D.norm_squared(), dt)


def _counted(squared_rate: Scalar, dt: Scalar) -> Scalar:
    """Return what counts of the rate [rad/s] at which a point goes round a shape."""
    return 1.0 / (1.0 + squared_rate * (4.0 * dt * dt))
