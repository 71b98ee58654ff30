"""The URDF reader: a robot description into a `Mechanism`, every fault with its file and line.

Read are links (inertia, visuals, collisions), all joint types with limits, damping, friction and mimic; fixed joints
stay joints. A `continuous` joint is one angle, or a point (cos, sin) on request. As an extension the joint types
`spherical` and `ball` are read as a ball joint. A root link named `world` is the world itself. Elements of other
programs (gazebo, transmission, sensor, ...) are skipped.

Source: the URDF specification of ROS (wiki.ros.org/urdf/XML).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any, Literal

from cardan.errors import DescriptionError, DescriptionWarning, Fault, ParameterError
from cardan.formats.report import Report, nearest
from cardan.formats.resources import Packages
from cardan.formats.urdf_elements import Link, Material, Reading, UrdfJoint, read_joint, read_link, read_material
from cardan.formats.xml import Element, Source, parse
from cardan.joints import Mimic
from cardan.mechanism import Mechanism
from cardan.model import WORLD

UrdfSource = str | bytes | os.PathLike[str]


def read_urdf(
    source: UrdfSource,
    *,
    packages: Packages | None = None,
    continuous: Literal["angle", "unit_complex"] = "angle",
    on_inertia: Literal["warn", "error", "ignore"] = "warn",
) -> Mechanism:
    """Return the mechanism a URDF describes.

    Args:
        source: path of a file, or its content as bytes or as text that begins with `<`.
        packages: where `package://` leads: a mapping from package name to folder, or folders that contain packages.
            After these, ROS_PACKAGE_PATH, AMENT_PREFIX_PATH and the folders above the file are searched.
        continuous: coordinates of continuous joints: one `"angle"`, or `"unit_complex"`, q = (cos, sin).
        on_inertia: what to do about an inertia that is not positive definite or breaks the triangle inequality.

    Raises:
        DescriptionError: with every fault found, each with file and line.
    """
    _check_option("continuous", continuous, ("angle", "unit_complex"))
    _check_option("on_inertia", on_inertia, ("warn", "error", "ignore"))
    mechanism, report = _read(source, packages, continuous)
    if on_inertia == "error":
        report.errors += [Fault(f.file, f.line, f.message) for f in report.inertia]
    if report.errors or mechanism is None:
        raise DescriptionError(sorted(report.errors, key=lambda f: f.line))
    if on_inertia == "warn":
        for fault in report.inertia:
            warnings.warn(DescriptionWarning(str(fault)), stacklevel=2)
    return mechanism


def check_urdf(source: UrdfSource, *, packages: Packages | None = None) -> list[Fault]:
    """Return all faults of a URDF, errors and warnings, by line; an empty list if there are none."""
    try:
        return _read(source, packages, "angle")[1].faults()
    except DescriptionError as error:
        return list(error.faults)


def _check_option(name: str, value: Any, options: tuple[str, ...]) -> None:
    if value not in options:
        raise ParameterError(f"option {name}", got=value, expected=" or ".join(repr(o) for o in options))


def _read(source: UrdfSource, packages: Packages | None, continuous: str) -> tuple[Mechanism | None, Report]:
    opened = Source.of(source)
    report = Report(opened.name)
    root = parse(opened)
    if not _is_robot(root, report):
        return None, report
    reading = Reading(opened, report, packages, continuous)
    materials = _materials(reading, root)
    links = [k for k in (read_link(reading, e, materials) for e in root.all("link")) if k is not None]
    joints = [j for j in (read_joint(reading, e) for e in root.all("joint")) if j is not None]
    if not any(True for _ in root.all("link")):
        report.error(root, "the robot has no <link>")
    complete = not report.errors
    _check_names(report, links, joints)
    _check_tree(report, links, joints, complete)
    _check_mimics(report, joints)
    if report.errors:
        return None, report
    return _mechanism(report, root.attributes["name"], links, joints), report


def _is_robot(root: Element, report: Report) -> bool:
    hints = {
        "sdf": "this is SDF; convert it to URDF",
        "mujoco": "this is MJCF; convert it to URDF",
        "urdf": "the root element is called robot",
        "COLLADA": "this is a mesh, not a robot",
    }
    if root.tag != "robot":
        report.error(
            root, f"the root element is <{root.tag}>, expected <robot>; {hints.get(root.tag, 'is it a URDF?')}"
        )
        return False
    for line in _xacro_lines(root):
        report.error(line, "xacro elements are left: expand the file first, with  xacro FILE.xacro > FILE.urdf")
        return False
    report.unknown_attributes(root, ("name", "version"))
    report.text(root, "name")
    return True


def _xacro_lines(root: Element) -> Sequence[int]:
    return [e.line for e in (root, *root.children) if e.tag.startswith("xacro:")]


def _materials(reading: Reading, root: Element) -> dict[str, Material]:
    materials: dict[str, Material] = {}
    for element in root.all("material"):
        material = read_material(reading, element)
        if material.name in materials:
            reading.report.error(element, f"there is already a material named {material.name!r}")
        materials[material.name] = material
    return materials


def _check_names(report: Report, links: Sequence[Link], joints: Sequence[UrdfJoint]) -> None:
    for kind, things in (("link", links), ("joint", joints)):
        lines: dict[str, int] = {}
        for thing in things:
            if thing.name in lines:
                report.error(thing.line, f"{kind} {thing.name!r} is already defined in line {lines[thing.name]}")
            lines.setdefault(thing.name, thing.line)


def _check_tree(report: Report, links: Sequence[Link], joints: Sequence[UrdfJoint], complete: bool) -> None:
    """Check that the joints hang all links on one root; `complete` says that no link or joint was left out."""
    lines = {link.name: link.line for link in links}
    parent_joint: dict[str, UrdfJoint] = {}
    known = complete
    for joint in joints:
        for role, name, line in (("parent", joint.parent, joint.parent_line), ("child", joint.child, joint.child_line)):
            if name not in lines:
                known = False
                report.error(
                    line, f"joint {joint.name!r}: its {role} link {name!r} does not exist{nearest(name, lines)}"
                )
        if joint.child in parent_joint:
            first = parent_joint[joint.child]
            message = (
                f"link {joint.child!r} has two parents: joint {first.name!r} (line {first.line}) and {joint.name!r}"
            )
            report.error(joint.child_line, message)
        parent_joint.setdefault(joint.child, joint)
    _check_loops(report, parent_joint)
    roots = [link for link in links if link.name not in parent_joint]
    if known and len(roots) > 1:
        named = ", ".join(f"{k.name!r} (line {k.line})" for k in roots[:4])
        report.error(roots[1].line, f"the robot has {len(roots)} root links: {named}; join them with joints")
    if WORLD in parent_joint:
        report.error(parent_joint[WORLD].child_line, "the link 'world' is the world: it can only be the root")


def _check_loops(report: Report, parent_joint: dict[str, UrdfJoint]) -> None:
    cleared: set[str] = set()
    for start in parent_joint:
        path: list[str] = []
        on_path: set[str] = set()
        link = start
        while link in parent_joint and link not in cleared and link not in on_path:
            path.append(link)
            on_path.add(link)
            link = parent_joint[link].parent
        if link in on_path:
            loop = [*path[path.index(link) :], link]
            shown = " <- ".join(repr(name) for name in loop[:8]) + (" <- ..." if len(loop) > 8 else "")
            report.error(parent_joint[link].line, f"the links form a loop: {shown}")
        cleared |= on_path


def _check_mimics(report: Report, joints: Sequence[UrdfJoint]) -> None:
    by_name = {j.name: j for j in joints}
    for j in joints:
        if not isinstance(j.joint, Mimic):
            continue
        primary = by_name.get(j.joint.primary)
        if primary is None:
            hint = nearest(j.joint.primary, by_name)
            report.error(j.mimic_line, f"joint {j.name!r} mimics {j.joint.primary!r}, which does not exist{hint}")
        elif primary.joint.nv != 1:
            report.error(j.mimic_line, f"joint {j.name!r} mimics {primary.name!r}, which is {primary.kind}")
        elif _mimics_itself(j, by_name):
            report.error(j.mimic_line, f"joint {j.name!r} mimics itself, through {j.joint.primary!r}")
        elif primary.joint.manifold != j.joint.manifold and primary.joint.nq != j.joint.nq:
            message = f"joint {j.name!r} ({j.kind}) mimics {primary.name!r} ({primary.kind}): with unit_complex "
            report.error(j.mimic_line, message + "coordinates both must be continuous; read with continuous='angle'")


def _mimics_itself(joint: UrdfJoint, by_name: dict[str, UrdfJoint]) -> bool:
    seen, current = {joint.name}, joint
    while isinstance(current.joint, Mimic) and current.joint.primary in by_name:
        current = by_name[current.joint.primary]
        if current.name in seen:
            return True
        seen.add(current.name)
    return False


def _mechanism(report: Report, name: str, links: Sequence[Link], joints: Sequence[UrdfJoint]) -> Mechanism:
    mechanism = Mechanism(name)
    for link in links:
        if link.name != WORLD:
            mechanism.add_body(link.name, link.inertia)
        elif link.inertia is not None:
            report.remark(link.line, "the inertia of the link 'world' has no effect: it is the world")
    for j in joints:
        mechanism.add_joint(
            j.name, j.joint, j.parent, j.child, j.parent_pose, j.child_pose, j.limits, j.damping, j.friction
        )
    for link in links:
        for shape in link.shapes:
            mechanism.add_shape(shape)
    return mechanism
