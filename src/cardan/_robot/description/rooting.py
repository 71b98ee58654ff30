"""Rooting: from an undirected mechanism to a tree that hangs on the world, any body or frame of it as the root.

The spanning tree is the same for every root: joints are taken in document order, and one whose two bodies are already
connected by those before it closes a loop. (Mimic joints, and what they copy, are taken first: they need coordinates.)
Then every joint is directed away from the world; where that is against its description, it is reversed
(`joints/catalogue/of_another.py`), which changes neither its coordinates, velocities and limits nor who mimics whom.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from cardan._algebra.errors import MechanismError, check_new
from cardan._robot.joints import Joint
from cardan._robot.model import WORLD, Connection
from cardan._robot.model.layout import outwards


class Forest:
    """Which bodies are connected: disjoint sets.

    Source: Tarjan, Efficiency of a good but not linear set union algorithm (1975).
    """

    def __init__(self, bodies: Iterable[str], joined: Iterable[tuple[str, str]] = ()) -> None:
        self.above = {body: body for body in bodies}
        for a, b in joined:
            self.join(a, b)

    def find(self, body: str) -> str:
        """Return the body that stands for the connected part."""
        while self.above[body] != body:
            self.above[body] = body = self.above[self.above[body]]
        return body

    def join(self, a: str, b: str) -> bool:
        """Connect two bodies; return whether they were apart."""
        a, b = self.find(a), self.find(b)
        self.above[a] = b
        return a != b

    def anchors(self, bodies: Iterable[str], rank: Callable[[str], int], world: str = WORLD) -> list[str]:
        """Return one body of each part of some bodies that does not hang on the world: the first of the lowest rank."""
        parts: dict[str, list[str]] = {}
        for body in bodies:
            parts.setdefault(self.find(body), []).append(body)
        parts.pop(self.find(world), None)
        return [min(members, key=rank) for members in parts.values()]


def rooted(
    bodies: Sequence[str],
    joints: Sequence[Connection],
    bases: Sequence[Connection],
    base: Joint,
    closing: Sequence[str],
) -> tuple[tuple[Connection, ...], tuple[Connection, ...]]:
    """Return the joints directed away from the world, and those that close loops, as they are described.

    Base joints come first, then those of the spanning tree in document order, each from parent to child. Bases lead
    from the world to a root that the caller chose; every other part that does not hang on the world is attached to it
    by `base`. Joints of `closing` close a loop; `MechanismError` if one of them, or a mimic, cannot be what it must be.
    """
    # Roots that the caller chose come before all joints: a joint that leads back to the world then closes a loop.
    forest = Forest((WORLD, *bodies), ((WORLD, c.child) for c in bases))
    chosen = _spanning(forest, joints, closing)
    tree = [c for c in joints if c.name in chosen]
    closures = tuple(c for c in joints if c.name not in chosen)
    more = _attached(forest, bodies, tree, base, {c.name for c in (*joints, *bases)}, first=not bases)
    return _directed((*bases, *more, *tree)), closures


def _spanning(forest: Forest, joints: Sequence[Connection], closing: Sequence[str]) -> set[str]:
    # Mimics and what they copy are joined first, so that none of them closes a loop if another joint can.
    copied = {name for c in joints for name in c.joint.primaries}
    first = [c for c in joints if c.joint.primaries or c.name in copied]
    early = {c.name for c in first}
    rest = [c for c in joints if c.name not in early and c.name not in closing]
    chosen = {c.name for c in (*first, *rest) if c.name not in closing and forest.join(c.parent, c.child)}
    for c in first:
        if c.name not in chosen:
            kind = "mimics another" if c.joint.primaries else "is copied by a mimic joint"
            raise MechanismError(
                f"joint {c.name!r} {kind} and needs coordinates, but it closes a loop; "
                "let another joint of the loop close it: model(closing=[...])."
            )
    for c in joints:
        if c.name in closing and forest.find(c.parent) != forest.find(c.child):
            raise MechanismError(f"joint {c.name!r} closes no loop: {c.child!r} hangs on it; add a FreeFlyer first.")
    return chosen


def _attached(
    forest: Forest, bodies: Sequence[str], tree: Sequence[Connection], base: Joint, taken: set[str], *, first: bool
) -> list[Connection]:
    """Return a base joint for each part that does not hang on the world, at its first body that is no one's child."""
    children = {c.child for c in tree}
    anchors = forest.anchors(bodies, lambda body: body in children)
    names = [base_name(body, taken, plain=first and k == 0) for k, body in enumerate(anchors)]
    return [Connection(name, base, WORLD, body) for name, body in zip(names, anchors, strict=True)]


def base_name(body: str, taken: Collection[str], *, plain: bool = True) -> str:
    """Return the name of a body's base joint: `root`, or `root_<body>` where a joint of the robot is named so."""
    name = "root" if plain and "root" not in taken else f"root_{body}"
    check_new("joint", name, taken, "the mechanism (this name is the base joint's)")
    return name


def _directed(joints: Sequence[Connection]) -> tuple[Connection, ...]:
    """Return the joints of a tree, each from the side of the world outwards."""
    directed = {c.name: c if c.parent == body else c.reversed() for c, body, _ in outwards((WORLD,), joints)}
    return tuple(directed[c.name] for c in joints)
