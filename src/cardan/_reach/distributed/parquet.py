"""Columns in Parquet: an array a row is a list of fixed size, nested for each further dimension."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._compiler.runtime.extras import package
from cardan._compiler.runtime.staging import write_whole


@dataclass(frozen=True, slots=True)
class ParquetColumn:
    """A column of a file, or of a folder of files in the order of their names.

    Attributes:
        path: the file or folder.
        name: of the column.
        shape: rows, then what each holds.
        dtype: type of number.
        groups: the file and number of each group of rows, with the first of its rows and the one after its last.
    """

    path: str
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    groups: tuple[tuple[str, int, int, int], ...]

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return the rows from one on, up to another."""
        parts = [
            self._group(file, number)[max(start - first, 0) : stop - first]
            for file, number, first, after in self.groups
            if first < stop and start < after
        ]
        return np.concatenate(parts) if parts else np.empty((0, *self.shape[1:]), self.dtype)

    def _group(self, file: str, number: int) -> np.ndarray:
        stamp = os.stat(file).st_mtime_ns
        return _group(file, number, self.name, self.shape[1:], stamp)


@functools.lru_cache(maxsize=4)
def _group(file: str, number: int, name: str, core: tuple[int, ...], stamp: int) -> np.ndarray:
    """Return a column of a group of rows; chunks shorter than one find it again.

    Raises:
        ParameterError: where a value is missing.
    """
    column = _package().ParquetFile(file).read_row_group(number, columns=[name])[name].combine_chunks()
    for size in core:
        _check_whole(file, name, column)
        _check_lengths(file, name, column, size)
        column = column.flatten()
    _check_whole(file, name, column)
    return column.to_numpy(zero_copy_only=False).reshape(-1, *core)


def _check_whole(file: str, name: str, column: Any) -> None:
    if column.null_count:
        got, expected = f"{column.null_count} values missing", "a number in every row"
        raise ParameterError(f"column {name!r} of {file}", got=got, expected=expected)


def _check_lengths(file: str, name: str, column: Any, size: int) -> None:
    """Raise where a list is of another length than the first one."""
    lengths = package("pyarrow.compute", "Parquet", "parquet").list_value_length(column).to_numpy(zero_copy_only=False)
    if (lengths != size).any():
        got = f"a list of {lengths[lengths != size][0]} numbers"
        raise ParameterError(f"column {name!r} of {file}", got=got, expected=f"{size} in every row, as in the first")


def parquet_columns(path: str) -> Mapping[str, ParquetColumn]:
    """Return the columns of numbers of a file or a folder of files."""
    files = [path] if os.path.isfile(path) else sorted(map(str, Path(path).glob("*.parquet")))
    if not files:
        raise FileNotFoundError(f"no file .parquet at {path!r}")
    groups, row = [], 0
    for file in files:
        metadata = _package().ParquetFile(file).metadata
        for number in range(metadata.num_row_groups):
            count = metadata.row_group(number).num_rows
            groups.append((file, number, row, row + count))
            row += count
    first = _package().ParquetFile(files[0])
    kinds = {field.name: _kind(field.type, _first(first, field)) for field in first.schema_arrow}
    return {n: ParquetColumn(path, n, (row, *k[0]), k[1], tuple(groups)) for n, k in kinds.items() if k}


def _first(file: Any, field: Any) -> Any:
    """Return the first row of a column of lists that may be of any length; None for others, and if there is no row."""
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


def write_part(file: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a few rows as a file, whole or not at all."""
    pa = package("pyarrow", "Parquet", "parquet")
    table = pa.table({name: _listed(pa, array) for name, array in arrays.items()})
    write_whole({file: lambda stream: _package().write_table(table, stream)})


def _listed(pa: Any, array: np.ndarray) -> Any:
    """Return an array as a column: lists of lists, as deep as it has dimensions."""
    column = pa.array(np.ascontiguousarray(array).reshape(-1))
    for size in reversed(array.shape[1:]):
        column = pa.FixedSizeListArray.from_arrays(column, size)
    return column


def _package() -> Any:
    return package("pyarrow.parquet", "Parquet", "parquet")
