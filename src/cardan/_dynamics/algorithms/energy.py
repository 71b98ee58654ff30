"""Kinetic and potential energy.

    T = sum V_i^T I_i V_i / 2 + sum armature v^2 / 2          U = - sum m_b g . c_b

Source: Featherstone (2008), section 2.13; potential zero at the world's origin.
"""

from __future__ import annotations

from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.centroidal import center_of_mass
from cardan._dynamics.algorithms.tree import relative_kinematics, sums, twists
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model, Node


@public(returns=())
def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike) -> Scalar:
    """Return the kinetic energy v^T M v / 2, armature included.

    Returns:
        Energies [J], shape (...): of one state a number.

    Examples:
        >>> bool(cardan.kinetic_energy(arm, q, v) > 0.0)
        True

    Peers: Pinocchio `computeKineticEnergy`, MuJoCo `mj_energyVel`, Drake `CalcKineticEnergy`.
    """
    relative = relative_kinematics(model, q, loops=True)
    V = twists(model, relative, v)

    def twice(node: Node) -> Scalar:
        own = V[node.index].dot(node.inertia @ V[node.index])
        rotors = zip(node.armature, node.velocity(v), strict=True)
        return sum((rotor * (rate * rate) for rotor, rate in rotors), own)

    behind = sums(model, relative, twice)
    return sum((behind[node.index] for node in model.nodes if node.parent < 0), 0.0) * 0.5


@public(returns=())
def potential_energy(model: Model, q: ArrayLike) -> Scalar:
    """Return the potential energy in gravity, zero for a mass at the world's origin; that of springs is not in it.

    Returns:
        Energies [J], shape (...): of one state a number.

    Examples:
        >>> slope = cardan.gradient(cardan.potential_energy, "q")(arm, q)
        >>> bool(np.allclose(slope, cardan.gravity_forces(arm, q)))
        True

    Peers: Pinocchio `computePotentialEnergy`, MuJoCo `mj_energyPos`, Drake `CalcPotentialEnergy`,
    RigidBodyDynamics.jl `gravitational_potential_energy`.
    """
    # without mass there is no centre of mass: 0 / 0
    if is_zero(model.mass):
        return 0.0
    return center_of_mass.kernel(model, q).dot(model.gravity) * -model.mass
