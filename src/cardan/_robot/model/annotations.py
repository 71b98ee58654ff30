"""What a description says beside bodies, joints and frames: it travels with them, and the dynamics never reads it.

Shapes, actuators, groups, named configurations, pairs that do not touch and surfaces of pairs are one record, so that
every edit and every model carries all of them: what becomes of them follows from what becomes of the bodies and joints
they name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cardan._algebra.by_fields import ByFields
from cardan._algebra.errors import ParameterError, ShapeError, UnknownNameError, check_distinct, check_known, first_of
from cardan._algebra.spatial import SE3
from cardan._robot.joints import Joint
from cardan._robot.joints.derivation.programs import replaced
from cardan._robot.records import WORLD, Actuator, Configuration, Connection, ContactSurface, Drive, Group, along

if TYPE_CHECKING:
    from cardan._robot.geometry.shapes import Shape

Renaming = Callable[[str], str]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Annotations(ByFields):
    """Shapes, actuators, groups, named configurations and contacts of bodies and joints."""

    shapes: tuple[Shape, ...] = ()  # visual and collision shapes
    actuators: tuple[Actuator, ...] = ()  # what drives the joints
    groups: tuple[Group, ...] = ()  # of bodies and joints
    configurations: tuple[Configuration, ...] = ()  # coordinates by joint
    disabled_contacts: tuple[tuple[str, str], ...] = ()  # pairs of bodies whose shapes do not touch
    contact_surfaces: tuple[ContactSurface, ...] = ()  # what contact of two bodies feels, which then touch
    self_collision: bool = False  # whether shapes of one articulation may touch one another

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield the kind and name of everything that has one of its own."""
        lists = {"actuator": self.actuators, "group": self.groups, "configuration": self.configurations}
        yield from ((kind, record.name) for kind, records in lists.items() for record in records)

    def check(self, bodies: Collection[str], joints: Mapping[str, Joint]) -> None:
        """Raise unless all bodies (without the world) and joints named here exist, and names are unique."""
        for kind in ("actuator", "group", "configuration"):
            check_distinct(kind, (name for own, name in self.named() if own == kind), "the annotations")
        known = {"body": {WORLD, *bodies}, "joint": joints}
        for kind, where, names in (
            *(("body", f"shape {s.name!r}", (s.body,)) for s in self.shapes),
            *(("body", f"group {g.name!r}", g.bodies) for g in self.groups),
            *(("body", "disabled contacts", pair) for pair in self.disabled_contacts),
            *(("body", "contact surfaces", (own.a, own.b)) for own in self.contact_surfaces),
            *(("joint", f"actuator {a.name!r}", a.joints) for a in self.actuators),
            *(("joint", f"group {g.name!r}", g.joints) for g in self.groups),
        ):
            for name in names:
                check_known(kind, name, known[kind], where)
        for actuator in self.actuators:
            check_gears(actuator, joints)
        for configuration in self.configurations:
            check_coordinates(configuration, joints)

    def renamed(self, new: Renaming) -> Annotations:
        """Return them with every name but the world's replaced."""
        moved = lambda names: tuple(map(new, names))  # noqa: E731
        return Annotations(
            tuple(replaced(s, body=new(s.body)) for s in self.shapes),
            tuple(replace(a, name=new(a.name), joints=moved(a.joints)) for a in self.actuators),
            tuple(Group(new(g.name), moved(g.bodies), moved(g.joints), g.tip and new(g.tip)) for g in self.groups),
            tuple(
                Configuration(new(c.name), {new(j): own for j, own in c.coordinates.items()})
                for c in self.configurations
            ),
            tuple((new(a), new(b)) for a, b in self.disabled_contacts),
            tuple(replace(own, a=new(own.a), b=new(own.b)) for own in self.contact_surfaces),
            self.self_collision,
        )

    @staticmethod
    def joined(all_of: Sequence[Annotations], where: str) -> Annotations:
        """Return all; a configuration of one name has all joints of any, and shapes touch if any says so."""

        def together(kind: str) -> tuple[Any, ...]:
            return tuple(record for own in all_of for record in getattr(own, kind))

        actuators, groups = together("actuators"), together("groups")
        check_distinct("actuator", (a.name for a in actuators), where)
        check_distinct("group", (g.name for g in groups), where)
        coordinates: dict[str, dict[str, Any]] = {}
        for c in together("configurations"):
            coordinates.setdefault(c.name, {}).update(c.coordinates)
        return Annotations(
            together("shapes"),
            actuators,
            groups,
            tuple(Configuration(name, own) for name, own in coordinates.items()),
            tuple(dict.fromkeys(together("disabled_contacts"))),
            together("contact_surfaces"),
            any(own.self_collision for own in all_of),
        )

    def without(
        self, bodies: Collection[str] = (), joints: Collection[str] = (), still: Collection[str] = ()
    ) -> Annotations:
        """Return what is left of them without some bodies and joints; `still` are joints with other coordinates now.

        With a body go its shapes and pairs, with a joint the actuators on it and its coordinates. A group that loses
        all it holds goes, too.
        """
        unmoved = {*joints, *still}
        groups = []
        for group in self.groups:
            left = [b for b in group.bodies if b not in bodies], [j for j in group.joints if j not in joints]
            if any(left) or not (group.bodies or group.joints):
                groups.append(replace(group, bodies=left[0], joints=left[1]))
        tips = {group.name for group in groups}
        return Annotations(
            tuple(s for s in self.shapes if s.body not in bodies),
            # An actuator that lost one of its joints is another actuator: it goes as a whole.
            tuple(a for a in self.actuators if unmoved.isdisjoint(a.joints)),
            tuple(g if g.tip in tips or not g.tip else replace(g, tip="") for g in groups),
            tuple(
                Configuration(c.name, {j: own for j, own in c.coordinates.items() if j not in unmoved})
                for c in self.configurations
            ),
            tuple(pair for pair in self.disabled_contacts if pair[0] not in bodies and pair[1] not in bodies),
            tuple(own for own in self.contact_surfaces if own.a not in bodies and own.b not in bodies),
            self.self_collision,
        )

    def widened(self, joint: str, nv: int, more: int) -> Annotations:
        """Return them for a joint with more coordinates behind its own nv: 0 in configurations, not driven."""

        def geared(actuator: Actuator) -> Actuator:
            gear = [
                row if name != joint else row * (nv if len(row) == 1 else 1) + (0.0,) * more
                for name, row in actuator._rows()
            ]
            return replace(actuator, gear=gear)

        def stretched(c: Configuration) -> Configuration:
            return Configuration(c.name, {**c.coordinates, joint: (*c.coordinates[joint], *[0.0] * more)})

        return replace(
            self,
            actuators=tuple(geared(a) if joint in a.joints else a for a in self.actuators),
            configurations=tuple(stretched(c) if joint in c.coordinates else c for c in self.configurations),
        )

    def without_drives(self, drives: Mapping[str, Drive]) -> Annotations:
        """Return them without the actuators that are exactly some joints' drives, given by joint."""
        stale = {a.name for a in self.actuators if a.joints[0] in drives and a.drive() == drives[a.joints[0]]}
        return replace(self, actuators=tuple(a for a in self.actuators if a.name not in stale))

    def moved(self, body: str, onto: str, X: SE3) -> Annotations:
        """Return them with what is on a body on another one, where the body's frame is at X."""
        there = lambda name: onto if name == body else name  # noqa: E731
        # Two pairs may become one, and a pair one body: both say nothing new.
        pairs = dict.fromkeys((there(a), there(b)) for a, b in self.disabled_contacts)
        surfaces = [replace(own, a=there(own.a), b=there(own.b)) for own in self.contact_surfaces]
        return replace(
            self,
            shapes=tuple(replace(s, body=onto, pose=X @ s.pose) if s.body == body else s for s in self.shapes),
            groups=tuple(replace(g, bodies=tuple(dict.fromkeys(map(there, g.bodies)))) for g in self.groups),
            disabled_contacts=tuple(pair for pair in pairs if pair[0] != pair[1]),
            contact_surfaces=tuple(own for own in surfaces if own.a != own.b),
        )


def check_gears(actuator: Actuator, joints: Mapping[str, Joint]) -> None:
    """Raise `ShapeError` unless an actuator's gears fit its joints: one number, or nv; of a follower its own."""
    for name, gear in actuator._rows():
        nv = along(joints[name])
        if nv == 0 or len(gear) not in (1, nv):
            expected = f"1 or {nv}" if nv else "a joint that moves"
            raise ShapeError(
                f"actuator {actuator.name!r}", f"gear of joint {name!r}", got=(len(gear),), expected=expected
            )


def names_told(joint: Joint, along_v: bool = False) -> str:
    """Return what the coordinates or velocities of a joint are, for an error about how many were given."""
    if joint.primaries:
        return f"It moves with {first_of(joint.primaries)}: give them there."
    names = joint.velocity_names if along_v else joint.coordinate_names
    return f"They are {first_of(names)}, together." if names else "It does not move."


def check_coordinates(configuration: Configuration, joints: Mapping[str, Joint]) -> None:
    """Raise unless a configuration's coordinates are those of joints that have some, and no quaternion is 0."""
    where = f"configuration {configuration.name!r}"
    for name, own in configuration.coordinates.items():
        if name not in joints or joints[name].primaries:
            known = [n for n, joint in joints.items() if not joint.primaries]
            raise UnknownNameError("joint with coordinates", name, known, where=where)
        nq = joints[name].nq
        if len(own) != nq:
            raise ShapeError(where, name, got=(len(own),), expected=f"({nq},)", hint=names_told(joints[name]))
        if not all(any(own[start:stop]) for start, stop in joints[name].manifold.unit_parts()):
            raise ParameterError(f"{where}: {name!r}", got=own, expected="a direction of a length that is not 0")


def kinds_of(connections: Iterable[Connection]) -> dict[str, Joint]:
    """Return joints by name."""
    return {c.name: c.joint for c in connections}
