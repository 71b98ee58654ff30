"""Boxes for links that have nothing to draw: from the body's origin to all that hangs on it."""

from __future__ import annotations

import numpy as np

from cardan._algebra.spatial import SE3, Vector3
from cardan._robot.geometry.shapes import Box, Shape
from cardan._robot.model import Model

THICKNESS = 0.12
"""Of a box, as a share of the link's length: thin enough that neighbours can be told apart."""
LEAST = 0.01
"""Thickness of a box [m] where a model has no lengths at all."""


def link_boxes(model: Model, bodies: list[str]) -> list[Shape]:
    """Return a box for each body that has an extent or a mass."""
    points = {body: extent_points(model, body) for body in bodies}
    reach = max((float(np.abs(found).max(initial=0.0)) for found in points.values()), default=0.0)
    least = max(0.2 * THICKNESS * reach, LEAST * (reach == 0.0))
    return [_box(body, found, least) for body, found in points.items() if len(found) > 1]


def extent_points(model: Model, body: str) -> np.ndarray:
    """Return the origins of a body, of the joints it carries, and its centre of mass, in its axes, shape (n, 3) [m]."""
    connections = (*model.connections, *model.closures)
    found = [c.parent_pose.translation for c in connections if c.parent == body]
    inertia = model.body(body).inertia
    if inertia is not None and inertia.mass > 0.0:
        found.append(inertia.com)
    return np.array([(0.0, 0.0, 0.0), *(tuple(map(float, p)) for p in found)])


def _box(body: str, points: np.ndarray, least: float) -> Shape:
    low, high = points.min(axis=0), points.max(axis=0)
    margin = max(0.5 * THICKNESS * float((high - low).max()), least)
    size, centre = high - low + 2.0 * margin, 0.5 * (low + high)
    return Shape(body, "visual", Box(tuple(size)), SE3(None, Vector3(*map(float, centre))))
