"""What a model is described by: bodies, joints between them, frames on them. Plain, immutable, validated records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Literal, cast

import numpy as np

from cardan._algebra.by_fields import ByFields
from cardan._algebra.checked_numbers import not_negative, number, numbers, whole
from cardan._algebra.errors import ParameterError, check_one_of
from cardan._algebra.spatial import SE3, Inertia, Vector3, checked_pose
from cardan._robot.joints import Joint, Limits, reverse
from cardan._robot.joints.first_checks import check_joint
from cardan._robot.joints.limits import checked_limits, limits_within
from cardan._robot.joints.state import freeze, is_frozen, keep

WORLD = "world"
EARTH_GRAVITY = (0.0, 0.0, -9.81)  # [m/s^2], in world axes
FRAME_KINDS = ("operational", "sensor")
HIGHEST = 2**31 - 1  # priority of a material: other formats keep 32 bits of it


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Body(ByFields):
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
            expected = "a cardan.Inertia or None"
            raise ParameterError(f"inertia of body {self.name!r}", got=self.inertia, expected=expected)
        parameters = self.inertia.parameters() if self.inertia is not None else ()
        # A batch of inertias is none of one body, and what overflows when it is moved to the origin is no number.
        if any(isinstance(e, np.ndarray) or (isinstance(e, Real) and not math.isfinite(e)) for e in parameters):
            expected = "ten finite numbers: mass, first moment and inertia at the origin"
            raise ParameterError(f"inertia of body {self.name!r}", got=parameters, expected=expected)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Frame(ByFields):
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
        check_one_of(f"kind of frame {self.name!r}", self.kind, FRAME_KINDS)
        object.__setattr__(self, "pose", checked_pose(f"pose of frame {self.name!r}", self.pose))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Drive(ByFields):
    """A drive at a joint: tau = stiffness (target - x) + damping (target velocity - v), within the effort limits.

    x are the coordinates in which limits are stated (`Manifold.limit_coordinates`).

    Args:
        stiffness: proportional gains [N m/rad, N/m], a number for all degrees of freedom, or one for each.
        damping: derivative gains [N m s/rad, N s/m], likewise.

    Throughout:
        nv: number of degrees of freedom.
        joint: whose, for messages.

    Examples:
        >>> cardan.Drive(stiffness=400.0, damping=40.0).resolved(2).stiffness
        (400.0, 400.0)
    """

    stiffness: float | Sequence[float] = 0.0
    damping: float | Sequence[float] = 0.0

    def resolved(self, nv: int, joint: str = "joint") -> Drive:
        """Return the same drive with nv gains each; `ParameterError` if they are not nv finite numbers >= 0."""
        gains = (("stiffness", self.stiffness), ("damping", self.damping))
        return Drive(*(_non_negative(f"{key} of the drive of joint {joint!r}", _each(e, nv), nv) for key, e in gains))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Spring(ByFields):
    """A spring at a joint: tau = -stiffness (x - rest), in the coordinates in which limits are stated.

    Args:
        stiffness: [N m/rad, N/m], a number for all degrees of freedom, or one for each.
        rest: where it does not pull [rad, m], likewise.

    Throughout:
        nv: number of degrees of freedom.
        joint: whose, for messages.

    Examples:
        >>> cardan.Spring(stiffness=10.0, rest=0.5).resolved(1).rest
        (0.5,)
    """

    stiffness: float | Sequence[float] = 0.0
    rest: float | Sequence[float] = 0.0

    def resolved(self, nv: int, joint: str = "joint") -> Spring:
        """Return the same spring with nv finite numbers each, or raise `ParameterError`; stiffness is not negative."""
        stiffness = _non_negative(f"stiffness of the spring of joint {joint!r}", _each(self.stiffness, nv), nv)
        return Spring(stiffness, _finite(f"rest of the spring of joint {joint!r}", _each(self.rest, nv), nv))


ACTUATOR_KINDS = ("effort", "position", "velocity", "general")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Actuator(ByFields):
    """What drives joints, as a description states it: a motor with its transmission, gains and ranges.

    It pushes with f = gain u + bias[0] + bias[1] l + bias[2] l', clipped to `effort_range`; u is the control, clipped
    to `control_range`, and l = sum of gear x over its joints' limit coordinates, l' = sum of gear v. The joints feel
    gear f. A position servo has gain = kp, bias = (0, -kp, -kv), a velocity servo gain = kv, bias = (0, 0, -kv), a
    motor gain = 1 and no bias.

    Args:
        name: unique among actuators.
        joints: names of the joints it acts on, or one name.
        gear: for each joint, its ratio [-, or m for a rope over a drum], one number or nv; 1 by default.
        kind: what the control is: `"effort"`, `"position"`, `"velocity"`, or `"general"`, which the numbers tell.
        gain: of the control [N m or N, by its unit]; None where the description does not say it, as for the servos of a
            controller.
        bias: constant, per length, per velocity [N m or N, by theirs]; None likewise.
        control_range: smallest and largest control [its unit].
        effort_range: smallest and largest f [N m, N].

    Examples:
        >>> servo = cardan.Actuator("servo", "knee", kind="position", gain=100.0, bias=(0.0, -100.0, -10.0))
        >>> servo.drive()
        Drive(stiffness=(100.0,), damping=(10.0,))
    """

    name: str
    joints: Sequence[str] | str
    gear: Sequence[float | Sequence[float]] | float = 1.0
    kind: Literal["effort", "position", "velocity", "general"] = "effort"
    gain: float | None = None
    bias: Sequence[float] | None = None
    control_range: Sequence[float] = (-math.inf, math.inf)
    effort_range: Sequence[float] = (-math.inf, math.inf)

    def __post_init__(self) -> None:
        check_name("actuator", self.name)
        what = f"of actuator {self.name!r}"
        joints = (self.joints,) if isinstance(self.joints, str) else _names(f"joints {what}", self.joints)
        if not joints or len(set(joints)) < len(joints):
            raise ParameterError(f"joints {what}", got=self.joints, expected="names of joints, each once")
        check_one_of(f"kind {what}", self.kind, ACTUATOR_KINDS)
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "gear", _gears(f"gear {what}", self.gear, len(joints)))
        if self.gain is not None:
            object.__setattr__(self, "gain", number(f"gain {what}", self.gain, "a finite number"))
        if self.bias is not None:
            object.__setattr__(self, "bias", _finite(f"bias {what}", self.bias, 3))
        for key in ("control_range", "effort_range"):
            given, expected = getattr(self, key), "two numbers, the smaller first"
            lower, upper = numbers(f"{key} {what}", given, expected, lambda e: not math.isnan(e), count=2)
            if lower > upper:
                raise ParameterError(f"{key} {what}", got=(lower, upper), expected=expected)
            object.__setattr__(self, key, (lower, upper))

    def _rows(self) -> list[tuple[str, tuple[float, ...]]]:
        """Return each joint with its gear, numbers in a tuple: what the constructor makes of all it accepts."""
        return list(zip(self.joints, cast("Any", self.gear), strict=True))

    def drive(self) -> Drive | None:
        """Return the drive that this is at a joint of one degree of freedom, but for its ranges; None for no drive.

        A servo of position pushes with gear (k (u - gear x) - d gear v): a drive of gear^2 k and gear^2 d to u / gear.
        One of velocity has no stiffness.
        """
        rows = [gear for _, gear in self._rows()]
        if self.gain is None or self.bias is None or len(rows) != 1 or len(rows[0]) != 1:
            return None
        constant, by_length, by_velocity = self.bias
        stiffness, damping = -by_length + 0.0, -by_velocity + 0.0
        gain, rest = (damping, stiffness) if self.kind == "velocity" else (stiffness, constant)
        if self.kind not in ("position", "velocity") or rest or self.gain != gain or min(stiffness, damping) < 0.0:
            return None
        squared = rows[0][0] ** 2
        return Drive((squared * stiffness,), (squared * damping,))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Group(ByFields):
    """Bodies and joints under one name, such as `"arm"` (SRDF's groups).

    Args:
        name: unique among groups.
        bodies: names of bodies.
        joints: names of joints.
        tip: where it ends in a tool: the group of the tool, if it has one (SRDF's end effectors).

    Examples:
        >>> cardan.Group("arm", joints=("shoulder", "elbow")).joints
        ('shoulder', 'elbow')
    """

    name: str
    bodies: Sequence[str] = ()
    joints: Sequence[str] = ()
    tip: str = ""

    def __post_init__(self) -> None:
        check_name("group", self.name)
        for key in ("bodies", "joints"):
            object.__setattr__(self, key, _names(f"{key} of group {self.name!r}", getattr(self, key)))
        if not isinstance(self.tip, str):
            raise ParameterError(f"tip of group {self.name!r}", got=self.tip, expected="the name of a group, or ''")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Configuration(ByFields):
    """A configuration with a name, such as `"home"`: coordinates by joint, neutral ones for joints that are left out.

    Args:
        name: unique among configurations.
        coordinates: nq numbers (or one number where nq = 1) by the joint's name [rad, m].
    """

    name: str
    coordinates: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_name("configuration", self.name)
        what = f"configuration {self.name!r}"
        if not isinstance(self.coordinates, Mapping):
            raise ParameterError(what, got=self.coordinates, expected="a mapping {joint: its coordinates}")
        own = {joint: _coordinates(f"{what}: {joint!r}", values) for joint, values in self.coordinates.items()}
        object.__setattr__(self, "coordinates", MappingProxyType(own))

    def __reduce__(self) -> Any:
        return Configuration, (self.name, dict(self.coordinates))  # a view of a mapping has no pickle


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Material(ByFields):
    """What a shape's surface is made of, as contact feels it.

    Of two materials that touch, friction is the geometric mean, stiffness that of both springs in series, and
    dissipation that of both in series; of the others, the larger value counts (`Material.combined`). If one has a
    higher `priority`, all is as it says. A surface whose
    stiffness is not given counts as rigid beside one whose stiffness is; where neither is given, it follows the masses
    that may press there: a body at rest is less than a millimetre deep (`World.pairs`).

    Args:
        friction: coefficient of Coulomb friction [-]; None for a surface that leaves it to what it touches. Two of
            these have none.
        restitution: share of the normal velocity that comes back of a blow, in [0, 1]. With 0 and a dissipation, it is
            what the spring of the contact gives back.
        stiffness: of the surface [N/m]; None for one that follows the masses.
        dissipation: of Hunt and Crossley: the force is stiffness depth (1 + dissipation rate) [s/m]; None for what
            lets a body on its contacts swing once in the convex law, and 1 in the others.
        torsional: radius of torsional friction [m]: times the normal force, it is the largest moment about the normal.
        rolling: radius of rolling friction [m], likewise across the normal. Without friction there is neither.
        anisotropy: friction along the second direction of the contact's plane, over that along the first [-]. The first
            is the world's y in that plane, or z if y is within 60 degrees of the normal; of a capsule on a plane, the
            capsule's axis. Those are MuJoCo's. Of two surfaces it is the geometric mean.
        priority: of two materials the one of the higher priority counts alone, and without friction has none. Rubber
            feet that say 1 have their own friction on every ground.

    Examples:
        >>> rubber, ice = cardan.Material(friction=1.0), cardan.Material(friction=0.04)
        >>> rubber.combined(ice).friction
        0.2
    """

    friction: float | None = 0.8
    restitution: float = 0.0
    stiffness: float | None = None
    dissipation: float | None = None
    torsional: float = 0.0
    rolling: float = 0.0
    anisotropy: float = 1.0
    priority: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "priority", whole("priority of a material", self.priority, -HIGHEST, HIGHEST))
        for key in list(self.__slots__)[:-1]:
            if getattr(self, key) is not None or key not in ("friction", "stiffness", "dissipation"):
                object.__setattr__(self, key, not_negative(f"{key} of a material", getattr(self, key)))
        if self.restitution > 1.0:
            raise ParameterError("restitution of a material", got=self.restitution, expected="a number in [0, 1]")
        if self.stiffness == 0.0:
            raise ParameterError("stiffness of a material", got=0.0, expected="a number > 0 [N/m]")

    def combined(self, other: Material) -> Material:
        """Return the material of a contact between two surfaces.

        With F = k_a x_a (1 + d_a x_a') on both sides and x_a / x_b = k_b / k_a, in series:
        k = k_a k_b / (k_a + k_b),  d = (k_b d_a + k_a d_b) / (k_a + k_b).

        Args:
            other: of the other shape.
        """
        if self.priority != other.priority:
            above = max(self, other, key=attrgetter("priority"))
            return replace(above, friction=above.friction or 0.0)
        k, share = _in_series(self.stiffness, other.stiffness)
        return Material(
            friction=_of_both(self.friction, other.friction),
            restitution=max(self.restitution, other.restitution),
            stiffness=k,
            dissipation=_mean(self.dissipation, other.dissipation, share),
            torsional=max(self.torsional, other.torsional),
            rolling=max(self.rolling, other.rolling),
            anisotropy=_geometric(self.anisotropy, other.anisotropy),
            priority=self.priority,
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ContactSurface(ByFields):
    """What the contact of two bodies' shapes feels, in place of what their surfaces combine to.

    Args:
        a, b: names of bodies; `"world"` may be one.
        material: of the contact.
        shapes: names of one shape on each; `""` stands for all of a body.
        margin: how far apart they feel one another [m]; None for the sum of both shapes'.

    Examples:
        >>> cardan.ContactSurface("pad", "world", cardan.Material(friction=1.2)).shapes
        ('', '')
    """

    a: str
    b: str
    material: Material = field(default_factory=Material)
    shapes: Sequence[str] = ("", "")
    margin: float | None = None

    def __post_init__(self) -> None:
        what = f"contact of {self.a!r} and {self.b!r}"
        if not isinstance(self.material, Material):
            raise ParameterError(f"material of the {what}", got=self.material, expected="a cardan.Material")
        if self.material.friction is None:
            raise ParameterError(f"friction of the {what}", got=None, expected="a number >= 0 [-]")
        shapes = (self.shapes,) if isinstance(self.shapes, str) else tuple(self.shapes)
        if len(shapes) != 2 or not all(isinstance(name, str) for name in shapes):
            raise ParameterError(f"shapes of the {what}", got=self.shapes, expected="two names, or '' for all")
        object.__setattr__(self, "shapes", shapes)
        if self.margin is not None:
            object.__setattr__(self, "margin", not_negative(f"margin of the {what}", self.margin))


def _mean(a: float | None, b: float | None, share: float) -> float | None:
    """Return the mean with a share of b; where one is not given, the other."""
    if a is None or b is None:
        return b if a is None else a
    return (1.0 - share) * a + share * b


def _of_both(a: float | None, b: float | None) -> float:
    """Return the geometric mean; where one is not given, the other; where neither is, 0."""
    if a is None or b is None:
        return (b if a is None else a) or 0.0
    return _geometric(a, b)


def _geometric(a: float, b: float) -> float:
    # Of equal numbers the mean is that very number, which roots would round.
    return a if a == b else math.sqrt(a) * math.sqrt(b)


def _in_series(a: float | None, b: float | None) -> tuple[float | None, float]:
    """Return the stiffness of two springs in series, None for a rigid one, and the share of the depth that is in b."""
    if a is None or b is None:
        return (b if a is None else a), (0.5 if a is b else float(a is None))
    # Depths in series are as 1/k: the share of b is k_a / (k_a + k_b).
    share = a / (a + b)
    return share * b, share


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Connection(ByFields):
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
        armature: inertia of the drive, reflected to the joint, for each dof [kg m^2, kg].
        drive: gains of a drive that follows targets; none by default.
        spring: pulls towards a place of rest; none by default.
        compliance: how far the joint gives way along x, y, z [m/N] and about them [rad/(N m)] of its child frame, for
            solvers that can: six numbers; rigid by default.
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
    drive: Drive | None = None
    compliance: Sequence[float] | None = None
    spring: Spring | None = None

    def __post_init__(self) -> None:
        check_name("joint", self.name)
        if not isinstance(self.joint, Joint):
            got = getattr(self.joint, "__name__", self.joint)
            expected = "a joint, such as cardan.joints.Revolute(axis=[0, 0, 1])"
            raise ParameterError(f"joint {self.name!r}", got=got, expected=expected)
        # A joint that a mechanism keeps was checked when it came in; edits make connections by the thousand.
        if not is_frozen(self.joint):
            check_joint(self.joint)
            object.__setattr__(self, "joint", freeze(self.joint))
        for side in ("parent_pose", "child_pose"):
            object.__setattr__(self, side, checked_pose(f"{side} of joint {self.name!r}", getattr(self, side)))
        nv = along(self.joint)
        limits = checked_limits(f"limits of joint {self.name!r}", self.limits).resolved(nv, self.name)
        if not self.joint.primaries:  # whose limits are its own, in a file, and have no effect
            limits = limits_within(self.joint, limits, self.name)
        object.__setattr__(self, "limits", limits)
        for name in ("damping", "friction", "armature"):
            values = _non_negative(f"{name} of joint {self.name!r}", getattr(self, name), nv)
            object.__setattr__(self, name, values)
        object.__setattr__(self, "drive", _checked(self, "drive", Drive, "cardan.Drive(stiffness, damping)"))
        object.__setattr__(self, "spring", _checked(self, "spring", Spring, "cardan.Spring(stiffness, rest)"))
        compliance = _non_negative(f"compliance of joint {self.name!r}", self.compliance, 6)
        object.__setattr__(self, "compliance", compliance)

    def __reduce__(self) -> Any:
        return _restored, tuple(getattr(self, f.name) for f in fields(self))

    @property
    def drive_stiffness(self) -> Sequence[float]:
        """Proportional gains of the drive, for each dof."""
        return self.drive.stiffness  # pyright: ignore -- resolved

    @property
    def drive_damping(self) -> Sequence[float]:
        """Derivative gains of the drive, for each dof."""
        return self.drive.damping  # pyright: ignore -- resolved

    @property
    def spring_stiffness(self) -> Sequence[float]:
        """Stiffness of the spring, for each dof."""
        return self.spring.stiffness  # pyright: ignore -- resolved

    @property
    def spring_rest(self) -> Sequence[float]:
        """Where the spring is at rest, for each dof."""
        return self.spring.rest  # pyright: ignore -- resolved

    def reversed(self) -> Connection:
        """Return the same joint described from its child: q, v, limits and passive properties stay as they are."""
        sides = {"parent": self.child, "child": self.parent}
        poses = {"parent_pose": self.child_pose, "child_pose": self.parent_pose}
        return replace(self, joint=reverse(self.joint), **sides, **poses)


def _restored(*values: Any) -> Connection:
    """Return a connection that was pickled or copied, whose joint is as closed to others as it was."""
    # Not by the constructor: the record was checked when it was made, and its joint is nobody else's.
    twin = object.__new__(Connection)
    for f, value in zip(fields(Connection), values, strict=True):
        object.__setattr__(twin, f.name, value)
    keep(twin.joint)
    return twin


def checked_gravity(gravity: Any) -> Vector3:
    """Return an acceleration of gravity as a vector, or raise `ParameterError`."""
    expected = "three finite numbers [m/s^2], in world axes (for symbols: model.with_inputs('gravity'))"
    return Vector3(*numbers("gravity", gravity, expected, count=3))


def check_name(kind: str, name: Any) -> None:
    """Raise unless `name` is a non-empty text."""
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"name of a {kind}", got=name, expected="a non-empty text")


def along(joint: Any) -> int:
    """Return for how many velocities a joint has limits, friction and so on: of one that follows others, its own."""
    return joint.joint.nv if joint.primaries else joint.nv


def _checked(c: Connection, key: str, kind: type[Any], expected: str) -> Any:
    """Return a drive or spring of a joint with nv numbers in each part."""
    part = getattr(c, key) or kind()
    if not isinstance(part, kind):
        raise ParameterError(f"{key} of joint {c.name!r}", got=part, expected=f"a {expected}")
    return part.resolved(along(c.joint), c.name)


def _each(value: Any, nv: int) -> Any:
    """Return a number as one for each degree of freedom."""
    return (value,) * nv if isinstance(value, Real) else value


def _non_negative(what: str, values: Any, count: int) -> tuple[float, ...]:
    if values is None:
        return (0.0,) * count
    if isinstance(values, Real):
        raise ParameterError(what, got=values, expected=f"{count} in a sequence: {[values] * count}")
    return numbers(what, values, f"{_finite_ones(count)} >= 0", lambda e: 0.0 <= e < math.inf, count=count)


def _finite(what: str, values: Any, count: int) -> tuple[float, ...]:
    return numbers(what, values, _finite_ones(count), count=count)


def _finite_ones(count: int) -> str:
    return "a finite number" if count == 1 else f"{count} finite numbers"


def _names(what: str, names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise ParameterError(what, got=names, expected="a sequence of names, each a text")
    return tuple(names)


def _coordinates(what: str, values: Any) -> tuple[float, ...]:
    try:
        given = np.atleast_1d(np.asarray(values))
        array = given.astype(float) if given.ndim == 1 and given.dtype.kind not in "SU" else np.array([np.nan])
    except (TypeError, ValueError):
        array = np.array([np.nan])
    if not np.isfinite(array).all():
        raise ParameterError(what, got=values, expected="finite numbers, the joint's coordinates")
    return tuple(array.tolist())


def _gears(what: str, gear: Any, joints: int) -> tuple[tuple[float, ...], ...]:
    if not isinstance(gear, (Real, Iterable)) or isinstance(gear, (str, bytes)):
        raise ParameterError(what, got=gear, expected="a number, or a row of numbers for each joint")
    rows = (gear,) * joints if isinstance(gear, Real) else tuple(gear)
    if len(rows) != joints:
        raise ParameterError(what, got=gear, expected=f"{joints} of them, one for each joint")
    each = [(row,) if isinstance(row, Real) else tuple(row) for row in rows]
    return tuple(_finite(what, row, len(row)) for row in each)
