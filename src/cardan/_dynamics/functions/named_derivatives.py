"""Derivatives that have names of their own, beside those of the dynamics: of moving, of frames, of momentum."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from inspect import Parameter
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from cardan._algebra.errors import ShapeError, check_one_of
from cardan._dynamics.algorithms.centroidal import centroidal_momentum
from cardan._dynamics.algorithms.configuration import difference, difference_derivatives, integrate
from cardan._dynamics.algorithms.kinematics import FrameName, Frames, frame_acceleration, frame_velocity
from cardan._dynamics.call.arguments import Shape, broadcast, is_symbolic, numeric_array
from cardan._dynamics.call.function import function
from cardan._dynamics.call.public import ArrayLike, Public, Reals, known, public
from cardan._dynamics.functions.derivatives import derivative, hessian, vector_jacobian_product, weighed
from cardan._robot.model import Model

Matrix = TypeVar("Matrix")


class IntegrateDerivatives(NamedTuple, Generic[Matrix]):
    """Derivatives of the configuration reached, along the tangent there, each of shape (..., nv, nv) [-].

    Attributes:
        dq: by the configuration to begin with, along the tangent: q moves to integrate(q, e_j).
        dv: by the velocity. Where an orientation turns by a multiple of 2 pi it is singular: then turning further about
            another axis changes nothing.
    """

    dq: Matrix
    dv: Matrix


class FrameVelocityDerivatives(NamedTuple, Generic[Matrix]):
    """Derivatives of a frame's twist, of its components [m/s, rad/s]: what the axes turn is in them.

    Attributes:
        dq: by the configuration, along the tangent, shape (..., 6, nv), or (..., n, 6, nv) of n frames.
        dv: by the velocity: `jacobian`, which is that of a pose along the tangent, too.
    """

    dq: Matrix
    dv: Matrix


class FrameAccelerationDerivatives(NamedTuple, Generic[Matrix]):
    """Derivatives of a frame's acceleration, of its components [m/s^2, rad/s^2].

    Attributes:
        dq: by the configuration, along the tangent, shape (..., 6, nv), or (..., n, 6, nv) of n frames.
        dv: by the velocity.
        da: by the acceleration: `jacobian`.
    """

    dq: Matrix
    dv: Matrix
    da: Matrix


class VelocityHessian(NamedTuple, Generic[Matrix]):
    """Second derivatives of weights . a quantity linear in v [its units, by those of two arguments]; 0 by v twice.

    Attributes:
        dq_dq: by the configuration twice, along geodesics, shape (..., nv, nv), symmetric.
        dq_dv: by the configuration (rows) and the velocity, shape (..., nv, nv).
    """

    dq_dq: Matrix
    dq_dv: Matrix


class FrameAccelerationHessian(NamedTuple, Generic[Matrix]):
    """Second derivatives of weights . a frame's acceleration [m/s^2, rad/s^2]; 0 by v and a, and by a twice.

    Attributes:
        dq_dq: by the configuration twice, along geodesics, shape (..., nv, nv), symmetric.
        dq_dv: by the configuration (rows) and the velocity, shape (..., nv, nv).
        dv_dv: by the velocity twice, shape (..., nv, nv), symmetric.
        dq_da: by the configuration (rows) and the acceleration, shape (..., nv, nv).
    """

    dq_dq: Matrix
    dq_dv: Matrix
    dv_dv: Matrix
    dq_da: Matrix


_of_integrate = derivative(integrate, ("q", "v"), tangent=True)
_of_velocity = derivative(frame_velocity, ("q", "v"))
_of_acceleration = derivative(frame_acceleration, ("q", "v", "a"))
_twice_of_velocity = hessian(weighed(frame_velocity, (6,)), ("q", "v"))
_twice_of_acceleration = hessian(weighed(frame_acceleration, (6,)), ("q", "v", "a"))
_twice_of_momentum = hessian(weighed(centroidal_momentum, (6,)), ("q", "v"))


@public(result=IntegrateDerivatives[Reals])
def integrate_derivatives(model: Model, q: ArrayLike, v: ArrayLike) -> IntegrateDerivatives[Reals]:
    """Return the derivatives of `integrate` by q and v.

    As q moves to integrate(q, e) the result r moves to integrate(r, dq e), to first order in e; as v moves to v + e, to
    integrate(r, dv e). With v * dt for v, the derivative by v is dv * dt.

    Args:
        v: velocities [rad/s, m/s], held constant for one second, shape (..., nv).

    Examples:
        >>> by = cardan.integrate_derivatives(arm, q, 0.01 * v)
        >>> bool(np.allclose(by.dq, np.eye(7)))  # arm7's configurations are plain numbers
        True

    Peers: Pinocchio `dIntegrate` (ARG0 is dq, ARG1 is dv).

    Source: Sola, Deray and Atchuthan (2018), equations 78 and 79.
    """
    return IntegrateDerivatives(*_of_integrate(model, q, v))


def integrate_transport(
    model: Model, q: ArrayLike, v: ArrayLike, J: ArrayLike, *, by: Literal["q", "v"] = "q"
) -> Reals:
    """Return the columns of J, tangent vectors at q or changes of v, as they arrive at integrate(q, v).

    It is the parallel transport of a Jacobian along the motion v: `integrate_derivatives` times J.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], held constant for one second, shape (..., nv).
        J: matrices, shape (..., nv, n): derivatives of q along the tangent [rad, m], or of v [rad/s, m/s].
        by: which of the two moves.

    Returns:
        Matrices, shape (..., nv, n): derivatives of integrate(q, v) [rad, m], along the tangent there.

    Raises:
        ParameterError: for another `by`.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> v = 0.1 * np.ones(dog.nv)
        >>> J = cardan.integrate_transport(dog, dog.neutral(), v, np.eye(dog.nv))
        >>> bool(np.allclose(J, cardan.integrate_derivatives(dog, dog.neutral(), v).dq))
        True

    Peers: Pinocchio `dIntegrateTransport` (ARG0 is by="q", ARG1 is by="v").

    Source: Sola, Deray and Atchuthan (2018), equations 78 and 79.
    """
    check_one_of("integrate_transport: by", by, ("q", "v"))
    # before the function is called, so that the fault that is named is that of J
    columns = _columns(model, J)
    carried = getattr(integrate_derivatives(model, q, v), f"d{by}")
    broadcast("integrate_transport", {"J": tuple(columns.shape[:-2]), "q and v": tuple(carried.shape[:-2])})
    return carried @ columns


def _columns(model: Model, J: Any) -> Any:
    """Return the checked matrices of `integrate_transport`; an array of another library stays one."""
    where = "integrate_transport"
    if isinstance(J, (list, tuple, np.ndarray)):
        J = np.asarray(J) if is_symbolic(J) else numeric_array(where, "J", J)
    shape = tuple(getattr(J, "shape", ()))
    if len(shape) < 2 or shape[-2] != model.nv:
        raise ShapeError(where, "J", got=shape, expected=f"(..., {model.nv}, n)")
    return J


@public(result=FrameVelocityDerivatives[Reals])
def frame_velocity_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: Frames,
    *,
    at: FrameName = "frame",
    expressed_in: FrameName = "world",
    relative_to: str = "world",
) -> FrameVelocityDerivatives[Reals]:
    """Return the derivatives of `frame_velocity` by q and v.

    Examples:
        >>> by = cardan.frame_velocity_derivatives(arm, q, v, "tool", expressed_in="frame")
        >>> bool(np.allclose(by.dv, cardan.jacobian(arm, q, "tool", expressed_in="frame")))
        True

    Peers: Pinocchio `getFrameVelocityDerivatives` (by q, no derivative of the components in LOCAL_WORLD_ALIGNED),
    Drake `CalcPartialTranslationalVelocity`.

    Source: differentiation of the program of `frame_velocity`.
    """
    by = _of_velocity(model, q, v, frame, at=at, expressed_in=expressed_in, relative_to=relative_to)
    return FrameVelocityDerivatives(*by)


@public(result=FrameAccelerationDerivatives[Reals])
def frame_acceleration_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frame: Frames,
    *,
    at: FrameName = "frame",
    expressed_in: FrameName = "world",
    relative_to: str = "world",
) -> FrameAccelerationDerivatives[Reals]:
    """Return the derivatives of `frame_acceleration` by q, v and a.

    Examples:
        >>> by = cardan.frame_acceleration_derivatives(arm, q, v, a, "tool")
        >>> bool(np.allclose(by.da, cardan.jacobian(arm, q, "tool")))
        True

    Peers: Pinocchio `getFrameAccelerationDerivatives` (by q and v, none of the components in LOCAL_WORLD_ALIGNED).

    Source: differentiation of the program of `frame_acceleration`.
    """
    by = _of_acceleration(model, q, v, a, frame, at=at, expressed_in=expressed_in, relative_to=relative_to)
    return FrameAccelerationDerivatives(*by)


@public(result=VelocityHessian[Reals], shapes={"weights": (6,)})
def frame_velocity_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    weights: ArrayLike,
    frame: FrameName,
    *,
    at: FrameName = "frame",
    expressed_in: FrameName = "world",
    relative_to: str = "world",
) -> VelocityHessian[Reals]:
    """Return the second derivatives of weights . `frame_velocity` by q and v.

    Args:
        weights: what the six components are weighed with before they are summed [-], shape (..., 6).
        frame: name of a body or frame, or its index in `model.frame_names`.

    Examples:
        >>> H = cardan.frame_velocity_hessian(arm, q, v, np.eye(6)[2], "tool")
        >>> up = cardan.derivative(cardan.jacobian, "q")(arm, q, "tool")[2]  # how the row of J changes
        >>> bool(np.allclose(H.dq_dv, up.T))
        True

    Source: differentiation of the program of `frame_velocity`.
    """
    options = {"at": at, "expressed_in": expressed_in, "relative_to": relative_to}
    H = _twice_of_velocity(model, q, v, frame, weights=weights, **options)
    return VelocityHessian(*H.dq)


@public(result=FrameAccelerationHessian[Reals], shapes={"weights": (6,)})
def frame_acceleration_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    weights: ArrayLike,
    frame: FrameName,
    *,
    at: FrameName = "frame",
    expressed_in: FrameName = "world",
    relative_to: str = "world",
) -> FrameAccelerationHessian[Reals]:
    """Return the second derivatives of weights . `frame_acceleration` by q, v and a.

    Args:
        weights: what the six components are weighed with before they are summed [-], shape (..., 6).
        frame: name of a body or frame, or its index in `model.frame_names`.

    Examples:
        >>> H = cardan.frame_acceleration_hessian(arm, q, v, a, np.eye(6)[2], "tool")
        >>> H.dq_dq.shape, bool(np.allclose(H.dv_dv, H.dv_dv.T))
        ((7, 7), True)

    Source: differentiation of the program of `frame_acceleration`.
    """
    options = {"at": at, "expressed_in": expressed_in, "relative_to": relative_to}
    H = _twice_of_acceleration(model, q, v, a, frame, weights=weights, **options)
    return FrameAccelerationHessian(H.dq.dq, H.dq.dv, H.dv.dv, H.dq.da)


@public(result=VelocityHessian[Reals], shapes={"weights": (6,)})
def centroidal_momentum_hessian(model: Model, q: ArrayLike, v: ArrayLike, weights: ArrayLike) -> VelocityHessian[Reals]:
    """Return the second derivatives of weights . `centroidal_momentum` by q and v.

    Args:
        weights: what the six components are weighed with before they are summed [-], shape (..., 6).

    Examples:
        >>> H = cardan.centroidal_momentum_hessian(arm, q, v, np.eye(6)[2])
        >>> A_by_q = cardan.derivative(cardan.centroidal_momentum_matrix, "q")(arm, q)
        >>> bool(np.allclose(H.dq_dv, A_by_q[2].T))
        True

    Source: differentiation of the program of `centroidal_momentum`.
    """
    return VelocityHessian(*_twice_of_momentum(model, q, v, weights=weights).dq)


def _numbers(model: Model) -> tuple[int, ...]:
    """Return the shape of weights of a configuration's numbers, which are no configuration."""
    return (model.nq,)


def _known_twice(of: Public[..., Any, Any], by: Any, wrt: tuple[str, str], returns: Shape, weights: Shape) -> None:
    """Note what is known of a page whose joints move by themselves: blocks of these, by differentiating its program."""
    page = function(returns=returns)(of.kernel)  # of which nothing is known
    backs = [vector_jacobian_product(page, x) for x in wrt]

    def pulled(model: Model, *given: Any) -> tuple[Any, ...]:
        return tuple(back(model, *given[:2], weights=given[2]) for back in backs)

    names = ("model", *wrt, "weights")
    pulled.__signature__ = inspect.Signature([Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in names])
    blocks = derivative(function(shapes={"weights": weights})(pulled), (*wrt, "weights"))

    def twice(*given: Any, **named: Any) -> Sequence[Any]:
        found = blocks(*given, **named)
        return [by_argument[k] for k in (0, 1) for by_argument in found]

    known(of, by=by, wrt=wrt, back=pulled, twice=twice, weights=weights)


_known_twice(integrate, derivative(integrate, ("q", "v")), ("q", "v"), ("nq",), _numbers)
_known_twice(difference, difference_derivatives, ("q0", "q1"), ("nv",), ("nv",))
