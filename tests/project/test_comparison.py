"""When two commits count as differently fast; times are made up here."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.compare import Pair
from benchmarks.spread import Spread, ratios


def pair(starts):
    """A pair whose ratios, new over old, are given for each start of the processes, on a machine that slows down."""
    made, slowness = Pair(("robot", "quantity", "batch")), iter(np.linspace(1.0, 5.0, 100))
    for start in starts:
        made.begin()
        for ratio in start:
            moment = next(slowness)
            made.keep(moment, moment * ratio)
    return made


def test_quartiles():
    spread = Spread.of([5.0, 1.0, 2.0, 4.0, 3.0])
    assert spread == (3.0, 2.0, 4.0, 1.0, 5)


def test_ratios_are_those_of_a_round():
    assert ratios([2.0, 20.0, 200.0], [1.0, 10.0, 100.0]) == (2.0, 2.0, 2.0, 2.0, 3)


@pytest.mark.parametrize(
    ("starts", "slower", "faster"),
    [
        ([[1.2] * 6] * 4, True, False),
        ([[0.8] * 6] * 4, False, True),
        ([[1.0] * 6] * 4, False, False),
        ([[1.04] * 6] * 4, False, False),  # less than is allowed
        ([[1.3] * 6] * 3 + [[1.0] * 6], False, False),  # where it lay in memory
        ([[1.3, 0.9, 1.3, 0.9, 1.3, 1.3]] * 4, False, False),  # within the spread
    ],
)
def test_only_what_every_start_says_beyond_the_spread_counts(starts, slower, faster):
    made = pair(starts)
    assert (made.slower(0.05), made.faster(0.05)) == (slower, faster)
