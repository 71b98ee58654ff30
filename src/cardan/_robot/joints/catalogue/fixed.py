"""The fixed joint: no motion."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.manifolds import Euclidean
from cardan._algebra.spatial import SE3, Motion, Scalar
from cardan._robot.joints.joint import ConstantSubspaceJoint, Scalars


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
