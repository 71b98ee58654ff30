"""Charts of the joints that turn a body about a point, in a plane or freely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cardan.interop.chart import Chart, Circle, Rows, Scalars, identity, rewritten
from cardan.joints import Joint, Planar, Spherical
from cardan.joints.floating import FloatingJoint
from cardan.manifolds import MRP, UnitQuaternion
from cardan.spatial import SE3, Matrix3, Motion, Representation, Scalar, Vector3, in_body, represented
from cardan.spatial.rotations import (
    matrix_from_quaternion_xyzw,
    matrix_from_zyx,
    quaternion_multiply_xyzw,
    quaternion_xyzw_from_matrix,
    zyx_from_matrix,
)

Order = Literal["xyzw", "wxyz"]
Axes = Literal["child", "parent"]


def reordered(quaternion: Scalars, order: Order) -> list[Scalar]:
    """Return a quaternion (x, y, z, w) in an order."""
    x, y, z, w = quaternion
    return [x, y, z, w] if order == "xyzw" else [w, x, y, z]


def to_xyzw(quaternion: Scalars, order: Order) -> list[Scalar]:
    """Return a quaternion given in an order as (x, y, z, w)."""
    if order == "xyzw":
        return list(quaternion)
    w, x, y, z = quaternion
    return [x, y, z, w]


def turned(left: Matrix3, quaternion: Scalars, right: Matrix3) -> list[Scalar]:
    """Return the quaternion of left R right; identities cost nothing."""
    if left != Matrix3.identity():
        quaternion = quaternion_multiply_xyzw(quaternion_xyzw_from_matrix(left), quaternion)
    if right != Matrix3.identity():
        quaternion = quaternion_multiply_xyzw(quaternion, quaternion_xyzw_from_matrix(right))
    return list(quaternion)


@dataclass(frozen=True)
class Ball(Chart):
    """A rotation about a point, R' = C R C^T.

    Args:
        joint: a `Spherical` or `SphericalZYX`.
        form: how it is written there: a quaternion, or the angles roll, pitch, yaw of Rz(yaw) Ry(pitch) Rx(roll).
        axes: of the angular velocity there, in the child's or the parent's axes.
        turn: C, where axes there are not the joint's: the rotation of the joint's child frame in the child body.
    """

    joint: Joint
    form: Order | Literal["rpy"]
    axes: Axes = "child"
    turn: Matrix3 = Matrix3.identity()
    nv = 3

    @property
    def nq(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of coordinates there."""
        return 3 if self.form == "rpy" else 4

    def there(self, q: Scalars) -> list[Scalar]:
        """Return the rotation in the form there."""
        R = self.joint.transform(q).rotation
        if self.form == "rpy":
            yaw, pitch, roll = zyx_from_matrix(self.turn @ R @ self.turn.T) if self._turns_angles else q
            return [roll, pitch, yaw]
        own = q if isinstance(self.joint, Spherical) else quaternion_xyzw_from_matrix(R)
        return reordered(turned(self.turn, own, self.turn.T), self.form)

    def here(self, q: Scalars) -> list[Scalar]:
        """Return the joint's own coordinates."""
        if self.form == "rpy":
            angles = (q[2], q[1], q[0])
            if not self._turns_angles:
                return list(angles)
            return self._of_matrix(self.turn.T @ matrix_from_zyx(angles) @ self.turn)
        quaternion = turned(self.turn.T, to_xyzw(q, self.form), self.turn)
        if isinstance(self.joint, Spherical):
            return quaternion
        return self._of_matrix(matrix_from_quaternion_xyzw(quaternion))

    def matrix(self, q: Scalars) -> Rows:
        """Return the matrix from v to the angular velocity there."""
        return _rows(self._to_axes(q) @ self._angular(q))

    def inverse(self, q: Scalars) -> Rows:
        """Return its inverse; for Euler angles it does not exist where they are singular."""
        turn = self._to_axes(q).T
        if isinstance(self.joint, Spherical):
            return _rows(turn)
        a, b, c = self._angular(q).columns()
        rows = (b.cross(c), c.cross(a), a.cross(b))
        scale = 1.0 / a.dot(rows[0])
        return _rows(Matrix3.from_columns(*(row * scale for row in rows)).T @ turn)

    @property
    def _turns_angles(self) -> bool:
        return isinstance(self.joint, Spherical) or self.turn != Matrix3.identity()

    def _angular(self, q: Scalars) -> Matrix3:
        return Matrix3.from_columns(*(s.angular for s in self.joint.motion_subspace(q)))

    def _to_axes(self, q: Scalars) -> Matrix3:
        return self.turn if self.axes == "child" else self.turn @ self.joint.transform(q).rotation

    def _of_matrix(self, R: Matrix3) -> list[Scalar]:
        return list(self.joint.nearest_configuration(SE3(R)))

    @property
    def note(self) -> str:
        """What is written otherwise there."""
        names = {"xyzw": "quaternion (x, y, z, w)", "wxyz": "quaternion (w, x, y, z)", "rpy": "roll, pitch, yaw"}
        told = [] if self.form == "xyzw" and isinstance(self.joint, Spherical) else [names[self.form]]
        told += ["angular velocity in parent axes"] if self.axes == "parent" else []
        told += ["axes of the child body"] if self.turn != Matrix3.identity() else []
        return "; ".join(told)


@dataclass(frozen=True)
class Plane(Chart):
    """A motion in a plane.

    Args:
        joint: a `Planar` or `PlanarAngle`.
        form: how the heading is written there.
        axes: of the linear velocity there, in the child's or the parent's axes; in the parent's it is dx/dt, dy/dt.
    """

    joint: Joint
    form: Circle
    axes: Axes
    nv = 3

    @property
    def nq(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of coordinates there."""
        return 3 if self.form == "angle" else 4

    @property
    def own_form(self) -> Circle:
        """How the heading is written here."""
        return "cos_sin" if isinstance(self.joint, Planar) else "angle"

    def there(self, q: Scalars) -> list[Scalar]:
        """Return the position and the heading in the form there."""
        return [*q[:2], *rewritten(q[2:], self.own_form, self.form)]

    def here(self, q: Scalars) -> list[Scalar]:
        """Return the position and the heading in the form here."""
        return [*q[:2], *rewritten(q[2:], self.form, self.own_form)]

    def matrix(self, q: Scalars) -> Rows:
        """Return the matrix from v to the velocity there."""
        if self.axes == "child":
            return identity(3)
        c, s = self.joint.manifold.cos_sin(q)  # pyright: ignore[reportAttributeAccessIssue]
        return [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]

    def inverse(self, q: Scalars) -> Rows:
        """Return its inverse, its transpose."""
        return [list(column) for column in zip(*self.matrix(q), strict=True)]

    @property
    def note(self) -> str:
        """What is written otherwise there."""
        told = [] if self.form == self.own_form else [f"heading as {self.form.replace('_', ', ')}"]
        told += ["linear velocity in parent axes"] if self.axes == "parent" else []
        return "; ".join(told)


@dataclass(frozen=True)
class Free(Chart):
    """A free motion: X' = left X right, its twist taken at a point of the child and written part by part.

    Args:
        joint: a `FreeFlyer`, `FloatingMRP` or `Distance`.
        form: of the orientation there.
        linear: representation of the linear part there.
        angular: representation of the angular part there.
        position_first: whether the position comes before the orientation there.
        linear_first: whether the linear part comes before the angular part there.
        left: what is before X there: the joint's parent frame in the world, where X' is a pose in the world.
        right: what is behind X there: the child body in the joint's child frame, where X' is the pose of the body.
        point: where the velocity is taken, in the frame whose pose is X'.
        effort_in_world: whether the effort there is a wrench in world axes though the velocity is in the parent's.
        outer: what to call the axes that are not the body's: the world's or the parent's.
    """

    joint: Joint
    form: Order | Literal["mrp"]
    linear: Representation
    angular: Representation
    position_first: bool = True
    linear_first: bool = True
    left: SE3 = SE3.identity()
    right: SE3 = SE3.identity()
    point: Vector3 = Vector3.zero()
    effort_in_world: bool = False
    outer: Literal["world", "parent"] = "world"
    nv = 6

    @property
    def nq(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of coordinates there."""
        return 6 if self.form == "mrp" else 7

    def there(self, q: Scalars) -> list[Scalar]:
        """Return position and orientation in the form and order there."""
        own = self._orientation.quaternion_xyzw(q[3:])
        if self.form == "mrp" and isinstance(self._orientation, MRP) and self._is_same_frame:
            orientation = list(q[3:])
        else:
            quaternion = turned(self.left.rotation, own, self.right.rotation)
            orientation = list(MRP().from_quaternion_xyzw(quaternion)) if self.form == "mrp" else []
            orientation = orientation or reordered(quaternion, self.form)  # pyright: ignore[reportArgumentType]
        position = list(q[:3]) if self._is_same_frame else list(self.pose(q).translation)
        return position + orientation if self.position_first else orientation + position

    def here(self, q: Scalars) -> list[Scalar]:
        """Return the joint's own coordinates."""
        cut = 3 if self.position_first else self.nq - 3
        position, orientation = (q[:cut], q[cut:]) if self.position_first else (q[cut:], q[:cut])
        given = MRP().quaternion_xyzw(orientation) if self.form == "mrp" else to_xyzw(orientation, self.form)
        quaternion = list(given)
        if self._is_same_frame:
            same = self.form == "mrp" and isinstance(self._orientation, MRP)
            return [*position, *(orientation if same else self._orientation.from_quaternion_xyzw(quaternion))]
        X = SE3(matrix_from_quaternion_xyzw(quaternion), Vector3(*position))
        own = self.left.inverse() @ X @ self.right.inverse()
        quaternion = turned(self.left.rotation.T, quaternion, self.right.rotation.T)
        return [*own.translation, *self._orientation.from_quaternion_xyzw(quaternion)]

    def pose(self, q: Scalars) -> SE3:
        """Return X'."""
        return self.left @ self.joint.transform(q) @ self.right

    def matrix(self, q: Scalars) -> Rows:
        """Return the matrix from the twist here to the velocity there."""
        return _columns([self._twist_there(e, q) for e in _units()])

    def inverse(self, q: Scalars) -> Rows:
        """Return its inverse."""
        return _columns([self._twist_here(e, q).scalars() for e in identity(6)])

    def _twist_there(self, twist: Motion, q: Scalars) -> tuple[Scalar, ...]:
        X = self.pose(q)
        V = self.right.inverse_act(twist)
        V = Motion(V.linear + V.angular.cross(self.point), V.angular)
        linear, angular = represented(V, X, self.linear).linear, represented(V, X, self.angular).angular
        return (*linear, *angular) if self.linear_first else (*angular, *linear)

    def _twist_here(self, velocity: Scalars, q: Scalars) -> Motion:
        X = self.pose(q)
        first, second = Vector3(*velocity[:3]), Vector3(*velocity[3:])
        linear, angular = (first, second) if self.linear_first else (second, first)
        w = in_body(Motion(Vector3.zero(), angular), X, self.angular).angular
        v = in_body(Motion(linear, represented(Motion(Vector3.zero(), w), X, self.linear).angular), X, self.linear)
        return self.right @ Motion(v.linear - w.cross(self.point), w)

    @property
    def _orientation(self) -> UnitQuaternion | MRP:
        assert isinstance(self.joint, FloatingJoint)
        return self.joint.manifold.orientation  # pyright: ignore[reportReturnType]

    @property
    def _is_same_frame(self) -> bool:
        return self.left == self.right == SE3.identity()

    @property
    def note(self) -> str:
        """What is written otherwise there."""
        told = []
        if self.form != ("mrp" if isinstance(self._orientation, MRP) else "xyzw"):
            told.append("Rodrigues parameters" if self.form == "mrp" else f"quaternion ({', '.join(self.form)})")
        told += [] if self.position_first else ["orientation before position"]
        told += [] if self.linear_first else ["angular velocity before linear"]
        axes = {"body": "", "mixed": "in {} axes", "inertial": "in {} axes at its origin"}
        for part, how in (("linear", self.linear), ("angular", self.angular)):
            told += [f"{part} velocity {axes[how].format(self.outer)}"] if axes[how] else []
        told += ["velocity of the centre of mass"] if self.point != Vector3.zero() else []
        told += [] if self._is_same_frame else ["pose of the child body"]
        told += ["effort in world axes"] if self.effort_in_world else []
        return "; ".join(told)


def _units() -> list[Motion]:
    return [Motion.of(tuple(row)) for row in identity(6)]


def _columns(columns: list[tuple[Scalar, ...]]) -> Rows:
    return [list(row) for row in zip(*columns, strict=True)]


def _rows(matrix: Matrix3) -> Rows:
    return [list(row) for row in matrix.rows()]
