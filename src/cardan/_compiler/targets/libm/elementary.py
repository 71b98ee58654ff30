"""Exponential, natural logarithm, and inverse sine, cosine and tangent, of any number.

e^x = 2^n e^r, n = round(x / ln 2): a polynomial on |r| <= ln 2 / 2, then two multiplications by powers of two, so that
a subnormal result is rounded once. ln x = k ln 2 + ln(1 + f), x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)):
with s = f / (2 + f), ln(1 + f) = 2 artanh s = f - f^2/2 + s (f^2/2 + 2 s^2 P(s^2)).

Polynomials give the arctangent on [0, 1] and the inverse sine on [0, 1/2]; symmetries give the rest:
atan(y/x) = pi/2 - atan(x/y) and pi - atan(-y/x), asin(x) = pi/2 - 2 asin(sqrt((1 - x)/2)), acos(x) = pi/2 - asin(x).
pi/2 is a sum of two doubles; the smaller is added first, with the polynomial.

Source: Tang (1989, 1990) for the reductions, Sun's fdlibm (e_log) for the logarithm's last form; the polynomials are
minimax ones of relative error 2^-60 and 2^-59, from tests/minimax.py.
Cost: about 50 operations for atan2, 30 for the others. Below 2 units in the last place.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from cardan._compiler.program.ops import Op
from cardan._compiler.targets.libm.arithmetic import INFINITY, NAN, ROUND, Arithmetic
from cardan._compiler.targets.libm.far import half_pi, parts

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
ATAN = (  # atan t = t + t z P(z), z = t^2 <= 1
    -0.33333333333333326, 0.19999999999998333, -0.14285714285582737, 0.11111111105804759,
    -0.09090908961475791, 0.07692305590642047, -0.06666642496827868, 0.05882147428094048,
    -0.05261824920301992, 0.04755153030767023, -0.043206301868709995, 0.03911615638773051,
    -0.03469129731275977, 0.02934300603681717, -0.022857661346541186, 0.015766022296331818,
    -0.009240510700495431, 0.004404548897191131, -0.001621341281620868, 0.0004290775544865595,
    -7.226235862595633e-05, 5.795515799375509e-06,
)  # fmt: skip
ASIN = (  # asin s = s + s z P(z), z = s^2 <= 1/4
    0.16666666666666763, 0.0749999999997013, 0.04464285717525245, 0.030381942677014946,
    0.022372215853987645, 0.017351596481569684, 0.01398100623316689, 0.011397397767768363,
    0.010788712970544224, 0.0036745578405602743, 0.021784699521781862, -0.02110806617017749,
    0.03269660829399547,
)  # fmt: skip


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


def atan2(w: Arithmetic, y: str, x: str) -> str:
    """Write the angle of the point (x, y): base + (+-atan t), t <= 1 the quotient of the smaller and the larger."""
    high, low = parts(half_pi(), 2)
    a, b = w.call("fabs", y), w.call("fabs", x)
    steep = w.compare("ogt", a, b)
    above, below = w.select(steep, b, a), w.select(steep, a, b)
    ratio = w.select(w.compare("oeq", below, 0.0), 0.0, 1.0)  # 0/0 is 0; inf/inf is 1
    t = w.select(w.compare("oeq", above, below), ratio, w.div(above, below))
    left = w.is_negative(w.bits(x))
    base = w.select(steep, high, w.select(left, 2 * high, 0.0))
    base_low = w.select(steep, low, w.select(left, 2 * low, 0.0))
    t = w.select(w.differ(steep, left), w.neg(t), t)
    z = w.mul(t, t)
    rest = w.fma(w.mul(t, z), w.polynomial(z, ATAN), base_low)
    return w.signed(w.add(base, w.add(t, rest)), w.sign_bit(y))


def _asin_parts(w: Arithmetic, x: str) -> tuple[str, str, str]:
    """Write whether |x| > 1/2, s, and what asin(s) adds to it; s = |x|, or sqrt((1 - |x|)/2) where |x| > 1/2."""
    size = w.call("fabs", x)
    large = w.compare("ogt", size, 0.5)
    z = w.select(large, w.fma(size, -0.5, 0.5), w.mul(size, size))
    s = w.select(large, w.call("sqrt", z), size)
    return large, s, w.mul(w.mul(s, z), w.polynomial(z, ASIN))


def asin(w: Arithmetic, x: str) -> str:
    """Write the inverse sine: of |x|, s + rest or pi/2 - 2 (s + rest)."""
    high, low = parts(half_pi(), 2)
    large, s, rest = _asin_parts(w, x)
    direct = w.add(s, rest)
    other = w.sub(high, w.add(w.add(s, s), w.fma(2.0, rest, -low)))
    return w.signed(w.select(large, other, direct), w.sign_bit(x))


def acos(w: Arithmetic, x: str) -> str:
    """Write the inverse cosine: pi/2 -+ (s + rest), or 2 (s + rest), subtracted from pi where x < 0."""
    high, low = parts(half_pi(), 2)
    large, s, rest = _asin_parts(w, x)
    negative = w.compare("olt", x, 0.0)
    base = w.select(large, w.select(negative, 2 * high, 0.0), high)
    base_low = w.select(large, w.select(negative, 2 * low, 0.0), low)
    scale = w.select(large, w.select(negative, -2.0, 2.0), w.select(negative, 1.0, -1.0))
    return w.add(base, w.fma(scale, s, w.fma(scale, rest, base_low)))


FUNCTIONS: dict[Op, Callable[..., str]] = {
    Op.ASIN: asin,
    Op.ACOS: acos,
    Op.ATAN2: atan2,
    Op.EXP: exp,
    Op.LOG: log,
    Op.EXPM1: expm1,
    Op.LOG1P: log1p,
}
"""Those that give one number, and call no other function for far angles."""
