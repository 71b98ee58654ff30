"""A program as LLVM IR: vectors of W states at a time, in functions of a few hundred operations.

The module has one entry, `evaluate(inputs, outputs, rows, heap, passes)`. For every tile of W states it reads the rows
of the inputs and turns them, in registers, into one vector for each entry (`entry`); runs the program's blocks, which
hand values on through a workspace (on the stack, or on the heap where it is large); and writes the results back as
rows. The last tile repeats the last state in its idle lanes, which are not written. Each output is an array of its own,
of which the entry is told where it begins and how far apart its rows are. A program that is repeated as a whole runs
`passes` times.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from cardan._compiler.program.ops import ENTRIES, TRUTHS, Op
from cardan._compiler.program.passes import Fused
from cardan._compiler.program.program import Program
from cardan._compiler.targets.llvm.direct.allocation import Allocation
from cardan._compiler.targets.llvm.direct.lowering import HAS_STEPS
from cardan._compiler.targets.llvm.direct.x86 import X86Text
from cardan._compiler.targets.llvm.entry import (
    EntryWriter,
    constant_function,
    constant_results,
    stream_function,
    workspace,
)
from cardan._compiler.targets.llvm.math import (
    SINCOS,
    function_name,
    math_definitions,
    record_definitions,
    rows_in_lanes,
    table_definitions,
)
from cardan._compiler.targets.llvm.plan import Move, Plan, RowPointer, plan_program
from cardan._compiler.targets.llvm.writer import Lanes, Writer, attributes

_PLAIN = {Op.ADD: "fadd", Op.SUB: "fsub", Op.MUL: "fmul", Op.DIV: "fdiv", Op.NEG: "fneg"}
_FUSED = {Fused.FMA: (), Fused.FMS: (2,), Fused.FNMA: (0,)}  # operands that are negated, which costs nothing
_COMPARE = {Op.LT: "olt", Op.LE: "ole", Op.EQ: "oeq"}
_LOGIC = {Op.AND: "and", Op.OR: "or"}
_INTRINSIC = {Op.SQRT: "sqrt", Op.ABS: "fabs", Op.FLOOR: "floor", Op.MIN: "minimum", Op.MAX: "maximum"}

FEWEST = 3  # numbers beside one another that are read together
LONG = 2**23  # entries of a table from which on single precision has no number between two indices


class _PlanWriter:
    def __init__(self, plan: Plan, lanes: Lanes) -> None:
        self.plan, self.lanes = plan, lanes
        self.w = Writer(lanes)
        self.rows: list[RowPointer] = []  # what the function is told of
        self.names: dict[int, str] = {}
        self.pointers: dict[int, str] = {}

    def written(self, name: str) -> str:
        """Return the function, of the workspace and of where rows begin."""
        given = [("ptr", f"%row{n}") for n in range(len(self.rows))]
        own = f"ptr align {self.lanes.bytes}" if given else workspace(self.lanes)
        return self.w.procedure(name, [(own, "%ws"), *given])

    def entry(self, k: int) -> str:
        """Write where the entry is that an instruction names."""
        if self.plan.is_fixed(k):
            return self.pointer(self.plan.place(k))
        pointer, offset = self.plan.cell(k)
        size = self.lanes.bytes // (self.lanes.width if pointer.record else 1)
        return self.w.at(f"%row{self.rows.index(pointer)}", offset * size)

    def read_entry(self, k: int) -> str:
        place = self.entry(k)
        if self.plan.is_fixed(k) or not self.plan.cell(k).pointer.record:
            return self.w.load(self.w.v, place, self.lanes.bytes)
        return self.w.every_lane(self.w.load(self.lanes.scalar, place, self.lanes.bytes // self.lanes.width))

    def pointer(self, slot: int) -> str:
        if slot not in self.pointers:
            self.pointers[slot] = self.w.at("%ws", slot * self.lanes.bytes)
        return self.pointers[slot]

    def load(self, slot: int) -> str:
        return self.w.load(self.w.v, self.pointer(slot), self.lanes.bytes)

    def store(self, name: str, slot: int) -> None:
        self.w.store(self.w.v, name, self.pointer(slot), self.lanes.bytes)

    def value(self, k: int) -> str:
        if k not in self.names:
            op, number = self.plan.joined.ops[k], self.plan.numbers[k]
            if op is Op.CONST:
                self.names[k] = self.lanes.constant(number)
            elif op is Op.INPUT:
                self.names[k] = self.load(int(number))
            elif op is Op.ENTRY:
                self.names[k] = self.read_entry(k)
            else:
                loaded = self.load(self.plan.slot[k])
                if op in TRUTHS:
                    loaded = self.w.compare("uno", loaded, 0.0)  # all bits set is no number
                self.names[k] = loaded
        return self.names[k]

    def move(self, moves: Sequence[Move]) -> None:
        self.rows = self.plan.pointers(source for source, _ in moves)
        values = [self.value(source) for source, _ in moves]
        for (_, slot), value in zip(moves, values, strict=True):
            self.store(value, slot)


class _Block(_PlanWriter):
    def __init__(self, plan: Plan, lanes: Lanes, number: int) -> None:
        super().__init__(plan, lanes)
        self.number = number
        self.pairs: dict[int, list[str]] = {}

    def text(self) -> str:
        self.rows = self.plan.block_pointers(self.number)
        for k in self.plan.blocks[self.number]:
            if self.plan.joined.ops[k] in ENTRIES:
                self.put(k)
            else:
                self.names[k] = self.compute(k)
                self.keep(k)
        return self.written(f"block{self.number}")

    def put(self, k: int) -> None:
        """Write what puts a value in the entry of a row, or adds it there."""
        w, size, place, value = self.w, self.lanes.bytes, self.entry(k), self.value(self.plan.joined.args[k][1])
        if self.plan.joined.ops[k] is Op.ADDED:
            value = w.emit(f"fadd {w.v} {w.load(w.v, place, size)}, {value}")
        w.store(w.v, value, place, size)

    def keep(self, k: int) -> None:
        slots = self.plan.stored(k)
        if not slots:
            return
        name = self.names[k]
        if self.plan.joined.ops[k] in TRUTHS:
            name = self.w.select(name, self.lanes.all_bits(), 0.0)
        for slot in slots:
            self.store(name, slot)

    def compute(self, k: int) -> str:
        op, args = self.plan.joined.ops[k], self.plan.joined.args[k]
        if op in (Op.SIN, Op.COS):
            return self.sincos(args[0])[0 if op is Op.SIN else 1]
        w, v, names = self.w, self.w.v, [self.value(a) for a in args]
        if op in _FUSED:
            return w.fma(*(w.neg(x) if n in _FUSED[op] else x for n, x in enumerate(names)))
        if op in _PLAIN:
            return w.emit(f"{_PLAIN[op]} {v} {', '.join(names)}")
        if op in _COMPARE:
            return w.compare(_COMPARE[op], *names)
        if op in _LOGIC:
            return w.emit(f"{_LOGIC[op]} {w.m} {', '.join(names)}")
        if op is Op.NOT:
            return w.emit(f"xor {w.m} {names[0]}, {w.every('i1 true')}")
        if op is Op.SELECT:
            return w.select(*names)
        if op is Op.SIGN:
            return self.sign(names[0])
        if op in _INTRINSIC:
            return w.call(_INTRINSIC[op], *names)
        return w.invoke(function_name(op, self.plan.numbers[k]), [v], [(v, name) for name in names])[0]

    def sign(self, x: str) -> str:
        """Write -1, 0 or 1; NaN and signed zeros pass as they are."""
        above, below = (self.w.compare(c, x, 0.0) for c in ("ogt", "olt"))
        return self.w.select(above, 1.0, self.w.select(below, -1.0, x))

    def sincos(self, a: int) -> list[str]:
        """Write sine and cosine of a value together, once; what is not used is removed by code generation."""
        if a not in self.pairs:
            self.pairs[a] = self.w.invoke(SINCOS, [self.w.v] * 2, [(self.w.v, self.value(a))])
        return self.pairs[a]


class _Calls(_PlanWriter):
    def __init__(self, plan: Plan, lanes: Lanes, number: int) -> None:
        super().__init__(plan, lanes)
        self.name, self.tables = f"block{number}", list[str]()
        self.in_rows = set[int]()  # what is read with others that are beside it
        self.rows = plan.block_pointers(number)
        self.calls: dict[tuple[str, tuple[int, ...]], dict[int, int]] = {}  # of each call, what its results are
        for k in plan.blocks[number]:
            op, args = plan.joined.ops[k], plan.joined.args[k]
            name = SINCOS if op in (Op.SIN, Op.COS) else function_name(op, plan.numbers[k])
            self.calls.setdefault((name, args), {})[int(op is Op.COS)] = k

    def text(self) -> str:
        for (table, offsets), rows in self.rows_of_tables().items():
            self.read_rows(table, offsets, rows)
        for (function, constants, results), rows in self.groups().items():
            self.group(function, constants, results, rows)
        for (function, args), results in self.calls.items():
            if self.is_of_a_row(args):
                self.call(function, args, results)
        for found in self.calls.values():
            for k in found.values():
                first, *more = self.plan.stored(k)
                for slot in more:
                    self.store(self.load(first), slot)
        return "\n".join([*self.tables, self.written(self.name)])

    def groups(self) -> dict[tuple[str, tuple[str, ...], tuple[int, ...]], list[list[int]]]:
        """Return the places of operands and results, by function, operands that are constants, and which results."""
        found: dict[tuple[str, tuple[str, ...], tuple[int, ...]], list[list[int]]] = {}
        for (function, args), results in self.calls.items():
            if self.is_of_a_row(args) or results.get(0) in self.in_rows:
                continue
            known = [self.plan.joined.ops[a] is Op.CONST for a in args]
            constants = tuple([self.value(a) if known[n] else "" for n, a in enumerate(args)])
            row = [self.plan.place(a) for n, a in enumerate(args) if not known[n]]
            row += [self.plan.stored(results[n])[0] for n in sorted(results)]
            found.setdefault((function, constants, tuple(sorted(results))), []).append(row)
        return found

    def rows_of_tables(self) -> dict[tuple[int, tuple[int, ...]], list[list[int]]]:
        """Return the places of indices and results, by table and offsets, of numbers that are beside one another.

        Their indices are sums of one value and known numbers. At least half of what is between them is asked for. Of a
        longer table sums may be rounded to another entry.
        """
        ops, numbers = self.plan.joined.ops, self.plan.numbers
        alike: dict[tuple[int, Any], dict[float, tuple[int, int]]] = {}
        for (_, args), results in self.calls.items():
            k = next(iter(results.values()))
            if ops[k] is Op.CELL and ops[args[0]] not in (Op.CONST, Op.ENTRY):
                base, offset = self.sum_of(args[0])
                alike.setdefault((int(numbers[k]), base), {})[offset] = args[0], k
        found: dict[tuple[int, tuple[int, ...]], list[list[int]]] = {}
        for (table, _), entries in alike.items():
            offsets = sorted(entries)
            first, last = offsets[0], offsets[-1]
            is_short = len(self.plan.program.tables[table]) < LONG
            if len(offsets) < FEWEST or last - first >= 2 * len(offsets) or not is_short:
                continue
            if all(offset.is_integer() for offset in offsets):
                indices, results = zip(*(entries[offset] for offset in offsets), strict=True)
                self.in_rows.update(results)
                row = [*map(self.plan.place, indices), *(self.plan.stored(k)[0] for k in results)]
                found.setdefault((table, tuple(int(offset - first) for offset in offsets)), []).append(row)
        return found

    def sum_of(self, a: int) -> tuple[Any, float]:
        """Return what identifies the value that a known number is added to, and that number."""
        ops, args = self.plan.joined
        if ops[a] in (Op.ADD, Fused.FMA):
            *factors, added = args[a]
            if len(factors) == 1 and ops[added] is not Op.CONST:
                factors, added = [added], factors[0]
            if ops[added] is Op.CONST:
                return tuple(factors), float(self.plan.numbers[added])
        return (a,), 0.0

    def read_rows(self, number: int, offsets: Sequence[int], rows: list[list[int]]) -> None:
        """Write reads of several numbers of a table from one place on, each lane's at once.

        Where an index is no whole number or beyond the ends, each number is read by itself.
        """
        w, v, lanes, count = self.w, self.w.v, self.lanes, len(offsets)
        table = self.plan.program.tables[number]

        def one(row: str) -> None:
            slots = [w.load("i64", w.at(listed, w.whole("add", row, n), "i64"), 8) for n in range(2 * count)]
            places = [w.at("%ws", slot) for slot in slots]
            first, last = (w.load(v, place, lanes.bytes) for place in (places[0], places[count - 1]))
            most = float(len(table) - 1)
            holds = [w.compare("oeq", w.call("floor", first), first), w.compare("oge", first, 0.0)]
            holds += [w.compare("ole", last, most)]
            holds += [w.compare("oeq", w.emit(f"fsub {v} {last}, {first}"), float(offsets[-1]))]
            mask = reduce(lambda a, b: w.emit(f"and {w.m} {a}, {b}"), holds)
            every = w.emit(f"icmp eq i{lanes.width} {w.emit(f'bitcast {w.m} {mask} to i{lanes.width}')}, -1")

            def together() -> None:
                found = rows_in_lanes(w, f"@{function_name(Op.CELL, number)}_table", first, offsets[-1] + 1)
                for offset, place in zip(offsets, places[count:], strict=True):
                    w.store(v, found[offset], place, lanes.bytes)

            def apart() -> None:
                for index, place in zip(places[:count], places[count:], strict=True):
                    operand = w.load(v, index, lanes.bytes)
                    (value,) = w.invoke(function_name(Op.CELL, number), [v], [(v, operand)])
                    w.store(v, value, place, lanes.bytes)

            w.branch(every, together, apart)

        listed = self.list_of_slots(rows)
        w.loop(0, len(rows) * 2 * count, 2 * count, one)

    def list_of_slots(self, rows: list[list[int]]) -> str:
        """Return the name of a table of where in the workspace things are."""
        name = f"@{self.name}_{len(self.tables)}"
        entries = ", ".join(f"i64 {slot * self.lanes.bytes}" for row in rows for slot in row)
        self.tables.append(f"{name} = internal constant [{len(rows) * len(rows[0])} x i64] [{entries}]")
        return name

    def is_of_a_row(self, args: Sequence[int]) -> bool:
        """Return whether an operand is the entry of a row, which is in another place in each pass."""
        return any(self.plan.joined.ops[a] is Op.ENTRY and not self.plan.is_fixed(a) for a in args)

    def call(self, function: str, args: Sequence[int], results: dict[int, int]) -> None:
        kinds = [self.w.v] * (2 if function == SINCOS else 1)
        values = self.w.invoke(function, kinds, [(self.w.v, self.value(a)) for a in args])
        for n, k in results.items():
            self.store(values[n], self.plan.stored(k)[0])

    def group(self, function: str, constants: Sequence[str], results: Sequence[int], rows: list[list[int]]) -> None:
        w, v, columns = self.w, self.w.v, len(rows[0])
        listed = self.list_of_slots(rows)

        def one(row: str) -> None:
            places = [
                w.at("%ws", w.load("i64", w.at(listed, w.whole("add", row, n), "i64"), 8)) for n in range(columns)
            ]
            ahead = iter(places)
            operands = [(v, known or w.load(v, next(ahead), self.lanes.bytes)) for known in constants]
            values = w.invoke(function, [v] * (2 if function == SINCOS else 1), operands)
            for n, pointer in zip(results, ahead, strict=True):
                w.store(v, values[n], pointer, self.lanes.bytes)

        w.loop(0, len(rows) * columns, columns, one)


def _moving(name: str, moves: Sequence[Sequence[Move]], plan: Plan, lanes: Lanes) -> list[str]:
    """Return a function for each group of values, which puts them in their places."""
    texts = []
    for n, group in enumerate(moves):
        writer = _PlanWriter(plan, lanes)
        writer.move(group)
        texts.append(writer.written(f"{name}{n}"))
    return texts


def _assembly(name: str, steps: Allocation, plan: Plan, lanes: Lanes, pointers: Sequence[RowPointer] = ()) -> str:
    """Return a straight line as assembly, and as a function LLVM can call."""
    assert plan.machine
    text = "\\0A".join(X86Text(name, plan.machine, lanes, steps).text())
    return f'module asm "{text}"\ndeclare void @{name}(ptr{", ptr" * len(pointers)})'


def _moves(plan: Plan, lanes: Lanes) -> list[str]:
    """Return the functions that put values where regions look for them, and results that are no operation's."""
    texts = _moving("leaves", plan.leaf_results, plan, lanes)
    for p, region in enumerate(plan.program.regions):
        texts += _moving(f"enter{p}_", plan.entering(p), plan, lanes)
        texts += _moving(f"again{p}_", plan.carrying(region), plan, lanes)
    return texts


def block_text(plan: Plan, lanes: Lanes, number: int) -> str:
    if plan.machine is None:
        return _Block(plan, lanes, number).text()
    if number in plan.direct:
        return _assembly(f"block{number}", plan.direct[number], plan, lanes, plan.block_pointers(number))
    has_steps = any(plan.joined.ops[k] in HAS_STEPS for k in plan.blocks[number])
    return (_Block if has_steps else _Calls)(plan, lanes, number).text()


def llvm_text(program: Program, lanes: Lanes, plan: Plan | None = None) -> str:
    plan = plan or plan_program(program)
    program = plan.program
    blocks = [block_text(plan, lanes, b) for b in range(len(plan.blocks))]
    constants = [constant_function(k, stores, lanes) for k, stores in enumerate(constant_results(plan))]
    parts = [*blocks, *_moves(plan, lanes), *constants, EntryWriter(plan, lanes).text()]
    if plan.streams():
        parts.append(stream_function(lanes))
    parts += math_definitions(set(program.instructions.ops), lanes)
    parts += table_definitions(program, lanes)
    parts += record_definitions(program, plan.records, lanes)
    parts += attributes(lanes)
    return "\n\n".join(parts)
