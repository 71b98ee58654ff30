"""The reduction of far angles on vectors, in LLVM IR: lane by lane what is done with whole numbers; see `libm.far`."""

from __future__ import annotations

from cardan._compiler.targets.libm.far import LOWEST, reduction, two_over_pi
from cardan._compiler.targets.llvm.lanes import Lanes
from cardan._compiler.targets.llvm.writer import FAR, Writer


def _lane() -> str:
    """Return the function for one lane, x >= 1e12: the fraction's first 128 bits, signed, in two words; n mod 4."""
    table = two_over_pi()
    entries = "".join(f"\\{byte:02X}" for byte in table)
    return f"""@two_over_pi = internal constant [{len(table)} x i8] c"{entries}", align 64

define internal {{i64, i64, i64}} @{FAR}_lane(double %x) #0 {{
  %bits = bitcast double %x to i64
  %fraction = and i64 %bits, {2**52 - 1}
  %mantissa = or i64 %fraction, {2**52}
  %exponent = lshr i64 %bits, 52
  %position = sub i64 {LOWEST}, %exponent
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


def far_definitions(width: int) -> list[str]:
    """Return `reduce_far`: from angles >= 1e12 r, what r lost to rounding, and n mod 4; NaN for an infinite angle."""
    w = Writer(Lanes(width, "double"))
    words = [w.integer(0)] * 3
    for lane in range(width):
        x = w.emit(f"extractelement {w.v} %x, i32 {lane}")
        for k, word in enumerate(w.invoke(f"{FAR}_lane", ["i64"] * 3, [("double", x)])):
            words[k] = w.emit(f"insertelement {w.i} {words[k]}, i64 {word}, i32 {lane}")
    r, rest = reduction(w, "%x", words[0], words[1])
    return [_lane(), w.function(FAR, [(w.v, "%x")], [(w.v, r), (w.v, rest), (w.i, words[2])], "#0")]
