"""The reversed joint: the same joint with parent and child exchanged, for any joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cardan.errors import ParameterError
from cardan.joints.catalogue.fixed import Fixed
from cardan.joints.catalogue.helical import Helical
from cardan.joints.catalogue.mimic import Mimic
from cardan.joints.catalogue.prismatic import Prismatic
from cardan.joints.catalogue.revolute import Revolute
from cardan.joints.catalogue.unbounded_revolute import UnboundedRevolute
from cardan.joints.joint import Joint, Scalars
from cardan.manifolds import Manifold
from cardan.spatial import SE3, Motion, Scalar


@dataclass(frozen=True, slots=True)
class Reversed(Joint):
    """A joint seen from its child: X = X_joint^-1. q and v are the joint's own, so limits and mimics stay as they are.

        S = -Ad(X_joint) S_joint        bias = -Ad(X_joint) bias_joint

    (The rate of Ad adds v_J x v_J = 0 to the bias.) `reverse(joint)` gives a simpler form where there is one.

    Source: Featherstone (2008), section 4.4; FACTS, section 4.

    Args:
        joint: the joint as it was.
    """

    joint: Joint

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint):
            raise ParameterError("joint to reverse", got=self.joint, expected="a joint")

    @property
    def manifold(self) -> Manifold:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the joint itself."""
        return self.joint.manifold

    def transform(self, q: Scalars) -> SE3:
        return self.joint.transform(q).inverse()

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        X = self.joint.transform(q)
        return [-(X @ s) for s in self.joint.motion_subspace(q)]

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        return -(self.joint.transform(q) @ self.joint.bias(q, v))

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return self.joint.nearest_configuration(X_pc.inverse())

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return self.joint.coordinate_names

    @property
    def velocity_names(self) -> tuple[str, ...]:
        return self.joint.velocity_names


def _turned(joint: Any) -> Joint:
    return replace(joint, axis=-joint.axis)


CLOSED_FORMS: dict[type[Joint], Callable[[Any], Joint]] = {
    Fixed: lambda joint: joint,
    Revolute: _turned,
    UnboundedRevolute: _turned,
    Prismatic: _turned,
    Helical: _turned,
    Mimic: lambda joint: replace(joint, joint=reverse(joint.joint)),
    Reversed: lambda joint: joint.joint,
}
"""Joints whose reversal, with the same q, is a joint of a simpler kind than `Reversed`."""


def reverse(joint: Joint) -> Joint:
    """Return the joint with parent and child exchanged and q and v unchanged; reversing twice gives the joint back."""
    closed = CLOSED_FORMS.get(type(joint))
    return closed(joint) if closed else Reversed(joint)
