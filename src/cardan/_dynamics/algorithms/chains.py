"""Long chains of joints, and the inertia that a joint of one feels.

Along a joint of a robot the bodies beyond feel nearly as heavy as if no other joint moved. In a long chain they give
way: there D is that of the articulated body, equation (2) of `aba`, in the neutral configuration.
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan._algebra.scalar import Scalar, is_zero
from cardan._dynamics.algorithms.aba import articulated_inertias
from cardan._dynamics.algorithms.entries import overlapping
from cardan._dynamics.algorithms.tree import Vector, relative_kinematics
from cardan._robot.model import Model, Node

DEEP, LARGE = 16, 128
"""Nodes one after the other, or in all, from which on a tree is one: robots have some 15 at most."""


def is_chain(model: Model) -> bool:
    """Return whether a model has a long chain, or a large tree, and no joint that is not a tree's alone."""
    is_long = depth_of(model.nodes) >= DEEP or len(model.nodes) >= LARGE
    return is_long and not model.has_mimics and not model.has_loops


def trees_of(model: Model) -> list[list[Node]]:
    """Return the nodes of each tree, in the order of their first ones; those that mimic joints couple are one."""
    tied = [{("node", node.index), ("node", node.parent), *(("v", j) for j in node.v)} for node in model.nodes]
    joined = [own - {("node", -1)} for own in tied]  # the world ties nothing
    return [[model.nodes[i] for i in tree] for tree in overlapping(joined)]


def chains_of(model: Model) -> list[list[Node]]:
    """Return the nodes of each tree that has several, its root first."""
    return [tree for tree in trees_of(model) if len(tree) > 1]


def depth_of(nodes: Sequence[Node]) -> int:
    """Return how many nodes are one after the other."""
    depth: dict[int, int] = {}
    for node in nodes:
        depth[node.index] = 1 + depth.get(node.parent, 0)
    return max(depth.values(), default=0)


def free_inertias(model: Model, held: Vector) -> list[Scalar]:
    """Return the inertia along every degree of freedom with all joints beyond free, from that with these held."""
    relative = relative_kinematics(model, model.manifold.neutral())
    found: list[Scalar] = [0.0] * model.nv
    # a joint that moves nothing has no inverse
    more = [1.0 if is_zero(D) else 0.0 for D in held]
    for node, articulated in zip(model.nodes, articulated_inertias(model, relative, more), strict=True):
        S = relative.S[node.index]
        own = [s.dot(U) + rotor for s, U, rotor in zip(S, articulated.U, node.armature, strict=True)]
        node.scatter(found, own)
    return found
