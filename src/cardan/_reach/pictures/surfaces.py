"""The surface of a geometry, as facets of four corners each.

A triangle is a facet whose last two corners are one. Its corners run around it counter-clockwise, seen from outside.
"""

from __future__ import annotations

import os
from functools import lru_cache

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._robot.geometry.mesh import surface_of_file
from cardan._robot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, HeightField, Mesh, Plane, Sphere

AROUND = 16  # facets around an axis: smooth enough at the size of a robot's link in a picture
CELLS = 14  # of a grid along a mesh's longest side: a few hundred triangles are left of any mesh
_UNIT = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=float)


def facets_of(geometry: Geometry) -> np.ndarray:
    """Return the surface of a geometry in its own frame [m], shape (facets, 4, 3); a half space has none."""
    match geometry:
        case Box(size):
            return _cube() * (0.5 * np.array(size))
        case Sphere(radius):
            return radius * _ball()
        case Ellipsoid(radii):
            return _ball() * np.array(radii)
        case Cylinder(radius, length):
            z = 0.5 * length
            return _revolved([0.0, radius, radius, 0.0], [-z, -z, z, z])
        case Capsule(radius, length):
            along = np.linspace(-0.5 * np.pi, 0.5 * np.pi, AROUND // 2 + 2)
            z = radius * np.sin(along) + 0.5 * length * np.sign(along)
            return _revolved(radius * np.cos(along), z)
        case Mesh(uri, path, scale):
            # The time it was written: a file that was written anew is read again.
            stamp = os.stat(path).st_mtime_ns if path is not None and os.path.isfile(path) else None
            facets = _read_facets(uri, path, stamp) * np.array(scale)
            return facets if np.prod(scale) > 0.0 else facets[:, [1, 0, 2, 3]]  # a mirror runs round them backwards
        case Plane():
            return np.empty((0, 4, 3))
        case HeightField():
            vertices, triangles = geometry.surface()
            is_coarse = max(len(geometry.heights), len(geometry.heights[0])) <= CELLS + 1
            found = vertices[triangles] if is_coarse else coarsened(vertices, triangles)
            return found[:, [0, 1, 2, 2]]


def _cube() -> np.ndarray:
    sides = []
    for axis in range(3):
        for sign, corners in ((1.0, _UNIT), (-1.0, _UNIT[::-1])):
            side = np.full((4, 3), sign)
            side[:, [(axis + 1) % 3, (axis + 2) % 3]] = corners
            sides.append(side)
    return np.array(sides)


def _ball() -> np.ndarray:
    along = np.linspace(-0.5 * np.pi, 0.5 * np.pi, AROUND // 2 + 1)
    return _revolved(np.cos(along), np.sin(along))


def _revolved(radii: np.ndarray | list[float], heights: np.ndarray | list[float]) -> np.ndarray:
    """Return the surface that a line from below to above, at some distances from z, sweeps around z."""
    angle = np.linspace(0.0, 2.0 * np.pi, AROUND + 1)
    ring = np.stack([np.cos(angle), np.sin(angle), np.ones_like(angle)], axis=-1)
    points = np.stack([radii, radii, heights], axis=-1)[:, None, :] * ring
    below, above = points[:-1], points[1:]
    return np.stack([below[:, :-1], below[:, 1:], above[:, 1:], above[:, :-1]], axis=2).reshape(-1, 4, 3)


@lru_cache(maxsize=512)
def _read_facets(uri: str, path: str | None, stamp: int | None) -> np.ndarray:
    surface = surface_of_file(uri, path)
    if not np.isfinite(surface.vertices).all():
        raise ParameterError(f"mesh {uri!r}", got=f"{path}: a corner that is not finite", expected="finite numbers")
    facets = coarsened(np.asarray(surface.vertices, dtype=float), np.asarray(surface.faces))[:, [0, 1, 2, 2]]
    facets.setflags(write=False)
    return facets


def coarsened(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the triangles that are left when all vertices in one cell of a grid become their mean, (n, 3, 3).

    Source: Rossignac and Borrel, Multi-resolution 3D approximations for rendering complex scenes (1993).
    """
    low = vertices.min(axis=0)
    side = np.ptp(vertices, axis=0).max() / CELLS
    if not side > 0.0:
        return np.empty((0, 3, 3))
    cells = np.floor((vertices - low) / side).astype(int)
    _, cell_of, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    cell_of = cell_of.reshape(-1)
    means = np.stack([np.bincount(cell_of, vertices[:, k]) for k in range(3)], axis=-1) / count[:, None]
    corners = cell_of[faces]
    a, b, c = corners.T
    kept = corners[(a != b) & (b != c) & (c != a)]
    _, first = np.unique(np.sort(kept, axis=1), axis=0, return_index=True)
    return means[kept[first]]
