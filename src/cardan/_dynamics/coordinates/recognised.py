"""What kind of joint one is, from what it does: a user's hinge is a hinge in every library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cardan._algebra.manifolds import Euclidean, UnitComplex
from cardan._algebra.manifolds.manifold import identity_rows
from cardan._algebra.spatial import SE3
from cardan._robot.joints import Joint, Revolute, UnboundedRevolute
from cardan._robot.joints.joint import Scalars
from cardan._robot.joints.recognise import Hinge, hinge_of


@dataclass(frozen=True)
class _Unrolled(Joint):
    """A joint whose coordinate is a point on the circle, by the angle instead."""

    joint: Any
    manifold = Euclidean(1)

    def transform(self, q: Scalars) -> SE3:
        return self.joint.transform(self.joint.manifold.from_angle(q[0]))


def kind_of(joint: Joint) -> type[Joint]:
    """Return the shipped joint whose coordinates these are up to where q = 0 is placed; its own type if none is."""
    if isinstance(joint.manifold, UnitComplex):
        return UnboundedRevolute if turn_of(joint) else type(joint)
    hinge = hinge_of(joint)
    return type(hinge.joint) if hinge else type(joint)


def turn_of(joint: Joint) -> Hinge | None:
    """Return the hinge, by its angle, that a joint is whose coordinate is a point on the circle; None for any other."""
    if not isinstance(joint.manifold, UnitComplex):
        return None
    hinge = hinge_of(_Unrolled(joint))
    return hinge if hinge and isinstance(hinge.joint, Revolute) else None


def is_free(joint: Joint) -> bool:
    """Return whether a joint leaves its child free and its velocity is the child's twist: S = 1."""
    if joint.nv != 6 or not joint.has_constant_motion_subspace:
        return False
    return [list(row) for row in joint.subspace(joint.neutral()).rows()] == identity_rows(6)
