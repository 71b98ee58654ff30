"""Polynomials in pieces between knots, with their first two derivatives.

Piece i is sum_k c_ik u^k with u = (t - t_i) / (t_(i+1) - t_i) from 0 to 1: coefficients of all powers have the unit of
the value and sizes alike, whether the times are nanoseconds or years.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan.errors import ParameterError
from cardan.functions.arguments import check_finite, numeric_array

Jet = tuple[np.ndarray, np.ndarray, np.ndarray]
"""A value with its first and second derivative by time."""

ROUNDING = 1e-9
"""Of the whole time: as far beyond the ends as a time may be that was summed up from many steps."""


@dataclass(frozen=True, slots=True, eq=False)
class PiecewisePolynomial:
    """A function of time, polynomial between knots.

    Args:
        knots: times, increasing, shape (n + 1,).
        coefficients: of the powers of u, shape (n, order + 1, ...).
    """

    knots: np.ndarray
    coefficients: np.ndarray

    def piece(self, t: np.ndarray) -> np.ndarray:
        """Return in which piece each time is: at a knot, the one that begins there."""
        return np.clip(np.searchsorted(self.knots, t, side="right") - 1, 0, len(self.knots) - 2)

    def at(self, t: np.ndarray) -> Jet:
        """Return value, first and second derivative at times within the knots, each of shape (*t, ...)."""
        index = self.piece(t)
        c = self.coefficients[index]
        width = np.diff(self.knots)[index]
        aside = (*t.shape, *(1,) * (c.ndim - t.ndim - 1))
        u, width = np.reshape((t - self.knots[index]) / width, aside), np.reshape(width, aside)
        jets = [c]
        for _ in range(2):
            jets.append(_derivative(jets[-1], t.ndim))
        value, rate, second = (_horner(c, u, t.ndim) for c in jets)
        return value, rate / width, second / width**2


def _derivative(c: np.ndarray, axis: int) -> np.ndarray:
    """Return the coefficients of the derivative by u, the powers along an axis."""
    powers = np.arange(1, c.shape[axis]).reshape(-1, *(1,) * (c.ndim - axis - 1))
    return np.take(c, range(1, c.shape[axis]), axis=axis) * powers


def _horner(c: np.ndarray, u: np.ndarray, axis: int) -> np.ndarray:
    powers = np.moveaxis(c, axis, 0)
    total = np.zeros(powers.shape[1:])
    for coefficient in powers[::-1]:
        total = total * u + coefficient
    return total


def checked_times(where: str, t: Any, start: float, end: float) -> np.ndarray:
    """Return times within an interval; rounding errors beyond its ends are moved to these.

    Raises:
        DTypeError, NotFiniteError: for what is no time.
        ParameterError: for a time outside.
    """
    times = np.asarray(numeric_array(where, "t", t), dtype=float)
    check_finite(where, "t", times.reshape(-1), times.shape)
    slack = ROUNDING * (end - start)
    outside = (times < start - slack) | (times > end + slack)
    if outside.any():
        hint = "Clip the times (np.clip) to hold the ends."
        expected = f"times from {start:.9g} to {end:.9g} s, where it is defined"
        raise ParameterError(f"{where}: t", got=float(times[outside].flat[0]), expected=expected, hint=hint)
    return np.clip(times, start, end)
