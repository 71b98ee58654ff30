"""The chart of joints that turn a body about a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cardan.interop.chart import Axes, Chart, Rows, Scalars
from cardan.interop.quaternion import Order, reordered, to_xyzw, turned
from cardan.joints import Joint, Spherical
from cardan.spatial import SE3, Matrix3, Scalar
from cardan.spatial.rotations import (
    matrix_from_quaternion_xyzw,
    matrix_from_zyx,
    quaternion_xyzw_from_matrix,
    zyx_from_matrix,
)


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


def _rows(matrix: Matrix3) -> Rows:
    return [list(row) for row in matrix.rows()]
