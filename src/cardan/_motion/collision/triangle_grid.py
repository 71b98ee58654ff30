"""What programs read of a surface of triangles: its faces, in grids over its x-y plane, as tables.

Each face stands once, in the cell of the middle of the box about it. So those that may be above a rectangle are in the
cells of that rectangle, made larger by half the largest box. The faces are in the order of their cells, row by row: so
these are found by two numbers for each row. There is a level for each size of faces, the next one four times as large.

Edges and corners that stand out are listed with one face each, in the order of the faces.

Source: Ericson, Real-Time Collision Detection (2005), section 7.2.1, for grids of several sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.cell import Table, cell
from cardan._algebra.arrays.repeat import repeat_while
from cardan._algebra.by_identity import known_of_each
from cardan._algebra.scalar import clip, floor, logical_and, logical_or, maximum, minimum, sqrt, where
from cardan._algebra.spatial import Scalar, Vector3
from cardan._motion.collision.candidate import FAR, select
from cardan._motion.collision.waiting import Pending
from cardan._robot.geometry.shapes import TriangleMesh
from cardan._robot.geometry.triangles import features_of

SLACK = 1e-6  # of the size of a surface: by how much boxes are larger, so that single precision loses nothing
USUAL, RATIO = 2.0, 4.0  # sizes of the first level, in the usual size, and of each further one in those before
STEEP = math.tan(math.radians(20.0))
UPWARDS = [Vector3(x, y, 1.0) for x, y in ((0.0, 0.0), (STEEP, 0.0), (-STEEP, 0.0), (0.0, STEEP), (0.0, -STEEP))]
"""Directions along which it is known how far each face reaches."""
CELLS = 4  # at most, for each face of a level
AT_ONCE = 4  # faces that are looked at together: reads of one do not wait for those of another


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


class Features(NamedTuple):
    """The numbers of features of one kind, in a table."""

    table: Table
    stride: int  # numbers of a feature

    def number(self, k: Scalar, place: int) -> Scalar:
        """Return a number of a feature."""
        return cell(self.table, k * float(self.stride) + float(place))

    def vectors(self, k: Scalar, start: int, count: int) -> list[Vector3]:
        """Return some numbers of a feature, three by three."""
        return [Vector3(*(self.number(k, start + 3 * e + x) for x in range(3))) for e in range(count)]


class Face(NamedTuple):
    """A triangle by its corners and its unit normal, about which they run counter-clockwise."""

    corners: Sequence[Vector3]
    normal: Vector3

    @staticmethod
    def of(corners: Sequence[Vector3]) -> Face:
        a, b, c = corners
        m = (b - a).cross(c - a)
        return Face(corners, m * (1.0 / sqrt(m.norm_squared())))

    def height(self, p: Vector3) -> Scalar:
        """Return how far a point is above the plane [m]."""
        return self.normal.dot(p - self.corners[0])

    def nearest(self, p: Vector3) -> Vector3:
        """Return the point of the triangle nearest to a point."""
        foot = p - self.normal * self.height(p)
        best, least = foot, where(self.has(foot, 0.0), 0.0, FAR)
        for start, end in zip(self.corners, (*self.corners[1:], self.corners[0]), strict=True):
            side = end - start
            at = start + side * clip(side.dot(p - start) / side.norm_squared(), 0.0, 1.0)
            squared = (p - at).norm_squared()
            best, least = select(squared < least, at, best), minimum(squared, least)
        return best

    def has(self, p: Vector3, slack: Scalar) -> Any:
        """Return whether a point of the plane is on the triangle, or beside it by a slack at most [m]."""
        found: Any = True
        for out, start in zip(self.outwards(), self.corners, strict=True):
            found = logical_and(found, out.dot(p - start) <= slack * out.norm())
        return found

    def outwards(self) -> list[Vector3]:
        """Return for each corner the way across the side from there, out of the triangle, as long as the side."""
        a, b, c = self.corners
        return [side.cross(self.normal) for side in (b - a, c - b, a - c)]


class Grid(NamedTuple):
    """The faces, in the order of the cells."""

    features: Features
    levels: tuple[Level, ...]
    firsts: Table  # of each cell, and behind the last of a level, the number of its first face
    total: int  # faces of all levels
    rows: int  # of the level that has most
    most: int  # faces of a row, at most

    def face(self, k: Scalar) -> Face:
        return Face.of(self.features.vectors(k, 0, 3))

    def tops(self, k: Scalar) -> list[Scalar]:
        """Return how far a face reaches along each of the `UPWARDS`."""
        return [self.features.number(k, 9 + place) for place in range(len(UPWARDS))]

    def bound(self, k: Scalar) -> tuple[Vector3, Scalar]:
        """Return a point on a face, and the radius about it that holds the face."""
        place = 9 + len(UPWARDS)
        (middle,) = self.features.vectors(k, place, 1)
        return middle, self.features.number(k, place + 3)

    def range_of(self, level: Level, row: Scalar, columns: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        """Return the numbers of the first face of a row, from one column to another, and of that behind the last."""
        from_row = level.first + row * level.columns
        return cell(self.firsts, from_row + columns[0]), cell(self.firsts, from_row + columns[1] + 1.0)


class OfFaces(NamedTuple):
    """The edges, or the corners, that stand out: those of each face together."""

    features: Features
    firsts: Table  # of each face, and behind the last one, the number of its first one
    most: int  # of a face

    def range_of(self, face: Scalar) -> tuple[Scalar, Scalar]:
        return cell(self.firsts, face), cell(self.firsts, face + 1.0)


class Ground(NamedTuple):
    """What is known of a surface; there may be no edges or corners that stand out."""

    faces: Grid
    edges: OfFaces | None
    corners: OfFaces | None
    low: Vector3  # the least corner of the box about all [m]
    high: Vector3
    size: float  # of that box [m]


@known_of_each
def ground_of(mesh: TriangleMesh) -> Ground:
    found = features_of(*mesh.surface())
    corners = found.faces.reshape(-1, 3, 3)
    boxes = np.stack([corners.min(axis=1), corners.max(axis=1)], axis=1)
    low, high = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
    size = float(np.linalg.norm(high - low))
    slack = SLACK * max(size, float(np.abs([low, high]).max()))
    x, y, z = np.moveaxis(corners, -1, 0)
    # Without a BLAS, whose sums have other bits on other machines: these numbers are part of programs.
    tops = np.stack([(x * d.x + y * d.y + z * d.z).max(axis=1) for d in UPWARDS], axis=1)
    middles = corners.mean(axis=1)
    radii = np.linalg.norm(corners - middles[:, None], axis=-1).max(axis=-1)
    faces, order = _grid(np.concatenate([found.faces, tops, middles, radii[:, None]], axis=1), boxes, slack)
    others = (_of_faces(found.edges, found.face_of_edge, order), _of_faces(found.corners, found.face_of_corner, order))
    ends = Vector3(*map(float, low - slack)), Vector3(*map(float, high + slack))
    return Ground(faces, *others, *ends, size)


def _of_faces(rows: np.ndarray, face: np.ndarray, order: np.ndarray) -> OfFaces | None:
    """Return features that are on faces, these being in that order now."""
    if not len(rows):
        return None
    place = np.empty(len(order), int)
    place[order] = np.arange(len(order))
    by_face = np.argsort(place[face], kind="stable")
    firsts = np.searchsorted(place[face][by_face], np.arange(len(order) + 1))
    return OfFaces(Features(Table(rows[by_face]), rows.shape[1]), Table(firsts), int(np.diff(firsts).max()))


def _grid(rows: np.ndarray, boxes: np.ndarray, slack: float) -> tuple[Grid, np.ndarray]:
    """Return the faces in grids, and their order there."""
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
    whole, start = np.concatenate(order), Table(np.concatenate(firsts))
    return Grid(Features(Table(rows[whole]), rows.shape[1]), tuple(levels), start, len(rows), *most), whole


def _level(
    middles: np.ndarray, halves: np.ndarray, heights: tuple[float, float], first: int
) -> tuple[Level, np.ndarray]:
    """Return a grid of cells half as large as the largest box, or larger, and the cell of each face."""
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
    """Return what `visited(k, state)` leaves after the faces of one row, from one column to another."""
    first, end = grid.range_of(level, row, columns)

    def further(k: Scalar, state: Any) -> tuple[Scalar, Any]:
        return k + 1.0, visited(k, state)

    return repeat_while(grid.most, lambda k, _: k < end, further, first, state)[1]


class Search(NamedTuple):
    """How far the rows of a level have been looked through, up to the last one."""

    row: Scalar  # the next one
    k: Scalar  # the next face
    end: Scalar  # of the row before
    last: Scalar

    @property
    def goes_on(self) -> Any:
        return logical_or(self.k < self.end, self.row <= self.last)


def find_faces(
    grid: Grid,
    level: Level,
    columns: tuple[Scalar, Scalar],
    begun: Search,
    found: Pending,
    is_wanted: Callable[[Scalar], Any],
) -> tuple[Search, Pending]:
    """Return how far faces are looked through until no more of those that are asked for may wait, and those."""

    def further(search: Search, found: Pending) -> tuple[Search, Pending]:
        row, k, end, last = search
        is_over = k >= end
        begin, behind = grid.range_of(level, row, columns)
        row, k, end = where(is_over, row + 1.0, row), where(is_over, begin, k), where(is_over, behind, end)
        for _ in range(AT_ONCE):
            found = found.with_one(logical_and(k < end, is_wanted(k)), k)
            k = k + 1.0
        return Search(row, k, end, last), found

    def going(search: Search, found: Pending) -> Any:
        return logical_and(search.goes_on, found.has_room(AT_ONCE))

    return repeat_while(grid.total + grid.rows, going, further, begun, found)


def _first_number(values: Any) -> Scalar:
    while isinstance(values, (tuple, list)):
        values = values[0]
    return values
