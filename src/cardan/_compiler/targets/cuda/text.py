"""A program as the text of one CUDA kernel: a state is a thread.

What is joined to one multiply-add is decided by the program alone, and in double precision the functions of analysis
are ours: so the results have the bits that they have on a processor. Single precision takes CUDA's.

Rows of arrays lie in memory one after the other, so the entries that neighbouring threads want at once are far apart.
The 32 threads of a warp therefore read 32 rows together, in the order of memory, into shared memory, where each then
finds its own, and write results in the same way, up to 32 columns at a time. A row of shared memory has an odd number
of entries: so no two threads of a warp want the same bank.

A long program is cut into parts, functions that are called; what one leaves to others waits in the thread's local
memory, which the device lays out so that a warp's accesses are together. Results are written as soon as all of a chunk
of columns are there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from cardan._algebra.errors import UnsupportedError
from cardan._compiler.program.ops import LEAVES, Op
from cardan._compiler.program.passes import Fused, Joined, joined_products, with_entries, without_tangents
from cardan._compiler.program.program import Array, Program
from cardan._compiler.program.replay import whole
from cardan._compiler.targets.c_arithmetic import PREFIX, analysis, number
from cardan._compiler.targets.c_family import Dialect, ProgramParts, in_c, table_lines
from cardan._compiler.targets.cuda.staging import PASSES, STAGING, THREADS, WARP, chunks_of, loads, stores, width_of
from cardan._compiler.targets.libm.elementary import FUNCTIONS

APART, INLINE = "static __device__ __noinline__", "static __device__ __forceinline__"


class ThreadText:
    def __init__(self, program: Program, joined: Joined, dialect: Dialect, name: str) -> None:
        self.program, self.name = program, name
        self.parts = ProgramParts(program, dialect, joined)
        self.words = INLINE if dialect.part >= program.operations else APART
        self.chunks = chunks_of(program.outputs)
        self.width = width_of(program)
        self.after = self._after()
        needed: dict[int, int] = {}
        for chunk, part in zip(self.chunks, self.after, strict=True):
            for r in chunk.results(program):
                needed[r] = max(needed.get(r, 0), part)
        self.parts.wait(needed)

    def _after(self) -> list[int]:
        """Return for each chunk the part after which it is written: the one that computes its last value.

        With regions it is the last: within a loop, a value may be that of a pass which is not the last.
        """
        last = len(self.parts.parts) - 1
        if self.program.regions:
            return [last + 1] * len(self.chunks)
        return [max((self.parts.home.get(r, 0) for r in c.results(self.program)), default=0) for c in self.chunks]

    def lines(self) -> Iterator[str]:
        arrays = [f"const real *{a.name}" for a in self.program.inputs]
        outputs = [f"real *{a.name}, const long long {a.name}_stride" for a in self.program.outputs]
        stage = "real *stage, const int ahead, const int lane"
        taken = ", ".join([stage, *arrays, *outputs, "real *w", "real *rows"])
        for p in range(len(self.parts.parts)):
            passing = "".join(f", const long {k}" for k in self.parts.passing(p))
            yield f"{self.words} void {self.name}_part{p}({taken}{passing})\n{{"
            yield from self.parts.operations(p)
            yield from self._stores(p)
            yield "}\n"

    def _stores(self, p: int) -> list[str]:
        lines = []
        for chunk, after in zip(self.chunks, self.after, strict=True):
            if after == p:
                lines += stores(chunk, [self.parts.value(r, p) for r in chunk.results(self.program)], self.width)
        return lines

    def entry(self) -> Iterator[str]:
        yield f"    __shared__ real staged[{THREADS * self.width}];"
        yield f"    real *stage = staged + threadIdx.x / {WARP} * {WARP * self.width};"
        yield f"    const int lane = threadIdx.x % {WARP};"
        yield f"    const long long first = (long long)blockIdx.x * {THREADS} + threadIdx.x / {WARP} * {WARP};"
        yield "    if (first >= count)\n        return;"
        yield f"    const int ahead = count - first < {WARP} ? (int)(count - first) : {WARP};"
        for a in self.program.inputs:
            yield from loads(a, self.width)
        for a in self.program.outputs:
            yield f"    real *{a.name} = {a.name}_rows + first * {a.name}_stride;"
        yield f"    real w[{max(self.parts.places, 1)}], rows[{max(self.parts.rows, 1)}];"
        outputs = [f"{a.name}, {a.name}_stride" for a in self.program.outputs]
        passed = ", ".join(["stage, ahead, lane", *(a.name for a in self.program.inputs), *outputs, "w", "rows"])
        numbers = ["".join(f", {k}" for k in self.parts.passing(p)) for p in range(len(self.parts.parts))]
        calls = [f"{self.name}_part{p}({passed}{more});" for p, more in enumerate(numbers)]
        yield from (f"    {line}" for line in self.parts.run(calls))
        yield from self._stores(len(self.parts.parts))


WHOLE = 6000  # operations that stay in one function, whose values the compiler keeps in registers as far as they go
WAITING = 780  # registers' worth of values that wait at a time in one function; with more, it spills more than parts do
PART = 300  # operations of each function of a longer program
_WRITTEN: dict[Enum, str] = {
    Fused.FMA: "fma{f}({0}, {1}, {2})",
    Fused.FMS: "fma{f}({0}, {1}, -{2})",
    Fused.FNMA: "fma{f}(-{0}, {1}, {2})",
    Op.MIN: "smaller({0}, {1})",
    Op.MAX: "larger({0}, {1})",
    Op.NEG: "-({0})",
}
_ANALYSIS = {Op.TAN, *FUNCTIONS}


class CudaCode(NamedTuple):
    source: str
    name: str  # of the kernel


def cuda_code(program: Program, *, single: bool) -> CudaCode:
    """Return a program as a kernel, in float if it is `single`.

    Its parameters are the number of states, then for each input and output where its first row begins, and how many
    entries further each next row does: 0 for an input that all states share. At the end, of a program that is repeated,
    how often.
    """
    if program.instructions.count_of(Op.CELL):
        what, instead = f"{program.name}, which reads a table (cardan.cell)", "use on('llvm') or on('numpy')"
        raise UnsupportedError(what, "the cuda target", instead)
    program = _renamed(with_entries(without_tangents(program)))
    name = f"cardan_{re.sub(r'[^A-Za-z0-9_]', '_', program.name)}"
    joined = joined_products(program)
    registers = most_alive(joined) * (1 if single else 2)
    is_whole = program.operations <= WHOLE and registers <= WAITING
    text = ThreadText(program, joined, _dialect(WHOLE if is_whole else PART, single), name)
    lines = [*_head(program, single), STAGING, *text.lines(), *_kernel(program, name, text.entry())]
    return CudaCode("\n".join(lines), name)


def cuda_text(program: Program) -> str:
    return cuda_code(program, single=False).source


def most_alive(joined: Joined) -> int:
    """Return how many values wait at most between two instructions, in the order of the program."""
    last = {a: k for k, args in enumerate(joined.args) for a in args if joined.ops[a] not in LEAVES}
    ends = Counter(last.values())
    alive = most = 0
    for k in range(len(joined.ops)):
        alive += (k in last) - ends[k]
        most = max(most, alive)
    return most


def _dialect(part: int, single: bool) -> Dialect:
    def expression(op: Enum, operands: Sequence[str]) -> str:
        suffix = "f" if single else ""
        own = _WRITTEN.get(op)
        if own:
            return own.format(*operands, f=suffix)
        if not single and op in _ANALYSIS:
            return f"{PREFIX}{op.value}({', '.join(operands)})"
        return in_c(op, operands, suffix)

    kind = "float" if single else "double"
    return Dialect(
        kind,
        part,
        lambda value: number(value, single),
        expression,
        f"{PREFIX}sincos",
        cells="table",
        links="links",
        rows="rows",
        passes=PASSES,
    )


def _head(program: Program, single: bool) -> Iterator[str]:
    yield "// Generated by cardan."
    yield f"typedef {'float' if single else 'double'} real;"
    yield _SINGLE if single else _DOUBLE
    yield _EXTREMES
    yield from table_lines(program, "static __device__ const", "real", "", lambda x: number(x, single))
    if not single:
        yield from analysis(program.instructions.ops, INLINE, APART)


def _kernel(program: Program, name: str, body: Iterator[str]) -> Iterator[str]:
    arrays = [f"const real *{a.name}_rows, long long {a.name}_stride" for a in program.inputs]
    arrays += [f"real *{a.name}_rows, long long {a.name}_stride" for a in program.outputs]
    yield f'extern "C" __global__ void __launch_bounds__({THREADS})'
    passes = [f"const long long {PASSES}"] * (whole(program) is not None)
    yield f"{name}({', '.join(['long long count', *arrays, *passes])})\n{{"
    yield from body
    yield "}\n"


def _renamed(program: Program) -> Program:
    def named(prefix: str, arrays: Sequence[Array]) -> tuple[Array, ...]:
        words = [re.sub(r"[^A-Za-z0-9_]", "_", a.name) for a in arrays]
        return tuple(a._replace(name=f"{prefix}{n}_{w}") for n, (a, w) in enumerate(zip(arrays, words, strict=True)))

    return replace(program, inputs=named("x", program.inputs), outputs=named("y", program.outputs))


_DOUBLE = f"""{INLINE} unsigned long long bits_of(const double x) {{
    return (unsigned long long)__double_as_longlong(x);
}}
{INLINE} double from_bits(const unsigned long long x) {{ return __longlong_as_double((long long)x); }}
{INLINE} unsigned long long upper_half(const unsigned long long a, const unsigned long long b) {{
    return __umul64hi(a, b);
}}
"""
_SINGLE = f"""{INLINE} unsigned bits_of(const float x) {{ return (unsigned)__float_as_int(x); }}
{INLINE} float from_bits(const unsigned x) {{ return __int_as_float((int)x); }}
{INLINE} void {PREFIX}sincos(const float x, float *s, float *c) {{ sincosf(x, s, c); }}
"""
_EXTREMES = f"""// NaN if either is; -0 is below +0.
{INLINE} real smaller(const real a, const real b) {{
    return a < b ? a : b < a ? b : a == b ? from_bits(bits_of(a) | bits_of(b)) : a + b;
}}
{INLINE} real larger(const real a, const real b) {{
    return a > b ? a : b > a ? b : a == b ? from_bits(bits_of(a) & bits_of(b)) : a + b;
}}
"""
