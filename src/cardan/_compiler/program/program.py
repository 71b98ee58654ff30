"""The intermediate representation: a program over scalars, straight lines of which may be run several times.

A program is a list of instructions, each an operation on earlier instructions; there are no branches. Stretches of it
may be *regions*, run a fixed number of times with values carried from pass to pass; `phases` is how to walk them all. A
region may name a condition by which targets skip it, or end it early; what a program computes does not depend on that.
`str(program)` prints it, `verify` checks every rule it must obey.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate, pairwise, product
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.cell import Table
from cardan._algebra.by_fields import ByFields
from cardan._algebra.errors import ProgramError
from cardan._compiler.program.instructions import OPS, Instruction, Instructions
from cardan._compiler.program.ops import LEAVES, SPEC, Op, ValueType

SUMS = frozenset({Op.ADD, Op.SUB})
CHOICES = frozenset({Op.NEG, Op.ABS, Op.SIGN, Op.MIN, Op.MAX, Op.LT, Op.LE, Op.EQ, Op.AND, Op.OR, Op.NOT, Op.SELECT})
CHOICES |= {Op.HELD}
"""What compares, chooses, turns a sign or is there anyway: no arithmetic."""
KINDS = {Op.MUL: "multiplications", Op.DIV: "divisions", Op.SQRT: "square roots"}
KINDS |= dict.fromkeys(SUMS, "additions") | dict.fromkeys(CHOICES, "comparisons and signs")


class Array(NamedTuple):
    """The name and core shape of an argument or result."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.shape))}]"


class Region(NamedTuple):
    """A stretch of a program that is run several times, or may be skipped.

    Behind it, values in it are those of the last pass. What is carried to an input goes on being there, so only a
    region that is in no other may do that. A PICKED belongs to the innermost region around it, a KEPT to the outermost
    of those around its operand and not around itself.
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

    def __repr__(self) -> str:  # as long as they say nothing, the last two are in no digest
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


class TableRows(NamedTuple):
    """What a region takes from a table and puts in one: a row for each of its passes."""

    picked: tuple[int, ...]  # the PICKED instructions of the region, whose operands are the columns of the first table
    kept: tuple[int, ...]  # the instructions of which KEPT ones want the value in each pass: the columns of the second


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program(ByFields):
    name: str  # of the function it computes
    # the arguments; their entries, row by row, one argument after the other, are the flattened inputs
    inputs: tuple[Array, ...]
    instructions: Instructions  # in order of evaluation; any sequence of them becomes one in columns
    outputs: tuple[Array, ...]  # the results; their entries, likewise flattened, are ...
    results: tuple[int, ...]  # ... the instructions with these numbers
    # what is run several times, in order; either apart or the later one within the earlier one
    regions: tuple[Region, ...] = ()
    # what tracing and the passes did: a name and a number of operations each. (Not part of what it is.)
    history: tuple[tuple[str, int], ...] = field(default=(), compare=False)
    tables: tuple[Table, ...] = ()  # what CELL instructions read
    # How often it may be differentiated, if solutions have derivatives of their own in it; None for as often as wanted.
    # (Not part of what it is.)
    order: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if type(self.instructions) is not Instructions:
            object.__setattr__(self, "instructions", Instructions(self.instructions))

    def __setstate__(self, state: list[Any]) -> None:
        earlier = (*state, *((), None)[len(state) - len(fields(self)) :])  # without tables, or an order
        for own, value in zip(fields(self), earlier, strict=False):
            object.__setattr__(self, own.name, value)

    def operation_counts(self) -> Counter[str]:
        return Counter({op.value: n for op in OPS if op not in LEAVES and (n := self.instructions.count_of(op))})

    @property
    def operations(self) -> int:
        return self.instructions.operations()

    @property
    def work(self) -> int:
        """Number of operations done for a state: those of regions in each pass."""
        return sum(times * self.instructions.operations(part.start, part.stop) for part, times in passes(self))

    @property
    def usual_work(self) -> int:
        """Number of operations done for most states: few iterations go on. By it a batch is split over threads."""
        regions = tuple([r._replace(passes=_usual_passes(r)) for r in self.regions])
        return replace(self, regions=regions).work

    @property
    def multiply_adds(self) -> int:
        """Number of sums that take a product of which nothing else is made: processors do both as one instruction."""
        alone = used_once(self)
        products = {k for k in self.instructions.places(Op.MUL) if alone[k]}
        return sum(i.op in (Op.ADD, Op.SUB) and not products.isdisjoint(i.args) for i in self.instructions)

    def __str__(self) -> str:
        inputs, outputs = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        results = (f"  {name} <- %{k}" for name, k in zip(entry_names(self.outputs), self.results, strict=True))
        lines = _phase_lines(self, phases(self), None, entry_names(self.inputs))
        tables = (f"  table {n}: {len(table)} numbers" for n, table in enumerate(self.tables))
        return "\n".join([f"program {self.name}({inputs}) -> {outputs}", *tables, *lines, *results])


USUAL = 8  # passes of a search that ends where it has found something


def _usual_passes(region: Region) -> int:
    return region.derived or (min(region.passes, USUAL) if region.may_end_early else region.passes)


def work_counts(program: Program) -> Counter[Op]:
    """Return how often each operation is done for a state; no state takes more, none takes less."""
    ops, found = program.instructions.ops, Counter[Op]()
    for part, times in passes(program):
        written = Counter(op for op in ops[part.start : part.stop] if op not in LEAVES)
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
    """Return whether one other instruction needs each, and nothing else: no result, nor what is carried."""
    uses = program.instructions.uses()
    for k in (*program.results, *(after for region in program.regions for _, after in region.carried)):
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

    def owner(self, k: int, instruction: Instruction) -> Region | None:
        """Return the region to which a PICKED or KEPT instruction belongs; None if it belongs to none."""
        if instruction.op is Op.PICKED:
            return next(self.around(k), None)
        found = [region for region in self.around(instruction.args[0]) if k not in region.instructions]
        return found[-1] if found else None


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


def rows_of(program: Program) -> list[TableRows]:
    picked: dict[Region | None, list[int]] = {}
    kept: dict[Region | None, dict[int, None]] = {}
    owner, instructions = Nesting(program.regions).owner, program.instructions
    for k in instructions.places(Op.PICKED):
        picked.setdefault(owner(k, instructions[k]), []).append(k)
    for k in instructions.places(Op.KEPT):
        kept.setdefault(owner(k, instructions[k]), {})[instructions[k].args[0]] = None
    return [TableRows(tuple(picked.get(region, ())), tuple(kept.get(region, ()))) for region in program.regions]


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
                shown = f"{shown} of table {value:g}" if op is Op.CELL else shown
                yield f"  %{k} = {op.value} {shown}" + (f" of pass {value:g}" if op is Op.KEPT else "")
        else:
            skipped = f" if %{part.going} is true" if part.may_be_skipped else ""
            ended = f", while %{part.going} is true" if part.may_end_early else ""
            yield f"  {part.passes} times{ended}{skipped} {{"
            yield from _phase_lines(program, parts, part, names)
            on = " and on with " + ", ".join(f"%{k} <- %{after}" for k, after in part.carried)
            yield "  }" + (on if part.carried else "")


def verify(program: Program) -> Program:
    """Return the program if it obeys every rule of the representation.

    Raises:
        ProgramError: if an instruction uses a later one, has a wrong number or type of operands, repeats another, is
            dead, if the results do not fill the outputs, or a region is none.
    """
    kinds: list[ValueType] = []
    seen: dict[Instruction, int] = {}
    flat_inputs = sum(a.size for a in program.inputs)
    for k, instruction in enumerate(program.instructions):
        _verify_instruction(k, instruction, kinds, flat_inputs, len(program.tables))
        is_zero = instruction.op is Op.CONST and instruction.value == 0.0
        if instruction in seen and not is_zero and not _is_skipped_apart(program, seen[instruction], k):
            raise ProgramError(f"%{k} repeats %{seen[instruction]}")
        seen[instruction] = k
        kinds.append(SPEC[instruction.op].result)
    if len(program.results) != sum(a.size for a in program.outputs):
        raise ProgramError(f"{len(program.results)} results do not fill {program.outputs}")
    if any(not 0 <= r < len(kinds) or kinds[r] is not ValueType.REAL for r in program.results):
        raise ProgramError("a result is not a real value of the program")
    _verify_regions(program, kinds)
    _verify_going(program, kinds)
    used = {a for args in program.instructions.args for a in args} | set(program.results)
    used |= {after for region in program.regions for _, after in region.carried}
    dead = set(range(len(kinds))) - used
    if dead:
        raise ProgramError(f"instructions {sorted(dead)[:8]} are dead")
    return program


def _verify_regions(program: Program, kinds: list[ValueType]) -> None:
    around: list[Region] = []
    for region in program.regions:
        around = [outer for outer in around if region.start < outer.stop]
        stop = around[-1].stop if around else len(kinds)
        start = around[-1].start if around else 0
        if not start <= region.start < region.stop <= stop or region.passes < 1:
            raise ProgramError(f"region {region[:3]} is empty, overlaps another, or is run less than once")
        heads = (Op.CARRIED,) if around else (Op.CARRIED, Op.INPUT)
        for k, after in region.carried:
            if k not in region.instructions or not 0 <= after < region.stop or kinds[after] is not ValueType.REAL:
                raise ProgramError(f"%{k} <- %{after} is not within region {region[:3]}")
            if program.instructions[k].op not in heads:
                raise ProgramError(f"region {region[:3]} cannot carry anything to %{k}")
        around.append(region)
    nesting = Nesting(program.regions)
    for k, instruction in enumerate(program.instructions):
        if instruction.op in (Op.PICKED, Op.KEPT):
            _verify_row(k, instruction, nesting.owner(k, instruction))
    kept = [k for rows in rows_of(program) for k in rows.kept]
    if len(kept) != len(set(kept)):
        raise ProgramError("something is kept by two regions")
    heads = [k for region in program.regions for k, _ in region.carried]
    carried = set(program.instructions.places(Op.CARRIED))
    if len(heads) != len(set(heads)) or not carried <= set(heads):
        raise ProgramError("something is carried twice, or waits for what no region carries")


def _verify_going(program: Program, kinds: list[ValueType]) -> None:
    for region, rows in zip(program.regions, rows_of(program), strict=True):
        if region.going is None:
            continue
        if not 0 <= region.going < region.stop or kinds[region.going] is not ValueType.BOOL:
            raise ProgramError(f"%{region.going}, by which region {region[:3]} goes on, is no condition before its end")
        if region.may_end_early and (rows.picked or rows.kept):
            raise ProgramError(f"region {region[:3]} may end early, but picks or keeps something in each pass")
    found = leaked(program)
    if found is not None:
        raise ProgramError(f"%{found[1]} of a region that may be skipped is needed {found[0]}")


def leaked(program: Program) -> tuple[str, int] | None:
    """Return where something is needed of a region that may be skipped, and what; None if nothing is.

    Behind such a region its values are undefined where its condition does not hold. So only a SELECT on that condition
    may choose them. Numbers and inputs are there anyway.
    """
    skipped = [region for region in program.regions if region.may_be_skipped]
    if not skipped:
        return None
    instructions, around = program.instructions, Nesting(skipped).around

    def undefined(a: int, k: int) -> list[Region]:
        found = around(a) if instructions[a].op not in (Op.CONST, Op.INPUT) else ()
        return [region for region in found if k not in region.instructions]

    for k in _readers_from_outside(instructions, skipped):
        op, operands, _ = instructions[k]
        for n, a in enumerate(operands):
            regions = undefined(a, k)
            chosen = op is Op.SELECT and n == 1 and all(r.going == operands[0] for r in regions)
            if regions and not chosen:
                return f"by %{k}", a
    ends = [(f"by region {r[:3]}", a, r.start) for r in program.regions for _, a in r.carried]
    ends += [(f"by region {r[:3]}", r.going, r.start) for r in program.regions if r.going is not None]
    ends += [("as a result", r, -1) for r in program.results]
    return next(((where, a) for where, a, k in ends if undefined(a, k)), None)


def _readers_from_outside(instructions: Instructions, regions: Sequence[Region]) -> list[int]:
    """Return the instructions that are behind the innermost region around an operand which is in one."""
    stop = np.full(len(instructions), len(instructions))
    for region in regions:  # those within others come later
        stop[region.start : region.stop] = region.stop
    for op in (Op.CONST, Op.INPUT):
        stop[instructions.places(op)] = len(instructions)
    _, ends, operands, _ = instructions.columns()
    readers = np.repeat(np.arange(len(instructions)), np.diff(ends, prepend=0))
    return np.unique(readers[readers >= stop[operands]]).tolist()


def _is_skipped_apart(program: Program, first: int, k: int) -> bool:
    """Return whether an instruction is of a region that may be skipped, and another is not."""
    return any(r.may_be_skipped and first in r.instructions and k not in r.instructions for r in program.regions)


def _verify_row(k: int, instruction: Instruction, region: Region | None) -> None:
    op, args, value = instruction
    if region is None:
        raise ProgramError(f"%{k}: there is no region {'around it' if op is Op.PICKED else 'behind which it is'}")
    if op is Op.PICKED and (len(args) != region.passes or max(args) >= region.start):
        raise ProgramError(f"%{k} needs {region.passes} operands from before %{region.start}, has {args}")
    if op is Op.KEPT and value not in range(region.passes):
        raise ProgramError(f"%{k}: there is no pass {value:g} of {region.passes}")


def _verify_instruction(
    k: int, instruction: Instruction, kinds: list[ValueType], flat_inputs: int, tables: int
) -> None:
    op, args, value = instruction
    operands = SPEC[op].operands * (len(args) if op is Op.PICKED else 1)
    if len(args) != len(operands):
        raise ProgramError(f"%{k}: {op.value} has {len(args)} operands, expected {len(operands)}")
    for a, kind in zip(args, operands, strict=True):
        if not 0 <= a < k:
            raise ProgramError(f"%{k} uses %{a}, which does not come before it")
        if kinds[a] is not kind:
            raise ProgramError(f"%{k}: operand %{a} of {op.value} is {kinds[a].value}, expected {kind.value}")
    if op is Op.INPUT and not 0 <= value < flat_inputs:
        raise ProgramError(f"%{k}: there is no input number {value:g}")
    if op is Op.CELL and value not in range(tables):
        raise ProgramError(f"%{k}: there is no table number {value:g}")
