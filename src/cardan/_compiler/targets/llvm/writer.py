"""Writes instructions of LLVM IR: arithmetic on vectors of W lanes, memory, loops and branches."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from cardan._compiler.targets.libm.arithmetic import Arithmetic, Bits, Real, Reduced
from cardan._compiler.targets.libm.far import FAST_RANGE


@dataclass(frozen=True, slots=True)
class Lanes:
    width: int
    scalar: str  # "double" or "float"

    @property
    def vector(self) -> str:
        return f"<{self.width} x {self.scalar}>"

    @property
    def mask(self) -> str:
        return f"<{self.width} x i1>"

    @property
    def suffix(self) -> str:
        return f"v{self.width}f{64 if self.scalar == 'double' else 32}"

    @property
    def bytes(self) -> int:
        return self.width * (8 if self.scalar == "double" else 4)

    def all_bits(self) -> str:
        """Return the vector of all bits set, as LLVM writes it: how what is true waits in memory."""
        bits = "F" * 16 if self.scalar == "double" else "FFFFFFFFE0000000"
        return "<" + ", ".join([f"{self.scalar} 0x{bits}"] * self.width) + ">"

    def constant(self, value: float) -> str:
        """Return a number in every lane, as LLVM writes it."""
        return "<" + ", ".join([self.number(value)] * self.width) + ">"

    def number(self, value: float) -> str:
        """Return a number of one lane, as LLVM writes it, with its type."""
        if self.scalar == "float":
            value = ctypes.c_float(value).value  # infinite, if it is too large for one
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return f"{self.scalar} 0x{bits:016X}"


FAR = "reduce_far"  # the function that reduces angles beyond the fast range
Given = Iterable[str] | None


class CodeWriter:
    """Writes instructions on scalars, loops and branches; a method that computes returns the name of its result."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0
        self.here = "start"  # the label behind which instructions are now

    def line(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}")

    def emit(self, expression: str) -> str:
        self.count += 1
        self.line(f"%s{self.count} = {expression}")
        return f"%s{self.count}"

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.here = name

    def at(self, pointer: str, index: int | str, kind: str = "i8") -> str:
        """Write the pointer so many values of a type (bytes, if none is given) further on."""
        return self.emit(f"getelementptr inbounds {kind}, ptr {pointer}, i64 {index}")

    def load(self, kind: str, pointer: str, align: int) -> str:
        return self.emit(f"load {kind}, ptr {pointer}, align {align}")

    def store(self, kind: str, value: str, pointer: str, align: int, more: str = "") -> None:
        self.line(f"store {kind} {value}, ptr {pointer}, align {align}{more}")

    def whole(self, operation: str, a: int | str, b: int | str) -> str:
        """Write an operation on 64-bit integers: `add nsw`, `icmp slt`, ..."""
        return self.emit(f"{operation} i64 {a}, {b}")

    def least(self, a: str, b: str) -> str:
        return self.emit(f"select i1 {self.whole('icmp slt', a, b)}, i64 {a}, i64 {b}")

    def loop(
        self, start: int | str, stop: int | str, step: int, body: Callable[..., Given], *carried: tuple[str, str]
    ) -> list[str]:
        """Write a loop, passed once at least; return the values that are carried from pass to pass, as they are then.

        `body` is given the counter's name and those of the carried values, of which each is a type and a first value;
        it returns the next ones.
        """
        self.count += 1
        name, before = f"loop{self.count}", self.here
        values = [f"%c{self.count}", *(f"%v{self.count}_{k}" for k in range(len(carried)))]
        self.line(f"br label %{name}")
        self.label(name)
        head = len(self.lines)
        given = list(body(*values) or ())
        following = [self.whole("add nuw nsw", values[0], step), *given]
        self.lines[head:head] = [
            f"  {value} = phi {kind} [ {first}, %{before} ], [ {next_}, %{self.here} ]"
            for value, (kind, first), next_ in zip(values, [("i64", start), *carried], following, strict=True)
        ]
        self.line(f"br i1 {self.whole('icmp slt', following[0], stop)}, label %{name}, label %{name}end")
        self.label(f"{name}end")
        return given

    def loop_while(self, most: int, body: Callable[[str], str], between: Callable[[str], None]) -> None:
        """Write a loop: `body` returns whether to go on, `between` comes between two passes; both get the number."""
        self.count += 1
        name, before, number = f"loop{self.count}", self.here, f"%c{self.count}"
        self.line(f"br label %{name}")
        self.label(name)
        head = len(self.lines)
        going = body(number)
        following = self.whole("add nuw nsw", number, 1)
        going = self.emit(f"and i1 {going}, {self.whole('icmp slt', following, most)}")
        self.line(f"br i1 {going}, label %{name}on, label %{name}end")
        self.label(f"{name}on")
        between(number)
        self.line(f"br label %{name}")
        self.lines.insert(head, f"  {number} = phi i64 [ 0, %{before} ], [ {following}, %{self.here} ]")
        self.label(f"{name}end")

    def loop_if_any(
        self, start: str, stop: str, step: int, body: Callable[..., Given], *carried: tuple[str, str]
    ) -> list[str]:
        """Write a loop that may be passed not at all."""
        kinds, first = [kind for kind, _ in carried], [value for _, value in carried]
        looped = lambda: self.loop(start, stop, step, body, *carried)  # noqa: E731
        return self.branch(self.whole("icmp ult", start, stop), looped, lambda: first, *kinds)

    def branch(
        self, condition: str, yes: Callable[[], Given], no: Callable[[], Given] = lambda: None, *kinds: str
    ) -> list[str]:
        """Write two ways on and their meeting; return the values, of these types, that either way gives."""
        self.count += 1
        ways, meeting = (f"yes{self.count}", f"no{self.count}"), f"meet{self.count}"
        self.line(f"br i1 {condition}, label %{ways[0]}, label %{ways[1]}")
        given: list[list[str]] = []
        for way, body in zip(ways, (yes, no), strict=True):
            self.label(way)
            given.append([f"[ {value}, %{self.here} ]" for value in body() or ()])
            self.line(f"br label %{meeting}")
        self.label(meeting)
        return [self.emit(f"phi {kind} {a}, {b}") for kind, a, b in zip(kinds, *given, strict=True)]

    def shuffled(self, kind: str, width: int, a: str, b: str, lanes: Iterable[int]) -> str:
        """Write a vector of some lanes of two vectors of so many numbers of a type."""
        vector, chosen = f"<{width} x {kind}>", [f"i32 {n}" for n in lanes]
        return self.emit(f"shufflevector {vector} {a}, {vector} {b}, <{len(chosen)} x i32> <{', '.join(chosen)}>")

    def transposed(self, kind: str, vectors: list[str]) -> list[str]:
        """Write the transpose of n vectors of n numbers of a type: log2 n stages, each exchanging halves so far on."""
        vectors, n = [*vectors], len(vectors)
        distance = n // 2
        while distance:
            for r in range(n):
                if r & distance:
                    continue
                a, b = vectors[r], vectors[r + distance]
                low = [c if not c & distance else n + c - distance for c in range(n)]
                high = [c + distance if not c & distance else n + c for c in range(n)]
                for index, lanes in ((r, low), (r + distance, high)):
                    vectors[index] = self.shuffled(kind, n, a, b, lanes)
            distance //= 2
        return vectors

    def spread(self, scalar: str, kind: str, width: int) -> str:
        """Write a vector that has a scalar of a type in each of so many lanes."""
        vector = f"<{width} x {kind}>"
        first = self.emit(f"insertelement {vector} poison, {kind} {scalar}, i32 0")
        return self.emit(f"shufflevector {vector} {first}, {vector} poison, <{width} x i32> zeroinitializer")

    def invoke(self, function: str, kinds: list[str], arguments: list[tuple[str, str]]) -> list[str]:
        """Write the call of a function that returns values of these types, if any; arguments are (type, name)."""
        call = f"call {result_type(kinds)} @{function}({', '.join(f'{kind} {name}' for kind, name in arguments)})"
        if not kinds:
            self.line(call)
            return []
        result = self.emit(call)
        if len(kinds) == 1:
            return [result]
        return [self.emit(f"extractvalue {result_type(kinds)} {result}, {k}") for k in range(len(kinds))]

    def give(self, results: list[tuple[str, str]]) -> None:
        """Write the return of values, each (type, name), if any: of many as one structure."""
        kind, total = result_type([t for t, _ in results]), results[0][1] if results else ""
        if len(results) > 1:
            total = "undef"
            for k, (t, value) in enumerate(results):
                total = self.emit(f"insertvalue {kind} {total}, {t} {value}, {k}")
        self.line(f"ret {kind} {total}".rstrip())

    def function(
        self, name: str, parameters: list[tuple[str, str]], results: list[tuple[str, str]], attributes: str = "#0"
    ) -> str:
        """Return the definition of a function that consists of what has been written; values are (type, name)."""
        self.give(results)
        return self.defined(f"internal {result_type([t for t, _ in results])}", name, parameters, attributes)

    def procedure(self, name: str, parameters: list[tuple[str, str]], linkage: str = "internal ") -> str:
        self.give([])
        return self.defined(f"{linkage}void", name, parameters)

    def defined(
        self, result: str, name: str, parameters: list[tuple[str, str]], attributes: str = "#0", own: Iterable[str] = ()
    ) -> str:
        """Return a definition whose last instructions are written; `own` are the first: its variables."""
        head = f"define {result} @{name}({', '.join(f'{t} {p}' for t, p in parameters)}) {attributes} {{"
        return "\n".join([head, "start:", *own, *self.lines, "}"])

    def unless(self, condition: str, elsewhere: str) -> None:
        self.count += 1
        self.line(f"br i1 {condition}, label %on{self.count}, label %{elsewhere}")
        self.label(f"on{self.count}")


class Reader(CodeWriter):
    """Writes how structures are read, and a context: an array of 64-bit words, and of functions, that have names.

    `words` has the place of each in the context.
    """

    context = "%context"
    misfit = "misfit"  # the label to go on at if a call does not fit

    def __init__(self, words: Mapping[str, int]) -> None:
        super().__init__()
        self.words = words

    def field(self, structure: str, offset: int, kind: str = "ptr") -> str:
        return self.load(kind, self.at(structure, offset), {"ptr": 8, "i64": 8, "i32": 4, "i8": 1}[kind])

    def word(self, pointer: str, k: int | str, kind: str = "i64") -> str:
        return self.load(kind, self.at(pointer, k, "i64"), 8)

    def known(self, name: str, kind: str = "i64") -> str:
        return self.word(self.context, self.words[name], kind)

    def is_null(self, pointer: str) -> str:
        return self.emit(f"icmp eq ptr {pointer}, null")

    def call(self, name: str, *arguments: str) -> str:
        return self.emit(f"call ptr {self.known(name, 'ptr')}({', '.join(arguments)})")

    def do(self, name: str, *arguments: str) -> None:
        self.line(f"call void {self.known(name, 'ptr')}({', '.join(arguments)})")

    def must(self, condition: str) -> None:
        """Go on only where a condition holds."""
        self.unless(condition, self.misfit)

    def need(self, pointer: str, elsewhere: str) -> None:
        """Go on where a pointer is not null, and to a label where it is."""
        self.unless(self.emit(f"icmp ne ptr {pointer}, null"), elsewhere)

    def product(self, dims: str, count: str, operation: str = "mul") -> str:
        times = lambda k, found: [self.whole(operation, found, self.word(dims, k))]  # noqa: E731
        return self.loop_if_any("0", count, 1, times, ("i64", "1"))[0]

    def put(self, pointer: str, k: int | str, value: str, kind: str = "i64") -> None:
        self.store(kind, value, self.at(pointer, k, kind), 8)

    def workspace(self, size: str, spare: str, without: str) -> list[str]:
        """Write where to work, what to free, what to keep; one is kept, a thread that comes meanwhile makes its own.

        The one that is kept is at `spare`; where there is no memory for so many bytes, go on at the label `without`.
        """
        three = ("ptr", "ptr", "ptr")

        def make() -> list[str]:
            raw = self.call("malloc", f"i64 {self.whole('add nuw nsw', size, 64)}")
            self.need(raw, without)
            raised = self.whole("add", self.emit(f"ptrtoint ptr {raw} to i64"), 63)
            return [self.emit(f"inttoptr i64 {self.whole('and', raised, -64)} to ptr"), raw, "null"]

        def take() -> list[str]:
            kept = self.emit(f"atomicrmw xchg ptr {spare}, ptr null acquire")
            return self.branch(self.is_null(kept), make, lambda: [kept, "null", kept], *three)

        return self.branch(self.whole("icmp eq", size, 0), lambda: ["null"] * 3, take, *three)

    def put_back(self, spare: str, to_free: str, to_keep: str) -> None:
        keep = lambda: self.line(f"store atomic ptr {to_keep}, ptr {spare} release, align 8")  # noqa: E731
        self.branch(self.is_null(to_keep), lambda: None, keep)
        self.branch(self.is_null(to_free), lambda: None, lambda: self.do("free", f"ptr {to_free}"))


class Writer(CodeWriter, Arithmetic):
    """Writes one function on vectors of W lanes; a number among its operands is that in all lanes."""

    def __init__(self, lanes: Lanes) -> None:
        super().__init__()
        self.lanes, self.width, self.v, self.m, self.suffix = lanes, lanes.width, lanes.vector, lanes.mask, lanes.suffix
        self.word = 8 * lanes.bytes // lanes.width
        self.i = f"<{lanes.width} x i{self.word}>"

    def every(self, scalar: str) -> str:
        return "<" + ", ".join([scalar] * self.width) + ">"

    def every_lane(self, scalar: str) -> str:
        """Write a vector that has a scalar, which is not known yet, in every lane."""
        return self.spread(scalar, self.lanes.scalar, self.width)

    def real(self, x: Real) -> str:
        return x if isinstance(x, str) else self.lanes.constant(x)

    def integer(self, x: Bits) -> str:
        return x if isinstance(x, str) else self.every(f"i{self.word} {x}")

    def binary(self, operation: str, a: Real, b: Real) -> str:
        return self.emit(f"f{operation} {self.v} {self.real(a)}, {self.real(b)}")

    def neg(self, a: Real) -> str:
        return self.emit(f"fneg {self.v} {self.real(a)}")

    def call(self, name: str, *operands: Real) -> str:
        arguments = ", ".join(f"{self.v} {self.real(x)}" for x in operands)
        return self.emit(f"call {self.v} @llvm.{name}.{self.suffix}({arguments})")

    def compare(self, condition: str, a: Real, b: Real) -> str:
        return self.emit(f"fcmp {condition} {self.v} {self.real(a)}, {self.real(b)}")

    def select(self, mask: str, a: Real, b: Real) -> str:
        return self.emit(f"select {self.m} {mask}, {self.v} {self.real(a)}, {self.v} {self.real(b)}")

    def bits(self, x: Real) -> str:
        return self.emit(f"bitcast {self.v} {self.real(x)} to {self.i}")

    def from_bits(self, x: Bits) -> str:
        return self.emit(f"bitcast {self.i} {self.integer(x)} to {self.v}")

    def logic(self, operation: str, a: Bits, b: Bits) -> str:
        return self.emit(f"{operation} {self.i} {self.integer(a)}, {self.integer(b)}")

    def differ(self, a: str, b: str) -> str:
        return self.emit(f"xor {self.m} {a}, {b}")

    def is_not_zero(self, x: Bits) -> str:
        return self.emit(f"icmp ne {self.i} {self.integer(x)}, zeroinitializer")

    def is_negative(self, x: Bits) -> str:
        return self.emit(f"icmp slt {self.i} {self.integer(x)}, zeroinitializer")

    def number(self, x: Bits) -> str:
        return self.emit(f"sitofp {self.i} {self.integer(x)} to {self.v}")

    def reduced_far(self, size: str, near: Reduced) -> Reduced:
        """Write the exact reduction and take from it the lanes beyond the fast range."""
        far = self.compare("ogt", size, FAST_RANGE[64])
        kinds = [self.v, self.v, self.i]
        exact = self.invoke(FAR, kinds, [(self.v, self.select(far, size, FAST_RANGE[64]))])
        high, low, quadrant = (
            self.emit(f"select {self.m} {far}, {kind} {e}, {kind} {self.real(a)}")
            for kind, e, a in zip(kinds, exact, near, strict=True)
        )
        return high, low, quadrant


def result_type(kinds: list[str]) -> str:
    return kinds[0] if len(kinds) == 1 else f"{{{', '.join(kinds)}}}" if kinds else "void"


def attributes(lanes: Lanes) -> list[str]:
    """Return what `#0` and `#1` mean behind a function: to be called, with vectors in registers, and to be inlined."""
    width = 8 * lanes.bytes
    vectors = f'"prefer-vector-width"="{width}" "min-legal-vector-width"="{width}"'
    return [
        f"attributes #0 = {{ noinline nounwind alignstack=64 {vectors} }}",
        f"attributes #1 = {{ alwaysinline nounwind {vectors} }}",
    ]
