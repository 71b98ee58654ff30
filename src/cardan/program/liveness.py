"""How long values wait: a program cut into blocks, with regions that are run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cardan.program.ops import Op
from cardan.program.program import Program, Region, phases

Spans = Mapping[range, tuple[int, int]]
"""The first and the last block of each straight stretch."""


def stretches(program: Program, within: Region | None = None) -> list[range]:
    """Return the stretches of a program, or of one region, between the bounds of all regions."""
    parts = phases(program, within)
    return [s for part in parts for s in ([part] if isinstance(part, range) else stretches(program, part))]


def span(program: Program, spans: Spans, region: Region) -> tuple[int, int]:
    """Return the first and the last block of a region."""
    own = stretches(program, region)
    return spans[own[0]][0], spans[own[-1]][1]


def heads_of(program: Program, spans: Spans, ops: Sequence[Op]) -> dict[int, int]:
    """Return the instructions of these kinds to which something is carried, with the first block of their region."""
    return {
        k: span(program, spans, region)[0]
        for region in program.regions
        for k, _ in region.carried
        if program.instructions[k].op in ops
    }


def last_readers(program: Program, home: Mapping[int, int], spans: Spans, heads: Mapping[int, int]) -> dict[int, int]:
    """Return the last block that needs each value which is needed beyond the block that computes it.

    What a region needs of what was there before, it needs to its end: in the next pass again.

    Args:
        program: what is cut.
        home: the block of each instruction that is an operation.
        spans: of its stretches.
        heads: the first block of its region for each instruction with a place of its own for what is carried to it.
    """
    last: dict[int, int] = {}

    def needed(a: int, block: int) -> None:
        if a in home or a in heads:
            last[a] = max(last.get(a, block), block)

    for k, block in home.items():
        for a in program.instructions[k].args:
            if home.get(a) != block:
                needed(a, block)
    for region in program.regions:
        end = span(program, spans, region)[1]
        for pair in region.carried:
            for a in pair:
                needed(a, end)
        for k in region.instructions:
            for a in program.instructions[k].args:
                if a < region.start:
                    needed(a, end)
    return last
