"""Whether the entries of columns are read when they are there: the rows are followed, as no number decides them."""

from __future__ import annotations

from typing import Any

from cardan._algebra.errors import ProgramError
from cardan._compiler.program.ops import SPEC, WRITES, Op
from cardan._compiler.program.program import Program
from cardan._compiler.program.replay import WITHOUT, Run, Walk

_NOTHING = {op: None if op in WITHOUT else lambda *_: 0.0 for op in SPEC}


class _Cells(Run):
    """A run that computes nothing. In the columns is what was done with each row."""

    def __init__(self, program: Program) -> None:
        super().__init__(Walk(program, _NOTHING), [0.0] * sum(a.size for a in program.inputs))
        instructions = program.instructions
        puts, sums = ({int(instructions.values[k]) for k in instructions.places(op)} for op in (Op.PUT, Op.ADDED))
        self.sums, self.fresh = sums - puts, set[tuple[int, int]]()  # what begins with zeros; what was written just now

    def straight(self, part: range) -> None:
        self.fresh.clear()
        super().straight(part)

    def last(self, column: int, row: int) -> Any:
        self.fresh.clear()
        return super().last(column, row)

    def link(self, number: int, row: int) -> int:
        if not 0 <= row < len(self.walk.program.tables[number]):
            raise ProgramError(f"there is no row {row} in table {number}")
        return super().link(number, row)

    def cell(self, op: Op, number: int, row: int, value: Any = None) -> Any:
        column, what = self.walk.program.columns[number], f"row {row} of column {number}"
        if not 0 <= row < column.rows:
            raise ProgramError(f"there is no {what}")
        done = self.columns[number].setdefault(row, []) if column.is_inner else [Op.PUT]
        is_there = number in self.sums or Op.PUT in done
        if op is Op.PUT and done:
            raise ProgramError(f"something is put in {what}, where there is something, or was read before")
        if op is not Op.PUT and (not is_there or (op is Op.ENTRY and (number, row) in self.fresh)):
            raise ProgramError(f"{what} is read, or added to, which is not written yet, or only here")
        if op is Op.ADDED and Op.ENTRY in done:
            raise ProgramError(f"{what} is added to, which was read before")
        done.append(op)
        if op in WRITES:
            self.fresh.add((number, row))
        return 0.0


def verify_cells(program: Program) -> None:
    """Raise `ProgramError` for an entry or result that is read before it is written, written twice, or out of range."""
    if program.columns:
        _Cells(program).results()
