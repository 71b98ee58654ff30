"""The cylindrical joint: a shaft in a bush, which slides along an axis and turns about it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cardan._algebra.manifolds import Euclidean
from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3, unit_vector
from cardan._algebra.spatial.rotations import angle_about_axis, rotation_about_axis
from cardan._robot.joints.joint import Axis, ConstantSubspaceJoint, Scalars


@dataclass(frozen=True, slots=True)
class Cylindrical(ConstantSubspaceJoint):
    """Translation along an axis and rotation about it. q: displacement [m], angle [rad]; v: their rates.

    The lower pair C: a prismatic and a revolute joint on one axis, in either order.

    Source: Reuleaux, Theoretische Kinematik (1875); Featherstone (2008), table 4.1.

    Args:
        axis: direction in the parent (and child) frame; normalised.

    Examples:
        >>> cardan.joints.Cylindrical(axis=(0.0, 0.0, 1.0)).nv
        2
    """

    axis: Axis = Vector3(0.0, 0.0, 1.0)
    manifold = Euclidean(2, reach=(1.0, math.pi))
    _names_of_q = ("displacement", "angle")

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis of a cylindrical joint"))

    def transform(self, q: Scalars) -> SE3:
        return SE3(rotation_about_axis(self.axis, q[1]), self.axis * q[0])

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(self.axis, Vector3.zero()), Motion(Vector3.zero(), self.axis)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return self.axis.dot(X_pc.translation), angle_about_axis(self.axis, X_pc.rotation)
