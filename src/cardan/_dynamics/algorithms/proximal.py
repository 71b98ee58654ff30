"""Symmetric systems that may be singular: A x = b with b in the range of A, A positive semidefinite.

    x <- x + X (b - A x)        from x = 0,        X = (A + N)^-1,   N = mu R + nu diag(A)

or, since 1 - A X = N X, the sum X b + X N X b + ..., in which nothing cancels. Each step shrinks the error along an
eigenvalue s of N^-1 A by 1 / (1 + s): what matters is solved, what is dependent stays out, no rank is decided, and the
result is the solution that is smallest in the metric N. R says what is small; nu diag(A), a few units in the last place
of A, keeps A + N positive however large rounding errors of A are beside R.

Source: Carpentier, Budhiraja and Mansard, Proximal and sparse resolution of constrained dynamic equations (2021);
Rockafellar, Monotone operators and the proximal point algorithm (1976).
Cost: O(n^3 / 6) for the factorisation, n^2 a step; 5 n^3 for `inverse`.
"""

from __future__ import annotations

from typing import NamedTuple

from cardan._algebra.scalar import where
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.linear import Factor, Rows, dot, product
from cardan._dynamics.algorithms.tree import Vector

STEPS = 6  # proximal steps: along s = 30 mu the error is 1e-9, along s = 300 mu it is 1e-15
PASSES = 2  # in which they go where the rest of the equation is looked at again


class Regularization(NamedTuple):
    """How much of R and of the diagonal of A is added."""

    # what depends on the rest only up to an error e moves as if it were STEPS e / mu, so above rounding; Bennett's
    # linkage, a little open in the steps of an integrator, wants no less than 1e-5
    mu: Scalar
    nu: Scalar  # as many units in the last place as terms of a sum that cancels, and more than `linear.ROUNDING`


DOUBLE, SINGLE = Regularization(1e-5, 2e-14), Regularization(1e-3, 5e-7)
SHARING = Regularization(1e-2, SINGLE.nu)
"""In single precision, for the efforts of drives: their matrix is itself the result of a solution, with ten times the
errors of G, while the least of what drives move, s, is seldom below 0.1, of which STEPS leave (1 + s / mu)^-6."""


def regularization(q: Vector, single: Regularization = SINGLE) -> Regularization:
    """Return the one for the precision the program runs in."""
    return Regularization(*(where(is_double(q), a, b) for a, b in zip(DOUBLE, single, strict=True)))


def is_double(q: Vector) -> Scalar:
    """Return whether numbers have double precision.

    A program does not know it: it is seen in whether 1 + q_0^2, which no compiler can fold, keeps a small part of it.
    """
    number = 1.0 + q[0] * q[0]
    return number + 1e-10 * number > number


class Semidefinite:
    """What solves A x = b: the solution that is smallest in the metric N."""

    def __init__(self, A: Rows, R: Rows, by: Regularization) -> None:
        # rounding errors of A grow with A, so what covers them is a part of its own diagonal
        self.N = [
            [by.mu * r + (by.nu * A[i][i] if i == j else 0.0) for j, r in enumerate(row)] for i, row in enumerate(R)
        ]
        self.factor = Factor([[a + n for a, n in zip(*rows, strict=True)] for rows in zip(A, self.N, strict=True)])

    def solve(self, b: Vector, steps: int = STEPS) -> list[Scalar]:
        """Return x after so many steps."""
        step = x = self.factor.solve(b)
        for _ in range(steps - 1):
            step = self.factor.solve([dot(row, step) for row in self.N])
            x = [e + d for e, d in zip(x, step, strict=True)]
        return x

    def inverse(self) -> Rows:
        """Return what takes b to x after `STEPS` steps, 6: (1 + E^2 + E^4) (1 + E) X, E = X N."""
        X = self.factor.inverse()
        E = product(X, self.N)
        of_two, square = _sum(X, product(E, X)), product(E, E)
        return _sum(of_two, product(square, _sum(of_two, product(square, of_two))))


def _sum(A: Rows, B: Rows) -> Rows:
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(A, B, strict=True)]
