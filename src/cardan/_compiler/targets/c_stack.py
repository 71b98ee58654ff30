"""How much stack the functions of C take at most, before any compiler has seen them.

A compiler may give a place on the stack to every value that a part computes, and to all that it reads, but to no more:
each is written once. gcc without optimisation takes a half to four fifths of that, with `-O2` a tenth to two thirds.
"""

from __future__ import annotations

from cardan._compiler.program.ops import Op
from cardan._compiler.targets.c_family import Parts

FRAME = 256  # bytes of a call at most for registers that are kept, an address to return to, alignment: x86-64 takes 80
ARGUMENT = 16  # bytes of a pointer handed over on the stack, which who is called may put there once more
COUNTERS = 16  # bytes of those of a loop, and of the loop in it that copies a row
DEPTH = 3  # calls: over a batch, of one state, of a part
EXTRA = {Op.SIGN: 2} | dict.fromkeys((Op.MIN, Op.MAX, Op.SELECT, Op.AND, Op.OR), 1)
"""Values an operation needs besides its own: those of the branches of a conditional expression."""


def frames(parts: Parts, size: int, results: int) -> int:
    """Return the bytes at most of all frames from the function over a batch down to a part, without the array w.

    Args:
        parts: of the program.
        size: of a number, in bytes.
        results: how many are written by one function.
    """
    program = parts.program
    own = max(_values(parts, set(part)) for part in parts.parts)
    carried = sum(len(region.carried) for region in program.regions)
    values = own + results if parts.is_whole else max(own, results) + carried + len(parts.entries)
    arguments = len(program.inputs) + len(program.outputs) + 2  # the workspace, and how many states
    return size * values + COUNTERS * len(program.regions) + DEPTH * (FRAME + ARGUMENT * arguments)


def _values(parts: Parts, part: set[int]) -> int:
    """Return how many values a part computes or reads."""
    instructions = parts.instructions
    read = {a for k in part for a in instructions[k].args} - part
    computed = sum(1 + EXTRA.get(instructions[k].op, 0) for k in part)
    return computed + sum(instructions[a].op is not Op.CONST for a in read)
