"""The free flyer with six coordinates: orientation by modified Rodrigues parameters."""

from __future__ import annotations

from dataclasses import dataclass

from cardan.joints.base import ConstantSubspaceJoint, Scalars
from cardan.manifolds import MRP
from cardan.manifolds import SE3 as RigidMotions
from cardan.spatial import SE3, Motion, Scalar
from cardan.spatial.rotations import quaternion_xyzw_from_matrix

_SPACE = RigidMotions(MRP())


@dataclass(frozen=True, slots=True)
class FloatingMRP(ConstantSubspaceJoint):
    """Any motion. q: position of the child in the parent frame [m], then modified Rodrigues parameters.

    v: twist of the child in child axes at its origin, linear part first [m/s, rad/s].
    """

    manifold = _SPACE

    def transform(self, q: Scalars) -> SE3:
        return _SPACE.pose(q)

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion.of(tuple(float(i == j) for i in range(6))) for j in range(6)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        quaternion = quaternion_xyzw_from_matrix(X_pc.rotation)
        return (*X_pc.translation, *_SPACE.orientation.from_quaternion_xyzw(quaternion))

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return ("px", "py", "pz", "s1", "s2", "s3")

    @property
    def velocity_names(self) -> tuple[str, ...]:
        return ("vx", "vy", "vz", "wx", "wy", "wz")
