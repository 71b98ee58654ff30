"""Contacts as they are drawn: points, and arrows for forces, or for the normals where forces are not known."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.errors import ShapeError
from cardan.functions.arguments import check_finite, numeric_array
from cardan.geometry.contacts import Contacts
from cardan.viewer.triangles import unit_sphere

POINT_COLOUR, FORCE_COLOUR = (250, 190, 40), (60, 190, 90)
POINT, HEAD, SHAFT = 0.012, 0.02, 0.008
"""Radii of a point, and of an arrow's head and shaft, as shares of the robot's size."""


def touching(found: Contacts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of all candidates those that touch: worlds (n,), points (n, 3) [m], normals (n, 3)."""
    gaps = np.asarray(found.gap)
    rows = np.argwhere(gaps <= 0.0)
    at = tuple(rows.T)
    worlds = rows[:, 0] if gaps.ndim > 1 else np.zeros(len(rows), int)
    return worlds, np.asarray(found.point)[at].reshape(-1, 3), np.asarray(found.normal)[at].reshape(-1, 3)


def checked_vectors(name: str, value: Any, like: tuple[int, ...] | None = None) -> np.ndarray:
    """Return vectors of shape (n, 3), or (worlds, n, 3), as an array.

    Raises:
        ShapeError, DTypeError, NotFiniteError: if they are none, or not as many as there should be.
    """
    array = np.asarray(numeric_array("viewer.contacts", name, value), dtype=float)
    if array.ndim not in (2, 3) or array.shape[-1] != 3 or (like is not None and array.shape != like):
        expected = f"{like}, as the points" if like else "(n, 3), or (worlds, n, 3)"
        raise ShapeError("viewer.contacts", name, got=array.shape, expected=expected)
    check_finite("viewer.contacts", name, array.reshape(-1, 3), array.shape[:-1])
    return array


def draw_contacts(scene: Any, path: str, size: float, points: np.ndarray, arrows: np.ndarray) -> None:
    """Draw points (n, 3) and the arrows (n, 3) [m] that begin in them, instead of those that were there."""
    before = scene.get_handle_by_name(path)
    if before is not None:
        before.remove()
    node = scene.add_frame(path, show_axes=False)
    if not len(points):
        return
    turns = np.tile((1.0, 0.0, 0.0, 0.0), (len(points), 1))
    vertices, faces = unit_sphere()
    look = {"batched_colors": POINT_COLOUR, "lod": "off"}
    scene.add_batched_meshes_simple(f"{node.name}/points", POINT * size * vertices, faces, turns, points, **look)
    ends = np.stack([points, points + arrows], axis=1)[np.linalg.norm(arrows, axis=1) > 1e-3 * size]
    if len(ends):
        widths = {"shaft_radius": SHAFT * size, "head_radius": HEAD * size, "head_length": 2.5 * HEAD * size}
        scene.add_arrows(f"{node.name}/forces", ends, FORCE_COLOUR, **widths)
