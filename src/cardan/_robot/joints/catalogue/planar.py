"""The planar joint with its heading on the unit circle."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.manifolds import SE2
from cardan._algebra.scalar import cos, sin
from cardan._algebra.spatial import SE3, Matrix3, Motion, Scalar, Vector3
from cardan._algebra.spatial.rotations import angle_about_axis, matrix_about_axis
from cardan._robot.joints.joint import ConstantSubspaceJoint, Scalars

_SPACE = SE2()


@dataclass(frozen=True, slots=True)
class Planar(ConstantSubspaceJoint):
    """Motion in the xy plane of the parent. q: (x, y, cos, sin), v: (vx, vy, wz) in child axes [m/s, rad/s].

    A heading off the unit circle is projected onto it.

    Examples:
        >>> cardan.joints.Planar().neutral()
        (0.0, 0.0, 1.0, 0.0)
    """

    manifold = _SPACE
    _names_of_q = ("x", "y", "cos", "sin")
    _names_of_v = ("vx", "vy", "wz")

    def transform(self, q: Scalars) -> SE3:
        c, s = _SPACE.cos_sin(q)
        return SE3(matrix_about_axis((0.0, 0.0, 1.0), c, s), Vector3(q[0], q[1], 0.0))

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        x, y, z = Matrix3.identity().columns()
        return [Motion(x, Vector3.zero()), Motion(y, Vector3.zero()), Motion(Vector3.zero(), z)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        heading = angle_about_axis((0.0, 0.0, 1.0), X_pc.rotation)
        x, y, _ = X_pc.translation
        return x, y, cos(heading), sin(heading)
