"""The wrench through every joint: the recursive Newton-Euler algorithm, body by body and without the projection.

    f_b = I_b A_b + V_b x* I_b V_b - f_ext,b + sum over the joints j that b carries: X_j f_j

f_b goes through the joint that holds body b, from parent to child; what it does along the freedoms, S^T f, are the
efforts of inverse dynamics less those of the rotors. Bodies that are fixed to one another move alike, so a fixed joint
takes part as any other.

Notation: forces are in the frame of the body's node (`Model.nodes`; the world's for bodies that are fixed on it).

Source: Featherstone (2008), table 5.1, equations 5.9 and 5.10.
Cost: O(n).
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan._algebra.spatial import Force, Inertia
from cardan._dynamics.algorithms.loops import without_loops
from cardan._dynamics.algorithms.spin import BodyMotion, at_rest, body_motions
from cardan._dynamics.algorithms.tree import of_parent, relative_kinematics
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model
from cardan._robot.model.layout import ordered_tree
from cardan._robot.records import WORLD


@public(returns=("nbodies", 6))
def joint_wrenches(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, external_forces: ArrayLike | None = None
) -> list[Force]:
    """Return the wrenches that go through the joints, all six components: what their bearings and sensors feel.

    Returns:
        Wrenches [force; moment] [N, N m], shape (..., joints, 6), in the order of `model.joint_names`, fixed and mimic
        joints among them: of the parent on the child, in the joint's child frame (where `child_pose` places it on the
        child) at its origin. Along the freedoms, S^T f, they are the efforts of `inverse_dynamics`, less armature times
        acceleration: a rotor's own inertia is not felt by the bearing. A base that floats freely transmits nothing.

    Raises:
        MechanismError: if the model has closed loops, whose forces are not determined by the tree: give those of the
            joints that close them as external forces on `model.spanning_tree()`.

    Examples:
        >>> f = cardan.joint_wrenches(arm, q, v, a)
        >>> wrist = f[arm.joint_names.index("joint7")]
        >>> S = np.array(arm.joint("joint7").subspace(q[6:7]))
        >>> bool(np.allclose(S.T @ wrist + arm.passive("armature")[6] * a[6], cardan.inverse_dynamics(arm, q, v, a)[6]))
        True

    Peers: Pinocchio's data.f after `rnea`, MuJoCo's data.cfrc_int (about the centre of mass, moment first), iDynTree
    `inverseDynamicsWithInternalJointForceTorques`, RigidBodyDynamics.jl's jointwrenches of `inverse_dynamics!`, Drake's
    reaction forces.
    """
    without_loops(model, "joint_wrenches")
    relative = relative_kinematics(model, q)
    f = _body_forces(model, body_motions(model, relative, q, v, a), external_forces)  # (5.9)
    through: dict[str, Force] = {}
    # children first, so that all that a body carries has arrived
    for joint in reversed(ordered_tree(model.bodies, model.connections)):
        at, above = model.attachments[joint.child], model.attachments[joint.parent]
        if joint.parent != WORLD:
            # bodies of one node share its frame: nothing is moved through a fixed joint
            outer = f[joint.child] if at.node == above.node else relative.X[at.node] @ f[joint.child]
            f[joint.parent] = f[joint.parent] + outer  # (5.10)
        through[joint.name] = (at.pose @ joint.child_pose).inverse_act(f[joint.child])
    return [through[name] for name in model.joint_names]


def _body_forces(model: Model, motions: Sequence[BodyMotion], external_forces: ArrayLike | None) -> dict[str, Force]:
    """Return what the motion of each body asks for, less the external wrench on it, in its node's frame."""
    world = at_rest(-model.gravity)
    f: dict[str, Force] = {}
    for k, body in enumerate(model.bodies):
        at = model.attachments[body.name]
        f[body.name] = of_parent(motions, at.node, world).force(at.pose @ (body.inertia or Inertia.zero()))
        if external_forces is not None:
            f[body.name] = f[body.name] - at.pose @ Force.of(external_forces[k])
    return f
