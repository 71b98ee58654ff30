"""Regressors: inverse dynamics and energies are linear in the inertial parameters.

    tau = Y(q, v, a) p,   T = y_T(q, v) . p,   U = y_U(q) . p,      p = model.inertial_parameters(), ten numbers a body

Column by column: the wrench on a body with one unit parameter, carried inwards by the Newton-Euler recursion; the
energy of such a body. The drives' armature is not among the parameters: Y p is `inverse_dynamics` of the robot without
it, and y_T . p its kinetic energy.

Source: Atkeson, An and Hollerbach (1986); Gautier and Khalil (1988) for the energies; Khalil and Dombre (2002),
chapters 9 and 12.
"""

from __future__ import annotations

from cardan._algebra.spatial import Inertia, Motion, Scalar
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.linear import Rows, add_block, transposed, zeros
from cardan._dynamics.algorithms.tree import outward, relative_kinematics, twists, weightless
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model


@public
def torque_regressor(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Rows:
    """Return Y: tau = Y p with p = `model.inertial_parameters()`, ten numbers a body.

    Returns:
        Y, shape (..., nv, 10 nbodies) [N m, N, each by the parameter's unit]. Armature is not among the parameters: Y p
        is the inverse dynamics of the robot without it.

    Examples:
        >>> Y = cardan.torque_regressor(arm, q, v, a)
        >>> bool(np.allclose(Y @ arm.inertial_parameters(), cardan.inverse_dynamics(arm, q, v, a)))
        True

    Peers: Pinocchio `computeJointTorqueRegressor`, iDynTree `inverseDynamicsInertialParametersRegressor`.
    """
    (X, S, _), V, _, A = outward(model, q, v, a, weightless(model))
    Y = zeros(model.nv, 10 * len(model.bodies))
    for b, body in enumerate(model.body_names):
        at = model.attachments[body]
        # what is fixed on the world asks for no efforts
        if at.node < 0:
            continue
        own, rate = at.pose.inverse_act(V[at.node]), at.pose.inverse_act(A[at.node])
        wrenches = [inertia @ rate + own.cross(inertia @ own) for inertia in unit_inertias()]
        forces, index = [at.pose @ f for f in wrenches], at.node
        # inwards: every joint between the body and the root feels its wrench
        while index >= 0:
            node = model.nodes[index]
            columns = range(10 * b, 10 * b + 10)
            add_block(Y, node.v, columns, transposed([S[index].T @ force for force in forces]))
            forces, index = [X[index] @ f for f in forces], node.parent
    return Y


def unit_inertias() -> list[Inertia]:
    """Return the ten inertias with one parameter that is 1, in the order of `Inertia.parameters`."""
    return [Inertia.from_parameters([float(i == k) for i in range(10)]) for k in range(10)]


@public
def kinetic_energy_regressor(model: Model, q: ArrayLike, v: ArrayLike) -> list[Scalar]:
    """Return y: the kinetic energy is y . p with p = `model.inertial_parameters()`, ten numbers a body.

    Returns:
        y, shape (..., 10 nbodies), so that y . p is in [J]. Armature is not among the parameters.

    Examples:
        >>> y = cardan.kinetic_energy_regressor(arm, q, v)  # shape (90,)
        >>> bool(np.isclose(y @ arm.inertial_parameters(), cardan.kinetic_energy(arm, q, v)))
        True

    Peers: Pinocchio `computeKineticEnergyRegressor`.

    Source: Gautier and Khalil, On the identification of the inertial parameters of robots (1988).
    """
    V = twists(model, relative_kinematics(model, q), v)
    row: list[Scalar] = []
    for body in model.body_names:
        at = model.attachments[body]
        own = at.pose.inverse_act(V[at.node]) if at.node >= 0 else Motion.zero()
        row += [own.dot(inertia @ own) * 0.5 for inertia in unit_inertias()]
    return row


@public
def potential_energy_regressor(model: Model, q: ArrayLike) -> list[Scalar]:
    """Return y: the potential energy in gravity is y . p with p = `model.inertial_parameters()`, ten numbers a body.

    Returns:
        y, shape (..., 10 nbodies), so that y . p is in [J].

    Examples:
        >>> y = cardan.potential_energy_regressor(arm, q)  # shape (90,)
        >>> bool(np.isclose(y @ arm.inertial_parameters(), cardan.potential_energy(arm, q)))
        True

    Peers: Pinocchio `computePotentialEnergyRegressor`.

    Source: Gautier and Khalil, On the identification of the inertial parameters of robots (1988).
    """
    row: list[Scalar] = []
    for X in map(Kinematics(model, q).pose, model.body_names):
        # gravity in the body's axes, in which its first moment is a parameter
        down = X.rotation.transpose_apply(model.gravity)
        row += [-X.translation.dot(model.gravity), *(-down), *[0.0] * 6]
    return row
