"""A program run again: on scalars of any type (numbers, batches, symbols of any library), or on its own results."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._compiler.program.expr import Condition, Expr, Graph
from cardan._compiler.program.ops import LEAVES, SPEC, Op
from cardan._compiler.program.program import Program, Region, TableRows, phases, places_by_name, rows_of
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
        self.tables = dict(zip(program.regions, rows_of(program), strict=True))
        self.parts = phases(program)

    def run(
        self,
        inputs: Sequence[Any],
        number: Callable[[float], Any] = float,
        carried: Callable[[Any], Any] = lambda x: x,
        loops: Container[Region] = (),
    ) -> list[Any]:
        """Return the value of each instruction, in regions that of the last pass; None for what was freed.

        `number` makes scalars of numbers, and `carried` of a value what the next pass is given. Of symbols of a graph,
        `loops` are regions of it again, and are not written out.
        """
        steps = self.steps
        values: list[Any] = [None] * len(steps)
        given: dict[int, Any] = {}
        kept: dict[tuple[int, float], Any] = {}

        def leaf(k: int, args: tuple[int, ...]) -> Any:
            op, value = self.ops[k], self.values[k]
            if op is Op.CONST:
                return number(value)
            if k in given:
                return given[k]
            if op is Op.CARRIED:
                return values[args[0]]
            return kept[args[0], value] if op is Op.KEPT else inputs[int(value)]

        def straight(part: range) -> None:
            for k, (function, args, freed) in zip(part, steps[part.start : part.stop], strict=True):
                if function is None:
                    values[k] = leaf(k, args)
                    continue
                if len(args) == 2:  # most; without a list of them it takes three quarters of the time
                    a, b = args
                    values[k] = function(values[a], values[b])
                else:
                    values[k] = function(*[values[a] for a in args])
                for a in freed:
                    values[a] = None  # frees its memory

        def holds_nowhere(going: int | None) -> bool:
            """Return whether a condition of numbers holds for no state; of symbols nobody knows."""
            condition = None if going is None else values[going]
            return isinstance(condition, (bool, np.bool_, np.ndarray)) and not np.any(condition)

        def skip(part: Region) -> None:
            """Leave numbers that nobody chooses, but what goes by no number is there."""
            for k in part.instructions:
                is_leaf = self.ops[k] in (Op.CONST, Op.INPUT)
                values[k] = leaf(k, steps[k][1]) if is_leaf else 0.0

        def phase(within: Region | None) -> None:
            for part in self.parts[within]:
                if isinstance(part, range):
                    straight(part)
                    continue
                rows = self.tables[part]
                if part in loops:
                    loop(part, rows)
                    continue
                if part.may_be_skipped and holds_nowhere(part.going):
                    skip(part)
                    continue
                for n in range(part.passes):
                    given.update({k: values[steps[k][1][n]] for k in rows.picked})
                    phase(part)
                    kept.update({(k, n): values[k] for k in rows.kept})
                    given.update({k: carried(values[after]) for k, after in part.carried})
                    if part.may_end_early and not rows.kept and holds_nowhere(part.going):
                        break
                for k, _ in part.carried:
                    del given[k]

        def loop(region: Region, rows: TableRows) -> None:
            graph = next(e.graph for e in inputs if type(e) is Expr)
            begin = [values[steps[k][1][0]] if steps[k][1] else inputs[int(self.values[k])] for k, _ in region.carried]
            first = list(map(graph.result, begin))  # of what is carried to an input, that
            choices = [tuple([graph.result(values[a]) for a in steps[k][1]]) for k in rows.picked]
            start = len(graph.instructions)
            heads = [graph.add(Op.CARRIED, (a,), float(start + n)) for n, a in enumerate(first)]
            given.update({k: Expr(graph, head) for (k, _), head in zip(region.carried, heads, strict=True)})
            picked = [Expr(graph, graph.add(Op.PICKED, own, float(start))) for own in choices]
            given.update(zip(rows.picked, picked, strict=True))
            phase(region)
            for k in region.instructions:
                if type(values[k]) is Expr:
                    values[k] = Expr(graph, graph.result(values[k]))  # signs are within, too
            after = [graph.result(values[a]) for _, a in region.carried]
            condition = None if region.going is None else values[region.going]
            going = condition.index if type(condition) is Condition else None
            if going is not None and going < start and region.may_end_early:
                going = None  # it is the same in all passes
            carried_on = tuple(zip(heads, after, strict=True))
            graph.close(Region(start, len(graph.instructions), region.passes, carried_on, going, region.derived))
            for k in rows.kept:
                e = values[k]
                varies = type(e) is Expr and e.index >= start
                own = [
                    Expr(graph, graph.add(Op.KEPT, (e.index,), float(n))) if varies else e for n in range(region.passes)
                ]
                kept.update({(k, n): x for n, x in enumerate(own)})
            for k, _ in region.carried:
                del given[k]

        phase(None)
        return values


_EVALUATE: Functions = {op: None if op in LEAVES else spec.evaluate for op, spec in SPEC.items()}


def replay(program: Program, inputs: Sequence[Any], loops: Container[Region] = ()) -> list[Any]:
    """Return the value of each instruction, in regions that of the last pass, from a scalar for each input's entry.

    If the scalars are symbols of a graph, `loops` become regions of it; the others are written out.
    """
    return Walk(program, _EVALUATE).run(inputs, loops=loops)


def straight(program: Program, loops: Sequence[Region] = ()) -> Program:
    """Return the program with every pass of its regions written out, but for those of some that stay as `loops`.

    ParameterError beyond `LONGEST` operations.
    """
    if len(loops) == len(program.regions):
        return program
    once = tuple([r._replace(passes=1) if r in loops else r for r in program.regions])
    if replace(program, regions=once).work > LONGEST:
        raise ParameterError(
            f"passes of {program.name} written out, to differentiate it or within another function",
            got=f"{program.work} operations",
            expected=f"at most {LONGEST}",
            hint="Differentiate one pass, and chain the derivatives from pass to pass: forward, dx <- (dy/dx) dx; in "
            "reverse, from the last to the first, with the states in between kept. Or repeat it less often.",
        )
    graph = Graph(regions=bool(loops), order=program.order or 0)
    graph.implicit = program.order is not None
    values = replay(program, graph.symbols(program.inputs), loops)
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
