"""Instructions, and how a program holds a hundred thousand of them: in columns of plain numbers, not as objects."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, repeat
from operator import itemgetter
from typing import Any, NamedTuple, cast, overload

import numpy as np

from cardan._compiler.program.ops import FREE, Op


class Instruction(NamedTuple):
    op: Op  # which
    args: tuple[int, ...] = ()  # numbers of the earlier instructions it acts on
    # the number of a CONST or AT; the position of an INPUT in the flattened inputs; what tells a CARRIED or PASS from
    # others; the number of a CELL's or LINK's table; the column of an ENTRY, PUT or ADDED; else 0
    value: float = 0.0


OPS = tuple(Op)
CODES = {op: code for code, op in enumerate(OPS)}
_FREE = tuple(CODES[op] for op in FREE)


class Instructions(Sequence[Instruction]):
    """The instructions of a program, in columns: some 20 bytes each, where an object takes 170.

    One is made when it is asked for, which takes half a microsecond. Code that walks a long program makes a list of
    them, or of one column (`ops`, `args`, `values`), and lets it go with its work. Equal are those of the same bits.
    They are made of tuples of an operation, its operands and its value, in order of evaluation.
    """

    __slots__ = ("_codes", "_ends", "_operands", "_values")

    def __init__(self, instructions: Iterable[tuple[Op, tuple[int, ...], float]] = ()) -> None:
        rows = instructions if isinstance(instructions, Sequence) else tuple(instructions)
        args = list(map(itemgetter(1), rows))
        ends = np.cumsum(np.fromiter(chain((0,), map(len, args)), np.int32, len(args) + 1), dtype=np.int32)
        self._codes = bytes(map(CODES.__getitem__, map(itemgetter(0), rows)))
        self._ends = array("i", ends.tobytes())  # operands of k: from its own place to that of k + 1
        self._operands = array("i", np.fromiter(chain.from_iterable(args), np.int32, ends[-1]).tobytes())
        self._values = array("d", list(map(itemgetter(2), rows)))

    def __len__(self) -> int:
        return len(self._codes)

    @overload
    def __getitem__(self, k: int) -> Instruction: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Instruction, ...]: ...
    def __getitem__(self, k: int | slice) -> Instruction | tuple[Instruction, ...]:
        if isinstance(k, slice):
            return tuple(map(self.__getitem__, range(len(self))[k]))
        k = range(len(self))[k] if k < 0 else k
        args = tuple(self._operands[self._ends[k] : self._ends[k + 1]])
        return tuple.__new__(Instruction, (OPS[self._codes[k]], args, self._values[k]))

    def __iter__(self) -> Iterator[Instruction]:
        rows: Any = zip(self.ops, self.args, self.values, strict=True)
        return cast("Iterator[Instruction]", map(tuple.__new__, repeat(Instruction), rows))  # with no Python code

    @property
    def ops(self) -> list[Op]:
        return list(map(OPS.__getitem__, self._codes))

    @property
    def args(self) -> list[tuple[int, ...]]:
        operands = tuple(self._operands)
        return [operands[start:end] for start, end in pairwise(self._ends)]

    @property
    def values(self) -> list[float]:
        return self._values.tolist()

    def places(self, op: Op) -> list[int]:
        return np.flatnonzero(np.frombuffer(self._codes, np.uint8) == CODES[op]).tolist()

    def count_of(self, op: Op) -> int:
        return self._codes.count(CODES[op])

    def operations(self, start: int = 0, stop: int | None = None) -> int:
        count, stop = self._codes.count, len(self) if stop is None else stop
        return stop - start - sum(count(code, start, stop) for code in _FREE)

    def uses(self) -> list[int]:
        return np.bincount(np.frombuffer(self._operands, np.int32), minlength=len(self)).tolist()

    def known_rows(self, *ops: Op) -> np.ndarray:
        """Return, for each instruction of these that names a row by an AT, that row; -1 for all others."""
        code, starts = np.frombuffer(self._codes, np.uint8), np.frombuffer(self._ends, np.int32)
        found, places = np.full(len(self), -1), np.flatnonzero(np.isin(code, [CODES[op] for op in ops]))
        names = np.frombuffer(self._operands, np.int32)[starts[places]]
        known = code[names] == CODES[Op.AT]
        found[places[known]] = np.frombuffer(self._values)[names[known]]
        return found

    def kept(self, needed: bytes | bytearray) -> tuple[Instructions, list[int]]:
        """Return those with a flag, none of which needs another, and the new number of each."""
        flags, ends = np.frombuffer(needed, bool), np.frombuffer(self._ends, np.int32)
        number, lengths = np.cumsum(flags) - 1, np.diff(ends)
        operands = np.frombuffer(self._operands, np.int32)[np.repeat(flags, lengths)]
        columns = (
            np.frombuffer(self._codes, np.uint8)[flags],
            np.concatenate([ends[:1], np.cumsum(lengths[flags])]).astype(np.int32),
            number[operands].astype(np.int32),
            np.frombuffer(self._values)[flags],
        )
        return _of_bytes(*(column.tobytes() for column in columns)), number.tolist()

    def with_values(self, changed: Mapping[int, float]) -> Instructions:
        """Return those with other values of some."""
        values = self._values[:]
        for k, value in changed.items():
            values[k] = value
        codes, ends, operands, _ = self._bits()
        return _of_bytes(codes, ends, operands, values.tobytes())

    def columns(self) -> tuple[bytes, np.ndarray, np.ndarray, np.ndarray]:
        """Return the codes of the operations, where the operands of each end, the operands and the values, to read."""
        views = [memoryview(column).toreadonly() for column in (self._ends, self._operands, self._values)]
        ends, operands, values = map(np.asarray, views)
        return self._codes, ends[1:], operands, values

    def _bits(self) -> tuple[bytes, bytes, bytes, bytes]:
        return self._codes, self._ends.tobytes(), self._operands.tobytes(), self._values.tobytes()

    def __eq__(self, other: object) -> bool:
        return self._bits() == other._bits() if isinstance(other, Instructions) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._bits())

    def __reduce__(self) -> Any:
        return _of_bytes, self._bits()

    def __repr__(self) -> str:
        return f"<{len(self)} instructions>"


def _of_bytes(codes: bytes, ends: bytes, operands: bytes, values: bytes) -> Instructions:
    made = Instructions()
    made._codes, made._ends = codes, array("i", ends)
    made._operands, made._values = array("i", operands), array("d", values)
    return made
