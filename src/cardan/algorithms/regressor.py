"""The torque regressor: inverse dynamics is linear in the inertial parameters.

    tau = Y(q, v, a) p,      p = model.inertial_parameters(), ten numbers a body

Column by column: the wrench on a body with one unit parameter, carried inwards by the Newton-Euler recursion. The
drives' armature is not among the parameters: Y p is `inverse_dynamics` of the robot without it.

Source: Atkeson, An and Hollerbach (1986); Khalil and Dombre (2002), chapter 9.
"""

from __future__ import annotations

from cardan.algorithms.linear import Rows, add_block, transposed, zeros
from cardan.algorithms.tree import Vector, outward, weightless
from cardan.model import Model
from cardan.spatial import Force, Inertia, Motion


def torque_regressor(model: Model, q: Vector, v: Vector, a: Vector) -> Rows:
    """Return Y (nv x 10 nbodies)."""
    (X, S), V, _, A = outward(model, q, v, a, weightless(model))
    Y = zeros(model.nv, 10 * len(model.bodies))
    for b, body in enumerate(model.body_names):
        at = model.attachments[body]
        if at.node < 0:
            continue
        wrenches = body_regressor(at.pose.inverse_act(V[at.node]), at.pose.inverse_act(A[at.node]))
        forces, index = [at.pose @ f for f in wrenches], at.node
        while index >= 0:
            node = model.nodes[index]
            columns = range(10 * b, 10 * b + 10)
            add_block(Y, node.v, columns, transposed([S[index].T @ force for force in forces]))
            forces, index = [X[index] @ f for f in forces], node.parent
    return Y


def body_regressor(V: Motion, A: Motion) -> list[Force]:
    """Return the ten wrenches I A + V x* I V of a body with one unit inertial parameter each."""
    units = [Inertia.from_parameters([float(i == k) for i in range(10)]) for k in range(10)]
    return [inertia @ A + V.cross(inertia @ V) for inertia in units]
