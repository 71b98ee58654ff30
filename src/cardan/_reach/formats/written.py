"""What writers return, the text and what it could not say, and what they share: trees at rest, losses, numbers.

A joint of a directed tree leads away from its root; with every coordinate zero, X the poses of bodies,

    X_child = X_parent parent_pose child_pose^-1

Files have other numbers than cardan: angles for a rotation matrix, the inertia about the centre of mass for the one
about the origin. Computing them rounds, and so does computing back; but mostly a decimal close by is read as exactly
what is held, and the shortest of them is what the file once said. If there is none, the nearest float is written.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

from cardan._algebra.errors import DescriptionWarning, ParameterError, UnsupportedError
from cardan._algebra.spatial import SE3, Inertia, Matrix3, Symmetric3, Vector3, checked_pose
from cardan._algebra.spatial.rotations import matrix_from_quaternion_xyzw, matrix_from_zyx, zyx_from_matrix
from cardan._reach.formats.report import listed
from cardan._reach.formats.xml import numbers
from cardan._robot.description import Mechanism
from cardan._robot.description.rooting import Forest
from cardan._robot.joints import Coupled, Fixed, Joint, Mimic
from cardan._robot.joints.recognise import hinge_of
from cardan._robot.model import WORLD, Annotations, Connection, Model
from cardan._robot.model.layout import outwards
from cardan._robot.model.user_constraints import name_of

Joints = tuple[Connection, ...]
INSTEAD = "JSON holds it: cardan.save(thing, 'robot.json')"


def refused(form: str, what: str, values: Any, why: str = "") -> UnsupportedError:
    """Return the error that a format cannot say what the motion needs."""
    return UnsupportedError(f"{what}, {values}", form, f"{why}. {INSTEAD}" if why else INSTEAD)


def check_is_said(c: Connection, form: str, *unsaid: str) -> None:
    """Refuse properties of a joint that a format has no word for, and limits that differ both ways."""
    for key in unsaid:
        if any(getattr(c, key) or ()):
            raise refused(form, f"{key} of joint {c.name!r}", getattr(c, key))
    for key in ("velocity", "effort"):
        upper, lower = (tuple(getattr(c.limits, name) or ()) for name in (key, f"{key}_lower"))
        if lower != tuple(-e for e in upper):
            raise refused(form, f"{key}_lower of joint {c.name!r}", lower, "it has the same limit both ways")


def without_mimic(joint: Joint) -> Any:
    return joint.joint if isinstance(joint, Mimic) else joint


def as_hinge(c: Connection, kinds: Collection[type[Joint]]) -> Connection:
    """Return a joint that a format has under another name, such as a user's own hinge, as one of the format's kinds."""
    hinge = None if isinstance(c.joint, Coupled) else hinge_of(without_mimic(c.joint))
    if hinge is None or type(hinge.joint) not in kinds:
        return c
    joint = replace(c.joint, joint=hinge.joint) if isinstance(c.joint, Mimic) else hinge.joint
    poses = {"parent_pose": c.parent_pose @ hinge.before, "child_pose": c.child_pose @ hinge.after.inverse()}
    return replace(c, joint=joint, **poses)


def joints_of(thing: Mechanism | Model) -> Joints:
    """Return all joints: those of a mechanism, or those of a model's tree and then its closures."""
    return (*thing.connections, *thing.closures) if isinstance(thing, Model) else tuple(thing.joints)


def check_is_robot(thing: Any, form: str) -> None:
    """Raise for what no format but JSON writes: no mechanism or model, one without a body, or constraints in code."""
    if not isinstance(thing, (Mechanism, Model)):
        raise ParameterError(f"thing to write as {form}", got=thing, expected="a Mechanism or a Model")
    if isinstance(thing, Model) and thing.constraints:
        names = ", ".join(map(name_of, thing.constraints))
        expected = "a model without, such as its mechanism's; add them to what is read: model.with_constraints(...)"
        hint = "JSON names functions: cardan.save(thing, 'robot.json')."
        raise ParameterError(f"constraints of model {thing.name!r} in {form}", got=names, expected=expected, hint=hint)
    if not thing.bodies:
        raise UnsupportedError(f"mechanism {thing.name!r}, which has no body", form, "add one with add_body")


def beside(own: Annotations) -> dict[str, list[str]]:
    """Return what files of robots have no words for, by what it is called."""
    return {
        "actuators": [actuator.name for actuator in own.actuators],
        "groups": [group.name for group in own.groups],
        "configurations": [configuration.name for configuration in own.configurations],
        "disabled contacts": ["/".join(pair) for pair in own.disabled_contacts],
        "surfaces of contacts": [f"{contact.a}/{contact.b}" for contact in own.contact_surfaces],
    }


def has_given_base(model: Model) -> bool:
    """Return whether a model hangs on the world by just the joint that `cardan.load` adds by itself."""
    first, *others = joints_of(model)
    is_given = first == Connection("root", Fixed(), WORLD, first.child)
    return is_given and all(WORLD not in (c.parent, c.child) for c in others)


def connected(bodies: Iterable[str], joints: Iterable[Connection]) -> Forest:
    return Forest((WORLD, *bodies), ((c.parent, c.child) for c in joints))


def poses_at_rest(
    starts: Iterable[str], joints: Iterable[Connection], given: dict[str, SE3]
) -> tuple[dict[str, SE3], dict[str, Connection]]:
    """Return X_root_body of the bodies, and the joint that leads to each where it is directed so.

    Trees may begin at `starts`, all bodies among them, of which some have a pose that is given.
    """
    poses: dict[str, SE3] = {}
    tree: dict[str, Connection] = {}
    starts = tuple(starts)
    for c, here, other in outwards(starts, joints):
        X = c.parent_pose @ c.child_pose.inverse()
        start = poses.setdefault(here, given.get(here, SE3.identity()))
        poses[other] = start @ (X if other == c.child else X.inverse())
        if other == c.child:
            tree[other] = c
    for body in starts:
        poses.setdefault(body, given.get(body, SE3.identity()))
    return poses, tree


def unit_axis(xyz: Sequence[float]) -> Vector3:
    """Return a direction at unit length; one that has it, to rounding, as it is."""
    largest = max(map(abs, xyz))
    if largest <= 1.0 and abs(math.hypot(*xyz) - 1.0) <= 2.0 * sys.float_info.epsilon:
        return Vector3(*xyz)
    scaled = [e / largest for e in xyz]  # the squares of the numbers as given may be too large or small
    return Vector3(*(e / math.hypot(*scaled) for e in scaled))


def rotation_onto(normal: Vector3) -> Matrix3:
    """Return the shortest rotation that turns z onto a unit normal; about x where the normal is -z."""
    x, y, z = normal
    sideways = x * x + y * y
    if sideways == 0.0:
        return Matrix3.identity() if z > 0.0 else Matrix3.diagonal(1.0, -1.0, -1.0)
    one_plus_z = 1.0 + z if z > 0.0 else sideways / (1.0 - z)
    return matrix_from_quaternion_xyzw((-y, x, 0.0, one_plus_z))


SHOWN = 6  # names that are listed of what nearly every robot has


class Written(NamedTuple):
    """A mechanism as text.

    Attributes:
        text: the file's content.
        losses: what the format cannot say, or says otherwise, such as `"groups 'arm', 'hand'"`.
        moved: X_body_link of the links whose frame is not their body's: in URDF it has to be that of the joint.

    Examples:
        >>> dict(cardan.formats.write_urdf(mechanism).moved)
        {}
    """

    text: str
    losses: tuple[str, ...] = ()
    moved: Mapping[str, SE3] = MappingProxyType({})


def text_of(written: Written, name: str, form: str) -> str:
    """Return the text, with a warning for frames that moved and for each loss; `name` is the robot's."""
    if written.moved:
        names = listed(written.moved, SHOWN)
        message = f"{form} has a link's frame at its joint: the frames of {names} moved there, with all that is on them"
        warnings.warn(DescriptionWarning(f"{name}: {message}"), stacklevel=3)
    for loss in written.losses:
        warnings.warn(DescriptionWarning(f"{name}: {form} does not hold {loss}"), stacklevel=3)
    return written.text


def losses_of(kinds: Mapping[str, Iterable[str]], shown: int | None = SHOWN) -> Iterator[str]:
    """Return what is lost, `{"groups": ["arm"]}`, each kind with its first names; one without names is not lost."""
    return (f"{what} {names}" for what, own in kinds.items() if (names := listed(dict.fromkeys(own), shown)))


def is_bounded(c: Connection, *keys: str) -> bool:
    return any(math.isfinite(bound) for key in keys for bound in getattr(c.limits, key))


def dimensions(solid: Any) -> dict[str, str]:
    lengths = {f.name: getattr(solid, f.name) for f in fields(solid)}
    return {name: numbers(e if isinstance(e, tuple) else (e,)) for name, e in lengths.items()}


Numbers = tuple[float, ...]


def rpy(R: Matrix3) -> Numbers:
    return _shortest(zyx_from_matrix(R)[::-1], lambda e: checked_pose("", SE3(matrix_from_zyx(e[::-1]))).rotation == R)


def axis(u: Vector3) -> Numbers:
    return _shortest(u, lambda e: any(e) and unit_axis(e) == u)


def _shortest(values: Sequence[float], gives: Callable[[Numbers], bool]) -> Numbers:
    """Return numbers rounded to as few digits as give what is wanted; as they are if none do."""
    rounded = (
        tuple(_rounded(value, digits) for value in values) for digits in range(1, 18)
    )  # 17 digits tell every float
    return next(filter(gives, rounded), tuple(float(value) + 0.0 for value in values))


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}") + 0.0  # + 0.0 makes -0.0 a 0.0


def inertial(inertia: Inertia) -> tuple[Numbers, Numbers]:
    """Return the centre of mass and the six entries of the inertia about it.

    Several centres give the same first moment; where the first of them leaves no exact entries, others are tried.
    """
    pairs = zip(inertia.com, inertia.first_moment, strict=True)
    centres = [exact(c, lambda e, h=h: e * inertia.mass == h)[:4] or [c + 0.0] for c, h in pairs]
    trials = ((com, _about(inertia, com)) for com in product(*centres))
    first = com, entries = next(trials)
    if None in entries:
        com, entries = next((trial for trial in trials if None not in trial[1]), first)
    exactly = inertia.inertia_at_origin - Symmetric3.point(Vector3(*com)) * inertia.mass
    return com, tuple(near if e is None else e for e, near in zip(entries, exactly, strict=True))


def _about(inertia: Inertia, com: Numbers) -> list[Any]:
    shift = Symmetric3.point(Vector3(*com)) * inertia.mass
    pairs = zip(inertia.inertia_at_origin, shift, strict=True)
    return [next(iter(exact(held - s, lambda e, held=held, s=s: e + s == held)), None) for held, s in pairs]


def exact(value: float, gives: Callable[[float], bool]) -> list[float]:
    """Return the floats near a value that give what is wanted, those of few digits first."""
    trials = [0.0, *(_rounded(value, digits) for digits in range(1, 18))]
    below = above = value
    for _ in range(4):  # computing back rounds a few times, so the float meant is among the next ones
        below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
        trials += below, above
    return list(dict.fromkeys(filter(gives, trials)))
