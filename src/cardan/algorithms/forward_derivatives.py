"""Derivatives of forward dynamics, through articulated bodies.

In the letters of `derivatives`, all in the frame of a tree's first node. As coordinate j of joint J moves, or moves
faster, what is behind J accelerates by c and turns by psi more than its joints say, and f^C_J moves along:

    by q_j:   c = Psi_ddot_j,     psi = the angular part of Psi_dot_j,   -(d_j S_m) . f^C_J more effort on row m of J,
              and S_j x* f^C_J more force on what is before J
    by v_j:   c = Upsilon_dot_j,  psi = the angular part of S_j

and the joints give way so that none of them feels it. What is behind a joint answers with a force I^A c + Pi psi. The
coordinates k are taken out of that one by one, the last one first, as if each had a joint of its own:

    (1)  U_k = I^A S_k,   D_k = S_k . U_k + rotor,   Gamma_k = U_k / D_k,   gamma_k = Pi^T S_k / D_k
    (2)  I^A -= U_k Gamma_k^T,   Pi -= U_k gamma_k^T;   the rest of a joint adds to I^A and Pi = 2 B^C of its parent

A force p and efforts e go inwards from J to the root, accelerations outwards from it:

    (3)  u_k = e_k - S_k . p - sum L_sk u_s,                                           p += sum Gamma_s u_s
    (4)  a_k = u_k / D_k - Gamma_k . (A + c) - gamma_k . psi - sum L_ks a_s,   A += c + sum S_s a_s

with c and psi behind J alone, and L_ks = Gamma_k . S_s, of M = L^T D L. The sums are over the s between k and the body
whose p and A are meant: a few entries of L cost less than the six numbers of p or A, many cost more. So the tree is cut
into *limbs* (`limbs`). A limb off the way from J to the root sees of it but the acceleration A of the body it hangs on,

    (5)  a_k = K_k . A + G_k . psi,    K_k = -Gamma_k - sum L_ks K_s,   G_k = -gamma_k - sum L_ks G_s

with psi if that body is behind J; and by reciprocity, that body feels p = -K_j of a unit effort at j in the limb.

A joint that moves in all six ways undoes c by itself, a_J = -c. So the columns of a floating base are 0 by its
position, and by its orientation and linear velocity the base alone answers.

Source: Featherstone (2008), table 7.1, for the articulated bodies; Pi, which is theirs for velocities, and (5) are made
here.
Cost: O(n) a column: six multiply-adds an entry off the way, nine behind J, about fifteen on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple

from cardan.algorithms.aba import articulated_inertias, mass_factor
from cardan.algorithms.derivatives import (
    Composite,
    JointMotion,
    Matrix,
    inverse_dynamics_derivatives,
    outwards_in_one_frame,
)
from cardan.algorithms.limbs import Limb, limbs
from cardan.algorithms.linear import Factor, Rows, mirrored, transposed
from cardan.algorithms.rnea import bias_forces
from cardan.algorithms.tree import Vector, relative_kinematics, supports
from cardan.model import Model, Node
from cardan.spatial import ArticulatedInertia, Force, Matrix3, Motion, Scalar, Vector3

SIX_WAYS = [[float(i == k) for i in range(6)] for k in range(6)]
"""S of a joint that moves freely, in its own frame."""


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


class Turning(NamedTuple):
    """Pi: what a turn psi of all that is behind a joint takes, force over moment."""

    force: Matrix3
    moment: Matrix3

    def __matmul__(self, psi: Vector3) -> Force:
        return Force(self.force @ psi, self.moment @ psi)

    def felt(self, s: Motion) -> Vector3:
        """Return Pi^T s."""
        return self.force.transpose_apply(s.linear) + self.moment.transpose_apply(s.angular)

    def added(self, other: Turning) -> Turning:
        """Return the sum."""
        return Turning(self.force + other.force, self.moment + other.moment)

    def minus_outer(self, U: Force, gamma: Vector3) -> Turning:
        """Return Pi - U gamma^T."""
        return Turning(self.force - U.linear.outer(gamma), self.moment - U.angular.outer(gamma))


class Cause(NamedTuple):
    """What a column answers to: at joint J, c and psi, the force on what is before J, efforts on its rows."""

    J: Node
    c: Motion = Motion.zero()
    psi: Vector3 = Vector3.zero()
    before: Force = Force.zero()
    e: Mapping[int, Scalar] = {}


class Articulated:
    """The articulated bodies of a tree, taken apart coordinate by coordinate: (1), (2) and (5)."""

    def __init__(
        self, model: Model, S: list[Motion], inertias: list[ArticulatedInertia], turnings: list[Turning]
    ) -> None:
        nv = model.nv
        self.model, self.S, self.I, self.Pi = model, S, inertias, turnings
        self.D_inverse: list[Scalar] = [0.0] * nv
        self.Gamma, self.gamma = [Force.zero()] * nv, [Vector3.zero()] * nv
        for node in reversed(model.nodes):
            self._take(node)
        self.limbs = limbs(model)
        self.limb_of = {node.index: i for i, limb in enumerate(self.limbs) for node in limb.nodes}
        self.way = [supports(model, node.index) for node in model.nodes]
        self.L: list[dict[int, Scalar]] = [{} for _ in range(nv)]
        self.K, self.G = [Force.zero()] * nv, [Vector3.zero()] * nv
        for node in model.nodes:
            self._see(node)

    def _take(self, node: Node) -> None:
        """Take a joint's coordinates out of what is behind it, and add the rest to its parent."""
        i, p = node.index, node.parent
        rest, Pi = self.I[i], self.Pi[i]
        for k, rotor in reversed([*zip(node.v, node.armature, strict=True)]):
            U = rest @ self.S[k]
            self.D_inverse[k] = 1.0 / (self.S[k].dot(U) + rotor)  # (1)
            self.Gamma[k] = U * self.D_inverse[k]
            self.gamma[k] = Pi.felt(self.S[k]) * self.D_inverse[k]
            rest, Pi = rest.minus_outer(self.Gamma[k], U), Pi.minus_outer(U, self.gamma[k])  # (2)
        if p >= 0:
            self.I[p], self.Pi[p] = self.I[p] + rest, self.Pi[p].added(Pi)

    def _see(self, node: Node) -> None:
        """Find L between a joint and those before it in its limb, and how it is seen from where that hangs."""
        limb = self.limb_of[node.index]
        before = [s for i in reversed(self.way[node.index]) if self.limb_of[i] == limb for s in self.model.nodes[i].v]
        for k in node.v:
            self.L[k] = {s: self.S[s].dot(self.Gamma[k]) for s in before[: before.index(k)]}
            K, G = self.Gamma[k], self.gamma[k]
            for s, L_ks in self.L[k].items():
                K, G = K + self.K[s] * L_ks, G + self.G[s] * L_ks
            self.K[k], self.G[k] = K * -1.0, G * -1.0  # (5)

    def accelerations(self, bias: Sequence[Force], tau: Vector) -> list[Scalar]:
        """Return the accelerations of the joints, for the efforts tau and a force p on every body."""
        p, u = list(bias), {}
        for node in reversed(self.model.nodes):
            rest = self._inwards(node, p[node.index], tau, u)
            if node.parent >= 0:
                p[node.parent] = p[node.parent] + rest
        return self._outwards(Cause(self.model.nodes[0]), u)

    def column(self, cause: Cause) -> list[Scalar]:
        """Return how the joints answer to a cause."""
        J, u = cause.J, {}
        e = [cause.e.get(k, 0.0) for k in range(self.model.nv)]
        p = self.I[J.index] @ cause.c + self.Pi[J.index] @ cause.psi
        for i in self.way[J.index]:
            p = self._inwards(self.model.nodes[i], p, e, u)
            p = p + cause.before if i == J.index else p
        return self._outwards(cause, u)

    def unit(self, J: Node, j: int) -> list[Scalar]:
        """Return how they answer to a unit effort at coordinate j of J."""
        u = {j: 1.0}
        for k in reversed(self.L[j]):
            u[k] = -self._entries(k, u)
        e, p = [0.0] * self.model.nv, self.K[j] * -1.0
        for i in self.way[J.index]:
            if self.limb_of[i] != self.limb_of[J.index]:
                p = self._inwards(self.model.nodes[i], p, e, u)
        return self._outwards(Cause(J), u)

    def _entries(self, k: int, u: Mapping[int, Scalar]) -> Scalar:
        """Return sum L_sk u_s."""
        return sum((self.L[s][k] * u_s for s, u_s in u.items() if k in self.L[s]), 0.0)

    def _inwards(self, node: Node, p: Force, e: Vector, u: dict[int, Scalar]) -> Force:
        """Add u of a joint, (3), and return p as its parent feels it: by L in limbs on the world, else by p."""
        by_entries = self.limbs[self.limb_of[node.index]].handle < 0
        for k in reversed(node.v):
            u[k] = e[k] - self.S[k].dot(p)
            if by_entries:
                u[k] = u[k] - self._entries(k, u)
            else:
                p = p + self.Gamma[k] * u[k]
        return p

    def _outwards(self, cause: Cause, u: Mapping[int, Scalar]) -> list[Scalar]:
        """Return the accelerations."""
        J = cause.J.index
        a: list[Scalar] = [0.0] * self.model.nv
        ends: list[Motion] = []
        for limb in self.limbs:
            A = ends[limb.handle] if limb.handle >= 0 else Motion.zero()
            turned = limb.nodes[0].index != J and J in self.way[limb.nodes[0].index]
            if any(k in u for k in limb.v):
                A = self._along(limb, A, cause, u, a)
            else:
                for k in limb.v:
                    a[k] = A.dot(self.K[k]) + (self.G[k].dot(cause.psi) if turned else 0.0)  # (5)
            for k in limb.v:
                A = A + self.S[k] * a[k]
            ends.append(A)
        return a

    def _along(self, limb: Limb, A: Motion, cause: Cause, u: Mapping[int, Scalar], a: list[Scalar]) -> Motion:
        """Find the accelerations of a limb on the way, (4), and return A + c of its last body."""
        J = cause.J.index
        for node in limb.nodes:
            behind = node.index != J and J in self.way[node.index]
            at = A + cause.c if behind else A
            for k in node.v:
                own = u.get(k, 0.0) * self.D_inverse[k] - at.dot(self.Gamma[k])
                own = own - cause.psi.dot(self.gamma[k]) if behind else own
                a[k] = own - sum((L_ks * a[s] for s, L_ks in self.L[k].items()), 0.0)
        return A + cause.c if cause.J in limb.nodes else A


def forward_dynamics_derivatives(
    model: Model, q: Vector, v: Vector, tau: Vector, external_forces: Sequence[Force] | None = None
) -> ForwardDynamicsDerivatives[Rows]:
    """Return the derivatives of the accelerations by q (tangent), v and tau; arguments as for `forward_dynamics`."""
    if model.has_mimics:  # two joints with one velocity: there is no recursion
        return _by_inverse(model, q, v, tau, external_forces)
    articulated_inertias(model, relative_kinematics(model, q))  # raises where a joint moves nothing
    joints, bodies = outwards_in_one_frame(model, q, v, [0.0] * model.nv, external_forces)
    articulated = _articulated(model, joints, bodies)
    a = articulated.accelerations([body.f for body in bodies], tau)
    joints, bodies = outwards_in_one_frame(model, q, v, a, external_forces)
    for node in reversed(model.nodes):
        if node.parent >= 0:
            bodies[node.parent].f = bodies[node.parent].f + bodies[node.index].f
    dq, dv, dtau = ([[]] * model.nv for _ in range(3))
    for node in model.nodes:
        i = joints[node.index]
        for k, moved, faster in zip(node.v, _moved(node, i, bodies[node.index].f), _faster(node, i), strict=True):
            dq[k], dv[k] = _answer(articulated, moved), _answer(articulated, faster)
            dtau[k] = articulated.unit(node, k)
    return ForwardDynamicsDerivatives(transposed(dq), transposed(dv), mirrored(dtau))


def _articulated(model: Model, joints: Sequence[JointMotion], bodies: Sequence[Composite]) -> Articulated:
    S = [Motion.zero()] * model.nv
    for joint in joints:
        for k, s in zip(joint.v, joint.S, strict=True):
            S[k] = s
    turnings = [Turning(body.p.skew() * -2.0, body.B * -2.0) for body in bodies]
    return Articulated(model, S, [body.I.articulated() for body in bodies], turnings)


def _moved(J: Node, i: JointMotion, f: Force) -> list[Cause]:
    """Return what moving each coordinate of a joint causes; f is f^C."""
    efforts = [{m: -(s.dot(f)) for m, s in zip(J.v, dS, strict=True)} for dS in i.S_by_q] or [{}] * len(i.S)
    parts = zip(i.Psi_ddot, i.Psi_dot, i.S, efforts, strict=True)
    return [Cause(J, c, psi.angular, s.cross(f), e) for c, psi, s, e in parts]


def _faster(J: Node, i: JointMotion) -> list[Cause]:
    """Return what each coordinate of a joint causes by moving faster."""
    return [Cause(J, c, s.angular) for c, s in zip(i.Upsilon_dot, i.S, strict=True)]


def _answer(articulated: Articulated, cause: Cause) -> list[Scalar]:
    """Return a column; a joint that moves in all six ways, along the axes, undoes c by itself."""
    J, S = cause.J, articulated.S
    if [[*S[k].scalars()] for k in J.v] != SIX_WAYS or any(J.armature):
        return articulated.column(cause)
    a = articulated.column(cause._replace(c=Motion.zero()))
    J.scatter(a, [-e for e in cause.c.scalars()])
    return a


def _by_inverse(
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
    return transposed(columns) or B
