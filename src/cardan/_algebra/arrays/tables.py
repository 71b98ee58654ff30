"""Functions given by tables of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan._algebra.arrays.symbolic import array_of, bare, dressed
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
