"""The chart of joints that leave a body free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cardan.interop.chart import Chart, Rows, Scalars, identity
from cardan.interop.quaternion import Order, reordered, to_xyzw, turned
from cardan.joints import Joint
from cardan.joints.catalogue.floating import FloatingJoint
from cardan.manifolds import MRP, UnitQuaternion
from cardan.spatial import SE3, Motion, Representation, Scalar, Vector3, in_body, represented
from cardan.spatial.rotations import matrix_from_quaternion_xyzw


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
