"""A hull whose vertices are rows of a table: all hulls of a world share one program, which loops over them.

Vertices that are constants of a program are faster for one hull in many worlds. Thirty hulls that may meet one another
are 435 kinds of pairs then, each with a program of its own.

Cost: 16 operations a vertex and state, of which three read the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardan._algebra.arrays.cell import Table, cell
from cardan._algebra.arrays.repeat import repeat_while
from cardan._algebra.scalar import where
from cardan._algebra.spatial import Scalar, Vector3
from cardan._motion.collision.candidate import select
from cardan._robot.geometry.shapes import Hull


@dataclass(frozen=True, slots=True, eq=False)
class RowHull:
    """A hull by its rows; all but the table may be symbols."""

    table: Table  # x, y, z of each vertex, one after the other
    most: int  # vertices of any hull in the table
    first: Scalar  # the number of its first vertex
    count: Scalar
    mean: Vector3  # of its vertices
    low: Vector3  # corners of the box about it
    high: Vector3

    def farthest(self, d: Vector3, squares: float = 0.0) -> Vector3:
        """Return the vertex x with the greatest d . x + squares x . x, the first of equal ones."""
        last = self.first + self.count

        def looked_at(k: Scalar, best: Scalar, farthest: Vector3) -> tuple[Scalar, Scalar, Vector3]:
            x = self._vertex(k)
            along = d.dot(x) + squares * x.norm_squared() if squares else d.dot(x)
            better = along > best
            return k + 1.0, where(better, along, best), select(better, x, farthest)

        start = self._vertex(self.first)
        along = d.dot(start) + squares * start.norm_squared() if squares else d.dot(start)
        if self.most == 1:
            return start
        going = lambda k, *_: k < last  # noqa: E731
        return repeat_while(self.most - 1, going, looked_at, self.first + 1.0, along, start)[2]

    def _vertex(self, k: Scalar) -> Vector3:
        return Vector3(*(cell(self.table, 3.0 * k + float(e)) for e in range(3)))


class HullTable:
    """The vertices of several hulls as one table."""

    def __init__(self, hulls: Sequence[Hull]) -> None:
        self.table = Table([e for hull in hulls for vertex in hull.vertices for e in vertex])
        self.most = max(len(hull.vertices) for hull in hulls)
        self.rows: dict[Hull, list[float]] = {}
        first = 0
        for hull in hulls:
            columns = list(zip(*hull.vertices, strict=True))
            boxes = [sum(c) / len(c) for c in columns], [min(c) for c in columns], [max(c) for c in columns]
            self.rows[hull] = [float(first), float(len(hull.vertices)), *(e for box in boxes for e in box)]
            first += len(hull.vertices)

    def hull(self, numbers: Sequence[Any]) -> RowHull:
        """Return the hull of a row, whose numbers may be symbols."""
        first, count, *boxes = numbers
        return RowHull(self.table, self.most, first, count, *(Vector3(*boxes[k : k + 3]) for k in (0, 3, 6)))
