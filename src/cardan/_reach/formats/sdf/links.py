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


def read_link(r: SdfReading, entry: Entry) -> Link:
    report, element = entry.document.report, entry.element
    shapes, solids = [], []
    names: set[tuple[str, str]] = set()
    for child in element.children:
        if child.tag in ("visual", "collision"):
            _check_name(report, child, names)
            pose = r.frames.on_entry(entry, child)
            geometry = read_geometry(entry, child)
            if geometry is None:
                continue
            density = density_of(report, child) if child.tag == "collision" else None
            if child.tag == "collision":
                solids.append(Solid(geometry, pose, density, child))
            if not isinstance(geometry, Cone):
                shapes.append(read_shape(r, entry, child, geometry, pose, density))
    _warn_of_motion(report, element, entry.name)
    inertia = _inertia(report, element, entry.name, solids)
    sensors = sensors_of(r, entry, entry.full_name, SE3.identity())
    return Link(entry, inertia, tuple(s for s in shapes if s is not None), sensors)


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


def sensors_of(r: SdfReading, entry: Entry, body: str, X_body_owner: SE3) -> tuple[Frame, ...]:
    found = []
    for sensor in entry.element.all("sensor"):
        name = name_of(entry.document.report, sensor)
        with entry.document.report.blamed(sensor):
            if name is not None:
                pose = X_body_owner @ r.frames.on_entry(entry, sensor)
                found.append(Frame(f"{entry.full_name}{SEPARATOR}{name}", body, pose, "sensor"))
    return tuple(found)


def _inertia(report: Report, link: Element, name: str, solids: list[Solid]) -> Inertia | None:
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
    return stated(report, inertial, name, mass, pose.X, entries)


def _entries(report: Report, inertial: Element) -> tuple[float, ...]:
    inertia = report.one(inertial, "inertia")
    defaults = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    if inertia is None:
        return defaults
    return tuple(number_of(report, inertia, e, d) for e, d in zip(ENTRIES, defaults, strict=True))


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
    return finite(report, inertial, Inertia.from_parameters(scaled))
