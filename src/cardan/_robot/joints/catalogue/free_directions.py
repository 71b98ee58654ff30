"""Joints whose motions are a group: none, all translations, those of a plane, all rotations, all rigid motions."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import MRP, SE2, Euclidean, UnitQuaternion
from cardan._algebra.manifolds import SE3 as RigidMotions
from cardan._algebra.scalar import cos, sin
from cardan._algebra.spatial import SE3, Matrix3, Motion, Scalar, Vector3, unit_vector
from cardan._algebra.spatial import rotations as ro
from cardan._algebra.spatial.davenport import other_branch
from cardan._robot.joints.joint import Axis, ConstantSubspaceJoint, Joint, Scalars

_PLANE, _QUATERNIONS = SE2(), UnitQuaternion()


@dataclass(frozen=True, slots=True)
class Fixed(ConstantSubspaceJoint):
    """No motion between parent and child. It has no q and no v.

    Examples:
        >>> cardan.joints.Fixed().nv
        0
    """

    manifold = Euclidean(0)

    def transform(self, q: Scalars) -> SE3:
        return SE3.identity()

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return []

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Translation(ConstantSubspaceJoint):
    """Any translation. q: position of the child in the parent frame [m], v: its rate [m/s].

    Examples:
        >>> cardan.joints.Translation().transform([1.0, 2.0, 3.0]).translation
        (1.0, 2.0, 3.0)
    """

    manifold = Euclidean(3, reach=1.0)
    _names_of_q = ("x", "y", "z")

    def transform(self, q: Scalars) -> SE3:
        return SE3(translation=Vector3(*q))

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(e, Vector3.zero()) for e in Matrix3.identity().columns()]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return tuple(X_pc.translation)


@dataclass(frozen=True, slots=True)
class Planar(ConstantSubspaceJoint):
    """Motion in the xy plane of the parent. q: (x, y, cos, sin), v: (vx, vy, wz) in child axes [m/s, rad/s].

    A heading off the unit circle is projected onto it.

    Examples:
        >>> cardan.joints.Planar().neutral()
        (0.0, 0.0, 1.0, 0.0)
    """

    manifold = _PLANE
    _names_of_q = ("x", "y", "cos", "sin")
    _names_of_v = ("vx", "vy", "wz")

    def transform(self, q: Scalars) -> SE3:
        c, s = _PLANE.cos_sin(q)
        return SE3(ro.matrix_about_axis((0.0, 0.0, 1.0), c, s), Vector3(q[0], q[1], 0.0))

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        x, y, z = Matrix3.identity().columns()
        return [Motion(x, Vector3.zero()), Motion(y, Vector3.zero()), Motion(Vector3.zero(), z)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        heading = ro.angle_about_axis((0.0, 0.0, 1.0), X_pc.rotation)
        x, y, _ = X_pc.translation
        return x, y, cos(heading), sin(heading)


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
        return SE3(ro.rotation_about_axis(self.normal, q[2]), self.x_axis * q[0] + self.y_axis * q[1])

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        still = Vector3.zero()
        return [Motion(self.x_axis, still), Motion(self.y_axis, still), Motion(still, self.normal)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        p = X_pc.translation
        return self.x_axis.dot(p), self.y_axis.dot(p), ro.angle_about_axis(self.normal, X_pc.rotation)


@dataclass(frozen=True, slots=True)
class Spherical(ConstantSubspaceJoint):
    """Any rotation. q: unit quaternion (x, y, z, w), v: angular velocity of the child in child axes [rad/s].

    A quaternion of another norm is projected onto the unit quaternions.

    Examples:
        >>> cardan.joints.Spherical().neutral()
        (0.0, 0.0, 0.0, 1.0)
    """

    manifold = _QUATERNIONS
    _names_of_q = ("x", "y", "z", "w")
    _names_of_v = ("wx", "wy", "wz")

    def transform(self, q: Scalars) -> SE3:
        return SE3(_QUATERNIONS.matrix(q))

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(Vector3.zero(), e) for e in Matrix3.identity().columns()]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return ro.quaternion_xyzw_from_matrix(X_pc.rotation)


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
        return SE3(ro.matrix_from_zyx(q))

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        angles = tuple(ro.zyx_from_matrix(X_pc.rotation))
        return angles if near is None else other_branch(angles, near)


class FloatingJoint(ConstantSubspaceJoint):
    """Any motion, the orientation in any chart. v: twist of the child in child axes at its origin [m/s, rad/s]."""

    manifold: RigidMotions  # pyright: ignore[reportIncompatibleVariableOverride]
    _names_of_v = ("vx", "vy", "vz", "wx", "wy", "wz")

    def transform(self, q: Scalars) -> SE3:
        return self.manifold.pose(q)

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion.of(tuple(float(i == j) for i in range(6))) for j in range(6)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        quaternion = ro.quaternion_xyzw_from_matrix(X_pc.rotation)
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


@dataclass(frozen=True, slots=True)
class FloatingMRP(FloatingJoint):
    """Any motion. q: position of the child in the parent frame [m], then modified Rodrigues parameters.

    v: twist of the child in child axes at its origin, linear part first [m/s, rad/s].

    Examples:
        >>> cardan.joints.FloatingMRP().nq
        6
    """

    manifold = RigidMotions(MRP())
    _names_of_q = ("px", "py", "pz", "s1", "s2", "s3")
