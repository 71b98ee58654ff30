"""Closed loops of every kind: M a = b + K^T l, K a + k = 0, of M = L^T D L and G = K M^-1 K^T = Y D^-1 Y^T, factored.

The l that closes the loops, K M^-1 (b + K^T l) = -k, comes in `PASSES` of proximal steps, G+ (`proximal`),

    y = L^-T b,        l += dl,   y += Y^T dl,        dl = G+ (-k - Y D^-1 y)

each from the accelerations that y makes, not from G l: what a light body feels is a small difference of large forces,
which l cannot hold and y does. So a constraint is kept to the last digits, whatever the ratio of the masses, if only
G+ is right to one.

Where constraints depend on one another (planar loops, overconstrained ones, a rod too many) G is singular. Of all l the
smallest is found, in a metric R that is block diagonal: for each joint w_f on forces, w_m on moments. A weight tells
what depends from what is merely heavy, so it is a geometric gain over the mean inertia of the coordinates that move the
joint, which is that of the heaviest: light bodies add to G, never to R. Neither units nor the choice of T matter.

Source: Featherstone (2008), section 8.5, for the sparse G; the metric and the steps in y are made here.
Cost: the tree's O(n d), O(nc d) for G and a step, O(nc^3 / 6) for its factors; loops that share no joint stay apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan._algebra.arrays.repeat import repeat
from cardan._algebra.scalar import is_zero, where
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.aba import factored
from cardan._dynamics.algorithms.linear import Rows, dot
from cardan._dynamics.algorithms.loops import Loop, Rowed
from cardan._dynamics.algorithms.proximal import PASSES, STEPS, Regularization, Semidefinite
from cardan._dynamics.algorithms.tree import Vector
from cardan._robot.model import Model

SHARE = 0.01  # of the weight on forces for moments and back, at the length of bodies: where one alone is not felt


class Solved(NamedTuple):
    """Accelerations of closed loops, and the multipliers l."""

    a: list[Scalar]
    multipliers: list[Scalar]


class General:
    """What solves M a = b + K^T l, K a + k = 0 in every configuration."""

    def __init__(self, model: Model, M: Rows, K: Rows, R: Rows, by: Regularization) -> None:
        self.K, self.mass = K, factored(model, M)
        self.Y = [self.mass.inwards(row) for row in K]
        self.Z = [self.mass.scaled(row) for row in self.Y]
        # each pair once, so that G is symmetric to the last digit
        G = [[dot(self.Y[max(i, j)], self.Z[min(i, j)]) for j in range(len(K))] for i in range(len(K))]
        self.G = Semidefinite(G, R, by)

    def solve(self, b: Vector, k: Vector | None = None) -> Solved:
        """Return a and l; k = 0 by default."""
        wanted = [0.0] * len(self.K) if k is None else [-e for e in k]

        def step(y: list[Scalar], multipliers: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
            found = self.G.solve([e - dot(row, y) for e, row in zip(wanted, self.Z, strict=True)], STEPS // PASSES)
            for row, amount in zip(self.Y, found, strict=True):
                y = [e + amount * other for e, other in zip(y, row, strict=True)]
            return y, [e + d for e, d in zip(multipliers, found, strict=True)]

        y, multipliers = repeat(PASSES, step, self.mass.inwards(b), [0.0] * len(self.K))
        return Solved(self.mass.outwards(self.mass.scaled(y)), multipliers)


def metric_of(loop: Rowed, inertias: Vector, extents: Sequence[Scalar], square: Scalar) -> Rows:
    """Return w_f T_f^T T_f + w_m T_m^T T_m of a joint; `square` is that of the bodies' length.

    Each row of a user's constraint is in units of its own, and has a weight of its own.
    """
    if not isinstance(loop, Loop):
        count = range(len(loop.K))
        gains = [_gain(loop, [[float(i == k == m) for m in count] for k in count], inertias, extents) for i in count]
        # where a row is 0 it pulls at nothing, whatever its weight
        return [[where(g > 0.0, g, 1.0) if i == k else 0.0 for k in count] for i, g in enumerate(gains)]
    F = [[a.linear.dot(b.linear) for b in loop.T] for a in loop.T]
    Q = [[a.angular.dot(b.angular) for b in loop.T] for a in loop.T]
    f, m = (_gain(loop, P, inertias, extents) for P in (F, Q))
    w_f, w_m = f + SHARE * (m * square), m + SHARE * (f / square)
    return [[w_f * a + w_m * b for a, b in zip(*rows, strict=True)] for rows in zip(F, Q, strict=True)]


def _gain(loop: Rowed, P: Rows, inertias: Vector, extents: Sequence[Scalar]) -> Scalar:
    """Return the mean inverse inertia along the forces, or moments, of P.

    It is the sum of K_j^T P K_j / |S_j|^2 over that of M_jj / |S_j|^2.
    """
    directions = sum((row[i] for i, row in enumerate(P)), 0.0)
    if is_zero(directions):
        return 0.0
    gain = inertia = 0.0
    for j, column in enumerate(zip(*loop.K, strict=True)):
        # a coordinate beside the loop: its inertia says nothing of what the loop carries
        if all(is_zero(e) for e in column):
            continue
        squared = sum((e * dot(row, column) for e, row in zip(column, P, strict=True)), 0.0)
        gain, inertia = gain + over(squared, extents[j]), inertia + over(inertias[j], extents[j])
    # loops that resist no direction of P have a gain of 0 / 0, which must not reach derivatives
    return gain / (inertia * where(directions > 0.0, directions, 1.0))


def over(a: Scalar, b: Scalar) -> Scalar:
    """Return a / b; 0 where b is 0."""
    # the inner where: a / 0 in the branch that is not taken would make its derivative NaN
    return where(b > 0.0, a / where(b > 0.0, b, 1.0), 0.0)
