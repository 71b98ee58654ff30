"""`cardan dynamics FILE TRAJECTORY -o OUT`: torques, energies and poses along a motion, and trajectories as files."""

from __future__ import annotations

import argparse
import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from cardan._algebra.errors import CardanError
from cardan._algebra.spatial import SE3
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._compiler.runtime.staging import write_whole
from cardan._dynamics.algorithms.configuration import normalize
from cardan._dynamics.algorithms.energy import kinetic_energy, potential_energy
from cardan._dynamics.algorithms.kinematics import frame_transform
from cardan._dynamics.algorithms.loops import loop_residual
from cardan._dynamics.algorithms.rnea import inverse_dynamics
from cardan._reach.cli.options import ROBOT, add, check_output, load_robot, say
from cardan._reach.formats.report import NUMBER
from cardan._reach.formats.source import open_regular
from cardan._robot.model import Model

MAX_ARRAY = 2**31  # bytes of one array of an .npz, unpacked: a small archive may claim any size


class TrajectoryError(CardanError, ValueError):
    """A trajectory file cannot be read; `row` counts from 1, 0 where the fault is not in a row."""

    def __init__(self, file: str, row: int, message: str) -> None:
        self.file, self.row = file, row
        super().__init__(f"{file}: row {row}: {message}" if row else f"{file}: {message}")


class SampledMotion(NamedTuple):
    """States along a motion; `v` and `a` are zero where the file has none."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


def read_trajectory(file: str, model: Model) -> SampledMotion:
    """Return the trajectory in a .csv or .npz file; TrajectoryError names the row that is wrong.

    A CSV row holds q, or q and v, or q, v and a, one number a column; a first line that holds names is skipped. An
    .npz holds arrays `q` (n, nq) and, if wanted, `v` and `a` (n, nv).
    """
    ending = _ending(file, "read")
    try:
        with open(open_regular(file), "rb") as stream:
            arrays = _read_csv(file, stream, model) if ending == ".csv" else _read_npz(file, stream, model)
    except OSError as error:
        raise TrajectoryError(file, 0, f"cannot be read: {error.strerror or error}") from None
    rows = len(arrays["q"])
    if not rows:
        raise TrajectoryError(file, 0, "holds no row of numbers")
    still = np.zeros((rows, model.nv))
    trajectory = SampledMotion(*(np.asarray(arrays.get(name, still), dtype=float) for name in ("q", "v", "a")))
    _check_numbers(file, model, trajectory)
    return trajectory


def _ending(file: str, verb: str) -> str:
    ending = Path(file).suffix.lower()
    if ending not in (".csv", ".npz"):
        raise TrajectoryError(file, 0, f"cannot {verb} {ending or 'a file without ending'}; use .csv or .npz")
    return ending


def _read_csv(file: str, stream: BinaryIO, model: Model) -> dict[str, np.ndarray]:
    nq, nv = model.nq, model.nv
    widths, rows = (nq, nq + nv, nq + 2 * nv), []
    # A byte order mark of a spreadsheet is no part of a number.
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    try:
        for number, cells in enumerate(csv.reader(text), start=1):
            # Blank lines, and a first line of names.
            if not any(map(str.strip, cells)) or (number == 1 and not any(map(_is_number, cells))):
                continue
            if len(cells) not in widths:
                named = f"nq = {widths[0]}, nq + nv = {widths[1]} or nq + 2 nv = {widths[2]}"
                raise TrajectoryError(file, number, f"has {len(cells)} columns, expected {named}")
            if rows and len(cells) != len(rows[0]):
                raise TrajectoryError(file, number, f"has {len(cells)} columns, the rows above have {len(rows[0])}")
            rows.append([_number(file, number, column, cell) for column, cell in enumerate(cells, start=1)])
    except csv.Error as error:
        raise TrajectoryError(file, len(rows) + 1, f"is no CSV: {error}") from None
    parts = zip(("q", "v", "a"), np.split(np.array(rows or np.empty((0, nq))), [nq, nq + nv], axis=1), strict=True)
    return {name: part for name, part in parts if part.shape[1] or name == "q"}


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell.strip()) is not None or cell.strip().lower().lstrip("+-") in ("nan", "inf", "infinity")


def _number(file: str, row: int, column: int, cell: str) -> float:
    if not _is_number(cell):
        raise TrajectoryError(file, row, f"column {column}: {cell.strip()[:40]!r} is not a number")
    return float(cell)


def _read_npz(file: str, stream: BinaryIO, model: Model) -> dict[str, np.ndarray]:
    arrays, large = {}, ""
    try:
        with np.load(stream, allow_pickle=False) as archive:  # a pickle could run code
            names = sorted(archive.files)
            sizes = {info.filename.removesuffix(".npy"): info.file_size for info in archive.zip.infolist()}
            large = next((name for name in ("q", "v", "a") if sizes.get(name, 0) > MAX_ARRAY), "")
            if not large:
                arrays = {name: archive[name] for name in ("q", "v", "a") if name in names}
    except Exception as error:  # zip, zlib, the parser of headers: a broken file may break any of them
        raise TrajectoryError(file, 0, f"is not an .npz archive of arrays: {error or type(error).__name__}") from None
    if large:
        raise TrajectoryError(file, 0, f"array {large!r} has {sizes[large]} bytes, expected at most {MAX_ARRAY}")
    if "q" not in arrays:
        raise TrajectoryError(file, 0, f"has no array 'q'; it holds {names}")
    for name, array in arrays.items():
        width = model.nq if name == "q" else model.nv
        if array.ndim != 2 or array.shape[1] != width or len(array) != arrays["q"].shape[:1][0]:
            raise TrajectoryError(file, 0, f"array {name!r} has shape {array.shape}, expected (n, {width})")
        if array.dtype.kind not in "fiu":
            raise TrajectoryError(file, 0, f"array {name!r} holds {array.dtype}, expected real numbers")
    return arrays


def _check_numbers(file: str, model: Model, trajectory: SampledMotion) -> None:
    for name, array in trajectory._asdict().items():
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if bad.size:
            raise TrajectoryError(file, int(bad[0]) + 1, f"{name} holds a number that is not finite")
    distance = np.abs(normalize(model, trajectory.q) - trajectory.q).max(axis=1, initial=0.0)
    off = np.flatnonzero(~(distance < 1e-3))  # farther than files of six digits are by rounding
    if off.size:
        far = f"q is off the configuration manifold by {distance[off[0]]:.2g}"
        raise TrajectoryError(file, int(off[0]) + 1, f"{far}: normalise its quaternions and (cos, sin)")


def write_results(file: str, columns: Mapping[str, np.ndarray]) -> None:
    r"""Write named columns (n,) to .csv, or named arrays to .npz: whole, or not at all.

    A name that a spreadsheet would take for a formula gets an apostrophe before it; in the name of an .npz's member,
    `/`, `\` and `%` are written as in a URL, so that unpacking it writes no other place.
    """
    write = _write_csv if _ending(file, "write") == ".csv" else _write_npz
    try:
        write_whole({Path(file): lambda stream: write(stream, columns)})
    except OSError as error:
        raise TrajectoryError(file, 0, f"cannot be written: {error.strerror or error}") from None


def _write_csv(stream: BinaryIO, columns: Mapping[str, np.ndarray]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow([f"'{n}" if n[0] in "=+-@\t\r" else n for n in columns])
    stream.write(text.getvalue().encode(errors="backslashreplace"))
    np.savetxt(stream, np.column_stack(list(columns.values())), delimiter=",", fmt="%.17g")


def _write_npz(stream: BinaryIO, columns: Mapping[str, np.ndarray]) -> None:
    safe = {re.sub(r"[/\\%\x00]", lambda c: f"%{ord(c[0]):02X}", name): array for name, array in columns.items()}
    encoded: dict[str, Any] = {name.encode(errors="backslashreplace").decode(): array for name, array in safe.items()}
    np.savez(stream, **encoded)


def fill(parser: argparse.ArgumentParser) -> None:
    add(parser, *ROBOT, "--overwrite")
    help = (
        "a .csv whose rows are q, or q v, or q v a, a number a column, no time, with or without a line of names; "
        "or an .npz of arrays q (n, nq) and, if wanted, v and a (n, nv); v and a that are missing are 0"
    )
    parser.add_argument("trajectory", metavar="TRAJECTORY", help=help)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=".csv or .npz to write")
    parser.add_argument("--frame", help="body or frame whose pose is reported; by default the last body")


def run(args: argparse.Namespace) -> int:
    model = load_robot(args)
    frame = args.frame or model.body_names[-1]
    model.attachment(frame)  # raises for an unknown frame, before anything takes time
    trajectory = read_trajectory(args.trajectory, model)
    check_output(args, args.file, args.trajectory)  # before the work, not after it
    found = columns(model, trajectory, frame)
    write_results(args.output, found)
    say(f"{args.output}: {len(trajectory.q)} rows, {len(found)} columns; poses are those of {frame!r}")
    if model.has_loops:
        gap = np.abs(loop_residual(model, trajectory.q)).max()
        say(f"efforts are those of all joints, which load no loop; q leaves loops open by {gap:.2g} [m, rad]")
    return 0


def columns(model: Model, trajectory: SampledMotion, frame: str) -> dict[str, np.ndarray]:
    """Return the results by column name: `tau:<joint>`, energies [J], position [m] and quaternion (xyzw)."""
    q, v, a = trajectory
    tau = inverse_dynamics(model, q, v, a)
    pose = SE3.of(frame_transform(model, q, frame))
    names = []
    for c in model.connections:
        iv = model.slices[c.name][1]
        count = iv.stop - iv.start
        names += [f"tau:{c.name}"] if count == 1 else [f"tau:{c.name}:{n}" for n in c.joint.velocity_names[:count]]
    results = {name: tau[:, k] for k, name in enumerate(names)}
    results["kinetic_energy"], results["potential_energy"] = kinetic_energy(model, q, v), potential_energy(model, q)
    numbers = (*pose.translation, *quaternion_xyzw_from_matrix(pose.rotation))
    for name, values in zip(("x", "y", "z", "qx", "qy", "qz", "qw"), numbers, strict=True):
        results[f"{frame}:{name}"] = np.broadcast_to(values, len(q))
    return results
