"""What is read: one column an argument, in memory or in files, a few rows at a time.

A column that can be opened by its path is opened where its rows are needed, by each worker; rows of others are sent.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from cardan._algebra.errors import DTypeError, ParameterError
from cardan._dynamics.call.arguments import numeric_array

FORMATS = "a folder of .npy files, or a file .npy or .npz"


@dataclass(frozen=True, slots=True)
class Column:
    """Values of one argument, a row each along the first dimension."""

    path: str | None  # the file or folder it is read from; None for what is in memory
    shape: tuple[int, ...]  # rows, then what each holds
    dtype: np.dtype  # type of number
    # gives the rows from one on, up to another; can be pickled if it reads a path
    rows: Callable[[int, int], np.ndarray]


def in_memory(array: Any) -> Column:
    """Return the column of an array that is here: of NumPy, or what is sliced like one."""
    shape = tuple(array.shape)
    return Column(None, shape, np.dtype(array.dtype), lambda a, b: np.asarray(array[a:b] if shape else array))


def columns_of(where: str, data: Any) -> dict[str, Column]:
    if isinstance(data, Mapping):
        nameless = [name for name in data if not isinstance(name, str)]
        if nameless:
            got = f"a mapping with the key {nameless[0]!r}"
            raise DTypeError(where, "data", got=got, expected="names of arguments")
        return {name: _column(where, name, value) for name, value in data.items()}
    if not isinstance(data, (str, Path)):
        expected = "a mapping from names of arguments to arrays, or a path"
        raise DTypeError(where, "data", got=f"a {type(data).__name__}", expected=expected)
    return _opened(Path(data))


def _column(where: str, name: str, value: Any) -> Column:
    if isinstance(value, (str, Path)):
        found = _opened(Path(value))
        if name not in found and len(found) != 1:
            raise ParameterError(f"data[{name!r}]", got=str(value), expected=f"one array, or one named {name!r}")
        return found[name] if name in found else next(iter(found.values()))
    if all(hasattr(value, said) for said in ("shape", "dtype", "__getitem__")) and np.dtype(value.dtype).kind in "fiu":
        return in_memory(value)
    return in_memory(numeric_array(where, name, value))


def _opened(path: Path) -> dict[str, Column]:
    if path.suffix == ".npy":
        with open(path, "rb") as stream:
            return {path.stem: _in_file(str(path), stream)}
    if path.suffix == ".npz":
        try:
            return _archived(str(path))
        except zipfile.BadZipFile as error:
            raise ParameterError(f"data in {path}", got=str(error), expected="a whole .npz file") from None
    if not path.is_dir():
        path.stat()  # a file that is missing says so
        raise ParameterError("data", got=str(path), expected=FORMATS)
    return {name: column for file in sorted(path.glob("*.npy")) for name, column in _opened(file).items()}


def _in_file(path: str, stream: BinaryIO) -> Column:
    """Return the array that begins where a stream stands; ParameterError if none does."""
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(stream)
    except ValueError as error:
        raise ParameterError(f"data in {path}", got=str(error), expected="an array as np.save writes it") from None
    if dtype.hasobject:
        raise ParameterError(f"data in {path}", got="an array of objects", expected="an array of numbers")
    rows = partial(_mapped_rows, path, dtype, stream.tell(), shape, "F" if by_columns else "C")
    return Column(path, shape, dtype, rows)


def _mapped_rows(path: str, dtype: np.dtype, offset: int, shape: tuple[int, ...], order: Any, a: int, b: int) -> Any:
    """Return rows of an array as NumPy writes it, in a file of its own or in an archive, through a map of memory."""
    if a >= b or 0 in shape:  # nothing cannot be mapped
        return np.empty((b - a, *shape[1:]), dtype)
    return np.array(np.memmap(path, dtype, "r", offset, shape, order)[a:b])


def _archived(path: str) -> dict[str, Column]:
    """Return the arrays of an archive: mapped where they lie, or, compressed ones, read whole."""
    found: dict[str, Column] = {}
    with zipfile.ZipFile(path) as archive, open(path, "rb") as stream:
        for entry in archive.infolist():
            name = entry.filename.removesuffix(".npy")
            if entry.compress_type == zipfile.ZIP_STORED:
                stream.seek(entry.header_offset + 26)
                name_length, extra_length = struct.unpack("<HH", stream.read(4))
                stream.seek(name_length + extra_length, 1)
                found[name] = _in_file(path, stream)
            else:
                with np.load(path) as arrays:
                    found[name] = in_memory(arrays[name])
    return found
