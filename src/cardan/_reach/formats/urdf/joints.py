"""The joints of URDF and what drives them, one function for each element. Faults go to the report.

URDF has no element for a joint that closes a loop; here it is that of URDF+: `<loop name type>` with `<predecessor
link>` and `<successor link>`, each with the `<origin>` of the joint's frame on it, and an `<axis>`. Programs that do
not know it skip it and see the tree. `<constraint name type>` is read, too: its `<parent link>` and `<child link>` have
an origin and an axis each, in that frame.

Source: Chignoli, Slotine, Wensing and Kim, URDF+: an enhanced URDF for robots with kinematic loops (2024), and the
models of the authors' library; for constraints the proposal to urdfdom (its pull request 264 of 2026, open); the ROS
documentation of transmissions (wiki.ros.org/urdf/XML/Transmission), and of ros2_control.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from cardan._algebra.errors import CardanError, quoted
from cardan._algebra.spatial import SE3, Vector3
from cardan._reach.formats.report import NUMBER, Report
from cardan._reach.formats.urdf.links import UrdfReading, read_origin, read_pose
from cardan._reach.formats.urdf.schema import VOCABULARY
from cardan._reach.formats.written import rotation_onto, unit_axis
from cardan._reach.formats.xml import Element
from cardan._robot import joints as J
from cardan._robot.joints import Joint, Limits, Mimic
from cardan._robot.records import Actuator

_KINDS: dict[str, Callable[[Vector3], Joint]] = {
    "revolute": J.Revolute,
    "continuous": J.Revolute,
    "prismatic": J.Prismatic,
    "fixed": lambda _: J.Fixed(),
    "floating": lambda _: J.FreeFlyer(),
    "planar": lambda _: J.Planar(),
    "spherical": lambda _: J.Spherical(),
    "ball": lambda _: J.Spherical(),
}
NEEDS_LIMIT = ("revolute", "prismatic")
HAS_AXIS = ("revolute", "continuous", "prismatic", "planar")
MIMICABLE = ("revolute", "continuous", "prismatic")
PASSIVE = VOCABULARY.attributes("dynamics")
ENDS = ("parent", "child")
LOOP_ENDS = ("predecessor", "successor")
UNLIMITED = sys.float_info.max  # A bound of this size is none: URDF has no infinite numbers
UNIVERSAL = "universal"  # of a constraint alone
_X, _Z = Vector3(1.0, 0.0, 0.0), Vector3(0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class UrdfJoint:
    """A joint as read; whether `parent` and `child` exist is checked later."""

    element: Element
    name: str
    kind: str
    parent: str
    child: str
    joint: Joint
    parent_pose: SE3
    child_pose: SE3
    limits: Limits
    damping: tuple[float, ...] | None
    friction: tuple[float, ...] | None
    armature: tuple[float, ...] | None

    @property
    def roles(self) -> tuple[str, str]:
        """The elements that name its links."""
        return LOOP_ENDS if self.element.tag == "loop" else ENDS


def read_joint(r: UrdfReading, element: Element) -> UrdfJoint | None:
    """Return a joint, or a <loop>, which closes one; None if it lacks what makes it one."""
    report, is_loop = r.report, element.tag == "loop"
    name, kind = report.text(element, "name"), kind_of(report, element, _KINDS)
    parent, child = (_end(report, element, e) for e in (LOOP_ENDS if is_loop else ENDS))
    origins = [read_origin(r, element), SE3.identity()]
    if is_loop:
        origins = [read_origin(r, end) for tag in LOOP_ENDS for end in list(element.all(tag))[:1]]
    if kind is None:
        return None
    axis = _axis(report, element, kind, "axis")
    joint = _joint(kind, axis, r.continuous)
    if not is_loop:
        joint = _mimicking(report, element, kind, joint)
    limits = Limits()
    if not is_loop or next(element.all("limit"), None) is not None:  # a loop needs no <limit>
        limits = _limits(r, element, kind, joint.nv)
    damping, friction, armature = _dynamics(report, element, joint.nv)
    if is_loop and any(armature or ()):
        report.error(element, f"loop {element.attributes.get('name', '?')!r} has an armature: it has no coordinate")
    if name is None or parent is None or child is None:
        return None
    # A planar joint moves in the xy plane of its frames, URDF's across an axis.
    frame = SE3(rotation_onto(axis)) if kind == "planar" else SE3.identity()
    poses = [origin @ frame for origin in origins]
    passive = (damping, friction, None if is_loop else armature)
    return UrdfJoint(element, name, kind, parent, child, joint, poses[0], poses[1], limits, *passive)


def read_constraint(r: UrdfReading, element: Element) -> UrdfJoint | None:
    """Return a <constraint>, which closes a loop; None if it lacks what makes it one."""
    report = r.report
    if any(True for _ in element.all(LOOP_ENDS[0])):
        return None  # of an older kind, which the table warns of
    for lost in (e for tag in ("origin", "axis") for e in element.all(tag)):
        report.error(lost, f"a constraint has <parent_{lost.tag}> and <child_{lost.tag}>, not <{lost.tag}>")
    name, kind = report.text(element, "name"), kind_of(report, element, (*_KINDS, UNIVERSAL))
    parent, child = (_end(report, element, tag) for tag in ENDS)
    origins = [report.one(element, f"{tag}_origin") for tag in ENDS]
    axes = [_axis(report, element, kind or "", f"{tag}_axis") for tag in ENDS]
    if name is None or kind is None or parent is None or child is None:
        return None
    poses = [SE3.identity() if at is None else read_pose(r, at) for at in origins]
    joint: Joint = J.Fixed()
    with report.blamed(element):
        joint = J.Universal(*axes) if kind == UNIVERSAL else _KINDS[kind](_Z)
    if kind in HAS_AXIS:  # each frame has z along its own axis
        poses = [pose @ SE3(rotation_onto(axis)) for pose, axis in zip(poses, axes, strict=True)]
    return UrdfJoint(element, name, kind, parent, child, joint, poses[0], poses[1], Limits(), None, None, None)


def kind_of(report: Report, element: Element, kinds: Collection[str]) -> str | None:
    """Return the type of a joint, or None, with a fault, if it is none of those there are."""
    kind = report.text(element, "type")
    if kind is None or kind in kinds:
        return kind
    crossed = "; write two continuous joints, and between them a link without <inertial>" * (kind == UNIVERSAL)
    hint = crossed or report.nearest(kind, kinds) or f"; expected one of {', '.join(kinds)}"
    report.error(element, f"there is no joint type {quoted(kind)}{hint}")
    return None


def _end(report: Report, element: Element, tag: str) -> str | None:
    found = report.one(element, tag, required=True)
    return None if found is None else report.text(found, "link")


def _owner(element: Element) -> str:
    return f"{element.tag} {element.attributes.get('name', '?')!r}"


def _joint(kind: str, axis: Vector3, continuous: str) -> Joint:
    if kind == "continuous" and continuous == "unit_complex":
        return J.UnboundedRevolute(axis)
    return _KINDS[kind](axis)


def _axis(report: Report, element: Element, kind: str, tag: str) -> Vector3:
    axis = report.one(element, tag)
    if axis is None or kind not in (*HAS_AXIS, UNIVERSAL):
        return _X
    before = report.error_count
    xyz = report.numbers(axis, "xyz", 3, None)
    if not any(xyz):
        if report.error_count == before:
            report.error(axis, f"{_owner(element)}: the axis has length 0; give a direction, such as xyz='0 0 1'")
        return _X
    return unit_axis(xyz)


def _mimicking(report: Report, element: Element, kind: str, joint: Joint) -> Joint:
    """Return the joint, as a mimic of another where there is a <mimic>."""
    mimic = report.one(element, "mimic")
    if mimic is None:
        return joint
    primary = report.text(mimic, "joint")
    multiplier, offset = report.number(mimic, "multiplier", 1.0), report.number(mimic, "offset", 0.0)
    if kind == "fixed":
        report.remark(mimic, f"{_owner(element)} is fixed: its <mimic> has no effect")
    elif kind not in MIMICABLE:
        report.error(mimic, f"{_owner(element)} is {kind}: only {', '.join(MIMICABLE)} joints can mimic another")
    elif primary is not None:
        return Mimic(joint, primary, multiplier, offset)
    return joint


def _limits(r: UrdfReading, element: Element, kind: str, nv: int) -> Limits:
    limit, owner = r.report.one(element, "limit"), _owner(element)
    if limit is None or nv == 0:
        if kind in NEEDS_LIMIT:
            hint = ", or make it continuous" if kind == "revolute" else ""
            expected = "<limit lower=... upper=... effort=... velocity=.../>"
            r.report.error(element, f"{owner} is {kind} and needs a <limit>: add {expected}{hint}")
        return Limits()
    rates = {}
    for what in ("velocity", "effort"):
        if r.version != "1.2" or what in limit.attributes:  # URDF 1.2 allows to leave it out
            rates[what] = (_bound(r.report.non_negative(limit, what, None, owner)),) * nv
    if kind not in NEEDS_LIMIT:
        if not limit.attributes.keys().isdisjoint(("lower", "upper")):
            r.report.remark(limit, f"{owner} is {kind}: its lower and upper have no effect")
        return Limits(**rates)
    before = r.report.error_count
    lower, upper = (_bound(r.report.number(limit, side, 0.0)) for side in ("lower", "upper"))
    if lower > upper and r.report.error_count == before:
        r.report.error(limit, f"{owner}: lower limit {lower:g} exceeds upper limit {upper:g}; swap them?")
    if "lower" not in limit.attributes and "upper" not in limit.attributes:
        r.locked[owner] = limit
    return Limits(**rates) if lower > upper else Limits(lower=(lower,), upper=(upper,), **rates)


def _bound(value: float) -> float:
    """Return a bound, infinite where its size says that there is none."""
    return math.copysign(math.inf, value) if abs(value) >= UNLIMITED else value


def _dynamics(report: Report, element: Element, nv: int) -> tuple[Any, Any, Any]:
    dynamics = report.one(element, "dynamics")
    if dynamics is None:
        return None, None, None
    values = (report.non_negative(dynamics, what, 0.0, _owner(element)) for what in PASSIVE)
    damping, friction, armature = ((value,) * nv for value in values)
    return damping, friction, armature


# --- actuators: <transmission> of ROS, and the command interfaces of <ros2_control> ---
#
#     <transmission name="elbow_transmission">
#       <type>transmission_interface/SimpleTransmission</type>
#       <joint name="elbow"><hardwareInterface>hardware_interface/EffortJointInterface</hardwareInterface></joint>
#       <actuator name="motor"><mechanicalReduction>50</mechanicalReduction></actuator>
#     </transmission>
#
# A joint feels reduction times the effort of its motor, which turns reduction times as far. Robots that are described
# without a fault but for these are read: what is wrong with one, or not understood, is a remark.

KINDS = {  # kinds of actuators by the last part of a hardware interface's name
    "EffortJointInterface": "effort",
    "PositionJointInterface": "position",
    "VelocityJointInterface": "velocity",
}
INTERFACES = {kind: f"hardware_interface/{interface}" for interface, kind in KINDS.items()}
SIMPLE = "SimpleTransmission"
# Gain and bias of an actuator whose control is its effort; those of servos are the controller's
MOTOR = (1.0, (0.0, 0.0, 0.0))


def read_actuators(report: Report, root: Element, joints: Iterable[UrdfJoint]) -> dict[str, tuple[Actuator, Element]]:
    known = {joint.name: joint for joint in joints}
    read = [_transmission(report, element, known) for element in root.all("transmission")]
    read += [_commanded(report, e, known) for system in root.all("ros2_control") for e in system.all("joint")]
    found: dict[str, tuple[Actuator, Element]] = {}
    for actuator, at in chain.from_iterable(read):
        if actuator.name in found:
            first = f"actuator {quoted(actuator.name)} is already defined in line {found[actuator.name][1].line}"
            report.remark(at, f"{first}; this one is skipped")
        else:
            found[actuator.name] = actuator, at
    return found


def _skip(report: Report, element: Element, why: str) -> tuple[()]:
    name = element.attributes.get("name", "")
    report.remark(element, f"<{element.tag} name={quoted(name)}> is skipped: {why}")
    return ()


def _transmission(
    report: Report, element: Element, joints: Mapping[str, UrdfJoint]
) -> Iterable[tuple[Actuator, Element]]:
    driven, motors = list(element.all("joint")), list(element.all("actuator"))
    kind = next((e.text.strip() for e in element.all("type")), "") or element.attributes.get("type", SIMPLE)
    if kind.rpartition("/")[2] != SIMPLE:
        return _skip(report, element, f"it is a {kind.rpartition('/')[2][:60]}, not a {SIMPLE}")
    if len(driven) != 1 or len(motors) != 1:
        return _skip(report, element, f"it has {len(driven)} <joint> and {len(motors)} <actuator>, expected one each")
    interfaces = [e.text.strip() for part in (*driven, *motors) for e in part.all("hardwareInterface")]
    reductions = [e for part in (motors[0], driven[0], element) for e in part.all("mechanicalReduction")]
    gear = _number(reductions[0].text) if reductions else 1.0
    if gear is None:
        word = reductions[0].text.strip()[:40]
        return _skip(report, element, f"its mechanicalReduction is {quoted(word)}, no number")
    interface = interfaces[0] if interfaces else INTERFACES["effort"]
    if interface.rpartition("/")[2] not in KINDS:
        return _skip(report, element, f"its interface is {quoted(interface[:60])}, expected {' or '.join(KINDS)}")
    name, joint = (part.attributes.get("name", "") for part in (motors[0], driven[0]))
    return _actuator(report, element, joints, joint, KINDS[interface.rpartition("/")[2]], name=name, gear=gear)


def _number(text: str) -> float | None:
    word = text.strip()
    number = float(word) if NUMBER.fullmatch(word) else math.inf
    return number if math.isfinite(number) else None


def _actuator(
    report: Report, element: Element, joints: Mapping[str, UrdfJoint], joint: str, kind: Any, **said: Any
) -> Iterable[tuple[Actuator, Element]]:
    if joint not in joints:
        return _skip(report, element, f"there is no joint {quoted(joint)}{report.nearest(joint, joints)}")
    if joints[joint].joint.nv == 0:
        return _skip(report, element, f"joint {quoted(joint)} is fixed")
    gain, bias = MOTOR if kind == "effort" else (None, None)
    try:
        return [(Actuator(joints=joint, kind=kind, gain=gain, bias=bias, **said), element)]
    except CardanError as error:
        return _skip(report, element, str(error))


def _commanded(report: Report, element: Element, joints: Mapping[str, UrdfJoint]) -> Iterable[tuple[Actuator, Element]]:
    joint = element.attributes.get("name", "")
    commands = [e for e in element.all("command_interface") if e.attributes.get("name") in INTERFACES]
    others = [e.attributes.get("name", "") for e in element.all("command_interface") if e not in commands]
    unused = [*(e.attributes["name"] for e in commands[1:]), *others]
    if unused:
        names = ", ".join(map(quoted, unused))[:120]
        report.remark(element, f"joint {quoted(joint)}: commands of {names} are not used")
    if not commands:
        return ()
    bounds = {e.attributes.get("name"): _number(e.text) for e in commands[0].all("param")}
    lower, upper = bounds.get("min"), bounds.get("max")
    control = (-math.inf if lower is None else lower, math.inf if upper is None else upper)
    kind = commands[0].attributes["name"]
    return _actuator(report, element, joints, joint, kind, name=joint, control_range=control)


def is_transmission(actuator: Actuator) -> bool:
    """Return whether a `SimpleTransmission` can say which joint an actuator drives, and how."""
    return len(actuator.joints) == 1 and len(actuator.gear[0]) == 1 and actuator.kind in INTERFACES  # pyright: ignore


def is_said_wholly(actuator: Actuator) -> bool:
    ranges = (*actuator.control_range, *actuator.effort_range)
    numbers = actuator.gain, actuator.bias
    usual = MOTOR if actuator.kind == "effort" else (None, None)
    return not any(map(math.isfinite, ranges)) and numbers == usual
