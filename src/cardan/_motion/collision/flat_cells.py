"""Where a surface of triangles is one plane: cells of its x-y plane, each with how far around it that is so.

Of all planes it is the one in which most of the surface is, seen from above. A cell is free if no other face is beside
it, but for those that are a depth below all of the plane, and no side that only one face in the plane has. So the faces
in the plane cover all of a free cell, or nothing; and of its free neighbours as well. Those with the middle of a face
are covered, and what is free around them. A shape above a square of such cells, and not so deep, meets the plane alone.

Cost: 30 operations and a number read.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.cell import Table, cell
from cardan._algebra.by_identity import known_of_each
from cardan._algebra.scalar import absolute, logical_and
from cardan._algebra.spatial import Vector3
from cardan._motion.collision.candidate import FAR
from cardan._motion.collision.triangle_grid import SLACK, Face, Level, ground_of
from cardan._robot.geometry.shapes import TriangleMesh
from cardan._robot.geometry.triangles import joins_of, sides_of, welded

SIDE = 64, 256  # cells along a side, at least and at most
ALIKE = 1e-6  # by how much normals, and distances in sizes of the surface, differ of faces whose areas are summed up
DEEP = 1e-3  # of the surface's size: how deep others are, at least, that are below the plane and not beside
IN_PLANE = 1e-11  # of the surface's size: how far from a plane faces are that are in it


class FlatCells(NamedTuple):
    level: Level
    rings: Table  # of each cell, how many around it are in the plane to each side; -1 if it is not
    plane: Face
    depth: float  # below the plane, from which on there may be others [m]

    def has(self, at: Vector3, around: Vector3) -> Any:
        """Return whether the surface is the plane for what is in a box of that middle and half sides."""
        level, rings = self.level, cell(self.rings, self.level.row(at.y) * self.level.columns + self.level.column(at.x))
        lowest = self.plane.height(at) - Vector3(*map(absolute, self.plane.normal)).dot(around)
        beside = around.x * level.per_x <= rings, around.y * level.per_y <= rings
        return reduce(logical_and, (*beside, lowest > -self.depth))


@known_of_each
def flat_cells(mesh: TriangleMesh) -> FlatCells | None:
    """Return the cells of a surface, if any is in the plane."""
    rows, ground = ground_of(mesh).faces.features, ground_of(mesh)
    corners = rows.table.numbers.reshape(-1, rows.stride)[:, :9].reshape(-1, 3, 3)
    low, high, size = np.array([*ground.low]), np.array([*ground.high]), ground.size
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = areas / np.linalg.norm(areas, axis=-1, keepdims=True)
    off = (normals * (corners[:, 0] - low)).sum(axis=-1) / size
    key = (normals * (1.7, 2.3, 5.9)).sum(axis=-1) + off  # nearly one for each plane; the largest face has the plane
    kind = np.unique(np.round(key / ALIKE), return_inverse=True)[1]
    most = np.bincount(kind, np.maximum(areas[:, 2], 0.0)).argmax()
    first = np.where(kind == most, areas[:, 2], -1.0).argmax()
    height = ((corners - corners[first, 0]) * normals[first]).sum(axis=-1)
    top, faces_up = height.max(axis=1), (normals * normals[first]).sum(axis=-1) > 0.0
    own, deep = (np.abs(height).max(axis=1) <= IN_PLANE * size) & faces_up, top < -DEEP * size
    count = int(np.clip(np.sqrt(len(corners)), *SIDE))
    per = count / np.maximum(high - low, ALIKE * size)[:2]

    def cells_of(points: np.ndarray) -> np.ndarray:
        return np.clip((points[..., :2] - low[:2]) * per, 0, count - 1).astype(int)

    points, faces = welded(corners[own].reshape(-1, 3), np.arange(3 * own.sum()).reshape(-1, 3))
    sides = sides_of(faces)
    rims = points[sides[joins_of(sides).across < 0]]
    free = np.zeros((count, count), bool)
    free[1:-1, 1:-1] = areas[first, 2] > 0.0
    slack = SLACK * max(size, float(np.abs([low, high]).max()))
    for beside in (corners[~own & ~deep], rims):
        starts, ends = cells_of(beside.min(axis=1) - slack), cells_of(beside.max(axis=1) + slack)
        for (left, bottom), (right, top_row) in zip(starts.tolist(), ends.tolist(), strict=True):
            free[bottom : top_row + 1, left : right + 1] = False
    covered = np.zeros_like(free)
    column, row = cells_of(corners[own].mean(axis=1)).T
    covered[row, column] = free[row, column]
    while ((more := _grown(covered) & free) != covered).any():
        covered = more
    rings = np.full(free.shape, -1.0)
    while covered.any():
        rings += covered
        covered = ~_grown(~covered)
    if rings.max() < 0.0:
        return None
    level = Level(*map(float, (*low[:2], *per, count, count, 0, 0, 0, low[2], high[2])))
    plane = Face([Vector3(*map(float, corners[first, 0]))], Vector3(*map(float, normals[first])))
    return FlatCells(level, Table(rings), plane, float(-top[deep].max(initial=-FAR)))


def _grown(cells: np.ndarray) -> np.ndarray:
    """Return the cells and those around them; at the ends all are alike."""
    for axis in range(2):
        cells = cells | np.roll(cells, 1, axis) | np.roll(cells, -1, axis)
    return cells
