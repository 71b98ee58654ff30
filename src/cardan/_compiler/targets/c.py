"""The C target: a program as one C99 source and header that need nothing but libm.

One function for one state, without allocation, and one that runs it over a batch. It branches on data only to leave
out work whose results nothing uses (regions with a condition). The text is meant to be read:
inputs and results keep their names, with a _ behind those that mean something else in C.

A long program is cut into parts of some hundred operations, for what compilers do grows faster than a function: what
one part leaves to others passes through an array w. The results are written last, so that they may be where inputs are,
and in such parts, too: a compiler looks for each value read from w at all that was written since.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from cardan._algebra.errors import ParameterError, visible
from cardan._compiler.program.ops import SPEC, Op
from cardan._compiler.program.passes import results_in_place, without_tangents
from cardan._compiler.program.program import Array, Program, places_of, work_by_kind
from cardan._compiler.targets.c_family import (
    Dialect,
    ProgramParts,
    entries_of,
    finite,
    in_c,
    inputs_at,
    loop_over_rows,
    round_to_single,
    table_lines,
)

PART = 300  # operations, or results: gcc -O2 takes 5 s for 30 000 operations in such parts, 30 s in one function
_NOINLINE = """#if defined(__GNUC__)
#define PART static __attribute__((noinline))
#else
#define PART static
#endif
"""
_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while size_t main
alignas alignof asm bool constexpr false nullptr static_assert thread_local true typeof typeof_unqual linux unix
_Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local
"""
"""Keywords of C99, C11, C23 and of GNU's dialect, which defines names of its own, too."""
_CPP = """
and and_eq asm bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield compl concept const_cast
consteval constinit decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq
operator or or_eq private protected public reinterpret_cast requires static_cast template this throw try typeid typename
using virtual wchar_t xor xor_eq
"""
"""Those of C++, whose compilers read the header, too."""
OF_CPP_HEADER = frozenset({"is_sized", "joint", "joints", "nq", "nv", "real", "span", "std"})
"""Names that mean something in the header for C++."""
_LOOP = ("    size_t k;", "    for (k = 0; k < n; ++k)")
_EXTERN = '#ifdef __cplusplus\nextern "C" {\n#endif\n'
_EXTERN_END = "#ifdef __cplusplus\n}\n#endif\n"
_MACROS = re.compile(r"PART|NULL|NAN|INFINITY|math_errhandling|(FP|M|MATH|HUGE)_\w*[^\W_]|__\w*[^\W_]__")
"""What the headers and compilers define, or may."""
_MATH = """
acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 exp10 expm1 frexp ilogb ldexp log log10 log1p
log2 logb modf scalbn scalbln scalb cbrt fabs hypot pow sqrt erf erfc lgamma tgamma gamma ceil floor nearbyint rint
lrint llrint round lround llround trunc roundeven fmod remainder drem remquo copysign nan nextafter nexttoward fdim fmax
fmin fma j0 j1 jn y0 y1 yn significand sincos pow10
"""
_MORE = """
isfinite isinf isnan isnormal signbit isgreater isgreaterequal isless islessequal islessgreater isunordered fpclassify
finite signgam abs abort exit
"""
_FUNCTIONS = {f"{name}{f}" for spec in SPEC.values() for name in re.findall(r"\w+(?={f})", spec.c) for f in ("", "f")}
RESERVED = frozenset({*_KEYWORDS.split(), *_CPP.split(), *_FUNCTIONS})
_NO_NAMES = RESERVED.union(_MORE.split(), *([f"{name}{f}" for f in ("", "f", "l")] for name in _MATH.split()))
"""What a function may not be called; arguments and results may, if nothing written here means it."""

_HEADERS = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbool
stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype
"""
HEADERS = frozenset(_HEADERS.split())  # Headers of C's own, which one of the same name would hide

FRAME = 256  # bytes of a call at most for registers that are kept, an address to return to, alignment: x86-64 takes 80
ARGUMENT = 16  # bytes of a pointer handed over on the stack, which who is called may put there once more
COUNTERS = 16  # bytes of those of a loop, and of the loop in it that copies a row
DEPTH = 3  # calls: over a batch, of one state, of a part
EXTRA = {Op.SIGN: 2} | dict.fromkeys((Op.MIN, Op.MAX, Op.SELECT, Op.AND, Op.OR), 1)
"""Values an operation needs besides its own: those of the branches of a conditional expression."""


class CFunction(NamedTuple):
    name: str  # of the function
    program: Program  # what it computes, its inputs and results named as in C
    real: str  # the type of its numbers
    definition: str  # the text that belongs into a source
    declaration: str  # that of a header
    workspace: int  # how many numbers wait in the array w
    gives_workspace: bool  # whether the caller gives w, as the last argument
    stack: int  # bytes it takes at most, w in it unless the caller gives it, without what functions of libm take

    @property
    def work(self) -> str:
        kinds = {kind: n for kind, n in work_by_kind(self.program).items() if n}
        each = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
        return f"{sum(kinds.values())} operations" + (f": {each}" if each else "")

    @property
    def memory(self) -> str:
        size = self.workspace * (4 if self.real == "float" else 8)
        if self.gives_workspace:
            return f"{self.stack} bytes, and what libm takes; the caller gives a workspace of {size}"
        return f"{self.stack} bytes, {size} of them in the array w, and what libm takes"


def c_text(program: Program) -> str:
    return c_source(c_function(program, program.name), program.name)


def c_function(program: Program, name: str, *, single: bool = False, gives_workspace: bool = False) -> CFunction:
    """Return a program as a function of C, in float if it is `single`, and one that runs it over a batch.

    The array w is the caller's if the function `gives_workspace`, and need not be on the stack then. Errors are those
    of `check_name`.
    """
    check_name(name)
    program = _renamed(results_in_place(without_tangents(program)), name)
    real = "float" if single else "double"
    writer = _CWriter(program, name, single)
    parts, body = writer.written()
    places = 0 if writer.parts.is_whole else max(writer.places, 1)
    if gives_workspace:  # in place of the local array, which is the first line of what has one
        body, places = ["    (void)w;", *body] if writer.parts.is_whole else body[1:], max(places, 1)
    given = places if gives_workspace else 0
    one, many = _prototypes(program, name, real, given)
    arguments = ", ".join(
        [*(f"{a.name} + {a.size} * k" for a in (*program.inputs, *program.outputs)), *["w"] * (given > 0)]
    )
    lines = [
        *table_lines(program, "static const", real, f"{name}_", lambda x: _number(x, real == "float")),
        *parts,
        f"{one}\n{{",
        *body,
        "}\n",
        f"{many}\n{{",
        *_LOOP,
        f"        {name}({arguments});",
        "}",
        "",
    ]
    size = 4 if single else 8
    stack = _frames(writer.parts, size, min(len(program.results), PART)) + (0 if gives_workspace else places * size)
    function = CFunction(name, program, real, "\n".join(lines), "", places, gives_workspace, stack)
    said = [f"/* One state: {function.work}.", f" * Stack, at most: {function.memory}. */"]
    said += [f"#define {name.upper()}_STACK {stack} /* bytes */"]
    said += [f"#define {name.upper()}_WORKSPACE {places} /* entries of w */"] * gives_workspace
    said += [f"{one};\n", "/* n states, one after the other. */", f"{many};\n"]
    return function._replace(declaration="\n".join(said))


def c_source(function: CFunction, header: str, comment: str = "") -> str:
    return f'{banner(comment)}#include "{header}.h"\n\n#include <math.h>\n\n{function.definition}'


def c_header(functions: Sequence[CFunction], name: str, comment: str = "", *, constants: str = "") -> str:
    """Return the header of functions, `name.h`, with a comment at its head and constants before the functions."""
    guard = f"{name.upper()}_H"
    top = f"{banner(comment)}#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n\n{_EXTERN}\n{constants}"
    return "\n".join([top, *(f.declaration for f in functions), f"{_EXTERN_END}\n#endif\n"])


def banner(comment: str) -> str:
    """Return what every file begins with; a comment in it ends where it shall."""
    plain = comment.replace("*/", "* /").replace("/*", "/ *")
    plain = re.sub(r"\?(?=\?)", "? ", plain)  # ??/ is a trigraph
    return "/* Generated by cardan.\n" + "".join(f" * {visible(line)}\n" for line in plain.split("\n")) + " */\n"


def check_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name in _NO_NAMES or _MACROS.fullmatch(name):
        expected = "letters, digits and _, not beginning with a digit, no keyword or function of C or C++"
        raise ParameterError("name of a C function", got=name, expected=expected)


def _renamed(program: Program, name: str) -> Program:
    """Return the program with names of inputs and results that mean nothing else in C, or in what is written here."""
    taken = {*RESERVED, *OF_CPP_HEADER, name, f"{name}_batch", "n", "k", "i", "w", "r_"}
    own_names = re.compile(rf"[Tknrt]\d+_|{name}_(part|results|table|links)\d+")
    arrays: list[Array] = []
    for array in (*program.inputs, *program.outputs):
        own = re.sub(r"[^A-Za-z0-9_]", "_", array.name)
        while own in taken or own_names.fullmatch(own) or _MACROS.fullmatch(own) or own[:1].isdigit():
            own = f"_{own}" if own[:1].isdigit() else f"{own}_"
        taken.add(own)
        arrays.append(array._replace(name=own))
    n = len(program.inputs)
    return replace(program, inputs=tuple(arrays[:n]), outputs=tuple(arrays[n:]))


def _prototypes(program: Program, name: str, real: str, workspace: int) -> tuple[str, str]:
    arrays = [(f"const {real}", a) for a in program.inputs] + [(real, a) for a in program.outputs]
    own = [f"{real} w[{workspace}]"] * (workspace > 0)
    one = ", ".join([*(f"{kind} {a.name}[{max(a.size, 1)}]" for kind, a in arrays), *own])  # C has none of length 0
    many = ", ".join([*(f"{kind} *{a.name}" for kind, a in arrays), *own])
    return f"void {name}({one})", f"void {name}_batch(size_t n, {many})"


class _CWriter:
    def __init__(self, program: Program, name: str, single: bool) -> None:
        self.program, self.name = program, name
        self.real, suffix = ("float", "f") if single else ("double", "")
        cells, number = f"{name}_table", lambda x: _number(x, single)
        expression, links = lambda op, args: in_c(op, args, suffix), f"{name}_links"
        dialect = Dialect(self.real, PART, number, expression, cells=cells, links=links)
        self.parts = ProgramParts(program, dialect)
        count = 0 if self.parts.is_whole else len(self.parts.parts)
        self.parts.wait(dict.fromkeys(program.results, count))
        self.places, self.all_entries = self.parts.places, frozenset(self.parts.entries)

    def written(self) -> tuple[list[str], list[str]]:
        program, parts = self.program, self.parts
        positions = (program.instructions[k].value for k in program.instructions.places(Op.INPUT))
        used = [*inputs_at(program, positions), *(a for a in program.outputs if a.size)]
        unused = [f"    (void){a.name};" for a in (*program.inputs, *program.outputs) if a not in used]
        if parts.is_whole:
            return [], unused + parts.operations(0) + self._results()
        texts, calls = [_NOINLINE], []
        for p in range(len(parts.parts)):
            arrays = parts.inputs_of(p)
            passing = parts.passing(p)
            parameters = ", ".join(
                [
                    *(f"const {self.real} {a.name}[{a.size}]" for a in arrays),
                    f"{self.real} *w",
                    *(f"const long {k}" for k in passing),
                ]
            )
            own = [f"    (void){name};" for name in ("w", *passing)] + parts.operations(p)
            texts += [f"PART void {self.name}_part{p}({parameters})\n{{", *own, "}\n"]
            calls.append(f"{self.name}_part{p}({', '.join([*(a.name for a in arrays), 'w', *passing])});")
        writers, ending = self._writers()
        head = [f"    {self.real} w[{max(self.places, 1)}];"]
        body = [f"    {line}" for line in [*parts.run(calls), *ending]]
        return texts + writers, head + unused + body

    def _results(self) -> list[str]:
        """Return the lines that write the results; inputs among them are all read before, for they may be there."""
        values = [self.parts.value(r, 0) for r in self.program.results]
        names = {value: f"r{n}_" for n, value in enumerate(self._inputs_in(values))}
        lines = [f"    const {self.real} {name} = {value};" for value, name in names.items()]
        targets = zip(entries_of(self.program.outputs), values, strict=True)
        return [*lines, *(f"    {target} = {names.get(value, value)};" for target, value in targets)]

    def _writers(self) -> tuple[list[str], list[str]]:
        """Return the functions that write the results, and the lines that call them, inputs among them read before."""
        values = [self.parts.value(r, len(self.parts.parts)) for r in self.program.results]
        names = {value: f"w[{self.places + n}]" for n, value in enumerate(self._inputs_in(values))}
        self.places += len(names)
        texts, calls = [], [f"{name} = {value};" for value, name in names.items()]
        flat = [(a, f"{a.name}[{k}]") for a in self.program.outputs for k in range(a.size)]
        targets = [flat[place] for place in self.program.result_places()]
        for p, first in enumerate(range(0, len(values), PART)):
            own = list(zip(targets, values, strict=True))[first : first + PART]
            arrays = dict.fromkeys(array for (array, _), _ in own)
            parameters = ", ".join([f"const {self.real} *w", *(f"{self.real} {a.name}[{a.size}]" for a in arrays)])
            lines = [f"    {target} = {names.get(value, value)};" for (_, target), value in own]
            texts += [f"PART void {self.name}_results{p}({parameters})\n{{", "    (void)w;", *lines, "}\n"]
            calls.append(f"{self.name}_results{p}({', '.join(['w', *(a.name for a in arrays)])});")
        return texts, [*calls, *self._columns()]

    def _columns(self) -> list[str]:
        """Return the loops that copy columns whose rows are results."""
        lines: list[str] = []
        for array, place in zip(self.program.outputs, places_of(self.program.outputs), strict=True):
            for number, column in enumerate(self.program.columns):
                if column.results and place.start <= column.results.start < place.stop:
                    target = f"{array.name}[{column.results.start - place.start} + {column.stride} * i]"
                    lines += loop_over_rows(column.rows, f"{target} = {self.parts.column(number, 'i')};")
        return lines

    def _inputs_in(self, values: Sequence[str]) -> list[str]:
        return [value for value in dict.fromkeys(values) if value in self.all_entries]


def _number(value: float, single: bool) -> str:
    """Return a number as C writes it, exact; negative ones in parentheses."""
    if math.isfinite(value := round_to_single(value) if single else value):
        return finite(value, "f" if single else "")
    text = ("" if single else "(double)") + ("NAN" if math.isnan(value) else "INFINITY")  # the macros are float
    return f"(-{text})" if value < 0.0 else text


def _frames(parts: ProgramParts, size: int, results: int) -> int:
    """Return the bytes at most of all frames from the function over a batch down to a part, without the array w.

    A compiler may give a place on the stack to every value that a part computes, and to all that it reads, but to no
    more: each is written once. gcc without optimisation takes a half to four fifths of that, with `-O2` a tenth to two
    thirds. Numbers have `size` bytes; one function writes so many `results`.
    """
    program = parts.program
    own = max(_values(parts, set(part)) for part in parts.parts)
    carried = sum(len(region.carried) for region in program.regions)
    values = own + results if parts.is_whole else max(own, results) + carried + len(parts.entries)
    arguments = len(program.inputs) + len(program.outputs) + 2  # the workspace, and how many states
    return size * values + COUNTERS * len(program.regions) + DEPTH * (FRAME + ARGUMENT * arguments)


def _values(parts: ProgramParts, part: set[int]) -> int:
    instructions = parts.instructions
    read = {a for k in part for a in instructions[k].args} - part
    computed = sum(1 + EXTRA.get(instructions[k].op, 0) for k in part)
    return computed + sum(instructions[a].op is not Op.CONST for a in read)
