"""The spherical (ball) joint by unit quaternion."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.manifolds import UnitQuaternion
from cardan._algebra.spatial import SE3, Matrix3, Motion, Scalar, Vector3
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._robot.joints.joint import ConstantSubspaceJoint, Scalars

_SPACE = UnitQuaternion()


@dataclass(frozen=True, slots=True)
class Spherical(ConstantSubspaceJoint):
    """Any rotation. q: unit quaternion (x, y, z, w), v: angular velocity of the child in child axes [rad/s].

    A quaternion of another norm is projected onto the unit quaternions.

    Examples:
        >>> cardan.joints.Spherical().neutral()
        (0.0, 0.0, 0.0, 1.0)
    """

    manifold = _SPACE
    _names_of_q = ("x", "y", "z", "w")
    _names_of_v = ("wx", "wy", "wz")

    def transform(self, q: Scalars) -> SE3:
        return SE3(_SPACE.matrix(q))

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(Vector3.zero(), e) for e in Matrix3.identity().columns()]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return quaternion_xyzw_from_matrix(X_pc.rotation)
