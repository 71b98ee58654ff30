"""The mass matrix of many joints: one entry for each pair of coordinates that carry each other, in a loop.

Let S_i = [v; w] be the motion of coordinate i and F_i = I^c_i S_i = [f; n] the force that it takes, both in world axes
at the origin p_i of its node. Then, for j on the way from i to the world,

    M_ij = f_i . v_j + w_j . (n_i + (p_i - p_j) x f_i)

which is F_i^T S_j of `crba` with F_i moved to p_j in one step, where that page takes it from node to node. So no entry
needs another one. The moment is taken about p_j: about the world's origin, far away, most of it would cancel.

Source: Featherstone (2008), equation 6.13 and table 6.2, with its H here M.
Cost: O(n d), d the depth of the tree; about 20 operations an entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cardan._algebra.spatial import SE3, Force, Inertia, Motion, MotionSubspace, Scalar, Vector3
from cardan._dynamics.algorithms.along import NodeRows
from cardan._dynamics.algorithms.branch_matrices import branch_matrices, moved
from cardan._dynamics.algorithms.entries import mass_matrix_entries
from cardan._dynamics.algorithms.linear import Rows, mirrored
from cardan._dynamics.algorithms.tree import Relative, world_poses
from cardan._robot.model import Model, Node


class Freedom(NamedTuple):
    """A coordinate, in world axes."""

    p: Vector3  # where its node's origin is
    S: Motion
    F: Force


def mass_matrix_by_pairs(
    model: Model, nodes: NodeRows, relative: Relative, composite: Sequence[Inertia], packed: bool
) -> Any:
    """Return the mass matrix, or the packed one, of the composite inertias I^c_i."""
    X = world_poses(model, relative)

    def freedoms(node: Node) -> list[Freedom]:
        R, p = X[node.index]
        axes = SE3(R, Vector3.zero())
        return [Freedom(p, axes @ s, axes @ (composite[node.index] @ s)) for s in relative.S[node.index]]

    def entries(i: Freedom, j: Freedom) -> list[tuple[Scalar, Scalar]]:
        entry = j.S.dot(moved(i.F, i.p - j.p))
        return [(entry, entry)]

    def own(node: Node) -> list[Rows]:
        return [own_block(node, relative.S[node.index], composite[node.index])]

    return branch_matrices(nodes, [mass_matrix_entries(model)], packed, own, freedoms, entries)[0]


def own_block(node: Node, S: MotionSubspace, whole: Inertia) -> Rows:
    """Return H_ii = S^T I^c S of a joint, with the armature on its diagonal."""
    block = mirrored([S.T @ (whole @ s) for s in S])
    for k, rotor in enumerate(node.armature):
        block[k][k] = block[k][k] + rotor
    return block
