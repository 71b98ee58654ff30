"""Other velocity coordinates: how everything along v changes with them.

    v' = T v        a' = T a + dT/dt v        tau = T^T tau'        J' = J T^+        M' = T^+T M T^+
    dJ'/dt = (dJ/dt - J K) T^+    C' = T^+T (C - M K) T^+    C' v' + g' = T^+T (C v + g - M K v)    K = T^+ dT/dt

T is block-diagonal, a block a joint (up to the order of the rows), and T^+ T = 1. Accelerations are the time
derivatives of the velocities' components, efforts do the same work: tau' . v' = tau . v. If dM/dt - 2 C is
skew-symmetric, so is dM'/dt - 2 C'.

Source: FACTS, section 6; the congruence of C follows by differentiating v = T^+ v'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import Scalar
from cardan._compiler.program.autodiff import rate_along
from cardan._dynamics.algorithms.linear import Rows, dot, product, transposed
from cardan._dynamics.algorithms.tree import Vector

Indices = Sequence[int]


class Block(NamedTuple):
    """The part of T that belongs to one joint."""

    here: Indices  # columns: where the joint's velocities are in v
    there: Indices  # rows: where they are in v'
    matrix: Rows
    inverse: Rows  # its part of T^+; zeros for a joint that only follows others
    rate: Rows  # its time derivative; empty if it is constant or not wanted


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix of zeros but for some blocks: `B @ x` of a vector, `A @ B` of the rows of another matrix."""

    rows: int
    columns: int
    blocks: tuple[tuple[Indices, Indices, Rows], ...]  # of each its rows, its columns, and its entries by rows
    __array_ufunc__ = None

    @property
    def T(self) -> Blocks:
        return Blocks(self.columns, self.rows, tuple((j, i, transposed(entries)) for i, j, entries in self.blocks))

    def __matmul__(self, x: Vector) -> list[Scalar]:
        found: list[Scalar] = [0.0] * self.rows
        for indices, columns, entries in self.blocks:
            part = [x[j] for j in columns]
            for i, row in zip(indices, entries, strict=True):
                found[i] = found[i] + dot(row, part)
        return found

    def __rmatmul__(self, rows: Iterable[Vector]) -> Rows:
        turned = self.T
        return [turned @ row for row in rows]

    def congruent(self, A: Iterable[Vector]) -> Rows:
        """Return B^T A B."""
        return transposed(transposed(A @ self) @ self)


class Change(NamedTuple):
    """A change of velocity coordinates at one state: v' = T v."""

    T: Blocks
    inverse: Blocks  # T^+
    rate: Blocks  # dT/dt
    K: Blocks  # T^+ dT/dt

    @staticmethod
    def of(size: int, size_there: int, blocks: Sequence[Block]) -> Change:
        """Return the change of as many velocities v into v', by the blocks of T."""
        moving = [b for b in blocks if b.rate]
        return Change(
            Blocks(size_there, size, tuple((b.there, b.here, b.matrix) for b in blocks)),
            Blocks(size, size_there, tuple((b.here, b.there, b.inverse) for b in blocks)),
            Blocks(size_there, size, tuple((b.there, b.here, b.rate) for b in moving)),
            Blocks(size, size, tuple((b.here, b.here, product(b.inverse, b.rate)) for b in moving)),
        )


def rate_of(matrix: Callable[[Vector], Rows], q: Vector, qdot: Vector) -> Rows:
    """Return the time derivative of a matrix of q, exactly; nothing if it does not change."""
    flat = rate_along(lambda q: [e for row in matrix(q) for e in row], q, qdot)
    width = len(flat) // len(matrix(q))
    return [] if all(map(is_zero, flat)) else [flat[k : k + width] for k in range(0, len(flat), width)]


def difference(a: Vector, b: Vector) -> list[Scalar]:
    return [x - y for x, y in zip(a, b, strict=True)]
