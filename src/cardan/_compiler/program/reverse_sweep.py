"""Reverse: the derivatives of results by values are pulled back, from the last instruction to the first.

    dy_i/da += (dy_i/dz) (dz/da)  for each operation z on a

The reverse of a loop is a loop. While passes go on, what each of them is given is put in columns; backwards, a pass is
computed again from that, and then pulled through. Passes hand back derivatives by what was carried. For each value from
outside they carry a sum. To a column belong columns of derivatives: what is read there adds, what is written there
reads. So nothing grows with the number of passes but rows.

Source: Griewank and Walther, Evaluating Derivatives (2008), chapters 3 and 12.
Cost: a loop takes its passes once more, and up to three times their operations for each result; a row a pass for each
value it carries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from itertools import count
from typing import Any

from cardan._compiler.program.expr import Condition, Expr
from cardan._compiler.program.ops import WRITES, Op
from cardan._compiler.program.partials import (
    KEPT_APART,
    PARTIALS,
    UNBOUNDED,
    Choice,
    Derivatives,
    Guard,
    Guarded,
    accumulate_in,
    choice_of,
    chosen,
    is_zero,
    moving,
    zero_stays,
)
from cardan._compiler.program.program import Program, Region
from cardan._compiler.program.replay import EVALUATE, RowOf, Run, Walk

Found = defaultdict[int, Guarded]  # by instruction


class ReverseRun(Run):
    """A run on symbols, which keeps what it is pulled back by."""

    def __init__(self, program: Program, inputs: Sequence[Any], loops: Container[Region]) -> None:
        super().__init__(Walk(program, EVALUATE), inputs, loops=loops)
        self.active = moving(program)
        self.kept: dict[Region, dict[int, int]] = {}  # the columns of what the passes of loops are given
        self.beside: dict[int, dict[int, int]] = {}  # for a column, by result the graph's columns of derivatives
        self.unwritten: Container[int] = ()  # columns that are there already where a pass is computed again
        self.conditions: dict[int, Condition] = {}
        self.within_loops = 0
        self.calls: dict[tuple[Any, tuple[int, ...]], list[int]] = {}  # by call and arguments, its results
        for k in program.instructions.places(Op.CALLED):
            self.calls.setdefault(self.call_of(k), []).append(k)

    def is_active(self, region: Region) -> bool:
        """Return whether derivatives go through a region."""
        return any(self.active[k] and self.is_within(k, region) for k in region.instructions)

    def is_within(self, k: int, region: Region) -> bool:
        """Return whether a value is a region's own: that of an input is not, unless the region carries on to it."""
        is_input = self.walk.ops[k] is Op.INPUT and all(k != head for head, _ in region.carried)
        return k in region.instructions and not is_input

    def enter(self, region: Region, number: int) -> None:
        heads = [k for k, _ in region.carried] if self.is_active(region) else []
        self.kept[region] = {k: self.graph.new_column(region.passes) for k in heads}
        for k, column in self.kept[region].items():
            self.graph.put_in(column, number, self.given[k])

    def again(self, region: Region, number: int) -> None:
        """Compute a pass again, but for what it writes in rows that outlive it."""
        before, self.unwritten = self.unwritten, self.outer_columns(region)
        heads = {k: self.graph.entry(column, number) for k, column in self.kept[region].items()}
        self.given |= heads | dict.fromkeys(self.walk.passes[region], RowOf(number))
        self.phase(region)
        self.unwritten = before
        for k in heads:
            del self.given[k]

    def leaf(self, k: int, args: tuple[int, ...]) -> Any:
        is_there = self.walk.ops[k] in WRITES and int(self.walk.values[k]) in self.unwritten
        return None if is_there else super().leaf(k, args)

    def phase(self, within: Region | None) -> None:
        self.beside |= {number: {} for number in self.walk.homes.get(within, ())}
        super().phase(within)

    # --- backwards ---

    def pulled(self, seeds: Mapping[int, Derivatives]) -> dict[int, Derivatives]:
        """Return the derivatives of the results by each flattened input, by its position.

        By number of an instruction, `seeds` holds the derivatives by it that are there to begin with: 1 for a result.
        """
        found = Found(dict, {k: {(): dict(own)} for k, own in seeds.items() if own})
        self.pull(None, found)
        inputs = [k for k in self.walk.program.instructions.places(Op.INPUT) if k in found]
        by_input = {int(self.walk.values[k]): self.resolved(found[k]) for k in inputs}
        for c, column in enumerate(self.walk.program.columns):
            for i, beside in self.beside[c].items() if column.start is not None else ():
                for position, entry in zip(
                    count(column.start or 0, column.stride), self.graph.entries(beside), strict=False
                ):
                    accumulate_in(by_input.setdefault(position, {}), {i: entry})
        return by_input

    def pull(self, within: Region | None, found: Found) -> None:
        for part in reversed(self.walk.parts[within]):
            if isinstance(part, Region):
                self.pull_loop(part, found)
            else:
                self.pull_straight(part, found)

    def pull_straight(self, part: range, found: Found) -> None:
        ops, steps, active, values = self.walk.ops, self.walk.steps, self.active, self.values
        for k in reversed(part):
            op, args = ops[k], steps[k][1]
            if op in WRITES and active[args[1]]:
                self.give(found, args[1], self.read_beside(k))
            if op is Op.CALLED:
                self.pull_call(k, found)
                continue
            if not active[k] or not found.get(k) or op is Op.CARRIED or op is Op.INPUT:
                continue
            if op is Op.ENTRY:
                self.add_beside(k, self.resolved(found[k]))
                continue
            apart = len(found[k]) <= KEPT_APART
            own = found[k] = _merged(found[k], self.conditions) if apart else {(): self.resolved(found[k])}
            if choice := choice_of(op, args, values):
                self.split(choice, found, k)
                continue
            slopes = PARTIALS[op](*(values[a] for a in args), values[k])
            for slope, a in zip(slopes, args, strict=True):
                if active[a] and not is_zero(slope):
                    for guard, derivatives in own.items():
                        accumulate_in(found[a].setdefault(guard, {}), self.times(slope, derivatives, op))

    def times(self, slope: Any, derivatives: Derivatives, op: Op) -> Derivatives:
        more = {i: d * slope for i, d in derivatives.items()}
        return zero_stays(derivatives, more) if self.within_loops and op in UNBOUNDED else more

    def give(self, found: Found, a: int, derivatives: Derivatives) -> None:
        if derivatives and self.active[a]:
            accumulate_in(found[a].setdefault((), {}), derivatives)

    def call_of(self, k: int) -> tuple[Any, tuple[int, ...]]:
        """Return the call that a result is of, and its arguments."""
        return self.walk.program.calls[int(self.walk.values[k])][0], self.walk.steps[k][1][1:]

    def pull_call(self, k: int, found: Found) -> None:
        """Pull all results of a call back at once: at the first of them, which comes last."""
        call, args = self.call_of(k)
        results = {m: self.walk.program.calls[int(self.walk.values[m])][1] for m in self.calls[call, args]}
        if k != min(results):
            return
        x = [self.values[a] for a in args]
        for guard in dict.fromkeys(guard for m in results for guard in found[m]):
            by_result: dict[int, dict[int, Any]] = {}
            for m, number in results.items():
                for i, weight in found[m].get(guard, {}).items():
                    by_result.setdefault(i, {})[number] = weight
            for i, weights in by_result.items():
                for a, d in zip(args, call.pulled(x, weights), strict=True):
                    if self.active[a] and not is_zero(d):
                        accumulate_in(found[a].setdefault(guard, {}), {i: d})

    def split(self, choice: Choice, found: Found, k: int) -> None:
        """Pass what is found for a choice on to its operands, each under its side of the condition."""
        if isinstance(choice.condition, Condition):
            self.conditions[choice.condition.index] = choice.condition
        for side, operand in ((True, choice.first), (False, choice.second)):
            for guard, derivatives in found[k].items():
                inner = _narrowed(guard, choice.condition, side)
                if inner is not None:
                    accumulate_in(found[operand].setdefault(inner, {}), derivatives)

    def resolved(self, found: Guarded) -> Derivatives:
        return _resolved(found, self.conditions)

    # --- columns and loops ---

    def add_beside(self, k: int, derivatives: Derivatives) -> None:
        """Add the derivatives by an entry that is read to the columns beside."""
        number, row = int(self.walk.values[k]), self.index(self.values[self.walk.steps[k][1][0]])
        beside = self.beside[number]
        for i, d in derivatives.items():
            if i not in beside:
                beside[i] = self.graph.new_column(self.walk.program.columns[number].rows)
            self.graph.add_to(beside[i], row, d)

    def read_beside(self, k: int) -> Derivatives:
        """Return the derivatives by what is written in an entry."""
        number, row = int(self.walk.values[k]), self.index(self.values[self.walk.steps[k][1][0]])
        return {i: self.graph.entry(column, row) for i, column in self.beside[number].items()}

    def pull_loop(self, region: Region, found: Found) -> None:
        if not self.is_active(region):
            return
        values, back = self.values[region.start : region.stop], _LoopBack(self, region, found)
        self.within_loops += 1
        back.write()
        self.within_loops -= 1
        self.values[region.start : region.stop] = values
        for a, derivatives in back.found:
            self.give(found, a, derivatives)


class _LoopBack:
    """The reverse of a loop. The pass that was last comes first, with the derivatives by what is read behind it."""

    def __init__(self, run: ReverseRun, region: Region, found: Found) -> None:
        self.run, self.region, self.graph = run, region, run.graph
        self.heads = [(k, after) for k, after in region.carried if run.active[k]]
        own = [k for k in region.instructions if k in found and run.is_within(k, region)]
        behind = {k: self.numbered(run.resolved(found.pop(k))) for k in own}
        self.first = [behind.pop(after, {}) for _, after in self.heads]
        self.behind, self.zero = behind, self.graph.result(0.0)
        self.carried: list[tuple[int, int]] = []
        self.found: list[tuple[int, Derivatives]] = []  # what goes on to instructions from before the loop

    def numbered(self, derivatives: Derivatives) -> dict[int, int]:
        return {i: self.graph.result(d) for i, d in derivatives.items()}

    def head(self, first: int) -> Expr:
        return Expr(self.graph, self.graph.head(first))

    def write(self) -> None:
        """Write the loop, again until no derivative by a further result comes in."""
        graph, run, beside = self.graph, self.run, self.run.beside
        outer, known = run.outer_columns(self.region), [set(own) for own in self.first]
        while True:
            mark, before = graph.mark(), [len(beside[c]) for c in outer]
            start, number = graph.opened()
            pairs = zip(self.first, known, strict=True)
            given = [{i: self.head(own.get(i, self.zero)) for i in sorted(rows)} for own, rows in pairs]
            once = {k: {i: self.head(d) for i, d in own.items()} for k, own in self.behind.items()}
            found = Found(dict)
            for k, derivatives in (*zip((after for _, after in self.heads), given, strict=True), *once.items()):
                run.give(found, k, derivatives)
            run.again(self.region, number)
            run.pull(self.region, found)
            back = [self.numbered(run.resolved(found.pop(k, {}))) for k, _ in self.heads]
            now = [rows | own.keys() for rows, own in zip(known, back, strict=True)]
            if now == known and before == [len(beside[c]) for c in outer]:
                break
            known = now
            graph.back_to(mark)
        for (k, _), hs, own in zip(self.heads, given, back, strict=True):
            self.hand_back(hs, own, next(iter(run.walk.steps[k][1]), k))
        self.carried += [(h.index, self.zero) for hs in once.values() for h in hs.values()]  # of the last pass alone
        for a in sorted(a for a in found if not run.is_within(a, self.region)):
            sums = {i: (self.head(self.zero), d) for i, d in run.resolved(found[a]).items()}
            self.hand_back(
                {i: h for i, (h, _) in sums.items()}, {i: graph.result(h + d) for i, (h, d) in sums.items()}, a
            )
        backwards = None if self.region.backwards else True
        graph.close(
            Region(start, len(graph.instructions), self.region.passes, tuple(self.carried), backwards=backwards)
        )

    def hand_back(self, heads: Mapping[int, Expr], after: Mapping[int, int], a: int) -> None:
        """Carry derivatives to the next pass; those of the last one go on to an instruction from before the loop."""
        self.carried += [(h.index, after.get(i, self.zero)) for i, h in heads.items()]
        self.found.append((a, {i: Expr(self.graph, k) for i, k in after.items()}))


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
            derivatives = chosen(conditions[index], *((derivatives, {}) if side else ({}, derivatives)))
        accumulate_in(total, derivatives)
    return total
