"""Products joined to the sums that take them: a b + c as one instruction, rounded once, as processors do it.

What is joined is decided here, by the program alone, and not by whoever writes machine code: all who do give the same
bits, at every width. A product joins where nothing else needs it: it has one use, it is no result, is neither carried
nor kept, and is computed as often as the sum.

Left out: the negative of such a sum as one more kind. It is one in ten of a program's negatives (of Talos' forward
dynamics' derivatives, 154 of 64 000 instructions), and would change the sign of zeros.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from cardan._compiler.program.ops import Op
from cardan._compiler.program.program import Program, stretches, used_once


class Fused(Enum):
    """A product joined to a sum; the comment says what it computes."""

    __hash__ = object.__hash__

    FMA = "fma"  # a b + c
    FMS = "fms"  # a b - c
    FNMA = "fnma"  # c - a b


_SUMS: dict[Op, tuple[Fused, Fused]] = {Op.ADD: (Fused.FMA, Fused.FMA), Op.SUB: (Fused.FMS, Fused.FNMA)}
"""What a sum becomes whose first, or second, operand is a product."""


class Joined(NamedTuple):
    """The instructions of a program with products joined to sums; each keeps its number."""

    ops: list[Op | Fused]  # the operation of each; a product that joined a sum is a CONST that nothing uses
    args: list[tuple[int, ...]]  # the operands of each


def joined_products(program: Program) -> Joined:
    ops: list[Op | Fused] = list(program.instructions.ops)
    args, alone, stretch = program.instructions.args, used_once(program), [0] * len(program.instructions)
    for number, part in enumerate(stretches(program)):
        stretch[part.start : part.stop] = [number] * len(part)
    for k, op in enumerate(program.instructions.ops):
        if op is Op.ADD or op is Op.SUB:
            for position, a in enumerate(args[k]):
                if alone[a] and ops[a] is Op.MUL and stretch[a] == stretch[k]:
                    ops[k], args[k] = _SUMS[op][position], (*args[a], args[k][1 - position])
                    ops[a], args[a] = Op.CONST, ()
                    break
    return Joined(ops, args)
