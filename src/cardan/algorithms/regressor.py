"""The torque regressor: inverse dynamics is linear in the inertial parameters.

    tau = Y(q, v, a) p,      p = model.inertial_parameters(), ten numbers a body

Column by column: the wrench on a body with one unit parameter, carried inwards by the Newton-Euler recursion. The
drives' armature is not among the parameters: Y p is `inverse_dynamics` of the robot without it.

Source: Atkeson, An and Hollerbach (1986); Khalil and Dombre (2002), chapter 9.
"""

from __future__ import annotations

from cardan.algorithms.tree import Vector, accelerations, relative_kinematics, twists, velocity_products, weightless
from cardan.model import Model
from cardan.spatial import Force, Inertia, Motion, Scalar

Rows = list[list[Scalar]]


def torque_regressor(model: Model, q: Vector, v: Vector, a: Vector) -> Rows:
    """Return Y (nv x 10 nbodies)."""
    relative = relative_kinematics(model, q)
    V = twists(model, relative, v)
    c = velocity_products(model, relative, q, v, V)
    A = accelerations(model, relative, c, a, weightless(model))
    Y: Rows = [[0.0] * (10 * len(model.bodies)) for _ in range(model.nv)]
    for b, body in enumerate(model.body_names):
        at = model.attachments[body]
        if at.node < 0:
            continue
        wrenches = body_regressor(at.pose.inverse_act(V[at.node]), at.pose.inverse_act(A[at.node]))
        forces, index = [at.pose @ f for f in wrenches], at.node
        while index >= 0:
            node = model.nodes[index]
            for k, force in enumerate(forces):
                for i, effort in zip(node.v, relative.S[index].T @ force, strict=True):
                    Y[i][10 * b + k] = Y[i][10 * b + k] + effort
            forces, index = [relative.X[index] @ f for f in forces], node.parent
    return Y


def body_regressor(V: Motion, A: Motion) -> list[Force]:
    """Return the ten wrenches I A + V x* I V of a body with one unit inertial parameter each."""
    units = [Inertia.from_parameters([float(i == k) for i in range(10)]) for k in range(10)]
    return [inertia @ A + V.cross(inertia @ V) for inertia in units]
