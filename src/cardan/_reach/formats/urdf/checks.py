"""What must hold between the links and joints of a robot: names, one tree, mimic joints. Faults go to the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cardan._algebra.errors import quoted
from cardan._reach.formats.report import Report
from cardan._reach.formats.urdf.joints import ENDS, LOOP_ENDS, UrdfJoint
from cardan._reach.formats.urdf.links import UrdfFrame, UrdfLink
from cardan._robot.joints import Mimic
from cardan._robot.model import WORLD


def check_robot(
    report: Report,
    links: Sequence[UrdfLink],
    joints: Sequence[UrdfJoint],
    loops: Sequence[UrdfJoint],
    frames: Sequence[UrdfFrame],
    *,
    complete: bool,
) -> None:
    lines = {link.name: link.line for link in links}
    for kind, things in (("link", links), ("joint", [*joints, *loops]), ("frame", frames)):
        first: dict[str, int] = {}
        for thing in things:
            if thing.name in first:
                report.error(thing.line, f"{kind} {quoted(thing.name)} is already defined in line {first[thing.name]}")
            first.setdefault(thing.name, thing.line)
    known = [_check_ends(report, joint, "joint", ENDS, lines) for joint in joints]
    _check_tree(report, links, joints, complete=complete and all(known))
    _check_mimics(report, joints)
    for loop in loops:
        _check_ends(report, loop, "loop", LOOP_ENDS, lines)
        if loop.parent == loop.child:
            report.error(loop.line, f"loop {quoted(loop.name)} joins link {quoted(loop.parent)} with itself")
    for frame in frames:
        if frame.link != WORLD:
            _check_link(report, frame.line, f"frame {quoted(frame.name)}: its link", frame.link, lines)
        if frame.name == WORLD or frame.name in lines:
            what = "is the world" if frame.name == WORLD else f"is a link's name (line {lines[frame.name]}), too"
            report.error(frame.line, f"frame {quoted(frame.name)} {what}; give every link and frame its own name")


def _check_tree(report: Report, links: Sequence[UrdfLink], joints: Sequence[UrdfJoint], *, complete: bool) -> None:
    above = _joint_above(report, joints)
    for loop in cycles({link: joint.parent for link, joint in above.items()}):
        report.error(above[loop[0]].line, f"the links form a loop: {_in_a_circle(loop, ' <- ')}")
    if WORLD in above:
        report.error(above[WORLD].child_line, "the link 'world' is the world: it can only be the root")
    roots = [link for link in links if link.name not in above] if complete else []
    if len(roots) > 1:
        named = ", ".join(f"{k.name!r} (line {k.line})" for k in roots[:4]) + (", ..." if len(roots) > 4 else "")
        report.error(roots[1].line, f"the robot has {len(roots)} root links: {named}; join them with joints")


def _check_ends(report: Report, joint: UrdfJoint, owner: str, roles: Sequence[str], links: Mapping[str, int]) -> bool:
    """Return whether both links of a joint or loop exist."""
    ends = zip(roles, (joint.parent, joint.child), (joint.parent_line, joint.child_line), strict=True)
    what = f"{owner} {quoted(joint.name)}"
    found = [
        _check_link(report, line, f"{what}: its {role} link", name, links) for role, name, line in ends
    ]  # each is an error of its own
    return all(found)


def _check_link(report: Report, line: int, what: str, name: str, links: Mapping[str, int]) -> bool:
    if name not in links:
        report.error(line, f"{what} {quoted(name)} does not exist{report.nearest(name, links)}")
    return name in links


def _joint_above(report: Report, joints: Sequence[UrdfJoint]) -> dict[str, UrdfJoint]:
    above: dict[str, UrdfJoint] = {}
    for joint in joints:
        first = above.setdefault(joint.child, joint)
        if first is not joint:
            named = f"joint {first.name!r} (line {first.line}) and {joint.name!r}; one of them must be a <loop>"
            report.error(joint.child_line, f"link {quoted(joint.child)} has two parents: {named}")
    return above


def _check_mimics(report: Report, joints: Sequence[UrdfJoint]) -> None:
    by_name = {j.name: j for j in joints}
    copies = {j.name: j.joint.primary for j in joints if isinstance(j.joint, Mimic)}
    for j in joints:
        if isinstance(j.joint, Mimic):
            _check_primary(report, j, j.joint.primary, by_name)
    for loop in cycles(copies):
        report.error(by_name[loop[0]].mimic_line, f"these joints mimic each other: {_in_a_circle(loop, ' mimics ')}")


def _check_primary(report: Report, joint: UrdfJoint, name: str, joints: Mapping[str, UrdfJoint]) -> None:
    start = f"joint {quoted(joint.name)} ({joint.kind}) mimics {quoted(name)}"
    primary = joints.get(name)
    if primary is None:
        report.error(joint.mimic_line, f"{start}, which does not exist{report.nearest(name, joints)}")
    elif primary.joint.nv != 1:
        expected = "only revolute, continuous and prismatic joints can be mimicked"
        report.error(joint.mimic_line, f"{start}, which is {primary.kind}; {expected}")
    elif primary.joint.nq != joint.joint.nq:
        expected = "with continuous='unit_complex' both must be continuous, or neither; read with continuous='angle'"
        report.error(joint.mimic_line, f"{start}, which is {primary.kind}; {expected}")


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
