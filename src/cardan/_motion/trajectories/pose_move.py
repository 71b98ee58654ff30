"""A pose that moves straight to another, from rest to rest, with its velocity and acceleration.

Decoupled: the origin along a straight line, the rotation about a fixed axis,
    p = p0 + s (p1 - p0),   R = R0 exp(s phi);
as a screw: one twist from pose to pose,
    X = X0 exp(s xi),   xi = log(X0^-1 X1).

Source: Lynch and Park, Modern Robotics (2017), section 9.2.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from cardan._algebra.arrays import stack
from cardan._algebra.checked_numbers import positive
from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import SE3, Motion, exp_se3, log_se3
from cardan._algebra.spatial.rotations import matrix_from_rotation_vector
from cardan._algebra.spatial.se3 import checked_pose
from cardan._dynamics.call.arguments import numeric_array
from cardan._motion.trajectories.piecewise import checked_times
from cardan._motion.trajectories.time_laws import TimeLaw

Interpolation = Literal["decoupled", "screw"]


class PoseSample(NamedTuple):
    """Where a moving pose is at one time or many. Returned by `PoseMove.at`.

    Attributes:
        pose: homogeneous matrices [m], shape (..., 4, 4).
        velocity: of the frame's origin, then angular, in the axes the poses are in [m/s, rad/s], shape (..., 6), as
            `cardan.frame_velocity` has them.
        acceleration: its time derivative [m/s^2, rad/s^2], shape (..., 6), as `cardan.frame_acceleration`.

    Examples:
        >>> there = cardan.SE3.from_translation((0.0, 0.0, 0.4))
        >>> move = cardan.trajectories.PoseMove(cardan.SE3(), there, duration=2.0)
        >>> move.at([0.0, 2.0]).velocity.shape
        (2, 6)
    """

    pose: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class PoseMove:
    """A pose moving from rest to rest, the rotation the short way.

    Args:
        start: the first pose, an `SE3` or a homogeneous matrix, shape (4, 4).
        goal: the last pose.
        duration: how long it takes [s], with least mean square jerk; or None, and limits are given:
        velocity: largest speed of the origin [m/s] and angular speed [rad/s].
        acceleration: largest acceleration of the origin along the way [m/s^2] and angular acceleration [rad/s^2]; the
            centripetal one of a screw is not in it.
        interpolation: `"decoupled"`: the origin goes along a straight line; or `"screw"`: the twist is constant in the
            body, and the origin goes along a helix.

    Raises:
        ParameterError: for what is no pose, duration, limit or interpolation.

    Examples:
        >>> there = cardan.SE3.from_translation((0.0, 0.0, 0.4))
        >>> move = cardan.trajectories.PoseMove(cardan.SE3(), there, duration=2.0)
        >>> move.at(1.0).pose[:3, 3].round(12).tolist()
        [0.0, 0.0, 0.2]

    Peers: roboticstoolbox `ctraj`.

    Source: Lynch and Park (2017), section 9.2.1.
    """

    start: Any
    goal: Any
    duration: Any = None
    velocity: tuple[float, float] = (np.inf, np.inf)
    acceleration: tuple[float, float] | None = None
    interpolation: Interpolation = "decoupled"
    _twist: Motion = field(init=False, repr=False)
    _law: TimeLaw = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.interpolation not in get_args(Interpolation):
            expected = " or ".join(map(repr, get_args(Interpolation)))
            raise ParameterError("PoseMove: interpolation", got=self.interpolation, expected=expected)
        X0, X1 = checked_pose("PoseMove: start", self.start), checked_pose("PoseMove: goal", self.goal)
        twist = log_se3(X0.inverse() @ X1)
        if self.interpolation == "decoupled":
            twist = Motion(X1.translation - X0.translation, twist.angular)
        values = {"start": X0, "goal": X1, "_twist": twist, "_law": self._choose_law(twist)}
        for name, value in {**values, "duration": values["_law"].duration}.items():
            object.__setattr__(self, name, value)

    def _choose_law(self, twist: Motion) -> TimeLaw:
        if self.duration is not None:
            return TimeLaw.minimum_jerk(self.duration)
        if self.acceleration is None:
            expected = "a duration, or acceleration=(linear, angular)"
            raise ParameterError("PoseMove: duration", got=None, expected=expected)
        sizes = [float(np.linalg.norm(part)) for part in twist]
        if not any(sizes):
            raise ParameterError("PoseMove: goal", got="the start again", expected="another pose, or a duration")
        rate, acceleration = (_rate(name, getattr(self, name), sizes) for name in ("velocity", "acceleration"))
        return TimeLaw.trapezoid(rate, acceleration)

    def at(self, t: Any) -> PoseSample:
        """Return poses, velocities and accelerations at times [s] of any shape (...), from 0 to the duration.

        Args:
            t: the times [s]; `TimeLaw` says what it raises for others.
        """
        s, rate, second = self._law.progress.at(checked_times("PoseMove", t, 0.0, self._law.duration))
        screw = self.interpolation == "screw"
        return (self._screw if screw else self._decoupled)(*np.broadcast_arrays(s, rate, second))

    def _decoupled(self, s: np.ndarray, rate: np.ndarray, second: np.ndarray) -> PoseSample:
        (R0, p0), (line, phi) = self.start, self._twist
        X = SE3(R0 @ matrix_from_rotation_vector(phi * s), p0 + line * s)
        direction = np.array([*line, *(R0 @ phi)])
        return PoseSample(X.matrix(), rate[..., None] * direction, second[..., None] * direction)

    def _screw(self, s: np.ndarray, rate: np.ndarray, second: np.ndarray) -> PoseSample:
        X = self.start @ exp_se3(self._twist * s)
        along, about = (X.rotation @ part for part in self._twist)  # in the poses' axes
        velocity = stack([*(along * rate), *(about * rate)])
        bend = (about * rate).cross(along * rate)
        return PoseSample(X.matrix(), velocity, stack([*(along * second + bend), *(about * second)]))


def _rate(name: str, limits: Any, sizes: list[float]) -> float:
    """Return the largest factor of a twist with linear and angular part of given sizes within two limits."""
    given = numeric_array("PoseMove", name, limits)
    if given.shape != (2,):
        raise ParameterError(f"PoseMove: {name}", got=limits, expected="two numbers, linear and angular")
    known = [positive(f"PoseMove: {name}", limit, "SI", unlimited=True) for limit in given]
    return min(limit / size for limit, size in zip(known, sizes, strict=True) if size > 0.0)
