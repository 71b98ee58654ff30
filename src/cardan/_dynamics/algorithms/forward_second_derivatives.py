"""Second derivatives of forward dynamics, weighed and summed: the Hessian of w . FD(q, v, tau).

At a = FD the multipliers lambda = -M^-1 w make w . a + lambda . (ID(q, v, a) - tau) stationary in a. So w . FD has the
first derivatives of L = lambda . ID at fixed a and lambda, and in the second ones both follow. With L_qq and so on of
`second_derivatives`, and because L_aa and L_va are 0,

    (1)  d2(w . FD) / dq2     = L_qq + L_qa a_q + (L_qa a_q)^T        a_q = dFD/dq = -M^-1 ID_q
    (2)  d2(w . FD) / dq dv   = L_qv + L_qa a_v                       a_v = dFD/dv = -M^-1 ID_v
    (3)  d2(w . FD) / dv2     = L_vv
    (4)  d2(w . FD) / dq dtau = L_qa M^-1

and those by v and tau, and by tau twice, are 0. Neither a_q nor M^-1 is needed for (1) and (2): with M = L^T D L of
`linear`, whose factors are as sparse as the tree,

    (5)  L_qa M^-1 X = Y D^-1 (L^-T X),   Y = (L^-T L_qa^T)^T,        for X = ID_q, ID_v

`forward_dynamics_expansion` adds the first derivatives, from the same halves:

    (6)  dFD/dx = -L^-1 D^-1 (L^-T ID_x),        dFD/dtau = M^-1

Alone, these take more operations than `forward_derivatives`; beside the second ones, fewer.

Source: derived here. Singh, Russo and Wensing, On second-order derivatives of rigid-body dynamics: theory and
implementation (2024), have (1) to (4) as tensors.
Cost: that of the Hessian of L and of dID, and O(n d^2) for (5), d the depth of the tree.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Generic, NamedTuple

from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import Motion, Scalar
from cardan._dynamics.algorithms.aba import by_mass_matrix, forward_dynamics, mass_factor
from cardan._dynamics.algorithms.derivatives import (
    JointMotion,
    Matrix,
    inverse_dynamics_derivatives,
    outwards_in_one_frame,
)
from cardan._dynamics.algorithms.entries import (
    forward_dynamics_derivatives_entries,
    forward_dynamics_hessian_entries,
    packed_matrices,
)
from cardan._dynamics.algorithms.forward_derivatives import ForwardDynamicsDerivatives, derivatives_and_accelerations
from cardan._dynamics.algorithms.limbs import moves_all_ways
from cardan._dynamics.algorithms.linear import Factor, Rows, mirrored, transposed, zeros
from cardan._dynamics.algorithms.loops import without_loops
from cardan._dynamics.algorithms.mass_inverse import mass_matrix_inverse
from cardan._dynamics.algorithms.second_derivatives import (
    InverseDynamicsHessian,
    inverse_dynamics_hessian,
    inverse_dynamics_pulled,
    of_pulled,
)
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.call.public import ArrayLike, Reals, known, public
from cardan._robot.model import Model, Node


class ForwardDynamicsHessian(NamedTuple, Generic[Matrix]):
    """Second derivatives of weights . a [rad/s^2, m/s^2, each by the units of two arguments].

    Row i is by coordinate i of the first argument, column j by coordinate j of the second. Those by v and tau, and by
    tau twice, are 0. A block of the same two arguments the other way round is the transpose.

    Attributes:
        dq_dq: by the configuration twice, along geodesics (`hessian`), shape (..., nv, nv), symmetric.
        dq_dv: by the configuration and the velocity, shape (..., nv, nv).
        dv_dv: by the velocity twice, shape (..., nv, nv), symmetric.
        dq_dtau: by the configuration and the efforts, shape (..., nv, nv): how weights . M^-1 changes.
    """

    dq_dq: Matrix
    dq_dv: Matrix
    dv_dv: Matrix
    dq_dtau: Matrix


class ForwardDynamicsExpansion(NamedTuple, Generic[Matrix]):
    """Accelerations, their derivatives, and the second derivatives of weights . a.

    Attributes:
        a: the accelerations [rad/s^2, m/s^2], shape (..., nv).
        dq: their derivatives by the configuration, as of `forward_dynamics_derivatives`, shape (..., nv, nv).
        dv: by the velocity.
        dtau: by the efforts: the inverse of the mass matrix.
        dq_dq: second derivatives of weights . a, as of `forward_dynamics_hessian`, shape (..., nv, nv).
        dq_dv: by the configuration and the velocity.
        dv_dv: by the velocity twice.
        dq_dtau: by the configuration and the efforts.
    """

    a: Matrix
    dq: Matrix
    dv: Matrix
    dtau: Matrix
    dq_dq: Matrix
    dq_dv: Matrix
    dv_dv: Matrix
    dq_dtau: Matrix


@public(result=ForwardDynamicsHessian[Reals], shapes={"weights": ("nv",)}, simplified=True)
def forward_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    weights: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    packed: bool = False,
) -> ForwardDynamicsHessian[Rows]:
    """Return the second derivatives of weights . `forward_dynamics` by q, v and tau.

    Args:
        weights: what the accelerations are weighed with before they are summed [-], shape (..., nv): the costates of an
            optimal control problem, or a unit vector for one acceleration.
        external_forces: wrenches on the bodies [N, N m], as for `forward_dynamics`; constant in the bodies' own frames.

    Raises:
        MechanismError: if the model has closed loops; `constrained_forward_dynamics_hessian` is for them.

    Examples:
        >>> H = cardan.forward_dynamics_hessian(arm, q, v, tau, weights=np.ones(7))
        >>> H.dq_dq.shape, bool(np.allclose(H.dq_dq, H.dq_dq.T))
        ((7, 7), True)
    """
    without_loops(model, "forward_dynamics_hessian")
    found = _hessian(_halves(model, q, v, tau, weights, external_forces))
    return packed_matrices(found, forward_dynamics_hessian_entries(model)) if packed else found


@public(result=ForwardDynamicsExpansion[Reals], shapes={"weights": ("nv",)}, simplified=True)
def forward_dynamics_expansion(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    weights: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    packed: bool = False,
) -> ForwardDynamicsExpansion[Rows]:
    """Return `forward_dynamics`, its derivatives, and its second derivatives weighed, all in one program.

    What they share is computed once; this is what Newton's method asks for at a state.

    Args:
        weights: as for `forward_dynamics_hessian` [-], shape (..., nv).
        external_forces: wrenches on the bodies [N, N m], as for `forward_dynamics`; constant in the bodies' own frames.
        packed: whether to return of each matrix the entries at `packed_indices` of `forward_dynamics_derivatives` and
            of `forward_dynamics_hessian` alone, shape (..., n) each.

    Raises:
        MechanismError: if the model has closed loops.

    Examples:
        >>> near = cardan.forward_dynamics_expansion(arm, q, v, tau, weights=np.ones(7))
        >>> bool(np.allclose(near.dq, cardan.forward_dynamics_derivatives(arm, q, v, tau).dq))
        True
        >>> bool(np.allclose(near.a, cardan.forward_dynamics(arm, q, v, tau)))
        True
    """
    without_loops(model, "forward_dynamics_expansion")
    halves = _halves(model, q, v, tau, weights, external_forces)
    first: ForwardDynamicsDerivatives[Rows] = ForwardDynamicsDerivatives(*_first(model, q, halves))
    second = _hessian(halves)
    if packed:
        first = packed_matrices(first, forward_dynamics_derivatives_entries(model))
        second = packed_matrices(second, forward_dynamics_hessian_entries(model))
    return ForwardDynamicsExpansion(halves.a, *first, *second)  # pyright: ignore[reportReturnType] -- a is a vector


def forward_dynamics_pulled(
    model: Model, q: Vector, v: Vector, tau: Vector, weights: Vector, external_forces: ArrayLike | None = None
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Return the gradient of weights . `forward_dynamics` by q, along the tangent, v and tau: that of L, and M^-1 w."""
    factor = mass_factor(model, q)
    multipliers = factor.solve([-w for w in weights])
    a = by_mass_matrix(model, factor, q, v, tau, external_forces)
    by_q, by_v, _ = inverse_dynamics_pulled(model, q, v, a, multipliers, external_forces)
    return by_q, by_v, [-e for e in multipliers]


def _pulled_derivatives(
    model: Model, q: Vector, v: Vector, tau: Vector, weights: Vector, external_forces: ArrayLike | None = None
) -> Sequence[Rows]:
    halves = _halves(model, q, v, tau, weights, external_forces)
    by_q, _, _ = inverse_dynamics_pulled(model, q, v, halves.a, halves.multipliers, external_forces)
    return of_pulled(model, by_q, _first(model, q, halves), _hessian(halves))


class _Undone(NamedTuple):
    """The columns of dFD that floating bases make by themselves, by coordinate: a_J = -c, and no other joint moves."""

    by_q: dict[int, list[Scalar]]
    by_v: dict[int, list[Scalar]]  # by linear velocities alone, for a turn is felt


class _Halves(NamedTuple):
    """Accelerations, multipliers, factors of M, the Hessian of L, and halves of (5): rows of L_qa, and columns of X."""

    a: list[Scalar]
    multipliers: list[Scalar]
    factor: Factor
    L: InverseDynamicsHessian[Rows]
    Y: Rows
    U_q: Rows
    U_v: Rows
    undone: _Undone

    def outwards(self, half: Vector) -> list[Scalar]:
        """Return L^-1 D^-1 of a half."""
        return self.factor.outwards(self.factor.scaled(half))


def _halves(
    model: Model, q: Vector, v: Vector, tau: Vector, weights: Vector, external_forces: ArrayLike | None
) -> _Halves:
    factor = mass_factor(model, q)
    multipliers = factor.solve([-w for w in weights])
    a = by_mass_matrix(model, factor, q, v, tau, external_forces)
    by = inverse_dynamics_derivatives.kernel(model, q, v, a, external_forces)
    # rows, which the columns of a long tree give one by one
    L = InverseDynamicsHessian(
        *map(list, inverse_dynamics_hessian.kernel(model, q, v, a, multipliers, external_forces))
    )
    Y, U_q, U_v = ([factor.inwards(x) for x in rows] for rows in (L.dq_da, transposed(by.dq), transposed(by.dv)))
    return _Halves(a, multipliers, factor, L, Y, U_q, U_v, _undone(model, outwards_in_one_frame(model, q, v, a)[0]))


def _undone(model: Model, joints: Sequence[JointMotion]) -> _Undone:
    found = _Undone({}, {})
    if model.has_mimics:  # a joint may move with its base
        return found
    for node, joint in zip(model.nodes, joints, strict=True):
        if node.parent < 0 and moves_all_ways(node, joint.S):
            for j, S, Psi_ddot, Upsilon_dot in zip(node.v, joint.S, joint.Psi_ddot, joint.Upsilon_dot, strict=True):
                found.by_q[j] = _column(model, node, Psi_ddot)
                if all(map(is_zero, S.angular)):
                    found.by_v[j] = _column(model, node, Upsilon_dot)
    return found


def _column(model: Model, J: Node, c: Motion) -> list[Scalar]:
    column: list[Scalar] = [0.0] * model.nv
    J.scatter(column, [-e for e in c.scalars()])
    return column


def _hessian(halves: _Halves) -> ForwardDynamicsHessian[Rows]:
    L, (by_q, by_v) = halves.L, halves.undone
    rows = [[-e for e in halves.factor.scaled(y)] for y in halves.Y]
    T = _plus_products(zeros(len(rows), len(rows)), rows, halves.U_q, by_q)

    def by_q_twice(i: int, j: int) -> Scalar:  # (1); no other joint feels how a base moved
        return 0.0 if (i in by_q) != (j in by_q) else L.dq_dq[i][j] + (T[i][j] + T[j][i])

    dq_dq = mirrored([[by_q_twice(i, j) for j in range(i + 1)] for i in range(len(rows))])
    dq_dv = _plus_products(L.dq_dv, rows, halves.U_v, by_v)  # (2)
    dq_dtau = [halves.outwards(y) for y in halves.Y]  # (4)
    return ForwardDynamicsHessian(*(e if len(e) else zeros(0, 0) for e in (dq_dq, dq_dv, L.dv_dv, dq_dtau)))


def _plus_products(L_x: Rows, rows: Rows, U: Rows, undone: Collection[int]) -> Rows:
    """Return L_x + L_qa a_x, of the rows -Y D^-1; 0 where a base undoes what x moves."""
    return [
        [0.0 if j in undone else _plus_dot(e, y, u) for j, (e, u) in enumerate(zip(own, U, strict=True))]
        for own, y in zip(L_x, rows, strict=True)
    ]


def _plus_dot(x: Scalar, y: Vector, u: Vector) -> Scalar:
    """Return x + y . u; zeros, which most entries are, cost nothing while tracing either."""
    for e, f in zip(y, u, strict=True):
        x = x if is_zero(e) or is_zero(f) else x + e * f
    return x


def _first(model: Model, q: Vector, halves: _Halves) -> tuple[Rows, Rows, Rows]:
    """Return the first derivatives, (6)."""
    by_q, by_v = (
        [known.get(j) or halves.outwards([-e for e in u]) for j, u in enumerate(U)]
        for known, U in zip(halves.undone, (halves.U_q, halves.U_v), strict=True)
    )
    return transposed(by_q) or zeros(0, 0), transposed(by_v) or zeros(0, 0), mass_matrix_inverse.kernel(model, q)


known(
    forward_dynamics,
    by=derivatives_and_accelerations,
    wrt=("q", "v", "tau"),
    back=forward_dynamics_pulled,
    twice=_pulled_derivatives,
)
