"""The joints of SDF. The joint frame is fixed on the child, and on the parent where the file puts both at rest.

    X_parent_child(q) = X_parent_joint J(q) X_child_joint^-1

Of two axes the first is fixed on the parent, the second on the child.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from cardan._algebra.errors import quoted
from cardan._algebra.spatial import SE3, Vector3
from cardan._reach.formats.report import Report
from cardan._reach.formats.sdf.frames import Attached, SdfReading
from cardan._reach.formats.sdf.links import sensors_of
from cardan._reach.formats.sdf.scopes import MODEL_FRAME, WORLD_FRAME, Entry, Target
from cardan._reach.formats.sdf.values import NO_LIMIT, flag_of, number_of, numbers_in, text_of
from cardan._reach.formats.urdf.joints import kind_of, unit_axis
from cardan._reach.formats.xml import Element
from cardan._robot import joints as J
from cardan._robot.joints import Joint, Limits, Mimic
from cardan._robot.records import Frame, Spring

AXES = {  # the kinds of joint that are read, and the axes of each
    "fixed": (), "ball": (), "revolute": ("axis",), "continuous": ("axis",), "prismatic": ("axis",),
    "screw": ("axis",), "universal": ("axis", "axis2"), "revolute2": ("axis", "axis2"),
}  # fmt: skip
_MADE_OF: dict[str, Any] = {
    "fixed": J.Fixed, "ball": J.Spherical, "revolute": J.Revolute, "continuous": J.Revolute,
    "prismatic": J.Prismatic, "universal": J.Universal, "revolute2": J.Universal,
}  # fmt: skip
GEARBOX = "is a gearbox: it ties the angles of two other joints; give the second one a <mimic> of the first"
UNSCOPED_AXES = (1, 4)  # up to this version an axis is in the axes of the model
PASSIVE = ("damping", "friction", "spring_stiffness", "spring_reference")
_Z = (0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class SdfJoint:
    """A joint as read; links are None for the world."""

    entry: Entry
    kind: str
    joint: Joint
    parent: Attached
    child: Attached
    parent_pose: SE3
    child_pose: SE3
    limits: Limits
    properties: dict[str, Any]
    sensors: tuple[Frame, ...]


def read_joint(r: SdfReading, entry: Entry) -> SdfJoint | None:
    report, element = entry.document.report, entry.element
    kind = _kind(report, element)
    parent, child = _end(r, entry, "parent"), _end(r, entry, "child")
    if kind is None:
        return None
    axes = _axes(r, entry, kind)
    before = report.error_count
    joint = _joint(r, entry, kind, axes)
    holders = [report.one(element, tag) for tag in (AXES[kind] or (("axis",) if kind == "ball" else ()))]
    limits = _limits(report, element, kind, holders)
    properties = _properties(report, entry, joint, holders)
    if joint is None or parent is None or child is None or report.error_count > before:
        return None
    here = Target((), entry, entry.home)
    links = r.frames.link(parent), r.frames.link(child)
    X_parent, X_child = (r.frames.on_link(link, here) for link in links)
    sensors = () if links[1] is None else sensors_of(r, entry, links[1].full_name, X_child)
    return SdfJoint(entry, kind, joint, links[0], links[1], X_parent, X_child, limits, properties, sensors)


def _kind(report: Report, element: Element) -> str | None:
    if element.attributes.get("type") == "gearbox":
        report.error(element, f"joint {quoted(element.attributes.get('name', '?'))} {GEARBOX}")
        return None
    return kind_of(report, element, AXES)


def _end(r: SdfReading, entry: Entry, tag: str) -> Target | None:
    report, element = entry.document.report, entry.element
    name = text_of(report, element, tag, None)
    if not name:
        return None
    at = entry.document.place(next(element.all(tag)))
    if name == WORLD_FRAME and tag == "parent":
        return Target((), None, _root(entry))
    if name == WORLD_FRAME:
        report.error(at, f"joint {quoted(entry.name)}: the child cannot be the world; swap <parent> and <child>")
        return None
    return r.frames.find(entry.home, name, at, f"{tag} of joint {quoted(entry.name)}")


def _root(entry: Entry) -> Any:
    scope = entry.home
    while scope.owner is not None:
        scope = scope.owner.home
    return scope


def _joint(r: SdfReading, entry: Entry, kind: str, axes: list[Vector3]) -> Joint | None:
    report, element = entry.document.report, entry.element
    if len(axes) < len(AXES[kind]):
        return None
    with report.blamed(element):
        if kind == "screw":
            return J.Helical(axes[0], _pitch(report, element))
        if kind == "continuous" and r.continuous == "unit_complex":
            return J.UnboundedRevolute(axes[0])
        return _MADE_OF[kind](*axes)
    return None


def _pitch(report: Report, element: Element) -> float:
    """Return the travel of a screw [m/rad].

    `screw_thread_pitch` is the travel of a turn of a right-handed thread [m]; the older `thread_pitch` says how far a
    left-handed one turns for its travel [rad/m].
    """
    if report.one(element, "screw_thread_pitch") is not None or report.one(element, "thread_pitch") is None:
        return number_of(report, element, "screw_thread_pitch", 1.0) / (2.0 * math.pi)
    turns = number_of(report, element, "thread_pitch", 1.0)
    if turns == 0.0:
        report.error(element, "<thread_pitch>: 0 rad/m is no thread; write <screw_thread_pitch> [m/turn]")
        return 0.0
    return -1.0 / turns


def _axes(r: SdfReading, entry: Entry, kind: str) -> list[Vector3]:
    report, element = entry.document.report, entry.element
    found = []
    for tag in ("axis", "axis2"):
        axis = report.one(element, tag)
        if tag not in AXES[kind]:
            if axis is not None:
                what = "has no effect but for its <dynamics>" if (kind, tag) == ("ball", "axis") else "has no effect"
                report.remark(axis, f"<{tag}> of joint {quoted(entry.name)} {what}: it is {kind}")
        elif axis is None and len(AXES[kind]) == 1:
            report.warn(element, f"joint {quoted(entry.name)} is {kind} and has no <axis>: it is z, as SDF says")
            found.append(Vector3(*_Z))
        elif axis is None:
            report.error(element, f"joint {quoted(entry.name)} is {kind} and needs <axis> and <axis2>; add <{tag}>")
        elif (direction := _axis(r, entry, axis)) is not None:
            found.append(direction)
    return found


def _axis(r: SdfReading, entry: Entry, axis: Element) -> Vector3 | None:
    report = entry.document.report
    xyz = report.one(axis, "xyz")
    before = report.error_count
    numbers = _Z if xyz is None else numbers_in(report, xyz, 3)
    if report.error_count > before:
        return None
    if not any(numbers):
        report.error(xyz or axis, f"joint {quoted(entry.name)}: the axis has length 0; give a direction, such as 0 0 1")
        return None
    return _in_joint(r, entry, axis, xyz) @ unit_axis(numbers)


def _in_joint(r: SdfReading, entry: Entry, axis: Element, xyz: Element | None) -> Any:
    """Return the rotation from the axes in which an axis is given to those of the joint."""
    report = entry.document.report
    name = "" if xyz is None else xyz.attributes.get("expressed_in", "").strip()
    if entry.document.version <= UNSCOPED_AXES or flag_of(report, axis, "use_parent_model_frame"):
        name = name or MODEL_FRAME
    here = Target((), entry, entry.home)
    there = here if not name else r.frames.find(entry.home, name, entry.document.place(xyz or axis), "expressed_in")
    return r.frames.between(here, there or here).rotation


def _limits(report: Report, element: Element, kind: str, holders: list[Element | None]) -> Limits:
    if kind in ("fixed", "ball"):
        return Limits()
    bounds = [_bounds(report, element, kind, holder) for holder in holders]
    lower, upper, velocity, effort = zip(*bounds, strict=True)
    return Limits(lower=lower, upper=upper, velocity=velocity, effort=effort)


def _bounds(report: Report, joint: Element, kind: str, axis: Element | None) -> tuple[float, float, float, float]:
    limit = None if axis is None else report.one(axis, "limit")
    if limit is None:
        return (-math.inf, math.inf, math.inf, math.inf)
    lower = number_of(report, limit, "lower", -math.inf, infinite=True)
    upper = number_of(report, limit, "upper", math.inf, infinite=True)
    lower, upper = (math.copysign(math.inf, e) if abs(e) >= NO_LIMIT else e for e in (lower, upper))
    rates = (number_of(report, limit, tag, math.inf, infinite=True) for tag in ("velocity", "effort"))
    velocity, effort = (math.inf if rate < 0.0 or rate >= NO_LIMIT else rate for rate in rates)
    name = quoted(joint.attributes.get("name", "?"))
    if kind == "continuous" and (math.isfinite(lower) or math.isfinite(upper)):
        report.remark(limit, f"joint {name} is continuous: its <lower> and <upper> have no effect")
        lower, upper = -math.inf, math.inf
    if lower > upper:
        report.error(limit, f"joint {name}: lower limit {lower:g} exceeds upper limit {upper:g}; swap them?")
        lower, upper = upper, lower
    return lower, upper, velocity, effort


def _properties(report: Report, entry: Entry, joint: Joint | None, holders: list[Element | None]) -> dict[str, Any]:
    if joint is None or joint.nv == 0:
        return {}
    found = [_dynamics(report, entry, holder) for holder in holders]
    found = found * (joint.nv if len(found) == 1 else 1)
    damping, friction, stiffness, rest = zip(*found, strict=True)
    properties: dict[str, Any] = {"damping": damping, "friction": friction}
    if any(stiffness) and isinstance(joint, J.Spherical):
        report.remark(entry.element, f"joint {quoted(entry.name)}: a spring has no meaning for a ball joint")
    elif any(stiffness):
        properties["spring"] = Spring(stiffness, rest)
    armature = report.one(entry.element, "cardan:armature")
    if armature is not None:
        properties["armature"] = numbers_in(report, armature, joint.nv)
    return properties


def _dynamics(report: Report, entry: Entry, axis: Element | None) -> tuple[float, ...]:
    dynamics = None if axis is None else report.one(axis, "dynamics")
    if dynamics is None:
        return (0.0,) * len(PASSIVE)
    least = (0.0, 0.0, 0.0, -math.inf)
    if entry.document.version < (1, 6) and _is_adaptive(report, dynamics):
        least = (-math.inf, *least[1:])
    values = [number_of(report, dynamics, tag, 0.0, least=e) for tag, e in zip(PASSIVE, least, strict=True)]
    return (max(values[0], 0.0), *values[1:])


def _is_adaptive(report: Report, dynamics: Element) -> bool:
    """Return whether damping is negative, which once meant that an engine may choose it; with a warning."""
    if not number_of(report, dynamics, "damping", 0.0) < 0.0:
        return False
    report.warn(dynamics, "<damping>: a negative one, which leaves it to the engine to adapt it, is taken as 0")
    return True


def mimicked(r: SdfReading, read: SdfJoint, joints: dict[Entry, SdfJoint]) -> SdfJoint:
    report = read.entry.document.report
    axes = (axis for tag in AXES[read.kind] for axis in read.entry.element.all(tag))
    mimic = next((mimic for axis in axes for mimic in axis.all("mimic")), None)
    if mimic is None:
        return read
    start, at = f"<mimic> of joint {quoted(read.entry.name)}", read.entry.document.place(mimic)
    name = report.text(mimic, "joint")
    target = None if name is None else r.frames.find(read.entry.home, name, at, start)
    if target is None:
        return read
    primary = None if target.entry is None else joints.get(target.entry)
    if primary is None:
        report.error(at, f"{start}: {quoted(name)} is no joint; expected the name of one that moves")
        return read
    return _copying(report, read, primary, mimic, start)


def _copying(report: Report, read: SdfJoint, primary: SdfJoint, mimic: Element, start: str) -> SdfJoint:
    factor, offset, reference = (
        number_of(report, mimic, tag, default)
        for tag, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
    )
    axis = mimic.attributes.get("axis", "axis").strip() or "axis"
    if read.joint.nv != 1 or primary.joint.nv != 1 or axis != "axis":
        expected = "expected joints with one axis on both sides"
        report.error(mimic, f"{start}: one axis of two cannot copy or be copied; {expected}")
        return read
    with report.blamed(mimic):
        joint = Mimic(read.joint, primary.entry.full_name, factor, offset - factor * reference)
        return replace(read, joint=joint)
    return read
