"""Where results go: memory, or files that are written a chunk at a time by whoever computed it."""

from __future__ import annotations

import errno
import io
import os
import shutil
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._compiler.runtime.extras import package
from cardan._compiler.runtime.staging import write_whole
from cardan._reach.distributed.columns import zarr_columns


@dataclass(frozen=True, slots=True)
class Table:
    """What the results of all rows are: an array each."""

    names: tuple[str, ...]  # of the results
    shapes: tuple[tuple[int, ...], ...]  # of the arrays, rows first
    dtype: np.dtype  # of all of them

    @property
    def rows(self) -> int:
        return self.shapes[0][0]

    def empty(self) -> list[np.ndarray]:
        return [np.empty(shape, self.dtype) for shape in self.shapes]


class Files(ABC):
    """A format of files that results are written in. Everything is made under another name and renamed at the end."""

    __slots__ = ()

    @abstractmethod
    def create(self, place: Path, table: Table, chunk: int) -> None:
        """Make room for all results in a folder that is there."""

    @abstractmethod
    def write(self, place: Path, table: Table, start: int, results: Sequence[np.ndarray]) -> None:
        """Write the results of some rows; writing them again changes nothing."""

    @abstractmethod
    def damage(self, place: Path, table: Table, done: Collection[int]) -> str:
        """Return what is wrong with what was written of the chunks that are done, or an empty text.

        Files are looked at, not their numbers: reading those again takes as long as computing them.
        """

    def finish(self, place: Path, table: Table) -> Path:
        """Return the file or folder that is to have the final name: the folder, if no format says otherwise."""
        return place


@dataclass(frozen=True, slots=True)
class Arrays(Files):
    """A folder of `.npy` files, one for each result."""

    def create(self, place: Path, table: Table, chunk: int) -> None:
        """Make files of their final length; a disk without room for them is an error now, if the system can say so."""
        for name, shape in zip(table.names, table.shapes, strict=True):
            with open(place / f"{name}.npy", "wb") as stream:
                length = _write_header(stream, shape, table.dtype)
                _reserve(stream, place / f"{name}.npy", length)
                stream.truncate(length)

    def write(self, place: Path, table: Table, start: int, results: Sequence[np.ndarray]) -> None:
        """Write rows where they belong, and wait until they are on the disk."""
        for name, shape, array in zip(table.names, table.shapes, results, strict=True):
            row = table.dtype.itemsize * int(np.prod(shape[1:], dtype=np.int64))
            with open(place / f"{name}.npy", "r+b") as stream:  # no map of memory: a full disk is an error there, too
                stream.seek(-(shape[0] - start) * row, os.SEEK_END)
                stream.write(np.ascontiguousarray(array, table.dtype).data.cast("B") if array.size else b"")
                stream.flush()
                os.fsync(stream.fileno())

    def damage(self, place: Path, table: Table, done: Collection[int]) -> str:
        for name, shape in zip(table.names, table.shapes, strict=True):
            file, header = place / f"{name}.npy", io.BytesIO()
            length = _write_header(header, shape, table.dtype)
            try:
                with open(file, "rb") as stream:
                    begin, found = stream.read(len(header.getvalue())), os.fstat(stream.fileno()).st_size
            except OSError as error:
                return f"{str(file)!r}, which cannot be read: {error.strerror}"
            if found != length:
                return f"{str(file)!r}, which has {found} bytes and not {length}"
            if begin != header.getvalue():
                return f"{str(file)!r}, which does not begin as it was begun"
        return ""


@dataclass(frozen=True, slots=True)
class OneArray(Arrays):
    def finish(self, place: Path, table: Table) -> Path:
        return place / f"{table.names[0]}.npy"


@dataclass(frozen=True, slots=True)
class Archive(Arrays):
    """One file `.npz`, not compressed, so that it can be read a few rows at a time."""

    def finish(self, place: Path, table: Table) -> Path:
        archive = place.parent / "archive.npz"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED, allowZip64=True) as stream:
            for name in table.names:
                stream.write(place / f"{name}.npy", f"{name}.npy")
        return archive


@dataclass(frozen=True, slots=True)
class Parquet(Files):
    """A folder of Parquet files, one for each chunk, which is one table to all that reads Parquet."""

    def create(self, place: Path, table: Table, chunk: int) -> None:
        package("pyarrow", "Parquet", "parquet")
        _check_numbers(table, "Parquet")

    def write(self, place: Path, table: Table, start: int, results: Sequence[np.ndarray]) -> None:
        pa, parquet = (package(name, "Parquet", "parquet") for name in ("pyarrow", "pyarrow.parquet"))
        written = pa.table({n: _listed(pa, array) for n, array in zip(table.names, results, strict=True)})
        write_whole({place / _part(start): lambda stream: parquet.write_table(written, stream)})

    def damage(self, place: Path, table: Table, done: Collection[int]) -> str:
        for file in (place / _part(start) for start in sorted(done)):
            if not file.is_file() or not file.stat().st_size:
                return f"{str(file)!r}, which is missing or empty"
        return ""


@dataclass(frozen=True, slots=True)
class Zarr(Files):
    """A group of Zarr whose chunks are as many rows as are written at a time, so that no two writers meet."""

    def create(self, place: Path, table: Table, chunk: int) -> None:
        _check_numbers(table, "Zarr")
        group = package("zarr", "Zarr", "zarr").open_group(str(place), mode="w")
        for name, shape in zip(table.names, table.shapes, strict=True):
            group.create_array(name, shape=shape, chunks=(chunk, *shape[1:]), dtype=table.dtype)

    def write(self, place: Path, table: Table, start: int, results: Sequence[np.ndarray]) -> None:
        group: Any = package("zarr", "Zarr", "zarr").open_group(str(place), mode="r+")
        for name, array in zip(table.names, results, strict=True):
            group[name][start : start + len(array)] = array

    def damage(self, place: Path, table: Table, done: Collection[int]) -> str:
        try:
            found = {name: (column.shape, column.dtype) for name, column in zarr_columns(str(place)).items()}
        except Exception as error:  # that package raises whatever its parts do
            return f"{str(place)!r}, which cannot be opened: {type(error).__name__}"
        wanted = {name: (shape, table.dtype) for name, shape in zip(table.names, table.shapes, strict=True)}
        return "" if found == wanted else f"{str(place)!r}, which holds other arrays"


def _part(start: int) -> str:
    return f"part-{start:012d}.parquet"


def _listed(pa: Any, array: np.ndarray) -> Any:
    """Return an array as a column: lists of lists, as deep as it has dimensions."""
    column = pa.array(np.ascontiguousarray(array).reshape(-1))
    for size in reversed(array.shape[1:]):
        column = pa.FixedSizeListArray.from_arrays(column, size)
    return column


# Formats by the end of the name.
WRITERS: Mapping[str, Files] = {
    "": Arrays(),
    ".npy": OneArray(),
    ".npz": Archive(),
    ".parquet": Parquet(),
    ".zarr": Zarr(),
}


def writer(where: str, out: Path, table: Table) -> Files:
    """Return the format of a name; ParameterError if there is none, or if it cannot hold several results."""
    if out.suffix not in WRITERS:
        expected = "a name that ends in " + ", ".join(filter(None, WRITERS)) + ", or has no ending: a folder of .npy"
        raise ParameterError(f"{where}: out", got=str(out), expected=expected)
    nameless = [name for name in table.names if name != Path(name).name]
    if nameless:
        raise ParameterError(f"{where}: results", got=nameless, expected="names that can be names of files")
    if out.suffix == ".npy" and len(table.names) > 1:
        expected = f".npz, .parquet, .zarr or a folder, for {len(table.names)} results"
        raise ParameterError(f"{where}: out", got=str(out), expected=expected)
    return WRITERS[out.suffix]


def _write_header(stream: BinaryIO, shape: tuple[int, ...], dtype: np.dtype) -> int:
    """Write what stands before an array; return how long the file is with it."""
    described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, described)
    return stream.tell() + dtype.itemsize * int(np.prod(shape, dtype=np.int64))


def _reserve(stream: BinaryIO, file: Path, length: int) -> None:
    """Take room on the disk for a file, where the system and the disk can."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(stream.fileno(), 0, max(length, 1))
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise OSError(error.errno, f"{os.strerror(error.errno or 0)} ({length} bytes)", str(file)) from None


def _check_numbers(table: Table, format: str) -> None:
    for name, shape in zip(table.names, table.shapes, strict=True):
        if 0 in shape[1:]:
            expected = f"results with numbers in them: {format} has no rows of nothing"
            raise ParameterError(f"result {name!r}", got=shape, expected=expected, hint="Write a folder of .npy.")


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
