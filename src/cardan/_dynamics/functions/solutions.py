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

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._dynamics.call.arguments import name_of_row

DEPENDENT = 1e-8  # rows whose singular value is below this, relative to the largest, depend on the others


def solution_changes(
    where: str,
    q: np.ndarray,
    batch: tuple[int, ...],
    J: np.ndarray,
    free: Sequence[int],
    units: tuple[np.ndarray, np.ndarray],
    rank: int,
    why: Callable[[int], str],
) -> tuple[np.ndarray, np.ndarray]:
    """Return dq by dq0 and by dd (1) at n solutions, of shapes (n, nv, nv) and (n, nv, m).

    Args:
        where: the function that is called.
        q: the solutions, shape (n, nq).
        batch: the shape that n is of.
        J: shape (n, m, nv).
        free: coordinates that follow.
        units: those of every row, shape (m,), and of every coordinate: ranks are of numbers without one.
        rank: of J nearby.
        why: says what is singular, given the number of the equation that moves least.

    Raises:
        ParameterError: for a configuration where there is none.
    """
    rows, columns = units
    own = (J / rows[:, None])[..., free]
    U, s, _ = np.linalg.svd(own * columns[free])
    least = s[:, rank - 1] if rank <= s.shape[-1] else np.zeros(len(s))
    singular = np.flatnonzero(~(least > DEPENDENT * s.max(axis=-1, initial=0.0)))
    if rank and singular.size:
        k = int(singular[0])
        expected = "a configuration in which its equations determine the free coordinates' changes"
        hint = why(int(np.abs(U[k, :, rank - 1]).argmax()))
        raise ParameterError(f"{where}: {name_of_row('q', k, batch)}", got=q[k].tolist(), expected=expected, hint=hint)
    U, s, Vt = np.linalg.svd(own, full_matrices=False)
    along = np.swapaxes(Vt[:, :rank], 1, 2) / s[:, None, :rank]
    inverse = np.zeros(np.swapaxes(J, 1, 2).shape)
    inverse[:, free] = along @ np.swapaxes(U[..., :rank], 1, 2) / rows
    return np.eye(len(columns)) - inverse @ J, inverse
