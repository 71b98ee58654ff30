"""What a value is in vector code: the same of several states."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lanes:
    width: int
    scalar: str  # "double" or "float"

    @property
    def vector(self) -> str:
        return f"<{self.width} x {self.scalar}>"

    @property
    def mask(self) -> str:
        return f"<{self.width} x i1>"

    @property
    def suffix(self) -> str:
        return f"v{self.width}f{64 if self.scalar == 'double' else 32}"

    @property
    def bytes(self) -> int:
        return self.width * (8 if self.scalar == "double" else 4)

    def all_bits(self) -> str:
        """Return the vector of all bits set, as LLVM writes it: how what is true waits in memory."""
        bits = "F" * 16 if self.scalar == "double" else "FFFFFFFFE0000000"
        return "<" + ", ".join([f"{self.scalar} 0x{bits}"] * self.width) + ">"

    def constant(self, value: float) -> str:
        """Return a number in every lane, as LLVM writes it."""
        return "<" + ", ".join([self.number(value)] * self.width) + ">"

    def number(self, value: float) -> str:
        """Return a number of one lane, as LLVM writes it, with its type."""
        if self.scalar == "float":
            value = ctypes.c_float(value).value  # infinite, if it is too large for one
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return f"{self.scalar} 0x{bits:016X}"
