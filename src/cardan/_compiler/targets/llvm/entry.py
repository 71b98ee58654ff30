"""The entry of the LLVM module: tiles of W states, their rows turned into vectors and back, in registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from cardan._compiler.program.ops import Op
from cardan._compiler.program.program import Array, Nesting, Region, columns_of, phases, places_of
from cardan._compiler.program.replay import whole
from cardan._compiler.targets.llvm.plan import Move, Plan, RowPointer, in_groups, streamed
from cardan._compiler.targets.llvm.writer import Lanes, Writer

UNROLLED = 4  # groups of columns that are moved without a loop
COPIED = 8  # columns in a group where entries are copied one by one
PASSES = "%passes"  # how often a program is run as a whole; those that are not repeated do not look at it
STREAM = 16 * 2**20  # bytes of results from which they bypass the caches: they would not stay there anyway


class Run(NamedTuple):
    """Slots one after the other that hold the same number."""

    value: float
    slot: int
    length: int


class Output(NamedTuple):
    """Where an output is: its first row, how many entries further the next one begins, what it holds, its slots."""

    base: str
    pitch: str
    array: Array
    slot: int

    @property
    def columns(self) -> int:
        return self.array.size


def constant_results(plan: Plan) -> list[Sequence[Run]]:
    ops, numbers = plan.joined.ops, plan.numbers
    known = [k for k in plan.copies if ops[k] is Op.CONST]
    slots = sorted((slot, repr(float(numbers[k]))) for k in known for slot in plan.copies[k])
    together = groupby(enumerate(slots), key=lambda item: (item[1][0] - item[0], item[1][1]))
    runs = [(value, [slot for _, (slot, _) in run]) for (_, value), run in together]
    return in_groups([Run(float(value), places[0], len(places)) for value, places in runs])


def workspace(lanes: Lanes) -> str:
    return f"ptr noalias align {lanes.bytes}"


def constant_function(number: int, runs: Sequence[Run], lanes: Lanes) -> str:
    """Return a function that puts constant results in their slots, where they stay for all tiles."""
    w = Writer(lanes)

    def fill(run: Run) -> None:
        first = w.at("%ws", run.slot * lanes.bytes)
        one = lambda k: w.store(w.v, w.real(run.value), w.at(first, k, w.v), lanes.bytes)  # noqa: E731
        if run.length > UNROLLED:
            w.loop(0, run.length, 1, one)
            return
        for k in range(run.length):
            one(k)

    for run in runs:
        fill(run)
    return w.procedure(f"constants{number}", [(workspace(lanes), "%ws")])


class EntryWriter:
    def __init__(self, plan: Plan, lanes: Lanes) -> None:
        self.program, self.plan, self.lanes, self.w = plan.program, plan, lanes, Writer(lanes)
        self.phases, self.numbers = phases(plan.program), {r: n for n, r in enumerate(plan.program.regions)}
        self.passing: list[tuple[Region, int | str]] = []  # the regions around, and which pass of each runs
        self.row_names: list[dict[int, str]] = [{}]  # the row numbers that were written, by the regions around
        self.nesting = Nesting(plan.program.regions)
        self.columns: dict[str, str] = {}  # where columns of row numbers begin

    def slot(self, slot: int) -> str:
        return self.w.at("%ws", slot * self.lanes.bytes)

    def row_pointers(self, base: str, pitch: int | str, rows: Sequence[str]) -> list[str]:
        return [self.w.at(base, self.w.emit(f"mul nuw nsw i64 {row}, {pitch}"), self.lanes.scalar) for row in rows]

    def groups(self, columns: int, n: int, body: Callable[[str, int], None]) -> None:
        """Write `body(first column, number of columns)` for each group of n columns, as a loop if there are many."""
        whole = columns // n
        if whole > UNROLLED:
            self.w.loop(0, whole * n, n, lambda first: body(first, n))
        for first in range(whole * n if whole > UNROLLED else 0, columns, n):
            body(str(first), min(n, columns - first))

    def mask(self, count: int) -> str:
        flags = ", ".join(f"i1 {str(k < count).lower()}" for k in range(self.lanes.width))
        return f"{self.lanes.mask} <{flags}>"

    def column_slot(self, slot: int, first: str, k: int) -> str:
        return self.w.at(self.slot(slot + k), first, self.lanes.vector)

    def read(self, base: str, columns: int, rows: Sequence[str], slot: int) -> None:
        w, v, align = self.w, self.w.v, self.lanes.bytes // self.lanes.width
        pointers = self.row_pointers(base, columns, rows)

        def group(first: str, count: int) -> None:
            vectors = []
            for pointer in pointers:
                at = w.at(pointer, first, self.lanes.scalar)
                if count == self.lanes.width:
                    vectors.append(w.load(v, at, align))
                else:
                    arguments = f"ptr {at}, i32 {align}, {self.mask(count)}, {v} zeroinitializer"
                    vectors.append(w.emit(f"call {v} @llvm.masked.load.{w.suffix}.p0({arguments})"))
            for k, vector in enumerate(w.transposed(self.lanes.scalar, vectors)[:count]):
                w.store(v, vector, self.column_slot(slot, first, k), self.lanes.bytes)

        self.groups(columns, self.lanes.width, group)

    def write(self, base: str, pitch: int | str, columns: int, rows: Sequence[str], slot: int) -> None:
        w, v, align = self.w, self.w.v, self.lanes.bytes // self.lanes.width
        pointers = self.row_pointers(base, pitch, rows)

        def group(first: str, count: int) -> None:
            sources = [self.column_slot(slot, first, min(k, count - 1)) for k in range(self.lanes.width)]
            vectors = w.transposed(self.lanes.scalar, [w.load(v, source, self.lanes.bytes) for source in sources])
            for pointer, vector in zip(pointers, vectors, strict=True):
                at = w.at(pointer, first, self.lanes.scalar)
                if count == self.lanes.width:
                    w.store(v, vector, at, align)
                else:
                    mask = self.mask(count)
                    w.line(f"call void @llvm.masked.store.{w.suffix}.p0({v} {vector}, ptr {at}, i32 {align}, {mask})")

        self.groups(columns, self.lanes.width, group)

    def rows_by(self, rows: Sequence[str]) -> dict[str, Sequence[str]]:
        """Write which rows of arrays states have, by the names of the columns that say so: by none those of states."""
        return {"": rows} | {name: [self.row_by(base, row) for row in rows] for name, base in self.columns.items()}

    def row_by(self, column: str, row: str) -> str:
        return self.w.emit(f"sext i32 {self.w.load('i32', self.w.at(column, row, 'i32'), 4)} to i64")

    def lanes_at(self, base: str, columns: int, first: str) -> str:
        """Write where the vectors of a tile are that begins with a row."""
        return self.w.at(base, self.w.emit(f"mul nuw nsw i64 {first}, {columns}"), self.lanes.scalar)

    def move_lanes(self, source: str, to: str, columns: int) -> None:
        w, size = self.w, self.lanes.bytes
        for k in range(columns):
            w.store(w.v, w.load(w.v, w.at(source, k * size), size), w.at(to, k * size), size)

    def copy(self, output: Output, first: str, count: str) -> None:
        w, kind, size = self.w, self.lanes.scalar, self.lanes.bytes // self.lanes.width

        def row(lane: str) -> None:
            number = w.whole("add nuw nsw", first, lane)
            if output.array.by:
                number = self.row_by(self.columns[output.array.by], number)
            (to,) = self.row_pointers(output.base, output.pitch, [number])
            source = w.at(self.slot(output.slot), lane, kind)

            def group(start: str, columns: int) -> None:
                here, there = w.at(source, w.whole("mul nuw nsw", start, self.lanes.bytes)), w.at(to, start, kind)
                entries = [w.load(kind, w.at(here, k * self.lanes.bytes), size) for k in range(columns)]
                for k, entry in enumerate(entries):
                    w.store(kind, entry, w.at(there, k, kind), size)

            self.groups(output.columns, COPIED, group)

        w.loop(0, count, 1, row)

    def text(self) -> str:
        """Return the entry: constants once, then tile by tile, read it, compute it block by block, write it."""
        w, plan, program, lanes = self.w, self.plan, self.program, self.lanes
        size = plan.slots * lanes.bytes
        w.line(
            "%ws = "
            + ("getelementptr i8, ptr %heap, i64 0" if plan.heap_bytes(lanes) else f"alloca [{size} x i8], align 64")
        )
        self.call(*(f"constants{k}" for k in range(len(constant_results(plan)))))
        columns = columns_of(program)
        bases = [w.load("ptr", w.at("%inputs", k, "ptr"), 8) for k in range(len(program.inputs) + len(columns))]
        self.columns = dict(zip(columns, bases[len(program.inputs) :], strict=True))
        outputs = self.outputs()
        last = w.emit("add nsw i64 %rows, -1")

        def tile(first: str) -> None:
            rows = self.rows(first, last)
            found = self.rows_by(rows)
            for base, array, place in zip(bases, program.inputs, places_of(program.inputs), strict=False):
                if array.in_lanes:
                    self.move_lanes(self.lanes_at(base, array.size, rows[0]), self.slot(place.start), array.size)
                else:
                    self.read(base, array.size, found[array.by], place.start)
            self.run()
            self.call(*(f"leaves{n}" for n in range(len(plan.leaf_results))))
            self.write_results(outputs, first)

        w.loop(0, "%rows", lanes.width, tile)
        if plan.streams():
            w.line("fence seq_cst")  # what went past the caches is there for all
        parameters = [
            ("ptr noalias", "%inputs"),
            ("ptr noalias", "%outputs"),
            ("i64", "%rows"),
            ("ptr noalias align 64", "%heap"),
            ("i64", PASSES),
        ]
        return w.procedure("evaluate", parameters, linkage="")

    def call(self, *functions: str, rows: Sequence[RowPointer] = ()) -> None:
        """Call functions on the workspace; they are told where rows begin."""
        given = ["ptr %ws"]
        for pointer in rows:
            base = f"@record{pointer.record}" if pointer.record else "%ws"
            given.append(f"ptr {self.w.at(base, self.offset(pointer))}")
        for function in functions:
            self.w.line(f"call void @{function}({', '.join(given)})")

    def offset(self, pointer: RowPointer) -> str:
        """Write how many bytes further than row 0 a row begins."""
        size = self.lanes.bytes // (self.lanes.width if pointer.record else 1)
        return self.w.whole("mul nuw nsw", self.row(pointer.row), pointer.stride * size)

    def row(self, k: int) -> str:
        """Write the number of a row that an instruction gives, once in the region that runs."""
        (op, args, value), w = self.program.instructions[k], self.w
        if op is Op.AT:
            return str(int(value))
        if op is Op.PASS:
            region = next(self.nesting.around(k))
            return str(next(number for own, number in self.passing if own is region))
        known = next((names[k] for names in self.row_names if k in names), None)
        if known is None:
            rows = [self.row(a) for a in args]
            if op is Op.BEHIND:
                known = w.whole("add nuw nsw", *rows)
            else:
                known = w.load("i64", w.at(f"@links{int(value)}", rows[0], "i64"), 8)
            self.row_names[-1][k] = known
        return known

    def run(self, within: Region | None = None) -> None:
        self.empty(within)
        for part in self.phases[within]:
            if isinstance(part, range):
                first, last = self.plan.spans[part]
                for b in range(first, last + 1):
                    self.call(f"block{b}", rows=self.plan.block_pointers(b))
                continue
            self.row_names.append({})
            if part.may_be_skipped or part.flag is not None:
                self.w.branch(self.is_run(part), lambda p=part: self.run_region(p))
            else:
                self.run_region(part)
            self.row_names.pop()

    def is_run(self, region: Region) -> str:
        """Write whether a region that may be left out is run."""
        if region.flag is None:
            assert region.going is not None
            return self.any_lane(region.going)
        return self.w.whole("icmp ne", self.row(region.flag), 0)

    def empty(self, within: Region | None) -> None:
        """Write zeros to the columns that are added to in a region, and live in it."""
        w, size, records = self.w, self.lanes.bytes, dict[tuple[int, int], list[str]]()
        for c in self.plan.summed.get(within, ()):
            place, rows = self.plan.columns[c], self.program.columns[c].rows
            records.setdefault((rows, place.stride), []).append(self.slot(place.first))
        for (rows, stride), starts in records.items():

            def of_row(at: str, starts: Sequence[str] = starts) -> None:
                for start in starts:
                    w.store(w.v, w.real(0.0), w.at(start, at), size)

            w.loop(0, rows * stride * size, stride * size, of_row)

    def any_lane(self, condition: int) -> str:
        """Write whether a condition holds in any lane."""
        w, lanes = self.w, self.lanes
        loaded = w.load(w.v, self.slot(self.plan.place(condition)), lanes.bytes)
        flags = w.emit(f"bitcast {w.m} {w.compare('uno', loaded, 0.0)} to i{lanes.width}")
        return w.emit(f"icmp ne i{lanes.width} {flags}, 0")

    def run_region(self, region: Region) -> None:
        p, w, carrying = self.numbers[region], self.w, self.plan.carrying(region)

        def one(number: int | str) -> None:
            self.passing.append((region, self.numbered(region, number)))
            self.row_names.append({})
            self.run(region)

        def end() -> None:
            self.passing.pop()
            self.row_names.pop()

        def again() -> None:
            self.move(f"again{p}", carrying)

        def alone(number: int | str) -> None:
            one(number)
            end()

        def then_again(number: str) -> None:
            one(number)
            again()
            end()

        def whether_again(number: str) -> str:
            one(number)
            assert region.going is not None
            return self.any_lane(region.going)

        def and_again(_: str) -> None:
            again()
            end()

        self.move(f"enter{p}", self.plan.entering(p))
        if not region.carried:
            alone(0) if region.passes == 1 else w.loop(0, region.passes, 1, alone)
        elif region is whole(self.program):
            last = w.emit(f"add nsw i64 {PASSES}, -1")
            w.loop_if_any("0", last, 1, then_again)
            alone(last)
        elif region.may_end_early:
            w.loop_while(region.passes, whether_again, and_again)
        else:
            if region.passes > 1:
                w.loop(0, region.passes - 1, 1, then_again)
            alone(region.passes - 1)

    def move(self, name: str, groups: Sequence[Sequence[Move]]) -> None:
        """Write the calls of moves, also of what a skipped region has left undefined: no one looks at that."""
        for n, moves in enumerate(groups):
            self.call(f"{name}_{n}", rows=self.plan.pointers(a for a, _ in moves))

    def numbered(self, region: Region, number: int | str) -> int | str:
        """Write the number that a pass has, of a loop that counts upwards."""
        return self.w.whole("sub nsw", region.passes - 1, number) if region.backwards else number

    def rows(self, first: str, last: str) -> list[str]:
        """Return the rows of a tile; beyond the last, the last again."""
        return [self.w.least(self.w.emit(f"add nuw nsw i64 {first}, {lane}"), last) for lane in range(self.lanes.width)]

    def outputs(self) -> list[Output]:
        w, outputs = self.w, []
        for k, (array, place) in enumerate(zip(self.program.outputs, places_of(self.program.outputs), strict=True)):
            base = w.load("ptr", w.at("%outputs", 2 * k, "ptr"), 8)
            pitch = w.load("i64", w.at("%outputs", 2 * k + 1, "i64"), 8)
            outputs.append(Output(base, pitch, array, self.plan.first_output + place.start))
        return outputs

    def write_results(self, outputs: Sequence[Output], first: str) -> None:
        """Write the rows of a tile that begins with a row; those that exist, if it is the last."""
        w, width = self.w, self.lanes.width
        count = w.least(w.whole("sub nsw", "%rows", first), str(width))
        rows = [w.whole("add nuw nsw", first, lane) for lane in range(width)]
        for output in (o for o in outputs if o.array.in_lanes):  # where there is room for a whole tile
            to = self.lanes_at(output.base, output.columns, first)
            self.move_lanes(self.slot(output.slot), to, output.columns)
        by_rows = [output for output in outputs if not output.array.in_lanes]

        def full() -> None:
            found = self.rows_by(rows)
            for output in by_rows:
                may_stream = streamed(output.array) and not output.array.by
                (self.past_caches if may_stream else self.straight)(output, found[output.array.by])

        def rest() -> None:
            for output in by_rows:
                self.copy(output, first, count)

        w.branch(w.whole("icmp eq", count, width), full, rest)

    def straight(self, output: Output, rows: Sequence[str]) -> None:
        self.write(output.base, output.pitch, output.columns, rows, output.slot)

    def past_caches(self, output: Output, rows: Sequence[str]) -> None:
        """Write rows straight; those of a large batch, one after the other, by way of a buffer and past the caches."""
        w, lanes, columns = self.w, self.lanes, output.columns

        def past() -> None:
            buffer = self.slot(self.plan.slots - columns)
            self.write(buffer, columns, columns, [str(k) for k in range(lanes.width)], output.slot)
            (to,) = self.row_pointers(output.base, columns, rows[:1])
            w.line(f"call void @stream(ptr {to}, ptr {buffer}, i64 {lanes.width * columns})")

        enough = STREAM // (self.program.entries * lanes.bytes // lanes.width)
        large, dense = w.whole("icmp sgt", "%rows", enough), w.whole("icmp eq", output.pitch, columns)
        w.branch(w.emit(f"and i1 {large}, {dense}"), past, lambda: self.straight(output, rows))


def stream_function(lanes: Lanes) -> str:
    """Return a function that copies scalars past the caches, a whole aligned vector at a time where it can."""
    w, size = Writer(lanes), lanes.bytes // lanes.width

    def copy(start: str, stop: str, kind: str, step: int, align: int, more: str = "") -> None:
        def one(k: str) -> None:
            value = w.load(kind, w.at("%from", k, lanes.scalar), size)
            w.store(kind, value, w.at("%to", k, lanes.scalar), align, more)

        w.loop_if_any(start, stop, step, one)

    ahead = w.emit(f"sub i64 0, {w.emit('ptrtoint ptr %to to i64')}")
    wanted = w.emit(f"udiv exact i64 {w.emit(f'and i64 {ahead}, {lanes.bytes - 1}')}, {size}")
    first = w.least(wanted, "%count")
    whole = w.emit(f"and i64 {w.emit(f'sub i64 %count, {first}')}, {-lanes.width}")
    last = w.emit(f"add i64 {first}, {whole}")
    copy("0", first, lanes.scalar, 1, size)
    copy(first, last, w.v, lanes.width, lanes.bytes, ", !nontemporal !0")
    copy(last, "%count", lanes.scalar, 1, size)
    parameters = [("ptr noalias", "%to"), ("ptr noalias", "%from"), ("i64", "%count")]
    return w.procedure("stream", parameters) + "\n!0 = !{i32 1}"
