"""NumPy's functions of whole arrays that are not its own code on symbols."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan._algebra.arrays.elsewhere import refused
from cardan._algebra.arrays.linear import determinant, inverse, norm, solve
from cardan._algebra.arrays.symbolic import OWN
from cardan._algebra.arrays.tables import interp
from cardan._algebra.scalar import maximum, minimum, where

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


def _array(value: Any, dtype: Any = None, **_: Any) -> Any:
    return np.array(value, dtype=dtype)


__all__ = ["determinant", "interp", "inverse", "norm", "solve"]

OWN |= {
    np.array: _array,  # with like=
    np.asarray: _array,
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
