"""How far shapes reach along a direction d: h(d) = max over the shape of d . x, its support function.

It tells the gap to a plane of every shape, meshes too: a mesh reaches as far as the farthest of its vertices.

Source: Ericson, Real-Time Collision Detection (2005), section 9.5.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.spatial import Vector3
from cardan._robot.geometry.mesh import surface_of_file
from cardan._robot.geometry.shapes import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    HeightField,
    Hull,
    Mesh,
    Sphere,
    TriangleMesh,
)

SIDES = 15  # of the pyramid around a cone
KEPT = 256  # meshes whose vertices are kept: about those of eight robots


def reach(geometry: Geometry, direction: np.ndarray) -> np.ndarray:
    """Return how far a shape of a type in `SUPPORT` (half spaces have no end) reaches from its origin [m], shape (...).

    Directions are unit vectors in the shape's frame, shape (..., 3).
    """
    return SUPPORT[type(geometry)](geometry, np.asarray(direction, dtype=float))


def _of_corners(shape: Geometry, d: np.ndarray) -> np.ndarray:
    corners, swept = corners_of(shape)
    return (d @ corners.T).max(axis=-1) + np.linalg.norm(d * swept, axis=-1)


def _of_cone(cone: Cone, d: np.ndarray) -> np.ndarray:
    up = 0.5 * cone.length * d[..., 2]
    return np.maximum(up, cone.radius * np.hypot(d[..., 0], d[..., 1]) - up)


def _of_vertices(vertices: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return how far the farthest of points reaches, one direction after the other: there may be a million points."""
    rows = d.reshape(-1, 3)
    return np.array([(vertices @ row).max() for row in rows]).reshape(d.shape[:-1])


def _of_mesh(mesh: Mesh, d: np.ndarray) -> np.ndarray:
    stamp = Path(mesh.path).stat().st_mtime_ns if mesh.path is not None and Path(mesh.path).is_file() else 0
    return _of_vertices(_vertices(mesh.uri, mesh.path, stamp) * np.array(mesh.scale), d)


@lru_cache(KEPT)
def _vertices(uri: str, path: str | None, stamp: int) -> np.ndarray:
    """Return the vertices of a file as it was at a time, shape (n, 3) [m]."""
    return np.array(surface_of_file(uri, path).vertices, dtype=float)


SUPPORT: dict[type, Callable[[Any, np.ndarray], np.ndarray]] = {
    **dict.fromkeys((Box, Sphere, Ellipsoid, Cylinder, Capsule, Hull), _of_corners),
    Cone: _of_cone,
    Mesh: _of_mesh,
    TriangleMesh: lambda g, d: _of_vertices(np.array(g.vertices), d),
    HeightField: lambda g, d: _of_vertices(np.asarray(g.surface()[0], dtype=float), d),
}


def corners_of(shape: Geometry) -> tuple[np.ndarray, tuple[float, ...]]:
    """Return corners (n, 3) and radii (3,) of an ellipsoid [m]: swept over their hull it is a shape with an end.

    Of a cylinder that is a disc along its axis, of a capsule a ball. Of a cone it is the pyramid of 15 sides around it,
    which reaches up to 2.3 % of the radius farther.
    """
    if isinstance(shape, Cone):
        shape = Hull.cone(float(shape.radius) / math.cos(math.pi / SIDES), float(shape.length), SIDES)
    if isinstance(shape, Hull):
        return np.array(shape.vertices, dtype=float), (0.0, 0.0, 0.0)
    if isinstance(shape, Box):
        return 0.5 * np.array(shape.size, dtype=float) * list(product((-1.0, 1.0), repeat=3)), (0.0, 0.0, 0.0)
    along = 0.5 * float(getattr(shape, "length", 0.0))
    return np.array([[0.0, 0.0, -along], [0.0, 0.0, along]]), SWEPT[type(shape)](shape)


SWEPT: dict[type, Callable[[Any], tuple[float, ...]]] = {
    Sphere: lambda shape: (shape.radius,) * 3,
    Capsule: lambda shape: (shape.radius,) * 3,
    Cylinder: lambda shape: (shape.radius, shape.radius, 0.0),
    Ellipsoid: lambda shape: tuple(shape.radii),
}


# --- the box about a shape; sizes may be symbols ---


def box_about(shape: Geometry) -> tuple[Vector3, Vector3]:
    """Return the middle and the half sides of the box about a shape that has an end, in its frame [m]."""
    if isinstance(shape, Hull):
        low, high = Vector3(*shape.low), Vector3(*shape.high)
        return (low + high) * 0.5, (high - low) * 0.5
    return Vector3.zero(), HALF[type(shape)](shape)


HALF: dict[type, Callable[[Any], Vector3]] = {
    Sphere: lambda shape: Vector3(shape.radius, shape.radius, shape.radius),
    Capsule: lambda shape: Vector3(shape.radius, shape.radius, shape.radius + 0.5 * shape.length),
    **dict.fromkeys((Cylinder, Cone), lambda shape: Vector3(shape.radius, shape.radius, 0.5 * shape.length)),
    Ellipsoid: lambda shape: Vector3(*shape.radii),
    Box: lambda shape: Vector3(*shape.size) * 0.5,
}
