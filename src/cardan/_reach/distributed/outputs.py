"""Where results go: memory, or files that are written a chunk at a time by whoever computed it."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from cardan._algebra.errors import ParameterError, quoted
from cardan._compiler.runtime.staging import write_whole


@dataclass(frozen=True, slots=True)
class Table:
    names: tuple[str, ...]  # of the results
    shapes: tuple[tuple[int, ...], ...]  # of the arrays, rows first
    dtype: np.dtype  # of all of them

    @property
    def rows(self) -> int:
        return self.shapes[0][0]

    def empty(self) -> list[np.ndarray]:
        return [np.empty(shape, self.dtype) for shape in self.shapes]


@dataclass(frozen=True, slots=True)
class Arrays:
    """A file `.npy` for each result; made under another name, and in the end a folder, one of them, or an archive."""

    ending: str  # of the final name

    def create(self, place: Path, table: Table) -> None:
        """Make files of their final length; a disk without room for them is an error now, if the system can say so."""
        for name, shape in zip(table.names, table.shapes, strict=True):
            with open(place / f"{name}.npy", "wb") as stream:
                length = _write_header(stream, shape, table.dtype)
                # Room on the disk is taken now, where the system and the disk can.
                try:
                    if hasattr(os, "posix_fallocate"):
                        os.posix_fallocate(stream.fileno(), 0, max(length, 1))
                except OSError as error:
                    if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                        message = f"{os.strerror(error.errno or 0)} ({length} bytes)"
                        raise OSError(error.errno, message, str(place / f"{name}.npy")) from None
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

    def damage(self, place: Path, table: Table) -> str:
        """Return what is wrong with the files, or an empty text.

        Files are looked at, not their numbers: reading those again takes as long as computing them.
        """
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

    def finish(self, place: Path, table: Table) -> Path:
        """Return the file or folder that is to have the final name."""
        if self.ending == ".npy":
            return place / f"{table.names[0]}.npy"
        if self.ending == ".npz":
            return _archive(place, table)
        return place


def _archive(place: Path, table: Table) -> Path:
    """Return one file of all arrays, not compressed, so that it can be read a few rows at a time."""
    archive = place.parent / "archive.npz"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED, allowZip64=True) as stream:
        for name in table.names:
            stream.write(place / f"{name}.npy", f"{name}.npy")
    return archive


ENDINGS = ("", ".npy", ".npz")


def writer(where: str, out: Path, table: Table) -> Arrays:
    """Return the format of a name; ParameterError if there is none, or if it cannot hold several results."""
    if out.suffix not in ENDINGS:
        expected = "a name that ends in .npy or .npz, or has no ending: a folder of .npy"
        raise ParameterError(f"{where}: out", got=str(out), expected=expected)
    nameless = [name for name in table.names if name != Path(name).name]
    if nameless:
        raise ParameterError(f"{where}: results", got=nameless, expected="names that can be names of files")
    if out.suffix == ".npy" and len(table.names) > 1:
        expected = f".npz or a folder, for {len(table.names)} results"
        raise ParameterError(f"{where}: out", got=str(out), expected=expected)
    return Arrays(out.suffix)


def _write_header(stream: BinaryIO, shape: tuple[int, ...], dtype: np.dtype) -> int:
    """Write what stands before an array; return how long the file is with it."""
    described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, described)
    return stream.tell() + dtype.itemsize * int(np.prod(shape, dtype=np.int64))


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# --- results that are being written: under another name until they are whole, with a list of what is done ---
#
# Beside `out` stands a folder `out.unfinished`: `work.json` says what is computed, `done` has a line for each chunk
# whose results are on the disk, `results` holds them. The same call goes on from there; another one gets an error.


@dataclass(frozen=True, slots=True)
class Unfinished:
    out: Path  # where the results will be
    files: Arrays  # their format
    table: Table  # the results
    chunk: int  # how many rows are computed at a time
    work: Mapping[str, Any]  # what is computed, as JSON

    @property
    def folder(self) -> Path:
        return self.out.with_name(self.out.name + ".unfinished")

    @property
    def place(self) -> Path:
        return self.folder / "results"

    def begin(self, where: str, overwrite: bool) -> set[int]:
        """Make the folder, or find it; return the first rows of the chunks that are done, which may be gone on with."""
        if os.path.lexists(self.out) and not overwrite:
            hint = "overwrite=True replaces it once the new results are whole."
            raise ParameterError(f"{where}: out", got=str(self.out), expected="a name that is free", hint=hint)
        problem, expected, end = "", "", ""
        if self._is_same():
            done, problem = self._done()
            if not problem:
                return done
            expected, end = "unfinished results as they were left", ", to begin anew."
        elif self.folder.exists():
            expected = "no unfinished results of another function, robot, data or chunk"
            problem, end = str(self.folder), "; the same call as before would go on with it."
        if problem and not overwrite:
            hint = f"Remove {str(self.folder)!r}, or pass overwrite=True{end}"
            raise ParameterError(f"{where}: out", got=problem, expected=expected, hint=hint)
        self._create()
        return set()

    def _is_same(self) -> bool:
        try:
            found = json.loads((self.folder / "work.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return found == json.loads(json.dumps(self.work)) and self.place.is_dir()

    def _done(self) -> tuple[set[int], str]:
        """Return what is listed, and what is damaged, or an empty text; a last line that was cut off does not count."""
        file = self.folder / "done"
        try:
            whole, _, _ = file.read_text(encoding="ascii").rpartition("\n")
            done = {int(line) for line in whole.split("\n") if line}
            file.write_text("".join(f"{start}\n" for start in sorted(done)), encoding="ascii")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "no list of rows"
            return set(), f"{str(file)!r}, which is damaged: {reason}"
        if stray := sorted(start for start in done if start % self.chunk or not 0 <= start < max(self.table.rows, 1)):
            return set(), f"{str(file)!r}, which is damaged: no chunk begins at row {quoted(stray[0])}"
        return done, self.files.damage(self.place, self.table)

    def _create(self) -> None:
        remove(self.folder)
        self.place.mkdir(parents=True)
        try:
            self.files.create(self.place, self.table)
            (self.folder / "done").touch()
            text = json.dumps(self.work).encode()
            write_whole({self.folder / "work.json": lambda stream: stream.write(text)})  # last: now it can be gone on
        except BaseException:
            remove(self.folder)
            raise

    def mark(self, start: int) -> None:
        with open(self.folder / "done", "a", encoding="ascii") as stream:
            stream.write(f"{start}\n")

    def finish(self) -> None:
        whole = self.files.finish(self.place, self.table)
        if os.path.lexists(self.out):  # a folder cannot be renamed over another one
            os.replace(self.out, self.folder / "replaced")
        os.replace(whole, self.out)
        remove(self.folder)
