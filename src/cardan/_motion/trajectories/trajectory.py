"""The protocol of a trajectory: a configuration with its velocity and acceleration at every time.

Most trajectories move in local coordinates: q(t) = q0 exp(phi(t)), with the velocity and acceleration that phi makes.
For one turning joint, v = dphi/dt; for a quaternion the Jacobian of the exponential stands in between, and its rate in
the acceleration. Both follow from `integrate` alone, by differentiating its program, so that they are right for every
joint; where coordinates are free they fold away.

Source: Sola, Deray and Atchuthan, A micro Lie theory for state estimation in robotics (2018), section II.G.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.checked_numbers import positive
from cardan._algebra.explained import ExplainedABC
from cardan._algebra.manifolds.manifold import matrix_vector
from cardan._dynamics.algorithms.configuration import configuration_derivative_to_velocity, integrate
from cardan._dynamics.call.arguments import check_configuration, shaped_array
from cardan._dynamics.call.function import function
from cardan._dynamics.call.signature import check_model
from cardan._dynamics.functions.derivatives import jacobian_vector_product
from cardan._motion.trajectories.piecewise import checked_times
from cardan._robot.model import Model


class Sample(NamedTuple):
    """Where a trajectory is at one time or many: what the dynamics take. Returned by `Trajectory.at`.

    Attributes:
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv), those of each joint's manifold: of a quaternion the angular
            velocity in body axes.
        a: accelerations, dv/dt [rad/s^2, m/s^2], shape (..., nv).

    Examples:
        >>> sample = cardan.trajectories.MinimumJerk(arm, arm.neutral(), q, duration=2.0).at([0.0, 1.0])
        >>> cardan.inverse_dynamics(arm, *sample).shape
        (2, 7)
    """

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


class Trajectory(ExplainedABC):
    """A motion of a model from a first to a last time.

    Attributes:
        model: the robot that moves.

    Throughout:
        t: times [s] of any shape (...), in any order, within `interval`.
        dt: the longest step [s].

    Examples:
        >>> path = cardan.trajectories.Spline(arm, [0.0, 1.0, 3.0], [arm.neutral(), q, arm.neutral()])
        >>> t = path.times(0.1)
        >>> path.at(t).q.shape, path.evaluated(t).a.shape
        ((31, 7), (31, 7))
    """

    __slots__ = ()
    model: Model

    @property
    @abstractmethod
    def interval(self) -> tuple[float, float]:
        """The first and the last time [s]."""

    @abstractmethod
    def evaluated(self, t: np.ndarray) -> Sample:
        """Return where it is at times within the interval; what an own trajectory defines, and `at` calls."""

    # The rest follows.

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        start, end = self.interval
        return end - start

    def at(self, t: Any) -> Sample:
        """Return configurations, velocities and accelerations, `Sample(q, v, a)`, in the shapes of t.

        Raises:
            DTypeError, NotFiniteError: for what is no time.
            ParameterError: for a time outside the interval.
        """
        return self.evaluated(checked_times(type(self).__name__, t, *self.interval))

    def times(self, dt: float) -> np.ndarray:
        """Return times from the first to the last, both among them, equally far apart and by at most dt [s].

        Raises:
            ParameterError: unless dt > 0.
        """
        step = positive(f"{type(self).__name__}: dt", dt, "s", unlimited=True)
        return np.linspace(*self.interval, max(int(np.ceil(self.duration / step * (1.0 - 1e-12))), 1) + 1)


_integrate_rate = jacobian_vector_product(integrate, "v")


@function(shapes={"jet": (2, "nv")})
def local_velocity(model: Model, q0: Any, jet: Any) -> Any:
    """Return v of q0 exp(phi), given phi and its rate, the rows of `jet`."""
    phi, rate = jet
    return configuration_derivative_to_velocity(
        model, integrate(model, q0, phi), _integrate_rate(model, q0, phi, direction=rate)
    )


_local_acceleration = jacobian_vector_product(local_velocity, "jet")


@function(shapes=dict.fromkeys(("phi", "rate", "second"), ("nv",)))
def moved(model: Model, q0: Any, phi: Any, rate: Any, second: Any) -> Sample:
    """Return q, v, a of q0 exp(phi), given phi with its first and second derivative by time, shape (..., nv) each."""
    jet, turning = [phi, rate], [rate, second]
    v, a = local_velocity(model, q0, jet), _local_acceleration(model, q0, jet, direction=turning)
    return Sample(integrate(model, q0, phi), v, a)


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
    array = shaped_array(where, name, q, (*["n"] * (ndim - 1), model.nq))
    check_configuration(where, name, np.atleast_2d(array), model.unit_parts)
    return array
