"""Passes: pure functions from a program to an equivalent program, in the order of `PASSES`.

Folding, sharing (hash-consing) and the carrying of signs happen while tracing (`expr.py`), where they keep the graph
small from the start; what needs the whole program runs here. Multiply-adds are formed by the targets' compilers. Tried,
and left out because they save nothing (docs/performance.md has the figures): cos^2 + sin^2 = 1, which no robot has;
factoring of common factors; four orders of evaluation other than the algorithm's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cardan.program.program import Instruction, Program


def remove_dead_code(program: Program) -> Program:
    """Keep only what the results need, in the same order, renumbered."""
    needed = bytearray(len(program.instructions))
    for r in program.results:
        needed[r] = 1
    for k in range(len(needed) - 1, -1, -1):
        if needed[k]:
            for a in program.instructions[k].args:
                needed[a] = 1
    number, count = [0] * len(needed), 0
    kept: list[Instruction] = []
    for k, instruction in enumerate(program.instructions):
        if needed[k]:
            op, args, value = instruction
            kept.append(Instruction(op, tuple([number[a] for a in args]), value))
            number[k], count = count, count + 1
    return replace(program, instructions=tuple(kept), results=tuple([number[r] for r in program.results]))


PASSES: tuple[Callable[[Program], Program], ...] = (remove_dead_code,)
