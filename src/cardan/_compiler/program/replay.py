"""A program run again: on scalars of any type (numbers, batches, symbols of any library), or on its own results."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._compiler.program.expr import Condition, Expr, Graph
from cardan._compiler.program.ops import ALWAYS_THERE, LEAVES, SPEC, WRITES, Op
from cardan._compiler.program.passes import with_entries
from cardan._compiler.program.program import Nesting, Program, Region, homes_of, named, phases, places_by_name
from cardan._compiler.program.trace import assemble

LONGEST = 200_000
"""Operations of a program whose passes are written out: it takes some 30 s to compile."""

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
        for op, read in ((Op.CELL, program.tables), (Op.CALLED, program.calls)):
            for k in program.instructions.places(op):
                own[k] = partial(own[k], read[int(self.values[k])])
        self.steps: list[WalkStep] = list(zip(own, program.instructions.args, freed, strict=False))
        self.parts, self.places = phases(program), program.result_places()
        self.passes: dict[Region, list[int]] = {region: [] for region in program.regions}
        nesting = Nesting(program.regions)
        for k in program.instructions.places(Op.PASS):
            self.passes[next(nesting.around(k))].append(k)
        self.homes: dict[Region | None, list[int]] = {}
        for column, home in homes_of(program).items():
            self.homes.setdefault(home, []).append(column)


class RowOf(NamedTuple):
    instruction: int  # of a graph, which gives the number of a row


class Run:
    """One run of a program.

    `number` makes scalars of numbers, and `carried` of a value what the next pass is given. Of symbols of a graph,
    `loops` are regions of it again, and are not written out; they read inputs `in_place`, or where they are put.
    """

    def __init__(
        self,
        walk: Walk,
        inputs: Sequence[Any],
        number: Callable[[float], Any] = float,
        carried: Callable[[Any], Any] = lambda x: x,
        loops: Container[Region] = (),
        in_place: bool = True,
    ) -> None:
        self.walk, self.inputs, self.number, self.carried = walk, inputs, number, carried
        self.loops, self.in_place = loops, in_place
        self.values: list[Any] = [None] * len(walk.steps)
        self.given: dict[int, Any] = {}
        self.columns: dict[int, dict[int, Any]] = {}  # of those that the program writes, what is in which row
        own = [region for region in walk.program.regions if region in loops]
        inside = {k for region in own for k in region.instructions}
        self.in_loops = {
            c for c, entries in enumerate(named(walk.program) if own else ()) if inside.intersection(entries)
        }
        self.traced: dict[int, int] = {}  # the columns of a graph that stand for these

    def run(self) -> list[Any]:
        """Return the value of each instruction, in regions that of the last pass; None for what was freed."""
        self.phase(None)
        return self.values

    def results(self) -> list[Any]:
        """Run the program, and return the entries of its results."""
        self.run()
        program = self.walk.program
        found = dict(zip(self.walk.places, map(self.values.__getitem__, program.results), strict=True))
        for number, column in enumerate(program.columns):
            found |= ((place, self.last(number, row)) for row, place in enumerate(column.results))
        return [found[place] for place in range(len(found))]

    def last(self, column: int, row: int) -> Any:
        """Return what is in a column in the end."""
        own = self.traced.get(column)
        return self.cell(Op.ENTRY, column, row) if own is None else self.graph.entry(own, self.graph.at(row))

    @property
    def graph(self) -> Graph:
        return next(e.graph for e in self.inputs if type(e) is Expr)

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
        if op is Op.AT:
            return int(value)
        if op is Op.LINK:
            return self.link(int(value), values[args[0]])
        if op is Op.BEHIND:
            return self.behind(values[args[0]], values[args[1]])
        if op is Op.PASS:  # of what is skipped
            return 0
        if int(value) in self.traced:
            return self.traced_cell(op, self.traced[int(value)], *(values[a] for a in args))
        return self.cell(op, int(value), *(values[a] for a in args))

    def link(self, number: int, row: Any) -> Any:
        table = self.walk.program.tables[number]
        return RowOf(self.graph.link(table, row.instruction)) if type(row) is RowOf else table.row(row)

    def behind(self, row: Any, rows: Any) -> Any:
        if RowOf in (type(row), type(rows)):
            return RowOf(self.graph.behind(self.index(row), self.index(rows)))
        return row + rows

    def index(self, row: Any) -> int:
        return row.instruction if type(row) is RowOf else self.graph.at(row)

    def cell(self, op: Op, number: int, row: int, value: Any = None) -> Any:
        column = self.walk.program.columns[number]
        if column.start is not None:
            return self.inputs[column.start + column.stride * row]
        if column.table is not None:
            return self.number(float(self.walk.program.tables[column.table].numbers[row]))
        rows = self.columns[number]
        if op is Op.PUT:
            rows[row] = self.carried(value)
        elif op is Op.ADDED:
            rows[row] = rows.get(row, self.number(0.0)) + value
        return rows.get(row, self.number(0.0))

    def traced_cell(self, op: Op, column: int, row: Any, value: Any = None) -> Any:
        if op is Op.ENTRY:
            return self.graph.entry(column, self.index(row))
        write = self.graph.put_in if op is Op.PUT else self.graph.add_to
        return write(column, self.index(row), value)

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
        for column in self.walk.homes.get(within, ()):
            self.columns[column] = {}
            if column in self.in_loops:
                self.traced[column] = self.column(column)
        for part in self.walk.parts[within]:
            if isinstance(part, range):
                self.straight(part)
            elif part in self.loops:
                self.loop(part)
            elif part.may_be_skipped and self.holds_nowhere(part.going):
                self.skip(part)
            else:
                self.region(part)

    def column(self, number: int) -> int:
        """Return a column of the graph for one of the program."""
        graph, column = self.graph, self.walk.program.columns[number]
        if column.is_inner:
            return graph.new_column(column.rows)
        values = [self.cell(Op.ENTRY, number, row) for row in range(column.rows)]
        return graph.column_of(values, self.in_place)

    def holds_nowhere(self, going: int | None) -> bool:
        """Return whether a condition of numbers holds for no state; of symbols nobody knows."""
        condition = None if going is None else self.values[going]
        return isinstance(condition, (bool, np.bool_, np.ndarray)) and not np.any(condition)

    def skip(self, part: Region) -> None:
        """Leave numbers that nobody chooses, but what goes by no number is there."""
        for k in part.instructions:
            is_there = self.walk.ops[k] in ALWAYS_THERE
            self.values[k] = self.leaf(k, self.walk.steps[k][1]) if is_there else 0.0

    def region(self, region: Region) -> None:
        values, given = self.values, self.given
        for number in region.numbers() if region.flag is None or values[region.flag] else ():
            given.update(dict.fromkeys(self.walk.passes[region], number))
            self.phase(region)
            given.update({k: self.carried(values[after]) for k, after in region.carried})
            if region.may_end_early and self.holds_nowhere(region.going):
                break
        for k, _ in region.carried:
            del given[k]

    def loop(self, region: Region) -> None:
        """Make a region of the graph of a region."""
        values, graph, steps = self.values, self.graph, self.walk.steps
        own = [k for k, _ in region.carried]
        begin = [values[steps[k][1][0]] if steps[k][1] else self.inputs[int(self.walk.values[k])] for k in own]
        first = list(map(graph.result, begin))  # of what is carried to an input, that
        flag = None if region.flag is None else self.index(values[region.flag])
        start, number = graph.opened()
        heads = list(map(graph.head, first))
        self.given.update({k: Expr(graph, head) for k, head in zip(own, heads, strict=True)})
        self.given.update(dict.fromkeys(self.walk.passes[region], RowOf(number)))
        self.enter(region, number)
        self.phase(region)
        for k in region.instructions:
            if type(values[k]) is Expr:
                values[k] = Expr(graph, graph.result(values[k]))  # signs are within, too
        after = [graph.result(values[a]) for _, a in region.carried]
        condition = None if region.going is None else values[region.going]
        going = condition.index if type(condition) is Condition else None
        if going is not None and going < start and region.may_end_early:
            going = None  # it is the same in all passes
        carried = (*zip(heads, after, strict=True), *self.leave(region))
        stop = len(graph.instructions)
        graph.close(region._replace(start=start, stop=stop, carried=carried, going=going, flag=flag))
        for k in own:
            del self.given[k]

    def enter(self, region: Region, number: int) -> None:
        """Write more at the beginning of each pass of a region of the graph, in the row of that number."""

    def leave(self, region: Region) -> list[tuple[int, int]]:
        """Write more at the end of each pass, and return what else is carried."""
        return []

    def outer_columns(self, region: Region) -> list[int]:
        """Return the columns whose rows outlive a pass of a region."""
        regions = self.walk.program.regions
        around = [r for r in regions[: regions.index(region)] if region.start < r.stop]
        return [column for home in (None, *around) for column in self.walk.homes.get(home, ())]


WITHOUT = LEAVES | WRITES  # what is there, or is put somewhere, without a function of numbers
EVALUATE: Functions = {op: None if op in WITHOUT else spec.evaluate for op, spec in SPEC.items()}


def replay(program: Program, inputs: Sequence[Any]) -> list[Any]:
    """Return the value of each instruction, in regions that of the last pass, from a scalar for each input's entry."""
    return Run(Walk(program, EVALUATE), inputs).run()


def replayed_results(
    program: Program, inputs: Sequence[Any], loops: Container[Region] = (), in_place: bool = True
) -> list[Any]:
    """Return the entries of the results, from a scalar for each input's entry.

    If the scalars are symbols of a graph, `loops` become regions of it; the others are written out.
    """
    return Run(Walk(program, EVALUATE), inputs, loops=loops, in_place=in_place).results()


def replayed_from(program: Program, inputs: Sequence[Any], known: Mapping[int, Any]) -> list[Any]:
    """Return the entries of the results, if some instructions, by number, have the values given and not their own."""
    walk = Walk(program, EVALUATE)
    for k, value in known.items():
        walk.steps[k] = (partial(_first, value), *walk.steps[k][1:])
    return Run(walk, inputs).results()


def _first(value: Any, *_: Any) -> Any:
    return value


def straight(program: Program, loops: Sequence[Region] = ()) -> Program:
    """Return the program with every pass of its regions written out, but for those of some that stay as `loops`.

    ParameterError beyond `LONGEST` operations.
    """
    if len(loops) == len(program.regions):
        return program
    once = tuple([r._replace(passes=1) if r in loops else r for r in program.regions])
    if replace(program, regions=once).work > LONGEST:
        raise ParameterError(
            f"passes of {program.name} written out, as joints and other libraries need them",
            got=f"{program.work} operations",
            expected=f"at most {LONGEST}",
            hint="Repeat it less often.",
        )
    graph = Graph(regions=bool(loops), order=program.order or 0)
    graph.implicit = program.order is not None
    results = replayed_results(program, graph.symbols(program.inputs), loops)
    return assemble(program.name, graph, program.inputs, program.outputs, results)


def repeated(program: Program, count: int, carried: Mapping[str, str]) -> Program:
    """Return the program that runs a program several times, once at least; the results are those of the last pass.

    The instructions stay as they are, so that the passes do what as many calls of the program do, to the last bit.
    `carried` names inputs, and the outputs of the same size that take their place in the next pass.
    """
    if any(column.start is not None for column in program.columns):
        return repeated(with_inputs_put(program), count, carried)
    program = with_entries(program)
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


def with_inputs_put(program: Program) -> Program:
    """Return a program in which no column is of inputs, for these will be others in each pass."""
    graph = Graph(regions=True, order=program.order or 0)
    graph.implicit = program.order is not None
    results = replayed_results(program, graph.symbols(program.inputs), program.regions, in_place=False)
    return assemble(program.name, graph, program.inputs, program.outputs, results)


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
