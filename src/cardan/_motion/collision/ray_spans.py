"""Intervals of a line o + t d: where it is within a half space, a slab or a ball; and what a ray meets of them.

The formulas and their sources are in `rays.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cardan._algebra.scalar import absolute, logical_and, logical_or, maximum, minimum, sqrt, where
from cardan._algebra.spatial import Scalar, Vector3
from cardan._motion.collision.candidate import FAR, PARALLEL, select

VERY_FAR = 1e30  # times a height that counts, beyond `FAR`, and a number in float32


class Hit(NamedTuple):
    """Where a ray meets a shape."""

    distance: Scalar  # along the ray [m]; `FAR` if it meets none
    normal: Vector3  # unit vector out of the shape; of no meaning if it meets none


class Span(NamedTuple):
    """The interval in which a line is within a shape; empty if enter > exit."""

    enter: Scalar
    exit: Scalar

    def of_both(self, other: Span) -> Span:
        return Span(maximum(self.enter, other.enter), minimum(self.exit, other.exit))

    def of_either(self, other: Span) -> Span:
        """Return the interval of a union that is one; an empty span takes no part in it."""
        a, b = self.or_none(), other.or_none()
        return Span(minimum(a.enter, b.enter), maximum(a.exit, b.exit))

    def or_none(self) -> Span:
        some = self.enter <= self.exit
        return Span(where(some, self.enter, FAR), where(some, self.exit, -FAR))

    def last(self, is_outside: Any) -> Scalar:
        """Return what is largest for the part of a shape that is met: the last to begin, or the first to end."""
        return where(is_outside, self.enter, -self.exit)

    @property
    def distance(self) -> Scalar:
        """The first point at or after the ray's origin; `FAR` if there is none."""
        t = where(self.enter >= 0.0, self.enter, self.exit)
        met = logical_and(self.enter <= self.exit, logical_and(t >= 0.0, t < 0.5 * FAR))
        return where(met, t, FAR)


def half_space(height: Scalar, slope: Scalar) -> Span:
    """Return where the height of a line above a plane, and its slope n . d, put it below."""
    moving = absolute(slope) > PARALLEL
    # A line along the plane comes from above it, or from below, very far away.
    inverse = where(moving, 1.0 / where(moving, slope, 1.0), -VERY_FAR)
    t, goes_down = -height * inverse, inverse < 0.0
    return Span(where(goes_down, t, -FAR), where(goes_down, FAR, t))


def slab(x: Scalar, d: Scalar, half: Scalar) -> Span:
    """Return where |x + t d| <= half."""
    moving = absolute(d) > PARALLEL
    inverse = 1.0 / where(moving, d, 1.0)
    middle, reach = -x * inverse, half * absolute(inverse)
    within = absolute(x) <= half
    return Span(
        where(moving, middle - reach, where(within, -FAR, FAR)), where(moving, middle + reach, where(within, FAR, -FAR))
    )


def ball(o: Vector3, d: Vector3, radius: Scalar) -> Span:
    """Return where a line is within a ball; d has any length, and if it has none the line is its point."""
    speed = d.norm_squared()
    moving = speed > PARALLEL
    inverse = 1.0 / where(moving, speed, 1.0)
    middle = -o.dot(d) * inverse
    nearest = select(moving, o + d * middle, o)
    below = radius * radius - nearest.norm_squared()
    reach = sqrt(where(below > 0.0, below * inverse, 1.0))  # the root of 0 has no derivative
    within = below > 0.0
    return Span(
        where(within, where(moving, middle - reach, -FAR), FAR), where(within, where(moving, middle + reach, FAR), -FAR)
    )


def below_tip(o: Vector3, d: Vector3, sine: Scalar, cosine: Scalar) -> Span:
    """Return where a line is in the cone below a tip at 0, the sine and cosine being those of half its angle.

    Along a unit vector, cos^2 (x^2 + y^2) - sin^2 z^2 is a t^2 + 2 b t + c. A line with a < 0 is steeper than the side:
    it comes from below or goes there, and each nappe has one root. Otherwise both roots are of one nappe.
    """
    start = -o.dot(d)
    m = o + d * start  # the point nearest to the tip: so little is lost if the ray comes from far
    scaled, slope = (Vector3(v.x * cosine, v.y * cosine, v.z * sine) for v in (m, d))

    def product(v: Vector3, w: Vector3) -> Scalar:
        return v.x * w.x + v.y * w.y - v.z * w.z

    a, b, c = product(slope, slope), product(scaled, slope), product(scaled, scaled)
    a = where(absolute(a) > PARALLEL, a, PARALLEL)
    square, is_steep = b * b - a * c, a < 0.0
    has_roots = square > 0.0  # the root of 0 has no derivative
    root = where(has_roots, sqrt(where(has_roots, square, 1.0)), 0.0)
    q = -(b + where(b < 0.0, -root, root))
    t, other = q / a, c / where(absolute(q) > 0.0, q, 1.0)
    first, last = minimum(t, other), maximum(t, other)
    is_rising = d.z > 0.0
    meets = logical_or(is_steep, logical_and(has_roots, m.z + d.z * 0.5 * (first + last) < 0.0))
    enter = where(logical_and(is_steep, is_rising), -FAR, where(is_steep, last, first))
    leave = where(is_steep, where(is_rising, first, FAR), last)
    return Span(where(meets, start + enter, FAR), where(meets, start + leave, -FAR))


def face_normal(spans: Sequence[Span], both: Span, d: Vector3) -> Vector3:
    """Return the normal of the face of a box that is met, from the spans along its axes and that of all three."""
    is_outside = both.enter >= 0.0
    on_x, on_y = (e.last(is_outside) >= both.last(is_outside) for e in spans[:2])
    along = d * where(is_outside, -1.0, 1.0)  # a ray goes in against the normal, and out along it
    nx, ny, nz = (where(e < 0.0, -1.0, 1.0) for e in along)
    normal = select(on_y, Vector3(0.0, ny, 0.0), Vector3(0.0, 0.0, nz))
    return select(on_x, Vector3(nx, 0.0, 0.0), normal)
