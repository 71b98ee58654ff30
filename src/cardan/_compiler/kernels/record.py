"""Records: numbers and arrays under names, which kernels read and write; and programs with their arrays."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._compiler.kernels.language import PROGRAMS
from cardan._compiler.kernels.types import INT, REAL, ArrayType, Scalar, across
from cardan._compiler.program.program import Array, Program, columns_of
from cardan._compiler.targets.llvm.target import NativeProgram
from cardan._compiler.targets.runner import Outline

FLOAT64 = np.dtype(np.float64)


def aligned_zeros(shape: tuple[int, ...], dtype: Any, make: Any = np.zeros) -> np.ndarray:
    """Return an array of zeros that begins at a multiple of 64 bytes; of anything, if np.empty makes it."""
    size = int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize
    space = make(size + 64, dtype=np.uint8)
    start = -space.__array_interface__["data"][0] % 64
    return space[start : start + size].view(dtype).reshape(shape)


class Record:
    """Named fields: a subclass lists them with their types, `count = INT`, `points = F64[:, 3]`; or `F64["feet", 3]`.

    A kernel sees a row of 64-bit words: numbers themselves, and where arrays begin.
    """

    fields: ClassVar[dict[str, Any]] = {}
    places: ClassVar[dict[str, int]] = {}
    of_rows: ClassVar[dict[str, list[str]]] = {}  # arrays by what they have a row for

    def __init_subclass__(cls) -> None:
        kinds = {k: v for k, v in vars(cls).items() if isinstance(v, (Scalar, ArrayType))}
        cls.fields = {**cls.fields, **kinds}
        cls.places = {name: k for k, name in enumerate(cls.fields)}
        arrays = {name: kind.rows for name, kind in cls.fields.items() if isinstance(kind, ArrayType)}
        cls.of_rows = {what: [name for name, own in arrays.items() if own == what] for what in arrays.values()}
        for name, kind in kinds.items():
            if isinstance(kind, ArrayType):
                delattr(cls, name)  # arrays are attributes of their own
            else:
                setattr(cls, name, _number_at(cls.places[name], "reals" if kind is REAL else "whole"))

    def __init__(self, **values: Any) -> None:
        self.words = np.zeros(len(self.fields), dtype=np.int64)
        self.whole, self.reals = self.words.data, self.words.view(np.float64).data
        for name, value in values.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        kind = self.fields.get(name)
        if kind is INT:
            self.whole[self.places[name]] = value
        elif kind is REAL:
            self.reals[self.places[name]] = value
        else:
            super().__setattr__(name, value)
            if kind is not None:
                self.words[self.places[name]] = address_of(kind, value)

    @classmethod
    def across(cls) -> type[Record]:
        """Return the records of a kernel across eight cases: arrays have eight doubles for one, numbers are shared."""
        own = {name: kind if kind is REAL else across(kind) for name, kind in cls.fields.items()}
        return type(cls.__name__, (Record,), own)

    def allocate(self, make: Any = np.zeros, **counts: int) -> None:
        """Give arrays rows of zeros, by how many things there are that they have a row for; what they held is lost.

        Lists that are written before they are read are made faster by np.empty.
        """
        for what, count in counts.items():
            for name in self.of_rows[what]:
                kind = self.fields[name]
                setattr(self, name, aligned_zeros(kind.numpy_shape(count), kind.item.dtype, make))


def _number_at(place: int, words: str) -> Any:
    """Return a property that is a number of a record: of these words the one at a place."""
    own = attrgetter(words)
    return property(lambda record: own(record)[place])


def address_of(kind: Any, value: Any) -> int:
    """Return where a kernel finds an argument: an array of that type, a record, a program."""
    if not isinstance(kind, ArrayType):
        return value.words.ctypes.data
    rows = len(value) if kind.is_open else 0
    if value.shape != kind.numpy_shape(rows) or value.dtype != kind.item.dtype or not value.flags.c_contiguous:
        got = f"{value.dtype} of shape {value.shape}{'' if value.flags.c_contiguous else ', not contiguous'}"
        raise ParameterError("array of a kernel", got=got, expected=repr(kind))
    return value.__array_interface__["data"][0]


class RowProgram:
    """A program compiled for double precision, with arrays whose rows it is run on.

    Args:
        program: what is run, of inputs and outputs by name.
        arrays: for each input and output an array of so many rows, contiguous, and for each column of row numbers one
            of whole numbers of 32 bits; several programs may share them.
        most: on how many rows at once, if that is known: for few there is code of its own.
    """

    def __init__(self, program: Program, arrays: Mapping[str, np.ndarray], most: int = 2**20) -> None:
        self.program = program
        self.runner = NativeProgram(Outline.of(program), lambda: program)
        self.code = self.runner.code(FLOAT64, most, for_good=True)
        self.heap = aligned_zeros((max(self.code.heap, 8),), np.uint8)
        self.words = np.zeros(9, dtype=np.int64)  # read by `translate`
        self.words[0], self.words[3] = self.code.address, self.heap.ctypes.data
        self.address = int(self.words.ctypes.data)
        PROGRAMS[self.address] = self
        self.place(arrays)

    def place(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take other arrays."""
        inputs, outputs = self.program.inputs, self.program.outputs
        self.inputs = [self._rows(a, arrays[a.name]) for a in inputs]
        self.outputs = [self._rows(a, arrays[a.name]) for a in outputs]
        self.columns = [self._numbers(name, arrays[name]) for name in columns_of(self.program)]
        # Where inputs begin, and columns of row numbers; where outputs do, each with how many numbers a row has. Behind
        # the row of places the same has room from another row on: a stride moves by nothing, nor do arrays whose rows
        # have numbers.
        given = [*zip(inputs, self.inputs, strict=True), *((None, column) for column in self.columns)]
        places = [(held.ctypes.data, 0 if a and a.by else held.strides[0]) for a, held in given]
        for a, held in zip(outputs, self.outputs, strict=True):
            places += [(held.ctypes.data, 0 if a.by else held.strides[0]), (held.strides[0] // held.itemsize, 0)]
        self._places = np.array([*zip(*places, strict=True), [0] * len(places)], dtype=np.int64)
        own, sizes, moved = (row.ctypes.data for row in self._places)
        behind = 8 * len(given)
        self.words[1], self.words[2] = own, own + behind
        self.words[4:9] = len(places), own, sizes, moved, moved + behind

    def _rows(self, array: Array, given: np.ndarray) -> np.ndarray:
        flat = given.reshape(-1, array.size) if given.ndim == 1 and array.size else given.reshape(len(given), -1)
        is_view = array.size == 0 or np.shares_memory(flat, given)
        if flat.shape[1] != array.size or flat.dtype != FLOAT64 or not is_view:
            raise ParameterError(f"rows of {array.name}", got=given.shape, expected=f"(rows, {array.size}), float64")
        return flat

    def _numbers(self, name: str, given: np.ndarray) -> np.ndarray:
        if given.dtype != np.int32 or not given.flags.c_contiguous:
            raise ParameterError(f"column {name}", got=given.dtype, expected="int32, contiguous")
        return given

    def __call__(self, rows: int, first: int = 0) -> None:
        """Run it from Python, as a kernel does."""
        own = slice(first, first + rows)
        given = [held if a.by else held[own] for a, held in zip(self.program.inputs, self.inputs, strict=True)]
        found = [held if a.by else held[own] for a, held in zip(self.program.outputs, self.outputs, strict=True)]
        self.runner.write([*given, *(column[own] for column in self.columns)], found, rows, FLOAT64, 1)
