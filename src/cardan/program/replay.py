"""A program run again on scalars of any type: numbers, batches, symbols of this or another library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cardan.program.ops import SPEC, Op
from cardan.program.program import Program


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
            values.append(SPEC[op].evaluate(*(values[a] for a in args)))
    return values
