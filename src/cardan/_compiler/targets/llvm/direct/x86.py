"""The tables of x86-64: AVX-512, and AVX with multiply-adds. Text as AT&T writes it: what is written to comes last.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from ctypes import c_double, c_float
from typing import Any

from cardan._compiler.targets.llvm.direct.allocation import CELL_PLACES, Allocation, Machine, OperandForm, RowCell
from cardan._compiler.targets.llvm.direct.lowering import BITWISE, Bits
from cardan._compiler.targets.llvm.writer import Lanes

_EITHER, _SECOND = OperandForm((0, 1)), OperandForm((1,))
_FUSED = OperandForm((0, 1, 2), (2, 0, 1))
_FREE = {
    **dict.fromkeys(("add", "mul", "and", "or", "xor"), _EITHER),
    **dict.fromkeys(("sub", "div", "min_or_second", "max_or_second", "lt", "le", "eq"), _SECOND),
    **dict.fromkeys(("sqrt", "floor"), OperandForm((0,))),
    **dict.fromkeys(("fma", "fms", "fnma"), _FUSED),
    "put": OperandForm(),
}
_TERNARY = {(2, 0): 0xCA, (2, 1): 0xAC, (1, 0): 0xE2, (1, 2): 0xE4, (0, 1): 0xB8, (0, 2): 0xD8}
"""A selection among (otherwise, chosen, truth), bit by bit, by which is overwritten and which is read last."""
_NAMES = {"fma": "vfmadd", "fms": "vfmsub", "fnma": "vfnmadd"}
POINTERS = ("rsi", "rdx", "rcx", "r8", "r9")  # to the rows that a line is told of
_BASES = ("rcx", "rdx", "rsi", "r8", "r9", "r10", "r11")
_NEAR = 128  # vectors, or constants, on either side of a base whose distance from it takes one byte


class X86Text:
    def __init__(self, name: str, machine: Machine, lanes: Lanes, allocation: Allocation) -> None:
        self.name, self.lanes, self.allocation = name, lanes, allocation
        self.wide = machine.registers == 32
        self.size = lanes.bytes // lanes.width
        self.kind = "pd" if self.size == 8 else "ps"
        self.registers = machine.registers
        self.constants = self.registers + len(allocation.constants)

    def names(self, bases: dict[int, str]) -> dict[int, str]:
        """Return how each place is written: registers, constants and those slots that the steps use."""
        registers = [f"%{'xyz'[self.lanes.bytes // 32]}mm{r}" for r in range(self.registers)]
        one = f"{{1to{self.lanes.width}}}" if self.wide else ""
        step = self.size if self.wide else self.lanes.bytes
        constants = [f"{step * (n - _NEAR)}(%rax){one}" for n in range(len(self.allocation.constants))]
        first, placed = self.constants, self.allocation.placed
        used = {place - first for _, to, places in placed for place in (to, *places) if place >= first}
        slots = {first + n: self.slot(n, bases.get(n // (2 * _NEAR), "")) for n in used if n < CELL_PLACES}
        slots |= {first + n: self.cell(self.allocation.rows[n], one) for n in used if n >= CELL_PLACES}
        return dict(enumerate(registers + constants)) | slots

    def slot(self, n: int, base: str) -> str:
        size = self.lanes.bytes
        return f"{(n % (2 * _NEAR) - _NEAR) * size}(%{base})" if base else f"{n * size}(%rdi)"

    def cell(self, cell: RowCell, one: str) -> str:
        size = self.size if cell.is_number else self.lanes.bytes
        return f"{cell.offset * size}(%{POINTERS[cell.pointer]})" + (one if cell.is_number else "")

    def bases(self) -> dict[int, str]:
        """Return registers for the parts of the workspace that are used most; what is not near one takes four bytes."""
        if not self.wide or self.allocation.slots <= _NEAR:
            return {}
        first = self.constants
        used = Counter(
            (place - first) // (2 * _NEAR)
            for code, to, places in self.allocation.placed
            for place in (to, *places)
            if first <= place < first + CELL_PLACES
        )
        taken = {POINTERS[cell.pointer] for cell in self.allocation.rows.values()}
        free = [base for base in _BASES if base not in taken]
        return {part: base for (part, _), base in zip(used.most_common(), free, strict=False)}

    def templates(self) -> dict[str, str]:
        """Return the text of the steps whose result goes anywhere, with their operands from the last to the first."""
        t, wide = self.kind, self.wide
        binary = ("add", "sub", "mul", "div", "min_or_second", "max_or_second", "and", "or", "xor")
        found = {code: f" v{code.partition('_')[0]}{t} %s,%s,%s" for code in binary}
        for code in ("lt", "le", "eq"):
            mask = f"%%k1\n vpmovm2{'q' if self.size == 8 else 'd'} %%k1,%s"
            found[code] = f" vcmp{code}{t} %s,%s,{mask if wide else '%s'}"
        found[BITWISE] = f" vpmaxu{'q' if self.size == 8 else 'd'} %s,%s,%s"
        found["sqrt"] = f" vsqrt{t} %s,%s"
        found["floor"] = f" v{'rndscale' if wide else 'round'}{t} $9,%s,%s"
        found["select"] = f" vblendv{t} %s,%s,%s,%s"
        spread = "vmovddup" if self.lanes.width == 2 else f"vbroadcasts{t[1]}"
        found["constant"] = f" {spread if wide else 'vmova' + t} %s,%s"
        found["number"] = f" {spread} %s,%s"
        return found | dict.fromkeys(("load", "store", "move"), f" vmova{t} %s,%s")

    def tied(self) -> dict[tuple[str, int, int], str]:
        """Return the text of the others, by which operand is overwritten and which is read last."""
        found = {}
        for (to, last), bits in _TERNARY.items():
            order = "231" if to == 2 else "213" if last == 2 else "132"
            for code, name in _NAMES.items():
                found[code, to, last] = f" {name}{order}{self.kind} %s,%s,%s"
            if self.wide:
                found["select", to, last] = f" vpternlog{'q' if self.size == 8 else 'd'} ${bits},%s,%s,%s"
        return found

    def steps(self, names: dict[int, str]) -> Iterator[str]:
        free, tied, registers, plain = self.templates(), self.tied(), self.registers, names
        if self.wide:
            free.pop("select")
            plain = {place: name.split("{")[0] for place, name in names.items()}
        for code, to, places in self.allocation.placed:
            if code == "constant":
                spread = free[code] if places[0] < self.constants else free["number"]
                yield spread % (plain[places[0]], names[to])
            elif code in free:
                yield free[code] % (*[names[place] for place in reversed(places)], names[to])
            else:
                over = places.index(to)
                last, second = (over + 1) % 3, (over + 2) % 3
                if places[second] >= registers:
                    last, second = second, last
                yield tied[code, over, last] % (names[places[last]], names[places[second]], names[to])

    def text(self) -> list[str]:
        bases = self.bases()
        shift = _NEAR * (self.size if self.wide else self.lanes.bytes)
        lines = [" .text", " .p2align 6", f"{self.name}:"]
        if self.allocation.constants:
            lines.append(f" leaq .L{self.name}+{shift}(%rip),%rax")
        middle = [(f" leaq {(2 * part + 1) * _NEAR * self.lanes.bytes}(%rdi),%{base}") for part, base in bases.items()]
        return [*lines, *middle, *self.steps(self.names(bases)), " vzeroupper", " retq", *self.pool()]

    def pool(self) -> Iterator[str]:
        yield " .p2align 6"
        yield f".L{self.name}:"
        for content in self.allocation.constants:
            bits = pattern(content, self.size)
            yield f" .{'quad' if self.size == 8 else 'long'} " + ",".join(
                [bits] * (1 if self.wide else self.lanes.width)
            )


def pattern(content: object, size: int) -> str:
    """Return the bits of a constant of so many bytes."""
    everything, sign = (1 << 8 * size) - 1, 1 << 8 * size - 1
    masks = {Bits.SIGN: sign, Bits.MAGNITUDE: everything ^ sign, Bits.ALL: everything}
    if isinstance(content, Bits):
        return f"{masks[content]:#x}"
    number: Any = content
    return f"{int.from_bytes(bytes((c_double if size == 8 else c_float)(number)), 'little'):#x}"


AVX512 = Machine(32, _FREE | {"select": _FUSED, BITWISE: _EITHER}, ahead=128, broadcasts=True)
AVX = Machine(16, _FREE | {"select": _SECOND})
