"""What stands in an element of SDF: numbers, flags, vectors, poses. Faults go to the report, a default comes back."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cardan._algebra.spatial import SE3, Matrix3
from cardan._algebra.spatial.rotations import matrix_from_quaternion_xyzw, matrix_from_zyx
from cardan._reach.formats.report import Report
from cardan._reach.formats.xml import Element

_FLAGS = {"true": True, "1": True, "false": False, "0": False}
NO_LIMIT = 1e16  # A limit of this size is none: what SDF had as its default before it had infinity


@dataclass(frozen=True, slots=True)
class RawPose:
    """A pose as it is written: in the frame `relative_to`, or where that is empty in the default one."""

    X: SE3
    relative_to: str
    at: Element


def text_of(report: Report, owner: Element, tag: str, default: str | None = "") -> str:
    child = report.one(owner, tag, required=default is None)
    text = "" if child is None else child.text.strip()
    if child is not None and default is None and not text:
        report.error(child, f"<{tag}> in <{owner.tag}> is empty; expected a name")
    return text or default or ""


def name_of(report: Report, element: Element) -> str | None:
    name = report.text(element, "name")
    return None if name is None else name.strip()


def flag_of(report: Report, owner: Element, tag: str, *, default: bool = False) -> bool:
    child = report.one(owner, tag)
    return default if child is None else flag_in(report, child, f"<{tag}>", child.text, default=default)


def flag_in(report: Report, at: Element, what: str, text: str, *, default: bool = False) -> bool:
    word = text.strip().lower()
    if word and word not in _FLAGS:
        report.error(at, f"{what}: {text.strip()[:40]!r} is neither true nor false")
    return _FLAGS.get(word, default)


def flag_attribute(report: Report, element: Element, name: str) -> bool:
    return flag_in(report, element, f"<{element.tag} {name}=...>", element.attributes.get(name, ""))


def number_of(
    report: Report, owner: Element, tag: str, default: float | None, *, infinite: bool = False, least: float = -math.inf
) -> float:
    """Return the number in a child of an element, `least` or more; `default` None makes it required."""
    child = report.one(owner, tag, required=default is None)
    before = report.error_count
    (number,) = (0.0,) if child is None else numbers_in(report, child, 1, infinite=infinite)
    if child is None or report.error_count > before:
        return default or 0.0
    if number < least:
        report.error(child, f"<{tag}>: {number:g} is too small; expected a number >= {least:g}")
    return max(number, least)


def numbers_in(report: Report, element: Element, count: int, *, infinite: bool = False) -> tuple[float, ...]:
    return report.numbers_of(element, element.text, count, infinite=infinite) or (0.0,) * count


def pose_of(report: Report, owner: Element) -> RawPose:
    element = report.one(owner, "pose")
    if element is None:
        return RawPose(SE3.identity(), "", owner)
    relative_to = element.attributes.get("relative_to", element.attributes.get("frame", "")).strip()
    return RawPose(pose_in(report, element), relative_to, element)


def pose_in(report: Report, element: Element) -> SE3:
    """Return the pose an element holds: x y z and roll pitch yaw, or a quaternion x y z w."""
    form = element.attributes.get("rotation_format", "euler_rpy")
    degrees = flag_attribute(report, element, "degrees")
    if form not in ("euler_rpy", "quat_xyzw"):
        report.error(element, f"<pose rotation_format={form[:40]!r}>: expected 'euler_rpy' or 'quat_xyzw'")
        return SE3.identity()
    if not element.text.strip():
        return SE3.identity()
    before = report.error_count
    if form == "quat_xyzw":
        if degrees:
            report.error(element, "<pose degrees='true'>: a quaternion has no degrees; leave the attribute out")
        numbers = numbers_in(report, element, 7)
        return SE3(_turned(report, element, numbers[3:], before), numbers[:3])
    *place, roll, pitch, yaw = numbers_in(report, element, 6)
    unit = math.pi / 180.0 if degrees else 1.0
    return SE3(matrix_from_zyx((yaw * unit, pitch * unit, roll * unit)), place)


def _turned(report: Report, element: Element, quaternion: tuple[float, ...], before: int) -> Matrix3:
    """Return the rotation of a quaternion of any length but zero."""
    length = math.hypot(*quaternion)
    if length == 0.0 or math.isinf(length):
        if report.error_count == before:
            report.error(element, "<pose>: the quaternion has no direction; the identity is 0 0 0 1 (x y z w)")
        return Matrix3.identity()
    if abs(length - 1.0) > 1e-3:  # beyond what three printed digits leave
        report.remark(element, f"<pose>: the quaternion has length {length:g} and is normalised")
    return matrix_from_quaternion_xyzw(tuple(e / length for e in quaternion))


def vector_of(report: Report, owner: Element, tag: str, default: tuple[float, float, float]) -> tuple[float, ...]:
    child = report.one(owner, tag)
    return default if child is None else numbers_in(report, child, 3)
