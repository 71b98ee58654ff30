"""Actuators in URDF: `<transmission>` elements of ROS, and the command interfaces of `<ros2_control>`.

    <transmission name="elbow_transmission">
      <type>transmission_interface/SimpleTransmission</type>
      <joint name="elbow"><hardwareInterface>hardware_interface/EffortJointInterface</hardwareInterface></joint>
      <actuator name="motor"><mechanicalReduction>50</mechanicalReduction></actuator>
    </transmission>

A joint feels reduction times the effort of its motor, which turns reduction times as far. Robots that are described
without a fault but for these are read: what is wrong with one, or not understood, is a remark.

Source: the ROS documentation of transmissions (wiki.ros.org/urdf/XML/Transmission), of ros2_control for the second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import chain

from cardan._algebra.errors import CardanError, quoted
from cardan._reach.formats.report import NUMBER, Report
from cardan._reach.formats.urdf.joints import UrdfJoint
from cardan._reach.formats.xml import Element
from cardan._robot.records import Actuator

KINDS = {  # kinds of actuators by the last part of a hardware interface's name
    "EffortJointInterface": "effort",
    "PositionJointInterface": "position",
    "VelocityJointInterface": "velocity",
}
INTERFACES = {kind: f"hardware_interface/{interface}" for interface, kind in KINDS.items()}
SIMPLE = "SimpleTransmission"
# Gain and bias of an actuator whose control is its effort; those of servos are the controller's
MOTOR = (1.0, (0.0, 0.0, 0.0))


def read_actuators(report: Report, root: Element, joints: Iterable[UrdfJoint]) -> dict[str, tuple[Actuator, int]]:
    known = {joint.name: joint for joint in joints}
    read = [_transmission(report, element, known) for element in root.all("transmission")]
    read += [_commanded(report, e, known) for system in root.all("ros2_control") for e in system.all("joint")]
    found: dict[str, tuple[Actuator, int]] = {}
    for actuator, line in chain.from_iterable(read):
        if actuator.name in found:
            first = f"actuator {quoted(actuator.name)} is already defined in line {found[actuator.name][1]}"
            report.remark(line, f"{first}; this one is skipped")
        else:
            found[actuator.name] = actuator, line
    return found


def _skip(report: Report, element: Element, why: str) -> tuple[()]:
    name = element.attributes.get("name", "")
    report.remark(element, f"<{element.tag} name={quoted(name)}> is skipped: {why}")
    return ()


def _transmission(report: Report, element: Element, joints: Mapping[str, UrdfJoint]) -> Iterable[tuple[Actuator, int]]:
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
    names = motors[0].attributes.get("name", ""), driven[0].attributes.get("name", "")
    return _actuator(report, element, joints, names, gear, KINDS[interface.rpartition("/")[2]])


def _number(text: str) -> float | None:
    word = text.strip()
    number = float(word) if NUMBER.fullmatch(word) else math.inf
    return number if math.isfinite(number) else None


def _actuator(
    report: Report,
    element: Element,
    joints: Mapping[str, UrdfJoint],
    names: tuple[str, str],
    gear: float,
    kind: str,
    control: tuple[float, float] = (-math.inf, math.inf),
) -> Iterable[tuple[Actuator, int]]:
    """Return the actuator of (its name, a joint), if there is such a joint."""
    name, joint = names
    if joint not in joints:
        return _skip(report, element, f"there is no joint {quoted(joint)}{report.nearest(joint, joints)}")
    if joints[joint].joint.nv == 0:
        return _skip(report, element, f"joint {quoted(joint)} is fixed")
    gain, bias = MOTOR if kind == "effort" else (None, None)
    try:
        return [(Actuator(name, joint, gear, kind, gain, bias, control), element.line)]  # pyright: ignore
    except CardanError as error:
        return _skip(report, element, str(error))


def _commanded(report: Report, element: Element, joints: Mapping[str, UrdfJoint]) -> Iterable[tuple[Actuator, int]]:
    """Return the actuator of a joint that is commanded, by the name of the joint."""
    joint = element.attributes.get("name", "")
    commands = [e for e in element.all("command_interface") if e.attributes.get("name") in INTERFACES]
    others = [e.attributes.get("name", "") for e in element.all("command_interface") if e not in commands]
    unused = [*(e.attributes["name"] for e in commands[1:]), *others]
    if unused:
        report.remark(
            element, f"joint {quoted(joint)}: commands of {', '.join(map(quoted, unused))[:120]} are not used"
        )
    if not commands:
        return ()
    bounds = {e.attributes.get("name"): _number(e.text) for e in commands[0].all("param")}
    lower, upper = bounds.get("min"), bounds.get("max")
    control = (-math.inf if lower is None else lower, math.inf if upper is None else upper)
    return _actuator(report, element, joints, (joint, joint), 1.0, commands[0].attributes["name"], control)


def is_transmission(actuator: Actuator) -> bool:
    """Return whether a `SimpleTransmission` can say which joint an actuator drives, and how."""
    return [len(gear) for _, gear in actuator._rows()] == [1] and actuator.kind in INTERFACES


def is_said_wholly(actuator: Actuator) -> bool:
    ranges = (*actuator.control_range, *actuator.effort_range)
    numbers = actuator.gain, actuator.bias
    usual = MOTOR if actuator.kind == "effort" else (None, None)
    return not any(map(math.isfinite, ranges)) and numbers == usual
