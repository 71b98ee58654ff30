"""A program as the text of one CUDA kernel: a state is a thread, or a team of threads where it is too large for one.

What is joined to one multiply-add is decided by the program alone, and in double precision the functions of analysis
are ours: so the results have the bits that they have on a processor. Single precision takes CUDA's.

Where each thread has a state of its own, rows of arrays lie in memory one after the other, so the entries that
neighbouring threads want at once are far apart. The 32 threads of a warp therefore read 32 rows together, in the order
of memory, into shared memory, where each then finds its own, and write results in the same way, up to 32 columns at a
time. A row of shared memory has an odd number of entries: so no two threads of a warp want the same bank.

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

from cardan._compiler.program.ops import LEAVES, Op
from cardan._compiler.program.passes import Fused, Joined, joined_products
from cardan._compiler.program.program import Array, Program, rows_of
from cardan._compiler.program.replay import whole
from cardan._compiler.targets.c_arithmetic import PREFIX, analysis, number
from cardan._compiler.targets.c_family import Dialect, ProgramParts, in_c
from cardan._compiler.targets.cuda.staging import (
    COLUMNS,
    PASSES,
    STAGING,
    WARP,
    WARPS,
    Launch,
    chunks_of,
    loads,
    stores,
    width_of,
)
from cardan._compiler.targets.cuda.team_text import SHARES, STRIDE, TeamText
from cardan._compiler.targets.libm.elementary import FUNCTIONS

SOLO = 390  # registers' worth of values that wait in the order of the program, up to which the compiler hardly spills
SHARE = 220  # likewise, a warp of a team
TEAM = 30_000  # operations that a team takes: its functions are not cut, and take long to compile
SHARED = 160 * 1024  # bytes of shared memory a block may have: an A100 has 163 kB, later ones more
WHOLE = 6000  # operations that stay in one function, whose values the compiler keeps in registers as far as they go
PART = 300  # operations of each function of a longer program
APART, INLINE = "static __device__ __noinline__", "static __device__ __forceinline__"
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
    launch: Launch


def cuda_code(program: Program, *, single: bool) -> CudaCode:
    """Return a program as a kernel, in float if it is `single`.

    Its parameters are the number of states, then for each input and output where its first row begins, and how many
    entries further each next row does: 0 for an input that all states share. At the end, of a program that is repeated,
    how often.
    """
    program = _renamed(program)
    name = f"cardan_{re.sub(r'[^A-Za-z0-9_]', '_', program.name)}"
    joined = joined_products(program)
    registers = most_alive(joined) * (1 if single else 2)
    is_whole = program.operations <= WHOLE and registers <= 2 * SOLO
    dialect = _dialect(WHOLE if is_whole else PART, single)
    warps = team_size(program, registers, 2 if single else 4)
    if warps > 1:
        team = TeamText(program, joined, warps, dialect, name)
        shared = team.places * STRIDE * (4 if single else 8)
        if shared <= SHARED:
            lines = [*_head(program, single), SHARES, *team.lines(), *_kernel(program, name, warps, team.entry())]
            return CudaCode("\n".join(lines), Launch(name, warps * WARP, WARP, shared))
    solo = SoloText(program, joined, dialect, name)
    lines = [*_head(program, single), STAGING, *solo.lines(), *_kernel(program, name, WARPS, solo.entry())]
    return CudaCode("\n".join(lines), Launch(name, WARPS * WARP, WARPS * WARP, 0))


def cuda_text(program: Program) -> str:
    return cuda_code(program, single=False).source


def team_size(program: Program, registers: int, least: int) -> int:
    """Return how many threads share a state, `least` or more: 1 where its values find room in the registers of one."""
    if program.operations > TEAM or registers <= SOLO or any(picked or kept for picked, kept in rows_of(program)):
        return 1
    return next((n for n in (2, 4) if n >= least and registers <= n * SHARE), 8)


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
    return Dialect(kind, part, lambda value: number(value, single), expression, f"{PREFIX}sincos", "rows", PASSES)


def _head(program: Program, single: bool) -> Iterator[str]:
    yield "// Generated by cardan."
    yield f"typedef {'float' if single else 'double'} real;"
    yield _SINGLE if single else _DOUBLE
    yield _EXTREMES
    if not single:
        yield from analysis(program.instructions.ops, INLINE, APART)


def _kernel(program: Program, name: str, warps: int, body: Iterator[str]) -> Iterator[str]:
    arrays = [f"const real *{a.name}_rows, long long {a.name}_stride" for a in program.inputs]
    arrays += [f"real *{a.name}_rows, long long {a.name}_stride" for a in program.outputs]
    yield f'extern "C" __global__ void __launch_bounds__({warps * WARP})'
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


class SoloText:
    def __init__(self, program: Program, joined: Joined, dialect: Dialect, name: str) -> None:
        self.program, self.name = program, name
        self.parts = ProgramParts(program, dialect, joined)
        self.words = INLINE if dialect.part >= program.operations else APART
        self.chunks = chunks_of(program.outputs, COLUMNS)
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
            yield f"{self.words} void {self.name}_part{p}({taken})\n{{"
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
        states = WARPS * WARP
        yield f"    __shared__ real staged[{states * self.width}];"
        yield f"    real *stage = staged + threadIdx.x / {WARP} * {WARP * self.width};"
        yield f"    const int lane = threadIdx.x % {WARP};"
        yield f"    const long long first = (long long)blockIdx.x * {states} + threadIdx.x / {WARP} * {WARP};"
        yield "    if (first >= count)\n        return;"
        yield f"    const int ahead = count - first < {WARP} ? (int)(count - first) : {WARP};"
        for a in self.program.inputs:
            yield from loads(a, self.width)
        for a in self.program.outputs:
            yield f"    real *{a.name} = {a.name}_rows + first * {a.name}_stride;"
        yield f"    real w[{max(self.parts.places, 1)}], rows[{max(self.parts.rows, 1)}];"
        outputs = [f"{a.name}, {a.name}_stride" for a in self.program.outputs]
        passed = ", ".join(["stage, ahead, lane", *(a.name for a in self.program.inputs), *outputs, "w", "rows"])
        calls = [f"{self.name}_part{p}({passed});" for p in range(len(self.parts.parts))]
        yield from (f"    {line}" for line in self.parts.run(calls))
        yield from self._stores(len(self.parts.parts))
