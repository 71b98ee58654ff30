"""Moving in configuration space: public compiled functions."""

from __future__ import annotations

from numpy.typing import ArrayLike

from cardan.functions.function import function
from cardan.functions.vocabulary import Reals, algorithms
from cardan.model import Model


@function(returns=("nq",))
def integrate(model: Model, q: ArrayLike, v: ArrayLike) -> Reals:
    """Return the configuration reached from q by the velocity v after unit time.

    Pinocchio's function has the same name.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities, held constant for one second, shape (..., nv); use v * dt for another time.

    Returns:
        Configurations, shape (..., nq), on the manifold: quaternions stay of unit length.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Peers: MuJoCo `mj_integratePos`.

    Source: Sola, Deray and Atchuthan, A micro Lie theory for state estimation in robotics (2018).
    """
    return algorithms.integrate(model, q, v)


@function(returns=("nv",))
def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> Reals:
    """Return the shortest v with integrate(q0, v) = q1.

    Pinocchio's function has the same name.

    Args:
        model: the robot.
        q0: configurations to begin with, shape (..., nq).
        q1: configurations to end with, shape (..., nq).

    Returns:
        Velocities over unit time [rad, m], shape (..., nv).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Peers: MuJoCo `mj_differentiatePos` (with its arguments the other way round).

    Source: Sola, Deray and Atchuthan, A micro Lie theory for state estimation in robotics (2018).
    """
    return algorithms.difference(model, q0, q1)


@function(returns=("nq",))
def normalize(model: Model, q: ArrayLike) -> Reals:
    """Return the configuration on the manifold nearest to q.

    Args:
        model: the robot.
        q: coordinates, shape (..., nq), of any length but zero where they are a direction.

    Returns:
        Configurations, shape (..., nq): quaternions, and pairs of cosine and sine, of unit length.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Peers: MuJoCo `mj_normalizeQuat`, RigidBodyDynamics.jl `normalize_configuration`.

    Source: the projection of each joint's manifold (`cardan.manifolds`).
    """
    return algorithms.normalize(model, q)


@function(returns=("nq",))
def principal_value(model: Model, q: ArrayLike) -> Reals:
    """Return the preferred coordinates of the same configuration: quaternion w >= 0, |MRP| <= 1.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).

    Returns:
        Configurations, shape (..., nq).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Peers: RigidBodyDynamics.jl `principal_value!`.

    Source: Schaub and Junkins (1996) for modified Rodrigues parameters and their shadow set.
    """
    return algorithms.principal_value(model, q)


@function(returns=("nq",))
def velocity_to_configuration_derivative(model: Model, q: ArrayLike, v: ArrayLike) -> Reals:
    """Return dq/dt, the time derivatives of the coordinates.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).

    Returns:
        dq/dt, shape (..., nq).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Peers: Drake `MapVelocityToQDot`.

    Source: Featherstone (2008), section 4.5, and each joint's manifold (`cardan.manifolds`).
    """
    return algorithms.velocity_to_configuration_derivative(model, q, v)


@function(returns=("nv",))
def configuration_derivative_to_velocity(model: Model, q: ArrayLike, qdot: ArrayLike) -> Reals:
    """Return the velocities v from dq/dt.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        qdot: time derivatives of the coordinates, dq/dt, shape (..., nq).

    Returns:
        Velocities [rad/s, m/s], shape (..., nv).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Peers: Drake `MapQDotToVelocity`.

    Source: Featherstone (2008), section 4.5, and each joint's manifold (`cardan.manifolds`).
    """
    return algorithms.configuration_derivative_to_velocity(model, q, qdot)


@function(returns=("nv",))
def limit_coordinates(model: Model, q: ArrayLike) -> Reals:
    """Return the coordinates that `model.lower` and `model.upper` bound: angles, lengths, rotation vectors.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).

    Returns:
        Coordinates along the velocities [rad, m], shape (..., nv).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Source: each joint's chart (docs/joints.md).
    """
    return algorithms.limit_coordinates(model, q)
