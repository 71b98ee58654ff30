"""NumPy's functions of whole arrays that are not its own code on symbols, and functions given by tables of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan._algebra.arrays.elsewhere import refused
from cardan._algebra.arrays.linear import determinant, inverse, norm, solve
from cardan._algebra.arrays.symbolic import OWN, array_of, bare, dressed
from cardan._algebra.errors import ParameterError, TraceError, users_line
from cardan._algebra.scalar import maximum, minimum, where


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
    x = minimum(maximum(x, knots[0]), knots[-1])
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
