"""Moving in configuration space: public compiled functions."""

from __future__ import annotations

from cardan import algorithms
from cardan.functions.function import function


@function(returns=("nq",))
def integrate(model, q, v):
    """Return the configuration reached from q by the velocity v after unit time, shape (..., nq); use v * dt."""
    return algorithms.integrate(model, q, v)


@function(returns=("nv",))
def difference(model, q0, q1):
    """Return the shortest v with integrate(q0, v) = q1, shape (..., nv)."""
    return algorithms.difference(model, q0, q1)


@function(returns=("nq",))
def normalize(model, q):
    """Return the configuration on the manifold nearest to q, shape (..., nq)."""
    return algorithms.normalize(model, q)


@function(returns=("nq",))
def principal_value(model, q):
    """Return the preferred coordinates of the same configuration, shape (..., nq): quaternion w >= 0, |MRP| <= 1."""
    return algorithms.principal_value(model, q)


@function(returns=("nq",))
def velocity_to_configuration_derivative(model, q, v):
    """Return dq/dt, shape (..., nq)."""
    return algorithms.velocity_to_configuration_derivative(model, q, v)


@function(returns=("nv",))
def configuration_derivative_to_velocity(model, q, qdot):
    """Return v from dq/dt, shape (..., nv)."""
    return algorithms.configuration_derivative_to_velocity(model, q, qdot)


@function(returns=("nv",))
def limit_coordinates(model, q):
    """Return the coordinates that `model.lower` and `model.upper` bound, shape (..., nv) [rad, m]."""
    return algorithms.limit_coordinates(model, q)
