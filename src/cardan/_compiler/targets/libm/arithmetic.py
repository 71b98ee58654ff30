"""What a function of analysis is written with: the operations of a processor, whatever writes them down."""

from __future__ import annotations

from typing import Protocol

INFINITY, NAN = float("inf"), float("nan")
ROUND = {64: 1.5 * 2.0**52, 32: 1.5 * 2.0**23}  # adding it rounds to an integer, whose low bits are then the sum's
Real = str | float  # A value: its name, or one number
Bits = str | int  # the same of 64-bit integers
Reduced = tuple[str, Real, str]
"""An angle less n quarter turns, what that lost to rounding, and n in the low bits of an integer."""


class Arithmetic(Protocol):
    """Writes operations on doubles and on 64-bit integers; each returns the name of its result.

    Operations on numbers (`binary`) are `add`, `sub`, `mul`, `div`; on integers (`logic`) `and`, `or`, `xor`, `shl`,
    `lshr`, `ashr`, `add`. Conditions are `olt`, `ogt` and `oeq`: less, greater, equal, all false where a number is
    none. Where `word` is 32 they are on floats and 32-bit integers; few functions know these.
    """

    word = 64  # bits of a number

    def binary(self, operation: str, a: Real, b: Real) -> str: ...
    def neg(self, a: Real) -> str: ...
    def call(self, name: str, *operands: Real) -> str: ...  # a function processors have: `fma`, `fabs`, `sqrt`
    def compare(self, condition: str, a: Real, b: Real) -> str: ...
    def differ(self, a: str, b: str) -> str: ...  # whether of two conditions just one holds
    def select(self, mask: str, a: Real, b: Real) -> str: ...  # a where the condition holds, b elsewhere
    def bits(self, x: Real) -> str: ...
    def from_bits(self, x: Bits) -> str: ...
    def logic(self, operation: str, a: Bits, b: Bits) -> str: ...
    def is_not_zero(self, x: Bits) -> str: ...
    def is_negative(self, x: Bits) -> str: ...
    def number(self, x: Bits) -> str: ...  # a signed integer as the number it is
    # `far.reduction` of an angle where it is beyond the range in which `near` is right
    def reduced_far(self, size: str, near: Reduced) -> Reduced: ...

    def add(self, a: Real, b: Real) -> str:
        return self.binary("add", a, b)

    def sub(self, a: Real, b: Real) -> str:
        return self.binary("sub", a, b)

    def mul(self, a: Real, b: Real) -> str:
        return self.binary("mul", a, b)

    def div(self, a: Real, b: Real) -> str:
        return self.binary("div", a, b)

    def fma(self, a: Real, b: Real, c: Real) -> str:
        return self.call("fma", a, b, c)

    def polynomial(self, x: str, coefficients: tuple[float, ...]) -> str:
        """Write the sum of c_k x^k, of two coefficients at least."""
        total = self.fma(x, coefficients[-1], coefficients[-2])
        for c in reversed(coefficients[:-2]):
            total = self.fma(x, total, c)
        return total

    def signed(self, x: str, sign: str) -> str:
        """Write x, negated where the sign bit is set."""
        return self.from_bits(self.logic("xor", self.bits(x), sign))

    def sign_bit(self, x: str) -> str:
        return self.logic("and", self.bits(x), -(1 << self.word - 1))

    def rounded(self, x: Real, scale: float) -> tuple[str, str]:
        """Write n = round(x scale), as a number and as bits that end in the integer n's."""
        shifted = self.fma(x, scale, ROUND[self.word])
        return self.sub(shifted, ROUND[self.word]), self.bits(shifted)
