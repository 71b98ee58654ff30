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
from cardan._reach.formats.sdf.frames import Attached, SdfReading
from cardan._reach.formats.sdf.links import sensors_of
from cardan._reach.formats.sdf.scopes import MODEL_FRAME, WORLD_FRAME, Destination, Entry
from cardan._reach.formats.sdf.values import NO_LIMIT, flag_of, number_of, numbers_in, text_of
from cardan._reach.formats.urdf.joints import kind_of
from cardan._reach.formats.written import unit_axis
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


class JointReader:
    def __init__(self, r: SdfReading, entry: Entry) -> None:
        self.r, self.entry, self.element, self.report = r, entry, entry.element, r.report
        self.name = quoted(entry.name)

    def read(self) -> SdfJoint | None:
        """Return the joint, or None, with a fault, if it lacks what makes it one."""
        r, entry, report = self.r, self.entry, self.report
        if entry.element.attributes.get("type") == "gearbox":
            report.error(self.element, f"joint {quoted(self.element.attributes.get('name', '?'))} {GEARBOX}")
            kind = None
        else:
            kind = kind_of(report, self.element, AXES)
        parent, child = self._end("parent"), self._end("child")
        if kind is None:
            return None
        axes = self._axes(kind)
        before = report.error_count
        joint = self._joint(kind, axes)
        holders = [report.one(self.element, tag) for tag in (AXES[kind] or (("axis",) if kind == "ball" else ()))]
        limits, properties = self._limits(kind, holders), self._properties(joint, holders)
        if joint is None or parent is None or child is None or report.error_count > before:
            return None
        here = Destination((), entry, entry.home)
        links = r.frames.link(parent), r.frames.link(child)
        X_parent, X_child = (r.frames.on_link(link, here) for link in links)
        sensors = () if links[1] is None else sensors_of(r, entry, links[1].full_name, X_child)
        return SdfJoint(entry, kind, joint, *links, X_parent, X_child, limits, properties, sensors)

    def _end(self, tag: str) -> Destination | None:
        entry, name = self.entry, text_of(self.report, self.element, tag, None)
        if not name:
            return None
        at = next(self.element.all(tag))
        if name == WORLD_FRAME and tag == "parent":
            return Destination((), None, entry.home.root)
        if name == WORLD_FRAME:
            self.report.error(at, f"joint {self.name}: the child cannot be the world; swap <parent> and <child>")
            return None
        return self.r.frames.find(entry.home, name, at, f"{tag} of joint {self.name}")

    def _joint(self, kind: str, axes: list[Vector3]) -> Joint | None:
        if len(axes) < len(AXES[kind]):
            return None
        with self.report.blamed(self.element):
            if kind == "screw":
                return J.Helical(axes[0], self._pitch())
            if kind == "continuous" and self.r.continuous == "unit_complex":
                return J.UnboundedRevolute(axes[0])
            return _MADE_OF[kind](*axes)
        return None

    def _pitch(self) -> float:
        """Return the travel of a screw [m/rad].

        `screw_thread_pitch` is the travel of a turn of a right-handed thread [m]; the older `thread_pitch` says how far
        a left-handed one turns for its travel [rad/m].
        """
        report, element = self.report, self.element
        if report.one(element, "screw_thread_pitch") is not None or report.one(element, "thread_pitch") is None:
            return number_of(report, element, "screw_thread_pitch", 1.0) / (2.0 * math.pi)
        turns = number_of(report, element, "thread_pitch", 1.0)
        if turns == 0.0:
            report.error(element, "<thread_pitch>: 0 rad/m is no thread; write <screw_thread_pitch> [m/turn]")
            return 0.0
        return -1.0 / turns

    def _axes(self, kind: str) -> list[Vector3]:
        """Return the axes of a joint in its frame, of length 1; fewer where one is faulty."""
        report, element, found = self.report, self.element, []
        for tag in ("axis", "axis2"):
            axis = report.one(element, tag)
            if tag not in AXES[kind]:
                if axis is not None:
                    but = " but for its <dynamics>" if (kind, tag) == ("ball", "axis") else ""
                    report.remark(axis, f"<{tag}> of joint {self.name} has no effect{but}: it is {kind}")
            elif axis is None and len(AXES[kind]) == 1:
                report.warn(element, f"joint {self.name} is {kind} and has no <axis>: it is z, as SDF says")
                found.append(Vector3(*_Z))
            elif axis is None:
                report.error(element, f"joint {self.name} is {kind} and needs <axis> and <axis2>; add <{tag}>")
            elif (direction := self._axis(axis)) is not None:
                found.append(direction)
        return found

    def _axis(self, axis: Element) -> Vector3 | None:
        """Return an axis in the frame of the joint, from that in which it is given."""
        report, entry, xyz = self.report, self.entry, self.report.one(axis, "xyz")
        before = report.error_count
        numbers = _Z if xyz is None else numbers_in(report, xyz, 3)
        if report.error_count > before:
            return None
        if not any(numbers):
            report.error(xyz or axis, f"joint {self.name}: the axis has length 0; give a direction, such as 0 0 1")
            return None
        name = "" if xyz is None else xyz.attributes.get("expressed_in", "").strip()
        if entry.document.version <= UNSCOPED_AXES or flag_of(report, axis, "use_parent_model_frame"):
            name = name or MODEL_FRAME
        here, at = Destination((), entry, entry.home), xyz or axis
        there = here if not name else self.r.frames.find(entry.home, name, at, "expressed_in")
        return self.r.frames.between(here, there or here).rotation @ unit_axis(numbers)

    def _limits(self, kind: str, holders: list[Element | None]) -> Limits:
        if kind in ("fixed", "ball"):
            return Limits()
        lower, upper, velocity, effort = zip(*(self._bounds(kind, holder) for holder in holders), strict=True)
        return Limits(lower=lower, upper=upper, velocity=velocity, effort=effort)

    def _bounds(self, kind: str, axis: Element | None) -> tuple[float, float, float, float]:
        report = self.report
        limit = None if axis is None else report.one(axis, "limit")
        if limit is None:
            return (-math.inf, math.inf, math.inf, math.inf)
        lower = number_of(report, limit, "lower", -math.inf, infinite=True)
        upper = number_of(report, limit, "upper", math.inf, infinite=True)
        lower, upper = (math.copysign(math.inf, e) if abs(e) >= NO_LIMIT else e for e in (lower, upper))
        rates = (number_of(report, limit, tag, math.inf, infinite=True) for tag in ("velocity", "effort"))
        velocity, effort = (math.inf if rate < 0.0 or rate >= NO_LIMIT else rate for rate in rates)
        name = quoted(self.element.attributes.get("name", "?"))
        if kind == "continuous" and (math.isfinite(lower) or math.isfinite(upper)):
            report.remark(limit, f"joint {name} is continuous: its <lower> and <upper> have no effect")
            lower, upper = -math.inf, math.inf
        if lower > upper:
            report.error(limit, f"joint {name}: lower limit {lower:g} exceeds upper limit {upper:g}; swap them?")
            lower, upper = upper, lower
        return lower, upper, velocity, effort

    def _properties(self, joint: Joint | None, holders: list[Element | None]) -> dict[str, Any]:
        if joint is None or joint.nv == 0:
            return {}
        found = [self._dynamics(holder) for holder in holders]
        found = found * (joint.nv if len(found) == 1 else 1)
        damping, friction, stiffness, rest = zip(*found, strict=True)
        properties: dict[str, Any] = {"damping": damping, "friction": friction}
        if any(stiffness) and isinstance(joint, J.Spherical):
            self.report.remark(self.element, f"joint {self.name}: a spring has no meaning for a ball joint")
        elif any(stiffness):
            properties["spring"] = Spring(stiffness, rest)
        armature = self.report.one(self.element, "cardan:armature")
        if armature is not None:
            properties["armature"] = numbers_in(self.report, armature, joint.nv)
        return properties

    def _dynamics(self, axis: Element | None) -> tuple[float, ...]:
        dynamics = None if axis is None else self.report.one(axis, "dynamics")
        if dynamics is None:
            return (0.0,) * len(PASSIVE)
        least = (0.0, 0.0, 0.0, -math.inf)
        if self.entry.document.version < (1, 6) and number_of(self.report, dynamics, "damping", 0.0) < 0.0:
            why = "a negative one, which leaves it to the engine to adapt it, is taken as 0"
            self.report.warn(dynamics, f"<damping>: {why}")  # as engines once took it
            least = (-math.inf, *least[1:])
        values = [number_of(self.report, dynamics, tag, 0.0, least=e) for tag, e in zip(PASSIVE, least, strict=True)]
        return (max(values[0], 0.0), *values[1:])


def as_mimic(r: SdfReading, read: SdfJoint, joints: dict[Entry, SdfJoint]) -> SdfJoint:
    report = r.report
    axes = (axis for tag in AXES[read.kind] for axis in read.entry.element.all(tag))
    mimic = next((mimic for axis in axes for mimic in axis.all("mimic")), None)
    if mimic is None:
        return read
    start = f"<mimic> of joint {quoted(read.entry.name)}"
    name = report.text(mimic, "joint")
    target = None if name is None else r.frames.find(read.entry.home, name, mimic, start)
    if target is None:
        return read
    primary = None if target.entry is None else joints.get(target.entry)
    if primary is None:
        report.error(mimic, f"{start}: {quoted(name)} is no joint; expected the name of one that moves")
        return read
    usual = {"multiplier": 1.0, "offset": 0.0, "reference": 0.0}
    factor, offset, reference = (number_of(report, mimic, tag, default) for tag, default in usual.items())
    axis = mimic.attributes.get("axis", "axis").strip() or "axis"
    if read.joint.nv != 1 or primary.joint.nv != 1 or axis != "axis":
        expected = "expected joints with one axis on both sides"
        report.error(mimic, f"{start}: one axis of two cannot copy or be copied; {expected}")
        return read
    with report.blamed(mimic):
        joint = Mimic(read.joint, primary.entry.full_name, factor, offset - factor * reference)
        return replace(read, joint=joint)
    return read
