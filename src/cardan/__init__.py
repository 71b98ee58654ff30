"""cardan: articulated rigid-body kinematics and dynamics built around the joint.

The examples in the docstrings go on from here:

Examples:
    >>> import numpy as np
    >>> import cardan
    >>> mechanism = cardan.robots.arm7()
    >>> arm = mechanism.model()
    >>> q = arm.random_configuration(seed=0)  # rad, shape (7,); any leading dimensions are a batch
    >>> v = a = tau = np.full(arm.nv, 0.1)  # rad/s, rad/s^2, N m, shape (7,)
"""

from cardan import _wiring
from cardan._algebra.errors import CardanError, DescriptionError
from cardan._algebra.lazy import imported_later
from cardan._version import __version__

with imported_later(globals()):
    from cardan import cli as cli
    from cardan import comparison as comparison
    from cardan import coordinates as coordinates
    from cardan import description as description
    from cardan import (
        distributed,
        errors,
        generation,
        identification,
        joints,
        manifolds,
        optimal,
        pictures,
        robots,
        scalar,
        solvers,
        spatial,
        tasks,
        trajectories,
    )
    from cardan import formats as formats
    from cardan import gym as gym
    from cardan import interop as interop
    from cardan import simulation as simulation
    from cardan import verification as verification
    from cardan import viewer as viewer
    from cardan._algebra.arrays import (
        cell,
        determinant,
        each,
        implicit,
        interp,
        inverse,
        norm,
        repeat,
        repeat_while,
        scan,
        solve,
        when,
    )
    from cardan._algebra.scalar import (
        absolute,
        acos,
        asin,
        atan2,
        clip,
        cos,
        cosh,
        exp,
        expm1,
        floor,
        log,
        log1p,
        logical_and,
        logical_not,
        logical_or,
        maximum,
        minimum,
        power,
        sign,
        sin,
        sinh,
        sqrt,
        tan,
        tanh,
        where,
    )
    from cardan._algebra.spatial import SE3, Force, Inertia, Motion, pose_error
    from cardan._compiler.runtime.memory import clear_memory
    from cardan._compiler.runtime.threads import num_threads, set_num_threads
    from cardan._dynamics.algorithms.aba import forward_dynamics
    from cardan._dynamics.algorithms.across import joint_quantities
    from cardan._dynamics.algorithms.applied import wrench_at
    from cardan._dynamics.algorithms.articulated import articulated_inertias
    from cardan._dynamics.algorithms.centroidal import (
        center_of_mass,
        center_of_mass_jacobian,
        center_of_mass_velocity,
        centroidal_momentum,
        centroidal_momentum_matrix,
        centroidal_momentum_rate,
    )
    from cardan._dynamics.algorithms.configuration import (
        configuration_derivative_to_velocity,
        difference,
        difference_derivatives,
        distance,
        integrate,
        interpolate,
        is_same_configuration,
        limit_coordinates,
        normalize,
        principal_value,
        velocity_to_configuration_derivative,
    )
    from cardan._dynamics.algorithms.constrained import (
        constrained_forward_dynamics,
        constrained_inverse_dynamics,
        impact,
        loop_multipliers,
    )
    from cardan._dynamics.algorithms.coriolis import coriolis_matrix
    from cardan._dynamics.algorithms.crba import mass_matrix
    from cardan._dynamics.algorithms.derivatives import inverse_dynamics_derivatives
    from cardan._dynamics.algorithms.energy import kinetic_energy, potential_energy
    from cardan._dynamics.algorithms.forward_derivatives import forward_dynamics_derivatives
    from cardan._dynamics.algorithms.forward_second_derivatives import (
        forward_dynamics_expansion,
        forward_dynamics_hessian,
    )
    from cardan._dynamics.algorithms.imu import imu
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
    from cardan._dynamics.algorithms.maximal import eval_fk, eval_ik
    from cardan._dynamics.algorithms.passive import passive_forces
    from cardan._dynamics.algorithms.regressor import (
        kinetic_energy_regressor,
        potential_energy_regressor,
        torque_regressor,
    )
    from cardan._dynamics.algorithms.rnea import bias_forces, gravity_forces, inverse_dynamics
    from cardan._dynamics.algorithms.second_derivatives import inverse_dynamics_hessian
    from cardan._dynamics.algorithms.transmitted import joint_wrenches
    from cardan._dynamics.call.function import Function, function
    from cardan._dynamics.coordinates import conventions, converter, representation
    from cardan._dynamics.functions.assembly import (
        assemble,
        assemble_derivatives,
        loop_rank,
        mobility,
        project_velocity,
    )
    from cardan._dynamics.functions.clusters import clustered
    from cardan._dynamics.functions.constrained_derivatives import (
        constrained_forward_dynamics_derivatives,
        constrained_forward_dynamics_hessian,
        constrained_inverse_dynamics_derivatives,
        constrained_inverse_dynamics_hessian,
    )
    from cardan._dynamics.functions.derivatives import (
        derivative,
        gradient,
        hessian,
        jacobian_vector_product,
        vector_jacobian_product,
    )
    from cardan._dynamics.functions.modes import assembly_mode, assembly_modes, cluster_range
    from cardan._dynamics.functions.named_derivatives import (
        centroidal_momentum_hessian,
        frame_acceleration_derivatives,
        frame_acceleration_hessian,
        frame_velocity_derivatives,
        frame_velocity_hessian,
        integrate_derivatives,
        integrate_transport,
    )
    from cardan._dynamics.functions.one_joint import evaluate_joint
    from cardan._dynamics.functions.packing import packed_indices
    from cardan._motion.simulation import Control, State, World, WorldBuilder, raycast
    from cardan._motion.simulation.clearance import clearance, clearance_jacobian, is_free
    from cardan._motion.tasks import inverse_kinematics, inverse_kinematics_derivatives, solve_ik
    from cardan._reach.comparison import compare
    from cardan._reach.formats import (
        from_json,
        load,
        load_mechanism,
        register_joint,
        save,
        to_json,
        to_urdf,
    )
    from cardan._reach.generation import generate
    from cardan._reach.pictures import plot
    from cardan._reach.verification import Certificate, verify_joint
    from cardan._reach.viewer import Viewer, show
    from cardan._robot.description import Mechanism
    from cardan._robot.joints import Joint, Limits
    from cardan._robot.model import Drive, Material, Model
    from cardan._robot.records import Actuator, ContactSurface, Group, Spring

__all__ = [  # noqa: RUF022 -- by subject
    # robots: read, written, described
    "load", "load_mechanism", "save", "to_urdf", "from_json", "to_json", "compare",
    "robots", "Mechanism", "Model", "Inertia", "Joint", "Limits", "Drive", "Spring", "Material",
    "Actuator", "Group", "ContactSurface", "joints", "manifolds",
    # worlds: what moves and touches
    "WorldBuilder", "World", "State", "Control", "solvers",
    # how far shapes are apart
    "clearance", "clearance_jacobian", "is_free",
    # senses
    "raycast", "imu",
    # dynamics
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "mass_matrix_inverse", "coriolis_matrix", "bias_forces",
    "gravity_forces", "passive_forces", "torque_regressor", "joint_wrenches",
    "wrench_at", "articulated_inertias",
    # motions in time, the best of them, parameters from measurements
    "trajectories", "optimal", "identification",
    # many machines, other machines
    "distributed", "generate", "generation",
    # kinematics
    "forward_kinematics", "frame_transform", "frame_velocity", "frame_acceleration", "jacobian", "jacobian_derivative",
    "body_velocities", "body_accelerations", "joint_quantities", "eval_fk", "eval_ik",
    # mass centre, momentum, energy
    "center_of_mass", "center_of_mass_velocity", "center_of_mass_jacobian", "centroidal_momentum",
    "centroidal_momentum_matrix", "centroidal_momentum_rate", "kinetic_energy", "potential_energy",
    "kinetic_energy_regressor", "potential_energy_regressor", "locked_inertia", "average_velocity",
    # moving in configuration space
    "integrate", "difference", "interpolate", "distance", "is_same_configuration", "normalize", "principal_value",
    "limit_coordinates", "velocity_to_configuration_derivative", "configuration_derivative_to_velocity",
    # inverse kinematics
    "inverse_kinematics", "inverse_kinematics_derivatives", "solve_ik", "tasks",
    # closed loops
    "assemble", "assemble_derivatives", "clustered", "assembly_modes", "assembly_mode", "cluster_range",
    "project_velocity", "mobility", "loop_rank", "loop_residual",
    "loop_jacobian", "loop_bias", "loop_multipliers", "constrained_forward_dynamics", "constrained_inverse_dynamics",
    "constrained_forward_dynamics_derivatives", "constrained_inverse_dynamics_derivatives", "impact",
    # derivatives
    "inverse_dynamics_derivatives", "forward_dynamics_derivatives", "derivative", "gradient", "hessian",
    "jacobian_vector_product", "vector_jacobian_product", "integrate_derivatives", "difference_derivatives",
    "integrate_transport", "frame_velocity_derivatives", "frame_acceleration_derivatives", "packed_indices",
    # second derivatives, weighed and summed
    "inverse_dynamics_hessian", "forward_dynamics_hessian", "forward_dynamics_expansion", "frame_velocity_hessian",
    "frame_acceleration_hessian", "centroidal_momentum_hessian", "constrained_forward_dynamics_hessian",
    "constrained_inverse_dynamics_hessian",
    # one's own functions, and the scalar functions they are made of
    "Function", "function", "clear_memory", "num_threads", "set_num_threads",
    "scalar", "absolute", "acos", "asin", "atan2", "clip", "cos", "cosh", "exp", "expm1", "floor", "log", "log1p",
    "logical_and", "logical_not", "logical_or", "maximum", "minimum", "power", "sign", "sin", "sinh", "sqrt", "tan",
    "tanh", "where",
    "determinant", "interp", "inverse", "norm", "solve", "repeat", "repeat_while", "scan", "when", "each",
    "implicit", "cell",
    # one's own joints
    "Certificate", "evaluate_joint", "register_joint", "verify_joint",
    # other coordinates, other libraries
    "converter", "representation", "conventions",
    # spatial algebra
    "SE3", "Motion", "Force", "pose_error", "spatial",
    # seen: in a browser, in pictures
    "show", "Viewer", "plot", "pictures",
    # errors
    "errors", "CardanError", "DescriptionError",
    "__version__",
]  # fmt: skip
