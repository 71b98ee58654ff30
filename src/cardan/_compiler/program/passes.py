"""Passes: pure functions from a program to an equivalent program, in the order of `PASSES`.

Folding, sharing (hash-consing) and the carrying of signs happen while tracing (`expr.py`), where they keep the graph
small from the start; what needs the whole program runs here. Tried, and left out because they save nothing
(docs/performance.md has the figures): cos^2 + sin^2 = 1, which no robot has; factoring of common factors; four orders
of evaluation other than the algorithm's own.

For machine code, products join the sums that take them: a b + c as one instruction, rounded once, as processors do it.
What is joined is decided here, by the program alone, and not by whoever writes machine code: all who do give the same
bits, at every width. A product joins where nothing else needs it: it has one use, it is no result, is neither carried
nor kept, and is computed as often as the sum.

Left out: the negative of such a sum as one more kind. It is one in ten of a program's negatives (of Talos' forward
dynamics' derivatives, 154 of 64 000 instructions), and would change the sign of zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from itertools import accumulate, count
from typing import Any, NamedTuple, cast

import numpy as np

from cardan._algebra.arrays.cell import Table
from cardan._compiler.program.instructions import Instruction, Instructions
from cardan._compiler.program.ops import ENTRIES, LEAVES, SPEC, WRITES, Op
from cardan._compiler.program.program import Column, Nesting, Program, Region, stretches, used_once

FOLDED = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG, Op.SQRT, Op.ABS, Op.MIN, Op.MAX})
"""What gives the same bits on every machine."""


def fold_known_rows(program: Program) -> Program:
    """Let what is made of known numbers of one row alone be a known number of that row, too: no pass works it out."""
    if all(column.table is None for column in program.columns):
        return program
    ops, args, values = program.instructions.ops, program.instructions.args, program.instructions.values
    columns, tables = list(program.columns), dict(zip(program.tables, count(), strict=False))
    known: dict[int, np.ndarray] = {}  # by instruction, the numbers of all rows
    with np.errstate(all="ignore"):
        for k, op in enumerate(ops):
            if op is Op.ENTRY and (table := columns[int(values[k])].table) is not None:
                known[k] = program.tables[table].numbers
            elif op in FOLDED and not known.keys().isdisjoint(args[k]):
                rows = {args[a][0] for a in args[k] if a in known}
                if len(rows) > 1 or any(a not in known and ops[a] is not Op.CONST for a in args[k]):
                    continue
                known[k] = SPEC[op].numpy(*(known[a] if a in known else values[a] for a in args[k]))
                table = tables.setdefault(Table(known[k]), len(tables))
                columns.append(Column(len(known[k]), table))
                ops[k], args[k], values[k] = Op.ENTRY, (rows.pop(),), float(len(columns) - 1)
    instructions = Instructions(tuple(zip(ops, args, values, strict=True)))
    return replace(program, instructions=instructions, columns=tuple(columns), tables=tuple(tables))


def remove_dead_code(program: Program) -> Program:
    """Keep only what the results need, in the same order, renumbered.

    What tells two of them apart is their new number: it was how much was traced before, dead code and all.
    """
    needed = needed_for(program, program.results)
    kept, number = program.instructions.kept(needed)
    kept = kept.with_values({k: k for op in (Op.CARRIED, Op.PASS, Op.HELD) for k in kept.places(op)})
    results = tuple([number[r] for r in program.results])
    found = replace(program, instructions=kept, results=results, regions=_regions(program, needed, number))
    return _without_unread(found) if program.tables or program.columns else found


def needed_for(program: Program, results: Sequence[int]) -> bytearray:
    """Return a flag for each instruction: whether one of these results is, or needs it."""
    needed, more = bytearray(len(program.instructions)), {k: [a] for r in program.regions for k, a in r.carried}
    args, values, places = program.instructions.args, program.instructions.values, program.instructions.places
    stores: list[list[int]] = [[] for _ in program.columns]
    for k in (k for op in WRITES for k in places(op)):
        stores[int(values[k])].append(k)
    more |= {k: stores[int(values[k])] for k in places(Op.ENTRY)}
    waiting = [*results, *(k for n, column in enumerate(program.columns) if column.results for k in stores[n])]
    while waiting:  # what is needed of what is put in rows and carried backwards may come later
        for r in waiting:
            needed[r] = 1
        last, waiting = max(waiting), []
        for k in range(last, -1, -1):
            if needed[k]:
                for a in args[k]:
                    needed[a] = 1
                if k in more:
                    waiting += [a for a in more[k] if not needed[a]]
                    more[k].clear()
        waiting += [r.flag for r in _running(program, needed) if r.flag is not None and not needed[r.flag]]
    return needed


def _running(program: Program, needed: bytearray) -> list[Region]:
    """Return the regions that carry something, put something in rows, or look at the number of their pass."""
    nesting, instructions = Nesting(program.regions), program.instructions
    # by what they are, for what a loop carries may be long, and would be hashed each time
    found = {id(r) for r in program.regions if any(needed[k] for k, _ in r.carried)}
    for op in WRITES:
        found.update(id(r) for k in instructions.places(op) if needed[k] for r in nesting.around(k))
    found.update(id(next(nesting.around(k))) for k in instructions.places(Op.PASS) if needed[k])
    return [region for region in program.regions if id(region) in found]


def _regions(program: Program, needed: bytearray, number: list[int]) -> tuple[Region, ...]:
    """Return what is left of the regions; others do the same in each pass.

    Of those it is only worth to know what may be skipped.
    """
    ops, found, running = program.instructions.ops, [], set(_running(program, needed))
    before = [0, *accumulate(needed)]  # how many are needed before each
    for region in program.regions:
        going = None if region.going is None or not needed[region.going] else number[region.going]
        skipped = going is not None and region.may_be_skipped
        if skipped:
            skipped = any(needed[k] and ops[k] not in LEAVES for k in region.instructions)
        if skipped or region in running:
            found.append(
                region._replace(
                    start=before[region.start],
                    stop=before[region.stop],
                    carried=tuple((number[k], number[after]) for k, after in region.carried if needed[k]),
                    going=going,
                    flag=None if region.flag is None else number[region.flag],
                )
            )
    return tuple(dict.fromkeys(found))  # what is skipped twice on one condition is skipped once


def _without_unread(program: Program) -> Program:
    """Return a program with those tables and columns alone that it reads, renumbered."""
    values, places = program.instructions.values, program.instructions.places
    entries, cells = ([k for op in ops for k in places(op)] for ops in (ENTRIES, (Op.CELL, Op.LINK)))
    columns = sorted({int(values[k]) for k in entries})
    own = {table for c in columns if (table := program.columns[c].table) is not None}
    tables = sorted({int(values[k]) for k in cells} | own)
    number, table_number = ({old: new for new, old in enumerate(kept)} for kept in (columns, tables))
    changed = {k: number[int(values[k])] for k in entries} | {k: table_number[int(values[k])] for k in cells}
    found = (program.columns[c] for c in columns)
    return replace(
        program,
        instructions=program.instructions.with_values(changed),
        tables=tuple([program.tables[t] for t in tables]),
        columns=tuple([c if c.table is None else c._replace(table=table_number[c.table]) for c in found]),
    )


def without_tangents(program: Program) -> Program:
    """Return the program that computes the same, without what only derivatives are made of."""
    if not any(map(program.instructions.count_of, (Op.HELD, Op.CALLED))):
        return program
    ops, args, values = program.instructions.ops, program.instructions.args, program.instructions.values
    instead, found = list(range(len(ops))), []
    for k, op in enumerate(ops):
        own = tuple([instead[a] for a in args[k]])
        found.append(Instruction(op, own, values[k]))
        if op in (Op.HELD, Op.CALLED):
            instead[k] = own[0]
    carried = [r._replace(carried=tuple([(k, instead[after]) for k, after in r.carried])) for r in program.regions]
    results = tuple([instead[r] for r in program.results])
    return remove_dead_code(replace(program, instructions=Instructions(found), regions=tuple(carried), results=results))


def results_in_place(program: Program) -> Program:
    """Return a program of which results are rows of a column where they are its entries in order, at equal distances.

    So they are where they were put, and no instruction reads them. It is for targets: derivatives want instructions.
    """
    results, (*_, values) = np.array(program.results, np.int64), program.instructions.columns()
    rows, places = program.instructions.known_rows(Op.ENTRY)[results], np.array(program.result_places())
    columns, left = list(program.columns), np.ones(len(results), bool)
    ends = np.cumsum([a.size for a in program.outputs])
    for number in np.unique(values[results[rows >= 0]]).astype(int).tolist():
        own, column = np.flatnonzero((rows >= 0) & (values[results] == number)), columns[number]
        at = places[own]
        column = column._replace(result=int(at[0]), stride=int(at[1] - at[0]) if len(at) > 1 else 1)
        in_one = np.searchsorted(ends, at[0], "right") == np.searchsorted(ends, at[-1], "right")
        in_order = np.array_equal(rows[own], range(column.rows)) and np.array_equal(at, column.results)
        if columns[number] == column._replace(result=None, stride=1) and column.is_inner and in_one and in_order:
            columns[number], left[own] = column, False
    if left.all():
        return program
    own = tuple(results[left].tolist())
    return remove_dead_code(replace(program, columns=tuple(columns), results=own))


def with_entries(program: Program) -> Program:
    """Return a program each of whose results is an instruction: rows of columns are read at the end."""
    own = [(n, column.results) for n, column in enumerate(program.columns) if column.results]
    if not own:
        return program
    known = {instruction: k for k, instruction in enumerate(program.instructions)}
    results = dict(zip(program.result_places(), program.results, strict=True))

    def numbered(*instruction: Any) -> int:
        return known.setdefault(Instruction(*instruction), len(known))

    for number, places in own:
        for row, place in enumerate(places):
            results[place] = numbered(Op.ENTRY, (numbered(Op.AT, (), float(row)),), float(number))
    columns = tuple([c if c.result is None else c._replace(result=None, stride=1) for c in program.columns])
    flat = tuple([results[place] for place in range(program.entries)])
    return replace(program, instructions=Instructions(tuple(known)), columns=columns, results=flat)


PASSES: tuple[Callable[[Program], Program], ...] = (fold_known_rows, remove_dead_code)


class Fused(Enum):
    """A product joined to a sum; the comment says what it computes."""

    __hash__ = object.__hash__

    FMA = "fma"  # a b + c
    FMS = "fms"  # a b - c
    FNMA = "fnma"  # c - a b


_SUMS: dict[Op, tuple[Fused, Fused]] = {Op.ADD: (Fused.FMA, Fused.FMA), Op.SUB: (Fused.FMS, Fused.FNMA)}
"""What a sum becomes whose first, or second, operand is a product."""


class Joined(NamedTuple):
    """The instructions of a program with products joined to sums; each keeps its number."""

    ops: list[Op | Fused]  # the operation of each; a product that joined a sum is a CONST that nothing uses
    args: list[tuple[int, ...]]  # the operands of each


def joined_products(program: Program) -> Joined:
    ops: list[Op | Fused] = list(program.instructions.ops)
    args, alone, stretch = program.instructions.args, used_once(program), [0] * len(program.instructions)
    for number, part in enumerate(stretches(program)):
        stretch[part.start : part.stop] = [number] * len(part)
    for k in sorted(k for op in _SUMS for k in program.instructions.places(op)):
        for position, a in enumerate(args[k]):
            if alone[a] and ops[a] is Op.MUL and stretch[a] == stretch[k]:
                ops[k], args[k] = _SUMS[cast("Op", ops[k])][position], (*args[a], args[k][1 - position])
                ops[a], args[a] = Op.CONST, ()
                break
    return Joined(ops, args)
