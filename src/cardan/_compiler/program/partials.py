"""The derivative of each operation, and what a sweep through a program needs besides.

Where an operation has a kink (abs, min, max, a choice), the derivative is that of the side the value is on, and what
the other side does is not looked at: where(q > 0, sqrt(q), 0) has the slope 0 at 0. That is more than to pass 0 on from
the side not chosen, for 0 times an infinite slope is NaN, as in sqrt(max(q, 0)). So it is known on which choices a
derivative hangs (`Guard`). What is carried from pass to pass hangs on nothing that is known; in loops, a derivative
that is 0 stays 0 whatever it is multiplied by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from cardan._algebra import scalar
from cardan._compiler.program.expr import Condition, Expr
from cardan._compiler.program.ops import STILL, TRUTHS, WRITES, Op
from cardan._compiler.program.program import Program, Region, named

Derivatives = dict[int, Any]  # derivatives by number of direction (or of result); what is absent is 0

PARTIALS: dict[Op, Callable[..., tuple[Any, ...]]] = {
    # the derivative by each operand, from the operands and the result z
    Op.ADD: lambda a, b, z: (1.0, 1.0),
    Op.SUB: lambda a, b, z: (1.0, -1.0),
    Op.MUL: lambda a, b, z: (b, a),
    Op.DIV: lambda a, b, z: (1.0 / b, -(z / b)),
    Op.NEG: lambda a, z: (-1.0,),
    Op.SQRT: lambda a, z: (0.5 / z,),
    Op.SIN: lambda a, z: (scalar.cos(a),),
    Op.COS: lambda a, z: (-scalar.sin(a),),
    Op.TAN: lambda a, z: (1.0 + z * z,),
    Op.ASIN: lambda a, z: (1.0 / scalar.sqrt((1.0 - a) * (1.0 + a)),),
    Op.ACOS: lambda a, z: (-1.0 / scalar.sqrt((1.0 - a) * (1.0 + a)),),
    Op.ATAN2: lambda y, x, z: (x / (x * x + y * y), -(y / (x * x + y * y))),
    Op.EXP: lambda a, z: (z,),
    Op.LOG: lambda a, z: (1.0 / a,),
    Op.EXPM1: lambda a, z: (z + 1.0,),
    Op.LOG1P: lambda a, z: (1.0 / (1.0 + a),),
    Op.ABS: lambda a, z: (scalar.sign(a),),
    Op.HELD: lambda a, b, z: (0.0, 1.0),
    Op.CALLED: lambda a, *x: (1.0, *(0.0 for _ in x[1:])),
    **dict.fromkeys(STILL - TRUTHS, lambda a, z: (0.0,)),
}
"""Local derivatives. A choice (`choice_of`) has none: it chooses among its operands' derivatives."""

UNBOUNDED = frozenset({Op.DIV, Op.SQRT, Op.ASIN, Op.ACOS, Op.ATAN2, Op.LOG, Op.LOG1P})
"""Operations with slopes that may be infinite where their operands are finite."""

Guard = tuple[tuple[int, bool], ...]  # conditions, by number, and on which side of each: where these derivatives count
Guards = dict[int, Guard]  # for each derivative that does, on what it hangs: elsewhere it is 0
HANGING = 4
"""Conditions on which derivatives are known to hang, forward, the last ones. Each costs a choice at every slope."""
Guarded = dict[Guard, Derivatives]
KEPT_APART = 8
"""Guards of one value: of choices that hang on choices, as in iterations that clip, they would double at each. Beyond,
derivatives are chosen before they are multiplied, and an infinite slope of a side not chosen gives NaN."""


class Choice(NamedTuple):
    """An operation that passes one of two operands on: the first where the condition holds."""

    condition: Any
    first: int
    second: int


def choice_of(op: Op, args: Sequence[int], values: Sequence[Any]) -> Choice | None:
    if op is Op.SELECT:
        return Choice(values[args[0]], args[1], args[2])
    if op is Op.MIN:
        return Choice(values[args[0]] <= values[args[1]], *args)
    if op is Op.MAX:
        return Choice(values[args[0]] >= values[args[1]], *args)
    return None


def moving(program: Program) -> bytearray:
    """Return a flag for each instruction: whether results have derivatives by inputs that hang on its own."""
    ops = program.instructions.ops
    operands = [
        own[1:] if op is Op.HELD else () if op in STILL else own
        for op, own in zip(ops, program.instructions.args, strict=True)
    ]
    for region in program.regions:
        for k, after in region.carried:
            operands[k] = (*operands[k], after)
    given = set(program.instructions.places(Op.INPUT))
    for entries, column in zip(named(program), program.columns, strict=True):
        writes = [k for k in entries if ops[k] in WRITES]
        for k, other in (
            *zip(writes, writes[-1:] + writes, strict=False),
            *((k, w) for k in entries for w in writes[-1:]),
        ):
            operands[k] = (*operands[k], other)  # what is in a column hangs on all that is put there
        given.update(entries if column.start is not None else ())
    from_inputs, to_results = bytearray(len(ops)), bytearray(len(ops))
    for k in given:
        from_inputs[k] = 1
    for r in program.results:
        to_results[r] = 1
    known = -1
    while known < (known := sum(from_inputs) + sum(to_results)):  # again where something is carried backwards
        for k, own in enumerate(operands):
            if not from_inputs[k]:
                for a in own:
                    if from_inputs[a]:
                        from_inputs[k] = 1
                        break
        for k in range(len(ops) - 1, -1, -1):
            if to_results[k]:
                for a in operands[k]:
                    to_results[a] = 1
    return bytearray(a & b for a, b in zip(from_inputs, to_results, strict=True))


def still_regions(program: Program) -> list[Region]:
    """Return the regions in which nothing has a derivative, with those within them: they need not be written out."""
    flags, ops = moving(program) if program.regions else b"", program.instructions.ops
    moves = accumulate((bool(flag) and ops[k] is not Op.INPUT for k, flag in enumerate(flags)), initial=0)
    before = list(moves)  # how many of the instructions before each have one

    def is_still(region: Region) -> bool:
        heads = all(ops[k] is Op.CARRIED for k, _ in region.carried)
        return heads and before[region.stop] == before[region.start]

    return [region for region in program.regions if is_still(region)]


def is_zero(value: Any) -> bool:
    return not isinstance(value, (Expr, Condition)) and value == 0.0


def combined(terms: Sequence[tuple[Any, Derivatives]]) -> Derivatives:
    total: Derivatives = {}
    for slope, derivatives in terms:
        if not is_zero(slope):
            accumulate_in(total, {j: d * slope for j, d in derivatives.items()})
    return total


def accumulate_in(total: Derivatives, more: Derivatives) -> None:
    for j, d in more.items():
        total[j] = total[j] + d if j in total else d
        if is_zero(total[j]):
            del total[j]


def chosen(condition: Any, a: Derivatives, b: Derivatives) -> Derivatives:
    return {j: scalar.where(condition, a.get(j, 0.0), b.get(j, 0.0)) for j in sorted(a.keys() | b.keys())}


def zero_stays(derivatives: Derivatives, more: Derivatives) -> Derivatives:
    """Return derivatives times something, 0 where they are 0 themselves: an infinite slope would make NaN of that."""
    return {j: scalar.where(derivatives[j] == 0.0, 0.0, d) for j, d in more.items()}
