"""Forward: the derivatives of values are pushed on as the values are computed.

    dz/dt_j = sum over operands a of  (dz/da) da/dt_j

A region that stays a loop carries the derivatives of what it carries. In which directions these move is found by
writing the loop again until no direction is new. Beside a column there is one for each direction, which is added to.

Source: Griewank and Walther, Evaluating Derivatives (2008), chapter 3.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from cardan._algebra import scalar
from cardan._compiler.program.expr import Condition, Expr
from cardan._compiler.program.ops import ENTRIES, SPEC, Op, ValueType
from cardan._compiler.program.partials import (
    HANGING,
    PARTIALS,
    UNBOUNDED,
    Choice,
    Derivatives,
    Guard,
    Guards,
    accumulate_in,
    choice_of,
    chosen,
    is_zero,
    moving,
    zero_stays,
)
from cardan._compiler.program.program import Program, Region
from cardan._compiler.program.replay import EVALUATE, Run, Walk


def pushforward(
    program: Program, values: Sequence[Any], seeds: Mapping[int, Derivatives], start: int = 0
) -> list[Derivatives]:
    """Return the derivatives of each instruction of a program without loops, from its values.

    `seeds` are those of the flattened inputs by position. Instructions before `start` have none.
    """
    run = ForwardRun(program, (), seeds)
    run.values = list(values)
    run.push(range(start, len(values)))
    return run.found


class ForwardRun(Run):
    """A run on symbols which finds derivatives beside the values: `found` has those of each instruction."""

    def __init__(
        self, program: Program, inputs: Sequence[Any], seeds: Mapping[int, Derivatives], loops: Container[Region] = ()
    ) -> None:
        super().__init__(Walk(program, EVALUATE), inputs, loops=loops)
        self.seeds, self.found = seeds, [Derivatives() for _ in self.walk.ops]
        self.guards: list[Guards] = [{} for _ in self.walk.ops]
        self.conditions: dict[int, Condition] = {}
        told = program.regions or program.instructions.count_of(Op.HELD)
        self.flags = moving(program) if told else bytearray(b"\1" * len(self.found))
        self.first: dict[Region, dict[int, dict[int, int]]] = {}  # what derivatives are as a loop begins
        self.beside: dict[int, dict[int, int]] = {}  # for a column, by direction the graph's columns of derivatives
        self.within_loops = 0

    def straight(self, part: range) -> None:
        super().straight(part)
        self.push(part)

    def push(self, part: range) -> None:
        found, values = self.found, self.values
        for k in part:
            op, args = self.walk.ops[k], self.walk.steps[k][1]
            own: Derivatives = {}
            hang: Guards = {}
            if k in self.given:  # what is carried has its own
                continue
            if op is Op.INPUT:
                own = dict(self.seeds.get(int(self.walk.values[k]), {}))
            elif not self.flags[k] or SPEC[op].result is ValueType.BOOL:
                pass
            elif op in ENTRIES:
                own = self.push_entry(k, op, args)
            elif not any(found[a] for a in args):
                pass
            elif choice := choice_of(op, args, values):
                own = chosen(choice.condition, found[choice.first], found[choice.second])
                hang = self.hanging(choice)
            else:
                slopes = PARTIALS[op](*(values[a] for a in args), values[k])
                terms = [(slope, a) for slope, a in zip(slopes, args, strict=True) if found[a] and not is_zero(slope)]
                hang = _in_common([(found[a], self.guards[a]) for _, a in terms])
                for slope, a in terms:
                    accumulate_in(own, self.times(slope, a, op))
            found[k] = own
            self.guards[k] = {j: guard for j, guard in hang.items() if j in own}

    def times(self, slope: Any, a: int, op: Op) -> Derivatives:
        outside = self.guards[a] if op in UNBOUNDED else {}
        more = {j: d * self.within(outside.get(j, ()), slope) for j, d in self.found[a].items()}
        return zero_stays(self.found[a], more) if self.within_loops and op in UNBOUNDED else more

    def within(self, guard: Guard, slope: Any) -> Any:
        """Return a slope where a guard holds, 0 elsewhere."""
        for index, side in guard:
            slope = scalar.where(self.conditions[index], *((slope, 0.0) if side else (0.0, slope)))
        return slope

    def hanging(self, choice: Choice) -> Guards:
        """Return what the derivatives of a choice hang on: the side they come from, unless they come from both."""
        found, guards = self.found, self.guards
        if not isinstance(choice.condition, Condition):
            return guards[choice.first if bool(choice.condition) else choice.second]
        index = choice.condition.index
        self.conditions[index] = choice.condition
        hang = _in_common([(found[k], guards[k]) for k in (choice.first, choice.second)])
        for side, operand, other in ((True, choice.first, choice.second), (False, choice.second, choice.first)):
            own = [j for j in found[operand] if j not in found[other]]
            hang |= {j: (*guards[operand].get(j, ())[1 - HANGING :], (index, side)) for j in own}
        return {j: guard for j, guard in hang.items() if guard}

    # --- columns and loops ---

    def push_entry(self, k: int, op: Op, args: tuple[int, ...]) -> Derivatives:
        """Return the derivatives of an entry that is read; add those of one that is written to the columns beside."""
        graph, number, row = self.graph, int(self.walk.values[k]), self.index(self.values[args[0]])
        beside = self.beside.setdefault(number, {})
        if op is Op.ENTRY:
            return {j: graph.entry(column, row) for j, column in beside.items()}
        for j, d in self.found[args[1]].items():
            if j not in beside:
                beside[j] = graph.new_column(self.walk.program.columns[number].rows)
            graph.add_to(beside[j], row, d)
        return {}

    def phase(self, within: Region | None) -> None:
        for number in self.walk.homes.get(within, ()):
            self.beside[number] = self.beside_inputs(number)
        super().phase(within)

    def beside_inputs(self, number: int) -> dict[int, int]:
        """Return the columns with the derivatives of a column of inputs; of other columns nothing yet."""
        column = self.walk.program.columns[number]
        if column.start is None:
            return {}
        rows = [self.seeds.get(column.start + column.stride * row, {}) for row in range(column.rows)]
        directions = sorted({j for row in rows for j in row})
        return {j: self.graph.column_of([row.get(j, 0.0) for row in rows]) for j in directions}

    def loop(self, region: Region) -> None:
        graph, steps, heads = self.graph, self.walk.steps, [pair for pair in region.carried if self.flags[pair[0]]]
        begin = [
            self.found[a[0]] if a else self.seeds.get(int(self.walk.values[k]), {})
            for k, _ in heads
            for a in [steps[k][1]]
        ]
        zero, first = graph.result(0.0), [{j: graph.result(d) for j, d in own.items()} for own in begin]
        outer, known = self.outer_columns(region), [set(own) for own in begin]
        while True:
            mark, before = graph.mark(), {c: len(self.beside[c]) for c in outer}
            pairs = zip(heads, first, known, strict=True)
            self.first[region] = {k: {j: own.get(j, zero) for j in sorted(js)} for (k, _), own, js in pairs}
            self.within_loops += 1
            super().loop(region)
            self.within_loops -= 1
            now = [js | self.found[after].keys() for (_, after), js in zip(heads, known, strict=True)]
            if now == known and before == {c: len(self.beside[c]) for c in outer}:
                return
            known = now
            graph.back_to(mark)

    def enter(self, region: Region, number: int) -> None:
        for k, first in self.first[region].items():
            self.found[k] = {j: Expr(self.graph, self.graph.head(a)) for j, a in first.items()}
            self.guards[k] = {}

    def leave(self, region: Region) -> list[tuple[int, int]]:
        pairs = [pair for pair in region.carried if pair[0] in self.first[region]]
        return [
            (d.index, self.graph.result(self.found[after].get(j, 0.0)))
            for k, after in pairs
            for j, d in self.found[k].items()
        ]


def _in_common(terms: Sequence[tuple[Derivatives, Guards]]) -> Guards:
    """Return what all terms hang on that a derivative is the sum of."""
    hang: Guards = {}
    for derivatives, guards in terms:
        for j in derivatives:
            own = guards.get(j, ())
            hang[j] = tuple([part for part in hang[j] if part in own]) if j in hang else own
    return {j: guard for j, guard in hang.items() if guard}
