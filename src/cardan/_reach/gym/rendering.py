"""Pictures of worlds for Gymnasium's `render`, by matplotlib, without a window."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan._compiler.runtime.extras import package
from cardan._reach.pictures import plot
from cardan._robot.model import Model

SIDE, DPI = 4.8, 100  # inches and dots an inch: 480 x 480 pixels


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
        plot(self.model, np.asarray(q, float), ax)
        limits = np.array([ax.get_xlim3d(), ax.get_ylim3d(), ax.get_zlim3d()])
        half = self._half = 0.5 * np.ptp(limits, axis=1, keepdims=True) if self._half is None else self._half
        x, y, z = limits.mean(axis=1, keepdims=True) + half * [-1.0, 1.0]
        ax.set(xlim3d=x, ylim3d=y, zlim3d=z)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()
