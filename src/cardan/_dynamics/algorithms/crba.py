"""The mass matrix: the composite rigid body algorithm.

    I^c_i = I_i + sum over children of X_j I^c_j
    F = I^c_i S_i,    M_ii = S_i^T F,    then outwards-in along the ancestors j:  F <- X F,   M_ij = F^T S_j

A mimic joint shares the velocities of its primary, so its blocks are added to the primary's.

Of 100 joints and more, it is made in a loop over the pairs of coordinates that carry each other (`by_pairs`). Let S_i =
[v; w] be the motion of coordinate i and F_i = [f; n], both in world axes at the origin p_i of its node. Then, for j on
the way from i to the world,

    M_ij = f_i . v_j + w_j . (n_i + (p_i - p_j) x f_i)

which is F_i^T S_j with F_i moved to p_j in one step. So no entry needs another one. The moment is taken about p_j:
about the world's origin, far away, most of it would cancel.

Source: Walker and Orin (1982); Featherstone (2008), equation 6.13 and table 6.2, with its H here M.
Cost: O(n d), d the depth of the tree; by pairs about 20 operations an entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cardan._algebra.spatial import SE3, Force, Inertia, Motion, MotionSubspace, Scalar, Vector3
from cardan._dynamics.algorithms.along import NodeRows
from cardan._dynamics.algorithms.branch_matrices import branch_matrices, moved
from cardan._dynamics.algorithms.entries import mass_matrix_entries
from cardan._dynamics.algorithms.linear import Rows, add_block, mirrored, transposed, with_diagonal, zeros
from cardan._dynamics.algorithms.tree import Relative, relative_kinematics, sums, world_poses
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model, Node


def composite_inertias(model: Model, relative: Relative) -> Sequence[Inertia]:
    """Return I^c_i: the inertia of each node with all that hangs on it, in its frame."""
    return sums(model, relative, lambda node: node.inertia)


def inertia_along(S: MotionSubspace, U: Sequence[Force], rotors: Sequence[Scalar]) -> Rows:
    """Return S^T U + armature: the block of a joint, for U = I S."""
    return with_diagonal(mirrored([S.T @ column for column in U]), rotors)


def inertias_along(model: Model, relative: Relative) -> list[Scalar]:
    """Return the diagonal of M: what every coordinate feels by itself."""
    found: list[Scalar] = [0.0] * model.nv
    for node, whole in zip(model.nodes, composite_inertias(model, relative), strict=True):
        node.scatter(found, [s.dot(whole @ s) for s in relative.S[node.index]])
        node.scatter(found, node.armature)
    return found


@public(returns=("nv", "nv"), simplified=True)
def mass_matrix(model: Model, q: ArrayLike, *, packed: bool = False) -> Rows:
    """Return the joint-space mass matrix M: the kinetic energy is v^T M v / 2.

    Returns:
        M [kg m^2, kg m, kg], shape (..., nv, nv), symmetric; armature is on its diagonal.

    Examples:
        >>> M = cardan.mass_matrix(arm, q)
        >>> bool(np.isclose(v @ M @ v / 2, cardan.kinetic_energy(arm, q, v)))
        True

    Peers: Pinocchio `crba`, MuJoCo `mj_fullM`, Drake `CalcMassMatrix`, iDynTree `getFreeFloatingMassMatrix`, Newton
    `eval_mass_matrix`, RigidBodyDynamics.jl `mass_matrix`, roboticstoolbox `inertia`.
    """
    relative = relative_kinematics(model, q, loops=True)
    composite, nodes = composite_inertias(model, relative), relative.nodes(model)
    if isinstance(nodes, NodeRows):
        return by_pairs(nodes, relative, composite, packed)
    M = zeros(model.nv, model.nv)
    for i in model.nodes:
        F = [composite[i.index] @ s for s in relative.S[i.index]]
        add_block(M, i.v, i.v, inertia_along(relative.S[i.index], F, i.armature))  # H_ii = S_i^T F
        j = i
        while j.parent >= 0:
            F = [relative.X[j.index] @ f for f in F]  # F <- X F
            j = model.nodes[j.parent]
            block = [relative.S[j.index].T @ f for f in F]  # H_ij = F^T S_j
            add_block(M, i.v, j.v, block)
            add_block(M, j.v, i.v, transposed(block))
    return mass_matrix_entries(model).of(M) if packed else M


class Freedom(NamedTuple):
    """A coordinate, in world axes."""

    p: Vector3  # where its node's origin is
    S: Motion
    F: Force


def by_pairs(nodes: NodeRows, relative: Relative, composite: Sequence[Inertia], packed: bool) -> Any:
    """Return the mass matrix, or the packed one, of the composite inertias I^c_i, in loops."""
    X, S = world_poses(nodes.model, relative), relative.S

    def own(node: Node) -> list[Rows]:
        F = [composite[node.index] @ s for s in S[node.index]]
        return [inertia_along(S[node.index], F, node.armature)]

    def freedoms(node: Node) -> list[Freedom]:
        R, p = X[node.index]
        axes = SE3(R, Vector3.zero())
        return [Freedom(p, axes @ s, axes @ (composite[node.index] @ s)) for s in S[node.index]]

    def entries(i: Freedom, j: Freedom) -> list[tuple[Scalar, Scalar]]:
        entry = j.S.dot(moved(i.F, i.p - j.p))
        return [(entry, entry)]

    places = mass_matrix_entries(nodes.model) if packed else None
    return branch_matrices(nodes, [places], own, freedoms, entries)[0]
