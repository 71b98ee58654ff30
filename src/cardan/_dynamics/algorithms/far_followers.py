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

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple

from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import MotionSubspace, Scalar
from cardan._dynamics.algorithms.linear import Factor, Rows, dot, zeros
from cardan._dynamics.algorithms.tree import Relative, Vector, supports
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
    rotors: list[Scalar]  # along its velocities, with those of followers
    rows: Rows  # of C, by its velocities: those of followers come last


def held(articulated: Sequence[Any], u: Sequence[Vector], columns: Sequence[Sequence[Vector]]) -> Sequence[Vector]:
    """Return u + y l of every node (2), of the columns of y, each for every node."""
    solved = [_flat(own.D.solve(e) for own, e in zip(articulated, y, strict=True)) for y in columns]
    A = [[dot(_flat(y), x) for x in solved] for y in columns]
    efforts = Factor(A).solve([-dot(_flat(u), x) for x in solved])
    for y, effort in zip(columns, efforts, strict=True):
        u = [[a + b * effort for a, b in zip(*both, strict=True)] for both in zip(u, y, strict=True)]
    return u


def _flat(parts: Iterable[Vector]) -> list[Scalar]:
    return list(chain.from_iterable(parts))


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


def free_tree(model: Model, relative: Relative, armature: Vector) -> FreeTree:
    """Return the tree in which followers are free, with what holds them; the armature, nv inertias, is felt as well."""
    nodes, S, followers = list(model.nodes), list(relative.S), _followers(model)
    nv = model.nv + len(followers)
    rotors, rows = [*armature, *[0.0] * len(followers)], zeros(len(followers), nv)
    for k, (node, row) in enumerate(zip(followers, rows, strict=True), model.nv):
        nodes[node.index] = replace(node, v=(k,), armature=(0.0,))
        (j,), (own,) = node.v, node.armature
        rotors[j] = rotors[j] + own
        S[node.index] = _own(node) or S[node.index]
        (free,), (along,) = S[node.index], relative.S[node.index]
        row[k], row[j] = 1.0, -dot(free.scalars(), along.scalars()) / dot(free.scalars(), free.scalars())
    return FreeTree(replaced(model, nodes=tuple(nodes), nv=nv), relative._replace(S=S), rotors, rows)
