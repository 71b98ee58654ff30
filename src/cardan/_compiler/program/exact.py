"""A program evaluated exactly: in a finite field, at a random point. What is equal there is equal everywhere.

Every operation that has an algebra keeps it; every other is a symbol with a random value of its own:

- inputs are random;
- (cos x, sin x) is a random point of the circle c^2 + s^2 = 1, the same wherever x has the same value; the point of
  n x + m y is that of x turned n times and that of y turned m times, n and m integers;
- sqrt(x) is a root adjoined to the field, s with s^2 = x of which nothing else is known, above all not its sign: a
  value is a sum of coefficients times products of roots. So sqrt(x)^2 is x, and sqrt(x^2), which is |x|, is not x;
- exp, log, inverse functions, floors, comparisons, choices, ...: a hash of the operation and its operands' values.

A constant is the short fraction or decimal that was written, where one reads as the float, 0.1 the tenth; else exactly
the float, so that 0.1 + 0.2 is not 0.3. Different floats are different numbers. Only what a unit axis (x, y, z) is
rounded to is read as what it was: its length is 1, and what is the rounded product of a component and another constant,
or 1 less a product of components, is that. (Else no rotation about (1, 2, 3) would have R^T R = 1.) So what is found is
exact for constants that differ from those given by their own rounding, or not at all.

All this holds for real numbers whatever the random values, so an identity of the field is one of the reals. Conversely,
values that are different rational functions of the random ones, of degree d, agree with probability d / P. Of 10^5
instructions, 5 10^9 pairs, and of degree 2^64, none does but with 2^33 2^64 / 2^254 < 10^-47; of degree 2^150, 10^-21.
(Schwartz, 1980; Zippel, 1979.) Everything random is a hash, so a program always gives the same values.

The prime is the first from 2^253 pi on of which 2 is a primitive root and (P - 1) / 2 a prime: powers of two, which
floats are made of, have no pattern there. (2^61 - 1, for one, takes 2^61 for 1.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from itertools import combinations
from typing import NamedTuple

from cardan._compiler.program.instructions import Instruction
from cardan._compiler.program.ops import COMMUTATIVE, SPEC, Op, ValueType
from cardan._compiler.program.program import Program

PRIME = 0x6487ED5110B4611A62633145C06E0E68948127044533E63A0105DF531D8A0323
Value = int | tuple[tuple[int, int], ...]
"""An element of the field, or a sum: for each product of roots, given as a set of bits, its coefficient."""

MOST_TERMS = 16  # of a sum of products of roots; more, from five roots at once, become a symbol
MOST_AXES = 12  # components of axes looked for
MOST_ANGLES = 8  # in a sum of angles, and turns of each; more become an angle of their own
SCALE, MOST = 2**90 * 10**20, 2**176  # multiples of 1 / SCALE below 10^6 are numbers; others look so once in 2^77


class Evaluation(NamedTuple):
    """A program's values: equal ones are equal functions of the inputs."""

    values: list[Value]  # of each instruction
    numbers: list[float | None]  # of each instruction that is the same number for all inputs; None for others


def evaluate_exactly(program: Program) -> Evaluation:
    point = _Point()
    point.read_axes(i.value for i in program.instructions if i.op is Op.CONST)
    last = max((k for op in _OF_ANGLES for k in program.instructions.places(op)), default=-1)
    for k, instruction in enumerate(program.instructions):
        point.add(instruction, k < last)
    return Evaluation(point.values, [point.number(v) for v in point.values])


def up_to_sign(v: Value) -> tuple[Value, bool]:
    """Return the one of v and -v that stands for both, and whether that is -v."""
    leading = v if isinstance(v, int) else v[0][1]
    return (v, False) if 2 * leading < PRIME else (_negated(v), True)


def rational(v: Value) -> float | None:
    """Return the float nearest to a value that is a number, n / SCALE of moderate size; None for any other."""
    if not isinstance(v, int):
        return None
    n = v * SCALE % PRIME
    n = n if 2 * n < PRIME else n - PRIME
    return n / SCALE if abs(n) < MOST else None


def _of_float(x: float) -> int:
    """Return the fraction or decimal that was written, if a short one reads as the float; else exactly the float."""
    from fractions import Fraction  # only where something is traced: importing it takes milliseconds

    exact, written = Fraction(x), f"{x:.15g}"
    simple = exact.limit_denominator(1000)
    number = simple if float(simple) == x else Fraction(written) if float(written) == x else exact
    return number.numerator * pow(number.denominator, -1, PRIME) % PRIME


def _on_sphere(axis: Sequence[float]) -> list[int]:
    """Return the components of a unit axis: those written down if they are one, else those of a random axis."""
    written = [_of_float(x) for x in axis]
    if sum(x * x for x in written) % PRIME == 1:
        return written
    a, b = _hashed("axis", *axis), _hashed("axis", *reversed(axis)) if len(axis) == 3 else 0
    scale = pow(1 + a * a + b * b, -1, PRIME)
    return [e * scale % PRIME for e in (2 * a, 1 - a * a - b * b, 2 * b)][: len(axis)]


def _hashed(*key: object) -> int:
    return int.from_bytes(blake2b(repr(key).encode(), digest_size=40).digest(), "little") % PRIME


def _negated(v: Value) -> Value:
    return -v % PRIME if isinstance(v, int) else tuple((roots, PRIME - c) for roots, c in v)


def _terms(v: Value) -> tuple[tuple[int, int], ...]:
    return ((0, v),) if isinstance(v, int) else v


def _sum_of(terms: dict[int, int]) -> Value:
    left = tuple(sorted((roots, c % PRIME) for roots, c in terms.items() if c % PRIME))
    return left[0][1] if len(left) == 1 and left[0][0] == 0 else left or 0


def _sum(a: Value, b: Value) -> Value:
    if isinstance(a, int) and isinstance(b, int):
        return (a + b) % PRIME
    terms = dict(_terms(a))
    for roots, c in _terms(b):
        terms[roots] = terms.get(roots, 0) + c
    return _sum_of(terms)


def _if_short(v: Value) -> Value | None:
    return v if len(_terms(v)) <= MOST_TERMS else None


class _Point:
    """The values at one random point, and what was drawn for them: roots and angles."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._infinite: set[int] = set()  # infinities and NaN among the constants, of which no algebra holds
        self._roots: dict[Value, int] = {}  # the number of a root, by what it is the root of
        self._squares: list[Value] = []
        self._sums: dict[Value, dict[Value, int]] = {}  # of angles, each with how often it is turned
        self._constants: dict[float, int] = {}  # of those that are read as what they were rounded from
        self._numbers: dict[Value, float] = {}  # the other way round

    def add(self, instruction: Instruction, angles_follow: bool) -> None:
        op, args, number = instruction
        if op is Op.CONST and math.isfinite(number):
            value: Value | None = self.constant(number)
        elif op in (Op.INPUT, Op.CONST):
            value = _hashed(op.value, number)
            if op is Op.CONST:
                self._infinite.add(len(self.values))
        else:
            operands = [self.values[a] for a in args]
            value = _hashed(op.value, number, *operands) if op is Op.CELL else self._folded(op, operands)
            if value is None and op in _ALGEBRA and self._infinite.isdisjoint(args):
                value = _ALGEBRA[op](self, *operands)
            value = _symbol(op, operands) if value is None else value
            if angles_follow:  # nobody else asks for sums
                self._note_sum(op, operands, value)
        self.values.append(value)

    # constants

    def _folded(self, op: Op, operands: Sequence[Value]) -> Value | None:
        """Return a function of numbers alone, as the float that tracing makes of it."""
        if op in _ARITHMETIC or ValueType.BOOL in (SPEC[op].result, SPEC[op].operands[0]):
            return None
        numbers = [self.number(v) for v in operands]
        result: float = math.nan if None in numbers else SPEC[op].evaluate(*numbers)
        return self.constant(result) if math.isfinite(result) else None

    def constant(self, x: float) -> Value:
        size = abs(x)
        if size not in self._constants:
            self._know(size, _of_float(size))
        value = self._constants[size]
        return _negated(value) if x < 0.0 else value

    def number(self, v: Value) -> float | None:
        """Return the float nearest to a value that is a number; None for any other."""
        size, negative = up_to_sign(v)
        x = self._numbers.get(size)
        if x is None:
            return rational(v)
        return -x if negative else x

    def _know(self, x: float, value: int) -> None:
        """Remember a constant and what it is; what is known of either stays."""
        self._constants.setdefault(x, value)
        size, negative = up_to_sign(value)
        self._numbers.setdefault(size, -x if negative else x)

    def read_axes(self, numbers: Iterable[float]) -> None:
        """Find the unit axes among the constants, and what was computed with their components."""
        present = sorted({abs(x) for x in numbers if math.isfinite(x)})
        known = set(present)
        squared = [x for x in present if 0.0 < x < 1.0 and x * x in known][:MOST_AXES]
        axes: dict[float, int] = {}
        for axis in (*combinations(squared, 2), *combinations(squared, 3)):
            if abs(math.fsum(x * x for x in axis) - 1.0) <= 1e-15 and axes.keys().isdisjoint(axis):
                axes |= zip(axis, _on_sphere(axis), strict=True)
        for x, value in axes.items():
            self._know(x, value)
        for x, value in axes.items():
            for y in (y for y in present if y > 1e-290):  # products of smaller ones lose digits
                product = value * (axes.get(y) or _of_float(y)) % PRIME
                self._know(x * y, product)
                if y in axes:
                    self._know(1.0 - x * y, (1 - product) % PRIME)

    # products and roots

    def product(self, a: Value, b: Value) -> Value | None:
        """Return a b; None where there are too many terms."""
        if isinstance(a, int) and isinstance(b, int):
            return a * b % PRIME
        total: Value = 0
        for left, c in _terms(a):
            for right, d in _terms(b):
                term: Value | None = _sum_of({left ^ right: c * d})
                shared = left & right
                while shared and term is not None:
                    term = self.product(term, self._squares[shared.bit_length() - 1])
                    shared &= ~(1 << shared.bit_length() - 1)
                if term is None:
                    return None
                total = _sum(total, term)
        return _if_short(total)

    def quotient(self, a: Value, b: Value) -> Value | None:
        """Return a / b; None where b has no inverse, or there are too many terms."""
        while not isinstance(b, int):
            highest = 1 << max(roots for roots, _ in b).bit_length() - 1
            conjugate = _sum_of({roots: -c if roots & highest else c for roots, c in b})
            over, under = self.product(a, conjugate), self.product(b, conjugate)
            if over is None or under is None:
                return None
            a, b = over, under
        return self.product(a, pow(b, -1, PRIME)) if b else None

    def root(self, x: Value) -> Value:
        """Return the square root of x, an element of its own."""
        if x not in self._roots:
            self._roots[x] = len(self._squares)
            self._squares.append(x)
        return ((1 << self._roots[x], 1),)

    def size(self, x: Value) -> Value | None:
        """Return |x|, the root of x^2."""
        square = self.product(x, x)
        return None if square is None else self.root(square)

    # angles

    def cos_sin(self, x: Value) -> tuple[int, int]:
        c, s = 1, 0
        for angle, times in self._sum_of_angles(x).items():
            t = _hashed("angle", angle)  # of a random point of the circle, (a, b)
            scale = pow(1 + t * t, -1, PRIME)
            a, b = (1 - t * t) * scale % PRIME, 2 * t * scale % PRIME
            b = b if times > 0 else -b
            for _ in range(abs(times)):
                c, s = (c * a - s * b) % PRIME, (s * a + c * b) % PRIME
        return c, s

    def _sum_of_angles(self, x: Value) -> dict[Value, int]:
        size, negative = up_to_sign(x)
        angles = self._sums.get(size, {size: 1} if size else {})
        return {angle: -n for angle, n in angles.items()} if negative else angles

    def _note_sum(self, op: Op, operands: Sequence[Value], value: Value) -> None:
        """Remember how a value was written as a sum of angles, if it was and nobody knows it by another."""
        size, negative = up_to_sign(value)
        if op not in (Op.ADD, Op.SUB, Op.MUL) or size in self._sums:
            return
        weights = {Op.ADD: (1, 1), Op.SUB: (1, -1)}.get(op) or _whole_weights(*operands)
        total: dict[Value, int] = {}
        for weight, operand in zip(weights, operands, strict=True):
            for angle, n in self._sum_of_angles(operand).items() if weight else ():
                total[angle] = total.get(angle, 0) + (-weight if negative else weight) * n
        if any(weights) and len(total) <= MOST_ANGLES and all(abs(n) <= MOST_ANGLES for n in total.values()):
            self._sums[size] = {angle: n for angle, n in total.items() if n}


def _whole_weights(a: Value, b: Value) -> tuple[int, int]:
    """Return (0, n) for a product of a = n, a small integer, (n, 0) for one of b = n, else (0, 0)."""
    x, y = rational(a), rational(b)
    if x is not None and x.is_integer() and abs(x) <= MOST_ANGLES:
        return 0, int(x)
    return (int(y), 0) if y is not None and y.is_integer() and abs(y) <= MOST_ANGLES else (0, 0)


def _symbol(op: Op, operands: Sequence[Value]) -> Value:
    if op in _ODD:
        size, negative = up_to_sign(operands[0])
        value = _hashed(op.value, size, *operands[1:])
        return _negated(value) if negative else value
    if op is Op.SELECT:
        condition, a, b = operands
        negative = up_to_sign(a or b)[1]
        value = _hashed(op.value, condition, *map(_negated, (a, b))) if negative else _hashed(op.value, *operands)
        return _negated(value) if negative else value
    if op in (Op.LT, Op.LE):  # a < b where -b < -a
        operands = min(operands, [_negated(v) for v in reversed(operands)], key=repr)
    return _hashed(op.value, *(sorted(operands, key=repr) if op in COMMUTATIVE else operands))


_ARITHMETIC = (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG)
_OF_ANGLES = (Op.COS, Op.SIN, Op.TAN)
_ODD = (Op.ASIN, Op.ATAN2, Op.SIGN)  # in their first operand
_ALGEBRA: dict[Op, Callable[..., Value | None]] = {
    Op.ADD: lambda at, a, b: _if_short(_sum(a, b)),
    Op.SUB: lambda at, a, b: _if_short(_sum(a, _negated(b))),
    Op.MUL: _Point.product,
    Op.DIV: _Point.quotient,
    Op.NEG: lambda at, a: _negated(a),
    Op.SQRT: _Point.root,
    Op.ABS: _Point.size,
    Op.COS: lambda at, a: at.cos_sin(a)[0],
    Op.SIN: lambda at, a: at.cos_sin(a)[1],
    Op.TAN: lambda at, a: at.quotient(*reversed(at.cos_sin(a))),
    Op.SELECT: lambda at, condition, a, b: a if a == b else None,
    Op.MIN: lambda at, a, b: a if a == b else None,
    Op.MAX: lambda at, a, b: a if a == b else None,
}
