"""Linear algebra and tables on arrays of numbers, which NumPy does, or symbols, where these stand in for it.

Small linear systems over symbols are solved by Gaussian elimination with partial pivoting. In column k the row with the
largest entry comes to the top. Which one that is, the program finds out as it runs: rows change places by selects, so
that a system is solved whenever its matrix is invertible, whatever its zeros. An entry that is known to be 0 is never
moved up, and where all below the diagonal are, nothing is compared.

Source: Golub and Van Loan, Matrix Computations (2013), algorithm 3.4.1.
Cost: for n unknowns and m right sides about n^3 / 3 + n^2 m multiply-adds and as many pairs of selects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardan._algebra.arrays.symbolic import OWN, SymbolicArray, array_of, bare, dressed, refused, symbolic
from cardan._algebra.errors import ParameterError, ShapeError, TraceError, users_line
from cardan._algebra.scalar import absolute, is_zero, maximum, minimum, sqrt, where

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


# Unknowns a traced system may have: it is written out, n^3 operations, and beyond that nobody wants to compile it.
LARGEST = 32


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
    return where(zero, 0.0, sqrt(where(zero, 1.0, square)))  # the root of 0 has an infinite slope: none is taken


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


def interp(x: Any, xp: Any, fp: Any) -> Any:
    """Return the piecewise linear function through points, constant beyond them, as `numpy.interp` does.

    For a curve without corners use `cardan.joints.NaturalSpline`.

    Args:
        x: where, a scalar of any type or an array.
        xp: the points' abscissae, increasing numbers, shape (n,).
        fp: their ordinates, numbers, shape (n,).

    Raises:
        ParameterError: if the table is empty, its sizes differ, or xp does not increase.
        TraceError: if the table holds symbols.

    Cost: four operations for each point, all points at each call.

    Examples:
        >>> float(cardan.interp(0.25, [0.0, 1.0], [0.0, 8.0]))
        2.0
    """
    knots, values = _table(xp, fp)
    if not isinstance(x, np.ndarray):
        return float(np.interp(x, knots, values)) if isinstance(x, (float, int)) else _at(x, knots, values)
    if x.dtype != object:
        return np.interp(x, knots, values)
    return dressed(np.frompyfunc(lambda e: _at(e, knots, values), 1, 1)(bare(array_of(x))))


def _table(xp: Any, fp: Any) -> tuple[list[float], list[float]]:
    if any(np.asarray(given).dtype == object for given in (xp, fp)):
        what = "a table of interp, or np.interp, holds symbols"
        raise TraceError(f"{what}{users_line()}; its points must be numbers: blend such curves with cardan.where.")
    knots, values = (np.asarray(given, dtype=float) for given in (xp, fp))
    if knots.ndim != 1 or knots.shape != values.shape or not knots.size or not (np.diff(knots) > 0.0).all():
        expected = "increasing xp and as many fp, shape (n,) each"
        raise ParameterError("points of interp", got=(knots.shape, values.shape), expected=expected)
    return knots.tolist(), values.tolist()


def _at(x: Any, knots: list[float], values: list[float]) -> Any:
    """Return f_k + s_k (x - x_k) on the segment k that x lies on, the last point being one of slope 0."""
    x = minimum(maximum(x, knots[0]), knots[-1])  # then no segment goes on beyond the table, as NumPy's does not
    slopes = [*(np.diff(values) / np.diff(knots)).tolist(), 0.0]
    start, value, slope = knots[0], values[0], slopes[0]
    for knot, f, s in zip(knots[1:], values[1:], slopes[1:], strict=True):
        beyond = x >= knot
        start, value, slope = where(beyond, knot, start), where(beyond, f, value), where(beyond, s, slope)
    return value + slope * (x - start)


_where, _minimum, _maximum = np.frompyfunc(where, 3, 1), np.frompyfunc(minimum, 2, 1), np.frompyfunc(maximum, 2, 1)


def _filled_like(value: float) -> Any:
    return lambda prototype, *args, **options: _full_like(prototype, value, *args, **options)


def _full_like(prototype: Any, fill_value: Any, dtype: Any = None, *_: Any, shape: Any = None, **__: Any) -> Any:
    full = np.empty(np.shape(prototype) if shape is None else shape, dtype=dtype or object)
    full[...] = fill_value
    return full


def _choice(condition: Any, *branches: Any) -> Any:
    if not branches:
        raise refused("where(condition) without branches")
    return _where(condition, *branches)


def _clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    lower, upper = (a_min if min is None else min), (a_max if max is None else max)
    x = x if lower is None else _maximum(x, lower)
    return x if upper is None else _minimum(x, upper)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    vectors = np.ndim(x) == 1 or isinstance(axis, (int, np.integer))
    if ord is not None and (ord != 2 if vectors else ord != "fro"):
        raise refused(f"linalg.norm(ord={ord!r})")
    return norm(x, axis, keepdims)


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    if any(option is not None for option in (left, right, period)):
        raise refused("interp(left=, right=, period=)")
    return interp(x, xp, fp)


OWN |= {
    **dict.fromkeys((np.array, np.asarray), lambda value, dtype=None, **_: np.array(value, dtype=dtype)),  # with like=
    np.zeros_like: _filled_like(0.0),
    np.empty_like: _filled_like(0.0),
    np.ones_like: _filled_like(1.0),
    np.full_like: _full_like,
    np.where: _choice,
    np.clip: _clip,
    np.interp: _interp,
    np.linalg.norm: _norm,
    np.linalg.solve: solve,
    np.linalg.inv: inverse,
    np.linalg.det: determinant,
}
