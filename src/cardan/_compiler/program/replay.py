"""A program run again: on scalars of any type (numbers, batches, symbols of any library), or on its own results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._compiler.program.expr import Graph
from cardan._compiler.program.ops import LEAVES, ROWS, SPEC, WRITES, Op
from cardan._compiler.program.program import Nesting, Program, Region, homes_of, phases, places_by_name
from cardan._compiler.program.trace import assemble

LONGEST = 200_000
"""Operations of a program whose passes are written out: its reverse derivative takes some 30 s to compile."""

Functions = Mapping[Op, Callable[..., Any] | None]
"""What each operation is computed by, None for what is there without one."""
WalkStep = tuple[Callable[..., Any] | None, tuple[int, ...], tuple[int, ...]]
"""The function, the instructions whose values it takes, those of which nothing else needs the value any more."""


class Walk:
    """A program as what runs it looks at, made once: at each call that would take as long as the numbers.

    `functions` compute the operations; `freed` has for each instruction those whose values nothing needs behind it.
    """

    def __init__(self, program: Program, functions: Functions, freed: Iterable[tuple[int, ...]] = repeat(())) -> None:
        self.program, self.ops, self.values = program, program.instructions.ops, program.instructions.values
        own: list[Any] = list(map(functions.__getitem__, self.ops))
        for k in program.instructions.places(Op.CELL):
            own[k] = partial(own[k], program.tables[int(self.values[k])])
        self.steps: list[WalkStep] = list(zip(own, program.instructions.args, freed, strict=False))
        self.parts = phases(program)
        self.before: Any = functions[Op.LT]
        self.chosen: Any = functions[Op.SELECT]
        self.passes: dict[Region, list[int]] = {region: [] for region in program.regions}
        nesting = Nesting(program.regions)
        for k in program.instructions.places(Op.PASS):
            self.passes[next(nesting.around(k))].append(k)
        self.homes: dict[Region | None, list[int]] = {}
        for column, home in homes_of(program).items():
            self.homes.setdefault(home, []).append(column)

    def run(
        self, inputs: Sequence[Any], number: Callable[[float], Any] = float, carried: Callable[[Any], Any] = lambda x: x
    ) -> list[Any]:
        """Return the value of each instruction, in regions that of the last pass; None for what was freed.

        `number` makes scalars of numbers, and `carried` of a value what the next pass is given.
        """
        return _Run(self, inputs, number, carried).values_found()


class _Run:
    """One run of a program."""

    def __init__(
        self, walk: Walk, inputs: Sequence[Any], number: Callable[[float], Any], carried: Callable[[Any], Any]
    ) -> None:
        self.walk, self.inputs, self.number, self.carried = walk, inputs, number, carried
        self.values: list[Any] = [None] * len(walk.steps)
        self.given: dict[int, Any] = {}
        self.columns: dict[int, dict[int, Any]] = {}  # of those that the program writes, what is in which row

    def values_found(self) -> list[Any]:
        self.phase(None)
        return self.values

    def leaf(self, k: int, args: tuple[int, ...]) -> Any:
        op, value, values = self.walk.ops[k], self.walk.values[k], self.values
        if op is Op.CONST:
            return self.number(value)
        if k in self.given:  # what is carried, and the number of a pass
            return self.given[k]
        if op is Op.INPUT:
            return self.inputs[int(value)]
        if op is Op.CARRIED:
            return values[args[0]]
        if op in ROWS:
            table = (self.walk.program.tables[int(value)],) if op is Op.LINK else ()
            return int(value) if op is Op.AT else SPEC[op].evaluate(*table, *(values[a] for a in args))
        return self.cell(op, int(value), *(values[a] for a in args))

    def cell(self, op: Op, number: int, row: int, value: Any = None) -> Any:
        column = self.walk.program.columns[number]
        if column.table is not None:
            return self.number(float(self.walk.program.tables[column.table].numbers[row]))
        if column.start is not None:
            return self.inputs[column.start + row]
        rows = self.columns[number]
        if op is Op.PUT:
            rows[row] = self.carried(value)
        elif op is Op.ADDED:
            rows[row] = rows.get(row, self.number(0.0)) + value
        return rows.get(row, self.number(0.0))

    def straight(self, part: range) -> None:
        values = self.values
        for k, (function, args, freed) in zip(part, self.walk.steps[part.start : part.stop], strict=True):
            if function is None:
                values[k] = self.leaf(k, args)
            elif len(args) == 2:  # most; without a list of them it takes three quarters of the time
                a, b = args
                values[k] = function(values[a], values[b])
            else:
                values[k] = function(*[values[a] for a in args])
            for a in freed:
                values[a] = None  # frees its memory

    def phase(self, within: Region | None) -> None:
        self.columns |= {column: {} for column in self.walk.homes.get(within, ())}
        for part in self.walk.parts[within]:
            if isinstance(part, range):
                self.straight(part)
            else:
                self.region(part)

    def region(self, region: Region) -> None:
        values, given = self.values, self.given
        left = dict[int, Any]()  # behind each pass, what is carried on, and is there in the end
        for n, number in enumerate(region.numbers(*(values[a] for a in region.span or ()))):
            given.update(dict.fromkeys(self.walk.passes[region], number))
            self.phase(region)
            found = {after: self.carried(values[after]) for _, after in region.carried}
            if region.count is not None and n:
                runs = self.walk.before(self.number(float(n)), values[region.count])
                if not _holds_for_any(runs):
                    break
                found = {after: self.walk.chosen(runs, value, left[after]) for after, value in found.items()}
            left = found
            given.update({k: left[after] for k, after in region.carried})
        if region.count is not None:
            for after, value in left.items():
                values[after] = value
        for k, _ in region.carried:
            del given[k]


def _holds_for_any(condition: Any) -> bool:
    known = isinstance(condition, (bool, np.bool_)) or (isinstance(condition, np.ndarray) and condition.dtype == bool)
    return not known or bool(np.any(condition))


WITHOUT = LEAVES | WRITES  # what is there, or is put somewhere, without a function of numbers
_EVALUATE: Functions = {op: None if op in WITHOUT else spec.evaluate for op, spec in SPEC.items()}


def replay(program: Program, inputs: Sequence[Any]) -> list[Any]:
    """Return the value of each instruction, in regions that of the last pass, from a scalar for each input's entry."""
    return Walk(program, _EVALUATE).run(inputs)


def straight(program: Program) -> Program:
    """Return the program with every pass of its regions written out; ParameterError beyond `LONGEST` operations."""
    if not program.regions:
        return program
    if program.work > LONGEST:
        raise ParameterError(
            f"passes of {program.name} written out, to differentiate it or within another function",
            got=f"{program.work} operations",
            expected=f"at most {LONGEST}",
            hint="Differentiate one pass, and chain the derivatives from pass to pass: forward, dx <- (dy/dx) dx; in "
            "reverse, from the last to the first, with the states in between kept. Or repeat it less often.",
        )
    graph = Graph()
    values = replay(program, graph.symbols(program.inputs))
    return assemble(program.name, graph, program.inputs, program.outputs, [values[r] for r in program.results])


def repeated(program: Program, count: int, carried: Mapping[str, str]) -> Program:
    """Return the program that runs a program several times, once at least; the results are those of the last pass.

    The instructions stay as they are, so that the passes do what as many calls of the program do, to the last bit.
    `carried` names inputs, and the outputs of the same size that take their place in the next pass.
    """
    instructions = program.instructions
    number = {int(instructions[k].value): k for k in instructions.places(Op.INPUT)}
    inputs, outputs = places_by_name(program.inputs), places_by_name(program.outputs)
    named = [pair for x, y in carried.items() for pair in enumerate(program.results[outputs[y]], inputs[x].start)]
    # of inputs that are used, their instructions, and those whose values take their place
    pairs = tuple(sorted((number[k], after) for k, after in named if k in number and number[k] != after))
    inside = program.regions
    if pairs and inside and inside[0].carried == pairs:  # a repeat of a repeat
        count, inside = count * inside[0].passes, inside[1:]
    elif any(program.instructions[k].op is Op.INPUT for region in inside for k, _ in region.carried):
        return repeated(straight(program), count, carried)
    if not pairs:
        return replace(program, regions=inside)
    return replace(program, regions=(Region(0, len(program.instructions), count, pairs), *inside))


def whole(program: Program) -> Region | None:
    """Return the region that is all of a program, run again on its own results; None if there is none.

    How often it is run is no part of the machine code: it is said with each call.
    """
    first = program.regions[0] if program.regions else None
    if first is None or (first.start, first.stop) != (0, len(program.instructions)):
        return None
    return first if all(program.instructions[k].op is Op.INPUT for k, _ in first.carried) else None


def times(program: Program, count: int) -> Program:
    """Return a program whose `whole` region is run so many times as often; another program as it is."""
    first = whole(program)
    if first is None or count == 1:
        return program
    return replace(program, regions=(first._replace(passes=count * first.passes), *program.regions[1:]))
