"""The screw of variable pitch: a rotation about an axis that drives a translation along it, not in proportion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cardan._algebra.manifolds import Euclidean
from cardan._algebra.scalar import absolute, where
from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3, unit_vector
from cardan._algebra.spatial.rotations import angle_about_axis, rotation_about_axis
from cardan._robot.joints.coordinate_functions import finite_numbers, polynomial
from cardan._robot.joints.joint import Axis, Joint, Scalars
from cardan._robot.joints.periodic import unwrap_angle

TURNS = 8


@dataclass(frozen=True, slots=True)
class VariableScrew(Joint):
    """Rotation about an axis with a translation whose pitch depends on the angle. q: angle [rad], v: its rate [rad/s].

    pitch(q) = h_0 + h_1 q + h_2 q^2 + ..., and the translation is its integral from 0 to q. If the pitch vanishes, the
    joint only turns. It is never singular.

    Throughout:
        angle: [rad].

    Source: the screw pair of Featherstone (2008), table 4.1, with a pitch h(q) in place of h.

    Args:
        axis: direction in the parent (and child) frame; normalised.
        pitch: the coefficients h_0 [m/rad], h_1 [m/rad^2], ..., at least one; one alone is the helical joint.

    Examples:
        >>> bolt = cardan.joints.VariableScrew(axis=(0.0, 0.0, 1.0), pitch=(0.01, 0.002))
        >>> round(bolt.translation(1.0), 12)
        0.011
    """

    axis: Axis = Vector3(0.0, 0.0, 1.0)
    pitch: Sequence[float] = (0.01,)
    manifold = Euclidean(1)
    _names_of_q = ("angle",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis of a variable screw joint"))
        object.__setattr__(self, "pitch", finite_numbers(self.pitch, "pitch of a variable screw joint"))

    def transform(self, q: Scalars) -> SE3:
        return SE3(rotation_about_axis(self.axis, q[0]), self.axis * self.translation(q[0]))

    def translation(self, angle: Scalar) -> Scalar:
        """Return the translation along the axis [m], the integral of the pitch."""
        return angle * polynomial([h / (k + 1) for k, h in enumerate(self.pitch)], angle)

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(self.axis * polynomial(self.pitch, q[0]), self.axis)]

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        """Return the axis times (dh/dq) v^2."""
        slope = polynomial([k * h for k, h in enumerate(self.pitch)][1:] or [0.0], q[0])
        return Motion(self.axis * (slope * (v[0] * v[0])), Vector3.zero())

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        """Return the angle; of the 17 turns around `near`, or zero, it is in the one that fits the translation best."""
        angle, wanted = angle_about_axis(self.axis, X_pc.rotation), self.axis.dot(X_pc.translation)
        angle = angle if near is None else unwrap_angle(angle, near[0])
        best, error = angle, absolute(self.translation(angle) - wanted)
        # The translation is a polynomial of the angle, whose inverse has no closed form: the turns are tried.
        for turns in (sign * k for k in range(1, TURNS + 1) for sign in (1, -1)):
            other = angle + 2.0 * math.pi * turns
            distance = absolute(self.translation(other) - wanted)
            better = distance < error
            best, error = where(better, other, best), where(better, distance, error)
        return (best,)
