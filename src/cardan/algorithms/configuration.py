"""Moving in the configuration space of a whole model; the joints' own manifolds, side by side."""

from __future__ import annotations

from cardan.algorithms.tree import Vector
from cardan.model import Model
from cardan.spatial import Scalar


def integrate(model: Model, q: Vector, v: Vector) -> tuple[Scalar, ...]:
    """Return the configuration reached from q by the velocity v after unit time (use v * dt for a step)."""
    return model.manifold.integrate(q, v)


def difference(model: Model, q0: Vector, q1: Vector) -> tuple[Scalar, ...]:
    """Return the shortest v that leads from q0 to q1: integrate(q0, v) = q1."""
    return model.manifold.difference(q0, q1)


def normalize(model: Model, q: Vector) -> tuple[Scalar, ...]:
    """Return the configuration on the manifold nearest to q: unit quaternions, points on the unit circle."""
    return model.manifold.normalize(q)


def principal_value(model: Model, q: Vector) -> tuple[Scalar, ...]:
    """Return the preferred coordinates of the same configuration: quaternion w >= 0, |MRP| <= 1."""
    return model.manifold.principal_value(q)


def velocity_to_configuration_derivative(model: Model, q: Vector, v: Vector) -> tuple[Scalar, ...]:
    """Return dq/dt."""
    return model.manifold.velocity_to_configuration_derivative(q, v)


def configuration_derivative_to_velocity(model: Model, q: Vector, qdot: Vector) -> tuple[Scalar, ...]:
    """Return v from dq/dt."""
    return model.manifold.configuration_derivative_to_velocity(q, qdot)


def limit_coordinates(model: Model, q: Vector) -> tuple[Scalar, ...]:
    """Return the nv coordinates that `model.lower` and `model.upper` bound."""
    return model.manifold.limit_coordinates(q)
