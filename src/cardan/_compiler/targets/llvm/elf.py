"""From an object file of ELF to a flat image: its sections one after the other, the references between them filled in.

All references of position-independent code within one file are distances, so they are the same wherever the image is
loaded.

Source: System V ABI, chapters 4 and 5; its supplement for AMD64, table 4.9.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from cardan._algebra.errors import TargetError

ALIGNMENT = 64  # of every section: constants are vectors of at most so many bytes
_PROGBITS, _SYMTAB, _RELA, _ALLOCATED = 1, 2, 4, 2
DISTANCES = (2, 4)  # kinds of references that are a distance of 32 bits: PC32, PLT32


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


class _Object:
    """Reads an object file of 64 bits, little end first."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        start, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
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
        if symbol.section not in places or kind not in DISTANCES:
            raise TargetError(f"the object file refers to {file.name(symbol)!r} (kind {kind}), which is outside it.")
        place, target = places[section] + offset, places[symbol.section] + symbol.value + addend
        image[place : place + 4] = (target - place & 0xFFFFFFFF).to_bytes(4, "little")
    entry = next(places[s.section] + s.value for s in file.symbols if s.section in places and file.name(s) == function)
    return bytes(image), entry
