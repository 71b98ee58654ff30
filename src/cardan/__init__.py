"""cardan: articulated rigid-body kinematics and dynamics built around the joint."""

from cardan import errors, joints, manifolds, robots, scalar, spatial
from cardan._version import __version__
from cardan.errors import CardanError, DescriptionError
from cardan.formats import (
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
from cardan.functions import (
    Function,
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
    converter,
    coriolis_matrix,
    derivative,
    difference,
    evaluate_joint,
    forward_dynamics,
    forward_dynamics_derivatives,
    forward_kinematics,
    frame_acceleration,
    frame_transform,
    frame_velocity,
    function,
    gradient,
    gravity_forces,
    hessian,
    integrate,
    inverse_dynamics,
    inverse_dynamics_derivatives,
    jacobian,
    jacobian_derivative,
    jacobian_vector_product,
    kinetic_energy,
    limit_coordinates,
    mass_matrix,
    mass_matrix_inverse,
    normalize,
    passive_forces,
    potential_energy,
    principal_value,
    representation,
    torque_regressor,
    vector_jacobian_product,
    velocity_to_configuration_derivative,
)
from cardan.interop import conventions
from cardan.joints import Joint, Limits
from cardan.mechanism import Mechanism
from cardan.model import Model
from cardan.program import num_threads, set_num_threads
from cardan.scalar import (
    absolute,
    acos,
    asin,
    atan2,
    cos,
    exp,
    floor,
    log,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    sign,
    sin,
    sqrt,
    tan,
    where,
)
from cardan.spatial import SE3, Force, Inertia, Motion
from cardan.verification import Certificate, verify_joint
