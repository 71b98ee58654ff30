"""Orientations, as unit quaternions (x, y, z, w) and modified Rodrigues parameters, and rigid motions of space.

The velocity is the angular velocity of the body in body axes [rad/s], of rigid motions the body twist.

Source: Shuster (1993), equations 300 to 305; Schaub and Junkins (1996). FACTS: the rates are the left inverses of
each other off the manifold, too.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds.manifold import Manifold, Placed, Rows, Scalars, Shape, within_a_turn
from cardan._algebra.scalar import logical_and, where
from cardan._algebra.spatial import SE3 as Pose
from cardan._algebra.spatial import (
    Matrix3,
    Motion,
    Scalar,
    Symmetric3,
    Vector3,
    exp_se3,
    log_from_rotation_vector,
    right_jacobian_inverse_se3,
)
from cardan._algebra.spatial import rotations as ro


class Orientation(Manifold):
    """A chart of the rotations; implementations are `UnitQuaternion` and `MRP`.

    Throughout:
        quaternion: x, y, z, w [-].

    Examples:
        >>> chart = cardan.manifolds.MRP()
        >>> sigma = chart.from_quaternion_xyzw((0.0, 0.0, 0.0, 1.0))
        >>> chart.quaternion_xyzw(sigma), chart.matrix(sigma)[0, 0]
        ((0.0, 0.0, 0.0, 1.0), 1.0)
    """

    nv = 3

    @abstractmethod
    def matrix(self, q: Scalars) -> Matrix3:
        """Return the rotation matrix of the coordinates."""

    @abstractmethod
    def quaternion_xyzw(self, q: Scalars) -> tuple[Scalar, ...]:
        """Return a quaternion of the same rotation."""

    @abstractmethod
    def from_quaternion_xyzw(self, quaternion: Scalars) -> tuple[Scalar, ...]:
        """Return the coordinates of the rotation of a quaternion."""

    def integrate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        turned = ro.quaternion_multiply_xyzw(self.quaternion_xyzw(q), ro.quaternion_xyzw_from_rotation_vector(v))
        return self.from_quaternion_xyzw(ro.quaternion_normalize_xyzw(turned))

    def difference(self, q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
        back = ro.quaternion_conjugate_xyzw(self.quaternion_xyzw(q0))
        return ro.rotation_vector_from_quaternion_xyzw(ro.quaternion_multiply_xyzw(back, self.quaternion_xyzw(q1)))

    def difference_rate_jacobian(self, difference: Scalars) -> Rows:
        return [list(row) for row in ro.right_jacobian_inverse(difference).rows()]

    def limit_coordinates(self, q: Scalars) -> tuple[Scalar, ...]:
        return ro.rotation_vector_from_quaternion_xyzw(self.quaternion_xyzw(q))

    def random(self, rng: np.random.Generator, shape: Shape, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return uniform rotations; where limits are finite, uniform rotation vectors between them instead."""
        if np.isfinite(lower).any() or np.isfinite(upper).any():
            phi = _rotation_vectors(rng, int(np.prod(shape)), lower, upper).reshape(*shape, 3)
            quaternion = ro.quaternion_xyzw_from_rotation_vector(tuple(np.moveaxis(phi, -1, 0)))
        else:
            # Four normal numbers prefer no direction, and unit quaternions none of the rotations (Muller, 1959).
            quaternion = tuple(np.moveaxis(rng.normal(size=(*shape, 4)), -1, 0))
        q = self.from_quaternion_xyzw(ro.quaternion_normalize_xyzw(quaternion))
        return np.stack([np.asarray(e) for e in q], axis=-1)


def _rotation_vectors(rng: np.random.Generator, count: int, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return vectors, shape (count, 3), uniform in the part of a box whose length is at most pi."""
    low, high = within_a_turn(lower, upper, "a rotation vector")
    if np.linalg.norm(np.clip(0.0, low, high)) >= np.pi:
        expected = "a box that holds a rotation vector shorter than pi"
        raise ParameterError("limits of a rotation vector", got=(tuple(lower), tuple(upper)), expected=expected)
    found = np.empty((0, 3))
    while len(found) < count:
        # A ball fills 0.52 of its cube, so that twice as many trials nearly always do.
        trial = rng.uniform(low, high, size=(2 * (count - len(found)) + 16, 3))
        found = np.concatenate([found, trial[np.linalg.norm(trial, axis=-1) < np.pi]])
    return found[:count]


@dataclass(frozen=True, slots=True)
class UnitQuaternion(Orientation):
    """Unit quaternions (x, y, z, w).

    Examples:
        >>> cardan.manifolds.UnitQuaternion().neutral()
        (0.0, 0.0, 0.0, 1.0)
    """

    nq = 4

    def matrix(self, q: Scalars) -> Matrix3:
        return ro.matrix_from_quaternion_xyzw(tuple(q))

    def quaternion_xyzw(self, q: Scalars) -> tuple[Scalar, ...]:
        return tuple(q)

    def from_quaternion_xyzw(self, quaternion: Scalars) -> tuple[Scalar, ...]:
        return tuple(quaternion)

    def unit_parts(self) -> tuple[tuple[int, int], ...]:
        return ((0, 4),)

    def neutral(self) -> tuple[float, ...]:
        return 0.0, 0.0, 0.0, 1.0

    def velocity_to_configuration_derivative_jacobian(self, q: Scalars) -> Rows:
        x, y, z, w = (0.5 * e for e in q)
        return [[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]]

    def configuration_derivative_to_velocity_jacobian(self, q: Scalars) -> Rows:
        scale = 2.0 / sum((e * e for e in q), 0.0)  # by |q|^2: a left inverse off the unit sphere, too
        x, y, z, w = (scale * e for e in q)
        return [[w, z, -y, -x], [-z, w, x, -y], [y, -x, w, -z]]

    def nearest_image(self, q: Scalars, near: Scalars) -> tuple[Scalar, ...]:
        behind = sum((a * b for a, b in zip(q, near, strict=True)), 0.0) < 0.0
        return tuple(where(behind, -e, e) for e in q)

    def normalize(self, q: Scalars) -> tuple[Scalar, ...]:
        return ro.quaternion_normalize_xyzw(q)

    def principal_value(self, q: Scalars) -> tuple[Scalar, ...]:
        return ro.quaternion_canonical_xyzw(q)


@dataclass(frozen=True, slots=True)
class MRP(Orientation):
    """Modified Rodrigues parameters, axis times tan(angle / 4): three numbers, no norm to keep.

    `integrate` returns parameters of length at most 1, so a motion never reaches the singularity at 2 pi.

    Examples:
        >>> cardan.manifolds.MRP().neutral()
        (0.0, 0.0, 0.0)
    """

    nq = 3

    def matrix(self, q: Scalars) -> Matrix3:
        return ro.matrix_from_mrp(tuple(q))

    def quaternion_xyzw(self, q: Scalars) -> tuple[Scalar, ...]:
        return ro.quaternion_xyzw_from_mrp(q)

    def from_quaternion_xyzw(self, quaternion: Scalars) -> tuple[Scalar, ...]:
        return ro.mrp_from_quaternion_xyzw(quaternion)

    def neutral(self) -> tuple[float, ...]:
        return 0.0, 0.0, 0.0

    def velocity_to_configuration_derivative_jacobian(self, q: Scalars) -> Rows:
        return [list(row) for row in (self._rate(q) * 0.25).rows()]

    def configuration_derivative_to_velocity_jacobian(self, q: Scalars) -> Rows:
        n = Vector3.of(q).norm_squared()  # B^T B = (1 + n)^2 1 (Schaub and Junkins), so that B^T inverts B
        return [list(row) for row in (self._rate(q).T * (4.0 / ((1.0 + n) * (1.0 + n)))).rows()]

    @staticmethod
    def _rate(q: Scalars) -> Matrix3:
        """Return B = (1 - s.s) 1 + 2 [s] + 2 s s^T."""
        s = Vector3.of(q)
        flat = Symmetric3.isotropic(1.0 - s.norm_squared()) + Symmetric3.outer_square(s) * 2.0
        return flat.matrix() + s.skew() * 2.0

    def nearest_image(self, q: Scalars, near: Scalars) -> tuple[Scalar, ...]:
        s, wanted = Vector3.of(q), Vector3.of(near)
        n = s.norm_squared()
        shadow = s * where(n > 0.0, -1.0 / where(n > 0.0, n, 1.0), 0.0)  # that of no turn is at infinity
        nearer = logical_and(n > 0.0, (shadow - wanted).norm_squared() < (s - wanted).norm_squared())
        return tuple(where(nearer, b, a) for a, b in zip(s, shadow, strict=True))

    def normalize(self, q: Scalars) -> tuple[Scalar, ...]:
        return tuple(q)

    def principal_value(self, q: Scalars) -> tuple[Scalar, ...]:
        return ro.mrp_principal(q)


@dataclass(frozen=True, slots=True)
class SE3(Placed):
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
    _lengths = 3
    nv = 6

    def _turning(self) -> Manifold:
        return self.orientation

    def pose(self, q: Scalars) -> Pose:
        """Return the pose of the coordinates."""
        return Pose(self.orientation.matrix(q[3:]), Vector3(*q[:3]))

    def _axes(self, q: Scalars) -> Rows:
        return [list(row) for row in self.orientation.matrix(q[3:]).rows()]

    def integrate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        step = exp_se3(Motion.of(tuple(v)))
        position = self.pose(q) @ step.translation
        return (*position, *self.orientation.integrate(q[3:], v[3:]))

    def difference(self, q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
        phi = Vector3(*self.orientation.difference(q0[3:], q1[3:]))
        return log_from_rotation_vector(phi, self.pose(q0).inverse_act(Vector3(*q1[:3]))).scalars()

    def difference_rate_jacobian(self, difference: Scalars) -> Rows:
        return right_jacobian_inverse_se3(Motion.of(tuple(difference)))
