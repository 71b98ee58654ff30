"""The algorithms, one textbook page each, over scalars of any type."""

from cardan.algorithms.aba import forward_dynamics
from cardan.algorithms.across import JointQuantities, joint_quantities
from cardan.algorithms.applied import wrench_at
from cardan.algorithms.articulated import ArticulatedInertias, articulated_inertias
from cardan.algorithms.centroidal import (
    center_of_mass,
    center_of_mass_jacobian,
    center_of_mass_velocity,
    centroidal_momentum,
    centroidal_momentum_matrix,
    centroidal_momentum_rate,
)
from cardan.algorithms.configuration import DifferenceDerivatives, difference_derivatives
from cardan.algorithms.constrained import (
    ConstrainedDynamics,
    ConstrainedEfforts,
    constrained_forward_dynamics,
    constrained_inverse_dynamics,
)
from cardan.algorithms.coriolis import coriolis_matrix
from cardan.algorithms.crba import mass_matrix
from cardan.algorithms.derivatives import (
    InverseDynamicsDerivatives,
    inverse_dynamics_derivatives,
)
from cardan.algorithms.energy import kinetic_energy, potential_energy
from cardan.algorithms.entries import (
    forward_dynamics_derivatives_entries,
    inverse_dynamics_derivatives_entries,
    mass_matrix_entries,
    mass_matrix_inverse_entries,
)
from cardan.algorithms.forward_derivatives import ForwardDynamicsDerivatives, forward_dynamics_derivatives
from cardan.algorithms.jacobians import jacobian, jacobian_derivative
from cardan.algorithms.kinematics import (
    body_accelerations,
    body_velocities,
    forward_kinematics,
    frame_acceleration,
    frame_transform,
    frame_velocity,
)
from cardan.algorithms.locked import average_velocity, locked_inertia
from cardan.algorithms.loops import loop_bias, loop_jacobian, loop_residual
from cardan.algorithms.mass_inverse import mass_matrix_inverse
from cardan.algorithms.maximal import GeneralisedState, MaximalState, eval_fk, eval_ik
from cardan.algorithms.passive import passive_forces
from cardan.algorithms.regressor import kinetic_energy_regressor, potential_energy_regressor, torque_regressor
from cardan.algorithms.rnea import bias_forces, gravity_forces, inverse_dynamics
from cardan.algorithms.transmitted import joint_wrenches

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
