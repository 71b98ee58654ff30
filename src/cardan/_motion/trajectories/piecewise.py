"""Polynomials in pieces between knots, with their first two derivatives.

Piece i is sum_k c_ik u^k with u = (t - t_i) / (t_(i+1) - t_i) from 0 to 1: coefficients of all powers have the unit of
the value and sizes alike, whether the times are nanoseconds or years.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval

from cardan._algebra.errors import ParameterError
from cardan._dynamics.call.arguments import shaped_array

Jet = tuple[np.ndarray, np.ndarray, np.ndarray]  # a value with its first and second derivative by time
ROUNDING = 1e-9  # of the whole time: as far beyond the ends as a time may be that was summed up from many steps


@dataclass(frozen=True, slots=True, eq=False)
class PiecewisePolynomial:
    """A function of time, polynomial between knots."""

    knots: np.ndarray  # times, increasing, shape (n + 1,)
    coefficients: np.ndarray  # of the powers of u, shape (n, order + 1, ...)
    _powers: tuple[np.ndarray, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        value = np.moveaxis(self.coefficients, 1, 0)
        width = np.diff(self.knots).reshape(-1, *(1,) * (value.ndim - 2))
        rate = polyder(value) / width
        object.__setattr__(self, "_powers", (value, rate, polyder(rate) / width))

    def piece(self, t: np.ndarray) -> np.ndarray:
        """Return in which piece each time is: at a knot, the one that begins there."""
        return np.searchsorted(self.knots[1:-1], t, side="right")

    def at(self, t: np.ndarray) -> Jet:
        """Return value, first and second derivative at times within the knots, each of shape (*t, ...)."""
        index = self.piece(t)
        u = (t - self.knots[index]) / (self.knots[index + 1] - self.knots[index])
        u = np.reshape(u, (*t.shape, *(1,) * (self.coefficients.ndim - 2)))
        value, rate, second = (polyval(u, powers[:, index], tensor=False) for powers in self._powers)
        return value, rate, second


def checked_start(where: str, start: Any) -> float:
    """Return the time at which something begins, one finite number."""
    return float(shaped_array(where, "start", start, ()))


def checked_times(where: str, t: Any, start: float, end: float) -> np.ndarray:
    """Return times within an interval; rounding errors beyond its ends are moved to these."""
    times = shaped_array(where, "t", t, (...,))
    slack = ROUNDING * (end - start)
    outside = (times < start - slack) | (times > end + slack)
    if outside.any():
        hint = "Clip the times (np.clip) to hold the ends."
        expected = f"times from {start:.9g} to {end:.9g} s, where it is defined"
        raise ParameterError(f"{where}: t", got=float(times[outside].flat[0]), expected=expected, hint=hint)
    return np.clip(times, start, end)
