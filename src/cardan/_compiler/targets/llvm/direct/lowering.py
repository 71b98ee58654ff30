"""From instructions of a program to steps that processors have, in the order in which registers like them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from enum import Enum
from heapq import heappop, heappush
from math import copysign
from typing import NamedTuple

from cardan._compiler.program.ops import WRITES, Op
from cardan._compiler.program.passes import Fused, Joined

MachineStep = tuple[str, int, tuple[int, ...]]  # what is done, the value it gives, and those it takes

STEPS: dict[Enum, str] = {
    **{op: op.value for op in (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.SQRT, Op.FLOOR)},
    **{op: op.value for op in (Op.LT, Op.LE, Op.EQ, Op.AND, Op.OR)},
    **{op: op.value for op in Fused},
}
"""Operations that can be one step. A truth value is a vector of all bits or none in each lane."""
HAS_STEPS = frozenset((*STEPS, Op.NEG, Op.ABS, Op.NOT, Op.SELECT, Op.SIGN, Op.MIN, Op.MAX, *WRITES))
"""Operations that are steps: one, or several where the processor has not that one."""

BITWISE = "max_of_bits"
"""The larger of two numbers, neither below zero nor -0, is that of their bits; those of NaN are the largest."""
SMALLEST = 2.0**-126  # a constant below it may be zero in single precision
_ZEROS: dict[Enum, tuple[str, ...]] = {Op.MAX: ("0.0", "-0.0"), Op.MIN: ("0.0",)}
"""Zeros that are bounds beside which another zero is right as it is, or their sum."""
_PRODUCTS = frozenset({Op.MUL, Fused.FMA})
_KEEPING = frozenset({Op.ADD, Op.DIV, Op.MIN, Op.MAX, Op.SQRT})
"""Operations on numbers none of which is below zero, nor -0, whose result is not either."""

LONGEST = 20_000  # steps: what waits of longer lines is beyond the nearest caches, whose delays count alone
ISSUE = 7  # tenths of a cycle from one step to the next, on processors of today
LATENCY = {"add": 30, "sub": 30, "div": 140, "sqrt": 200} | dict.fromkeys(("mul", "fma", "fms", "fnma"), 40)
ANY = 20  # tenths of a cycle until there is a result


class Bits(Enum):
    """Constants that are no numbers."""

    SIGN = "the sign"
    MAGNITUDE = "all but the sign"
    ALL = "all"


class StraightLine(NamedTuple):
    steps: list[MachineStep]  # in order
    constants: dict[int, float | Bits]  # the values that are known
    names: list[int]  # the instruction that each value is of; beyond the program's, what is made in between
    # The values that are what an entry of a row is, or is to be, each with an instruction that names it. What is put
    # there is a step without a result, and its value says where.
    cells: dict[int, int]

    @property
    def values(self) -> int:
        return len(self.names)


class _Lowering:
    def __init__(self, values: int) -> None:
        self.values = values
        self.steps: list[MachineStep] = []
        self.constants: dict[int, float | Bits] = {}
        self.known: dict[float | Bits, int] = {}
        self.cells: dict[int, int] = {}
        self.sums: dict[tuple[float, int], int] = {}  # what was added up here, by column and row

    def new(self) -> int:
        self.values += 1
        return self.values - 1

    def constant(self, content: float | Bits) -> int:
        if content not in self.known:
            self.known[content] = k = self.new()
            self.constants[k] = content
        return self.known[content]

    def put(self, code: str, *args: int, value: int | None = None) -> int:
        value = self.new() if value is None else value
        self.steps.append((code, value, args))
        return value

    def composed(self, k: int, op: Enum, args: tuple[int, ...]) -> None:
        """Write an operation that is several steps, or needs certain bits."""
        if op is Op.NEG:
            self.flipped(args[0], Bits.SIGN, k)
        elif op is Op.NOT:
            self.flipped(args[0], Bits.ALL, k)
        elif op is Op.ABS:
            self.put("and", args[0], self.constant(Bits.MAGNITUDE), value=k)
        elif op is Op.SELECT:
            self.put("select", args[2], args[1], args[0], value=k)
        elif op is Op.SIGN:
            self.sign(k, args[0])
        else:
            self.extreme(k, op, *args)

    def stored(self, k: int, op: Enum, column: float, row: int, x: int) -> None:
        """Write what puts x in an entry, or adds it there."""
        if op is Op.ADDED:
            before = self.sums.get((column, row))
            if before is None:
                before = self.new()
                self.cells[before] = k
            x = self.sums[column, row] = self.put("add", before, x)
        self.cells[k] = k
        self.put("put", x, value=k)

    def bounded(self, k: int, op: Enum, x: int, bound: int, number: float) -> None:
        """Write the smaller or larger of x and a number; x itself, if both are zeros or it is NaN.

        That is right but for the larger of -0 and 0, which is their sum.
        """
        chosen = (f"{op.value}_or_second", bound, x)
        if op is Op.MAX and number == 0.0 and copysign(1.0, number) > 0.0:
            self.put("add", self.put(*chosen), bound, value=k)
        else:
            self.put(*chosen, value=k)

    def flipped(self, x: int, bits: Bits, k: int | None = None) -> int:
        return self.put("xor", x, self.constant(bits), value=k)

    def sign(self, k: int, x: int) -> None:
        """Write -1, 0 or 1; NaN and signed zeros pass as they are."""
        zero, one, minus_one = (self.constant(c) for c in (0.0, 1.0, -1.0))
        above, below = self.put("lt", zero, x), self.put("lt", x, zero)
        self.put("select", self.put("select", x, minus_one, below), one, above, value=k)

    def extreme(self, k: int, op: Enum, a: int, b: int) -> None:
        """Write the smaller or larger; NaN if either is, and -0 below +0.

        Where a processor gives its second operand if both are zeros or one is NaN, both ways round tell: for the
        smaller, the bits of either; for the larger, the bits that differ are set, and taken away as a number.
        """
        p, r = self.put(f"{op.value}_or_second", a, b), self.put(f"{op.value}_or_second", b, a)
        if op is Op.MIN:
            self.put("or", p, r, value=k)
        else:
            d = self.put("xor", p, r)
            self.put("sub", self.put("or", p, d), d, value=k)


def lower(
    joined: Joined, numbers: Sequence[float], block: Sequence[int], has: Container[str], ahead: int = 0
) -> StraightLine:
    """Return a block of instructions as steps that the processor `has`.

    A negative comes right behind what it is of: tracing writes those of results at the end. `numbers` has the values of
    constants; steps may be done so far `ahead` of those in front of them, which wait; see `spread`.
    """
    ops, args = joined
    low, here = _Lowering(len(ops)), set(block)
    positive = never_negative(joined, numbers, block) if BITWISE in has else set()
    negatives = {args[k][0]: k for k in block if ops[k] is Op.NEG and args[k][0] in here}
    early = set(negatives.values())
    for k in block:
        op = ops[k]
        if op in STEPS:
            low.steps.append((STEPS[op], k, args[k]))
        elif op in WRITES:
            low.stored(k, op, numbers[k], *args[k])
        elif op is Op.MAX and positive.issuperset(args[k]):
            low.put(BITWISE, *args[k], value=k)
        elif op in _ZEROS and (bound := _bound(joined, numbers, k)):
            low.bounded(k, op, *bound)
        elif op is Op.SELECT and ops[args[k][2]] is Op.CONST and repr(numbers[args[k][2]]) == "0.0":
            low.put("and", *args[k][:2], value=k)  # with no bits where the truth has none
        elif k not in early:
            low.composed(k, op, args[k])
        if k in negatives:
            low.composed(negatives[k], Op.NEG, (k,))
    used = {a for _, _, args in low.steps for a in args if a < len(ops)}
    low.constants |= {a: numbers[a] for a in used if ops[a] is Op.CONST}
    line = _numbered(low)
    steps = sink(line.steps, line.constants, line.values)
    if ahead and len(steps) < LONGEST:
        steps = spread(steps, ahead)
    return line._replace(steps=steps)


def _numbered(low: _Lowering) -> StraightLine:
    """Return a line with its values numbered from 0, so that what looks at it does not grow with the program."""
    number: dict[int, int] = {}
    for _, value, args in low.steps:
        for k in (*args, value):
            number.setdefault(k, len(number))
    steps = [(code, number[value], tuple([number[a] for a in args])) for code, value, args in low.steps]
    constants = {number[k]: content for k, content in low.constants.items() if k in number}
    return StraightLine(steps, constants, list(number), {number[k]: own for k, own in low.cells.items()})


def never_negative(joined: Joined, numbers: Sequence[float], block: Sequence[int]) -> set[int]:
    """Return values that are 0 or more, not -0, or NaN, whatever comes in; no values if nothing asks for them."""
    (ops, args), found = joined, set[int]()
    if not any(ops[k] is Op.MAX for k in block):
        return found
    for k in block:
        op, of = ops[k], args[k]
        found.update(a for a in of if ops[a] is Op.CONST and copysign(1.0, numbers[a]) > 0.0)
        if op in _PRODUCTS and (of[0] == of[1] or found.issuperset(of[:2])):
            holds = found.issuperset(of[2:])
        else:
            holds = op is Op.ABS or (op in _KEEPING and found.issuperset(of))
        if holds or (op is Op.MAX and not found.isdisjoint(of)):
            found.add(k)
    return found


def _bound(joined: Joined, numbers: Sequence[float], k: int) -> tuple[int, int, float] | None:
    """Return of the smaller or larger of two one operand, and the other where it is a number that serves as a bound."""
    (ops, args), op = joined, joined.ops[k]
    for x, bound in (args[k], args[k][::-1]):
        number = numbers[bound]
        if ops[bound] is Op.CONST and (abs(number) >= SMALLEST or repr(number) in _ZEROS[op]):
            return x, bound, number
    return None


def sink(steps: list[MachineStep], constants: Iterable[int], values: int) -> list[MachineStep]:
    """Return steps in an order in which each comes right before its first use, if at most one operand dies by it.

    Then the value waits no longer than it must, and at most one operand waits in its place.
    """
    apart, count = 1 << 40, len(steps)  # so much lies between two steps, and many that sink find room there
    never = apart * (count + 1)
    first, last, place = [never] * values, [-1] * values, [0] * count  # when values are used, and steps are done
    for k in constants:
        last[k] = never
    for t in range(count - 1, -1, -1):
        _, value, args = steps[t]
        at, use = apart * t, first[value]
        if at + apart < use < never and len([a for a in args if last[a] < use]) < 2:
            at = use - 1 - (count - t)
        place[t] = at
        for a in args:
            if at < first[a]:
                first[a] = at
            if at > last[a]:
                last[a] = at
    return [steps[t] for t in sorted(range(count), key=place.__getitem__)]


def spread(steps: list[MachineStep], ahead: int) -> list[MachineStep]:
    """Return steps in an order in which few wait for those right before them.

    It is that of a processor that does the first it can of the steps up to so many `ahead` of the first not done yet.
    Real ones do that, too, but look less far. The further, the more values wait in registers.

    Source: Gibbons and Muchnick, Efficient instruction scheduling for a pipelined architecture (1986).
    Cost: 3 us a step.
    """
    made, missing = {value for _, value, _ in steps}, [0] * len(steps)
    users: dict[int, list[int]] = {}  # by value, of those of these steps alone: a program may have many blocks
    for t, (_, _, args) in enumerate(steps):
        for a in args:
            if a in made:
                users.setdefault(a, []).append(t)
                missing[t] += 1
    coming = [(0, t) for t, count in enumerate(missing) if not count]  # a heap, by when all operands are there
    ready: list[int] = []  # a heap, by place: they are
    there, done, found = [0] * len(steps), bytearray(len(steps) + 1), list[MachineStep]()
    first = now = 0
    while len(found) < len(steps):
        while coming and coming[0][0] <= now:
            heappush(ready, heappop(coming)[1])
        if not ready or ready[0] > first + ahead:
            now = coming[0][0]  # the first that is not done is among them
            continue
        t = heappop(ready)
        code, value, _ = steps[t]
        found.append(steps[t])
        done[t] = True
        while done[first]:
            first += 1
        for user in users.get(value, ()):
            missing[user] -= 1
            there[user] = max(there[user], now + LATENCY.get(code, ANY))
            if not missing[user]:
                heappush(coming, (there[user], user))
        now += ISSUE
    return found
