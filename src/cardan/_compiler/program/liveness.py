"""How long values wait: a program cut into blocks, with regions that are run again."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

from cardan._compiler.program.ops import Op
from cardan._compiler.program.program import Program, Region, TableRows, rows_of

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

    What a region needs of what was there before, it needs to its end: in the next pass again. But what it picks from
    goes into a table as it begins; what it keeps comes into one at the end of each pass.

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
    each = zip(regions, rows_of(program), spans_of(regions, spans), strict=True)
    for number, (region, rows, (start, end)) in enumerate(each):
        for pair in region.carried:
            for a in pair:
                needed(a, end)
        for a in rows.kept:
            needed(a, end)
        if region.going is not None:
            needed(region.going, start if region.may_be_skipped else end)
        own = set(rows.picked)
        for k in region.instructions:
            for a in operands[k]:
                if a < region.start:
                    needed(a, start if k in own else end)
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


class Tables(NamedTuple):
    """Where the tables of a region are among the places where values wait."""

    rows: TableRows  # what is in them
    picked: int  # place of the row of the pass that runs; those of all passes follow, one after the other
    moved: tuple[int, ...]  # the columns of which all passes' rows wait
    kept: int  # place of the first row that is kept
    end: int  # the first place behind

    @property
    def first_row(self) -> int:
        return self.picked + len(self.rows.picked)


def tables_of(program: Program, top: int, apart: Container[int] = ()) -> list[Tables]:
    """Return the tables of each region, one behind the other from a place on; nothing else ever waits there.

    Of PICKED instructions whose numbers are kept `apart` only the row of the pass that runs is among the places.
    """
    found: list[Tables] = []
    for region, rows in zip(program.regions, rows_of(program), strict=True):
        moved = tuple(j for j, k in enumerate(rows.picked) if k not in apart)
        kept = top + len(rows.picked) + region.passes * len(moved)
        found.append(Tables(rows, top, moved, kept, kept + region.passes * len(rows.kept)))
        top = found[-1].end
    return found


def places_in(program: Program, tables: Sequence[Tables]) -> dict[int, int]:
    places = {k: table.picked + j for table in tables for j, k in enumerate(table.rows.picked)}
    columns = {k: (table, j) for table in tables for j, k in enumerate(table.rows.kept)}
    for k in program.instructions.places(Op.KEPT):
        _, args, number = program.instructions[k]
        table, j = columns[args[0]]
        places[k] = table.kept + int(number) * len(table.rows.kept) + j
    return places
