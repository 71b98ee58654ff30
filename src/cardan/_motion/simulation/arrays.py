"""Arrays of many worlds: what is assigned is checked and copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError, ShapeError
from cardan._dynamics.call.arguments import check_finite, numeric_array

DTYPES = ("float64", "float32")


def checked_dtype(dtype: Any) -> np.dtype:
    """Return float64 or float32, or raise `ParameterError`."""
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind.name not in DTYPES:
        raise ParameterError("dtype", got=dtype, expected="'float64' or 'float32'")
    return kind


def filled(where: str, name: str, value: Any, like: np.ndarray, *, infinite: bool = False) -> np.ndarray:
    """Return a value as an array of the shape and type of another, broadcast over the worlds.

    Args:
        where: for the message.
        name: likewise.
        value: what is given.
        like: an array of that shape, (worlds, ...), and type.
        infinite: whether entries may be infinite.

    Raises:
        DTypeError, ShapeError, NotFiniteError: if it has another core shape, holds no real numbers, or NaN.
    """
    array = numeric_array(where, name, value)
    if array.shape not in (like.shape, like.shape[1:]) and not (array.ndim == 0 and like.ndim == 1):
        expected = f"{like.shape[1:]} or {like.shape}" if like.ndim > 1 else f"() or {like.shape}"
        raise ShapeError(where, name, got=array.shape, expected=expected, hint="The first axis counts the worlds.")
    array = array.astype(like.dtype, copy=False)
    batch = array.shape[: array.ndim - like.ndim + 1]
    shown = np.where(np.isinf(array), 0.0, array) if infinite else array
    check_finite(where, name, shown if batch else shown[None], batch)
    return np.broadcast_to(array, like.shape)


def chosen_rows(worlds: Any, count: int) -> np.ndarray:
    """Return the indices of the worlds chosen by indices or a mask; of all for None.

    Raises:
        ParameterError: for what is neither.
    """
    try:
        return np.arange(count) if worlds is None else np.atleast_1d(np.arange(count)[worlds])
    except (IndexError, TypeError):
        expected = f"a mask of {count} worlds, or indices of them"
        raise ParameterError("worlds", got=worlds, expected=expected) from None
