"""The intermediate representation: a program over scalars, straight lines of which may be run several times.

A program is a list of instructions, each an operation on earlier instructions; there are no branches. Stretches of it
may be *regions*, run a number of times with values carried from pass to pass; `phases` is how to walk them all. A
region may name a condition by which targets skip it, or end it early; what a program computes does not depend on that.

Passes hand on further values through *columns* of rows. An entry is put once and read after that, or it is the sum of
what was added before it is read. So it does not matter when anything is read, and in reverse the rows are the tape. A
column lives in the innermost region around all that names it, in the passes of which its rows are the same ones: with
each pass of that it is empty again.

`str(program)` prints a program. Tests hold every rule it must obey (`tests/program_rules.py`).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise, product, takewhile
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.cell import Table
from cardan._algebra.by_fields import ByFields
from cardan._compiler.program.instructions import OPS, Instructions
from cardan._compiler.program.ops import ALWAYS_THERE, ENTRIES, FREE, ROWS, Op

SUMS = frozenset({Op.ADD, Op.SUB, Op.ADDED})
CHOICES = frozenset({Op.NEG, Op.ABS, Op.SIGN, Op.MIN, Op.MAX, Op.LT, Op.LE, Op.EQ, Op.AND, Op.OR, Op.NOT, Op.SELECT})
CHOICES |= {Op.HELD, Op.CALLED}
"""What compares, chooses, turns a sign or is there anyway: no arithmetic."""
KINDS = {Op.MUL: "multiplications", Op.DIV: "divisions", Op.SQRT: "square roots"}
KINDS |= dict.fromkeys(SUMS, "additions") | dict.fromkeys(CHOICES, "comparisons and signs")


class Array(NamedTuple):
    """The name and core shape of an argument or result."""

    name: str
    shape: tuple[int, ...]
    # Of arrays that only kernels give to programs (`RowProgram`). Whether rows lie side by side as vectors have them,
    # entry by entry of as many states as a vector is of; these begin at a row that begins a vector.
    in_lanes: bool = False
    # The name of a column of whole numbers: which row of the array is that of a state. Rows that one run writes differ.
    by: str = ""

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.shape))}]"


class Column(NamedTuple):
    """A column: entries at rows from 0 on, which instructions read, or write, at rows that are named as they run."""

    rows: int  # how many
    table: int | None = None  # of known numbers: in which of the program's tables they are
    start: int | None = None  # of entries of the flattened inputs: which one is in row 0
    stride: int = 1  # of these, how many entries further that of the next row is
    result: int | None = None  # of one that the program writes: which entry of the flattened results row 0 is

    @property
    def is_inner(self) -> bool:
        """Whether the program itself writes it."""
        return self.table is None and self.start is None

    def __str__(self) -> str:
        known = "" if self.table is None else f" of table {self.table}"
        step = f" on, each {self.stride} further" if self.stride > 1 else " on"
        known += "" if self.start is None else f", inputs from {self.start}{step}"
        return f"{self.rows} rows{known}" + ("" if self.result is None else f", results from {self.result}{step}")

    @property
    def results(self) -> range:
        """Which entries of the flattened results its rows are."""
        first = 0 if self.result is None else self.result
        return range(first, first + (0 if self.result is None else self.rows * self.stride), self.stride)


class Region(NamedTuple):
    """A stretch of a program that is run several times, or may be skipped.

    Behind it, values in it are those of the last pass. What is carried to an input goes on being there, so only a
    region that is in no other may do that.
    """

    start: int  # number of its first instruction
    stop: int  # number of the first one behind it
    passes: int  # how often it is run
    # pairs (k, after) of instructions: from the second pass on, k has the value `after` had one pass before
    carried: tuple[tuple[int, int], ...]
    # The number of a condition, or None. One from before the region: where it holds for no state, nothing needs to be
    # done. One in the region: behind a pass in which it held for no state, no other needs to be. To targets it is
    # advice: results are the same whether or not they take it.
    going: int | None = None
    # Of an iteration that goes on where it has not converged: so many passes differentiation makes, all of them.
    derived: int | None = None
    backwards: bool | None = None  # whether passes are numbered from the last to the first
    flag: int | None = None  # a row number from outside: where it is 0, there is no pass

    def __repr__(self) -> str:  # what says nothing is in no digest
        fields = [f"{name}={value!r}" for name, value in self._asdict().items() if value is not None]
        return f"Region({', '.join(fields)})"

    @property
    def instructions(self) -> range:
        return range(self.start, self.stop)

    @property
    def may_be_skipped(self) -> bool:
        return self.going is not None and self.going < self.start

    @property
    def may_end_early(self) -> bool:
        return self.going is not None and self.going >= self.start

    @property
    def may_be_left_out(self) -> bool:
        """Whether there may be no pass, so that what is computed in it may be missing behind it."""
        return self.may_be_skipped or self.flag is not None

    def numbers(self) -> range:
        """Return the numbers of the passes in order."""
        return range(self.passes)[::-1] if self.backwards else range(self.passes)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program(ByFields):
    name: str  # of the function it computes
    # the arguments; their entries, row by row, one argument after the other, are the flattened inputs
    inputs: tuple[Array, ...]
    instructions: Instructions  # in order of evaluation; any sequence of them becomes one in columns
    outputs: tuple[Array, ...]  # the results; their entries, likewise flattened, are ...
    results: tuple[int, ...]  # ... the instructions with these numbers, but for those that are rows of columns
    # what is run several times, in order; either apart or the later one within the earlier one
    regions: tuple[Region, ...] = ()
    # what tracing and the passes did: a name and a number of operations each. (Not part of what it is.)
    history: tuple[tuple[str, int], ...] = field(default=(), compare=False)
    tables: tuple[Table, ...] = ()  # numbers that are known, which CELL and LINK instructions and columns read
    # How often it may be differentiated, if solutions have derivatives of their own in it; None for as often as wanted.
    # (Not part of what it is.)
    order: int | None = field(default=None, compare=False)
    columns: tuple[Column, ...] = ()
    # the calls that CALLED instructions name, each with the number of a result; only where derivatives follow
    calls: tuple[Any, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if type(self.instructions) is not Instructions:
            object.__setattr__(self, "instructions", Instructions(self.instructions))

    def operation_counts(self) -> Counter[str]:
        return Counter({op.value: n for op in OPS if op not in FREE and (n := self.instructions.count_of(op))})

    @property
    def operations(self) -> int:
        return self.instructions.operations()

    @property
    def work(self) -> int:
        """Number of operations done for a state: those of regions in each pass."""
        return sum(times * self.instructions.operations(part.start, part.stop) for part, times in passes(self))

    @property
    def usual_work(self) -> int:
        """Number of operations done for most states. By it a batch is split over threads.

        Few iterations go on. Half of what may be skipped is done, and half of what may be skipped in that.
        """
        around, count = Nesting(self.regions).around, self.instructions.operations
        return round(
            sum(math.prod(map(_usual_passes, around(p.start))) * count(p.start, p.stop) for p in stretches(self))
        )

    @property
    def multiply_adds(self) -> int:
        """Number of sums that take a product of which nothing else is made: processors do both as one instruction."""
        alone = used_once(self)
        products = {k for k in self.instructions.places(Op.MUL) if alone[k]}
        return sum(i.op in (Op.ADD, Op.SUB) and not products.isdisjoint(i.args) for i in self.instructions)

    @property
    def entries(self) -> int:
        """Number of entries of all results."""
        return sum(a.size for a in self.outputs)

    def result_places(self) -> list[int]:
        """Return which entry of the flattened results each of `results` is: those left that no column is."""
        left = np.ones(self.entries, bool)
        for column in self.columns:
            own = column.results
            left[own.start : own.stop : own.step] = False
        return np.flatnonzero(left).tolist()

    def read_elsewhere(self) -> Iterator[int]:
        """Yield the instructions that are read, but by no other: results, what is carried, how often regions run."""
        yield from self.results
        for region in self.regions:
            yield from (after for _, after in region.carried)
            yield from () if region.flag is None else (region.flag,)

    def __str__(self) -> str:
        inputs, outputs = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        names = entry_names(self.outputs)
        results = (f"  {names[n]} <- %{k}" for n, k in zip(self.result_places(), self.results, strict=True))
        lines = _phase_lines(self, phases(self), None, entry_names(self.inputs))
        tables = [f"  table {n}: {len(table)} numbers" for n, table in enumerate(self.tables)]
        tables += [f"  column {n}: {column}" for n, column in enumerate(self.columns)]
        return "\n".join([f"program {self.name}({inputs}) -> {outputs}", *tables, *lines, *results])


USUAL = 8  # passes of a search that ends where it has found something


def _usual_passes(region: Region) -> float:
    if region.may_be_skipped:
        return 0.5 * region.passes
    return region.derived or (min(region.passes, USUAL) if region.may_end_early else region.passes)


def work_counts(program: Program) -> Counter[Op]:
    """Return how often each operation is done for a state; no state takes more, none takes less."""
    ops, found = program.instructions.ops, Counter[Op]()
    for part, times in passes(program):
        written = Counter(op for op in ops[part.start : part.stop] if op not in FREE)
        found.update({op: times * count for op, count in written.items()})
    return found


def work_by_kind(program: Program) -> dict[str, int]:
    """Return how many operations of each kind are done for a state; functions of libm by their names, at the end."""
    counts = work_counts(program)
    found: dict[str, int] = dict.fromkeys(
        ("additions", "multiplications", "divisions", "square roots", "comparisons and signs"), 0
    )
    for op in (op for op in counts if op in KINDS):
        found[KINDS[op]] += counts[op]
    return found | {op.value: counts[op] for op in Op if op not in KINDS and counts[op]}


def used_once(program: Program) -> list[bool]:
    """Return whether one other instruction needs each, and nothing else: no result, nor a region."""
    uses = program.instructions.uses()
    for k in program.read_elsewhere():
        uses[k] += 2
    return [count == 1 for count in uses]


class Nesting:
    """Which regions are around what, found by where they begin: of two, one is within the other or they are apart."""

    def __init__(self, regions: Sequence[Region]) -> None:
        self.regions, self.starts = regions, [region.start for region in regions]
        self.outer: list[int] = []  # the number of the region around each; -1 for none
        around = [-1]
        for n, region in enumerate(regions):
            while around[-1] >= 0 and regions[around[-1]].stop <= region.start:
                around.pop()
            self.outer.append(around[-1])
            around.append(n)

    def around(self, k: int) -> Iterator[Region]:
        """Yield the regions around an instruction, the innermost first."""
        n = bisect_right(self.starts, k) - 1
        while n >= 0:
            if k < self.regions[n].stop:
                yield self.regions[n]
            n = self.outer[n]


def phases(program: Program) -> dict[Region | None, list[Region | range]]:
    """Return, for the program (None) and each region, the regions in it and the straight stretches between, in order.

    Regions that are further in are those of their outer one.
    """
    inner: dict[Region | None, list[Region]] = {None: [], **{region: [] for region in program.regions}}
    for region, outer in zip(program.regions, Nesting(program.regions).outer, strict=True):
        inner[program.regions[outer] if outer >= 0 else None].append(region)
    whole = range(len(program.instructions))
    return {within: _parts(within.instructions if within else whole, own) for within, own in inner.items()}


def _parts(within: range, regions: Sequence[Region]) -> list[Region | range]:
    found: list[Region | range] = []
    here = within.start
    for region in regions:
        found += [range(here, region.start), region]
        here = region.stop
    found.append(range(here, within.stop))
    return [part for part in found if isinstance(part, Region) or len(part)] or found


def stretches(program: Program) -> list[range]:
    """Return the straight stretches of a program, in order; they are all of it."""
    ends = {end for region in program.regions for end in (region.start, region.stop)}
    bounds = sorted(ends | {0, len(program.instructions)})
    return [range(*both) for both in pairwise(bounds)] or [range(0)]


def passes(program: Program) -> list[tuple[range, int]]:
    """Return the straight stretches of a program, and how often each is run."""
    around = Nesting(program.regions).around
    return [(part, math.prod(r.passes for r in around(part.start))) for part in stretches(program)]


def leaked(program: Program) -> tuple[str, int] | None:
    """Return where something is needed of a region that may be skipped, and what; None if nothing is.

    Behind such a region its values are undefined where its condition does not hold. So only a SELECT on that condition
    may choose them, and only regions that are skipped by the same condition may use them. A loop may carry them, if the
    condition is from before it: then what is carried is undefined, too. Numbers, inputs and rows are there anyway.
    """
    skipped = [region for region in program.regions if region.may_be_skipped]
    if not skipped:
        return None
    instructions, around = program.instructions, Nesting(skipped).around
    unsure = undefined_heads(program)

    def undefined(a: int, k: int) -> set[int | None]:
        """Return the conditions without which an operand is undefined, but for those by which the reader is skipped."""
        found = (
            {r.going for r in around(a) if k not in r.instructions} if instructions[a].op not in ALWAYS_THERE else set()
        )
        found |= unsure.get(a, frozenset())
        return found - {r.going for r in around(k)} if found else found

    for k in _readers_from_outside(instructions, skipped, unsure):
        op, operands, _ = instructions[k]
        for n, a in enumerate(operands):
            if undefined(a, k) - unsure.get(k, frozenset()) - ({operands[0]} if op is Op.SELECT and n == 1 else set()):
                return f"by %{k}", a
    ends = [(f"by region {r[:3]}", r.going, r.start, -1) for r in program.regions if r.going is not None]
    ends += [(f"by region {r[:3]}", after, r.start, k) for r in program.regions for k, after in r.carried]
    ends += [("as a result", r, -1, -1) for r in program.results]
    return next(((where, a) for where, a, at, k in ends if undefined(a, at) - unsure.get(k, frozenset())), None)


def undefined_heads(program: Program) -> dict[int, frozenset[int]]:
    """Return what is carried and may be undefined: without which conditions, all of them from before the loop."""
    skipped = Nesting([region for region in program.regions if region.may_be_skipped])
    if not skipped.regions:
        return {}
    ops, args, found = program.instructions.ops, program.instructions.args, dict[int, frozenset[int]]()
    for region in program.regions:
        for k, after in region.carried:
            sources = [a for a in (after, *args[k]) if ops[a] not in ALWAYS_THERE]
            own = {r.going for a in sources for r in skipped.around(a) if region.start not in r.instructions}
            own = own.union(*(found.get(a, ()) for a in sources))
            own = frozenset(going for going in own if going is not None and going < region.start)
            if own:
                found[k] = own
    return found


def _readers_from_outside(instructions: Instructions, regions: Sequence[Region], heads: Iterable[int]) -> list[int]:
    """Return the instructions that are behind the innermost region around an operand which is in one, or need these."""
    stop = np.full(len(instructions), len(instructions))
    for region in regions:  # those within others come later
        stop[region.start : region.stop] = region.stop
    for op in ALWAYS_THERE:
        stop[instructions.places(op)] = len(instructions)
    stop[list(heads)] = 0
    _, ends, operands, _ = instructions.columns()
    readers = np.repeat(np.arange(len(instructions)), np.diff(ends, prepend=0))
    return np.unique(readers[readers >= stop[operands]]).tolist()


def named(program: Program) -> list[list[int]]:
    """Return the instructions that name each column, in order."""
    found: list[list[int]] = [[] for _ in program.columns]
    values = program.instructions.values
    for k in sorted(k for op in ENTRIES for k in program.instructions.places(op)):
        found[int(values[k])].append(k)
    return found


def homes_of(program: Program) -> dict[int, Region | None]:
    """Return the region that each column lives in, whose passes begin with it empty; None for the program itself."""
    around, rows, args = Nesting(program.regions).around, _passes_named(program), program.instructions.args
    homes: dict[int, Region | None] = {}
    for column, entries in enumerate(named(program)):
        outermost = ((rows[args[k][0]], reversed([*around(k)])) for k in entries)
        paths = [list(takewhile(lambda r, own=own: id(r) not in own, path)) for own, path in outermost]
        shared = [own[0] for own in zip(*paths, strict=False) if len(set(own)) == 1]
        homes[column] = shared[-1] if shared else None
    return homes


def _passes_named(program: Program) -> dict[int, set[int]]:
    """Return, of each row number, the regions (by identity) that it is another one in each pass of."""
    nesting, args, found = Nesting(program.regions), program.instructions.args, dict[int, set[int]]()
    for k in sorted(k for op in ROWS for k in program.instructions.places(op)):
        own = {id(next(nesting.around(k)))} if program.instructions[k].op is Op.PASS else set[int]()
        found[k] = own.union(*(found[a] for a in args[k]))
    return found


def columns_of(program: Program) -> list[str]:
    """Return the names of the columns of row numbers that arrays are read or written by."""
    return list(dict.fromkeys(a.by for a in (*program.inputs, *program.outputs) if a.by))


def places_of(arrays: Sequence[Array]) -> list[slice]:
    """Return which entries each array has where all are flattened, one behind the other."""
    ends = list(accumulate((a.size for a in arrays), initial=0))
    return [slice(start, stop) for start, stop in pairwise(ends)]


def places_by_name(arrays: Sequence[Array]) -> dict[str, slice]:
    return dict(zip((a.name for a in arrays), places_of(arrays), strict=True))


def entry_names(arrays: Sequence[Array]) -> list[str]:
    entries = [(array, index) for array in arrays for index in product(*map(range, array.shape))]
    return [f"{array.name}[{', '.join(map(str, index))}]" if index else array.name for array, index in entries]


def _phase_lines(
    program: Program, parts: Mapping[Region | None, list[Region | range]], within: Region | None, names: Sequence[str]
) -> Iterator[str]:
    for part in parts[within]:
        if isinstance(part, range):
            for k in part:
                op, args, value = program.instructions[k]
                operands = " ".join(f"%{a}" for a in args)
                shown = names[int(value)] if op is Op.INPUT else repr(value) if op is Op.CONST else operands
                shown = f"{shown} of table {value:g}" if op in (Op.CELL, Op.LINK) else shown
                shown = f"{shown} of column {value:g}" if op in ENTRIES else f"{value:g}" if op is Op.AT else shown
                yield f"  %{k} = {op.value} {shown}"
        else:
            skipped = f" if %{part.going} is true" if part.may_be_skipped else ""
            ended = f", while %{part.going} is true" if part.may_end_early else ""
            ended += ", backwards" * bool(part.backwards)
            ended += "" if part.flag is None else f", if %{part.flag} is not 0"
            yield f"  {part.passes} times{ended}{skipped} {{"
            yield from _phase_lines(program, parts, part, names)
            on = " and on with " + ", ".join(f"%{k} <- %{after}" for k, after in part.carried)
            yield "  }" + (on if part.carried else "")
