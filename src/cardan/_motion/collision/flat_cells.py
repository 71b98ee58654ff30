"""Where a surface of triangles is one plane: cells of its x-y plane, each with how far around it that is so.

The planes are those in which a hundredth of the surface is, seen from above, or more. A cell is free for one of them if
no other face is beside it, but for those that are a depth below all of the plane, and no side that only one face in the
plane has. So the faces in the plane cover all of a free cell, or nothing; and of its free neighbours as well. Those
with the middle of a face are covered, and what is free around them. A shape above a square of such cells, and not so
deep, meets the plane alone. Of several planes a cell has the one that goes on the farthest around it.

Cost: 30 operations and a number read; of several planes, eight more.
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
from cardan._motion.collision.triangle_grid import SLACK, Face, Features, Ground, Level, ground_of
from cardan._robot.geometry.shapes import TriangleMesh
from cardan._robot.geometry.triangles import joins_of, sides_of, welded

SIDE = 64, 256  # cells along a side, at least and at most
ALIKE = 1e-6  # by how much normals, and distances in sizes of the surface, differ of faces whose areas are summed up
SHARE = 0.01  # of the surface, seen from above: what is in a plane that is looked at, at least
DEEP = 1e-3  # of the surface's size: how deep others are, at least, that are below the plane and not beside
IN_PLANE = 1e-11  # of the surface's size: how far from a plane faces are that are in it


class FlatCells(NamedTuple):
    level: Level
    rings: Table  # of each cell, how many around it are in one plane to each side; -1 if it is not
    which: Table  # of each cell, the number of that plane
    planes: Features  # a point of each plane, its normal, and the depth below it from which on there may be others [m]

    def below(self, at: Vector3, around: Vector3) -> tuple[Any, Face]:
        """Return whether the surface is one plane for what is in a box of that middle and half sides, and the plane."""
        level = self.level
        place = level.row(at.y) * level.columns + level.column(at.x)
        plane, depth = self.plane_of(place)
        lowest, rings = plane.height(at) - Vector3(*map(absolute, plane.normal)).dot(around), cell(self.rings, place)
        beside = around.x * level.per_x <= rings, around.y * level.per_y <= rings
        return reduce(logical_and, (*beside, lowest > -depth)), plane

    def plane_of(self, place: Scalar) -> tuple[Face, Scalar]:
        """Return the plane of a cell, and its depth."""
        numbers: Any = self.planes.table.numbers.tolist()
        if len(numbers) > self.planes.stride:
            k = cell(self.which, place)
            numbers = [self.planes.number(k, e) for e in range(self.planes.stride)]
        point, normal = Vector3(*numbers[:3]), Vector3(*numbers[3:6])
        return Face([point], normal), numbers[6]


class _Surface(NamedTuple):
    """The faces that planes are looked for in."""

    corners: np.ndarray  # (n, 3, 3)
    normals: np.ndarray  # (n, 3)
    seen: np.ndarray  # (n,), twice the area seen from above [m^2]; negative from below
    low: np.ndarray  # (3,)
    high: np.ndarray
    size: float

    @staticmethod
    def of(ground: Ground) -> _Surface:
        rows = ground.faces.features
        corners = rows.table.numbers.reshape(-1, rows.stride)[:, :9].reshape(-1, 3, 3)
        areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals = areas / np.linalg.norm(areas, axis=-1, keepdims=True)
        return _Surface(corners, normals, areas[:, 2], np.array([*ground.low]), np.array([*ground.high]), ground.size)

    def heights(self, first: int) -> np.ndarray:
        """Return how far all corners are above the plane of a face, (n, 3) [m]."""
        return ((self.corners - self.corners[first, 0]) * self.normals[first]).sum(axis=-1)

    def in_plane(self, first: int) -> np.ndarray:
        """Return which faces are in the plane of one, (n,)."""
        faces_up = (self.normals * self.normals[first]).sum(axis=-1) > 0.0
        return (np.abs(self.heights(first)).max(axis=1) <= IN_PLANE * self.size) & faces_up

    def planes(self) -> list[int]:
        """Return a face of each plane in which there are many, the largest one; that of most faces first."""
        off = (self.normals * (self.corners[:, 0] - self.low)).sum(axis=-1) / self.size
        key = (self.normals * (1.7, 2.3, 5.9)).sum(axis=-1) + off  # nearly one for each plane
        kind = np.unique(np.round(key / ALIKE), return_inverse=True)[1]
        total = np.bincount(kind, np.maximum(self.seen, 0.0))
        are_many = (total > 0.0) & (total >= SHARE * total.sum())
        firsts, is_left = [], self.seen > 0.0
        for k in np.argsort(-total, kind="stable")[: are_many.sum()]:
            first = int(np.where(kind == k, self.seen, -1.0).argmax())
            if is_left[first]:  # one plane may have several of these keys
                firsts.append(first)
                is_left &= ~self.in_plane(first)
        return firsts

    def rings(self, first: int, count: int) -> tuple[np.ndarray, float]:
        """Return how many of so many cells a side are in the plane of a face around each, and the depth below it."""
        own, top = self.in_plane(first), self.heights(first).max(axis=1)
        deep = top < -DEEP * self.size
        points, faces = welded(self.corners[own].reshape(-1, 3), np.arange(3 * own.sum()).reshape(-1, 3))
        sides = sides_of(faces)
        rims = points[sides[joins_of(sides).across < 0]]
        free = np.zeros((count, count), bool)
        free[1:-1, 1:-1] = True
        slack = SLACK * max(self.size, float(np.abs([self.low, self.high]).max()))
        for beside in (self.corners[~own & ~deep], rims):
            lowest, highest = beside.min(axis=1) - slack, beside.max(axis=1) + slack
            free &= ~_within(self._cells(lowest, count), self._cells(highest, count), count)
        covered = np.zeros_like(free)
        column, row = self._cells(self.corners[own].mean(axis=1), count).T
        covered[row, column] = free[row, column]
        while ((more := _grown(covered) & free) != covered).any():
            covered = more
        rings = np.full(free.shape, -1.0)
        while covered.any():
            rings += covered
            covered = ~_grown(~covered)
        return rings, float(-top[deep].max(initial=-FAR))

    def _cells(self, points: np.ndarray, count: int) -> np.ndarray:
        return np.clip((points[..., :2] - self.low[:2]) * self.per(count), 0, count - 1).astype(int)

    def per(self, count: int) -> np.ndarray:
        """Return how many cells there are in a metre along x and y."""
        return count / np.maximum(self.high - self.low, ALIKE * self.size)[:2]


@known_of_each
def flat_cells(mesh: TriangleMesh) -> FlatCells | None:
    """Return the cells of a surface, if any is in a plane."""
    surface = _Surface.of(ground_of(mesh))
    firsts = surface.planes()
    if not firsts:
        return None
    # Of several planes some are small: then cells are.
    count = int(np.clip(np.sqrt(len(surface.corners)), *SIDE)) if len(firsts) == 1 else SIDE[1]
    rings, depths = zip(*(surface.rings(first, count) for first in firsts), strict=True)
    most = np.max(rings, axis=0)
    if most.max() < 0.0:
        return None
    low, high = surface.low, surface.high
    level = Level(*map(float, (*low[:2], *surface.per(count), count, count, 0, 0, 0, low[2], high[2])))
    planes = np.column_stack([surface.corners[firsts, 0], surface.normals[firsts], depths])
    return FlatCells(level, Table(most), Table(np.argmax(rings, axis=0)), Features(Table(planes), planes.shape[1]))


def _within(starts: np.ndarray, ends: np.ndarray, count: int) -> np.ndarray:
    """Return which of so many cells a side are in any of some rectangles, (n, 2) their first and last cells."""
    steps = np.zeros((count + 1, count + 1), int)
    (left, bottom), (right, top) = starts.T, ends.T + 1
    for row, column, step in ((bottom, left, 1), (bottom, right, -1), (top, left, -1), (top, right, 1)):
        np.add.at(steps, (row, column), step)
    return steps.cumsum(axis=0).cumsum(axis=1)[:count, :count] > 0


def _grown(cells: np.ndarray) -> np.ndarray:
    """Return the cells and those around them; at the ends all are alike."""
    for axis in range(2):
        cells = cells | np.roll(cells, 1, axis) | np.roll(cells, -1, axis)
    return cells
