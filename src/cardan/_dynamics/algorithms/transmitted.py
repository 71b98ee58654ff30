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

from cardan._algebra.spatial import Force, Inertia, Vector3
from cardan._dynamics.algorithms.spin import BodyMotion, Spin, body_motions
from cardan._dynamics.algorithms.tree import Vector, of_parent, relative_kinematics
from cardan._robot.model import Model
from cardan._robot.model.layout import ordered_tree
from cardan._robot.records import WORLD


def joint_wrenches(
    model: Model, q: Vector, v: Vector, a: Vector, external_forces: Sequence[Force] | None = None
) -> list[Force]:
    """Return the wrench of the parent on the child through each joint, in the joint's child frame at its origin.

    Args:
        model: the robot.
        q: configuration.
        v: velocity.
        a: acceleration.
        external_forces: wrench on each body, in the body's own frame at its origin.
    """
    relative = relative_kinematics(model, q)
    motions = body_motions(model, relative, q, v, a)
    f = _body_forces(model, motions, external_forces)  # (5.9)
    through: dict[str, Force] = {}
    for joint in reversed(ordered_tree(model.bodies, model.connections)):
        at, above = model.attachments[joint.child], model.attachments[joint.parent]
        if joint.parent != WORLD:
            outer = f[joint.child] if at.node == above.node else relative.X[at.node] @ f[joint.child]
            f[joint.parent] = f[joint.parent] + outer  # (5.10)
        through[joint.name] = (at.pose @ joint.child_pose).inverse_act(f[joint.child])
    return [through[name] for name in model.joint_names]


def _body_forces(
    model: Model, motions: Sequence[BodyMotion], external_forces: Sequence[Force] | None
) -> dict[str, Force]:
    """Return what the motion of each body asks for, less the external wrench on it, in its node's frame."""
    zero = Vector3.zero()
    world = BodyMotion(-model.gravity, Spin(zero, zero))
    f: dict[str, Force] = {}
    for k, body in enumerate(model.bodies):
        at = model.attachments[body.name]
        f[body.name] = of_parent(motions, at.node, world).force(at.pose @ (body.inertia or Inertia.zero()))
        if external_forces is not None:
            f[body.name] = f[body.name] - at.pose @ external_forces[k]
    return f
