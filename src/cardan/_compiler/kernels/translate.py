"""From the source of a kernel to LLVM IR.

What a kernel may say:

    x = ..., x += ...; a[i, j] = ...; r.count = ...      a name keeps the type of its first value
    for i in range(...), for i in unrolled(4), which is written four times, while, if, break, continue, return
    + - * / // % & | ^ << >> on whole numbers, + - * / on doubles and vectors; comparisons, and, or, not, a if b else c
    min, max, abs, int, float, sqrt, floor, fma, lowest_one, scratch, vectors, tail, run, call;
    greater, are_positive, turn of vectors; is_any; other kernels; numbers of the module

An array indexed by fewer numbers than it has dimensions is a view of a row. Arrays given to one call do not overlap.
Sums and products stay as they are written: a multiply-add is one where it is called `fma`, so that bits are the same on
every processor. Indices are not checked; the Python function itself, on arrays of NumPy, does that.

A kernel compiled across (`Kernel.across`) has eight cases in the lanes of vectors, which take the place of doubles. A
comparison is then a truth value for each case, and `and`, `or` and `a if b else c` compute all their parts.
"""

from __future__ import annotations

import ast
import inspect
import struct
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from cardan._algebra.errors import TargetError
from cardan._compiler.kernels import language
from cardan._compiler.kernels.types import (
    F64,
    INT,
    LANES,
    MASK,
    PROGRAM,
    REAL,
    TRUTH,
    VECTOR,
    WIDTH,
    ArrayType,
    Scalar,
    Type,
    across,
)
from cardan._compiler.targets.llvm.writer import CodeWriter, result_type

NUMBERS = (INT, REAL, TRUTH, VECTOR)
WHOLE = {ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "ashr"}
SIMPLE = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
COMPARED = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
# What memory holds: so that a store of a double is known to change no whole number, and no place of an array.
KINDS = {"words": 1, "F64": 2, "LANES": 2, "I32": 3, "I64": 4}
METADATA = ['!0 = !{!"cardan"}', *(f'!{n} = !{{!"kind {n}", !0}}' for n in (1, 2, 3, 4))]
METADATA += [f"!{10 + n} = !{{!{n}, !{n}, i64 0}}" for n in (1, 2, 3, 4)]
# Passes of a loop that nobody knows the number of are not written out: few run so often that it pays.
METADATA += ['!21 = !{!"llvm.loop.unroll.runtime.disable"}', '!23 = !{!"llvm.loop.vectorize.enable", i1 false}']
METADATA += ["!20 = distinct !{!20, !21}", "!22 = distinct !{!22, !21, !23}"]


class Value(NamedTuple):
    kind: Type
    name: str  # in LLVM: of an array where it begins


class Signature(NamedTuple):
    """A kernel to those that call it."""

    name: str
    parameters: Mapping[str, Type]
    returns: tuple[Type, ...]
    inlined: bool | None = None

    def across(self) -> Signature:
        kinds = {name: across(kind) for name, kind in self.parameters.items()}
        return self._replace(parameters=kinds, returns=tuple(map(across, self.returns)))

    @property
    def result(self) -> list[str]:
        return [llvm(kind) for kind in self.returns]


def llvm(kind: Type) -> str:
    return kind.llvm if isinstance(kind, Scalar) else "ptr"


class Translator(CodeWriter):
    """Writes one kernel."""

    def __init__(self, own: Any, numbers: Mapping[str, Any], is_across: bool) -> None:
        super().__init__()
        self.is_across = is_across
        function, self.signature = own.python, self.seen(own.signature)
        self.scope: dict[str, Any] = {**function.__globals__, **inspect.getclosurevars(function).nonlocals, **numbers}
        self.tree: Any = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        self.code = function.__code__
        self.variables: dict[str, Value] = {}  # where each name's value is kept
        self.places: list[str] = []  # of variables and arrays of its own, made at the beginning
        self.loops: list[tuple[str, str]] = []  # labels to go on at, and to leave for
        self.called: dict[str, Any] = {}  # the kernels that it calls
        self.node: ast.AST = self.tree
        self.ended = False  # whether what follows is never reached

    def text(self) -> str:
        parameters = self.signature.parameters
        for name, kind in parameters.items():
            self.variables[name] = self.variable(name, kind)
            self.line(f"store {llvm(kind)} %{name}, ptr {self.variables[name].name}")
        self.block(self.tree.body)
        if not self.ended:
            self.line("ret void" if not self.signature.returns else "unreachable")
        given = [(llvm(kind) + " noalias" * isinstance(kind, ArrayType), f"%{n}") for n, kind in parameters.items()]
        # What is given records alone, or a record and calls others, is a part of something large: written once it
        # compiles in two thirds of the time, and steps take as long.
        is_record = [not isinstance(kind, (Scalar, ArrayType)) for kind in parameters.values()]
        is_part = bool(given) and (all(is_record) or (is_record[0] and bool(self.called)))
        is_once = is_part if self.signature.inlined is None else not self.signature.inlined
        inlined = "alwaysinline " if self.signature.inlined else "noinline " * is_once
        result = f"internal {result_type(self.signature.result)}"
        return self.defined(result, self.signature.name, given, f"{inlined}#0", self.places)

    # --- what is written ---

    def seen(self, what: Any) -> Any:
        """Return the type of a field, or a signature, as it is here."""
        if not self.is_across:
            return what
        return what.across() if isinstance(what, Signature) else across(what)

    def fail(self, why: str) -> NoReturn:
        line = self.code.co_firstlineno + getattr(self.node, "lineno", 1) - 1
        raise TargetError(f"kernel {self.signature.name}, {self.code.co_filename}:{line}: {why}")

    def variable(self, name: str, kind: Type) -> Value:
        self.count += 1
        self.places.append(f"  %{name}.{self.count} = alloca {llvm(kind)}")
        return Value(kind, f"%{name}.{self.count}")

    def fetch(self, kind: str, pointer: str, item: str, align: int) -> str:
        return self.emit(f"load {kind}, ptr {pointer}, align {align}, !tbaa !{10 + KINDS[item]}")

    def put(self, kind: str, value: str, pointer: str, item: str, align: int) -> None:
        self.line(f"store {kind} {value}, ptr {pointer}, align {align}, !tbaa !{10 + KINDS[item]}")

    def jump(self, label: str) -> None:
        if not label:
            self.fail("break and continue are for loops that are not unrolled")
        if not self.ended:
            self.line(f"br label %{label}")

    def start(self, label: str) -> None:
        self.label(label)
        self.ended = False

    def labels(self, *names: str) -> list[str]:
        self.count += 1
        return [f"{name}{self.count}" for name in names]

    # --- statements ---

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self.ended:
                self.fail("a statement is never reached")
            self.node = statement
            write = getattr(self, f"write_{type(statement).__name__}", None)
            if write is None:
                self.fail(f"a kernel has no statement {type(statement).__name__}")
            write(statement)

    def write_Pass(self, _: ast.Pass) -> None: ...

    def write_Expr(self, statement: ast.Expr) -> None:
        if not (isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)):
            self.values(statement.value)

    def write_Assign(self, statement: ast.Assign) -> None:
        (target,) = statement.targets
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        found = self.values(statement.value)
        if len(found) != len(targets):
            self.fail(f"{len(found)} values for {len(targets)} names")
        for part, value in zip(targets, found, strict=True):
            self.assign(part, value)

    def write_AugAssign(self, statement: ast.AugAssign) -> None:
        target: Any = statement.target
        if isinstance(target, ast.Subscript):
            kind, pointer = self.place(target)
            new = self.operation(statement.op, self.entry(kind, pointer), self.value(statement.value))
            self.set_entry(kind, pointer, new)
        else:
            self.assign(target, self.operation(statement.op, self.value(target), self.value(statement.value)))

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            if target.id not in self.variables:
                self.variables[target.id] = self.variable(target.id, value.kind)
            kind, pointer = self.variables[target.id]
            if kind != value.kind:
                self.fail(f"{target.id} is of type {kind!r}, and is given {value.kind!r}")
            self.line(f"store {llvm(kind)} {value.name}, ptr {pointer}")
        elif isinstance(target, ast.Subscript):
            self.set_entry(*self.place(target), value)
        elif isinstance(target, ast.Attribute):
            kind, pointer = self.field(target)
            if kind != value.kind:
                self.fail(f"{target.attr} is of type {kind!r}, and is given {value.kind!r}")
            self.put(llvm(kind), value.name, pointer, "words", 8)
        else:
            self.fail("only names, entries of arrays and numbers of records are given values")

    def write_Return(self, statement: ast.Return) -> None:
        found = self.values(statement.value) if statement.value else []
        if tuple(value.kind for value in found) != self.signature.returns:
            self.fail(f"it returns {[v.kind for v in found]}, and is said to return {list(self.signature.returns)}")
        self.give([(llvm(kind), name) for kind, name in found])
        self.ended = True

    def write_If(self, statement: ast.If) -> None:
        test = self.number(statement.test, TRUTH)
        self.fork(test, lambda: self.block(statement.body), lambda: self.block(statement.orelse))

    def fork(self, test: str, yes: Callable[[], None], no: Callable[[], None]) -> None:
        """Write two ways on, and their meeting unless both end."""
        here, there, end = self.labels("yes", "no", "end")
        self.line(f"br i1 {test}, label %{here}, label %{there}")
        ends = []
        for label, write in ((here, yes), (there, no)):
            self.start(label)
            write()
            ends.append(self.ended)
            self.jump(end)
        if not all(ends):
            self.start(end)

    def write_While(self, statement: ast.While) -> None:
        head, body, end = self.labels("head", "body", "end")
        self.jump(head)
        self.start(head)
        self.line(f"br i1 {self.number(statement.test, TRUTH)}, label %{body}, label %{end}")
        self.start(body)
        self.inside(statement.body, head, end)
        self.jump(head)
        self.start(end)

    def write_For(self, statement: ast.For) -> None:
        call: Any = statement.iter
        target = statement.target
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "unrolled":
            count = self.number(call.args[0], INT)
            if not count.isdigit():
                self.fail("unrolled takes a number that is known")
            for k in range(int(count)):
                self.assign(target, Value(INT, str(k)))
                self.inside(statement.body, "", "")
            return
        ranged = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        if not ranged or not isinstance(target, ast.Name) or statement.orelse:
            self.fail("loops are `for name in range(...)`")
        bounds = [self.number(e, INT) for e in call.args]
        first, stop, step = ["0", *bounds, "1"] if len(bounds) == 1 else [*bounds, "1"][:3]
        down = step.startswith("-")
        if not step.lstrip("-").isdigit():
            self.fail("the step of a range is a number")
        head, body, more, end = self.labels("head", "body", "more", "end")
        counter = self.variable("counter", INT).name
        self.line(f"store i64 {first}, ptr {counter}")
        self.jump(head)
        self.start(head)
        now = self.emit(f"load i64, ptr {counter}")
        going = self.whole("icmp sgt" if down else "icmp slt", now, stop)
        self.line(f"br i1 {going}, label %{body}, label %{end}")
        self.start(body)
        self.assign(target, Value(INT, now))
        self.inside(statement.body, more, end)
        self.jump(more)
        self.start(more)
        following = self.whole("add nsw", self.emit(f"load i64, ptr {counter}"), step)
        self.line(f"store i64 {following}, ptr {counter}")
        # what does more than fill entries is no faster in vectors, or names its own, and takes long to compile in them
        fills = all(isinstance(own, ast.Assign) and isinstance(own.targets[0], ast.Subscript) for own in statement.body)
        self.line(f"br label %{head}, !llvm.loop !{20 if fills else 22}")
        self.start(end)

    def inside(self, body: Sequence[ast.stmt], more: str, end: str) -> None:
        self.loops.append((more, end))
        self.block(body)
        self.loops.pop()

    def write_Break(self, _: ast.Break) -> None:
        self.jump(self.loops[-1][1])
        self.ended = True

    def write_Continue(self, _: ast.Continue) -> None:
        self.jump(self.loops[-1][0])
        self.ended = True

    # --- expressions ---

    def value(self, node: ast.expr) -> Value:
        found = self.values(node)
        if len(found) != 1:
            self.fail(f"{len(found)} values where one is needed")
        return found[0]

    def values(self, node: ast.expr) -> list[Value]:
        read = getattr(self, f"read_{type(node).__name__}", None)
        if read is None:
            self.fail(f"a kernel has no expression {type(node).__name__}")
        found = read(node)
        return found if isinstance(found, list) else [found]

    def number(self, node: ast.expr, kind: Type) -> str:
        value = self.value(node)
        if value.kind != kind:
            self.fail(f"{ast.unparse(node)} is of type {value.kind!r}, not {kind!r}")
        return value.name

    def read_Tuple(self, node: ast.Tuple) -> list[Value]:
        return [self.value(e) for e in node.elts]

    def constant(self, value: Any) -> Value:
        if isinstance(value, bool):
            return Value(TRUTH, str(value).lower())
        if isinstance(value, int):
            return Value(INT, str(value))
        if isinstance(value, float):
            bits = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
            return Value(VECTOR, f"<{', '.join([f'double {bits}'] * WIDTH)}>") if self.is_across else Value(REAL, bits)
        return self.fail(f"{value!r} is no number that a kernel knows")

    def read_Constant(self, node: ast.Constant) -> Value:
        return self.constant(node.value)

    def read_Name(self, node: ast.Name) -> Value:
        if node.id not in self.variables:
            return self.constant(self.scope[node.id]) if node.id in self.scope else self.fail(f"unknown: {node.id}")
        kind, pointer = self.variables[node.id]
        return Value(kind, self.emit(f"load {llvm(kind)}, ptr {pointer}"))

    def field(self, node: ast.Attribute) -> tuple[Type, str]:
        """Return the type of a record's field, and where its word is."""
        record = self.value(node.value)
        fields = getattr(record.kind, "fields", None)
        if fields is None or node.attr not in fields:
            self.fail(f"{ast.unparse(node.value)} has no field {node.attr}")
        kind = fields[node.attr]
        # a number in a record is one of all cases
        return kind if kind is REAL else self.seen(kind), self.at(record.name, list(fields).index(node.attr), "i64")

    def read_Attribute(self, node: ast.Attribute) -> Value:
        kind, pointer = self.field(node)
        return Value(kind, self.fetch(llvm(kind), pointer, "words", 8))

    def place(self, node: ast.Subscript) -> tuple[ArrayType, str]:
        """Return what an index names of an array: a row or an entry, and where it begins."""
        kind, pointer = self.value(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not isinstance(kind, ArrayType) or len(indices) > len(kind.shape) + kind.is_open + (
            kind.item.value is VECTOR
        ):
            self.fail(f"{ast.unparse(node)}: too many indices for {kind!r}")
        for node_of_index in indices:
            index = self.number(node_of_index, INT)
            if not kind.is_open and not kind.shape:  # a column of a vector
                if self.is_across:
                    continue  # it has one
                kind, size = F64[1].row, 8
            else:
                kind = kind.row
                size = kind.size * kind.item.bytes
            pointer = self.at(pointer, self.whole("mul nsw", index, size))
        return kind, pointer

    def entry(self, kind: ArrayType, pointer: str) -> Value:
        if kind.shape:
            return Value(kind, pointer)
        item = kind.item
        found = self.fetch(item.llvm, pointer, item.name, item.bytes)
        return Value(item.value, self.emit(f"sext i32 {found} to i64") if item.llvm == "i32" else found)

    def set_entry(self, kind: ArrayType, pointer: str, value: Value) -> None:
        item = kind.item
        if kind.shape:
            self.fail("rows are copied entry by entry")
        if item.value is VECTOR:
            value = self.vector(value)
        if value.kind != item.value:
            self.fail(f"an entry of type {item.value!r} is given {value.kind!r}")
        name = self.emit(f"trunc i64 {value.name} to i32") if item.llvm == "i32" else value.name
        self.put(item.llvm, name, pointer, item.name, item.bytes)

    def read_Subscript(self, node: ast.Subscript) -> Value:
        return self.entry(*self.place(node))

    def vector(self, value: Value) -> Value:
        """Return a value, which if it is a double is written into every lane of a vector."""
        return Value(VECTOR, self.spread(value.name, "double", WIDTH)) if value.kind is REAL else value

    def alike(self, *values: Value) -> list[Value]:
        """Return values of one type: numbers beside vectors are spread over these."""
        if any(v.kind is VECTOR for v in values):
            values = tuple(map(self.vector, values))
        if len({v.kind for v in values}) != 1 or values[0].kind not in NUMBERS:
            self.fail(f"an operation on {[v.kind for v in values]}: convert with int() or float()")
        return list(values)

    def operation(self, op: ast.operator, left: Value, right: Value) -> Value:
        a, b = self.alike(left, right)
        if a.kind is INT:
            return Value(INT, self.whole_operation(op, a.name, b.name))
        name = "fdiv" if isinstance(op, ast.Div) else "f" + SIMPLE.get(type(op), "")
        if name == "f" or a.kind is TRUTH:
            self.fail(f"no operation {type(op).__name__} on {a.kind!r}")
        return Value(a.kind, self.emit(f"{name} {llvm(a.kind)} {a.name}, {b.name}"))

    def whole_operation(self, op: ast.operator, a: str, b: str) -> str:
        if type(op) in SIMPLE:
            return self.whole(f"{SIMPLE[type(op)]} nsw", a, b)
        if type(op) in WHOLE:
            return self.whole(WHOLE[type(op)], a, b)
        if not isinstance(op, (ast.FloorDiv, ast.Mod)):
            self.fail(f"no operation {type(op).__name__} on whole numbers")
        if b.isdigit() and int(b).bit_count() == 1:  # by a power of 2: bits say it, as Python rounds down
            is_rest = isinstance(op, ast.Mod)
            return self.whole("and" if is_rest else "ashr", a, int(b) - 1 if is_rest else int(b).bit_length() - 1)
        rest = self.whole("srem", a, b)  # of the sign of a; Python's is of the sign of b
        other = self.emit(f"icmp slt i64 {self.whole('xor', rest, b)}, 0")
        differs = self.emit(f"and i1 {other}, {self.whole('icmp ne', rest, 0)}")
        if isinstance(op, ast.Mod):
            return self.whole("add nsw", rest, self.emit(f"select i1 {differs}, i64 {b}, i64 0"))
        return self.whole("sub nsw", self.whole("sdiv", a, b), self.emit(f"zext i1 {differs} to i64"))

    def read_BinOp(self, node: ast.BinOp) -> Value:
        return self.operation(node.op, self.value(node.left), self.value(node.right))

    def read_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            truth = self.value(node.operand)
            if truth.kind is MASK:
                return Value(MASK, self.emit(f"xor {MASK.llvm} {truth.name}, {self.spread('true', 'i1', WIDTH)}"))
            return Value(TRUTH, self.emit(f"xor i1 {self.number(node.operand, TRUTH)}, true"))
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            number: Any = node.operand.value
            return self.constant(-number)
        kind, name = self.value(node.operand)
        if not isinstance(node.op, ast.USub) or kind is TRUTH or not isinstance(kind, Scalar):
            self.fail(f"no operation {type(node.op).__name__} on {kind!r}")
        return Value(kind, self.emit(f"sub nsw i64 0, {name}" if kind is INT else f"fneg {kind.llvm} {name}"))

    def read_Compare(self, node: ast.Compare) -> Value:
        values = [self.value(e) for e in (node.left, *node.comparators)]
        found = [self.compared(op, a, b) for op, a, b in zip(node.ops, values, values[1:], strict=False)]
        return self.joined("and", found)

    def compared(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        a, b = self.alike(left, right)
        name = COMPARED.get(type(op))
        if name is None or (a.kind is VECTOR and not self.is_across):
            self.fail(f"no comparison {type(op).__name__} of {a.kind!r}")
        if a.kind in (REAL, VECTOR):
            how = "une" if name == "ne" else f"o{name}"
            return Value(
                MASK if a.kind is VECTOR else TRUTH, self.emit(f"fcmp {how} {llvm(a.kind)} {a.name}, {b.name}")
            )
        how = name if name in ("eq", "ne") else f"s{name}"
        return Value(TRUTH, self.emit(f"icmp {how} {a.kind.llvm} {a.name}, {b.name}"))

    def joined(self, how: str, values: Sequence[Value]) -> Value:
        """Return what `and` or `or` makes of truth values that are all known."""
        kind = MASK if any(v.kind is MASK for v in values) else TRUTH
        first, *others = (v.name if v.kind is kind else self.spread(v.name, "i1", WIDTH) for v in values)
        for other in others:
            first = self.emit(f"{how} {llvm(kind)} {first}, {other}")
        return Value(kind, first)

    def read_BoolOp(self, node: ast.BoolOp) -> Value:
        if self.is_across:
            return self.joined("and" if isinstance(node.op, ast.And) else "or", [self.value(e) for e in node.values])
        *parts, found = node.values
        for part in reversed(parts):
            if isinstance(node.op, ast.And):
                found = ast.IfExp(part, found, ast.Constant(value=False))
            else:
                found = ast.IfExp(part, ast.Constant(value=True), found)
        return Value(TRUTH, self.number(found, TRUTH))

    def read_IfExp(self, node: ast.IfExp) -> Value:
        test = self.value(node.test)
        if test.kind is MASK:
            return self.chosen(test.name, *self.alike(self.value(node.body), self.value(node.orelse)))
        self.count += 1
        chosen = ast.Name(f"choice.{self.count}")  # no name in Python
        give: Any = lambda part: lambda: self.assign(chosen, self.value(part))  # noqa: E731
        self.fork(test.name, give(node.body), give(node.orelse))
        return self.read_Name(chosen)

    def chosen(self, mask: str, a: Value, b: Value) -> Value:
        return Value(a.kind, self.emit(f"select {MASK.llvm} {mask}, {llvm(a.kind)} {a.name}, {llvm(b.kind)} {b.name}"))

    # --- calls ---

    def read_Call(self, node: ast.Call) -> Value | list[Value]:
        if not isinstance(node.func, ast.Name) or node.keywords:
            self.fail("kernels and functions are called by name, their arguments by position")
        name, own = node.func.id, self.scope.get(node.func.id)
        if isinstance(getattr(own, "signature", None), Signature):
            return self.call_kernel(own, [self.value(e) for e in node.args])
        call = getattr(self, f"call_{name}", None)
        if call is None or (own is not None and own is not getattr(language, name, None)):
            self.fail(f"a kernel cannot call {name}")
        return call(*node.args)

    def call_kernel(self, other: Any, given: Sequence[Value]) -> list[Value]:
        signature: Signature = self.seen(other.signature)
        wanted = list(signature.parameters.values())
        kinds = [v.kind for v in given]
        if len(kinds) != len(wanted) or not all(map(_fits, kinds, wanted)):
            self.fail(f"{signature.name} takes {wanted}, and is given {kinds}")
        self.called[signature.name] = other
        arguments = [(llvm(kind), v.name) for v, kind in zip(given, wanted, strict=True)]
        found = self.invoke(signature.name, signature.result, arguments)
        return [Value(kind, name) for kind, name in zip(signature.returns, found, strict=True)]

    def call_run(self, program: ast.expr, rows: ast.expr, *first: ast.expr) -> list[Value]:
        found, count = self.value(program), self.number(rows, INT)
        pointer = self.emit(f"inttoptr i64 {found.name} to ptr") if found.kind is INT else found.name
        if found.kind not in (INT, PROGRAM):
            self.fail(f"{ast.unparse(program)} is no program")
        entry, inputs, outputs, heap = (self.emit(f"load ptr, ptr {self.at(pointer, k, 'i64')}") for k in range(4))

        def call() -> None:
            given = self.moved_on(pointer, self.number(first[0], INT)) if first else (inputs, outputs)
            self.line(f"call void {entry}(ptr {given[0]}, ptr {given[1]}, i64 {count}, ptr {heap}, i64 1)")

        self.branch(self.whole("icmp sgt", count, 0), call)
        return []

    def call_call(self, bound: ast.expr) -> list[Value]:
        pointer = self.emit(f"inttoptr i64 {self.number(bound, INT)} to ptr")
        self.line(f"call void {self.emit(f'load ptr, ptr {pointer}')}(ptr {self.at(pointer, 1, 'i64')})")
        return []

    def moved_on(self, program: str, first: str) -> tuple[str, str]:
        """Write where a program's arrays are from a row on, into its list for that; see `RowProgram`."""
        count, places, bytes_of_row, moved, outputs = (
            self.emit(f"load {kind}, ptr {self.at(program, k, 'i64')}")
            for k, kind in ((4, "i64"), (5, "ptr"), (6, "ptr"), (7, "ptr"), (8, "ptr"))
        )

        def move(k: str) -> None:
            place, size = (self.emit(f"load i64, ptr {self.at(array, k, 'i64')}") for array in (places, bytes_of_row))
            there = self.whole("add", place, self.whole("mul", size, first))
            self.line(f"store i64 {there}, ptr {self.at(moved, k, 'i64')}")

        self.loop(0, count, 1, move)
        return moved, outputs

    def call_scratch(self, *dims: ast.expr) -> Value:
        return self._own(LANES if self.is_across else F64, dims)

    def call_vectors(self, *dims: ast.expr) -> Value:
        return self._own(LANES, dims)

    def _own(self, item: Any, dims: Sequence[ast.expr]) -> Value:
        """Return an array of this function's stack."""
        kind = ArrayType(item, tuple(int(self.number(d, INT)) for d in dims), False)
        self.count += 1
        self.places.append(f"  %own.{self.count} = alloca [{kind.size} x {item.llvm}], align 64")
        return Value(kind, f"%own.{self.count}")

    def call_tail(self, array: ast.expr, first: ast.expr) -> Value:
        kind, pointer = self.value(array)
        if not isinstance(kind, ArrayType) or not kind.is_open:
            self.fail(f"tail of {kind!r}, which has no rows of its own")
        bytes_of_row = kind.row.size * kind.item.bytes
        return Value(kind, self.at(pointer, self.whole("mul nsw", self.number(first, INT), bytes_of_row)))

    def call_fma(self, *args: ast.expr) -> Value:
        a, b, c = self.alike(*(self.value(e) for e in args))
        kind, suffix = llvm(a.kind), "f64" if a.kind is REAL else f"v{WIDTH}f64"
        given = f"{kind} {a.name}, {kind} {b.name}, {kind} {c.name}"
        return Value(a.kind, self.emit(f"call {kind} @llvm.fma.{suffix}({given})"))

    def call_sqrt(self, x: ast.expr) -> Value:
        return self.of_reals("sqrt", self.value(x))

    def call_floor(self, x: ast.expr) -> Value:
        down = self.emit(f"call double @llvm.floor.f64(double {self.number(x, REAL)})")
        return Value(INT, self.emit(f"call i64 @llvm.fptosi.sat.i64.f64(double {down})"))

    def call_int(self, x: ast.expr) -> Value:
        kind, name = self.value(x)
        if kind is TRUTH:
            return Value(INT, self.emit(f"zext i1 {name} to i64"))
        return Value(INT, name if kind is INT else self.emit(f"call i64 @llvm.fptosi.sat.i64.f64(double {name})"))

    def call_float(self, x: ast.expr) -> Value:
        kind, name = self.value(x)
        return Value(REAL, name if kind is REAL else self.emit(f"sitofp i64 {name} to double"))

    def call_abs(self, x: ast.expr) -> Value:
        kind, name = self.value(x)
        if kind is INT:
            return Value(INT, self.emit(f"call i64 @llvm.abs.i64(i64 {name}, i1 false)"))
        return self.of_reals("fabs", Value(kind, name))

    def of_reals(self, name: str, x: Value) -> Value:
        """Write a function of doubles, alone or in a vector."""
        if x.kind not in (REAL, VECTOR):
            self.fail(f"{name} of {x.kind!r}")
        suffix = "f64" if x.kind is REAL else f"v{WIDTH}f64"
        return Value(x.kind, self.emit(f"call {llvm(x.kind)} @llvm.{name}.{suffix}({llvm(x.kind)} {x.name})"))

    def call_lowest_one(self, x: ast.expr) -> Value:
        return Value(INT, self.emit(f"call i64 @llvm.cttz.i64(i64 {self.number(x, INT)}, i1 false)"))

    def call_min(self, a: ast.expr, b: ast.expr) -> Value:
        return self.extreme("lt", a, b)

    def call_max(self, a: ast.expr, b: ast.expr) -> Value:
        return self.extreme("gt", a, b)

    def call_greater(self, a: ast.expr, b: ast.expr) -> Value:
        return self.extreme("gt", a, b, of_vectors=True)

    def extreme(self, how: str, left: ast.expr, right: ast.expr, of_vectors: bool = False) -> Value:
        """Write Python's min or max: the second if it is less (or greater), else the first."""
        a, b = self.alike(self.value(left), self.value(right))
        if a.kind is VECTOR and not (self.is_across or of_vectors):
            self.fail("min or max of vectors: greater is of these")
        comparison = f"icmp s{how} i64" if a.kind is INT else f"fcmp o{how} {llvm(a.kind)}"
        better = self.emit(f"{comparison} {b.name}, {a.name}")
        if a.kind is VECTOR:
            return self.chosen(better, b, a)
        return Value(a.kind, self.emit(f"select i1 {better}, {llvm(a.kind)} {b.name}, {llvm(a.kind)} {a.name}"))

    def call_are_positive(self, x: ast.expr) -> Value:
        own = self.emit(f"fcmp oge {llvm(VECTOR)} {self.number(x, VECTOR)}, zeroinitializer")
        return Value(TRUTH, self.emit(f"call i1 @llvm.vector.reduce.and.v{WIDTH}i1(<{WIDTH} x i1> {own})"))

    def call_is_any(self, condition: ast.expr) -> Value:
        kind, name = self.value(condition)
        if kind is MASK:
            return Value(TRUTH, self.emit(f"call i1 @llvm.vector.reduce.or.v{WIDTH}i1({MASK.llvm} {name})"))
        return Value(TRUTH, self.number(condition, TRUTH))

    def call_turn(self, *args: ast.expr) -> list[Value]:
        given, to = self.vectors_at(*args[:3]), self.vectors_at(*args[3:])
        rows = [self.entry(LANES[1].row, place).name for place in given]
        for place, row in zip(to, self.transposed("double", rows), strict=True):
            self.set_entry(LANES[1].row, place, Value(VECTOR, row))
        return []

    def vectors_at(self, array: ast.expr, first: ast.expr, step: ast.expr) -> list[str]:
        """Return where eight vectors are, from one on."""
        kind, pointer = self.value(array)
        if kind != LANES[:]:
            self.fail(f"turn is of LANES[:], not of {kind!r}")
        begin, by = self.number(first, INT), self.number(step, INT)
        places = [self.whole("add nsw", begin, self.whole("mul nsw", by, k)) for k in range(WIDTH)]
        return [self.at(pointer, place, LANES.llvm) for place in places]


def _fits(given: Type, wanted: Type) -> bool:
    """Return whether one may stand for another: an array of a fixed length where any is taken, an extended record."""
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType) and wanted.is_open and not given.is_open:
        return given.item is wanted.item and given.shape[1:] == wanted.shape
    if isinstance(given, type) and isinstance(wanted, type):
        return issubclass(given, wanted)  # a record begins with the fields of those that it extends
    return given == wanted


def module_text(entry: Any, numbers: Mapping[str, Any], is_across: bool = False) -> str:
    """Return the module of a kernel with all those that it calls; `entry` takes a row of words: its arguments.

    The numbers stand in place of those of the kernels' modules.
    """
    waiting, texts, known = [entry], list[str](), dict[str, Any]()
    while waiting:
        own = waiting.pop()
        if known.setdefault(own.signature.name, own) is not own:
            raise TargetError(f"two kernels that one module needs are called {own.signature.name!r}")
        if len(known) > len(texts):  # it is new
            translator = Translator(own, numbers, is_across)
            texts.append(translator.text())
            waiting += translator.called.values()
    names = {name for own in known.values() for name in own.python.__globals__}
    if lacking := numbers.keys() - names:
        raise TargetError(
            f"kernel {entry.signature.name}: no number {', '.join(sorted(lacking))} in a module of its kernels"
        )
    return "\n\n".join([*texts, _entry(entry.signature), ATTRIBUTES, *METADATA])


def _entry(signature: Signature) -> str:
    """Return the function that takes the arguments as words, and puts what is returned behind them."""
    w = CodeWriter()
    given = []
    for k, kind in enumerate(signature.parameters.values()):
        given.append((llvm(kind), w.load(llvm(kind), w.at("%words", k, "i64"), 8)))
    found = w.invoke(signature.name, signature.result, given)
    for k, (kind, name) in enumerate(zip(signature.returns, found, strict=True), len(given)):
        if kind is TRUTH:
            kind, name = INT, w.emit(f"zext i1 {name} to i64")
        w.store(llvm(kind), name, w.at("%words", k, "i64"), 8)
    return w.procedure("kernel_entry", [("ptr", "%words")], "")


ATTRIBUTES = 'attributes #0 = { nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" }'
