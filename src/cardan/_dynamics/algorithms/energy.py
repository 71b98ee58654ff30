"""Kinetic and potential energy.

    T = sum V_i^T I_i V_i / 2 + sum armature v^2 / 2          U = - sum m_b g . c_b

Source: Featherstone (2008), section 2.13; potential zero at the world's origin.
"""

from __future__ import annotations

from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.centroidal import center_of_mass
from cardan._dynamics.algorithms.tree import Vector, relative_kinematics, twists
from cardan._robot.model import Model


def kinetic_energy(model: Model, q: Vector, v: Vector) -> Scalar:
    """Return the kinetic energy [J], that of the drives' rotors (armature) included."""
    V = twists(model, relative_kinematics(model, q), v)
    total: Scalar = 0.0
    for node in model.nodes:
        total = total + V[node.index].dot(node.inertia @ V[node.index])
        for rotor, rate in zip(node.armature, node.velocity(v), strict=True):
            total = total + rotor * (rate * rate)
    return total * 0.5


def potential_energy(model: Model, q: Vector) -> Scalar:
    """Return the potential energy in gravity [J], zero for a mass at the world's origin."""
    if is_zero(model.mass):
        return 0.0
    return center_of_mass(model, q).dot(model.gravity) * -model.mass
