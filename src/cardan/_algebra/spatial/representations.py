"""Three ways to write one twist or wrench: where it is taken, and along which axes.

Let X = (R, p) be the pose of a frame B in the world A, V its twist and f a wrench on it, both in B at B's origin.

    "body"        left-trivialised     V                       f
    "inertial"    right-trivialised    Ad(X) V                 Ad(X)^-T f           about A's origin, along A's axes
    "mixed"       -                    blkdiag(R, R) V         blkdiag(R, R) f      about B's origin, along A's axes

Twist and wrench in one representation give the power f . V of any other.

Source: Traversaro and Saccon, Multibody dynamics notation (2019); FACTS, section 6, for their names elsewhere.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from cardan._algebra.errors import check_known
from cardan._algebra.spatial.motion import Force, Motion
from cardan._algebra.spatial.se3 import SE3

Representation = Literal["body", "inertial", "mixed"]
REPRESENTATIONS: tuple[Representation, ...] = ("body", "inertial", "mixed")

Spatial = TypeVar("Spatial", Motion, Force)


def checked_representation(representation: Any) -> Representation:
    """Return a representation, or raise `UnknownNameError` if it is none."""
    check_known("representation", representation, REPRESENTATIONS)
    return representation


def represented(body: Spatial, X: SE3, representation: Representation) -> Spatial:
    """Return the twist or wrench given in its own frame B, at the pose X, in a representation.

    Args:
        body: a twist or a wrench in its own frame.
        X: pose of the frame.
        representation: `"body"`, `"inertial"` or `"mixed"`.

    Raises:
        UnknownNameError: for another representation.

    Examples:
        >>> twist = cardan.Motion((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
        >>> cardan.spatial.represented(twist, cardan.SE3(translation=(0.0, 1.0, 0.0)), "inertial").linear
        (2.0, 0.0, 0.0)
    """
    checked_representation(representation)
    if representation == "body":
        return body
    if representation == "inertial":
        return X @ body
    return type(body)(X.rotation @ body.linear, X.rotation @ body.angular)


def in_body(value: Spatial, X: SE3, representation: Representation) -> Spatial:
    """Return in its own frame B, at the pose X, what is given in a representation: inverse of `represented`.

    Args:
        value: a twist or a wrench.
        X: pose of the frame.
        representation: `"body"`, `"inertial"` or `"mixed"`.

    Raises:
        UnknownNameError: for another representation.

    Examples:
        >>> twist = cardan.Motion((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
        >>> cardan.spatial.in_body(twist, cardan.SE3(), "mixed") == twist
        True
    """
    checked_representation(representation)
    if representation == "body":
        return value
    if representation == "inertial":
        return X.inverse_act(value)
    turned = X.rotation.transpose_apply
    return type(value)(turned(value.linear), turned(value.angular))
