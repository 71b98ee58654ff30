"""A program as LLVM IR: vectors of W states at a time, in functions of a few hundred operations.

The module has one entry, `evaluate(inputs, out, rows, libm, heap)`. For every tile of W states it reads the rows of the
inputs and turns them, in registers, into one vector for each entry; runs the program's blocks, which hand values on
through a workspace (on the stack, or on the heap where it is large); and writes the results back as rows. The last tile
repeats the last state in its idle lanes.

Splitting keeps code generation linear in the length of the program and live ranges short (PERFORMANCE, fact 1).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cardan.program.ops import SPEC, Kind, Op
from cardan.program.program import Program
from cardan.program.targets.llvm_math import SINCOS, sincos_definition

BLOCK = 500  # operations in a function
STORES = 200  # results a function stores; code generation is quadratic in them
STACK = 128 * 1024  # bytes of workspace that go on the stack; a thread may have no more than 512 kB
UNROLLED = 4  # groups of W columns that are transposed without a loop
FAST_RANGE = 1e12  # largest angle the inline sine and cosine reduce exactly enough
LIBM = ("tan", "asin", "acos", "atan2", "exp", "log")  # called lane by lane, through a table of addresses

_PLAIN = {Op.ADD: "fadd contract", Op.SUB: "fsub contract", Op.MUL: "fmul contract", Op.DIV: "fdiv", Op.NEG: "fneg"}
_COMPARE = {Op.LT: "olt", Op.LE: "ole", Op.EQ: "oeq"}
_LOGIC = {Op.AND: "and", Op.OR: "or"}
_INTRINSIC = {Op.SQRT: "sqrt", Op.ABS: "fabs", Op.FLOOR: "floor", Op.MIN: "minimum", Op.MAX: "maximum"}
_CALL = {Op.TAN: "tan", Op.ASIN: "asin", Op.ACOS: "acos", Op.ATAN2: "atan2", Op.EXP: "exp", Op.LOG: "log"}


@dataclass(frozen=True, slots=True)
class Lanes:
    """What a value is in this module: W lanes of double or float."""

    width: int
    scalar: str  # "double" or "float"

    @property
    def vector(self) -> str:
        """The LLVM type."""
        return f"<{self.width} x {self.scalar}>"

    @property
    def mask(self) -> str:
        """The LLVM type of a truth value."""
        return f"<{self.width} x i1>"

    @property
    def suffix(self) -> str:
        """The ending of intrinsics on this type."""
        return f"v{self.width}f{64 if self.scalar == 'double' else 32}"

    @property
    def bytes(self) -> int:
        """Size of a vector."""
        return self.width * (8 if self.scalar == "double" else 4)

    def constant(self, value: float) -> str:
        """Return a number in every lane, as LLVM writes it."""
        if self.scalar == "float":
            value = struct.unpack("f", struct.pack("f", value))[0]
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return "<" + ", ".join([f"{self.scalar} 0x{bits:016X}"] * self.width) + ">"


@dataclass(slots=True)
class Plan:
    """Which block computes each instruction, and where in the workspace values wait."""

    blocks: list[list[int]]
    slot: dict[int, int] = field(default_factory=dict)
    copies: dict[int, list[int]] = field(default_factory=dict)
    slots: int = 0
    flag: int = 0
    first_output: int = 0


def plan_program(program: Program) -> Plan:
    """Return the blocks and the workspace: inputs first, then outputs, then values that cross from block to block.

    A crossing value's slot is free again after the last block that reads it.
    """
    inputs = sum(a.size for a in program.inputs)
    copies: dict[int, list[int]] = {}
    for position, k in enumerate(program.results):
        copies.setdefault(k, []).append(inputs + position)
    blocks = _blocks(program, copies)
    block_of = {k: b for b, block in enumerate(blocks) for k in block}
    plan = Plan(blocks, copies=copies, first_output=inputs, flag=inputs + len(program.results))
    last_reader: dict[int, int] = {}
    for b, block in enumerate(blocks):
        for k in block:
            for a in program.instructions[k].args:
                if block_of.get(a, b) != b:
                    last_reader[a] = b
    plan.slots = _assign_slots(plan, blocks, last_reader)
    return plan


def heap_bytes(plan: Plan, lanes: Lanes) -> int:
    """Return the bytes of workspace the caller must provide; 0 where the stack serves."""
    size = plan.slots * lanes.bytes
    return size if size > STACK else 0


def _blocks(program: Program, copies: dict[int, list[int]]) -> list[list[int]]:
    """Return the instructions in blocks of at most `BLOCK` operations and about `STORES` results."""
    blocks: list[list[int]] = [[]]
    stores = 0
    for k, instruction in enumerate(program.instructions):
        if instruction.op in (Op.INPUT, Op.CONST):
            continue
        if len(blocks[-1]) >= BLOCK or stores >= STORES:
            blocks.append([])
            stores = 0
        blocks[-1].append(k)
        stores += len(copies.get(k, ()))
    return blocks


def _assign_slots(plan: Plan, blocks: list[list[int]], last_reader: dict[int, int]) -> int:
    free: list[int] = []
    top = plan.flag + 1
    expiring: dict[int, list[int]] = {}
    for b, block in enumerate(blocks):
        for k in block:
            if k not in last_reader:
                continue
            if k in plan.copies:
                plan.slot[k] = plan.copies[k][0]
                continue
            if free:
                plan.slot[k] = free.pop()
            else:
                plan.slot[k], top = top, top + 1
            expiring.setdefault(last_reader[k], []).append(plan.slot[k])
        free += expiring.pop(b, [])
    return top


class _Block:
    """Writes one block function."""

    def __init__(self, program: Program, plan: Plan, lanes: Lanes, number: int) -> None:
        self.program, self.plan, self.lanes, self.number = program, plan, lanes, number
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.pairs: dict[int, tuple[str, str]] = {}
        self.pointers: dict[int, str] = {}
        self.far: list[str] = []
        self.count = 0

    def text(self) -> str:
        """Return the whole function."""
        block = self.plan.blocks[self.number]
        for k in block:
            self.names[k] = self.compute(k)
            self.keep(k)
        if self.number == len(self.plan.blocks) - 1:
            self.copy_input_results()
        self.raise_flag()
        head = f"define internal void @block{self.number}(ptr noalias align 64 %ws, ptr %libm) #0 {{"
        return "\n".join([head, *self.lines, "  ret void", "}"])

    def fresh(self) -> str:
        self.count += 1
        return f"%t{self.count}"

    def emit(self, expression: str) -> str:
        name = self.fresh()
        self.lines.append(f"  {name} = {expression}")
        return name

    def pointer(self, slot: int) -> str:
        if slot not in self.pointers:
            offset = slot * self.lanes.bytes
            self.pointers[slot] = self.emit(f"getelementptr inbounds i8, ptr %ws, i64 {offset}")
        return self.pointers[slot]

    def load(self, slot: int) -> str:
        return self.emit(f"load {self.lanes.vector}, ptr {self.pointer(slot)}, align {self.lanes.bytes}")

    def store(self, name: str, slot: int) -> None:
        self.lines.append(f"  store {self.lanes.vector} {name}, ptr {self.pointer(slot)}, align {self.lanes.bytes}")

    def value(self, k: int) -> str:
        """Return the name of a value, loaded or written out if this block did not compute it."""
        if k not in self.names:
            op, _, number = self.program.instructions[k]
            if op is Op.CONST:
                self.names[k] = self.lanes.constant(number)
            elif op is Op.INPUT:
                self.names[k] = self.load(int(number))
            else:
                loaded = self.load(self.plan.slot[k])
                if SPEC[op].result is Kind.BOOL:
                    loaded = self.emit(f"fcmp one {self.lanes.vector} {loaded}, zeroinitializer")
                self.names[k] = loaded
        return self.names[k]

    def keep(self, k: int) -> None:
        """Store a value where later blocks and the outputs look for it."""
        slots = list(self.plan.copies.get(k, []))
        if k in self.plan.slot and self.plan.slot[k] not in slots:
            slots.append(self.plan.slot[k])
        if not slots:
            return
        name = self.names[k]
        if SPEC[self.program.instructions[k].op].result is Kind.BOOL:
            one = self.lanes.constant(1.0)
            name = self.emit(
                f"select {self.lanes.mask} {name}, {self.lanes.vector} {one}, {self.lanes.vector} zeroinitializer"
            )
        for slot in slots:
            self.store(name, slot)

    def copy_input_results(self) -> None:
        """Store the results that are an input."""
        for k, slots in self.plan.copies.items():
            if self.program.instructions[k].op is Op.INPUT:
                for slot in slots:
                    self.store(self.value(k), slot)

    def raise_flag(self) -> None:
        """Set the flag's lanes where an angle was too large for the inline sine and cosine."""
        if not self.far:
            return
        mask, v = self.far[0], self.lanes.vector
        for other in self.far[1:]:
            mask = self.emit(f"or {self.lanes.mask} {mask}, {other}")
        before = self.load(self.plan.flag)
        one = self.lanes.constant(1.0)
        self.store(self.emit(f"select {self.lanes.mask} {mask}, {v} {one}, {v} {before}"), self.plan.flag)

    def compute(self, k: int) -> str:
        """Write one instruction and return the name of its value."""
        op, args, _ = self.program.instructions[k]
        if op in (Op.SIN, Op.COS):
            return self.sincos(args[0])[0 if op is Op.SIN else 1]
        names, v = [self.value(a) for a in args], self.lanes.vector
        if op in _PLAIN:
            return self.emit(f"{_PLAIN[op]} {v} {', '.join(names)}")
        if op in _COMPARE:
            return self.emit(f"fcmp {_COMPARE[op]} {v} {', '.join(names)}")
        if op in _LOGIC:
            return self.emit(f"{_LOGIC[op]} {self.lanes.mask} {', '.join(names)}")
        if op is Op.NOT:
            ones = "<" + ", ".join(["i1 true"] * self.lanes.width) + ">"
            return self.emit(f"xor {self.lanes.mask} {names[0]}, {ones}")
        if op is Op.SELECT:
            return self.emit(f"select {self.lanes.mask} {names[0]}, {v} {names[1]}, {v} {names[2]}")
        if op is Op.SIGN:
            return self.sign(names[0])
        if op in _INTRINSIC:
            arguments = ", ".join(f"{v} {name}" for name in names)
            return self.emit(f"call {v} @llvm.{_INTRINSIC[op]}.{self.lanes.suffix}({arguments})")
        return self.library(_CALL[op], names)

    def sign(self, x: str) -> str:
        """Write -1, 0 or 1; NaN and signed zeros pass as they are."""
        v, one = self.lanes.vector, self.lanes.constant(1.0)
        above, below = (self.emit(f"fcmp {c} {v} {x}, zeroinitializer") for c in ("ogt", "olt"))
        lower = self.emit(f"select {self.lanes.mask} {below}, {v} {self.lanes.constant(-1.0)}, {v} {x}")
        return self.emit(f"select {self.lanes.mask} {above}, {v} {one}, {v} {lower}")

    def sincos(self, a: int) -> tuple[str, str]:
        """Write sine and cosine of a value together, once; what is not used is removed by code generation."""
        if a not in self.pairs:
            v, x = self.lanes.vector, self.value(a)
            size = self.emit(f"call {v} @llvm.fabs.{self.lanes.suffix}({v} {x})")
            self.far.append(self.emit(f"fcmp ogt {v} {size}, {self.lanes.constant(FAST_RANGE)}"))
            pair = self.emit(f"call {{{v}, {v}}} @{SINCOS}({v} {x})")
            self.pairs[a] = tuple(self.emit(f"extractvalue {{{v}, {v}}} {pair}, {i}") for i in (0, 1))  # pyright: ignore[reportArgumentType]
        return self.pairs[a]

    def library(self, name: str, names: Sequence[str]) -> str:
        """Call a function of the C library on every lane, in double precision."""
        scalar, v = self.lanes.scalar, self.lanes.vector
        entry = self.emit(f"getelementptr inbounds ptr, ptr %libm, i64 {LIBM.index(name)}")
        function = self.emit(f"load ptr, ptr {entry}, align 8")
        result = "undef"
        for lane in range(self.lanes.width):
            parts = [self.emit(f"extractelement {v} {x}, i32 {lane}") for x in names]
            if scalar == "float":
                parts = [self.emit(f"fpext float {p} to double") for p in parts]
            value = self.emit(f"call double {function}({', '.join(f'double {p}' for p in parts)})")
            if scalar == "float":
                value = self.emit(f"fptrunc double {value} to float")
            result = self.emit(f"insertelement {v} {result}, {scalar} {value}, i32 {lane}")
        return result


def llvm_text(program: Program, lanes: Lanes, plan: Plan | None = None) -> str:
    """Return the module."""
    plan = plan or plan_program(program)
    blocks = [_Block(program, plan, lanes, b).text() for b in range(len(plan.blocks))]
    uses_angles = any(i.op in (Op.SIN, Op.COS) for i in program.instructions)
    constants = [_constant_function(k, stores, lanes) for k, stores in enumerate(_constants(program, plan))]
    parts = [*blocks, *constants, _entry(program, plan, lanes), _declarations(lanes)]
    if uses_angles:
        parts.append(sincos_definition(lanes.width, lanes.scalar))
    width = 8 * lanes.bytes
    attributes = f'"prefer-vector-width"="{width}" "min-legal-vector-width"="{width}"'
    parts.append(f"attributes #0 = {{ noinline nounwind alignstack=64 {attributes} }}")
    parts.append(f"attributes #1 = {{ alwaysinline nounwind {attributes} }}")
    return "\n\n".join(parts)


def _constants(program: Program, plan: Plan) -> list[list[tuple[float, int]]]:
    """Return the results that are a number other than 0, with their slots, in groups of at most `STORES`."""
    numbers = {k: i.value for k, i in enumerate(program.instructions) if i.op is Op.CONST and i.value != 0.0}
    stores = [(number, slot) for k, number in numbers.items() for slot in plan.copies.get(k, ())]
    return [stores[s : s + STORES] for s in range(0, len(stores), STORES)]


def _constant_function(number: int, stores: list[tuple[float, int]], lanes: Lanes) -> str:
    """Return a function that puts constant results in their slots, where they stay for all tiles."""
    lines = [f"define internal void @constants{number}(ptr noalias align 64 %ws) #0 {{"]
    for k, (value, slot) in enumerate(stores):
        lines.append(f"  %p{k} = getelementptr inbounds i8, ptr %ws, i64 {slot * lanes.bytes}")
        lines.append(f"  store {lanes.vector} {lanes.constant(value)}, ptr %p{k}, align {lanes.bytes}")
    return "\n".join([*lines, "  ret void", "}"])


def _declarations(lanes: Lanes) -> str:
    v, s, n = lanes.vector, lanes.suffix, lanes.width
    one = [f"declare {v} @llvm.{f}.{s}({v})" for f in ("sqrt", "fabs", "floor")]
    two = [f"declare {v} @llvm.{f}.{s}({v}, {v})" for f in ("minimum", "maximum")]
    memory = [
        f"declare {v} @llvm.masked.load.{s}.p0(ptr, i32 immarg, <{n} x i1>, {v})",
        f"declare void @llvm.masked.store.{s}.p0({v}, ptr, i32 immarg, <{n} x i1>)",
    ]
    memory.append("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1 immarg)")
    return "\n".join(one + two + memory)


# --- the entry: tiles, transposition ---------------------------------------------------------------------------


class _Entry:
    """Writes the entry function."""

    def __init__(self, program: Program, plan: Plan, lanes: Lanes) -> None:
        self.program, self.plan, self.lanes = program, plan, lanes
        self.lines: list[str] = []
        self.count = 0
        self.label = "tile"

    def emit(self, expression: str) -> str:
        self.count += 1
        self.lines.append(f"  %e{self.count} = {expression}")
        return f"%e{self.count}"

    def slot(self, slot: int) -> str:
        return self.emit(f"getelementptr inbounds i8, ptr %ws, i64 {slot * self.lanes.bytes}")

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

    def loop(self, stop: int, step: int, body: Callable[[str], None]) -> None:
        """Write a loop from 0 to `stop`; the counter's name is given to `body`."""
        self.count += 1
        label, before = f"loop{self.count}", self.label
        counter, following = f"%c{self.count}", f"%n{self.count}"
        self.lines += [f"  br label %{label}", f"{label}:"]
        self.lines.append(f"  {counter} = phi i64 [ 0, %{before} ], [ {following}, %{label} ]")
        self.label = label
        body(counter)
        self.lines.append(f"  {following} = add nuw nsw i64 {counter}, {step}")
        again = self.emit(f"icmp slt i64 {following}, {stop}")
        self.lines += [f"  br i1 {again}, label %{label}, label %{label}end", f"{label}end:"]
        self.label = f"{label}end"

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


def _entry(program: Program, plan: Plan, lanes: Lanes) -> str:
    e, v = _Entry(program, plan, lanes), lanes.vector
    e.lines += [
        "define i32 @evaluate(",
        "  ptr noalias %inputs, ptr noalias %out, i64 %rows, ptr noalias %libm, ptr noalias align 64 %heap) #0 {",
        "entry:",
    ]
    if heap_bytes(plan, lanes):
        e.lines.append("  %ws = getelementptr i8, ptr %heap, i64 0")
    else:
        e.lines.append(f"  %ws = alloca [{plan.slots * lanes.bytes} x i8], align 64")
    flag = e.slot(plan.flag)
    e.lines.append(f"  store {v} zeroinitializer, ptr {flag}, align {lanes.bytes}")
    size = len(program.results) * lanes.bytes
    e.lines.append(
        f"  call void @llvm.memset.p0.i64(ptr align 64 {e.slot(plan.first_output)}, i8 0, i64 {size}, i1 false)"
    )
    e.lines += [f"  call void @constants{k}(ptr %ws)" for k in range(len(_constants(program, plan)))]
    bases = []
    for k in range(len(program.inputs)):
        entry = e.emit(f"getelementptr inbounds ptr, ptr %inputs, i64 {k}")
        bases.append(e.emit(f"load ptr, ptr {entry}, align 8"))
    last = e.emit("add nsw i64 %rows, -1")
    e.lines += ["  br label %head", "head:", "  %start = phi i64 [ 0, %entry ], [ %next, %LAST ]"]
    e.lines += ["  %more = icmp slt i64 %start, %rows", "  br i1 %more, label %tile, label %done", "tile:"]
    rows = []
    for lane in range(lanes.width):
        row = e.emit(f"add nuw nsw i64 %start, {lane}")
        beyond = e.emit(f"icmp slt i64 {last}, {row}")
        rows.append(e.emit(f"select i1 {beyond}, i64 {last}, i64 {row}"))
    slot = 0
    for base, array in zip(bases, program.inputs, strict=True):
        e.read(base, array.size, rows, slot)
        slot += array.size
    e.lines += [f"  call void @block{b}(ptr %ws, ptr %libm)" for b in range(len(plan.blocks))]
    e.write("%out", len(program.results), rows, plan.first_output)
    e.lines = [line.replace("%LAST", f"%{e.label}") for line in e.lines]
    e.lines += [f"  %next = add nuw nsw i64 %start, {lanes.width}", "  br label %head", "done:"]
    flags = e.emit(f"load {v}, ptr {flag}, align {lanes.bytes}")
    raised = e.emit(f"fcmp one {v} {flags}, zeroinitializer")
    bits = e.emit(f"bitcast {lanes.mask} {raised} to i{lanes.width}")
    any_raised = e.emit(f"icmp ne i{lanes.width} {bits}, 0")
    status = e.emit(f"zext i1 {any_raised} to i32")
    return "\n".join([*e.lines, f"  ret i32 {status}", "}"])
