"""A descent on the squared error of tasks: Levenberg-Marquardt steps on the manifold, within bounds, as one program.

With e the errors times their weights and J their Jacobian, by the velocities that are free to move,

    step = -J^T (J J^T + mu 1)^-1 e  =  -(J^T J + mu 1)^-1 J^T e,        mu = nu |e|^2

by the smaller of the two matrices. nu falls where a step leads to a smaller |e|; where it does not, the step is not
taken and nu grows. As mu falls with |e|^2, the end is quadratic, also where the rows of J depend on one another. A
coordinate is not free where it is at its bound and the gradient J^T e pushes it further; one that a step takes past
its bound stops there.

Source: More (1978); Fan and Yuan (2005) for mu; Kanzow, Yamashita and Fukushima (2004) for the bounds.
Cost: a pass evaluates the errors twice and J once, and solves one system.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays import repeat, symbolic
from cardan._algebra.scalar import absolute, maximum, minimum, where
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.linear import Factor, Rows, dot, transposed
from cardan._dynamics.call.function import Function
from cardan._motion.tasks.bounds import WithinLimits, bounds_of, clipped, freedoms, other_limits
from cardan._motion.tasks.stack import stacked_errors, stacked_jacobian, targets_shape
from cardan._motion.tasks.task import Structure, Task
from cardan._robot.model import Model

PASSES = 8  # of one call: rows that are done leave only after it, and each call costs some microseconds
DAMPING = 1e-2  # nu to begin with; it, FALL and GROWTH were chosen for most solutions in a time, of arm7 and the Panda
FALL, GROWTH = 0.5, 4.0
LEAST, MOST = 1e-12, 1e12  # of nu: what follows from it is a number in double precision, whatever the errors
# The least mu, relative to the matrix's trace: pivots of rows that depend on others stay above rounding errors.
ROUNDING = 1e-13


class Descent(NamedTuple):
    """Where some passes have led."""

    q: Any  # configuration, shape (nq,)
    damping: Any  # nu
    residual: Any  # largest entry of the tasks' errors, times no weight, of those whose weight is not 0 [m, rad]
    violation: Any  # largest distance of a limit coordinate from its limits [m, rad]
    cost: Any  # |e|^2 of the errors times their weights, those of limits among them


class Problem:
    """The tasks of a descent over scalars: their errors and Jacobian, each row times its weight.

    `bounds` are those of entries of q; all other limits are one task more, after the others, of the weight `stiffness`.
    That is None where no limits count.
    """

    def __init__(
        self, tasks: Sequence[Task], model: Model, targets: Any, weights: Sequence[Scalar], stiffness: Scalar | None
    ) -> None:
        others = () if stiffness is None else other_limits(model)
        self.tasks = (*tasks, WithinLimits(others)) if others else tasks
        self.model, self.targets, self.weights = model, targets, [*weights, *(stiffness for _ in others)]
        self.bounds = () if stiffness is None else bounds_of(model)

    def errors(self, q: Sequence[Scalar]) -> list[Scalar]:
        return stacked_errors(self.tasks, self.model, _array(q), self.targets)

    def weighted(self, q: Sequence[Scalar]) -> list[Scalar]:
        return [w * x for w, x in zip(self.weights, self.errors(q), strict=True)]

    def jacobian(self, q: Sequence[Scalar]) -> Rows:
        rows = stacked_jacobian(self.tasks, self.model, _array(q), self.targets)
        return [[w * x for x in row] for w, row in zip(self.weights, rows, strict=True)]

    def descend(self, q: Sequence[Scalar], nu: Scalar) -> tuple[list[Scalar], Scalar]:
        e, J = self.weighted(q), self.jacobian(q)
        gradient = [dot([row[i] for row in J], e) for i in range(self.model.nv)]
        cost, free = _square(e), freedoms(self.model.nv, q, gradient, self.bounds)
        moved = self.model.manifold.integrate(q, step(J, e, nu * cost, gradient, free))
        candidate = clipped(moved, self.bounds)
        better = _square(self.weighted(candidate)) < cost
        taken = [where(better, a, b) for a, b in zip(candidate, q, strict=True)]
        return taken, where(better, maximum(nu * FALL, LEAST), minimum(nu * GROWTH, MOST))


def step(J: Rows, e: Sequence[Scalar], mu: Scalar, gradient: Sequence[Scalar], free: Sequence[Scalar]) -> list[Scalar]:
    """Return the step of the velocities that are free (1), 0 for the others (0); the gradient is J^T e."""
    F = [[x * f for x, f in zip(row, free, strict=True)] for row in J]
    if len(J) <= len(free):
        y = _damped(F, mu).solve(e)
        return [-dot([row[i] for row in F], y) for i in range(len(free))]
    return [-f * x for f, x in zip(free, _damped(transposed(F), mu).solve(gradient), strict=True)]


def _damped(rows: Rows, mu: Scalar) -> Factor:
    """Return the factorisation of A A^T + mu 1, of which the lower triangle is made."""
    A: Rows = [[dot(a, b) for b in rows[: i + 1]] for i, a in enumerate(rows)]
    least = mu + ROUNDING * sum((row[-1] for row in A), 0.0)
    enough = where(least > 0.0, least, 1.0)  # a matrix of zeros has a factorisation, too: there the step is 0
    for row in A:
        row[-1] = row[-1] + enough
    return Factor(A)


@functools.lru_cache(maxsize=256)
def descent(structure: Structure, size: int, limits: bool) -> Function:
    """Return the compiled function (model, q, damping, stiffness, targets, weights) -> `Descent` of `PASSES` passes."""
    tasks = structure.kept()

    def inverse_kinematics_passes(
        model: Model, q: Any, damping: float, stiffness: float, targets: Any, weights: Any
    ) -> Descent:
        problem = Problem(tasks, model, targets, weights.tolist(), stiffness if limits else None)
        found, nu = repeat(PASSES, problem.descend, clipped(q.tolist(), problem.bounds), damping)
        errors = problem.errors(found)
        asked = [where(w > 0.0, e, 0.0) for w, e in zip(weights.tolist(), errors, strict=False)]
        return Descent(_array(found), nu, _largest(asked), _largest(errors[size:]), _square(problem.weighted(found)))

    return Function(inverse_kinematics_passes, {"targets": targets_shape(tasks), "weights": (size,)})


def _array(entries: Sequence[Scalar]) -> np.ndarray:
    return symbolic(entries, (len(entries),))


def _square(e: Sequence[Scalar]) -> Scalar:
    return dot(e, e)


def _largest(entries: Sequence[Scalar]) -> Scalar:
    return functools.reduce(maximum, map(absolute, entries), 0.0)
