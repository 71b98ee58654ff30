"""The rules of the representation: what holds of every program, and after every pass.

Of the entries of columns the rows are followed, as no number decides them: each is read when it is there.
"""

from bisect import bisect_right
from typing import Any

from cardan._algebra.errors import ProgramError
from cardan._compiler.program import SPEC, Instruction, Op, Program
from cardan._compiler.program.ops import ENTRIES, WRITES, ValueType
from cardan._compiler.program.program import Nesting, Region, homes_of, leaked, places_of
from cardan._compiler.program.replay import WITHOUT, Run, Walk


def verify(program: Program) -> Program:
    """Return the program if it obeys every rule of the representation.

    Raises:
        ProgramError: if an instruction uses a later one, has a wrong number or type of operands, repeats another, is
            dead, if the results do not fill the outputs, or a region is none.
    """
    kinds: list[ValueType] = []
    seen: dict[Instruction, int] = {}
    flat_inputs = sum(a.size for a in program.inputs)
    for k, instruction in enumerate(program.instructions):
        _verify_instruction(k, instruction, kinds, flat_inputs, program)
        is_zero = instruction.op is Op.CONST and instruction.value == 0.0
        if instruction in seen and not is_zero and not _is_left_out_apart(program, seen[instruction], k):
            raise ProgramError(f"%{k} repeats %{seen[instruction]}")
        seen[instruction] = k
        kinds.append(SPEC[instruction.op].result)
    _verify_results(program)
    if any(not 0 <= r < len(kinds) or kinds[r] is not ValueType.REAL for r in program.results):
        raise ProgramError("a result is not a real value of the program")
    _verify_regions(program, kinds)
    _verify_going(program, kinds)
    verify_cells(program)
    used = {a for args in program.instructions.args for a in args} | set(program.read_elsewhere())
    used |= {k for op in WRITES for k in program.instructions.places(op)}
    dead = set(range(len(kinds))) - used
    if dead:
        raise ProgramError(f"instructions {sorted(dead)[:8]} are dead")
    return program


def _verify_results(program: Program) -> None:
    ends = [place.stop for place in places_of(program.outputs)]
    own = [column for column in program.columns if column.results]
    for column in own:
        first, last = (bisect_right(ends, column.results[k]) for k in (0, -1))
        if not column.is_inner or first != last or last == len(ends):
            raise ProgramError(f"the rows of a column ({column}) are no entries of one result in {program.outputs}")
    filled = len(program.results) + sum(len(column.results) for column in own)
    if filled != program.entries or len(program.result_places()) != len(program.results):
        raise ProgramError(f"{filled} results do not fill {program.outputs}")


def _verify_regions(program: Program, kinds: list[ValueType]) -> None:
    around: list[Region] = []
    for region in program.regions:
        around = [outer for outer in around if region.start < outer.stop]
        stop = around[-1].stop if around else len(kinds)
        start = around[-1].start if around else 0
        if not start <= region.start < region.stop <= stop or region.passes < 1:
            raise ProgramError(f"region {region[:3]} is empty, overlaps another, or is run less than once")
        heads = (Op.CARRIED,) if around else (Op.CARRIED, Op.INPUT)
        for k, after in region.carried:
            if k not in region.instructions or not 0 <= after < region.stop or kinds[after] is not ValueType.REAL:
                raise ProgramError(f"%{k} <- %{after} is not within region {region[:3]}")
            if program.instructions[k].op not in heads:
                raise ProgramError(f"region {region[:3]} cannot carry anything to %{k}")
        if region.flag is not None and not (0 <= region.flag < region.start and kinds[region.flag] is ValueType.ROW):
            raise ProgramError(f"%{region.flag}, by which region {region[:3]} is run, is no row number from before it")
        if region.flag is not None and region.carried:
            raise ProgramError(f"region {region[:3]} may have no pass, but carries something")
        around.append(region)
    around_of = Nesting(program.regions).around
    lost = [k for k in program.instructions.places(Op.PASS) if next(around_of(k), None) is None]
    if lost:
        raise ProgramError(f"%{lost[0]}: there is no region around it whose pass it tells")
    heads = [k for region in program.regions for k, _ in region.carried]
    carried = set(program.instructions.places(Op.CARRIED))
    if len(heads) != len(set(heads)) or not carried <= set(heads):
        raise ProgramError("something is carried twice, or waits for what no region carries")


def _verify_going(program: Program, kinds: list[ValueType]) -> None:
    values, homes = program.instructions.values, homes_of(program)
    outer = [(k, homes[int(values[k])]) for op in WRITES for k in program.instructions.places(op)]
    for region in program.regions:
        if region.going is None:
            continue
        if not 0 <= region.going < region.stop or kinds[region.going] is not ValueType.BOOL:
            raise ProgramError(f"%{region.going}, by which region {region[:3]} goes on, is no condition before its end")
        if region.may_end_early and any(k in region.instructions and not _is_within(home, region) for k, home in outer):
            raise ProgramError(f"region {region[:3]} may end early, but puts something in rows that are read behind it")
    found = leaked(program)
    if found is not None:
        raise ProgramError(f"%{found[1]} of a region that may be skipped is needed {found[0]}")


def _is_within(home: Region | None, region: Region) -> bool:
    return home is not None and region.start <= home.start and home.stop <= region.stop


def _is_left_out_apart(program: Program, first: int, k: int) -> bool:
    """Return whether an instruction is of a region that may be left out, and another is not."""
    return any(r.may_be_left_out and first in r.instructions and k not in r.instructions for r in program.regions)


def _verify_instruction(
    k: int, instruction: Instruction, kinds: list[ValueType], flat_inputs: int, program: Program
) -> None:
    op, args, value = instruction
    operands = SPEC[op].operands * (len(args) if op is Op.CALLED else 1)
    if len(args) != len(operands):
        raise ProgramError(f"%{k}: {op.value} has {len(args)} operands, expected {len(operands)}")
    for a, kind in zip(args, operands, strict=True):
        if not 0 <= a < k:
            raise ProgramError(f"%{k} uses %{a}, which does not come before it")
        if kinds[a] is not kind:
            raise ProgramError(f"%{k}: operand %{a} of {op.value} is {kinds[a].value}, expected {kind.value}")
    if op is Op.INPUT and not 0 <= value < flat_inputs:
        raise ProgramError(f"%{k}: there is no input number {value:g}")
    if op in (Op.CELL, Op.LINK) and value not in range(len(program.tables)):
        raise ProgramError(f"%{k}: there is no table number {value:g}")
    if op is Op.CALLED and value not in range(len(program.calls)):
        raise ProgramError(f"%{k}: there is no call number {value:g}")
    if op in ENTRIES and value not in range(len(program.columns)):
        raise ProgramError(f"%{k}: there is no column number {value:g}")
    if op in WRITES and not program.columns[int(value)].is_inner:
        raise ProgramError(f"%{k} writes column {value:g}, which is known")


# --- whether the entries of columns are read when they are there ---

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
