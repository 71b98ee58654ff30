"""Derivatives that have names of their own, beside those of the dynamics: of moving, and of frames' motions."""

from __future__ import annotations

from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from cardan._algebra.errors import ParameterError, ShapeError
from cardan._dynamics.algorithms.configuration import integrate
from cardan._dynamics.algorithms.kinematics import FrameName, Frames, frame_acceleration, frame_velocity
from cardan._dynamics.call.arguments import broadcast, is_symbolic, numeric_array
from cardan._dynamics.call.public import ArrayLike, Reals, public
from cardan._dynamics.functions.derivatives import derivative
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


_of_integrate = derivative(integrate, ("q", "v"), tangent=True)
_of_velocity = derivative(frame_velocity, ("q", "v"))
_of_acceleration = derivative(frame_acceleration, ("q", "v", "a"))


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
    if by not in ("q", "v"):
        raise ParameterError("integrate_transport: by", got=by, expected="'q' or 'v'")
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

    Peers: Pinocchio `getFrameVelocityDerivatives`, Drake `CalcPartialTranslationalVelocity`.

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

    Peers: Pinocchio `getFrameAccelerationDerivatives`.

    Source: differentiation of the program of `frame_acceleration`.
    """
    by = _of_acceleration(model, q, v, a, frame, at=at, expressed_in=expressed_in, relative_to=relative_to)
    return FrameAccelerationDerivatives(*by)
