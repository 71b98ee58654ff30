"""Sine, exponential and their kin of Python floats, rounded to the nearest float: the same bits on every machine.

The C library's are not: glibc, for one, has others for processors with fused multiply-adds, and one result in a
thousand differs. Numbers computed while a robot is read or a function is traced become part of programs, so these serve
there (`scalar.py`). Exponentials and logarithms are those of decimal numbers, to 50 digits. The others work with
integers, x as x 2^F: a sum of a series after a reduction of the argument,

    sin and cos:  x = n pi/2 + r

and, for the inverse functions, one step of Newton from the C library's result, which leaves nothing of its error:

    atan2(y, x) = a + t,  t = (y cos a - x sin a) / (x cos a + y sin a)

with errors below 2^-100 relative, so that all but one rounding in 2^45 is to the nearest.

Source: Muller, Elementary Functions (2016), chapters 3 and 11.
Cost: about ten microseconds; of a logarithm a hundred.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

DIGITS = 170  # bits behind the point: 53, 62 that the worst argument near a multiple of pi/2 loses, and 55 to spare


def sin(x: float) -> float:
    """Return the sine of x [rad]."""
    return x if abs(x) < 2.0**-27 else _sin_cos(x)[0]  # there x^2 / 6 is below half a unit in the last place


def cos(x: float) -> float:
    """Return the cosine of x [rad]."""
    return 1.0 if abs(x) < 2.0**-27 else _sin_cos(x)[1]


def tan(x: float) -> float:
    """Return the tangent of x [rad]."""
    if abs(x) < 2.0**-27 or not math.isfinite(x):
        return x if math.isfinite(x) else math.nan
    s, c = _fixed_sin_cos(x, _digits(x))
    return s / c


@lru_cache(maxsize=256)
def _sin_cos(x: float) -> tuple[float, float]:
    if not math.isfinite(x):
        return math.nan, math.nan
    digits = _digits(x)
    s, c = _fixed_sin_cos(x, digits)
    return s / (1 << digits), c / (1 << digits)


def atan2(y: float, x: float) -> float:
    """Return the angle in [-pi, pi] of the point (x, y)."""
    a = math.atan2(y, x)
    if a == 0.0 or x == y == 0.0 or not (math.isfinite(x) and math.isfinite(y)):
        return a
    (m, d), (n, e) = y.as_integer_ratio(), x.as_integer_ratio()
    return _fixed_atan2(m * e, n * d, a)


def asin(x: float) -> float:
    """Return the angle in [-pi/2, pi/2] whose sine is x; NaN outside [-1, 1]."""
    if abs(x) < 2.0**-27 or not abs(x) <= 1.0:
        return x if abs(x) <= 1.0 else math.nan
    return _fixed_atan2(*_on_unit_circle(x), math.asin(x))


def acos(x: float) -> float:
    """Return the angle in [0, pi] whose cosine is x; NaN outside [-1, 1]."""
    if x == 1.0 or not abs(x) <= 1.0:
        return 0.0 if x == 1.0 else math.nan
    cosine, sine = _on_unit_circle(x)
    return _fixed_atan2(sine, cosine, math.acos(x))


def exp(x: float) -> float:
    """Return e to the power x."""
    if not abs(x) < 760.0:  # e^760 is above the largest float, e^-760 below the smallest
        return x if math.isnan(x) else math.inf if x > 0.0 else 0.0
    by, exact = _decimal(x)
    return float(by.exp(exact))


def expm1(x: float) -> float:
    """Return e^x - 1, accurate near 0."""
    if abs(x) < 2.0**-54 or not abs(x) < 760.0:
        return exp(x) - 1.0 if abs(x) > 1.0 else x
    by, exact = _decimal(x)
    return float(by.subtract(by.exp(exact), 1))


def tanh(x: float) -> float:
    """Return the hyperbolic tangent, (e^2x - 1) / (e^2x + 1)."""
    if abs(x) < 2.0**-27 or not abs(x) < 22.0:  # 1 - tanh 22 = 2e-19 rounds away
        return math.copysign(1.0, x) if abs(x) > 1.0 else x
    by, exact = _decimal(2.0 * x)
    square = by.exp(exact)
    return float(by.divide(by.subtract(square, 1), by.add(square, 1)))


def log(x: float) -> float:
    """Return the natural logarithm; -inf at 0, NaN below."""
    if x <= 0.0 or not math.isfinite(x) or x == 1.0:
        return -math.inf if x == 0.0 else 0.0 if x == 1.0 else x if x > 0.0 else math.nan
    by, exact = _decimal(x)
    return float(by.ln(exact))


def log1p(x: float) -> float:
    """Return the natural logarithm of 1 + x, accurate near 0; -inf at -1, NaN below."""
    if x <= -1.0 or abs(x) < 2.0**-54 or not math.isfinite(x):
        return -math.inf if x == -1.0 else x if x > -1.0 else math.nan
    by, exact = _decimal(x)
    return float(by.ln(by.add(exact, 1)))


def _decimal(x: float) -> tuple[Any, Any]:
    """Return arithmetic to 50 decimal digits, and a number in it."""
    from decimal import Context  # only where there is one: importing it takes a millisecond

    by = Context(prec=50)
    return by, by.create_decimal_from_float(x)


def _digits(x: float) -> int:
    """Return how many bits behind the point a result near x, or of x, takes."""
    return DIGITS + abs(math.frexp(x)[1])


def _fixed(x: float, digits: int) -> int:
    m, d = x.as_integer_ratio()
    return (m << digits) >> d.bit_length() - 1  # d is a power of 2


@lru_cache(maxsize=64)
def _half_pi(digits: int) -> int:
    """Return pi/2 = 8 atan(1/5) - 2 atan(1/239), by Machin."""
    spare = digits + 16  # each of up to 300 terms is rounded down, and eight times that is below 2^16
    return (8 * _fixed_atan(5, spare) - 2 * _fixed_atan(239, spare)) >> 16


def _fixed_atan(n: int, digits: int) -> int:
    """Return the angle whose tangent is 1/n."""
    power, k, total = (1 << digits) // n, 1, 0
    while power:
        total += power // k
        power, k = -power // (n * n), k + 2
    return total


def _fixed_sin_cos(x: float, digits: int) -> tuple[int, int]:
    quarter = _half_pi(digits)
    n, r = divmod(_fixed(x, digits) + (quarter >> 1), quarter)
    r -= quarter >> 1
    s = _sine_series(r, r * r >> digits, digits)
    c = math.isqrt((1 << 2 * digits) - s * s)  # above 0.7, as |r| <= pi/4, so it keeps the digits of the sine
    return ((s, c), (c, -s), (-s, -c), (-c, s))[n % 4]


def _sine_series(r: int, square: int, digits: int) -> int:
    """Return r (1 - r^2 / (2 3) (1 - r^2 / (4 5) (1 - ...)))."""
    total, term, k = 0, r, 2
    while term not in (0, -1):  # shifted to the right, a negative number ends at -1
        total += term
        term = -(term * square >> digits) // (k * (k + 1))
        k += 2
    return total


def _fixed_atan2(y: int, x: int, near: float) -> float:
    """Return the angle of the point (x, y), given nearly."""
    digits = _digits(near)
    s, c = _fixed_sin_cos(near, digits)
    step = ((y * c - x * s) << digits) // (x * c + y * s)
    return (_fixed(near, digits) + step) / (1 << digits)


def _on_unit_circle(x: float) -> tuple[int, int]:
    """Return x and the root of 1 - x^2, for the point there."""
    m, d = x.as_integer_ratio()
    return m << DIGITS, math.isqrt((d * d - m * m) << 2 * DIGITS)
