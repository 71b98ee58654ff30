"""What is on a link of SDF: its inertia, its shapes and sensors, in link axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cardan.errors import quoted
from cardan.formats.report import At, Report
from cardan.formats.sdf.frames import Frames
from cardan.formats.sdf.scopes import SEPARATOR, Entry, Target
from cardan.formats.sdf.values import (
    flag_attribute,
    flag_of,
    name_of,
    number_of,
    numbers_in,
    pose_of,
    text_of,
    vector_of,
)
from cardan.formats.urdf.joints import rotation_onto, unit_axis
from cardan.formats.xml import Element
from cardan.geometry.shapes import (
    ALL_BITS,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    Mesh,
    Plane,
    Shape,
    Sphere,
)
from cardan.records import Frame, Material
from cardan.spatial import SE3, Inertia, Matrix3, Symmetric3

WATER = 1000.0
"""The density where none is said [kg/m^3]."""
ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
NO_INERTIA = 1e-15
"""Inertias below are taken for zero: rounding of one that was meant to be zero [kg m^2]."""
_ALL_16 = 0xFFFF
_KINDS = 32
_PATCH = 3.0 * math.pi / 16.0
"""Torque of a patch of radius a under pressure as Hertz has it: 3 pi / 16 a mu N."""


@dataclass(slots=True)
class Reading:
    """What every part needs: where faults go, and where things are."""

    report: Report
    frames: Frames
    continuous: str = "angle"
    has_masks: bool = False  # whether any shape says with which it collides
    places: dict[tuple[str, str], At] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cone:
    """A cone, its axis along z, its origin at half its height: a solid for inertias, no shape."""

    radius: float
    length: float

    def inertia(self, density: float) -> Inertia:
        """Return the inertia; the centre of mass is a quarter of the height above the base."""
        r, h = self.radius, self.length
        m = density * math.pi * r * r * h / 3.0
        across = m * (0.15 * r * r + 0.0375 * h * h)
        return Inertia(m, (0.0, 0.0, -0.25 * h), Matrix3.diagonal(across, across, 0.3 * m * r * r))


@dataclass(frozen=True, slots=True)
class Solid:
    """What a collision element says of the matter of its link."""

    geometry: Geometry | Cone
    pose: SE3
    density: float | None
    at: Element


@dataclass(frozen=True, slots=True)
class Link:
    """A link as read."""

    entry: Entry
    inertia: Inertia | None
    shapes: tuple[Shape, ...]
    sensors: tuple[Frame, ...]


def read_link(r: Reading, entry: Entry) -> Link:
    """Return what is on a link."""
    report, element = entry.document.report, entry.element
    shapes, solids = [], []
    names: set[tuple[str, str]] = set()
    for child in element.children:
        if child.tag in ("visual", "collision"):
            _check_name(report, child, names)
            pose = pose_on(r, entry, child)
            geometry = _geometry(r, entry, child)
            if child.tag == "collision" and geometry is not None:
                solids.append(Solid(geometry, pose, _density(report, child), child))
            if geometry is not None and not isinstance(geometry, Cone):
                shapes.append(_shape(r, entry, child, geometry, pose))
    _warn_of_motion(report, element, entry.name)
    inertia = _inertia(report, element, entry.name, solids)
    sensors = sensors_of(r, entry, entry.full_name, SE3.identity())
    return Link(entry, inertia, tuple(s for s in shapes if s is not None), sensors)


def pose_on(r: Reading, entry: Entry, element: Element) -> SE3:
    """Return X_entry_element for an element on a link, or joint, that has no frame of its own."""
    pose = pose_of(entry.document.report, element)
    if not pose.relative_to:
        return pose.X
    found = r.frames.find(entry.home, pose.relative_to, pose.at, f"pose of <{element.tag}>")
    return pose.X if found is None else r.frames.between(Target((), entry, entry.home), found) @ pose.X


def _check_name(report: Report, element: Element, names: set[tuple[str, str]]) -> None:
    name = name_of(report, element)
    if name is not None and (element.tag, name) in names:
        report.error(element, f"there is already a {element.tag} named {quoted(name)} on this link")
    names.add((element.tag, name or ""))


def _warn_of_motion(report: Report, element: Element, name: str) -> None:
    """Warn of what changes how a link moves and cannot be had here."""
    if not flag_of(report, element, "gravity", default=True):
        report.warn(element, f"link {quoted(name)} asks for no gravity; here, it falls as all others do")
    if flag_of(report, element, "kinematic"):
        report.warn(element, f"link {quoted(name)} is kinematic; here, it moves by its inertia as all others do")


def sensors_of(r: Reading, entry: Entry, body: str, X_body_owner: SE3) -> tuple[Frame, ...]:
    """Return the sensors of a link or joint as frames on a body."""
    found = []
    for sensor in entry.element.all("sensor"):
        name = name_of(entry.document.report, sensor)
        with entry.document.report.blamed(sensor):
            if name is not None:
                pose = X_body_owner @ pose_on(r, entry, sensor)
                found.append(Frame(f"{entry.full_name}{SEPARATOR}{name}", body, pose, "sensor"))
    return tuple(found)


# --- inertia -----------------------------------------------------------------------------------------------------


def _inertia(report: Report, link: Element, name: str, solids: list[Solid]) -> Inertia | None:
    """Return the inertia in link axes; None where it is faulty."""
    inertial = report.one(link, "inertial")
    if inertial is None:
        return Inertia(1.0, (0.0, 0.0, 0.0), Matrix3.identity())
    if flag_attribute(report, inertial, "auto"):
        return _automatic(report, inertial, name, solids)
    before = report.error_count
    mass = number_of(report, inertial, "mass", 1.0, least=0.0)
    pose, entries = pose_of(report, inertial), _entries(report, inertial)
    if pose.relative_to:
        report.remark(inertial, "<inertial><pose>: it is always relative to the link")
    if report.error_count > before:
        return None
    if mass == 0.0 and not any(entries):
        return None  # as it is said of a body without
    _doubt(report, inertial, name, entries)
    with report.blamed(inertial):
        at_com = Symmetric3(entries).rotated(pose.X.rotation)
        return _finite(report, inertial, Inertia(mass, pose.X.translation, at_com))
    return None


def _finite(report: Report, at: Element, inertia: Inertia) -> Inertia | None:
    if all(math.isfinite(e) for e in inertia.parameters()):
        return inertia
    report.error(at, "the inertia about the link's origin is too large for a number; are the units right?")
    return None


def _entries(report: Report, inertial: Element) -> tuple[float, ...]:
    inertia = report.one(inertial, "inertia")
    defaults = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    if inertia is None:
        return defaults
    return tuple(number_of(report, inertia, e, d) for e, d in zip(ENTRIES, defaults, strict=True))


def _doubt(report: Report, element: Element, name: str, entries: tuple[float, ...]) -> None:
    """Note an impossible inertia, judged as it is written."""
    if max(map(abs, entries)) < NO_INERTIA or report.has_enough_doubts:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        faults = Inertia(1.0, (0.0, 0.0, 0.0), Symmetric3(entries)).faults()
    for fault in faults:
        report.doubt(element, f"link {quoted(name)}: {fault}")


def _automatic(report: Report, inertial: Element, name: str, solids: list[Solid]) -> Inertia | None:
    """Return the inertia of the collision shapes; a mass that is given scales it."""
    density = number_of(report, inertial, "density", WATER, least=0.0)
    total, before = Inertia.zero(), report.error_count
    for solid in solids:
        with report.blamed(solid.at):
            if isinstance(solid.geometry, Plane):
                report.remark(solid.at, "a plane has no inertia: it does not count")
            else:
                of = density if solid.density is None else solid.density
                total = total + solid.pose @ solid.geometry.inertia(of)
    if total.mass == 0.0 and report.error_count > before:
        return None
    if total.mass == 0.0:
        expected = "a <collision> with a volume and a density"
        report.error(inertial, f"link {quoted(name)}: <inertial auto='true'> needs {expected}; it has none")
        return None
    mass = number_of(report, inertial, "mass", float(total.mass), least=0.0)
    scaled = [e * (mass / total.mass) for e in total.parameters()]
    return _finite(report, inertial, Inertia.from_parameters(scaled))


def _density(report: Report, collision: Element) -> float | None:
    if report.one(collision, "density") is None:
        return None
    return number_of(report, collision, "density", WATER, least=0.0)


# --- shapes ------------------------------------------------------------------------------------------------------


def _shape(r: Reading, entry: Entry, element: Element, geometry: Geometry, pose: SE3) -> Shape | None:
    report = entry.document.report
    common: dict[str, Any] = {"name": element.attributes.get("name", "").strip()}
    if element.tag == "visual":
        common |= _look(report, element)
    else:
        common |= _contact(r, report, element) | {"density": _density(report, element)}
    if isinstance(geometry, Plane):
        pose = pose @ SE3(_upright(report, element))
    with report.blamed(element):
        return Shape(entry.full_name, element.tag, geometry, pose, **common)  # pyright: ignore[reportArgumentType]
    return None


def _geometry(r: Reading, entry: Entry, element: Element) -> Geometry | Cone | None:
    """Return a shape; None, with a fault or a remark, where there is none."""
    report = entry.document.report
    holder = report.one(element, "geometry")
    if holder is None:
        report.warn(element, f"<{element.tag}> has no <geometry> and is left out")
        return None
    solids = [child for child in holder.children if child.tag in _SOLIDS]
    if len(solids) > 1:
        report.error(solids[1], f"<geometry> holds one shape; it has <{solids[0].tag}> and <{solids[1].tag}>")
    if not solids:
        if not holder.children:
            report.error(holder, f"<geometry> is empty; expected one of {', '.join(_SOLIDS)}")
        return None
    before = report.error_count
    with report.blamed(solids[0]):
        geometry = _SOLIDS[solids[0].tag](r, entry, solids[0])
        return geometry if report.error_count == before else None
    return None


def _length(entry: Entry, element: Element, tag: str, default: float) -> float:
    return number_of(entry.document.report, element, tag, default, least=0.0)


def _mesh(r: Reading, entry: Entry, element: Element) -> Geometry:
    report = entry.document.report
    uri = text_of(report, element, "uri", None)
    path = entry.document.meshes.path(uri, element) if uri else None
    return Mesh(uri, path, vector_of(report, element, "scale", (1.0, 1.0, 1.0)))


_SOLIDS: dict[str, Callable[[Reading, Entry, Element], Geometry | Cone | None]] = {
    "box": lambda _, n, e: Box(vector_of(n.document.report, e, "size", (1.0, 1.0, 1.0))),
    "sphere": lambda _, n, e: Sphere(_length(n, e, "radius", 1.0)),
    "cylinder": lambda _, n, e: Cylinder(_length(n, e, "radius", 1.0), _length(n, e, "length", 1.0)),
    "capsule": lambda _, n, e: Capsule(_length(n, e, "radius", 0.5), _length(n, e, "length", 1.0)),
    "ellipsoid": lambda _, n, e: Ellipsoid(vector_of(n.document.report, e, "radii", (1.0, 1.0, 1.0))),
    "cone": lambda _, n, e: Cone(_length(n, e, "radius", 0.5), _length(n, e, "length", 1.0)),
    "plane": lambda _, n, e: Plane(),
    "mesh": _mesh,
    "empty": lambda _, n, e: None,
}
"""What is made of a shape's element; lengths that are left out are those SDF says."""


def _upright(report: Report, element: Element) -> Matrix3:
    """Return the rotation that turns z onto a plane's normal."""
    plane = next(next(element.all("geometry")).all("plane"))
    normal = vector_of(report, plane, "normal", (0.0, 0.0, 1.0))
    if not any(normal):
        report.error(plane, "<plane><normal>: it has no direction; expected one such as 0 0 1")
        return Matrix3.identity()
    return rotation_onto(unit_axis(normal))


def _look(report: Report, visual: Element) -> dict[str, Any]:
    """Return colour, texture and name of a visual's material."""
    material = report.one(visual, "material")
    opaque = 1.0 - min(number_of(report, visual, "transparency", 0.0, least=0.0), 1.0)
    if material is None:
        return {}
    diffuse = report.one(material, "diffuse")
    rgba = None if diffuse is None else _colour(report, diffuse, opaque)
    maps = [e for pbr in material.all("pbr") for metal in pbr.all("metal") for e in metal.all("albedo_map")]
    texture = maps[0].text.strip() if maps else ""
    return {"rgba": rgba, "texture": texture, "material": material.attributes.get("cardan:name", "")}


def _colour(report: Report, diffuse: Element, opaque: float) -> tuple[float, ...]:
    words = diffuse.text.split()
    numbers = numbers_in(report, diffuse, 3 if len(words) == 3 else 4)
    colour = (*numbers[:3], (*numbers, 1.0)[3] * opaque)
    if not all(0.0 <= c <= 1.0 for c in colour):
        report.remark(diffuse, f"colour {colour} is outside [0, 1] and is clipped")
    return tuple(min(max(c, 0.0), 1.0) for c in colour)


# --- contact -----------------------------------------------------------------------------------------------------


def _contact(r: Reading, report: Report, collision: Element) -> dict[str, Any]:
    """Return surface, group and mask of a collision element."""
    surface = report.one(collision, "surface")
    contact = None if surface is None else report.one(surface, "contact")
    mask = _ALL_16 if contact is None else _bits(report, report.one(contact, "collide_bitmask"), _ALL_16)
    group = mask if contact is None else _bits(report, report.one(contact, "category_bitmask"), mask)
    filtered = {"group": group, "mask": mask} if r.has_masks else {"group": 1, "mask": ALL_BITS}
    return filtered | {"surface": None if surface is None else _material(report, surface)}


def refiltered(shapes: Sequence[Shape]) -> list[Shape]:
    """Return shapes with groups and masks by which those collide of which either's category is in the other's bitmask.

    With cardan each one's group must be in the other's mask. That is the same where category and bitmask are; else
    every kind of both gets a bit of its own.
    """
    kinds = list(dict.fromkeys((s.group, s.mask) for s in shapes if s.role == "collision"))
    if all(group == mask for group, mask in kinds) or not 0 < len(kinds) <= _KINDS or kinds == [(1, ALL_BITS)]:
        return list(shapes)
    touched = {a: sum(1 << i for i, b in enumerate(kinds) if a[0] & b[1] or b[0] & a[1]) for a in kinds}
    return [
        replace(s, group=1 << kinds.index((s.group, s.mask)), mask=touched[s.group, s.mask])
        if s.role == "collision"
        else s
        for s in shapes
    ]


def _bits(report: Report, element: Element | None, default: int) -> int:
    if element is None:
        return default
    text = element.text.strip().lower()
    digits = text.removeprefix("0x")
    base = 16 if digits != text else 10
    if digits and len(digits) <= 10 and all(c in "0123456789abcdef"[:base] for c in digits):
        bits = int(digits, base)
        if bits <= _ALL_16:
            return bits
    report.error(element, f"<{element.tag}>: {text[:40]!r} is no whole number of 16 bits, 0 to 0xffff")
    return _ALL_16


def _material(report: Report, surface: Element) -> Material | None:
    """Return what contact feels; None where nothing is said of it."""
    friction, bounce = report.one(surface, "friction"), report.one(surface, "bounce")
    given: dict[str, float] = {}
    if friction is not None:
        given |= _friction(report, friction)
    if bounce is not None:
        given["restitution"] = number_of(report, bounce, "restitution_coefficient", 0.0, least=0.0)
    with report.blamed(surface):
        return Material(**given) if given else None
    return None


def _friction(report: Report, friction: Element) -> dict[str, float]:
    ode, bullet = report.one(friction, "ode"), report.one(friction, "bullet")
    found = (ode, "mu", "mu2") if ode is not None else (bullet, "friction", "friction2")
    engine, first, second = found
    given: dict[str, float] = {}
    if engine is not None:
        given["friction"] = mu = number_of(report, engine, first, 1.0, least=0.0)
        if number_of(report, engine, second, mu, least=0.0) != mu:
            report.remark(engine, f"<{second}>: friction is the same in all directions here, that of <{first}>")
    torsional = report.one(friction, "torsional")
    if torsional is not None and flag_of(report, torsional, "use_patch_radius", default=True):
        radius = number_of(report, torsional, "patch_radius", 0.0, least=0.0)
        share = number_of(report, torsional, "coefficient", 1.0, least=0.0)
        mu = given.get("friction", 1.0)
        given |= {"friction": mu, "torsional": _PATCH * radius * share if mu > 0.0 else 0.0}
    return given
