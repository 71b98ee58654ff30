"""The entry of the LLVM module: tiles of W states, their rows turned into vectors and back, in registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cardan.program.ops import Op
from cardan.program.program import Program
from cardan.targets.llvm.plan import STORES, Lanes, Plan, heap_bytes, streams

UNROLLED = 4  # groups of W columns that are transposed without a loop
STREAM = 16 * 2**20  # bytes of results from which they bypass the caches: they would not stay there anyway


def constant_results(program: Program, plan: Plan) -> list[list[tuple[float, int]]]:
    """Return the results that are numbers other than 0 (-0 is one), with their slots, in groups of `STORES`."""
    numbers = {k: i.value for k, i in enumerate(program.instructions) if i.op is Op.CONST and repr(i.value) != "0.0"}
    stores = [(number, slot) for k, number in numbers.items() for slot in plan.copies.get(k, ())]
    return [stores[s : s + STORES] for s in range(0, len(stores), STORES)]


def constant_function(number: int, stores: list[tuple[float, int]], lanes: Lanes) -> str:
    """Return a function that puts constant results in their slots, where they stay for all tiles."""
    lines = [f"define internal void @constants{number}(ptr noalias align {lanes.bytes} %ws) #0 {{"]
    for k, (value, slot) in enumerate(stores):
        lines.append(f"  %p{k} = getelementptr inbounds i8, ptr %ws, i64 {slot * lanes.bytes}")
        lines.append(f"  store {lanes.vector} {lanes.constant(value)}, ptr %p{k}, align {lanes.bytes}")
    return "\n".join([*lines, "  ret void", "}"])


class _Entry:
    """Writes the entry function."""

    def __init__(self, program: Program, plan: Plan, lanes: Lanes) -> None:
        self.program, self.plan, self.lanes = program, plan, lanes
        self.lines: list[str] = []
        self.count = 0
        self.label = "entry"
        self.workspace = "%ws"

    def emit(self, expression: str) -> str:
        self.count += 1
        self.lines.append(f"  %e{self.count} = {expression}")
        return f"%e{self.count}"

    def slot(self, slot: int) -> str:
        return self.emit(f"getelementptr inbounds i8, ptr {self.workspace}, i64 {slot * self.lanes.bytes}")

    def row_pointers(self, base: str, columns: int, rows: Sequence[str]) -> list[str]:
        pointers = []
        for row in rows:
            offset = self.emit(f"mul nuw nsw i64 {row}, {columns}")
            pointers.append(self.emit(f"getelementptr inbounds {self.lanes.scalar}, ptr {base}, i64 {offset}"))
        return pointers

    def transposed(self, vectors: list[str]) -> list[str]:
        """Return the transpose of W vectors of W entries: log2 W stages, each exchanging halves at one distance."""
        n, v = self.lanes.width, self.lanes.vector
        distance = n // 2
        while distance:
            for r in range(n):
                if r & distance:
                    continue
                a, b = vectors[r], vectors[r + distance]
                low = [c if not c & distance else n + c - distance for c in range(n)]
                high = [c + distance if not c & distance else n + c for c in range(n)]
                for index, lanes in ((r, low), (r + distance, high)):
                    mask = "<" + ", ".join(f"i32 {e}" for e in lanes) + ">"
                    vectors[index] = self.emit(f"shufflevector {v} {a}, {v} {b}, <{n} x i32> {mask}")
            distance //= 2
        return vectors

    def groups(self, columns: int, body: Callable[[str, int], None]) -> None:
        """Write `body(first column, number of columns)` for each group of W columns, as a loop if there are many."""
        n = self.lanes.width
        whole = columns // n
        if whole > UNROLLED:
            self.loop(whole * n, n, lambda first: body(first, n))
        for first in range(whole * n if whole > UNROLLED else 0, columns, n):
            body(str(first), min(n, columns - first))

    def loop(self, stop: int | str, step: int, body: Callable[[str], None]) -> None:
        """Write a loop from 0 to `stop`, passed once at least; the counter's name is given to `body`."""
        self.count += 1
        label, before = f"loop{self.count}", self.label
        counter, following = f"%c{self.count}", f"%n{self.count}"
        self.lines += [f"  br label %{label}", f"{label}:", ""]
        head, self.label = len(self.lines) - 1, label
        body(counter)
        self.lines[head] = f"  {counter} = phi i64 [ 0, %{before} ], [ {following}, %{self.label} ]"
        self.lines.append(f"  {following} = add nuw nsw i64 {counter}, {step}")
        again = self.emit(f"icmp slt i64 {following}, {stop}")
        self.lines += [f"  br i1 {again}, label %{label}, label %{label}end", f"{label}end:"]
        self.label = f"{label}end"

    def tiles(self, count: str, body: Callable[[str], None]) -> None:
        """Write a body for each tile of a pass; its number is given to `body`, its workspace is `self.workspace`."""
        if self.plan.tiles == 1:
            body("0")
            return

        def one(number: str) -> None:
            offset = self.emit(f"mul nuw nsw i64 {number}, {self.plan.slots * self.lanes.bytes}")
            self.workspace = self.emit(f"getelementptr inbounds i8, ptr %ws, i64 {offset}")
            body(number)
            self.workspace = "%ws"

        self.loop(count, 1, one)

    def mask(self, count: int) -> str:
        """Return the mask of the first `count` lanes."""
        flags = ", ".join(f"i1 {str(k < count).lower()}" for k in range(self.lanes.width))
        return f"{self.lanes.mask} <{flags}>"

    def at_column(self, pointer: str, first: str) -> str:
        return self.emit(f"getelementptr inbounds {self.lanes.scalar}, ptr {pointer}, i64 {first}")

    def column_slot(self, slot: int, first: str, k: int) -> str:
        """Return the workspace pointer of column `first` + k of an array that starts at a slot."""
        start = self.slot(slot + k)
        return self.emit(f"getelementptr inbounds {self.lanes.vector}, ptr {start}, i64 {first}")

    def read(self, base: str, columns: int, rows: Sequence[str], slot: int) -> None:
        """Turn W rows of an array into one workspace vector for each column."""
        v, align = self.lanes.vector, self.lanes.bytes // self.lanes.width
        pointers = self.row_pointers(base, columns, rows)

        def group(first: str, count: int) -> None:
            vectors = []
            for pointer in pointers:
                at = self.at_column(pointer, first)
                if count == self.lanes.width:
                    vectors.append(self.emit(f"load {v}, ptr {at}, align {align}"))
                else:
                    arguments = f"ptr {at}, i32 {align}, {self.mask(count)}, {v} zeroinitializer"
                    vectors.append(self.emit(f"call {v} @llvm.masked.load.{self.lanes.suffix}.p0({arguments})"))
            for k, vector in enumerate(self.transposed(vectors)[:count]):
                pointer = self.column_slot(slot, first, k)
                self.lines.append(f"  store {v} {vector}, ptr {pointer}, align {self.lanes.bytes}")

        self.groups(columns, group)

    def write(self, base: str, columns: int, rows: Sequence[str], slot: int) -> None:
        """Turn one workspace vector for each column into W rows of an array."""
        v, align = self.lanes.vector, self.lanes.bytes // self.lanes.width
        pointers = self.row_pointers(base, columns, rows)

        def group(first: str, count: int) -> None:
            vectors = []
            for k in range(self.lanes.width):
                source = self.column_slot(slot, first, min(k, count - 1))
                vectors.append(self.emit(f"load {v}, ptr {source}, align {self.lanes.bytes}"))
            for pointer, vector in zip(pointers, self.transposed(vectors), strict=True):
                at = self.at_column(pointer, first)
                if count == self.lanes.width:
                    self.lines.append(f"  store {v} {vector}, ptr {at}, align {align}")
                else:
                    call = f"call void @llvm.masked.store.{self.lanes.suffix}.p0"
                    self.lines.append(f"  {call}({v} {vector}, ptr {at}, i32 {align}, {self.mask(count)})")

        self.groups(columns, group)

    def branch(self, condition: str, yes: Callable[[], None], no: Callable[[], None]) -> None:
        """Write two ways on and their meeting."""
        self.count += 1
        names = [f"{side}{self.count}" for side in ("yes", "no", "meet")]
        self.lines.append(f"  br i1 {condition}, label %{names[0]}, label %{names[1]}")
        for name, body in zip(names, (yes, no), strict=False):
            self.lines.append(f"{name}:")
            self.label = name
            body()
            self.lines.append(f"  br label %{names[2]}")
        self.lines.append(f"{names[2]}:")
        self.label = names[2]


def stream_function(lanes: Lanes) -> str:
    """Return a function that copies scalars past the caches, a whole aligned vector at a time where it can."""
    s, v, n, size = lanes.scalar, lanes.vector, lanes.width, lanes.bytes // lanes.width
    return f"""
define internal void @stream(ptr noalias %to, ptr noalias %from, i64 %count) #0 {{
entry:
  %start = ptrtoint ptr %to to i64
  %ahead = sub i64 0, %start
  %bytes = and i64 %ahead, {lanes.bytes - 1}
  %wanted = udiv exact i64 %bytes, {size}
  %less = icmp ult i64 %count, %wanted
  %first = select i1 %less, i64 %count, i64 %wanted
  br label %head
head:
  %h = phi i64 [ 0, %entry ], [ %h_next, %head_body ]
  %h_more = icmp ult i64 %h, %first
  br i1 %h_more, label %head_body, label %middle
head_body:
  %h_from = getelementptr inbounds {s}, ptr %from, i64 %h
  %h_to = getelementptr inbounds {s}, ptr %to, i64 %h
  %h_value = load {s}, ptr %h_from, align {size}
  store {s} %h_value, ptr %h_to, align {size}
  %h_next = add nuw i64 %h, 1
  br label %head
middle:
  %m = phi i64 [ %first, %head ], [ %m_next, %middle_body ]
  %m_next = add nuw i64 %m, {n}
  %m_more = icmp ule i64 %m_next, %count
  br i1 %m_more, label %middle_body, label %tail
middle_body:
  %m_from = getelementptr inbounds {s}, ptr %from, i64 %m
  %m_to = getelementptr inbounds {s}, ptr %to, i64 %m
  %m_value = load {v}, ptr %m_from, align {size}
  store {v} %m_value, ptr %m_to, align {lanes.bytes}, !nontemporal !0
  br label %middle
tail:
  %t = phi i64 [ %m, %middle ], [ %t_next, %tail_body ]
  %t_more = icmp ult i64 %t, %count
  br i1 %t_more, label %tail_body, label %done
tail_body:
  %t_from = getelementptr inbounds {s}, ptr %from, i64 %t
  %t_to = getelementptr inbounds {s}, ptr %to, i64 %t
  %t_value = load {s}, ptr %t_from, align {size}
  store {s} %t_value, ptr %t_to, align {size}
  %t_next = add nuw i64 %t, 1
  br label %tail
done:
  ret void
}}
!0 = !{{i32 1}}"""


def entry_function(program: Program, plan: Plan, lanes: Lanes) -> str:
    """Return the entry: constants once, then pass by pass, read tiles, compute them block by block, write them."""
    e = _Entry(program, plan, lanes)
    e.lines += [
        "define void @evaluate(",
        "  ptr noalias %inputs, ptr noalias %out, i64 %rows, ptr noalias align 64 %heap) #0 {",
        "entry:",
    ]
    if heap_bytes(plan, lanes):
        e.lines.append("  %ws = getelementptr i8, ptr %heap, i64 0")
    else:
        e.lines.append(f"  %ws = alloca [{plan.tiles * plan.slots * lanes.bytes} x i8], align 64")
    e.tiles(_tile_count(e, "%rows"), lambda _: _prepare(e))
    bases = []
    for k in range(len(program.inputs)):
        entry = e.emit(f"getelementptr inbounds ptr, ptr %inputs, i64 {k}")
        bases.append(e.emit(f"load ptr, ptr {entry}, align 8"))
    last = e.emit("add nsw i64 %rows, -1")

    def one_pass(start: str) -> None:
        tiles = _tile_count(e, e.emit(f"sub nsw i64 %rows, {start}"))
        e.tiles(tiles, lambda tile: _read_tile(e, bases, _rows(e, start, tile, last)))
        for b in range(len(plan.blocks)):
            e.tiles(tiles, lambda _, b=b: e.lines.append(f"  call void @block{b}(ptr {e.workspace})"))
        e.tiles(tiles, lambda tile: _write_results(e, start, tile, _rows(e, start, tile, last)))

    e.loop("%rows", plan.tiles * lanes.width, one_pass)
    if streams(program):
        e.lines.append("  fence seq_cst")  # what went past the caches is there for all
    return "\n".join([*e.lines, "  ret void", "}"])


def _tile_count(e: _Entry, rows: str) -> str:
    """Return how many tiles so many rows fill, at most those of a pass."""
    raised = e.emit(f"add nsw i64 {rows}, {e.lanes.width - 1}")
    filled = e.emit(f"sdiv i64 {raised}, {e.lanes.width}")
    fewer = e.emit(f"icmp slt i64 {filled}, {e.plan.tiles}")
    return e.emit(f"select i1 {fewer}, i64 {filled}, i64 {e.plan.tiles}")


def _prepare(e: _Entry) -> None:
    """Put the results that are constant in their slots."""

    def clear(column: str) -> None:
        at = e.column_slot(e.plan.first_output, column, 0)
        e.lines.append(f"  store {e.lanes.vector} zeroinitializer, ptr {at}, align {e.lanes.bytes}")

    e.loop(len(e.program.results), 1, clear)  # not `memset`: the code refers to nothing outside (see `image`)
    for k in range(len(constant_results(e.program, e.plan))):
        e.lines.append(f"  call void @constants{k}(ptr {e.workspace})")


def _first_row(e: _Entry, start: str, tile: str) -> str:
    return e.emit(f"add nuw nsw i64 {start}, {e.emit(f'mul nuw nsw i64 {tile}, {e.lanes.width}')}")


def _rows(e: _Entry, start: str, tile: str, last: str) -> list[str]:
    """Return the rows of a tile; beyond the last, the last again."""
    first, rows = _first_row(e, start, tile), []
    for lane in range(e.lanes.width):
        row = e.emit(f"add nuw nsw i64 {first}, {lane}")
        beyond = e.emit(f"icmp slt i64 {last}, {row}")
        rows.append(e.emit(f"select i1 {beyond}, i64 {last}, i64 {row}"))
    return rows


def _read_tile(e: _Entry, bases: Sequence[str], rows: Sequence[str]) -> None:
    slot = 0
    for base, array in zip(bases, e.program.inputs, strict=True):
        e.read(base, array.size, rows, slot)
        slot += array.size


def _write_results(e: _Entry, start: str, tile: str, rows: list[str]) -> None:
    """Write the rows of a tile: straight, or of large batches by way of a buffer and past the caches."""
    program, plan, lanes = e.program, e.plan, e.lanes
    columns = len(program.results)

    def straight() -> None:
        e.write("%out", columns, rows, plan.first_output)

    def streamed() -> None:
        buffer = e.slot(plan.slots - columns)
        e.write(buffer, columns, [str(k) for k in range(lanes.width)], plan.first_output)
        first = _first_row(e, start, tile)
        left = e.emit(f"sub nsw i64 %rows, {first}")
        full = e.emit(f"icmp slt i64 {lanes.width}, {left}")
        count = e.emit(f"select i1 {full}, i64 {lanes.width}, i64 {left}")
        entries = e.emit(f"mul nuw nsw i64 {count}, {columns}")
        to = e.row_pointers("%out", columns, [first])[0]
        e.lines.append(f"  call void @stream(ptr {to}, ptr {buffer}, i64 {entries})")

    if not streams(program):
        straight()
        return
    enough = STREAM // (columns * lanes.bytes // lanes.width)
    e.branch(e.emit(f"icmp sgt i64 %rows, {enough}"), streamed, straight)
