"""The mass matrix: the composite rigid body algorithm.

    I^c_i = I_i + sum over children of X_j I^c_j
    F = I^c_i S_i,    M_ii = S_i^T F,    then outwards-in along the ancestors j:  F <- X F,   M_ij = F^T S_j

Of 100 joints and more it is made pair by pair (`mass_by_pairs`).
A mimic joint shares the velocities of its primary, so its blocks are added to the primary's.

Source: Walker and Orin (1982); Featherstone (2008), table 6.2, with its H here M.
Cost: O(n d), d the depth of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan._algebra.spatial import Inertia
from cardan._dynamics.algorithms.along import NodeRows
from cardan._dynamics.algorithms.entries import mass_matrix_entries
from cardan._dynamics.algorithms.linear import Rows, add_block, transposed, zeros
from cardan._dynamics.algorithms.mass_by_pairs import mass_matrix_by_pairs, own_block
from cardan._dynamics.algorithms.tree import Relative, relative_kinematics
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model


def composite_inertias(model: Model, relative: Relative) -> Sequence[Inertia]:
    """Return I^c_i: the inertia of each node with all that hangs on it, in its frame."""
    nodes = relative.nodes(model)
    own = nodes.each(lambda node: node.inertia)
    return nodes.inwards(own, lambda node, whole: (whole, lambda: relative.inwards(node, whole)))


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
        return mass_matrix_by_pairs(model, nodes, relative, composite, packed)
    M = zeros(model.nv, model.nv)
    for i in model.nodes:
        add_block(M, i.v, i.v, own_block(i, relative.S[i.index], composite[i.index]))  # H_ii = S_i^T F
        F = [composite[i.index] @ s for s in relative.S[i.index]]
        j = i
        while j.parent >= 0:
            F = [relative.X[j.index] @ f for f in F]  # F <- X F
            j = model.nodes[j.parent]
            block = [relative.S[j.index].T @ f for f in F]  # H_ij = F^T S_j
            add_block(M, i.v, j.v, block)
            add_block(M, j.v, i.v, transposed(block))
    return mass_matrix_entries(model).of(M) if packed else M
