"""The translation joint: three displacements, no rotation."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.manifolds import Euclidean
from cardan._algebra.spatial import SE3, Matrix3, Motion, Scalar, Vector3
from cardan._robot.joints.joint import ConstantSubspaceJoint, Scalars


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
