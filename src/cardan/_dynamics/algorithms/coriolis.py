"""The Coriolis matrix, for joints of every kind.

With J_i the body Jacobian of node i in its own frame, M = sum J_i^T I_i J_i and

    C = sum J_i^T (I_i dJ_i/dt + B_i J_i),      B_i m = m x* (I_i V_i)

B_i is skew and B_i V_i = V_i x* I_i V_i, so C v + g is the bias and dM/dt - 2 C is skew, whatever the joints; dS/dt
enters through dJ/dt. Column k of dJ_i/dt is X_ik R_k - V_i x X_ik S_k with R_k = dS_k/dt + V_k x S_k, so the sums over
subtrees need only the composite inertia I^c and the composite of  m -> m x* (I V) - I (V x m).

Source: the factorisation follows Niemeyer and Slotine (1991) and Echeandia and Wensing, Numerical methods to compute
the Coriolis matrix and Christoffel symbols (2021), with dS/dt kept, derived anew.
Cost: O(n d), d the depth of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan._algebra.spatial import SE3, Force, Motion, Scalar, SpatialMatrix, Vector3, momentum_rate_matrix
from cardan._dynamics.algorithms.along import NodeRows, Nodes
from cardan._dynamics.algorithms.branch_matrices import branch_matrices, moved
from cardan._dynamics.algorithms.crba import composite_inertias
from cardan._dynamics.algorithms.jacobians import subspace_rates
from cardan._dynamics.algorithms.linear import Rows, add_block, zeros
from cardan._dynamics.algorithms.tree import Relative, relative_kinematics, twists, world_poses
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model, Node


@public(returns=("nv", "nv"))
def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike) -> Rows:
    """Return a Coriolis matrix C: C v + g is the bias and dM/dt - 2 C is skew-symmetric.

    Both hold for joints of every kind. (C is not unique; only C v is.)

    Returns:
        C, shape (..., nv, nv) [N m s/rad, N s/m].

    Examples:
        >>> h = cardan.coriolis_matrix(arm, q, v) @ v + cardan.gravity_forces(arm, q)
        >>> bool(np.allclose(h, cardan.bias_forces(arm, q, v)))
        True

    Peers: Pinocchio `computeCoriolisMatrix`, roboticstoolbox `coriolis`.
    """
    relative = relative_kinematics(model, q, loops=True)
    nodes, X, S, V = relative.nodes(model), relative.X, relative.S, twists(model, relative, v)
    inertia, rate = composite_inertias(model, relative), _composite_rates(nodes, relative, V)
    R = nodes.each(lambda node: subspace_rates(relative, V, node, q, v))

    def pushes_of(node: Node) -> list[Force]:
        k = node.index
        return [inertia[k] @ r + rate[k] @ s for s, r in zip(S[k], R[k], strict=True)]

    def own(node: Node) -> Rows:
        pushes = pushes_of(node)
        return [[s.dot(f) for f in pushes] for s in S[node.index]]

    def freedoms(node: Node) -> list[_Freedom]:
        k, (turn, p) = node.index, poses[node.index]
        axes = SE3(turn, Vector3.zero())
        return [
            _Freedom(p, *(axes @ e for e in (s, r, push, inertia[k] @ s, rate[k].transpose_apply(s))))
            for s, r, push in zip(S[k], R[k], pushes_of(node), strict=True)
        ]

    if isinstance(nodes, NodeRows):
        poses = world_poses(model, relative)
        return branch_matrices(nodes, [None], lambda node: [own(node)], freedoms, _entries)[0]
    C = zeros(model.nv, model.nv)
    for node in model.nodes:
        k = node.index
        by_rate, by_motion = [inertia[k] @ s for s in S[k]], [rate[k].transpose_apply(s) for s in S[k]]
        add_block(C, node.v, node.v, own(node))
        pushes, j = pushes_of(node), node
        # inwards: every joint before this one carries what hangs on it
        while j.parent >= 0:
            pushes, by_rate, by_motion = ([X[j.index] @ f for f in fs] for fs in (pushes, by_rate, by_motion))
            j = model.nodes[j.parent]
            add_block(C, j.v, node.v, [[s.dot(f) for f in pushes] for s in S[j.index]])
            # the block of the node's rows and the columns of j, by the transposed composites
            motions = list(zip(R[j.index], S[j.index], strict=True))
            felt = zip(by_rate, by_motion, strict=True)
            add_block(C, node.v, j.v, [[f.dot(r) + g.dot(s) for r, s in motions] for f, g in felt])
    return C


class _Freedom(NamedTuple):
    """A coordinate, in world axes."""

    p: Vector3  # where its node's origin is
    S: Motion
    R: Motion
    push: Force
    by_rate: Force  # (I^c)^T S
    by_motion: Force  # (B^c)^T S


def _entries(i: _Freedom, j: _Freedom) -> list[tuple[Scalar, Scalar]]:
    push, by_rate, by_motion = (moved(f, i.p - j.p) for f in (i.push, i.by_rate, i.by_motion))
    return [(by_rate.dot(j.R) + by_motion.dot(j.S), j.S.dot(push))]


def _composite_rates(nodes: Nodes, relative: Relative, V: Sequence[Motion]) -> Sequence[SpatialMatrix]:
    rate = nodes.each(lambda node: momentum_rate_matrix(node.inertia, V[node.index]))
    return nodes.inwards(rate, lambda node, whole: (whole, lambda: whole.transformed(relative.X[node.index])))
