"""Joints that follow others far away, so that no groups can be made: free ones, and an equation for each (`aba`).

In the free tree followers have velocities of their own, and efforts l along all of both hold them to what they follow,
C a = 0. With the factors M^-1 = L^-T D^-1 L^-1 of that tree, as inward recursions find them:

    inwards:   (1)  u = L^-1 (tau - h);  y = L^-1 C^T, along the paths to the root alone
               (2)  l = -(y^T D^-1 y)^-1 y^T D^-1 u
    outwards:  (3)  accelerations of u + y l

Rotors of followers count where the others are. Source: Featherstone (2008), section 8.5, for l.
Cost: of each equation some 60 operations for each joint on the paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import Force, MotionSubspace, Scalar
from cardan._dynamics.algorithms.linear import Factor, combined, dot
from cardan._dynamics.algorithms.tree import Relative, supports
from cardan._robot.joints.catalogue.of_another import Follower
from cardan._robot.joints.derivation.programs import replaced
from cardan._robot.model import Model, Node

MOST = 3
"""Equations up to which joint space takes more operations (counted)."""
LEAST = 1e-6
"""The least inertia of a follower's own, beside the mass of all that it carries [m^2; of a slide, 1]."""


class FreeTree(NamedTuple):
    """A model whose followers are free, and how they are held."""

    model: Model
    relative: Relative
    rotors: list[Scalar]  # what followers add to the armatures
    rows: list[dict[int, Scalar]]  # of C, by velocities: those of followers come last

    def hold(self, articulated: Sequence[Any], u: list[list[Scalar]]) -> list[list[Scalar]]:
        """Return u + y l of every node (2)."""
        columns = [self._response(row, articulated) for row in self.rows]
        over = [{i: articulated[i].D.solve(own) for i, own in y.items()} for y in columns]
        A = [[sum((dot(own, x[i]) for i, own in y.items() if i in x), 0.0) for x in over] for y in columns]
        efforts = Factor(A).solve([-sum((dot(u[i], own) for i, own in x.items()), 0.0) for x in over])
        for y, e in zip(columns, efforts, strict=True):
            for i, own in y.items():
                u[i] = [a + b * e for a, b in zip(u[i], own, strict=True)]
        return u

    def _response(self, row: dict[int, Scalar], articulated: Sequence[Any]) -> dict[int, list[Scalar]]:
        """Return y of the nodes on the paths (1), for a row of C."""
        found: dict[int, list[Scalar]] = {}
        borne: dict[int, Force] = {}
        for node in reversed(self.model.nodes):
            i, force = node.index, borne.get(node.index)
            if force is None and row.keys().isdisjoint(node.v):
                continue
            found[i] = [row.get(j, 0.0) for j in node.v]
            if force is not None:
                found[i] = [e - f for e, f in zip(found[i], self.relative.S[i].T @ force, strict=True)]
            given = combined(articulated[i].U, articulated[i].D.solve(found[i]))
            if node.parent >= 0:
                given = self.relative.X[i] @ (given if force is None else force + given)
                borne[node.parent] = borne[node.parent] + given if node.parent in borne else given
        return found


def are_few(model: Model) -> bool:
    """Return whether the followers of a model are held by few equations, and each of them has inertia of its own."""
    followers = _followers(model)
    known = all(len(node.v) == 1 and not node.joint.is_placed and _own(node) for node in followers)
    return known and len(followers) <= MOST and _have_inertia(model, followers)


def _followers(model: Model) -> list[Node]:
    """Return all nodes but one of each velocity; what copies by 1 or -1 may be a hinge that says nothing of it."""
    first = {node.v: node for node in reversed(model.nodes) if not node.joint.primaries}
    return [node for node in model.nodes if first.get(node.v) is not node]


def _own(node: Node) -> MotionSubspace | None:
    """Return S of a follower by its own velocity, which slopes of 0 leave as it is; None if it is no constant."""
    joint = node.joint.bare if isinstance(node.joint, Follower) else node.joint
    return joint.subspace(joint.neutral()) if joint.has_constant_motion_subspace else None


def _have_inertia(model: Model, followers: Sequence[Node]) -> bool:
    """Return whether joints move enough inertia of their own nodes, and hang on mass; what is no number is enough.

    Hinges in a row without mass, which a body beyond them can just resist, cannot be resisted if that is free as well.
    """
    bodies = [(model.attachments[b.name].node, b.inertia.mass) for b in model.bodies if b.inertia is not None]
    if not {node.parent for node in followers} <= {-1, *(k for k, mass in bodies if not is_zero(mass))}:
        return False
    carried: list[Any] = [0.0] * len(model.nodes)  # by bodies: nodes of a simplified tree have others'
    for k, mass in bodies:
        for i in supports(model, k):
            carried[i] += mass if isinstance(mass, Real) else 0.0
    along = [(s.dot(node.inertia @ s), carried[node.index]) for node in followers for s in _own(node) or ()]
    return not any(isinstance(e, Real) and e <= LEAST * mass for e, mass in along)


def free_tree(model: Model, relative: Relative) -> FreeTree:
    """Return the tree in which followers are free, with what holds them."""
    nodes, rows = list(model.nodes), list[dict[int, Scalar]]()
    rotors: list[Scalar] = [0.0] * (model.nv + MOST)
    S = list(relative.S)
    for k, node in enumerate(_followers(model), model.nv):
        nodes[node.index] = replace(node, v=(k,), armature=(0.0,))
        (j,), (armature,) = node.v, node.armature
        rotors[j] = rotors[j] + armature
        S[node.index] = _own(node) or S[node.index]
        (own,), (along,) = S[node.index], relative.S[node.index]
        slope = dot(own.scalars(), along.scalars()) / dot(own.scalars(), own.scalars())
        rows.append({k: 1.0, j: -slope})
    free = replaced(model, nodes=tuple(nodes), nv=model.nv + len(rows))
    return FreeTree(free, relative._replace(S=S), rotors[: free.nv], rows)
