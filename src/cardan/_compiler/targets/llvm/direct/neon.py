"""The table of AArch64's vectors (NEON). They hold 16 bytes; operands are in registers; what is written comes first.

Registers 8 to 15 belong to the caller and are left alone.

Source: Arm Architecture Reference Manual for A-profile, chapter C7.
"""

from __future__ import annotations

from collections.abc import Iterator

from cardan._compiler.targets.llvm.direct.allocation import CELL_PLACES, Allocation, Machine, OperandForm
from cardan._compiler.targets.llvm.direct.x86 import pattern
from cardan._compiler.targets.llvm.writer import Lanes

_REGISTERS = [*range(8), *range(16, 32)]
_REAL = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "sqrt": "fsqrt", "floor": "frintm"} | {
    "min": "fmin",
    "max": "fmax",
    "eq": "fcmeq",
}
_SWAPPED = {"lt": "fcmgt", "le": "fcmge"}
_BITS = {"and": "and", "or": "orr", "xor": "eor", "move": "mov"}
_TIED = {("fma", 2): ("fmla", 0, 1), ("fnma", 2): ("fmls", 0, 1)} | {
    ("select", 2): ("bsl", 1, 0),
    ("select", 1): ("bif", 0, 2),
    ("select", 0): ("bit", 1, 2),
}
"""The steps that overwrite an operand, by which: their name, and the operands in the order in which they are read."""
_NEAR = 65520  # bytes from its base at which a vector can be loaded


class _NeonText:
    def __init__(self, name: str, lanes: Lanes, allocation: Allocation) -> None:
        self.name, self.allocation = name, allocation
        self.size = lanes.bytes // lanes.width
        self.real = "2d" if self.size == 8 else "4s"
        self.constants = len(_REGISTERS)
        self.slots = self.constants + len(allocation.constants)

    def move(self, instruction: str, register: int, place: int) -> Iterator[str]:
        base, first = ("x0", self.slots) if place >= self.slots else ("x10", self.constants)
        offset = 16 * (place - first)
        if place >= self.slots + CELL_PLACES:
            cell = self.allocation.rows[place - self.slots]
            base, offset = f"x{1 + cell.pointer}", (self.size if cell.is_number else 16) * cell.offset
            if cell.is_number:
                yield f" mov x9, #{offset}"
                yield f" add x9, {base}, x9"
                yield f" ld1r {{v{_REGISTERS[register]}.{self.real}}}, [x9]"
                return
        while offset > _NEAR:
            pages = min(offset >> 12, 4095)
            yield f" add x9, {base}, #{pages}, lsl #12"
            base, offset = "x9", offset - (pages << 12)
        yield f" {instruction} q{_REGISTERS[register]}, [{base}, #{offset}]"

    def steps(self) -> Iterator[str]:
        for code, to, places in self.allocation.placed:
            if code == "store":
                yield from self.move("str", places[0], to)
                continue
            if code in ("load", "constant"):
                yield from self.move("ldr", to, places[0])
                continue
            kind = "16b" if code in _BITS or code == "select" else self.real
            if code in _REAL or code in _BITS:
                name, read = _REAL.get(code) or _BITS[code], list(places)
            elif code in _SWAPPED:
                name, read = _SWAPPED[code], [places[1], places[0]]
            else:
                name, *order = _TIED[code, places.index(to)]
                read = [places[p] for p in order]
            yield f" {name} " + ", ".join(f"v{_REGISTERS[r]}.{kind}" for r in (to, *read))

    def text(self) -> list[str]:
        pool = f".L{self.name}"
        where = [f" adrp x10, {pool}", f" add x10, x10, :lo12:{pool}"] if self.allocation.constants else []
        words = [pattern(content, self.size) for content in self.allocation.constants]
        kind = "quad" if self.size == 8 else "long"
        rows = [f" .{kind} " + ",".join([word] * (16 // self.size)) for word in words]
        return [
            " .text",
            " .p2align 4",
            f"{self.name}:",
            *where,
            *self.steps(),
            " ret",
            " .p2align 4",
            f"{pool}:",
            *rows,
        ]


_ANYWHERE = ("add", "sub", "mul", "div", "sqrt", "floor", "min", "max", "lt", "le", "eq", "and", "or", "xor")
NEON = Machine(
    len(_REGISTERS),
    {
        **dict.fromkeys(_ANYWHERE, OperandForm()),
        **dict.fromkeys(("fma", "fnma"), OperandForm((), (2,))),
        "select": OperandForm((), (0, 1, 2)),
        "put": OperandForm(),
    },
    lambda name, machine, lanes, allocation: _NeonText(name, lanes, allocation).text(),
)
