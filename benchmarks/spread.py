"""What is kept of many measurements of one thing: the median, and how far the middle half of them spreads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Spread(NamedTuple):
    """Quartiles of some measurements.

    Attributes:
        median: half of them are below.
        low, high: a quarter of them is below, above.
        least: of them.
        rounds: how many there are.
    """

    median: float
    low: float
    high: float
    least: float
    rounds: int

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        """Return the quartiles of at least one measurement."""
        low, median, high = np.percentile(values, [25, 50, 75])
        return Spread(float(median), float(low), float(high), float(min(values)), len(values))


def ratios(theirs: Sequence[float], ours: Sequence[float]) -> Spread:
    """Return how many times ours theirs is, round by round: what slows a round down slows both of its measurements."""
    rounds = min(len(theirs), len(ours))
    return Spread.of([a / b for a, b in zip(theirs[:rounds], ours[:rounds], strict=True)])
