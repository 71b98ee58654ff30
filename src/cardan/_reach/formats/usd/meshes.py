"""Meshes of USD: their triangles, and the inertia of what they enclose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import Inertia
from cardan._reach.formats.reading import Options
from cardan._reach.formats.report import Report
from cardan._reach.formats.source import Source
from cardan._reach.formats.usd.stage import Stage, opened
from cardan._reach.formats.usd.values import array, value
from cardan._robot.geometry.mesh import integrals_of_triangles

_asked: dict[str, Options] = {}
"""With which options files of USD were read: what these allow, a later question for a mesh of theirs may open, too."""
_HULLS = ("convexHull", "boundingCube", "boundingSphere", "convexDecomposition")


def triangles_of(points: np.ndarray, counts: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the corners of triangles, shape (n, 3), fanned out of polygons.

    Args:
        points: (m, 3).
        counts: of corners of each polygon.
        corners: of all polygons, one after the other: which point.

    Raises:
        ParameterError: if they do not fit together.
    """
    if len(corners) != counts.sum() or (counts < 3).any():
        expected = "the sum of faceVertexCounts, each at least 3"
        raise ParameterError("faceVertexIndices", got=f"{len(corners)} of them", expected=expected)
    if len(corners) and not (corners.min() >= 0 and corners.max() < len(points)):
        raise ParameterError("faceVertexIndices", got="one that is no point", expected=f"0 to {len(points) - 1}")
    fans = counts - 2
    starts = np.repeat(np.cumsum(counts) - counts, fans)
    steps = np.arange(fans.sum()) - np.repeat(np.cumsum(fans) - fans, fans)
    return np.stack([corners[starts], corners[starts + steps + 1], corners[starts + steps + 2]], axis=1)


def surface(prim: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return points, shape (m, 3), in the mesh's own units, and triangles, shape (n, 3), of a mesh.

    Raises:
        ParameterError: if they are not what a mesh needs.
    """
    points = array(prim, "points", 3)
    counts, corners = (array(prim, f"faceVertex{k}") for k in ("Counts", "Indices"))
    if points is None or counts is None or corners is None or not len(counts):
        expected = "finite points, faceVertexCounts and faceVertexIndices"
        raise ParameterError("mesh", got="no surface", expected=expected)
    return points, triangles_of(points, counts.astype(int), corners.astype(int))


def is_closed(triangles: np.ndarray) -> bool:
    """Return whether each edge is met twice, once in each direction."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    count = int(triangles.max()) + 1
    there, back = edges[:, 0] * count + edges[:, 1], edges[:, 1] * count + edges[:, 0]
    return np.array_equal(np.sort(there), np.sort(back)) and len(np.unique(there)) == len(there)


def mesh_inertia(stage: Stage, prim: Any, scale: Sequence[float]) -> Inertia:
    """Return the inertia at density 1 of what a mesh encloses, in its axes [m].

    Raises:
        ParameterError: if it is no mesh, is not closed, or encloses nothing.
    """
    points, triangles = surface(prim)
    welded, first = np.unique(points, axis=0, return_inverse=True)  # seams have their points twice
    triangles = first.reshape(-1)[triangles]
    triangles = triangles[(triangles != np.roll(triangles, 1, axis=1)).all(axis=1)]
    if not len(triangles) or not is_closed(triangles):
        raise ParameterError("mesh", got="a surface that leaves the inside open", expected="a closed one, or a mass")
    hull = str(value(prim, "physics:approximation"))
    if hull in _HULLS:
        told = f"physics:approximation is {hull!r}; its mass is computed from the mesh itself"
        stage.report.remark(stage.where(prim), told)
    return integrals_of_triangles(welded[triangles] * np.array(scale), f"mesh {prim.GetPath()}")


def remember(source: Source, options: Options) -> None:
    """Remember what was allowed for a file, if there is more than what any may read."""
    if source.folder is not None and options.package_dirs:
        _asked[str(Path(source.name).resolve())] = options


def surface_of_usd(uri: str, file: str) -> tuple[np.ndarray, np.ndarray]:
    """Return points and triangles of a mesh of a file of USD, in its own units.

    Args:
        uri: what the mesh is called: behind `#` comes the path of its prim.
        file: the file.

    Raises:
        MissingExtraError: without the extra `usd`.
        ParameterError: if there is no such mesh.
        DescriptionError: if the file cannot be read.
    """
    path, report = uri.partition("#")[2], Report(file)
    with opened(Source.of(file), _asked.get(str(Path(file).resolve()), Options()), report) as stage:
        report.stop()
        prim = stage.usd.GetPrimAtPath(path) if stage is not None and path.startswith("/") else None
        if not prim or prim.GetTypeName() != "Mesh":
            raise ParameterError(f"mesh {uri!r}", got=f"no Mesh at {path!r}", expected=f"the path of one in {file}")
        return surface(prim)
