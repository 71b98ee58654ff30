"""Other velocity coordinates: how everything along v changes with them.

    v' = T v        a' = T a + dT/dt v        tau = T^T tau'        J' = J T^+        M' = T^+T M T^+
    dJ'/dt = (dJ/dt - J K) T^+    C' = T^+T (C - M K) T^+    C' v' + g' = T^+T (C v + g - M K v)    K = T^+ dT/dt

T is block-diagonal, a block a joint (up to the order of the rows), and T^+ T = 1. Accelerations are the time
derivatives of the velocities' components, efforts do the same work: tau' . v' = tau . v. If dM/dt - 2 C is
skew-symmetric, so is dM'/dt - 2 C'.

Source: FACTS, section 6; the congruence of C follows by differentiating v = T^+ v'.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cardan.algorithms.rnea import inverse_dynamics
from cardan.algorithms.tree import Vector
from cardan.model import Model
from cardan.spatial import Scalar

Rows = list[list[Scalar]]
Indices = tuple[int, ...]


class Block(NamedTuple):
    """The part of T that belongs to one joint.

    Attributes:
        here: columns: where the joint's velocities are in v.
        there: rows: where they are in v'.
        matrix: its entries, by rows.
        inverse: the rows of its part of T^+; of zeros for a joint that only follows others.
        rate: the rows of its time derivative; empty where it is constant or not asked for.
    """

    here: Indices
    there: Indices
    matrix: Rows
    inverse: Rows
    rate: Rows


class Coordinates:
    """A change of velocity coordinates at one state: v' = T v.

    Args:
        size: number of velocities v.
        size_there: number of velocities v'.
        blocks: those of T.
    """

    __slots__ = ("blocks", "size", "size_there")

    def __init__(self, size: int, size_there: int, blocks: Sequence[Block]) -> None:
        self.size, self.size_there, self.blocks = size, size_there, tuple(blocks)

    def forward(self, x: Vector) -> list[Scalar]:
        """Return T x."""
        return _gathered(self.size_there, ((b.there, b.matrix, b.here) for b in self.blocks), x)

    def backward(self, x: Vector) -> list[Scalar]:
        """Return T^+ x."""
        return _gathered(self.size, ((b.here, b.inverse, b.there) for b in self.blocks), x)

    def forward_rate(self, x: Vector) -> list[Scalar]:
        """Return dT/dt x."""
        return _gathered(self.size_there, ((b.there, b.rate, b.here) for b in self.blocks if b.rate), x)

    def forward_transposed(self, x: Vector) -> list[Scalar]:
        """Return T^T x."""
        return _gathered(self.size, ((b.here, _transposed(b.matrix), b.there) for b in self.blocks), x)

    def backward_transposed(self, x: Vector) -> list[Scalar]:
        """Return T^+T x."""
        return _gathered(self.size_there, ((b.there, _transposed(b.inverse), b.here) for b in self.blocks), x)

    def acceleration(self, v: Vector, a: Vector) -> list[Scalar]:
        """Return a' = T a + dT/dt v."""
        return _sum(self.forward(a), self.forward_rate(v))

    def acceleration_back(self, v: Vector, a: Vector) -> list[Scalar]:
        """Return a = T^+ (a' - dT/dt v), with v the velocity here."""
        return self.backward(_difference(a, self.forward_rate(v)))

    def jacobian(self, J: Rows) -> Rows:
        """Return J' = J T^+."""
        return [self.backward_transposed(row) for row in J]

    def jacobian_back(self, J: Rows) -> Rows:
        """Return J = J' T."""
        return [self.forward_transposed(row) for row in J]

    def matrix(self, M: Rows) -> Rows:
        """Return T^+T M T^+."""
        return _transposed(self.jacobian(_transposed(self.jacobian(M))))

    def matrix_back(self, M: Rows) -> Rows:
        """Return T^T M' T."""
        return _transposed(self.jacobian_back(_transposed(self.jacobian_back(M))))

    def rate_corrected(self, J: Rows, J_rate: Rows) -> Rows:
        """Return dJ/dt - J K: what dJ'/dt is, in columns along v."""
        corrected = [list(row) for row in J_rate]
        for b in self.blocks:
            if b.rate:
                K = _product(b.inverse, b.rate)
                for row, weights in zip(corrected, J, strict=True):
                    for j, change in zip(b.here, _row_times([weights[i] for i in b.here], K), strict=True):
                        row[j] = row[j] - change
        return corrected

    def jacobian_rate(self, J: Rows, J_rate: Rows) -> Rows:
        """Return dJ'/dt = (dJ/dt - J K) T^+."""
        return self.jacobian(self.rate_corrected(J, J_rate))

    def coriolis_matrix(self, M: Rows, C: Rows) -> Rows:
        """Return C' = T^+T (C - M K) T^+."""
        return self.matrix(self.rate_corrected(M, C))

    def bias_forces(self, model: Model, q: Vector, v: Vector) -> list[Scalar]:
        """Return C' v' + g': the efforts at a' = 0, with q and v the state here."""
        still = self.backward([-e for e in self.forward_rate(v)])
        return self.backward_transposed(inverse_dynamics(model, q, v, still))


def _gathered(size: int, parts: Iterable[tuple[Indices, Rows, Indices]], x: Vector) -> list[Scalar]:
    found: list[Scalar] = [0.0] * size
    for rows, matrix, columns in parts:
        own = [x[j] for j in columns]
        for i, row in zip(rows, matrix, strict=True):
            found[i] = found[i] + _dot(row, own)
    return found


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)


def _sum(a: Vector, b: Vector) -> list[Scalar]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _difference(a: Vector, b: Vector) -> list[Scalar]:
    return [x - y for x, y in zip(a, b, strict=True)]


def _transposed(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def _row_times(row: Sequence[Scalar], matrix: Rows) -> list[Scalar]:
    return [_dot(row, column) for column in zip(*matrix, strict=True)]


def _product(a: Rows, b: Rows) -> Rows:
    return [_row_times(row, b) for row in a]
