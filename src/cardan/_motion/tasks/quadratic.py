"""Small dense quadratic programs, by the solvers of the extra `qp`.

    minimise 1/2 x H x + g x     with     lower <= (x, A x) <= upper

Their tolerances are absolute: numbers shall be about 1.

Source: Arnstrom, Bemporad and Axehill, A dual active-set solver for embedded quadratic programming (2022), daqp;
Bambade and others, ProxQP (2022), proxsuite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.errors import UnknownNameError
from cardan._compiler.runtime.extras import package


class Quadratic(NamedTuple):
    """A quadratic program.

    H is positive definite, shape (n, n), g of shape (n,), A of (k, n). The bounds are n + k numbers, of x first, or k,
    of A x alone; infinite where there is none.
    """

    H: np.ndarray
    g: np.ndarray
    A: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


Solver = Callable[[Quadratic], np.ndarray | None]  # from a program to its solution; None if no x is within the bounds
# Of the bounds, one after the other: a step is far above both. Where more bounds meet than there are directions, or
# H has large and small values, a solver may find nothing with the first.
TOLERANCES = 1e-11, 1e-7
ITERATIONS = 100  # of proxsuite: it is there after about ten, and after its own 10 000 no nearer


def _daqp(module: Any) -> Solver:
    def solve(given: Quadratic) -> np.ndarray | None:
        H, g, A, lower, upper = map(np.ascontiguousarray, given)  # of others it would read what lies behind
        for tolerance in TOLERANCES:
            x, _, flag, _ = module.solve(H, g, A, upper, lower, primal_tol=tolerance)
            if flag > 0:
                return x
        return None

    return solve


def _proxsuite(module: Any) -> Solver:
    qps, solved = module.proxqp.dense.QP, module.proxqp.QPSolverOutput.PROXQP_SOLVED

    def solve(given: Quadratic) -> np.ndarray | None:
        n, k = len(given.g), len(given.A)
        first = n if len(given.lower) > k else 0
        box = (given.lower[:n], given.upper[:n]) if first else ()
        qp = qps(n, 0, k, bool(first))
        qp.settings.eps_abs, qp.settings.max_iter = TOLERANCES[0], ITERATIONS
        qp.init(given.H, given.g, None, None, given.A, given.lower[first:], given.upper[first:], *box)
        qp.solve()
        found = qp.results.info
        return qp.results.x if found.status == solved or max(found.pri_res, found.dua_res) <= TOLERANCES[1] else None

    return solve


SOLVERS = {"daqp": _daqp, "proxsuite": _proxsuite}


def solver_of(name: str, where: str) -> Solver:
    """Return a solver by its name; raise `UnknownNameError` or, if it is not installed, `MissingExtraError`."""
    if name not in SOLVERS:
        raise UnknownNameError("solver", name, SOLVERS, where=where)
    return SOLVERS[name](package(name, f"{where} by {name}", "qp"))
