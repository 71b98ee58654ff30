"""Which body of one robot is which of another: by name, then by place, kind of joint and mass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cardan._algebra.spatial import Inertia
from cardan._reach.comparison.causes import FITS
from cardan._reach.comparison.result import Difference
from cardan._reach.comparison.view import View
from cardan._robot.joints import Joint, Mimic, Reversed
from cardan._robot.model import WORLD, Connection


@dataclass(frozen=True, slots=True)
class Chain:
    """The joints from a body both robots have down to the next: one may move, the others are fixed."""

    above: str
    joints: tuple[Connection, ...]

    @property
    def moving(self) -> Connection:
        """The joint that moves, or the last."""
        return next((c for c in self.joints if not is_fixed(c)), self.joints[-1])

    @property
    def is_single(self) -> bool:
        """Whether at most one joint moves."""
        return sum(not is_fixed(c) for c in self.joints) <= 1


def is_fixed(c: Connection) -> bool:
    """Return whether a joint does not move."""
    return c.joint.nv == 0 and not isinstance(moved_by(c.joint), Mimic)


def moved_by(joint: Joint) -> Joint:
    """Return a joint without what only turns it round."""
    return joint.joint if isinstance(joint, Reversed) else joint


def matched(a: View, b: View) -> dict[str, str]:
    """Return the body of b for each of a that both have; those of one name, then those in one place."""
    pairs = {WORLD: WORLD} | {name: name for name in a.bodies if name in b.bodies}
    for body in order(a):
        if body not in pairs:
            other = _in_its_place(body, a, b, pairs)
            if other is not None:
                pairs[body] = other
    return pairs


def order(view: View) -> list[str]:
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


def _in_its_place(body: str, a: View, b: View, pairs: Mapping[str, str]) -> str | None:
    """Return the one body of b that hangs where this one does, by such a joint, with its mass."""
    free = [name for name in b.bodies if name not in pairs.values() and name not in a.bodies]
    c = a.tree.get(body)
    if c is None:
        return free[0] if len(free) == 1 and free[0] not in b.tree else None
    fits = [
        name
        for name in free
        if (d := b.tree.get(name)) is not None
        and d.parent == pairs.get(c.parent)
        and type(moved_by(d.joint)) is type(moved_by(c.joint))
        and abs(mass(a, body) - mass(b, name)) <= FITS * (mass(a, body) + mass(b, name))
    ]
    named = [name for name in fits if b.tree[name].name == c.name]
    return named[0] if len(named) == 1 else fits[0] if len(fits) == 1 else None


def mass(view: View, body: str) -> float:
    """Return the mass of a body [kg]."""
    return float(inertia(view, body).mass)


def inertia(view: View, body: str) -> Inertia:
    """Return the inertia of a body, zero if it has none."""
    return view.bodies[body].inertia or Inertia.zero()


def chains(view: View, common: set[str]) -> dict[str, Chain]:
    """Return the joints above each body of a set, up to the next one of the set."""
    found = {}
    for body in order(view):
        if body not in common or body not in view.tree:
            continue
        joints = [view.tree[body]]
        while joints[0].parent not in common and joints[0].parent in view.tree:
            joints.insert(0, view.tree[joints[0].parent])
        found[body] = Chain(joints[0].parent, tuple(joints))
    return found


def structure(a: View, b: View, pairs: Mapping[str, str]) -> list[Difference]:
    """Return which bodies and joints are missing or have another name, in the order of the tree."""
    found = [_missing(name, a, "b") for name in order(a) if name not in pairs]
    found += [_missing(name, b, "a") for name in order(b) if name not in pairs.values()]
    for name, other in pairs.items():
        if name != other:
            found.append(
                Difference("structure", name, "is called otherwise", name, other, "same place, joint and mass")
            )
        mine, theirs = a.tree.get(name), b.tree.get(other)
        if mine is not None and theirs is not None and mine.name != theirs.name and not is_fixed(mine):
            found.append(Difference("structure", mine.name, "this joint is called otherwise", mine.name, theirs.name))
    names = {c.name for c in a.closures}, {c.name for c in b.closures}
    found += [Difference("structure", name, "closes a loop in a alone") for name in sorted(names[0] - names[1])]
    found += [Difference("structure", name, "closes a loop in b alone") for name in sorted(names[1] - names[0])]
    return found


def fixed_renamed(a: View, b: View, pairs: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names of fixed joints that have another in the second robot: no coordinate depends on them."""
    both = [(a.tree[name], b.tree[other]) for name, other in pairs.items() if name in a.tree and other in b.tree]
    return [(c.name, d.name) for c, d in both if c.name != d.name and is_fixed(c)]


def _missing(name: str, view: View, where: str) -> Difference:
    c = view.tree.get(name)
    how = f" (joint {c.name!r}, {type(moved_by(c.joint)).__name__})" if c is not None else ""
    return Difference("structure", name, f"this body{how} is missing in {where}")
