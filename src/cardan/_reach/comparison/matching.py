"""Which body of one robot is which of another: by name, then by place, kind of joint and mass."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cardan._algebra.errors import DTypeError, MechanismError
from cardan._algebra.spatial import Inertia
from cardan._reach.comparison.causes import FITS, Difference
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


def match_bodies(a: ComparedRobot, b: ComparedRobot) -> dict[str, str]:
    """Return the body of b for each of a that both have; those of one name, then those in one place."""
    pairs = {WORLD: WORLD} | {name: name for name in a.bodies if name in b.bodies}
    for body in order(a):
        if body not in pairs:
            other = _in_its_place(body, a, b, pairs)
            if other is not None:
                pairs[body] = other
    return pairs


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


def _in_its_place(body: str, a: ComparedRobot, b: ComparedRobot, pairs: Mapping[str, str]) -> str | None:
    """Return the one body of b that hangs where this one does, by such a joint, with its mass."""
    free = [name for name in b.bodies if name not in pairs.values() and name not in a.bodies]
    c = a.tree.get(body)
    if c is None:
        return free[0] if len(free) == 1 and free[0] not in b.tree else None
    mass = inertia(a, body).mass
    fits = [
        name
        for name in free
        if (d := b.tree.get(name)) is not None
        and d.parent == pairs.get(c.parent)
        and type(moved_by(d.joint)) is type(moved_by(c.joint))
        and abs(mass - inertia(b, name).mass) <= FITS * (mass + inertia(b, name).mass)
    ]
    named = [name for name in fits if b.tree[name].name == c.name]
    return named[0] if len(named) == 1 else fits[0] if len(fits) == 1 else None


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


def compare_structure(a: ComparedRobot, b: ComparedRobot, pairs: Mapping[str, str]) -> list[Difference]:
    """Return which bodies and joints are missing or have another name, in the order of the tree."""
    found = [_missing(name, a, "b") for name in order(a) if name not in pairs]
    found += [_missing(name, b, "a") for name in order(b) if name not in pairs.values()]
    for name, other in pairs.items():
        if name != other:
            cause = "same place, joint and mass"
            found.append(Difference("structure", name, "is called otherwise", name, other, cause))
        mine, theirs = a.tree.get(name), b.tree.get(other)
        if mine is not None and theirs is not None and mine.name != theirs.name and not is_fixed(mine):
            found.append(Difference("structure", mine.name, "this joint is called otherwise", mine.name, theirs.name))
    mine, theirs = ({c.name for c in view.closures} for view in (a, b))
    for names, where in ((mine - theirs, "a"), (theirs - mine, "b")):
        found += [Difference("structure", name, f"closes a loop in {where} alone") for name in sorted(names)]
    return found


def _missing(name: str, view: ComparedRobot, where: str) -> Difference:
    c = view.tree.get(name)
    how = f" (joint {c.name!r}, {type(moved_by(c.joint)).__name__})" if c is not None else ""
    return Difference("structure", name, f"this body{how} is missing in {where}")
