"""Columns in Zarr: an array of a group each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._compiler.runtime.extras import package


@dataclass(frozen=True, slots=True)
class ZarrColumn:
    """An array of a group, or one that is no member of any.

    Attributes:
        path: of the group, or of the array.
        name: of the array in the group; empty for one by itself.
        shape: rows, then what each holds.
        dtype: type of number.
    """

    path: str
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return the rows from one on, up to another."""
        opened = package("zarr", "Zarr", "zarr").open(self.path, mode="r")
        return np.asarray((opened[self.name] if self.name else opened)[start:stop])


def zarr_columns(path: str) -> Mapping[str, ZarrColumn]:
    """Return the arrays of numbers of a group, or the one array that is there."""
    zarr = package("zarr", "Zarr", "zarr")
    opened: Any = zarr.open(path, mode="r")
    members = {"": opened} if isinstance(opened, zarr.Array) else dict(opened.arrays())
    return {n: ZarrColumn(path, n, a.shape, np.dtype(a.dtype)) for n, a in members.items() if a.dtype.kind in "fiu"}


def create(path: str, columns: Mapping[str, tuple[tuple[int, ...], np.dtype]], chunk: int) -> None:
    """Make a group of arrays whose chunks are as many rows as are written at a time, so that no two writers meet."""
    group = package("zarr", "Zarr", "zarr").open_group(path, mode="w")
    for name, (shape, dtype) in columns.items():
        group.create_array(name, shape=shape, chunks=(chunk, *shape[1:]), dtype=dtype)


def write(path: str, start: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a few rows of each array."""
    group: Any = package("zarr", "Zarr", "zarr").open_group(path, mode="r+")
    for name, array in arrays.items():
        group[name][start : start + len(array)] = array
