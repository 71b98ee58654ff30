"""Passes: pure functions from a program to an equivalent program, in the order of `PASSES`.

Folding, sharing (hash-consing) and the carrying of signs happen while tracing (`expr.py`), where they keep the graph
small from the start; what needs the whole program runs here. Multiply-adds are formed for machine code (`fusing`).
Tried, and left out because they save nothing (docs/performance.md has the figures): cos^2 + sin^2 = 1, which no robot
has; factoring of common factors; four orders of evaluation other than the algorithm's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from cardan._compiler.program.program import Program, Region, rows_of


def remove_dead_code(program: Program) -> Program:
    """Keep only what the results need, in the same order, renumbered."""
    needed = needed_for(program, program.results)
    kept, number = program.instructions.kept(needed)
    results = tuple([number[r] for r in program.results])
    return replace(program, instructions=kept, results=results, regions=_regions(program, needed, number))


def needed_for(program: Program, results: Sequence[int]) -> bytearray:
    """Return a flag for each instruction: whether one of these results is, or needs it."""
    needed, after = bytearray(len(program.instructions)), {k: a for r in program.regions for k, a in r.carried}
    args = program.instructions.args
    for r in results:
        needed[r] = 1
    more = True
    while more:  # again where something is carried backwards
        more = False
        for k in range(len(needed) - 1, -1, -1):
            if needed[k]:
                for a in args[k]:
                    needed[a] = 1
                if k in after and not needed[after[k]]:
                    needed[after[k]], more = 1, True
    return needed


def _regions(program: Program, needed: bytearray, number: list[int]) -> tuple[Region, ...]:
    """Return what is left of the regions; those that carry and pick nothing any more do the same in each pass."""
    found = []
    for region, rows in zip(program.regions, rows_of(program), strict=True):
        carried = tuple((number[k], number[after]) for k, after in region.carried if needed[k])
        if carried or any(needed[k] for k in rows.picked):
            start = sum(needed[: region.start])
            found.append(Region(start, start + sum(needed[region.start : region.stop]), region.passes, carried))
    return tuple(found)


PASSES: tuple[Callable[[Program], Program], ...] = (remove_dead_code,)
