"""Differentiating programs: forward and reverse, each sparse and for many directions at once.

A program y = f(x) is replayed in a new graph, and beside each value its derivatives are kept by number of direction,
only those that are not structurally zero (`forward_sweep.py`, `reverse_sweep.py`). Sharing and folding are the graph's.

Long loops stay loops. Others are written out, so that derivatives keep the zeros of each pass.

Source: Griewank and Walther, Evaluating Derivatives (2008), chapters 3, 6, 7 and 12.
Cost: forward, up to twice the operations for each direction; reverse, up to three times for each result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, chain, islice
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from cardan._algebra.errors import check_known, check_one_of
from cardan._compiler.program.expr import Condition, Expr, Graph
from cardan._compiler.program.forward_sweep import ForwardRun, pushforward
from cardan._compiler.program.instructions import Instructions
from cardan._compiler.program.ops import SPEC, Op, ValueType
from cardan._compiler.program.partials import PARTIALS, Derivatives, accumulate_in, combined, is_zero, still_regions
from cardan._compiler.program.passes import with_entries
from cardan._compiler.program.program import Array, Program, Region, passes, places_by_name
from cardan._compiler.program.replay import LONGEST, straight
from cardan._compiler.program.reverse_sweep import ReverseRun
from cardan._compiler.program.trace import assemble

Mode = Literal["auto", "forward", "reverse"]
MODES: tuple[Mode, ...] = ("auto", "forward", "reverse")

LONG = 20_000
"""Operations of a loop's passes, all together, from which on its derivative is a loop. Written out it is up to 1.4
times faster, since no pass is computed again; so many take a third of a second to compile."""

LINEAR = frozenset({Op.ADD, Op.SUB, Op.NEG, Op.MUL, Op.HELD})
"""Operations through which weights go back at no cost but a product."""

MatrixRows = Callable[[list[Any]], Sequence[Sequence[Any]]]  # A matrix at a point, from its entries


class Tangent(NamedTuple):
    name: str  # of the input
    shape: tuple[int, ...]  # of a direction
    # from the input's entries x, dx_i/dt_j: how each moves along each direction; None where they are the same
    rows: MatrixRows | None = None

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def _with_loops(program: Program) -> Program:
    """Return a program with those loops that derivatives are taken of, with all passes; the others are written out."""
    program = with_entries(program)
    if not program.regions:
        return program
    parts = [(part, times * program.instructions.operations(part.start, part.stop)) for part, times in passes(program)]
    flagged = [region.start for region in program.regions if region.flag is not None]

    def is_long(region: Region) -> bool:
        work = sum(work for part, work in parts if part.start in region.instructions)
        enough = LONG if region.carried and region.derived is None else LONGEST
        return work >= enough and all(start not in region.instructions for start in flagged)

    still = still_regions(program)
    own = straight(program, [region for region in program.regions if region in still or is_long(region)])
    still = still_regions(own)
    loops = [
        r if r in still else r._replace(passes=r.derived or r.passes, going=None, derived=None) for r in own.regions
    ]
    return replace(own, regions=tuple(loops))


class _Open:
    """A program replayed in a new graph, so that more can be written behind it."""

    def __init__(self, program: Program, further: Sequence[Array] = ()) -> None:
        self.program, self.inputs = _with_loops(program), (*program.inputs, *further)
        order = max(0, (program.order or 0) - 1)
        is_last = program.order is not None and order == 0
        self.graph = Graph(regions=bool(self.program.regions), order=order, is_last=is_last)
        self.graph.implicit = program.order is not None
        symbols, self.places = self.graph.symbols(self.inputs), places_by_name(self.inputs)
        self.symbols = {name: symbols[place] for name, place in self.places.items()}
        self.flat = symbols

    @cached_property
    def reverse(self) -> ReverseRun:
        run = ReverseRun(self.program, self.flat, self.program.regions)
        self.values = run.run()
        return run

    def pushed(self, seeds: Mapping[int, Derivatives]) -> list[Derivatives]:
        """Return the derivatives of each instruction from those of the inputs, by position."""
        run = ForwardRun(self.program, self.flat, seeds, self.program.regions)
        self.values = run.run()
        return run.found

    @cached_property
    def values(self) -> list[Any]:
        """The value of each instruction: those of the run that was made last, so that no other need be kept."""
        return self.reverse.values

    def seeds(self, tangent: Tangent) -> dict[int, Derivatives]:
        """Return the derivative of each entry of an input along each direction, by position in the flattened inputs."""
        start = self.places[tangent.name].start
        if tangent.rows is None:
            return {start + j: {j: 1.0} for j in range(tangent.size)}
        rows = tangent.rows(self.symbols[tangent.name])
        return {start + i: {j: e for j, e in enumerate(row) if not is_zero(e)} for i, row in enumerate(rows)}

    def along(self, tangent: Tangent, direction: Sequence[Any]) -> dict[int, Derivatives]:
        """Return the rate of each entry of an input along one direction, as derivative number 0."""
        return {k: combined([(direction[j], {0: e}) for j, e in row.items()]) for k, row in self.seeds(tangent).items()}

    def weights(self, along: Mapping[str, MatrixRows]) -> list[list[Derivatives]]:
        """Return, for each output, the rows of its derivative: weights by number of the instruction they weigh."""
        results, found = iter(self.program.results), []
        for output in self.program.outputs:
            own = list(islice(results, output.size))
            if output.name not in along:
                found.append([{r: 1.0} for r in own])
                continue
            matrix = along[output.name]([self.values[r] for r in own])
            found.append([combined([(e, {r: 1.0}) for r, e in zip(own, row, strict=True)]) for row in matrix])
        return found

    def pulled(self, tangent: Tangent, by_input: Mapping[int, Derivatives], rows: int) -> list[list[Any]]:
        """Return the derivatives of each result along each direction, from those by each entry of the inputs."""
        total: list[list[Any]] = [[0.0] * tangent.size for _ in range(rows)]
        for k, row in self.seeds(tangent).items():
            for r, d in by_input.get(k, {}).items():
                for j, e in row.items():
                    total[r][j] = total[r][j] + d * e
        return total

    def program_of(self, name: str, outputs: Sequence[Array], results: Sequence[Any]) -> Program:
        return assemble(name, self.graph, self.inputs, outputs, results)


def jacobian(
    program: Program,
    wrt: Tangent | str | Sequence[Tangent | str],
    *,
    mode: Mode = "auto",
    along: Mapping[str, MatrixRows] = MappingProxyType({}),
) -> Program:
    """Return the program of the derivatives of all results along the directions of inputs.

    Args:
        program: y = f(x, ...).
        wrt: the directions of the input x, or its name for its entries themselves; several share what they can.
        mode: `"forward"`, `"reverse"`, or for each x the one with fewer directions.
        along: by names of outputs, from the entries of y, the rows of a matrix K(y): K dy instead of dy.

    It has the same inputs; for each x, for each output y, an output `dy_dx` of shape (*y, *directions), or (rows of K,
    *directions). UnknownNameError and ParameterError say that there is no such input or mode.
    """
    check_one_of("mode", mode, MODES)
    tangents = [_tangent(program, w) for w in ([wrt] if isinstance(wrt, (str, Tangent)) else wrt)]
    opened = _Open(program)
    weights = opened.weights(along)
    parts = _swept(opened, tangents, along, sum(map(len, weights)), mode)
    shapes = [(len(rows),) if y.name in along else y.shape for rows, y in zip(weights, program.outputs, strict=True)]
    named = [(t, y.name, shape) for t in tangents for y, shape in zip(program.outputs, shapes, strict=True)]
    outputs = [Array(f"d{name}_d{t.name}", (*shape, *t.shape)) for t, name, shape in named]
    name = "_".join((program.name, *(f"d{t.name}" for t in tangents)))
    return opened.program_of(name, outputs, [e for rows in parts for row in rows for e in row])


def _swept(
    opened: _Open, tangents: Sequence[Tangent], along: Mapping[str, MatrixRows], rows: int, mode: Mode
) -> list[list[list[Any]]]:
    """Return the rows of derivatives for each tangent, with one sweep in each direction for all that take it."""
    ways = [mode if mode != "auto" else "forward" if t.size <= rows else "reverse" for t in tangents]
    parts: dict[int, list[list[Any]]] = {}
    for way, sweep in (("forward", _forward), ("reverse", _reverse)):
        own = [k for k, chosen in enumerate(ways) if chosen == way]
        if own:
            parts |= zip(own, sweep(opened, [tangents[k] for k in own], along), strict=True)
    return [parts[k] for k in range(len(tangents))]


def _forward(opened: _Open, tangents: Sequence[Tangent], along: Mapping[str, MatrixRows]) -> list[list[list[Any]]]:
    """Return, for each tangent, the rows of derivatives: weights of instructions times theirs by each direction."""
    seeds: dict[int, Derivatives] = {}
    starts = list(accumulate((t.size for t in tangents), initial=0))
    for start, tangent in zip(starts, tangents, strict=False):
        seeds |= {k: {start + j: e for j, e in row.items()} for k, row in opened.seeds(tangent).items()}
    found = opened.pushed(seeds)
    rows = _met(opened, [*chain.from_iterable(opened.weights(along))], found)
    return [
        [[row.get(start + j, 0.0) for j in range(t.size)] for row in rows]
        for start, t in zip(starts, tangents, strict=False)
    ]


def _met(opened: _Open, rows: Sequence[Derivatives], found: Sequence[Derivatives]) -> list[Derivatives]:
    """Return the derivatives of rows, which are weights of instructions, where the two ways meet.

    Weights of a row that mixes instructions go back through sums and products, as long as fewer rows come back than
    directions go forward.
    """
    program, values = opened.program, opened.values
    ops, operands = program.instructions.ops, program.instructions.args
    total = [{} if len(row) > 1 else combined([(weight, found[r]) for r, weight in row.items()]) for row in rows]
    back: dict[int, Derivatives] = {}  # by instruction, its weight in each row
    for i, r, weight in [(i, *each) for i, row in enumerate(rows) if len(row) > 1 for each in row.items()]:
        back.setdefault(r, {})[i] = weight
    for k in range(max(back, default=-1), -1, -1):
        if k not in back:
            continue
        own, op, args = back.pop(k), ops[k], operands[k]
        in_loop = any(k in region.instructions for region in program.regions)
        if in_loop or op not in LINEAR or len(own) >= len(found[k]):
            for i, weight in own.items():
                accumulate_in(total[i], {j: d * weight for j, d in found[k].items()})
            continue
        for slope, a in zip(PARTIALS[op](*(values[a] for a in args), values[k]), args, strict=True):
            if found[a] and not is_zero(slope):
                accumulate_in(back.setdefault(a, {}), {i: weight * slope for i, weight in own.items()})
    return total


def _reverse(opened: _Open, tangents: Sequence[Tangent], along: Mapping[str, MatrixRows]) -> list[list[list[Any]]]:
    """Return the same, from the weights backwards."""
    seeds: dict[int, Derivatives] = {}
    weights = [*chain.from_iterable(opened.weights(along))]
    for i, row in enumerate(weights):
        for r, weight in row.items():
            seeds.setdefault(r, {})[i] = weight
    found = opened.reverse.pulled(seeds)
    return [opened.pulled(t, found, len(weights)) for t in tangents]


def symmetric_jacobian(program: Program, wrt: Sequence[Tangent]) -> Program:
    """Return the program of the symmetric part of the Jacobian of several outputs by as many inputs: of gradients.

    For each two inputs x and y there is an output `dx_dy` of shape (*x, *y), that of y and x its mirror image. Symmetry
    must be made only between directions of one input that turn as it moves: these need not commute.
    """
    opened = _Open(program)
    parts = _forward(opened, wrt, {})
    turning = [{j for row in opened.seeds(t).values() for j, e in row.items() if type(e) is Expr} for t in wrt]
    starts = list(accumulate((t.size for t in wrt), initial=0))

    def entry(x: int, i: int, y: int, j: int) -> Any:
        if (y, j) < (x, i):
            return entry(y, j, x, i)
        value = parts[y][starts[x] + i][j]
        may_turn = x == y and i != j and not turning[x].isdisjoint((i, j))
        return 0.5 * (value + parts[x][starts[y] + j][i]) if may_turn else value

    blocks = [(x, y) for x in range(len(wrt)) for y in range(len(wrt))]
    flat = [entry(x, i, y, j) for x, y in blocks for i in range(wrt[x].size) for j in range(wrt[y].size)]
    outputs = [Array(f"d{wrt[x].name}_d{wrt[y].name}", (*wrt[x].shape, *wrt[y].shape)) for x, y in blocks]
    return opened.program_of("_".join((program.name, *(f"d{t.name}" for t in wrt))), outputs, flat)


def jacobian_vector_product(
    program: Program, wrt: Sequence[Tangent | str], directions: Sequence[str] | None = None
) -> Program:
    """Return the program of the results' rate of change while inputs move: for each output y an output `y_dot`.

    `wrt` has the directions of each input that moves, or its name; as many more inputs, `directions`, say along which:
    `x_dot` for each x by default.
    """
    tangents = [_tangent(program, w) for w in wrt]
    names = directions or [f"{t.name}_dot" for t in tangents]
    opened = _Open(program, [Array(n, t.shape) for n, t in zip(names, tangents, strict=True)])
    seeds: dict[int, Derivatives] = {}
    for name, tangent in zip(names, tangents, strict=True):
        seeds |= opened.along(tangent, opened.symbols[name])
    found = opened.pushed(seeds)
    outputs = [Array(f"{y.name}_dot", y.shape) for y in program.outputs]
    return opened.program_of(f"{program.name}_jvp", outputs, [found[r].get(0, 0.0) for r in opened.program.results])


def vector_jacobian_product(
    program: Program, wrt: Sequence[Tangent | str], weights: Sequence[str] | None = None
) -> Program:
    """Return the program of the gradient of the weighted sum of the results: for each x in `wrt` an output `x_bar`.

    `wrt` has the directions of each input, or its name; as many more inputs as outputs, `weights`, weigh these: `y_bar`
    for each y by default.
    """
    tangents = [_tangent(program, w) for w in wrt]
    names = weights or [f"{y.name}_bar" for y in program.outputs]
    opened = _Open(program, [Array(n, y.shape) for n, y in zip(names, program.outputs, strict=True)])
    seeds: dict[int, Derivatives] = {}
    for r, weight in zip(opened.program.results, (e for n in names for e in opened.symbols[n]), strict=True):
        accumulate_in(seeds.setdefault(r, {}), {0: weight})
    found = opened.reverse.pulled(seeds)
    outputs = [Array(f"{t.name}_bar", t.shape) for t in tangents]
    results = [e for t in tangents for e in opened.pulled(t, found, 1)[0]]
    return opened.program_of(f"{program.name}_vjp", outputs, results)


def with_inputs_in_order(program: Program, names: Sequence[str]) -> Program:
    if tuple(names) == tuple(a.name for a in program.inputs):
        return program
    by_name, places = {a.name: a for a in program.inputs}, places_by_name(program.inputs)
    order = [k for name in names for k in range(places[name].start, places[name].stop)]
    place = {float(old): float(new) for new, old in enumerate(order)}
    instructions = Instructions(
        i._replace(value=place[i.value]) if i.op is Op.INPUT else i for i in program.instructions
    )
    return replace(program, inputs=tuple(by_name[n] for n in names), instructions=instructions)


def _tangent(program: Program, wrt: Tangent | str) -> Tangent:
    name = wrt if isinstance(wrt, str) else wrt.name
    shapes = {a.name: a.shape for a in program.inputs}
    check_known("input", name, shapes, "derivative")
    return Tangent(name, shapes[name]) if isinstance(wrt, str) else wrt


def rate_along(function: Callable[[list[Any]], Sequence[Any]], x: Sequence[Any], x_dot: Sequence[Any]) -> list[Any]:
    """Return the time derivatives of what a function of scalars returns, while x moves at x_dot."""
    return [rates.get(0, 0.0) for rates in rates_along(function, x, [{0: e} for e in x_dot])[1]]


def rates_along(
    function: Callable[[list[Any]], Sequence[Any]], x: Sequence[Any], directions: Sequence[Mapping[int, Any]]
) -> tuple[list[Any], list[Derivatives]]:
    """Return what a function of scalars returns, and its rates while each entry of x moves along several directions.

    All may be numbers, or symbols of one trace; so may what the function holds. Rates that are 0 are left out.
    """
    moving = (e for own in directions for e in own.values())
    graph = next((e.graph for e in (*x, *moving) if type(e) is Expr), None) or Graph()
    start, regions = len(graph.instructions), graph.regions
    places = [-1 - start - k for k in range(len(x))]  # of inputs that no other has, and no result will
    graph.regions, graph.order = None, graph.order + 1  # what is differentiated here is written out
    try:
        results = tuple(graph.result(e) for e in function([graph.input(place) for place in places]))
    finally:
        graph.regions, graph.order = regions, graph.order - 1
    tables, columns = tuple(graph.tables), tuple(graph.columns)
    program = Program("rate", (), Instructions(graph.instructions), (), results, tables=tables, columns=columns)
    own, values = dict(zip(places, x, strict=True)), []
    for k, (op, args, number) in enumerate(program.instructions):
        if op is Op.CONST or op is Op.INPUT:
            values.append(number if op is Op.CONST else own.get(int(number), Expr(graph, k)))
        elif k < start:
            values.append((Expr if SPEC[op].result is ValueType.REAL else Condition)(graph, k))
        else:
            table = (tables[int(number)],) if op is Op.CELL else ()
            values.append(SPEC[op].evaluate(*table, *(values[a] for a in args)))
    seeds = {place: dict(own) for place, own in zip(places, directions, strict=True)}
    found = pushforward(program, values, seeds, start)
    return [values[r] for r in results], [found[r] for r in results]
