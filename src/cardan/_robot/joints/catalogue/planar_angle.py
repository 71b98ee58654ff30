"""The planar joint with its heading as an angle, in a plane of one's choice."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import SE2, Euclidean
from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3, unit_vector
from cardan._algebra.spatial.rotations import angle_about_axis, rotation_about_axis
from cardan._robot.joints.joint import Axis, ConstantSubspaceJoint, Scalars


@dataclass(frozen=True, slots=True)
class PlanarAngle(ConstantSubspaceJoint):
    """Motion in a plane. q: (x, y, angle), v: (vx, vy, wz), the linear part in child axes [m/s, rad/s].

    The translation x x_axis + y y_axis comes before the rotation by `angle` about x_axis x y_axis. This is
    RigidBodyDynamics.jl's planar joint; note that v is not the rate of q.

    Args:
        x_axis: first direction of the plane; normalised.
        y_axis: second direction; normalised, orthogonal to the first.

    Examples:
        >>> cardan.joints.PlanarAngle().nq
        3
    """

    x_axis: Axis = Vector3(1.0, 0.0, 0.0)
    y_axis: Axis = Vector3(0.0, 1.0, 0.0)
    manifold = SE2(Euclidean(1))
    _names_of_q = ("x", "y", "angle")
    _names_of_v = ("vx", "vy", "wz")

    def __post_init__(self) -> None:
        for name in ("x_axis", "y_axis"):
            object.__setattr__(self, name, unit_vector(getattr(self, name), f"{name} of a planar joint"))
        if abs(self.x_axis.dot(self.y_axis)) > 1e-9:
            axes = (tuple(self.x_axis), tuple(self.y_axis))
            raise ParameterError("axes of a planar joint", got=axes, expected="two orthogonal axes")

    @property
    def normal(self) -> Vector3:
        """The unit normal of the plane, x_axis x y_axis."""
        return self.x_axis.cross(self.y_axis)

    def transform(self, q: Scalars) -> SE3:
        return SE3(rotation_about_axis(self.normal, q[2]), self.x_axis * q[0] + self.y_axis * q[1])

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        still = Vector3.zero()
        return [Motion(self.x_axis, still), Motion(self.y_axis, still), Motion(still, self.normal)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        p = X_pc.translation
        return self.x_axis.dot(p), self.y_axis.dot(p), angle_about_axis(self.normal, X_pc.rotation)
