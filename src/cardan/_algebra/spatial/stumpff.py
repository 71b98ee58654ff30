"""Stumpff functions: the coefficients of every exponential and logarithm here, without cancellation.

    c_k(x) = sum_n (-x)^n / (2n + k)!        x = angle^2
    c_0 = cos t,  c_1 = sin t / t,  c_2 = (1 - cos t)/t^2,  c_3 = (t - sin t)/t^3, ...       t = sqrt(x)
    c_k(x) = 1/k! - x c_{k+2}(x)

Twice the angle is four times x, and takes no series of its own:

    c_0(4x) = 2 c_0^2 - 1,  c_1(4x) = c_0 c_1,  c_2(4x) = c_1^2 / 2,  c_3(4x) = (c_2 + c_0 c_3) / 4

Below x = 4 the two highest are summed and the recurrence runs downwards, where it loses nothing; above, it runs
upwards from sin and cos, where it loses nothing either. Both branches are smooth in x, so derivatives pass.

Source: Stumpff, Himmelsmechanik I (1959), section 41; Battin, Mathematics and Methods of Astrodynamics (1999), 4.5.
Cost: about 60 operations with a sine, a cosine and a square root.
"""

from __future__ import annotations

from math import factorial
from typing import Any

from cardan._algebra.scalar import cos, sin, sqrt, where

THRESHOLD = 4.0
TERMS = 10  # the first neglected at x = 4 is 3e-19 of c_4, and adds 4e-18 to a third derivative: below every rounding


def _series(k: int, x: Any) -> Any:
    total = 1.0 / factorial(2 * TERMS + k)
    for n in reversed(range(TERMS)):
        total = 1.0 / factorial(2 * n + k) - x * total
    return total


def stumpff(x: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Return (c_0, ..., c_5) at x = angle^2 >= 0, each to a few units in the last place.

    Args:
        x: square of an angle [rad^2].

    Examples:
        >>> cardan.spatial.stumpff(0.0)[:3]
        (1.0, 1.0, 0.5)
    """
    small = x < THRESHOLD
    near = where(small, x, 0.0)  # both branches are computed: beyond its range the series would overflow
    s4, s5 = _series(4, near), _series(5, near)
    s2, s3 = 0.5 - near * s4, 1.0 / 6.0 - near * s5
    s0, s1 = 1.0 - near * s2, 1.0 - near * s3

    far = where(small, THRESHOLD, x)  # never 0, so that root and divisions and their derivatives are finite
    angle, per = sqrt(far), 1.0 / far
    half = sin(0.5 * angle)  # 1 - cos t = 2 sin^2(t / 2), which does not cancel
    f0, f1, f2 = cos(angle), sin(angle) * (angle * per), 2.0 * half * half * per
    f3 = (1.0 - f1) * per
    f4, f5 = (0.5 - f2) * per, (1.0 / 6.0 - f3) * per
    return tuple(where(small, s, f) for s, f in zip((s0, s1, s2, s3, s4, s5), (f0, f1, f2, f3, f4, f5), strict=True))
