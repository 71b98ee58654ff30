"""A program in a language of C's family: cut into parts, with what one part leaves to others in an array w.

What compilers do grows faster than a function, so a long program becomes many. They are told which pass runs of the
regions around, and find the rows of columns by that.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, cast

from cardan._compiler.program.liveness import assign_slots, heads_of, last_readers, place_columns, summed_columns
from cardan._compiler.program.ops import ENTRIES, LEAVES, SPEC, TRUTHS, WRITES, Op
from cardan._compiler.program.passes import Joined
from cardan._compiler.program.program import Array, Nesting, Program, Region, phases, places_of, stretches
from cardan._compiler.program.replay import whole


class Dialect(NamedTuple):
    """What differs from language to language."""

    real: str  # the type of a number
    part: int  # operations in a function, about
    number: Callable[[float], str]  # how a constant is written
    expression: Callable[[Enum, Sequence[str]], str]  # how an operation on operands is written
    pair: str = ""  # the function that gives sine and cosine at once; none if empty
    cells: str = ""  # how the name of a table of numbers begins
    links: str = ""  # how that of a table of row numbers begins
    rows: str = "w"  # the array in which columns lie; w, if they lie with all else
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
        self.is_whole = len(self.parts) == 1 and not program.regions and not program.columns  # then nothing waits in w
        self.columns, self.rows = place_columns(
            program, 0
        )  # and how many numbers lie in columns, where those are apart
        self.summed, self.nesting = summed_columns(program), Nesting(program.regions)
        self.entries = entries_of(program.inputs)
        self.slots: dict[int, int] = {}
        self.places = 0  # how many numbers wait in w

    def wait(self, results: Mapping[int, int]) -> None:
        """Give what more than one part needs its place in w; each is used again.

        For each instruction whose value is a result, `results` has the part after which it is read last.
        """
        last = last_readers(self.program, self.home, self.spans, self.heads, self.args)
        for r, p in results.items():
            if (r in self.home or r in self.heads) and (p > self.home.get(r, -1) or r in self.heads):
                last[r] = max(last.get(r, p), p)
        self.places = self.rows if self.dialect.rows == "w" else 0
        born = [[k for k, first in self.heads.items() if first == p] + part for p, part in enumerate(self.parts)]
        self.slots, self.places = assign_slots(born, last, self.places)

    def run(self, calls: Sequence[str], inside: Region | None = None) -> list[str]:
        """Return the lines that run the parts, each by its call, and the passes of regions."""
        lines = self._empty(inside)
        for part in self.phases[inside]:
            if isinstance(part, range):
                first, last = self.spans[part]
                lines += calls[first : last + 1]
            else:
                own = self._region(calls, part)
                if part.may_be_left_out:
                    runs = self._holds(part) if part.flag is None else self.row(part.flag)
                    own = [f"if ({runs}) {{", *(f"    {line}" for line in own), "}"]
                lines += own
        return lines

    def passing(self, p: int) -> list[str]:
        """Return the numbers of the passes of regions that a part must be told."""
        around = self.nesting.around(self.parts[p][0]) if self.parts[p] else ()
        return [f"k{self.program.regions.index(region)}_" for region in around]

    def _region(self, calls: Sequence[str], region: Region) -> list[str]:
        number = self.program.regions.index(region)
        k, n = f"k{number}_", f"n{number}_"
        first = [f"{self.place(head)} = {self._first(head)};" for head, _ in region.carried]
        stop = self.dialect.how_often(self.program, region)
        body = [f"{k} = {f'{stop} - 1 - {n}' if region.backwards else n};", f"(void){k};"]
        body += [*self._carry(n, region), *self.run(calls, region)]
        if region.may_end_early:
            body += [f"if (!({self._holds(region)}))", "    break;"]
        own = ["{", f"    long {k}, {n};", f"    for ({n} = 0; {n} < {stop}; ++{n}) {{"]
        return [*first, *own, *(f"        {line}" for line in body), "    }", "}"]

    def _empty(self, inside: Region | None) -> list[str]:
        """Return the lines that put zeros in the columns that are added to, and live in a region."""
        lines: list[str] = []
        for column in self.summed.get(inside, ()):
            lines += loop_over_rows(self.program.columns[column].rows, f"{self.column(column, 'i')} = 0;")
        return lines

    def column(self, number: int, row: str) -> str:
        """Return how an entry of a column that the program writes is written."""
        first, stride = self.columns[number]
        return f"{self.dialect.rows}[{first} + {stride} * {row}]"

    def _holds(self, region: Region) -> str:
        if region.going is None:
            raise AssertionError("a region without a condition")
        return f"{self.value(region.going, -1)} != 0"

    def _carry(self, n: str, region: Region) -> list[str]:
        """Return the lines that put what is carried in its place, from the second pass on."""
        if not region.carried:
            return []
        read = [f"    const {self.dialect.real} t{head}_ = {self.value(after, -1)};" for head, after in region.carried]
        written = [f"    {self.place(head)} = t{head}_;" for head, _ in region.carried]
        return [f"if ({n} > 0) {{", *read, *written, "}"]

    def _first(self, k: int) -> str:
        op, args, value = self.instructions[k]
        return self.entries[int(value)] if op is Op.INPUT else self.value(args[0], -1)

    def inputs_of(self, p: int) -> list[Array]:
        read = {a for k in self.parts[p] for a in self.args[k]} - self.heads.keys()
        leaves = [self.instructions[k] for k in read]
        positions = [i.value for i in leaves if i.op is Op.INPUT]
        columns = [self.program.columns[int(i.value)].start for i in leaves if i.op is Op.ENTRY]
        return inputs_at(self.program, (*positions, *(start for start in columns if start is not None)))

    def operations(self, p: int) -> list[str]:
        lines: list[str] = []
        pairs: set[int] = set()
        for k in self.parts[p]:
            args = self.args[k]
            if self.ops[k] in WRITES:
                place, value = self.entry(k), self.value(args[1], p)
                lines.append(f"    {place} {'+=' if self.ops[k] is Op.ADDED else '='} {value};")
                continue
            operands = [self.value(a, p) for a in args]
            if self.ops[k] is Op.CELL:
                number = int(self.instructions[k].value)
                operands += [f"{self.dialect.cells}{number}", str(len(self.program.tables[number]) - 1)]
            places = [self.place(k)] if k in self.slots else []
            lines += operation_lines(self.dialect, self.ops[k], k, args, operands, places, pairs)
        return lines

    def place(self, k: int) -> str:
        return f"w[{self.slots[k]}]"

    def row(self, k: int) -> str:
        """Return how the number of a row is written."""
        op, args, value = self.instructions[k]
        if op is Op.PASS:
            return f"k{self.program.regions.index(next(self.nesting.around(k)))}_"
        if op is Op.BEHIND:
            return f"({self.row(args[0])} + {self.row(args[1])})"
        return f"{int(value)}" if op is Op.AT else f"{self.dialect.links}{int(value)}[{self.row(args[0])}]"

    def entry(self, k: int) -> str:
        """Return how the entry is written that an instruction names."""
        _, args, value = self.instructions[k]
        column, row = self.program.columns[int(value)], self.row(args[0])
        if column.table is not None:
            return f"{self.dialect.cells}{column.table}[{row}]"
        if column.start is not None:
            array, place = next(
                (a, place.start) for a, place in _placed(self.program) if place.start <= column.start < place.stop
            )
            step = f"{column.stride} * " if column.stride > 1 else ""
            return f"{array.name}[{column.start - place} + {step}{row}]"
        return self.column(int(value), row)

    def value(self, k: int, p: int) -> str:
        op, _, value = self.instructions[k]
        if k in self.heads:
            return self.place(k)
        if op in ENTRIES:
            return self.entry(k)
        if op is Op.INPUT:
            return self.entries[int(value)]
        if op is Op.CONST:
            return self.dialect.number(value)
        return f"t{k}_" if self.home[k] == p else self.place(k)


def loop_over_rows(rows: int, statement: str) -> list[str]:
    return ["{", "    long i;", f"    for (i = 0; i < {rows}; ++i)", f"        {statement}", "}"]


def _placed(program: Program) -> Iterable[tuple[Array, slice]]:
    return zip(program.inputs, places_of(program.inputs), strict=True)


def operation_lines(
    dialect: Dialect,
    op: Enum,
    k: int,
    args: Sequence[int],
    operands: Sequence[str],
    places: Sequence[str],
    pairs: set[int],
) -> list[str]:
    """Return the lines that compute instruction number k, and put its value in the places where others look for it.

    `args` are its operands, `operands` how they are written. `pairs` are angles of which sine and cosine are there;
    those computed now join them.
    """
    lines: list[str] = []
    if dialect.pair and op in (Op.SIN, Op.COS):
        sine, cosine = (f"{letter}{args[0]}_" for letter in "sc")
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
    return [a for a, place in _placed(program) if not entries.isdisjoint(range(place.start, place.stop))]


def table_lines(program: Program, words: str, real: str, name: str, number: Callable[[float], str]) -> list[str]:
    """Return the definitions of the tables of numbers that a program reads, and of those of row numbers."""
    ops, values = program.instructions.ops, program.instructions.values
    links = {int(value) for op, value in zip(ops, values, strict=True) if op is Op.LINK}
    cells = {int(value) for op, value in zip(ops, values, strict=True) if op is Op.CELL}
    cells.update(c.table for c in program.columns if c.table is not None)
    found: list[str] = []
    for own, kind, what, written in ((cells, real, "table", number), (links, "int", "links", lambda x: f"{int(x)}")):
        for n in sorted(own):
            entries = [written(x) for x in program.tables[n].numbers.tolist()]
            rows = [f"    {', '.join(entries[k : k + 8])}," for k in range(0, len(entries), 8)]
            found += [f"{words} {kind} {name}{what}{n}[{len(entries)}] = {{", *rows, "};\n"]
    return found


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
