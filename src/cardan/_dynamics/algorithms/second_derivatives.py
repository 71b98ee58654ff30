"""Second derivatives of inverse dynamics, weighed and summed: the Hessian of L = lambda . ID(q, v, a).

The weights lambda are a virtual velocity: with W_i = W_p + S_i lambda, as for v, L is the power sum_i W_i . f_i of the
forces f_i = I_i a_i + v_i x* I_i v_i of the bodies. In the letters of `derivatives`, as coordinate j moves, v of all
that is behind it changes by Psi_dot_j, seen from there, and W likewise by

    omega_j = W_p x S_j + (d_j S) lambda

Let P_i = I_i W_i and b_i = 2 B_i^T W_i. With the sums f^C, P^C and b^C over all that is behind joint j,

    (1)  dL/dq_j = omega_j . f^C + Psi_ddot_j . P^C + Psi_dot_j . b^C
    (2)  dL/dv_j = Upsilon_dot_j . P^C + S_j . b^C
    (3)  dL/da_j = S_j . P^C

What stands before the dots is told by j and what is before it. So for k behind j only the sums change, by

    alpha_k   = d f^C / dq_k = I^C Psi_ddot_k + 2 B^C Psi_dot_k + S_k x* f^C
    beta_k    = d P^C / dq_k = I^C omega_k + S_k x* P^C
    gamma_k   = d b^C / dq_k = 2 B^C^T omega_k + 2 Psi_dot_k x* P^C - 2 B^C(W) Psi_dot_k + S_k x* b^C
    delta_k   = d f^C / dv_k = I^C Upsilon_dot_k + 2 B^C S_k
    epsilon_k = d b^C / dv_k = 2 S_k x* P^C - 2 B^C(W) S_k
    zeta_k    = d f^C / da_k = I^C S_k

with sums over what is behind k, and B(W) for B with W in place of v: B is linear in v, and 2 B(x)^T W = 2 x x* I W -
2 B(W) x for any x. The derivative of (1) to (3) by coordinate k is then

    (4)  d2L / dq_k dq_j = alpha_k . omega_j + beta_k . Psi_ddot_j + gamma_k . Psi_dot_j
    (5)  d2L / dq_k dv_j = beta_k . Upsilon_dot_j + gamma_k . S_j
    (6)  d2L / dv_k dq_j = delta_k . omega_j + epsilon_k . Psi_dot_j
    (7)  d2L / dv_k dv_j = epsilon_k . S_j
    (8)  d2L / dq_k da_j = beta_k . S_j
    (9)  d2L / da_k dq_j = zeta_k . omega_j

Coordinates k and j of one joint move each other's vectors, too. Seen from the joint's own frame,

    (4') the symmetric part of (4) + omega_kj . f^C + Psi_ddot_kj . P^C + Psi_dot_kj . b^C
    (5') I^C omega_k . Upsilon_dot_j + (2 B^C^T omega_k - 2 B^C(W) Psi_dot_k) . S_j
         + Upsilon_dot_kj . P^C + d_k S_j . b^C
    (7') (S_k x* P^C - 2 B^C(W) S_k) . S_j + (d_k S_j + d_j S_k) . P^C
    (8') I^C omega_k . S_j + d_k S_j . P^C

where all that has two indices is 0 if S is constant; `_turn` has it otherwise. The symmetric part is what there is
along geodesics: along tangents, derivatives by k and by j do not commute.

Source: derived here by variations, from the first derivatives in `derivatives`. Singh, Russo and Wensing, On
second-order derivatives of rigid-body dynamics: theory and implementation (2024), have the tensor for constant S.
Cost: O(n d), d the depth of the tree: 60 multiply-adds for two coordinates of one branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, cast

from cardan._algebra.spatial import Force, Motion, MotionSubspace, Scalar, Vector3
from cardan._dynamics.algorithms.along import nodes_of_rows
from cardan._dynamics.algorithms.branch_matrices import branch_matrices
from cardan._dynamics.algorithms.derivatives import (
    Composite,
    JointMotion,
    Matrix,
    inverse_dynamics_derivatives,
    outwards_in_one_frame,
)
from cardan._dynamics.algorithms.entries import inverse_dynamics_hessian_entries
from cardan._dynamics.algorithms.linear import Rows, dot, mirrored, transposed, zeros
from cardan._dynamics.algorithms.rnea import inverse_dynamics
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.call.public import ArrayLike, Reals, commutators, known, public
from cardan._robot.joints.derivation.derived import JointRates, joint_rates, joint_rates_by_q
from cardan._robot.model import Model, Node


class InverseDynamicsHessian(NamedTuple, Generic[Matrix]):
    """Second derivatives of weights . tau [N m, N, each by the units of two arguments].

    Row i is by coordinate i of the first argument, column j by coordinate j of the second. Those by v and a, and by
    a twice, are 0. A block of the same two arguments the other way round is the transpose.

    Attributes:
        dq_dq: by the configuration twice, along geodesics (`hessian`), shape (..., nv, nv), symmetric.
        dq_dv: by the configuration and the velocity, shape (..., nv, nv).
        dv_dv: by the velocity twice, shape (..., nv, nv), symmetric.
        dq_da: by the configuration and the acceleration, shape (..., nv, nv): how weights . M changes.
    """

    dq_dq: Matrix
    dq_dv: Matrix
    dv_dv: Matrix
    dq_da: Matrix


@public(result=InverseDynamicsHessian[Reals], shapes={"weights": ("nv",)}, simplified=True)
def inverse_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    weights: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    packed: bool = False,
) -> InverseDynamicsHessian[Rows]:
    """Return the second derivatives of weights . `inverse_dynamics` by q, v and a.

    Args:
        weights: what the efforts are weighed with before they are summed [-], shape (..., nv): a unit vector gives the
            Hessian of one effort, a solver's multipliers that of its Lagrangian.
        external_forces: wrenches on the bodies [N, N m], as for `inverse_dynamics`; constant in the bodies' own frames.

    Examples:
        >>> H = cardan.inverse_dynamics_hessian(arm, q, v, a, weights=np.eye(7)[2])
        >>> third = cardan.derivative(cardan.inverse_dynamics_derivatives, "v")(arm, q, v, a)["dv"][2]
        >>> bool(np.allclose(H.dv_dv, third))
        True
    """
    behind = _sums(model, q, v, a, weights, external_forces, loops=True)
    nodes = nodes_of_rows(model, behind)

    def own(node: Node) -> list[Rows]:
        i = behind[node.index]
        return _own_blocks(i, _turned(i, node, q, v, a, weights))

    def freedoms(node: Node) -> list[_Freedom]:
        i = behind[node.index]
        j, changes = i.joint, _changes(i)
        return list(map(_Freedom, changes, i.omega, j.S, j.Psi_dot, j.Psi_ddot, j.Upsilon_dot))

    places = inverse_dynamics_hessian_entries(model) if packed else [None] * 4
    return InverseDynamicsHessian(*branch_matrices(nodes, places, own, freedoms, _entries))


class _Sums(NamedTuple):
    """The sums over all that is behind a joint."""

    real: Composite  # I^C, B^C, f^C
    virtual: Composite  # B^C(W), and P^C in the place of f^C
    b: Force  # b^C

    def __add__(self, child: Any) -> _Sums:
        return _Sums(self.real + child.real, self.virtual + child.virtual, self.b + child.b)


class _Behind(NamedTuple):
    """A joint, and the sums over all that is behind it."""

    joint: JointMotion
    W_p: Motion
    omega: list[Motion]
    sums: _Sums


def inverse_dynamics_pulled(
    model: Model, q: Vector, v: Vector, a: Vector, weights: Vector, external_forces: ArrayLike | None = None
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Return the gradient of weights . `inverse_dynamics` by q, along the tangent, v and a: (1) to (3)."""
    by_q: list[Scalar] = [0.0] * model.nv
    by_v, by_a = [*by_q], [e * w for e, w in zip(model.passive("armature"), weights, strict=True)]
    for i in _sums(model, q, v, a, weights, external_forces):
        j, f, P, b = i.joint, i.sums.real.f, i.sums.virtual.f, i.sums.b
        changes = zip(j.v, i.omega, j.Psi_ddot, j.Psi_dot, j.Upsilon_dot, j.S, strict=True)
        for k, omega, Psi_ddot, Psi_dot, Upsilon_dot, S in changes:
            by_q[k] = by_q[k] + omega.dot(f) + Psi_ddot.dot(P) + Psi_dot.dot(b)
            by_v[k] = by_v[k] + Upsilon_dot.dot(P) + S.dot(b)
            by_a[k] = by_a[k] + S.dot(P)
    return by_q, by_v, by_a


def _pulled_derivatives(
    model: Model, q: Vector, v: Vector, a: Vector, weights: Vector, external_forces: ArrayLike | None = None
) -> Sequence[Rows]:
    by_q, _, _ = inverse_dynamics_pulled(model, q, v, a, weights, external_forces)
    first = inverse_dynamics_derivatives.kernel(model, q, v, a, external_forces)
    return of_pulled(model, by_q, first, inverse_dynamics_hessian.kernel(model, q, v, a, weights, external_forces))


def of_pulled(model: Model, by_q: Vector, first: Sequence[Rows], second: Sequence[Rows]) -> Sequence[Rows]:
    """Return the derivatives of a gradient by q, v and x, row by row of blocks: by q, v, x and the weights.

    `first` are those of what is weighed, by q, v and x; `second` are those of its weighed sum by q twice, q and v, v
    twice, and q and x. The gradient moves along the tangent, where derivatives by k and j do not commute.
    """
    (qq, qv, vv, qx), none = second, zeros(model.nv, model.nv)
    qq = [list(row) for row in qq]
    for i, j, k, c in commutators(model.manifold):
        qq[i][j] = qq[i][j] + c * by_q[k]
    T = transposed
    return [qq, qv, qx, T(first[0]), T(qv), vv, none, T(first[1]), T(qx), none, none, T(first[2])]


class _Carried(NamedTuple):
    W_p: Motion  # W of a joint's parent
    W: Motion


def _sums(
    model: Model,
    q: Vector,
    v: Vector,
    a: Vector,
    weights: Vector,
    external_forces: ArrayLike | None,
    loops: bool = False,
) -> Sequence[_Behind]:
    joints, bodies = outwards_in_one_frame(model, q, v, a, external_forces, loops)
    nodes = nodes_of_rows(model, joints)

    def carry(node: Node, parent: _Carried) -> _Carried:
        return _Carried(parent.W, parent.W + MotionSubspace(joints[node.index].S) @ node.velocity(weights))

    def sums(node: Node) -> _Sums:
        body, W = bodies[node.index], carried[node.index].W
        P, b = body.felt(W)
        return _Sums(body, Composite.of(body.I, W, P), Force(Vector3.zero(), b))

    def behind(node: Node) -> _Behind:
        joint, own, W_p = joints[node.index], node.velocity(weights), carried[node.index].W_p
        by_q = [MotionSubspace(dS) @ own for dS in joint.S_by_q] or [Motion.zero()] * len(joint.S)
        omega = [W_p.cross(s) + d for s, d in zip(joint.S, by_q, strict=True)]
        return _Behind(joint, W_p, omega, composites[node.index])

    carried = nodes.outwards(carry, _Carried(Motion.zero(), Motion.zero()))
    composites = nodes.inwards(nodes.each(sums), lambda _, whole: (whole, lambda: whole))
    return nodes.each(behind)


class _Change(NamedTuple):
    """How the sums change with a coordinate k; those within the joint are seen from its own frame."""

    alpha: Force
    beta: Force
    gamma: Force
    delta: Force
    epsilon: Force
    zeta: Force
    beta_within: Force  # I^C omega_k
    gamma_within: Force  # 2 B^C^T omega_k - 2 B^C(W) Psi_dot_k
    epsilon_within: Force  # S_k x* P^C - 2 B^C(W) S_k


def _changes(i: _Behind) -> list[_Change]:
    j = i.joint
    return [_change(i.sums, *own) for own in zip(j.S, j.Psi_dot, j.Psi_ddot, j.Upsilon_dot, i.omega, strict=True)]


def _change(i: _Sums, S: Motion, Psi_dot: Motion, Psi_ddot: Motion, Upsilon_dot: Motion, omega: Motion) -> _Change:
    f, P = i.real.f, i.virtual.f
    I_omega, B_omega = i.real.felt(omega)
    gamma = Force(Vector3.zero(), B_omega) - i.virtual.gyroscopic(Psi_dot)
    epsilon = S.cross(P) - i.virtual.gyroscopic(S)
    return _Change(
        alpha=i.real.force(Psi_ddot, Psi_dot) + S.cross(f),
        beta=I_omega + S.cross(P),
        gamma=gamma + Psi_dot.cross(P) * 2.0 + S.cross(i.b),
        delta=i.real.force(Upsilon_dot, S),
        epsilon=epsilon + S.cross(P),
        zeta=i.real.I @ S,
        beta_within=I_omega,
        gamma_within=gamma,
        epsilon_within=epsilon,
    )


class _Freedom(NamedTuple):
    """A coordinate: how the sums change with it, and what it is to those behind it."""

    change: _Change
    omega: Motion
    S: Motion
    Psi_dot: Motion
    Psi_ddot: Motion
    Upsilon_dot: Motion


def _entries(k: _Freedom, j: _Freedom) -> list[tuple[Scalar, Scalar]]:
    """Return what couples coordinate k with one between it and the root, both ways."""
    c = k.change
    dq_dq = _dot((c.alpha, j.omega), (c.beta, j.Psi_ddot), (c.gamma, j.Psi_dot))
    dv_dv = _dot((c.epsilon, j.S))
    return [
        (dq_dq, dq_dq),  # (4)
        (_dot((c.beta, j.Upsilon_dot), (c.gamma, j.S)), _dot((c.delta, j.omega), (c.epsilon, j.Psi_dot))),  # (5), (6)
        (dv_dv, dv_dv),  # (7)
        (_dot((c.beta, j.S)), _dot((c.zeta, j.omega))),  # (8), (9)
    ]


def _dots(*pairs: tuple[Force, Sequence[Motion]]) -> list[Scalar]:
    """Return, for each coordinate, the sum of forces . motions."""
    forces = [force for force, _ in pairs]
    return [_dot(*zip(forces, own, strict=True)) for own in zip(*(motions for _, motions in pairs), strict=True)]


def _dot(*pairs: tuple[Force, Motion]) -> Scalar:
    """Return the sum of forces . motions, term by term: each is a multiply-add."""
    return dot([e for force, _ in pairs for e in force.scalars()], [e for _, m in pairs for e in m.scalars()])


class _Turned(NamedTuple):
    """How coordinate k of a joint changes what belongs to its coordinates j: one of each, for each j."""

    S: list[Motion]
    omega: list[Motion]
    Psi_dot: list[Motion]
    Psi_ddot: list[Motion]
    Upsilon_dot: list[Motion]


def _turned(i: _Behind, node: Node, q: Vector, v: Vector, a: Vector, weights: Vector) -> list[_Turned]:
    """Return, for each coordinate k of a joint, how it turns the others; nothing but zeros if S is constant."""
    n = len(i.joint.S)
    if not i.joint.S_by_q:
        return [_Turned(*[[Motion.zero()] * n] * 5)] * n
    own = node.configuration(q), node.velocity(v), node.velocity(a)
    rates = cast("JointRates", joint_rates(node.joint, *own)).in_frame(i.joint.p.X)
    by_q = [change.in_frame(i.joint.p.X) for change in joint_rates_by_q(node.joint, *own)]
    return [_turn(i, k, own[1], node.velocity(weights), rates, change) for k, change in enumerate(by_q)]


def _turn(i: _Behind, k: int, v: Vector, weights: Vector, rates: JointRates, by_k: JointRates) -> _Turned:
    """Return how coordinate k turns the others of its joint; `by_k` is how it changes their rates.

        omega_kj     = W_p x d_k S_j + S_k x (d_j S) lambda + (d_k d_j S) lambda
        Psi_dot_kj   = v_p x d_k S_j + S_k x (d_j S) v + (d_k d_j S) v
        Psi_ddot_kj  = a_p x d_k S_j + v_p x Psi_dot_kj + (S_k x v_J) x (d_j S) v + v_j x (S_k x (d_j S) v
                       + (d_k d_j S) v) + S_k x d_j(S a + bias) + d_k d_j(S a + bias)       v_J = S v,  v_j = v_p + v_J
        Upsilon_dot_kj = (v_p + v_j) x d_k S_j - (d_k S) v x S_j + d_k (d bias / dv_j)

    Each is the derivative of what it is named for, seen from the world in (4') and from the joint's frame in (5').
    Left out is what is antisymmetric in k and j, in (4'), and in (5') what cancels with 2 Psi_dot_k x* P^C . S_j.
    """
    (_, v_p, a_p, *_), S, S_k, dS = i.joint.p, MotionSubspace(i.joint.S), i.joint.S[k], i.joint.S_by_q
    v_J = S @ v
    v_j = v_p + v_J
    found = _Turned([], [], [], [], [])
    for j, (S_j, dS_kj) in enumerate(zip(S, dS[k], strict=True)):
        dS_v = rates.velocity_by_q[j]
        turned = S_k.cross(dS_v) + by_k.velocity_by_q[j]
        Psi_dot = v_p.cross(dS_kj) + turned
        found.S.append(dS_kj)
        by_weights = MotionSubspace(by_k.subspace_by_q[j]) @ weights
        found.omega.append(i.W_p.cross(dS_kj) + S_k.cross(MotionSubspace(dS[j]) @ weights) + by_weights)
        found.Psi_dot.append(Psi_dot)
        found.Psi_ddot.append(
            a_p.cross(dS_kj)
            + v_p.cross(Psi_dot)
            + S_k.cross(v_J).cross(dS_v)
            + v_j.cross(turned)
            + S_k.cross(rates.acceleration_by_q[j])
            + by_k.acceleration_by_q[j]
        )
        found.Upsilon_dot.append((v_p + v_j).cross(dS_kj) - rates.velocity_by_q[k].cross(S_j) + by_k.bias_by_v[j])
    return found


def _own_blocks(i: _Behind, turned: Sequence[_Turned]) -> list[Rows]:
    """Return what couples the coordinates of a joint: (4') to (8')."""
    j, f, P, b = i.joint, i.sums.real.f, i.sums.virtual.f, i.sums.b
    dq_dq, dq_dv, dv_dv, dq_da = [], [], [], []
    for k, (c, t) in enumerate(zip(_changes(i), turned, strict=True)):
        by_q = ((c.alpha, i.omega), (c.beta, j.Psi_ddot), (c.gamma, j.Psi_dot))
        dq_dq.append(_dots(*by_q, (f, t.omega), (P, t.Psi_ddot), (b, t.Psi_dot)))
        dq_dv.append(_dots((c.beta_within, j.Upsilon_dot), (c.gamma_within, j.S), (P, t.Upsilon_dot), (b, t.S)))
        dv_dv.append(_dots((c.epsilon_within, j.S), (P, t.S), (P, [other.S[k] for other in turned])))
        dq_da.append(_dots((c.beta_within, j.S), (P, t.S)))
    return [_symmetric(dq_dq), dq_dv, mirrored(dv_dv), dq_da]


def _symmetric(block: Rows) -> Rows:
    return mirrored(
        [[e if m == k else 0.5 * (e + block[m][k]) for m, e in enumerate(row)] for k, row in enumerate(block)]
    )


known(
    inverse_dynamics,
    by=inverse_dynamics_derivatives,
    wrt=("q", "v", "a"),
    back=inverse_dynamics_pulled,
    twice=_pulled_derivatives,
)
