"""Inverse dynamics: the recursive Newton-Euler algorithm.

    f_i = I_i A_i + V_i x* I_i V_i - f_ext,i            outwards, with A_world = -g (as `spin` has it)
    tau_i = S_i^T f_i + armature a_i,   f_p(i) += X_i f_i        inwards

Source: Luh, Walker and Paul (1980); Featherstone (2008), table 5.1 and equations 5.7 to 5.11.
Cost: O(n).
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan._algebra.spatial import Force, Scalar
from cardan._dynamics.algorithms.spin import body_motions
from cardan._dynamics.algorithms.tree import Vector, relative_kinematics
from cardan._robot.model import Model


def inverse_dynamics(
    model: Model, q: Vector, v: Vector, a: Vector, external_forces: Sequence[Force] | None = None
) -> list[Scalar]:
    """Return the joint efforts that produce the accelerations a.

    Args:
        model: the robot.
        q: configuration.
        v: velocity.
        a: acceleration.
        external_forces: wrench on each body, in the body's own frame at its origin.
    """
    X, S, _ = relative = relative_kinematics(model, q)
    motions = body_motions(model, relative, q, v, a)
    f = [motion.force(node.inertia) for motion, node in zip(motions, model.nodes, strict=True)]
    for i, wrench in node_forces(model, external_forces):
        f[i] = f[i] - wrench
    tau: list[Scalar] = [0.0] * model.nv
    for node in reversed(model.nodes):
        i = node.index
        node.scatter(tau, S[i].T @ f[i])  # (5.11)
        node.scatter(tau, [e * r for e, r in zip(node.armature, node.velocity(a), strict=True)])
        if node.parent >= 0:
            f[node.parent] = f[node.parent] + X[i] @ f[i]  # (5.10)
    return tau


def node_forces(model: Model, external_forces: Sequence[Force] | None) -> list[tuple[int, Force]]:
    """Return the external wrenches on movable bodies, in their nodes' frames."""
    if external_forces is None:
        return []
    places = [model.attachments[body] for body in model.body_names]
    return [(at.node, at.pose @ f) for at, f in zip(places, external_forces, strict=True) if at.node >= 0]


def bias_forces(model: Model, q: Vector, v: Vector, external_forces: Sequence[Force] | None = None) -> list[Scalar]:
    """Return C v + g - J^T f_ext: the efforts at zero acceleration."""
    return inverse_dynamics(model, q, v, [0.0] * model.nv, external_forces)


def gravity_forces(model: Model, q: Vector) -> list[Scalar]:
    """Return g: the efforts that hold the robot still against gravity."""
    still = [0.0] * model.nv
    return inverse_dynamics(model, q, still, still)
