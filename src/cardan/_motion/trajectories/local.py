"""Motion in local coordinates: q(t) = q0 exp(phi(t)), with the velocity and acceleration that phi makes.

For one turning joint, v = dphi/dt; for a quaternion the Jacobian of the exponential stands in between, and its rate in
the acceleration. Both follow from `integrate` alone, by differentiating its program, so that they are right for every
joint; where coordinates are free they fold away.

Source: Sola, Deray and Atchuthan, A micro Lie theory for state estimation in robotics (2018), section II.G.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan._algebra.errors import ShapeError
from cardan._algebra.manifolds.manifold import matrix_vector
from cardan._dynamics.algorithms.configuration import configuration_derivative_to_velocity, integrate
from cardan._dynamics.call.arguments import check_configuration, check_finite, numeric_array
from cardan._dynamics.call.function import function
from cardan._dynamics.call.signature import check_model
from cardan._dynamics.functions.derivatives import jacobian_vector_product
from cardan._motion.trajectories.trajectory import Sample
from cardan._robot.model import Model

_integrate_rate = jacobian_vector_product(integrate, "v")


@function(shapes={"jet": (2, "nv")})
def local_velocity(model: Model, q0: Any, jet: Any) -> Any:
    """Return v of q0 exp(phi), given phi and its rate, the rows of `jet`."""
    phi, rate = jet
    return configuration_derivative_to_velocity(
        model, integrate(model, q0, phi), _integrate_rate(model, q0, phi, direction=rate)
    )


_local_acceleration = jacobian_vector_product(local_velocity, "jet")


@function(shapes={"jet": (3, "nv")})
def _moved(model: Model, q0: Any, jet: Any) -> Sample:
    q = integrate(model, q0, jet[0])
    return Sample(q, local_velocity(model, q0, jet[:2]), _local_acceleration(model, q0, jet[:2], direction=jet[1:]))


def moved(model: Model, q0: np.ndarray, phi: np.ndarray, rate: np.ndarray, second: np.ndarray) -> Sample:
    """Return q, v, a of q0 exp(phi), given phi with its first and second derivative by time, shape (..., nv) each."""
    return Sample(*_moved(model, q0, np.stack([phi, rate, second], axis=-2)))


@function(shapes={"phi": ("nv",)})
def _local_rate(model: Model, phi: Any, v: Any) -> Any:
    return matrix_vector(model.manifold.difference_rate_jacobian(phi), v)


_local_rate_rate = jacobian_vector_product(_local_rate, "phi")


@function(shapes={"phi": ("nv",)})
def local_rates(model: Model, phi: Any, v: Any, a: Any) -> tuple[Any, Any]:
    """Return the first and second derivative of phi by time that v and a make: dphi/dt = K v, and its derivative."""
    rate = _local_rate(model, phi, v)
    turning = _local_rate_rate(model, phi, v, direction=rate)
    return rate, [x + y for x, y in zip(_local_rate(model, phi, a), turning, strict=True)]


def checked_configurations(where: str, model: Model, q: Any, name: str = "q", ndim: int = 1) -> np.ndarray:
    """Return configurations as floats, shape (nq,) for ndim = 1, (n, nq) for 2; raise for what is none, or no model."""
    check_model(where, model)
    array = np.array(numeric_array(where, name, q), dtype=float)
    if array.ndim != ndim or array.shape[-1] != model.nq:
        raise ShapeError(where, name, got=array.shape, expected=f"({'n, ' * (ndim - 1)}{model.nq})")
    rows = np.atleast_2d(array)
    check_finite(where, name, rows, array.shape[:-1])
    check_configuration(where, name, rows, model.unit_parts)
    return array
