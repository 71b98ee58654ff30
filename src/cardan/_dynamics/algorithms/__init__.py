"""The algorithms, one textbook page each, over scalars of any type."""

from cardan._dynamics.algorithms.aba import forward_dynamics
from cardan._dynamics.algorithms.across import JointQuantities, joint_quantities
from cardan._dynamics.algorithms.applied import wrench_at
from cardan._dynamics.algorithms.articulated import ArticulatedInertias, articulated_inertias
from cardan._dynamics.algorithms.centroidal import (
    center_of_mass,
    center_of_mass_jacobian,
    center_of_mass_velocity,
    centroidal_momentum,
    centroidal_momentum_matrix,
    centroidal_momentum_rate,
)
from cardan._dynamics.algorithms.configuration import DifferenceDerivatives, difference_derivatives
from cardan._dynamics.algorithms.constrained import (
    ConstrainedDynamics,
    ConstrainedEfforts,
    constrained_forward_dynamics,
    constrained_inverse_dynamics,
)
from cardan._dynamics.algorithms.coriolis import coriolis_matrix
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.derivatives import (
    InverseDynamicsDerivatives,
    inverse_dynamics_derivatives,
)
from cardan._dynamics.algorithms.energy import kinetic_energy, potential_energy
from cardan._dynamics.algorithms.entries import (
    forward_dynamics_derivatives_entries,
    inverse_dynamics_derivatives_entries,
    mass_matrix_entries,
    mass_matrix_inverse_entries,
)
from cardan._dynamics.algorithms.forward_derivatives import ForwardDynamicsDerivatives, forward_dynamics_derivatives
from cardan._dynamics.algorithms.jacobians import jacobian, jacobian_derivative
from cardan._dynamics.algorithms.kinematics import (
    body_accelerations,
    body_velocities,
    forward_kinematics,
    frame_acceleration,
    frame_transform,
    frame_velocity,
)
from cardan._dynamics.algorithms.locked import average_velocity, locked_inertia
from cardan._dynamics.algorithms.loops import loop_bias, loop_jacobian, loop_residual
from cardan._dynamics.algorithms.mass_inverse import mass_matrix_inverse
from cardan._dynamics.algorithms.maximal import GeneralisedState, MaximalState, eval_fk, eval_ik
from cardan._dynamics.algorithms.passive import passive_forces
from cardan._dynamics.algorithms.regressor import kinetic_energy_regressor, potential_energy_regressor, torque_regressor
from cardan._dynamics.algorithms.rnea import bias_forces, gravity_forces, inverse_dynamics
from cardan._dynamics.algorithms.transmitted import joint_wrenches

__all__ = [
    "ArticulatedInertias",
    "ConstrainedDynamics",
    "ConstrainedEfforts",
    "DifferenceDerivatives",
    "ForwardDynamicsDerivatives",
    "GeneralisedState",
    "InverseDynamicsDerivatives",
    "JointQuantities",
    "MaximalState",
    "articulated_inertias",
    "average_velocity",
    "bias_forces",
    "body_accelerations",
    "body_velocities",
    "center_of_mass",
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "centroidal_momentum_rate",
    "constrained_forward_dynamics",
    "constrained_inverse_dynamics",
    "coriolis_matrix",
    "difference_derivatives",
    "eval_fk",
    "eval_ik",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_derivatives_entries",
    "forward_kinematics",
    "frame_acceleration",
    "frame_transform",
    "frame_velocity",
    "gravity_forces",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_derivatives_entries",
    "jacobian",
    "jacobian_derivative",
    "joint_quantities",
    "joint_wrenches",
    "kinetic_energy",
    "kinetic_energy_regressor",
    "locked_inertia",
    "loop_bias",
    "loop_jacobian",
    "loop_residual",
    "mass_matrix",
    "mass_matrix_entries",
    "mass_matrix_inverse",
    "mass_matrix_inverse_entries",
    "passive_forces",
    "potential_energy",
    "potential_energy_regressor",
    "torque_regressor",
    "wrench_at",
]
