"""The URDF reader: a robot description into a `Mechanism`, every fault with its file and line.

Read are links (inertia, visuals, collisions), all joint types with limits, damping, friction and mimic; fixed joints
stay joints. A `continuous` joint is one angle, or a point (cos, sin) on request. A root link named `world` is the
world itself. Extensions (docs/urdf.md): the joint types `spherical` and `ball`, `<loop>`, `<frame>`, and an armature.
Transmissions and ROS 2's command interfaces are actuators. Elements of other programs (gazebo, sensor, ...) are
skipped with a remark.

Source: the URDF specification of ROS (wiki.ros.org/urdf/XML).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cardan._algebra.errors import first_of, quoted
from cardan._reach.formats.reading import Description, Meshes, Options, Places
from cardan._reach.formats.report import Report
from cardan._reach.formats.source import Source
from cardan._reach.formats.urdf.joints import UrdfJoint, read_actuators, read_constraint, read_joint
from cardan._reach.formats.urdf.links import (
    UrdfFrame,
    UrdfLink,
    UrdfReading,
    read_frame,
    read_global_material,
    read_link,
)
from cardan._reach.formats.urdf.schema import VERSIONS, VOCABULARY
from cardan._reach.formats.xml import Element, is_xacro, parse
from cardan._robot.description import Mechanism
from cardan._robot.joints import Mimic
from cardan._robot.model import WORLD
from cardan._robot.records import Actuator


class _Robot(NamedTuple):
    links: list[UrdfLink]
    joints: list[UrdfJoint]
    loops: list[UrdfJoint]
    frames: list[UrdfFrame]
    actuators: dict[str, tuple[Actuator, Element]]


def read(source: Source, options: Options) -> Description:
    """Return what a URDF holds; one written in xacro is expanded first."""
    root = parse(source)
    if is_xacro(root):
        from cardan._reach.formats.xacro import read as read_xacro  # few files need what it imports

        return read_xacro(source, options)
    return read_tree(source, options, root, Report(source.name))


def read_tree(source: Source, options: Options, root: Element, report: Report) -> Description:
    if not _is_robot(root, report):
        return Description(None, report)
    version = root.attributes.get("version", "1.0")
    meshes = Meshes(Places(source.folder, options.package_dirs))
    robot = _read_elements(UrdfReading(report, meshes, options.continuous, version), root)
    meshes.tell(report)
    if report.errors:
        return Description(None, report)
    return Description(_mechanism(report, root.attributes["name"], robot), report)


def _read_elements(reading: UrdfReading, root: Element) -> _Robot:
    report = reading.report
    VOCABULARY.review(report, root)
    for element in root.all("material"):
        read_global_material(reading, element)
    readers = {
        "link": read_link,
        "joint": read_joint,
        "loop": read_joint,
        "constraint": read_constraint,
        "frame": read_frame,
    }
    read = {tag: [reader(reading, e) for e in root.all(tag)] for tag, reader in readers.items()}
    if locked := reading.locked:  # one warning: files that lack them lack them in all joints
        told = "locked, as lower and upper of their limits are missing and count as 0"
        report.warn(next(iter(locked.values())), f"{told}: {first_of([*locked])}")
    if all(e.attributes.get("name") == WORLD for e in root.all("link")):
        report.error(root, "the robot has no <link>" + (" but the world" if read["link"] else ""))
    parts: dict[str, list[Any]] = {tag: [e for e in things if e is not None] for tag, things in read.items()}
    loops = [*parts["loop"], *parts["constraint"]]
    actuators = read_actuators(report, root, [*parts["joint"], *loops])
    robot = _Robot(parts["link"], parts["joint"], loops, parts["frame"], actuators)
    is_complete = len(robot.links) == len(read["link"]) and len(robot.joints) == len(read["joint"])
    _check_robot(report, robot, is_complete)
    return robot


_OTHER_ROOTS = {
    "sdf": "this is SDF, not URDF: name it .sdf",
    "mujoco": "this is MJCF (MuJoCo), not URDF: name it .mjcf or .xml",
    "COLLADA": "this is a mesh, not a robot",
    "html": "this is a web page, not a robot: was a download refused?",
}


def _is_robot(root: Element, report: Report) -> bool:
    if root.tag != "robot":
        hint = _OTHER_ROOTS.get(root.tag, "is this a URDF?")
        report.error(root, f"the root element is <{root.tag[:60]}>, expected <robot>; {hint}")
        return False
    report.text(root, "name")
    version = root.attributes.get("version", "1.0")
    if version not in VERSIONS:
        report.error(root, f"URDF version {version[:40]!r} is not known; the versions are {', '.join(VERSIONS)}")
    return True


def _mechanism(report: Report, name: str, robot: _Robot) -> Mechanism | None:
    mechanism = Mechanism(name)
    for link in robot.links:
        with report.described("body", link.name, link.element):
            if link.name != WORLD:
                mechanism._add_body(link.name, link.inertia)
            elif link.inertia is not None:
                report.remark(link.element, "the inertia of the link 'world' has no effect: it is the world")
            for shape in link.shapes:
                mechanism.add_shape(shape)
    for j in (*robot.joints, *robot.loops):  # after the joints of the tree, so that the loops close
        with report.described("joint", j.name, j.element):
            ends = j.parent, j.child, j.parent_pose, j.child_pose
            mechanism.add_joint(j.name, j.joint, *ends, j.limits, j.damping, j.friction, j.armature)
    for frame in robot.frames:
        with report.described("frame", frame.name, frame.element):
            mechanism.add_frame(frame.name, frame.link, frame.pose, frame.kind)
    for actuator, element in robot.actuators.values():
        with report.described("actuator", actuator.name, element):
            mechanism.add_actuator(actuator)
    return None if report.errors else mechanism


def _check_robot(report: Report, robot: _Robot, is_complete: bool) -> None:
    links, joints, loops, frames, _ = robot
    lines = {link.name: link.element.line for link in links}
    for kind, things in (("link", links), ("joint", [*joints, *loops]), ("frame", frames)):
        first: dict[str, int] = {}
        for thing in things:
            if thing.name in first:
                report.error(
                    thing.element, f"{kind} {quoted(thing.name)} is already defined in line {first[thing.name]}"
                )
            first.setdefault(thing.name, thing.element.line)
    known = [_check_ends(report, joint, "joint", lines) for joint in joints]
    _check_tree(report, links, joints, is_complete and all(known))
    _check_mimics(report, joints)
    for loop in loops:
        _check_ends(report, loop, "loop", lines)
        if loop.parent == loop.child:
            report.error(loop.element, f"loop {quoted(loop.name)} joins link {quoted(loop.parent)} with itself")
    for frame in frames:
        if frame.link != WORLD:
            _check_link(report, frame.element, f"frame {quoted(frame.name)}: its link", frame.link, lines)
        if frame.name == WORLD or frame.name in lines:
            what = "is the world" if frame.name == WORLD else f"is a link's name (line {lines[frame.name]}), too"
            report.error(frame.element, f"frame {quoted(frame.name)} {what}; give every link and frame its own name")


def _check_tree(report: Report, links: Sequence[UrdfLink], joints: Sequence[UrdfJoint], is_complete: bool) -> None:
    above: dict[str, UrdfJoint] = {}
    for joint in joints:
        first = above.setdefault(joint.child, joint)
        if first is not joint:
            named = f"joint {first.name!r} (line {first.element.line}) and {joint.name!r}; one of them must be a <loop>"
            report.error(next(joint.element.all("child")), f"link {quoted(joint.child)} has two parents: {named}")
    for loop in cycles({link: joint.parent for link, joint in above.items()}):
        report.error(above[loop[0]].element, f"the links form a loop: {_in_a_circle(loop, ' <- ')}")
    if WORLD in above:
        report.error(next(above[WORLD].element.all("child")), "the link 'world' is the world: it can only be the root")
    roots = [link for link in links if link.name not in above] if is_complete else []
    if len(roots) > 1:
        named = first_of([f"{quoted(link.name)} (line {link.element.line})" for link in roots])
        report.error(roots[1].element, f"the robot has {len(roots)} root links: {named}; join them with joints")


def _check_ends(report: Report, joint: UrdfJoint, owner: str, links: Mapping[str, int]) -> bool:
    roles = joint.roles
    ends = zip(roles, (joint.parent, joint.child), (next(joint.element.all(role)) for role in roles), strict=True)
    what = f"{owner} {quoted(joint.name)}: its"
    found = [_check_link(report, at, f"{what} {role} link", name, links) for role, name, at in ends]
    return all(found)  # of a list: each is an error of its own


def _check_link(report: Report, at: Element, what: str, name: str, links: Mapping[str, int]) -> bool:
    if name not in links:
        report.error(at, f"{what} {quoted(name)} does not exist{report.nearest(name, links)}")
    return name in links


def _check_mimics(report: Report, joints: Sequence[UrdfJoint]) -> None:
    by_name = {j.name: j for j in joints}
    copies = {j.name: j.joint.primary for j in joints if isinstance(j.joint, Mimic)}
    for joint in joints:
        if not isinstance(joint.joint, Mimic):
            continue
        name, at = joint.joint.primary, next(joint.element.all("mimic"))
        start = f"joint {quoted(joint.name)} ({joint.kind}) mimics {quoted(name)}"
        primary = by_name.get(name)
        if primary is None:
            report.error(at, f"{start}, which does not exist{report.nearest(name, by_name)}")
        elif primary.joint.nv != 1:
            expected = "only revolute, continuous and prismatic joints can be mimicked"
            report.error(at, f"{start}, which is {primary.kind}; {expected}")
        elif primary.joint.nq != joint.joint.nq:
            expected = "with continuous='unit_complex' both must be continuous, or neither"
            expected = f"{expected}; read with continuous='angle'"
            report.error(at, f"{start}, which is {primary.kind}; {expected}")
    for loop in cycles(copies):
        report.error(
            next(by_name[loop[0]].element.all("mimic")),
            f"these joints mimic each other: {_in_a_circle(loop, ' mimics ')}",
        )


def cycles(successor: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield each cycle of a map from names to names once; linear in the number of names."""
    cleared: set[str] = set()
    for start in successor:
        path: dict[str, None] = {}
        name = start
        while name in successor and name not in cleared and name not in path:
            path[name] = None
            name = successor[name]
        if name in path:
            names = list(path)
            yield names[names.index(name) :]
        cleared.update(path)


def _in_a_circle(loop: list[str], separator: str) -> str:
    names = [quoted(name) for name in (*loop[:8], *loop[:1])]
    if len(loop) > 8:
        names.insert(8, "...")
    return separator.join(names)
