"""Derivatives of inverse and forward dynamics, for joints of every kind.

Moving the coordinate j of joint k by a small tangent step displaces all that hangs on the joint, as one rigid body, by
the twist s_j. Seen from the displaced bodies only the velocity and acceleration with which joint k moves them have
changed, by (V_p and A_p are those of its parent, gravity in A; d_j is the derivative along j at fixed v and a)

    psi = V_p x s_j + (d_j S) v
    rho = A_p x s_j + V_p x psi + V_k x (d_j S) v + d_j(S a + bias)

so that the wrench f = I A + V x* I V of every body i behind k changes by I_i rho + D_i psi. A change of v_j alone does
the same with psi = s_j and rho = (V_p + V_k) x s_j + d bias/d v_j, a change of a_j with psi = 0 and rho = s_j. Here

    D [a; b] = -2 [p x b; B b],   p the momentum,   B = [w] Sigma + v h^T - (h.v) 1,   Sigma = tr(J)/2 1 - J

adds up over bodies as I does. With the sums I^c, D^c, f^c over all behind a joint, in one frame for all (that of the
tree's first node, so that its own coordinates drop out):

    m = k or behind k:   d tau_m / d_j = s_m . (I^c_m rho + D^c_m psi)  [+ (d_j s_m) . f^c_k where m = k]
    m before k:          d tau_m / d_j = s_m . (I^c_k rho + D^c_k psi + s_j x* f^c_k)

Source: the recursion is that of Singh, Russo and Wensing, Efficient analytical derivatives of rigid-body dynamics using
spatial vector algebra (2022), derived anew for motion subspaces that depend on q, by variations in the bodies' frames.
Cost: O(n d), d the depth of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from cardan.algorithms.aba import mass_factor
from cardan.algorithms.linear import Factor, Rows
from cardan.algorithms.rnea import bias_forces, node_forces
from cardan.algorithms.tree import Vector, relative_kinematics, weightless
from cardan.joints.derivation.derived import JointRates, joint_rates
from cardan.model import Model, Node
from cardan.spatial import SE3, Force, Inertia, Matrix3, Motion, Scalar, Vector3

Matrix = TypeVar("Matrix")  # rows of scalars here; arrays from the compiled functions


class InverseDynamicsDerivatives(NamedTuple, Generic[Matrix]):
    """Derivatives of the efforts tau, each nv x nv: row i, column j is d tau_i / d x_j.

    Attributes:
        dq: by the configuration, along the tangent: q moves to integrate(q, e_j).
        dv: by the velocity.
        da: by the acceleration: the mass matrix.
    """

    dq: Matrix
    dv: Matrix
    da: Matrix


class ForwardDynamicsDerivatives(NamedTuple, Generic[Matrix]):
    """Derivatives of the accelerations a, each nv x nv.

    Attributes:
        dq: by the configuration, along the tangent.
        dv: by the velocity.
        dtau: by the efforts: the inverse of the mass matrix.
    """

    dq: Matrix
    dv: Matrix
    dtau: Matrix


class _Composite:
    """What adds up over the bodies behind a joint: inertia, wrench, and the operator D."""

    __slots__ = ("B", "I", "f", "p")

    def __init__(self, inertia: Inertia, V: Motion, wrench: Force) -> None:
        m, h, J = inertia
        v, w = V
        half = 0.5 * (J[0] + J[3] + J[5])
        sigma = Matrix3.identity() * half - J.matrix()
        self.I, self.f = inertia, wrench
        self.p = v * m - h.cross(w)
        self.B = w.skew() @ sigma + v.outer(h) - Matrix3.identity() * h.dot(v)

    def add(self, other: _Composite) -> None:
        self.I, self.f, self.p, self.B = self.I + other.I, self.f + other.f, self.p + other.p, self.B + other.B

    def force(self, rho: Motion, psi: Motion) -> Force:
        """Return I rho + D psi."""
        b = psi.angular * -2.0
        return self.I @ rho + Force(self.p.cross(b), self.B @ b)

    def felt(self, s: Motion) -> tuple[Force, Vector3]:
        """Return I s and the angular part of D^T s, its linear part being 0: what s feels of rho and of psi."""
        return self.I @ s, (self.B.transpose_apply(s.angular) - self.p.cross(s.linear)) * -2.0


class _Column(NamedTuple):
    """One coordinate of a joint: its number in v, its twist, and (rho, psi) by q and by v."""

    number: int
    s: Motion
    by_q: tuple[Motion, Motion]
    by_v: tuple[Motion, Motion]
    carried: Sequence[Motion]  # d_j s_m of the joint's own columns m


def inverse_dynamics_derivatives(
    model: Model, q: Vector, v: Vector, a: Vector, external_forces: Sequence[Force] | None = None
) -> InverseDynamicsDerivatives[Rows]:
    """Return the derivatives of the efforts by q (tangent), v and a; arguments as for `inverse_dynamics`."""
    columns, composites = _outwards(model, q, v, a)
    for i, wrench in external_forces_in(model, q, external_forces):
        composites[i].f = composites[i].f - wrench
    for node in reversed(model.nodes):
        if node.parent >= 0:
            composites[node.parent].add(composites[node.index])
    dq, dv, da = ([[0.0] * model.nv for _ in range(model.nv)] for _ in range(3))
    for node in model.nodes:
        _own_block(node, columns[node.index], composites[node.index], dq, dv, da)
        _blocks_before(model, node, columns, composites[node.index], dq, dv, da)
        for k, rotor in zip(node.v, node.armature, strict=True):
            da[k][k] = da[k][k] + rotor
    return InverseDynamicsDerivatives(dq, dv, da)


def _outwards(model: Model, q: Vector, v: Vector, a: Vector) -> tuple[list[list[_Column]], list[_Composite]]:
    """Return every node's columns and its own body, in the frame of its tree's first node."""
    relative = relative_kinematics(model, q)
    pose: list[SE3] = []
    V: list[Motion] = []
    A: list[Motion] = []
    columns: list[list[_Column]] = []
    bodies: list[_Composite] = []
    for node in model.nodes:
        i, X = node.index, relative.X[node.index]
        if node.parent < 0:
            place, V_p, A_p = SE3.identity(), Motion.zero(), X.inverse_act(weightless(model))
        else:
            place, V_p, A_p = pose[node.parent] @ X, V[node.parent], A[node.parent]
        rates, accelerations = node.velocity(v), node.velocity(a)
        own = node.configuration(q)
        joint = joint_rates(node.joint, own, rates, accelerations)
        s = [place @ column for column in relative.S[i]]
        V_J = _sum(s, rates)
        V_i = V_p + V_J
        A_i = A_p + _sum(s, accelerations) + place @ node.joint.bias(own, rates) + V_i.cross(V_J)
        columns.append([_column(node.v[j], s[j], j, joint, place, V_p, A_p, V_i) for j in range(len(s))])
        inertia = place @ node.inertia
        bodies.append(_Composite(inertia, V_i, inertia @ A_i + V_i.cross(inertia @ V_i)))
        pose.append(place)
        V.append(V_i)
        A.append(A_i)
    return columns, bodies


def _column(
    number: int, s: Motion, j: int, joint: JointRates | None, place: SE3, V_p: Motion, A_p: Motion, V_i: Motion
) -> _Column:
    psi, rho = V_p.cross(s), A_p.cross(s)
    rho_v = (V_p + V_i).cross(s)
    carried: Sequence[Motion] = ()
    if joint is not None:
        sigma = place @ joint.velocity_by_q[j]
        psi = psi + sigma
        rho = rho + V_i.cross(sigma) + place @ joint.acceleration_by_q[j]
        rho_v = rho_v + place @ joint.bias_by_v[j]
        carried = [place @ column for column in joint.subspace_by_q[j]]
    return _Column(number, s, (rho + V_p.cross(psi), psi), (rho_v, s), carried)


def _sum(columns: Sequence[Motion], factors: Vector) -> Motion:
    total = Motion.zero()
    for column, factor in zip(columns, factors, strict=True):
        total = total + column * factor
    return total


def _own_block(node: Node, columns: list[_Column], behind: _Composite, dq: Rows, dv: Rows, da: Rows) -> None:
    """Add the derivatives of a joint's own efforts by its own coordinates."""
    for column in columns:
        u_q, u_v, u_a = behind.force(*column.by_q), behind.force(*column.by_v), behind.I @ column.s
        for row, other in enumerate(columns):
            extra = column.carried[row].dot(behind.f) if column.carried else 0.0
            _add(dq, other.number, column.number, other.s.dot(u_q) + extra)
            _add(dv, other.number, column.number, other.s.dot(u_v))
            if row <= columns.index(column):
                _add_symmetric(da, other.number, column.number, other.s.dot(u_a), other is column)


def _blocks_before(
    model: Model, node: Node, columns: list[list[_Column]], behind: _Composite, dq: Rows, dv: Rows, da: Rows
) -> None:
    """Add what couples a joint with those between it and the root, both ways."""
    ancestor = node.parent
    mine = columns[node.index]
    forces = [(behind.force(*c.by_q) + c.s.cross(behind.f), behind.force(*c.by_v), c) for c in mine]
    felt = [(*behind.felt(c.s), c) for c in mine]
    while ancestor >= 0:
        for other in columns[ancestor]:
            for u_q, u_v, c in forces:
                _add(dq, other.number, c.number, other.s.dot(u_q))
                _add(dv, other.number, c.number, other.s.dot(u_v))
            for momentum, turning, c in felt:
                _add_symmetric(da, c.number, other.number, other.s.dot(momentum), False)
                _add(dq, c.number, other.number, other.by_q[0].dot(momentum) + other.by_q[1].angular.dot(turning))
                _add(dv, c.number, other.number, other.by_v[0].dot(momentum) + other.by_v[1].angular.dot(turning))
        ancestor = model.nodes[ancestor].parent


def _add(matrix: Rows, i: int, j: int, value: Scalar) -> None:
    matrix[i][j] = matrix[i][j] + value


def _add_symmetric(matrix: Rows, i: int, j: int, value: Scalar, once: bool) -> None:
    _add(matrix, i, j, value)
    if not once:
        _add(matrix, j, i, value)


def external_forces_in(model: Model, q: Vector, external_forces: Sequence[Force] | None) -> list[tuple[int, Force]]:
    """Return the external wrenches by node, each in the frame of the tree's first node."""
    wrenches = node_forces(model, external_forces)
    if not wrenches:
        return []
    relative = relative_kinematics(model, q)
    pose: list[SE3] = []
    for node in model.nodes:
        pose.append(SE3.identity() if node.parent < 0 else pose[node.parent] @ relative.X[node.index])
    return [(i, pose[i] @ f) for i, f in wrenches]


def forward_dynamics_derivatives(
    model: Model, q: Vector, v: Vector, tau: Vector, external_forces: Sequence[Force] | None = None
) -> ForwardDynamicsDerivatives[Rows]:
    """Return the derivatives of the accelerations: -M^-1 times those of the efforts, at the accelerations tau makes.

    Source: Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms (2018), section IV.
    """
    factor = mass_factor(model, q)
    bias = bias_forces(model, q, v, external_forces)
    a = factor.solve([t - b for t, b in zip(tau, bias, strict=True)])
    by = inverse_dynamics_derivatives(model, q, v, a, external_forces)
    return ForwardDynamicsDerivatives(_solved(factor, by.dq), _solved(factor, by.dv), factor.inverse())


def _solved(factor: Factor, B: Rows) -> Rows:
    """Return -A^-1 B for the matrix A that is factored."""
    columns = [factor.solve([-e for e in column]) for column in zip(*B, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]
