"""Differentiating programs: forward and reverse, each sparse and for many directions at once.

A program y = f(x) is replayed in a new graph, and beside each value its derivatives are kept by number of direction,
only those that are not structurally zero. With the local partial derivatives of every operation (`PARTIALS`),

    forward:   dz/dt_j  = sum over operands a of  (dz/da) da/dt_j          (`pushforward`)
    reverse:   dy_i/da += (dy_i/dz) (dz/da)  for each operation z on a     (`pullback`)

Sharing and folding are the graph's. Where an operation has a kink (abs, min, max, a choice), the derivative is that of
the side the value is on, and what the other side does is not looked at: where(q > 0, sqrt(q), 0) has the slope 0 at 0.
That is more than to pass 0 on from the side not chosen, for 0 times an infinite slope is NaN, as in sqrt(max(q, 0)). So
it is known on which choices a derivative hangs (`Guard`). In reverse, derivatives are kept apart by them, and chosen
after they have been multiplied; forward, a slope that may be infinite counts as 0 where the derivative is not chosen.

Source: Griewank and Walther, Evaluating Derivatives (2008), chapters 3, 6 and 7.
Cost: forward, up to twice the operations for each direction; reverse, up to three times for each result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, islice
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from cardan._algebra import scalar
from cardan._algebra.errors import ParameterError, UnknownNameError
from cardan._compiler.program.expr import Condition, Expr, Graph
from cardan._compiler.program.instructions import Instructions
from cardan._compiler.program.ops import SPEC, STILL, TRUTHS, WRITES, Op, ValueType
from cardan._compiler.program.program import Array, Program, Region, named, places_by_name
from cardan._compiler.program.replay import replay, straight
from cardan._compiler.program.trace import assemble

Mode = Literal["auto", "forward", "reverse"]
MODES: tuple[Mode, ...] = ("auto", "forward", "reverse")
Derivatives = dict[int, Any]  # derivatives by number of direction (or of result); what is absent is 0

PARTIALS: dict[Op, Callable[..., tuple[Any, ...]]] = {
    # the derivative by each operand, from the operands and the result z
    Op.ADD: lambda a, b, z: (1.0, 1.0),
    Op.SUB: lambda a, b, z: (1.0, -1.0),
    Op.MUL: lambda a, b, z: (b, a),
    Op.DIV: lambda a, b, z: (1.0 / b, -(z / b)),
    Op.NEG: lambda a, z: (-1.0,),
    Op.SQRT: lambda a, z: (0.5 / z,),
    Op.SIN: lambda a, z: (scalar.cos(a),),
    Op.COS: lambda a, z: (-scalar.sin(a),),
    Op.TAN: lambda a, z: (1.0 + z * z,),
    Op.ASIN: lambda a, z: (1.0 / scalar.sqrt((1.0 - a) * (1.0 + a)),),
    Op.ACOS: lambda a, z: (-1.0 / scalar.sqrt((1.0 - a) * (1.0 + a)),),
    Op.ATAN2: lambda y, x, z: (x / (x * x + y * y), -(y / (x * x + y * y))),
    Op.EXP: lambda a, z: (z,),
    Op.LOG: lambda a, z: (1.0 / a,),
    Op.EXPM1: lambda a, z: (z + 1.0,),
    Op.LOG1P: lambda a, z: (1.0 / (1.0 + a),),
    Op.ABS: lambda a, z: (scalar.sign(a),),
    Op.HELD: lambda a, b, z: (0.0, 1.0),
    **dict.fromkeys(STILL - TRUTHS, lambda a, z: (0.0,)),
}
"""Local derivatives. A choice (`_choice`) has none: it chooses among its operands' derivatives."""

UNBOUNDED = frozenset({Op.DIV, Op.SQRT, Op.ASIN, Op.ACOS, Op.ATAN2, Op.LOG, Op.LOG1P})
"""Operations with slopes that may be infinite where their operands are finite."""

Guard = tuple[tuple[int, bool], ...]  # conditions, by number, and on which side of each: where these derivatives count
Guards = dict[int, Guard]  # for each derivative that does, on what it hangs: elsewhere it is 0
HANGING = 4
"""Conditions on which derivatives are known to hang, forward, the last ones. Each costs a choice at every slope."""
Guarded = dict[Guard, Derivatives]
KEPT_APART = 8
"""Guards of one value: of choices that hang on choices, as in iterations that clip, they would double at each. Beyond,
derivatives are chosen before they are multiplied, and an infinite slope of a side not chosen gives NaN."""


class _Choice(NamedTuple):
    """An operation that passes one of two operands on: the first where the condition holds."""

    condition: Any
    first: int
    second: int


def _choice(op: Op, args: Sequence[int], values: Sequence[Any]) -> _Choice | None:
    if op is Op.SELECT:
        return _Choice(values[args[0]], args[1], args[2])
    if op is Op.MIN:
        return _Choice(values[args[0]] <= values[args[1]], *args)
    if op is Op.MAX:
        return _Choice(values[args[0]] >= values[args[1]], *args)
    return None


def moving(program: Program) -> bytearray:
    """Return a flag for each instruction: whether results have derivatives by inputs that hang on its own."""
    ops = program.instructions.ops
    operands = [
        own[1:] if op is Op.HELD else () if op in STILL else own
        for op, own in zip(ops, program.instructions.args, strict=True)
    ]
    for region in program.regions:
        for k, after in region.carried:
            operands[k] = (*operands[k], after)
    given = set(program.instructions.places(Op.INPUT))
    for entries, column in zip(named(program), program.columns, strict=True):
        writes = [k for k in entries if ops[k] in WRITES]
        for k, other in (
            *zip(writes, writes[-1:] + writes, strict=False),
            *((k, w) for k in entries for w in writes[-1:]),
        ):
            operands[k] = (*operands[k], other)  # what is in a column hangs on all that is put there
        given.update(entries if column.start is not None else ())
    from_inputs, to_results = bytearray(len(ops)), bytearray(len(ops))
    for r in program.results:
        to_results[r] = 1
    known = -1
    while known < (known := sum(from_inputs) + sum(to_results)):  # again where something is carried backwards
        for k in range(len(ops)):
            from_inputs[k] = k in given or any(from_inputs[a] for a in operands[k])
        for k in range(len(ops) - 1, -1, -1):
            if to_results[k]:
                for a in operands[k]:
                    to_results[a] = 1
    return bytearray(a & b for a, b in zip(from_inputs, to_results, strict=True))


def still_regions(program: Program) -> list[Region]:
    """Return the regions in which nothing has a derivative, with those within them: they need not be written out."""
    flags, ops = moving(program) if program.regions else b"", program.instructions.ops
    moves = accumulate((bool(flag) and ops[k] is not Op.INPUT for k, flag in enumerate(flags)), initial=0)
    before = list(moves)  # how many of the instructions before each have one

    def is_still(region: Region) -> bool:
        heads = all(ops[k] is Op.CARRIED for k, _ in region.carried)
        return heads and before[region.stop] == before[region.start]

    return [region for region in program.regions if is_still(region)]


def pushforward(program: Program, values: Sequence[Any], seeds: Mapping[int, Derivatives]) -> list[Derivatives]:
    """Return the derivatives of each instruction; `seeds` are those of the flattened inputs by position."""
    found: list[Derivatives] = []
    guards: list[Guards] = []
    conditions: dict[int, Condition] = {}
    flags = moving(program) if program.regions or program.instructions.count_of(Op.HELD) else None
    for k, (op, args, number) in enumerate(program.instructions):
        own: Derivatives = {}
        hang: Guards = {}
        if op is Op.INPUT:
            own = dict(seeds.get(int(number), {}))
        elif (
            (flags and not flags[k])
            or not any(found[a] for a in args)
            or op is Op.CONST
            or SPEC[op].result is ValueType.BOOL
        ):
            pass
        elif choice := _choice(op, args, values):
            own = _chosen(choice.condition, found[choice.first], found[choice.second])
            hang = _hanging(choice, found, guards, conditions)
        else:
            slopes = PARTIALS[op](*(values[a] for a in args), values[k])
            terms = [(slope, a) for slope, a in zip(slopes, args, strict=True) if found[a] and not _is_zero(slope)]
            hang = _in_common([(found[a], guards[a]) for _, a in terms])
            for slope, a in terms:
                outside = guards[a] if op in UNBOUNDED else {}
                more = {j: d * _within(outside.get(j, ()), slope, conditions) for j, d in found[a].items()}
                _accumulate(own, more)
        found.append(own)
        guards.append({j: guard for j, guard in hang.items() if j in own})
    return found


def _hanging(
    choice: _Choice, found: Sequence[Derivatives], guards: Sequence[Guards], conditions: dict[int, Condition]
) -> Guards:
    """Return what the derivatives of a choice hang on: on the side they come from, unless they come from both."""
    if not isinstance(choice.condition, Condition):
        return guards[choice.first if bool(choice.condition) else choice.second]
    index = choice.condition.index
    conditions[index] = choice.condition
    first, second = found[choice.first], found[choice.second]
    hang = _in_common([(side, guards[k]) for side, k in ((first, choice.first), (second, choice.second))])
    for side, operand, other in ((True, choice.first, second), (False, choice.second, first)):
        own = [j for j in found[operand] if j not in other]
        hang |= {j: (*guards[operand].get(j, ())[1 - HANGING :], (index, side)) for j in own}
    return {j: guard for j, guard in hang.items() if guard}


def _in_common(terms: Sequence[tuple[Derivatives, Guards]]) -> Guards:
    """Return what all terms hang on that a derivative is the sum of."""
    hang: Guards = {}
    for derivatives, guards in terms:
        for j in derivatives:
            own = guards.get(j, ())
            hang[j] = tuple([part for part in hang[j] if part in own]) if j in hang else own
    return {j: guard for j, guard in hang.items() if guard}


def _within(guard: Guard, slope: Any, conditions: Mapping[int, Condition]) -> Any:
    """Return a slope where a guard holds, 0 elsewhere."""
    for index, side in guard:
        slope = scalar.where(conditions[index], *((slope, 0.0) if side else (0.0, slope)))
    return slope


def pullback(program: Program, values: Sequence[Any], seeds: Mapping[int, Derivatives]) -> list[Derivatives]:
    """Return the derivatives of the results by each input, at the place of its instruction.

    By number of an instruction, `seeds` holds the derivatives by it that are there to begin with: 1 for a result.
    """
    instructions, active = list(program.instructions), moving(program)
    found: list[Guarded] = [{(): dict(seeds[k])} if seeds.get(k) else {} for k in range(len(instructions))]
    conditions: dict[int, Condition] = {}
    for k in range(len(instructions) - 1, -1, -1):
        op, args, _ = instructions[k]
        if not found[k] or not active[k]:
            continue
        found[k] = (
            _merged(found[k], conditions) if len(found[k]) <= KEPT_APART else {(): _resolved(found[k], conditions)}
        )
        if choice := _choice(op, args, values):
            _split(choice, found, k, conditions)
        elif args:
            slopes = PARTIALS[op](*(values[a] for a in args), values[k])
            for slope, a in zip(slopes, args, strict=True):
                if active[a] and not _is_zero(slope):
                    for guard, derivatives in found[k].items():
                        _accumulate(found[a].setdefault(guard, {}), {i: d * slope for i, d in derivatives.items()})
    leaves = (op is Op.INPUT for op, *_ in instructions)
    return [_resolved(part, conditions) if leaf else {} for part, leaf in zip(found, leaves, strict=True)]


def _split(choice: _Choice, found: Sequence[Guarded], k: int, conditions: dict[int, Condition]) -> None:
    """Pass what is found for a choice on to its operands, each under its side of the condition."""
    if isinstance(choice.condition, Condition):
        conditions[choice.condition.index] = choice.condition
    for side, operand in ((True, choice.first), (False, choice.second)):
        for guard, derivatives in found[k].items():
            inner = _narrowed(guard, choice.condition, side)
            if inner is not None:
                _accumulate(found[operand].setdefault(inner, {}), derivatives)


def _narrowed(guard: Guard, condition: Any, side: bool) -> Guard | None:
    """Return a guard and one side of a condition more; None if they exclude each other."""
    if not isinstance(condition, Condition):
        return guard if bool(condition) is side else None
    if (condition.index, not side) in guard:
        return None
    return guard if (condition.index, side) in guard else (*guard, (condition.index, side))


def _merged(found: Guarded, conditions: Mapping[int, Condition]) -> Guarded:
    """Return derivatives with no guard within another, nor beside its opposite: there the value counts anyway."""
    for guard in sorted(found, key=len, reverse=True):
        around = _around(guard, found)
        if around is not None:
            n = len(around)
            inside = {g[n:]: d for g, d in found.items() if g[:n] == around}
            rest = {g: d for g, d in found.items() if g[:n] != around}
            return _merged({**rest, around: _resolved(inside, conditions)}, conditions)
    return found


def _around(guard: Guard, found: Guarded) -> Guard | None:
    for n in range(len(guard)):
        if guard[:n] in found:
            return guard[:n]
    if guard and (*guard[:-1], (guard[-1][0], not guard[-1][1])) in found:
        return guard[:-1]
    return None


def _resolved(found: Guarded, conditions: Mapping[int, Condition]) -> Derivatives:
    """Return the sum of derivatives, each where its guard holds."""
    total: Derivatives = {}
    for guard, derivatives in found.items():
        for index, side in reversed(guard):
            derivatives = _chosen(conditions[index], *((derivatives, {}) if side else ({}, derivatives)))
        _accumulate(total, derivatives)
    return total


def _is_zero(value: Any) -> bool:
    return not isinstance(value, (Expr, Condition)) and value == 0.0


def _combined(terms: Sequence[tuple[Any, Derivatives]]) -> Derivatives:
    total: Derivatives = {}
    for slope, derivatives in terms:
        if not _is_zero(slope):
            _accumulate(total, {j: d * slope for j, d in derivatives.items()})
    return total


def _accumulate(total: Derivatives, more: Derivatives) -> None:
    for j, d in more.items():
        total[j] = total[j] + d if j in total else d
        if _is_zero(total[j]):
            del total[j]


def _chosen(condition: Any, a: Derivatives, b: Derivatives) -> Derivatives:
    return {j: scalar.where(condition, a.get(j, 0.0), b.get(j, 0.0)) for j in sorted(a.keys() | b.keys())}


MatrixRows = Callable[[list[Any]], Sequence[Sequence[Any]]]  # A matrix at a point, from its entries


class Tangent(NamedTuple):
    name: str  # of the input
    shape: tuple[int, ...]  # of a direction
    # from the input's entries x, dx_i/dt_j: how each moves along each direction; None where they are the same
    rows: MatrixRows | None = None

    @property
    def size(self) -> int:
        return math.prod(self.shape)


class _Open:
    """A program replayed in a new graph, so that more can be written behind it."""

    def __init__(self, program: Program, further: Sequence[Array] = ()) -> None:
        self.program, self.inputs = straight(program, still_regions(program)), (*program.inputs, *further)
        order = max(0, (program.order or 0) - 1)
        is_last = program.order is not None and order == 0
        self.graph = Graph(regions=bool(self.program.regions), order=order, is_last=is_last)
        self.graph.implicit = program.order is not None
        symbols, self.places = self.graph.symbols(self.inputs), places_by_name(self.inputs)
        self.symbols = {name: symbols[place] for name, place in self.places.items()}
        self.values = replay(self.program, symbols, self.program.regions)

    def seeds(self, tangent: Tangent) -> dict[int, Derivatives]:
        """Return the derivative of each entry of an input along each direction, by position in the flattened inputs."""
        start = self.places[tangent.name].start
        if tangent.rows is None:
            return {start + j: {j: 1.0} for j in range(tangent.size)}
        rows = tangent.rows(self.symbols[tangent.name])
        return {start + i: {j: e for j, e in enumerate(row) if not _is_zero(e)} for i, row in enumerate(rows)}

    def along(self, tangent: Tangent, direction: Sequence[Any]) -> dict[int, Derivatives]:
        """Return the rate of each entry of an input along one direction, as derivative number 0."""
        return {
            k: _combined([(direction[j], {0: e}) for j, e in row.items()]) for k, row in self.seeds(tangent).items()
        }

    def weights(self, along: Mapping[str, MatrixRows]) -> list[list[Derivatives]]:
        """Return, for each output, the rows of its derivative: weights by number of the instruction they weigh."""
        results, found = iter(self.program.results), []
        for output in self.program.outputs:
            own = list(islice(results, output.size))
            if output.name not in along:
                found.append([{r: 1.0} for r in own])
                continue
            matrix = along[output.name]([self.values[r] for r in own])
            found.append([_combined([(e, {r: 1.0}) for r, e in zip(own, row, strict=True)]) for row in matrix])
        return found

    def pulled(self, tangent: Tangent, found: list[Derivatives], rows: int) -> list[list[Any]]:
        """Return the derivatives of each result along each direction, from those by each instruction."""
        by_input = {int(i.value): found[k] for k, i in enumerate(self.program.instructions) if i.op is Op.INPUT}
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
    if mode not in MODES:
        raise ParameterError("mode", got=mode, expected=", ".join(map(repr, MODES)))
    tangents = [_tangent(program, w) for w in ([wrt] if isinstance(wrt, (str, Tangent)) else wrt)]
    opened = _Open(program)
    weights = opened.weights(along)
    parts = _swept(opened, tangents, [row for rows in weights for row in rows], mode)
    shapes = [(len(rows),) if y.name in along else y.shape for rows, y in zip(weights, program.outputs, strict=True)]
    named = [(t, y.name, shape) for t in tangents for y, shape in zip(program.outputs, shapes, strict=True)]
    outputs = [Array(f"d{name}_d{t.name}", (*shape, *t.shape)) for t, name, shape in named]
    name = "_".join((program.name, *(f"d{t.name}" for t in tangents)))
    return opened.program_of(name, outputs, [e for rows in parts for row in rows for e in row])


def _swept(
    opened: _Open, tangents: Sequence[Tangent], weights: Sequence[Derivatives], mode: Mode
) -> list[list[list[Any]]]:
    """Return the rows of derivatives for each tangent, with one sweep in each direction for all that take it."""
    ways = [mode if mode != "auto" else "forward" if t.size <= len(weights) else "reverse" for t in tangents]
    parts: dict[int, list[list[Any]]] = {}
    for way, sweep in (("forward", _forward), ("reverse", _reverse)):
        own = [k for k, chosen in enumerate(ways) if chosen == way]
        if own:
            parts |= zip(own, sweep(opened, [tangents[k] for k in own], weights), strict=True)
    return [parts[k] for k in range(len(tangents))]


def _forward(opened: _Open, tangents: Sequence[Tangent], weights: Sequence[Derivatives]) -> list[list[list[Any]]]:
    """Return, for each tangent, the rows of derivatives: weights of instructions times theirs by each direction."""
    seeds: dict[int, Derivatives] = {}
    starts = list(accumulate((t.size for t in tangents), initial=0))
    for start, tangent in zip(starts, tangents, strict=False):
        seeds |= {k: {start + j: e for j, e in row.items()} for k, row in opened.seeds(tangent).items()}
    found = pushforward(opened.program, opened.values, seeds)
    rows = [_combined([(weight, found[r]) for r, weight in row.items()]) for row in weights]
    return [
        [[row.get(start + j, 0.0) for j in range(t.size)] for row in rows]
        for start, t in zip(starts, tangents, strict=False)
    ]


def _reverse(opened: _Open, tangents: Sequence[Tangent], weights: Sequence[Derivatives]) -> list[list[list[Any]]]:
    """Return the same, from the weights backwards."""
    seeds: dict[int, Derivatives] = {}
    for i, row in enumerate(weights):
        for r, weight in row.items():
            seeds.setdefault(r, {})[i] = weight
    found = pullback(opened.program, opened.values, seeds)
    return [opened.pulled(t, found, len(weights)) for t in tangents]


def symmetric_jacobian(program: Program, wrt: Sequence[Tangent]) -> Program:
    """Return the program of the symmetric part of the Jacobian of several outputs by as many inputs: of gradients.

    For each two inputs x and y there is an output `dx_dy` of shape (*x, *y), that of y and x its mirror image. Only the
    blocks of one input itself need symmetry to be made: along its tangent, directions of two entries do not commute.
    """
    opened = _Open(program)
    parts = _forward(opened, wrt, [row for part in opened.weights({}) for row in part])
    starts = list(accumulate((t.size for t in wrt), initial=0))

    def entry(x: int, i: int, y: int, j: int) -> Any:
        if (y, j) < (x, i):
            return entry(y, j, x, i)
        value = parts[y][starts[x] + i][j]
        return 0.5 * (value + parts[x][starts[y] + j][i]) if x == y and i != j else value

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
    found = pushforward(opened.program, opened.values, seeds)
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
        _accumulate(seeds.setdefault(r, {}), {0: weight})
    found = pullback(opened.program, opened.values, seeds)
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
    if name not in shapes:
        raise UnknownNameError("input", name, shapes, where="derivative")
    return Tangent(name, shapes[name]) if isinstance(wrt, str) else wrt


def rate_along(function: Callable[[list[Any]], Sequence[Any]], x: Sequence[Any], x_dot: Sequence[Any]) -> list[Any]:
    """Return the time derivatives of what a function of scalars returns, while x moves at x_dot.

    Both may be numbers, or symbols of one trace; so may what the function holds.
    """
    graph = next((e.graph for e in (*x, *x_dot) if type(e) is Expr), None) or Graph()
    start, regions = len(graph.instructions), graph.regions
    places = [-1 - start - k for k in range(len(x))]  # of inputs that no other has, and no result will
    graph.regions, graph.order = None, graph.order + 1  # what is differentiated here is written out
    try:
        results = tuple(graph.result(e) for e in function([graph.input(place) for place in places]))
    finally:
        graph.regions, graph.order = regions, graph.order - 1
    tables = tuple(graph.tables)
    program = Program("rate", (), Instructions(graph.instructions), (), results, tables=tables)
    own, values = dict(zip(places, x, strict=True)), []
    for k, (op, args, number) in enumerate(program.instructions):
        if op is Op.CONST or op is Op.INPUT:
            values.append(number if op is Op.CONST else own.get(int(number), Expr(graph, k)))
        elif k < start:
            values.append((Expr if SPEC[op].result is ValueType.REAL else Condition)(graph, k))
        else:
            table = (tables[int(number)],) if op is Op.CELL else ()
            values.append(SPEC[op].evaluate(*table, *(values[a] for a in args)))
    found = pushforward(program, values, {place: {0: e} for place, e in zip(places, x_dot, strict=True)})
    return [found[r].get(0, 0.0) for r in results]
