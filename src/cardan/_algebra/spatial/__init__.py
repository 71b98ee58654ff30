"""Spatial algebra: rotations, rigid transformations, motions, forces, inertias."""

from cardan._algebra.arrays import stack
from cardan._algebra.spatial import rotations
from cardan._algebra.spatial.inertia import ArticulatedInertia, Inertia
from cardan._algebra.spatial.matrix6 import SpatialMatrix, momentum_rate_matrix
from cardan._algebra.spatial.motion import Force, ForceSubspace, Motion, MotionSubspace
from cardan._algebra.spatial.representations import REPRESENTATIONS, Representation, in_body, represented
from cardan._algebra.spatial.se3 import (
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
from cardan._algebra.spatial.stumpff import stumpff
from cardan._algebra.spatial.vector import Matrix3, Scalar, Symmetric3, Vector3, components, unit_vector

__all__ = [
    "REPRESENTATIONS", "SE3", "ArticulatedInertia", "Force", "ForceSubspace", "Inertia", "Matrix3", "Motion",
    "MotionSubspace", "Representation", "Scalar", "SpatialMatrix", "Symmetric3", "Vector3", "checked_pose",
    "components", "exp_se3", "in_body", "is_proper_rotation", "log_from_rotation_vector", "log_se3",
    "momentum_rate_matrix", "pose_error", "represented", "right_jacobian_inverse_se3", "rotations", "snapped", "stack",
    "stumpff", "unit_vector",
]  # fmt: skip
__dir__ = __all__.copy
