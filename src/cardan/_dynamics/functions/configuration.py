"""Moving in configuration space: public compiled functions."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.arrays import as_argument, norm
from cardan._algebra.errors import ParameterError
from cardan._dynamics.call.arguments import is_symbolic
from cardan._dynamics.call.function import function
from cardan._dynamics.functions.vocabulary import Reals
from cardan._robot.model import Model


def _space(model: Model) -> Any:
    """Return the configuration space as kernels see it: it takes and gives symbols where types promise arrays."""
    return model.manifold


@function(returns=("nq",))
def integrate(model: Model, q: ArrayLike, v: ArrayLike) -> Reals:
    """Return the configuration reached from q by the velocity v after unit time.

    Pinocchio's function has the same name.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], held constant for one second, shape (..., nv); use v * dt for another time.

    Returns:
        Configurations [rad, m], shape (..., nq), on the manifold: quaternions stay of unit length.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> moved = cardan.integrate(dog, dog.neutral(), 0.01 * np.ones(dog.nv))
        >>> round(float(np.linalg.norm(moved[3:7])), 12)
        1.0

    Peers: MuJoCo `mj_integratePos`.

    Source: Sola, Deray and Atchuthan, A micro Lie theory for state estimation in robotics (2018).
    """
    return _space(model).integrate(q, v)


@function(returns=("nv",))
def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> Reals:
    """Return the shortest v with integrate(q0, v) = q1.

    Pinocchio's function has the same name.

    Args:
        model: the robot.
        q0: configurations to begin with [rad, m], shape (..., nq).
        q1: configurations to end with [rad, m], shape (..., nq).

    Returns:
        Velocities over unit time [rad, m], shape (..., nv).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> moved = cardan.integrate(arm, q, v)
        >>> bool(np.allclose(cardan.difference(arm, q, moved), v))
        True

    Peers: MuJoCo `mj_differentiatePos` (with its arguments the other way round).

    Source: Sola, Deray and Atchuthan, A micro Lie theory for state estimation in robotics (2018).
    """
    return _space(model).difference(q0, q1)


@function(shapes={"u": ()}, returns=("nq",))
def interpolate(model: Model, q0: ArrayLike, q1: ArrayLike, u: ArrayLike) -> Reals:
    """Return the configuration a fraction u of the way from q0 to q1: integrate(q0, u difference(q0, q1)).

    Every joint moves with a constant velocity along the shortest way; beyond 0 and 1 it goes on so. (What NumPy calls
    `interp`, a table of numbers, is `cardan.interp`.)

    Args:
        model: the robot.
        q0: configurations to begin with [rad, m], shape (..., nq).
        q1: configurations to end with [rad, m], shape (..., nq).
        u: fractions of the way [-], shape (...): 0 is q0, and 1 is q1, of the two signs of a quaternion the one nearer
            to q0.

    Returns:
        Configurations [rad, m], shape (..., nq).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> path = cardan.interpolate(arm, arm.neutral(), q, np.linspace(0.0, 1.0, 11))
        >>> path.shape, bool(np.allclose(path[5], 0.5 * q))  # arm7's configurations are plain numbers
        ((11, 7), True)

    Peers: Pinocchio `interpolate`.

    Source: Sola, Deray and Atchuthan, A micro Lie theory for state estimation in robotics (2018).
    """
    space = _space(model)
    return space.integrate(q0, [u * e for e in space.difference(q0, q1)])


@function(returns=())
def distance(model: Model, q0: ArrayLike, q1: ArrayLike) -> Reals:
    """Return the length of `difference`: how far apart two configurations are. Metres and radians count alike.

    The distance between shapes is `World.collide`, as a gap.

    Args:
        model: the robot.
        q0: configurations [rad, m], shape (..., nq).
        q1: others [rad, m], shape (..., nq).

    Returns:
        Distances [rad, m], shape (...): of one state a number. At 0, where a length has no slope, its slope is 0.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> float(cardan.distance(arm, q, q))
        0.0

    Peers: Pinocchio `distance` (and `squaredDistance`, by joint: np.square(cardan.difference(model, q0, q1))).

    Source: Sola, Deray and Atchuthan (2018).
    """
    return norm(as_argument(_space(model).difference(q0, q1)))


def is_same_configuration(
    model: Model, q0: ArrayLike, q1: ArrayLike, *, tolerance: float = 1e-6
) -> np.ndarray | np.bool_:
    """Return whether coordinates are those of the same configuration: a quaternion and its negative are.

    Angles that differ by turns are not, unless the joint's coordinates are a cosine and a sine.

    Args:
        model: the robot.
        q0: configurations [rad, m], shape (..., nq).
        q1: others [rad, m], shape (..., nq).
        tolerance: largest accepted entry of `difference` [rad, m].

    Returns:
        Booleans [-], shape (...), in an array of the library of q0 and q1. Where an entry is not a number: False.

    Raises:
        ParameterError: for a tolerance that is no number >= 0.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> turned = dog.neutral()
        >>> turned[3:7] = 0.0, 0.0, 0.0, -1.0
        >>> bool(cardan.is_same_configuration(dog, turned, dog.neutral()))
        True

    Peers: Pinocchio `isSameConfiguration`.
    """
    if not is_symbolic(tolerance) and not (isinstance(tolerance, Real) and tolerance >= 0.0):
        raise ParameterError("is_same_configuration: tolerance", got=tolerance, expected="a number >= 0 [rad, m]")
    near = abs(difference(model, q0, q1)) <= tolerance
    return np.all(near, axis=-1) if isinstance(near, np.ndarray) else near.all(-1)


@function(returns=("nq",))
def normalize(model: Model, q: ArrayLike) -> Reals:
    """Return the configuration on the manifold nearest to q.

    Args:
        model: the robot.
        q: coordinates [rad, m], shape (..., nq), of any length but zero where they are a direction.

    Returns:
        Configurations [rad, m], shape (..., nq): quaternions, and pairs of cosine and sine, of unit length.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> bool(np.allclose(cardan.normalize(dog, 2.0 * dog.neutral()), dog.neutral()))
        True

    Peers: MuJoCo `mj_normalizeQuat`, RigidBodyDynamics.jl `normalize_configuration`.

    Source: the projection of each joint's manifold (`cardan.manifolds`).
    """
    return _space(model).normalize(q)


@function(returns=("nq",))
def principal_value(model: Model, q: ArrayLike) -> Reals:
    """Return the preferred coordinates of the same configuration: quaternion w >= 0, |MRP| <= 1.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).

    Returns:
        Configurations [rad, m], shape (..., nq).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> turned = dog.neutral()
        >>> turned[3:7] = 0.0, 0.0, 0.0, -1.0
        >>> cardan.principal_value(dog, turned)[3:7].tolist()
        [-0.0, -0.0, -0.0, 1.0]

    Peers: RigidBodyDynamics.jl `principal_value!`.

    Source: Schaub and Junkins (1996) for modified Rodrigues parameters and their shadow set.
    """
    return _space(model).principal_value(q)


@function(returns=("nq",))
def velocity_to_configuration_derivative(model: Model, q: ArrayLike, v: ArrayLike) -> Reals:
    """Return dq/dt, the time derivatives of the coordinates.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).

    Returns:
        dq/dt [rad/s, m/s], shape (..., nq).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> cardan.velocity_to_configuration_derivative(dog, dog.neutral(), np.ones(dog.nv)).shape == (dog.nq,)
        True

    Peers: Drake `MapVelocityToQDot`.

    Source: Featherstone (2008), section 4.5, and each joint's manifold (`cardan.manifolds`).
    """
    return _space(model).velocity_to_configuration_derivative(q, v)


@function(returns=("nv",))
def configuration_derivative_to_velocity(model: Model, q: ArrayLike, qdot: ArrayLike) -> Reals:
    """Return the velocities v from dq/dt.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        qdot: time derivatives of the coordinates, dq/dt [rad/s, m/s], shape (..., nq).

    Returns:
        Velocities [rad/s, m/s], shape (..., nv).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> qdot = cardan.velocity_to_configuration_derivative(arm, q, v)
        >>> bool(np.allclose(cardan.configuration_derivative_to_velocity(arm, q, qdot), v))
        True

    Peers: Drake `MapQDotToVelocity`.

    Source: Featherstone (2008), section 4.5, and each joint's manifold (`cardan.manifolds`).
    """
    return _space(model).configuration_derivative_to_velocity(q, qdot)


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

    Examples:
        >>> x = cardan.limit_coordinates(arm, q)
        >>> bool(((arm.lower <= x) & (x <= arm.upper)).all())
        True

    Source: each joint's chart (docs/joints.md).
    """
    return _space(model).limit_coordinates(q)
