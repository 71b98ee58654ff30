"""Kinematics: public compiled functions.

A twist, acceleration or Jacobian is taken at a point and along axes: `at` and `expressed_in` are `"frame"` (the frame
asked for), `"world"`, or the name of any body or frame. In the words of others:

    here                                    Pinocchio              iDynTree         RigidBodyDynamics.jl
    at="frame", expressed_in="world"        LOCAL_WORLD_ALIGNED    MIXED            -
    at="frame", expressed_in="frame"        LOCAL                  BODY_FIXED       in the body's frame
    at="world", expressed_in="world"        WORLD                  INERTIAL_FIXED   in the root frame

The same three for a floating base's velocity, and for what goes along v: `cardan.representation`.

Where a function takes a `frame` it takes several as well, by names or by indices into `Model.frame_names`: they are one
program, compiled once, and a leading axis of the result counts them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.errors import ParameterError
from cardan._dynamics.call.function import function
from cardan._dynamics.functions.vocabulary import Frames, Reals, Reference, algorithms
from cardan._robot.model import Model


def _each(model: Model, frame: Any, of: Callable[[str], Any]) -> Any:
    """Return what is asked of one frame, or of each of several."""
    if isinstance(frame, str | int | np.integer):
        return of(_name(model, frame))
    if not isinstance(frame, tuple) or not frame:
        raise ParameterError("frame", got=frame, expected="a name, or at least one in a sequence of names or indices")
    return [of(_name(model, one)) for one in frame]


def _name(model: Model, frame: Any) -> Any:
    """Return a frame's name, given that or its index in `Model.frame_names`."""
    if isinstance(frame, bool) or not isinstance(frame, int | np.integer):
        return frame  # whether there is such a name is seen where it is looked up
    if not 0 <= frame < len(model.frame_names):
        raise ParameterError("index of a frame", got=int(frame), expected=f"0 to {len(model.frame_names) - 1}")
    return model.frame_names[frame]


@function(returns=("nbodies", 4, 4))
def forward_kinematics(model: Model, q: ArrayLike) -> Reals:
    """Return the poses of all bodies in the world.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).

    Returns:
        Homogeneous matrices X, shape (..., nbodies, 4, 4) [m], in the order of `model.body_names`: coordinates in the
        world = X coordinates in the body.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> X = cardan.forward_kinematics(arm, q)
        >>> X[arm.body_names.index("upper_arm_roll")].shape
        (4, 4)

    Peers: Pinocchio `forwardKinematics` `framesForwardKinematics`, MuJoCo `mj_kinematics`.

    Source: Featherstone (2008), section 2.8.
    """
    return algorithms.forward_kinematics(model, q)


@function(returns=("nbodies", 6))
def body_velocities(
    model: Model, q: ArrayLike, v: ArrayLike, *, at: Reference = "frame", expressed_in: Reference = "world"
) -> Reals:
    """Return the twists [linear; angular] of all bodies; by default at each body's origin, in world axes.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        at: the point whose velocity the linear part is: the origin of `"frame"` (each body), of `"world"`, or of a body
            or frame by name.
        expressed_in: whose axes the components are along: `"frame"`, `"world"`, or a body or frame by name.

    Returns:
        Twists [m/s, rad/s], shape (..., nbodies, 6), in the order of `model.body_names`.

    Raises:
        UnknownNameError: for a reference that does not exist.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> cardan.body_velocities(arm, q, v).shape == (arm.nbodies, 6)
        True

    Peers: Drake `EvalBodySpatialVelocityInWorld`; MuJoCo's data.cvel, at another point and angular first.

    Source: Featherstone (2008), equation 5.7.
    """
    return algorithms.body_velocities(model, q, v, at, expressed_in)


@function(returns=("nbodies", 6))
def body_accelerations(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    at: Reference = "frame",
    expressed_in: Reference = "world",
) -> Reals:
    """Return the time derivatives of the components of `body_velocities`; without gravity.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        a: accelerations [rad/s^2, m/s^2], shape (..., nv).
        at: as for `body_velocities`.
        expressed_in: as for `body_velocities`.

    Returns:
        Accelerations [m/s^2, rad/s^2], shape (..., nbodies, 6), in the order of `model.body_names`.

    Raises:
        UnknownNameError: for a reference that does not exist.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> cardan.body_accelerations(arm, q, v, a).shape == (arm.nbodies, 6)
        True

    Peers: Drake `EvalBodySpatialAccelerationInWorld`.

    Source: Featherstone (2008), section 2.10; for other references Traversaro and Saccon (2019).
    """
    return algorithms.body_accelerations(model, q, v, a, at, expressed_in)


@function(returns=(4, 4))
def frame_transform(model: Model, q: ArrayLike, frame: Frames, *, relative_to: str = "world") -> Reals:
    """Return the pose X of a body or frame: coordinates in `relative_to` = X coordinates in `frame`.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        frame: name of a body or frame (`model.frame_names`) or its index there, or n of them.
        relative_to: name of another one; the world by default.

    Returns:
        Homogeneous matrices [m], shape (..., 4, 4), or (..., n, 4, 4).

    Raises:
        UnknownNameError, ParameterError: for a frame that does not exist, or none.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> position = cardan.frame_transform(arm, q, "tool")[:3, 3]
        >>> cardan.frame_transform(arm, q, "tool", relative_to="upper_arm_roll").shape
        (4, 4)

    Peers: Pinocchio `updateFramePlacement` `updateFramePlacements`, Drake `CalcRelativeTransform`, iDynTree
    `getWorldTransform` `getRelativeTransform`, RigidBodyDynamics.jl `transform_to_root`; MuJoCo's data.xpos and
    data.xmat, roboticstoolbox `fkine`.

    Source: Featherstone (2008), section 2.8.
    """
    return _each(model, frame, lambda name: algorithms.frame_transform(model, q, name, relative_to))


@function(returns=(6,))
def frame_velocity(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: Frames,
    *,
    at: Reference = "frame",
    expressed_in: Reference = "world",
    relative_to: str = "world",
) -> Reals:
    """Return the twist [linear; angular] of a body or frame.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        frame: name of a body or frame (`model.frame_names`) or its index there, or n of them.
        at: the point whose velocity the linear part is: the origin of `"frame"` (the one asked for), of `"world"`, or
            of a body or frame by name.
        expressed_in: whose axes the components are along: `"frame"`, `"world"`, or a body or frame by name.

            at, expressed_in      Pinocchio              iDynTree
            "frame", "world"      LOCAL_WORLD_ALIGNED    MIXED_REPRESENTATION (the default)
            "frame", "frame"      LOCAL                  BODY_FIXED_REPRESENTATION
            "world", "world"      WORLD                  INERTIAL_FIXED_REPRESENTATION
        relative_to: name of the frame whose own motion is taken off; the world by default.

    Returns:
        Twists [m/s, rad/s], shape (..., 6), or (..., n, 6).

    Raises:
        UnknownNameError, ParameterError: for a frame or reference that does not exist, or no frame.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> J = cardan.jacobian(arm, q, "tool")
        >>> bool(np.allclose(cardan.frame_velocity(arm, q, v, "tool"), J @ v))
        True

    Peers: Pinocchio `getFrameVelocity`, MuJoCo `mj_objectVelocity` (angular first), Drake `CalcSpatialVelocity`
    (angular first), iDynTree `getFrameVel`, RigidBodyDynamics.jl `twist_wrt_world` `relative_twist`.

    Source: Featherstone (2008), section 2.10; Traversaro and Saccon (2019).
    """
    return _each(model, frame, lambda name: algorithms.frame_velocity(model, q, v, name, at, expressed_in, relative_to))


@function(returns=(6,))
def frame_acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frame: Frames,
    *,
    at: Reference = "frame",
    expressed_in: Reference = "world",
    relative_to: str = "world",
) -> Reals:
    """Return the time derivative of the components of `frame_velocity`; without gravity.

    At the frame in world axes the linear part is the acceleration of the frame's origin; at the frame in its own axes
    the whole is the spatial acceleration.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        a: accelerations [rad/s^2, m/s^2], shape (..., nv).
        frame: name of a body or frame (`model.frame_names`) or its index there, or n of them.
        at: as for `frame_velocity`.
        expressed_in: as for `frame_velocity`.
        relative_to: as for `frame_velocity`.

    Returns:
        Accelerations [m/s^2, rad/s^2], shape (..., 6), or (..., n, 6).

    Raises:
        UnknownNameError, ParameterError: for a frame or reference that does not exist, or no frame.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> J, rate = cardan.jacobian(arm, q, "tool"), cardan.jacobian_derivative(arm, q, v, "tool")
        >>> bool(np.allclose(cardan.frame_acceleration(arm, q, v, a, "tool"), J @ a + rate @ v))
        True

    Peers: Pinocchio `getFrameClassicalAcceleration` `getFrameAcceleration` (the linear rows, and the spatial
    acceleration at the frame in its own axes), MuJoCo `mj_objectAcceleration` (angular first, gravity in it),
    Drake `CalcSpatialAcceleration` (angular first), iDynTree `getFrameAcc`.

    Source: Featherstone (2008), sections 2.10 and 2.11; Traversaro and Saccon (2019).
    """
    return _each(
        model, frame, lambda name: algorithms.frame_acceleration(model, q, v, a, name, at, expressed_in, relative_to)
    )


@function(returns=(6, "nv"))
def jacobian(
    model: Model,
    q: ArrayLike,
    frame: Frames,
    *,
    at: Reference = "frame",
    expressed_in: Reference = "world",
    relative_to: str = "world",
) -> Reals:
    """Return the Jacobian J of a body or frame: its twist is J v.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        frame: name of a body or frame (`model.frame_names`) or its index there, or n of them.
        at: the point whose velocity the linear rows give: the origin of `"frame"` (the one asked for), of `"world"`, or
            of a body or frame by name.
        expressed_in: whose axes the rows are along: `"frame"`, `"world"`, or a body or frame by name.

            at, expressed_in      Pinocchio              iDynTree
            "frame", "world"      LOCAL_WORLD_ALIGNED    MIXED_REPRESENTATION (the default)
            "frame", "frame"      LOCAL                  BODY_FIXED_REPRESENTATION
            "world", "world"      WORLD                  INERTIAL_FIXED_REPRESENTATION
        relative_to: name of the frame that the motion is relative to; the world by default.

    Returns:
        J, shape (..., 6, nv), or (..., n, 6, nv): three linear rows [m/s], then three angular ones [rad/s], for each
        velocity of one [rad/s, m/s].

    Raises:
        UnknownNameError, ParameterError: for a frame or reference that does not exist, or no frame.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> cardan.jacobian(arm, q, "tool").shape
        (6, 7)
        >>> cardan.jacobian(arm, q, ("upper_arm_roll", "tool"), at="frame", expressed_in="frame").shape
        (2, 6, 7)

    Peers: Pinocchio `computeFrameJacobian` `getFrameJacobian` `computeJointJacobian`, MuJoCo `mj_jac` `mj_jacBody`
    `mj_jacSite`, Drake `CalcJacobianSpatialVelocity` (angular first), iDynTree `getFrameFreeFloatingJacobian`
    `getRelativeJacobian`, RigidBodyDynamics.jl `geometric_jacobian` (angular first), Newton `eval_jacobian`,
    roboticstoolbox `jacob0` `jacobe`.

    Source: Featherstone (2008), section 4.5.
    """
    return _each(model, frame, lambda name: algorithms.jacobian(model, q, name, at, expressed_in, relative_to))


@function(returns=(6, "nv"))
def jacobian_derivative(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: Frames,
    *,
    at: Reference = "frame",
    expressed_in: Reference = "world",
    relative_to: str = "world",
) -> Reals:
    """Return dJ/dt while q moves with velocity v: the frame's acceleration is J a + dJ/dt v.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        frame: name of a body or frame (`model.frame_names`) or its index there, or n of them.
        at: as for `jacobian`.
        expressed_in: as for `jacobian`.
        relative_to: as for `jacobian`.

    Returns:
        dJ/dt, shape (..., 6, nv), or (..., n, 6, nv), rows as those of `jacobian`, by the second.

    Raises:
        UnknownNameError, ParameterError: for a frame or reference that does not exist, or no frame.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> cardan.jacobian_derivative(arm, q, v, "tool").shape
        (6, 7)

    Peers: Pinocchio `frameJacobianTimeVariation` `getFrameJacobianTimeVariation`, MuJoCo `mj_jacDot`.

    Source: Featherstone (2008), section 4.5, with d(X_wk)/dt = X_wk [V_k].
    """
    return _each(
        model, frame, lambda name: algorithms.jacobian_derivative(model, q, v, name, at, expressed_in, relative_to)
    )
