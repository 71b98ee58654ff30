"""The protocol of a trajectory, on one page: a configuration with its velocity and acceleration at every time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.checked_numbers import positive
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


class Trajectory(ABC):
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
