"""A program run again on scalars of any type: numbers, batches, symbols of this or another library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cardan import scalar
from cardan.program.ops import Op
from cardan.program.program import Program

TABLE: dict[Op, Callable[..., Any]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.NEG: lambda a: -a,
    Op.SQRT: scalar.sqrt,
    Op.SIN: scalar.sin,
    Op.COS: scalar.cos,
    Op.TAN: scalar.tan,
    Op.ASIN: scalar.asin,
    Op.ACOS: scalar.acos,
    Op.ATAN2: scalar.atan2,
    Op.EXP: scalar.exp,
    Op.LOG: scalar.log,
    Op.ABS: scalar.absolute,
    Op.SIGN: scalar.sign,
    Op.FLOOR: scalar.floor,
    Op.MIN: scalar.minimum,
    Op.MAX: scalar.maximum,
    Op.LT: lambda a, b: a < b,
    Op.LE: lambda a, b: a <= b,
    Op.EQ: lambda a, b: a == b,
    Op.AND: scalar.logical_and,
    Op.OR: scalar.logical_or,
    Op.NOT: scalar.logical_not,
    Op.SELECT: scalar.where,
}


def replay(program: Program, inputs: Sequence[Any]) -> list[Any]:
    """Return the value of each instruction.

    Args:
        program: what to run.
        inputs: a scalar for each flattened input.
    """
    values: list[Any] = []
    for op, args, number in program.instructions:
        if op is Op.INPUT:
            values.append(inputs[int(number)])
        elif op is Op.CONST:
            values.append(number)
        else:
            values.append(TABLE[op](*(values[a] for a in args)))
    return values
