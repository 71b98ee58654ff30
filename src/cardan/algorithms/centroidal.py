"""Centre of mass and centroidal momentum.

The centroidal momentum h = [m dc/dt; L] is taken about the centre of mass c, in world axes: h = A(q) v. Column k of A
is the momentum of everything that rides on node k, moved by S_k. Every body counts in mass and centre of mass, those
fixed on the world, too.

Source: Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot (2013).
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan.algorithms.crba import composite_inertias
from cardan.algorithms.tree import (
    Vector,
    accelerations,
    relative_kinematics,
    twists,
    velocity_products,
    world_poses,
)
from cardan.model import Model
from cardan.spatial import SE3, Force, Inertia, Scalar, Vector3

Rows = list[list[Scalar]]


def _total_inertia(model: Model, X: Sequence[SE3], composite: Sequence[Inertia]) -> Inertia:
    """Return the inertia of all bodies in the world frame."""
    total = model.world_inertia()
    for node in model.nodes:
        if node.parent < 0:
            total = total + X[node.index] @ composite[node.index]
    return total


def center_of_mass(model: Model, q: Vector) -> Vector3:
    """Return the centre of mass of all bodies in the world [m]."""
    relative = relative_kinematics(model, q)
    return _total_inertia(model, relative.X, composite_inertias(model, relative)).com


def center_of_mass_velocity(model: Model, q: Vector, v: Vector) -> Vector3:
    """Return the velocity of the centre of mass [m/s]."""
    return centroidal_momentum(model, q, v).linear * (1.0 / model.mass)


def _momentum_columns(model: Model, q: Vector) -> tuple[list[Force], Vector3]:
    """Return the columns of the momentum matrix about the world's origin, and the centre of mass."""
    relative = relative_kinematics(model, q)
    composite = composite_inertias(model, relative)
    poses = world_poses(model, relative.X)
    columns = [Force.zero()] * model.nv
    for node in model.nodes:
        for i, s in zip(node.v, relative.S[node.index], strict=True):
            columns[i] = columns[i] + poses[node.index] @ (composite[node.index] @ s)
    return columns, _total_inertia(model, relative.X, composite).com


def center_of_mass_jacobian(model: Model, q: Vector) -> Rows:
    """Return J (3 x nv): the centre of mass moves with J v."""
    columns, _ = _momentum_columns(model, q)
    return [[column.linear[k] * (1.0 / model.mass) for column in columns] for k in range(3)]


def centroidal_momentum_matrix(model: Model, q: Vector) -> Rows:
    """Return A (6 x nv): the centroidal momentum is A v."""
    columns, com = _momentum_columns(model, q)
    about = SE3(translation=-com)
    centred = [(about @ column).scalars() for column in columns]
    return [[column[k] for column in centred] for k in range(6)]


def centroidal_momentum(model: Model, q: Vector, v: Vector) -> Force:
    """Return [linear momentum; angular momentum about the centre of mass], world axes."""
    relative = relative_kinematics(model, q)
    V = twists(model, relative, v)
    momenta = [node.inertia @ V[node.index] for node in model.nodes]
    return _about_com(model, relative.X, composite_inertias(model, relative), momenta)


def centroidal_momentum_rate(model: Model, q: Vector, v: Vector, a: Vector) -> Force:
    """Return the time derivative of the centroidal momentum: the sum of the wrenches on the robot, gravity included."""
    relative = relative_kinematics(model, q)
    V = twists(model, relative, v)
    A = accelerations(model, relative, velocity_products(model, relative, q, v, V), a)
    rates = [n.inertia @ A[n.index] + V[n.index].cross(n.inertia @ V[n.index]) for n in model.nodes]
    return _about_com(model, relative.X, composite_inertias(model, relative), rates)


def _about_com(model: Model, X: Sequence[SE3], composite: Sequence[Inertia], forces: Sequence[Force]) -> Force:
    """Return the sum of forces (each in its node's frame) about the centre of mass, in world axes."""
    carried, total = list(forces), Force.zero()
    for node in reversed(model.nodes):
        outer = X[node.index] @ carried[node.index]
        if node.parent >= 0:
            carried[node.parent] = carried[node.parent] + outer
        else:
            total = total + outer
    return SE3(translation=-_total_inertia(model, X, composite).com) @ total
