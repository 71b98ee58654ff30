"""What programs read of a height field: its heights as one table, and what bounds them, found once for each field."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.cell import Table
from cardan._robot.geometry.shapes import HeightField

KEPT = 16  # fields at most whose tables are kept for the next trace: a million heights take 8 MB


class Terrain(NamedTuple):
    table: Table  # the heights, row by row [m]
    rows: int  # along y
    columns: int  # along x
    highest: float  # [m]
    base: float  # where its matter ends below [m]


_KNOWN: dict[int, tuple[Any, Terrain]] = {}  # by the identity of the heights, which are held: hashing them takes long


def terrain_of(field: HeightField) -> Terrain:
    key = id(field.heights)
    if key not in _KNOWN:
        heights = np.array(field.heights)
        rows, columns = heights.shape
        base = float(heights.min()) - field.thickness
        if len(_KNOWN) >= KEPT:
            _KNOWN.clear()
        _KNOWN[key] = field.heights, Terrain(Table(heights), rows, columns, float(heights.max()), base)
    return _KNOWN[key][1]
