"""What programs read of a surface of triangles: its features, and a tree of boxes about them, as two tables.

The features are halved along the longest side of the box about their middles, and so on, until one is left. The tree is
written depth first: behind a node is its first half, and every node says where to go on if its box is passed by. So it
is walked without a stack, by one number.

Source: Smits, Efficiency issues for ray tracing (1998), section 3, for the order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.cell import Table, cell
from cardan._algebra.arrays.repeat import repeat_while
from cardan._algebra.scalar import logical_and, where
from cardan._algebra.spatial import Scalar, Vector3
from cardan._robot.geometry.shapes import TriangleMesh
from cardan._robot.geometry.triangles import AROUND, Features, features_of

KEPT = 16  # surfaces at most whose tables are kept for the next trace
NODE = 8  # numbers of a node: low and high corner of its box, the node behind it, the place of its feature or -1
FACE, EDGE, CORNER = 16, 13, 3 * AROUND + 6  # numbers of each feature
SLACK = 1e-6  # of the size of a surface: by how much boxes are larger, so that single precision loses nothing
NOWHERE = 1e15  # coordinates [m] of boxes that fill up the tree


class Ground(NamedTuple):
    """The tables of a surface."""

    nodes: Table
    features: Table
    count: int  # of nodes
    edges: float  # the place of the first edge in the table of features, behind all faces
    corners: float  # that of the first corner, behind all edges
    end: float
    middle: tuple[float, ...]  # of the box about all [m]
    half: tuple[float, ...]
    size: float  # of that box [m]


_KNOWN: dict[tuple[int, bool], tuple[Any, Ground]] = {}  # by the identity of the vertices, which are held


def ground_of(mesh: TriangleMesh, faces_alone: bool = False) -> Ground:
    key = id(mesh), faces_alone
    if key not in _KNOWN:
        if len(_KNOWN) >= KEPT:
            _KNOWN.clear()
        _KNOWN[key] = mesh, _ground(features_of(*mesh.surface()), faces_alone)
    return _KNOWN[key][1]


def _ground(features: Features, faces_alone: bool) -> Ground:
    kinds = (features.faces, features.edges, features.corners)[: 1 if faces_alone else 3]
    counts = [len(rows) for rows in kinds] + [0] * (3 - len(kinds))
    edges = counts[0] * FACE
    corners = edges + counts[1] * EDGE
    end = corners + counts[2] * CORNER
    firsts = zip((0, edges, corners), counts, (FACE, EDGE, CORNER), strict=True)
    places = np.concatenate([first + np.arange(count) * stride for first, count, stride in firsts])
    boxes = np.concatenate(features.boxes[: len(kinds)])
    low, high = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
    size = float(np.linalg.norm(high - low))
    slack = SLACK * max(size, float(np.abs(boxes).max()))
    nodes = _nodes(boxes + np.array([-slack, slack])[:, None], places)
    table = Table(np.concatenate([rows.ravel() for rows in kinds]))
    middle, half = 0.5 * (low + high), 0.5 * (high - low) + slack
    sides = tuple(map(float, middle)), tuple(map(float, half))
    return Ground(Table(nodes), table, len(nodes), float(edges), float(corners), float(end), *sides, size)


def _nodes(boxes: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the rows of a tree whose leaves are a power of 2; those that are too many are nowhere."""
    depth = max(int(np.ceil(np.log2(len(boxes)))), 0)
    leaves = 2**depth
    more = leaves - len(boxes)
    own = np.concatenate([boxes, np.full((more, 2, 3), NOWHERE)])
    order = _halved(own.mean(axis=1), depth)
    own, place = own[order], np.concatenate([places, np.full(more, -1)])[order]
    found = np.empty((2 * leaves - 1, NODE))
    levels = [own]
    for _ in range(depth):
        below = levels[-1].reshape(-1, 2, 2, 3)
        levels.append(np.stack([below[:, :, 0].min(axis=1), _highest(below[:, :, 1])], axis=1))
    at = np.zeros(1, int)
    for level in range(depth + 1):
        box, size = levels[depth - level], 2 ** (depth - level + 1) - 1
        found[at, :6] = box.reshape(-1, 6)
        found[at, 6] = at + size
        found[at, 7] = place if level == depth else -1
        at = np.stack([at + 1, at + 1 + size // 2], axis=1).ravel()
    return found


def _highest(high: np.ndarray) -> np.ndarray:
    """Return the greater of two corners (n, 2, 3), of which one may be nowhere."""
    return np.where(high == NOWHERE, -NOWHERE, high).max(axis=1)


def _halved(middles: np.ndarray, depth: int) -> np.ndarray:
    """Return the order in which each half of the leaves, and each half of these, is apart along its longest side."""
    order = np.arange(len(middles))[None]
    for _ in range(depth):
        own = middles[order]
        inside = np.where(own >= NOWHERE, np.nan, own)
        with np.errstate(all="ignore"):
            extent = np.nan_to_num(_range(inside), nan=0.0)
        axis = extent.argmax(axis=-1)
        along = np.take_along_axis(own, axis[:, None, None], axis=2)[..., 0]
        order = np.take_along_axis(order, np.argsort(along, axis=1, kind="stable"), axis=1)
        order = order.reshape(2 * len(order), -1)
    return order[:, 0]


def _range(x: np.ndarray) -> np.ndarray:
    low, high = np.where(np.isnan(x), np.inf, x).min(axis=1), np.where(np.isnan(x), -np.inf, x).max(axis=1)
    return high - low


def walked(
    ground: Ground, meets: Callable[..., Any], visited: Callable[..., tuple[Any, ...]], *start: Any
) -> tuple[Any, ...]:
    """Return what is left after the features whose boxes are met, in the tree's order.

    `meets(low, high, *state)` says whether a box is met, and `visited(place, is_leaf, *state)` returns the next state.
    """

    def further(k: Scalar, *state: Any) -> tuple[Any, ...]:
        numbers = [cell(ground.nodes, k * float(NODE) + float(e)) for e in range(NODE)]
        met = meets(Vector3(*numbers[:3]), Vector3(*numbers[3:6]), *state)
        onward = where(met, k + 1.0, numbers[6])
        return onward, *visited(numbers[7], logical_and(met, numbers[7] >= 0.0), *state)

    zero = 0.0 * _any_number(start)  # no entry is a plain number, so that batches of NumPy's keep their shape
    left = repeat_while(ground.count, lambda k, *_: k < float(ground.count), further, zero, *start)
    return tuple(left[1:])


def _any_number(values: Any) -> Scalar:
    while isinstance(values, (tuple, list)):
        values = values[0]
    return values
