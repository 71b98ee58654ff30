"""Sine, cosine and tangent of any angle.

One reduction serves all: |x| = n pi/2 + r, |r| <= pi/4, with pi/2 in three parts by fused multiply-add, which keeps the
digits of r next to every multiple of pi/2 for |x| up to 1e12. Then a polynomial each for sine and cosine of r, swapped
and negated by the quadrant n. The tangent is their quotient, all three in two parts. Beyond that range a second version
of the function is called, with the reduction of `far`. Sine and cosine are known in single precision, too, for |x| up
to 1e5, beyond which the version in double precision is called.

Source: Cody and Waite (1980); the polynomials are the minimax ones of Sun's fdlibm (k_sin, k_cos), those of single
precision by Remez' exchange, of relative errors 2^-28 and 2^-33.
Cost: about 40 operations for sine and cosine, 70 for the tangent. Below 2 units in the last place.
"""

from __future__ import annotations

from cardan._compiler.targets.libm.arithmetic import Arithmetic, Reduced
from cardan._compiler.targets.libm.far import half_pi, parts

SINE = {
    64: (
        -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
    ),
    32: (-0.16666655242443085, 0.00833216030150652, -0.00019515218446031213),
}  # fmt: skip
"""Of z = r^2, by bits of a number: (sin r - r) / r^3 ..."""
COSINE = {
    64: (
        4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
    ),
    32: (0.04166664555668831, -0.0013887315290048718, 2.4433082217001356e-05),
}  # fmt: skip
"""... and (cos r - 1 + z/2) / r^4."""


def _reduced(w: Arithmetic, x: str, two: bool, far: bool) -> Reduced:
    """Write r of |x|, what r lost to rounding (if `two`), and n in the low bits; of any angle (if `far`)."""
    size = w.call("fabs", x)
    first, second, third = parts(half_pi(), 3, w.word)
    n, quadrant = w.rounded(size, 1.0 / first)
    r = w.fma(n, -first, size)  # exact: both are multiples of 2^-53 (of 2^-24 in single precision) and r is below 1
    if two:  # r - n second, exactly as high + low: Dekker's sum, r being a multiple of the last digit of n second
        product = w.mul(n, second)
        rest = w.fma(n, second, w.neg(product))
        high = w.sub(r, product)
        low = w.fma(n, -third, w.sub(w.sub(w.sub(r, high), product), rest))
    else:
        high, low = w.fma(n, -third, w.fma(n, -second, r)), 0.0
    return w.reduced_far(size, (high, low, quadrant)) if far else (high, low, quadrant)


def _cosine_rest(w: Arithmetic, z: str) -> tuple[str, str]:
    """Write cos r in two parts, the first 1 - z/2 rounded, z = r^2."""
    half = w.mul(z, 0.5)
    main = w.sub(1.0, half)
    lost = w.sub(w.sub(1.0, main), half)
    return main, w.fma(w.mul(z, z), w.polynomial(z, COSINE[w.word]), lost)


def _quadrant_sign(w: Arithmetic, quadrant: str) -> str:
    """Write the sign bit where the second bit of the quadrant is set."""
    return w.logic("shl", w.logic("and", quadrant, 2), w.word - 2)


def _is_odd(w: Arithmetic, quadrant: str) -> str:
    return w.is_not_zero(w.logic("and", quadrant, 1))


def sincos(w: Arithmetic, x: str, far: bool = False) -> tuple[str, str]:
    sign = w.sign_bit(x)
    r, _, quadrant = _reduced(w, x, two=False, far=far)
    z = w.mul(r, r)
    sine = w.fma(w.mul(r, z), w.polynomial(z, SINE[w.word]), r)
    cosine = w.add(*_cosine_rest(w, z))
    odd = _is_odd(w, quadrant)
    first, second = w.select(odd, cosine, sine), w.select(odd, sine, cosine)
    turn = _quadrant_sign(w, quadrant)
    next_turn = _quadrant_sign(w, w.logic("add", quadrant, 1))
    return w.signed(first, w.logic("xor", turn, sign)), w.signed(second, next_turn)


def tan(w: Arithmetic, x: str, far: bool = False) -> str:
    """Write the tangent: sine over cosine, or minus cosine over sine, each in two parts."""
    high, low, quadrant = _reduced(w, x, two=True, far=far)
    z = w.mul(high, high)
    main, rest = _cosine_rest(w, z)
    rest = w.fma(low, w.neg(high), rest)
    cosine = w.add(main, rest)
    cosine_low = w.add(w.sub(main, cosine), rest)
    rest = w.fma(low, cosine, w.mul(w.mul(high, z), w.polynomial(z, SINE[w.word])))
    sine = w.add(high, rest)
    sine_low = w.add(w.sub(high, sine), rest)
    odd = _is_odd(w, quadrant)
    above, above_low = w.select(odd, cosine, sine), w.select(odd, cosine_low, sine_low)
    below, below_low = w.select(odd, sine, cosine), w.select(odd, sine_low, cosine_low)
    inverse = w.div(1.0, below)
    quotient = w.mul(above, inverse)
    less = w.neg(quotient)
    lost = w.add(w.fma(less, below, above), w.fma(less, below_low, above_low))
    turn = w.logic("shl", quadrant, 63)
    return w.signed(w.fma(lost, inverse, quotient), w.logic("xor", turn, w.sign_bit(x)))
