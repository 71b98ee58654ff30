"""The ellipsoid joint: the child slides and turns on an ellipsoid, as a scapula on the ribs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Euclidean
from cardan._algebra.spatial import SE3, Scalar
from cardan._algebra.spatial.davenport import other_branch
from cardan._algebra.spatial.rotations import matrix_from_xyz, xyz_from_matrix
from cardan._robot.joints.joint import Joint, Scalars


@dataclass(frozen=True, slots=True)
class Ellipsoid(Joint):
    """The child's origin moves on an ellipsoid of the parent. q: three angles about x, y, z [rad], v: their rates.

    R = Rx(q0) Ry(q1) Rz(q2) and p = A n, with A = diag(radii) and n = R e_z. So p is the image, under A, of the child's
    z axis on the unit sphere. That axis is the surface normal only for a sphere. At q = 0 the child is
    at (0, 0, radius_z), so the neutral transform is not the identity. Singular at q1 = +-pi/2, where S has rank 2.

    Source: Seth, Sherman, Eastman and Delp, Minimal formulation of joint motion for biomechanisms (2010).

    Args:
        radii: semi-axes along x, y, z of the parent [m], positive.

    Examples:
        >>> cardan.joints.Ellipsoid(radii=(0.5, 0.7, 1.1)).nv
        3
    """

    radii: tuple[float, float, float] = (1.0, 1.0, 1.0)
    manifold = Euclidean(3)
    _names_of_q = ("qx", "qy", "qz")

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
        (x, y, z), (a, b, c) = R[:, 2], self.radii
        return SE3(R, (a * x, b * y, c * z))

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        angles = tuple(xyz_from_matrix(X_pc.rotation))
        return angles if near is None else other_branch(angles, near)
