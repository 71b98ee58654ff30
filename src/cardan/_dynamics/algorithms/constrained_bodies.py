"""Constrained articulated bodies: M a = b - J^T p + K^T l, K a + k = 0 of a tree, in passes over its nodes.

A row of K is the power of a wrench F on each body and an effort E at each joint. Rows whose joints overlap are a block;
its top is the nearest body that carries all these joints. With U, D of `aba`, and G+ of a matrix that may be singular
(`proximal`):

    inwards:   (1)  I^A += F G+ F^T                                              at the top of a block
               (2)  Y = S^T F + E,   G += Y^T D^-1 Y,   F_parent += X (F - U D^-1 Y)
    inwards:   (3)  p += F G+ (k + c)                                            at the top of a block
               (4)  u = b - S^T p,   c += Y^T D^-1 u,   p_parent += X (p + U D^-1 u)
    outwards:  (5)  dA' = X^-1 dA_parent,   a = D^-1 (u - U^T dA'),   dA = dA' + S a,   dA_world = 0
               (6)  l = -G+ (k + F^T dA + c),   u += Y l                         at the top of a block

G is K M^-1 K^T of the joints below the top, as if that stood still. If l does nothing at these joints, K^T l = 0, then
F l = 0 at the top: there it is the sum of wrenches that a rigid mechanism would feel. So what G+ leaves out, no other
body feels, and rows may depend on one another (planar loops, overconstrained ones). Before all of a block has met, that
is not so: a leg that holds the ground at a stretched knee resists motions of the hip. Hence blocks, and their tops.

(6) goes in `PASSES`, each from the c that u makes, not from G l: what a light body feels is a small difference of large
forces, which l cannot hold and u does. So a constraint is kept to the last digits, whatever the ratio of the masses.

Source: Popov, Vereshchagin and Zenkevich (1978) and Vereshchagin (1989), for (2), (4) and (5); Sathya and Carpentier,
Constrained articulated body dynamics algorithms (2024), for the elimination on the way. Tops of blocks that may depend
on one another, and the passes of (6), are made here.
Cost: O(n + m) if blocks have few rows; O(d m) for a block of m rows and d joints, O(m^3) for its G+.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import ArticulatedInertia, Force, Motion, Scalar
from cardan._dynamics.algorithms.crba import inertia_along
from cardan._dynamics.algorithms.entries import overlapping
from cardan._dynamics.algorithms.grouped import factored_inertia, given_way, times_inverse
from cardan._dynamics.algorithms.linear import Factor, Rows, combined, dot, on_diagonal, ranges
from cardan._dynamics.algorithms.loops import Loop, Rowed
from cardan._dynamics.algorithms.proximal import PASSES, STEPS, Regularization, Semidefinite
from cardan._dynamics.algorithms.proximal_loops import Solved
from cardan._dynamics.algorithms.tree import Relative, Vector, supports
from cardan._robot.model import Model, Node

Wrenches = dict[int, Force]
Efforts = dict[int, list[Scalar]]
"""Of each row that has any at a node."""


class Block(NamedTuple):
    """Constraints whose joints overlap, and the nodes of these joints."""

    members: list[Rowed]
    rows: list[int]  # of K, in the order of the members
    nodes: list[int]
    top: int  # the node that carries all of them; -1 for the world


def blocks_of(model: Model, rowed: Sequence[Rowed]) -> list[Block]:
    """Return the blocks of constraints, each of which moves some joint."""
    rows, paths = ranges(len(loop.K) for loop in rowed), [_path(model, loop) for loop in rowed]
    found = []
    for block in overlapping([nodes for nodes, _ in paths]):
        nodes = sorted({i for k in block for i in paths[k][0]})
        # of tops that lead to one another the first is outermost, since a parent comes before its children
        members, own = [rowed[k] for k in block], [r for k in block for r in rows[k]]
        found.append(Block(members, own, nodes, min(paths[k][1] for k in block)))
    return found


def _path(model: Model, loop: Rowed) -> tuple[set[int], int]:
    """Return the nodes from those that a constraint moves to the nearest one that carries all of them, and that one."""
    lines = [supports(model, node.index) for node in model.nodes if not loop.coordinates.isdisjoint(node.v)]
    common = set(lines[0][1:]).intersection(*(line[1:] for line in lines))
    return {i for line in lines for i in line} - common, max(common, default=-1)


class AtNode(NamedTuple):
    """What the recursion of the inertias leaves at a node, with D = L^T d L."""

    U: list[Force]
    D: Factor
    Y: Efforts  # L^-T Y
    Z: Efforts  # d^-1 L^-T Y


class AtTop(NamedTuple):
    """A block at its top."""

    block: Block
    F: list[Force]  # of its rows; nothing on the world
    G: Semidefinite
    FG: list[Force]  # F G+


class ConstrainedBodies:
    """What solves M a = b - J^T p + K^T l, K a + k = 0 in every configuration.

    Of all l the smallest is found, in the metric R: `weights` returns that of a constraint, by the inertias D along v.
    """

    def __init__(
        self,
        model: Model,
        relative: Relative,
        rowed: Sequence[Rowed],
        weights: Callable[[Rowed, Vector], Rows],
        by: Regularization,
    ) -> None:
        self.model, self.relative, self.weights, self.by = model, relative, weights, by
        self.blocks = blocks_of(model, rowed)
        self.inertias: list[Scalar] = [0.0] * model.nv  # the diagonals of D
        self.at_node: dict[int, AtNode] = {}
        self.at_top: dict[int, list[AtTop]] = {}
        F, E = _applied(model, rowed)
        I_A = [node.inertia.articulated() for node in model.nodes]
        for node in reversed(model.nodes):
            i = node.index
            self.at_top[i] = self._tops(i, F[i])
            for top in self.at_top[i]:
                for scaled, force in zip(top.FG, top.F, strict=True):
                    I_A[i] = I_A[i].minus_outer(scaled * -1.0, force)  # (1)
            self._inward(node, I_A, F, E[i])
        self.at_top[-1] = self._tops(-1, {})

    def _inward(self, node: Node, I_A: list[ArticulatedInertia], F: Sequence[Wrenches], E: Efforts) -> None:
        """Take a node's inertia and wrenches to its parent: (2)."""
        i, parent, S = node.index, node.parent, self.relative.S[node.index]
        U = [I_A[i] @ s for s in S]
        block = inertia_along(S, U, node.armature)
        node.scatter(self.inertias, [row[k] for k, row in enumerate(block)])
        D = factored_inertia(node, block)
        still = [0.0] * len(U)
        felt = {r: [a + b for a, b in zip(S.T @ f, E.get(r, still), strict=True)] for r, f in F[i].items()}
        felt |= {r: own for r, own in E.items() if r not in felt}
        Y = {r: D.inwards(own) for r, own in felt.items() if not all(map(is_zero, own))}
        self.at_node[i] = AtNode(U, D, Y, {r: D.scaled(own) for r, own in Y.items()})
        if parent < 0:
            return
        scaled = times_inverse(U, D)
        for r, own in felt.items():
            given = F[i].get(r, Force.zero()) - combined(scaled, own)
            F[parent][r] = F[parent].get(r, Force.zero()) + self.relative.X[i] @ given
        I_a = given_way(I_A[i], S, U, scaled, node.armature)
        I_A[parent] = I_A[parent] + self.relative.inwards(node, I_a)

    def _tops(self, i: int, F: Wrenches) -> list[AtTop]:
        """Return the blocks whose top a node is, and take their wrenches from those that go on inwards."""
        found = []
        for block in self.blocks:
            if block.top != i:
                continue
            nodes = [self.at_node[j] for j in block.nodes]
            # each pair once, so that G is symmetric to the last digit
            G = [
                [
                    sum((dot(at.Y[max(r, s)], at.Z[min(r, s)]) for at in nodes if r in at.Y and s in at.Y), 0.0)
                    for s in block.rows
                ]
                for r in block.rows
            ]
            R = on_diagonal([self.weights(loop, self.inertias) for loop in block.members])
            solver = Semidefinite(G, R, self.by)
            forces = [F.pop(r, Force.zero()) for r in block.rows] if i >= 0 else []
            FG = [combined(forces, row) for row in solver.inverse()] if i >= 0 else []
            found.append(AtTop(block, forces, solver, FG))
        return found

    def solve(self, b: Vector, k: Vector | None = None, p: Sequence[Force] = ()) -> Solved:
        """Return a and l; k = 0 and p = 0 by default."""
        model, X, S = self.model, self.relative.X, self.relative.S
        rows = sum(len(block.rows) for block in self.blocks)
        wanted = [0.0] * rows if k is None else [-e for e in k]
        borne = list(p) or [Force.zero() for _ in model.nodes]
        y: list[list[Scalar]] = [[] for _ in model.nodes]  # L^-T u
        for node in reversed(model.nodes):
            i, (U, D, _, _) = node.index, self.at_node[node.index]
            for block, _, _, FG in self.at_top[i]:
                lacking = [c - wanted[r] for r, c in zip(block.rows, self._made(block, y), strict=True)]
                borne[i] = borne[i] + combined(FG, lacking)  # (3)
            u = [t - f for t, f in zip(node.velocity(b), S[i].T @ borne[i], strict=True)]  # (4)
            y[i] = D.inwards(u)
            if node.parent >= 0:
                borne[node.parent] = borne[node.parent] + X[i] @ (borne[i] + combined(U, D.solve(u)))
        a: list[Scalar] = [0.0] * model.nv
        multipliers: list[Scalar] = [0.0] * rows
        self._hold(-1, Motion.zero(), wanted, y, multipliers)
        dA: list[Motion] = []
        for node in model.nodes:
            i, (U, D, _, _) = node.index, self.at_node[node.index]
            free = X[i].inverse_act(dA[node.parent]) if node.parent >= 0 else Motion.zero()  # (5)
            given = D.inwards([force.dot(free) for force in U])
            own = D.outwards(D.scaled([e - g for e, g in zip(y[i], given, strict=True)]))
            node.scatter(a, own)
            dA.append(free + S[i] @ own)
            self._hold(i, dA[i], wanted, y, multipliers)
        return Solved(a, multipliers)

    def _hold(self, i: int, dA: Motion, wanted: Vector, y: list[list[Scalar]], multipliers: list[Scalar]) -> None:
        """Add the multipliers of the blocks whose top a node is, and what they do to y: (6)."""
        for block, F, G, _ in self.at_top[i]:
            free = [wanted[r] - (F[n].dot(dA) if F else 0.0) for n, r in enumerate(block.rows)]
            for _ in range(PASSES):
                lacking = [e - c for e, c in zip(free, self._made(block, y), strict=True)]
                for r, change in zip(block.rows, G.solve(lacking, STEPS // PASSES), strict=True):
                    multipliers[r] = multipliers[r] + change
                    for j in block.nodes:
                        if r in self.at_node[j].Y:
                            y[j] = [e + own * change for e, own in zip(y[j], self.at_node[j].Y[r], strict=True)]

    def _made(self, block: Block, y: Sequence[Sequence[Scalar]]) -> list[Scalar]:
        """Return c = Y^T D^-1 u of a block."""
        at = [(j, self.at_node[j].Z) for j in block.nodes]
        return [sum((dot(Z[r], y[j]) for j, Z in at if r in Z), 0.0) for r in block.rows]


def _applied(model: Model, rowed: Sequence[Rowed]) -> tuple[list[Wrenches], list[Efforts]]:
    """Return the wrenches and efforts at every node: wrenches of closing joints, efforts of what a user wrote."""
    F: list[Wrenches] = [{} for _ in model.nodes]
    E: list[Efforts] = [{} for _ in model.nodes]
    for loop, rows in zip(rowed, ranges(len(loop.K) for loop in rowed), strict=True):
        for n, r in enumerate(rows):
            for i, wrench in loop.on_nodes(loop.T[n]) if isinstance(loop, Loop) else ():
                if i >= 0:
                    F[i][r] = F[i].get(r, Force.zero()) + wrench
            for node in () if isinstance(loop, Loop) else model.nodes:
                E[node.index][r] = list(node.velocity(loop.K[n]))
    return F, E
