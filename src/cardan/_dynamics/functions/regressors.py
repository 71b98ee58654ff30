"""Energies as linear functions of the inertial parameters: public compiled functions."""

from __future__ import annotations

from numpy.typing import ArrayLike

from cardan._dynamics.call.function import function
from cardan._dynamics.functions.vocabulary import Reals, algorithms
from cardan._robot.model import Model


@function
def kinetic_energy_regressor(model: Model, q: ArrayLike, v: ArrayLike) -> Reals:
    """Return y: the kinetic energy is y . p with p = `model.inertial_parameters()`, ten numbers a body.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).

    Returns:
        y, shape (..., 10 nbodies), so that y . p is in [J]. Armature is not among the parameters.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> y = cardan.kinetic_energy_regressor(arm, q, v)  # shape (90,)
        >>> bool(np.isclose(y @ arm.inertial_parameters(), cardan.kinetic_energy(arm, q, v)))
        True

    Peers: Pinocchio `computeKineticEnergyRegressor`.

    Source: Gautier and Khalil, On the identification of the inertial parameters of robots (1988).
    """
    return algorithms.kinetic_energy_regressor(model, q, v)


@function
def potential_energy_regressor(model: Model, q: ArrayLike) -> Reals:
    """Return y: the potential energy in gravity is y . p with p = `model.inertial_parameters()`, ten numbers a body.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).

    Returns:
        y, shape (..., 10 nbodies), so that y . p is in [J].

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> y = cardan.potential_energy_regressor(arm, q)  # shape (90,)
        >>> bool(np.isclose(y @ arm.inertial_parameters(), cardan.potential_energy(arm, q)))
        True

    Peers: Pinocchio `computePotentialEnergyRegressor`.

    Source: Gautier and Khalil, On the identification of the inertial parameters of robots (1988).
    """
    return algorithms.potential_energy_regressor(model, q)
