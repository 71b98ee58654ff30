"""Tables of numbers that are read at an index known only at run time: terrains, maps, curves that were measured."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from cardan._algebra.arrays.symbolic import symbolic
from cardan._algebra.errors import ParameterError, UnsupportedError
from cardan._algebra.scalar import is_symbol

LONGEST = 2**24
"""Entries of a table: beyond, single precision has no number for each index."""


class Table:
    """Numbers in a row, which programs keep once, whatever reads them; equal are those of the same bits."""

    __slots__ = ("digest", "numbers")

    def __init__(self, numbers: Any) -> None:
        try:
            own = np.array(numbers, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            own = np.empty(0)
        if not 1 <= len(own) <= LONGEST:
            got = f"{len(own)} numbers" if len(own) else numbers
            raise ParameterError("table of cardan.cell", got=got, expected=f"1 to {LONGEST} numbers")
        own.setflags(write=False)
        self.numbers, self.digest = own, hashlib.sha256(own.tobytes()).hexdigest()

    def at(self, index: Any) -> Any:
        """Return the entries at indices, floored and clipped, in the precision of these."""
        x = np.asarray(index)
        x = x if x.dtype.kind == "f" else x.astype(np.float64)
        inside = np.where(x > 0.0, np.minimum(x, len(self) - 1), 0.0)  # of NaN, too, 0
        return self.numbers[inside.astype(np.intp)].astype(x.dtype)[()]

    def row(self, row: int) -> int:
        """Return the whole number in an entry."""
        return int(self.numbers[row])

    def __len__(self) -> int:
        return len(self.numbers)

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Table) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> Any:
        return Table, (self.numbers,)

    def __repr__(self) -> str:  # it is in digests of programs
        return f"Table({len(self)} numbers, {self.digest})"


def cell(table: Any, index: Any) -> Any:
    """Return the number of a table at an index: floored, and the first or last one beyond its ends.

    An index that is NaN reads the first. In a traced function the table is kept in the program, once, and reading it
    costs the same for every length. The derivative by the index is 0.

    Args:
        table: 1 to 2^24 numbers, known while tracing; an array of more dimensions is read row by row.
        index: a number, an array of them, or a symbol.

    Raises:
        ParameterError: for a table without numbers, or with too many.
        UnsupportedError: for symbols of another library.

    Examples:
        >>> float(cardan.cell([10.0, 20.0, 30.0], 1.9)), float(cardan.cell([10.0, 20.0, 30.0], -5.0))
        (20.0, 10.0)
    """
    own = table if isinstance(table, Table) else Table(table)
    if hasattr(type(index), "__cell__"):
        return index.__cell__(own)
    if isinstance(index, np.ndarray) and index.dtype == object:
        return symbolic((cell(own, e) for e in index.ravel().tolist()), index.shape)
    if isinstance(index, (np.ndarray, np.number)):
        return own.at(index)
    if not is_symbol(index):
        return float(own.at(float(index)))
    what = f"a table read at a symbol of {type(index).__module__}.{type(index).__qualname__}"
    instead = "numbers, arrays of NumPy, or symbols of cardan's own functions"
    raise UnsupportedError(what, "cardan.cell", instead)
