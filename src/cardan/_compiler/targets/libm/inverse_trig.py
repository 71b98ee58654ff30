"""Inverse sine, cosine and tangent.

The polynomials give the arctangent on [0, 1] and the inverse sine on [0, 1/2]; symmetries give the rest:
atan(y/x) = pi/2 - atan(x/y) and pi - atan(-y/x), asin(x) = pi/2 - 2 asin(sqrt((1 - x)/2)), acos(x) = pi/2 - asin(x).
pi/2 is a sum of two doubles; the smaller is added first, with the polynomial.

Source: the polynomials are minimax ones of relative error 2^-60 and 2^-59, from tests/minimax.py.
Cost: about 50 operations for atan2, 30 for the others. Below 2 units in the last place.
"""

from __future__ import annotations

from cardan._compiler.targets.libm.arithmetic import Arithmetic
from cardan._compiler.targets.libm.far import half_pi, parts

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
    angle = w.add(base, w.add(t, rest))
    return w.signed(angle, w.sign_bit(y))


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
