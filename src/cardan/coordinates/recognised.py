"""What kind of joint one is, from its motion subspace: a user's hinge is a hinge in every library."""

from __future__ import annotations

from cardan.joints import Helical, Joint, Prismatic, Revolute, UnboundedRevolute
from cardan.manifolds import Euclidean, UnitComplex
from cardan.manifolds.manifold import identity_rows

TOLERANCE = 1e-12
"""How far a joint's axis may be from unit length: more than rounding is another unit of its coordinate."""


def kind_of(joint: Joint) -> type[Joint]:
    """Return the shipped joint whose coordinates these are up to where q = 0 is placed; its own type if none is.

    A constant S of one column means X(q) = X(0) exp(S q): a slide, a hinge or a screw, whatever its code.
    """
    space = joint.manifold
    if joint.nv != 1 or not isinstance(space, (Euclidean, UnitComplex)) or not joint.has_constant_motion_subspace:
        return type(joint)
    (s,) = joint.motion_subspace(joint.neutral())
    turning, sliding = s.angular.norm_squared(), s.linear.norm_squared()
    if turning < TOLERANCE and abs(sliding - 1.0) < TOLERANCE and isinstance(space, Euclidean):
        return Prismatic
    if abs(turning - 1.0) > TOLERANCE:
        return type(joint)
    if isinstance(space, UnitComplex):
        return UnboundedRevolute if abs(s.angular.dot(s.linear)) < TOLERANCE else type(joint)
    return Revolute if abs(s.angular.dot(s.linear)) < TOLERANCE else Helical


def is_free(joint: Joint) -> bool:
    """Return whether a joint leaves its child free and its velocity is the child's twist: S = 1."""
    if joint.nv != 6 or not joint.has_constant_motion_subspace:
        return False
    return [list(row) for row in joint.subspace(joint.neutral()).rows()] == identity_rows(6)
