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

from cardan._algebra.arrays.symbolic import entries_of, rebuilt
from cardan._algebra.errors import MechanismError
from cardan._algebra.spatial import SE3, Force, Inertia
from cardan._dynamics.algorithms.loops import without_loops
from cardan._dynamics.algorithms.rnea import external
from cardan._dynamics.algorithms.spin import BodyMotion, at_rest, body_motions
from cardan._dynamics.algorithms.tree import Relative, of_parent, relative_kinematics
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model, Node
from cardan._robot.model.layout import ordered_tree


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
        MechanismError: if the model has closed loops, clusters too, whose forces are not determined by the tree: give
            those of the joints that close them as external forces on `model.spanning_tree()`.

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
    if any(node.joint.is_placed for node in model.nodes):
        raise MechanismError(
            "joint_wrenches: joints of clusters are those of loops, and what closes these goes through them, too. "
            "Convert the state to the model whose loops are constraints (cardan.converter), and give the wrenches of "
            "cardan.constrained_inverse_dynamics as external forces on its spanning_tree()."
        )
    without_loops(model, "joint_wrenches")
    relative = relative_kinematics(model, q, loops=True)
    motions, nodes = body_motions(model, relative, q, v, a), relative.nodes(model)
    f = nodes.each(lambda node: motions[node.index].force(node.inertia))
    f = nodes.less(f, external(model, external_forces))  # (5.9)
    f = nodes.inwards(f, lambda node, whole: (whole, lambda: relative.inwards(node, whole)))  # (5.10)
    fixed = _through_fixed_joints(model, relative, motions, f, external_forces)
    place = {name: k for k, name in enumerate(model.joint_names)}
    frames = {c.name: model.attachments[c.child].pose @ c.child_pose for c in model.connections}
    joints = [node.name for node in model.nodes[: model.nlinks]]  # wheels behind them have no bearing
    rows = nodes.rows_of([list(entries_of(frames[name])) for name in joints])

    def through(node: Node) -> tuple[Force]:
        frame: SE3 = rebuilt(SE3.identity(), iter(rows[node.index]))
        return (frame.inverse_act(f[node.index]),)

    others = {place[name]: (frames[name].inverse_act(force),) for name, force in fixed.items()}
    found = nodes.tables(through, [place[name] for name in joints], others)
    return found[0] if found else []


def _through_fixed_joints(
    model: Model,
    relative: Relative,
    motions: Sequence[BodyMotion],
    f: Sequence[Force],
    external_forces: ArrayLike | None,
) -> dict[str, Force]:
    """Return what goes through each fixed joint, in its node's frame: what is on the bodies behind it, and carried."""
    at, world = model.attachments, at_rest(-model.gravity)
    fixed = {c.child: c.name for c in model.connections if at[c.child].node == at[c.parent].node}
    found: dict[str, Force] = {}
    for k, body in enumerate(model.bodies if fixed else ()):
        if body.name in fixed:
            node, pose = at[body.name].node, at[body.name].pose
            own = of_parent(motions, node, world).force(pose @ (body.inertia or Inertia.zero()))
            found[body.name] = own if external_forces is None else own - pose @ Force.of(external_forces[k])
    # children first, so that all that a body carries has arrived
    for joint in reversed(ordered_tree(model.bodies, model.connections)):
        if joint.parent in fixed:
            node = at[joint.child].node
            # bodies of one node share its frame: nothing is moved through a fixed joint
            outer = found[joint.child] if joint.child in fixed else relative.X[node] @ f[node]
            found[joint.parent] = found[joint.parent] + outer
    return {fixed[body]: force for body, force in found.items()}
