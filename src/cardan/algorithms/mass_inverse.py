"""The inverse of the mass matrix, by what there is less of: limbs, entries of L^T D L, or articulated bodies.

Source: Featherstone (2008), section 6.5, for the factors M = L^T D L; table 7.1 on unit efforts, for deep trees.
Cost: six multiply-adds an entry between limbs of a floating base; O(d) an entry of the factors.
"""

from __future__ import annotations

from cardan.algorithms.aba import articulated_inertias, inward_forces, mass_factor, outward_accelerations
from cardan.algorithms.limbs import Limbs, Told, moves_all_ways
from cardan.algorithms.linear import Factor, Rows, mirrored, zeros
from cardan.algorithms.tree import Vector, of_parent, relative_kinematics
from cardan.model import Model
from cardan.spatial import SE3, Force, Motion, Vector3

DEEP = 64
"""Degrees of freedom on one path from which articulated inertias take fewer operations than a factorisation.

A column of M^-1 costs O(d) by the recursion, with a large factor, and O(d^2) by the factors of M, with a small one.
"""


def mass_matrix_inverse(model: Model, q: Vector) -> Rows:
    """Return M^-1 (nv x nv)."""
    if not model.has_mimics and _deepest(model) > DEEP:
        return _by_articulated_bodies(model, q)
    factor = mass_factor(model, q)
    if model.has_mimics or not _floats(model, q):
        return factor.inverse()
    limbs = _limbs(model, q, factor)
    columns = zeros(model.nv, model.nv)
    for node in model.nodes:
        for k in node.v:
            columns[k] = limbs.unit(node.index, k)
    return mirrored(columns) or columns


def _floats(model: Model, q: Vector) -> bool:
    """Return whether every tree hangs on a joint that moves in all six ways."""
    S = relative_kinematics(model, q).S
    return all(moves_all_ways(node, S[node.index]) for node in model.nodes if node.parent < 0)


def _limbs(model: Model, q: Vector, factor: Factor) -> Limbs:
    """Return the limbs of trees whose first six coordinates are the acceleration of the base, so that L holds Gamma."""
    relative = relative_kinematics(model, q)
    told = [Told(Motion.zero(), 0.0, Force.zero(), Vector3.zero())] * model.nv
    X: list[SE3] = []
    base: list[tuple[int, ...]] = []
    for node in model.nodes:
        X.append(X[node.parent] @ relative.X[node.index] if node.parent >= 0 else SE3.identity())
        base.append(of_parent(base, node.parent, node.v))
        for k, s in zip(node.v, relative.S[node.index], strict=True):
            Gamma = Force.of([factor.L[k][i] if i < k else 0.0 for i in base[-1]])
            told[k] = Told(X[-1] @ s, factor.inverse_diagonal[k], Gamma, Vector3.zero())
    return Limbs(model, told, factor.L)


def _by_articulated_bodies(model: Model, q: Vector) -> Rows:
    """Return M^-1: column k is the acceleration by a unit effort k, at rest and without gravity."""
    relative = relative_kinematics(model, q)
    articulated = articulated_inertias(model, relative)
    c, p = [Motion.zero()] * len(model.nodes), [Force.zero()] * len(model.nodes)
    columns = []
    for k in range(model.nv):
        u = inward_forces(model, relative, articulated, c, p, [float(i == k) for i in range(model.nv)])
        columns.append(outward_accelerations(model, relative, articulated, c, u, Motion.zero()).a)
    return mirrored(columns)


def _deepest(model: Model) -> int:
    """Return the largest number of degrees of freedom between the world and a body."""
    depths: list[int] = []
    for node in model.nodes:
        depths.append(len(node.v) + of_parent(depths, node.parent, 0))
    return max(depths, default=0)
