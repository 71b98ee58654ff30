"""What programs read of a surface of triangles: its features, in grids over its x-y plane, as tables.

Each feature stands once, in the cell of the middle of the box about it. So those that may be above a rectangle are in
the cells of that rectangle, made larger by half the largest box. The features are in the order of their cells, row by
row: so these are found by two numbers for each row. There is a level for each size of features, the next one four times
as large.

Source: Ericson, Real-Time Collision Detection (2005), section 7.2.1, for grids of several sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.cell import Table, cell
from cardan._algebra.arrays.repeat import repeat_while
from cardan._algebra.scalar import floor, maximum, minimum
from cardan._algebra.spatial import Scalar, Vector3
from cardan._motion.collision.known_tables import made_once
from cardan._robot.geometry.shapes import TriangleMesh
from cardan._robot.geometry.triangles import features_of

SLACK = 1e-6  # of the size of a surface: by how much boxes are larger, so that single precision loses nothing
USUAL, RATIO = 2.0, 4.0  # sizes of the first level, in the usual size, and of each further one in those before
CELLS = 4  # at most, for each feature of a level


class Level(NamedTuple):
    """A grid, of numbers or of what is read of them."""

    x: Any  # where its first cell begins [m]
    y: Any
    per_x: Any  # cells in a metre
    per_y: Any
    columns: Any
    rows: Any
    first: Any  # the place of its first cell in `firsts`
    half_x: Any  # of the largest box [m]
    half_y: Any
    low: Any  # of all boxes [m]
    high: Any

    def column(self, x: Scalar) -> Scalar:
        """Return the number of the column that a coordinate is in; or the nearest."""
        return minimum(maximum(floor((x - self.x) * self.per_x), 0.0), self.columns - 1.0)

    def row(self, y: Scalar) -> Scalar:
        return minimum(maximum(floor((y - self.y) * self.per_y), 0.0), self.rows - 1.0)


class Grid(NamedTuple):
    """The tables of features of one kind."""

    features: Table  # their numbers, in the order of the cells
    stride: int  # numbers of a feature
    levels: tuple[Level, ...]
    firsts: Table  # of each cell, and behind the last of a level, the number of its first feature
    rows: int  # of the level that has most
    most: int  # features of a row, at most

    def numbers(self, k: Scalar, start: int, count: int) -> list[Vector3]:
        """Return some numbers of a feature, three by three."""
        place = k * float(self.stride)
        found = [cell(self.features, place + float(start + e)) for e in range(count)]
        return [Vector3(*found[e : e + 3]) for e in range(0, count, 3)]


class Ground(NamedTuple):
    """What is known of a surface; without edges or corners that stand out, there are no grids of them."""

    faces: Grid
    edges: Grid | None
    corners: Grid | None
    low: Vector3  # the least corner of the box about all [m]
    high: Vector3
    size: float  # of that box [m]


@made_once
def ground_of(mesh: TriangleMesh) -> Ground:
    features = features_of(*mesh.surface())
    low, high = features.boxes[0][:, 0].min(axis=0), features.boxes[0][:, 1].max(axis=0)
    size = float(np.linalg.norm(high - low))
    slack = SLACK * max(size, float(np.abs([low, high]).max()))
    kinds = zip((features.faces, features.edges, features.corners), features.boxes, strict=True)
    faces, *others = (_grid(rows, boxes, slack) if len(rows) else None for rows, boxes in kinds)
    edges, corners = others
    assert faces is not None  # a surface has a face with an area
    ends = Vector3(*map(float, low - slack)), Vector3(*map(float, high + slack))
    return Ground(faces, edges, corners, *ends, size)


def _grid(rows: np.ndarray, boxes: np.ndarray, slack: float) -> Grid:
    middles, halves = boxes.mean(axis=1)[:, :2], 0.5 * np.ptp(boxes, axis=1)[:, :2] + slack
    sizes = halves.max(axis=1)
    step = np.maximum(np.ceil(np.log(sizes / (USUAL * np.median(sizes))) / np.log(RATIO)), 0.0)
    levels, firsts, order = [], [], []
    for own in (np.flatnonzero(step == k) for k in np.unique(step)):
        bottom, top = boxes[own, 0, 2].min() - slack, boxes[own, 1, 2].max() + slack
        level, cells = _level(middles[own], halves[own], (bottom, top), sum(map(len, firsts)))
        by_cell = np.argsort(cells, kind="stable")
        places = np.searchsorted(cells[by_cell], np.arange(int(level.columns) * int(level.rows) + 1))
        firsts.append(sum(map(len, order)) + places)
        order.append(own[by_cell])
        levels.append(level)
    of_row = (np.diff(e[:: int(level.columns)]).max() for e, level in zip(firsts, levels, strict=True))
    most = int(max(level.rows for level in levels)), max(*map(int, of_row), 1)
    table, start = Table(rows[np.concatenate(order)]), Table(np.concatenate(firsts))
    return Grid(table, rows.shape[1], tuple(levels), start, *most)


def _level(
    middles: np.ndarray, halves: np.ndarray, heights: tuple[float, float], first: int
) -> tuple[Level, np.ndarray]:
    """Return a grid of cells half as large as the largest box, or larger, and the cell of each feature."""
    low, half = middles.min(axis=0), halves.max(axis=0)
    extent = middles.max(axis=0) - low + 1e-12 + 1e-6 * half
    fewer = max(float(np.sqrt((extent / half).prod() / (CELLS * len(middles)))), 1.0)
    counts = np.ceil(extent / (half * fewer)).astype(int)
    counts = np.minimum(counts, CELLS * len(middles))  # of what is in a line
    per = counts / extent
    columns, rows = (np.minimum((middles - low) * per, counts - 1).astype(int)).T
    numbers = *low, *per, *counts, first, *half, *heights
    return Level(*map(float, numbers)), rows * counts[0] + columns


def on_levels(grid: Grid, body: Callable[..., Any], state: Any) -> Any:
    """Return what `body(level, state)` leaves after all levels; of several, they are read from a table."""
    if len(grid.levels) == 1:
        return body(grid.levels[0], state)
    table, count = Table(grid.levels), len(Level._fields)

    def further(k: Scalar, state: Any) -> tuple[Scalar, Any]:
        level = Level(*(cell(table, k * float(count) + float(e)) for e in range(count)))
        return k + 1.0, body(level, state)

    zero = 0.0 * _first_number(state)  # no entry is a plain number, so that batches of NumPy's keep their shape
    return repeat_while(len(grid.levels), lambda k, _: k < float(len(grid.levels)), further, zero, state)[1]


def in_row(
    grid: Grid, level: Level, row: Scalar, columns: tuple[Scalar, Scalar], visited: Callable[..., Any], state: Any
) -> Any:
    """Return what `visited(k, state)` leaves after the features of one row, from one column to another."""
    from_row = level.first + row * level.columns
    first, end = cell(grid.firsts, from_row + columns[0]), cell(grid.firsts, from_row + columns[1] + 1.0)

    def further(k: Scalar, state: Any) -> tuple[Scalar, Any]:
        return k + 1.0, visited(k, state)

    return repeat_while(grid.most, lambda k, _: k < end, further, first, state)[1]


def _first_number(values: Any) -> Scalar:
    while isinstance(values, (tuple, list)):
        values = values[0]
    return values
