"""How far shapes reach along a direction d: h(d) = max over the shape of d . x, its support function.

It tells the gap to a plane of every shape, meshes too: a mesh reaches as far as the farthest of its vertices.

Source: Ericson, Real-Time Collision Detection (2005), section 9.5.2.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from cardan._algebra.spatial import Vector3
from cardan._robot.geometry.mesh import surface_of_file, time_written
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

KEPT = 256  # meshes whose vertices are kept: about those of eight robots


def reach(geometry: Geometry, direction: np.ndarray) -> np.ndarray:
    """Return how far a shape of a type in `SUPPORT` (half spaces have no end) reaches from its origin [m], shape (...).

    Directions are unit vectors in the shape's frame, shape (..., 3).
    """
    return SUPPORT[type(geometry)](geometry, np.asarray(direction, dtype=float))


def _of_cone(cone: Cone, d: np.ndarray) -> np.ndarray:
    up = 0.5 * cone.length * d[..., 2]
    return np.maximum(up, cone.radius * np.hypot(d[..., 0], d[..., 1]) - up)


def _of_vertices(vertices: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return how far the farthest of points reaches, one direction after the other: there may be a million points."""
    rows = d.reshape(-1, 3)
    return np.array([(vertices @ row).max() for row in rows]).reshape(d.shape[:-1])


@lru_cache(KEPT)
def _vertices(uri: str, path: str | None, stamp: int) -> np.ndarray:
    """Return the vertices of a file as it was at a time, shape (n, 3) [m]."""
    return np.array(surface_of_file(uri, path).vertices, dtype=float)


SUPPORT: dict[type, Callable[[Any, np.ndarray], np.ndarray]] = {
    Box: lambda g, d: 0.5 * np.abs(d) @ np.array(g.size, dtype=float),
    Sphere: lambda g, d: np.full(d.shape[:-1], float(g.radius)),
    Ellipsoid: lambda g, d: np.linalg.norm(d * np.array(g.radii, dtype=float), axis=-1),
    Cylinder: lambda g, d: g.radius * np.hypot(d[..., 0], d[..., 1]) + 0.5 * g.length * np.abs(d[..., 2]),
    Capsule: lambda g, d: g.radius + 0.5 * g.length * np.abs(d[..., 2]),
    Hull: lambda g, d: (d @ np.array(g.vertices).T).max(axis=-1),
    Cone: _of_cone,
    Mesh: lambda g, d: _of_vertices(_vertices(g.uri, g.path, time_written(g.path)) * np.array(g.scale), d),
    TriangleMesh: lambda g, d: _of_vertices(g.surface()[0], d),
    HeightField: lambda g, d: _of_vertices(np.asarray(g.surface()[0], dtype=float), d),
}


# --- the box about a shape; sizes may be symbols ---

SWEPT: dict[type, Callable[[Any], tuple[Any, Any, Any]]] = {
    **dict.fromkeys((Sphere, Capsule), lambda shape: (shape.radius,) * 3),
    **dict.fromkeys((Cylinder, Cone), lambda shape: (shape.radius, shape.radius, 0.0)),
    Ellipsoid: lambda shape: tuple(shape.radii),
}
"""Half the sides of the box about what is swept along the axis of a shape: a ball, a disc, or itself."""
PRIMITIVES = (Box, *SWEPT)
ENDING = (*PRIMITIVES, Hull)


def box_about(shape: Geometry) -> tuple[Vector3, Vector3]:
    """Return the middle and the half sides of the box about a shape that has an end, in its frame [m]."""
    if isinstance(shape, Hull):
        low, high = Vector3(*shape.low), Vector3(*shape.high)
        return (low + high) * 0.5, (high - low) * 0.5
    if isinstance(shape, Box):
        return Vector3.zero(), Vector3(*shape.size) * 0.5
    x, y, z = SWEPT[type(shape)](shape)
    return Vector3.zero(), Vector3(x, y, z + 0.5 * getattr(shape, "length", 0.0))
