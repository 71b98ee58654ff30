"""Triangles as ground: their check, and the features by which a body meets them, each in a row of a table.

A surface of triangles is met in three ways, by a point of a body on a face, by an edge that stands out, and by a corner
that stands out. Edges between faces in one plane and edges of grooves are no features: what slides over them meets the
faces alone. A side on which others end (a T-junction) is cut there, and each piece meets what is across it.

    face        its corners, counter-clockwise seen from outside
    edge        half the length, middle, direction, u of one face, u' of the other; it counts for normals n with
                n . u >= 0 and n . u' >= 0, which are those between both faces' own
    corner      place, and unit vectors along the edges there; it counts for normals with n . d <= 0 for each of them

At an edge of one face alone m takes the place of u'.

Source: the normal cones of polyhedra (Rockafellar, Convex Analysis, 1970, section 23), of the surface's convex parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.errors import ParameterError

MOST = 2**18
"""Triangles of one surface: three features each are then no more than a table of programs has room for."""
FLAT = 1e-6  # sine of the angle by which faces must stand out to make an edge
AROUND = 8  # edges of a corner that are kept: of more, the highest to each side
ON_SIDE = 1e-5  # of a side's length: how far beside it what ends on it may be, as files of single precision have it
NEARLY = 0.02  # sine by which no normal may be in the cone of a corner: it is looked at again for each contact


class Features(NamedTuple):
    """Rows of numbers of each kind; each edge and corner with the number of a face that it is on."""

    faces: np.ndarray  # (n, 9)
    edges: np.ndarray  # (m, 13)
    corners: np.ndarray  # (l, 3 + 3 (AROUND + 1))
    face_of_edge: np.ndarray  # (m,)
    face_of_corner: np.ndarray  # (l,)


class Joins(NamedTuple):
    """For each side: the one across it, which runs the other way; -1 if there is not one."""

    across: np.ndarray  # (m,)
    turned: int  # sides that both faces run along in one direction: one of these faces the wrong way


def checked_triangles(vertices: Any, triangles: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return rows of floats and of whole numbers, or raise `ParameterError`."""
    what = "vertices of a triangle mesh"
    expected = "an array (n, 3) of finite numbers [m]"
    points = table_of(what, vertices, "fiu", expected, _is_of_three).astype(float)
    if not np.isfinite(points).all():
        row = int(np.argwhere(~np.isfinite(points))[0, 0])
        raise ParameterError(what, got=f"{points[row].tolist()} in row {row}", expected="finite numbers [m]")
    what = "triangles of a triangle mesh"
    expected = f"an array (m, 3) of numbers of vertices, 1 to {MOST} rows"
    faces = table_of(what, triangles, "iu", expected, _is_of_three)
    if not 1 <= len(faces) <= MOST:
        hint = "Simplify the surface, cut it into several shapes, or use a HeightField."
        raise ParameterError(what, got=f"{len(faces)} triangles", expected=expected, hint=hint)
    outside = (faces < 0) | (faces >= len(points))
    if outside.any():
        row = int(np.argwhere(outside)[0, 0])
        expected = f"numbers from 0 to {len(points) - 1}, one for each vertex"
        raise ParameterError(what, got=f"{faces[row].tolist()} in row {row}", expected=expected)
    if not (doubled_areas(points, faces) > 0.0).any():
        raise ParameterError(what, got="triangles without area alone", expected="at least one with an area")
    return tuple(map(tuple, points.tolist())), tuple(map(tuple, faces.tolist()))


def table_of(what: str, given: Any, kinds: str, expected: str, fits: Callable[[int, int], bool]) -> np.ndarray:
    """Return rows of numbers as an array, if there are so many of so many; raise `ParameterError` for anything else."""
    try:
        array = np.asarray(given)
    except ValueError:
        raise ParameterError(what, got="rows that are not of one length", expected=expected) from None
    if array.ndim != 2 or not fits(*array.shape) or array.dtype.kind not in kinds:
        raise ParameterError(what, got=f"{array.dtype} of shape {array.shape}", expected=expected)
    return array


def _is_of_three(rows: int, columns: int) -> bool:
    return columns == 3


def doubled_areas(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return twice the area of each triangle; 0 where that is rounding."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    doubled = np.linalg.norm(np.cross(b - a, c - a), axis=-1)
    longest = np.max([np.linalg.norm(e, axis=-1) for e in (b - a, c - b, a - c)], axis=0)
    return np.where(doubled > 1e-12 * longest * longest, doubled, 0.0)


def welded(points: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices, each place once, and the triangles whose corners are in three places."""
    places, number = np.unique(points, axis=0, return_inverse=True)
    a, b, c = own = number.reshape(-1)[faces].T
    return places, own.T[(a != b) & (b != c) & (c != a)]


def sides_of(faces: np.ndarray) -> np.ndarray:
    """Return the sides of all faces by the vertices they run from and to, three for each face."""
    return np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2)


def joins_of(sides: np.ndarray) -> Joins:
    """Return which sides meet. Where more than two do, or their faces face different ways, none counts."""
    low, high = sides.min(axis=1), sides.max(axis=1)
    _, edge, count = np.unique(low * (sides.max() + 1) + high, return_inverse=True, return_counts=True)
    edge = edge.reshape(-1)
    order = np.argsort(edge, kind="stable")
    one, other = order[:-1], order[1:]
    paired = (edge[one] == edge[other]) & (count[edge[one]] == 2)
    one, other = one[paired], other[paired]
    opposed = sides[one, 0] == sides[other, 1]
    across = np.full(len(sides), -1)
    across[one[opposed]], across[other[opposed]] = other[opposed], one[opposed]
    return Joins(across, int((~opposed).sum()))


def is_closed(points: np.ndarray, faces: np.ndarray) -> bool:
    """Return whether two faces meet at each side, both from outside; seams may have their points twice."""
    whole = welded(points, faces)[1]
    return len(whole) > 0 and bool((joins_of(sides_of(whole)).across >= 0).all())


def features_of(vertices: Any, triangles: Any) -> Features:
    """Return the features of a surface. Edges beside slivers are none: what is behind these is not looked for."""
    points, faces = welded(np.asarray(vertices, dtype=float), np.asarray(triangles))
    corners = points[faces]
    along = np.roll(corners, -1, axis=1) - corners
    along /= np.linalg.norm(along, axis=-1, keepdims=True)
    is_real = doubled_areas(points, faces) > 0.0  # slivers only say what is beside what
    m = np.where(is_real[:, None], np.cross(along[:, 0], -along[:, 2]), 0.0)
    m /= np.where(is_real, np.linalg.norm(m, axis=-1), 1.0)[:, None]
    sides, whole = _cut_sides(points, sides_of(faces))
    along, face = along.reshape(-1, 3)[whole], whole // 3
    u = np.cross(along, m[face])
    across = joins_of(sides).across
    rises = np.einsum("ki,ki->k", u[across], m[face]) > FLAT
    stands_out = (across < 0) | (rises & (np.arange(len(sides)) < across))
    k = np.flatnonzero(stands_out & is_real[face])
    u_other = np.where(across[k, None] < 0, m[face[k]], u[across[k]])
    start, end = np.moveaxis(points[sides[k]], 1, 0)
    half = 0.5 * np.linalg.norm(end - start, axis=-1)[:, None]
    edges = np.concatenate([half, start + along[k] * half, along[k], u[k], u_other], axis=1)
    tips, first = np.unique(sides[k].T, return_index=True)
    is_pointed, around = _corners(points, sides, m[face], tips)
    of_corners = np.concatenate([points[tips], around.reshape(len(tips), -1)], axis=1)[is_pointed]
    number = np.cumsum(is_real) - 1  # of a face among the real ones
    on_face = number[face[k[first % max(len(k), 1)]][is_pointed]]
    return Features(corners[is_real].reshape(-1, 9), edges, of_corners, number[face[k]], on_face)


def _cut_sides(points: np.ndarray, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sides, cut where others end on them (T-junctions), in order; and which side each is a piece of.

    Only those that meet no other side whole are cut, and only by ends of such.
    """
    alone = np.flatnonzero(joins_of(sides).across < 0)
    ends = np.unique(sides[alone])
    side, end, part = _ends_on(points[sides[alone]], points[ends])
    starts = np.concatenate([sides[:, 0], ends[end]])
    whole = np.concatenate([np.arange(len(sides)), alone[side]])
    order = np.lexsort((np.concatenate([np.zeros(len(sides)), part]), whole))
    starts, whole = starts[order], whole[order]
    is_last = np.append(whole[1:] != whole[:-1], True)
    return np.stack([starts, np.where(is_last, sides[whole, 1], np.roll(starts, -1))], axis=1), whole


def _ends_on(sides: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs of a side and a point that is on it and is no end of it, and at which part of the side it is.

    Points are sorted by cells as large as a piece of a side, so those in the 27 cells about its middle are looked at.
    Sides are looked at in the more pieces, the more points there are: of a soup, a cell then holds few.
    """
    a, along = sides[:, 0], sides[:, 1] - sides[:, 0]
    length = np.linalg.norm(along, axis=-1)
    step = np.floor(np.log2(length / length.min(initial=np.inf)))
    found = [(np.empty(0, int), np.empty(0, int), np.empty(0))]
    pieces = 1 + int(np.cbrt(len(points)))
    for own, piece in product((np.flatnonzero(step == k) for k in np.unique(step)), range(pieces)):
        middles = a[own] + (piece + 0.5) / pieces * along[own]
        for some, end in _points_beside(middles, points, length[own].max() / pieces):
            side = own[some]
            off = points[end] - a[side]
            part = np.einsum("ni,ni->n", off, along[side]) / length[side] ** 2
            beside = np.linalg.norm(off - part[:, None] * along[side], axis=-1)
            is_on = (beside <= ON_SIDE * length[side]) & (part > ON_SIDE) & (part < 1.0 - ON_SIDE)
            is_on &= np.floor(part * pieces) == piece  # else it is found with the next piece, too
            found.append((side[is_on], end[is_on], part[is_on]))
    side, end, part = (np.concatenate(e) for e in zip(*found, strict=True))
    return side, end, part


def _points_beside(middles: np.ndarray, points: np.ndarray, size: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield pairs of a middle and a point: all within a size along each axis, a million at once or so."""
    low, most = points.min(axis=0), 2**20  # cells along an axis, whose numbers fit into one of 63 bits
    cell = max(size, float(np.ptp(points, axis=0).max()) / most)

    def number(p: np.ndarray) -> np.ndarray:
        x, y, z = np.floor((p - low) / cell).astype(int).T + 1
        return (x * 2 * most + y) * 2 * most + z

    cells = number(points)
    order = np.argsort(cells, kind="stable")
    cells = cells[order]
    for shift in ((x * 2 * most + y) * 2 * most for x in (-1, 0, 1) for y in (-1, 0, 1)):
        at = number(middles) + shift
        first = np.searchsorted(cells, at - 1)
        count = np.searchsorted(cells, at + 1, side="right") - first
        for some in np.array_split(np.arange(len(middles)), 1 + int(count.sum()) // (4 * MOST)):
            number_of = np.repeat(some, count[some])
            place = np.arange(len(number_of)) - np.repeat(np.cumsum(count[some]) - count[some], count[some])
            yield number_of, order[first[number_of] + place]


def _corners(points: np.ndarray, sides: np.ndarray, m: np.ndarray, tips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which of some vertices stand out, and unit vectors (n, AROUND + 1, 3) that bound their normals.

    They are those along the edges there, and that against the mean of the normals: what is behind a face is not met.
    A normal is given for each side.
    """
    up = np.zeros(points.shape)
    np.add.at(up, sides[:, 0], m)
    up /= np.maximum(np.linalg.norm(up, axis=-1, keepdims=True), 1e-300)
    ways = np.unique(np.concatenate([sides, sides[:, ::-1]]), axis=0)  # by the vertex they begin at
    ways = ways[np.isin(ways[:, 0], tips)]
    d = points[ways[:, 1]] - points[ways[:, 0]]
    d /= np.linalg.norm(d, axis=-1, keepdims=True)
    row = np.searchsorted(tips, ways[:, 0])
    first = np.searchsorted(row, np.arange(len(tips)))
    count = np.bincount(row, minlength=len(tips))
    rank = np.arange(len(row)) - first[row]
    around = np.repeat(d[first][:, None], AROUND + 1, axis=1) if len(tips) else np.empty((0, AROUND + 1, 3))
    few = rank < AROUND
    around[row[few], rank[few]] = d[few]
    for k in np.flatnonzero(count > AROUND):
        around[k, :AROUND] = _highest(d[first[k] : first[k] + count[k]], up[tips[k]])
    around[:, AROUND] = -up[tips]
    return _are_pointed(around), around


def _highest(d: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the unit vector that rises most along n of those to each of several sides."""
    x = np.cross(n, d[np.abs(d @ n).argmin()])
    angle = np.arctan2(d @ np.cross(n, x), d @ x)
    sector = np.floor((angle / (2.0 * np.pi) + 0.5) * AROUND).astype(int) % AROUND
    order = np.argsort(-(d @ n), kind="stable")
    kept = order[np.unique(sector[order], return_index=True)[1]]
    return d[np.resize(kept, AROUND)]


def _are_pointed(around: np.ndarray) -> np.ndarray:
    """Return where some normal is nearly in the cone, found by turning it away from what it rises along most."""
    n, rows, most = -around.sum(axis=1), np.arange(len(around)), np.zeros(len(around))
    for _ in range(40):
        n /= np.maximum(np.linalg.norm(n, axis=-1, keepdims=True), 1e-300)
        over = np.einsum("nki,ni->nk", around, n)
        k = over.argmax(axis=1)
        most = over[rows, k]
        n = n - np.where(most > 0.0, 1.2 * most, 0.0)[:, None] * around[rows, k]
    return most < NEARLY
