"""A tree and its closing joints at a configuration, factored: M = L^T D L, K, G = K M^-1 K^T = Y D^-1 Y^T.

The l that closes the loops, K M^-1 (tau + K^T l) = -k, comes in proximal steps (`proximal`),

    y = L^-T tau,        l += dl,   y += Y^T dl,        dl = (G + N)^-1 (-k - Y D^-1 y)

each from the accelerations that y makes, not from G l: what a light body feels is a small difference of large forces,
which l cannot hold and y does. So a constraint is kept to the last digits, whatever the ratio of the masses, if only
(G + N)^-1 is right to one.

Where constraints depend on one another (planar loops, overconstrained ones, a rod too many) G is singular. Of all l the
smallest is found, in a metric R that is block diagonal: for each joint w_f on forces, w_m on moments. A weight tells
what depends from what is merely heavy, so it is a geometric gain over the mean inertia of the coordinates that move the
joint, which is that of the heaviest: light bodies add to G, never to R. Neither units nor the choice of T matter.

Source: Featherstone (2008), section 8.5, for the sparse G; the metric and the steps in y are made here.
Cost: the tree's O(n d), O(nc d) for G and a step, O(nc^3 / 6) for its factors; loops that share no joint stay apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cardan._algebra.scalar import is_zero, where
from cardan._algebra.spatial import Force, Scalar
from cardan._dynamics.algorithms.aba import factored
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.linear import Rows, dot
from cardan._dynamics.algorithms.loops import Loop, loops
from cardan._dynamics.algorithms.proximal import STEPS, proximal_factor, regularization
from cardan._dynamics.algorithms.tree import Vector, relative_kinematics
from cardan._robot.model import Model

SHARE = 0.01  # of the weight on forces for moments and back, at the length of bodies: where one alone is not felt


class Closing(NamedTuple):
    """What closes the loops: the multipliers l, and y = L^-T (tau + K^T l)."""

    multipliers: list[Scalar]
    inwards: list[Scalar]


class Closed:
    """A tree with its loops, at a configuration: M = L^T D L, K and G, factored.

    Loops whose frames no joint moves against each other take no part. M is what the joints feel; the mass matrix by
    default.
    """

    def __init__(self, model: Model, q: Vector, M: Rows | None = None) -> None:
        self.model, self.relative = model, relative_kinematics(model, q)
        self.M = mass_matrix.kernel(model, q) if M is None else M
        self.mass = factored(model, self.M)
        self.loops = loops(model, self.relative)
        self.moving = [loop for loop in self.loops if loop.T and loop.moves]
        self.K = [row for loop in self.moving for row in loop.K]
        self.Y = [self.mass.inwards(row) for row in self.K]
        self.Z = [self.mass.scaled(row) for row in self.Y]
        # each pair once, so that G is symmetric to the last digit
        G = [[dot(self.Y[max(i, j)], self.Z[min(i, j)]) for j in range(len(self.K))] for i in range(len(self.K))]
        self.length_squared = length_squared(model)
        R: Rows = [[0.0] * len(self.K) for _ in self.K]
        extents, start = self._extents(), 0
        for loop in self.moving:
            for i, weights in enumerate(_metric(loop, self.M, extents, self.length_squared), start):
                R[i][start : start + len(weights)] = weights
            start += len(loop.T)
        self.solver = proximal_factor(G, R, regularization(q))

    def _extents(self) -> list[Scalar]:
        """Return |S_j|^2 of every coordinate: 1 for a slide, for a hinge the square of the bodies' length."""
        extents: list[Scalar] = [0.0] * self.model.nv
        for node in self.model.nodes:
            S = self.relative.S[node.index]
            size = [s.linear.norm_squared() + s.angular.norm_squared() * self.length_squared for s in S]
            node.scatter(extents, size)
        return extents

    def drive_weights(self) -> list[Scalar]:
        """Return 1 / |S_j|^2 over a mean mass: what makes the efforts of slides and hinges comparable."""
        extents = self._extents()
        shares = [_over(1.0, e) for e in extents]
        mass = sum((self.M[j][j] * share for j, share in enumerate(shares)), 0.0)
        # a coordinate that moves nothing has extent 0: 1 in its place keeps both branches finite, and derivatives alive
        return [float(self.model.nv) / (mass * where(e > 0.0, e, 1.0)) for e in extents]

    def bias(self, q: Vector, v: Vector, rate: float = 0.0, stiffness: float = 0.0) -> list[Scalar]:
        """Return k, with terms that close an open loop: rate K v [1/s] and stiffness r [1/s^2]."""
        k = [e for loop in self.moving for e in loop.bias(q, v)]
        # nothing is added: the program is that of loops without stabilization
        if rate == stiffness == 0.0:
            return k
        r = [e for loop in self.moving for e in loop.residual]
        return [e + rate * dot(row, v) + stiffness * gap for e, row, gap in zip(k, self.K, r, strict=True)]

    def close(self, inwards: Vector, k: Vector | None = None) -> Closing:
        """Return the l with K M^-1 (tau + K^T l) = -k, of L^-T tau; k = 0 by default."""
        wanted = [0.0] * len(self.K) if k is None else [-e for e in k]
        y: list[Scalar] = list(inwards)
        multipliers: list[Scalar] = [0.0] * len(self.K)
        for _ in range(STEPS):
            step = self.solver.solve([e - dot(row, y) for e, row in zip(wanted, self.Z, strict=True)])
            multipliers = [e + d for e, d in zip(multipliers, step, strict=True)]
            for row, amount in zip(self.Y, step, strict=True):
                y = [e + amount * other for e, other in zip(y, row, strict=True)]
        return Closing(multipliers, y)

    def efforts(self, multipliers: Vector) -> list[Scalar]:
        """Return K^T l."""
        return [dot(column, multipliers) for column in zip(*self.K, strict=True)] or [0.0] * self.model.nv

    def accelerations(self, inwards: Vector) -> list[Scalar]:
        """Return M^-1 tau, of L^-T tau."""
        return self.mass.outwards(self.mass.scaled(inwards))

    def response(self, tau: Vector) -> list[Scalar]:
        """Return the accelerations that the closed mechanism adds for efforts: M^-1 (tau - K^T G^+ K M^-1 tau)."""
        return self.accelerations(self.close(self.mass.inwards(tau)).inwards)

    def by_joint(self, rows: Sequence[Scalar]) -> list[Sequence[Scalar]]:
        """Return what belongs to each closing joint, nothing for one that takes no part."""
        found: list[Sequence[Scalar]] = []
        start = 0
        for loop in self.loops:
            size = len(loop.T) if loop in self.moving else 0
            found.append(rows[start : start + size])
            start += size
        return found

    def wrenches(self, multipliers: Sequence[Scalar]) -> list[Force]:
        parts = zip(self.loops, self.by_joint(multipliers), strict=True)
        return [loop.wrench(part) if part else Force.zero() for loop, part in parts]

    def residual(self, a: Vector, k: Vector) -> list[Scalar]:
        """Return K a + k of all rows of `loop_jacobian`, 0 for loops that take no part."""
        rest = self.by_joint([dot(row, a) + e for row, e in zip(self.K, k, strict=True)])
        parts = zip(self.loops, rest, strict=True)
        return [e for loop, part in parts for e in (part or [0.0] * len(loop.T))]


def _metric(loop: Loop, M: Rows, extents: Sequence[Scalar], square: Scalar) -> Rows:
    """Return w_f T_f^T T_f + w_m T_m^T T_m of a joint; `square` is that of the bodies' length."""
    F = [[a.linear.dot(b.linear) for b in loop.T] for a in loop.T]
    Q = [[a.angular.dot(b.angular) for b in loop.T] for a in loop.T]
    f, m = (_gain(loop, P, M, extents) for P in (F, Q))
    w_f, w_m = f + SHARE * (m * square), m + SHARE * (f / square)
    return [[w_f * a + w_m * b for a, b in zip(*rows, strict=True)] for rows in zip(F, Q, strict=True)]


def _gain(loop: Loop, P: Rows, M: Rows, extents: Sequence[Scalar]) -> Scalar:
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
        gain, inertia = gain + _over(squared, extents[j]), inertia + _over(M[j][j], extents[j])
    # loops that resist no direction of P have a gain of 0 / 0, which must not reach derivatives
    return gain / (inertia * where(directions > 0.0, directions, 1.0))


def _over(a: Scalar, b: Scalar) -> Scalar:
    """Return a / b; 0 where b is 0."""
    # the inner where: a / 0 in the branch that is not taken would make its derivative NaN
    return where(b > 0.0, a / where(b > 0.0, b, 1.0), 0.0)


def inverse(model: Model, q: Vector, A: Rows) -> Callable[[Vector], list[Scalar]]:
    """Return what efforts change accelerations by, impulses velocities, loops closed, A being what the joints feel."""
    if any(c.joint.num_constraints for c in model.closures):
        return Closed(model, q, A).response
    return factored(model, A).solve


def length_squared(model: Model) -> Scalar:
    """Return the square of a length of the bodies' size: ten mean radii of gyration squared; 1 m^2 for points."""
    bodies = [b.inertia for b in model.bodies if b.inertia is not None and not is_zero(b.inertia.mass)]
    mass = sum((b.mass for b in bodies), 0.0)
    gyration = 0.0
    for m, h, J in bodies:
        gyration = gyration + (0.5 * (J[0] + J[3] + J[5]) - _over(h.norm_squared(), m))
    return where(gyration > 0.0, 10.0 * _over(gyration, mass), 1.0)
