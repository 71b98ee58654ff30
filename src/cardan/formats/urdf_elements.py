"""The elements of URDF, one function each: from XML to poses, inertias, shapes, joints. Faults go to the report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan.errors import ParameterError
from cardan.formats.report import Report, nearest
from cardan.formats.resources import Packages, resolve
from cardan.formats.xml import Element, Source
from cardan.joints import (
    Fixed,
    FreeFlyer,
    Joint,
    Limits,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    UnboundedRevolute,
)
from cardan.mechanism.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere
from cardan.spatial import SE3, Inertia, Matrix3, Symmetric3, Vector3
from cardan.spatial.rotations import matrix_from_zyx

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical", "ball")
NEEDS_LIMIT = ("revolute", "prismatic")
HAS_AXIS = ("revolute", "continuous", "prismatic", "planar")
MIMICABLE = ("revolute", "continuous", "prismatic")
INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@dataclass(frozen=True, slots=True)
class Reading:
    """What every element needs: where the file is, what was asked for, and where faults go."""

    source: Source
    report: Report
    packages: Packages | None
    continuous: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link as read."""

    name: str
    line: int
    inertia: Inertia | None
    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class UrdfJoint:
    """A joint as read; `parent` and `child` are checked later."""

    name: str
    line: int
    kind: str
    parent: str
    parent_line: int
    child: str
    child_line: int
    joint: Joint
    parent_pose: SE3
    child_pose: SE3
    limits: Limits
    damping: tuple[float, ...] | None
    friction: tuple[float, ...] | None
    mimic_line: int


def read_origin(r: Reading, owner: Element) -> SE3:
    """Return the pose of <origin xyz rpy>; identity without one. R = Rz(yaw) Ry(pitch) Rx(roll)."""
    origin = r.report.one(owner, "origin")
    if origin is None:
        return SE3.identity()
    r.report.unknown_attributes(origin, ("xyz", "rpy"))
    x, y, z = r.report.numbers(origin, "xyz", 3, (0.0, 0.0, 0.0))
    roll, pitch, yaw = r.report.numbers(origin, "rpy", 3, (0.0, 0.0, 0.0))
    return SE3(matrix_from_zyx((yaw, pitch, roll)), (x, y, z))


# --- links -------------------------------------------------------------------------------------------------------


def read_link(r: Reading, element: Element, materials: dict[str, Material]) -> Link | None:
    """Return a link, or None if it has no name."""
    r.report.unknown_attributes(element, ("name", "type"))
    name = r.report.text(element, "name")
    if name is None:
        return None
    shapes = [
        shape
        for role in ("visual", "collision")
        for child in element.all(role)
        if (shape := read_shape(r, child, name, materials)) is not None
    ]
    return Link(name, element.line, read_inertia(r, element, name), tuple(shapes))


def read_inertia(r: Reading, link: Element, name: str) -> Inertia | None:
    """Return the inertia in link axes; None without <inertial>."""
    inertial = r.report.one(link, "inertial")
    if inertial is None:
        return None
    pose, before = read_origin(r, inertial), len(r.report.errors)
    mass_element = r.report.one(inertial, "mass", required=True)
    inertia_element = r.report.one(inertial, "inertia", required=True)
    if mass_element is None or inertia_element is None:
        return None
    mass = r.report.number(mass_element, "value", None)
    entries = [r.report.number(inertia_element, entry, None) for entry in INERTIA]
    if mass < 0.0:
        r.report.error(mass_element, f"link {name!r}: the mass {mass:g} kg is negative")
    if len(r.report.errors) > before:
        return None
    at_com = Symmetric3(entries).rotated(pose.rotation)
    inertia = Inertia(mass, pose.translation, at_com)
    _doubt_inertia(r, inertia_element, name, entries)
    return inertia


def _doubt_inertia(r: Reading, element: Element, name: str, entries: list[float]) -> None:
    """Note an impossible inertia, judged as it is written."""
    for fault in Inertia(1.0, (0.0, 0.0, 0.0), Symmetric3(entries)).faults():
        r.report.doubt(element, f"link {name!r}: {fault}")


# --- shapes ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Material:
    """A material: its colour and texture, where it has them."""

    name: str
    rgba: tuple[float, ...] | None
    texture: str


def read_material(r: Reading, element: Element) -> Material:
    """Return <material name><color rgba/><texture filename/></material>."""
    color, texture = r.report.one(element, "color"), r.report.one(element, "texture")
    rgba = r.report.numbers(color, "rgba", 4, None) if color is not None else None
    if color is not None and rgba is not None and not all(0.0 <= c <= 1.0 for c in rgba):
        r.report.remark(color, f"colour {rgba} is outside [0, 1] and was clipped")
        rgba = tuple(min(max(c, 0.0), 1.0) for c in rgba)
    return Material(element.attributes.get("name", ""), rgba, texture.attributes.get("filename", "") if texture else "")


def read_shape(r: Reading, element: Element, body: str, materials: dict[str, Material]) -> Shape | None:
    """Return a visual or collision element, or None if its geometry is faulty."""
    pose = read_origin(r, element)
    geometry = _geometry(r, element)
    child = r.report.one(element, "material")
    look = read_material(r, child) if child is not None else Material("", None, "")
    if look.rgba is None and not look.texture and look.name in materials:
        look = materials[look.name]
    if geometry is None:
        return None
    role: Any = element.tag
    return Shape(body, role, geometry, pose, element.attributes.get("name", ""), look.rgba, look.name, look.texture)


def _geometry(r: Reading, element: Element) -> Geometry | None:
    holder = r.report.one(element, "geometry", required=True)
    if holder is None:
        return None
    readers = {"box": _box, "sphere": _sphere, "cylinder": _cylinder, "capsule": _capsule, "mesh": _mesh}
    solids = [child for child in holder.children if child.tag in readers]
    if len(solids) != 1:
        found = ", ".join(f"<{c.tag}>" for c in holder.children) or "nothing"
        r.report.error(holder, f"<geometry> needs exactly one of {', '.join(readers)}; it has {found}")
        return None
    before = len(r.report.errors)
    try:
        shape = readers[solids[0].tag](r, solids[0])
    except ParameterError as error:
        r.report.error(solids[0], str(error))
        return None
    return shape if len(r.report.errors) == before else None


def _box(r: Reading, e: Element) -> Geometry:
    return Box(r.report.numbers(e, "size", 3, None))


def _sphere(r: Reading, e: Element) -> Geometry:
    return Sphere(r.report.number(e, "radius", None))


def _cylinder(r: Reading, e: Element) -> Geometry:
    return Cylinder(r.report.number(e, "radius", None), r.report.number(e, "length", None))


def _capsule(r: Reading, e: Element) -> Geometry:
    return Capsule(r.report.number(e, "radius", None), r.report.number(e, "length", None))


def _mesh(r: Reading, e: Element) -> Geometry:
    uri = r.report.text(e, "filename") or ""
    path = resolve(uri, r.source.folder, r.packages)
    if path is None:
        r.report.remark(e, f"mesh {uri!r} was not found (kept by name; dynamics does not need it)")
    return Mesh(uri, path, r.report.numbers(e, "scale", 3, (1.0, 1.0, 1.0)))


# --- joints ------------------------------------------------------------------------------------------------------


def read_joint(r: Reading, element: Element) -> UrdfJoint | None:
    """Return a joint, or None if it lacks what makes it one."""
    r.report.unknown_attributes(element, ("name", "type"))
    name, kind = r.report.text(element, "name"), r.report.text(element, "type")
    parent, child = r.report.one(element, "parent", required=True), r.report.one(element, "child", required=True)
    if kind is not None and kind not in JOINT_TYPES:
        r.report.error(element, f"there is no joint type {kind!r}{nearest(kind, JOINT_TYPES)}")
        kind = None
    if name is None or kind is None or parent is None or child is None:
        return None
    parent_link, child_link = r.report.text(parent, "link"), r.report.text(child, "link")
    if parent_link is None or child_link is None:
        return None
    axis = _axis(r, element, kind)
    joint = _mimicked(r, element, name, kind, _joint(kind, axis, r.continuous))
    turned = SE3(_rotation_onto(axis)) if kind == "planar" else SE3.identity()
    damping, friction = _dynamics(r, element, joint.nv)
    _check_unused(r, element)
    mimic = r.report.one(element, "mimic")
    return UrdfJoint(
        name=name,
        line=element.line,
        kind=kind,
        parent=parent_link,
        parent_line=parent.line,
        child=child_link,
        child_line=child.line,
        joint=joint,
        parent_pose=read_origin(r, element) @ turned,
        child_pose=turned,
        limits=_limits(r, element, name, kind, joint.nv),
        damping=damping,
        friction=friction,
        mimic_line=mimic.line if mimic is not None else 0,
    )


def _axis(r: Reading, element: Element, kind: str) -> Vector3:
    axis = r.report.one(element, "axis")
    if axis is None or kind not in HAS_AXIS:
        return Vector3(1.0, 0.0, 0.0)
    r.report.unknown_attributes(axis, ("xyz",))
    before = len(r.report.errors)
    xyz = r.report.numbers(axis, "xyz", 3, None)
    if not any(xyz):
        if len(r.report.errors) == before:
            r.report.error(axis, "the axis has length 0; give a direction, such as xyz='0 0 1'")
        return Vector3(1.0, 0.0, 0.0)
    length = math.hypot(*xyz)
    return Vector3(*(e / length for e in xyz))


def _joint(kind: str, axis: Vector3, continuous: str) -> Joint:
    if kind == "continuous" and continuous == "unit_complex":
        return UnboundedRevolute(axis)
    if kind in ("revolute", "continuous"):
        return Revolute(axis)
    if kind == "prismatic":
        return Prismatic(axis)
    plain = {"fixed": Fixed, "floating": FreeFlyer, "planar": Planar, "spherical": Spherical, "ball": Spherical}
    return plain[kind]()


def _rotation_onto(normal: Vector3) -> Matrix3:
    """Return a rotation whose z axis is the normal; the identity for z itself."""
    z = np.array(normal)
    if z[2] > 1.0 - 1e-15:
        return Matrix3.identity()
    x = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = x - z * (x @ z)
    x /= np.linalg.norm(x)
    return Matrix3.of(np.column_stack([x, np.cross(z, x), z]))


def _mimicked(r: Reading, element: Element, name: str, kind: str, joint: Joint) -> Joint:
    mimic = r.report.one(element, "mimic")
    if mimic is None:
        return joint
    if kind == "fixed":
        r.report.remark(mimic, f"joint {name!r} is fixed: its <mimic> has no effect")
        return joint
    r.report.unknown_attributes(mimic, ("joint", "multiplier", "offset"))
    primary = r.report.text(mimic, "joint")
    multiplier, offset = r.report.number(mimic, "multiplier", 1.0), r.report.number(mimic, "offset", 0.0)
    if kind not in MIMICABLE:
        r.report.error(mimic, f"joint {name!r} is {kind}: only {', '.join(MIMICABLE)} joints can mimic another")
        return joint
    return joint if primary is None else Mimic(joint, primary, multiplier, offset)


def _limits(r: Reading, element: Element, name: str, kind: str, nv: int) -> Limits:
    limit = r.report.one(element, "limit")
    if limit is None:
        if kind in NEEDS_LIMIT:
            hint = " or make it continuous" if kind == "revolute" else ""
            expected = "<limit lower=... upper=... effort=... velocity=.../>"
            r.report.error(element, f"{kind} joint {name!r} needs a <limit>: add {expected}{hint}")
        return Limits()
    r.report.unknown_attributes(limit, ("lower", "upper", "effort", "velocity"))
    if nv == 0:
        return Limits()
    effort = r.report.number(limit, "effort", None)
    velocity = r.report.number(limit, "velocity", None)
    for what, value in (("effort", effort), ("velocity", velocity)):
        if value < 0.0:
            r.report.error(limit, f"joint {name!r}: the {what} limit {value:g} is negative")
    bounds = {"effort": (abs(effort),) * nv, "velocity": (abs(velocity),) * nv}
    if kind not in NEEDS_LIMIT:
        return Limits(**bounds)
    lower, upper = r.report.number(limit, "lower", 0.0), r.report.number(limit, "upper", 0.0)
    if lower > upper:
        r.report.error(limit, f"joint {name!r}: lower limit {lower:g} exceeds upper limit {upper:g}")
        return Limits(**bounds)
    return Limits(lower=(lower,), upper=(upper,), **bounds)


def _dynamics(r: Reading, element: Element, nv: int) -> tuple[Any, Any]:
    dynamics = r.report.one(element, "dynamics")
    if dynamics is None or nv == 0:
        return None, None
    values = []
    for what in ("damping", "friction"):
        value = r.report.number(dynamics, what, 0.0)
        if value < 0.0:
            r.report.error(dynamics, f"the {what} {value:g} is negative")
        values.append((abs(value),) * nv)
    return values[0], values[1]


def _check_unused(r: Reading, element: Element) -> None:
    """Read the numbers of elements that have no meaning for the dynamics, so that a typo in them is found."""
    optional = {
        "safety_controller": ("soft_lower_limit", "soft_upper_limit", "k_position"),
        "calibration": ("rising", "falling", "reference_position"),
    }
    for tag, names in optional.items():
        child = r.report.one(element, tag)
        if child is None:
            continue
        if tag == "safety_controller":
            r.report.number(child, "k_velocity", None)
        for name in names:
            r.report.number(child, name, 0.0)
