"""Regressors: inverse dynamics and energies are linear in the inertial parameters.

    tau = Y(q, v, a) p,   T = y_T(q, v) . p,   U = y_U(q) . p,      p = model.inertial_parameters(), ten numbers a body

Column by column: the wrench on a body with one unit parameter, carried inwards by the Newton-Euler recursion; the
energy of such a body. The drives' armature is not among the parameters: Y p is `inverse_dynamics` of the robot without
it, and y_T . p its kinetic energy.

Of 100 joints and more, Y is made in loops: the ten wrenches of each body, in world axes at the origin of its node, then
pairs of a body and a coordinate that carries it, as of the mass matrix (`crba`).

Source: Atkeson, An and Hollerbach (1986); Gautier and Khalil (1988) for the energies; Khalil and Dombre (2002),
chapters 9 and 12.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.cell import Table
from cardan._algebra.spatial import SE3, Force, Inertia, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.along import NodeRows
from cardan._dynamics.algorithms.branch_matrices import moved
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.linear import Rows, add_block, transposed, zeros
from cardan._dynamics.algorithms.spin import BodyMotion, body_motions
from cardan._dynamics.algorithms.tree import Relative, relative_kinematics, supports, world_poses
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model, Node


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

    Peers: Pinocchio `computeJointTorqueRegressor` (of joints, with I_yy before I_xz), iDynTree
    `inverseDynamicsInertialParametersRegressor`.
    """
    relative = relative_kinematics(model, q, loops=True)
    motions = body_motions(model, relative, q, v, a)
    if isinstance(nodes := relative.nodes(model), NodeRows):
        return _by_pairs(nodes, relative, motions)
    X, S, _ = relative
    Y = zeros(model.nv, 10 * len(model.bodies))
    for b, body in enumerate(model.body_names):
        at = model.attachments[body]
        # what is fixed on the world asks for no efforts
        if at.node < 0:
            continue
        forces, index = _wrenches(at.pose, motions[at.node]), at.node
        # inwards: every joint between the body and the root feels its wrench
        while index >= 0:
            node = model.nodes[index]
            columns = range(10 * b, 10 * b + 10)
            add_block(Y, node.v, columns, transposed([S[index].T @ force for force in forces]))
            forces, index = [X[index] @ f for f in forces], node.parent
    return Y


def _wrenches(pose: SE3, motion: BodyMotion) -> list[Force]:
    """Return what bodies with one unit parameter each, at a pose in their node, ask for in the node's frame."""
    own = motion.at(pose)
    return [pose @ own.force(inertia) for inertia in unit_inertias()]


class _Freedom(NamedTuple):
    """A coordinate, in world axes."""

    p: Vector3  # where its node's origin is
    S: Motion


def _by_pairs(nodes: NodeRows, relative: Relative, motions: Any) -> Any:
    """Return Y, in loops, by the motions of the nodes."""
    model, graph, X, S = nodes.model, nodes.graph, world_poses(nodes.model, relative), relative.S
    attached = [model.attachments[body] for body in model.body_names]

    def own(node: Node) -> list[_Freedom]:
        R, p = X[node.index]
        return [_Freedom(p, SE3(R, Vector3.zero()) @ s) for s in S[node.index]]

    def asked(index: Any, pose: SE3) -> list[Scalar]:
        R, p = X[index]
        forces = [SE3(R, Vector3.zero()) @ f for f in _wrenches(pose, motions[index])]
        return [*p, *(e for f in forces for e in f.scalars())]

    freedoms = nodes.coordinates(own)
    columns = nodes.riders([at.node for at in attached], [at.pose for at in attached], asked)
    ways = [[j for i in supports(model, node.index) for j in model.nodes[i].v] for node in model.nodes]
    pairs = [(j, b) for b, at in enumerate(attached) if at.node >= 0 for j in ways[at.node]]
    j, b = np.array(pairs, np.int64).reshape(-1, 2).T
    places, written = j * len(attached) + b, np.zeros(model.nv * len(attached), bool)
    written[places] = True
    parts = [graph.new_column(len(written)) for _ in range(10)]
    write = graph.put_in if written.all() else graph.add_to  # what is added to begins with zeros
    start, row = graph.opened()
    one, force_row, place = freedoms.of(graph.link(Table(j), row)), *(graph.link(Table(k), row) for k in (b, places))
    x, y, z, *f = (graph.entry(column, force_row) for column in columns)
    lever = Vector3(x, y, z) - one.p
    for k, part in enumerate(parts):
        write(part, place, one.S.dot(moved(Force.of(f[6 * k : 6 * k + 6]), lever)))
    graph.closed(start, len(pairs))
    return graph.array(parts, (model.nv, 10 * len(attached)), written.repeat(10))


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
    kinematics = Kinematics(model, q, v, loops=True)

    def energies(body: Any) -> list[Scalar]:
        own = kinematics.twist(body)
        return [own.dot(inertia @ own) * 0.5 for inertia in unit_inertias()]

    return [e for row in kinematics.of_bodies(energies) for e in row]


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
    kinematics = Kinematics(model, q, loops=True)

    def energies(body: Any) -> list[Scalar]:
        X = kinematics.pose(body)
        # gravity in the body's axes, in which its first moment is a parameter
        down = X.rotation.transpose_apply(model.gravity)
        return [-X.translation.dot(model.gravity), *(-down), *[0.0] * 6]

    return [e for row in kinematics.of_bodies(energies) for e in row]
