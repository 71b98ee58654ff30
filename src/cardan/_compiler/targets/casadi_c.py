"""CasADi's interface around functions of C: what it finds in a library as an external function, by names of symbols.

Of a function F these are `F` itself, `F_n_in`, `F_n_out`, `F_sparsity_in`, `F_sparsity_out` and `F_work`. Its
derivatives are functions of the same kind, found by their names: `jac_F`, `adj1_F`, `jac_adj1_F`. Matrices are
compressed columns: a function reads and writes, column by column, only the entries that can be other than 0. The
pointer of an argument may be NULL, which means zeros. That of a result may be NULL if it is not wanted. All functions
are pure, so threads may share them.

Several states lie side by side in a matrix. Their derivatives are blocks on a diagonal.

Source: CasADi 3.8, user guide, "Generating C-code" and "Using external functions".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from cardan._compiler.program.program import Program
from cardan._compiler.targets.c import CFunction, banner, c_function


class Pattern(NamedTuple):
    """A matrix: how many rows and columns, and where it has entries, column by column: every place if it is dense."""

    rows: int
    columns: int
    places: tuple[tuple[int, int], ...] | None = None

    @property
    def size(self) -> int:
        """How many entries there are."""
        return self.rows * self.columns if self.places is None else len(self.places)

    def side_by_side(self, count: int) -> Pattern:
        """Return that of as many matrices in a row."""
        if self.places is None:
            return Pattern(self.rows, self.columns * count)
        places = [(i, k * self.columns + j) for k in range(count) for i, j in self.places]
        return Pattern(self.rows, self.columns * count, tuple(places))

    def on_diagonal(self, count: int) -> Pattern:
        """Return that of as many matrices on a diagonal."""
        if count == 1:
            return self
        places = [(k * self.rows + i, k * self.columns + j) for k in range(count) for i, j in self.all_places()]
        return Pattern(self.rows * count, self.columns * count, tuple(places))

    def all_places(self) -> Sequence[tuple[int, int]]:
        if self.places is None:
            return [(i, j) for j in range(self.columns) for i in range(self.rows)]
        return self.places

    def compressed(self) -> list[int]:
        """Return it as CasADi reads it: rows, columns, where each column begins, and the row of each entry."""
        if self.places is None:
            return [self.rows, self.columns, 1]
        counts = Counter(j for _, j in self.places)
        begins = accumulate((counts[j] for j in range(self.columns)), initial=0)
        return [self.rows, self.columns, *begins, *(i for i, _ in self.places)]


class External(NamedTuple):
    """A function for CasADi: its arguments and results as matrices, and the program for one state.

    The program reads the entries of the arguments numbered in `reads`, and writes those of the results numbered in
    `writes`. The other results have none.
    """

    name: str
    inputs: Sequence[Pattern]  # of one state
    outputs: Sequence[Pattern]
    program: Program
    reads: Sequence[int]
    writes: Sequence[int]
    is_derivative: bool = False  # whether results of several states are on a diagonal
    names: tuple[Sequence[str], Sequence[str]] | None = None  # of arguments and results

    def patterns(self, states: int) -> tuple[list[Pattern], list[Pattern]]:
        """Return those of the arguments and of the results of several states."""
        many = Pattern.on_diagonal if self.is_derivative else Pattern.side_by_side
        return [p.side_by_side(states) for p in self.inputs], [many(p, states) for p in self.outputs]


def casadi_source(functions: Sequence[External], states: int = 1, comment: str = "") -> str:
    """Return the text of one file with functions for CasADi, each over as many states in a row."""
    texts = [banner(comment), _HEAD]
    for function in functions:
        kernel = c_function(function.program, f"{function.name}_state", gives_workspace=True)
        texts += [kernel.definition, *_interface(function, kernel, states)]
    return "\n".join([*texts, "#ifdef __cplusplus", "}", "#endif", ""])


_HEAD = """
#include <math.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef casadi_int
#define casadi_int long long int
#endif
#ifndef CASADI_SYMBOL_EXPORT
#if defined(_WIN32)
#define CASADI_SYMBOL_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define CASADI_SYMBOL_EXPORT __attribute__((visibility("default")))
#else
#define CASADI_SYMBOL_EXPORT
#endif
#endif
"""


def _interface(f: External, kernel: CFunction, states: int) -> list[str]:
    """Return a function and what CasADi asks of it."""
    (inputs, outputs), symbol = f.patterns(states), "CASADI_SYMBOL_EXPORT"
    lines = [
        f"{symbol} casadi_int {f.name}_n_in(void) {{ return {len(inputs)}; }}",
        f"{symbol} casadi_int {f.name}_n_out(void) {{ return {len(outputs)}; }}",
        *_patterns(f"{f.name}_sparsity_in", inputs),
        *_patterns(f"{f.name}_sparsity_out", outputs),
    ]
    for way, names in zip(("in", "out"), f.names or (), strict=False):
        listed = ", ".join(f'"{name}"' for name in names)
        lines += [
            f"{symbol} const char *{f.name}_name_{way}(casadi_int i) {{",
            f"    static const char *const names[] = {{{listed}}};",
            f"    return i >= 0 && i < {len(names)} ? names[i] : NULL;",
            "}",
        ]
    return [*lines, *_work(f, kernel), *_call(f, kernel, states)]


def _patterns(name: str, patterns: Sequence[Pattern]) -> list[str]:
    distinct = list(dict.fromkeys(patterns))
    rows = [f"    static const casadi_int s{k}[] = {{{_listed(p.compressed())}}};" for k, p in enumerate(distinct)]
    found = ", ".join(f"s{distinct.index(p)}" for p in patterns)
    return [
        f"CASADI_SYMBOL_EXPORT const casadi_int *{name}(casadi_int i) {{",
        *rows,
        f"    static const casadi_int *const all[] = {{{found}}};",
        f"    return i >= 0 && i < {len(patterns)} ? all[i] : NULL;",
        "}",
    ]


def _listed(numbers: Sequence[int]) -> str:
    lines = [", ".join(map(str, numbers[k : k + 24])) for k in range(0, len(numbers), 24)]
    return ",\n        ".join(lines)


def _work(f: External, kernel: CFunction) -> list[str]:
    """Return what says how much memory the function is lent: zeros, results nobody wants, and its workspace."""
    return [
        f"CASADI_SYMBOL_EXPORT int {f.name}_work(casadi_int *sa, casadi_int *sr, casadi_int *si, casadi_int *sw) {{",
        f"    *sa = {len(f.inputs)};",
        f"    *sr = {len(f.outputs)};",
        "    *si = 0;",
        f"    *sw = {_zeros(f) + sum(f.outputs[k].size for k in f.writes) + kernel.workspace};",
        "    return 0;",
        "}",
    ]


def _zeros(f: External) -> int:
    return max((f.inputs[k].size for k in f.reads), default=0)


def _call(f: External, kernel: CFunction, states: int) -> list[str]:
    zeros = _zeros(f)
    counts = [f.outputs[k].size for k in f.writes]
    unwanted = list(accumulate(counts, initial=zeros))
    arguments = [
        *(f"arg[{k}] ? arg[{k}] + {f.inputs[k].size} * k : w" for k in f.reads),
        *(f"res[{k}] ? res[{k}] + {n} * k : w + {at}" for k, n, at in zip(f.writes, counts, unwanted, strict=False)),
        f"w + {unwanted[-1]}",
    ]
    return [
        f"CASADI_SYMBOL_EXPORT int {f.name}(const double **arg, double **res, casadi_int *iw, double *w, int mem) {{",
        "    size_t k;",
        "    (void)arg; (void)res; (void)iw; (void)mem;",
        f"    for (k = 0; k < {zeros}; ++k)",
        "        w[k] = 0.0;",
        f"    for (k = 0; k < {states}; ++k)",
        f"        {kernel.name}(",
        "            " + ",\n            ".join(arguments) + ");",
        "    return 0;",
        "}",
        "",
    ]
