"""Moving in configuration space, which is made of the joints' own spaces (`cardan.manifolds`), side by side.

Source: Sola, Deray and Atchuthan, A micro Lie theory for state estimation in robotics (2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from cardan._algebra.arrays import as_argument, norm
from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.linear import Rows
from cardan._dynamics.call.arguments import is_symbolic
from cardan._dynamics.call.public import ArrayLike, Reals, public
from cardan._robot.model import Model

Matrix = TypeVar("Matrix")  # rows of scalars here; arrays from the compiled functions


class DifferenceDerivatives(NamedTuple, Generic[Matrix]):
    """Derivatives of the difference of two configurations, each of shape (..., nv, nv) [-].

    Where two orientations are a half turn apart the difference jumps from one way round to the other: there the
    derivatives are those of the way that `difference` takes, and finite.

    Attributes:
        dq0: by the first, along the tangent: q0 moves to integrate(q0, e_j).
        dq1: by the second, along the tangent there.
    """

    dq0: Matrix
    dq1: Matrix


@public(result=DifferenceDerivatives[Reals])
def difference_derivatives(model: Model, q0: ArrayLike, q1: ArrayLike) -> DifferenceDerivatives[Rows]:
    """Return the derivatives of `difference` by q0 and q1.

    Examples:
        >>> by = cardan.difference_derivatives(arm, arm.neutral(), q)
        >>> gradient = by.dq1.T @ cardan.difference(arm, arm.neutral(), q)  # of half the squared distance
        >>> bool(np.allclose(gradient, q))
        True

    Peers: Pinocchio `dDifference` (ARG0 is dq0, ARG1 is dq1).

    Source: Sola, Deray and Atchuthan (2018), equations 80 and 81.
    """
    space = model.manifold
    v = space.difference(q0, q1)
    backwards = space.difference_rate_jacobian([-e for e in v])
    return DifferenceDerivatives([[-e for e in row] for row in backwards], space.difference_rate_jacobian(v))


@public(returns=("nq",))
def integrate(model: Model, q: ArrayLike, v: ArrayLike) -> Sequence[Scalar]:
    """Return the configuration reached from q by the velocity v after unit time.

    Pinocchio's function has the same name.

    Args:
        v: velocities [rad/s, m/s], held constant for one second, shape (..., nv); use v * dt for another time.

    Returns:
        Configurations [rad, m], shape (..., nq), on the manifold: quaternions stay of unit length.

    Examples:
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> moved = cardan.integrate(dog, dog.neutral(), 0.01 * np.ones(dog.nv))
        >>> round(float(np.linalg.norm(moved[3:7])), 12)
        1.0

    Peers: MuJoCo `mj_integratePos` (which moves a free joint's position straight).
    """
    return model.manifold.integrate(q, v)


@public(returns=("nv",))
def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> Sequence[Scalar]:
    """Return the shortest v with integrate(q0, v) = q1.

    Pinocchio's function has the same name.

    Returns:
        Velocities over unit time [rad, m], shape (..., nv).

    Examples:
        >>> moved = cardan.integrate(arm, q, v)
        >>> bool(np.allclose(cardan.difference(arm, q, moved), v))
        True

    Peers: MuJoCo `mj_differentiatePos` (with its arguments the other way round).
    """
    return model.manifold.difference(q0, q1)


@public(shapes={"u": ()}, returns=("nq",))
def interpolate(model: Model, q0: ArrayLike, q1: ArrayLike, u: ArrayLike) -> Sequence[Scalar]:
    """Return the configuration a fraction u of the way from q0 to q1: integrate(q0, u difference(q0, q1)).

    Every joint moves with a constant velocity along the shortest way; beyond 0 and 1 it goes on so. (What NumPy calls
    `interp`, a table of numbers, is `cardan.interp`.)

    Args:
        u: fractions of the way [-], shape (...): 0 is q0, and 1 is q1, of the two signs of a quaternion the one nearer
            to q0.

    Returns:
        Configurations [rad, m], shape (..., nq).

    Examples:
        >>> path = cardan.interpolate(arm, arm.neutral(), q, np.linspace(0.0, 1.0, 11))
        >>> path.shape, bool(np.allclose(path[5], 0.5 * q))  # arm7's configurations are plain numbers
        ((11, 7), True)

    Peers: Pinocchio `interpolate`.
    """
    return model.manifold.integrate(q0, [u * e for e in model.manifold.difference(q0, q1)])


@public(returns=())
def distance(model: Model, q0: ArrayLike, q1: ArrayLike) -> Scalar:
    """Return the length of `difference`: how far apart two configurations are. Metres and radians count alike.

    All joints of a cluster count, since two of its assembly modes may have independent coordinates in common. The
    distance between shapes is `World.collide`, as a gap.

    Returns:
        Distances [rad, m], shape (...): of one state a number. At 0, where a length has no slope, its slope is 0.

    Examples:
        >>> float(cardan.distance(arm, q, q))
        0.0

    Peers: Pinocchio `distance` (and `squaredDistance`, by joint: np.square(cardan.difference(model, q0, q1))).
    """
    return norm(as_argument(model.manifold.apart(q0, q1)))


def is_same_configuration(
    model: Model, q0: ArrayLike, q1: ArrayLike, *, tolerance: float = 1e-6
) -> np.ndarray | np.bool_:
    """Return whether coordinates are those of the same configuration: a quaternion and its negative are.

    Angles that differ by turns are not, unless the joint's coordinates are a cosine and a sine.

    Args:
        model: the robot.
        q0: configurations [rad, m], shape (..., nq).
        q1: others [rad, m], shape (..., nq).
        tolerance: largest accepted `distance` [rad, m].

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
    # a comparison with NaN is False, so that what is not a number is no configuration
    return distance(model, q0, q1) <= tolerance


@public(returns=("nq",))
def normalize(model: Model, q: ArrayLike) -> Sequence[Scalar]:
    """Return the configuration on the manifold nearest to q.

    Args:
        q: coordinates [rad, m], shape (..., nq), of any length but zero where they are a direction.

    Returns:
        Configurations [rad, m], shape (..., nq): quaternions, and pairs of cosine and sine, of unit length.

    Examples:
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> bool(np.allclose(cardan.normalize(dog, 2.0 * dog.neutral()), dog.neutral()))
        True

    Peers: MuJoCo `mj_normalizeQuat`, RigidBodyDynamics.jl `normalize_configuration`.

    Source: the projection of each joint's manifold (`cardan.manifolds`).
    """
    return model.manifold.normalize(q)


@public(returns=("nq",))
def principal_value(model: Model, q: ArrayLike) -> Sequence[Scalar]:
    """Return the preferred coordinates of the same configuration: quaternion w >= 0, |MRP| <= 1.

    Returns:
        Configurations [rad, m], shape (..., nq).

    Examples:
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> turned = dog.neutral()
        >>> turned[3:7] = 0.0, 0.0, 0.0, -1.0
        >>> cardan.principal_value(dog, turned)[3:7].tolist()
        [-0.0, -0.0, -0.0, 1.0]

    Peers: RigidBodyDynamics.jl `principal_value!`.

    Source: Schaub and Junkins (1996) for modified Rodrigues parameters and their shadow set.
    """
    return model.manifold.principal_value(q)


@public(returns=("nq",))
def velocity_to_configuration_derivative(model: Model, q: ArrayLike, v: ArrayLike) -> Sequence[Scalar]:
    """Return dq/dt, the time derivatives of the coordinates.

    Returns:
        dq/dt [rad/s, m/s], shape (..., nq).

    Examples:
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> cardan.velocity_to_configuration_derivative(dog, dog.neutral(), np.ones(dog.nv)).shape == (dog.nq,)
        True

    Peers: Drake `MapVelocityToQDot`.

    Source: Featherstone (2008), section 4.5, and each joint's manifold (`cardan.manifolds`).
    """
    return model.manifold.velocity_to_configuration_derivative(q, v)


@public(returns=("nv",))
def configuration_derivative_to_velocity(model: Model, q: ArrayLike, qdot: ArrayLike) -> Sequence[Scalar]:
    """Return the velocities v from dq/dt.

    Args:
        qdot: time derivatives of the coordinates, dq/dt [rad/s, m/s], shape (..., nq).

    Returns:
        Velocities [rad/s, m/s], shape (..., nv).

    Examples:
        >>> qdot = cardan.velocity_to_configuration_derivative(arm, q, v)
        >>> bool(np.allclose(cardan.configuration_derivative_to_velocity(arm, q, qdot), v))
        True

    Peers: Drake `MapQDotToVelocity`.

    Source: Featherstone (2008), section 4.5, and each joint's manifold (`cardan.manifolds`).
    """
    return model.manifold.configuration_derivative_to_velocity(q, qdot)


@public(returns=("nv",))
def limit_coordinates(model: Model, q: ArrayLike) -> Sequence[Scalar]:
    """Return the coordinates that `model.lower` and `model.upper` bound: angles, lengths, rotation vectors.

    Returns:
        Coordinates along the velocities [rad, m], shape (..., nv).

    Examples:
        >>> x = cardan.limit_coordinates(arm, q)
        >>> bool(((arm.lower <= x) & (x <= arm.upper)).all())
        True

    Source: each joint's chart (docs/joints.md).
    """
    return model.manifold.limit_coordinates(q)
