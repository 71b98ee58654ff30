"""A program as the text of one CUDA kernel: a state is a thread, or a team of threads where it is too large for one.

What is joined to one multiply-add is decided by the program alone, and in double precision the functions of analysis
are ours: so the results have the bits that they have on a processor. Single precision takes CUDA's.
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
from cardan._compiler.program.passes import Fused, Joined, joined_products, without_tangents
from cardan._compiler.program.program import Array, Program
from cardan._compiler.program.replay import whole
from cardan._compiler.targets.c_arithmetic import PREFIX, analysis, number
from cardan._compiler.targets.c_family import Dialect, in_c, table_lines
from cardan._compiler.targets.cuda.solo_text import APART, INLINE, SoloText
from cardan._compiler.targets.cuda.staging import PASSES, STAGING, WARP, WARPS, Launch
from cardan._compiler.targets.cuda.team_text import SHARES, STRIDE, TeamText
from cardan._compiler.targets.libm.elementary import FUNCTIONS

SOLO = 390  # registers' worth of values that wait in the order of the program, up to which the compiler hardly spills
SHARE = 220  # likewise, a warp of a team
TEAM = 30_000  # operations that a team takes: its functions are not cut, and take long to compile
SHARED = 160 * 1024  # bytes of shared memory a block may have: an A100 has 163 kB, later ones more
WHOLE = 6000  # operations that stay in one function, whose values the compiler keeps in registers as far as they go
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
    launch: Launch


def cuda_code(program: Program, *, single: bool) -> CudaCode:
    """Return a program as a kernel, in float if it is `single`.

    Its parameters are the number of states, then for each input and output where its first row begins, and how many
    entries further each next row does: 0 for an input that all states share. At the end, of a program that is repeated,
    how often.
    """
    if program.instructions.count_of(Op.CELL):
        what, instead = f"{program.name}, which reads a table (cardan.cell)", "use on('llvm') or on('numpy')"
        raise UnsupportedError(what, "the cuda target", instead)
    program = _renamed(without_tangents(program))
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
    if program.operations > TEAM or registers <= SOLO or program.columns:
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
