"""Linear systems over scalars of any type, small ones: Gaussian elimination with partial pivoting.

In column k the row with the largest entry comes to the top. Which one that is, the program finds out as it runs: rows
change places by selects, so that a system is solved whenever its matrix is invertible, whatever its zeros. An entry
that is known to be 0 is never moved up, and where all below the diagonal are, nothing is compared.

Source: Golub and Van Loan, Matrix Computations (2013), algorithm 3.4.1.
Cost: for n unknowns and m right sides about n^3 / 3 + n^2 m multiply-adds and as many pairs of selects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cardan._algebra.scalar import absolute, is_zero, where

Rows = list[list[Any]]


def solved(A: Sequence[Sequence[Any]], B: Sequence[Sequence[Any]]) -> Rows:
    """Return the rows of A^-1 B, n of m scalars; not finite where A is singular."""
    rows, _ = _upper_triangular([[*a, *b] for a, b in zip(A, B, strict=True)])
    n = len(rows)
    for k in reversed(range(n)):
        rows[k] = [e / rows[k][k] if j >= n else e for j, e in enumerate(rows[k])]
        for i in range(k):
            _subtract(rows[i], rows[i][k], rows[k], n)
    return [row[n:] for row in rows]


def determinant_of(A: Sequence[Sequence[Any]]) -> Any:
    """Return the determinant, by cofactors up to three rows and columns, so that a singular matrix has derivatives."""
    if len(A) <= 3:
        return _by_cofactors(A)
    rows, sign = _upper_triangular([list(row) for row in A])
    for k, row in enumerate(rows):
        sign = sign * row[k]
    return sign


def solved_positive(A: Sequence[Sequence[Any]], B: Sequence[Sequence[Any]]) -> Rows:
    """Return the rows of A^-1 B for a symmetric positive definite A: no pivots, half the operations.

    A = L D L^T; the lower triangle is read.
    """
    n = len(A)
    L, X = [list(row) for row in A], [list(row) for row in B]
    for k in range(n):
        for i in range(k + 1, n):
            factor = L[i][k] / L[k][k]  # D stays on the diagonal, so that no root is taken
            for j in range(k + 1, i + 1):
                L[i][j] = L[i][j] - factor * L[j][k]
            _subtract(X[i], factor, X[k], 0)
    for k in reversed(range(n)):
        X[k] = [e / L[k][k] for e in X[k]]
        for i in range(k):
            _subtract(X[i], L[k][i], X[k], 0)
    return X


def _upper_triangular(rows: Rows) -> tuple[Rows, Any]:
    """Return the rows eliminated to a triangle, and the sign of their permutation."""
    sign: Any = 1.0
    for k in range(len(rows)):
        for i in range(k + 1, len(rows)):
            sign = _larger_first(rows, k, i, sign)
        for i in range(k + 1, len(rows)):
            if not is_zero(rows[i][k]):
                pivot = rows[k][k]  # the largest: where it is 0, all below are, and 0 / 1 subtracts nothing
                _subtract(rows[i], rows[i][k] / where(pivot == 0.0, 1.0, pivot), rows[k], k + 1)
    return rows, sign


def _larger_first(rows: Rows, k: int, i: int, sign: Any) -> Any:
    """Let the larger of the entries (k, k) and (i, k) stand in row k; return the permutation's sign."""
    upper, lower = rows[k], rows[i]
    if is_zero(lower[k]):
        return sign
    if is_zero(upper[k]):
        rows[k], rows[i] = lower, upper
        return -sign
    larger = absolute(lower[k]) > absolute(upper[k])
    rows[k] = [where(larger, b, a) for a, b in zip(upper, lower, strict=True)]
    rows[i] = [where(larger, a, b) for a, b in zip(upper, lower, strict=True)]
    return where(larger, -sign, sign)


def _subtract(row: list[Any], factor: Any, other: Sequence[Any], first: int) -> None:
    """Subtract a multiple of another row, from an entry on."""
    for j in range(first, len(row)):
        row[j] = row[j] - factor * other[j]


def _by_cofactors(A: Sequence[Sequence[Any]]) -> Any:
    if len(A) < 2:
        return A[0][0] if A else 1.0
    rest = A[1:]
    minors = [_by_cofactors([[*row[:j], *row[j + 1 :]] for row in rest]) for j in range(len(A))]
    terms = [a * m if j % 2 == 0 else -(a * m) for j, (a, m) in enumerate(zip(A[0], minors, strict=True))]
    return sum(terms[1:], terms[0])
