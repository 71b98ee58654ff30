"""From an object file of ELF to a flat image: its sections one after the other, the references between them filled in.

All references of position-independent code within one file are distances, so they are the same wherever the image is
loaded (at a multiple of 4096, which the page distances of AArch64 take for granted).

Source: System V ABI, chapters 4 and 5; its supplements for AMD64 (table 4.9) and AArch64 (ELF for the Arm 64-bit
Architecture, section 5.7).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from cardan._algebra.errors import TargetError

ALIGNMENT = 64  # of every section: constants are vectors of at most so many bytes
_PROGBITS, _SYMTAB, _RELA, _ALLOCATED = 1, 2, 4, 2
Patch = Callable[[int, int, int], int]
"""From place, target and the 32 bits there (all relative to the image) to the 32 bits that must be there."""


class Section(NamedTuple):
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int


class Symbol(NamedTuple):
    name: int
    section: int
    value: int


def _with(word: int, value: int, bits: int, at: int) -> int:
    """Return an instruction with `bits` bits from bit `at` on replaced."""
    return word & ~((1 << bits) - 1 << at) | (value & (1 << bits) - 1) << at


def _page(word: int, place: int, target: int) -> int:
    pages = (target >> 12) - (place >> 12)
    return _with(_with(word, pages, 2, 29), pages >> 2, 19, 5)


def _low12(shift: int) -> Patch:
    return lambda place, target, word: _with(word, (target & 0xFFF) >> shift, 12, 10)


X86_64: dict[int, Patch] = dict.fromkeys((2, 4), lambda place, target, word: target - place & 0xFFFFFFFF)  # PC32, PLT32
AARCH64: dict[int, Patch] = {
    261: lambda place, target, word: target - place & 0xFFFFFFFF,  # PREL32
    275: lambda place, target, word: _page(word, place, target),  # ADR_PREL_PG_HI21
    **{kind: _low12(shift) for kind, shift in {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4}.items()},
    **dict.fromkeys((282, 283), lambda place, target, word: _with(word, target - place >> 2, 26, 0)),  # B, BL
}
"""The low 12 bits are those of ADD and of loads and stores of 1, 2, 4, 8 and 16 bytes."""
MACHINES = {62: X86_64, 183: AARCH64}


class _Object:
    """Reads an object file of 64 bits, little end first."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        start, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
        self.patches = MACHINES[struct.unpack_from("<H", data, 18)[0]]
        self.sections = [Section(*struct.unpack_from("<4xIQ8xQQII", data, start + 64 * k)) for k in range(count)]
        table = next(s for s in self.sections if s.kind == _SYMTAB)
        self.names = self.sections[table.link].offset
        self.symbols = [Symbol(*struct.unpack_from("<I2xHQ", data, table.offset + k)) for k in range(0, table.size, 24)]

    def name(self, symbol: Symbol) -> str:
        start = self.names + symbol.name
        return self.data[start : self.data.index(b"\0", start)].decode()

    def relocations(self) -> Iterator[tuple[int, int, int, Symbol, int]]:
        """Yield section, offset in it, kind, symbol and addend of each reference."""
        for section in self.sections:
            if section.kind == _RELA:
                for at in range(section.offset, section.offset + section.size, 24):
                    offset, info, addend = struct.unpack_from("<QQq", self.data, at)
                    yield section.info, offset, info & 0xFFFFFFFF, self.symbols[info >> 32], addend


def flatten(data: bytes, function: str) -> tuple[bytes, int]:
    """Return an object file as a flat image, and where a function begins; TargetError if it refers to another file."""
    file, image, places = _Object(data), bytearray(), {}
    for k, section in enumerate(file.sections):
        if section.kind == _PROGBITS and section.flags & _ALLOCATED:
            image += bytes(-len(image) % ALIGNMENT)
            places[k] = len(image)
            image += data[section.offset : section.offset + section.size]
    for section, offset, kind, symbol, addend in file.relocations():
        if section not in places:
            continue
        if symbol.section not in places or kind not in file.patches:
            raise TargetError(f"the object file refers to {file.name(symbol)!r} (kind {kind}), which is outside it.")
        place, target = places[section] + offset, places[symbol.section] + symbol.value + addend
        word = int.from_bytes(image[place : place + 4], "little")
        image[place : place + 4] = file.patches[kind](place, target, word).to_bytes(4, "little")
    entry = next(places[s.section] + s.value for s in file.symbols if s.section in places and file.name(s) == function)
    return bytes(image), entry
