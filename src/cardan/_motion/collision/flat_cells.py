"""Where a surface of triangles is one plane: cells of its x-y plane, each with how far around it that is so.

A cell is flat if two things hold of the faces in one plane, which face one way:

    - no side of theirs that only one of them has is beside the cell; so they cover all of it, or nothing
    - they go around its middle, which the sides about it tell: then they cover it

and no other face is beside it, but for those that are a depth below the plane. A shape above a square of flat cells
that is not so deep meets what it meets on the plane.

Source: the winding number of a polygon (Hormann and Agathos, The point in polygon problem, 2001), of all rims.
Cost: 30 operations and nine numbers.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.cell import Table, cell
from cardan._algebra.by_identity import known_of_each
from cardan._algebra.scalar import absolute, logical_and
from cardan._algebra.spatial import Scalar, Vector3
from cardan._motion.collision.candidate import FAR
from cardan._motion.collision.triangle_grid import SLACK, Level, ground_of
from cardan._robot.geometry.shapes import TriangleMesh
from cardan._robot.geometry.triangles import joins_of, sides_of, welded

SIDE = 64, 256  # cells along a side, at least and at most
PLANES = 8  # those of most area
ALIKE = 1e-6  # by how much normals, and distances in sizes of the surface, differ that are summed up for that
MIXED = 1.7, 2.3, 5.9  # what normals are summed up by
IN_PLANE = 1e-11  # of the surface's size: how far from a plane faces are that are in it


class Flat(NamedTuple):
    """A plane, and how far below it nothing else is [m]."""

    point: Vector3
    normal: Vector3
    depth: Scalar

    def height(self, p: Vector3) -> Scalar:
        return self.normal.dot(p - self.point)


class FlatCells(NamedTuple):
    level: Level
    cells: Table  # of each cell, how many around it are flat to each side, or -1; and its plane
    planes: Table

    def below(self, at: Vector3, around: Vector3) -> tuple[Any, Flat]:
        """Return whether all is one plane for what is in a box of that middle and half sides, and the plane."""
        level = self.level
        k = 2.0 * (level.row(at.y) * level.columns + level.column(at.x))
        rings, first = cell(self.cells, k), 7.0 * cell(self.cells, k + 1.0)
        x, y, z, *n, depth = (cell(self.planes, first + float(e)) for e in range(7))
        plane = Flat(Vector3(x, y, z), Vector3(*n), depth)
        lowest = plane.height(at) - Vector3(*map(absolute, n)).dot(around)
        beside = around.x * level.per_x <= rings, around.y * level.per_y <= rings
        return reduce(logical_and, (*beside, lowest > -depth)), plane


@known_of_each
def flat_cells(mesh: TriangleMesh) -> FlatCells | None:
    """Return the cells of a surface, if any is flat."""
    faces = ground_of(mesh).faces.features
    corners = faces.table.numbers.reshape(-1, faces.stride)[:, :9].reshape(-1, 3, 3)
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    size, count = float(np.linalg.norm(high - low)), int(np.clip(np.sqrt(len(corners)), *SIDE))
    per = count / np.maximum(high - low, ALIKE * size)[:2]
    slack = SLACK * max(size, float(np.abs([low, high]).max()))
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = areas / np.linalg.norm(areas, axis=-1, keepdims=True)
    off = (normals * (corners[:, 0] - low)).sum(axis=-1) / size
    key = (normals * MIXED).sum(axis=-1) + off  # where two planes have one, the face that is taken tells
    kind = np.unique(np.round(key / ALIKE), return_inverse=True)[1]
    most = np.argsort(-np.bincount(kind, np.maximum(areas[:, 2], 0.0)), kind="stable")[:PLANES]
    cells, planes = np.tile((-1.0, 0.0), (count, count, 1)), list[np.ndarray]()
    for face in (np.where(kind == k, areas[:, 2], -1.0).argmax() for k in most):
        n = normals[face]
        height = ((corners - corners[face, 0]) * n).sum(axis=-1)
        own = (np.abs(height).max(axis=1) <= IN_PLANE * size) & ((normals * n).sum(axis=-1) > 0.0)
        others, top = ~own, height.max(axis=1)
        deep = others & (top < -ALIKE * size)
        rims = _rims(corners[own])
        beside = np.concatenate([_boxes(corners[others & ~deep]), _boxes(rims)]) + [[-slack], [slack]]
        in_cells = [(points[..., :2] - low[:2]) * per for points in (beside, rims)]
        rings = _rings((_count(in_cells[0], count) == 0) & (_layers(in_cells[1], count) > 0) & (n[2] > 0.0))
        cells[rings > cells[..., 0]] = 0.0, len(planes)
        cells[..., 0] = np.maximum(cells[..., 0], rings)
        planes.append(np.array([*corners[face, 0], *n, -top[deep].max(initial=-FAR)]))
    if cells.max() < 0.0:
        return None
    level = Level(*map(float, (*low[:2], *per, count, count, 0, 0, 0, low[2], high[2])))
    return FlatCells(level, Table(cells), Table(planes))


def _rims(corners: np.ndarray) -> np.ndarray:
    """Return the sides (m, 2, 3) that no two of some faces share."""
    points, faces = welded(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
    sides = sides_of(faces)
    return points[sides[joins_of(sides).across < 0]]


def _boxes(points: np.ndarray) -> np.ndarray:
    return np.stack([points.min(axis=1), points.max(axis=1)], axis=1)


def _count(boxes: np.ndarray, count: int) -> np.ndarray:
    """Return how many of some boxes are beside each cell: sums of what begins and what ends."""
    steps = np.zeros((count + 1, count + 1))
    (left, right), (first, last) = np.clip(np.floor(boxes), 0, count - 1).astype(int).T
    for rows, columns, sign in (
        (first, left, 1),
        (first, right + 1, -1),
        (last + 1, left, -1),
        (last + 1, right + 1, 1),
    ):
        np.add.at(steps, (rows, columns), sign)
    return steps.cumsum(axis=0).cumsum(axis=1)[:-1, :-1]


def _layers(rims: np.ndarray, count: int) -> np.ndarray:
    """Return how often the rims go around the middle of each cell: by those to the right, upwards less downwards."""
    (x, x_end), (y, y_end) = rims.T
    layers = np.empty((count, count))
    for row in range(count):
        k = np.flatnonzero((y <= row + 0.5) != (y_end <= row + 0.5))
        at = x[k] + (x_end - x)[k] * ((row + 0.5 - y[k]) / (y_end - y)[k])
        to_left = np.clip(np.ceil(at - 0.5), 0, count).astype(int)
        sums = np.bincount(to_left, np.sign(y_end - y)[k], count + 1)
        layers[row] = sums[::-1].cumsum()[-2::-1]
    return layers


def _rings(is_flat: np.ndarray) -> np.ndarray:
    """Return how many cells around each are flat to each side; -1 where it is not, as it is not beyond the ends."""
    rings = np.full(is_flat.shape, -1.0)
    is_flat = is_flat.copy()
    is_flat[[0, -1]] = is_flat[:, [0, -1]] = False
    while is_flat.any():
        rings += is_flat
        for axis in range(2):
            is_flat &= np.roll(is_flat, 1, axis) & np.roll(is_flat, -1, axis)
    return rings
