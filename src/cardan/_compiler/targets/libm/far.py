"""The reduction of angles beyond 1e12 rad, to the largest double.

|x| = m 2^e with a whole m of 53 bits. Of 2/pi = sum b_i 2^-i the bits with i < e - 1 contribute multiples of 4 to
x 2/pi, whole turns; the 192 bits from there on leave less than 2^-137 unknown, and no double is nearer than 2^-62 to a
multiple of pi/2. So one product of m and a window of the table, modulo 2^192, has the quadrant in its first two bits
and the fraction in the others; that becomes a sum of two doubles and is multiplied by pi/2. The product is a matter of
whole numbers, which each target writes as it can; what follows is here.

Source: Payne and Hanek, Radian reduction for trigonometric functions (1983).
"""

from __future__ import annotations

import functools
from ctypes import c_double, c_float
from fractions import Fraction

from cardan._compiler.targets.libm.arithmetic import Arithmetic

FAST_RANGE = {64: 1e12, 32: 1e5}  # largest angle that needs no window: three parts of pi/2 reduce it exactly enough
ZEROS, BITS = 80, 1248  # of the table: so many zeros, then 2/pi; so many together

LOWEST = BITS - 192 - ZEROS + 1075 + 2  # where the window of a number with biased exponent 0 would begin


@functools.cache
def half_pi() -> Fraction:
    """Return pi/2 to 1400 bits, by Machin's formula."""
    one = 1 << 1420

    def arctangent_of_inverse(n: int) -> int:
        return sum((-1) ** k * (one // ((2 * k + 1) * n ** (2 * k + 1))) for k in range(310))

    return Fraction(8 * arctangent_of_inverse(5) - 2 * arctangent_of_inverse(239), one)


def parts(number: Fraction, count: int, word: int = 64) -> tuple[float, ...]:
    """Return doubles, or numbers of 32 bits, whose sum is a number, the largest first."""
    kind, result = c_double if word == 64 else c_float, list[float]()
    for _ in range(count):
        result.append(kind(float(number)).value)
        number -= Fraction(result[-1])
    return tuple(result)


def two_over_pi() -> bytes:
    """Return the table of zeros and 2/pi, its last bits first."""
    return int(2 ** (BITS - ZEROS) / half_pi()).to_bytes(BITS // 8, "little")


def _exact_sum(w: Arithmetic, a: str, b: str) -> tuple[str, str]:
    """Write a + b in two parts; a is a multiple of the last digit of b (Dekker)."""
    total = w.add(a, b)
    return total, w.add(w.sub(a, total), b)


def _halves(w: Arithmetic, word: str, shift: str, unit: float) -> tuple[str, str]:
    """Write the halves of a word as numbers; the shift, `ashr` or `lshr`, is that of a signed or unsigned word."""
    upper, lower = w.logic(shift, word, 32), w.logic("and", word, 2**32 - 1)
    return w.mul(w.number(upper), unit * 2.0**32), w.mul(w.number(lower), unit)


def reduction(w: Arithmetic, x: str, upper: str, lower: str) -> tuple[str, str]:
    """Write r and what r lost to rounding, for the fraction's first 128 bits, signed, in two words.

    x is the angle: r is NaN for an infinite one.
    """
    first, second = _halves(w, upper, "ashr", 2.0**-64)
    third, fourth = _halves(w, lower, "lshr", 2.0**-128)
    above, above_low = _exact_sum(w, first, second)
    below, below_low = _exact_sum(w, third, fourth)
    turn, lost = _exact_sum(w, above, below)
    lost = w.add(w.add(lost, above_low), below_low)
    high, low = parts(half_pi(), 2)
    r = w.mul(turn, high)
    rest = w.fma(lost, high, w.fma(turn, low, w.fma(turn, high, w.neg(r))))
    r, rest = _exact_sum(w, r, rest)
    return w.add(r, w.sub(x, x)), rest
