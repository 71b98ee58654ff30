"""Time laws: how far along a path one is at a time, from rest at 0 to rest at 1; and motions of such a law.

A path with another time law:

    q(s(t)),  v = q' ds/dt,  a = q'' (ds/dt)^2 + q' d2s/dt2

The chain rule holds for the velocities of every joint, which are linear in the rate of its coordinates.

From rest to rest along the shortest way: q(t) = q0 exp(s(t) d), d = difference(q0, q1). All joints begin and end
together and keep in step. The direction d does not change along the way, so that v = d ds/dt and a = d d2s/dt2 hold for
quaternions, too, and every joint keeps its limits if the one that needs them most does.

Source: Flash and Hogan (1985) for minimum jerk; Biagiotti and Melchiorri, Trajectory Planning for Automatic Machines
and Robots (2008), sections 3.2 (trapezoid), 3.4 (double S) and 5.1.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardan._algebra.by_fields import computed
from cardan._algebra.checked_numbers import positive
from cardan._algebra.errors import DTypeError, ParameterError
from cardan._dynamics.algorithms.configuration import normalize
from cardan._motion.trajectories.allowed import bounds, check_limited, smallest, way
from cardan._motion.trajectories.piecewise import Jet, PiecewisePolynomial, checked_start, checked_times
from cardan._motion.trajectories.trajectory import Sample, Trajectory, checked_configurations, moved
from cardan._robot.model import Model

# Of the minimum-jerk law of duration 1: the rate half-way; the acceleration at (3 - sqrt(3)) / 6 of the time and,
# backwards, as long before the end.
PEAK_RATE, PEAK_ACCELERATION = 15.0 / 8.0, 10.0 / np.sqrt(3.0)


@dataclass(frozen=True, slots=True, eq=False)
class TimeLaw:
    """Progress along a path, from 0 at time 0 to 1 at the end.

    Made by `minimum_jerk`, `trapezoid` and `double_s`.

    Args:
        progress: the function itself.

    Throughout:
        t: times [s] from 0 to the duration, of any shape.
        duration: how long it takes [s].
        rate: largest rate [1/s]; infinite for none.
        acceleration: largest acceleration and deceleration [1/s^2]; of `double_s` also infinite, for none.
        jerk: largest jerk [1/s^3].

    Raises:
        ParameterError: for a time outside, and for limits and durations that are not positive, or infinite elsewhere.
        DTypeError, NotFiniteError: for what is no time.

    Examples:
        >>> law = cardan.trajectories.TimeLaw.minimum_jerk(2.0)
        >>> round(float(law.at(np.array(1.0))[0]), 12), law.stretched(4.0).duration
        (0.5, 4.0)
        >>> cardan.trajectories.TimeLaw.trapezoid(rate=0.5, acceleration=1.0).duration
        2.5
        >>> cardan.trajectories.TimeLaw.double_s(rate=0.5, acceleration=1.0, jerk=4.0).duration
        2.75
    """

    progress: PiecewisePolynomial

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return float(self.progress.knots[-1])

    def at(self, t: Any) -> Jet:
        """Return the progress and its first and second derivative at times from 0 to the duration."""
        return self.progress.at(checked_times("TimeLaw", t, 0.0, self.duration))

    def stretched(self, duration: float) -> TimeLaw:
        """Return the same law in another time [s]."""
        factor = positive("duration", duration, "s") / self.duration
        return TimeLaw(PiecewisePolynomial(self.progress.knots * factor, self.progress.coefficients))

    @staticmethod
    def minimum_jerk(duration: float) -> TimeLaw:
        """Return 10 u^3 - 15 u^4 + 6 u^5, the law of least mean square jerk between two rests."""
        knots = np.array([0.0, positive("duration", duration, "s")])
        return TimeLaw(PiecewisePolynomial(knots, np.array([[0.0, 0.0, 0.0, 10.0, -15.0, 6.0]])))

    @staticmethod
    def trapezoid(rate: float, acceleration: float) -> TimeLaw:
        """Return the fastest law within a rate and an acceleration: full acceleration, full rate, full deceleration."""
        a = positive("acceleration", acceleration, "1/s^2")
        peak = min(positive("rate", rate, "1/s", unlimited=True), np.sqrt(a))
        ramp, cruise = peak / a, 1.0 / peak - peak / a
        return _of_phases([(ramp, a, 0.0), (cruise, 0.0, 0.0), (ramp, -a, 0.0)])

    @staticmethod
    def double_s(rate: float, acceleration: float, jerk: float) -> TimeLaw:
        """Return the fastest law within a rate, an acceleration and a jerk: its acceleration is continuous."""
        v = positive("rate", rate, "1/s", unlimited=True)
        a = positive("acceleration", acceleration, "1/s^2", unlimited=True)
        j = positive("jerk", jerk, "1/s^3")
        build_up = min(a / j, math.sqrt(v / j))  # how long the jerk takes: up to a, or as long as the rate allows
        ramp = build_up + v / (j * build_up)
        cruise = 1.0 / v - ramp
        if not cruise >= 0.0:  # the deceleration follows at once
            build_up = min(a / j, math.cbrt(0.5 / j))
            ramp, cruise = 0.5 * build_up + math.sqrt(0.25 * build_up**2 + 1.0 / (j * build_up)), 0.0
        top, flat = j * build_up, ramp - 2.0 * build_up
        up = [(build_up, 0.0, j), (flat, top, 0.0), (build_up, top, -j)]
        down = [(build_up, 0.0, -j), (flat, -top, 0.0), (build_up, -top, j)]
        return _of_phases([*up, (cruise, 0.0, 0.0), *down])


def _of_phases(phases: Sequence[tuple[float, float, float]]) -> TimeLaw:
    """Return the law from rest at 0 through phases: duration, acceleration where they begin, constant jerk.

    Of those too short to tell, what they lead to counts.
    """
    least = 1e-14 * sum(duration for duration, _, _ in phases)
    knots, coefficients, s, v = [0.0], [], 0.0, 0.0
    for h, a, j in phases:
        powers = [s, v * h, a * h * h / 2.0, j * h**3 / 6.0]
        s, v = sum(powers), v + a * h + j * h * h / 2.0
        if h > least:
            coefficients.append(powers)
            knots.append(knots[-1] + h)
    return TimeLaw(PiecewisePolynomial(np.array(knots), np.array(coefficients)))


@dataclass(frozen=True, slots=True, eq=False)
class Timed(Trajectory):
    """Another trajectory's path, from its beginning to its end, in another time.

    Args:
        path: the trajectory whose path it is; its own time is the path's parameter.
        law: the progress along the path.
        start: when it begins [s].

    Raises:
        DTypeError, NotFiniteError: for a path, law or start that is none.

    Examples:
        >>> path = cardan.trajectories.Spline(arm, [0.0, 1.0, 3.0], [arm.neutral(), q, arm.neutral()])
        >>> slow = cardan.trajectories.Timed(path, cardan.trajectories.TimeLaw.minimum_jerk(5.0))
        >>> slow.interval
        (0.0, 5.0)
    """

    path: Trajectory
    law: TimeLaw
    start: float = 0.0

    def __post_init__(self) -> None:
        for name, kind in (("path", Trajectory), ("law", TimeLaw)):
            value: Any = getattr(self, name)
            if not isinstance(value, kind):
                raise DTypeError("Timed", name, got=repr(value), expected=f"a cardan.trajectories.{kind.__name__}")
        object.__setattr__(self, "start", checked_start("Timed", self.start))

    @computed
    def model(self) -> Model:
        """The robot that moves."""
        return self.path.model

    @property
    def interval(self) -> tuple[float, float]:
        return self.start, self.start + self.law.duration

    def evaluated(self, t: np.ndarray) -> Sample:
        first, last = self.path.interval
        s, rate, second = self.law.progress.at(np.clip(t - self.start, 0.0, self.law.duration))
        q, v, a = self.path.evaluated(first + (last - first) * np.clip(s, 0.0, 1.0))
        rate, second = (last - first) * rate[..., None], (last - first) * second[..., None]
        return Sample(q, v * rate, a * rate**2 + v * second)


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
        values["_step"] = way(where, model, values["q0"], values["q1"])
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
    duration: Any = None  # pyright: ignore[reportIncompatibleVariableOverride] -- known from the law at last
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
    duration: Any = None  # pyright: ignore[reportIncompatibleVariableOverride] -- known from the law at last
    start: float = 0.0
    _step: np.ndarray = field(init=False, repr=False)
    _law: TimeLaw = field(init=False, repr=False)

    def _law_along(self, step: np.ndarray) -> TimeLaw:
        rate, acceleration = _limits("Trapezoidal", self.model, step, self.velocity, self.acceleration)
        highest = "acceleration" if self.jerk is None else "jerk"  # without a limit there is no shortest time
        given = bounds("Trapezoidal", highest, getattr(self, highest), self.model)
        check_limited("Trapezoidal", highest, given.finite, step != 0.0, self.model, "")
        if self.jerk is None:
            law = TimeLaw.trapezoid(rate, acceleration)
        else:
            law = TimeLaw.double_s(rate, acceleration, smallest("Trapezoidal", "jerk", given, step, self.model))
        if self.duration is None:
            return law
        duration = positive("Trapezoidal: duration", self.duration, "s")
        if duration < law.duration * (1.0 - 1e-12):
            expected = f"at least {law.duration:.9g} s, the shortest time within the limits"
            raise ParameterError("Trapezoidal: duration", got=self.duration, expected=expected)
        return law.stretched(duration)


def _limits(where: str, model: Model, step: np.ndarray, velocity: Any, acceleration: Any) -> tuple[float, float]:
    """Return the largest rate and acceleration of a time law along a step, which must not be 0."""
    if not step.any():
        expected, hint = "another configuration than q0", "MinimumJerk(..., duration=) rests."
        raise ParameterError(f"{where}: q1", got="q0 again", expected=expected, hint=hint)
    own = model.velocity_lower, model.velocity_upper
    rate = smallest(where, "velocity", bounds(where, "velocity", velocity, model, own), step, model)
    return rate, smallest(where, "acceleration", bounds(where, "acceleration", acceleration, model), step, model)
