"""Tasks as quadratic programs in the motion of a step, x = v dt, one for each priority; and the solvers for these.

With e the errors of a priority, J their Jacobian, W their weights and k their gains,

    |W (J x + k e)|^2 + d |x|^2  =  x H x + 2 g x + constant,     H = J^T W^2 J + d 1,   g = J^T W^2 k e

which is one compiled program for all priorities. Each is then minimised by a solver of the extra `qp`,

    minimise 1/2 x H x + g x     with     lower <= (x, A x) <= upper

whose tolerances are absolute: numbers shall be about 1.

Source: Kanoun, Lamiraux and Wieber (2011) for priorities with limits; Caron's pink for the form of the tasks; Arnstrom,
Bemporad and Axehill, A dual active-set solver for embedded quadratic programming (2022), daqp; Bambade and others,
ProxQP (2022), proxsuite.
Cost: the tasks' Jacobians, and m nv^2 / 2 for H.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays import symbolic
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.configuration import limit_coordinates
from cardan._dynamics.algorithms.linear import Rows, dot
from cardan._dynamics.call.function import Function
from cardan._dynamics.functions.derivatives import derivative
from cardan._motion.tasks.stack import Stack, stacked_errors, stacked_jacobian, targets_shape
from cardan._motion.tasks.task import Structure
from cardan._motion.tasks.whole_body import ClosedLoops
from cardan._robot.model import Model

_rates = derivative(limit_coordinates, "q")


def priorities(stack: Stack) -> dict[int, list[int]]:
    """Return the numbers of the rows of each priority, the first one first; those that close loops are of -1."""
    found: dict[int, list[int]] = {}
    for task, rows in zip(stack.tasks, stack.rows, strict=True):
        level = -1 if isinstance(task, ClosedLoops) else task.priority
        found.setdefault(level, []).extend(range(rows.start, rows.stop))
    return dict(sorted(found.items()))


def differential(stack: Stack, limited: tuple[int, ...]) -> Function:
    """Return the compiled function (model, q, targets, weights, gains, damping) -> results by name.

    For each priority p but -1: `Hp`, `gp`; `e` and `J`, all errors times their gains and their Jacobian; `limited` and
    `rates`, the limit coordinates of these numbers and the rows of their derivative along v.
    """
    levels = tuple((level, tuple(rows)) for level, rows in priorities(stack).items() if level >= 0)
    return _differential(stack.structure, levels, limited, stack.size)


@functools.lru_cache(maxsize=256)
def _differential(
    structure: Structure, levels: tuple[tuple[int, tuple[int, ...]], ...], limited: tuple[int, ...], size: int
) -> Function:
    tasks = structure.kept()

    def differential_tasks(
        model: Model, q: Any, targets: Any, weights: Any, gains: Any, damping: float
    ) -> dict[str, Any]:
        errors = [k * e for k, e in zip(gains, stacked_errors(tasks, model, q, targets), strict=True)]
        J = stacked_jacobian(tasks, model, q, targets)
        found = {"e": _array([errors], size)[0], "J": _array(J, model.nv)}
        for level, rows in levels:
            weighted = [[weights[r] * x for x in (*J[r], errors[r])] for r in rows]
            found |= _normal(level, weighted, model.nv, damping)
        if limited:
            coordinates, rates = model.manifold.limit_coordinates(q), _rates(model, q)
            found["limited"] = _array([[coordinates[i] for i in limited]], len(limited))[0]
            found["rates"] = _array([list(rates[i]) for i in limited], model.nv)
        return found

    return Function(differential_tasks, {"targets": targets_shape(tasks), "weights": (size,), "gains": (size,)})


def _normal(level: int, weighted: Rows, nv: int, damping: Scalar) -> dict[str, Any]:
    """Return H and g of one priority from the rows of (W J, W k e)."""
    *columns, error = [[row[i] for row in weighted] for i in range(nv + 1)]
    H = [[dot(a, b) + (damping if i == j else 0.0) for j, b in enumerate(columns)] for i, a in enumerate(columns)]
    return {f"H{level}": _array(H, nv), f"g{level}": _array([[dot(a, error) for a in columns]], nv)[0]}


def _array(rows: Sequence[Sequence[Scalar]], columns: int) -> np.ndarray:
    return symbolic((e for row in rows for e in row), (len(rows), columns))


# --- solvers ---


class Quadratic(NamedTuple):
    """A quadratic program."""

    H: np.ndarray  # positive definite, shape (n, n)
    g: np.ndarray  # shape (n,)
    A: np.ndarray  # shape (k, n)
    lower: np.ndarray  # n + k numbers, of x first, or k, of A x alone; infinite where there is none
    upper: np.ndarray


Solver = Callable[[Quadratic], np.ndarray | None]  # from a program to its solution; None if no x is within the bounds
# Of the bounds, one after the other: a step is far above both. Where more bounds meet than there are directions, or
# H has large and small values, a solver may find nothing with the first.
TOLERANCES = 1e-11, 1e-7
ITERATIONS = 100  # of proxsuite: it is there after about ten, and after its own 10 000 no nearer


def _by_daqp(module: Any, given: Quadratic) -> np.ndarray | None:
    H, g, A, lower, upper = map(np.ascontiguousarray, given)  # of others it would read what lies behind
    for tolerance in TOLERANCES:
        x, _, flag, _ = module.solve(H, g, A, upper, lower, primal_tol=tolerance)
        if flag > 0:
            return x
    return None


def _by_proxsuite(module: Any, given: Quadratic) -> np.ndarray | None:
    n, k = len(given.g), len(given.A)
    first = n if len(given.lower) > k else 0
    box = (given.lower[:n], given.upper[:n]) if first else ()
    qp = module.proxqp.dense.QP(n, 0, k, bool(first))
    qp.settings.eps_abs, qp.settings.max_iter = TOLERANCES[0], ITERATIONS
    qp.init(given.H, given.g, None, None, given.A, given.lower[first:], given.upper[first:], *box)
    qp.solve()
    found, solved = qp.results.info, module.proxqp.QPSolverOutput.PROXQP_SOLVED
    return qp.results.x if found.status == solved or max(found.pri_res, found.dua_res) <= TOLERANCES[1] else None


SOLVERS = {"daqp": _by_daqp, "proxsuite": _by_proxsuite}
