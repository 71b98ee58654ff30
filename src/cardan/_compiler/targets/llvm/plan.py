"""How a program is laid out for vector code: lanes, blocks of instructions, and where values wait in the workspace.

Splitting keeps code generation linear in the length of the program and live ranges short (PERFORMANCE, fact 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cardan._compiler.program.liveness import Spans, Tables, assign_slots, heads_of, last_readers, places_in, tables_of
from cardan._compiler.program.ops import LEAVES, Op
from cardan._compiler.program.passes import Joined, joined_products, without_tangents
from cardan._compiler.program.program import Array, Nesting, Program, Region, rows_of, stretches
from cardan._compiler.targets.llvm.direct.allocation import Allocation, Machine, PlacedStep, allocate
from cardan._compiler.targets.llvm.direct.lowering import HAS_STEPS, lower
from cardan._compiler.targets.llvm.lanes import Lanes

BLOCK = 500  # operations in a function
STORES = 200  # results a function stores; code generation is quadratic in them
LONG = 15_000  # operations of a program whose code does not stay in the caches: each block of it then serves ...
TILES = 4  # ... so many tiles in a row
STREAMED = 64  # entries of an output from which large batches are written past the caches
STACK = 128 * 1024  # bytes of workspace that go on the stack; a thread may have no more than 512 kB

Move = tuple[int, int]  # an instruction, and the place where its value is to be


class Picking(NamedTuple):
    """Columns of a region's table that are picked together."""

    within: Region  # where: in this region, or in one of it that may be skipped
    columns: Sequence[int]


@dataclass(slots=True)
class Plan:
    """A program with its products joined to sums, which block computes each instruction, and where values wait."""

    program: Program
    joined: Joined
    numbers: list[float]
    blocks: list[list[int]]
    spans: Spans
    slot: dict[int, int] = field(default_factory=dict)
    copies: dict[int, list[int]] = field(default_factory=dict)
    tables: list[Tables] = field(default_factory=list)
    postponed: dict[int, Region] = field(default_factory=dict)
    machine: Machine | None = None
    direct: dict[int, Allocation] = field(default_factory=dict)
    slots: int = 0
    tiles: int = 1
    first_output: int = 0

    def place(self, k: int) -> int:
        """Return where an instruction's value waits, for which others look."""
        return int(self.numbers[k]) if self.joined.ops[k] is Op.INPUT else self.slot[k]

    def entering(self, number: int) -> list[Sequence[Move]]:
        """Return what goes where as a region begins: what is carried to its first pass, and the table it picks from."""
        region, tables, instructions = self.program.regions[number], self.tables[number], self.program.instructions
        first = [(k, instructions[k].args) for k, _ in region.carried]
        moves = [(args[0], self.place(k)) for k, args in first if args]
        columns = [instructions[tables.rows.picked[j]].args for j in tables.moved]
        for n in range(region.passes):
            row = tables.first_row + n * len(columns)
            moves += [(choices[n], row + j) for j, choices in enumerate(columns)]
        return in_groups(moves)

    def picking(self, number: int) -> list[Picking]:
        """Return which columns a region picks where: what only a region needs that may be skipped, within that."""
        together: dict[Region, list[int]] = {}
        region = self.program.regions[number]
        for j, k in enumerate(self.tables[number].rows.picked):
            together.setdefault(self.postponed.get(k, region), []).append(j)
        return [Picking(within, group) for within, columns in together.items() for group in in_groups(columns)]

    def numbers_of(self, number: int) -> dict[int, list[float]]:
        """Return the columns of a region's table that are numbers, which wait in the module."""
        tables, args = self.tables[number], self.joined.args
        apart = {j: k for j, k in enumerate(tables.rows.picked) if j not in tables.moved}
        return {j: [self.numbers[a] for a in args[k]] for j, k in apart.items()}

    def carrying(self, region: Region) -> list[Sequence[Move]]:
        """Return what goes where between two passes of a region; of the first group, all is read before any is written.

        It is of values in places that are written: what was carried is carried on, to somewhere else.
        """
        heads = {k for k, _ in region.carried}
        moves = [(after, self.place(k)) for k, after in region.carried]
        first = [move for move in moves if move[0] in heads]
        return [*([first] if first else []), *in_groups([move for move in moves if move[0] not in heads])]

    def moved(self, moves: Sequence[Move]) -> Allocation:
        """Return moves one after the other, as steps of the machine: of values that are in no place that is written."""
        assert self.machine
        numbers = {repr(self.numbers[k]): self.numbers[k] for k, _ in moves if self.joined.ops[k] is Op.CONST}
        places = {text: self.machine.registers + n for n, text in enumerate(numbers)}
        first = self.machine.registers + len(numbers)
        steps: list[PlacedStep] = []
        for k, slot in moves:
            is_number = self.joined.ops[k] is Op.CONST
            code, place = ("constant", places[repr(self.numbers[k])]) if is_number else ("load", first + self.place(k))
            steps += [(code, 0, (place,)), ("store", first + slot, (0,))]
        return Allocation(steps, list(numbers.values()), self.slots)

    def leaf_results(self) -> list[Sequence[Move]]:
        """Return what goes where at the end: results that no block computes."""
        own = (Op.INPUT, Op.CARRIED, Op.PICKED, Op.KEPT)
        moves = [(k, slot) for k, slots in self.copies.items() if self.joined.ops[k] in own for slot in slots]
        return in_groups(moves)

    def streams(self) -> bool:
        """Return whether there are such outputs; the buffer is at the end of the workspace."""
        return any(map(streamed, self.program.outputs))

    def heap_bytes(self, lanes: Lanes) -> int:
        """Return the bytes of workspace the caller must provide; 0 where the stack serves."""
        size = self.tiles * self.slots * lanes.bytes
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
    program = without_tangents(program)
    joined = joined_products(program)
    inputs = sum(a.size for a in program.inputs)
    copies: dict[int, list[int]] = {}
    for position, k in enumerate(program.results):
        copies.setdefault(k, []).append(inputs + position)
    blocks, spans = _blocks(program, joined, copies, machine)
    plan = Plan(
        program, joined, program.instructions.values, blocks, spans, copies=copies, machine=machine, first_output=inputs
    )
    heads = heads_of(program, spans, [Op.CARRIED])  # an input's place is what is carried to, if anything is
    home = {k: b for b, block in enumerate(blocks) for k in block}
    last_reader = last_readers(program, home, spans, heads, joined.args)
    plan.tables = tables_of(program, inputs + len(program.results), numbers_apart(program))
    plan.postponed = _postponed(program, joined)
    plan.slot |= places_in(program, plan.tables)
    fixed = plan.tables[-1].end if plan.tables else inputs + len(program.results)
    buffer = max(map(streamed, program.outputs), default=0)
    plan.tiles = TILES if len(program.instructions) > LONG and not machine else 1
    born = [[k for k, first in heads.items() if first == b] + block for b, block in enumerate(blocks)]
    plan.slot |= {k: copies[k][0] for k in last_reader if k in copies}  # a result waits where it is written
    crossing = {k: b for k, b in last_reader.items() if k not in copies}
    slot, plan.slots = assign_slots(born, crossing, fixed)
    plan.slot |= slot
    if machine:
        plan.direct = {
            b: _direct(plan, b, machine)
            for b, block in enumerate(blocks)
            if block and joined.ops[block[0]] in HAS_STEPS
        }
        plan.slots = max([plan.slots, *(line.slots for line in plan.direct.values())])
    plan.slots += buffer
    return plan


def numbers_apart(program: Program) -> set[int]:
    """Return the PICKED instructions that pick from numbers alone."""
    ops, args = program.instructions.ops, program.instructions.args
    return {k for k in program.instructions.places(Op.PICKED) if all(ops[a] is Op.CONST for a in args[k])}


def _postponed(program: Program, joined: Joined) -> dict[int, Region]:
    """Return the PICKED instructions that only a region needs which may be skipped, and which region that is."""
    skipped = [region for region in program.regions if region.may_be_skipped]
    readers: dict[int, list[int]] = {k: [] for k in program.instructions.places(Op.PICKED)} if skipped else {}
    if not readers:
        return {}
    for k, args in enumerate(joined.args):
        for a in args:
            if a in readers:
                readers[a].append(k)
    for a in (*program.results, *(after for region in program.regions for _, after in region.carried)):
        readers.pop(a, None)
    found: dict[int, Region] = {}
    nesting = Nesting(program.regions)
    for k, own in ((k, own) for k, own in readers.items() if own):
        # Of those around all readers, the outermost that may be skipped; what is between it and its table runs once.
        inside = [r for r in nesting.around(min(own)) if r.start > k]
        for n, region in reversed(list(enumerate(inside))):
            once = all(r.passes == 1 for r in inside[n:])
            if region.may_be_skipped and max(own) < region.stop and once:
                found[k] = region
                break
    return found


def in_groups(moves: Sequence[Any]) -> list[Sequence[Any]]:
    return [moves[start : start + STORES] for start in range(0, len(moves), STORES)]


def streamed(output: Array) -> int:
    """Return the entries of an output of which large batches go past the caches, by way of a buffer; 0 of others."""
    return output.size if output.size >= STREAMED else 0


def _blocks(
    program: Program, joined: Joined, copies: dict[int, list[int]], machine: Machine | None
) -> tuple[list[list[int]], dict[range, tuple[int, int]]]:
    """Return the instructions in blocks, and the first and last of each stretch; it has one at least."""
    kept = {k for rows in rows_of(program) for k in rows.kept}
    stores = lambda k: len(copies.get(k, ())) + (k in kept)  # noqa: E731
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


def _direct(plan: Plan, number: int, machine: Machine) -> Allocation:
    block = plan.blocks[number]
    line = lower(plan.joined, plan.numbers, block, machine.forms, machine.ahead)
    made, values = set(block), enumerate(line.names)
    own = [(n, k) for n, k in values if k < len(plan.numbers) and n not in line.constants]
    places = {n: plan.place(k) for n, k in own if k not in made}
    kept = {n: slots for n, k in own if k in made and (slots := plan.stored(k))}
    return allocate(machine, line, places, kept, plan.slots)
