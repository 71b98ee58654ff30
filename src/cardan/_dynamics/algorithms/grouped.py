"""Forward dynamics of joints that share velocities, by the recursion of articulated bodies over groups.

A group is all nodes with the same velocities, where these hang on one body, the base, by one another alone: the joints
of a cluster, a finger's coupled phalanges. Some may hang on the world instead, such as wheels of drives. With V of node b relative to the base T_b v, and X_b from b to its parent,

    outwards:  (1)  T_b = X_b^-1 T_p(b) + S_b,   T = 0 at the base
    inwards:   (2)  F_b = I^A_b T_b + sum over its children c in the group: X_c F_c,      p and I likewise
               (3)  D = sum S_b^T F_b + armature,   U = sum X_b F_b,   u = tau - sum S_b^T p_b
               (4)  I^A_base += sum X_b I_b - U D^-1 U^T,   p_base += sum X_b p_b + U D^-1 u
    outwards:  (5)  a = D^-1 (u - U^T dA_base),   dA_b = X_b^-1 dA_p(b) + S_b a

The sums of U and (4) are over the nodes on the base. Groups of one node are those of `aba`, whose letters these are.

Source: Jain, Robot and Multibody Dynamics (2011), chapter 15; Chignoli, Adrian, Kim and Wensing (2023), for clusters.
Cost: O(n).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan._algebra.errors import MechanismError
from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import ArticulatedInertia, Force, Inertia, Motion, Scalar
from cardan._dynamics.algorithms.linear import Factor, Rows, SingularError, combined, zeros
from cardan._dynamics.algorithms.tree import Relative, Vector
from cardan._robot.model import Model, Node


class Group(NamedTuple):
    nodes: list[Node]  # outwards
    base: int  # the node they hang on; -1 for the world


def groups(model: Model) -> list[Group] | None:
    """Return the groups, outwards; None if joints that share velocities are no groups."""
    by_velocity: dict[tuple[int, ...], list[Node]] = {}
    for node in model.nodes:
        by_velocity.setdefault(node.v, []).append(node)
    found = []
    for nodes in by_velocity.values():
        own = {node.index for node in nodes}
        bases = {node.parent for node in nodes} - own - {-1}
        found.append(Group(nodes, max(bases, default=-1)))
        if len(bases) > 1:
            return None
    return found if sum(map(len, by_velocity)) == model.nv else None


class Borne(NamedTuple):
    """What solves for the accelerations of a group: u = D a + U^T dA_base."""

    U: list[Force]
    D: Factor
    u: list[Scalar]


def grouped_accelerations(
    model: Model, relative: Relative, groups: Sequence[Group], p: Sequence[Force], tau: Vector
) -> list[Scalar]:
    """Return a, of the bias forces p on nodes."""
    a: list[Scalar] = [0.0] * model.nv
    inwards = Inwards(model, relative, p, tau)
    borne = [inwards.borne(group) for group in reversed(groups)]
    dA: list[Motion] = [Motion.zero() for _ in model.nodes]
    for group, (U, D, u) in zip(groups, reversed(borne), strict=True):
        rest = u if group.base < 0 else [e - f.dot(dA[group.base]) for e, f in zip(u, U, strict=True)]
        own = D.solve(rest)  # (5)
        for i, e in zip(group.nodes[0].v, own, strict=True):
            a[i] = e
        for node in group.nodes:
            above = Motion.zero() if node.parent < 0 else relative.X[node.index].inverse_act(dA[node.parent])
            dA[node.index] = above + relative.S[node.index] @ own
    return a


class Inwards:
    """The inward pass. I^A of a body is the sum of a rigid inertia, which is all most have, and what groups give it."""

    def __init__(self, model: Model, relative: Relative, p: Sequence[Force], tau: Vector) -> None:
        self.relative, self.tau, self.p = relative, tau, list(p)
        self.rigid = [node.inertia for node in model.nodes]
        self.given: list[ArticulatedInertia | None] = [None for _ in model.nodes]

    def borne(self, group: Group) -> Borne:
        """Return what a group bears, after all groups on it, and give the rest to its base."""
        relative, velocities = self.relative, range(len(group.nodes[0].v))
        F = {i: [self._force(i, t) for t in T] for i, T in self._columns(group).items()}
        U, D = [Force.zero() for _ in velocities], zeros(len(velocities), len(velocities))
        u = list(group.nodes[0].velocity(self.tau))
        for node in reversed(group.nodes):
            i, X, S = node.index, relative.X[node.index], relative.S[node.index]
            D = [[e + s.dot(f) for e, f in zip(row, F[i], strict=True)] for row, s in zip(D, S, strict=True)]  # (3)
            D = [[e + node.armature[k] * (k == m) for m, e in enumerate(row)] for k, row in enumerate(D)]
            u = [e - f for e, f in zip(u, S.T @ self.p[i], strict=True)]
            if node.parent >= 0:  # the world does not move
                above = F.get(node.parent, U)
                above[:] = [e + X @ f for e, f in zip(above, F[i], strict=True)]  # (2)
                self._give(node)
        factor = factored_inertia(group.nodes[0], D)
        if group.base >= 0:
            self._give_way(group.base, U, factor, u)
        return Borne(U, factor, u)

    def _columns(self, group: Group) -> dict[int, list[Motion]]:
        """Return T (1) of each node."""
        T: dict[int, list[Motion]] = {}
        for node in group.nodes:
            S, X = list(self.relative.S[node.index]), self.relative.X[node.index]
            above = T.get(node.parent)
            T[node.index] = [X.inverse_act(t) + s for t, s in zip(above, S, strict=True)] if above else S
        return T

    def _force(self, i: int, motion: Motion) -> Force:
        given = self.given[i]
        return self.rigid[i] @ motion if given is None else self.rigid[i] @ motion + given @ motion

    def _give(self, node: Node) -> None:
        """Add what a body bears to what its parent does (2)."""
        i, to = node.index, node.parent
        self.p[to] = self.p[to] + self.relative.X[i] @ self.p[i]
        self.rigid[to] = self.rigid[to] + self.relative.inwards(node, self.rigid[i])
        given, there = self.given[i], self.given[to]
        if given is not None:
            moved = self.relative.inwards(node, given)
            self.given[to] = moved if there is None else there + moved

    def _give_way(self, base: int, U: Sequence[Force], D: Factor, u: Vector) -> None:
        """Take from a base what the group's own motion gives way (4)."""
        given = self.given[base] or Inertia.zero().articulated()
        rows = [D.solve(row) for row in zip(*(column.scalars() for column in U), strict=True)]
        for k, column in enumerate(U):
            given = given.minus_outer(Force.of(tuple(row[k] for row in rows)), column)
        self.given[base] = given
        self.p[base] = self.p[base] + combined(U, D.solve(u))


def factored_inertia(node: Node, D: Rows) -> Factor:
    """Return D, factored; `MechanismError` if a joint moves nothing that has inertia."""
    check_moves([row[k] for k, row in enumerate(D)], node)
    try:
        return Factor(D)
    except SingularError:
        raise singular(node) from None


def check_moves(D: Vector, node: Node) -> None:
    """Raise `MechanismError` for a joint along which there is no inertia, of those D [kg, kg m^2]."""
    if any(map(is_zero, D)):
        raise singular(node)


def singular(node: Node) -> MechanismError:
    """Return the error of a joint that moves nothing that has inertia."""
    return MechanismError(
        f"joint {node.name!r} moves nothing that has inertia, in one direction at least, so its acceleration is not "
        "determined; give the bodies it carries mass and inertia, or the joint an armature, or lock the joint."
    )
