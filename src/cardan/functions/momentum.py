"""Mass centre, momentum and energy: public compiled functions."""

from __future__ import annotations

from cardan import algorithms
from cardan.functions.function import function


@function(returns=(3,))
def center_of_mass(model, q):
    """Return the centre of mass of all bodies in the world, shape (..., 3) [m]."""
    return algorithms.center_of_mass(model, q)


@function(returns=(3,))
def center_of_mass_velocity(model, q, v):
    """Return the velocity of the centre of mass in world axes, shape (..., 3) [m/s]."""
    return algorithms.center_of_mass_velocity(model, q, v)


@function(returns=(3, "nv"))
def center_of_mass_jacobian(model, q):
    """Return J, shape (..., 3, nv): the centre of mass moves with J v."""
    return algorithms.center_of_mass_jacobian(model, q)


@function(returns=(6,))
def centroidal_momentum(model, q, v):
    """Return [linear momentum; angular momentum about the centre of mass], world axes, shape (..., 6) [N s, N m s].

    Source: Orin, Goswami and Lee (2013).
    """
    return algorithms.centroidal_momentum(model, q, v)


@function(returns=(6, "nv"))
def centroidal_momentum_matrix(model, q):
    """Return A, shape (..., 6, nv): the centroidal momentum is A v."""
    return algorithms.centroidal_momentum_matrix(model, q)


@function(returns=(6,))
def centroidal_momentum_rate(model, q, v, a):
    """Return the time derivative of the centroidal momentum, shape (..., 6) [N, N m]."""
    return algorithms.centroidal_momentum_rate(model, q, v, a)


@function(returns=())
def kinetic_energy(model, q, v):
    """Return the kinetic energy v^T M v / 2, shape (...) [J]."""
    return algorithms.kinetic_energy(model, q, v)


@function(returns=())
def potential_energy(model, q):
    """Return the potential energy in gravity, shape (...) [J], zero for a mass at the world's origin."""
    return algorithms.potential_energy(model, q)
