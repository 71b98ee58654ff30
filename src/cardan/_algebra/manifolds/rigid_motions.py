"""Rigid motions of space: position in the outer frame, an orientation, moved by a body twist."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cardan._algebra.manifolds.manifold import Manifold, Rows, Scalars, block_diagonal, shifted, uniform
from cardan._algebra.manifolds.rotation import Orientation, UnitQuaternion
from cardan._algebra.spatial import SE3 as Pose
from cardan._algebra.spatial import (
    Matrix3,
    Motion,
    Scalar,
    Vector3,
    exp_se3,
    log_from_rotation_vector,
    right_jacobian_inverse_se3,
)


@dataclass(frozen=True, slots=True)
class SE3(Manifold):
    """SE(3): q = (px, py, pz, orientation); v = body twist [linear; angular] [m/s, rad/s].

    Args:
        orientation: `UnitQuaternion()` (nq = 7) or `MRP()` (nq = 6).

    Examples:
        >>> cardan.manifolds.SE3().neutral()
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        >>> cardan.manifolds.SE3().pose(cardan.manifolds.SE3().neutral()).translation
        (0.0, 0.0, 0.0)
    """

    orientation: Orientation = UnitQuaternion()
    nv = 6

    @property
    def nq(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of coordinates."""
        return 3 + self.orientation.nq

    def pose(self, q: Scalars) -> Pose:
        """Return the pose of the coordinates."""
        return Pose(self.orientation.matrix(q[3:]), Vector3(*q[:3]))

    def unit_parts(self) -> tuple[tuple[int, int], ...]:
        return shifted(self.orientation, 3)

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, *self.orientation.neutral())

    def integrate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        step = exp_se3(Motion.of(tuple(v)))
        position = self.pose(q) @ step.translation
        return (*position, *self.orientation.integrate(q[3:], v[3:]))

    def difference(self, q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
        phi = Vector3(*self.orientation.difference(q0[3:], q1[3:]))
        return log_from_rotation_vector(phi, self.pose(q0).inverse_act(Vector3(*q1[:3]))).scalars()

    def difference_rate_jacobian(self, difference: Scalars) -> Rows:
        return right_jacobian_inverse_se3(Motion.of(tuple(difference)))

    def velocity_to_configuration_derivative_jacobian(self, q: Scalars) -> Rows:
        turn = self.orientation.velocity_to_configuration_derivative_jacobian(q[3:])
        return block_diagonal([(_rows(self.orientation.matrix(q[3:])), 3), (turn, 3)])

    def configuration_derivative_to_velocity_jacobian(self, q: Scalars) -> Rows:
        turn = self.orientation.configuration_derivative_to_velocity_jacobian(q[3:])
        return block_diagonal([(_rows(self.orientation.matrix(q[3:]).T), 3), (turn, self.orientation.nq)])

    def nearest_image(self, q: Scalars, near: Scalars) -> tuple[Scalar, ...]:
        return (*q[:3], *self.orientation.nearest_image(q[3:], near[3:]))

    def normalize(self, q: Scalars) -> tuple[Scalar, ...]:
        return (*q[:3], *self.orientation.normalize(q[3:]))

    def principal_value(self, q: Scalars) -> tuple[Scalar, ...]:
        return (*q[:3], *self.orientation.principal_value(q[3:]))

    def limit_coordinates(self, q: Scalars) -> tuple[Scalar, ...]:
        return (*q[:3], *self.orientation.limit_coordinates(q[3:]))

    def random(
        self, rng: np.random.Generator, shape: tuple[int, ...], lower: np.ndarray, upper: np.ndarray
    ) -> np.ndarray:
        position = uniform(rng, shape, lower[:3], upper[:3], 1.0)
        return np.concatenate([position, self.orientation.random(rng, shape, lower[3:], upper[3:])], axis=-1)


def _rows(m: Matrix3) -> Rows:
    return [list(row) for row in m.rows()]
