"""What is on a link of SDF: its inertia, its shapes and sensors, in link axes."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.errors import quoted
from cardan._algebra.spatial import SE3, Inertia, Matrix3
from cardan._reach.formats.report import Report, finite, stated
from cardan._reach.formats.sdf.frames import SdfReading
from cardan._reach.formats.sdf.scopes import SEPARATOR, Entry
from cardan._reach.formats.sdf.solids import WATER, Cone, density_of, read_geometry, read_shape
from cardan._reach.formats.sdf.values import flag_attribute, flag_of, name_of, number_of, pose_of
from cardan._reach.formats.xml import Element
from cardan._robot.geometry.shapes import Geometry, Plane, Shape
from cardan._robot.records import Frame

ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@dataclass(frozen=True, slots=True)
class SdfLink:
    """A link as read."""

    entry: Entry
    inertia: Inertia | None
    shapes: tuple[Shape, ...]
    sensors: tuple[Frame, ...]


Matter = tuple[Element, Geometry | Cone, SE3, float | None]  # a <collision>, its geometry, pose and density


def read_link(r: SdfReading, entry: Entry) -> SdfLink:
    report, element, name = entry.document.report, entry.element, quoted(entry.name)
    shapes, matter = [], list[Matter]()
    names: set[tuple[str, str]] = set()
    for child in element.children:
        if child.tag not in ("visual", "collision"):
            continue
        own = name_of(report, child)
        if own is not None and (child.tag, own) in names:
            report.error(child, f"there is already a {child.tag} named {quoted(own)} on this link")
        names.add((child.tag, own or ""))
        pose, geometry = r.frames.on_entry(entry, child), read_geometry(entry, child)
        if geometry is None:
            continue
        density = density_of(report, child) if child.tag == "collision" else None
        if child.tag == "collision":
            matter.append((child, geometry, pose, density))
        if not isinstance(geometry, Cone):
            shapes.append(read_shape(r, entry, child, geometry, pose, density))
    if not flag_of(report, element, "gravity", default=True):
        report.warn(element, f"link {name} asks for no gravity; here, it falls as all others do")
    if flag_of(report, element, "kinematic"):
        report.warn(element, f"link {name} is kinematic; here, it moves by its inertia as all others do")
    inertia = _inertia(report, element, entry.name, matter)
    sensors = sensors_of(r, entry, entry.full_name, SE3.identity())
    return SdfLink(entry, inertia, tuple(s for s in shapes if s is not None), sensors)


def sensors_of(r: SdfReading, entry: Entry, body: str, X_body_owner: SE3) -> tuple[Frame, ...]:
    found = []
    for sensor in entry.element.all("sensor"):
        name = name_of(entry.document.report, sensor)
        with entry.document.report.blamed(sensor):
            if name is not None:
                pose = X_body_owner @ r.frames.on_entry(entry, sensor)
                found.append(Frame(f"{entry.full_name}{SEPARATOR}{name}", body, pose, "sensor"))
    return tuple(found)


def _inertia(report: Report, link: Element, name: str, matter: list[Matter]) -> Inertia | None:
    inertial = report.one(link, "inertial")
    if inertial is None:
        return Inertia(1.0, (0.0, 0.0, 0.0), Matrix3.identity())
    if flag_attribute(report, inertial, "auto"):
        return _automatic(report, inertial, name, matter)
    before = report.error_count
    mass = number_of(report, inertial, "mass", 1.0, least=0.0)
    pose, inertia = pose_of(report, inertial), report.one(inertial, "inertia")
    entries = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    if inertia is not None:
        entries = tuple(number_of(report, inertia, e, usual) for e, usual in zip(ENTRIES, entries, strict=True))
    if pose.relative_to:
        report.remark(inertial, "<inertial><pose>: it is always relative to the link")
    if report.error_count > before:
        return None
    if mass == 0.0 and not any(entries):
        return None  # as it is said of a body without
    return stated(report, inertial, name, mass, pose.X, entries)


def _automatic(report: Report, inertial: Element, name: str, matter: list[Matter]) -> Inertia | None:
    """Return the inertia of the collision shapes; a mass that is given scales it."""
    density = number_of(report, inertial, "density", WATER, least=0.0)
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
    mass = number_of(report, inertial, "mass", float(total.mass), least=0.0)
    scaled = [e * (mass / total.mass) for e in total.parameters()]
    return finite(report, inertial, Inertia.from_parameters(scaled))
