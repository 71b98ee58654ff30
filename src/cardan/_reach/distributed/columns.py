"""What is read: one column an argument, in memory or in files, a few rows at a time.

A column that can be opened by its path is opened where its rows are needed, by each worker; rows of others are sent.
"""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from cardan._algebra.errors import CardanError, DTypeError, ParameterError
from cardan._compiler.runtime.extras import package
from cardan._dynamics.call.arguments import numeric_array

FORMATS = "a folder of .npy files, or a file .npy, .npz, .parquet or .zarr"


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
    if path.suffix in READERS:
        try:
            return READERS[path.suffix](str(path))
        except CardanError:
            raise
        except (ValueError, zipfile.BadZipFile) as error:  # Arrow's are ValueErrors, too
            raise ParameterError(f"data in {path}", got=str(error), expected=f"a whole {path.suffix} file") from None
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


@lru_cache(maxsize=4)
def _group(file: str, number: int, name: str, core: tuple[int, ...], stamp: int) -> np.ndarray:
    """Return a column of a group of rows; chunks shorter than one find it again, unless the file's stamp is new."""
    parquet, compute = (package(f"pyarrow.{part}", "Parquet", "parquet") for part in ("parquet", "compute"))
    column = parquet.ParquetFile(file).read_row_group(number, columns=[name])[name].combine_chunks()
    for size in core:
        _check_whole(file, name, column)
        lengths = compute.list_value_length(column).to_numpy(zero_copy_only=False)
        if (lengths != size).any():
            got, expected = f"a list of {lengths[lengths != size][0]} numbers", f"{size} in every row, as in the first"
            raise ParameterError(f"column {name!r} of {file}", got=got, expected=expected)
        column = column.flatten()
    _check_whole(file, name, column)
    return column.to_numpy(zero_copy_only=False).reshape(-1, *core)


def _check_whole(file: str, name: str, column: Any) -> None:
    if column.null_count:
        got, expected = f"{column.null_count} values missing", "a number in every row"
        raise ParameterError(f"column {name!r} of {file}", got=got, expected=expected)


def _parquet_columns(path: str) -> dict[str, Column]:
    """Return the columns of numbers of a file or a folder of files: lists of fixed size, nested by dimension."""
    files = [path] if os.path.isfile(path) else sorted(map(str, Path(path).glob("*.parquet")))
    if not files:
        raise FileNotFoundError(f"no file .parquet at {path!r}")
    parquet, groups, row = package("pyarrow.parquet", "Parquet", "parquet"), [], 0
    for file in files:
        metadata = parquet.ParquetFile(file).metadata
        for number in range(metadata.num_row_groups):
            count = metadata.row_group(number).num_rows
            groups.append((file, number, row, row + count))
            row += count
    first = parquet.ParquetFile(files[0])
    kinds = {field.name: _kind(field.type, _first(first, field)) for field in first.schema_arrow}
    return {n: Column(path, (row, *k[0]), k[1], partial(_parquet_rows, groups, n, *k)) for n, k in kinds.items() if k}


def _parquet_rows(
    groups: list[tuple[str, int, int, int]], name: str, core: tuple[int, ...], dtype: np.dtype, start: int, stop: int
) -> np.ndarray:
    """Return rows of a column whose groups are a file, a number in it, the first row and the one after the last."""
    parts = [
        _group(file, number, name, core, os.stat(file).st_mtime_ns)[max(start - first, 0) : stop - first]
        for file, number, first, after in groups
        if first < stop and start < after
    ]
    return np.concatenate(parts) if parts else np.empty((0, *core), dtype)


def _first(file: Any, field: Any) -> Any:
    types = package("pyarrow", "Parquet", "parquet").types
    if not (types.is_list(field.type) or types.is_large_list(field.type)) or not file.metadata.num_rows:
        return None
    return next(file.iter_batches(1, columns=[field.name]))[0][0].as_py()


def _kind(type: Any, first: Any) -> tuple[tuple[int, ...], np.dtype] | None:
    """Return the shape and type of number of a row; None for texts, dates, and lists whose length nothing says."""
    types = package("pyarrow", "Parquet", "parquet").types
    shape: tuple[int, ...] = ()
    while types.is_fixed_size_list(type) or types.is_list(type) or types.is_large_list(type):
        if not types.is_fixed_size_list(type) and not first:
            return None
        size = type.list_size if types.is_fixed_size_list(type) else len(first)
        shape, type, first = (*shape, size), type.value_type, first[0] if first else None
    if not types.is_integer(type) and not types.is_floating(type):
        return None
    return shape, np.dtype(type.to_pandas_dtype())


def zarr_columns(path: str) -> dict[str, Column]:
    """Return the arrays of numbers of a group, or the one array that is there, under the name ""."""
    zarr = package("zarr", "Zarr", "zarr")
    opened: Any = zarr.open(path, mode="r")
    members = {"": opened} if isinstance(opened, zarr.Array) else dict(opened.arrays())
    return {
        name: Column(path, a.shape, np.dtype(a.dtype), partial(_zarr_rows, path, name))
        for name, a in members.items()
        if a.dtype.kind in "fiu"
    }


def _zarr_rows(path: str, name: str, start: int, stop: int) -> np.ndarray:
    opened = package("zarr", "Zarr", "zarr").open(path, mode="r")
    return np.asarray((opened[name] if name else opened)[start:stop])


# What opens a file, by the end of its name.
READERS: Mapping[str, Callable[[str], dict[str, Column]]] = {
    ".npz": _archived,
    ".parquet": _parquet_columns,
    ".zarr": zarr_columns,
}
