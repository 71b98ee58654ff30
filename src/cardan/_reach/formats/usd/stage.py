"""The stage of a file of USD: opened, with its units, its axes and the poses of its prims.

Poses are in metres and in a world whose z axis points up: a stage whose y axis does is turned by 90 degrees about x.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.errors import MissingExtraError, quoted
from cardan._algebra.spatial import SE3
from cardan._reach.formats.reading import Options
from cardan._reach.formats.report import Report
from cardan._reach.formats.source import Source


def ancestors(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


_PLACED = re.compile(r"([^'\s]+):(\d+):(\d+): ")
_WORDS = re.compile(r"Error in '[^']*' at line \d+ in file \S+ : |,@anon:[^@]*@")  # the session's layer is no file's


def said_by(error: Any) -> str:
    """Return what OpenUSD says; of a damaged file it quotes bytes that are no text."""
    try:
        return str(error)
    except UnicodeDecodeError as damaged:
        return damaged.object.decode(errors="replace")


def brief(error: Any) -> str:
    """Return what OpenUSD says without where in its own code it says so, and without layers of its own."""
    lines = [_PLACED.sub("", _WORDS.sub("", line)).strip().strip("'") for line in said_by(error).splitlines()]
    return "; ".join(line for line in dict.fromkeys(lines) if line)[:400]


# --- openUSD, an extra: imported when it is used, and not before ---


@cache
def pxr() -> Any:
    """Return the package `pxr` with the modules the reader uses; `MissingExtraError` without it."""
    try:
        import pxr as package
        from pxr import Ar, Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdShade  # noqa: F401
    except ImportError:
        raise MissingExtraError("reading USD", "usd") from None
    return package


SHEAR = 1e-5
"""Largest part of a stretch that is not along the axes and still taken for rounding: rotations are often float32."""


@dataclass(frozen=True, slots=True)
class Posed:
    pose: SE3  # of its axes in the world, without scale
    stretch: np.ndarray  # (3, 3), from its own coordinates [stage units] to lengths along its axes [m]; symmetric
    is_sheared: bool  # whether the stretch is not along the axes

    @property
    def scale(self) -> tuple[float, float, float]:
        """Metres per unit along its axes; all three are negative in a mirrored one."""
        x, y, z = (float(e) for e in np.diag(self.stretch))
        return x, y, z

    def point(self, local: tuple[float, ...]) -> SE3:
        return self.pose @ SE3(translation=tuple(float(e) for e in self.stretch @ np.array(local)))


@dataclass(slots=True)
class Stage:
    """A stage and what every page of the reader needs with it."""

    usd: Any
    report: Report
    options: Options
    file: str
    mesh_file: str | None
    length: float
    mass: float
    turn: np.ndarray
    cache: Any
    posed: dict[str, Posed | None] = field(default_factory=dict)
    mujoco_angle: float = math.pi / 180.0  # what MuJoCo's angles are in [rad]: degrees, if no scene says otherwise

    def where(self, prim: Any) -> str:
        return str(prim.GetPath())

    def error(self, prim: Any, message: str) -> None:
        self.report.error(self.where(prim), message)

    def doubt(self, prim: Any, message: str) -> None:
        self.report.doubt(self.where(prim), message)

    def warn(self, prim: Any, message: str) -> None:
        self.report.warn(self.where(prim), message)

    def remark(self, prim: Any, message: str) -> None:
        self.report.remark(self.where(prim), message)

    def pose(self, prim: Any) -> Posed | None:
        """Return where a prim is; None, and an error, if its transform is none."""
        path = str(prim.GetPath())
        if path not in self.posed:
            try:
                matrix = np.array(self.cache.GetLocalToWorldTransform(prim), dtype=float).T
            except pxr().Tf.ErrorException as error:
                self.error(prim, f"its transform, or one above, cannot be read: {brief(error)}")
                matrix = None
            self.posed[path] = None if matrix is None else self._posed(prim, matrix)
        return self.posed[path]

    def _posed(self, prim: Any, matrix: np.ndarray) -> Posed | None:
        linear, shift = self.length * self.turn @ matrix[:3, :3], self.length * self.turn @ matrix[:3, 3]
        if not (np.isfinite(linear).all() and np.isfinite(shift).all()):
            self.error(prim, "its transform has numbers that are not finite")
            return None
        U, values, Vt = np.linalg.svd(linear)
        if not 1e-9 * values[0] < values[2] or not 1e-100 < values[0] < 1e100:
            shown = ", ".join(f"{v / self.length:.3g}" for v in values)
            self.error(prim, f"its transform scales by {shown}; expected scales that are not 0")
            return None
        sign = np.sign(np.linalg.det(U @ Vt))
        stretch = sign * (Vt.T * values) @ Vt
        off = np.abs(stretch - np.diag(np.diag(stretch))).max()
        pose = SE3((sign * U @ Vt).tolist(), tuple(shift.tolist()))
        return Posed(pose, stretch, bool(off > SHEAR * values[0]))


@contextmanager
def opened(source: Source, options: Options, report: Report) -> Iterator[Stage | None]:
    """Give the stage of a description; None if it cannot be read. It must not be used afterwards."""
    with tempfile.TemporaryDirectory() if source.folder is None else nullcontext() as folder:
        file = _file(source, folder)
        yield _stage(report, options, source, file)
        # faults call the description as the caller does, not by the full path, or that of a copy, OpenUSD knows
        for faults in (report.errors, report.doubts, report.warnings, report.remarks):
            for k, fault in enumerate(faults):
                shown = source.name if fault.file == file else fault.file
                message = fault.message.replace(file, source.name).replace(f"{folder}/", "")
                faults[k] = replace(fault, file=shown, message=message)


def _file(source: Source, folder: str | None) -> str:
    """Return the path of a description; what was given as bytes is written to a file of its own."""
    if folder is None:
        return str(Path(source.name).resolve())
    begin = source.content.lstrip()[:5]
    ending = ".usda" if begin == b"#usda" else ".usdz" if begin[:2] == b"PK" else ".usdc"
    path = Path(folder).resolve() / f"description{ending}"
    path.write_bytes(source.content)
    return str(path)


def _stage(report: Report, options: Options, source: Source, file: str) -> Stage | None:
    package = pxr()
    try:
        usd = package.Usd.Stage.Open(file)
    except package.Tf.ErrorException as error:
        at = _PLACED.search(said_by(error))
        report.error(int(at[2]) if at else 0, f"cannot be opened: {brief(error)}")
        return None
    for error in getattr(usd, "GetCompositionErrors", list)()[:20]:
        path = str(getattr(getattr(error, "rootSite", None), "path", ""))
        report.error(path, f"cannot be composed: {brief(error)}")
    up = package.UsdGeom.GetStageUpAxis(usd)
    units = _unit(usd, report, "metersPerUnit", package.UsdGeom.GetStageMetersPerUnit, "a centimetre")
    masses = _unit(usd, report, "kilogramsPerUnit", package.UsdPhysics.GetStageKilogramsPerUnit, "a kilogram")
    if not usd.HasAuthoredMetadata("upAxis"):
        report.remark(0, f"says no upAxis: USD then means {quoted(str(up))}")
    if up not in ("Y", "Z"):
        report.error(0, f"upAxis is {quoted(str(up))}, expected 'Y' or 'Z'")
    turn = np.eye(3) if up == "Z" else np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    cache = package.UsdGeom.XformCache(package.Usd.TimeCode.EarliestTime())
    if report.errors:
        return None
    return Stage(usd, report, options, file, file if source.folder else None, units, masses, turn, cache)


def _unit(usd: Any, report: Report, key: str, of: Any, fallback: str) -> float:
    """Return a unit in kg or m; what is left out means what USD says."""
    value = of(usd)
    if not usd.HasAuthoredMetadata(key):
        report.remark(0, f"says no {key}: USD then means {fallback}, {value:g}")
    if not (math.isfinite(value) and 1e-12 <= value <= 1e12):
        report.error(0, f"{key} is {value:g}, expected a number > 0")
        return 1.0
    return float(value)
