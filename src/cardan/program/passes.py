"""Passes: pure functions from a program to an equivalent program, in the order of `PASSES`.

Folding, sharing and sign propagation happen while tracing (`expr.py`); what is left runs here.
"""

from __future__ import annotations

from collections.abc import Callable

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
    return Program(program.name, program.inputs, instructions, program.outputs, results)


PASSES: tuple[Callable[[Program], Program], ...] = (remove_dead_code,)
