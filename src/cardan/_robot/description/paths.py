"""A mechanism seen without a root: who is next to whom, how one body moves seen from any other, and all of it as text.

As in iDynTree, a joint belongs to two bodies; a caller names both to get its transform and motion subspace,
in either order. Paths follow the spanning tree, which is the same for every root (`rooting.py`).

Source: Traversaro, Modelling, estimation and identification of humanoid robots dynamics (2017), chapter 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.errors import MechanismError, ShapeError, UnknownNameError, check_known, visible
from cardan._algebra.spatial import SE3, Motion
from cardan._robot.description.rooting import rooted
from cardan._robot.joints import Coupled, Fixed, reverse
from cardan._robot.model import WORLD, Body, Connection, Frame
from cardan._robot.model.layout import closing_text, kind_of, outwards, resolve_mimics


class Visit(NamedTuple):
    """A step of a traversal."""

    body: str  # the body that is visited
    parent: str | None  # the body it is visited from; None for the base
    joint: str | None  # name of the joint between; None for the base


class BodyGraph:
    """Bodies, given by their names, and joints as a graph."""

    def __init__(self, bodies: Sequence[str], joints: Sequence[Connection], frames: Sequence[Frame]) -> None:
        tree, self.closures = rooted(bodies, joints, (), Fixed(), ())
        described = {c.name: c for c in joints}
        self.tree = {c.name: described[c.name] for c in tree if c.name in described}
        self.bodies, self.frames = (WORLD, *bodies), {f.name: f for f in frames}
        self.mimics = resolve_mimics(joints)

    def traversal(self, base: str) -> list[Visit]:
        """Return all bodies connected with the base, each after the one it is visited from, depth first."""
        self._check(base)
        steps = outwards((base,), self.tree.values())
        return [Visit(base, None, None), *(Visit(body, parent, c.name) for c, parent, body in steps)]

    def path(self, child: str, parent: str) -> list[Connection]:
        """Return the joints from the parent to the child, each directed along the way."""
        child, parent = self._place(child)[0], self._place(parent)[0]
        visits = {v.body: v for v in self.traversal(parent)}
        if child not in visits:
            raise MechanismError(f"bodies {parent!r} and {child!r} are not connected.")
        steps, body = [], child
        while (visit := visits[body]).joint is not None and visit.parent is not None:
            c = self.tree[visit.joint]
            steps.append(c if c.child == body else c.reversed())
            body = visit.parent
        return steps[::-1]

    def transform(self, q: Any, child: str, parent: str) -> SE3:
        """Return X_parent_child of two bodies or frames."""
        (a, X_a), (b, X_b) = self._place(parent), self._place(child)
        X = X_a.inverse()
        for c in self.path(b, a):
            X = X @ c.parent_pose @ self._kind(c).transform(self.configuration(q, c)) @ c.child_pose.inverse()
        return X @ X_b

    def motion_subspace(self, q: Any, child: str, parent: str) -> dict[str, list[Motion]]:
        """Return how the child moves relative to the parent, in the child's frame: columns by joint."""
        (a, _), (b, X_b) = self._place(parent), self._place(child)
        X, columns = X_b, {}  # from the child's frame back to each joint's child side
        for c in reversed(self.path(b, a)):
            at, kind = self.configuration(q, c), self._kind(c)
            X_jc = c.child_pose.inverse() @ X
            columns[c.name] = [X_jc.inverse() @ s for s in kind.motion_subspace(at)]
            X = c.parent_pose @ kind.transform(at) @ X_jc
        return dict(reversed(columns.items()))

    def _kind(self, c: Connection) -> Any:
        """Return the joint, a mimic of a mimic as one of what that copies, in the direction of c."""
        mimic = self.mimics.get(c.name)
        if mimic is None:
            return c.joint
        return mimic if self.tree[c.name].parent == c.parent else reverse(mimic)

    def configuration(self, q: Any, c: Connection) -> tuple[Any, ...]:
        """Return the coordinates of a joint, those of its primary for a mimic."""
        kind = self.mimics.get(c.name, c.joint)
        if not isinstance(kind, Coupled):
            return self._given(q, kind.primaries[0] if kind.primaries else c.name, kind)
        return tuple(e for name in kind.by for e in self._given(q, name, self.tree[name].joint))

    def _given(self, q: Any, owner: str, kind: Any) -> tuple[Any, ...]:
        if owner not in q:
            return tuple(kind.neutral())
        value = np.asarray(q[owner], dtype=float)
        # One coordinate may be given without an axis of its own; (..., 1) is one that has it.
        value = value[..., None] if kind.nq == 1 and (value.ndim == 0 or value.shape[-1] != 1) else value
        if value.shape[-1:] != (kind.nq,):
            raise ShapeError("configuration", owner, got=value.shape, expected=f"(..., {kind.nq})")
        parts = tuple(np.moveaxis(value, -1, 0))
        return tuple(map(float, parts)) if value.ndim == 1 else parts

    def check_configuration(self, q: Any) -> None:
        """Raise unless q is a mapping from names of joints that have coordinates."""
        if not isinstance(q, Mapping):
            raise ShapeError("configuration", "q", got=np.shape(q), expected="a mapping {joint: its coordinates}")
        names = [c.name for c in self.tree.values() if c.name not in self.mimics]
        for name in q:
            check_known("joint with coordinates", name, names)

    def _place(self, name: str) -> tuple[str, SE3]:
        """Return the body of a body or frame, and its pose on it."""
        if name in self.frames:
            return self.frames[name].body, self.frames[name].pose
        self._check(name)
        return name, SE3.identity()

    def _check(self, body: str) -> None:
        if body not in self.bodies:
            raise UnknownNameError("body or frame", body, (*self.bodies, *self.frames))


def tree_text(name: str, bodies: Sequence[Body], joints: Sequence[Connection], frames: Sequence[Frame]) -> str:
    """Return the bodies as a tree of joints, part by part; joints that close loops at the end."""
    graph = BodyGraph([b.name for b in bodies], joints, frames)
    mass = sum(b.inertia.mass for b in bodies if b.inertia is not None)
    lines = [f"{visible(name)}: {len(bodies)} bodies, {mass:.6g} kg, {len(joints)} joints, {len(frames)} frames"]
    children = {c.child for c in graph.tree.values()}
    seen: set[str] = set()
    for base in (WORLD, *[b.name for b in bodies if b.name not in children], *[b.name for b in bodies]):
        visits: Any = [] if base in seen else graph.traversal(base)  # all but the first have a parent and a joint
        if len(visits) < 1 + (base == WORLD):
            continue
        indents = {base: ""}
        seen.update(visit.body for visit in visits)
        lines.append(visible(base))
        last = {visit.parent: visit.body for visit in visits}  # the last child of each body
        for body, parent, joint in visits[1:]:
            c, is_last = graph.tree[joint], last[parent] == body
            arrow = "" if c.child == body else " (reversed)"
            branch = f"{'└─' if is_last else '├─'}[{visible(joint)}: {kind_of(c.joint)}{arrow}]─ {visible(body)}"
            lines.append(indents[parent] + branch)
            indents[body] = indents[parent] + ("   " if is_last else "│  ")
    lines += [closing_text(c, kind_of(c.joint)) for c in graph.closures]
    return "\n".join(lines)
