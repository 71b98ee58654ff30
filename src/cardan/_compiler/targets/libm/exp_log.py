"""Exponential and natural logarithm, of any number.

e^x = 2^n e^r, n = round(x / ln 2): a polynomial on |r| <= ln 2 / 2, then two multiplications by powers of two, so that
a subnormal result is rounded once. ln x = k ln 2 + ln(1 + f), x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)):
with s = f / (2 + f), ln(1 + f) = 2 artanh s = f - f^2/2 + s (f^2/2 + 2 s^2 P(s^2)).

Source: Tang (1989, 1990) for the reductions, Sun's fdlibm (e_log) for the last form; the polynomials are minimax ones
of relative error 2^-60 and 2^-59, from tests/minimax.py.
Cost: about 30 operations each. Below 2 units in the last place.
"""

from __future__ import annotations

import struct

from cardan._compiler.targets.libm.arithmetic import INFINITY, NAN, ROUND, Arithmetic

EXP = (  # e^r = 1 + r + r^2 P(r), |r| <= ln 2 / 2
    0.5, 0.16666666666666682, 0.041666666666666095, 0.008333333333317048,
    0.001388888888911541, 0.00019841269896351738, 2.4801586926914752e-05, 2.7557234894719385e-06,
    2.755758170304749e-07, 2.5112025173072913e-08, 2.0826647858084045e-09,
)  # fmt: skip
LOG = (  # artanh s = s + s z P(z), z = s^2 <= (3 - 2 sqrt 2)^2
    0.3333333333333367, 0.1999999999970832, 0.14285714371014013, 0.11111099302543143,
    0.09091781424379879, 0.07657042465329099, 0.07397816095862488,
)  # fmt: skip
LN2 = (0.6931471805599453, 2.3190468138462996e-17)  # its sum is ln 2
_ONE = 1023 << 52  # the bits of 1


def _power_of_two(w: Arithmetic, k: str) -> str:
    """Write 2^k for a whole -1023 < k < 1024."""
    return w.from_bits(w.logic("add", w.logic("shl", w.bits(w.add(k, ROUND[64])), 52), _ONE))


def exp(w: Arithmetic, x: str) -> str:
    """Write the exponential; beyond [-750, 710] it is that of the bound, 0 or infinity."""
    x = w.select(w.compare("ogt", x, 710.0), 710.0, x)
    x = w.select(w.compare("olt", x, -750.0), -750.0, x)
    n, _ = w.rounded(x, 1.0 / LN2[0])
    r = w.fma(n, -LN2[1], w.fma(n, -LN2[0], x))
    power = w.add(1.0, w.fma(w.mul(r, r), w.polynomial(r, EXP), r))
    half, _ = w.rounded(n, 0.5)
    return w.mul(w.mul(power, _power_of_two(w, half)), _power_of_two(w, w.sub(n, half)))


def log(w: Arithmetic, x: str) -> str:
    """Write the logarithm: -inf at 0, NaN below."""
    tiny = w.compare("olt", x, 2.0**-1022)
    bits = w.bits(w.select(tiny, w.mul(x, 2.0**54), x))
    least = struct.unpack("<q", struct.pack("<d", 0.5**0.5))[0]  # the bits of sqrt(1/2)
    moved = w.logic("add", bits, _ONE - least)
    biased = w.from_bits(w.logic("or", w.logic("lshr", moved, 52), struct.unpack("<q", struct.pack("<d", 2.0**52))[0]))
    k = w.sub(biased, w.select(tiny, 2.0**52 + 1023 + 54, 2.0**52 + 1023))
    f = w.sub(w.from_bits(w.logic("add", w.logic("and", moved, 2**52 - 1), least)), 1.0)
    s = w.div(f, w.add(f, 2.0))
    z = w.mul(s, s)
    half = w.mul(w.mul(f, f), 0.5)
    rest = w.fma(s, w.fma(w.mul(z, 2.0), w.polynomial(z, LOG), half), w.mul(k, LN2[1]))
    result = w.fma(k, LN2[0], w.sub(f, w.sub(half, rest)))
    outside = w.select(w.compare("oeq", x, 0.0), -INFINITY, NAN)
    result = w.select(w.compare("oeq", x, INFINITY), INFINITY, result)
    return w.select(w.compare("ogt", x, 0.0), result, outside)


def expm1(w: Arithmetic, x: str) -> str:
    """Write e^x - 1 = 2 (2^(n - 1) (e^r - 1) + (2^(n - 1) - 1/2)), where only the last sum rounds much."""
    bounded = w.select(w.compare("ogt", x, 710.0), 710.0, x)
    bounded = w.select(w.compare("olt", bounded, -60.0), -60.0, bounded)
    n, _ = w.rounded(bounded, 1.0 / LN2[0])
    r = w.fma(n, -LN2[1], w.fma(n, -LN2[0], bounded))
    half = _power_of_two(w, w.sub(n, 1.0))
    less_one = w.fma(w.mul(r, r), w.polynomial(r, EXP), r)
    result = w.mul(w.fma(half, less_one, w.sub(half, 0.5)), 2.0)
    return w.select(w.compare("olt", w.call("fabs", x), 2.0**-54), x, result)


def log1p(w: Arithmetic, x: str) -> str:
    """Write ln(1 + x) = ln u + (x - (u - 1)) / u, u = 1 + x rounded (Kahan)."""
    u = w.add(1.0, x)
    lost = w.div(w.sub(x, w.sub(u, 1.0)), u)
    inside = w.compare("ogt", u, 0.0)
    lost = w.select(w.compare("olt", u, 2.0**60), lost, 0.0)
    result = w.add(log(w, u), w.select(inside, lost, 0.0))
    return w.select(w.compare("olt", w.call("fabs", x), 2.0**-54), x, result)
