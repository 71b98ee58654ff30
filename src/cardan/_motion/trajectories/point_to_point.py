"""From rest to rest along the shortest way: q(t) = q0 exp(s(t) d), d = difference(q0, q1), with a time law s.

All joints begin and end together and keep in step. The direction d does not change along the way, so that v = d ds/dt
and a = d d2s/dt2 hold for quaternions, too, and every joint keeps its limits if the one that needs them most does.

Source: Flash and Hogan (1985); Biagiotti and Melchiorri (2008), chapter 3.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import positive
from cardan._algebra.errors import ParameterError
from cardan._dynamics.algorithms.configuration import difference, normalize
from cardan._motion.trajectories.allowed import bounds, check_limited, smallest
from cardan._motion.trajectories.local import checked_configurations, moved
from cardan._motion.trajectories.piecewise import checked_start
from cardan._motion.trajectories.time_laws import PEAK_ACCELERATION, PEAK_RATE, TimeLaw
from cardan._motion.trajectories.trajectory import Sample, Trajectory
from cardan._robot.model import Model


class _Move(Trajectory):
    """A move from rest to rest, whose law follows from what it is given."""

    __slots__ = ()
    q0: Any
    q1: Any
    start: float
    _step: np.ndarray
    _law: TimeLaw

    def __post_init__(self) -> None:
        where, model = type(self).__name__, self.model
        given = {name: checked_configurations(where, model, getattr(self, name), name) for name in ("q0", "q1")}
        values: dict[str, Any] = {name: normalize(model, q) for name, q in given.items()}
        values["_step"] = difference(model, values["q0"], values["q1"])
        law = self._law_along(values["_step"])
        values |= {"start": checked_start(where, self.start), "_law": law, "duration": law.duration}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @abstractmethod
    def _law_along(self, step: np.ndarray) -> TimeLaw: ...

    @property
    def interval(self) -> tuple[float, float]:
        return self.start, self.start + self._law.duration

    def evaluated(self, t: np.ndarray) -> Sample:
        jet = self._law.progress.at(np.clip(t - self.start, 0.0, self._law.duration))
        return moved(self.model, self.q0, *(s[..., None] * self._step for s in jet))


@dataclass(frozen=True, slots=True, eq=False)
class MinimumJerk(_Move):
    """From rest to rest with the least mean square jerk: the quintic law 10 u^3 - 15 u^4 + 6 u^5.

    Args:
        model: the robot.
        q0: first configuration [rad, m], shape (nq,).
        q1: last configuration, shape (nq,).
        duration: how long it takes [s]; None for the shortest time within the limits.
        velocity: largest velocities [rad/s, m/s], one number or shape (nv,); None for the model's. Read if there is no
            duration.
        acceleration: largest accelerations [rad/s^2, m/s^2], one number or shape (nv,); None for none.
        start: when it begins [s].

    Raises:
        ShapeError, DTypeError, NotFiniteError, ConfigurationError: for arrays that are no configurations of the model.
        ParameterError: for a duration that is none; without one, where a joint that moves has no limits.

    Examples:
        >>> move = cardan.trajectories.MinimumJerk(arm, arm.neutral(), q, duration=2.0)
        >>> bool(np.allclose(move.at(2.0).q, q)), bool(np.allclose(move.at(2.0).v, 0.0))
        (True, True)

    Peers: roboticstoolbox `jtraj`.

    Source: Flash and Hogan (1985).
    """

    model: Model
    q0: Any
    q1: Any
    duration: Any = None  # known from the law at last
    velocity: Any = None
    acceleration: Any = None
    start: float = 0.0
    _step: np.ndarray = field(init=False, repr=False)
    _law: TimeLaw = field(init=False, repr=False)

    def _law_along(self, step: np.ndarray) -> TimeLaw:
        if self.duration is not None:
            return TimeLaw.minimum_jerk(self.duration)
        rate, acceleration = _limits("MinimumJerk", self.model, step, self.velocity, self.acceleration)
        if np.isinf(rate) and np.isinf(acceleration):
            hint = "Give duration=, velocity= or acceleration=."
            check_limited("MinimumJerk", "velocity", np.zeros_like(step, dtype=bool), step != 0.0, self.model, hint)
        # The least time in which the peaks of rate and acceleration stay within the limits.
        return TimeLaw.minimum_jerk(max(PEAK_RATE / rate, float(np.sqrt(PEAK_ACCELERATION / acceleration))))


@dataclass(frozen=True, slots=True, eq=False)
class Trapezoidal(_Move):
    """From rest to rest in the shortest time within velocity and acceleration limits, all joints in step.

    Velocities are trapezoids over time, or triangles where there is no time to reach the limit; with a limit of the
    jerk, too, their corners are round (a "double S").

    Args:
        model, q0, q1, velocity, start: as for `MinimumJerk`; the model's velocity limits may be infinite.
        acceleration: largest accelerations [rad/s^2, m/s^2], one number or shape (nv,).
        jerk: largest jerks [rad/s^3, m/s^3], one number or shape (nv,); None for none.
        duration: how long it shall take [s]; None for the shortest time.

    Raises:
        ShapeError, DTypeError, NotFiniteError, ConfigurationError: as for `MinimumJerk`.
        ParameterError: where a joint that moves has no acceleration limit, or one that does not let it move, naming the
            joint; for a duration that is too short; where the ends are the same.

    Examples:
        >>> move = cardan.trajectories.Trapezoidal(arm, arm.neutral(), q, acceleration=5.0, velocity=1.0)
        >>> bool(np.allclose(move.at(move.interval[1]).q, q))
        True

    Source: Biagiotti and Melchiorri (2008), sections 3.2, 3.4 and 5.1 (joints in step).
    """

    model: Model
    q0: Any
    q1: Any
    acceleration: Any
    velocity: Any = None
    jerk: Any = None
    duration: Any = None  # known from the law at last
    start: float = 0.0
    _step: np.ndarray = field(init=False, repr=False)
    _law: TimeLaw = field(init=False, repr=False)

    def _law_along(self, step: np.ndarray) -> TimeLaw:
        law = self._fastest(step)
        if self.duration is None:
            return law
        duration = positive("Trapezoidal: duration", self.duration, "s")
        if duration < law.duration * (1.0 - 1e-12):
            expected = f"at least {law.duration:.9g} s, the shortest time within the limits"
            raise ParameterError("Trapezoidal: duration", got=self.duration, expected=expected)
        return law.stretched(duration)

    def _fastest(self, step: np.ndarray) -> TimeLaw:
        rate, acceleration = _limits("Trapezoidal", self.model, step, self.velocity, self.acceleration)
        if self.jerk is None:
            given = bounds("Trapezoidal", "acceleration", self.acceleration, self.model)
            check_limited("Trapezoidal", "acceleration", given.finite, step != 0.0, self.model, "")
            return TimeLaw.trapezoid(rate, acceleration)
        given = bounds("Trapezoidal", "jerk", self.jerk, self.model)
        check_limited("Trapezoidal", "jerk", given.finite, step != 0.0, self.model, "")
        return TimeLaw.double_s(rate, acceleration, smallest("Trapezoidal", "jerk", given, step, self.model))


def _limits(where: str, model: Model, step: np.ndarray, velocity: Any, acceleration: Any) -> tuple[float, float]:
    """Return the largest rate and acceleration of a time law along a step, which must not be 0."""
    if not step.any():
        expected, hint = "another configuration than q0", "MinimumJerk(..., duration=) rests."
        raise ParameterError(f"{where}: q1", got="q0 again", expected=expected, hint=hint)
    own = model.velocity_lower, model.velocity_upper
    rate = smallest(where, "velocity", bounds(where, "velocity", velocity, model, own), step, model)
    return rate, smallest(where, "acceleration", bounds(where, "acceleration", acceleration, model), step, model)
