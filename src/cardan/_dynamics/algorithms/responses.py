"""How a tree of many joints gives way to efforts b: M^-1 b for each column of a matrix, in loops within a loop.

They are equations (3), (5), (6) and (7) of forward dynamics (`aba`) for a tree at rest that nothing pulls:

    inwards:   x = D^-1 b - (S D^-1)^T p,    p_parent += p + U x
    outwards:  a = x - (U D^-1)^T A_parent,    A = A_parent + S a

All is in world axes, p and A at the origin of their node: they pass from one to another by a lever, without a turn.
About the world's origin, far away, most of a moment would cancel. What meets a parent's p or A is at its origin, so
that no joint waits for a lever. Several matrices share the loops.

Source: Featherstone (2008), table 7.1.
Cost: O(n) a column, with some 40 multiply-adds a joint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cardan._algebra.arrays.cell import Table
from cardan._algebra.scalar import where
from cardan._algebra.spatial import SE3, Force, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.aba import articulated_inertias
from cardan._dynamics.algorithms.along import NodeRows, nodes_of
from cardan._dynamics.algorithms.branch_matrices import moved
from cardan._dynamics.algorithms.grouped import times_inverse
from cardan._dynamics.algorithms.linear import Factor, combined
from cardan._dynamics.algorithms.tree import Vector, relative_kinematics, world_poses
from cardan._robot.model import Model, Node

TOGETHER = 4
"""Columns that a loop takes at once: one alone waits for its own products."""


class _Joint(NamedTuple):
    """What a joint is to a column, in world axes."""

    lever: Vector3  # from the origin of the parent's node to that of its own
    D: Factor
    S: list[Motion]
    S_D: list[Motion]  # S D^-1
    U: list[Force]  # at the parent's origin
    U_D: list[Force]  # U D^-1, there


def has_loops(model: Model, q: Vector, fewest: int = 0) -> bool:
    """Return whether columns are found in loops: of many joints, most of them alike (`nodes_of`), in one tree.

    Of several trees most responses are 0, which loops compute all the same.
    """
    are_many = len(model.nodes) >= fewest and isinstance(nodes_of(model, q), NodeRows)
    return are_many and sum(node.parent < 0 for node in model.nodes) == 1


def responses(model: Model, q: Vector, matrices: Sequence[Any]) -> list[Any]:
    """Return -M^-1 B of matrices in a column of the program (`ColumnArray`); of None, M^-1 itself, symmetric."""
    relative = relative_kinematics(model, q, loops=True)
    nodes: Any = relative.nodes(model)
    articulated, poses = articulated_inertias(model, relative), world_poses(model, relative)

    def joint(node: Node) -> _Joint:
        i, (U, D, _) = node.index, articulated[node.index]
        R = poses[i].rotation
        axes, X = SE3(R, Vector3.zero()), relative.X[i]
        lever = R @ X.rotation.transpose_apply(X.translation)
        S, U = [axes @ s for s in relative.S[i]], [moved(axes @ u, lever) for u in U]
        return _Joint(lever, D, S, times_inverse(S, D), U, times_inverse(U, D))

    joints = nodes.each(joint)
    nodes.trace()
    graph, nv, places = nodes.graph, model.nv, nodes.place
    blocks = -(-nv // TOGETHER)
    most = TOGETHER * blocks  # columns behind the last are found, and nobody reads them
    first = Table(range(0, most * nv, nv))  # the row of a column that begins a row of a matrix
    numbers = graph.new_column(nv, Table(range(nv)))
    columns, found = ([graph.new_column(size * nv) for _ in matrices] for size in (most, nv))
    start, block = graph.opened()
    own = [range(t, most, TOGETHER) for t in range(TOGETHER)]
    ends = [(graph.link(Table([min(k, nv - 1) for k in at]), block), graph.link(Table(at), block)) for at in own]
    each = [(m, k, to) for m in range(len(matrices)) for k, to in ends]  # column k of matrix m, and where it goes

    def entry(i: int, j: int) -> int:
        return graph.behind(graph.link(first, i), j)

    def efforts(node: Any, B: Any, k: int) -> list[Scalar]:
        own = [places("v", node.row, part) for part in range(node.joint.nv)]
        if B is not None:
            return [-graph.entry(B.columns[0], entry(i, k)) for i in own]
        return [where(graph.entry(numbers, i) == graph.entry(numbers, k), 1.0, 0.0) for i in own]

    def inward(node: Node, p: list[Force]) -> tuple[list[list[Scalar]], Callable[[], list[Force]]]:
        lever, D, _, S_D, U, _ = joints[node.index]
        x = [
            [e - s.dot(f) for e, s in zip(D.solve(efforts(node, matrices[m], k)), S_D, strict=True)]
            for (m, k, _), f in zip(each, p, strict=True)
        ]
        return x, lambda: [moved(f, lever) + combined(U, own) for f, own in zip(p, x, strict=True)]

    def outward(node: Any, above: list[Motion]) -> list[Motion]:
        lever, _, S, _, _, U_D = joints[node.index]
        behind: list[Motion] = []
        for (m, _, to), A, own in zip(each, above, x[node.index], strict=True):
            a = [e - f.dot(A) for e, f in zip(own, U_D, strict=True)]
            for part, e in enumerate(a):
                graph.put_in(columns[m], entry(to, places("v", node.row, part)), e)
            A = Motion(A.linear + A.angular.cross(lever), A.angular)
            behind.append(sum((s * e for s, e in zip(S, a, strict=True)), A))
        return behind

    x = nodes.inwards(nodes.each(lambda _: [Force.zero()] * len(each)), inward)
    nodes.outwards(outward, [Motion.zero()] * len(each))
    nodes.trace()
    graph.closed(start, blocks)
    start, i = graph.opened()
    inner, j = graph.opened()
    for B, column, rows in zip(matrices, columns, found, strict=True):
        e = graph.entry(column, entry(j, i))
        graph.put_in(rows, entry(i, j), e if B is not None else 0.5 * (e + graph.entry(column, entry(i, j))))
    graph.closed(inner, nv)
    graph.closed(start, nv)
    return [graph.array([column], (nv, nv)) for column in found]
