"""Linear algebra on arrays of numbers, which NumPy does, or symbols, where this stands in for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan._algebra.arrays.elimination import determinant_of, solved, solved_positive
from cardan._algebra.arrays.symbolic import SymbolicArray, array_of, bare, dressed, symbolic
from cardan._algebra.errors import ShapeError
from cardan._algebra.scalar import sqrt, where

LARGEST = 32
"""Unknowns a traced system may have: it is written out, n^3 operations, and beyond that nobody wants to compile it."""


def solve(A: Any, b: Any, *, positive_definite: bool = False) -> Any:
    """Return x with A x = b, as `numpy.linalg.solve` does; not finite where a traced A is singular.

    Args:
        A: square matrices, shape (..., n, n); n at most 32 in a traced function.
        b: a right side of shape (n,), or matrices of shape (..., n, m).
        positive_definite: whether A is symmetric positive definite, such as a mass matrix. Then its lower triangle is
            read and nothing is pivoted, which takes less than half the operations of a traced function.

    Raises:
        ShapeError: if the shapes do not fit, or a traced matrix is too large.

    Examples:
        >>> x = cardan.solve(cardan.mass_matrix(arm, q), tau, positive_definite=True)
        >>> bool(np.allclose(cardan.mass_matrix(arm, q) @ x, tau))
        True
    """
    A, b = array_of(A), array_of(b)
    if object not in (A.dtype, b.dtype):
        return np.linalg.solve(A, b)
    _check_square("solve", A)
    if b.ndim == 0 or b.shape[0 if b.ndim == 1 else -2] != A.shape[-1]:
        raise ShapeError("solve", "b", got=b.shape, expected=f"({A.shape[-1]},) or (..., {A.shape[-1]}, m)")
    columns = b[:, None] if b.ndim == 1 else b
    method = solved_positive if positive_definite else solved
    x = _each(method, columns.shape[-2:], A, columns)
    return x[..., 0] if b.ndim == 1 else x


def inverse(A: Any) -> Any:
    """Return the inverses of square matrices, shape (..., n, n), as `numpy.linalg.inv` does.

    Args:
        A: matrices, shape (..., n, n), of numbers or symbols; of any unit.

    Raises:
        ShapeError: if the matrices are not square, or traced and larger than 32 x 32.

    Examples:
        >>> cardan.inverse(2.0 * np.eye(2)).tolist()
        [[0.5, 0.0], [0.0, 0.5]]
    """
    A = array_of(A)
    return np.linalg.inv(A) if A.dtype != object else solve(A, np.eye(A.shape[-1]))


def determinant(A: Any) -> Any:
    """Return the determinants of square matrices, shape (..., n, n), as `numpy.linalg.det` does.

    Args:
        A: matrices, shape (..., n, n), of numbers or symbols.

    Raises:
        ShapeError: if the matrices are not square, or traced and larger than 32 x 32.

    Examples:
        >>> round(float(cardan.determinant(2.0 * np.eye(3))), 12)
        8.0
    """
    A = array_of(A)
    if A.dtype != object:
        return np.linalg.det(A)
    _check_square("determinant", A)
    return _each(lambda rows: [[determinant_of(rows)]], (1, 1), A)[..., 0, 0]


def norm(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the Euclidean length of a vector, or along an axis; of a matrix, that of all its entries.

    At 0, where the length has no derivative, the one traced is 0.

    Args:
        x: a vector, or an array of them, of numbers or symbols; of any unit.
        axis: along which; by default all entries are one vector.
        keepdims: whether the axis stays, of length 1.

    Examples:
        >>> float(cardan.norm(np.array([3.0, 4.0])))
        5.0
    """
    x = array_of(x)
    if x.dtype != object:
        return np.linalg.norm(x, axis=axis, keepdims=keepdims)
    squares = np.sum(bare(x * x), axis=axis, keepdims=keepdims)
    several = isinstance(squares, np.ndarray) and squares.dtype == object  # else it is one scalar, perhaps a batch
    return dressed(_lengths(squares)) if several else _length(squares)


def _length(square: Any) -> Any:
    zero = square == 0.0
    return where(zero, 0.0, sqrt(where(zero, 1.0, square)))


_lengths = np.frompyfunc(_length, 1, 1)


def _each(method: Callable[..., Any], shape: tuple[int, int], *stacks: Any) -> SymbolicArray:
    """Return what a method makes, rows of a shape, of each matrix of stacks that broadcast."""
    leading = np.broadcast_shapes(*(s.shape[:-2] for s in stacks))
    full = [np.broadcast_to(s, (*leading, *s.shape[-2:])) for s in stacks]
    results = [method(*(s[k].tolist() for s in full)) for k in np.ndindex(*leading)]
    return symbolic((e for rows in results for row in rows for e in row), (*leading, *shape))


def _check_square(where_: str, A: Any) -> None:
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ShapeError(where_, "A", got=A.shape, expected="(..., n, n)")
    if A.shape[-1] > LARGEST:
        hint = "A traced system is written out in full; solve one this large outside, on numbers."
        raise ShapeError(where_, "A", got=A.shape, expected=f"at most {LARGEST} unknowns", hint=hint)
