"""Dynamics with closed loops: M a + h = tau + K^T l,  K a + k = 0.

The wrenches of the closing joints l solve G l = -(K a_free + k), with G = K M^-1 K^T and a_free the tree's own
accelerations. Where constraints depend on one another (planar and overconstrained loops) G is singular; l is then the
smallest of all solutions, reached by proximal steps

    l <- l + (G + mu R)^-1 (b - G l)

of which n shrink the error along an eigenvalue s of R^-1 G by (mu / (s + mu))^n: what matters is solved, what is
dependent stays out, no rank is decided. R is block diagonal, for each joint w_f on forces and w_m on moments, their
mean inverse inertia in G (and a tenth of the other's, at the size of the bodies: where no motion is felt there is but
rounding to take a mean of), so that mu has no unit and no choice of T matters.

With P v the change of v by which the loops hold, L = M^-1 - M^-1 K^T G^+ K M^-1 is the inverse inertia of the closed
mechanism: a = L (tau - h) + terms of the motion. Efforts on a set A of coordinates that make a given motion satisfy

    L_AA tau_A = (L tau_tree)_A,        tau_tree = M a + h

again with proximal steps, R the diagonal of M^-1: the smallest efforts if there are more drives than freedoms.

Source: Carpentier, Budhiraja and Mansard, Proximal and sparse resolution of constrained dynamic equations (2021);
Featherstone (2008), section 8.5; Baumgarte, Stabilization of constraints and integrals of motion (1972).
Cost: the tree's O(n d), O(nc d) for G and O(nc^3) for its factors; blocks of loops that share no joint stay apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan.algorithms.aba import mass_factor
from cardan.algorithms.linear import Factor, Rows
from cardan.algorithms.loops import Loop, loops
from cardan.algorithms.rnea import bias_forces, inverse_dynamics
from cardan.algorithms.tree import Vector, relative_kinematics
from cardan.model import Model
from cardan.scalar import is_zero, where
from cardan.spatial import Force, Scalar

STEPS = 5  # proximal steps: along s = 100 mu the error is 1e-10, along s = 1000 mu it is 1e-15
DOUBLE, SINGLE = 1e-6, 1e-3  # mu; what depends on the rest only up to an error e moves as if it were STEPS e / mu
SHARE = 0.1  # of the other's weight


class ConstrainedDynamics(NamedTuple):
    """Accelerations of a mechanism with loops.

    Attributes:
        accelerations: nv scalars.
        wrenches: of each closing joint, in the order of `Model.closures`, on its child, in its child frame.
    """

    accelerations: list[Scalar]
    wrenches: list[Force]


class ConstrainedEfforts(NamedTuple):
    """Efforts that make a motion of a mechanism with loops.

    Attributes:
        efforts: nv scalars, 0 where nothing is actuated.
        wrenches: of each closing joint, on its child, in its child frame.
        unbalanced: nv scalars, efforts that are missing: 0 if the actuated coordinates can make the motion.
    """

    efforts: list[Scalar]
    wrenches: list[Force]
    unbalanced: list[Scalar]


def constrained_forward_dynamics(
    model: Model,
    q: Vector,
    v: Vector,
    tau: Vector,
    external_forces: Sequence[Force] | None = None,
    stabilization: float = 0.0,
) -> ConstrainedDynamics:
    """Return the accelerations that the efforts tau produce, and the wrenches of the closing joints.

    Args:
        model: the robot.
        q: configuration.
        v: velocity.
        tau: joint efforts.
        external_forces: wrench on each body, in the body's own frame at its origin.
        stabilization: w [1/s]; K a + k = -2 w K v - w^2 r makes the gap r decay as exp(-w t).
    """
    closed = Closed(model, q)
    bias = bias_forces(model, q, v, external_forces)
    free = closed.mass.inwards([t - b for t, b in zip(tau, bias, strict=True)])
    b = [-k - e for k, e in zip(closed.bias(q, v, stabilization), closed.rates(free), strict=True)]
    multipliers = closed.multipliers(b)
    return ConstrainedDynamics(closed.accelerations(free, multipliers), closed.wrenches(multipliers))


def constrained_inverse_dynamics(
    model: Model,
    q: Vector,
    v: Vector,
    a: Vector,
    external_forces: Sequence[Force] | None = None,
    actuated: Sequence[int] | None = None,
) -> ConstrainedEfforts:
    """Return the efforts that produce the accelerations a, which the loops allow.

    Args:
        model: the robot.
        q: configuration.
        v: velocity.
        a: acceleration, K a + k = 0.
        external_forces: wrench on each body, in the body's own frame at its origin.
        actuated: the coordinates that have efforts; all by default.
    """
    closed = Closed(model, q)
    tree = inverse_dynamics(model, q, v, a, external_forces)
    chosen = range(model.nv) if actuated is None else actuated
    columns = {i: closed.response(closed.unit(i)) for i in chosen}
    L = [[columns[max(i, j)][min(i, j)] for j in chosen] for i in chosen]
    wanted = closed.response(tree)
    R = [[closed.inverse_inertia(i) if i == j else 0.0 for j in chosen] for i in chosen]
    own = dict(zip(chosen, proximal(L, R, [wanted[i] for i in chosen]), strict=True))
    efforts = [own.get(i, 0.0) for i in range(model.nv)]
    lacking = [t - e for t, e in zip(tree, efforts, strict=True)]
    multipliers = closed.multipliers(closed.rates(closed.mass.inwards(lacking)))
    carried = closed.efforts(multipliers)
    unbalanced = [e - c for e, c in zip(lacking, carried, strict=True)]
    return ConstrainedEfforts(efforts, closed.wrenches(multipliers), unbalanced)


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
        self.G = [[_dot(self.Y[max(i, j)], self.Z[min(i, j)]) for j in range(len(self.K))] for i in range(len(self.K))]
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
        return [e + 2.0 * w * _dot(row, v) + w * w * gap for e, row, gap in zip(k, self.K, r, strict=True)]

    def rates(self, inwards: Vector) -> list[Scalar]:
        """Return K M^-1 tau, of L^-T tau."""
        return [_dot(row, inwards) for row in self.Z]

    def multipliers(self, b: Vector) -> list[Scalar]:
        """Return the l with G l = b."""
        return self.solver.solve(b) if self.solver else []

    def efforts(self, multipliers: Vector) -> list[Scalar]:
        """Return K^T l."""
        return [_dot(column, multipliers) for column in zip(*self.K, strict=True)] or [0.0] * self.model.nv

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
        return _dot(inwards, self.mass.scaled(inwards))

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
            rest = [e - _dot(row, x) for e, row in zip(b, self.A, strict=True)]
            x = [e + d for e, d in zip(x, self.factor.solve(rest), strict=True)]
        return x


def proximal(A: Rows, R: Rows, b: Vector) -> list[Scalar]:
    """Return the solution of A x = b that is smallest in the metric R."""
    return Proximal(A, R).solve(b) if A else []


def _regularization(positive: Scalar) -> Scalar:
    """Return mu for the precision the program runs in, which is seen in the sum of a number with a small part of it."""
    return where(positive + 1e-10 * positive > positive, DOUBLE, SINGLE)


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
    return sum((_dot(g, p) for g, p in zip(G, P, strict=True)), 0.0) / where(total > 0.0, total, 1.0)


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)
