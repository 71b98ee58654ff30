"""Poses as they are given: quaternions, angles and matrices from outside, checked where they are numbers.

Symbols have no values to look at: what they stand for is taken at its word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan._algebra.arrays import stack
from cardan._algebra.errors import DTypeError, NotFiniteError, ParameterError, ShapeError
from cardan._algebra.scalar import is_symbol
from cardan._algebra.spatial.vector import Matrix3, Scalar, Vector3, components

HAS_SYMBOLS = np.dtype(object)


def given_array(where: str, name: str, value: Any, *cores: tuple[int, ...]) -> np.ndarray:
    """Return an argument as an array of shape (..., *core), of finite real numbers or of symbols.

    Args:
        where: whose argument it is, for messages.
        name: what it is called there.
        value: an array, nested sequences, or spatial objects.
        cores: the shapes one state may have.

    Raises:
        ShapeError, DTypeError, NotFiniteError: if it is something else.
    """
    try:
        array = np.asarray(stack(value) if isinstance(value, Vector3) else value)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    expected = " or ".join(f"(..., {', '.join(map(str, core))})" for core in cores)
    if not any(array.ndim >= len(core) and array.shape[array.ndim - len(core) :] == core for core in cores):
        raise ShapeError(where, name, got=array.shape, expected=expected)
    if array.dtype == object and any(map(is_symbol, array.flat)):
        return array
    if array.dtype.kind not in "fiu":
        raise DTypeError(where, name, got=f"of dtype {array.dtype}", expected="real numbers")
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        index = tuple(map(int, wrong[0]))
        raise NotFiniteError(where, name, index, float(array[index]))
    return array if array.dtype.kind == "f" else array.astype(float)


def given_vector(where: str, name: str, value: Any) -> Vector3:
    """Return three numbers, batches of them, or symbols; `None` is zero."""
    return Vector3.zero() if value is None else Vector3.of(given_array(where, name, value, (3,)))


def given_quaternion(where: str, name: str, value: Any) -> tuple[Scalar, ...]:
    """Return the entries of quaternions, scaled by a power of two so that no square is too large or too small.

    Raises:
        ParameterError: for one of norm 0, beside what `given_array` raises.
    """
    array = given_array(where, name, value, (4,))
    if array.dtype != HAS_SYMBOLS:
        largest = np.abs(array).max(axis=-1, keepdims=True)
        _refuse(where, name, largest[..., 0] == 0.0, "a quaternion of norm 0", "one that has a direction, of norm 1")
        array = np.ldexp(array, -np.frexp(largest)[1])
    return components(array, (4,), name)


def given_rotation(where: str, name: str, array: np.ndarray, tolerance: float) -> Matrix3:
    """Return rotation matrices, shape (..., 3, 3).

    Raises:
        ParameterError: for one that is not orthonormal, or a reflection.
    """
    if array.dtype != HAS_SYMBOLS:
        off = np.abs(np.swapaxes(array, -1, -2) @ array - np.eye(3)).max(axis=(-1, -2))
        hint = "The nearest rotation, of one that is close: U, s, V = np.linalg.svd(R); U @ V."
        expected = f"a rotation: R^T R = 1 to {tolerance:g}"
        _refuse(
            where,
            name,
            off > tolerance,
            f"columns that are not orthonormal (by {np.max(off, initial=0.0):.3g})",
            expected,
            hint,
        )
        hint = "An axis points the other way, or two are exchanged."
        expected = "a rotation: of determinant +1"
        _refuse(where, name, np.linalg.det(array) < 0.0, "a reflection, of determinant -1", expected, hint)
    return Matrix3.of(array)


def refuse_last_row(where: str, name: str, array: np.ndarray, tolerance: float) -> None:
    """Raise `ParameterError` unless the last row of homogeneous matrices is (0, 0, 0, 1)."""
    if array.dtype != HAS_SYMBOLS:
        off = np.abs(array[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(axis=-1)
        hint = "Transpose it, if its translation is in the last row."
        _refuse(where, name, off > tolerance, "another last row", "a homogeneous matrix: last row 0 0 0 1", hint)


def _refuse(where: str, name: str, wrong: Any, got: str, expected: str, hint: str = "") -> None:
    rows = np.argwhere(wrong).tolist() if np.ndim(wrong) else []
    if np.any(wrong):
        first = f" at index {tuple(rows[0]) if len(rows[0]) > 1 else rows[0][0]} of the batch" if rows else ""
        raise ParameterError(f"{where}: {name}", got=got + first, expected=expected, hint=hint)
