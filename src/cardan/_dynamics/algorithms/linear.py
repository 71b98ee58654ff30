"""Matrices as lists of rows; symmetric positive definite systems, small or with the sparsity of a tree.

    A = L^T D L,  L unit lower triangular, eliminated from the last row to the first

so that, with children after their parents, L is as sparse as the tree: zeros that are structural stay so and cost
nothing.

Source: Featherstone (2008), section 6.5 (the LTDL factorisation).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from itertools import accumulate, pairwise
from numbers import Real
from typing import Any

import numpy as np

from cardan._algebra.arrays.implicit_function import all_held
from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import Force, Motion, Scalar

Rows = list[list[Scalar]]
Armature = list[dict[int, Scalar]]
"""A symmetric matrix along v of which few entries are not 0: its rows, by column."""


def zeros(rows: int, columns: int) -> Any:
    """Return a matrix of zeros; one without rows is an array, which still says how many columns it has."""
    return [[0.0] * columns for _ in range(rows)] if rows else np.empty((0, columns), dtype=object)


def add_block(matrix: Rows, rows: Sequence[int], columns: Sequence[int], block: Sequence[Sequence[Scalar]]) -> None:
    """Add a block at rows and columns of a matrix; blocks of mimic joints meet, for they share both."""
    for i, row in zip(rows, block, strict=True):
        for j, value in zip(columns, row, strict=True):
            matrix[i][j] = matrix[i][j] + value


def ranges(sizes: Iterable[int]) -> list[range]:
    """Return the places of parts that stand one behind the other."""
    return [range(*ends) for ends in pairwise(accumulate(sizes, initial=0))]


def on_diagonal(blocks: Sequence[Rows]) -> Rows:
    """Return the matrix that has square blocks on its diagonal, and is 0 beside them."""
    places = ranges(map(len, blocks))
    found: Rows = [[0.0] * sum(map(len, blocks)) for own in places for _ in own]
    for own, block in zip(places, blocks, strict=True):
        add_block(found, own, own, block)
    return found


def transposed(block: Sequence[Sequence[Scalar]]) -> Rows:
    return [list(column) for column in zip(*block, strict=True)]


def mirrored(block: Sequence[Sequence[Scalar]]) -> Rows:
    """Return a block that is symmetric in exact arithmetic with both halves equal to the last digit."""
    n = len(block)
    return [[block[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)


def product(A: Rows, B: Rows) -> Rows:
    columns = transposed(B)
    return [[dot(row, column) for column in columns] for row in A]


def plus(M: Rows, W: Armature) -> Rows:
    return [[e + W[i].get(j, 0.0) for j, e in enumerate(row)] for i, row in enumerate(M)]


def on_axes(w: Sequence[Scalar]) -> Armature:
    """Return what has a diagonal alone."""
    return [{i: e} for i, e in enumerate(w)]


def diagonal(W: Armature) -> list[Scalar]:
    """Return the diagonal of what has no other entries."""
    return [row.get(i, 0.0) for i, row in enumerate(W)]


def lumped(W: Armature) -> list[Scalar]:
    """Return a diagonal that is nowhere less than W (Gershgorin's circles)."""
    return [sum((w if i == j else abs(w) for j, w in row.items()), 0.0) for i, row in enumerate(W)]


def times(W: Armature, a: Sequence[Scalar]) -> list[Scalar]:
    return [sum((w * a[j] for j, w in row.items()), 0.0) for row in W]


def with_diagonal(M: Rows, W: Sequence[Scalar]) -> Rows:
    return [[e + W[i] if i == j else e for j, e in enumerate(row)] for i, row in enumerate(M)]


def scaled(M: Rows, factor: Scalar) -> Rows:
    return [[e * factor for e in row] for row in M]


def combined(columns: Iterable[Force], factors: Sequence[Scalar]) -> Force:
    return sum((column * factor for column, factor in zip(columns, factors, strict=True)), Force.zero())


def coordinates(S: Iterable[Motion], V: Motion) -> list[Scalar]:
    """Return S^+ V = (S^T S)^-1 S^T V: the velocities that make V, or come nearest."""
    columns = [column.scalars() for column in S]
    return gram(columns).solve([dot(column, V.scalars()) for column in columns])


def gram(columns: Sequence[Sequence[Scalar]]) -> Factor:
    """Return the factorisation of S^T S."""
    return Factor([[dot(a, b) for b in columns] for a in columns])


ROUNDING = 4e-15  # a pivot this small, relative to what it was before the elimination, is nothing but rounding errors


class SingularError(ZeroDivisionError):
    """Numbers in a matrix, known here and now, make it singular; `row` is where that shows."""

    def __init__(self, row: int) -> None:
        super().__init__("the matrix is singular")
        self.row = row


def _is_rounding(pivot: Scalar, before: Scalar) -> bool:
    # symbols cannot be compared while tracing; that a symbol is 0 is known by its structure alone
    known = isinstance(pivot, Real) and isinstance(before, Real)
    return is_zero(pivot) or (known and float(abs(pivot)) <= ROUNDING * float(abs(before)))


class Factor:
    """The factorisation A = L^T D L of a symmetric positive definite matrix, whose lower triangle is read.

    Rows are eliminated from the last to the first of an `order`, by default as they stand. So zeros between branches
    of a tree stay, if joints are behind those that carry them. SingularError says that numbers in A make it singular.
    """

    __slots__ = ("L", "inverse_diagonal", "order")

    def __init__(self, A: Sequence[Sequence[Scalar]], order: Sequence[int] | None = None) -> None:
        H, n = mirrored(A), len(A)
        self.order = list(range(n) if order is None else order)
        self.inverse_diagonal: list[Scalar] = [0.0] * n
        # children first: a row changes those of its ancestors alone
        for at, k in reversed([*enumerate(self.order)]):
            if _is_rounding(H[k][k], A[k][k]):
                raise SingularError(k)
            self.inverse_diagonal[k] = 1.0 / H[k][k]
            for before, i in reversed([*enumerate(self.order[:at])]):
                factor = H[k][i] * self.inverse_diagonal[k]
                # one triangle alone; there H becomes L, row by row
                for j in self.order[: before + 1]:
                    H[i][j] = H[i][j] - factor * H[k][j]
                H[k][i] = factor
        self.L = H

    def __parts__(self) -> tuple[Rows, list[Scalar]]:
        if self.order != list(range(len(self.L))):
            raise AssertionError("factors in an order of their own are not taken apart")
        return [row[:k] for k, row in enumerate(self.L)], self.inverse_diagonal

    @classmethod
    def __of_parts__(cls, parts: tuple[Rows, list[Scalar]]) -> Factor:
        made = object.__new__(cls)
        made.L, made.inverse_diagonal = parts
        made.order = list(range(len(made.L)))
        return made

    def held(self) -> Factor:
        """Return the same factors with derivatives that count as 0."""
        same = copy(self)
        same.L, same.inverse_diagonal = all_held(self.L), all_held(self.inverse_diagonal)
        return same

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """Return A^-1 b."""
        return self.outwards(self.scaled(self.inwards(b)))

    def inwards(self, b: Sequence[Scalar]) -> list[Scalar]:
        """Return L^-T b: b . A^-1 c is the product of two such vectors, one of them `scaled`."""
        x = list(b)
        for at, k in reversed([*enumerate(self.order)]):
            for i in self.order[:at]:
                x[i] = x[i] - self.L[k][i] * x[k]
        return x

    def scaled(self, x: Sequence[Scalar]) -> list[Scalar]:
        """Return D^-1 x."""
        return [e * d for e, d in zip(x, self.inverse_diagonal, strict=True)]

    def outwards(self, x: Sequence[Scalar]) -> list[Scalar]:
        """Return L^-1 x."""
        x = list(x)
        for at, k in enumerate(self.order):
            for i in self.order[:at]:
                x[k] = x[k] - self.L[k][i] * x[i]
        return x

    def inverse(self) -> Rows:
        """Return A^-1, its symmetric halves equal: of column k, rows up to k need the leading part alone."""
        n, leading = len(self.L), copy(self)
        found = zeros(n, n)
        for at, k in enumerate(self.order):
            leading.order = self.order[: at + 1]
            column = leading.solve([float(i == k) for i in range(n)])
            for i in leading.order:
                found[i][k] = found[k][i] = column[i]
        return found
