"""Moving in the configuration space of a whole model; the joints' own manifolds, side by side."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from cardan.algorithms.linear import Rows
from cardan.algorithms.tree import Vector
from cardan.model import Model
from cardan.spatial import Scalar

Matrix = TypeVar("Matrix")  # rows of scalars here; arrays from the compiled functions


class DifferenceDerivatives(NamedTuple, Generic[Matrix]):
    """Derivatives of the difference of two configurations, each nv x nv.

    Attributes:
        dq0: by the first, along the tangent: q0 moves to integrate(q0, e_j).
        dq1: by the second.
    """

    dq0: Matrix
    dq1: Matrix


def integrate(model: Model, q: Vector, v: Vector) -> tuple[Scalar, ...]:
    """Return the configuration reached from q by the velocity v after unit time (use v * dt for a step)."""
    return model.manifold.integrate(q, v)


def difference(model: Model, q0: Vector, q1: Vector) -> tuple[Scalar, ...]:
    """Return the shortest v that leads from q0 to q1: integrate(q0, v) = q1."""
    return model.manifold.difference(q0, q1)


def difference_derivatives(model: Model, q0: Vector, q1: Vector) -> DifferenceDerivatives[Rows]:
    """Return the derivatives of `difference`: with K as `Manifold.difference_rate_jacobian`, -K(-v) and K(v).

    The difference v of q1 to q0 is -v of q0 to q1: the roles of the two are exchanged by its sign.

    Source: Sola, Deray and Atchuthan (2018), equations 80 and 81.
    """
    v = difference(model, q0, q1)
    backwards = model.manifold.difference_rate_jacobian([-e for e in v])
    return DifferenceDerivatives([[-e for e in row] for row in backwards], model.manifold.difference_rate_jacobian(v))


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
