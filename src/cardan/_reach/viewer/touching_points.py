"""Contacts as they are drawn: points, and arrows for forces, or for the normals where forces are not known."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cardan._algebra.errors import ShapeError
from cardan._dynamics.call.arguments import check_finite, numeric_array
from cardan._reach.viewer.triangles import add_spheres
from cardan._robot.geometry.contacts import Contacts

POINT_COLOUR, FORCE_COLOUR = (250, 190, 40), (60, 190, 90)
# Radii of a point, and of an arrow's head and shaft, as shares of the robot's size.
POINT, HEAD, SHAFT = 0.012, 0.02, 0.008


def touching(found: Contacts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of all candidates those that touch: worlds (n,), points (n, 3) [m], normals (n, 3)."""
    gaps = np.asarray(found.gap)
    rows = np.argwhere(gaps <= 0.0)
    at = tuple(rows.T)
    worlds = rows[:, 0] if gaps.ndim > 1 else np.zeros(len(rows), int)
    return worlds, np.asarray(found.point)[at].reshape(-1, 3), np.asarray(found.normal)[at].reshape(-1, 3)


def checked_vectors(name: str, value: Any, like: tuple[int, ...] | None = None) -> np.ndarray:
    """Return vectors of shape (n, 3), or (worlds, n, 3), as an array; errors name what does not fit."""
    array = np.asarray(numeric_array("viewer.contacts", name, value), dtype=float)
    if array.ndim not in (2, 3) or array.shape[-1] != 3 or (like is not None and array.shape != like):
        expected = f"{like}, as the points" if like else "(n, 3), or (worlds, n, 3)"
        raise ShapeError("viewer.contacts", name, got=array.shape, expected=expected)
    check_finite("viewer.contacts", name, array.reshape(-1, 3), array.shape[:-1])
    return array


class TouchingPoints:
    """What is drawn of contacts, at a path of viser's scene."""

    def __init__(self, scene: Any, path: str) -> None:
        self._scene, self._path, self._balls, self._arrows = scene, path, None, None

    def draw(self, size: float, points: np.ndarray, arrows: np.ndarray) -> None:
        ends = np.stack([points, points + arrows], axis=1)[np.linalg.norm(arrows, axis=1) > 1e-3 * size]
        widths = {"shaft_radius": SHAFT * size, "head_radius": HEAD * size, "head_length": 2.5 * HEAD * size}
        balls = partial(add_spheres, self._scene, f"{self._path}/points", POINT * size, points, POINT_COLOUR)
        forces = partial(self._scene.add_arrows, f"{self._path}/forces", ends, FORCE_COLOUR, **widths)
        self._balls = _renewed(self._balls, "batched_positions", points, balls)
        self._arrows = _renewed(self._arrows, "points", ends, forces)


def _renewed(handle: Any, name: str, array: np.ndarray, make: Callable[[], Any]) -> Any:
    """Return what shows an array: moved where there are as many of them, so that nothing flickers; else made anew."""
    if handle is not None and len(getattr(handle, name)) == len(array):
        setattr(handle, name, array.astype(np.float32))
        return handle
    if handle is not None:
        handle.remove()
    return make() if len(array) else None
