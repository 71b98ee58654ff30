"""What is read: one column an argument, in memory or in files, a few rows at a time.

A column that can be opened by its path is opened where its rows are needed, by each worker; rows of others are sent.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from cardan._algebra.errors import CardanError, DTypeError, ParameterError
from cardan._dynamics.call.arguments import numeric_array
from cardan._reach.distributed.parquet import parquet_columns
from cardan._reach.distributed.zarr_groups import zarr_columns

FORMATS = "a folder of .npy files, or a file .npy, .npz, .parquet or .zarr"


class Column(Protocol):
    """Values of one argument, a row each along the first dimension."""

    @property
    def path(self) -> str | None:
        """The file or folder it is read from; None for what is in memory."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows, then what each holds."""
        ...

    @property
    def dtype(self) -> np.dtype:
        """Type of number."""
        ...

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return the rows from one on, up to another."""
        ...


@dataclass(frozen=True, slots=True)
class InMemory:
    """An array that is here: of NumPy, or what is sliced like one."""

    array: Any
    path = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> np.dtype:
        """Its type of number."""
        return np.dtype(self.array.dtype)

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return the rows from one on, up to another."""
        return np.asarray(self.array[start:stop] if self.shape else self.array)


@dataclass(frozen=True, slots=True)
class InFile:
    """An array as NumPy writes it, in a file of its own or inside an archive: read through a map of memory."""

    path: str
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype
    order: Any

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return the rows from one on, up to another."""
        if start >= stop or 0 in self.shape:  # nothing cannot be mapped
            return np.empty((stop - start, *self.shape[1:]), self.dtype)
        whole = np.memmap(self.path, self.dtype, "r", self.offset, self.shape, self.order)
        return np.array(whole[start:stop])


def columns_of(where: str, data: Any) -> dict[str, Column]:
    """Return the columns of a mapping from names to arrays or paths, or of a path.

    Raises:
        ParameterError, DTypeError: for what is none of these.
        OSError: for a file that cannot be read.
        MissingExtraError: for a format whose package is not installed.
    """
    if isinstance(data, Mapping):
        nameless = [name for name in data if not isinstance(name, str)]
        if nameless:
            raise DTypeError(
                where, "data", got=f"a mapping with the key {nameless[0]!r}", expected="names of arguments"
            )
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
        return InMemory(value)
    return InMemory(numeric_array(where, name, value))


def _opened(path: Path) -> dict[str, Column]:
    """Return the columns of a file or folder."""
    if path.suffix == ".npy":
        with open(path, "rb") as stream:
            return {path.stem: _in_file(str(path), stream)}
    if path.suffix in READERS:
        try:
            return dict(READERS[path.suffix](str(path)))
        except CardanError:
            raise
        except (ValueError, zipfile.BadZipFile) as error:  # Arrow's are ValueErrors, too
            raise ParameterError(f"data in {path}", got=str(error), expected=f"a whole {path.suffix} file") from None
    if not path.is_dir():
        path.stat()  # a file that is missing says so
        raise ParameterError("data", got=str(path), expected=FORMATS)
    return {name: column for file in sorted(path.glob("*.npy")) for name, column in _opened(file).items()}


def _in_file(path: str, stream: BinaryIO) -> InFile:
    """Return the array that begins where a stream stands.

    Raises:
        ParameterError: if none does.
    """
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(stream)
    except ValueError as error:
        raise ParameterError(f"data in {path}", got=str(error), expected="an array as np.save writes it") from None
    if dtype.hasobject:
        raise ParameterError(f"data in {path}", got="an array of objects", expected="an array of numbers")
    return InFile(path, stream.tell(), shape, dtype, "F" if by_columns else "C")


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
                    found[name] = InMemory(arrays[name])
    return found


READERS = {".npz": _archived, ".parquet": parquet_columns, ".zarr": zarr_columns}
"""What opens a file, by the end of its name."""
