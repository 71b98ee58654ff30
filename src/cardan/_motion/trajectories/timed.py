"""A path with another time law: q(s(t)), with v = q' ds/dt and a = q'' (ds/dt)^2 + q' d2s/dt2.

The chain rule holds for the velocities of every joint, which are linear in the rate of its coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.errors import DTypeError
from cardan._motion.trajectories.piecewise import checked_start
from cardan._motion.trajectories.time_laws import TimeLaw
from cardan._motion.trajectories.trajectory import Sample, Trajectory
from cardan._robot.model import Model


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

    @property
    def model(self) -> Model:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The robot that moves."""
        return self.path.model

    @property
    def interval(self) -> tuple[float, float]:
        """The first and the last time [s]."""
        return self.start, self.start + self.law.duration

    def evaluated(self, t: np.ndarray) -> Sample:
        """Return where it is at times within the interval."""
        first, last = self.path.interval
        s, rate, second = self.law.progress.at(np.clip(t - self.start, 0.0, self.law.duration))
        q, v, a = self.path.evaluated(first + (last - first) * np.clip(s, 0.0, 1.0))
        rate, second = (last - first) * rate[..., None], (last - first) * second[..., None]
        return Sample(q, v * rate, a * rate**2 + v * second)
