"""What no code for a program could be faster than: the multiply-add units, and writing its results."""

from __future__ import annotations

from typing import Any

from benchmarks.machine import store_seconds
from benchmarks.spread import Spread
from benchmarks.timing import Subject
from cardan._compiler.program import Op, Program

COSTS = {Op.MUL: 1, Op.DIV: 1, Op.SQRT: 1, Op.SIN: 10, Op.COS: 10}
"""Instructions of the multiply-add units at least: a sum is part of a multiply-add or, on some processors, goes
elsewhere; of a sine and a cosine of one angle, reduction and two polynomials are about 20."""


def multiplications(program: Program) -> int:
    """Return how many instructions of a program without regions only multiply-add units can do."""
    return sum(COSTS.get(i.op, 0) for i in program.instructions)


class Bounds:
    """Bounds of a program's time for a batch on one core, measured as often as the program.

    Attributes:
        bytes: of the results of a state.
    """

    def __init__(self, program: Program, states: int) -> None:
        self.bytes = 8 * len(program.results)
        self._instructions, self._states = multiplications(program), states
        self._pipe: list[float] = []
        self._store: list[float] = []

    def measure(self, rate: float) -> None:
        """Measure once more.

        Args:
            rate: operations a second the core can do now, a multiply-add counting as two.
        """
        self._pipe.append(2.0 * self._instructions / rate)
        self._store.append(store_seconds(self.bytes * self._states) / self._states)

    def shares(self, ours: Subject) -> dict[str, Any]:
        """Return both bounds [s], and what share of our times they are, by figure: the larger one is what counts."""
        pipe, store = Spread.of(self._pipe).median, Spread.of(self._store).median
        found: dict[str, Any] = {"pipe_s": pipe, "store_s": store}
        for figure in ("batch", "out"):
            if figure in ours.times:
                taken = Spread.of(ours.times[figure].cpu).median
                found[figure] = {"pipe": pipe / taken, "store": store / taken}
        if "cached" in ours.times:
            found["cached"] = {"pipe": pipe / Spread.of(ours.times["cached"].cpu).median}
        return found
