"""Kinematics: public compiled functions.

A twist, acceleration or Jacobian is taken at a point and along axes: `at` and `expressed_in` are `"frame"` (the frame
asked for), `"world"`, or the name of any body or frame. In the words of others:

    here                                    Pinocchio              iDynTree         RigidBodyDynamics.jl
    at="frame", expressed_in="world"        LOCAL_WORLD_ALIGNED    MIXED            -
    at="frame", expressed_in="frame"        LOCAL                  BODY_FIXED       in the body's frame
    at="world", expressed_in="world"        WORLD                  INERTIAL_FIXED   in the root frame

The same three for a floating base's velocity, and for what goes along v: `cardan.representation`.
"""

from __future__ import annotations

from cardan import algorithms
from cardan.functions.function import function


@function(returns=("nbodies", 4, 4))
def forward_kinematics(model, q):
    """Return the poses of all bodies in the world, shape (..., nbodies, 4, 4), in the order of `model.body_names`."""
    return algorithms.forward_kinematics(model, q)


@function(returns=("nbodies", 6))
def body_velocities(model, q, v, *, at="frame", expressed_in="world"):
    """Return the twists [linear; angular] of all bodies, shape (..., nbodies, 6) [m/s, rad/s].

    By default at each body's origin, in world axes.
    """
    return algorithms.body_velocities(model, q, v, at, expressed_in)


@function(returns=("nbodies", 6))
def body_accelerations(model, q, v, a, *, at="frame", expressed_in="world"):
    """Return the time derivatives of `body_velocities`, shape (..., nbodies, 6) [m/s^2, rad/s^2]; without gravity."""
    return algorithms.body_accelerations(model, q, v, a, at, expressed_in)


@function(returns=(4, 4))
def frame_transform(model, q, frame, *, relative_to="world"):
    """Return the pose X of a body or frame, shape (..., 4, 4): coordinates in `relative_to` = X coordinates in `frame`.

    Args:
        model: the robot.
        q: configurations, shape (..., nq).
        frame: name of a body or frame.
        relative_to: name of another one; the world by default.
    """
    return algorithms.frame_transform(model, q, frame, relative_to)


@function(returns=(6,))
def frame_velocity(model, q, v, frame, *, at="frame", expressed_in="world"):
    """Return the twist [linear; angular] of a frame, shape (..., 6) [m/s, rad/s]."""
    return algorithms.frame_velocity(model, q, v, frame, at, expressed_in)


@function(returns=(6,))
def frame_acceleration(model, q, v, a, frame, *, at="frame", expressed_in="world"):
    """Return the time derivative of `frame_velocity`'s components, shape (..., 6) [m/s^2, rad/s^2]; without gravity.

    At the frame in world axes the linear part is the acceleration of the frame's origin; at the frame in its own axes
    the whole is the spatial acceleration.
    """
    return algorithms.frame_acceleration(model, q, v, a, frame, at, expressed_in)


@function(returns=(6, "nv"))
def jacobian(model, q, frame, *, at="frame", expressed_in="world"):
    """Return the Jacobian J of a frame, shape (..., 6, nv): its twist is J v, linear rows first."""
    return algorithms.jacobian(model, q, frame, at, expressed_in)


@function(returns=(6, "nv"))
def jacobian_derivative(model, q, v, frame, *, at="frame", expressed_in="world"):
    """Return dJ/dt, shape (..., 6, nv), while q moves with velocity v: the frame's acceleration is J a + dJ/dt v."""
    return algorithms.jacobian_derivative(model, q, v, frame, at, expressed_in)
