"""The reduction of angles beyond 1e12 rad, to the largest double, in LLVM IR.

|x| = m 2^e with a whole m of 53 bits. Of 2/pi = sum b_i 2^-i the bits with i < e - 1 contribute multiples of 4 to
x 2/pi, whole turns; the 192 bits from there on leave less than 2^-137 unknown, and no double is nearer than 2^-62 to a
multiple of pi/2. So one product of m and a window of the table, modulo 2^192, has the quadrant in its first two bits
and the fraction in the others; that becomes a sum of two doubles and is multiplied by pi/2.

Source: Payne and Hanek, Radian reduction for trigonometric functions (1983).
"""

from __future__ import annotations

import functools
from fractions import Fraction

from cardan.targets.llvm.lanes import Lanes
from cardan.targets.llvm.writer import Writer

FAR = "reduce_far"
ZEROS, BITS = 80, 1248  # of the table: so many zeros, then 2/pi; so many together


@functools.cache
def half_pi() -> Fraction:
    """Return pi/2 to 1400 bits, by Machin's formula."""
    one = 1 << 1420

    def arctangent_of_inverse(n: int) -> int:
        return sum((-1) ** k * (one // ((2 * k + 1) * n ** (2 * k + 1))) for k in range(310))

    return Fraction(8 * arctangent_of_inverse(5) - 2 * arctangent_of_inverse(239), one)


def parts(number: Fraction, count: int) -> tuple[float, ...]:
    """Return doubles whose sum is a number, the largest first."""
    result = []
    for _ in range(count):
        result.append(float(number))
        number -= Fraction(result[-1])
    return tuple(result)


def _lane() -> str:
    """Return the function for one lane, x >= 1e12: the fraction's first 128 bits, signed, in two words; n mod 4."""
    table = int(2 ** (BITS - ZEROS) / half_pi()).to_bytes(BITS // 8, "little")
    entries = "".join(f"\\{byte:02X}" for byte in table)
    lowest = BITS - 192 - ZEROS + 1075 + 2  # where the window of a number with biased exponent 0 would begin
    return f"""@two_over_pi = internal constant [{len(table)} x i8] c"{entries}", align 64

define internal {{i64, i64, i64}} @{FAR}_lane(double %x) #0 {{
  %bits = bitcast double %x to i64
  %fraction = and i64 %bits, {2**52 - 1}
  %mantissa = or i64 %fraction, {2**52}
  %exponent = lshr i64 %bits, 52
  %position = sub i64 {lowest}, %exponent
  %byte = lshr i64 %position, 3
  %entry = getelementptr inbounds i8, ptr @two_over_pi, i64 %byte
  %word = load i256, ptr %entry, align 1
  %bit = and i64 %position, 7
  %shift = zext i64 %bit to i256
  %window = lshr i256 %word, %shift
  %factor = zext i64 %mantissa to i256
  %product = mul i256 %window, %factor
  %turns = shl i256 %product, 64
  %nearest = add i256 %turns, {2**253}
  %quarters = lshr i256 %nearest, 254
  %n = trunc i256 %quarters to i64
  %signed = shl i256 %product, 66
  %upper = lshr i256 %signed, 192
  %high = trunc i256 %upper to i64
  %next = lshr i256 %signed, 128
  %low = trunc i256 %next to i64
  %r1 = insertvalue {{i64, i64, i64}} undef, i64 %high, 0
  %r2 = insertvalue {{i64, i64, i64}} %r1, i64 %low, 1
  %r3 = insertvalue {{i64, i64, i64}} %r2, i64 %n, 2
  ret {{i64, i64, i64}} %r3
}}"""


def _exact_sum(w: Writer, a: str, b: str) -> tuple[str, str]:
    """Write a + b in two parts; a is a multiple of the last digit of b (Dekker)."""
    total = w.add(a, b)
    return total, w.add(w.sub(a, total), b)


def _halves(w: Writer, word: str, shift: str, unit: float) -> tuple[str, str]:
    """Write the halves of a word as numbers; the shift, `ashr` or `lshr`, is that of a signed or unsigned word."""
    upper, lower = w.logic(shift, word, 32), w.logic("and", word, 2**32 - 1)
    a, b = (w.emit(f"sitofp {w.i} {half} to {w.v}") for half in (upper, lower))
    return w.mul(a, unit * 2.0**32), w.mul(b, unit)


def far_definitions(width: int) -> list[str]:
    """Return `reduce_far`: from angles >= 1e12 r, what r lost to rounding, and n mod 4; NaN for an infinite angle."""
    w = Writer(Lanes(width, "double"))
    words = [w.integer(0)] * 3
    for lane in range(width):
        x = w.emit(f"extractelement {w.v} %x, i32 {lane}")
        for k, word in enumerate(w.invoke(f"{FAR}_lane", ["i64"] * 3, [("double", x)])):
            words[k] = w.emit(f"insertelement {w.i} {words[k]}, i64 {word}, i32 {lane}")
    first, second = _halves(w, words[0], "ashr", 2.0**-64)
    third, fourth = _halves(w, words[1], "lshr", 2.0**-128)
    upper, upper_low = _exact_sum(w, first, second)
    lower, lower_low = _exact_sum(w, third, fourth)
    turn, lost = _exact_sum(w, upper, lower)
    lost = w.add(w.add(lost, upper_low), lower_low)
    high, low = parts(half_pi(), 2)
    r = w.mul(turn, high)
    rest = w.fma(lost, high, w.fma(turn, low, w.fma(turn, high, w.neg(r))))
    r, rest = _exact_sum(w, r, rest)
    r = w.add(r, w.sub("%x", "%x"))  # NaN for an infinite angle
    return [_lane(), w.function(FAR, [(w.v, "%x")], [(w.v, r), (w.v, rest), (w.i, words[2])], "#0")]
