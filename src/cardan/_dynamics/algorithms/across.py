"""What every joint of a model does by itself: pose, motion subspace, twist and bias of its child in its parent frame.

    X_J(q)        S(q)        v_J = S v        c = (dS/dt) v

Source: Featherstone (2008), section 4.4 and the function jcalc of table 4.1.
Cost: that of the joints.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

from cardan._algebra.spatial import SE3, Motion, MotionSubspace
from cardan._dynamics.algorithms.along import nodes_of
from cardan._dynamics.call.public import ArrayLike, Reals, public
from cardan._robot.model import Model, Node

Values = TypeVar("Values")  # lists of spatial objects here; arrays from the compiled function


class JointQuantities(NamedTuple, Generic[Values]):
    """What the joints do, in the order of `model.joint_names`, fixed and mimic joints among them.

    Motions are relative to the parent, in the child frame. Where a joint's frames are on its bodies say `parent_pose`
    and `child_pose` of `model.connection(name)`.

    Attributes:
        transform: X_J [m], shape (..., joints, 4, 4): the pose of the child frame in the parent frame of the joint.
        motion_subspace: S [m/s, rad/s for each velocity of one], shape (..., joints, 6, n), n the velocities of the
            joint that has most. Columns that a joint has not are 0; a mimic's are by the velocities of the joint that
            it copies.
        twist: S v [m/s, rad/s], shape (..., joints, 6).
        bias: (dS/dt) v [m/s^2, rad/s^2], shape (..., joints, 6).
    """

    transform: Values
    motion_subspace: Values
    twist: Values
    bias: Values


@public(result=JointQuantities[Reals])
def joint_quantities(model: Model, q: ArrayLike, v: ArrayLike) -> JointQuantities[list[Any]]:
    """Return transform, motion subspace, twist and bias of all joints, each in its own frames.

    Of one joint alone: `cardan.evaluate_joint`. U and D of the joints: `cardan.articulated_inertias`.

    Examples:
        >>> X, S, twist, bias = cardan.joint_quantities(arm, q, v)
        >>> k = arm.joint_names.index("joint3")
        >>> bool(np.allclose(twist[k], S[k] @ v[arm.v_slice("joint3")])), X[k].shape
        (True, (4, 4))

    Peers: Pinocchio's data.joints after `forwardKinematics` (M, S, v, c), RigidBodyDynamics.jl `joint_transform`
    `motion_subspace` `joint_twist` `bias_acceleration` of each joint.
    """
    still, width = Motion.zero(), max((len(node.v) for node in model.nodes), default=0)
    place, at = {name: k for k, name in enumerate(model.joint_names)}, {node.name for node in model.nodes}

    def across(node: Node) -> tuple[SE3, MotionSubspace, Motion, Motion]:
        own, rates = node.configuration(q), node.velocity(v)
        S = node.joint.subspace(own)
        # an array has one width: that of the joint with most freedoms
        padded = MotionSubspace([*S, *[still] * (width - len(S))])
        return node.joint.transform(own), padded, S @ rates, node.joint.bias(own, rates)

    # a fixed joint has no node, and no coordinates
    fixed = {
        place[c.name]: (c.joint.transform(()), MotionSubspace([still] * width), still, still)
        for c in model.connections
        if c.name not in at
    }
    # wheels for the drives of joints that follow others are no joints
    found = nodes_of(model, q).tables(across, [place[node.name] for node in model.nodes[: model.nlinks]], fixed)
    return JointQuantities(*(found or ([], [], [], [])))
