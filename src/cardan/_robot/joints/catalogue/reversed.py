"""The reversed joint: the same joint with parent and child exchanged, for any joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import SE3, Motion, Scalar
from cardan._compiler.program import Op
from cardan._robot.joints.catalogue.fixed import Fixed
from cardan._robot.joints.catalogue.helical import Helical
from cardan._robot.joints.catalogue.mimic import Mimic
from cardan._robot.joints.catalogue.prismatic import Prismatic
from cardan._robot.joints.catalogue.revolute import Revolute
from cardan._robot.joints.catalogue.unbounded_revolute import UnboundedRevolute
from cardan._robot.joints.derivation.programs import joint_program, keep_by_joint, open_slots, pose_entries
from cardan._robot.joints.joint import Joint, JointOfAnother, Scalars


@dataclass(frozen=True, slots=True)
class Reversed(JointOfAnother):
    """A joint seen from its child: X = X_joint^-1. q and v are the joint's own, so limits and mimics stay as they are.

        S = -Ad(X_joint) S_joint        bias = -Ad(X_joint) bias_joint

    (The rate of Ad adds v_J x v_J = 0 to the bias.) If S depends on q, S and bias are derived from X instead if that
    takes fewer operations. `reverse(joint)` gives a simpler form if there is one.

    Source: Featherstone (2008), section 4.4; FACTS, section 4.

    Args:
        joint: the joint that is reversed.

    Examples:
        >>> cardan.joints.Reversed(cardan.joints.Ellipsoid(radii=(0.5, 0.7, 1.1))).nv
        3
    """

    joint: Joint

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint):
            raise ParameterError("joint to reverse", got=self.joint, expected="a joint")

    def transform(self, q: Scalars) -> SE3:
        return self.joint.transform(q).inverse()

    def motion_subspace(self, q: Scalars) -> Sequence[Motion]:
        return self._form().motion_subspace(q)

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        return self._form().bias(q, v)

    def _form(self) -> Joint:
        derived = _Derived(self.joint)
        return derived if _is_better_derived(open_slots(derived)[0]) else _Mapped(self.joint)

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        return self.joint.nearest_configuration(X_pc.inverse(), near)


@dataclass(frozen=True, slots=True)
class _Derived(JointOfAnother):
    """The motion X_joint^-1, S and bias derived from it."""

    joint: Joint

    def transform(self, q: Scalars) -> SE3:
        return self.joint.transform(q).inverse()


@dataclass(frozen=True, slots=True)
class _Mapped(_Derived):
    """The same, S and bias mapped from the joint's own."""

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        X = self.joint.transform(q)
        return [-(X @ s) for s in self.joint.motion_subspace(q)]

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        return -(self.joint.transform(q) @ self.joint.bias(q, v))


@keep_by_joint("transform", "motion_subspace", "bias")
def _is_better_derived(template: _Derived) -> bool:
    """Return whether X, S and bias together take fewer operations if S and bias are derived.

    Not asked where S is constant: mapping it is as good, and deriving takes its time.
    """

    def subspace(derived: Any, q: Any) -> dict[str, list[Any]]:
        return {"entries": [e for s in derived.joint.motion_subspace(q) for e in s.scalars()]}

    def operations(form: type[_Derived]) -> int:
        def entries(derived: Any, q: Any, v: Any) -> dict[str, list[Any]]:
            joint = form(derived.joint)
            X, motions = joint.transform(q), [*joint.motion_subspace(q), joint.bias(q, v)]
            return {"entries": [*pose_entries(X), *(e for s in motions for e in s.scalars())]}

        return joint_program("reversed", template, entries, q=template.nq, v=template.nv).operations

    if all(i.op is Op.CONST for i in joint_program("reversed", template, subspace, q=template.nq).instructions):
        return False
    # X, S and bias are counted in one program, as algorithms use them: they share most of their operations.
    return operations(_Derived) < operations(_Mapped)


def _turned(joint: Any) -> Joint:
    return replace(joint, axis=-joint.axis)


# Joints whose reversal, with the same q, is a joint of a simpler kind than `Reversed`.
CLOSED_FORMS: dict[type[Joint], Callable[[Any], Joint]] = {
    Fixed: lambda joint: joint,
    Revolute: _turned,
    UnboundedRevolute: _turned,
    Prismatic: _turned,
    Helical: _turned,
    Mimic: lambda joint: replace(joint, joint=reverse(joint.joint)),
    Reversed: lambda joint: joint.joint,
}


def reverse(joint: Joint) -> Joint:
    """Return the joint with parent and child exchanged and q and v unchanged; reversing twice gives the joint back.

    Args:
        joint: any joint.

    Examples:
        >>> cardan.joints.reverse(cardan.joints.Revolute(axis=(0.0, 0.0, 1.0)))
        Revolute(axis=(0.0, 0.0, -1.0))
    """
    closed = CLOSED_FORMS.get(type(joint))
    return closed(joint) if closed else Reversed(joint)
