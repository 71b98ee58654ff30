"""The ellipsoid joint: the child slides and turns on an ellipsoid, as a scapula on the ribs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cardan.errors import ParameterError
from cardan.joints.joint import Joint, Scalars
from cardan.manifolds import Euclidean
from cardan.scalar import cos, sin
from cardan.spatial import SE3, Matrix3, Motion, Scalar, Vector3
from cardan.spatial.rotations import matrix_from_xyz, xyz_from_matrix


@dataclass(frozen=True, slots=True)
class Ellipsoid(Joint):
    """The child's origin moves on an ellipsoid of the parent. q: three angles about x, y, z [rad], v: their rates.

    R = Rx(q0) Ry(q1) Rz(q2), p = A n with A = diag(radii) and n = R e_z: the point of the ellipsoid whose direction on
    the unit sphere is the child's z axis. That axis is the surface normal only for a sphere. At q = 0 the child is
    at (0, 0, radius_z), so the neutral transform is not the identity. Singular at q1 = +-pi/2, where S has rank 2.

    Source: Seth, Sherman, Eastman and Delp, Minimal formulation of joint motion for biomechanisms (2010).

    Args:
        radii: semi-axes along x, y, z of the parent [m], positive.
    """

    radii: tuple[float, float, float] = (1.0, 1.0, 1.0)
    manifold = Euclidean(3)

    def __post_init__(self) -> None:
        try:
            radii = tuple(float(r) for r in self.radii)
        except (TypeError, ValueError, OverflowError):
            radii = ()
        if len(radii) != 3 or not all(math.isfinite(r) and r > 0.0 for r in radii):
            raise ParameterError("radii of an ellipsoid joint", got=self.radii, expected="three positive numbers [m]")
        object.__setattr__(self, "radii", radii)

    def transform(self, q: Scalars) -> SE3:
        R = matrix_from_xyz(q)
        return SE3(R, self._scale(R[:, 2]))

    def _scale(self, n: Vector3) -> Vector3:
        """Return A n."""
        a, b, c = self.radii
        return Vector3(a * n[0], b * n[1], c * n[2])

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        R = matrix_from_xyz(q)
        linear = [R.transpose_apply(self._scale(n)) for n in _slopes(q)] + [Vector3.zero()]
        return [Motion(v, w) for v, w in zip(linear, _rates(q).columns(), strict=True)]

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        """Return (dS/dt) v: the curvature of the surface, seen from the turning child, and that of the angles."""
        R = matrix_from_xyz(q)
        n0, n1 = _slopes(q)
        n00, n01, n11 = _curvatures(q)
        w = _rates(q) @ Vector3(*v)
        velocity = self._scale(n0 * v[0] + n1 * v[1])
        curvature = self._scale(n00 * (v[0] * v[0]) + n01 * (2.0 * (v[0] * v[1])) + n11 * (v[1] * v[1]))
        linear = R.transpose_apply(curvature) - w.cross(R.transpose_apply(velocity))
        return Motion(linear, _rates_bias(q, v))

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return tuple(xyz_from_matrix(X_pc.rotation))

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return ("qx", "qy", "qz")


def _slopes(q: Scalars) -> tuple[Vector3, Vector3]:
    """Return dn/dq0 and dn/dq1 of n = (s1, -s0 c1, c0 c1)."""
    s0, c0, s1, c1 = sin(q[0]), cos(q[0]), sin(q[1]), cos(q[1])
    return Vector3(0.0, -(c0 * c1), -(s0 * c1)), Vector3(c1, s0 * s1, -(c0 * s1))


def _curvatures(q: Scalars) -> tuple[Vector3, Vector3, Vector3]:
    """Return the second derivatives of n: 00, 01, 11."""
    s0, c0, s1, c1 = sin(q[0]), cos(q[0]), sin(q[1]), cos(q[1])
    return Vector3(0.0, s0 * c1, -(c0 * c1)), Vector3(0.0, c0 * s1, s0 * s1), Vector3(-s1, s0 * c1, -(c0 * c1))


def _rates(q: Scalars) -> Matrix3:
    """Return the map from angle rates to the angular velocity in child axes."""
    s1, c1, s2, c2 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
    return Matrix3((c1 * c2, s2, 0.0, -(c1 * s2), c2, 0.0, s1, 0.0, 1.0))


def _rates_bias(q: Scalars, v: Scalars) -> Vector3:
    """Return the time derivative of `_rates`, times v."""
    s1, c1, s2, c2 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
    v01, v02, v12 = v[0] * v[1], v[0] * v[2], v[1] * v[2]
    x = c2 * v12 - s1 * c2 * v01 - c1 * s2 * v02
    y = s1 * s2 * v01 - c1 * c2 * v02 - s2 * v12
    return Vector3(x, y, c1 * v01)
