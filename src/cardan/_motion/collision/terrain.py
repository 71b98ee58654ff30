"""What programs read of a height field: its heights as one table, and what bounds them, found once for each field.

A cell, of column j and row i, has two triangles: where v - i > u - j, in cells, the upper one, of the greater y.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.cell import Table, cell
from cardan._algebra.by_identity import known_of_each
from cardan._algebra.scalar import clip, floor, sqrt, where
from cardan._algebra.spatial import Scalar, Vector3
from cardan._robot.geometry.shapes import HeightField


class Terrain(NamedTuple):
    table: Table  # the heights, row by row [m]
    rows: int  # along y
    columns: int  # along x
    highest: float  # [m]
    base: float  # where its matter ends below [m]


@known_of_each
def terrain_of(field: HeightField) -> Terrain:
    heights = np.array(field.heights)
    rows, columns = heights.shape
    base = float(heights.min()) - field.thickness
    return Terrain(Table(heights), rows, columns, float(heights.max()), base)


class Slopes(NamedTuple):
    """The plane of a triangle: its height at the cell's first corner, and by how much it rises along a cell [m]."""

    height: Scalar
    by_u: Scalar
    by_v: Scalar

    def normal(self, per_x: float, per_y: float) -> Vector3:
        """Return the unit normal upwards, with so many cells along a metre of x and of y."""
        a, b = self.by_u * per_x, self.by_v * per_y
        up = 1.0 / sqrt(1.0 + a * a + b * b)
        return Vector3(-a * up, -b * up, up)


def slopes(terrain: Terrain, j: Scalar, i: Scalar, is_upper: Any) -> Slopes:
    first, columns = i * float(terrain.columns) + j, float(terrain.columns)
    f00, f10, f01, f11 = (cell(terrain.table, first + by) for by in (0.0, 1.0, columns, columns + 1.0))
    return Slopes(f00, where(is_upper, f11 - f01, f10 - f00), where(is_upper, f01 - f00, f11 - f10))


def cell_at(x: Scalar, count: int) -> Scalar:
    """Return the number of the cell that a coordinate, in cells, is in along a side of so many heights."""
    return clip(floor(x), 0.0, float(count - 2))
