"""Inverse dynamics: the recursive Newton-Euler algorithm.

Outwards, with A_world = -g:

    V_i = X_i^-1 V_p(i) + S_i v_i                                     (5.7)
    A_i = X_i^-1 A_p(i) + S_i a_i + bias_i + V_i x S_i v_i            (5.8)
    f_i = I_i A_i + V_i x* I_i V_i - f_ext,i                          (5.9)

Inwards:

    f_p(i) += X_i f_i                                                 (5.10)
    tau_i = S_i^T f_i + armature_i a_i                                (5.11)

`inverse_dynamics` is a rewrite of this definition: `spin` derives the forces I A + V x* I V of (5.9) from the
accelerations of points. They are the same forces; the definition takes 1.20 (7 hinges) to 1.33 (humanoid) times the
operations. It stands to the letter in `tests/dynamics/test_textbook.py`, which compares the two.

Source: Luh, Walker and Paul (1980); Featherstone (2008), table 5.1, whose equations are numbered here.
Cost: O(n).
"""

from __future__ import annotations

from cardan._algebra.spatial import Force, Scalar
from cardan._dynamics.algorithms.along import ExternalForce
from cardan._dynamics.algorithms.spin import body_motions
from cardan._dynamics.algorithms.tree import efforts_along, relative_kinematics
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model


@public(returns=("nv",), simplified=True)
def inverse_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, external_forces: ArrayLike | None = None
) -> list[Scalar]:
    """Return the joint efforts tau = M a + C v + g - J^T f that produce the accelerations a.

    Returns:
        Efforts [N m, N], shape (..., nv). Armature is included, joint damping and friction are not (`passive_forces`).
        Of a model with closed loops, those of its spanning tree, the loops left open (`constrained_inverse_dynamics`).

    Examples:
        >>> cardan.inverse_dynamics(arm, q, v, a).shape
        (7,)
        >>> batch = arm.random_configuration((4096,), seed=0)
        >>> cardan.inverse_dynamics(arm, batch, v, a).shape
        (4096, 7)

    Peers: Pinocchio `rnea`, MuJoCo `mj_inverse` `mj_rne`, Drake `CalcInverseDynamics`, iDynTree `inverseDynamics`,
    Newton `eval_inverse_dynamics_force`, RigidBodyDynamics.jl `inverse_dynamics`, roboticstoolbox `rne`.
    """
    relative = relative_kinematics(model, q, loops=True)
    motions = body_motions(model, relative, q, v, a)
    nodes = relative.nodes(model)
    f = nodes.each(lambda node: motions[node.index].force(node.inertia))
    return efforts_along(nodes, relative, nodes.less(f, external(model, external_forces)), a)


def external(model: Model, external_forces: ArrayLike | None) -> list[ExternalForce]:
    """Return the external forces on bodies, each with the node it acts on."""
    if external_forces is None:
        return []
    places = [model.attachments[body] for body in model.body_names]
    return [ExternalForce(at.node, at.pose, row) for at, row in zip(places, external_forces, strict=True)]


def node_forces(model: Model, external_forces: ArrayLike | None) -> list[tuple[int, Force]]:
    found = external(model, external_forces)
    return [(at.node, at.pose @ Force.of(at.force)) for at in found if at.node >= 0]


@public(returns=("nv",), simplified=True)
def bias_forces(model: Model, q: ArrayLike, v: ArrayLike, external_forces: ArrayLike | None = None) -> list[Scalar]:
    """Return C v + g - J^T f: the efforts at zero acceleration, gravity among them.

    Returns:
        Efforts [N m, N], shape (..., nv).

    Examples:
        >>> still = cardan.bias_forces(arm, q, np.zeros(7))
        >>> bool(np.allclose(still, cardan.gravity_forces(arm, q)))
        True

    Peers: Pinocchio `nle` `nonLinearEffects`, Drake `CalcBiasTerm` (without gravity), iDynTree `generalizedBiasForces`,
    RigidBodyDynamics.jl `dynamics_bias`; MuJoCo's data.qfrc_bias.
    """
    return inverse_dynamics.kernel(model, q, v, [0.0] * model.nv, external_forces)


@public(returns=("nv",), simplified=True)
def gravity_forces(model: Model, q: ArrayLike) -> list[Scalar]:
    """Return g: the efforts that hold the robot still against gravity, the gradient of `potential_energy`.

    Returns:
        Efforts [N m, N], shape (..., nv).

    Examples:
        >>> weightless = arm.with_gravity((0.0, 0.0, 0.0))
        >>> cardan.gravity_forces(weightless, q).tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]

    Peers: Pinocchio `computeGeneralizedGravity`, iDynTree `generalizedGravityForces`, Drake
    `CalcGravityGeneralizedForces` (of the opposite sign: what gravity does), roboticstoolbox `gravload`.
    """
    still = [0.0] * model.nv
    return inverse_dynamics.kernel(model, q, still, still)
