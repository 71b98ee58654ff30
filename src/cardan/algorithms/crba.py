"""The mass matrix: the composite rigid body algorithm.

    I^c_i = I_i + sum over children of X_j I^c_j
    F = I^c_i S_i,    M_ii = S_i^T F,    then outwards-in along the ancestors j:  F <- X F,   M_ij = F^T S_j

A mimic joint shares the velocities of its primary, so its blocks are added to the primary's.

Source: Walker and Orin (1982); Featherstone (2008), table 6.2.
Cost: O(n d), d the depth of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan.algorithms.tree import Relative, Vector, relative_kinematics
from cardan.model import Model
from cardan.spatial import Inertia, Scalar

Rows = list[list[Scalar]]


def composite_inertias(model: Model, relative: Relative) -> list[Inertia]:
    """Return I^c_i: the inertia of each node with all that hangs on it, in its frame."""
    composite = [node.inertia for node in model.nodes]
    for node in reversed(model.nodes):
        if node.parent >= 0:
            composite[node.parent] = composite[node.parent] + relative.X[node.index] @ composite[node.index]
    return composite


def mass_matrix(model: Model, q: Vector) -> Rows:
    """Return M (nv x nv), symmetric: kinetic energy is v^T M v / 2."""
    relative = relative_kinematics(model, q)
    composite = composite_inertias(model, relative)
    M: Rows = [[0.0] * model.nv for _ in range(model.nv)]
    for node in model.nodes:
        F = [composite[node.index] @ s for s in relative.S[node.index]]
        _add(M, node.v, node.v, _mirrored([relative.S[node.index].T @ f for f in F]))
        for k, rotor in zip(node.v, node.armature, strict=True):
            M[k][k] = M[k][k] + rotor
        j = node
        while j.parent >= 0:
            F = [relative.X[j.index] @ f for f in F]
            j = model.nodes[j.parent]
            block = [relative.S[j.index].T @ f for f in F]
            _add(M, node.v, j.v, block)
            _add(M, j.v, node.v, [list(column) for column in zip(*block, strict=True)])
    return M


def _mirrored(block: Sequence[Sequence[Scalar]]) -> Rows:
    """Return a block that is symmetric in exact arithmetic with both halves equal to the last digit."""
    n = len(block)
    return [[block[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def _add(M: Rows, rows: Sequence[int], columns: Sequence[int], block: Sequence[Sequence[Scalar]]) -> None:
    for i, row in zip(rows, block, strict=True):
        for j, value in zip(columns, row, strict=True):
            M[i][j] = M[i][j] + value
