"""How solutions of equations e(q) = d change: with d, and with the configuration to which they are the nearest.

A search returns one solution of many where coordinates are left over. What is differentiated here is the solution
q(d, q0) with the least sum of squares of difference(q0, q), among those with some coordinates as in q0. At a solution,
q0 = q, the multipliers of its equations are 0. So the implicit function theorem needs no second derivatives:

    (1)  dq = (1 - J_f^+ J) dq0 + J_f^+ dd        J = de/dq, J_f its columns of coordinates that are free

with J_f^+ the pseudoinverse at the rank that J has nearby. Where the rank of J_f is less, there is no derivative.

Source: Krantz and Parks, The implicit function theorem (2002); Fiacco, Introduction to sensitivity and stability
analysis in nonlinear programming (1983), for the nearest solution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cardan._algebra.errors import ParameterError

DEPENDENT = 1e-8  # rows whose singular value is below this, relative to the largest, depend on the others


class Equations(NamedTuple):
    """Equations e(q) = d at n solutions q, to differentiate.

    `why` says what is singular, given the number of the equation that moves least.
    """

    where: str
    q: np.ndarray  # shape (n, nq)
    batch: tuple[int, ...]  # the shape that n is of
    J: np.ndarray  # shape (n, m, nv)
    free: Sequence[int]  # coordinates that follow
    rows: np.ndarray  # the unit of every row, shape (m,), and of every coordinate: ranks are of numbers without one
    columns: np.ndarray
    rank: int  # of J nearby
    why: Callable[[int], str]

    def changes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return dq by dq0 and by dd (1), of shapes (n, nv, nv) and (n, nv, m).

        Raises:
            ParameterError: for a configuration where there is none.
        """
        self._check()
        U, s, Vt = np.linalg.svd((self.J / self.rows[:, None])[..., self.free], full_matrices=False)
        r = self.rank
        along = np.swapaxes(Vt[:, :r], 1, 2) / s[:, None, :r]
        inverse = np.zeros(np.swapaxes(self.J, 1, 2).shape)
        inverse[:, self.free] = along @ np.swapaxes(U[..., :r], 1, 2) / self.rows
        return np.eye(len(self.columns)) - inverse @ self.J, inverse

    def _check(self) -> None:
        if not self.rank:
            return
        scaled = (self.J / self.rows[:, None] * self.columns)[..., self.free]
        U, s, _ = np.linalg.svd(scaled)
        least = s[:, self.rank - 1] if self.rank <= s.shape[-1] else np.zeros(len(s))
        singular = np.flatnonzero(~(least > DEPENDENT * s.max(axis=-1, initial=0.0)))
        if singular.size:
            k = int(singular[0])
            row = [int(i) for i in np.unravel_index(k, self.batch)] if self.batch else ""
            expected = "a configuration in which its equations determine the free coordinates' changes"
            why = self.why(int(np.abs(U[k, :, self.rank - 1]).argmax()))
            raise ParameterError(f"{self.where}: q{row}", got=self.q[k].tolist(), expected=expected, hint=why)
