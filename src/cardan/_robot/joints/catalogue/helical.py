"""The helical (screw) joint: rotation about an axis that drives a translation along it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Euclidean
from cardan._algebra.scalar import floor, is_finite
from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3, unit_vector
from cardan._algebra.spatial.rotations import angle_about_axis, rotation_about_axis
from cardan._robot.joints.joint import Axis, ConstantSubspaceJoint, Scalars


@dataclass(frozen=True, slots=True)
class Helical(ConstantSubspaceJoint):
    """Rotation about an axis with a proportional translation along it. q: angle [rad], v: its rate [rad/s].

    Args:
        axis: direction in the parent (and child) frame; normalised.
        pitch: translation per angle [m/rad]; any finite number, negative for a left-handed screw.

    Examples:
        >>> cardan.joints.Helical(axis=(0.0, 0.0, 1.0), pitch=0.01).nv
        1
    """

    axis: Axis = Vector3(0.0, 0.0, 1.0)
    pitch: float = 0.01
    manifold = Euclidean(1)
    _names_of_q = ("angle",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis of a helical joint"))
        if not is_finite(self.pitch):
            raise ParameterError("pitch of a helical joint", got=self.pitch, expected="a finite number [m/rad]")
        object.__setattr__(self, "pitch", float(self.pitch))

    def transform(self, q: Scalars) -> SE3:
        return SE3(rotation_about_axis(self.axis, q[0]), self.axis * (self.pitch * q[0]))

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(self.axis * self.pitch, self.axis)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        """Return the angle; its number of turns is read from the translation."""
        angle = angle_about_axis(self.axis, X_pc.rotation)
        # Without a pitch nothing tells the turns, and the division fails.
        if self.pitch == 0.0:
            return (angle,)
        by_translation = self.axis.dot(X_pc.translation) / self.pitch
        turns = floor((by_translation - angle) / (2.0 * math.pi) + 0.5)
        return (angle + 2.0 * math.pi * turns,)
