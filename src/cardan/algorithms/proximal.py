"""Symmetric systems that may be singular: A x = b with b in the range of A, A positive semidefinite.

    x <- x + (A + mu R)^-1 (b - A x)        from x = 0

Each step shrinks the error along an eigenvalue s of R^-1 A by mu / (s + mu): what matters is solved, what is dependent
stays out, no rank is decided, and the result is the solution that is smallest in the metric R.

Source: Carpentier, Budhiraja and Mansard, Proximal and sparse resolution of constrained dynamic equations (2021);
Rockafellar, Monotone operators and the proximal point algorithm (1976).
Cost: O(n^3 / 6) for the factorisation, 2 n^2 a step.
"""

from __future__ import annotations

from cardan.algorithms.linear import Factor, Rows, dot
from cardan.algorithms.tree import Vector
from cardan.scalar import where
from cardan.spatial import Scalar

STEPS = 5  # proximal steps: along s = 100 mu the error is 1e-10, along s = 1000 mu it is 1e-15
DOUBLE, SINGLE = 1e-6, 1e-3  # mu; what depends on the rest only up to an error e moves as if it were STEPS e / mu


class Proximal:
    """Solves A x = b for a symmetric A that may be singular: the solution that is smallest in the metric R."""

    def __init__(self, A: Rows, R: Rows) -> None:
        self.A = A
        mu = _regularization(R[0][0])
        self.factor = Factor([[a + mu * r for a, r in zip(*rows, strict=True)] for rows in zip(A, R, strict=True)])

    def solve(self, b: Vector) -> list[Scalar]:
        """Return x."""
        x = self.factor.solve(b)
        for _ in range(STEPS - 1):
            rest = [e - dot(row, x) for e, row in zip(b, self.A, strict=True)]
            x = [e + d for e, d in zip(x, self.factor.solve(rest), strict=True)]
        return x


def proximal(A: Rows, R: Rows, b: Vector) -> list[Scalar]:
    """Return the solution of A x = b that is smallest in the metric R."""
    return Proximal(A, R).solve(b) if A else []


def _regularization(positive: Scalar) -> Scalar:
    """Return mu for the precision the program runs in, which is seen in the sum of a number with a small part of it."""
    return where(positive + 1e-10 * positive > positive, DOUBLE, SINGLE)
