"""A program as LLVM IR: vectors of W states at a time, in functions of a few hundred operations.

The module has one entry, `evaluate(inputs, out, rows, heap)`. For every tile of W states it reads the rows of the
inputs and turns them, in registers, into one vector for each entry (`llvm_entry`); runs the program's blocks, which
hand values on through a workspace (on the stack, or on the heap where it is large); and writes the results back as
rows. The last tile repeats the last state in its idle lanes.
"""

from __future__ import annotations

from cardan.program.ops import SPEC, Kind, Op
from cardan.program.program import Program
from cardan.targets.llvm.entry import constant_function, constant_results, entry_function, stream_function
from cardan.targets.llvm.math import SINCOS, function_name, math_definitions
from cardan.targets.llvm.plan import Lanes, Plan, plan_program, streams

_PLAIN = {Op.ADD: "fadd contract", Op.SUB: "fsub contract", Op.MUL: "fmul contract", Op.DIV: "fdiv", Op.NEG: "fneg"}
_COMPARE = {Op.LT: "olt", Op.LE: "ole", Op.EQ: "oeq"}
_LOGIC = {Op.AND: "and", Op.OR: "or"}
_INTRINSIC = {Op.SQRT: "sqrt", Op.ABS: "fabs", Op.FLOOR: "floor", Op.MIN: "minimum", Op.MAX: "maximum"}


class _Block:
    """Writes one block function."""

    def __init__(self, program: Program, plan: Plan, lanes: Lanes, number: int) -> None:
        self.program, self.plan, self.lanes, self.number = program, plan, lanes, number
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.pairs: dict[int, tuple[str, str]] = {}
        self.pointers: dict[int, str] = {}
        self.count = 0

    def text(self) -> str:
        """Return the whole function."""
        block = self.plan.blocks[self.number]
        for k in block:
            self.names[k] = self.compute(k)
            self.keep(k)
        if self.number == len(self.plan.blocks) - 1:
            self.copy_input_results()
        head = f"define internal void @block{self.number}(ptr noalias align {self.lanes.bytes} %ws) #0 {{"
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
        function = f"llvm.{_INTRINSIC[op]}.{self.lanes.suffix}" if op in _INTRINSIC else function_name(op)
        return self.emit(f"call {v} @{function}({', '.join(f'{v} {name}' for name in names)})")

    def sign(self, x: str) -> str:
        """Write -1, 0 or 1; NaN and signed zeros pass as they are."""
        v, one = self.lanes.vector, self.lanes.constant(1.0)
        above, below = (self.emit(f"fcmp {c} {v} {x}, zeroinitializer") for c in ("ogt", "olt"))
        lower = self.emit(f"select {self.lanes.mask} {below}, {v} {self.lanes.constant(-1.0)}, {v} {x}")
        return self.emit(f"select {self.lanes.mask} {above}, {v} {one}, {v} {lower}")

    def sincos(self, a: int) -> tuple[str, str]:
        """Write sine and cosine of a value together, once; what is not used is removed by code generation."""
        if a not in self.pairs:
            v = self.lanes.vector
            pair = self.emit(f"call {{{v}, {v}}} @{SINCOS}({v} {self.value(a)})")
            self.pairs[a] = tuple(self.emit(f"extractvalue {{{v}, {v}}} {pair}, {i}") for i in (0, 1))  # pyright: ignore[reportArgumentType]
        return self.pairs[a]


def llvm_text(program: Program, lanes: Lanes, plan: Plan | None = None) -> str:
    """Return the module."""
    plan = plan or plan_program(program)
    blocks = [_Block(program, plan, lanes, b).text() for b in range(len(plan.blocks))]
    constants = [constant_function(k, stores, lanes) for k, stores in enumerate(constant_results(program, plan))]
    parts = [*blocks, *constants, entry_function(program, plan, lanes), _declarations(lanes)]
    if streams(program):
        parts.append(stream_function(lanes))
    parts += math_definitions({i.op for i in program.instructions}, lanes)
    width = 8 * lanes.bytes
    attributes = f'"prefer-vector-width"="{width}" "min-legal-vector-width"="{width}"'
    parts.append(f"attributes #0 = {{ noinline nounwind alignstack=64 {attributes} }}")
    parts.append(f"attributes #1 = {{ alwaysinline nounwind {attributes} }}")
    return "\n\n".join(parts)


def _declarations(lanes: Lanes) -> str:
    v, s, n = lanes.vector, lanes.suffix, lanes.width
    one = [f"declare {v} @llvm.{f}.{s}({v})" for f in ("sqrt", "fabs", "floor")]
    two = [f"declare {v} @llvm.{f}.{s}({v}, {v})" for f in ("minimum", "maximum")]
    memory = [
        f"declare {v} @llvm.masked.load.{s}.p0(ptr, i32 immarg, <{n} x i1>, {v})",
        f"declare void @llvm.masked.store.{s}.p0({v}, ptr, i32 immarg, <{n} x i1>)",
    ]
    return "\n".join(one + two + memory)
