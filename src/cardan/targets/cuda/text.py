"""A program as the text of one CUDA kernel: a state is a thread.

Rows of arrays lie in memory one after the other, so the entries that neighbouring threads want at once are far apart.
The 32 threads of a warp therefore read 32 rows together, in the order of memory, into shared memory, where each then
finds its own, and write results in the same way, up to 32 columns at a time. A row of shared memory has an odd number
of entries: so no two threads of a warp want the same bank.

A long program is cut into parts, functions that are called; what one leaves to others waits in the thread's local
memory, which the device lays out so that a warp's accesses are together. Results are written as soon as all of a chunk
of columns are there.

What is joined to one multiply-add is decided by the program alone, and in double precision the functions of analysis
are ours: so the results have the bits that they have on a processor. Single precision takes CUDA's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from cardan.program.fusing import Fused, joined_products
from cardan.program.ops import Op
from cardan.program.program import Array, Program
from cardan.targets.c_arithmetic import PREFIX, analysis, number, single_number
from cardan.targets.c_family import Dialect, Parts, in_c
from cardan.targets.cuda.staging import STAGING, WARP, chunks_of, loads, stores, width_of

WARPS = 4  # of a block
WHOLE = 6000  # operations that stay in one function, whose values the compiler keeps in registers as far as they go
PART = 1000  # operations of each function of a longer program
_APART, _INLINE = "static __device__ __noinline__", "static __device__ __forceinline__"
_FUSED = {Fused.FMA: "fma{f}({0}, {1}, {2})", Fused.FMS: "fma{f}({0}, {1}, -{2})", Fused.FNMA: "fma{f}(-{0}, {1}, {2})"}
_OURS = {Op.MIN: "smaller({0}, {1})", Op.MAX: "larger({0}, {1})", Op.NEG: "-({0})"}
_ANALYSIS = (Op.TAN, Op.ASIN, Op.ACOS, Op.ATAN2, Op.EXP, Op.LOG, Op.EXPM1, Op.LOG1P)


class CudaCode(NamedTuple):
    """A kernel, before it is compiled.

    Attributes:
        source: its text.
        name: of the kernel.
        threads: of a block.
        states: that a block computes.
        shared: bytes of shared memory a block is given beyond those the kernel declares.
    """

    source: str
    name: str
    threads: int
    states: int
    shared: int


def cuda_code(program: Program, *, single: bool) -> CudaCode:
    """Return a program as a kernel.

    Its parameters are the number of states, then for each input and output where its first row begins, and how many
    entries further each next row does: 0 for an input that all states share.

    Args:
        program: what to compute.
        single: whether in float instead of double.
    """
    program = _renamed(program)
    name = f"cardan_{re.sub(r'[^A-Za-z0-9_]', '_', program.name)}"
    return CudaCode("\n".join(_Kernel(program, name, single).lines()), name, WARPS * WARP, WARPS * WARP, 0)


def _renamed(program: Program) -> Program:
    """Return the program with names of arrays that mean nothing else."""

    def named(prefix: str, arrays: Sequence[Array]) -> tuple[Array, ...]:
        words = [re.sub(r"[^A-Za-z0-9_]", "_", a.name) for a in arrays]
        return tuple(a._replace(name=f"{prefix}{n}_{w}") for n, (a, w) in enumerate(zip(arrays, words, strict=True)))

    return replace(program, inputs=named("x", program.inputs), outputs=named("y", program.outputs))


class _Kernel:
    """Writes a kernel."""

    def __init__(self, program: Program, name: str, single: bool) -> None:
        self.program, self.name, self.real, self.single = program, name, "float" if single else "double", single
        count = len(program.instructions)
        size = count if program.operations <= WHOLE else PART
        written = single_number if single else number
        dialect = Dialect(self.real, size, written, self._expression, f"{PREFIX}sincos", "rows")
        self.parts = Parts(program, dialect, joined_products(program))
        self.calls = program.operations > WHOLE
        self.chunks = chunks_of(program.outputs)
        self.width = width_of(program)
        self.after = self._after()
        self.parts.wait(self._needed())

    def _expression(self, op: Enum, operands: Sequence[str]) -> str:
        suffix = "f" if self.single else ""
        own = _FUSED.get(op) or _OURS.get(op)
        if own:
            return own.format(*operands, f=suffix)
        if not self.single and op in _ANALYSIS:
            return f"{PREFIX}{op.value}({', '.join(operands)})"
        return in_c(op, operands, suffix)

    def _after(self) -> list[int]:
        """Return for each chunk the part after which it is written: the one that computes its last value.

        With regions it is the last: within a loop, a value may be that of a pass which is not the last.
        """
        last = len(self.parts.parts) - 1
        if self.program.regions:
            return [last + 1] * len(self.chunks)
        results, home = self.program.results, self.parts.home
        return [
            max((home.get(r, 0) for r in results[c.position : c.position + c.columns]), default=0) for c in self.chunks
        ]

    def _needed(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for chunk, part in zip(self.chunks, self.after, strict=True):
            for r in self.program.results[chunk.position : chunk.position + chunk.columns]:
                found[r] = max(found.get(r, 0), part)
        return found

    def lines(self) -> Iterator[str]:
        """Return the text."""
        yield "// Generated by cardan."
        yield f"typedef {self.real} real;"
        yield _BITS if not self.single else _SINGLE
        yield _EXTREMES.replace("@", "f" if self.single else "")
        if not self.single:
            yield from analysis(self.program.ops, _INLINE, _APART)
        yield STAGING
        bodies = [self._part(p) for p in range(len(self.parts.parts))]
        calls = [f"{self.name}_part{p}(stage, ahead, lane, {self._passed()});" for p in range(len(bodies))]
        for p, body in enumerate(bodies):
            words = _APART if self.calls else _INLINE
            yield f"{words} void {self.name}_part{p}(real *stage, const int ahead, const int lane, {self._taken()})\n{{"
            yield from body
            yield "}\n"
        yield from self._entry(calls)

    def _taken(self) -> str:
        arrays = [f"const real *{a.name}" for a in self.program.inputs]
        outputs = [f"real *{a.name}, const long long {a.name}_stride" for a in self.program.outputs]
        return ", ".join([*arrays, *outputs, "real *w", "real *rows"])

    def _passed(self) -> str:
        outputs = [f"{a.name}, {a.name}_stride" for a in self.program.outputs]
        return ", ".join([*(a.name for a in self.program.inputs), *outputs, "w", "rows"])

    def _part(self, p: int) -> list[str]:
        """Return the body of a part."""
        return [*self.parts.operations(p), *self._stores(p)]

    def _stores(self, p: int) -> list[str]:
        """Return the lines that write the chunks which are there after a part."""
        lines = []
        for chunk, after in zip(self.chunks, self.after, strict=True):
            if after == p:
                results = self.program.results[chunk.position : chunk.position + chunk.columns]
                lines += stores(chunk, [self.parts.value(r, p) for r in results], self.width)
        return lines

    def _entry(self, calls: Sequence[str]) -> Iterator[str]:
        arrays = [f"const real *{a.name}_rows, long long {a.name}_stride" for a in self.program.inputs]
        arrays += [f"real *{a.name}_rows, long long {a.name}_stride" for a in self.program.outputs]
        yield f'extern "C" __global__ void __launch_bounds__({WARPS * WARP})\n{self.name}('
        yield f"    {', '.join(['long long count', *arrays])})\n{{"
        yield f"    __shared__ real staged[{WARPS * WARP * self.width}];"
        yield f"    real *stage = staged + threadIdx.x / {WARP} * {WARP * self.width};"
        yield f"    const int lane = threadIdx.x % {WARP};"
        yield f"    const long long first = (long long)blockIdx.x * {WARPS * WARP} + threadIdx.x / {WARP} * {WARP};"
        yield "    if (first >= count)\n        return;"
        yield f"    const int ahead = count - first < {WARP} ? (int)(count - first) : {WARP};"
        for a in self.program.inputs:
            yield from loads(a, self.width)
        for a in self.program.outputs:
            yield f"    real *{a.name} = {a.name}_rows + first * {a.name}_stride;"
        yield f"    real w[{max(self.parts.places, 1)}], rows[{max(self.parts.rows, 1)}];"
        yield from (f"    {line}" for line in self.parts.run(calls))
        yield from self._stores(len(self.parts.parts))
        yield "}"


_BITS = f"""{_INLINE} unsigned long long bits_of(const double x) {{
    return (unsigned long long)__double_as_longlong(x);
}}
{_INLINE} double from_bits(const unsigned long long x) {{ return __longlong_as_double((long long)x); }}
{_INLINE} unsigned long long upper_half(const unsigned long long a, const unsigned long long b) {{
    return __umul64hi(a, b);
}}
"""
_SINGLE = f"""{_INLINE} unsigned bits_of(const float x) {{ return (unsigned)__float_as_int(x); }}
{_INLINE} float from_bits(const unsigned x) {{ return __int_as_float((int)x); }}
{_INLINE} void {PREFIX}sincos(const float x, float *s, float *c) {{ sincosf(x, s, c); }}
"""
_EXTREMES = f"""// NaN if either is; -0 is below +0.
{_INLINE} real smaller(const real a, const real b) {{
    return a < b ? a : b < a ? b : a == b ? from_bits(bits_of(a) | bits_of(b)) : a + b;
}}
{_INLINE} real larger(const real a, const real b) {{
    return a > b ? a : b > a ? b : a == b ? from_bits(bits_of(a) & bits_of(b)) : a + b;
}}
"""
