"""The revolute joint: rotation about an axis, the angle counted over many turns."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.manifolds import Euclidean
from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3, unit_vector
from cardan._algebra.spatial.rotations import angle_about_axis, rotation_about_axis
from cardan._robot.joints.joint import Axis, ConstantSubspaceJoint, Scalars


@dataclass(frozen=True, slots=True)
class Revolute(ConstantSubspaceJoint):
    """Rotation about a fixed axis. q: angle [rad], v: its rate [rad/s].

    Args:
        axis: direction in the parent (and child) frame; normalised.

    Examples:
        >>> cardan.joints.Revolute(axis=(0.0, 1.0, 0.0)).transform([0.0]).rotation
        ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    """

    axis: Axis = Vector3(0.0, 0.0, 1.0)
    manifold = Euclidean(1)
    _names_of_q = ("angle",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis of a revolute joint"))

    def transform(self, q: Scalars) -> SE3:
        return SE3(rotation_about_axis(self.axis, q[0]))

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(Vector3.zero(), self.axis)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return (angle_about_axis(self.axis, X_pc.rotation),)
