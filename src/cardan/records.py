"""What a model is described by: bodies, joints between them, frames on them. Plain, immutable, validated records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from cardan.errors import ParameterError
from cardan.joints import Joint, Limits, reverse
from cardan.joints.first_checks import check_joint
from cardan.joints.state import frozen, is_frozen
from cardan.spatial import SE3, Inertia, checked_pose

WORLD = "world"
FRAME_KINDS = ("operational", "sensor")


@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body.

    Args:
        name: unique among bodies and frames.
        inertia: mass, centre of mass and inertia in the body frame; None for a body without.
    """

    name: str
    inertia: Inertia | None = None

    def __post_init__(self) -> None:
        check_name("body", self.name)
        if self.inertia is not None and not isinstance(self.inertia, Inertia):
            raise ParameterError(
                f"inertia of body {self.name!r}", got=self.inertia, expected="a cardan.Inertia or None"
            )


@dataclass(frozen=True, slots=True)
class Frame:
    """A named frame fixed on a body: a tool, a sensor.

    Args:
        name: unique among bodies and frames.
        body: the body it is fixed on, or `"world"`.
        pose: X_body_frame.
        kind: what it is for, `"operational"` or `"sensor"`; it makes no difference to the dynamics.
    """

    name: str
    body: str
    pose: SE3 = field(default_factory=SE3.identity)
    kind: Literal["operational", "sensor"] = "operational"

    def __post_init__(self) -> None:
        check_name("frame", self.name)
        if self.kind not in FRAME_KINDS:
            raise ParameterError(f"kind of frame {self.name!r}", got=self.kind, expected="'operational' or 'sensor'")
        object.__setattr__(self, "pose", checked_pose(f"pose of frame {self.name!r}", self.pose))


@dataclass(frozen=True, slots=True)
class Connection:
    """A joint between two bodies: X_parent_child = parent_pose @ joint.transform(q) @ child_pose.inverse().

    The joint is looked at and kept as it is now: what becomes of the caller's object afterwards does not matter.

    Args:
        name: unique among joints.
        joint: what kind of joint.
        parent: name of a body, or `"world"`.
        child: name of a body.
        parent_pose: the joint's parent frame in the parent body.
        child_pose: the joint's child frame in the child body.
        limits: position, velocity and effort limits.
        damping: viscous friction for each dof [N m s/rad, N s/m].
        friction: dry friction for each dof [N m, N].
        armature: inertia of the drive, felt at the joint, for each dof [kg m^2, kg].
    """

    name: str
    joint: Joint
    parent: str
    child: str
    parent_pose: SE3 = field(default_factory=SE3.identity)
    child_pose: SE3 = field(default_factory=SE3.identity)
    limits: Limits = field(default_factory=Limits)
    damping: Sequence[float] | None = None
    friction: Sequence[float] | None = None
    armature: Sequence[float] | None = None

    def __post_init__(self) -> None:
        check_name("joint", self.name)
        if not isinstance(self.joint, Joint):
            got = getattr(self.joint, "__name__", self.joint)
            expected = "a joint, such as cardan.joints.Revolute(axis=[0, 0, 1])"
            raise ParameterError(f"joint {self.name!r}", got=got, expected=expected)
        if not is_frozen(self.joint):
            check_joint(self.joint)
            object.__setattr__(self, "joint", frozen(self.joint))
        for side in ("parent_pose", "child_pose"):
            object.__setattr__(self, side, checked_pose(f"{side} of joint {self.name!r}", getattr(self, side)))
        object.__setattr__(self, "limits", (self.limits or Limits()).resolved(self.joint.nv, self.name))
        for name in ("damping", "friction", "armature"):
            values = _non_negative(f"{name} of joint {self.name!r}", getattr(self, name), self.joint.nv)
            object.__setattr__(self, name, values)

    def reversed(self) -> Connection:
        """Return the same joint described from its child: q, v, limits and passive properties stay as they are."""
        sides = {"parent": self.child, "child": self.parent}
        poses = {"parent_pose": self.child_pose, "child_pose": self.parent_pose}
        return replace(self, joint=reverse(self.joint), **sides, **poses)


def check_name(kind: str, name: Any) -> None:
    """Raise unless `name` is a non-empty text."""
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"name of a {kind}", got=name, expected="a non-empty text")


def _non_negative(what: str, values: Any, nv: int) -> tuple[float, ...]:
    if values is None:
        return (0.0,) * nv
    expected = f"{nv} finite numbers >= 0, one for each dof"
    try:
        numbers = tuple(float(e) for e in values)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(what, got=values, expected=expected) from None
    if len(numbers) != nv or not all(math.isfinite(e) and e >= 0.0 for e in numbers):
        raise ParameterError(what, got=numbers, expected=expected)
    return numbers
