"""Registers for a straight line: whoever is needed last leaves first.

The whole line is known, so the value that gives up its register is the one whose next use is furthest away, which
needs the fewest loads.

Source: Belady, "A study of replacement algorithms for a virtual-storage computer" (IBM Systems Journal 5, 1966); for
registers: Guo, Garzaran, Padua, "The power of Belady's algorithm in register allocation for long basic blocks"
(LCPC 2003).
Cost: linear in the number of steps, times the number of registers.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from cardan._compiler.targets.llvm.direct.lowering import MachineStep, StraightLine

WINDOW = 40  # steps: what is needed again within so many is loaded, what is not is read from memory where it is used
NEVER = 1 << 29  # beyond any step; integers as small as this are compared quickly
NO_PLACE = -1
CELL_PLACES = 1 << 28  # from here on, beyond any slot of the workspace, the entries of rows that a line is told of


class OperandForm(NamedTuple):
    # positions of which one may be in memory; if that is either of two, they may change places
    memory: tuple[int, ...] = ()
    tied: tuple[int, ...] = ()  # positions of which one is overwritten by the result; none, if the result goes anywhere


PlacedStep = tuple[str, int, Sequence[int]]
"""What is done, where the result goes, and where the operands are. Beside the steps: load, constant, store, move.

A place is a number: first the registers, then the constants, then the slots of the workspace.
"""


class RowCell(NamedTuple):
    """An entry of a row, as the line is told where that begins."""

    pointer: int  # of those it is given, which one
    offset: int  # vectors from there; numbers, if it is one
    is_number: bool  # whether all lanes have one number


class Machine(NamedTuple):
    registers: int  # how many
    forms: Mapping[str, OperandForm]  # of each step it has
    ahead: int = 0  # how far steps are done before those in front of them, which wait; more wait in registers then
    broadcasts: bool = False  # whether an operand in memory may be one number for all lanes


class Allocation(NamedTuple):
    placed: list[PlacedStep]  # the steps, and what is moved between them
    constants: list[object]  # as many places behind the registers
    slots: int  # of the workspace, that are used, with values that waited
    rows: Mapping[int, RowCell] = MappingProxyType({})  # the entries of rows, by their place behind the first slot


class _Allocator:
    def __init__(
        self,
        machine: Machine,
        steps: StraightLine,
        slots: Mapping[int, int],
        spare: int,
        numbers: Container[int],
    ) -> None:
        self.numbers = numbers
        self.machine, self.placed = machine, list[PlacedStep]()
        self.until = [NEVER] * machine.registers  # next use of what is in each register; never: it is free
        self.holds = [NO_PLACE] * machine.registers
        self.register = [NO_PLACE] * steps.values
        self.home = [NO_PLACE] * steps.values  # where each value is in memory
        self.constants = {repr(content): content for content in steps.constants.values()}
        places = {name: machine.registers + n for n, name in enumerate(self.constants)}
        for k, content in steps.constants.items():
            self.home[k] = places[repr(content)]
        self.first_slot = machine.registers + len(places)
        for k, slot in slots.items():
            self.home[k] = self.first_slot + slot
        self.top = self.first_slot + spare
        self.own: dict[int, int] = {}  # slots of values that gave up their register ...
        self.free: list[int] = []  # ... those of values that died ...
        self.dying: list[int] = []  # ... and of those that do by the step that is being placed

    def take(self) -> int:
        furthest = max(self.until)
        r = self.until.index(furthest)
        if furthest != NEVER:
            k = self.holds[r]
            self.register[k] = NO_PLACE
            if self.home[k] == NO_PLACE:
                self.home[k] = self.own[k] = self.slot()
                self.placed.append(("store", self.home[k], (r,)))
        return r

    def slot(self) -> int:
        if self.free:
            return self.free.pop()
        self.top += 1
        return self.top - 1

    def load(self, place: int) -> int:
        r = self.take()
        is_number = place < self.first_slot or place - self.first_slot in self.numbers
        self.placed.append(("constant" if is_number else "load", r, (place,)))
        return r

    def run(
        self, steps: Sequence[MachineStep], kept: Mapping[int, Sequence[int]], following: Sequence[Sequence[int]]
    ) -> None:
        """Place steps: of each the operands, then the result. What dies leaves its register in between.

        `kept` says where others look for values; `following` has of each step when its operands are used next, and when
        its result is first.
        """
        register, until, holds, forms = self.register, self.until, self.holds, self.machine.forms
        for t, (code, value, args) in enumerate(steps):
            tied, next_uses = forms[code].tied, following[t]
            operands = [register[a] for a in args]
            if NO_PLACE in operands:
                self.fetch(t, args, operands, next_uses, forms[code])
            r = self.overwritten(args, operands, next_uses, tied) if tied else NO_PLACE  # before any can be driven out
            for k, use in zip(args, next_uses, strict=False):
                if register[k] != NO_PLACE:
                    until[register[k]] = use
                if use == NEVER and k in self.own:
                    self.dying.append(self.own.pop(k))
            if code == "put":
                self.placed.append(("store", self.home[value], operands))
                self.free += self.dying
                self.dying.clear()
                continue
            if not tied:
                r = self.take()
            self.placed.append((code, r, operands))
            until[r], holds[r], register[value] = next_uses[-1], value, r
            if value in kept:
                self.keep(r, value, kept[value])
            if self.dying:
                self.free += self.dying
                self.dying.clear()

    def fetch(
        self, t: int, args: Sequence[int], operands: list[int], next_uses: Sequence[int], form: OperandForm
    ) -> None:
        """Put operands in registers; one may stay in memory, if it is not needed again soon."""
        absent = [p for p, r in enumerate(operands) if r == NO_PLACE]
        far = [p for p in absent if next_uses[p] > t + WINDOW and p in form.memory and args.count(args[p]) == 1]
        if not self.machine.broadcasts:
            far = [p for p in far if self.home[args[p]] - self.first_slot not in self.numbers]
        stays = max(far, key=next_uses.__getitem__) if far else NO_PLACE
        for p in absent:
            k = args[p]
            if p == stays:
                operands[p] = self.home[k]
                continue
            if self.register[k] == NO_PLACE:
                self.register[k] = r = self.load(self.home[k])
                self.until[r], self.holds[r] = t, k
            operands[p] = self.register[k]
        if stays == 0 and not form.tied:  # it is one of two that may change places
            operands.reverse()

    def overwritten(
        self, args: Sequence[int], operands: list[int], next_uses: Sequence[int], tied: Sequence[int]
    ) -> int:
        """Return the register of an operand that the result may overwrite; a copy of one, if none dies by this step."""
        registers = self.machine.registers
        for p in tied:
            if next_uses[p] == NEVER and operands[p] < registers and args.count(args[p]) == 1:
                return operands[p]
        p = next((p for p in tied if operands[p] >= registers), tied[0])
        if operands[p] >= registers:
            operands[p] = self.load(operands[p])
        else:
            r = self.take()
            self.placed.append(("move", r, (operands[p],)))
            operands[p] = r
        return operands[p]

    def keep(self, r: int, value: int, slots: Sequence[int]) -> None:
        for slot in slots:
            self.placed.append(("store", self.first_slot + slot, (r,)))
        self.home[value] = self.first_slot + slots[0]


def allocate(
    machine: Machine,
    steps: StraightLine,
    slots: Mapping[int, int],
    kept: Mapping[int, Sequence[int]],
    spare: int,
    rows: Mapping[int, RowCell] = MappingProxyType({}),
) -> Allocation:
    """Return a straight line of steps on the registers of a machine.

    `slots` says where values from elsewhere are in the workspace, `kept` where others look for values of this line.
    From the slot `spare` on all are free for values that wait. `rows` are the slots that are entries of rows.
    """
    numbers = {slot for slot, cell in rows.items() if cell.is_number}
    allocator = _Allocator(machine, steps, slots, spare, numbers)
    allocator.run(steps.steps, kept, _next_uses(steps))
    top = allocator.top - allocator.first_slot
    return Allocation(allocator.placed, list(allocator.constants.values()), top, rows)


def _next_uses(steps: StraightLine) -> list[list[int]]:
    """Return, for each step, when its operands are used next after it, and when its result is first."""
    coming, found = [NEVER] * steps.values, list[list[int]]()
    for t in range(len(steps.steps) - 1, -1, -1):
        _, value, args = steps.steps[t]
        found.append([*[coming[a] for a in args], coming[value]])
        for a in args:
            coming[a] = t
    found.reverse()
    return found
