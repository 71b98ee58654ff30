"""What the joints without constraints have in common; they differ in the chart of the orientation."""

from __future__ import annotations

from cardan._algebra.manifolds import SE3 as RigidMotions
from cardan._algebra.spatial import SE3, Motion, Scalar
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._robot.joints.joint import ConstantSubspaceJoint, Scalars


class FloatingJoint(ConstantSubspaceJoint):
    """Any motion. v: twist of the child in child axes at its origin, linear part first [m/s, rad/s]."""

    manifold: RigidMotions  # pyright: ignore[reportIncompatibleVariableOverride]
    _names_of_v = ("vx", "vy", "vz", "wx", "wy", "wz")

    def transform(self, q: Scalars) -> SE3:
        return self.manifold.pose(q)

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion.of(tuple(float(i == j) for i in range(6))) for j in range(6)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        quaternion = quaternion_xyzw_from_matrix(X_pc.rotation)
        return (*X_pc.translation, *self.manifold.orientation.from_quaternion_xyzw(quaternion))
