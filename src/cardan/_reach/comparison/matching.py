"""Two robots side by side: bodies and joints by their names, and which of them one robot alone has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cardan._algebra.errors import DTypeError, MechanismError
from cardan._algebra.spatial import Inertia
from cardan._reach.comparison.differences import Difference
from cardan._reach.formats.load import options_for, read_robot
from cardan._robot.description import Mechanism
from cardan._robot.description.rooting import rooted
from cardan._robot.joints import FreeFlyer, Joint, Reversed
from cardan._robot.model import WORLD, Body, Connection, Model

Robot = Mechanism | Model | str | bytes | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class ComparedRobot:
    thing: Mechanism | Model  # the mechanism or model
    bodies: Mapping[str, Body]  # by name
    tree: Mapping[str, Connection]  # the joints of its tree by the child, directed away from the world
    closures: tuple[Connection, ...]  # the joints that close loops

    @classmethod
    def of(cls, thing: Mechanism | Model) -> ComparedRobot:
        """Return the view of a robot; the parts of a mechanism that do not hang on the world float."""
        bodies = {body.name: body for body in thing.bodies if body.name != WORLD}
        if isinstance(thing, Model):
            tree, closures = {c.child: c for c in thing.connections}, tuple(thing.closures)
        else:
            directed, closures = rooted(tuple(bodies), thing.joints, (), FreeFlyer(), ())
            described = {c.name for c in thing.joints}
            tree = {c.child: c for c in directed if c.name in described}
        return cls(thing, bodies, tree, closures)

    @property
    def name(self) -> str:
        return self.thing.name


def open_robot(robot: Robot, options: Mapping[str, Any]) -> Mechanism | Model:
    if isinstance(robot, (Mechanism, Model)):
        return robot
    if not isinstance(robot, (str, bytes, os.PathLike)):
        expected = "a mechanism, a model, or a robot description"
        raise DTypeError("compare", "robot", got=f"a {type(robot).__name__}", expected=expected)
    return read_robot(robot, **options_for(robot, options))


def alike(a: Mechanism | Model, b: Mechanism | Model) -> tuple[ComparedRobot, ComparedRobot]:
    """Return the views of two robots; where one is a model, the mechanism is made one with the same base."""
    if isinstance(a, Model) and isinstance(b, Mechanism):
        b = _on_base(b, a)
    elif isinstance(b, Model) and isinstance(a, Mechanism):
        a = _on_base(a, b)
    return ComparedRobot.of(a), ComparedRobot.of(b)


def _on_base(mechanism: Mechanism, like: Model) -> Model:
    own = {c.name for c in mechanism.joints}
    base = next((c for c in like.connections if c.parent == WORLD and c.name not in own), None)
    if base is None or any(visit.body == base.child for visit in mechanism.traversal(WORLD)):
        return mechanism.model()
    try:
        return mechanism.model(root=base.child, base=base.joint)
    except MechanismError:
        return mechanism.model()


@dataclass(frozen=True, slots=True)
class JointChain:
    """The joints from a body both robots have down to the next: one may move, the others are fixed."""

    above: str
    joints: tuple[Connection, ...]

    @property
    def moving(self) -> Connection:
        return next((c for c in self.joints if not is_fixed(c)), self.joints[-1])

    @property
    def is_single(self) -> bool:
        return sum(not is_fixed(c) for c in self.joints) <= 1


def is_fixed(c: Connection) -> bool:
    return c.joint.nv == 0 and not moved_by(c.joint).primaries


def moved_by(joint: Joint) -> Joint:
    """Return a joint without what only turns it round."""
    return joint.joint if isinstance(joint, Reversed) else joint


def order(view: ComparedRobot) -> list[str]:
    """Return all bodies, each after the one above it."""
    roots = [name for name in view.bodies if name not in view.tree]
    found: dict[str, None] = {}
    for body in (*roots, *view.tree):  # which is no such order in a model with another root
        path = []
        while body in view.bodies and body not in found:
            path.append(body)
            body = view.tree[body].parent if body in view.tree else WORLD
        found |= dict.fromkeys(reversed(path))
    return list(found)


def inertia(view: ComparedRobot, body: str) -> Inertia:
    return view.bodies[body].inertia or Inertia.zero()


def chains(view: ComparedRobot, common: set[str]) -> dict[str, JointChain]:
    """Return the joints above each body of a set, up to the next one of the set."""
    found = {}
    for body in order(view):
        if body not in common or body not in view.tree:
            continue
        joints = [view.tree[body]]
        # Fixed bodies that only one robot has are passed over.
        while joints[0].parent not in common and joints[0].parent in view.tree:
            joints.insert(0, view.tree[joints[0].parent])
        found[body] = JointChain(joints[0].parent, tuple(joints))
    return found


def compare_structure(a: ComparedRobot, b: ComparedRobot) -> list[Difference]:
    """Return which bodies and joints are missing or have another name, in the order of the tree."""
    found = [_missing(name, a, "b") for name in order(a) if name not in b.bodies]
    found += [_missing(name, b, "a") for name in order(b) if name not in a.bodies]
    for mine, theirs in joints_of_both(a, b):
        if mine.name != theirs.name and not is_fixed(mine):
            found.append(Difference("structure", mine.name, "this joint is called otherwise", mine.name, theirs.name))
    mine, theirs = ({c.name for c in view.closures} for view in (a, b))
    for names, where in ((mine - theirs, "a"), (theirs - mine, "b")):
        found += [Difference("structure", name, f"closes a loop in {where} alone") for name in sorted(names)]
    return found


def joints_of_both(a: ComparedRobot, b: ComparedRobot) -> list[tuple[Connection, Connection]]:
    """Return the joints above each body that hangs on one in both robots."""
    return [(a.tree[body], b.tree[body]) for body in order(a) if body in a.tree and body in b.tree]


def _missing(name: str, view: ComparedRobot, where: str) -> Difference:
    c = view.tree.get(name)
    how = f" (joint {c.name!r}, {type(moved_by(c.joint)).__name__})" if c is not None else ""
    return Difference("structure", name, f"this body{how} is missing in {where}")
