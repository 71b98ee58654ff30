"""What programs read of a height field: its heights as one table, and what bounds them, found once for each field."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cardan._algebra.arrays.cell import Table
from cardan._motion.collision.known_tables import made_once
from cardan._robot.geometry.shapes import HeightField


class Terrain(NamedTuple):
    table: Table  # the heights, row by row [m]
    rows: int  # along y
    columns: int  # along x
    highest: float  # [m]
    base: float  # where its matter ends below [m]


@made_once
def terrain_of(field: HeightField) -> Terrain:
    heights = np.array(field.heights)
    rows, columns = heights.shape
    base = float(heights.min()) - field.thickness
    return Terrain(Table(heights), rows, columns, float(heights.max()), base)
