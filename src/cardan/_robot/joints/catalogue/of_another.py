"""Joints made of another: one that copies its coordinates, and one with parent and child exchanged."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cardan._algebra.by_fields import computed
from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Euclidean, UnitComplex
from cardan._algebra.manifolds.manifold import matrix_vector
from cardan._algebra.scalar import is_finite, is_zero
from cardan._algebra.spatial import SE3, Force, Motion, MotionSubspace, Scalar
from cardan._compiler.program import Op
from cardan._robot.joints.catalogue.free_directions import Fixed
from cardan._robot.joints.catalogue.one_axis import Helical, Prismatic, Revolute, UnboundedRevolute
from cardan._robot.joints.coordinate_functions import Constant, Linear, Polynomial, Through, coordinate, value_of
from cardan._robot.joints.derivation.derived import coupling_curvature, coupling_slopes
from cardan._robot.joints.derivation.programs import joint_program, open_slots, replaced
from cardan._robot.joints.joint import Joint, JointOfAnother, Scalars
from cardan._robot.joints.limits import Limits, is_bounded


class Follower(JointOfAnother):
    """A joint without coordinates of its own in a model: those of the joint within, x, are a function of others', q.

        x = f(q),    dx/dt = F v,    X = X_inner(x),    efforts = F^T efforts_inner

    Source: Featherstone (2008), section 3.2: explicit constraints, with F his G.
    """

    simplified: bool = False  # whether `simplified_tree` may put another joint of the same motion within

    @property
    def own(self) -> Equipped | None:
        """What acts along x, if anything does."""
        return self.joint if isinstance(self.joint, Equipped) else None

    @property
    def bare(self) -> Joint:
        """The joint within, without what acts along x."""
        return self.own.joint if self.own else self.joint

    def around(self, joint: Joint) -> Follower:
        """Return the same with another joint of the same motion within, and what acts along x."""
        return replaced(self, joint=replaced(self.own, joint=joint) if self.own else joint)

    def inner_configuration(self, q: Scalars) -> tuple[Scalar, ...]:
        """Return the inner joint's configuration."""
        raise NotImplementedError

    def slopes(self, q: Scalars) -> list[list[Scalar]]:
        """Return F: a row for each velocity of the inner joint."""
        raise NotImplementedError

    def curvature(self, q: Scalars, v: Scalars) -> Sequence[Scalar]:
        """Return (dF/dt) v: the part of d2x/dt2 that is not due to the rate of v."""
        raise NotImplementedError

    def rotors(self, armature: Sequence[Scalar]) -> list[tuple[Scalar, Joint]]:
        """Return the inertias of drives along x [kg m^2, kg], and wheels that turn with them, of one angle each."""
        return []

    def transform(self, q: Scalars) -> SE3:
        return self.joint.transform(self.inner_configuration(q))

    def efforts(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        """Return those of the inner joint, as the joints it follows feel them: their power is the same."""
        F = self.slopes(q)
        inner = self.joint.efforts(self.inner_configuration(q), [_dot(row, v) for row in F])
        return tuple(_dot(column, inner) for column in zip(*F, strict=True))


class SubspaceOfFollower(MotionSubspace):
    """The columns of S G, with S @ (G v) and G^T (S^T f): S is sparse, in axes of its own."""

    S: MotionSubspace
    G: list[list[Scalar]]

    def __new__(cls, S: MotionSubspace, G: list[list[Scalar]]) -> SubspaceOfFollower:
        found = super().__new__(cls, (S @ column for column in zip(*G, strict=True)))
        found.S, found.G = S, G
        return found

    def __matmul__(self, v: Scalars) -> Motion:
        return self.S @ matrix_vector(self.G, v)

    def _torques(self, f: Force) -> tuple[Scalar, ...]:
        return matrix_vector([list(column) for column in zip(*self.G, strict=True)], self.S.T @ f)

    def each(self, function: Callable[[Any], Any]) -> Any:
        return MotionSubspace(self).each(function)


def _dot(x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
    first, *rest = (a * b for a, b in zip(x, y, strict=True))
    return sum(rest, first)


@dataclass(frozen=True, slots=True)
class Mimic(Follower):
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

    @property
    def primaries(self) -> tuple[str, ...]:
        return (self.primary,)

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint) or not isinstance(self.joint.manifold, (Euclidean, UnitComplex)):
            expected = "a joint whose coordinates are numbers or a point on the unit circle"
            raise ParameterError("inner joint of a mimic", got=self.joint, expected=expected)
        if self.joint.primaries or self.joint.nv == 0:
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

    def slopes(self, q: Scalars) -> list[list[Scalar]]:
        return [[self.multiplier * float(i == j) for j in range(self.nv)] for i in range(self.nv)]

    def curvature(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return [0.0] * self.nv

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [s * self.multiplier for s in self.joint.motion_subspace(self.inner_configuration(q))]

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        return self.joint.bias(self.inner_configuration(q), tuple(e * self.multiplier for e in v))

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
        offset = self.multiplier * primary.offset + self.offset
        return replaced(self, primary=primary.primary, multiplier=self.multiplier * primary.multiplier, offset=offset)

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
class Coupled(Follower):
    """A joint whose coordinate is a function f of other joints' coordinates: a cam, a differential, a knee's glide.

        X = X_inner(f(q)),    S = S_inner F,    bias = S_inner g + bias_inner,    F = df/dq,    g = sum f_ij v_i v_j

    S and bias are derived from X. Like a `Mimic`, of which it is the general case, it has no coordinates of its
    own in a model. Every method here takes those of the joints in `by`, and the subspace is by their velocities.

    Args:
        joint: the inner joint, with one coordinate that is a number.
        by: names of the joints it follows, one to six, each with one coordinate that is a number.
        function: of their coordinates, twice continuously differentiable: a `CoordinateFunction`, or a Python function
            that takes them one by one, such as `lambda a, b: a * b` with `cardan.scalar` for sine and others. Returns
            the inner coordinate [rad, m].

    Throughout:
        q: of the joints in `by`, one number each [rad, m].
        v: their velocities [rad/s, m/s].
        primary: one of these joints.

    Examples:
        >>> lift = cardan.joints.Polynomial([0.0, 0.0, 0.01])
        >>> cam = cardan.joints.Coupled(cardan.joints.Prismatic((0.0, 0.0, 1.0)), ["shaft"], lift)
        >>> cam.transform([2.0]).translation, cam.inner_configuration([2.0])
        ((0.0, 0.0, 0.04), (0.04,))
        >>> wrist = cardan.joints.Coupled(cardan.joints.Revolute(), ("left", "right"), lambda a, b: (a + b) / 2.0)
        >>> wrist.nv, wrist.copying(cardan.joints.Revolute()) is wrist
        (2, True)
    """

    joint: Joint
    by: Sequence[str]
    function: Any

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint) or not _is_one_number(self.joint) or self.joint.primaries:
            expected = "a joint with one coordinate that is a number, such as cardan.joints.Revolute()"
            raise ParameterError("inner joint of a coupled joint", got=self.joint, expected=expected)
        if is_bounded(self.joint):
            expected = "one that is defined everywhere: f may leave its domain"
            raise ParameterError("inner joint of a coupled joint", got=self.joint, expected=expected)
        names = tuple(self.by) if isinstance(self.by, (tuple, list)) else (self.by,)
        if not all(isinstance(n, str) and n for n in names) or not 1 <= len(set(names)) == len(names) <= 6:
            raise ParameterError("by of a coupled joint", got=self.by, expected="names of one to six different joints")
        object.__setattr__(self, "by", names)
        _check_function(self)

    @property
    def primaries(self) -> tuple[str, ...]:
        return tuple(self.by)

    @computed
    def manifold(self) -> Euclidean:
        """A number for each joint it follows."""
        return Euclidean(len(self.by), reach=1.0)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return tuple(self.by)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        return tuple(f"d{name}" for name in self.by)

    def inner_configuration(self, q: Scalars) -> tuple[Scalar, ...]:
        """Return the inner joint's configuration at those of the joints it follows."""
        return (value_of(self.function, q),)

    def slopes(self, q: Scalars) -> list[list[Scalar]]:
        return [coupling_slopes(self, q)]

    def curvature(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return [coupling_curvature(self, q, v)]

    def rotors(self, armature: Sequence[Scalar]) -> list[tuple[Scalar, Joint]]:
        return [(armature[0], replaced(self, joint=Revolute((0.0, 0.0, 1.0))))]

    def copying(self, primary: Joint) -> Coupled | None:
        """Return the joint, if it can read the coordinates of a primary; None if these are of another kind."""
        return self if _is_one_number(primary) else None


@dataclass(frozen=True, slots=True)
class Equipped(JointOfAnother):
    """The joint within a follower, with what acts along its own coordinates x; each part empty if there is none.

    Dampers and springs are efforts of the joint's own, -damping v - stiffness (x - rest). Dry friction, a drive and
    stops are forces of a step (`drives`).
    """

    joint: Joint
    damping: tuple[Scalar, ...] = ()
    stiffness: tuple[Scalar, ...] = ()
    rest: tuple[Scalar, ...] = ()
    friction: tuple[Scalar, ...] = ()
    drive_stiffness: tuple[Scalar, ...] = ()
    drive_damping: tuple[Scalar, ...] = ()
    limits: Limits = Limits()

    def transform(self, q: Scalars) -> SE3:
        return self.joint.transform(q)

    def efforts(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        own = self.joint.efforts(q, v) if self.joint.has_efforts else [0.0] * self.nv
        if self.damping:
            own = [e - damping * rate for e, damping, rate in zip(own, self.damping, v, strict=True)]
        if self.stiffness:
            ahead = self.manifold.toward(q, self.rest)
            own = [e + k * way for e, k, way in zip(own, self.stiffness, ahead, strict=True)]
        return tuple(own)

    @property
    def has_efforts(self) -> bool:
        return bool(self.damping or self.stiffness) or self.joint.has_efforts


def equipped(joint: Joint, limits: Limits, **acting: tuple[Scalar, ...]) -> Joint:
    """Return a joint with those fields of `Equipped` that act along its coordinates; itself if nothing does."""

    def acts(*names: str) -> bool:
        return not all(is_zero(e) for name in names for e in acting.get(name, ()))

    is_driven = acts("drive_stiffness", "drive_damping")
    kept = ["drive_stiffness", "drive_damping"] if is_driven else []
    kept += ["stiffness", "rest"] if acts("stiffness") else []
    kept += [name for name in ("damping", "friction") if acts(name)]
    if not is_driven:  # whose efforts nothing else has
        limits = Limits(limits.lower, limits.upper)
    if not (kept or any(map(math.isfinite, (*(limits.lower or ()), *(limits.upper or ()))))):
        return joint
    return Equipped(joint, limits=limits, **{name: acting[name] for name in kept})


def _is_one_number(joint: Joint) -> bool:
    return isinstance(joint.manifold, Euclidean) and joint.nq == 1


def _check_function(joint: Coupled) -> None:
    """Raise unless the function gives one number of the coordinates, that changes smoothly."""
    template, fault, cause = open_slots(joint)[0], "", None
    try:
        program = joint_program("coupling", template, lambda j, q: {"x": list(j.inner_configuration(q))}, q=joint.nq)
        kinks = sorted({i.op.value for i in program.instructions} & KINKED)
        fault = f"has a kink by {', '.join(kinks)}" if kinks else ""
    except Exception as error:  # a user's function may raise anything
        fault, cause = f"raises {type(error).__name__}: {error}", error
    if fault:
        expected = f"a smooth function of {joint.nq} numbers that returns one"
        hint = f"It {fault}. It is traced once, with symbols: cardan.scalar has sin, sqrt, where and others for these."
        raise ParameterError("function of a coupled joint", got=joint.function, expected=expected, hint=hint) from cause


KINKED = {op.value for op in (Op.ABS, Op.SIGN, Op.FLOOR, Op.MIN, Op.MAX)}


def following_directly(joint: Any, resolved: Mapping[str, Joint]) -> Joint:
    """Return a joint that follows others, some of them followers themselves, as one of those that these follow."""
    if isinstance(joint, Mimic):
        primary = resolved.get(joint.primary)
        if primary is None or isinstance(primary, Mimic):
            return joint if primary is None else joint.of_mimic(primary)
        joint = Coupled(joint.joint, joint.primaries, _function(joint))
    if resolved.keys().isdisjoint(joint.primaries):
        return joint
    parts = [
        (resolved[p].primaries, _function(resolved[p])) if p in resolved else ((p,), coordinate(0)) for p in joint.by
    ]
    by = list(dict.fromkeys(name for names, _ in parts for name in names))
    inner = [Through(f, tuple(coordinate(by.index(name)) for name in names)) for names, f in parts]
    return Coupled(joint.joint, by, Through(joint.function, tuple(inner)))


def following_fewer(joint: Any, at: Mapping[str, Scalars]) -> Joint:
    """Return a coupled joint following the others while some, but not all, of those it follows stand still."""
    by = [name for name in joint.by if name not in at]
    parts = [Constant(float(at[name][0])) if name in at else coordinate(by.index(name)) for name in joint.by]
    return Coupled(joint.joint, by, Through(joint.function, tuple(parts)))


def following(joint: Joint, primary: str, coefficients: Sequence[float]) -> Joint:
    """Return a joint that follows another by a polynomial, the constant first; a `Mimic` if that is linear."""
    if any(coefficients[2:]):
        degree = max(k for k, e in enumerate(coefficients) if e)
        return Coupled(joint, (primary,), Polynomial(coefficients[: degree + 1]))
    return Mimic(joint, primary, multiplier=coefficients[1], offset=coefficients[0])


def polynomial_of(joint: Any) -> Sequence[float] | None:
    """Return the polynomial, the constant first, by which a joint follows one other; None if it follows otherwise."""
    function = _function(joint)
    if len(joint.primaries) == 1 and isinstance(function, Linear):
        return (function.offset, *function.slopes)
    return function.coefficients if len(joint.primaries) == 1 and isinstance(function, Polynomial) else None


def kind_within(joint: Joint) -> Any:
    """Return the joint within one that follows others, and any other itself."""
    return joint.joint if isinstance(joint, (Mimic, Coupled)) else joint


def _function(joint: Any) -> Any:
    """Return the function by which a joint follows others."""
    return Linear([joint.multiplier], joint.offset) if isinstance(joint, Mimic) else joint.function


def renamed_primaries(joint: Any, rename: Callable[[str], str]) -> Joint:
    """Return the joint following those of other names."""
    if isinstance(joint, Mimic):
        return replaced(joint, primary=rename(joint.primary))
    return replaced(joint, by=tuple(map(rename, joint.by))) if joint.primaries else joint


@dataclass(frozen=True, slots=True)
class Reversed(JointOfAnother):
    """A joint seen from its child: X = X_joint^-1. q and v are the joint's own, so limits and mimics stay as they are.

    S and bias are derived from X: to map the joint's own by Ad(X_joint) takes more operations. `reverse(joint)` gives a
    simpler form if there is one.

    Source: Featherstone (2008), section 4.4.

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

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        return self.joint.nearest_configuration(X_pc.inverse(), near)


# Joints whose reversal, with the same q, is a joint of a simpler kind than `Reversed`.
CLOSED_FORMS: dict[type[Joint], Callable[[Any], Joint]] = {
    **dict.fromkeys((Revolute, UnboundedRevolute, Prismatic, Helical), lambda joint: replace(joint, axis=-joint.axis)),
    Fixed: lambda joint: joint,
    **dict.fromkeys((Mimic, Coupled), lambda joint: replace(joint, joint=reverse(joint.joint))),
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
