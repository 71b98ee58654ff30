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
    needed = set(program.results)
    for k in range(len(program.instructions) - 1, -1, -1):
        if k in needed:
            needed.update(program.instructions[k].args)
    kept = sorted(needed)
    number = {old: new for new, old in enumerate(kept)}
    instructions = tuple(
        Instruction(i.op, tuple(number[a] for a in i.args), i.value) for i in (program.instructions[k] for k in kept)
    )
    results = tuple(number[r] for r in program.results)
    return replace(program, instructions=instructions, results=results)


PASSES: tuple[Callable[[Program], Program], ...] = (remove_dead_code,)
