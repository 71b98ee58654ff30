"""Pictures of worlds for Gymnasium's `render`, by matplotlib, without a window."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cardan._algebra.spatial import SE3, Vector3
from cardan._compiler.runtime.extras import package
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._reach.pictures import plot
from cardan._robot.description import HeightField, Shape
from cardan._robot.model import WORLD, Model

SIDE, DPI = 4.8, 100  # inches and dots an inch: 480 x 480 pixels
PATCH = 12  # cells of a height field along a side, about the robot: few enough to be drawn as they are


class Camera:
    """Draws a model always as large as the first time, with the robot in the middle."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._half: np.ndarray | None = None  # of the part of space that is seen [m], (3, 1)

    def picture(self, q: np.ndarray) -> np.ndarray:
        """Return colours of pixels, (height, width, 3) of uint8, for a configuration (nq,)."""
        figure = package("matplotlib.figure", "drawing", "plot").Figure(figsize=(SIDE, SIDE), dpi=DPI)
        canvas: Any = package("matplotlib.backends.backend_agg", "drawing", "plot").FigureCanvasAgg(figure)
        ax = figure.add_subplot(projection="3d")
        plot(self._about(np.asarray(q, float)), np.asarray(q, float), ax)
        limits = np.array([ax.get_xlim3d(), ax.get_ylim3d(), ax.get_zlim3d()])
        half = self._half = 0.5 * np.ptp(limits, axis=1, keepdims=True) if self._half is None else self._half
        x, y, z = limits.mean(axis=1, keepdims=True) + half * [-1.0, 1.0]
        ax.set(xlim3d=x, ylim3d=y, zlim3d=z)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()

    def _about(self, q: np.ndarray) -> Model:
        """Return the model with as much of the terrain as is near the first body."""
        here = Kinematics(self.model, tuple(q)).pose(self.model.body_names[0]).translation
        near = tuple(part for shape in self.model.shapes for part in parts_near(shape, here))
        return replace(self.model, annotations=replace(self.model.annotations, shapes=near))


def parts_near(shape: Shape, point: Vector3) -> list[Shape]:
    """Return what is drawn of a shape: of a height field of the world, the cells about a point of the world."""
    field = shape.geometry
    if shape.body != WORLD or not isinstance(field, HeightField):
        return [shape]
    heights, size = np.array(field.heights), np.array(field.size)
    cells = np.array(heights.shape)[::-1] - 1  # along x and y
    corner = np.round((np.array(shape.pose.inverse_act(point))[:2] / size + 0.5) * cells).astype(int)
    first, last = np.clip([corner - PATCH // 2, corner + PATCH // 2], 0, cells)
    if (first == last).any():
        return []
    part = heights[first[1] : last[1] + 1, first[0] : last[0] + 1]
    middle = SE3(translation=(*((first + last) / (2 * cells) - 0.5) * size, 0.0))
    geometry = HeightField(part.tolist(), ((last - first) / cells * size).tolist(), field.thickness)
    return [replace(shape, geometry=geometry, pose=shape.pose @ middle)]
