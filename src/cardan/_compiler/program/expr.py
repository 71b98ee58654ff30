"""The traced scalar: arithmetic on it writes a program instead of computing a number.

Every expression lives in a `Graph`, which holds each operation once (hash-consing). Numbers known while tracing stay
Python floats and fold away: a structural zero or one of a robot never reaches the program. A sign is carried beside
the value, so that a negation costs nothing until it must be stored: x - y and y - x are one operation.

Folding treats known zeros as structural, 0 x = 0 even where x may be NaN; a NaN in an input still reaches every result
that depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from cardan._algebra import scalar
from cardan._algebra.arrays.cell import Table
from cardan._algebra.arrays.symbolic import BINARY, UNARY, apply_function, by_numpy, symbolic
from cardan._algebra.errors import ProgramError, TraceError, users_line
from cardan._compiler.program.careful import floor_divide, hypot, remainder
from cardan._compiler.program.no_number import no_branch, no_number
from cardan._compiler.program.ops import ALWAYS_THERE, COMMUTATIVE, FREE, LEAVES, SPEC, WRITES, Op, ValueType
from cardan._compiler.program.program import Array, Column, Region

Number = (float, int, np.floating, np.integer)
ADD, SUB, MUL = Op.ADD, Op.SUB, Op.MUL  # an attribute of an Enum is looked up slowly, and these are for each operation

WORTH = 8
"""Operations for each value that goes in or comes out, from which on a block is run several times, not written out: a
value is put in a table, taken from there, and read; with less to do in between, code and time would only grow."""

WORTH_SKIPPING = 40
"""Operations from which on it is worth to ask whether a body may be skipped; each value it gives takes one more."""

_MANY: ContextVar[bool] = ContextVar("cardan_many", default=False)


def many_follow() -> bool:
    """Return whether many directions will be pushed forward through what is traced here, by its last derivative."""
    return _MANY.get()


@contextmanager
def pushing(many: bool) -> Iterator[None]:
    """Say whether that is so of what is traced inside."""
    token = _MANY.set(many)
    try:
        yield
    finally:
        _MANY.reset(token)


Pass = Callable[[list[Any]], tuple[Any, list[Any]]]
"""What a pass makes of entries: whether another may change them, and what they are then."""

RowPass = Callable[[list[Any], Sequence[Any]], tuple[list[Any], list[Any]]]
"""What a pass makes of entries and of a row: what the entries are then, and what it keeps."""


class Graph:
    """The operations traced so far, each once.

    `folded`, `signs` and `shared` count the operations that were written but need not be done: with a known 0 or 1, a
    change of sign, or done before.
    """

    __slots__ = (
        "calls",
        "columns",
        "folded",
        "implicit",
        "instructions",
        "is_last",
        "made",
        "many",
        "order",
        "pushed",
        "put",
        "regions",
        "shared",
        "signs",
        "table",
        "tables",
    )

    def __init__(self, *, regions: bool = False, order: int = 0, is_last: bool = False) -> None:
        self.order = order  # how often what is traced will be differentiated
        self.many = many_follow()  # whether many directions will be pushed forward through it in the end
        self.implicit = False  # whether it is another one where derivatives follow (`arrays/implicit_function`, loops)
        self.is_last = is_last  # whether no derivative is taken any more: then what is held is what it is
        self.instructions: list[tuple[Op, tuple[int, ...], float]] = []
        self.regions: list[Region] | None = [] if regions else None  # None: passes are written out
        self.table: dict[Any, int] = {}
        self.tables: dict[Table, int] = {}  # those that are read, and their numbers
        self.calls: dict[tuple[Any, int], int] = {}  # those that are differentiated twice, and their numbers
        self.pushed: dict[Any, list[Any]] = {}  # by call and arguments, its results with their derivatives
        self.made: dict[Any, Any] = {}  # what is made of values once (`arrays/made_once`)
        self.columns: list[Column] = []
        self.put: dict[tuple[int, int], tuple[int, int]] = {}  # what was put in a column at a row, and by which PUT
        self.folded = self.signs = self.shared = 0

    def add(self, op: Op, args: tuple[int, ...], value: float = 0.0) -> int:
        if op in COMMUTATIVE and args[0] > args[1]:
            args = (args[1], args[0])
        key, count = (op, args, value), len(self.instructions)
        index = self.table.setdefault(key, count)
        if index == count:
            self.instructions.append(key)
        elif args:
            self.shared += 1
        return index

    def input(self, position: int) -> Expr:
        return Expr(self, self.add(Op.INPUT, (), float(position)))

    def symbols(self, arrays: Sequence[Array]) -> list[Expr]:
        return [self.input(k) for k in range(sum(array.size for array in arrays))]

    def constant(self, value: float) -> Expr:
        """Return a number as an expression; its sign is carried beside it."""
        size = math.nan if math.isnan(value) else abs(value)  # one object: others are no key for it
        return Expr(self, self.add(Op.CONST, (), size), value < 0.0)

    def lift(self, value: Any) -> Expr:
        """Return a number or an expression of this graph as an expression; TraceError for anything else."""
        if type(value) is Expr:
            if value.graph is not self:
                raise TraceError("a traced value was kept from one function call and used in another; pass it in.")
            return value
        if isinstance(value, Number):
            return self.constant(float(value))
        if type(value) is Condition:
            place = users_line()
            raise TraceError(f"a condition is not a real value{place}; choose with cardan.where(condition, a, b).")
        if isinstance(value, np.ndarray):
            what = f"an array of shape {value.shape} stands where one number is needed"
            raise TraceError(f"{what}{users_line()}; take its entries: np.cos(q[0]) instead of np.cos(q).")
        raise TraceError(f"{type(value).__name__} cannot be part of a traced function; use numbers and arguments.")

    def result(self, value: Any) -> int:
        """Return the number of the instruction that holds a value, with its sign."""
        e = self.lift(value)
        if not e.negative:
            return e.index
        op, _, number = self.instructions[e.index]
        return self.add(Op.CONST, (), -number) if op is Op.CONST else self.add(Op.NEG, (e.index,))

    # --- rows ---

    def table_number(self, table: Table) -> int:
        return self.tables.setdefault(table, len(self.tables))

    def at(self, row: int) -> int:
        return self.add(Op.AT, (), float(row))

    def link(self, table: Table, row: int) -> int:
        """Return the row that a table names at a row; both, and what is returned, are numbers of instructions."""
        return self.add(Op.LINK, (row,), float(self.table_number(table)))

    def behind(self, row: int, rows: int) -> int:
        """Return the row that is so many rows behind another, as `link` does: of a matrix in a column, say."""
        return self.add(Op.BEHIND, (row, rows))

    def new_column(self, rows: int, table: Table | None = None, start: int | None = None, stride: int = 1) -> int:
        """Return the number of a new column: of known numbers, of inputs from a position on, or of the program's."""
        self.columns.append(Column(rows, None if table is None else self.table_number(table), start, stride))
        return len(self.columns) - 1

    def column_of(self, values: Sequence[Any], in_place: bool = False) -> int:
        """Return a column of several values: of numbers, if all are known; otherwise they are put in it here.

        If they are inputs, they may be read where they are.
        """
        found = self.column_in_place(values) if in_place else None
        if found is not None:
            return found
        own = [self.result(e) for e in values]
        written = [self.instructions[k] for k in own]
        if all(op is Op.CONST for op, _, _ in written):
            return self.new_column(len(own), Table([number for _, _, number in written]))
        column = self.new_column(len(own))
        for row, k in enumerate(own):
            self.put_in(column, self.at(row), Expr(self, k))
        return column

    def column_in_place(self, values: Sequence[Any]) -> int | None:
        """Return a column of several values where they are, if these are inputs at equal distances; else None."""
        found = [self.instructions[e.index] for e in values if type(e) is Expr and not e.negative]
        start, second = (int(found[k][2]) if len(found) > k else k for k in (0, 1))
        stride = second - start if len(found) > 1 else 1
        in_order = [(Op.INPUT, (), float(start + n * stride)) for n in range(len(values))]
        return self.new_column(len(values), start=start, stride=stride) if stride > 0 and found == in_order else None

    def entry(self, column: int, row: int) -> Expr:
        """Return what is in a column at a row: what was put there, if that is known here."""
        known = self.put.get((column, row))
        return Expr(self, self.add(Op.ENTRY, (row,), float(column)) if known is None else known[0])

    def entries(self, column: int) -> list[Expr]:
        """Return what is in the rows of a column, from the first to the last."""
        add, at, put = self.add, float(column), self.put
        found = []
        for row in range(self.columns[column].rows):
            place = add(Op.AT, (), float(row))
            known = put.get((column, place))
            found.append(Expr(self, add(Op.ENTRY, (place,), at) if known is None else known[0]))
        return found

    def array(self, columns: Sequence[int], shape: tuple[int, ...], written: np.ndarray | None = None) -> ColumnArray:
        return ColumnArray(self, columns, shape, written)

    def put_in(self, column: int, row: int, value: Any) -> None:
        own = self.result(value)
        self.put[column, row] = own, self.add(Op.PUT, (row, own), float(column))

    def add_to(self, column: int, row: int, value: Any) -> None:
        """Add a value to what is in a column at a row; each time anew, so it is never shared."""
        self.put.pop((column, row), None)
        key = Op.ADDED, (row, self.result(value)), float(column)
        self.table.pop(key, None)
        self.add(*key)

    def mark(self) -> tuple[int, int]:
        """Return what there is now, for `back_to`."""
        return len(self.instructions), len(self.regions or ())

    def back_to(self, mark: tuple[int, int]) -> None:
        """Forget what was traced since a mark."""
        start, regions = mark
        self._forget(start, ())
        del self.instructions[start:], (self.regions or [])[regions:]

    def opened(self) -> tuple[int, int]:
        """Return where a region begins, and the number of the pass that runs of it."""
        start = len(self.instructions)
        return start, self.add(Op.PASS, (), float(start))

    def head(self, first: int) -> int:
        """Return what is carried, another one each time; a first pass begins with an instruction from outside."""
        return self.add(Op.CARRIED, (first,), float(len(self.instructions)))

    def closed(self, start: int, passes: int, **more: Any) -> None:
        """Close the region that begins there; `more` are further fields of it."""
        self.close(Region(start, len(self.instructions), passes, (), **more))

    def repeated(self, count: int, body: Pass, entries: list[Any], derived: int | None) -> list[Any]:
        if self.regions is None:
            for _ in range(derived or count):
                _, entries = body(entries)
            return entries
        # What is 0 before and after is no number to carry: bodies fold it, as where passes are written out.
        zeros = {n for n, e in enumerate(entries) if isinstance(e, Number) and e == 0.0}
        first = [self.result(e) for e in entries]
        while True:
            start = len(self.instructions)
            heads = {n: self.head(k) for n, k in enumerate(first) if n not in zeros}
            condition, found = body([Expr(self, heads[n]) if n in heads else 0.0 for n in range(len(first))])
            if all(isinstance(found[n], Number) and found[n] == 0.0 for n in zeros):
                break
            zeros = set()  # one does not stay, so carry all; the pass that was traced is dead
        after = {n: self.result(found[n]) for n in heads}
        # A condition from outside is the same in all passes: then none is the last.
        going = condition.index if type(condition) is Condition and condition.index >= start else None
        carried = tuple([(heads[n], after[n]) for n in heads])
        self.close(Region(start, len(self.instructions), count, carried, going, derived))
        return [Expr(self, after[n]) if n in after else 0.0 for n in range(len(first))]

    def scanned(
        self, body: RowPass, entries: list[Any], columns: Sequence[Sequence[Any]]
    ) -> tuple[list[Any], list[list[Any]]]:
        """Return what the last pass carries on, and what each keeps of its row of the columns."""
        if self.regions is None:
            rows: list[list[Any]] = []
            for row in zip(*columns, strict=True):
                entries, own = body(entries, row)
                rows.append(own)
            return entries, rows
        count, first = len(columns[0]), [self.result(e) for e in entries]
        places = [self.column_of(values, in_place=True) for values in columns]
        start, number = self.opened()
        heads = list(map(self.head, first))
        found, own = body([Expr(self, k) for k in heads], [self.entry(column, number) for column in places])
        after, kept = [self.result(e) for e in found], [self.new_column(count) for _ in own]
        for column, e in zip(kept, own, strict=True):
            self.put_in(column, number, e)
        self.close(Region(start, len(self.instructions), count, tuple(zip(heads, after, strict=True))))
        rows = [[self.entry(column, self.at(row)) for column in kept] for row in range(count)]
        return [Expr(self, k) for k in after], rows

    def skipped(self, condition: Condition, body: Callable[[], list[Any]], otherwise: list[Any] | None) -> list[Any]:
        """Return entries of a body where a condition holds, and others elsewhere, by a region if that is worth it.

        Without others, what is returned is undefined elsewhere, and it is a region if anything is computed in it.
        """
        start = len(self.instructions)
        found = body()
        worth = start < len(self.instructions)
        if otherwise is not None:
            worth = self._work(range(start, len(self.instructions)), start) >= WORTH_SKIPPING + len(found)
        if self.regions is not None and worth:
            # signs are within, too
            found = [e if e is None or isinstance(e, Number) else Expr(self, self.result(e)) for e in found]
            self.close(Region(start, len(self.instructions), 1, (), condition.index))
        if otherwise is None:
            return found
        return [_select(condition, a, b) for a, b in zip(found, otherwise, strict=True)]

    def _work(self, written: Iterable[int], start: int) -> int:
        """Return how many operations some of what was traced since a start is: of regions those of all passes."""
        times = {k: 1 for k in written if self.instructions[k][0] not in FREE}
        for region in self.regions or ():
            for k in region.instructions if region.start >= start else ():
                if k in times:
                    times[k] *= region.passes
        return sum(times.values())

    def close(self, region: Region) -> None:
        """Note a region, the last instructions of which were just written.

        Operations of one that may be left out are forgotten: who asks for one again cannot have it from there. So are
        all where derivatives follow: a loop that has none must not get one by what is shared with it.
        """
        if self.regions is None:
            raise ProgramError("a graph without regions cannot have one")
        self.regions.append(region)
        if region.may_be_left_out or self.order:
            self._forget(region.start, ALWAYS_THERE if region.flag is None else ())

    def _forget(self, start: int, stays: Container[Op]) -> None:
        for k, instruction in enumerate(self.instructions[start:], start):
            if instruction[0] not in stays and self.table.get(instruction) == k:
                del self.table[instruction]
        self.put = {cell: put for cell, put in self.put.items() if put[1] < start}
        self.pushed.clear()
        self.made.clear()

    def made_once(self, key: Any, values: Sequence[Any], make: Callable[[], Any]) -> Any:
        own = key, self.order, tuple((e.index, e.negative) if type(e) is Expr else e for e in values)
        if own not in self.made:
            self.made[own] = make()
        return self.made[own]

    def mapped(
        self, body: Callable[[list[Any]], list[Any]], rows: Sequence[list[Any]], always: bool = False
    ) -> list[list[Any]]:
        """Return what a body makes of each of several rows of entries, by a region if that is worth it, or always."""
        if self.regions is None or len(rows) == 1:
            return [body(row) for row in rows]
        columns = list(zip(*rows, strict=True))
        choices = [self._choices(column) for column in columns]
        places = [None if own is None else self.column_of([Expr(self, e.index) for e in own]) for own in choices]
        start, number = self.opened()
        given = zip(columns, choices, places, strict=True)
        found = body([c[0] if own is None else self._picked(own, place, number) for c, own, place in given])
        changing = self._changing(start)
        results = {self.lift(e).index for e in found if type(e) in (Expr, Condition)} & changing
        if not (always or self._is_worth_it(start, number, changing, results)):  # what was traced is dead then
            return [body(row) for row in rows]
        kept = {k: self.new_column(len(rows)) for k in sorted(results)}
        for k, column in kept.items():
            self.put_in(column, number, Expr(self, k))
        self.closed(start, len(rows))
        return [
            [self._kept(e, kept[e.index], n) if type(e) is Expr and e.index in kept else e for e in found]
            for n in range(len(rows))
        ]

    def _choices(self, column: Sequence[Any]) -> tuple[Expr, ...] | None:
        """Return the values of one entry in all rows, all negated or none; None if they are the same."""
        if all(e is column[0] for e in column):
            return None
        first, *others = lifted = [self.lift(e) for e in column]
        if all(e.index == first.index and e.negative == first.negative for e in others):
            return None
        if all(e.negative for e in lifted):
            return tuple(lifted)
        return tuple(Expr(self, self.result(e)) for e in lifted)

    def _picked(self, choices: tuple[Expr, ...], column: Any, number: int) -> Expr:
        """Return what is another of several values, which are in a column, in each pass of a region."""
        return Expr(self, self.entry(column, number).index, choices[0].negative)

    def _kept(self, value: Expr, column: int, row: int) -> Expr:
        return Expr(self, self.entry(column, self.at(row)).index, value.negative)

    @property
    def calls_are_known(self) -> bool:
        """Whether a call in it keeps the derivatives that are known of it: one forward, or one backwards before."""
        return self.many and self.order in (1, 2) and not self.is_last

    def called(self, call: tuple[Any, int], value: Any, x: Sequence[Any]) -> Any:
        """Return a result of a call, of which derivatives are taken backwards first, and then forward by many."""
        if not self.calls_are_known:
            return value
        args = tuple(map(self.result, x))
        if self.order == 2:
            number = self.calls.setdefault(call, len(self.calls))
            return Expr(self, self.add(Op.CALLED, (self.result(value), *args), float(number)))
        of, result = call
        if (of, args) not in self.pushed:
            self.pushed[of, args] = of.pushed(x)
        return scalar.held(value, self.pushed[of, args][result])

    @contextmanager
    def still(self) -> Iterator[None]:
        """Say that no derivative will be taken of what is traced inside: it will be held."""
        order, self.order = self.order, 0
        try:
            yield
        finally:
            self.order = order

    def is_made_of(self, results: Sequence[int], arguments: Sequence[int]) -> bool:
        """Return whether some instructions need no input but what these arguments are made of."""
        after = {k: (a,) for region in self.regions or () for k, a in region.carried}
        seen, waiting = {*arguments}, list(results)
        while waiting:
            k = waiting.pop()
            op, args, _ = self.instructions[k]
            if k not in seen and op in LEAVES and op is not Op.CONST and k not in after:
                return False
            waiting += () if k in seen else (*args, *after.get(k, ()))
            seen.add(k)
        return True

    def _changing(self, start: int) -> set[int]:
        """Return the instructions of the region that starts here whose values may change from pass to pass."""
        after = {k: (a,) for region in self.regions or () if region.start >= start for k, a in region.carried}
        changing, columns = set[int](), set[float]()
        known = -1
        while len(changing) > known:  # again where something is carried backwards
            known = len(changing)
            for k, (op, args, value) in enumerate(self.instructions[start:], start):
                own = (op is Op.PASS and value == start) or (op is Op.ENTRY and value in columns)
                if own or not changing.isdisjoint(args) or not changing.isdisjoint(after.get(k, ())):
                    changing.add(k)
                    if op in WRITES:
                        columns.add(value)
        return changing

    def _is_worth_it(self, start: int, number: int, changing: set[int], results: set[int]) -> bool:
        """Return whether a pass does enough operations."""
        operations = (k for k in changing if self.instructions[k][0] not in FREE)
        read = [self.instructions[a] for a in {a for k in operations for a in self.instructions[k][1]} & changing]
        picked = [self.columns[int(value)] for op, args, value in read if op is Op.ENTRY and args == (number,)]
        numbers = sum(column.table is not None for column in picked)  # no values are put there before
        return self._work(changing, start) >= WORTH * (len(picked) - numbers + len(results)) + numbers


class ColumnArray:
    """An array whose entries are in columns: in its row k (of the first axis) they are what the columns have in row k.

    Returned as it is, it is a result without an instruction for any entry. Else `array` names them all; pages that go
    on from it read it row by row. Entries that nobody wrote are 0 there, which costs no operation.
    """

    __slots__ = ("columns", "graph", "shape", "written")

    def __init__(
        self, graph: Graph, columns: Sequence[int], shape: tuple[int, ...], written: np.ndarray | None = None
    ) -> None:
        self.graph, self.columns, self.shape = graph, columns, shape
        self.written = written  # which of its entries are, if not all

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, row: int) -> Any:
        """Return an entry of a vector, or a row of a matrix as a list."""
        own, size = range(len(self))[row], math.prod(self.shape[1:])
        return symbolic(self._entries(own * size, (own + 1) * size), self.shape[1:]).tolist()

    def array(self) -> np.ndarray:
        return symbolic(self._entries(0, self.size), self.shape)

    def _entries(self, start: int, stop: int) -> Iterator[Any]:
        graph, columns = self.graph, self.columns
        for k in range(start, stop):
            if self.written is None or self.written[k]:
                yield graph.entry(columns[k % len(columns)], graph.at(k // len(columns)))
            else:
                yield 0.0

    def placed(self, start: int) -> bool:
        """Say that its entries are results, from an entry of all of them on; return whether they were none before."""
        columns, stride = self.graph.columns, len(self.columns)
        own = [(c, columns[c]._replace(result=start + k, stride=stride)) for k, c in enumerate(self.columns)]
        fresh = all(columns[c].is_inner and columns[c].result is None for c in self.columns)
        if fresh:
            for c, column in own:
                columns[c] = column
        return fresh


class Sum:
    """A number to which regions that may be skipped add where they run: an entry of a column.

    It begins with a value that is put there, or with what columns begin with, zero.
    """

    def __init__(self, graph: Graph, start: Any = None) -> None:
        self.graph, self.start, self.column, self.row = graph, start, graph.new_column(1), graph.at(0)
        self.negative: bool | None = None  # whether it is the negative of what is in the column; None of zero
        self.is_added_to = False
        if start is not None:
            e = graph.lift(start)
            self.negative = e.negative if type(start) is Expr or start else None
            graph.put_in(self.column, self.row, Expr(graph, e.index))

    def add(self, condition: Condition, term: Any) -> None:
        e = self.graph.lift(term)
        self.negative = e.negative if self.negative is None else self.negative
        chosen = _select(condition, Expr(self.graph, e.index, e.negative != self.negative), 0.0)
        self.graph.add_to(self.column, self.row, chosen)
        self.is_added_to = True

    def value(self) -> Any:
        if not self.is_added_to:
            return self.start
        return Expr(self.graph, self.graph.entry(self.column, self.row).index, bool(self.negative))


class Expr:
    """A traced scalar: the value of an instruction, or its negative."""

    __slots__ = ("graph", "index", "negative")

    def __init__(self, graph: Graph, index: int, negative: bool = False) -> None:
        self.graph, self.index, self.negative = graph, index, negative

    def __repeated__(self, count: int, body: Pass, entries: list[Any], derived: int | None) -> list[Any]:
        return self.graph.repeated(count, body, entries, derived)

    def __scanned__(
        self, body: RowPass, entries: list[Any], columns: Sequence[Sequence[Any]]
    ) -> tuple[list[Any], list[list[Any]]]:
        return self.graph.scanned(body, entries, columns)

    def __implicit__(self) -> int:
        """Return how often derivatives will be taken of a solution that has its own."""
        self.graph.implicit = True
        return self.graph.order

    def __called__(self, call: tuple[Any, int], x: Sequence[Any]) -> Any:
        return self.graph.called(call, self, x)

    def __made_once__(self, key: Any, values: Sequence[Any], make: Callable[[], Any]) -> Any:
        return self.graph.made_once(key, values, make)

    def __argument__(self) -> Expr:
        """Return the same value apart: what is made of it is told from what is made of the value elsewhere."""
        graph, k = self.graph, self.graph.result(self)
        if not graph.calls_are_known:
            return self
        return Expr(graph, graph.add(Op.HELD, (k, k), float(len(graph.instructions))))

    def __jacobian__(self, arguments: list[Any], results: list[Any]) -> int:
        """Return how often known derivatives serve results that are functions of some arguments alone."""
        graph, parts = self.graph, (results, arguments)
        graph.implicit = True
        known = graph.calls_are_known and graph.is_made_of(*([e.index for e in p if type(e) is Expr] for p in parts))
        return graph.order if known else 0

    def __mapped__(
        self, body: Callable[[list[Any]], list[Any]], rows: Sequence[list[Any]], always: bool
    ) -> list[list[Any]]:
        return self.graph.mapped(body, rows, always)

    def __rows__(self) -> Graph | None:
        """Return where loops over rows are written, but None where passes are not kept, or derivatives follow."""
        self.graph.implicit = True  # these are taken of another program, in which all is written out
        return None if self.graph.regions is None or self.graph.order else self.graph

    def __sum__(self, start: Any) -> Sum | None:
        """Return one that begins with a value; see `Condition`."""
        return None if self.graph.regions is None else Sum(self.graph, start)

    def __cell__(self, table: Table) -> Expr:
        graph = self.graph
        return Expr(graph, graph.add(Op.CELL, (graph.result(self),), float(graph.table_number(table))))

    # --- arithmetic ---

    def __neg__(self) -> Expr:
        self.graph.signs += 1
        return Expr(self.graph, self.index, not self.negative)

    def __pos__(self) -> Expr:
        return self

    def __add__(self, other: Any) -> Any:
        return _sum(self, other, False)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _sum(self, other, True)

    def __rsub__(self, other: Any) -> Any:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Any:
        if type(other) is not Expr:
            if not isinstance(other, Number):
                return NotImplemented
            if other == 0.0:
                self.graph.folded += 1
                return 0.0
            if other == 1.0:
                self.graph.folded += 1
                return self
            if other == -1.0:
                return -self
        graph = self.graph
        b = graph.lift(other)
        return Expr(graph, graph.add(MUL, (self.index, b.index)), self.negative != b.negative)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if type(other) is not Expr:
            if not isinstance(other, Number):
                return NotImplemented
            if abs(other) == 1.0 or (other != 0.0 and math.frexp(other)[0] in (0.5, -0.5)):
                return self * (1.0 / float(other))  # exact
        return _quotient(self, self.graph.lift(other))

    def __rtruediv__(self, other: Any) -> Any:
        if not isinstance(other, Number):
            return NotImplemented
        return 0.0 if other == 0.0 else _quotient(self.graph.lift(other), self)

    def __pow__(self, exponent: Any) -> Any:
        if type(exponent) is Expr:
            return scalar.general_power(self, exponent)
        if not isinstance(exponent, Number):
            return NotImplemented
        if float(exponent).is_integer():
            return _power(self, int(exponent))
        return scalar.sqrt(self) if exponent == 0.5 else _fractional_power(self, float(exponent))

    def __rpow__(self, base: Any) -> Any:
        if not isinstance(base, Number):
            return NotImplemented
        return scalar.exp(self * math.log(base)) if base > 0.0 else scalar.general_power(self.graph.lift(base), self)

    __floordiv__, __mod__, __abs__ = floor_divide, remainder, scalar.absolute

    def __rfloordiv__(self, other: Any) -> Any:
        return floor_divide(other, self)

    def __rmod__(self, other: Any) -> Any:
        return remainder(other, self)

    # --- comparison: a truth value of the program, not of Python ---

    def __lt__(self, other: Any) -> Any:
        return _compare(Op.LT, self, other)

    def __le__(self, other: Any) -> Any:
        return _compare(Op.LE, self, other)

    def __gt__(self, other: Any) -> Any:
        return _compare(Op.LT, other, self)

    def __ge__(self, other: Any) -> Any:
        return _compare(Op.LE, other, self)

    def __eq__(self, other: object) -> Any:
        return _compare(Op.EQ, self, other)

    def __ne__(self, other: object) -> Any:
        return scalar.logical_not(_compare(Op.EQ, self, other))

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise no_branch()

    def __float__(self) -> float:
        raise no_number()

    def __round__(self, digits: int = 0) -> float:
        raise no_number()

    __int__ = __index__ = __float__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return by_numpy(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return apply_function(function, args, kwargs)

    def __deepcopy__(self, memo: Any) -> Expr:
        return self  # a copy of the graph would be another trace

    def __repr__(self) -> str:
        return f"{'-' if self.negative else ''}%{self.index}"


class Condition:
    __slots__ = ("graph", "index")

    def __init__(self, graph: Graph, index: int) -> None:
        self.graph, self.index = graph, index

    def __skipped__(self, body: Callable[[], list[Any]], otherwise: list[Any] | None = None) -> list[Any]:
        return self.graph.skipped(self, body, otherwise)

    def __sum__(self) -> Sum | None:
        """Return a sum of what regions add; None where there are none, and all that they do is written out."""
        return None if self.graph.regions is None else Sum(self.graph)

    __and__ = __rand__ = scalar.logical_and
    __or__ = __ror__ = scalar.logical_or
    __invert__ = scalar.logical_not

    def __bool__(self) -> bool:
        raise no_branch()

    def __add__(self, other: Any) -> Any:
        return self.graph.lift(self)  # raises

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__
    __array_ufunc__, __array_function__ = Expr.__array_ufunc__, Expr.__array_function__

    def __deepcopy__(self, memo: Any) -> Condition:
        return self

    def __repr__(self) -> str:
        return f"%{self.index}"


def _sum(a: Expr, other: Any, subtract: bool) -> Any:
    """Return a + other, or a - other, with the signs moved outside."""
    graph = a.graph
    if type(other) is not Expr:
        if not isinstance(other, Number):
            return NotImplemented
        if other == 0.0:
            graph.folded += 1
            return a
    b = graph.lift(other)
    negative_b = b.negative != subtract
    if a.negative == negative_b:
        return Expr(graph, graph.add(ADD, (a.index, b.index)), a.negative)
    if a.index == b.index:
        graph.folded += 1
        return 0.0
    plus, minus = (b.index, a.index) if a.negative else (a.index, b.index)
    if plus > minus:
        return Expr(graph, graph.add(SUB, (minus, plus)), True)
    return Expr(graph, graph.add(SUB, (plus, minus)))


def _quotient(a: Expr, b: Expr) -> Expr:
    return Expr(a.graph, a.graph.add(Op.DIV, (a.index, b.index)), a.negative != b.negative)


def _power(x: Any, n: int) -> Any:
    if n < 0:
        return 1.0 / _power(x, -n)
    result, square = 1.0, x
    while n:
        if n & 1:
            result = square * result
        square, n = (square * square, n >> 1) if n > 1 else (square, 0)
    return result


def _apply(op: Op, *values: Any) -> Any:
    graph = next(v.graph for v in values if type(v) in (Expr, Condition))
    operands, result = SPEC[op].operands, SPEC[op].result
    args = tuple(_operand(graph, v, kind) for v, kind in zip(values, operands, strict=True))
    return (Expr if result is ValueType.REAL else Condition)(graph, graph.add(op, args))


def _operand(graph: Graph, value: Any, kind: ValueType) -> int:
    if kind is ValueType.REAL:
        return graph.result(value)
    if type(value) is not Condition or value.graph is not graph:
        raise TraceError(f"{value!r} is not a condition; conditions come from comparing: <, <=, >, >=, ==.")
    return value.index


def _compare(op: Op, a: Any, b: Any) -> Any:
    if not isinstance(a, (Expr, *Number)) or not isinstance(b, (Expr, *Number)):
        return NotImplemented
    return _apply(op, -b, -a) if _both_negative(a, b) else _apply(op, a, b)


def _both_negative(a: Any, b: Any) -> bool:
    """Return whether a sign can be left out: -a < -b where b < a, and of two negatives one is chosen with its sign."""
    return type(a) is Expr and type(b) is Expr and a.negative and b.negative


def _symmetric(op: Op, *, odd: bool) -> Callable[[Expr], Expr]:
    """Return a function with f(-x) = f(x), or, an odd one, -f(x)."""

    def evaluate(x: Any) -> Expr:
        x = x.graph.lift(x)
        return Expr(x.graph, x.graph.add(op, (x.index,)), odd and x.negative)

    return evaluate


def _any(op: Op) -> Callable[..., Any]:
    return lambda *values: _apply(op, *values)


def _truth(value: Any) -> bool | None:
    return bool(value) if isinstance(value, (bool, np.bool_)) else None


def _select(condition: Any, a: Any, b: Any) -> Any:
    known = _truth(condition)
    if known is not None:
        return a if known else b
    if type(a) is Expr and type(b) is Expr and a.index == b.index and a.negative == b.negative:
        return a
    if isinstance(a, Number) and isinstance(b, Number) and a == b:
        return float(a)
    return -_apply(Op.SELECT, condition, -a, -b) if _both_negative(a, b) else _apply(Op.SELECT, condition, a, b)


def _held(x: Any, tangent: Any) -> Any:
    known = x if type(x) is Expr else tangent
    return x if known.graph.is_last else _apply(Op.HELD, x, tangent)


def _connective(op: Op, decisive: bool) -> Callable[[Any, Any], Any]:
    """Return a function of two conditions, which one of them decides if it is known to be so."""

    def evaluate(a: Any, b: Any) -> Any:
        for known, other in ((_truth(a), b), (_truth(b), a)):
            if known is not None:
                return decisive if known is decisive else other
        return _apply(op, a, b)

    return evaluate


def _fractional_power(x: Expr, p: float) -> Any:
    """Return x^p: NaN for x < 0, and at 0 what has the right slope."""
    zero = x == 0.0
    value = scalar.exp(p * scalar.log(scalar.where(zero, 1.0, x)))
    at_0 = math.inf if p < 0.0 else 0.0 if p > 1.0 else scalar.sqrt(x)
    return scalar.where(zero, at_0, value)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{op.value: _symmetric(op, odd=True) for op in (Op.SIN, Op.TAN, Op.ASIN, Op.SIGN)},
    "cos": _symmetric(Op.COS, odd=False),
    "absolute": _symmetric(Op.ABS, odd=False),
    **{op.value: _any(op) for op in (Op.ACOS, Op.ATAN2, Op.SQRT, Op.EXP, Op.LOG, Op.EXPM1, Op.LOG1P, Op.FLOOR)},
    "held": _held,
    "minimum": _any(Op.MIN),
    "maximum": _any(Op.MAX),
    "where": _select,
    "logical_and": _connective(Op.AND, decisive=False),
    "logical_or": _connective(Op.OR, decisive=True),
    "logical_not": _any(Op.NOT),
    "power": lambda x, p: x**p if isinstance(p, Number) else scalar.general_power(x, p),
    "remainder": remainder,
    "floor_divide": floor_divide,
    "hypot": hypot,
}
scalar.register_scalar(Expr, FUNCTIONS)
scalar.register_scalar(Condition, FUNCTIONS)

# NumPy's functions on a plain array of expressions call the method of the same name on each entry.
for _name, _function in (UNARY | BINARY).items():
    if not hasattr(Expr, _name):
        setattr(Expr, _name, _function)
