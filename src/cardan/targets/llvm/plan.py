"""How a program is laid out for vector code: lanes, blocks of instructions, and where values wait in the workspace.

Splitting keeps code generation linear in the length of the program and live ranges short (PERFORMANCE, fact 1).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cardan.program.liveness import Spans, Tables, heads_of, last_readers, places_in, stretches, tables_of
from cardan.program.ops import LEAVES, Op
from cardan.program.program import Array, Program, Region, rows_of

BLOCK = 500  # operations in a function
STORES = 200  # results a function stores; code generation is quadratic in them
LONG = 15_000  # operations of a program whose code does not stay in the caches: each block of it then serves ...
TILES = 4  # ... so many tiles in a row
STREAMED = 64  # entries of an output from which large batches are written past the caches
STACK = 128 * 1024  # bytes of workspace that go on the stack; a thread may have no more than 512 kB


@dataclass(frozen=True, slots=True)
class Lanes:
    """What a value is in this module: W lanes of double or float."""

    width: int
    scalar: str  # "double" or "float"

    @property
    def vector(self) -> str:
        """The LLVM type."""
        return f"<{self.width} x {self.scalar}>"

    @property
    def mask(self) -> str:
        """The LLVM type of a truth value."""
        return f"<{self.width} x i1>"

    @property
    def suffix(self) -> str:
        """The ending of intrinsics on this type."""
        return f"v{self.width}f{64 if self.scalar == 'double' else 32}"

    @property
    def bytes(self) -> int:
        """Size of a vector."""
        return self.width * (8 if self.scalar == "double" else 4)

    def constant(self, value: float) -> str:
        """Return a number in every lane, as LLVM writes it."""
        if self.scalar == "float":
            value = struct.unpack("f", struct.pack("f", value))[0]
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return "<" + ", ".join([f"{self.scalar} 0x{bits:016X}"] * self.width) + ">"


Move = tuple[int, int]
"""An instruction, and the place where its value is to be."""


@dataclass(slots=True)
class Plan:
    """Which block computes each instruction, and where in the workspace values wait."""

    blocks: list[list[int]]
    spans: Spans
    slot: dict[int, int] = field(default_factory=dict)
    copies: dict[int, list[int]] = field(default_factory=dict)
    tables: list[Tables] = field(default_factory=list)
    slots: int = 0
    tiles: int = 1
    first_output: int = 0


def plan_program(program: Program) -> Plan:
    """Return the blocks and the workspace: inputs first, outputs, tables, then values that cross from block to block.

    A crossing value's slot is free again after the last block that reads it.
    """
    inputs = sum(a.size for a in program.inputs)
    copies: dict[int, list[int]] = {}
    for position, k in enumerate(program.results):
        copies.setdefault(k, []).append(inputs + position)
    blocks, spans = _blocks(program, copies)
    plan = Plan(blocks, spans, copies=copies, first_output=inputs)
    heads = heads_of(program, spans, [Op.CARRIED])  # an input's place is what is carried to, if anything is
    home = {k: b for b, block in enumerate(blocks) for k in block}
    last_reader = last_readers(program, home, spans, heads)
    plan.tables = tables_of(program, inputs + len(program.results))
    plan.slot |= places_in(program, plan.tables)
    fixed = plan.tables[-1].end if plan.tables else inputs + len(program.results)
    buffer = max(map(streamed, program.outputs), default=0)
    plan.tiles = TILES if len(program.instructions) > LONG else 1
    born = [[k for k, first in heads.items() if first == b] + block for b, block in enumerate(blocks)]
    plan.slots = _assign_slots(plan, born, last_reader, fixed) + buffer
    return plan


def place(program: Program, plan: Plan, k: int) -> int:
    """Return where an instruction's value waits, for which others look."""
    op, _, number = program.instructions[k]
    return int(number) if op is Op.INPUT else plan.slot[k]


def entering(program: Program, plan: Plan, number: int) -> list[Sequence[Move]]:
    """Return what goes where as a region begins: what is carried to its first pass, and the table it picks from."""
    region, tables = program.regions[number], plan.tables[number]
    first = [(k, program.instructions[k].args) for k, _ in region.carried]
    moves = [(args[0], place(program, plan, k)) for k, args in first if args]
    for n in range(region.passes):
        row = tables.picked + (n + 1) * len(tables.rows.picked)
        moves += [(program.instructions[k].args[n], row + j) for j, k in enumerate(tables.rows.picked)]
    return in_groups(moves)


def carrying(program: Program, plan: Plan, region: Region) -> list[Sequence[Move]]:
    """Return what goes where between two passes of a region; of the first group, all is read before any is written.

    It is of values in places that are written: what was carried is carried on, to somewhere else.
    """
    heads = {k for k, _ in region.carried}
    moves = [(after, place(program, plan, k)) for k, after in region.carried]
    first = [move for move in moves if move[0] in heads]
    return [*([first] if first else []), *in_groups([move for move in moves if move[0] not in heads])]


def leaf_results(program: Program, plan: Plan) -> list[Sequence[Move]]:
    """Return what goes where at the end: results that no block computes."""
    own = (Op.INPUT, Op.CARRIED, Op.PICKED, Op.KEPT)
    moves = [(k, slot) for k, slots in plan.copies.items() if program.instructions[k].op in own for slot in slots]
    return in_groups(moves)


def in_groups(moves: Sequence[Any]) -> list[Sequence[Any]]:
    """Return stores in groups of `STORES`, each for a function of its own."""
    return [moves[start : start + STORES] for start in range(0, len(moves), STORES)]


def streamed(output: Array) -> int:
    """Return the entries of an output of which large batches go past the caches, by way of a buffer; 0 of others."""
    return output.size if output.size >= STREAMED else 0


def streams(program: Program) -> bool:
    """Return whether there are such outputs; the buffer is at the end of the workspace."""
    return any(map(streamed, program.outputs))


def heap_bytes(plan: Plan, lanes: Lanes) -> int:
    """Return the bytes of workspace the caller must provide; 0 where the stack serves."""
    size = plan.tiles * plan.slots * lanes.bytes
    return size if size > STACK else 0


def _blocks(program: Program, copies: dict[int, list[int]]) -> tuple[list[list[int]], Spans]:
    """Return the instructions in blocks of at most `BLOCK` operations and about `STORES` results."""
    kept = {k for rows in rows_of(program) for k in rows.kept}
    blocks: list[list[int]] = []
    spans: dict[range, tuple[int, int]] = {}
    for stretch in stretches(program):
        first, stores = len(blocks), 0
        blocks.append([])
        for k in stretch:
            if program.instructions[k].op in LEAVES:
                continue
            if len(blocks[-1]) >= BLOCK or stores >= STORES:
                blocks.append([])
                stores = 0
            blocks[-1].append(k)
            stores += len(copies.get(k, ())) + (k in kept)
        spans[stretch] = first, len(blocks) - 1
    return blocks, spans


def _assign_slots(plan: Plan, blocks: list[list[int]], last_reader: dict[int, int], top: int) -> int:
    """Give each value that crosses a slot, from the block it is there; return how many there are."""
    free: list[int] = []
    expiring: dict[int, list[int]] = {}
    for b, block in enumerate(blocks):
        for k in block:
            if k not in last_reader:
                continue
            if k in plan.copies:
                plan.slot[k] = plan.copies[k][0]
                continue
            if free:
                plan.slot[k] = free.pop()
            else:
                plan.slot[k], top = top, top + 1
            expiring.setdefault(last_reader[k], []).append(plan.slot[k])
        free += expiring.pop(b, [])
    return top
