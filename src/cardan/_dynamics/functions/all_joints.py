"""The quantities of all joints of a model in one call."""

from __future__ import annotations

from numpy.typing import ArrayLike

from cardan._dynamics.algorithms.across import JointQuantities
from cardan._dynamics.call.function import function
from cardan._dynamics.functions.vocabulary import Reals, algorithms
from cardan._robot.model import Model


@function
def joint_quantities(model: Model, q: ArrayLike, v: ArrayLike) -> JointQuantities[Reals]:
    """Return transform, motion subspace, twist and bias of all joints, each in its own frames.

    Of one joint alone: `cardan.evaluate_joint`. U and D of the joints: `cardan.articulated_inertias`.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).

    Returns:
        `JointQuantities(transform, motion_subspace, twist, bias)`, in the order of `model.joint_names`, fixed and mimic
        joints among them: X_J [m], the pose of the child frame in the parent frame of the joint, (..., joints, 4, 4); S
        (..., joints, 6, n) [m/s, rad/s for each velocity of one], n the velocities of the joint that has most, columns
        that a joint has not being 0; the twist S v [m/s, rad/s] and the bias (dS/dt) v [m/s^2, rad/s^2], shape
        (..., joints, 6). Motions are relative to the parent, in the child frame. Where a joint's frames are on its
        bodies say `parent_pose` and `child_pose` of `model.connection(name)`. A mimic's columns are by the velocities
        of the joint that it copies.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> X, S, twist, bias = cardan.joint_quantities(arm, q, v)
        >>> k = arm.joint_names.index("joint3")
        >>> bool(np.allclose(twist[k], S[k] @ v[arm.v_slice("joint3")])), X[k].shape
        (True, (4, 4))

    Peers: Pinocchio's data.joints after `forwardKinematics` (M, S, v, c), RigidBodyDynamics.jl `joint_transform`
    `motion_subspace` `joint_twist` `bias_acceleration` of each joint.

    Source: Featherstone (2008), section 4.4.
    """
    return algorithms.joint_quantities(model, q, v)
