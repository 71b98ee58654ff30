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

from cardan._algebra.spatial import SpatialMatrix, momentum_rate_matrix
from cardan._dynamics.algorithms.crba import composite_inertias
from cardan._dynamics.algorithms.jacobians import subspace_rates
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.linear import Rows, add_block, zeros
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model


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
    kinematics = Kinematics(model, q, v)
    X, S, _ = kinematics.relative
    inertia = composite_inertias(model, kinematics.relative)
    rate = _composite_rates(model, kinematics)
    R = [subspace_rates(kinematics, node, q, v) for node in model.nodes]
    C = zeros(model.nv, model.nv)
    for node in model.nodes:
        k = node.index
        pushes = [inertia[k] @ r + rate[k] @ s for s, r in zip(S[k], R[k], strict=True)]
        by_rate, by_motion = [inertia[k] @ s for s in S[k]], [rate[k].transpose_apply(s) for s in S[k]]
        add_block(C, node.v, node.v, [[s.dot(f) for f in pushes] for s in S[k]])
        j = node
        # inwards: every joint before this one carries what hangs on it
        while j.parent >= 0:
            pushes, by_rate, by_motion = ([X[j.index] @ f for f in fs] for fs in (pushes, by_rate, by_motion))
            j = model.nodes[j.parent]
            add_block(C, j.v, node.v, [[s.dot(f) for f in pushes] for s in S[j.index]])
            # the block of the node's rows and the columns of j, by the transposed composites
            moved = list(zip(R[j.index], S[j.index], strict=True))
            felt = zip(by_rate, by_motion, strict=True)
            add_block(C, node.v, j.v, [[f.dot(r) + g.dot(s) for r, s in moved] for f, g in felt])
    return C


def _composite_rates(model: Model, kinematics: Kinematics) -> Sequence[SpatialMatrix]:
    assert kinematics.twists is not None
    rate = [momentum_rate_matrix(node.inertia, kinematics.twists[node.index]) for node in model.nodes]
    nodes, X = kinematics.relative.nodes(model), kinematics.relative.X
    return nodes.inwards(rate, lambda node, whole: (whole, lambda: whole.transformed(X[node.index])))
