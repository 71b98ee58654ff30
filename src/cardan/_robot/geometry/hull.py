"""Convex hulls: what a mesh collides as, with few vertices and a known error.

The hull of all points is found by qhull. It is thinned by building it anew: begin with the extreme points along the
axes, then add the vertex that is farthest outside, until none is farther than the smaller of two errors, or there are
enough vertices and none is farther than the larger. What is left outside is the error, a distance in metres: a thinned
hull lies within the true one. Of many points, those that are farthest along some thousand directions stand for all; the
error is that of all.

Source: Barber, Dobkin and Huhdanpaa, The quickhull algorithm for convex hulls (1996), for the hull and the order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.checked_numbers import not_negative, whole
from cardan._algebra.errors import ParameterError
from cardan._compiler.runtime import disk_cache, reading
from cardan._compiler.runtime.extras import package
from cardan._robot.geometry import mesh
from cardan._robot.geometry.mesh import HUGE, surface_of_file, time_written
from cardan._robot.registered import mesh_reader

VERTICES = 64  # a hull has more by default only if it takes more to be within both errors: a step pays for each
ERROR = 1e-3, 0.01  # [m] and in parts of the size: the smaller is aimed at, the larger kept
FLAT = 1e-9  # extent along an axis, in parts of the largest, below which points lie in a plane or on a line
MANY, DIRECTIONS = 50_000, 2048  # points, of which those stand for all that are farthest along so many directions
BLOCK = 256  # points that are looked at together: their products with all directions, 4 MB, stay in a cache
KEPT = 256  # hulls of mesh files that a process keeps: about those of eight robots
WHOLE = (".dae", ".glb", ".obj", ".off", ".ply", ".stl")  # files that have all of their surface in them


class Thinned(NamedTuple):
    """Vertices of a convex hull, shape (n, 3) [m], and how far the points left out are outside of it [m]."""

    vertices: np.ndarray
    error: float


def hull_of_points(points: Any, most: int | None = None, error: float | None = None) -> Thinned:
    """Return the convex hull of points, thinned.

    Args:
        points: shape (n, 3) [m], n >= 1; they may lie in a plane, on a line or in one place.
        most: vertices, at least 4; by default `VERTICES`, or what it takes to keep the larger of `ERROR`.
        error: how far a point may be outside [m] before it becomes a vertex; by default the smaller of `ERROR`.

    Raises:
        MissingExtraError: without the extra `mesh`.
        ParameterError: for points that are not finite, none, or not of three numbers; fewer than 4 vertices; an error
            below 0.
    """
    try:
        x = np.asarray(points, dtype=float)
    except (TypeError, ValueError):
        x = np.empty((0, 3))
    if x.ndim != 2 or x.shape[1] != 3 or not len(x) or not (np.abs(x) < HUGE).all():
        expected = f"shape (n, 3), n >= 1, finite numbers below {HUGE:g} m"
        raise ParameterError("points of a hull", got=points, expected=expected)
    x = np.unique(x, axis=0)
    if most is not None:
        most = whole("vertices of a hull", most, 4)
    if error is not None:
        error = not_negative("error of a hull", error, "m")
    middle = x.mean(axis=0)
    _, extents, axes = np.linalg.svd(x - middle, full_matrices=False)
    rank = int(np.sum(extents > FLAT * max(extents[0], 1e-300))) if extents[0] > 0.0 else 0
    if rank < 2:  # one place, or a line: its two ends
        along = (x - middle) @ axes[0]
        return Thinned(x[np.unique([along.argmin(), along.argmax()])], 0.0)
    flat = (x - middle) @ axes[:rank].T  # in a plane, the hull is that of two coordinates
    some = np.arange(len(flat)) if len(flat) <= MANY else _farthest(flat)
    corners = some[np.unique(_qhull(flat[some]).simplices) if rank == 3 else _qhull(flat[some]).vertices]
    small, large = sorted((ERROR[0], ERROR[1] * float(np.linalg.norm(np.ptp(x, axis=0)))))
    allowed = small if error is None else error, large if most is None else np.inf
    kept, left = _thinned(flat[corners], most or VERTICES, *allowed)
    if len(some) < len(flat):
        left = max(0.0, float(_outside(flat, flat[corners[kept]]).max()))
    return Thinned(x[corners[kept]], left)


def _farthest(points: np.ndarray) -> np.ndarray:
    """Return the numbers of the points that are farthest along one of some directions, evenly about a sphere or circle.

    Source: Swinbank and Purser, Fibonacci grids (2006), for the sphere.
    """
    turn = np.pi * (3.0 - np.sqrt(5.0)) if points.shape[1] == 3 else 2.0 * np.pi / DIRECTIONS
    k = np.arange(DIRECTIONS)
    z = (2.0 * k + 1.0) / DIRECTIONS - 1.0
    around = np.stack([np.cos(turn * k), np.sin(turn * k)])
    d = (np.concatenate([around * np.sqrt(1.0 - z * z), z[None]]) if points.shape[1] == 3 else around).T
    best, found = np.full(DIRECTIONS, -np.inf), np.zeros(DIRECTIONS, int)
    for start in range(0, len(points), BLOCK):
        along = d @ points[start : start + BLOCK].T
        own = along.argmax(axis=1)
        farther = along[k, own] > best
        best[farther], found[farther] = along[k, own][farther], start + own[farther]
    return np.unique(found)


def _outside(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return how far points are outside of a hull [m]; less than 0 within it."""
    planes = _qhull(corners).equations
    blocks = (points[start : start + BLOCK] for start in range(0, len(points), BLOCK))
    return np.concatenate([(own @ planes[:, :-1].T + planes[:, -1]).max(axis=1) for own in blocks])


def _qhull(points: np.ndarray) -> Any:
    return package("scipy.spatial", "the convex hull of a shape", "mesh").ConvexHull(points)


def triangles_of_hull(vertices: np.ndarray) -> np.ndarray:
    """Return the triangles of a hull's surface, shape (m, 3), counter-clockwise seen from outside; none of a flat one.

    Raises:
        MissingExtraError: without the extra `mesh`.
    """
    if _is_flat(vertices):
        return np.empty((0, 3), int)
    hull = _qhull(vertices)
    a, b, c = (vertices[hull.simplices[:, k]] for k in range(3))
    inwards = np.einsum("ni,ni->n", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    return np.where(inwards[:, None], hull.simplices[:, [0, 2, 1]], hull.simplices)


def planes_of_hull(vertices: np.ndarray) -> np.ndarray:
    """Return the planes of a hull's faces, shape (m, 4): n . x + e <= 0 within [-, m].

    They are qhull's own: of a triangle that is nearly a line, as flat faces are cut into, vertices tell no normal. A
    flat hull has those of its plane, from both sides, and one through each edge. A line or point has none.

    Raises:
        MissingExtraError: without the extra `mesh`.
    """
    if not _is_flat(vertices):
        return np.unique(_qhull(vertices).equations, axis=0)
    middle = vertices.mean(axis=0)
    _, extents, axes = np.linalg.svd(vertices - middle, full_matrices=False)
    if len(vertices) < 3 or extents[1] <= FLAT * extents[0]:
        return np.empty((0, 4))
    edges = np.unique(_qhull((vertices - middle) @ axes[:2].T).equations, axis=0)
    plane = np.append(axes[2], -axes[2] @ middle)  # and its other side: the same numbers, so that a ray is within both
    normals = edges[:, :2] @ axes[:2]
    return np.vstack([plane, -plane, np.column_stack([normals, edges[:, 2] - normals @ middle])])


def _is_flat(vertices: np.ndarray) -> bool:
    return bool(np.linalg.matrix_rank(vertices - vertices[0], tol=FLAT * np.ptp(vertices)) < 3)


def _thinned(points: np.ndarray, enough: int, small: float, large: float) -> tuple[np.ndarray, float]:
    """Return the numbers of the points that are kept, of a hull's vertices, and the distance of the farthest other."""
    kept = list(dict.fromkeys(int(k) for e in points.T for k in (e.argmin(), e.argmax())))
    while len(kept) <= points.shape[1]:  # the extremes along the axes may be fewer than a simplex
        kept.append(_farthest_from_span(points, kept))
    while True:
        outside = _outside(points, points[kept])
        outside[kept] = 0.0
        k = int(outside.argmax())
        if outside[k] <= small or (len(kept) >= enough and outside[k] <= large):
            return np.array(kept), max(float(outside[k]), 0.0)
        kept.append(k)


def _farthest_from_span(points: np.ndarray, kept: list[int]) -> int:
    """Return the point that is farthest from the plane, line or point through some of them."""
    from_first = points - points[kept[0]]
    _, extents, axes = np.linalg.svd(from_first[kept], full_matrices=False)
    span = axes[extents > FLAT * max(extents[0], 1e-300)]
    return int(np.linalg.norm(from_first - from_first @ span.T @ span, axis=1).argmax())


def hulls_of_file(
    uri: str,
    path: str | None,
    scale: Any,
    most: int | None = None,
    error: float | None = None,
    concavity: float | None = None,
) -> tuple[Thinned, ...]:
    """Return the hull of a mesh file [m], or with a concavity those of its convex parts.

    Of a file that did not change they are kept, on disk too.

    Raises:
        MissingExtraError: without the extra `mesh`, or for parts `decompose`.
        ParameterError: for a file that does not exist or cannot be read.
    """
    return _hulls_of_file(uri, path, tuple(scale), time_written(path), (most, error, concavity))


@lru_cache(KEPT)
def _hulls_of_file(uri: str, path: str | None, scale: Any, stamp: int, how: Any) -> tuple[Thinned, ...]:
    most, error, concavity = how

    def made() -> tuple[Thinned, ...]:
        surface = surface_of_file(uri, path)
        points = np.asarray(surface.vertices) * np.array(scale)
        parts = [points] if concavity is None else convex_parts(points, surface.faces, concavity)
        return tuple(hull_of_points(part, most, error) for part in parts)

    if not stamp or Path(str(path)).suffix.lower() not in WHOLE or mesh_reader(str(path)):
        return made()
    reading.note()
    key = _key(str(path), scale, how)
    if kept := disk_cache.load(key):
        return tuple(_unpacked(np.frombuffer(kept)))
    found = made()
    numbers = [[hull.error, len(hull.vertices), *hull.vertices.ravel()] for hull in found]
    disk_cache.save(key, np.concatenate(numbers).tobytes())
    return found


def _unpacked(numbers: np.ndarray) -> Iterator[Thinned]:
    """Yield hulls of numbers one after the other: the error, how many vertices, and these."""
    while len(numbers):
        error, count = float(numbers[0]), int(numbers[1])
        yield Thinned(numbers[2 : 2 + 3 * count].reshape(-1, 3), error)
        numbers = numbers[2 + 3 * count :]


def _key(path: str, *options: Any) -> str:
    """Return a digest of a mesh file's content, of how its hull is made, and by what."""
    digest = hashlib.sha256(repr((_makers(), Path(path).suffix, options)).encode())
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(2**20), b""):
            digest.update(block)
    return f"hull-{digest.hexdigest()}"


@lru_cache(1)
def _makers() -> tuple[str, ...]:
    from importlib.metadata import version  # takes long, and most processes need none of it

    others = (version(name) for name in ("numpy", "scipy", "trimesh", "coacd") if find_spec(name))
    return disk_cache.revision_of((__file__, mesh.__file__)), *others


# --- parts of a surface that are nearly convex: what a mesh with hollows collides as, if that is asked for ---
#
# The parts are cut by CoACD. Its concavity is a distance between a part and its hull, in parts of half the mesh's
# largest extent: the lower, the more parts.
#
# Source: Wei, Liu, Ling and Su, Approximate convex decomposition for 3D meshes with collision-aware concavity and tree
# search (2022).

CONCAVITY = 0.01, 1.0  # what CoACD takes
SEED = 0  # of its search: the same parts every time


def convex_parts(points: np.ndarray, triangles: Any, concavity: float) -> list[np.ndarray]:
    """Return the vertices of each part, shapes (n, 3) [m], of a surface of points (n, 3) [m] and triangles (m, 3).

    Raises:
        MissingExtraError: without the extra `decompose`.
        ParameterError: for a concavity that is not from 0.01 to 1, for points that are not finite, and
            for a surface of which nothing is left.
    """
    low, high = CONCAVITY
    if not low <= concavity <= high:
        raise ParameterError("concavity", got=concavity, expected=f"a number from {low:g} to {high:g}")
    if not np.isfinite(points).all():
        raise ParameterError("points of a mesh", got="some that are not finite", expected="finite numbers [m]")
    coacd = package("coacd", "cutting a mesh into convex parts", "decompose")
    coacd.set_log_level("error")
    cut = coacd.run_coacd(coacd.Mesh(points, np.asarray(triangles)), threshold=float(concavity), seed=SEED)
    found = [np.asarray(part) for part, _ in cut if len(part)]
    if not found:
        got = f"no part of {len(triangles)} triangles"
        raise ParameterError("convex parts of a mesh", got=got, expected="a surface that encloses a volume")
    return found
