"""The derivatives of the difference of two configurations, in the space that is the joints' own, side by side."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from cardan._dynamics.algorithms.linear import Rows
from cardan._dynamics.algorithms.tree import Vector
from cardan._robot.model import Model

Matrix = TypeVar("Matrix")  # rows of scalars here; arrays from the compiled functions


class DifferenceDerivatives(NamedTuple, Generic[Matrix]):
    """Derivatives of the difference of two configurations, each nv x nv.

    Attributes:
        dq0: by the first, along the tangent: q0 moves to integrate(q0, e_j).
        dq1: by the second.
    """

    dq0: Matrix
    dq1: Matrix


def difference_derivatives(model: Model, q0: Vector, q1: Vector) -> DifferenceDerivatives[Rows]:
    """Return the derivatives of `difference`: with K as `Manifold.difference_rate_jacobian`, -K(-v) and K(v).

    The difference v of q1 to q0 is -v of q0 to q1: the roles of the two are exchanged by its sign.

    Source: Sola, Deray and Atchuthan (2018), equations 80 and 81.
    """
    space = model.manifold
    v = space.difference(q0, q1)
    backwards = space.difference_rate_jacobian([-e for e in v])
    return DifferenceDerivatives([[-e for e in row] for row in backwards], space.difference_rate_jacobian(v))
