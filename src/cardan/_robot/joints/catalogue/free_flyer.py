"""The free flyer: no constraint, orientation by unit quaternion."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.manifolds import SE3 as RigidMotions
from cardan._algebra.spatial import SE3, Motion, Scalar
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._robot.joints.joint import ConstantSubspaceJoint, Scalars


class FloatingJoint(ConstantSubspaceJoint):
    """Any motion, the orientation in any chart. v: twist of the child in child axes at its origin [m/s, rad/s]."""

    manifold: RigidMotions  # pyright: ignore[reportIncompatibleVariableOverride]
    _names_of_v = ("vx", "vy", "vz", "wx", "wy", "wz")

    def transform(self, q: Scalars) -> SE3:
        return self.manifold.pose(q)

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion.of(tuple(float(i == j) for i in range(6))) for j in range(6)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        quaternion = quaternion_xyzw_from_matrix(X_pc.rotation)
        return (*X_pc.translation, *self.manifold.orientation.from_quaternion_xyzw(quaternion))


@dataclass(frozen=True, slots=True)
class FreeFlyer(FloatingJoint):
    """Any motion. q: position of the child in the parent frame [m], then unit quaternion (x, y, z, w).

    v: twist of the child in child axes at its origin, linear part first [m/s, rad/s].

    Examples:
        >>> cardan.joints.FreeFlyer().neutral()
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    """

    manifold = RigidMotions()
    _names_of_q = ("px", "py", "pz", "x", "y", "z", "w")
