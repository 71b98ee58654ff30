"""The spherical joint by Euler angles z, y, x."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.manifolds import Euclidean
from cardan._algebra.scalar import cos, sin
from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3
from cardan._algebra.spatial.davenport import other_branch
from cardan._algebra.spatial.rotations import matrix_from_zyx, zyx_from_matrix
from cardan._robot.joints.joint import Joint, Scalars


@dataclass(frozen=True, slots=True)
class SphericalZYX(Joint):
    """Any rotation, R = Rz(q0) Ry(q1) Rx(q2). q: yaw, pitch, roll [rad], v: their rates.

    Singular if the pitch is +-pi/2: there S has rank 2.

    Examples:
        >>> cardan.joints.SphericalZYX().nq
        3
    """

    manifold = Euclidean(3)
    _names_of_q = ("yaw", "pitch", "roll")

    def transform(self, q: Scalars) -> SE3:
        return SE3(matrix_from_zyx(q))

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        s1, c1, s2, c2 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        columns = (-s1, c1 * s2, c1 * c2), (0.0, c2, -s2), (1.0, 0.0, 0.0)
        return [Motion(Vector3.zero(), Vector3(*column)) for column in columns]

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        s1, c1, s2, c2 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        v01, v02, v12 = v[0] * v[1], v[0] * v[2], v[1] * v[2]
        x = -(c1 * v01)
        y = c1 * c2 * v02 - s1 * s2 * v01 - s2 * v12
        z = -(s1 * c2 * v01) - c1 * s2 * v02 - c2 * v12
        return Motion(Vector3.zero(), Vector3(x, y, z))

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        angles = tuple(zyx_from_matrix(X_pc.rotation))
        return angles if near is None else other_branch(angles, near)
