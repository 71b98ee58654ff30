"""Whether the entries of columns are read when they are there: the rows are followed, as no number decides them."""

from __future__ import annotations

from collections.abc import Iterator

from cardan._algebra.errors import ProgramError
from cardan._compiler.program.ops import ENTRIES, ROWS, WRITES, Op
from cardan._compiler.program.program import Program, Region, homes_of, phases

Cell = tuple[int, int]  # a column and a row


class _Cells:
    """What is in columns while a program runs: rows alone, no values."""

    def __init__(self, program: Program) -> None:
        self.program, self.parts = program, phases(program)
        self.ops, self.args, self.values = (
            program.instructions.ops,
            program.instructions.args,
            program.instructions.values,
        )
        self.known: dict[int, int] = {}  # the row numbers that there are, by instruction
        self.put, self.added, self.read = set[Cell](), set[Cell](), set[Cell]()
        puts, sums = ({int(self.values[k]) for k in program.instructions.places(op)} for op in (Op.PUT, Op.ADDED))
        self.sums = sums - puts  # what begins with zeros
        self.homes: dict[Region | None, list[int]] = {}
        for column, home in homes_of(program).items():
            self.homes.setdefault(home, []).append(column)

    def run(self, within: Region | None = None) -> None:
        for part in self.parts[within]:
            if isinstance(part, Region):
                for number in part.numbers() if part.flag is None or self.known[part.flag] else ():
                    self.empty(part)
                    self.number = number
                    self.known |= dict.fromkeys(self.passes(part), number)
                    self.run(part)
            else:
                self.straight(part)

    def passes(self, region: Region) -> Iterator[int]:
        """Yield the PASS instructions of a region."""
        own = (k for part in self.parts[region] if not isinstance(part, Region) for k in part)
        return (k for k in own if self.ops[k] is Op.PASS)

    def empty(self, region: Region) -> None:
        for cells in (self.put, self.added, self.read) if region in self.homes else ():
            cells.difference_update([cell for cell in cells if cell[0] in self.homes[region]])

    def straight(self, part: range) -> None:
        fresh = set[Cell]()
        for k in part:
            op = self.ops[k]
            if op in ROWS and op is not Op.PASS:
                self.known[k] = self.row(k)
            elif op in ENTRIES:
                self.cell(k, op, fresh)

    def row(self, k: int) -> int:
        op, args, value = self.ops[k], self.args[k], self.values[k]
        if op is Op.AT:
            return int(value)
        table, row = self.program.tables[int(value)], self.known[args[0]]
        if not 0 <= row < len(table):
            raise ProgramError(f"%{k}: there is no row {row} in table {value:g}")
        return table.row(row)

    def cell(self, k: int, op: Op, fresh: set[Cell]) -> None:
        number = int(self.values[k])
        column, row = self.program.columns[number], self.known[self.args[k][0]]
        cell = number, row
        if not 0 <= row < column.rows:
            raise ProgramError(f"%{k}: there is no row {row} in column {number}")
        if op in WRITES:
            if op is Op.PUT and (cell in self.put or cell in self.added):
                raise ProgramError(f"%{k} puts something in row {row} of column {number}, where there is something")
            if op is Op.ADDED and number not in self.sums and cell not in self.put:
                raise ProgramError(f"%{k} adds to row {row} of column {number}, where nothing is put before")
            if cell in self.read:
                raise ProgramError(f"%{k} writes row {row} of column {number}, which was read before")
            (self.put if op is Op.PUT else self.added).add(cell)
            fresh.add(cell)
        elif column.is_inner:
            if cell in fresh or (number not in self.sums and cell not in self.put):
                raise ProgramError(f"%{k} reads row {row} of column {number}, which is not written yet, or only here")
            self.read.add(cell)


def verify_cells(program: Program) -> None:
    """Raise `ProgramError` for an entry that is read before it is written, written twice, or out of range."""
    if program.columns:
        _Cells(program).run()
