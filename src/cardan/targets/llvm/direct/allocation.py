"""Registers for a straight line: whoever is needed last leaves first.

The whole line is known, so the value that gives up its register is the one whose next use is furthest away, which
needs the fewest loads.

Source: Belady, "A study of replacement algorithms for a virtual-storage computer" (IBM Systems Journal 5, 1966); for
registers: Guo, Garzaran, Padua, "The power of Belady's algorithm in register allocation for long basic blocks"
(LCPC 2003).
Cost: linear in the number of steps, times the number of registers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cardan.targets.llvm.direct.lowering import Step, Steps

if TYPE_CHECKING:
    from cardan.targets.llvm.plan import Lanes

WINDOW = 40  # steps: what is needed again within so many is loaded, what is not is read from memory where it is used
NEVER = 1 << 60
NOWHERE = -1


class Form(NamedTuple):
    """What a step wants of its operands.

    Attributes:
        memory: positions of which one may be in memory; if that is either of two, they may change places.
        tied: positions of which one is overwritten by the result; none, if the result goes anywhere.
    """

    memory: tuple[int, ...] = ()
    tied: tuple[int, ...] = ()


Placed = tuple[str, int, Sequence[int]]
"""What is done, where the result goes, and where the operands are. Beside the steps: load, constant, store, move.

A place is a number: first the registers, then the constants, then the slots of the workspace.
"""


class Machine(NamedTuple):
    """What a processor has.

    Attributes:
        registers: how many.
        forms: of each step.
        text: writes a straight line as a function of the workspace: the lines, from its name, the machine, the lanes
            and the line on registers.
        total_order: whether its smaller and larger know of NaN and -0.
    """

    registers: int
    forms: Mapping[str, Form]
    text: Callable[[str, Machine, Lanes, Allocation], list[str]]
    total_order: bool = False


class Allocation(NamedTuple):
    """A straight line on registers.

    Attributes:
        placed: the steps, and what is moved between them.
        constants: as many places behind the registers.
        slots: of the workspace, that are used, with values that waited.
    """

    placed: list[Placed]
    constants: list[object]
    slots: int


class _Allocator:
    """Goes along the steps."""

    def __init__(self, machine: Machine, steps: Steps, slots: Mapping[int, int], spare: int) -> None:
        self.machine, self.placed = machine, list[Placed]()
        self.until = [NEVER] * machine.registers  # next use of what is in each register; never: it is free
        self.holds = [NOWHERE] * machine.registers
        self.register = [NOWHERE] * steps.values
        self.home = [NOWHERE] * steps.values  # where each value is in memory
        self.constants = {repr(content): content for content in steps.constants.values()}
        places = {name: machine.registers + n for n, name in enumerate(self.constants)}
        for k, content in steps.constants.items():
            self.home[k] = places[repr(content)]
        self.first_slot = machine.registers + len(places)
        for k, slot in slots.items():
            self.home[k] = self.first_slot + slot
        self.top = self.first_slot + spare
        self.free: list[int] = []
        self.own: dict[int, int] = {}  # slots of values that gave up their register

    def take(self) -> int:
        """Return a register: a free one, or that of the value whose next use is furthest away."""
        furthest = max(self.until)
        r = self.until.index(furthest)
        if furthest != NEVER:
            k = self.holds[r]
            self.register[k] = NOWHERE
            if self.home[k] == NOWHERE:
                self.home[k] = self.own[k] = self.slot()
                self.placed.append(("store", self.home[k], (r,)))
        return r

    def slot(self) -> int:
        if self.free:
            return self.free.pop()
        self.top += 1
        return self.top - 1

    def give(self, r: int, value: int, use: int) -> None:
        """Note what is in a register, and when it is needed next."""
        self.until[r], self.holds[r], self.register[value] = use, value, r

    def load(self, place: int) -> int:
        r = self.take()
        self.placed.append(("load" if place >= self.first_slot else "constant", r, (place,)))
        return r

    def step(self, t: int, step: Step, following: Sequence[int], first: int) -> int:
        """Place a step: its operands, then its result; return where that is. What dies leaves its register between."""
        code, value, args = step
        form, operands = self.machine.forms[code], [self.register[a] for a in args]
        if NOWHERE in operands:
            self.fetch(t, args, operands, following, form)
        if not form.tied and operands[0] >= self.machine.registers:  # of two that may change places
            operands.reverse()
        if form.tied:  # while the operands cannot be driven out
            r = self.overwritten(args, operands, following, form)
            self.release(args, following)
        else:
            self.release(args, following)
            r = self.take()
        self.placed.append((code, r, operands))
        if self.own:
            self.reclaim(args, following)
        self.give(r, value, first)
        return r

    def fetch(self, t: int, args: Sequence[int], operands: list[int], following: Sequence[int], form: Form) -> None:
        """Put operands in registers; one may stay in memory, if it is not needed again soon."""
        absent = [p for p, r in enumerate(operands) if r == NOWHERE]
        far = [p for p in absent if following[p] > t + WINDOW and p in form.memory and args.count(args[p]) == 1]
        stays = max(far, key=following.__getitem__, default=NOWHERE)
        for p in absent:
            k = args[p]
            if p == stays:
                operands[p] = self.home[k]
                continue
            if self.register[k] == NOWHERE:
                self.give(self.load(self.home[k]), k, t)
            operands[p] = self.register[k]

    def overwritten(self, args: Sequence[int], operands: list[int], following: Sequence[int], form: Form) -> int:
        """Return the register of an operand that the result may overwrite; a copy of one, if none dies by this step."""
        registers = self.machine.registers
        for p in form.tied:
            if following[p] == NEVER and operands[p] < registers and args.count(args[p]) == 1:
                return operands[p]
        p = next((p for p in form.tied if operands[p] >= registers), form.tied[0])
        if operands[p] >= registers:
            operands[p] = self.load(operands[p])
        else:
            r = self.take()
            self.placed.append(("move", r, (operands[p],)))
            operands[p] = r
        return operands[p]

    def release(self, args: Sequence[int], following: Sequence[int]) -> None:
        for k, use in zip(args, following, strict=True):
            if self.register[k] != NOWHERE:
                self.until[self.register[k]] = use

    def reclaim(self, args: Sequence[int], following: Sequence[int]) -> None:
        for k, use in zip(args, following, strict=True):
            if use == NEVER and k in self.own:
                self.free.append(self.own.pop(k))

    def keep(self, r: int, value: int, slots: Sequence[int]) -> None:
        """Store a value where others look for it."""
        for slot in slots:
            self.placed.append(("store", self.first_slot + slot, (r,)))
        self.home[value] = self.first_slot + slots[0]


def allocate(
    machine: Machine, steps: Steps, slots: Mapping[int, int], kept: Mapping[int, Sequence[int]], spare: int
) -> Allocation:
    """Return steps on registers.

    Args:
        machine: whose.
        steps: a straight line.
        slots: where values from elsewhere are in the workspace.
        kept: where others look for values of this line.
        spare: the first slot for values that wait; all behind are free, too.
    """
    allocator = _Allocator(machine, steps, slots, spare)
    following, first = _next_uses(steps)
    for t, step in enumerate(steps.steps):
        r = allocator.step(t, step, following[t], first[t])
        if step[1] in kept:
            allocator.keep(r, step[1], kept[step[1]])
    return Allocation(allocator.placed, list(allocator.constants.values()), allocator.top - allocator.first_slot)


def _next_uses(steps: Steps) -> tuple[list[list[int]], list[int]]:
    """Return, for each step, when its operands are used next after it, and when its result is first."""
    count, following = [NEVER] * steps.values, list[list[int]]()
    first: list[int] = []
    for t in range(len(steps.steps) - 1, -1, -1):
        _, value, args = steps.steps[t]
        first.append(count[value])
        following.append([count[a] for a in args])
        for a in args:
            count[a] = t
    return following[::-1], first[::-1]
