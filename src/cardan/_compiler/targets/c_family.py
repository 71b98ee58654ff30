"""A program in a language of C's family: cut into parts, with what one part leaves to others in an array w.

What compilers do grows faster than a function, so a long program becomes many. What regions pick and keep lies in
tables, of which a pass has a row.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, cast

from cardan._compiler.program.liveness import assign_slots, heads_of, last_readers, places_in, tables_of
from cardan._compiler.program.ops import LEAVES, SPEC, TRUTHS, Op
from cardan._compiler.program.passes import Joined
from cardan._compiler.program.program import Array, Program, Region, phases, places_of, stretches
from cardan._compiler.program.replay import whole


class Dialect(NamedTuple):
    """What differs from language to language."""

    real: str  # the type of a number
    part: int  # operations in a function, about
    number: Callable[[float], str]  # how a constant is written
    expression: Callable[[Enum, Sequence[str]], str]  # how an operation on operands is written
    pair: str = ""  # the function that gives sine and cosine at once; none if empty
    cells: str = ""  # how the name of a table that CELLs read begins
    tables: str = "w"  # the array in which the tables of regions lie; w, if they lie with all else
    # what says how often the program is run as a whole; where it is empty, the number itself stands there
    passes: str = ""

    def how_often(self, program: Program, region: Region) -> int | str:
        return self.passes if self.passes and region is whole(program) else region.passes


class ProgramParts:
    """A program cut into parts, and the lines of each."""

    def __init__(self, program: Program, dialect: Dialect, joined: Joined | None = None) -> None:
        self.program, self.dialect, self.instructions = program, dialect, list(program.instructions)
        self.ops, self.args = joined or (program.instructions.ops, program.instructions.args)
        self.parts: list[list[int]] = []  # the instructions that each part computes
        self.spans: dict[range, tuple[int, int]] = {}
        self.phases = phases(program)
        for stretch in stretches(program):
            parts = _cut([k for k in stretch if self.ops[k] not in LEAVES], dialect.part)
            self.spans[stretch] = len(self.parts), len(self.parts) + len(parts) - 1
            self.parts += parts
        self.home = {k: p for p, part in enumerate(self.parts) for k in part}
        self.heads = heads_of(program, self.spans, [Op.INPUT, Op.CARRIED])
        self.is_whole = len(self.parts) == 1 and not program.regions  # then nothing waits in w
        self.tables = dict(zip(program.regions, tables_of(program, 0), strict=True))
        self.entries = entries_of(program.inputs)
        self.slots: dict[int, int] = {}
        self.places = 0  # how many numbers wait in w
        tables = list(self.tables.values())
        self.rows = tables[-1].end if tables else 0  # how many numbers are in the tables, where those are apart

    def wait(self, results: Mapping[int, int]) -> None:
        """Give what more than one part needs its place in w; each is used again.

        For each instruction whose value is a result, `results` has the part after which it is read last.
        """
        last = last_readers(self.program, self.home, self.spans, self.heads, self.args)
        for r, p in results.items():
            if (r in self.home or r in self.heads) and (p > self.home.get(r, -1) or r in self.heads):
                last[r] = max(last.get(r, p), p)
        apart = self.dialect.tables != "w"
        self.slots, self.places = places_in(self.program, list(self.tables.values())), 0 if apart else self.rows
        self.in_tables = frozenset(self.slots)
        born = [[k for k, first in self.heads.items() if first == p] + part for p, part in enumerate(self.parts)]
        slots, self.places = assign_slots(born, last, self.places)
        self.slots |= slots

    def run(self, calls: Sequence[str], inside: Region | None = None) -> list[str]:
        lines: list[str] = []
        for part in self.phases[inside]:
            if isinstance(part, range):
                first, last = self.spans[part]
                lines += calls[first : last + 1]
            else:
                own = self._region(calls, part)
                if part.may_be_skipped:
                    own = [f"if ({self._holds(part)}) {{", *(f"    {line}" for line in own), "}"]
                lines += own
        return lines

    def _region(self, calls: Sequence[str], region: Region) -> list[str]:
        k = f"k{self.program.regions.index(region)}_"
        first = [f"{self.place(head)} = {self._first(head)};" for head, _ in region.carried] + self._table(region)
        within = self.run(calls, region)
        body = [*self._carry(k, region), *self._pick(k, region), *within, *self._keep(k, region)]
        if region.may_end_early:
            body += [f"if (!({self._holds(region)}))", "    break;"]
        own = [
            "{",
            f"    long {k};",
            f"    for ({k} = 0; {k} < {self.dialect.how_often(self.program, region)}; ++{k}) {{",
        ]
        return [*first, *own, *(f"        {line}" for line in body), "    }", "}"]

    def _holds(self, region: Region) -> str:
        if region.going is None:
            raise AssertionError("a region without a condition")
        return f"{self.value(region.going, -1)} != 0"

    def _carry(self, k: str, region: Region) -> list[str]:
        """Return the lines that put what is carried in its place, from the second pass on."""
        if not region.carried:
            return []
        read = [f"    const {self.dialect.real} t{head}_ = {self.value(after, -1)};" for head, after in region.carried]
        written = [f"    {self.place(head)} = t{head}_;" for head, _ in region.carried]
        return [f"if ({k} > 0) {{", *read, *written, "}"]

    def _table(self, region: Region) -> list[str]:
        tables = self.tables[region]
        picked, start = tables.rows.picked, tables.picked + len(tables.rows.picked)
        rows = zip(*(self.instructions[k].args for k in picked), strict=True)
        sources = enumerate(a for row in rows for a in row)
        return [f"{self.dialect.tables}[{start + n}] = {self.value(a, -1)};" for n, a in sources]

    def _pick(self, k: str, region: Region) -> list[str]:
        """Return the lines that put a row of the table where the parts look for it."""
        tables, columns, w = self.tables[region], len(self.tables[region].rows.picked), self.dialect.tables
        j, row = f"j{k[1:]}", f"{tables.picked + columns} + {columns} * {k}"
        loop = f"    for ({j} = 0; {j} < {columns}; ++{j})"
        copy = f"        {w}[{tables.picked} + {j}] = {w}[{row} + {j}];"
        return ["{", f"    long {j};", loop, copy, "}"] if columns else []

    def _keep(self, k: str, region: Region) -> list[str]:
        tables, kept, w = self.tables[region], self.tables[region].rows.kept, self.dialect.tables
        return [f"{w}[{tables.kept + j} + {len(kept)} * {k}] = {self.value(a, -1)};" for j, a in enumerate(kept)]

    def _first(self, k: int) -> str:
        op, args, value = self.instructions[k]
        return self.entries[int(value)] if op is Op.INPUT else self.value(args[0], -1)

    def inputs_of(self, p: int) -> list[Array]:
        read = {a for k in self.parts[p] for a in self.args[k]} - self.heads.keys()
        leaves = (self.instructions[k] for k in read)
        return inputs_at(self.program, (i.value for i in leaves if i.op is Op.INPUT))

    def operations(self, p: int) -> list[str]:
        lines: list[str] = []
        pairs: set[int] = set()
        for k in self.parts[p]:
            args = self.args[k]
            operands = [self.value(a, p) for a in args]
            if self.ops[k] is Op.CELL:
                number = int(self.instructions[k].value)
                operands += [f"{self.dialect.cells}{number}", str(len(self.program.tables[number]) - 1)]
            places = [self.place(k)] if k in self.slots else []
            lines += operation_lines(self.dialect, self.ops[k], k, args, operands, places, pairs)
        return lines

    def place(self, k: int) -> str:
        return f"{self.dialect.tables if k in self.in_tables else 'w'}[{self.slots[k]}]"

    def value(self, k: int, p: int) -> str:
        op, _, value = self.instructions[k]
        if k in self.heads or op in (Op.PICKED, Op.KEPT):
            return self.place(k)
        if op is Op.INPUT:
            return self.entries[int(value)]
        if op is Op.CONST:
            return self.dialect.number(value)
        return f"t{k}_" if self.home[k] == p else self.place(k)


def operation_lines(
    dialect: Dialect,
    op: Enum,
    k: int,
    args: Sequence[int],
    operands: Sequence[str],
    places: Sequence[str],
    pairs: set[int],
    scope: str = "",
) -> list[str]:
    """Return the lines that compute instruction number k, and put its value in the places where others look for it.

    `args` are its operands, `operands` how they are written. `pairs` are angles of which sine and cosine are there;
    those computed now join them. `scope` ends their names, where those of an angle occur in several scopes.
    """
    lines: list[str] = []
    if dialect.pair and op in (Op.SIN, Op.COS):
        sine, cosine = (f"{letter}{args[0]}_{scope}" for letter in "sc")
        if args[0] not in pairs:
            pairs.add(args[0])
            lines = [f"    {dialect.real} {sine}, {cosine};", f"    {dialect.pair}({operands[0]}, &{sine}, &{cosine});"]
        expression = sine if op is Op.SIN else cosine
    else:
        expression = dialect.expression(op, operands)
    is_truth = op in TRUTHS
    lines.append(f"    const {'int' if is_truth else dialect.real} t{k}_ = {expression};")
    return lines + [f"    {place} = {f'({dialect.real})' if is_truth else ''}t{k}_;" for place in places]


def entries_of(arrays: Iterable[Array]) -> list[str]:
    return [f"{a.name}[{k}]" for a in arrays for k in range(a.size)]


def inputs_at(program: Program, positions: Iterable[float]) -> list[Array]:
    entries = set(map(int, positions))
    placed = zip(program.inputs, places_of(program.inputs), strict=True)
    return [a for a, place in placed if not entries.isdisjoint(range(place.start, place.stop))]


def _cut(own: list[int], size: int) -> list[list[int]]:
    parts = max(1, round(len(own) / size))
    size = max(1, -(-len(own) // parts))
    return [own[i : i + size] for i in range(0, len(own), size)] or [[]]


def in_c(op: Enum, operands: Sequence[str], suffix: str) -> str:
    return SPEC[cast("Op", op)].c.format(*operands, f=suffix)


def finite(value: float, suffix: str = "") -> str:
    """Return a finite number as C writes it, exact; negative ones in parentheses."""
    return f"({value!r}{suffix})" if math.copysign(1.0, value) < 0.0 else f"{value!r}{suffix}"


def round_to_single(value: float) -> float:
    """Return a number as the nearest one of single precision, infinite where there is none."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
