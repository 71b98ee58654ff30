"""The functions of analysis as definitions in LLVM IR, on vectors, at most 2 units in the last place off everywhere.

Without a library and without branches but one, rarely taken: for angles beyond 1e12. Special values fall out of the
arithmetic or are selected. Single precision computes in double, but for sine and cosine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import partial

import numpy as np

from cardan._algebra.arrays.cell import Table
from cardan._compiler.program.ops import Op
from cardan._compiler.program.program import Program
from cardan._compiler.targets.libm.elementary import FUNCTIONS
from cardan._compiler.targets.libm.far import FAST_RANGE, LOWEST, reduction, two_over_pi
from cardan._compiler.targets.libm.trig import sincos, tan
from cardan._compiler.targets.llvm.writer import FAR, Lanes, Writer

Results = str | tuple[str, ...]
SINCOS = "lanes_sincos"
RARELY = '!1 = !{!"branch_weights", i32 1, i32 100000}'


def function_name(op: Enum, number: float = 0.0) -> str:
    """Return the name of the function that computes an operation: of a CELL, on a table of that number."""
    return f"lanes_{op.value}{f'_{number:.0f}' if op is Op.CELL else ''}"


def math_definitions(ops: Iterable[Op], lanes: Lanes) -> list[str]:
    ops = set(ops)
    texts = [_definition(function_name(op), FUNCTIONS[op], lanes) for op in FUNCTIONS if op in ops]
    if ops & {Op.SIN, Op.COS}:
        texts += _angular(SINCOS, sincos, lanes)
    if Op.TAN in ops:
        texts += _angular(function_name(Op.TAN), tan, lanes)
    if ops & {Op.SIN, Op.COS, Op.TAN}:
        texts += [*far_definitions(lanes.width), RARELY]
    return texts


def _definition(
    name: str, function: Callable[..., Results], lanes: Lanes, attributes: str = "#0", own: bool = False
) -> str:
    """Return a function of vectors that computes in double precision, or, if it knows it, in its `own`."""
    w, outer = Writer(lanes if own else Lanes(lanes.width, "double")), lanes.vector
    parameters = ["%y", "%x"] if function is FUNCTIONS[Op.ATAN2] else ["%x"]
    single = w.lanes != lanes
    results = function(w, *(w.emit(f"fpext {outer} {p} to {w.v}") if single else p for p in parameters))
    results = (results,) if isinstance(results, str) else results
    results = [w.emit(f"fptrunc {w.v} {r} to {outer}") if single else r for r in results]
    return w.function(name, [(outer, p) for p in parameters], [(outer, r) for r in results], attributes)


def _angular(name: str, function: Callable[..., Results], lanes: Lanes) -> list[str]:
    """Return a function for all angles and its part for far ones, which is called only where a lane has one."""
    far, own = f"{name}_far", function is sincos
    inner = lanes if own else Lanes(lanes.width, "double")
    return [
        _definition(far, partial(function, far=True), inner),
        _definition(name, lambda w, x: join_far(w, x, function(w, x), far), lanes, "#1" if own else "#0", own),
    ]


def join_far(w: Writer, x: str, near: str | tuple[str, ...], far_function: str) -> tuple[str, ...]:
    """Write a branch to the far function if any angle is beyond the fast range, and return what then is right.

    Its results are taken for those angles alone: what comes of an angle does not depend on those beside it.
    """
    near = (near,) if isinstance(near, str) else near
    mask = w.compare("ogt", w.call("fabs", x), FAST_RANGE[w.word])
    some = w.emit(f"icmp ne i{w.width} {w.emit(f'bitcast {w.m} {mask} to i{w.width}')}, 0")
    w.line(f"br i1 {some}, label %far, label %near, !prof !1")
    w.label("far")
    exact = w.invoke(far_function, [w.v] * len(near), [(w.v, x)])
    exact = [w.select(mask, e, n) for e, n in zip(exact, near, strict=True)]
    w.line("br label %near")
    w.label("near")
    return tuple(w.emit(f"phi {w.v} [ {e}, %far ], [ {n}, %start ]") for e, n in zip(exact, near, strict=True))


def _lane() -> str:
    """Return the function for one lane, x >= 1e12: the fraction's first 128 bits, signed, in two words; n mod 4."""
    table = two_over_pi()
    entries = "".join(f"\\{byte:02X}" for byte in table)
    return f"""@two_over_pi = internal constant [{len(table)} x i8] c"{entries}", align 64

define internal {{i64, i64, i64}} @{FAR}_lane(double %x) #0 {{
  %bits = bitcast double %x to i64
  %fraction = and i64 %bits, {2**52 - 1}
  %mantissa = or i64 %fraction, {2**52}
  %exponent = lshr i64 %bits, 52
  %position = sub i64 {LOWEST}, %exponent
  %byte = lshr i64 %position, 3
  %entry = getelementptr inbounds i8, ptr @two_over_pi, i64 %byte
  %word = load i256, ptr %entry, align 1
  %bit = and i64 %position, 7
  %shift = zext i64 %bit to i256
  %window = lshr i256 %word, %shift
  %factor = zext i64 %mantissa to i256
  %product = mul i256 %window, %factor
  %turns = shl i256 %product, 64
  %nearest = add i256 %turns, {2**253}
  %quarters = lshr i256 %nearest, 254
  %n = trunc i256 %quarters to i64
  %signed = shl i256 %product, 66
  %upper = lshr i256 %signed, 192
  %high = trunc i256 %upper to i64
  %next = lshr i256 %signed, 128
  %low = trunc i256 %next to i64
  %r1 = insertvalue {{i64, i64, i64}} undef, i64 %high, 0
  %r2 = insertvalue {{i64, i64, i64}} %r1, i64 %low, 1
  %r3 = insertvalue {{i64, i64, i64}} %r2, i64 %n, 2
  ret {{i64, i64, i64}} %r3
}}"""


def far_definitions(width: int) -> list[str]:
    """Return `reduce_far`: from angles >= 1e12 r, what r lost to rounding, and n mod 4; NaN for an infinite angle."""
    w = Writer(Lanes(width, "double"))
    words = [w.integer(0)] * 3
    for lane in range(width):
        x = w.emit(f"extractelement {w.v} %x, i32 {lane}")
        for k, word in enumerate(w.invoke(f"{FAR}_lane", ["i64"] * 3, [("double", x)])):
            words[k] = w.emit(f"insertelement {w.i} {words[k]}, i64 {word}, i32 {lane}")
    r, rest = reduction(w, "%x", words[0], words[1])
    return [_lane(), w.function(FAR, [(w.v, "%x")], [(w.v, r), (w.v, rest), (w.i, words[2])], "#0")]


def table_definitions(program: Program, lanes: Lanes) -> list[str]:
    """Return the tables that CELLs read, each with a function that does, lane by lane; and those of row numbers."""
    values, found = program.instructions.values, list[str]()
    for n in sorted({int(values[k]) for k in program.instructions.places(Op.CELL)}):
        found += _table(function_name(Op.CELL, n), program.tables[n], lanes)
    for n in sorted({int(values[k]) for k in program.instructions.places(Op.LINK)}):
        found.append(_constant(f"@links{n}", program.tables[n].numbers.astype("<i8").tobytes()))
    return found


def rows_in_lanes(w: Writer, table: str, first: str, count: int) -> list[str]:
    """Write reads of so many numbers of a table from each lane's place on: vectors of the first ones, the second, ...

    A lane reads up to four at once. What they all read is one long vector, of which every fourth number is a result.
    """
    width, kind = w.lanes.width, w.lanes.scalar
    size, found = w.lanes.bytes // width, [""] * count
    places, some = w.emit(f"fptosi {w.v} {first} to <{width} x i64>"), min(count, 4)
    starts = [w.at(table, w.emit(f"extractelement <{width} x i64> {places}, i32 {n}"), kind) for n in range(width)]
    for behind in sorted({*range(0, count - some + 1, some), count - some}):
        parts, length = [w.load(f"<{some} x {kind}>", w.at(start, behind, kind), size) for start in starts], some
        while len(parts) > 1:
            length *= 2
            parts = [
                w.shuffled(kind, length // 2, *pair, range(length))
                for pair in zip(parts[::2], parts[1::2], strict=True)
            ]
        for n in range(some):
            found[behind + n] = w.shuffled(kind, length, parts[0], "poison", range(n, length, some))
    return found


def record_definitions(program: Program, records: Mapping[int, Sequence[int]], lanes: Lanes) -> list[str]:
    """Return the columns of known numbers, those of as many rows side by side."""
    found, size = list[str](), lanes.bytes // lanes.width
    for rows, own in records.items():
        columns = [program.tables[table].numbers for c in own if (table := program.columns[c].table) is not None]
        found.append(_constant(f"@record{rows}", np.stack(columns, axis=1).astype(f"<f{size}").tobytes()))
    return found


def _constant(name: str, data: bytes) -> str:
    """Return the definition of bytes, written out: LLVM reads them ten times as fast as numbers."""
    return f'{name} = internal constant [{len(data)} x i8] c"\\{data.hex(chr(92))}", align 64'


def _table(name: str, table: Table, lanes: Lanes) -> tuple[str, str]:
    size = lanes.bytes // lanes.width
    constant = _constant(f"@{name}_table", table.numbers.astype(f"<f{size}").tobytes())
    w, last = Writer(lanes), float(len(table) - 1)
    x = w.select(w.compare("ogt", "%x", 0.0), "%x", 0.0)  # of NaN, too, 0
    x = w.select(w.compare("olt", x, last), x, last)
    places, found = w.emit(f"fptosi {w.v} {x} to <{lanes.width} x i64>"), lanes.constant(0.0)
    for lane in range(lanes.width):
        place = w.emit(f"extractelement <{lanes.width} x i64> {places}, i32 {lane}")
        entry = w.load(lanes.scalar, w.at(f"@{name}_table", place, lanes.scalar), size)
        found = w.emit(f"insertelement {w.v} {found}, {lanes.scalar} {entry}, i32 {lane}")
    return constant, w.function(name, [(w.v, "%x")], [(w.v, found)])
