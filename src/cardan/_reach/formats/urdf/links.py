"""The links of URDF, one function for each element: poses, inertias, shapes, materials. Faults go to the report.

URDF has no element for a frame on a link; here it is that of Drake, `<frame name link xyz rpy/>`, which other programs
skip.

Source: Drake's documentation of `multibody::Parser`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from cardan._algebra.errors import quoted
from cardan._algebra.spatial import SE3, Inertia, Matrix3
from cardan._algebra.spatial.rotations import matrix_from_quaternion_xyzw, matrix_from_zyx
from cardan._reach.formats.reading import Meshes
from cardan._reach.formats.report import Report, inertia_of
from cardan._reach.formats.urdf.schema import VOCABULARY
from cardan._reach.formats.xml import Element
from cardan._robot.geometry.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere
from cardan._robot.model import FRAME_KINDS


@dataclass(frozen=True, slots=True)
class Look:
    """A material: its colour and texture, where it has them."""

    name: str = ""
    rgba: tuple[float, ...] | None = None
    texture: str = ""


@dataclass(frozen=True, slots=True)
class UrdfReading:
    """What every element needs: where faults go, what was asked for, the materials so far."""

    report: Report
    meshes: Meshes
    continuous: str
    version: str
    materials: dict[str, Look] = field(default_factory=dict)
    locked: dict[str, Element] = field(default_factory=dict)  # <limit> without lower and upper, by its joint


@dataclass(frozen=True, slots=True)
class UrdfLink:
    element: Element
    name: str
    inertia: Inertia | None
    shapes: tuple[Shape, ...]


def read_link(r: UrdfReading, element: Element) -> UrdfLink | None:
    name = r.report.text(element, "name")
    shapes = [read_shape(r, e, name or "?") for e in element.children if e.tag in ("visual", "collision")]
    inertia = read_inertia(r, element, name or "?")
    if name is None:
        return None
    return UrdfLink(element, name, inertia, tuple(shape for shape in shapes if shape is not None))


@dataclass(frozen=True, slots=True)
class UrdfFrame:
    """A frame on a link as read; whether the link exists is checked later."""

    element: Element
    name: str
    link: str
    pose: SE3
    kind: Literal["operational", "sensor"]


def read_frame(r: UrdfReading, element: Element) -> UrdfFrame | None:
    name, link, pose = r.report.text(element, "name"), r.report.text(element, "link"), read_pose(r, element)
    kind = element.attributes.get("kind", "operational")
    if kind not in FRAME_KINDS:
        why = f"its kind is {quoted(kind)}, not 'operational' or 'sensor'"
        r.report.error(element, f"frame {quoted(name or '')}: {why}")
        return None
    return None if name is None or link is None else UrdfFrame(element, name, link, pose, kind)


def read_origin(r: UrdfReading, owner: Element) -> SE3:
    """Return the pose of <origin xyz rpy>, or of <origin xyz quat_xyzw> (URDF 1.1); identity without one."""
    origin = r.report.one(owner, "origin")
    return SE3.identity() if origin is None else read_pose(r, origin)


def read_pose(r: UrdfReading, origin: Element) -> SE3:
    """Return a pose whose rotation is Rz(yaw) Ry(pitch) Rx(roll), or that of a quaternion."""
    report = r.report
    if "quat_xyzw" not in origin.attributes:
        roll, pitch, yaw = report.numbers(origin, "rpy", 3, (0.0, 0.0, 0.0))
        R = matrix_from_zyx((yaw, pitch, roll))
    else:
        if "rpy" in origin.attributes:
            report.error(origin, f"<{origin.tag}> has both rpy and quat_xyzw; leave one out")
        before, quaternion = report.error_count, report.numbers(origin, "quat_xyzw", 4, None)
        is_unit = 0.99 < math.hypot(*quaternion) < 1.01  # files print two digits or more
        if not is_unit and report.error_count == before:
            report.error(origin, f"<{origin.tag} quat_xyzw=...>: {quaternion} is not of length 1")
        R = matrix_from_quaternion_xyzw(quaternion) if is_unit else Matrix3.identity()
    return SE3(R, report.numbers(origin, "xyz", 3, (0.0, 0.0, 0.0)))


def read_inertia(r: UrdfReading, link: Element, name: str) -> Inertia | None:
    """Return the inertia in link axes; None without <inertial>, or where it is faulty."""
    inertial = r.report.one(link, "inertial")
    if inertial is None:
        return None
    before, pose = r.report.error_count, read_origin(r, inertial)
    mass, inertia = (r.report.one(inertial, tag, required=True) for tag in ("mass", "inertia"))
    kilograms = 0.0 if mass is None else r.report.non_negative(mass, "value", None, f"link {name!r}")
    entries = [r.report.number(inertia, e, None) for e in VOCABULARY.attributes("inertia")] if inertia else []
    if inertia is None or r.report.error_count > before:
        return None
    return inertia_of(r.report, inertia, name, kilograms, pose, entries)


def read_shape(r: UrdfReading, element: Element, body: str) -> Shape | None:
    pose, geometry = read_origin(r, element), _geometry(r, element)
    look = _look(r, element)
    if geometry is None:
        return None
    role: Any = element.tag
    return Shape(body, role, geometry, pose, element.attributes.get("name", ""), look.rgba, look.name, look.texture)


def _geometry(r: UrdfReading, element: Element) -> Geometry | None:
    holder = r.report.one(element, "geometry", required=True)
    if holder is None:
        return None
    solids = [child for child in holder.children if child.tag in _SOLIDS]
    if len(solids) != 1:
        found = ", ".join(f"<{c.tag}>" for c in holder.children[:4]) or "nothing"
        r.report.error(holder, f"<geometry> needs exactly one of {', '.join(_SOLIDS)}; it has {found}")
        return None
    before = r.report.error_count
    geometry = _SOLIDS[solids[0].tag](r, solids[0])
    return geometry if r.report.error_count == before else None


def _length(r: UrdfReading, e: Element, name: str) -> float:
    return r.report.non_negative(e, name, None, f"<{e.tag}>")


def _box(r: UrdfReading, e: Element) -> Geometry:
    size = r.report.numbers(e, "size", 3, None)
    if any(s < 0.0 for s in size):
        r.report.error(e, f"<box size=...>: {size} has a negative length")
    return Box(tuple(map(abs, size)))


def _mesh(r: UrdfReading, e: Element) -> Geometry:
    uri = r.report.text(e, "filename") or ""
    path = r.meshes.path(uri, e) if uri else None
    return Mesh(uri, path, r.report.numbers(e, "scale", 3, (1.0, 1.0, 1.0)))


_SOLIDS: dict[str, Callable[[UrdfReading, Element], Geometry]] = {
    "box": _box,
    "sphere": lambda r, e: Sphere(_length(r, e, "radius")),
    "cylinder": lambda r, e: Cylinder(_length(r, e, "radius"), _length(r, e, "length")),
    "capsule": lambda r, e: Capsule(_length(r, e, "radius"), _length(r, e, "length")),
    "mesh": _mesh,
}


def read_global_material(r: UrdfReading, element: Element) -> None:
    r.report.text(element, "name")
    material = read_material(r, element)
    if material.name in r.materials:
        r.report.error(element, f"there is already a material named {material.name!r}")
    r.materials[material.name] = material


def read_material(r: UrdfReading, element: Element) -> Look:
    color, texture = r.report.one(element, "color"), r.report.one(element, "texture")
    rgba = clipped(r.report, color, r.report.numbers(color, "rgba", 4, None)) if color is not None else None
    return Look(element.attributes.get("name", ""), rgba, texture.attributes.get("filename", "") if texture else "")


def clipped(report: Report, at: Element, colour: tuple[float, ...]) -> tuple[float, ...]:
    """Return a colour of which each number is in [0, 1]; with a remark if it was not."""
    if not all(0.0 <= c <= 1.0 for c in colour):
        report.remark(at, f"colour {colour} is outside [0, 1] and is clipped")
    return tuple(min(max(c, 0.0), 1.0) for c in colour)


def _look(r: UrdfReading, element: Element) -> Look:
    """Return the material of a shape: defined in place, or before under its name (by the robot or another shape)."""
    child = r.report.one(element, "material")
    if child is None:
        return Look()
    look = read_material(r, child)
    if look.rgba is not None or look.texture:
        r.materials.setdefault(look.name, look)
        return look
    if look.name not in r.materials:
        r.report.remark(child, f"material {look.name!r} has no colour and is not defined before")
    return r.materials.get(look.name, look)
