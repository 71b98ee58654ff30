"""Articulated-body inertias: what a link resists a push with while all joints beyond it move freely.

    I^A_i = I_i + sum over children j: X_j (I^A_j - U_j D_j^-1 U_j^T)
    U_i = I^A_i S_i        D_i = S_i^T U_i + armature

A force f that acts on link i alone, were it cut off from its parent, accelerates it by (I^A_i)^-1 f. These are steps
(2) and (4) of forward dynamics (`aba`), which has no use for I^A itself.

Source: Featherstone (2008), table 7.1.
Cost: O(n).
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

from cardan._algebra.errors import MechanismError, first_of
from cardan._algebra.spatial import ForceSubspace
from cardan._dynamics.algorithms import aba
from cardan._dynamics.algorithms.branch_matrices import branch_matrices
from cardan._dynamics.algorithms.crba import inertia_along
from cardan._dynamics.algorithms.linear import Rows
from cardan._dynamics.algorithms.loops import without_loops
from cardan._dynamics.algorithms.tree import relative_kinematics
from cardan._dynamics.call.public import ArrayLike, Reals, public
from cardan._robot.model import Model, Node

Values = TypeVar("Values")  # spatial objects and rows of scalars here; arrays from the compiled function


class ArticulatedInertias(NamedTuple, Generic[Values]):
    """What the inward recursion of forward dynamics leaves at the links; columns are along v.

    Attributes:
        inertia: I^A [kg, kg m, kg m^2], shape (..., nlinks, 6, 6), in the order of `model.link_names`, each in the
            child frame of its joint.
        U: I^A S, shape (..., 6, nv): each joint's columns at its velocities, in its child frame.
        D: S^T U + armature, shape (..., nv, nv), with a block on its diagonal for each joint. Its inverse is the
            acceleration by an effort of one while the links nearer to the root stand still.
    """

    inertia: Values
    U: Values
    D: Values


@public(result=ArticulatedInertias[Reals])
def articulated_inertias(model: Model, q: ArrayLike) -> ArticulatedInertias[Any]:
    """Return the articulated-body inertias I^A of the links, and U = I^A S and D = S^T U + armature of their joints.

    I^A is what a link resists a push with while the joints beyond it move freely. These are the quantities of the
    articulated-body algorithm, `forward_dynamics`, by name.

    Raises:
        MechanismError: if joints move together (mimic joints, closed loops), or one moves nothing that has inertia.

    Examples:
        >>> inertia, U, D = cardan.articulated_inertias(arm, q)
        >>> S = np.array(arm.joint("joint7").subspace(q[6:7]))
        >>> inertia.shape, bool(np.allclose(inertia[6] @ S, U[:, 6:7]))
        ((7, 6, 6), True)

    Peers: Pinocchio's data.Yaba (less U D^-1 U^T), U and Dinv of its joints' data after `aba`; Drake's articulated body
    inertia cache.
    """
    without_loops(model, "articulated_inertias")
    if model.has_mimics:
        names = [node.name for node in model.nodes if node.joint.primaries]
        raise MechanismError(
            f"articulated_inertias: model {model.name!r} has joints that move together ({first_of(names)}), "
            "so that its links do not give way one by one; use cardan.mass_matrix or cardan.mass_matrix_inverse."
        )
    relative = relative_kinematics(model, q, loops=True)
    found, nodes = aba.articulated_inertias(model, relative), relative.nodes(model)
    # the recursion of `aba` leaves what a joint gives on, not I^A itself, which adds up here once more
    own = nodes.each(lambda node: node.inertia.articulated())
    I_A = nodes.inwards(own, lambda node, I_A: (I_A, lambda: relative.inwards(node, found[node.index].inertia)))

    def own_blocks(node: Node) -> list[Rows]:
        return [inertia_along(relative.S[node.index], found[node.index].U, node.armature)]

    (D,), columns = branch_matrices(nodes, [None], own_blocks), list[Any]([None] * model.nv)
    for node in model.nodes:
        for i, u in zip(node.v, found[node.index].U, strict=True):
            columns[i] = u
    # nodes are in the order of the tree, links in that of the document
    place = {name: k for k, name in enumerate(model.joint_names)}
    in_document = sorted(model.nodes, key=lambda node: place[node.name])
    return ArticulatedInertias([I_A[node.index] for node in in_document], ForceSubspace(columns), D)
