"""How a program is laid out for vector code: lanes, blocks of instructions, and where values wait in the workspace.

Splitting keeps code generation linear in the length of the program and live ranges short (PERFORMANCE, fact 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from cardan._compiler.program.liveness import (
    Place,
    Spans,
    assign_slots,
    heads_of,
    last_readers,
    place_columns,
    records_of_numbers,
    summed_columns,
)
from cardan._compiler.program.ops import ENTRIES, LEAVES, WRITES, Op
from cardan._compiler.program.passes import Joined, joined_products, results_in_place, without_tangents
from cardan._compiler.program.program import Array, Program, Region, stretches
from cardan._compiler.targets.llvm.direct.allocation import (
    CELL_PLACES,
    Allocation,
    Machine,
    RowCell,
    allocate,
)
from cardan._compiler.targets.llvm.direct.lowering import HAS_STEPS, lower
from cardan._compiler.targets.llvm.direct.x86 import POINTERS
from cardan._compiler.targets.llvm.writer import Lanes

BLOCK = 500  # operations in a function
STORES = 200  # results a function stores; code generation is quadratic in them
STREAMED = 64  # entries of an output from which large batches are written past the caches
STACK = 128 * 1024  # bytes of workspace that go on the stack; a thread may have no more than 512 kB

Move = tuple[int, int]  # an instruction, and the place where its value is to be


class RowPointer(NamedTuple):
    """What functions of a region are told: where the row of a pass is, of columns that lie side by side."""

    row: int  # the instruction that gives the number of the row
    stride: int  # vectors from row to row; of known numbers, numbers
    record: int = 0  # of known numbers, how many rows there are; 0 in the workspace


class CellPlace(NamedTuple):
    pointer: RowPointer
    offset: int  # from there: vectors, or numbers


@dataclass
class Plan:
    """A program with its products joined to sums, which block computes each instruction, and where values wait."""

    program: Program
    joined: Joined
    numbers: list[float]
    blocks: list[list[int]]
    spans: Spans
    slot: dict[int, int] = field(default_factory=dict)
    copies: dict[int, list[int]] = field(default_factory=dict)
    columns: dict[int, Place] = field(default_factory=dict)  # of those in the workspace
    records: dict[int, list[int]] = field(default_factory=dict)  # columns of known numbers, by their rows
    summed: dict[Region | None, list[int]] = field(default_factory=dict)
    moving: set[int] = field(default_factory=set)  # the instructions that name an entry at another row in each pass
    told: dict[int, list[RowPointer]] = field(default_factory=dict)  # of blocks, what they are told
    machine: Machine | None = None
    direct: dict[int, Allocation] = field(default_factory=dict)
    slots: int = 0
    first_output: int = 0

    def place(self, k: int) -> int:
        """Return where an instruction's value waits, for which others look."""
        op = self.joined.ops[k]
        if op in ENTRIES:
            return self.columns[int(self.numbers[k])].at(int(self.numbers[self.joined.args[k][0]]))
        return int(self.numbers[k]) if op is Op.INPUT else self.slot[k]

    def is_fixed(self, k: int) -> bool:
        """Return whether an instruction names an entry at a row that is known, which is a place like others."""
        return self.joined.ops[self.joined.args[k][0]] is Op.AT

    def cell(self, k: int) -> CellPlace:
        """Return where the entry is that an instruction names at another row in each pass."""
        row, number = self.joined.args[k][0], int(self.numbers[k])
        column = self.program.columns[number]
        if column.table is not None:
            own = self.records[column.rows]
            return CellPlace(RowPointer(row, len(own), column.rows), own.index(number))
        place = self.columns[number]
        return CellPlace(RowPointer(row, place.stride), place.first)

    def pointers(self, instructions: Iterable[int]) -> list[RowPointer]:
        """Return what a function must be told that reads the values of some instructions, or puts them in rows."""
        named = (k for k in instructions if k in self.moving)
        return list(dict.fromkeys(self.cell(k).pointer for k in named))

    def block_pointers(self, number: int) -> list[RowPointer]:
        if number not in self.told:
            args, moving = self.joined.args, self.moving
            near = (k for k in self.blocks[number] if k in moving or not moving.isdisjoint(args[k]))
            self.told[number] = self.pointers(a for k in near for a in (*args[k], k))
        return self.told[number]

    def entering(self, number: int) -> list[Sequence[Move]]:
        """Return what goes where as a region begins: what is carried to its first pass."""
        first = [(k, self.program.instructions[k].args) for k, _ in self.program.regions[number].carried]
        return in_groups([(args[0], self.place(k)) for k, args in first if args])

    def carrying(self, region: Region) -> list[Sequence[Move]]:
        """Return what goes where between two passes of a region; of the first group, all is read before any is written.

        It is of values in places that are written: what was carried is carried on, to somewhere else.
        """
        heads = {k for k, _ in region.carried}
        first = [(after, self.place(k)) for k, after in region.carried if after in heads]
        others = [(after, self.place(k)) for k, after in region.carried if after not in heads]
        return [*([first] if first else []), *in_groups(others)]

    @cached_property
    def leaf_results(self) -> list[Sequence[Move]]:
        """What goes where at the end: results that no block computes."""
        found = (k for k in self.copies if self.joined.ops[k] in (Op.INPUT, Op.CARRIED, Op.ENTRY))
        return in_groups([(k, slot) for k in found for slot in self.copies[k]])

    def streams(self) -> bool:
        """Return whether there are such outputs; the buffer is at the end of the workspace."""
        return any(map(streamed, self.program.outputs))

    def heap_bytes(self, lanes: Lanes) -> int:
        """Return the bytes of workspace the caller must provide; 0 where the stack serves."""
        size = self.slots * lanes.bytes
        return size if size > STACK else 0

    def stored(self, k: int) -> list[int]:
        slots = self.copies.get(k, [])
        slot = self.slot.get(k)
        return slots if slot is None or slot in slots else [*slots, slot]


def plan_program(program: Program, machine: Machine | None = None) -> Plan:
    """Return the blocks and the workspace: inputs first, outputs, tables, then values that cross from block to block.

    A crossing value's slot is free again after the last block that reads it. Behind them is room for what waits within
    the blocks that are written for a machine's own instructions, if one is given; LLVM writes the others.
    """
    program = results_in_place(without_tangents(program))
    joined = joined_products(program)
    inputs = sum(a.size for a in program.inputs)
    copies: dict[int, list[int]] = {}
    for position, k in zip(program.result_places(), program.results, strict=True):
        copies.setdefault(k, []).append(inputs + position)
    blocks, spans = _blocks(program, joined, copies, machine)
    plan = Plan(
        program, joined, program.instructions.values, blocks, spans, copies=copies, machine=machine, first_output=inputs
    )
    heads = heads_of(program, spans, [Op.CARRIED])  # an input's place is what is carried to, if anything is
    home = {k: b for b, block in enumerate(blocks) for k in block}
    last_reader = last_readers(program, home, spans, heads, joined.args)
    plan.records, plan.summed = records_of_numbers(program), summed_columns(program)
    plan.columns, fixed = place_columns(program, inputs + program.entries, inputs)
    plan.columns |= {n: Place(c.start, c.stride) for n, c in enumerate(program.columns) if c.start is not None}
    rows = program.instructions.known_rows(*ENTRIES)
    plan.moving = {k for op in ENTRIES for k in program.instructions.places(op) if rows[k] < 0}
    buffer = max(map(streamed, program.outputs), default=0)
    born = [[k for k, first in heads.items() if first == b] + block for b, block in enumerate(blocks)]
    plan.slot |= {k: copies[k][0] for k in last_reader if k in copies}  # a result waits where it is written
    crossing = {k: b for k, b in last_reader.items() if k not in copies}
    slot, plan.slots = assign_slots(born, crossing, fixed)
    plan.slot |= slot
    if machine:
        plan.direct = {
            b: _direct(plan, b, machine)
            for b, block in enumerate(blocks)
            if block and joined.ops[block[0]] in HAS_STEPS and _is_simple(plan, b)
        }
        plan.slots = max([plan.slots, *(line.slots for line in plan.direct.values())])
    plan.slots += buffer
    return plan


def in_groups(moves: Sequence[Any]) -> list[Sequence[Any]]:
    return [moves[start : start + STORES] for start in range(0, len(moves), STORES)]


def streamed(output: Array) -> int:
    """Return the entries of an output of which large batches go past the caches, by way of a buffer; 0 of others."""
    return output.size if output.size >= STREAMED else 0


def _blocks(
    program: Program, joined: Joined, copies: dict[int, list[int]], machine: Machine | None
) -> tuple[list[list[int]], dict[range, tuple[int, int]]]:
    """Return the instructions in blocks, and the first and last of each stretch; it has one at least."""
    stores = lambda k: len(copies.get(k, ())) + (joined.ops[k] in WRITES)  # noqa: E731
    blocks: list[list[int]] = []
    spans: dict[range, tuple[int, int]] = {}
    for stretch in stretches(program):
        first = len(blocks)
        blocks += (_segments(joined, stretch) if machine else _pieces(joined, stretch, stores)) or [[]]
        spans[stretch] = first, len(blocks) - 1
    return blocks, spans


def _pieces(joined: Joined, stretch: range, stores: Callable[[int], int]) -> list[list[int]]:
    """Return a stretch in blocks of at most `BLOCK` operations and about `STORES` results, as LLVM likes them."""
    blocks: list[list[int]] = [[]]
    count = 0
    for k in stretch:
        if joined.ops[k] in LEAVES:
            continue
        if len(blocks[-1]) >= BLOCK or count >= STORES:
            blocks.append([])
            count = 0
        blocks[-1].append(k)
        count += stores(k)
    return blocks


def _segments(joined: Joined, stretch: range) -> list[list[int]]:
    """Return a stretch in few blocks: of elementary functions none of which needs another, and of the rest.

    A function goes before the line that is being written if nothing since its beginning makes the operands. Otherwise
    it waits until a value is needed that waits, and then all that do go together, before a new line.
    """
    ops, args = joined
    functions, line, waiting = list[int](), list[int](), dict[int, None]()
    blocks, here = [functions, line], set[int]()
    for k in stretch:
        if ops[k] in LEAVES:
            continue
        if waiting and not waiting.keys().isdisjoint(args[k]):
            functions, line, here = list(waiting), [], set(waiting)
            blocks += [functions, line]
            waiting.clear()
        if ops[k] in HAS_STEPS:
            line.append(k)
        elif here.isdisjoint(args[k]):
            functions.append(k)
        else:
            waiting[k] = None
            continue
        here.add(k)
    return [block for block in (*blocks, list(waiting)) if block]


def _is_simple(plan: Plan, number: int) -> bool:
    """Return whether a block adds to no column at two rows that may be the same, and needs few rows."""
    (ops, args), rows = plan.joined, dict[float, set[int]]()
    for k in (k for k in plan.blocks[number] if ops[k] is Op.ADDED):
        rows.setdefault(plan.numbers[k], set()).add(args[k][0])
    for own in rows.values():
        known = {plan.numbers[row] for row in own if ops[row] is Op.AT}
        if len(own) > max(1, len(known)):
            return False
    return len(plan.block_pointers(number)) <= len(POINTERS)


def _direct(plan: Plan, number: int, machine: Machine) -> Allocation:
    block, ops = plan.blocks[number], plan.joined.ops
    line = lower(plan.joined, plan.numbers, block, machine.forms, machine.ahead)
    made, pointers = set(block), plan.block_pointers(number)
    rows = dict[int, RowCell]()

    def place(n: int, k: int) -> int:
        """Return the place of a value that is an instruction's, or in the entry that one names."""
        if ops[k] not in ENTRIES or plan.is_fixed(k):
            return plan.place(k)
        cell = plan.cell(k)
        rows[CELL_PLACES + n] = RowCell(pointers.index(cell.pointer), cell.offset, bool(cell.pointer.record))
        return CELL_PLACES + n

    own = [(n, k) for n, k in enumerate(line.names) if k < len(ops) and n not in line.constants and n not in line.cells]
    places = {n: place(n, k) for n, k in [*own, *line.cells.items()] if k not in made or n in line.cells}
    kept = {n: slots for n, k in own if k in made and ops[k] not in WRITES and (slots := plan.stored(k))}
    return allocate(machine, line, places, kept, plan.slots, rows)
