"""Descents from several places: which problems of a batch are solved, and what is best where none of them solves one.

All problems that are not solved are descended some passes a call. A descent that gets no nearer is given up, and the
next one begins at a random configuration: the first of them is the same for every problem, and so is the second. So
what is found for one does not depend on the others, nor on how a batch is split. At last, what was found best for
problems that nothing solved is brought to rest in its valley.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from cardan.functions.function import Function
from cardan.model import Model
from cardan.tasks.levenberg_marquardt import DAMPING, PASSES

LONGEST = 6
"""Calls of one descent. Hardly any of those that lead to a solution are longer."""
NEARER = 0.3
"""A descent is given up when a call does not bring its squared error down to this part of what it was."""
FINISH, RESTING = 25, 1e-6
"""Calls in which the best is brought to rest: as many, or until one takes less than this part off its squared error."""
WITHIN = 1e-9
"""How far [rad, m] a configuration may be outside limits that are no bounds of its entries."""


class Settings(NamedTuple):
    """How long to search.

    Attributes:
        restarts: random configurations to begin at, at most.
        seed: of these.
        tolerance: largest accepted residual [m, rad].
    """

    restarts: int
    seed: int
    tolerance: float


class Found(NamedTuple):
    """What is known of n problems; as `InverseKinematics` says."""

    q: np.ndarray
    converged: np.ndarray
    residual: np.ndarray
    restarts: np.ndarray
    iterations: np.ndarray


class Search:
    """The search for solutions of n problems.

    Args:
        function: some passes of a descent, from `levenberg_marquardt.descent`.
        model: the robot.
        q: where the first descents begin, shape (n, nq).
        targets: those of the tasks, shape (n, k).
        weights: of their rows, shape (n, m).
        scales: what makes rows comparable, shape (m,): solutions are looked for with weights times these.
        settings: how long to search.
    """

    def __init__(
        self,
        function: Function,
        model: Model,
        q: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray,
        scales: np.ndarray,
        settings: Settings,
    ) -> None:
        n = len(q)
        self.function, self.model, self.targets = function, model, targets
        self.asked, self.weights, self.settings = weights, weights * scales, settings
        self.at, self.damping = q.copy(), np.full(n, DAMPING)
        self.found = Found(q.copy(), np.zeros(n, bool), np.full(n, np.inf), np.zeros(n, int), np.zeros(n, int))
        self.cost = np.full(n, np.inf)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where descents begin that are not the first, shape (restarts, nq)."""
        return self.model.random_configuration((self.settings.restarts,), seed=self.settings.seed)

    def run(self) -> Found:
        """Return what is found."""
        rows, calls, last = np.arange(len(self.at)), np.zeros(len(self.at), int), self.cost.copy()
        while rows.size:
            cost = self._descend(rows)
            calls[rows] += 1
            goes_on = (cost <= NEARER * last[rows]) & (calls[rows] < LONGEST)
            last[rows] = cost
            rows, goes_on = self._unsolved(rows, goes_on)
            again = rows[~goes_on & (self.found.restarts[rows] < self.settings.restarts)]
            rows = np.sort(np.concatenate([rows[goes_on], again]))
            if again.size:
                self._begin(again)
                calls[again], last[again] = 0, np.inf
        self._finish()
        return self.found

    def _descend(self, rows: np.ndarray) -> np.ndarray:
        """Go some passes on with some problems, note what is best, and return the squared errors."""
        step = self.function(self.model, self.at[rows], self.damping[rows], self.targets[rows], self.weights[rows])
        self.at[rows], self.damping[rows] = step.q, step.damping
        self.found.iterations[rows] += PASSES
        solved = (step.residual <= self.settings.tolerance) & (step.violation <= WITHIN)
        better = solved | (step.cost < self.cost[rows])
        best = rows[better]
        self.found.q[best], self.found.residual[best] = step.q[better], step.residual[better]
        self.found.converged[rows], self.cost[best] = solved, step.cost[better]
        return step.cost

    def _unsolved(self, rows: np.ndarray, *beside: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the problems that are not solved, and what belongs to them."""
        open_ones = ~self.found.converged[rows]
        return tuple(array[open_ones] for array in (rows, *beside))

    def _begin(self, rows: np.ndarray) -> None:
        """Begin again with some problems, each at the next of the random configurations."""
        self.at[rows], self.damping[rows] = self.starts[self.found.restarts[rows]], DAMPING
        self.found.restarts[rows] += 1

    def _finish(self) -> None:
        """Bring what is best of the problems that are not solved to rest, by the weights that were given."""
        (rows,) = self._unsolved(np.arange(len(self.at)))
        self.at[rows], self.damping[rows], self.cost[rows] = self.found.q[rows], DAMPING, np.inf
        self.weights, calls = self.asked, 0
        while rows.size and calls < FINISH:
            before = self.cost[rows]
            falls = self._descend(rows) < (1.0 - RESTING) * before
            rows, falls = self._unsolved(rows, falls)
            rows, calls = rows[falls], calls + 1
