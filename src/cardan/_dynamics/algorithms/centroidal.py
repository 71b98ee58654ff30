"""Centre of mass and centroidal momentum.

The centroidal momentum h = [m dc/dt; L] is taken about the centre of mass c, in world axes: h = A(q) v. Column k of A
is the momentum of everything that rides on node k, moved by S_k. Every body counts in mass and centre of mass, those
fixed on the world, too.

Source: Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot (2013).
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan._algebra.errors import MechanismError
from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import SE3, Force, Inertia, Scalar, Vector3
from cardan._dynamics.algorithms.crba import composite_inertias
from cardan._dynamics.algorithms.linear import Rows
from cardan._dynamics.algorithms.spin import at_rest, body_motions
from cardan._dynamics.algorithms.tree import Relative, Vector, relative_kinematics, sums, twists, world_poses
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model, Node


def total_inertia(model: Model, X: Sequence[SE3], composite: Sequence[Inertia]) -> Inertia:
    total = model.world_inertia()
    for node in model.nodes:
        if node.parent < 0:
            total = total + X[node.index] @ composite[node.index]
    return total


@public(returns=(3,))
def center_of_mass(model: Model, q: ArrayLike) -> Vector3:
    """Return the centre of mass of all bodies.

    Returns:
        Position in the world [m], shape (..., 3).

    Examples:
        >>> cardan.center_of_mass(arm, q).shape
        (3,)

    Peers: Pinocchio `centerOfMass`, MuJoCo's data.subtree_com, Drake `CalcCenterOfMassPositionInWorld`,
    iDynTree `getCenterOfMassPosition`.
    """
    relative = relative_kinematics(model, q, loops=True)
    return total_inertia(model, relative.X, composite_inertias(model, relative)).com


@public(returns=(3,))
def center_of_mass_velocity(model: Model, q: ArrayLike, v: ArrayLike) -> Vector3:
    """Return the velocity of the centre of mass.

    Returns:
        Velocity in world axes [m/s], shape (..., 3).

    Examples:
        >>> moved = cardan.center_of_mass_jacobian(arm, q) @ v
        >>> bool(np.allclose(cardan.center_of_mass_velocity(arm, q, v), moved))
        True

    Peers: MuJoCo `mj_subtreeVel`, Drake `CalcCenterOfMassTranslationalVelocityInWorld`,
    iDynTree `getCenterOfMassVelocity`.
    """
    return centroidal_momentum.kernel(model, q, v).linear * inverse_mass(model)


def inverse_mass(model: Model) -> Scalar:
    """Return 1 / m; MechanismError if no body has mass."""
    if is_zero(model.mass):
        hint = "give a body an inertia (Inertia(mass=...)), or ask for the pose of a frame"
        raise MechanismError(f"model {model.name!r} has no mass, so its centre of mass does not move; {hint}.")
    return 1.0 / model.mass


def _momentum_rows(model: Model, q: Vector) -> list[list[Scalar]]:
    """Return the rows of the momentum matrix about the centre of mass, the axes the world's."""
    relative = relative_kinematics(model, q, loops=True)
    composite, poses = composite_inertias(model, relative), world_poses(model, relative)
    about = SE3(translation=-total_inertia(model, relative.X, composite).com)
    nodes = relative.nodes(model)
    rows = [nodes.efforts() for _ in range(6)]

    def add(node: Node) -> tuple[()]:
        i = node.index
        columns = [(about @ (poses[i] @ (composite[i] @ s))).scalars() for s in relative.S[i]]
        for k, row in enumerate(rows):
            row.add(node, [column[k] for column in columns])
        return ()

    nodes.each(add)
    return [row.values() for row in rows]


@public(returns=(3, "nv"))
def center_of_mass_jacobian(model: Model, q: ArrayLike) -> Rows:
    """Return the Jacobian J of the centre of mass: it moves with J v.

    Returns:
        J in world axes [m/s for each rad/s or m/s], shape (..., 3, nv).

    Examples:
        >>> cardan.center_of_mass_jacobian(arm, q).shape
        (3, 7)

    Peers: Pinocchio `jacobianCenterOfMass`, MuJoCo `mj_jacSubtreeCom`,
    Drake `CalcJacobianCenterOfMassTranslationalVelocity`, iDynTree `getCenterOfMassJacobian`.
    """
    inverse = inverse_mass(model)
    return [[e * inverse for e in row] for row in _momentum_rows(model, q)[:3]]


@public(returns=(6, "nv"))
def centroidal_momentum_matrix(model: Model, q: ArrayLike) -> Rows:
    """Return the matrix A: the centroidal momentum is A v.

    Returns:
        A in world axes, shape (..., 6, nv): three linear rows [N s], then three angular ones [N m s].

    Examples:
        >>> A = cardan.centroidal_momentum_matrix(arm, q)
        >>> bool(np.allclose(A @ v, cardan.centroidal_momentum(arm, q, v)))
        True

    Peers: Pinocchio `ccrba` `computeCentroidalMap`, iDynTree `getCentroidalTotalMomentumJacobian`.
    """
    return _momentum_rows(model, q)


@public(returns=(6,))
def centroidal_momentum(model: Model, q: ArrayLike, v: ArrayLike) -> Force:
    """Return the momentum of all bodies about their common centre of mass.

    Returns:
        [linear; angular about the centre of mass] in world axes [N s, N m s], shape (..., 6).

    Examples:
        >>> h = cardan.centroidal_momentum(arm, q, v)
        >>> bool(np.allclose(h[:3], arm.mass * cardan.center_of_mass_velocity(arm, q, v)))
        True

    Peers: Pinocchio `computeCentroidalMomentum`, Drake `CalcSpatialMomentumInWorldAboutPoint` (angular first),
    iDynTree `getCentroidalTotalMomentum`.
    """
    relative = relative_kinematics(model, q, loops=True)
    momenta = momenta_of(model, relative, v)
    return about_com(model, relative, composite_inertias(model, relative), momenta)


def momenta_of(model: Model, relative: Relative, v: Vector) -> Sequence[Force]:
    """Return the momentum of each node, in its frame."""
    V = twists(model, relative, v)
    return relative.nodes(model).each(lambda node: node.inertia @ V[node.index])


@public(returns=(6,))
def centroidal_momentum_rate(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Force:
    """Return the time derivative of the centroidal momentum: the sum of all external wrenches.

    Returns:
        [linear; angular about the centre of mass] in world axes [N, N m], shape (..., 6).

    Examples:
        >>> cardan.centroidal_momentum_rate(arm, q, v, a).shape
        (6,)

    Peers: Pinocchio `computeCentroidalMomentumTimeVariation`.
    """
    relative = relative_kinematics(model, q, loops=True)
    motions = body_motions(model, relative, q, v, a, at_rest())
    forces = relative.nodes(model).each(lambda node: motions[node.index].force(node.inertia))
    return about_com(model, relative, composite_inertias(model, relative), forces)


def about_com(model: Model, relative: Relative, composite: Sequence[Inertia], forces: Sequence[Force]) -> Force:
    """Return the sum of forces (each in its node's frame) about the centre of mass, in world axes."""
    X, total = relative.X, Force.zero()
    # inwards first, joint by joint: straight to the world would take the pose of every body
    carried = sums(model, relative, lambda node: forces[node.index])
    for node in reversed(model.nodes):
        if node.parent < 0:
            total = total + X[node.index] @ carried[node.index]
    return SE3(translation=-total_inertia(model, X, composite).com) @ total
