"""Mass centre, momentum and energy: public compiled functions."""

from __future__ import annotations

from numpy.typing import ArrayLike

from cardan._dynamics.call.function import function
from cardan._dynamics.functions.vocabulary import Reals, algorithms
from cardan._robot.model import Model


@function(returns=(3,))
def center_of_mass(model: Model, q: ArrayLike) -> Reals:
    """Return the centre of mass of all bodies.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).

    Returns:
        Position in the world [m], shape (..., 3).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> cardan.center_of_mass(arm, q).shape
        (3,)

    Peers: Pinocchio `centerOfMass`, MuJoCo's data.subtree_com, Drake `CalcCenterOfMassPositionInWorld`,
    iDynTree `getCenterOfMassPosition`.

    Source: Orin, Goswami and Lee (2013).
    """
    return algorithms.center_of_mass(model, q)


@function(returns=(3,))
def center_of_mass_velocity(model: Model, q: ArrayLike, v: ArrayLike) -> Reals:
    """Return the velocity of the centre of mass.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).

    Returns:
        Velocity in world axes [m/s], shape (..., 3).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> moved = cardan.center_of_mass_jacobian(arm, q) @ v
        >>> bool(np.allclose(cardan.center_of_mass_velocity(arm, q, v), moved))
        True

    Peers: MuJoCo `mj_subtreeVel`, Drake `CalcCenterOfMassTranslationalVelocityInWorld`,
    iDynTree `getCenterOfMassVelocity`.

    Source: Orin, Goswami and Lee (2013).
    """
    return algorithms.center_of_mass_velocity(model, q, v)


@function(returns=(3, "nv"))
def center_of_mass_jacobian(model: Model, q: ArrayLike) -> Reals:
    """Return the Jacobian J of the centre of mass: it moves with J v.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).

    Returns:
        J in world axes [m/s for each rad/s or m/s], shape (..., 3, nv).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> cardan.center_of_mass_jacobian(arm, q).shape
        (3, 7)

    Peers: Pinocchio `jacobianCenterOfMass`, MuJoCo `mj_jacSubtreeCom`,
    Drake `CalcJacobianCenterOfMassTranslationalVelocity`, iDynTree `getCenterOfMassJacobian`.

    Source: Orin, Goswami and Lee (2013).
    """
    return algorithms.center_of_mass_jacobian(model, q)


@function(returns=(6,))
def centroidal_momentum(model: Model, q: ArrayLike, v: ArrayLike) -> Reals:
    """Return the momentum of all bodies about their common centre of mass.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).

    Returns:
        [linear; angular about the centre of mass] in world axes [N s, N m s], shape (..., 6).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> h = cardan.centroidal_momentum(arm, q, v)
        >>> bool(np.allclose(h[:3], arm.mass * cardan.center_of_mass_velocity(arm, q, v)))
        True

    Peers: Pinocchio `computeCentroidalMomentum`, Drake `CalcSpatialMomentumInWorldAboutPoint` (angular first),
    iDynTree `getCentroidalTotalMomentum`.

    Source: Orin, Goswami and Lee (2013).
    """
    return algorithms.centroidal_momentum(model, q, v)


@function(returns=(6, "nv"))
def centroidal_momentum_matrix(model: Model, q: ArrayLike) -> Reals:
    """Return the matrix A: the centroidal momentum is A v.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).

    Returns:
        A in world axes, shape (..., 6, nv): three linear rows [N s], then three angular ones [N m s].

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> A = cardan.centroidal_momentum_matrix(arm, q)
        >>> bool(np.allclose(A @ v, cardan.centroidal_momentum(arm, q, v)))
        True

    Peers: Pinocchio `ccrba` `computeCentroidalMap`, iDynTree `getCentroidalTotalMomentumJacobian`.

    Source: Orin, Goswami and Lee (2013).
    """
    return algorithms.centroidal_momentum_matrix(model, q)


@function(returns=(6,))
def centroidal_momentum_rate(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Reals:
    """Return the time derivative of the centroidal momentum: the sum of all external wrenches.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        a: accelerations [rad/s^2, m/s^2], shape (..., nv).

    Returns:
        [linear; angular about the centre of mass] in world axes [N, N m], shape (..., 6).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> cardan.centroidal_momentum_rate(arm, q, v, a).shape
        (6,)

    Peers: Pinocchio `computeCentroidalMomentumTimeVariation`.

    Source: Orin, Goswami and Lee (2013).
    """
    return algorithms.centroidal_momentum_rate(model, q, v, a)


@function(returns=())
def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike) -> Reals:
    """Return the kinetic energy v^T M v / 2, armature included.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).

    Returns:
        Energies [J], shape (...): of one state a number.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> bool(cardan.kinetic_energy(arm, q, v) > 0.0)
        True

    Peers: Pinocchio `computeKineticEnergy`, MuJoCo `mj_energyVel`, Drake `CalcKineticEnergy`.

    Source: Featherstone (2008), section 2.13.
    """
    return algorithms.kinetic_energy(model, q, v)


@function(returns=())
def potential_energy(model: Model, q: ArrayLike) -> Reals:
    """Return the potential energy in gravity, zero for a mass at the world's origin; that of springs is not in it.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).

    Returns:
        Energies [J], shape (...): of one state a number.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> slope = cardan.gradient(cardan.potential_energy, "q")(arm, q)
        >>> bool(np.allclose(slope, cardan.gravity_forces(arm, q)))
        True

    Peers: Pinocchio `computePotentialEnergy`, MuJoCo `mj_energyPos`, Drake `CalcPotentialEnergy`,
    RigidBodyDynamics.jl `gravitational_potential_energy`.

    Source: Featherstone (2008), section 2.13.
    """
    return algorithms.potential_energy(model, q)
