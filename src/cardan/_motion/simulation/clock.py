"""The time of many worlds, and which of them diverged: counted by a solver's steps, made arrays when they are read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MOST = 2**20
"""Steps counted from one beginning: so many, and far more in one call, are exact in single precision."""


class Clock(NamedTuple):
    """How many steps of one length were good since the time was known last.

    Attributes:
        start: the time then [s], shape (worlds,), which nobody writes.
        lost: which worlds had diverged by then, likewise.
        dt: the length of a step [s].
        taken: how many steps were to be taken since.
        good: how many of them were good, shape (worlds,), of the state's dtype: a compiled step counts on.
    """

    start: np.ndarray
    lost: np.ndarray
    dt: float
    taken: int
    good: np.ndarray

    @staticmethod
    def at(time: np.ndarray, diverged: np.ndarray, dtype: np.dtype, dt: float = 0.0) -> Clock:
        """Return the clock that begins at a time [s]; the arrays are copied."""
        return Clock(time.copy(), diverged.copy(), dt, 0, np.zeros(len(time), dtype))

    @property
    def time(self) -> np.ndarray:
        """Time in each world [s], an array of its own."""
        return self.start + self.good.astype(np.float64) * self.dt

    @property
    def diverged(self) -> np.ndarray:
        """Whether a step found no finite result, an array of its own."""
        return self.lost | (self.good < self.taken)
