"""Products joined to the sums that take them: a b + c as one instruction, rounded once, as processors do it.

What is joined is decided here, by the program alone, and not by whoever writes machine code: all who do give the same
bits, at every width. A product joins where nothing else needs it: it has one use, it is no result, is neither carried
nor kept, and is computed as often as the sum.

Left out: the negative of such a sum as one more kind. It is one in ten of a program's negatives (of Talos' forward
dynamics' derivatives, 154 of 64 000 instructions), and would change the sign of zeros.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any

from cardan.program.liveness import stretches
from cardan.program.ops import Op
from cardan.program.program import Instruction, Program


class Fused(Enum):
    """A product joined to a sum; the comment says what it computes."""

    __hash__ = object.__hash__

    FMA = "fma"  # a b + c
    FMS = "fms"  # a b - c
    FNMA = "fnma"  # c - a b


_SUMS = {Op.ADD: (Fused.FMA, Fused.FMA), Op.SUB: (Fused.FMS, Fused.FNMA)}
"""What a sum becomes whose first, or second, operand is a product."""
GONE = Instruction(Op.CONST)
"""Stands where a product was that joined a sum; nothing uses it, and all others keep their numbers."""


def fused(program: Program) -> Program:
    """Return a program with products joined to sums: some of its instructions have a `Fused` for their operation.

    It is for targets to walk, and no program by the rules of `verify`.
    """
    found: list[Any] = list(program.instructions)
    alone, stretch = _used_once(program), _stretch_numbers(program)
    for k, (op, args, _) in enumerate(program.instructions):
        if op in _SUMS:
            for position, a in enumerate(args):
                if alone[a] and found[a].op is Op.MUL and stretch[a] == stretch[k]:
                    operands = (*found[a].args, args[1 - position])
                    found[k], found[a] = Instruction(_SUMS[op][position], operands), GONE  # pyright: ignore[reportArgumentType]
                    break
    return replace(program, instructions=tuple(found))


def _used_once(program: Program) -> bytearray:
    """Return a flag for each instruction: whether one other needs it, and nothing else."""
    uses = bytearray(len(program.instructions))  # 0, 1, or 2 for more
    for instruction in program.instructions:
        for a in instruction.args:
            uses[a] = 1 if not uses[a] else 2
    for k in (*program.results, *(after for region in program.regions for _, after in region.carried)):
        uses[k] = 2
    return uses.translate(bytes([0, 1, *[0] * 254]))


def _stretch_numbers(program: Program) -> list[int]:
    """Return the number of each instruction's stretch."""
    found = [0] * len(program.instructions)
    for number, stretch in enumerate(stretches(program)):
        found[stretch.start : stretch.stop] = [number] * len(stretch)
    return found
