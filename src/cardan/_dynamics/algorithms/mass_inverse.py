"""The inverse of the mass matrix: column by column the response to a unit effort, by what there is less of.

For floating bases and deep trees, `limbs` respond; what they must know follows from the factors M = L^T D L, or in
deep trees from articulated bodies. Of others, the factors themselves are inverted. Of very many joints, columns are
found in loops (`responses`).

Source: Featherstone (2008), section 6.5 for the factors, table 7.1 for articulated bodies.
Cost: six multiply-adds an entry between limbs; O(d) an entry by the factors.
"""

from __future__ import annotations

from cardan._algebra.spatial import Force, Vector3
from cardan._dynamics.algorithms.aba import mass_factor
from cardan._dynamics.algorithms.derivatives import outwards_in_one_frame
from cardan._dynamics.algorithms.entries import mass_matrix_inverse_entries
from cardan._dynamics.algorithms.forward_derivatives import articulated
from cardan._dynamics.algorithms.limbs import UNKNOWN, Coordinate, Limbs, moves_all_ways
from cardan._dynamics.algorithms.linear import Factor, Rows, mirrored, zeros
from cardan._dynamics.algorithms.responses import has_loops, responses
from cardan._dynamics.algorithms.tree import Vector, deepest, of_parent, poses_in_one_frame, relative_kinematics
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model

DEEP = 16
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
        inverse = _columns(model, articulated(model, q, *outwards_in_one_frame(model, q, rest, rest)).limbs)
    else:
        factor = mass_factor(model, q)
        inverse = _columns(model, _of_factor(model, q, factor)) if _floats(model, q) else factor.inverse()
    return mass_matrix_inverse_entries(model).of(inverse) if packed else inverse


def _columns(model: Model, limbs: Limbs) -> Rows:
    """Return M^-1, column by column: the response to a unit effort."""
    joint_of = {k: node.index for node in model.nodes for k in node.v}
    columns = [limbs.unit(joint_of[k], k) for k in range(model.nv)]
    return mirrored(columns) or zeros(0, 0)


def _floats(model: Model, q: Vector) -> bool:
    """Return whether every tree hangs on a joint that moves in all six ways."""
    S = relative_kinematics(model, q).S
    return not model.has_mimics and all(moves_all_ways(node, S[node.index]) for node in model.nodes if node.parent < 0)


def _of_factor(model: Model, q: Vector, factor: Factor) -> Limbs:
    """Return the limbs of trees whose first six coordinates are the acceleration of the base, so that L holds Gamma."""
    relative = relative_kinematics(model, q)
    coordinates, X = [UNKNOWN] * model.nv, poses_in_one_frame(model, relative)
    base: list[tuple[int, ...]] = []
    place = {k: at for at, k in enumerate(factor.order)}
    for node in model.nodes:
        base.append(of_parent(base, node.parent, node.v))
        for k, s in zip(node.v, relative.S[node.index], strict=True):
            Gamma = Force.of([factor.L[k][i] if place[i] < place[k] else 0.0 for i in base[-1]])
            coordinates[k] = Coordinate(X[node.index] @ s, factor.inverse_diagonal[k], Gamma, Vector3.zero())
    return Limbs(model, coordinates, factor.L)
