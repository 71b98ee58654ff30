"""A tree and its closing joints at a configuration, factored: M = L^T D L, K, G = K M^-1 K^T.

Where constraints depend on one another (planar loops, overconstrained ones, a rod too many) G is singular. Of all l
with G l = b the smallest is found (`proximal`), in a metric R that is block diagonal: for each joint w_f on forces, w_m
on moments, their mean inverse inertia in G and a tenth of the other's at the size of the bodies (where no motion is
felt, the mean is one of rounding errors). So nothing depends on units or on the choice of T.

Source: Featherstone (2008), section 8.5, for the sparse G; the metric is made here.
Cost: the tree's O(n d), O(nc d) for G, O(nc^3 / 6) for its factors; loops that share no joint stay apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan.algorithms.aba import mass_factor
from cardan.algorithms.linear import Rows, dot
from cardan.algorithms.loops import loops
from cardan.algorithms.proximal import Proximal
from cardan.algorithms.tree import Vector, relative_kinematics
from cardan.model import Model
from cardan.scalar import is_zero, where
from cardan.spatial import Force, Scalar

SHARE = 0.1  # of the other's weight


class Closed:
    """A tree with its loops, at a configuration: M = L^T D L, K and G, factored.

    Loops whose frames no joint moves against each other take no part.
    """

    def __init__(self, model: Model, q: Vector) -> None:
        self.model, self.mass = model, mass_factor(model, q)
        self.loops = loops(model, relative_kinematics(model, q))
        self.moving = [loop for loop in self.loops if loop.T and loop.moves]
        self.K = [row for loop in self.moving for row in loop.K]
        self.Y = [self.mass.inwards(row) for row in self.K]
        self.Z = [self.mass.scaled(row) for row in self.Y]
        self.G = [[dot(self.Y[max(i, j)], self.Z[min(i, j)]) for j in range(len(self.K))] for i in range(len(self.K))]
        self.R = self._weights()
        self.solver = Proximal(self.G, self.R) if self.K else None

    def _weights(self) -> Rows:
        """Return R."""
        R: Rows = [[0.0] * len(self.K) for _ in self.K]
        start, square = 0, _length_squared(self.model)
        for loop in self.moving:
            rows = range(start, start + len(loop.T))
            G = [[self.G[i][j] for j in rows] for i in rows]
            for i, weights in zip(rows, _metric(loop.T, G, square), strict=True):
                for j, weight in zip(rows, weights, strict=True):
                    R[i][j] = weight
            start += len(loop.T)
        return R

    def bias(self, q: Vector, v: Vector, stabilization: float = 0.0) -> list[Scalar]:
        """Return k, with the terms that close an open loop."""
        k = [e for loop in self.moving for e in loop.bias(q, v)]
        if stabilization == 0.0:
            return k
        r = [e for loop in self.moving for e in loop.residual()]
        w = stabilization
        return [e + 2.0 * w * dot(row, v) + w * w * gap for e, row, gap in zip(k, self.K, r, strict=True)]

    def rates(self, inwards: Vector) -> list[Scalar]:
        """Return K M^-1 tau, of L^-T tau."""
        return [dot(row, inwards) for row in self.Z]

    def multipliers(self, b: Vector) -> list[Scalar]:
        """Return the l with G l = b."""
        return self.solver.solve(b) if self.solver else []

    def efforts(self, multipliers: Vector) -> list[Scalar]:
        """Return K^T l."""
        return [dot(column, multipliers) for column in zip(*self.K, strict=True)] or [0.0] * self.model.nv

    def accelerations(self, inwards: Vector, multipliers: Vector) -> list[Scalar]:
        """Return M^-1 (tau + K^T l), of L^-T tau."""
        total = list(inwards)
        for row, amount in zip(self.Y, multipliers, strict=True):
            total = [e + amount * y for e, y in zip(total, row, strict=True)]
        return self.mass.outwards(self.mass.scaled(total))

    def response(self, tau: Vector) -> list[Scalar]:
        """Return the accelerations that the closed mechanism adds for efforts: M^-1 (tau - K^T G^+ K M^-1 tau)."""
        inwards = self.mass.inwards(tau)
        return self.accelerations(inwards, [-e for e in self.multipliers(self.rates(inwards))])

    def unit(self, i: int) -> list[Scalar]:
        """Return the unit effort on one coordinate."""
        return [float(i == j) for j in range(self.model.nv)]

    def inverse_inertia(self, i: int) -> Scalar:
        """Return the diagonal entry of M^-1."""
        inwards = self.mass.inwards(self.unit(i))
        return dot(inwards, self.mass.scaled(inwards))

    def wrenches(self, multipliers: Sequence[Scalar]) -> list[Force]:
        """Return the wrench of each closing joint on its child."""
        found, start = [], 0
        for loop in self.loops:
            if loop not in self.moving:
                found.append(Force.zero())
                continue
            found.append(loop.wrench(multipliers[start : start + len(loop.T)]))
            start += len(loop.T)
        return found


def _metric(T: Sequence[Force], G: Rows, length_squared: Scalar) -> Rows:
    """Return w_f T_f^T T_f + w_m T_m^T T_m of a joint, from the means of G over its forces and over its moments."""
    F = [[a.linear.dot(b.linear) for b in T] for a in T]
    Q = [[a.angular.dot(b.angular) for b in T] for a in T]
    f, m = _mean(G, F), _mean(G, Q)
    w_f, w_m = f + SHARE * (m * length_squared), m + SHARE * (f / length_squared)
    return [[w_f * a + w_m * b for a, b in zip(*rows, strict=True)] for rows in zip(F, Q, strict=True)]


def _length_squared(model: Model) -> Scalar:
    """Return the square of a length of the bodies' size: ten mean radii of gyration squared; 1 m^2 for points."""
    bodies = [b.inertia for b in model.bodies if b.inertia is not None and not is_zero(b.inertia.mass)]
    moments = [b.inertia_at_com for b in bodies]
    gyration = sum((0.5 * (J[0] + J[3] + J[5]) for J in moments), 0.0)
    mass = sum((b.mass for b in bodies), 0.0)
    return 1.0 if is_zero(gyration) else 10.0 * gyration / mass


def _mean(G: Rows, P: Rows) -> Scalar:
    """Return tr(G P) / tr(P); 0 where P is 0."""
    total = sum((row[i] for i, row in enumerate(P)), 0.0)
    if is_zero(total):
        return 0.0
    return sum((dot(g, p) for g, p in zip(G, P, strict=True)), 0.0) / where(total > 0.0, total, 1.0)
