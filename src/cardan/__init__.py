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

from typing import TYPE_CHECKING, Any

from cardan import _moved, _wiring
from cardan._algebra.arrays import determinant, each, interp, inverse, norm, repeat, solve
from cardan._algebra.errors import CardanError, DescriptionError
from cardan._algebra.lazy import fetcher
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
from cardan._dynamics.functions import (
    Function,
    articulated_inertias,
    assemble,
    average_velocity,
    bias_forces,
    body_accelerations,
    body_velocities,
    center_of_mass,
    center_of_mass_jacobian,
    center_of_mass_velocity,
    centroidal_momentum,
    centroidal_momentum_matrix,
    centroidal_momentum_rate,
    configuration_derivative_to_velocity,
    constrained_forward_dynamics,
    constrained_inverse_dynamics,
    coriolis_matrix,
    derivative,
    difference,
    difference_derivatives,
    distance,
    eval_fk,
    eval_ik,
    evaluate_joint,
    forward_dynamics,
    forward_dynamics_derivatives,
    forward_kinematics,
    frame_acceleration,
    frame_acceleration_derivatives,
    frame_transform,
    frame_velocity,
    frame_velocity_derivatives,
    function,
    gradient,
    gravity_forces,
    hessian,
    integrate,
    integrate_derivatives,
    integrate_transport,
    interpolate,
    inverse_dynamics,
    inverse_dynamics_derivatives,
    is_same_configuration,
    jacobian,
    jacobian_derivative,
    jacobian_vector_product,
    joint_quantities,
    joint_wrenches,
    kinetic_energy,
    kinetic_energy_regressor,
    limit_coordinates,
    locked_inertia,
    loop_bias,
    loop_jacobian,
    loop_rank,
    loop_residual,
    mass_matrix,
    mass_matrix_inverse,
    mobility,
    normalize,
    packed_indices,
    passive_forces,
    potential_energy,
    potential_energy_regressor,
    principal_value,
    project_velocity,
    torque_regressor,
    vector_jacobian_product,
    velocity_to_configuration_derivative,
    wrench_at,
)
from cardan._robot.joints import Joint, Limits
from cardan._robot.model import Drive, Material, Model
from cardan._robot.records import Actuator, Group, Spring
from cardan._version import __version__

if TYPE_CHECKING:
    from cardan import (
        distributed,
        errors,
        generation,
        identification,
        joints,
        manifolds,
        pictures,
        robots,
        scalar,
        solvers,
        spatial,
        tasks,
        trajectories,
    )
    from cardan._dynamics.coordinates import conventions, converter, representation
    from cardan._motion.simulation import Control, State, World, WorldBuilder
    from cardan._motion.tasks import inverse_kinematics, solve_ik
    from cardan._reach.comparison import compare
    from cardan._reach.formats import (
        check_urdf,
        from_json,
        load,
        load_mechanism,
        read_urdf,
        register_joint,
        save,
        to_json,
        to_urdf,
    )
    from cardan._reach.generation import generate
    from cardan._reach.pictures import plot, plot_trajectory
    from cardan._reach.verification import Certificate, verify_joint
    from cardan._reach.viewer import Viewer, show
    from cardan._robot.description import Mechanism

__all__ = [  # noqa: RUF022 -- by subject
    # robots: read, written, described
    "load", "load_mechanism", "save", "read_urdf", "check_urdf", "to_urdf", "from_json", "to_json", "compare",
    "robots", "Mechanism", "Model", "Inertia", "Joint", "Limits", "Drive", "Spring", "Material",
    "Actuator", "Group", "joints", "manifolds",
    # worlds: what moves and touches
    "WorldBuilder", "World", "State", "Control", "solvers",
    # dynamics
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "mass_matrix_inverse", "coriolis_matrix", "bias_forces",
    "gravity_forces", "passive_forces", "torque_regressor", "joint_wrenches",
    "wrench_at", "articulated_inertias",
    # motions in time, parameters from measurements
    "trajectories", "identification",
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
    "inverse_kinematics", "solve_ik", "tasks",
    # closed loops
    "assemble", "project_velocity", "mobility", "loop_rank", "loop_residual", "loop_jacobian", "loop_bias",
    "constrained_forward_dynamics", "constrained_inverse_dynamics",
    # derivatives
    "inverse_dynamics_derivatives", "forward_dynamics_derivatives", "derivative", "gradient", "hessian",
    "jacobian_vector_product", "vector_jacobian_product", "integrate_derivatives", "difference_derivatives",
    "integrate_transport", "frame_velocity_derivatives", "frame_acceleration_derivatives", "packed_indices",
    # one's own functions, and the scalar functions they are made of
    "Function", "function", "clear_memory", "num_threads", "set_num_threads",
    "scalar", "absolute", "acos", "asin", "atan2", "clip", "cos", "cosh", "exp", "expm1", "floor", "log", "log1p",
    "logical_and", "logical_not", "logical_or", "maximum", "minimum", "power", "sign", "sin", "sinh", "sqrt", "tan",
    "tanh", "where",
    "determinant", "interp", "inverse", "norm", "solve", "repeat", "each",
    # one's own joints
    "Certificate", "evaluate_joint", "register_joint", "verify_joint",
    # other coordinates, other libraries
    "converter", "representation", "conventions",
    # spatial algebra
    "SE3", "Motion", "Force", "pose_error", "spatial",
    # seen: in a browser, in pictures
    "show", "Viewer", "plot", "plot_trajectory", "pictures",
    # errors
    "errors", "CardanError", "DescriptionError",
    "__version__",
]  # fmt: skip

__getattr__ = fetcher(
    __name__,
    {
        "._dynamics.coordinates": "conventions converter representation",
        "._motion.simulation": "Control State World WorldBuilder",
        "._motion.tasks": "inverse_kinematics solve_ik",
        "._reach.comparison": "compare",
        "._reach.formats": "check_urdf from_json load load_mechanism read_urdf register_joint save to_json to_urdf",
        "._reach.generation": "generate",
        "._reach.pictures": "plot plot_trajectory",
        "._reach.verification": "Certificate verify_joint",
        "._reach.viewer": "Viewer show",
        "._robot.description": "Mechanism",
    },
    modules="cli comparison coordinates description distributed errors formats generation gym identification interop "
    "joints manifolds pictures robots scalar simulation solvers spatial tasks trajectories verification viewer",
)
__dir__ = __all__.copy
