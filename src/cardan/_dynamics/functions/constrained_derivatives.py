"""Derivatives of the dynamics of closed loops, by the equations that define them.

    (1)  M a + h - tau - K^T l = 0,   K a + k = 0           defines a and l as functions of q, v and tau
    (2)  [M  -K^T] [da]     [dtau - d(M a + h) + d(K^T) l]
         [K    0 ] [dl]  =  [-d(K a + k)                 ]  at fixed a and l

Both sides of (2) are what the tree and the loops do at one motion. The matrix is solved in the free coordinates, and no
step of an iteration is differentiated. Where constraints depend on one another only while the loops are closed
(Bennett's linkage), there is no choice of free coordinates. There the proximal steps are differentiated as they are.

For inverse dynamics let E have the columns of the actuated coordinates, and W = |S_i|^2 of each. The least efforts by
sum tau_i^2 / W_i are tau = W E^T z of the z with

    (3)  E W E^T z + K^T l = M a + h,   K z = 0

which is (1) with other letters.

Source: Carpentier, Budhiraja and Mansard, Proximal and sparse resolution of constrained dynamic equations (2021), and
docs/loops.md, for (1) and (2); (3) is derived there.
Cost: a solution for each column; the right sides by differentiating the program of (1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from cardan._algebra.errors import MechanismError, ParameterError
from cardan._dynamics.algorithms.constrained import (
    constrained_forward_dynamics,
    constrained_inverse_dynamics,
    sufficient_efforts,
)
from cardan._dynamics.algorithms.forward_second_derivatives import ForwardDynamicsHessian
from cardan._dynamics.algorithms.linear import zeros
from cardan._dynamics.algorithms.second_derivatives import InverseDynamicsHessian
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.public import ArrayLike, Reals, known, public
from cardan._dynamics.functions.derivatives import derivative, hessian, weighed
from cardan._robot.model import Model

Matrix = TypeVar("Matrix")


class ConstrainedForwardDynamicsDerivatives(NamedTuple, Generic[Matrix]):
    """Derivatives of a motion of closed loops, and of what holds them; each in its unit by that of the argument.

    Attributes:
        dq: of the accelerations [rad/s^2, m/s^2] by the configuration, along the tangent, shape (..., nv, nv): q moves
            to integrate(q, e_j), whether that keeps the loops closed or not. Times a velocity that keeps them closed it
            is the change along the mechanism's motion.
        dv: by the velocity, shape (..., nv, nv).
        dtau: by the efforts, shape (..., nv, nv): the inverse inertia of the closed mechanism, symmetric.
        wrenches_dq: of the wrenches [N, N m] by the configuration, shape (..., closures, 6, nv).
        wrenches_dv: by the velocity.
        wrenches_dtau: by the efforts.
    """

    dq: Matrix
    dv: Matrix
    dtau: Matrix
    wrenches_dq: Matrix
    wrenches_dv: Matrix
    wrenches_dtau: Matrix


class ConstrainedInverseDynamicsDerivatives(NamedTuple, Generic[Matrix]):
    """Derivatives of the efforts that make a motion of closed loops, and of what holds these.

    Attributes:
        dq: of the efforts [N m, N] by the configuration, along the tangent, shape (..., nv, nv).
        dv: by the velocity, shape (..., nv, nv).
        da: by the acceleration, shape (..., nv, nv).
        wrenches_dq: of the wrenches [N, N m] by the configuration, shape (..., closures, 6, nv).
        wrenches_dv: by the velocity.
        wrenches_da: by the acceleration.
    """

    dq: Matrix
    dv: Matrix
    da: Matrix
    wrenches_dq: Matrix
    wrenches_dv: Matrix
    wrenches_da: Matrix


_of_forward = derivative(constrained_forward_dynamics, ("q", "v", "tau"))
_efforts = Function(sufficient_efforts, simplified=True)
_of_inverse = derivative(_efforts, ("q", "v", "a"))


@public(result=ConstrainedForwardDynamicsDerivatives[Reals], options=("stabilization",), simplified=True)
def constrained_forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    stabilization: float = 0.0,
) -> ConstrainedForwardDynamicsDerivatives[Reals]:
    """Return the derivatives of `constrained_forward_dynamics` by q, v and tau: of accelerations and wrenches.

    Args:
        q: configurations [rad, m], shape (..., nq), with the loops closed (`assemble`).
        v: velocities [rad/s, m/s], shape (..., nv), that keep them closed (`project_velocity`).
        external_forces: wrenches on the bodies [N, N m], as for `forward_dynamics`; constant in the bodies' own frames.
        stabilization: as of `constrained_forward_dynamics` [1/s].

    Raises:
        MechanismError: if the model has no loops.
        ParameterError: for a rate that is no number >= 0.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q, rest = cardan.assemble(linkage), np.zeros(linkage.nv)
        >>> by = cardan.constrained_forward_dynamics_derivatives(linkage, q, rest, rest)
        >>> by.dq.shape, by.wrenches_dtau.shape
        ((3, 3), (1, 6, 3))
        >>> bool(np.allclose(by.dtau, by.dtau.T))
        True

    Peers: Pinocchio `computeConstraintDynamicsDerivatives`.
    """
    by = _of_forward(model, q, v, tau, external_forces, stabilization=stabilization)
    a, wrenches = ([d[name] for d in by] for name in ("accelerations", "wrenches"))
    return ConstrainedForwardDynamicsDerivatives(*a, *wrenches)


@public(result=ConstrainedInverseDynamicsDerivatives[Reals], simplified=True)
def constrained_inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    actuated: Sequence[str] | None = None,
) -> ConstrainedInverseDynamicsDerivatives[Reals]:
    """Return the derivatives of `constrained_inverse_dynamics` by q, v and a: of efforts and wrenches.

    The drives must be able to make every motion of the mechanism. They are at least as many as its freedoms, which is
    checked. Where they cannot although they are as many (a dead point), the derivatives do not exist, and are not
    finite.

    Args:
        q: configurations [rad, m], shape (..., nq), with the loops closed.
        v: velocities [rad/s, m/s], shape (..., nv), with K v = 0.
        a: accelerations [rad/s^2, m/s^2], shape (..., nv), with K a + k = 0.
        external_forces: wrenches on the bodies [N, N m], as for `inverse_dynamics`; constant in the bodies' own frames.
        actuated: tuple of names of joints of the tree that have a drive; all by default.

    Raises:
        UnknownNameError, MechanismError: for a joint of `actuated` that does not exist, or closes a loop; if the model
            has no loops, or none of its coordinates follow from others by them.
        ParameterError: if there are fewer drives than freedoms.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q, rest = cardan.assemble(linkage), np.zeros(linkage.nv)
        >>> by = cardan.constrained_inverse_dynamics_derivatives(linkage, q, rest, rest, actuated=("crank_joint",))
        >>> by.da.shape, bool(by.da[0].any()), bool(by.da[1:].any())  # the crank alone has a drive
        ((3, 3), True, False)
    """
    by = _of_inverse(model, q, v, a, external_forces, actuated=actuated)
    efforts, wrenches = ([d[name] for d in by] for name in ("efforts", "wrenches"))
    return ConstrainedInverseDynamicsDerivatives(*efforts, *wrenches)


_twice_of_forward = hessian(weighed(constrained_forward_dynamics, ("nv",), "accelerations"), ("q", "v", "tau"))
_twice_of_inverse = hessian(weighed(_efforts, ("nv",), "efforts"), ("q", "v", "a"))


@public(result=ForwardDynamicsHessian[Reals], shapes={"weights": ("nv",)}, options=("stabilization",))
def constrained_forward_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    weights: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    stabilization: float = 0.0,
) -> ForwardDynamicsHessian[Reals]:
    """Return the second derivatives of weights . the accelerations of `constrained_forward_dynamics` by q, v and tau.

    Args:
        q: configurations [rad, m], shape (..., nq), with the loops closed.
        v: velocities [rad/s, m/s], shape (..., nv), that keep them closed.
        weights: what the accelerations are weighed with before they are summed [-], shape (..., nv).
        external_forces: wrenches on the bodies [N, N m], constant in the bodies' own frames.
        stabilization: as of `constrained_forward_dynamics` [1/s].

    Raises:
        MechanismError: if the model has no loops.
        ParameterError: for a rate that is no number >= 0.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q, rest = cardan.assemble(linkage), np.zeros(linkage.nv)
        >>> H = cardan.constrained_forward_dynamics_hessian(linkage, q, rest, rest, np.ones(3))
        >>> H.dq_dq.shape, bool(np.allclose(H.dv_dv, H.dv_dv.T))
        ((3, 3), True)

    Source: differentiation of `constrained_forward_dynamics_derivatives`.
    """
    H = _twice_of_forward(model, q, v, tau, external_forces, weights=weights, stabilization=stabilization)
    return ForwardDynamicsHessian(H.dq.dq, H.dq.dv, H.dv.dv, H.dq.dtau)


@public(result=InverseDynamicsHessian[Reals], shapes={"weights": ("nv",)})
def constrained_inverse_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    weights: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    actuated: Sequence[str] | None = None,
) -> InverseDynamicsHessian[Reals]:
    """Return the second derivatives of weights . the efforts of `constrained_inverse_dynamics` by q, v and a.

    Args:
        q: configurations [rad, m], shape (..., nq), with the loops closed.
        v: velocities [rad/s, m/s], shape (..., nv), that keep them closed.
        a: accelerations [rad/s^2, m/s^2], shape (..., nv), likewise.
        weights: what the efforts are weighed with before they are summed [-], shape (..., nv).
        external_forces: wrenches on the bodies [N, N m], constant in the bodies' own frames.
        actuated: as of `constrained_inverse_dynamics_derivatives`.

    Raises:
        UnknownNameError, MechanismError, ParameterError: as `constrained_inverse_dynamics_derivatives`.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q, rest = cardan.assemble(linkage), np.zeros(linkage.nv)
        >>> crank, drives = np.eye(3)[0], ("crank_joint",)
        >>> H = cardan.constrained_inverse_dynamics_hessian(linkage, q, rest, rest, crank, actuated=drives)
        >>> H.dq_da.shape
        (3, 3)

    Source: differentiation of `constrained_inverse_dynamics_derivatives`.
    """
    H = _twice_of_inverse(model, q, v, a, external_forces, weights=weights, actuated=actuated)
    return InverseDynamicsHessian(H.dq.dq, H.dq.dv, H.dv.dv, H.dq.da)


def _where_drives_suffice(model: Model, *given: Any, **named: Any) -> Sequence[Any]:
    """Return the derivatives of efforts and wrenches where (3) has them: there nothing stays unbalanced.

    Elsewhere nothing: the proximal steps are differentiated.
    """
    try:
        found = constrained_inverse_dynamics_derivatives(model, *given, **named)
    except (MechanismError, ParameterError):
        return ()
    return (*found, *[zeros(model.nv, model.nv)] * 3)


known(constrained_inverse_dynamics, by=_where_drives_suffice, wrt=("q", "v", "a"))
