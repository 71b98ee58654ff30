"""How deep shapes are in terrain that is fixed in the world: by rays upwards from points of theirs to its surface.

A ray upwards from a point in the matter meets the surface from behind, at the distance t and with the normal n: then
the point is t n_z below the plane that it meets. What it meets from in front, or nothing, says that the point is
outside. Nor is it deep if it is outside after a step of `DEEP` to one of four sides, as beside a wall. The points are
the lowest ones of the shape, straight down and a little to four sides.

Where a surface of triangles is open, all below it is matter: nothing else says how thick it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from cardan._algebra.spatial import SE3, Vector3
from cardan._motion.collision.candidate import FAR, X, Y, Z
from cardan._motion.collision.rays import hit
from cardan._motion.collision.support_points import radius_of, support
from cardan._motion.collision.triangle_grid import UPWARDS
from cardan._robot.geometry.shapes import Geometry

DEEP = 0.01
"""From which depth on a start is warned of [m]: contacts as stiff as `Material`'s carry a tonne with less."""
SIDES = [X * DEEP, X * -DEEP, Y * DEEP, Y * -DEEP]


def depths_in_terrain(terrain: Geometry, shapes: Sequence[Geometry], poses: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return how deep each shape is in terrain [m], shape (...), at poses X_terrain_shape (..., 4, 4); 0 outside."""
    points = [p for both in zip(shapes, poses, strict=True) for p in _lowest(*both)]
    p = Vector3(*(np.stack(np.broadcast_arrays(*own)) for own in zip(*points, strict=True)))
    depth = _below(terrain, p)
    deep = depth > DEEP
    if deep.any():
        own = Vector3(*(e[deep] for e in p))
        depth[deep] *= reduce(np.logical_and, (_below(terrain, own + step) > 0.0 for step in SIDES))
    return list(depth.reshape(len(shapes), len(UPWARDS), *depth.shape[1:]).max(axis=1))


def _lowest(shape: Geometry, pose: np.ndarray) -> list[Vector3]:
    """Return the points of a shape that are the lowest along each of the `UPWARDS`."""
    X, found = SE3.of(pose), []
    for up in UPWARDS:
        down = X.rotation.transpose_apply(-up)
        found.append(X @ (support(shape, down) + down * (radius_of(shape) / up.norm())))
    return found


def _below(terrain: Geometry, p: Vector3) -> Any:
    """Return how far points are below the planes of what is above them; 0 if they are outside."""
    with np.errstate(divide="ignore", invalid="ignore"):  # faces along a ray, which it does not meet
        met = hit(terrain, p, Z)
    is_behind = (met.distance < 0.5 * FAR) & (met.normal.z > 0.0)
    depth: Any = met.distance * met.normal.z
    return np.where(is_behind, depth, 0.0)
