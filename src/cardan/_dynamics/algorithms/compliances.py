"""The inverse of the mass matrix of many joints, by how bodies give way: made by loops over pairs of coordinates.

Coordinates k are taken one by one, as those of `limbs`, each in world axes at the origin of its node. A unit effort on
coordinate j pushes what carries it:

    (1)  P_j = Gamma_j,    u_k = -S_k . p,   P_k = p + Gamma_k u_k,    p the P of the coordinate before k, moved there

The compliance Omega of a body says how it moves if a force acts on it and all joints are free. What carries k has
Omega_k, moved to the origin of k; with w = Omega_k Gamma_k, the body behind k has

    (2)  Omega = Omega_k - S_k w^T - w S_k^T + S_k (1 / D_k + Gamma_k . w) S_k^T

So coordinates answer to an effort on j: k that carry j by (3), and i on another branch by (4), where k and l, the next
ones to the body that carries both, see i and j.

    (3)  M^-1_kj = u_k / D_k + Gamma_k . Omega_k P_k        (k = j: u_k = 1)
    (4)  M^-1_ij = P_k(i) . Omega_k P_l(j)

Source: Rodriguez, Jain and Kreutz-Delgado, Spatial operator algebra for multibody system dynamics (1992), for Omega;
Featherstone (2008), table 7.1, for articulated bodies.
Cost: about 80 operations an entry.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.cell import Table
from cardan._algebra.scalar import where
from cardan._algebra.spatial import SE3, Force, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.aba import articulated_inertias
from cardan._dynamics.algorithms.along import Coordinates, NodeRows
from cardan._dynamics.algorithms.branch_matrices import BranchMatrix, check_coordinates_are_own, moved
from cardan._dynamics.algorithms.entries import Entries
from cardan._dynamics.algorithms.forward_derivatives import one_by_one
from cardan._dynamics.algorithms.tree import Relative, world_poses
from cardan._robot.model import Model, Node

Compliance = tuple[Motion, ...]  # by what each unit force, and moment, moves a body


def yielded(Omega: Compliance, F: Force) -> Motion:
    """Return Omega F."""
    return sum((column * e for column, e in zip(Omega, F.scalars(), strict=True)), Motion.zero())


def shifted(Omega: Compliance, r: Vector3) -> Compliance:
    """Return a compliance at another point, to which r goes."""
    for _ in range(2):  # column by column, then row by row
        columns = [Motion(V.linear + V.angular.cross(r), V.angular).scalars() for V in Omega]
        Omega = tuple(Motion(row[:3], row[3:]) for row in zip(*columns, strict=True))
    return Omega


class Answer(NamedTuple):
    """A coordinate: p is where the origin of its node is."""

    p: Vector3
    S: Motion
    Gamma: Force
    D_inverse: Scalar
    Omega: Compliance

    def behind(self) -> Compliance:
        """Return the compliance of the body behind it, (2)."""
        w, S = yielded(self.Omega, self.Gamma), self.S
        size = self.D_inverse + w.dot(self.Gamma)
        parts = zip(self.Omega, w.scalars(), S.scalars(), strict=True)
        return tuple(column - S * a - w * b + S * (size * b) for column, a, b in parts)


class Body(NamedTuple):
    p: Vector3
    before: Compliance  # of what carries its joint
    own: Compliance


class Ways(NamedTuple):
    """Of each coordinate the way to the root, itself first; of each, and of the world (-1), those that it carries."""

    of: list[list[int]]
    carried: dict[int, list[int]]

    @staticmethod
    def through(model: Model) -> Ways:
        found, last = Ways([[] for _ in range(model.nv)], {}), [-1]  # those of nodes are behind the world's
        for node in model.nodes:
            above = last[node.parent + 1]
            for k in node.v:
                found.of[k] = [k, *(found.of[above] if above >= 0 else ())]
                found.carried.setdefault(above, []).append(k)
                above = k
            last.append(above)
        return found

    def on_the_way(self) -> np.ndarray:
        """Return all pairs (k, c, j) of j and each k that carries it, inwards, and the coordinate c before k."""
        found = [(k, c, j) for j, way in enumerate(self.of) for c, k in pairwise(way)]
        return np.array(found, np.int64).reshape(-1, 3)

    def aside(self) -> np.ndarray:
        """Return all pairs (k, i, l, j) of i and j on branches that begin with k and l."""
        behind: dict[int, list[int]] = {}
        for j, way in enumerate(self.of):
            for k in way:
                behind.setdefault(k, []).append(j)
        found = [np.zeros((0, 4), np.int64)]
        for above, own in self.carried.items():
            for k, other in combinations(own, 2) if above >= 0 else ():
                i, j = (a.ravel() for a in np.meshgrid(behind[k], behind[other], indexing="ij"))
                found.append(np.stack([np.full_like(i, k), i, np.full_like(i, other), j], axis=1))
        return np.concatenate(found)


def inverse_by_pairs(nodes: NodeRows, relative: Relative, places: Entries | None) -> Any:
    """Return the inverse of the mass matrix, or its entries at some places, in loops."""
    check_coordinates_are_own(nodes.model)
    ways = Ways.through(nodes.model)
    on_the_way, aside = ways.on_the_way(), ways.aside()
    matrix = BranchMatrix(nodes, places, len(on_the_way) + len(aside))
    coordinates = _answers(nodes, relative)
    nodes.trace()
    pushes = _Pushes(nodes.graph, ways, len(on_the_way), bool(len(aside)))
    _add_own(matrix, coordinates, pushes)
    if len(on_the_way):
        _add_carrying(matrix, coordinates, pushes, *on_the_way.T)
    if len(aside):
        _add_aside(matrix, coordinates, pushes, *aside.T)
    return matrix.result()


class _Pushes:
    """P of each pair (k, j), if it is read: those of j itself, then of what carries it, j by j inwards."""

    def __init__(self, graph: Any, ways: Ways, pairs: int, are_read: bool) -> None:
        self.graph, self.depth = graph, np.array([len(way) for way in ways.of])
        self.first = len(ways.of) - 1 + np.cumsum(self.depth - 1) - (self.depth - 1)
        self.columns = [graph.new_column(len(ways.of) + pairs) for _ in range(6 * are_read)]

    def put(self, P: Force, table: np.ndarray, row: int) -> None:
        for column, e in zip(self.columns, P.scalars(), strict=False):
            self.graph.put_in(column, self.graph.link(Table(table), row), e)

    def at(self, k: np.ndarray, j: np.ndarray, row: int) -> Force:
        steps = self.depth[j] - self.depth[k]
        place = self.graph.link(Table(np.where(steps == 0, j, self.first[j] + steps)), row)
        return Force.of([self.graph.entry(column, place) for column in self.columns])


def _answers(nodes: NodeRows, relative: Relative) -> Coordinates[Answer]:
    model, X, S = nodes.model, world_poses(nodes.model, relative), relative.S
    articulated = articulated_inertias(model, relative)
    still: Compliance = (Motion.zero(),) * 6

    def one_by_one_in_the_world(node: Node, p: Vector3, Omega: Compliance) -> list[Answer]:
        axes, (U, D, _) = SE3(X[node.index].rotation, Vector3.zero()), articulated[node.index]
        found: list[Answer] = []
        for s, u, D_inverse in zip(S[node.index], one_by_one(U, D), D.inverse_diagonal, strict=True):
            found.append(Answer(p, axes @ s, axes @ (u * D_inverse), D_inverse, Omega))
            Omega = found[-1].behind()
        return found

    def body(node: Node, above: Body) -> Body:
        p = X[node.index].translation
        before = shifted(above.own, p - above.p)
        return Body(p, before, one_by_one_in_the_world(node, p, before)[-1].behind())

    bodies = nodes.outwards(body, Body(Vector3.zero(), still, still))

    def own(node: Node) -> list[Answer]:
        return one_by_one_in_the_world(node, bodies[node.index].p, bodies[node.index].before)

    return nodes.coordinates(own)


def _answer(k: Answer, u: Scalar, P: Force) -> Scalar:
    """Return how a coordinate answers to what pushes it, (3)."""
    return u * k.D_inverse + yielded(k.Omega, P).dot(k.Gamma)


def _add_own(matrix: BranchMatrix, coordinates: Coordinates[Answer], pushes: _Pushes) -> None:
    graph, every = pushes.graph, np.arange(coordinates.nv)
    start, row = graph.opened()
    k = coordinates.at(row)
    matrix.put_at(matrix.at(every, every), row, _answer(k, 1.0, k.Gamma))
    pushes.put(k.Gamma, every, row)
    graph.closed(start, len(every))


def _add_carrying(
    matrix: BranchMatrix,
    coordinates: Coordinates[Answer],
    pushes: _Pushes,
    k: np.ndarray,
    before: np.ndarray,
    j: np.ndarray,
) -> None:
    graph, zero = pushes.graph, pushes.graph.result(0.0)
    start, row = graph.opened()
    one, last = (coordinates.at(graph.link(Table(own), row)) for own in (k, before))
    heads = [graph.carried(zero) for _ in range(6)]
    is_first = graph.entry(graph.new_column(len(j), Table((before == j).astype(float))), row) != 0.0
    pushed = [where(is_first, e, head) for e, head in zip(last.Gamma.scalars(), heads, strict=True)]
    p = moved(Force.of(pushed), last.p - one.p)
    u = -one.S.dot(p)
    P = p + one.Gamma * u  # (1)
    answer = _answer(one, u, P)
    matrix.put_pair(k, j, row, answer, answer)
    pushes.put(P, len(pushes.depth) + np.arange(len(j)), row)
    graph.closed(start, len(j), zip(heads, P.scalars(), strict=True))


def _add_aside(
    matrix: BranchMatrix,
    coordinates: Coordinates[Answer],
    pushes: _Pushes,
    k: np.ndarray,
    i: np.ndarray,
    other: np.ndarray,
    j: np.ndarray,
) -> None:
    graph = pushes.graph
    start, row = graph.opened()
    one, two = (coordinates.at(graph.link(Table(own), row)) for own in (k, other))
    P = moved(pushes.at(other, j, row), two.p - one.p)
    answer = yielded(one.Omega, P).dot(pushes.at(k, i, row))  # (4)
    matrix.put_pair(i, j, row, answer, answer)
    graph.closed(start, len(j))
