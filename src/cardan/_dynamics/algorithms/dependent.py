"""Which coordinates of closed loops follow from the others, and which rows say so: found once for a model.

K is eliminated at several configurations at once, all with the same pivots: each time the row and column whose entry is
largest where it is smallest. Its columns are the dependent coordinates; rows that are left depend on the chosen ones.
Coordinates that one loop alone moves come first, so that a leg follows from its own loop.

That is a choice, and no claim: whether the dependent coordinates follow in a configuration, the program looks there
(`embedding`). None is made for loops that move only because they are closed (Bennett's, a rod too many): their rows
depend on one another in closed configurations alone.

Loops are closed, and K is evaluated, in plain numbers: no library of linear algebra decides what a program is.

Source: Wehage and Haug, Generalized coordinate partitioning for dimension reduction in analysis of constrained dynamic
systems (1982), for the choice by elimination; over several configurations it is made here.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product, starmap
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.by_identity import known_of_each
from cardan._algebra.errors import TraceError
from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import Vector3
from cardan._dynamics.algorithms.entries import overlapping
from cardan._dynamics.algorithms.linear import Factor, Rows, dot, ranges, transposed
from cardan._dynamics.algorithms.loops import Loop, Rowed, constraints
from cardan._dynamics.algorithms.tree import Relative, relative_kinematics
from cardan._robot.model import Connection, Model

SAMPLES, SPREAD = 4, 0.3  # closed configurations that are looked at, and how far from the first [rad, units of length]
# From how many starts they are looked for, in how many steps, and how near they are to come [units of length, rad].
STARTS, STEPS, CLOSED = 8, 40, 1e-10
# Entries of eliminated columns of length 1: below the first, rows depend on one another; no pivot is below the second.
DEPENDENT, LEAST = 1e-7, 1e-3
SHARED = 0.1  # what a coordinate counts that several loops share, beside one of its own loop alone
ROUNDING = 1e-13  # what is left of an entry 0 of K
USUAL = 32.0  # m: mechanisms between 1 / 32 m and 32 m are looked at in metres


class Block(NamedTuple):
    """Loops that share coordinates: dependent ones, and as many rows from which they follow, in the order of pivots."""

    rows: Sequence[int]  # of all rows of all loops
    columns: Sequence[int]  # of v
    others: Sequence[int]  # rows that depend on these


@known_of_each
def dependence(model: Model) -> list[Block]:
    """Return the dependent coordinates of a model with loops; nothing if there is no good choice of them."""
    return partition(model, closed_configurations(model), open_too=True)


def partition(
    model: Model, closed: Sequence[list[float]], free: Collection[int] = (), open_too: bool = False
) -> list[Block]:
    """Return the dependent coordinates at closed configurations, with some that shall be free, if there is a choice.

    With `open_too` rows that depend on others do so where loops are open, too.
    """
    if not closed:
        return []
    along_nodes = rows_along_nodes(model)
    rng = np.random.default_rng(1)
    samples = [_rows(model, along_nodes, q) for q in closed]
    moved = [_rows(model, along_nodes, _moved(model, closed[0], rng)) for _ in range(2 * open_too)]
    found = constraints(model, list(model.manifold.neutral()))
    own = [loop.coordinates for loop in found]
    shared = {j for j in range(model.nv) if sum(j in coordinates for coordinates in own) > 1}
    blocks = [_eliminated(samples, moved, rows, shared, free) for rows in _blocks([len(r.K) for r in found], own)]
    return [block for block in blocks if block] if all(blocks) else []


def _rows(model: Model, along_nodes: Sequence[bool], q: Sequence[float]) -> Rows:
    """Return the rows of all loops, in the mechanism's unit of length."""
    return in_unit(model, constraints(model, q, along_nodes=along_nodes))[0]


def _blocks(sizes: Sequence[int], coordinates: Sequence[set[int]]) -> Iterator[list[int]]:
    """Yield the rows of loops that share coordinates, directly or by others."""
    rows = ranges(sizes)
    for block in overlapping([own if size else set() for own, size in zip(coordinates, sizes, strict=True)]):
        yield sorted(row for k in block for row in rows[k])


# --- the unit of length ---


def unit_of_length(model: Model) -> float:
    """Return a length of the size of a mechanism [m], a power of 2, so that it rounds nothing; 1 for usual sizes."""
    at = [(node.parent, node.placement) for node in model.nodes]
    for c in model.closures:
        for body, pose in ((c.parent, c.parent_pose), (c.child, c.child_pose)):
            at.append((model.attachment(body).node, model.attachment(body).pose @ pose))
    first = next((X.translation for i, X in at if i < 0), Vector3.zero())  # the world's origin may be far away
    places = [X.translation - first if i < 0 else X.translation for i, X in at]
    size = max((abs(float(e)) for place in places for e in place if isinstance(e, Real)), default=0.0)
    return 1.0 if size == 0.0 or 1.0 / USUAL < size < USUAL else 2.0 ** round(math.log2(size))


def lengths(model: Model) -> list[float]:
    """Return the unit of every coordinate: 1, that of length for a slide."""
    unit, found = unit_of_length(model), [1.0] * model.nv
    if unit == 1.0:
        return found
    relative = relative_kinematics(model, list(model.manifold.neutral()))
    for node in model.nodes:
        for j, s in zip(node.v, relative.S[node.index], strict=True):
            found[j] = 1.0 if any(not is_zero(e) for e in s.angular) else unit
    return found


def in_unit(model: Model, found: Sequence[Rowed]) -> tuple[Rows, list[Any]]:
    """Return the rows K of all loops and their residuals, in units of length and of coordinates."""
    of_v, rows = lengths(model), units_of_rows(model, found)
    K = [row for loop in found for row in loop.K]
    r = [e for loop in found for e in loop.residual]
    scaled = [[e * (size / own) for e, size in zip(row, of_v, strict=True)] for row, own in zip(K, rows, strict=True)]
    return scaled, [e * (1.0 / own) for e, own in zip(r, rows, strict=True)]


def units_of_rows(model: Model, found: Sequence[Rowed]) -> list[float]:
    """Return the unit of every row of all loops."""
    unit, of_v = unit_of_length(model), lengths(model)
    return [size for loop in found for size in _units(loop, unit, of_v)]


def _units(loop: Rowed, unit: float, of_v: Sequence[float]) -> list[float]:
    """Return the unit of every row: that of length for a force, 1 for a moment, its own size for a user's."""
    if isinstance(loop, Loop):
        return [unit if any(not is_zero(e) for e in wrench.linear) else 1.0 for wrench in loop.T]
    sizes = [[abs(e) * own for e, own in zip(row, of_v, strict=True) if isinstance(e, Real)] for row in loop.K]
    return [max(map(float, own), default=0.0) or 1.0 for own in sizes]


# --- closed configurations ---


def closed_configurations(model: Model) -> list[list[float]]:
    """Return the first of `closed_places`; none if none is found."""
    return next(closed_places(model), [])


def closed_places(model: Model, near: Any = None) -> Iterator[list[list[float]]]:
    """Yield closed configurations near one another, each time elsewhere; none if K is not made of numbers.

    They are near a given one, or else where searches from the neutral one and from random ones end.
    """
    rng = np.random.default_rng(0)
    starts = [np.array(model.manifold.neutral() if near is None else near, dtype=float)]
    starts += list(model.manifold.random(rng, (STARTS,), model.lower, model.upper)) if near is None else []
    for start in starts:
        first = _closed(model, start.tolist())
        if first is not None:
            tried = (_closed(model, _moved(model, first, rng)) for _ in range(SAMPLES - 1))
            yield [first, *(q for q in tried if q is not None)]


def _moved(model: Model, q: Sequence[float], rng: np.random.Generator) -> list[float]:
    step = SPREAD * rng.normal(size=model.nv) * lengths(model)
    return [float(e) for e in model.manifold.integrate(q, step.tolist())]


def _closed(model: Model, q: list[float]) -> list[float] | None:
    """Return a closed configuration nearby, by damped steps; None if that fails."""
    for _ in range(STEPS):
        try:
            K, r = in_unit(model, constraints(model, q))
        except TraceError:  # a user's constraint, of constants that are symbols
            return None
        if not all(isinstance(e, Real) for row in (*K, r) for e in row):
            return None
        size = max(map(abs, r))
        if not size > CLOSED:
            return q if size <= CLOSED else None
        G = [[dot(a, b) + (1e-9 + 0.1 * size * size if a is b else 0.0) for b in K] for a in K]
        along = Factor(G).solve(r)
        step = [-dot(column, along) * size for column, size in zip(transposed(K), lengths(model), strict=True)]
        q = [float(e) for e in model.manifold.integrate(q, step)]
    return None


# --- elimination ---


def _eliminated(
    samples: Sequence[Rows], moved: Sequence[Rows], rows: list[int], shared: set[int], free: Collection[int]
) -> Block | None:
    """Return a block's dependent coordinates and their rows; None if they are not well determined."""
    tables = [_scaled([K[i] for i in rows]) for K in samples]
    pivots = _pivots(tables, free, shared)
    chosen, columns = [i for i, _ in pivots], [j for _, j in pivots]
    rest = max((abs(e) for A in tables for k, row in enumerate(A) if k not in chosen for e in row), default=0.0)
    if not columns or rest > DEPENDENT or any(_rank([K[i] for i in rows]) > len(columns) for K in moved):
        return None
    return Block([rows[i] for i in chosen], columns, [row for k, row in enumerate(rows) if k not in chosen])


def least_pivot(model: Model, blocks: Sequence[Block], q: Sequence[float]) -> float:
    """Return how well dependent coordinates follow at a configuration: the least entry by which they are eliminated."""
    A, least = _scaled(_rows(model, rows_along_nodes(model), q)), 1.0
    for block in blocks:
        for i, j in zip(block.rows, block.columns, strict=True):
            least = min(least, abs(float(A[i][j])))
            _eliminate(A, i, j)
    return least


def _pivots(tables: Sequence[Rows], free: Collection[int], shared: set[int]) -> list[tuple[int, int]]:
    """Return the row and column of every pivot, and leave tables that are eliminated by them."""
    left, taken, found = list(range(len(tables[0]))), [*free], list[tuple[int, int]]()
    while True:
        size, i, j = _pivot(tables, left, taken, shared)
        if size < LEAST:
            return found
        left.remove(i)
        taken.append(j)
        found.append((i, j))
        for A in tables:
            _eliminate(A, i, j)


def _pivot(
    tables: Sequence[Rows], left: Sequence[int], taken: Sequence[int], shared: set[int]
) -> tuple[float, int, int]:
    """Return the entry that is largest where it is smallest, with its row and column; the first of equal ones."""
    best = (0.0, 0.0, -1, -1)
    for i, j in product(left, range(len(tables[0][0]))):
        if j not in taken:
            size = min(abs(float(A[i][j])) for A in tables)
            weighed = size * (SHARED if j in shared and size >= LEAST else 1.0)
            # equal but for rounding, which is not to decide
            if size >= LEAST and weighed > 1.01 * best[0]:
                best = (weighed, size, i, j)
    return best[1:]


def _eliminate(A: Rows, i: int, j: int) -> None:
    for k, row in enumerate(A):
        if k != i and row[j] != 0.0:
            factor = row[j] / A[i][j]
            A[k] = [0.0 if m == j else e - factor * own for m, (e, own) in enumerate(zip(row, A[i], strict=True))]


def _scaled(K: Rows) -> Rows:
    """Return rows with columns of length 1, where they are not 0."""
    lengths = [sum(e * e for e in column) ** 0.5 for column in transposed(K)]
    return [[e / length if length > DEPENDENT else 0.0 for e, length in zip(row, lengths, strict=True)] for row in K]


def _rank(K: Rows) -> int:
    return len(_pivots([_scaled(K)], (), set()))


# --- axes ---


@known_of_each
def rows_along_nodes(model: Model) -> list[bool]:
    """Return of each closing joint whether its rows are along the axes of the node that its child frame is on.

    They are where rows have more zeros so, of the coordinates of the loop alone, as these are solved for.
    """
    if not model.closures:  # constraints that users wrote have no axes, and may hold symbols
        return []
    own = [loop.coordinates for loop in constraints(model, list(model.manifold.neutral()))]
    moved = _kinematics(model, 2)

    def along_node(k: int, closure: Connection) -> bool:
        if not closure.joint.has_constant_motion_subspace:
            return False
        others = set[int]().union(*(c for j, c in enumerate(own) if j != k))
        columns = sorted(own[k] - others or own[k])
        plain, along = (_entries([Loop(model, r, closure, t) for r in moved], columns) for t in (False, True))
        return along < plain

    return list(starmap(along_node, enumerate(model.closures)))


def with_sparse_rows(model: Model) -> Model:
    """Return the model with closing joints seen from that of their bodies along whose axes rows have more zeros.

    Where the loops are closed, the constraints are the same.
    """
    turned, moved = replace(model, closures=tuple(c.reversed() for c in model.closures)), _kinematics(model, 3)

    def entries(seen: Model) -> list[int]:
        along = zip(seen.closures, rows_along_nodes(seen), strict=True)
        return [_entries([Loop(seen, r, closure, t) for r in moved], range(model.nv)) for closure, t in along]

    counts = zip(model.closures, turned.closures, entries(model), entries(turned), strict=True)
    return replace(model, closures=tuple(back if fewer < n else c for c, back, n, fewer in counts))


def _kinematics(model: Model, seed: int) -> list[Relative]:
    """Return how the tree stands in two configurations near the neutral one."""
    rng = np.random.default_rng(seed)
    return [relative_kinematics(model, _moved(model, list(model.manifold.neutral()), rng)) for _ in range(2)]


def _entries(samples: Sequence[Loop], columns: Iterable[int]) -> int:
    """Return how many entries of the rows are not 0 in all samples."""
    tables = zip(*([row[j] for row in loop.K for j in columns] for loop in samples), strict=True)
    return sum(any(not _is_number_zero(e) for e in entry) for entry in tables)


def _is_number_zero(e: Any) -> bool:
    return isinstance(e, Real) and abs(float(e)) < ROUNDING
