"""The types of a kernel: numbers, truth values, arrays whose rows have a shape, records, programs.

INT, REAL, TRUTH       a whole number of 64 bits, a double, True or False
F64[:], F64[:, 3]      an array of doubles, of rows of three; I32 and I64 of whole numbers
F64["feet", 3]         the same in a record, which gives all that have a row for each foot their room at once
F64[6, 6]              a row of such an array, or an array that a kernel makes for itself
LANES[:, 6]            an array of rows of six vectors of eight doubles each, begun at a multiple of 64 bytes
PROGRAM                a compiled program with its arrays (`RowProgram`)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

WIDTH = 8
"""Doubles in a vector: what processors with 64 bytes hold in a register; others take two or four."""


@dataclass(frozen=True, slots=True)
class Scalar:
    name: str
    llvm: str  # its type there
    bytes: int = 8

    def __repr__(self) -> str:
        return self.name


INT: Any = Scalar("INT", "i64")  # fields of records are declared by these: checkers see numbers and arrays
REAL: Any = Scalar("REAL", "double")
TRUTH: Any = Scalar("TRUTH", "i1", 1)
VECTOR: Any = Scalar("vector", f"<{WIDTH} x double>", 64)
"""A vector of eight doubles: an entry of an array of LANES."""
MASK: Any = Scalar("mask", f"<{WIDTH} x i1>", 1)
"""A truth value for each lane of a vector."""
PROGRAM: Any = Scalar("PROGRAM", "ptr")


@dataclass(frozen=True, slots=True)
class Item:
    """What an array holds; `F64[:, 3]` is the type of an array of it."""

    name: str
    value: Scalar  # what an entry is in a kernel
    llvm: str  # and in memory
    dtype: str
    bytes: int

    def __getitem__(self, dims: Any) -> ArrayType:
        dims = dims if isinstance(dims, tuple) else (dims,)
        rows = dims[0] if isinstance(dims[0], str) else ""
        is_open = bool(rows) or dims[0] == slice(None)
        return ArrayType(self, tuple(int(d) for d in dims[is_open:]), is_open, rows)

    def __repr__(self) -> str:
        return self.name


F64: Any = Item("F64", REAL, "double", "float64", 8)
I32: Any = Item("I32", INT, "i32", "int32", 4)
I64: Any = Item("I64", INT, "i64", "int64", 8)
LANES: Any = Item("LANES", VECTOR, VECTOR.llvm, "float64", 64)


@dataclass(frozen=True, slots=True)
class ArrayType:
    item: Item
    shape: tuple[int, ...]  # of a row; of all of it, if it is not open
    is_open: bool  # whether it has any number of rows
    rows: str = field(default="", compare=False)  # of a record: what it has a row for

    @property
    def size(self) -> int:
        """The number of entries in a row, or in all of it."""
        return int(np.prod(self.shape, dtype=int))

    @property
    def row(self) -> ArrayType:
        """The type of a row."""
        return ArrayType(self.item, self.shape if self.is_open else self.shape[1:], False)

    def numpy_shape(self, rows: int) -> tuple[int, ...]:
        lanes = (WIDTH,) if self.item is LANES else ()
        return (*((rows,) if self.is_open else ()), *self.shape, *lanes)

    def __repr__(self) -> str:
        return f"{self.item}[{', '.join([':'] * self.is_open + [str(d) for d in self.shape])}]"


Type = Any
"""A `Scalar`, an `ArrayType`, or a class of records."""


def across(kind: Type) -> Type:
    """Return what takes the place of a type where lanes are cases: a vector that of a double."""
    if isinstance(kind, ArrayType):
        return replace(kind, item=LANES) if kind.item is F64 else kind
    return VECTOR if kind is REAL else kind
