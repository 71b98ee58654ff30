"""Joints made of another: one that copies its coordinates, and one with parent and child exchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cardan._algebra.by_fields import computed
from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Euclidean, UnitComplex
from cardan._algebra.scalar import is_finite
from cardan._algebra.spatial import SE3, Motion, Scalar
from cardan._compiler.program import Op
from cardan._robot.joints.catalogue.free_directions import Fixed
from cardan._robot.joints.catalogue.one_axis import Helical, Prismatic, Revolute, UnboundedRevolute
from cardan._robot.joints.derivation.programs import joint_program, keep_by_joint, open_slots, pose_entries
from cardan._robot.joints.joint import Joint, JointOfAnother, Scalars
from cardan._robot.joints.limits import Limits, is_bounded


@dataclass(frozen=True, slots=True)
class Mimic(JointOfAnother):
    """A joint that copies a primary joint: q_inner = multiplier q_primary + offset, v_inner = multiplier v_primary.

    In a model it has no coordinates of its own. Every method here takes the *primary's* q and v, and the motion
    subspace is with respect to the primary's velocity. For coordinates on the unit circle the map acts on the angle,
    and jumps at +-pi unless the multiplier is an integer.

    Args:
        joint: the inner joint; its coordinates are numbers, or a point on the unit circle.
        primary: name of the joint it copies, which must have the same kind of coordinates.
        multiplier: factor [-].
        offset: added angle [rad] or length [m].

    Throughout:
        q: of the primary, as many as it has [rad, m].
        primary: the joint it copies.

    Examples:
        >>> finger = cardan.joints.Mimic(cardan.joints.Prismatic((0.0, 1.0, 0.0)), "left_finger", multiplier=-1.0)
        >>> finger.transform([0.02]).translation, finger.inner_configuration([0.02])
        ((-0.0, -0.02, -0.0), (-0.02,))
        >>> second = cardan.joints.Mimic(cardan.joints.Prismatic((0.0, 1.0, 0.0)), "right_finger")
        >>> second.of_mimic(finger).primary, type(second.copying(cardan.joints.Prismatic((0.0, 1.0, 0.0)))).__name__
        ('left_finger', 'Mimic')
    """

    joint: Joint
    primary: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint) or not isinstance(self.joint.manifold, (Euclidean, UnitComplex)):
            expected = "a joint whose coordinates are numbers or a point on the unit circle"
            raise ParameterError("inner joint of a mimic", got=self.joint, expected=expected)
        if isinstance(self.joint, Mimic) or self.joint.nv == 0:
            raise ParameterError("inner joint of a mimic", got=self.joint, expected="a movable joint, not a mimic")
        if not isinstance(self.primary, str) or not self.primary:
            raise ParameterError("primary of a mimic", got=self.primary, expected="the name of a joint")
        for name in ("multiplier", "offset"):
            value = getattr(self, name)
            if not is_finite(value):
                raise ParameterError(f"{name} of a mimic", got=value, expected="a finite number")
            object.__setattr__(self, name, float(value))

    @computed
    def domain(self) -> Limits:
        """Where the primary may be so that the inner joint is in its domain."""
        # With a multiplier of 0 the inner joint stands at its offset, wherever the primary is.
        if not is_bounded(self.joint) or self.multiplier == 0.0:
            return Limits()
        own = self.joint.domain.resolved(self.joint.nv)
        ends = [[(e - self.offset) / self.multiplier for e in side] for side in (own.lower or (), own.upper or ())]
        return Limits(*(ends if self.multiplier > 0.0 else reversed(ends)))

    def inner_configuration(self, q: Scalars) -> tuple[Scalar, ...]:
        """Return the inner joint's configuration at the primary's."""
        if isinstance(self.joint.manifold, UnitComplex):
            angle = self.joint.manifold.angle(q)
            return self.joint.manifold.from_angle(angle * self.multiplier + self.offset)
        return tuple(e * self.multiplier + self.offset for e in q)

    def transform(self, q: Scalars) -> SE3:
        return self.joint.transform(self.inner_configuration(q))

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [s * self.multiplier for s in self.joint.motion_subspace(self.inner_configuration(q))]

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        return self.joint.bias(self.inner_configuration(q), tuple(e * self.multiplier for e in v))

    def efforts(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        """Return those of the inner joint, as the primary feels them: their power is the same."""
        inner = self.joint.efforts(self.inner_configuration(q), tuple(e * self.multiplier for e in v))
        return tuple(e * self.multiplier for e in inner)

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        """Return the primary's configuration, by the inverse of the map.

        Raises:
            ParameterError: if the multiplier is 0.
        """
        if self.multiplier == 0.0:
            expected = "not 0, to find the primary's configuration"
            raise ParameterError("multiplier of a mimic", got=0.0, expected=expected)
        inner = self.joint.nearest_configuration(X_pc, None if near is None else self.inner_configuration(near))
        if isinstance(self.joint.manifold, UnitComplex):
            angle = self.joint.manifold.angle(inner)
            return self.joint.manifold.from_angle((angle - self.offset) / self.multiplier)
        return tuple((e - self.offset) / self.multiplier for e in inner)

    def of_mimic(self, primary: Mimic) -> Mimic:
        """Return the same joint, copying directly what its primary, itself a mimic, copies."""
        multiplier = self.multiplier * primary.multiplier
        return Mimic(self.joint, primary.primary, multiplier, self.multiplier * primary.offset + self.offset)

    def copying(self, primary: Joint) -> Mimic | None:
        """Return the same joint reading the coordinates of a primary; None if these are of another kind.

        (cos, sin) and (sin, cos) of an angle are one kind in two orders.
        """
        own, other, inner = self.manifold, primary.manifold, self.joint
        if type(own) is not type(other) or (own.nq, own.nv) != (other.nq, other.nv):
            return None
        if not isinstance(other, UnitComplex) or own == other:
            return self
        return replace(self, joint=replace(inner, order=other.order)) if type(inner) is UnboundedRevolute else None


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


# Joints whose reversal, with the same q, is a joint of a simpler kind than `Reversed`.
CLOSED_FORMS: dict[type[Joint], Callable[[Any], Joint]] = {
    **dict.fromkeys((Revolute, UnboundedRevolute, Prismatic, Helical), lambda joint: replace(joint, axis=-joint.axis)),
    Fixed: lambda joint: joint,
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
