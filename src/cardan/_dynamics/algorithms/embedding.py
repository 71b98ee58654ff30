"""Closed loops in the coordinates that are free: M a = b + K^T l, K a + k = 0, without multipliers.

Let d be the dependent coordinates of the loops and i the others (`dependent`), K_d square: one row for each of d.

    (1)  a = G a_i + g,          G_i = 1,  G_d = -K_d^-1 K_i,      g_i = 0,  g_d = -K_d^-1 k
    (2)  D a_i = G^T (b - M g),  D = G^T M G
    (3)  K_d^T l = (M a - b)_d,  of rows that depend on one another the smallest l:
         l = R^-1 K_d (K_d^T R^-1 K_d)^-1 (M a - b)_d      with all rows in K_d, R the metric of `closed`

K_d falls apart into blocks that share neither rows nor columns, of a leg or a planar loop: those of up to three rows
are solved by cofactors, larger ones by elimination with the pivots that were chosen. A block is singular where

    (4)  det(K_d)^2 <= e prod |column|^2,        for elimination: a pivot^2 <= e |column|^2

that is where the sine of the angle between its columns is below root e. Errors are rounding over that sine. There the
general solution of `closed` is taken, by selection.

Source: Jain, Robot and Multibody Dynamics (2011), chapter 11, for constraint embedding; Wehage and Haug (1982).
Cost: O(n^2 f) for D with f freedoms, less where the tree and the loops leave zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import reduce
from typing import Any

from cardan._algebra.arrays.functions import determinant_of
from cardan._algebra.arrays.implicit_function import all_held
from cardan._algebra.scalar import is_zero, logical_or, minimum, where
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.dependent import Block
from cardan._dynamics.algorithms.entries import overlapping
from cardan._dynamics.algorithms.linear import Factor, Rows, dot, scaled, transposed
from cardan._dynamics.algorithms.proximal_loops import Solved
from cardan._dynamics.algorithms.tree import Vector

# e of (4), in double and single precision: errors of 1e-11 and 3e-5 of rounding over the sine.
SINGULAR, SINGULAR_IN_SINGLE = 1e-10, 1e-5


class Square:
    """A block of K_d with its inverse, and whether it is singular."""

    def __init__(self, K: Rows, rows: Sequence[int], columns: Sequence[int], tolerance: Scalar) -> None:
        self.rows, self.columns = rows, columns
        A = [[K[i][j] for j in columns] for i in rows]
        lengths = [sum((e * e for e in column), 0.0) for column in transposed(A)]
        found = _by_cofactors(A, lengths) if len(A) <= 3 else _by_elimination(A, lengths)
        self.adjugate, self.scale, (smallest, largest) = found
        self.is_singular = smallest <= tolerance * largest  # (4)
        self.inverse = scaled(self.adjugate, self.scale)

    def opposite(self) -> Rows:
        """Return -K_d^-1, which is not a number if K_d is singular: one choice says so for all entries."""
        return scaled(self.adjugate, where(self.is_singular, float("nan"), -self.scale))

    def follow(self, rows: Sequence[Scalar]) -> list[Scalar]:
        """Return K_d^-1 times what stands in the rows of K."""
        return [dot(row, [rows[i] for i in self.rows]) for row in self.inverse]

    def held(self) -> Square:
        same = copy(self)
        same.inverse = all_held(self.inverse)
        return same

    def multipliers(self, efforts: Sequence[Scalar]) -> list[Scalar]:
        """Return K_d^-T times efforts along v, those of the dependent coordinates."""
        return [dot(column, [efforts[j] for j in self.columns]) for column in transposed(self.inverse)]


Inverse = tuple[Rows, Scalar, tuple[Scalar, Scalar]]
"""An inverse and its scale, and two numbers whose ratio is the square of a sine."""


def _by_cofactors(A: Rows, lengths: Vector) -> Inverse:
    n = len(A)
    others = [[k for k in range(n) if k != i] for i in range(n)]
    minors = [[determinant_of([[A[k][m] for m in columns] for k in rows]) for rows in others] for columns in others]
    adjugate = [[minor * (-1.0) ** (i + j) for j, minor in enumerate(row)] for i, row in enumerate(minors)]
    determinant = dot(A[0], [row[0] for row in adjugate])
    size = 1.0 if n > 1 else 0.0  # one column is parallel to no other
    for length in lengths:
        size = size * length
    return adjugate, 1.0 / determinant, (determinant * determinant, size)


def _by_elimination(A: Rows, lengths: Vector) -> Inverse:
    """Eliminate with the pivots on the diagonal; the worst of them counts."""
    n = len(A)
    rows = [[*row, *(float(i == k) for i in range(n))] for k, row in enumerate(A)]
    ratios: list[Scalar] = []
    for k in range(n):
        pivot = rows[k][k]
        ratios.append(pivot * pivot / lengths[k])
        rows[k] = [e * (1.0 / pivot) for e in rows[k]]
        for i in range(n):
            if i != k and not is_zero(rows[i][k]):
                factor = rows[i][k]
                rows[i] = [e - factor * own for e, own in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows], 1.0, (reduce(minimum, ratios), 1.0)


class Embedded:
    """The equation of motion in the free coordinates. K has all rows; `metric` is R, for rows that depend on others.

    In an `order` in which joints stand behind those that carry them, D keeps the zeros between branches.
    """

    def __init__(
        self,
        M: Rows,
        K: Rows,
        blocks: Sequence[Block],
        metric: Callable[[], Rows],
        tolerance: Scalar,
        order: Sequence[int],
    ) -> None:
        self.M, self.K, self.blocks, self.metric = M, K, blocks, metric
        self.squares = [square for block in blocks for square in squares_of(K, block, tolerance)]
        dependent = {j for block in blocks for j in block.columns}
        self.free = [j for j in order if j not in dependent]
        G: Rows = [[float(i == j) for i in self.free] for j in range(len(M))]
        for square in self.squares:
            columns = [square.follow([-row[i] for row in K]) for i in self.free]
            for k, j in enumerate(square.columns):
                G[j] = [column[k] for column in columns]  # (1), empty if nothing is free
        self.G, self.G_T = G, transposed(G)
        MG = [[dot(row, column) for column in self.G_T] for row in M]
        MG_T = transposed(MG)
        D = [
            [dot(self.G_T[i], MG_T[j]) if j <= i else 0.0 for j in range(len(self.free))] for i in range(len(self.free))
        ]
        self.D = Factor(D)  # (2)

    @property
    def is_singular(self) -> Any:
        """Whether a block is singular."""
        return reduce(logical_or, (square.is_singular for square in self.squares))

    def solve(self, b: Vector, k: Vector | None = None) -> Solved:
        g: list[Scalar] = [0.0] * len(self.M)
        for square in () if k is None else self.squares:
            for j, e in zip(square.columns, square.follow(k or ()), strict=True):
                g[j] = -e
        rest = [e - dot(row, g) for e, row in zip(b, self.M, strict=True)]
        a_i = self.D.solve([dot(column, rest) for column in self.G_T])
        a = [dot(row, a_i) + e for row, e in zip(self.G, g, strict=True)]  # (1), (2)
        return Solved(a, self.multipliers([dot(row, a) - e for row, e in zip(self.M, b, strict=True)]))

    def multipliers(self, lacking: Vector) -> list[Scalar]:
        """Return l by (3), of M a - b; only those of dependent coordinates are read."""
        found: list[Scalar] = [0.0] * len(self.K)
        for block in self.blocks:
            if self._stands_alone(block):
                own = [square for square in self.squares if square.rows[0] in block.rows]
                parts = [zip(square.rows, square.multipliers(lacking), strict=True) for square in own]
            else:
                parts = [self._smallest(block, [lacking[j] for j in block.columns])]
            for part in parts:
                for row, e in part:
                    found[row] = e
        return found

    @property
    def all_alone(self) -> bool:
        """Whether no rows depend on others, but for those that are 0."""
        return all(map(self._stands_alone, self.blocks))

    def _stands_alone(self, block: Block) -> bool:
        """Whether the other rows of a block are 0 in every configuration, and no wrench of theirs would help."""
        if any(not is_zero(e) for row in block.others for e in self.K[row]):
            return False
        return not block.others or all(is_zero(self.metric()[i][j]) for i in block.rows for j in block.others)

    def _smallest(self, block: Block, efforts: Vector) -> Iterable[tuple[int, Scalar]]:
        """Return the smallest multipliers of all rows of a block that make the efforts of its dependent coordinates."""
        rows, R = sorted((*block.rows, *block.others)), self.metric()
        weight = Factor([[R[i][j] for j in rows] for i in rows])
        columns = [weight.solve([self.K[i][j] for i in rows]) for j in block.columns]  # of R^-1 K_d
        S = [[dot([self.K[i][j] for i in rows], column) for column in columns] for j in block.columns]
        y = Factor(S).solve(efforts)
        return zip(rows, [dot(row, y) for row in transposed(columns)], strict=True)

    def held(self) -> Embedded:
        """Return the same with numbers whose derivatives count as 0."""
        same = copy(self)
        same.M, same.K, same.G, same.G_T = (all_held(matrix) for matrix in (self.M, self.K, self.G, self.G_T))
        same.D, same.squares = self.D.held(), [square.held() for square in self.squares]
        R = all_held(self.metric())
        same.metric = lambda: R
        return same


def squares_of(K: Rows, block: Block, tolerance: Scalar) -> list[Square]:
    """Return the parts of a block that zeros keep apart."""
    filled = {(i, j) for i in block.rows for j in block.columns if not is_zero(K[i][j])}
    pairs = list(zip(block.rows, block.columns, strict=True))
    met = [{(r, c) for r, c in filled if r == i or c == j} for i, j in pairs]
    parts = ([pairs[k] for k in part] for part in overlapping(met))
    return [Square(K, [i for i, _ in part], [j for _, j in part], tolerance) for part in parts]
