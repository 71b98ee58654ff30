"""What is on a link of SDF, in link axes: inertia, sensors, and shapes, which look and touch somehow."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cardan._algebra.errors import quoted
from cardan._algebra.spatial import SE3, Inertia, Matrix3
from cardan._reach.formats.reading import Meshes
from cardan._reach.formats.report import Report, bits_of_either, finite, inertia_of
from cardan._reach.formats.sdf import values
from cardan._reach.formats.sdf.frames import SdfReading
from cardan._reach.formats.sdf.scopes import SEPARATOR, Entry
from cardan._reach.formats.urdf.links import clipped
from cardan._reach.formats.written import rotation_onto, unit_axis
from cardan._reach.formats.xml import Element
from cardan._robot.geometry import shapes as S
from cardan._robot.geometry.shapes import Geometry, Mesh, Plane, Shape
from cardan._robot.geometry.touching import EVERYTHING
from cardan._robot.records import Frame, Material

WATER = 1000.0  # the density where none is said [kg/m^3]
_ALL_16 = 0xFFFF
_WHOLE = re.compile(r"0x[0-9a-f]{1,10}|[0-9]{1,10}")
PATCH = 3.0 * math.pi / 16.0  # torque of a patch of radius a under pressure as Hertz has it: 3 pi / 16 a mu N


def read_shape(
    r: SdfReading, entry: Entry, element: Element, geometry: Geometry, pose: SE3, density: float | None
) -> Shape | None:
    report = r.report
    common = _look(report, element) if element.tag == "visual" else _contact(r, element)
    common |= {"name": element.attributes.get("name", "").strip(), "density": density}
    if isinstance(geometry, Plane):
        plane = next(next(element.all("geometry")).all("plane"))
        normal = values.vector_of(report, plane, "normal", (0.0, 0.0, 1.0))
        if any(normal):
            pose = pose @ SE3(rotation_onto(unit_axis(normal)))
        else:
            report.error(plane, "<plane><normal>: it has no direction; expected one such as 0 0 1")
    with report.blamed(element):
        role = "visual" if element.tag == "visual" else "collision"
        return Shape(entry.full_name, role, geometry, pose, **common)
    return None


def read_geometry(report: Report, meshes: Meshes, element: Element) -> Geometry | None:
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
        elif element.tag == "collision":
            report.warn(holder, f"a collision touches nothing: its <{holder.children[0].tag[:60]}> is left out")
        return None
    before = report.error_count
    with report.blamed(solids[0]):
        geometry = _SOLIDS[solids[0].tag](report, meshes, solids[0])
        return geometry if report.error_count == before else None
    return None


def _length(report: Report, element: Element, tag: str, default: float) -> float:
    return values.number_of(report, element, tag, default, least=0.0)


def _mesh(report: Report, meshes: Meshes, element: Element) -> Geometry:
    uri = values.text_of(report, element, "uri", None)
    path = meshes.path(uri, element) if uri else None
    return Mesh(uri, path, values.vector_of(report, element, "scale", (1.0, 1.0, 1.0)))


# What is made of a shape's element; lengths that are left out are those SDF says
_SOLIDS: dict[str, Callable[[Report, Meshes, Element], Geometry | None]] = {
    "box": lambda report, _, e: S.Box(values.vector_of(report, e, "size", (1.0, 1.0, 1.0))),
    "sphere": lambda report, _, e: S.Sphere(_length(report, e, "radius", 1.0)),
    "cylinder": lambda report, _, e: S.Cylinder(_length(report, e, "radius", 1.0), _length(report, e, "length", 1.0)),
    "capsule": lambda report, _, e: S.Capsule(_length(report, e, "radius", 0.5), _length(report, e, "length", 1.0)),
    "ellipsoid": lambda report, _, e: S.Ellipsoid(values.vector_of(report, e, "radii", (1.0, 1.0, 1.0))),
    "cone": lambda report, _, e: S.Cone(_length(report, e, "radius", 0.5), _length(report, e, "length", 1.0)),
    "plane": lambda report, _, e: Plane(),
    "mesh": _mesh,
    "empty": lambda report, _, e: None,
}


def _look(report: Report, visual: Element) -> dict[str, Any]:
    material = report.one(visual, "material")
    opaque = 1.0 - min(values.number_of(report, visual, "transparency", 0.0, least=0.0), 1.0)
    if material is None:
        return {}
    diffuse = report.one(material, "diffuse")
    rgba = None
    if diffuse is not None:
        numbers = values.numbers_in(report, diffuse, 3 if len(diffuse.text.split()) == 3 else 4)
        rgba = clipped(report, diffuse, (*numbers[:3], (*numbers, 1.0)[3] * opaque))
    maps = [e for pbr in material.all("pbr") for metal in pbr.all("metal") for e in metal.all("albedo_map")]
    texture = maps[0].text.strip() if maps else ""
    return {"rgba": rgba, "texture": texture, "material": material.attributes.get("cardan:name", "")}


def _contact(r: SdfReading, collision: Element) -> dict[str, Any]:
    report = r.report
    surface = report.one(collision, "surface")
    contact = None if surface is None else report.one(surface, "contact")
    mask = _ALL_16 if contact is None else _bits(report, report.one(contact, "collide_bitmask"), _ALL_16)
    group = mask if contact is None else _bits(report, report.one(contact, "category_bitmask"), mask)
    filtered = {"group": group, "mask": mask} if r.has_masks else {"group": EVERYTHING[0], "mask": EVERYTHING[1]}
    return filtered | {"surface": None if surface is None else _material(report, surface)}


def refiltered(report: Report, shapes: Sequence[Shape]) -> list[Shape]:
    """Return shapes with groups and masks by which those collide of which either's category is in the other's bitmask.

    With cardan each one's group must be in the other's mask. That is the same where category and bitmask are; else
    every kind of both gets a bit of its own.
    """
    kinds = list(dict.fromkeys((s.group, s.mask) for s in shapes if s.role == "collision"))
    bits = bits_of_either(report, kinds)
    new = [bits.get((s.group, s.mask), EVERYTHING) if s.role == "collision" else (s.group, s.mask) for s in shapes]
    return [replace(s, group=group, mask=mask) for s, (group, mask) in zip(shapes, new, strict=True)]


def _bits(report: Report, element: Element | None, default: int) -> int:
    if element is None:
        return default
    text = element.text.strip().lower()
    if _WHOLE.fullmatch(text) and (bits := int(text, 16 if text.startswith("0x") else 10)) <= _ALL_16:
        return bits
    report.error(element, f"<{element.tag}>: {text[:40]!r} is no whole number of 16 bits, 0 to 0xffff")
    return _ALL_16


def _material(report: Report, surface: Element) -> Material | None:
    """Return what contact feels; None where nothing is said of it."""
    friction, bounce = report.one(surface, "friction"), report.one(surface, "bounce")
    given = {} if friction is None else _friction(report, friction)
    if bounce is not None:
        given["restitution"] = values.number_of(report, bounce, "restitution_coefficient", 0.0, least=0.0)
    with report.blamed(surface):
        return Material(**given) if given else None
    return None


def _friction(report: Report, friction: Element) -> dict[str, Any]:
    ode, bullet = report.one(friction, "ode"), report.one(friction, "bullet")
    engine, first, second = (ode, "mu", "mu2") if ode is not None else (bullet, "friction", "friction2")
    given: dict[str, Any] = {}
    if engine is not None:
        given["friction"] = mu = values.number_of(report, engine, first, 1.0, least=0.0)
        if values.number_of(report, engine, second, mu, least=0.0) != mu:
            report.warn(engine, f"<{second}>: friction is the same in all directions here, that of <{first}>")
    torsional = report.one(friction, "torsional")
    if torsional is not None and values.flag_of(report, torsional, "use_patch_radius", default=True):
        radius = values.number_of(report, torsional, "patch_radius", 0.0, least=0.0)
        share = values.number_of(report, torsional, "coefficient", 1.0, least=0.0)
        mu = given.get("friction", 1.0)
        given |= {"friction": mu, "torsional": PATCH * radius * share if mu > 0.0 else 0.0}
    return given


ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@dataclass(frozen=True, slots=True)
class SdfLink:
    entry: Entry
    inertia: Inertia | None
    shapes: tuple[Shape, ...]
    sensors: tuple[Frame, ...]


Matter = tuple[Element, Geometry, SE3, float | None]  # a <collision>, its geometry, pose and density


def read_link(r: SdfReading, entry: Entry) -> SdfLink:
    report, element, name = r.report, entry.element, quoted(entry.name)
    shapes, matter = [], list[Matter]()
    names: set[tuple[str, str]] = set()
    for child in element.children:
        if child.tag not in ("visual", "collision"):
            continue
        own = values.name_of(report, child)
        if own is not None and (child.tag, own) in names:
            report.error(child, f"there is already a {child.tag} named {quoted(own)} on this link")
        names.add((child.tag, own or ""))
        pose, geometry = r.frames.on_entry(entry, child), read_geometry(report, entry.document.meshes, child)
        if geometry is None:
            continue
        density = None
        if child.tag == "collision":
            is_said = report.one(child, "density") is not None
            density = values.number_of(report, child, "density", WATER, least=0.0) if is_said else None
            matter.append((child, geometry, pose, density))
        shapes.append(read_shape(r, entry, child, geometry, pose, density))
    if not values.flag_of(report, element, "gravity", default=True):
        report.warn(element, f"link {name} asks for no gravity; here, it falls as all others do")
    if values.flag_of(report, element, "kinematic"):
        report.warn(element, f"link {name} is kinematic; here, it moves by its inertia as all others do")
    inertia = _inertia(report, element, entry.name, matter)
    sensors = sensors_of(r, entry, entry.full_name, SE3.identity())
    return SdfLink(entry, inertia, tuple(s for s in shapes if s is not None), sensors)


def sensors_of(r: SdfReading, entry: Entry, body: str, X_body_owner: SE3) -> tuple[Frame, ...]:
    found = []
    for sensor in entry.element.all("sensor"):
        name = values.name_of(r.report, sensor)
        with r.report.blamed(sensor):
            if name is not None:
                pose = X_body_owner @ r.frames.on_entry(entry, sensor)
                found.append(Frame(f"{entry.full_name}{SEPARATOR}{name}", body, pose, "sensor"))
    return tuple(found)


def _inertia(report: Report, link: Element, name: str, matter: list[Matter]) -> Inertia | None:
    inertial = report.one(link, "inertial")
    if inertial is None:
        return Inertia(1.0, (0.0, 0.0, 0.0), Matrix3.identity())
    if values.flag_attribute(report, inertial, "auto"):
        return _automatic(report, inertial, name, matter)
    before = report.error_count
    mass = values.number_of(report, inertial, "mass", 1.0, least=0.0)
    pose, inertia = values.pose_of(report, inertial), report.one(inertial, "inertia")
    entries = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    if inertia is not None:
        entries = tuple(values.number_of(report, inertia, e, usual) for e, usual in zip(ENTRIES, entries, strict=True))
    if pose.relative_to:
        report.remark(inertial, "<inertial><pose>: it is always relative to the link")
    if report.error_count > before:
        return None
    if mass == 0.0 and not any(entries):
        return None  # as it is said of a body without
    return inertia_of(report, inertial, name, mass, pose.X, entries)


def _automatic(report: Report, inertial: Element, name: str, matter: list[Matter]) -> Inertia | None:
    """Return the inertia of the collision shapes; a mass that is given scales it."""
    density = values.number_of(report, inertial, "density", WATER, least=0.0)
    total, before = Inertia.zero(), report.error_count
    for at, geometry, pose, own in matter:
        with report.blamed(at):
            if isinstance(geometry, Plane):
                report.remark(at, "a plane has no inertia: it does not count")
            else:
                total = total + pose @ geometry.inertia(density if own is None else own)
    if total.mass == 0.0 and report.error_count > before:
        return None
    if total.mass == 0.0:
        expected = "a <collision> with a volume and a density"
        report.error(inertial, f"link {quoted(name)}: <inertial auto='true'> needs {expected}; it has none")
        return None
    mass = values.number_of(report, inertial, "mass", float(total.mass), least=0.0)
    scaled = [e * (mass / total.mass) for e in total.parameters()]
    return finite(report, inertial, Inertia.from_parameters(scaled))
