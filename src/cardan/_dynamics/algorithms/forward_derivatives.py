"""Derivatives of forward dynamics.

Differentiate tau = ID(q, v, FD(q, v, tau)). That defines them (`by_inverse_dynamics`):

    (0)  dFD/dq = -M^-1 dID/dq,   dFD/dv = -M^-1 dID/dv,   dFD/dtau = M^-1

Of 100 joints and more, `forward_dynamics_derivatives` does that in loops (`responses`). Of fewer, it is the rewrite
through articulated bodies, with fewer operations for trees: the definition takes 1.42 times those for Talos, 1.20 for a
quadruped, and 0.96 for 7 hinges. In the letters of `derivatives`, all in the frame of a tree's first node: as
coordinate j of joint J moves, or moves faster, what is behind J accelerates by c and turns by psi more than its joints
say, and f^C_J moves along:

    by q_j:   c = Psi_ddot_j,     psi = the angular part of Psi_dot_j,   -(d_j S_m) . f^C_J more effort on row m of J,
              and S_j x* f^C_J more force on what is before J
    by v_j:   c = Upsilon_dot_j,  psi = the angular part of S_j

The joints give way so that none of them bears it: a column is the response of the `limbs` to that disturbance. What is
behind a joint resists with a force I^A c + Pi psi. The coordinates k are taken out of it one by one, the last one
first, as if each had a joint of its own:

    (1)  U_k = I^A S_k,   D_k = S_k . U_k + rotor,   Gamma_k = U_k / D_k,   gamma_k = Pi^T S_k / D_k
    (2)  I^A -= U_k Gamma_k^T,   Pi -= U_k gamma_k^T;   the rest of a joint adds to I^A and Pi = 2 B of its parent

A joint that moves in all six ways undoes c by itself, a_J = -c. So the columns of a floating base are 0 by its
position, and to its orientation and linear velocity the base alone responds.

Source: Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms (2018), section IV, for (0);
Featherstone (2008), table 7.1, for the articulated bodies; docs/derivatives.md derives Pi, which is to velocities what
I^A is to accelerations.
Cost: O(n) a column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, NamedTuple

from cardan._algebra.spatial import ArticulatedInertia, Force, Matrix3, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.aba import articulated_inertias, by_mass_matrix, forward_dynamics, mass_factor
from cardan._dynamics.algorithms.along import Nodes
from cardan._dynamics.algorithms.derivatives import (
    Composite,
    JointMotion,
    Matrix,
    inverse_dynamics_derivatives,
    outwards_in_one_frame,
)
from cardan._dynamics.algorithms.entries import forward_dynamics_derivatives_entries, packed_matrices
from cardan._dynamics.algorithms.limbs import UNKNOWN, Coordinate, Disturbance, Limbs, moves_all_ways
from cardan._dynamics.algorithms.linear import Factor, Rows, mirrored, transposed, zeros
from cardan._dynamics.algorithms.loops import without_loops
from cardan._dynamics.algorithms.responses import has_loops, responses
from cardan._dynamics.algorithms.tree import Vector, poses_in_one_frame, relative_kinematics
from cardan._dynamics.call.public import ArrayLike, Reals, public
from cardan._robot.model import Model, Node

NOTHING = Force.zero()


class ForwardDynamicsDerivatives(NamedTuple, Generic[Matrix]):
    """Derivatives of the accelerations [rad/s^2, m/s^2, each by the argument's unit]: row i is d a_i.

    Attributes:
        dq: by the configuration, along the tangent: q moves to integrate(q, e_j). Shape (..., nv, nv).
        dv: by the velocity, shape (..., nv, nv).
        dtau: by the efforts, shape (..., nv, nv): the inverse of the mass matrix.
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

    def transpose_apply(self, s: Motion) -> Vector3:
        return self.force.transpose_apply(s.linear) + self.moment.transpose_apply(s.angular)

    def added(self, other: Turning) -> Turning:
        return Turning(self.force + other.force, self.moment + other.moment)

    def minus_outer(self, U: Force, gamma: Vector3) -> Turning:
        return Turning(self.force - U.linear.outer(gamma), self.moment - U.angular.outer(gamma))


class Articulated(NamedTuple):
    """The articulated bodies of a tree, before their own joints' coordinates are taken out, and what these leave."""

    I_A: list[ArticulatedInertia]
    Pi: list[Turning]
    limbs: Limbs


def articulated(model: Model, q: Vector, joints: Sequence[JointMotion], bodies: Sequence[Composite]) -> Articulated:
    """Return the articulated bodies, (1) and (2); MechanismError if a joint moves nothing that has inertia.

    D is found in the joints' own frames: seen from far away, it would be a small difference of large numbers.
    """
    relative = relative_kinematics(model, q)
    own, X = articulated_inertias(model, relative), poses_in_one_frame(model, relative)
    inertias = [body.I.articulated() for body in bodies]
    Pi = [Turning(body.p.skew() * -2.0, body.B * -2.0) for body in bodies]
    coordinates: list[Coordinate] = [UNKNOWN] * model.nv
    for node in reversed(model.nodes):
        i, p = node.index, node.parent
        I_A, Pi_A = inertias[i], Pi[i]
        D_inverses, U_own = own[i].D.inverse_diagonal, one_by_one(own[i].U, own[i].D)
        for k, S, D_inverse, u in reversed([*zip(node.v, joints[i].S, D_inverses, U_own, strict=True)]):
            U = X[i] @ u  # (1)
            coordinates[k] = Coordinate(S, D_inverse, U * D_inverse, Pi_A.transpose_apply(S) * D_inverse)
            I_A, Pi_A = I_A.minus_outer(coordinates[k].Gamma, U), Pi_A.minus_outer(U, coordinates[k].gamma)  # (2)
        if p >= 0:
            inertias[p], Pi[p] = inertias[p] + I_A, Pi[p].added(Pi_A)
    return Articulated(inertias, Pi, Limbs(model, coordinates))


def one_by_one(columns: Sequence[Force], D: Factor) -> list[Force]:
    """Return U of a joint's coordinates as they are taken out one by one, for the columns I^A S."""
    U = list(columns)
    for k in reversed(range(len(U))):
        for s in range(k + 1, len(U)):
            U[k] = U[k] - U[s] * D.L[s][k]
    return U


@public(result=ForwardDynamicsDerivatives[Reals], simplified=True)
def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    packed: bool = False,
) -> ForwardDynamicsDerivatives[Rows]:
    """Return the derivatives of `forward_dynamics` by q, v and tau.

    Args:
        external_forces: wrenches on the bodies [N, N m], as for `forward_dynamics`; constant in the bodies' own frames.

    Raises:
        MechanismError: if the model has closed loops; `derivative(constrained_forward_dynamics, ...)` is for them.

    Examples:
        >>> by = cardan.forward_dynamics_derivatives(arm, q, v, tau)
        >>> by.dq.shape, by.dv.shape, by.dtau.shape
        ((7, 7), (7, 7), (7, 7))

    Peers: Pinocchio `computeABADerivatives`, MuJoCo `mjd_transitionFD` (by differences, of a step).
    """
    without_loops(model, "forward_dynamics_derivatives")
    found = ForwardDynamicsDerivatives(*derivatives_and_accelerations(model, q, v, tau, external_forces)[:3])
    return packed_matrices(found, forward_dynamics_derivatives_entries(model)) if packed else found


def derivatives_and_accelerations(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external_forces: ArrayLike | None = None
) -> tuple[Any, ...]:
    """Return the derivatives and, where they are found on the way, the accelerations themselves."""
    if model.has_mimics:  # two joints with one velocity: there is no recursion
        return by_inverse_dynamics(model, q, v, tau, external_forces)
    if has_loops(model, q):
        own = forward_dynamics.kernel(model, q, v, tau, external_forces)
        by = inverse_dynamics_derivatives.kernel(model, q, v, own, external_forces)
        return (*responses(model, q, [by.dq, by.dv, None]), own)  # (0)
    joints, bodies = outwards_in_one_frame(model, q, v, [0.0] * model.nv, external_forces)
    tree = articulated(model, q, joints, bodies)
    a = tree.limbs.accelerations([body.f for body in bodies], tau)
    joints, bodies = outwards_in_one_frame(model, q, v, a, external_forces)
    f = Nodes(model).inwards([body.f for body in bodies], lambda _, whole: (whole, lambda: whole))
    dq, dv, dtau = (zeros(model.nv, model.nv) for _ in range(3))
    for node in model.nodes:
        i = joints[node.index]
        moved = _moved(tree, node, i, f[node.index])
        faster = [_response(tree, node, c, s.angular) for c, s in zip(i.Upsilon_dot, i.S, strict=True)]
        for k, by_q, by_v in zip(node.v, moved, faster, strict=True):
            dq[k], dv[k], dtau[k] = by_q, by_v, tree.limbs.unit(node.index, k)
    return transposed(dq) or dq, transposed(dv) or dv, mirrored(dtau) or dtau, a


def _moved(tree: Articulated, J: Node, i: JointMotion, f: Force) -> list[list[Scalar]]:
    """Return the columns of a joint's coordinates; f is f^C."""
    efforts = [{m: -(s.dot(f)) for m, s in zip(J.v, dS, strict=True)} for dS in i.S_by_q] or [{}] * len(i.S)
    disturbances = zip(i.Psi_ddot, i.Psi_dot, i.S, efforts, strict=True)
    return [_response(tree, J, c, psi.angular, s.cross(f), e) for c, psi, s, e in disturbances]


def _response(
    tree: Articulated,
    J: Node,
    c: Motion,
    psi: Vector3,
    before: Force = NOTHING,
    e: Mapping[int, Scalar] = MappingProxyType({}),
) -> list[Scalar]:
    """Return a column: the response to c and psi behind a joint, a force on what is before it, and efforts on it."""
    undone = c if moves_all_ways(J, [tree.limbs.coordinates[k].S for k in J.v]) else Motion.zero()
    left = c - undone
    p = tree.I_A[J.index] @ left + tree.Pi[J.index] @ psi
    a = tree.limbs.response(Disturbance(J.index, p, before, e, left, psi))
    for k, own in zip(J.v, undone.scalars(), strict=False):
        a[k] = a[k] - own
    return a


def by_inverse_dynamics(
    model: Model, q: Vector, v: Vector, tau: Vector, external_forces: ArrayLike | None = None
) -> ForwardDynamicsDerivatives[Rows]:
    """Return the derivatives of `forward_dynamics`, by (0): what defines them, at the accelerations that tau makes."""
    factor = mass_factor(model, q)
    a = by_mass_matrix(model, factor, q, v, tau, external_forces)
    by = inverse_dynamics_derivatives.kernel(model, q, v, a, external_forces)
    return ForwardDynamicsDerivatives(_solved(factor, by.dq), _solved(factor, by.dv), factor.inverse())


def _solved(factor: Factor, B: Rows) -> Rows:
    """Return -A^-1 B for the matrix A that is factored."""
    columns = [factor.solve([-e for e in column]) for column in zip(*B, strict=True)]
    return transposed(columns) or B
