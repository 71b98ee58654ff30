"""The prismatic joint: translation along an axis."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.manifolds import Euclidean
from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3, unit_vector
from cardan._robot.joints.joint import Axis, ConstantSubspaceJoint, Scalars


@dataclass(frozen=True, slots=True)
class Prismatic(ConstantSubspaceJoint):
    """Translation along a fixed axis. q: displacement [m], v: its rate [m/s].

    Args:
        axis: direction in the parent (and child) frame; normalised.

    Examples:
        >>> cardan.joints.Prismatic(axis=(0.0, 0.0, 1.0)).transform([0.5]).translation
        (0.0, 0.0, 0.5)
    """

    axis: Axis = Vector3(0.0, 0.0, 1.0)
    manifold = Euclidean(1, reach=1.0)
    _names_of_q = ("displacement",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis of a prismatic joint"))

    def transform(self, q: Scalars) -> SE3:
        return SE3(translation=self.axis * q[0])

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(self.axis, Vector3.zero())]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return (self.axis.dot(X_pc.translation),)
