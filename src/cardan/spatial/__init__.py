"""Spatial algebra: rotations, rigid transformations, motions, forces, inertias."""

from cardan.arrays import stack
from cardan.spatial import rotations
from cardan.spatial.inertia import ArticulatedInertia, Inertia
from cardan.spatial.matrix6 import SpatialMatrix, momentum_rate_matrix
from cardan.spatial.motion import Force, Motion
from cardan.spatial.representations import REPRESENTATIONS, Representation, in_body, represented
from cardan.spatial.se3 import (
    SE3,
    checked_pose,
    exp_se3,
    is_proper_rotation,
    log_from_rotation_vector,
    log_se3,
    pose_error,
    right_jacobian_inverse_se3,
    snapped,
)
from cardan.spatial.stumpff import stumpff
from cardan.spatial.subspace import ForceSubspace, MotionSubspace
from cardan.spatial.vector import Matrix3, Scalar, Symmetric3, Vector3, components, unit_vector

__all__ = [
    "REPRESENTATIONS",
    "SE3",
    "ArticulatedInertia",
    "Force",
    "ForceSubspace",
    "Inertia",
    "Matrix3",
    "Motion",
    "MotionSubspace",
    "Representation",
    "Scalar",
    "SpatialMatrix",
    "Symmetric3",
    "Vector3",
    "checked_pose",
    "components",
    "exp_se3",
    "in_body",
    "is_proper_rotation",
    "log_from_rotation_vector",
    "log_se3",
    "momentum_rate_matrix",
    "pose_error",
    "represented",
    "right_jacobian_inverse_se3",
    "rotations",
    "snapped",
    "stack",
    "stumpff",
    "unit_vector",
]
__dir__ = __all__.copy
