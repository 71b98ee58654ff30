"""Time laws: how far along a path one is at a time, from rest at 0 to rest at 1; and a path with another time law.

    q(s(t)),  v = q' ds/dt,  a = q'' (ds/dt)^2 + q' d2s/dt2

The chain rule holds for the velocities of every joint, which are linear in the rate of its coordinates.

Source: Flash and Hogan (1985) for minimum jerk; Biagiotti and Melchiorri, Trajectory Planning for Automatic Machines
and Robots (2008), sections 3.2 (trapezoid) and 3.4 (double S).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.by_fields import computed
from cardan._algebra.checked_numbers import positive
from cardan._algebra.errors import DTypeError
from cardan._motion.trajectories.piecewise import Jet, PiecewisePolynomial, checked_start, checked_times
from cardan._motion.trajectories.trajectory import Sample, Trajectory
from cardan._robot.model import Model

# Of the minimum-jerk law of duration 1: the rate half-way; the acceleration at (3 - sqrt(3)) / 6 of the time and,
# backwards, as long before the end.
PEAK_RATE, PEAK_ACCELERATION = 15.0 / 8.0, 10.0 / np.sqrt(3.0)


class _Phase(NamedTuple):
    """A stretch of constant jerk."""

    duration: float
    acceleration: float  # at its beginning
    jerk: float


@dataclass(frozen=True, slots=True, eq=False)
class TimeLaw:
    """Progress along a path, from 0 at time 0 to 1 at the end.

    Made by `minimum_jerk`, `trapezoid`, `double_s`, and by `time_optimal`.

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
        return _of_phases([_Phase(ramp, a, 0.0), _Phase(cruise, 0.0, 0.0), _Phase(ramp, -a, 0.0)])

    @staticmethod
    def double_s(rate: float, acceleration: float, jerk: float) -> TimeLaw:
        """Return the fastest law within a rate, an acceleration and a jerk: its acceleration is continuous."""
        v = positive("rate", rate, "1/s", unlimited=True)
        a = positive("acceleration", acceleration, "1/s^2", unlimited=True)
        j = positive("jerk", jerk, "1/s^3")
        build_up, ramp = _ramp(v, a, j)
        cruise = 1.0 / v - ramp
        if cruise < 0.0:
            (build_up, ramp), cruise = _ramp_without_cruise(a, j), 0.0
        top, flat = j * build_up, ramp - 2.0 * build_up
        up = [_Phase(build_up, 0.0, j), _Phase(flat, top, 0.0), _Phase(build_up, top, -j)]
        down = [_Phase(build_up, 0.0, -j), _Phase(flat, -top, 0.0), _Phase(build_up, -top, j)]
        return _of_phases([*up, _Phase(cruise, 0.0, 0.0), *down])


def _ramp(v: float, a: float, j: float) -> tuple[float, float]:
    """Return how long the jerk and the whole ramp take to reach the rate v."""
    if np.isfinite(a) and v * j >= a * a:
        return a / j, a / j + v / a
    return np.sqrt(v / j), 2.0 * np.sqrt(v / j)


def _ramp_without_cruise(a: float, j: float) -> tuple[float, float]:
    """Return how long the jerk and the whole ramp take where the deceleration follows at once."""
    if 2.0 * a**3 <= j * j:
        build_up = a / j
        return build_up, 0.5 * build_up + np.sqrt(0.25 * build_up**2 + 1.0 / a)
    build_up = np.cbrt(0.5 / j)
    return build_up, 2.0 * build_up


def _of_phases(phases: Sequence[_Phase]) -> TimeLaw:
    """Return the law from rest at 0 through phases of constant jerk; of those too short to tell, what they lead to."""
    least = 1e-14 * sum(phase.duration for phase in phases)
    knots, coefficients, s, v = [0.0], [], 0.0, 0.0
    for h, a, j in phases:
        powers = [s, v * h, a * h * h / 2.0, j * h**3 / 6.0]
        s, v = sum(powers), v + a * h + j * h * h / 2.0
        if h > least:
            coefficients.append(powers)
            knots.append(knots[-1] + h)
    return TimeLaw(PiecewisePolynomial(np.array(knots), np.array(coefficients)))


# --- a path with another time law -----------------------------------------------------------------------------------


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
