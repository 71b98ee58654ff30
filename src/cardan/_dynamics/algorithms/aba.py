"""Forward dynamics: the articulated body algorithm.

By definition, table 7.1 of the source, in three passes, with A_world = -g:

    outwards:  (1)  V = X^-1 V_parent + S v,   c = bias + V x S v,   p = V x* I V - f_ext
    inwards:   (2)  U = I^A S,   D = S^T U + armature
               (3)  u = tau - S^T p
               (4)  I^a = I^A - U D^-1 U^T,   I^A_parent += X I^a
               (5)  p^a = p + I^a c + U D^-1 u,   p_parent += X p^a
    outwards:  (6)  A' = X^-1 A_parent + c
               (7)  a = D^-1 (u - U^T A'),   A = A' + S a

`forward_dynamics` is its rewrite. Let A0 be the accelerations at a = 0, and write A = A0 + dA. With the forces of
inverse dynamics at a = 0, p = I A0 + V x* I V - f_ext (`spin`), what is left has no c:

    (5)  p^a = p + U D^-1 u        (6)  dA' = X^-1 dA_parent, dA_world = 0        (7)  with dA in place of A

because I^a c moves from every solve into the one outward pass that inverse dynamics makes anyway. The results are the
same; the definition takes 1.12 (Talos) to 1.20 (7 hinges) times the operations. It stands in
`tests/dynamics/test_textbook.py`, which compares the two.

Clusters, and in deep trees mimic joints, take the recursion over groups (`grouped`), since they share velocities. Few
that are no groups are held in a tree in which they are free (`far_followers`). For others, and in shallow trees,
M a = tau - bias is solved.

Source: Featherstone (1983); Featherstone (2008), table 7.1; numbered here.
Cost: O(n).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cardan._algebra.spatial import ArticulatedInertia, Force, Motion, Scalar
from cardan._dynamics.algorithms.crba import inertia_along, mass_matrix
from cardan._dynamics.algorithms.far_followers import are_few, free_tree, held
from cardan._dynamics.algorithms.grouped import (
    Felt,
    check_moves,
    check_outweighed,
    factored_inertia,
    given_way,
    grouped_accelerations,
    groups,
    singular,
    times_inverse,
)
from cardan._dynamics.algorithms.linear import Armature, Factor, Rows, SingularError, combined, diagonal
from cardan._dynamics.algorithms.loops import without_loops
from cardan._dynamics.algorithms.rnea import bias_forces, external
from cardan._dynamics.algorithms.spin import body_motions
from cardan._dynamics.algorithms.tree import Relative, Vector, deepest, in_tree_order, relative_kinematics
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model, Node

SHALLOW = 10
"""Degrees of freedom on one path up to which joint space takes no more operations than bodies or groups (counted).

An arm has 7 to 9, a hand of coupled fingers or a quadruped's foot 9, a humanoid's 12.
"""


class Articulated(NamedTuple):
    """What the inward recursion of the inertias leaves at a node: U, D and I^a."""

    U: list[Force]
    D: Factor
    inertia: ArticulatedInertia


class Accelerations(NamedTuple):
    """What the outward recursion of the accelerations finds."""

    a: list[Scalar]  # of the joints, nv scalars
    dA: Sequence[Motion]  # of every node, in its own frame, beyond that at a = 0: equations (6) and (7)


@public(returns=("nv",), simplified=True)
def forward_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external_forces: ArrayLike | None = None
) -> list[Scalar]:
    """Return the accelerations a = M^-1 (tau - C v - g + J^T f) that the efforts tau produce.

    Returns:
        Accelerations [rad/s^2, m/s^2], shape (..., nv).

    Raises:
        MechanismError: if the model has closed loops (`constrained_forward_dynamics`).

    Examples:
        >>> tau = cardan.inverse_dynamics(arm, q, v, a)
        >>> bool(np.allclose(cardan.forward_dynamics(arm, q, v, tau), a))
        True

    Peers: Pinocchio `aba`, MuJoCo `mj_forward`, RigidBodyDynamics.jl `dynamics`, roboticstoolbox `accel`.
    """
    without_loops(model, "forward_dynamics")
    if not is_tree(model):
        return by_mass_matrix(model, mass_factor(model, q), q, v, tau, external_forces)
    relative = relative_kinematics(model, q, loops=True)
    motions, nodes = body_motions(model, relative, q, v), relative.nodes(model)
    p = nodes.each(lambda node: motions[node.index].force(node.inertia))  # (1)
    p = nodes.less(p, external(model, external_forces))
    return borne_by_bodies(model, relative, p, tau).a


def is_tree(model: Model) -> bool:
    """Whether articulated bodies take the joints, one by one or in groups: no loop is closed, and it is no detour."""
    if model.has_loops or not model.has_mimics:
        return not model.has_loops
    clusters = any(node.joint.is_placed for node in model.nodes)
    return (clusters or deepest(model) > SHALLOW) and (groups(model) is not None or are_few(model))


def borne_by_bodies(
    model: Model,
    relative: Relative,
    p: Sequence[Force],
    tau: Vector,
    W: Armature | None = None,
    felt: Felt | None = None,
) -> Accelerations:
    """Return the accelerations under efforts tau - W a (`implicit`), of the bias forces p on nodes.

    `felt` is what each body feels like, in its node's frame: by default its own inertia.
    """
    if model.has_mimics:
        together = groups(model)
        if together is not None:
            return Accelerations(*grouped_accelerations(model, relative, together, p, tau, W, felt))
        # followers that are free outweigh bodies which they do not as they are held
        check_outweighed(model, lambda node: node.armature, known=felt is None)
        free = free_tree(model, relative, diagonal(W) if W else [0.0] * model.nv)
        articulated = articulated_inertias(free.model, free.relative, free.rotors, felt or (lambda node: node.inertia))
        efforts = [*tau, *[0.0] * len(free.rows)]
        a, dA = accelerations_of(free.model, free.relative, articulated, p, efforts, free.rows)
        return Accelerations(a[: model.nv], dA)
    articulated = articulated_inertias(model, relative, diagonal(W) if W else None, felt)
    return accelerations_of(model, relative, articulated, p, tau)


def articulated_inertias(
    model: Model,
    relative: Relative,
    armature: Vector | None = None,
    felt: Felt | None = None,
) -> Sequence[Articulated]:
    """Return U, D and I^a of every node.

    `armature`, nv inertias, is felt along the joints beside that of the nodes; `felt` as of `borne_by_bodies`.
    """
    felt_along = [0.0] * model.nv if armature is None else armature
    nodes = relative.nodes(model)

    def rotors_of(node: Node) -> Vector:
        return [a + b for a, b in zip(node.armature, node.velocity(felt_along), strict=True)]

    check_outweighed(model, rotors_of, known=felt is None)

    def inward(node: Node, I_A: ArticulatedInertia) -> tuple[Articulated, Callable[[], ArticulatedInertia]]:
        S = relative.S[node.index]
        U = [I_A @ s for s in S]  # (2)
        rotors = rotors_of(node)
        D = factored_inertia(node, inertia_along(S, U, rotors))
        I_a = given_way(I_A, S, U, times_inverse(U, D), rotors)  # (4)
        return Articulated(U, D, I_a), lambda: relative.inwards(node, I_a)

    own = nodes.each(lambda node: (felt(node) if felt else node.inertia).articulated())
    return nodes.inwards(own, inward)


def mass_factor(model: Model, q: Vector) -> Factor:
    check_outweighed(model, lambda node: node.armature, known=True)
    return factored(model, mass_matrix.kernel(model, q))


def by_mass_matrix(
    model: Model, factor: Factor, q: Vector, v: Vector, tau: Vector, external_forces: ArrayLike | None
) -> list[Scalar]:
    """Return the accelerations M^-1 (tau - bias)."""
    bias = bias_forces.kernel(model, q, v, external_forces)
    return factor.solve([t - b for t, b in zip(tau, bias, strict=True)])


def factored(model: Model, M: Rows) -> Factor:
    """Return the mass matrix M, factored in the order of the tree; MechanismError if a joint moves no inertia.

    Files may list joints before those that carry them, such as the base of a robot behind its legs.
    """
    for node in model.nodes:
        check_moves([M[i][i] for i in node.v], node)
    try:
        return Factor(M, in_tree_order(model))
    except SingularError as error:
        raise singular(next(node for node in model.nodes if error.row in node.v)) from None


def accelerations_of(
    model: Model,
    relative: Relative,
    articulated: Sequence[Articulated],
    p: Sequence[Force],
    tau: Vector,
    rows: Sequence[Vector] = (),
) -> Accelerations:
    """Return the accelerations, of the bias forces p, where rows C a = 0 hold joints (`far_followers`)."""
    nodes, X, S = relative.nodes(model), relative.X, relative.S

    def borne(p: Sequence[Force], tau: Vector) -> Sequence[list[Scalar]]:
        def inward(node: Node, force: Force) -> tuple[list[Scalar], Callable[[], Force]]:
            i, (U, D, _) = node.index, articulated[node.index]
            u = [t - f for t, f in zip(node.velocity(tau), S[i].T @ force, strict=True)]  # (3)
            return u, lambda: X[i] @ (force + combined(U, D.solve(u)))  # (5)

        return nodes.inwards(p, inward)

    u, a = borne(p, tau), nodes.efforts()
    u = held(articulated, u, [borne([Force.zero()] * len(model.nodes), row) for row in rows]) if rows else u

    def outward(node: Node, above: Motion) -> Motion:
        i, (U, D, _) = node.index, articulated[node.index]
        free = X[i].inverse_act(above)  # (6)
        own = D.solve([e - column.dot(free) for e, column in zip(u[i], U, strict=True)])  # (7)
        a.add(node, own)
        return free + S[i] @ own

    dA = nodes.outwards(outward, Motion.zero())
    return Accelerations(a.values(), dA)
