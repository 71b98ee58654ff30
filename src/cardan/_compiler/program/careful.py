"""Functions of two scalars of a program whose plain formulas fail: remainders, whole quotients, lengths.

**Remainder** of a by b, both positive: r = a - n b with n = floor(a / b). The product n b has twice the digits of a
number, and rounding it may leave r outside of [0, b). So n and b are cut into halves. Their four products are exact,
and so is every difference on the way: r is exact for n below 2^53 (2^24 in single precision). Beyond it is NaN. The
quotient may have been rounded up to n; then r < 0, and one b too much was taken away.

A half is what is left of x after adding and taking away 2^27 x (2^12 x in single precision). No product is rounded, so
compilers may join any of them to sums. A program serves both precisions: it sees which one it runs in from whether
2^-30 of a quotient can be added to it. (Of a constant that would be decided while tracing.)

**Length** hypot(x, y) = m sqrt((x / m)^2 + (y / m)^2) with the larger m of |x| and |y|: no square overflows.
Derivatives hold m, so that they are right where |x| = |y|, and where x or y is 0.

Source: Dekker, A Floating-Point Technique for Extending the Available Precision (1971), for the halves; the sums here
are in another order, which needs no rounded product.
Cost: some 45 operations for a remainder, 17 for a length.
"""

from __future__ import annotations

import math
from typing import Any

from cardan._algebra import scalar

_HALF, _MOST = (2.0**12, 2.0**27), (2.0**24, 2.0**53)
"""What cuts a number into halves, and the first whole number of those that have gaps, in either precision."""
_NEXT = 1.0 + 2.0**-30  # in single precision it is 1
_LARGE, _SCALE = 1e30, 2.0**-30  # a number above the first is scaled by the second, so that no half overflows


def remainder(x: Any, y: Any) -> Any:
    """Return x - y floor(x / y), as NumPy's: it has the sign of y, and is NaN for |x / y| >= 2^53.

    For y = 0 it is NaN; for an infinite y it is x, or y if the signs differ.
    """
    u, b = _with_sign_of(y, x), _with_sign_of(y, y)
    _, r = _divided(_size(u), b)
    up = scalar.where(r > 0.0, b - r, b - (b + r))  # of r = 0, 0 and not -0: it has the sign of y, too
    return _with_sign_of(y, scalar.where(u < 0.0, up, r))


def floor_divide(x: Any, y: Any) -> Any:
    """Return floor(x / y), as NumPy's: NaN for an infinite x; beyond 2^53 it is x / y."""
    u, b = _with_sign_of(y, x), _with_sign_of(y, y)
    n, r = _divided(_size(u), b)
    whole = scalar.where(u < 0.0, -scalar.where(r > 0.0, n + 1.0, n), n)
    quotient = scalar.floor(scalar.divide(x, y))  # beyond 2^53 that changes the slope alone
    beyond = scalar.where(_size(u) < math.inf, quotient, scalar.where(y == 0.0, quotient, math.nan))
    return scalar.where(x == 0.0, quotient, scalar.where(r == r, whole, beyond))  # 0 has the sign of x / y


def hypot(x: Any, y: Any) -> Any:
    """Return sqrt(x^2 + y^2), without overflow on the way; its slopes are x and y over it, and 0 at the origin."""
    m = scalar.maximum(scalar.absolute(x), scalar.absolute(y))
    zero = m == 0.0
    scale = scalar.held(scalar.where(zero, 1.0, scalar.where(m < math.inf, m, 1.0)))  # a length is the same for any
    a, b = x / scale, y / scale
    return scalar.where(zero, 0.0, scale * scalar.sqrt(scalar.where(zero, 1.0, a * a + b * b)))


def _divided(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the whole quotient of two numbers, neither below 0, and what remains; NaN where that is not known."""
    quotient = scalar.divide(a, b)
    n, is_single = scalar.floor(quotient), quotient * _NEXT == quotient
    scale = scalar.where(a > _LARGE, _SCALE, 1.0)
    half = scalar.where(is_single, *_HALF)
    (n1, n2), (b1, b2) = _halves(n, half), _halves(b * scale, half)
    r = (a * scale - n1 * b1 - n1 * b2 - n2 * b1 - n2 * b2) * scalar.where(a > _LARGE, 1.0 / _SCALE, 1.0)
    is_above = r < 0.0
    r, n = scalar.where(is_above, r + b, r), scalar.where(is_above, n - 1.0, n)
    r = scalar.where(n < scalar.where(is_single, *_MOST), r, math.nan)
    return scalar.where(a < b, 0.0, n), scalar.where(a < b, a, r)


def _halves(x: Any, half: Any) -> tuple[Any, Any]:
    """Return two numbers with half of the digits of x each, the sum of which it is."""
    shifted = half * x
    first = (shifted + x) - shifted
    return first, x - first


def _size(u: Any) -> Any:
    """Return |u|, with the slope 1 at 0; -0 becomes 0, as a remainder's sign is the divisor's."""
    return scalar.where(u < 0.0, -u, scalar.where(u == 0.0, 1.0 - (1.0 - u), u))


def _with_sign_of(y: Any, x: Any) -> Any:
    return scalar.where(y < 0.0, -x, x)
