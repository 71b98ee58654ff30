"""How long values wait: a program cut into blocks, with regions that are run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

from cardan._compiler.program.ops import Op
from cardan._compiler.program.program import Program, Region, homes_of

Spans = Mapping[range, tuple[int, int]]  # the first and the last block of each straight stretch


def spans_of(regions: Sequence[Region], spans: Spans) -> list[tuple[int, int]]:
    """Return the first and the last block of each region."""
    first = {stretch.start: blocks[0] for stretch, blocks in spans.items()}
    last = {stretch.stop: blocks[1] for stretch, blocks in spans.items()}
    return [(first[region.start], last[region.stop]) for region in regions]


def heads_of(program: Program, spans: Spans, ops: Sequence[Op]) -> dict[int, int]:
    """Return the instructions of these kinds to which something is carried, with the first block of their region."""
    return {
        k: first
        for region, (first, _) in zip(program.regions, spans_of(program.regions, spans), strict=True)
        for k, _ in region.carried
        if program.instructions[k].op in ops
    }


def last_readers(
    program: Program, home: Mapping[int, int], spans: Spans, heads: Mapping[int, int], operands: Sequence[Sequence[int]]
) -> dict[int, int]:
    """Return the last block that needs each value which is needed beyond the block that computes it.

    What a region needs of what was there before, it needs to its end: in the next pass again.

    `home` has the block of each instruction that is an operation, `heads` the first block of its region for each
    instruction with a place of its own for what is carried to it. `operands` may be those of joined products.
    """
    last: dict[int, int] = {}

    def needed(a: int, block: int) -> None:
        if a in home or a in heads:
            last[a] = max(last.get(a, block), block)

    for k, block in home.items():
        for a in operands[k]:
            if home.get(a) != block:
                needed(a, block)
    regions = program.regions
    for number, (region, (start, end)) in enumerate(zip(regions, spans_of(regions, spans), strict=True)):
        for pair in region.carried:
            for a in pair:
                needed(a, end)
        if region.going is not None:
            needed(region.going, start if region.may_be_skipped else end)
        for k in region.instructions:
            for a in operands[k]:
                if a < region.start:
                    needed(a, end)
        # What those within carry on is wanted in each pass of this one, too.
        for inner in takewhile(lambda r, stop=region.stop: r.start < stop, islice(regions, number + 1, None)):
            outside = [after for _, after in inner.carried] + [k for k in (inner.going,) if k is not None]
            for a in (a for a in outside if a < region.start):
                needed(a, end)
    return last


def assign_slots(born: Sequence[Sequence[int]], last: Mapping[int, int], top: int) -> tuple[dict[int, int], int]:
    """Return a slot for each value that waits, from `top` on, and how many there are; each is used again.

    A value gets its slot in the block where it is born, and that is free after the last block that reads it.
    """
    slots: dict[int, int] = {}
    free: list[int] = []
    expiring: dict[int, list[int]] = {}
    for b, block in enumerate(born):
        for k in block:
            if k not in last:
                continue
            if free:
                slots[k] = free.pop()
            else:
                slots[k], top = top, top + 1
            expiring.setdefault(last[k], []).append(slots[k])
        free += expiring.pop(b, [])
    return slots, top


class Place(NamedTuple):
    """Where a column waits: its row 0, and how many places further the next row does."""

    first: int
    stride: int

    def at(self, row: int) -> int:
        return self.first + row * self.stride


def place_columns(program: Program, top: int, first_output: int | None = None) -> tuple[dict[int, Place], int]:
    """Return where the columns that a program writes wait, from a place on, and the first one behind.

    Columns of as many rows lie side by side, so that a row of them is one record. One whose rows are results waits
    where they are written, from `first_output` on, if these have a place.
    """
    places: dict[int, Place] = {}
    if first_output is not None:
        own = ((n, c) for n, c in enumerate(program.columns) if c.result is not None)
        places = {n: Place(first_output + c.results.start, c.stride) for n, c in own}
    records: dict[int, list[int]] = {}
    for number, column in enumerate(program.columns):
        if column.is_inner and number not in places:
            records.setdefault(column.rows, []).append(number)
    for rows, own in records.items():
        places |= {number: Place(top + k, len(own)) for k, number in enumerate(own)}
        top += rows * len(own)
    return places, top


def records_of_numbers(program: Program) -> dict[int, list[int]]:
    """Return the columns of known numbers by how many rows they have: those of one length lie side by side."""
    records: dict[int, list[int]] = {}
    for number, column in enumerate(program.columns):
        if column.table is not None:
            records.setdefault(column.rows, []).append(number)
    return records


def summed_columns(program: Program) -> dict[Region | None, list[int]]:
    """Return the columns that begin with zeros, by the region they live in: those where things are added alone."""
    values, places = program.instructions.values, program.instructions.places
    summed = {int(values[k]) for k in places(Op.ADDED)} - {int(values[k]) for k in places(Op.PUT)}
    found: dict[Region | None, list[int]] = {}
    for column, home in homes_of(program).items() if summed else ():
        if column in summed:
            found.setdefault(home, []).append(column)
    return found
