"""The functions of analysis in the C family of languages: the operations of `libm`, on one double, so the same bits."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable

from cardan._compiler.program.ops import Op
from cardan._compiler.targets.c_family import finite, round_to_single
from cardan._compiler.targets.libm.arithmetic import Arithmetic, Bits, Real, Reduced
from cardan._compiler.targets.libm.elementary import FUNCTIONS
from cardan._compiler.targets.libm.far import FAST_RANGE, LOWEST, reduction, two_over_pi
from cardan._compiler.targets.libm.trig import sincos, tan

_BINARY = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_CONDITIONS = {"olt": "<", "ogt": ">", "oeq": "=="}
_LOGIC = {"and": "&", "or": "|", "xor": "^", "shl": "<<", "lshr": ">>", "add": "+"}


class CArithmetic(Arithmetic):
    """Writes a function in C; the text needs bits_of, from_bits, upper_half and the functions it names."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def _put(self, kind: str, expression: str) -> str:
        name = f"s{len(self.lines)}"
        self.lines.append(f"    const {kind} {name} = {expression};")
        return name

    def real(self, x: Real) -> str:
        return x if isinstance(x, str) else number(x)

    def whole(self, x: Bits) -> str:
        return x if isinstance(x, str) else f"{x % 2**64}ull"

    def binary(self, operation: str, a: Real, b: Real) -> str:
        return self._put("double", f"{self.real(a)} {_BINARY[operation]} {self.real(b)}")

    def neg(self, a: Real) -> str:
        return self._put("double", f"-{self.real(a)}")

    def call(self, name: str, *operands: Real) -> str:
        return self._put("double", f"{name}({', '.join(map(self.real, operands))})")

    def compare(self, condition: str, a: Real, b: Real) -> str:
        return self._put("bool", f"{self.real(a)} {_CONDITIONS[condition]} {self.real(b)}")

    def differ(self, a: str, b: str) -> str:
        return self._put("bool", f"{a} != {b}")

    def select(self, mask: str, a: Real, b: Real) -> str:
        return self._put("double", f"{mask} ? {self.real(a)} : {self.real(b)}")

    def bits(self, x: Real) -> str:
        return self._put("unsigned long long", f"bits_of({self.real(x)})")

    def from_bits(self, x: Bits) -> str:
        return self._put("double", f"from_bits({self.whole(x)})")

    def logic(self, operation: str, a: Bits, b: Bits) -> str:
        if operation == "ashr":
            return self._put("unsigned long long", f"(unsigned long long)((long long){self.whole(a)} >> {b})")
        return self._put("unsigned long long", f"{self.whole(a)} {_LOGIC[operation]} {self.whole(b)}")

    def is_not_zero(self, x: Bits) -> str:
        return self._put("bool", f"{self.whole(x)} != 0")

    def is_negative(self, x: Bits) -> str:
        return self._put("bool", f"(long long){self.whole(x)} < 0")

    def number(self, x: Bits) -> str:
        return self._put("double", f"(double)(long long){self.whole(x)}")

    def reduced_far(self, size: str, near: Reduced) -> Reduced:
        """Write the exact reduction: a function of one number is asked for it beyond the fast range alone."""
        k = len(self.lines)
        names = [f"{kind}{k}" for kind in ("upper", "lower", "turns")]
        self.lines.append(f"    unsigned long long {', '.join(names)};")
        self.lines.append(f"    reduce_far({size}, &{', &'.join(names)});")
        return (*reduction(self, size, names[0], names[1]), names[2])


def number(value: float, single: bool = False) -> str:
    """Return a double as C writes it, exact, or the nearest float; by its bits where C has no words for it."""
    value = round_to_single(value) if single else value
    if math.isfinite(value):
        return finite(value, "f" if single else "")
    bits = int.from_bytes(struct.pack("<f" if single else "<d", value), "little")
    return f"from_bits({bits}{'u' if single else 'ull'})"


PREFIX = "cardan_"  # of the functions' names


def analysis(ops: Iterable[Op], inline: str, apart: str) -> list[str]:
    """Return the definitions that a program with these operations needs.

    `inline` stands before the definition of a short function, `apart` before that of one rarely called, or long.
    """
    ops = set(ops)
    angular = ops & {Op.SIN, Op.COS, Op.TAN}
    texts = [_far(apart)] if angular else []
    if ops & {Op.SIN, Op.COS}:
        texts += _with_far("sincos", sincos, inline, apart)
    if Op.TAN in ops:
        texts += _with_far("tan", tan, apart, apart)
    return texts + [_definition(op, function, apart) for op, function in FUNCTIONS.items() if op in ops]


def _definition(op: Op, function: Callable[..., str], words: str) -> str:
    w = CArithmetic()
    names = ["y", "x"] if op is Op.ATAN2 else ["x"]
    result = function(w, *names)
    head = f"{words} double {PREFIX}{op.value}({', '.join(f'const double {name}' for name in names)})"
    return "\n".join([f"{head} {{", *w.lines, f"    return {result};", "}", ""])


def _with_far(name: str, function: Callable[..., str | tuple[str, str]], inline: str, apart: str) -> list[str]:
    """Return a function of an angle, and before it the one it calls for far angles; two results go to addresses."""
    near, far = _angular(name, function, False), _angular(f"{name}_far", function, True)
    return [f"{apart} {far}", f"{inline} {near}"]


def _angular(name: str, function: Callable[..., str | tuple[str, str]], far: bool) -> str:
    w = CArithmetic()
    results = function(w, "x", far=far)
    if isinstance(results, str):
        kind, more, ending = "double", "", [f"    return {results};"]
        leave = f"        return {PREFIX}{name}_far(x);"
    else:
        kind, more = "void", ", double *s, double *c"
        ending = [f"    *s = {results[0]};", f"    *c = {results[1]};"]
        leave = f"        {PREFIX}{name}_far(x, s, c);\n        return;"
    turn = [] if far else [f"    if (fabs(x) > {number(FAST_RANGE[64])}) {{", leave, "    }"]
    return "\n".join([f"{kind} {PREFIX}{name}(const double x{more}) {{", *turn, *w.lines, *ending, "}", ""])


def _far(words: str) -> str:
    """Return what is done with whole numbers for a far angle: the product of 53 bits and a window of 192 of 2/pi."""
    table = two_over_pi()
    entries = [int.from_bytes(table[k : k + 8], "little") for k in range(0, len(table), 8)]
    listed = "".join(
        f"\n        {', '.join(f'{e:#x}ull' for e in entries[k : k + 5])}," for k in range(0, len(entries), 5)
    )
    results = ", ".join(f"unsigned long long *{name}" for name in ("upper", "lower", "turns"))
    return f"""{words} void reduce_far(const double x, {results}) {{
    static const unsigned long long table[{len(entries) + 1}] = {{{listed} 0ull}};
    const unsigned long long bits = bits_of(x);
    const unsigned long long m = (bits & {2**52 - 1}ull) | {2**52}ull;
    const unsigned long long place = {LOWEST}ull - (bits >> 52);
    const unsigned long long word = place >> 6, bit = place & 63;
    unsigned long long window[3];
    for (int k = 0; k < 3; ++k)
        window[k] = bit ? (table[word + k] >> bit) | (table[word + k + 1] << (64 - bit)) : table[word + k];
    const unsigned long long first = window[0] * m;
    const unsigned long long carried = upper_half(window[0], m);
    const unsigned long long second = window[1] * m + carried;
    const unsigned long long third = window[2] * m + upper_half(window[1], m) + (second < carried ? 1 : 0);
    *turns = (third + {2**61}ull) >> 62;
    *upper = (third << 2) | (second >> 62);
    *lower = (second << 2) | (first >> 62);
}}
"""
