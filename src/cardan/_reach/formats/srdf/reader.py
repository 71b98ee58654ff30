"""The SRDF reader: groups, named configurations, end effectors and disabled contacts onto a mechanism.

As MoveIt has it, a joint brings its child link into a group, a link the joint above it, a chain all links from base to
tip and the joints between; a group in a group all of its own. A state is the configuration of its name, or
`"group/state"` where two groups have a state of that name. What names links or joints this robot has not is left out,
with one warning: an SRDF is often shared by variants of a robot.

Source: the SRDF specification of MoveIt (wiki.ros.org/srdf).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import cos, isfinite, nan, sin

from cardan._algebra.errors import CardanError, quoted
from cardan._reach.formats.reading import Description, Options
from cardan._reach.formats.report import NUMBER, Report, listed
from cardan._reach.formats.source import Source
from cardan._reach.formats.srdf.schema import VOCABULARY
from cardan._reach.formats.xml import Element, is_xacro, parse
from cardan._robot.description import Mechanism
from cardan._robot.description.paths import BodyGraph
from cardan._robot.joints import UnboundedRevolute
from cardan._robot.model import WORLD, Connection
from cardan._robot.records import Group

MAX_PAIRS = 1_000_000  # that <disable_default_collisions> may make of few lines
MAX_PARTS = 1000  # of a kind: groups, chains, end effectors, states
MAX_NESTING = 100  # of groups in groups
SHOWN = 4


def read(source: Source, options: Options) -> Description:
    report = Report(source.name)
    report.error(1, "an SRDF says something about a robot and describes none: cardan.load(robot, srdf=this file)")
    return Description(None, report)


def add_to(mechanism: Mechanism, options: Options, report: Report) -> None:
    source = Source.of(options.srdf)
    root: Element | None = parse(source)
    if is_xacro(root):
        from cardan._reach.formats.xacro import expand  # few files need what it imports

        root = expand(root, source, options, report)
    if root is None:
        return
    if root.tag != "robot":
        report.error(root, f"the root element is <{root.tag[:60]}>, expected <robot>; is this an SRDF?")
        return
    VOCABULARY.review(report, root)
    _Reading(mechanism, report, root).add()


@dataclass(slots=True)
class _Found:
    """A group as it is collected: names in the order they are met."""

    element: Element
    bodies: dict[str, None] = field(default_factory=dict)
    joints: dict[str, None] = field(default_factory=dict)
    tip: str = ""


class _Reading:
    """One SRDF and the mechanism it is about."""

    def __init__(self, mechanism: Mechanism, report: Report, root: Element) -> None:
        self.mechanism, self.report, self.root = mechanism, report, root
        self.joints = {c.name: c for c in mechanism.joints}
        self.bodies = {WORLD, *(body.name for body in mechanism.bodies)}
        self.graph = BodyGraph(tuple(body.name for body in mechanism.bodies), mechanism.joints, mechanism.frames)
        self.above = {c.child: c for c in reversed(tuple(self.graph.tree.values()))}
        self.virtual = {e.attributes.get("name") for e in root.all("virtual_joint")}
        self.absent: dict[str, Element] = {}
        self.groups: dict[str, _Found] = {}

    def add(self) -> None:
        counts = Counter(element.tag for element in self.root.walk())
        counts["group"] = sum(1 for _ in self.root.all("group"))  # not those that are named in groups
        for tag in ("group_state", "chain", "end_effector", "group"):
            if counts[tag] > MAX_PARTS:
                self.report.error(self.root, f"more than {MAX_PARTS} <{tag}>")
        if self.report.errors:
            return
        elements = self._named("group")
        for name in elements:
            self._group(name, elements, ())
        for element in self.root.all("end_effector"):
            self._end_effector(element)
        for name, found in self.groups.items():
            with self.report.blamed(found.element):
                self.mechanism.add_group(Group(name, tuple(found.bodies), tuple(found.joints), found.tip))
        self._states()
        self._contacts()
        self._tell_absent()

    def _named(self, tag: str) -> dict[str, Element]:
        found: dict[str, Element] = {}
        for element in self.root.all(tag):
            name = self.report.text(element, "name")
            if name in found:
                self.report.error(element, f"{tag} {quoted(name)} is already defined in line {found[name].line}")
            elif name is not None:
                found[name] = element
        return found

    def _group(self, name: str, elements: dict[str, Element], above: tuple[str, ...]) -> _Found:
        if name in self.groups:
            return self.groups[name]
        element = elements[name]
        found = _Found(element)
        if len(above) >= MAX_NESTING:
            self.report.error(element, f"groups are in one another more than {MAX_NESTING} deep")
            return found
        for part in element.children:
            if part.tag == "group":
                inside = self.report.text(part, "name")
                if inside in (*above, name):
                    self.report.error(part, f"group {quoted(inside or '')} is in itself: {' in '.join((*above, name))}")
                elif inside is not None and inside not in elements:
                    self.absent.setdefault(f"group {inside}", part)
                elif inside is not None:
                    other = self._group(inside, elements, (*above, name))
                    found.bodies |= other.bodies
                    found.joints |= other.joints
            else:
                self._part(part, found)
        self.groups[name] = found
        return found

    def _part(self, part: Element, found: _Found) -> None:
        if part.tag == "link":
            link = self._link(part, "name")
            if link is not None:
                found.bodies[link] = None
                found.joints |= {self.above[link].name: None} if link in self.above else {}
        elif part.tag == "joint":
            joint = self._joint(part)
            if joint is not None:
                found.joints[joint.name] = None
                found.bodies[joint.child] = None
        elif part.tag == "chain":
            self._chain(part, found)

    def _chain(self, part: Element, found: _Found) -> None:
        base, tip = self._link(part, "base_link"), self._link(part, "tip_link")
        if base is None or tip is None:
            return
        try:
            path = self.graph.path(tip, base)
        except CardanError as error:
            self.report.error(part, str(error))
            return
        for c in path:
            found.joints[c.name] = None
        for link in dict.fromkeys((base, *(end for c in path for end in (c.parent, c.child)), tip)):
            found.bodies[link] = None

    def _end_effector(self, element: Element) -> None:
        """Give the group an end effector is mounted on its tip."""
        group = element.attributes.get("group", "")
        if group not in self.groups:
            near = self.report.nearest(group, self.groups)
            self.report.remark(element, f"end effector of group {quoted(group)}, which does not exist{near}")
            return
        holder = element.attributes.get("parent_group") or self._holder(group, element.attributes.get("parent_link"))
        if holder not in self.groups:
            self.report.remark(element, f"no group holds the end effector {quoted(group)}: none has its parent_link")
        else:
            self.groups[holder].tip = group

    def _holder(self, tool: str, link: str | None) -> str | None:
        own = self.groups[tool].joints.keys()
        others = {name: g for name, g in self.groups.items() if name != tool and link in g.bodies}
        fits = [name for name, g in others.items() if not own & g.joints.keys()]
        return min(fits, key=lambda name: len(others[name].joints), default=None)

    def _states(self) -> None:
        states = list(self.root.all("group_state"))
        often = Counter(state.attributes.get("name") for state in states)
        for state in states:
            name, group = self.report.text(state, "name"), state.attributes.get("group", "")
            if group not in self.groups:
                which = f"state {quoted(name or '')} is of the group {quoted(group)}"
                self.report.remark(state, f"{which}, which is not there")
            values = dict(self._values(state))
            if name is not None and values:
                with self.report.blamed(state):
                    self.mechanism.add_configuration(f"{group}/{name}" if often[name] > 1 else name, values)

    def _values(self, state: Element) -> Iterator[tuple[str, tuple[float, ...]]]:
        for element in state.all("joint"):
            connection = self._joint(element)
            numbers = self._numbers(element)
            if connection is None or numbers is None:
                continue
            if connection.joint.nq == 0 or connection.joint.primaries:
                why = "follows another" if connection.joint.primaries else "does not move"
                self.report.remark(element, f"joint {quoted(connection.name)} {why}: its value is not used")
                continue
            if isinstance(connection.joint, UnboundedRevolute) and len(numbers) == 1:
                numbers = (cos(numbers[0]), sin(numbers[0]))
            if len(numbers) != connection.joint.nq:
                expected = f"{connection.joint.nq} numbers, got {len(numbers)}"
                self.report.error(element, f"value of joint {quoted(connection.name)}: expected {expected}")
                continue
            if all(map(isfinite, numbers)):
                try:  # the coordinates nearest to rounded ones, as of a quaternion with four digits
                    numbers = tuple(map(float, connection.joint.normalize(numbers)))
                except ArithmeticError:
                    numbers = (nan,)
                if not all(map(isfinite, numbers)):
                    near = " ".join(f"{e:g}" for e in connection.joint.neutral())
                    why = f"these are no coordinates; at rest it has {near}"
                    self.report.error(element, f"value of joint {quoted(connection.name)}: {why}")
                    continue
            yield connection.name, numbers

    def _numbers(self, element: Element) -> tuple[float, ...] | None:
        text = self.report.text(element, "value")
        if text is None:
            return None
        words = text.split()
        if len(words) > 16 or not all(NUMBER.fullmatch(word) for word in words):
            self.report.error(element, f"<joint value={text[:60]!r}>: expected numbers")
            return None
        return tuple(map(float, words))

    def _contacts(self) -> None:
        """Disable the pairs that are named, and all of links that touch nothing by default but what is enabled."""
        pairs = dict.fromkeys(self._pairs("disable_collisions"))
        enabled = {frozenset(pair) for pair in self._pairs("enable_collisions")}
        alone = [self._link(e, "link") for e in self.root.all("disable_default_collisions")]
        shaped = list(dict.fromkeys(s.body for s in self.mechanism.shapes if s.role == "collision"))
        if len(alone) * len(shaped) > MAX_PAIRS:
            self.report.error(self.root, f"<disable_default_collisions> disables more than {MAX_PAIRS} pairs")
            return
        pairs |= {(one, other): None for one in alone if one is not None for other in shaped if other != one}
        known = {frozenset(pair) for pair in self.mechanism.disabled_contacts} | enabled
        for pair in pairs:
            if frozenset(pair) not in known:
                self.mechanism.disable_contact(*pair)
                known.add(frozenset(pair))

    def _pairs(self, tag: str) -> Iterator[tuple[str, str]]:
        for element in self.root.all(tag):
            one, other = self._link(element, "link1"), self._link(element, "link2")
            if one is not None and other is not None and one != other:
                yield one, other

    def _link(self, element: Element, attribute: str) -> str | None:
        name = self.report.text(element, attribute)
        if name is not None and name not in self.bodies:
            self.absent.setdefault(f"link {name}", element)
            return None
        return name

    def _joint(self, element: Element) -> Connection | None:
        name = self.report.text(element, "name")
        if name is None or name in self.virtual:
            return None
        if name not in self.joints:
            self.absent.setdefault(f"joint {name}", element)
        return self.joints.get(name)

    def _tell_absent(self) -> None:
        if not self.absent:
            return
        kind, _, name = next(iter(self.absent)).partition(" ")
        known = {"joint": self.joints, "link": self.bodies, "group": self.groups}
        near = self.report.nearest(name, known[kind])
        first = next(iter(self.absent.values()))
        names = listed(self.absent, SHOWN)
        self.report.warn(first, f"the robot has no {names}: what is said of them is left out{near}")
