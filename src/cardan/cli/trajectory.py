"""Trajectories as files: .csv or .npz of q[, v, a] in, results out, and never half a result."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from cardan.errors import CardanError
from cardan.functions import normalize
from cardan.model import Model
from cardan.staging import write_whole


class TrajectoryError(CardanError, ValueError):
    """A trajectory file cannot be read; `row` counts from 1, 0 where the fault is not in a row."""

    def __init__(self, file: str, row: int, message: str) -> None:
        self.file, self.row = file, row
        super().__init__(f"{file}: row {row}: {message}" if row else f"{file}: {message}")


class Trajectory(NamedTuple):
    """States along a motion; `v` and `a` are zero where the file has none."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


def read_trajectory(file: str, model: Model) -> Trajectory:
    """Return the trajectory in a .csv or .npz file.

    A CSV row holds q, or q and v, or q, v and a, one number a column; a first line that holds names is skipped. An
    .npz holds arrays `q` (n, nq) and, if wanted, `v` and `a` (n, nv).

    Raises:
        TrajectoryError: naming the row that is wrong.
    """
    readers: dict[str, Callable[[str, Model], Trajectory]] = {".csv": _read_csv, ".npz": _read_npz}
    ending = Path(file).suffix.lower()
    if ending not in readers:
        raise TrajectoryError(file, 0, f"cannot read {ending or 'a file without ending'}; use .csv or .npz")
    try:
        trajectory = readers[ending](file, model)
    except OSError as error:
        raise TrajectoryError(file, 0, f"cannot be read: {error.strerror or error}") from None
    _check_numbers(file, model, trajectory)
    return trajectory


def _read_csv(file: str, model: Model) -> Trajectory:
    widths = (model.nq, model.nq + model.nv, model.nq + 2 * model.nv)
    rows: list[list[float]] = []
    with open(file, newline="", encoding="utf-8", errors="replace") as stream:
        for number, cells in enumerate(csv.reader(stream), start=1):
            if not any(cell.strip() for cell in cells) or (number == 1 and _is_header(cells)):
                continue
            if len(cells) not in widths:
                named = f"nq = {widths[0]}, nq + nv = {widths[1]} or nq + 2 nv = {widths[2]}"
                raise TrajectoryError(file, number, f"has {len(cells)} columns, expected {named}")
            if rows and len(cells) != len(rows[0]):
                raise TrajectoryError(file, number, f"has {len(cells)} columns, the rows above have {len(rows[0])}")
            rows.append([_number(file, number, column, cell) for column, cell in enumerate(cells, start=1)])
    if not rows:
        raise TrajectoryError(file, 0, "holds no row of numbers")
    table = np.array(rows)
    q, v, a = np.split(table, [model.nq, model.nq + model.nv], axis=1)
    still = np.zeros((len(table), model.nv))
    return Trajectory(q, v if v.size else still, a if a.size else still)


def _is_header(cells: list[str]) -> bool:
    return all(not _is_number(cell) for cell in cells)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(file: str, row: int, column: int, cell: str) -> float:
    if not _is_number(cell):
        raise TrajectoryError(file, row, f"column {column}: {cell.strip()[:40]!r} is not a number")
    return float(cell)


def _read_npz(file: str, model: Model) -> Trajectory:
    try:
        with np.load(file, allow_pickle=False) as archive:
            arrays = {name: np.asarray(archive[name]) for name in ("q", "v", "a") if name in archive.files}
            names = archive.files
    except (ValueError, EOFError, KeyError, NotImplementedError) as error:
        raise TrajectoryError(file, 0, f"is not an .npz archive of arrays: {error}") from None
    except Exception as error:
        if type(error).__name__ != "BadZipFile":
            raise
        raise TrajectoryError(file, 0, "is not an .npz archive") from None
    if "q" not in arrays:
        raise TrajectoryError(file, 0, f"has no array 'q'; it holds {sorted(names)}")
    for name, array in arrays.items():
        width = model.nq if name == "q" else model.nv
        if array.ndim != 2 or array.shape[1] != width or array.shape[0] != arrays["q"].shape[0]:
            raise TrajectoryError(file, 0, f"array {name!r} has shape {array.shape}, expected (n, {width})")
        if array.dtype.kind not in "fiu":
            raise TrajectoryError(file, 0, f"array {name!r} holds {array.dtype}, expected real numbers")
    still = np.zeros((len(arrays["q"]), model.nv))
    q, v, a = arrays["q"], arrays.get("v", still), arrays.get("a", still)
    return Trajectory(*(np.asarray(x, dtype=float) for x in (q, v, a)))


def _check_numbers(file: str, model: Model, trajectory: Trajectory) -> None:
    for name, array in trajectory._asdict().items():
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if bad.size:
            raise TrajectoryError(file, int(bad[0]) + 1, f"{name} holds a number that is not finite")
    distance = np.abs(normalize(model, trajectory.q) - trajectory.q).max(axis=1, initial=0.0)
    off = np.flatnonzero(~(distance < 1e-3))
    if off.size:
        row = int(off[0])
        message = (
            f"q is off the configuration manifold by {distance[row]:.2g}: normalise its quaternions and (cos, sin)"
        )
        raise TrajectoryError(file, row + 1, message)


def write_results(file: str, columns: Mapping[str, np.ndarray]) -> None:
    """Write named columns (n,) to .csv, or named arrays to .npz: whole, or not at all."""
    ending = Path(file).suffix.lower()
    if ending not in (".csv", ".npz"):
        raise TrajectoryError(file, 0, f"cannot write {ending or 'a file without ending'}; use .csv or .npz")
    try:
        write_whole({Path(file): lambda stream: _write(stream, ending, columns)})
    except OSError as error:
        raise TrajectoryError(file, 0, f"cannot be written: {error.strerror or error}") from None


def _write(stream: BinaryIO, ending: str, columns: Mapping[str, np.ndarray]) -> None:
    if ending == ".npz":
        np.savez(stream, **columns)  # pyright: ignore[reportArgumentType]
    else:
        stream.write((",".join(columns) + "\n").encode())
        np.savetxt(stream, np.column_stack(list(columns.values())), delimiter=",", fmt="%.17g")
