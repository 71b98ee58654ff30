"""Closed surfaces of triangles: of mesh files, of height fields, and the inertia at density 1 of what they enclose.

By the divergence theorem the body is a signed sum of tetrahedra from one point p to the triangles. With the edges
a, b, c from p to a triangle's corners, d = a . (b x c) and s = a + b + c:

    volume  d / 6        first moments  d s / 24        second moments  d (a a^T + b b^T + c c^T + s s^T) / 120

Source: Mirtich, Fast and accurate computation of polyhedral mass properties (1996); Eberly, Polyhedral mass properties
(revisited) (2002); the tetrahedron's moments: Tonon (2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import Inertia, Symmetric3, Vector3
from cardan._compiler.runtime import reading
from cardan._compiler.runtime.extras import package
from cardan._robot.registered import mesh_reader


def mesh_integrals(uri: str, path: str | None, scale: Sequence[float]) -> Inertia:
    """Return the inertia at density 1 of what a mesh file encloses, in its frame: the mass is the volume [m^3]."""
    surface = surface_of_file(uri, path)
    if not (surface.is_watertight and surface.is_winding_consistent):
        got = f"{len(surface.faces)} triangles that leave the inside open"
        expected, hint = (
            "a closed surface, whose triangles all face outwards",
            "Repair it, or give the body its inertia.",
        )
        raise ParameterError(f"mesh {uri!r}", got=got, expected=expected, hint=hint)
    return integrals_of_triangles(np.asarray(surface.triangles, dtype=float) * np.asarray(scale), f"mesh {uri!r}")


def integrals_of_triangles(triangles: np.ndarray, what: str = "mesh") -> Inertia:
    """Return the inertia at density 1 of what triangles enclose; shape (n, 3, 3): triangle, corner, coordinate [m].

    Triangles that all face inwards, as after mirroring, count as if they faced outwards.
    """
    # From a point amid the triangles: far from the origin, the sums would cancel to nothing.
    p = triangles.reshape(-1, 3).mean(axis=0)
    corners = triangles - p
    d = np.einsum("ni,ni->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    s = corners.sum(axis=1)
    volume = d.sum() / 6.0
    first = d @ s / 24.0
    second = (np.einsum("n,nki,nkj->ij", d, corners, corners) + np.einsum("n,ni,nj->ij", d, s, s)) / 120.0
    # A mirrored mesh (a negative scale) faces inwards: its volume is negative, and its moments with it.
    outwards = np.sign(volume)
    if not np.isfinite(volume) or abs(volume) <= 1e-12 * np.abs(d).sum():
        raise ParameterError(what, got=f"a volume of {abs(volume):g} m^3", expected="a surface that encloses a volume")
    about = np.trace(second) * np.eye(3) - second
    rows, columns = np.triu_indices(3)
    at_mean = Inertia.from_origin(
        float(outwards * volume),
        Vector3(*(float(outwards * e) for e in first)),
        Symmetric3(float(outwards * e) for e in about[rows, columns]),
    )
    mean = Vector3(*(float(e) for e in p))
    return Inertia(at_mean.mass, mean + at_mean.com, at_mean.inertia_at_com)


POINTER = b"version https://git-lfs"  # how a file begins whose content is elsewhere
NO_FILE = "a pointer of Git LFS; `git lfs pull` in its folder fetches the file"
HUGE = 1e15
"""[m] from which on a coordinate is a mistake: squares of sums of such are hardly numbers in single precision."""


def time_written(path: str | None) -> int:
    """Return when a file was written [ns], so that one that was written anew is read again; 0 if there is none."""
    return Path(path).stat().st_mtime_ns if path is not None and Path(path).is_file() else 0


def surface_of_file(uri: str, path: str | None) -> Any:
    """Return the triangles of a file in metres, by trimesh: its `vertices` and `faces`.

    A function that is traced meanwhile is traced again for the next model: the file may be another by then.
    """
    reading.note()
    trimesh = package("trimesh", "reading a mesh", "mesh")
    if path is None or not Path(path).is_file():
        got = "no file that was found, or one outside of the description's folder" if path is None else path
        hint = "package_dirs=[FOLDER] of cardan.load, or --package FOLDER, says where it is and allows it."
        raise ParameterError(f"mesh {uri!r}", got=got, expected="the path of a file that exists", hint=hint)
    with open(path, "rb") as file:
        if file.read(len(POINTER)) == POINTER:
            raise ParameterError(f"mesh {uri!r}", got=f"{path}, {NO_FILE}", expected="the file itself")
    if reader := mesh_reader(path):
        points, triangles = reader(uri, path)
        return trimesh.Trimesh(points, triangles)
    try:
        scene = trimesh.load_scene(path, process=False)  # which would leave out what is not finite without a word
        surface: Any = scene.to_mesh()
    except Exception as error:  # what a reader of a dozen formats raises on faulty files is not known
        raise ParameterError(
            f"mesh {uri!r}", got=f"{error}, reading {path}", expected="a mesh file trimesh can read"
        ) from None
    if len(getattr(surface, "faces", ())) == 0:
        raise ParameterError(f"mesh {uri!r}", got=f"no triangle in {path}", expected="a mesh file with a surface")
    if bad := np.count_nonzero(~(np.abs(np.asarray(surface.vertices)[np.unique(surface.faces)]) < HUGE).all(axis=1)):
        got = f"{bad} vertices that are not finite, or beyond {HUGE:g}, in {path}"
        raise ParameterError(f"mesh {uri!r}", got=got, expected="numbers [m]")
    surface.apply_scale(metres(scene.units))
    size = float(np.ptp(np.asarray(surface.vertices), axis=0).max())
    unit = 2.0 ** -np.floor(np.log2(size)) if size > 0.0 else 1.0  # trimesh takes as one what is 1e-8 apart
    surface.apply_scale(unit)
    surface.merge_vertices(merge_tex=True, merge_norm=True)  # a seam of its texture is no edge of the surface
    surface.apply_scale(1.0 / unit)
    return surface


def metres(unit: Any) -> float:
    """Return the length of a file's unit [m], as trimesh names it: COLLADA files say theirs, `"0.001 * meters"`."""
    number, _, name = str(unit).partition(" * ")
    return float(number) if name == "meters" else 1.0


# --- height fields ---


def surface_of_heights(
    heights: Sequence[Sequence[float]], size: Sequence[float], base: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices [m], shape (n, 3), and the triangles of them, shape (m, 3), counter-clockwise seen from outside.

    Heights and the level base are z [m], size the full side lengths [m], with the origin in the middle. Every cell of
    the grid is two triangles that share the diagonal from its corner of least x and y, as in MuJoCo.
    """
    z = np.array(heights)
    y, x = (np.linspace(-0.5 * side, 0.5 * side, n) for side, n in zip(reversed(size), z.shape, strict=True))
    top = np.stack([*np.meshgrid(x, y), z], axis=-1).reshape(-1, 3)
    number = np.arange(z.size).reshape(z.shape)
    edge = np.concatenate([number[0, :-1], number[:-1, -1], number[-1, :0:-1], number[:0:-1, 0]])
    foot = top[edge] * [1.0, 1.0, 0.0] + [0.0, 0.0, base]
    return np.concatenate([top, foot]), np.concatenate([_cells(number), _below(edge, z.size)])


def _cells(number: np.ndarray) -> np.ndarray:
    """Return the triangles of all cells of a grid of numbered points."""
    a, b, c, d = (each.ravel() for each in (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]))
    return np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)])


def _below(edge: np.ndarray, first: int) -> np.ndarray:
    """Return the triangles of the sides and the base; `edge` is that of the top, its feet are numbered from `first`."""
    foot = first + np.arange(len(edge))
    after, foot_after = np.roll(edge, -1), np.roll(foot, -1)
    sides = [np.stack([edge, foot, foot_after], axis=-1), np.stack([edge, foot_after, after], axis=-1)]
    base = np.stack([np.full(len(edge) - 2, foot[0]), foot[2:], foot[1:-1]], axis=-1)
    return np.concatenate([*sides, base])
