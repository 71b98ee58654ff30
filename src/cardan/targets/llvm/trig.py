"""Sine, cosine and tangent of any angle, on vectors, in LLVM IR.

One reduction serves all: |x| = n pi/2 + r, |r| <= pi/4, with pi/2 in three parts by fused multiply-add, which keeps the
digits of r next to every multiple of pi/2 for |x| up to 1e12. Then a polynomial each for sine and cosine of r, swapped
and negated by the quadrant n. The tangent is their quotient, all three in two parts. Where a lane is beyond that range
a second version of the function is called, with the reduction of `far`; decided at the end, when the near result
is there already, this costs nothing.

Source: Cody and Waite (1980); the polynomials are the minimax ones of Sun's fdlibm (k_sin, k_cos).
Cost: about 40 operations for sine and cosine, 70 for the tangent. Below 2 units in the last place.
"""

from __future__ import annotations

from cardan.targets.llvm.far import FAR, half_pi, parts
from cardan.targets.llvm.writer import Writer

FAST_RANGE = 1e12  # largest angle the three parts of pi/2 reduce exactly enough
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def _reduced(w: Writer, x: str, two: bool, far: bool) -> tuple[str, str, str]:
    """Write r of |x|, what r lost to rounding (if `two`), and n in the low bits; of any angle (if `far`)."""
    size = w.call("fabs", x)
    first, second, third = parts(half_pi(), 3)
    n, quadrant = w.rounded(size, 1.0 / first)
    r = w.fma(n, -first, size)  # exact: both are multiples of 2^-53 and r is below 1
    if two:  # r - n second, exactly as high + low: Dekker's sum, r being a multiple of the last digit of n second
        product = w.mul(n, second)
        rest = w.fma(n, second, w.neg(product))
        high = w.sub(r, product)
        low = w.fma(n, -third, w.sub(w.sub(w.sub(r, high), product), rest))
    else:
        high, low = w.fma(n, -third, w.fma(n, -second, r)), w.real(0.0)
    return _far_lanes(w, size, (high, low, quadrant)) if far else (high, low, quadrant)


def _far_lanes(w: Writer, size: str, near: tuple[str, str, str]) -> tuple[str, str, str]:
    """Write the exact reduction and take from it the lanes beyond the fast range."""
    far = w.compare("ogt", size, FAST_RANGE)
    kinds = [w.v, w.v, w.i]
    exact = w.invoke(FAR, kinds, [(w.v, w.select(far, size, FAST_RANGE))])
    high, low, quadrant = (
        w.emit(f"select {w.m} {far}, {t} {e}, {t} {a}") for t, e, a in zip(kinds, exact, near, strict=True)
    )
    return high, low, quadrant


def joined(w: Writer, x: str, near: str | tuple[str, ...], far_function: str) -> tuple[str, ...]:
    """Write a branch to the far function if any angle is beyond the fast range, and return what then is right."""
    near = (near,) if isinstance(near, str) else near
    flags = w.emit(f"bitcast {w.m} {w.compare('ogt', w.call('fabs', x), FAST_RANGE)} to i{w.width}")
    some = w.emit(f"icmp ne i{w.width} {flags}, 0")
    w.line(f"br i1 {some}, label %far, label %near, !prof !1")
    w.label("far")
    exact = w.invoke(far_function, [w.v] * len(near), [(w.v, x)])
    w.line("br label %near")
    w.label("near")
    return tuple(w.emit(f"phi {w.v} [ {e}, %far ], [ {n}, %start ]") for e, n in zip(exact, near, strict=True))


def _cosine_rest(w: Writer, z: str) -> tuple[str, str]:
    """Write cos r in two parts, the first 1 - z/2 rounded, z = r^2."""
    half = w.mul(z, 0.5)
    main = w.sub(1.0, half)
    lost = w.sub(w.sub(1.0, main), half)
    return main, w.fma(w.mul(z, z), w.polynomial(z, COSINE), lost)


def _quadrant_sign(w: Writer, quadrant: str) -> str:
    """Write the sign bit where the second bit of the quadrant is set."""
    return w.logic("shl", w.logic("and", quadrant, 2), 62)


def _is_odd(w: Writer, quadrant: str) -> str:
    return w.emit(f"icmp ne {w.i} {w.logic('and', quadrant, 1)}, zeroinitializer")


def sincos(w: Writer, x: str, far: bool = False) -> tuple[str, str]:
    """Write sine and cosine."""
    sign = w.sign_bit(x)
    r, _, quadrant = _reduced(w, x, two=False, far=far)
    z = w.mul(r, r)
    sine = w.fma(w.mul(r, z), w.polynomial(z, SINE), r)
    cosine = w.add(*_cosine_rest(w, z))
    odd = _is_odd(w, quadrant)
    first, second = w.select(odd, cosine, sine), w.select(odd, sine, cosine)
    turn = _quadrant_sign(w, quadrant)
    next_turn = _quadrant_sign(w, w.logic("add", quadrant, 1))
    return w.signed(first, w.logic("xor", turn, sign)), w.signed(second, next_turn)


def tan(w: Writer, x: str, far: bool = False) -> str:
    """Write the tangent: sine over cosine, or minus cosine over sine, each in two parts."""
    high, low, quadrant = _reduced(w, x, two=True, far=far)
    z = w.mul(high, high)
    main, rest = _cosine_rest(w, z)
    rest = w.fma(low, w.neg(high), rest)
    cosine = w.add(main, rest)
    cosine_low = w.add(w.sub(main, cosine), rest)
    rest = w.fma(low, cosine, w.mul(w.mul(high, z), w.polynomial(z, SINE)))
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
