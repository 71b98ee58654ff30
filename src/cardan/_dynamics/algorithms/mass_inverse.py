"""The inverse of the mass matrix: column by column the response to a unit effort, by what there is less of.

In deep trees, articulated bodies and `limbs` respond. Of others, the factors M = L^T D L are inverted. Of very many
joints, columns are found in loops (`responses`).

Source: Featherstone (2008), section 6.5 for the factors, table 7.1 for articulated bodies.
Cost: six multiply-adds an entry between limbs; O(d) an entry by the factors, d the depth.
"""

from __future__ import annotations

from cardan._dynamics.algorithms.aba import mass_factor
from cardan._dynamics.algorithms.derivatives import outwards_in_one_frame
from cardan._dynamics.algorithms.entries import mass_matrix_inverse_entries
from cardan._dynamics.algorithms.forward_derivatives import articulated
from cardan._dynamics.algorithms.linear import Rows, mirrored
from cardan._dynamics.algorithms.responses import has_loops, responses
from cardan._dynamics.algorithms.tree import deepest
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model

DEEP = 14
"""Degrees of freedom on one path beyond which articulated bodies take fewer operations than M and its factors.

A column of M^-1 costs O(d) by these, with a large factor, and up to O(d^2) by those, with a small one.
"""

MANY = 150
"""Joints from which on columns are found in loops: written out they compile for 8 s and take two thirds of the time."""


@public(returns=("nv", "nv"), simplified=True)
def mass_matrix_inverse(model: Model, q: ArrayLike, *, packed: bool = False) -> Rows:
    """Return the inverse of the mass matrix.

    Returns:
        M^-1, shape (..., nv, nv) [1/(kg m^2), 1/kg], symmetric.

    Examples:
        >>> identity = cardan.mass_matrix_inverse(arm, q) @ cardan.mass_matrix(arm, q)
        >>> bool(np.allclose(identity, np.eye(7)))
        True

    Peers: Pinocchio `computeMinverse`.
    """
    if has_loops(model, q, MANY):
        (inverse,) = responses(model, q, [None])
    elif not model.has_mimics and deepest(model) > DEEP:
        rest = [0.0] * model.nv
        limbs = articulated(model, q, *outwards_in_one_frame(model, q, rest, rest)).limbs
        joint_of = {k: node.index for node in model.nodes for k in node.v}
        inverse = mirrored([limbs.unit(joint_of[k], k) for k in range(model.nv)])
    else:
        inverse = mass_factor(model, q).inverse()
    return mass_matrix_inverse_entries(model).of(inverse) if packed else inverse
