"""A mechanism in the form URDF has: joints directed from one root, each joint's frame at its child link's origin.

URDF knows X_parent_child = origin @ joint(q); cardan has parent_pose @ joint(q) @ child_pose^-1. Where

    parent_pose J(q) child_pose^-1 = (parent_pose child_pose^-1) (child_pose J(q) child_pose^-1)

is again of URDF's form, the link keeps its frame: always for fixed and prismatic joints, and for a revolute one if its
axis meets the origin of the child. Otherwise the link's frame moves to the joint's child frame, and with it everything
on the body: inertia, shapes, frames, other joints. The mechanism is the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from cardan._algebra.errors import MechanismError
from cardan._algebra.spatial import SE3, Vector3
from cardan._reach.formats import written as W
from cardan._robot import joints as J
from cardan._robot.description import Mechanism, Shape
from cardan._robot.description.rooting import rooted
from cardan._robot.joints import Fixed, Joint, Mimic, reverse
from cardan._robot.model import WORLD, Body, Connection, Frame, Model
from cardan._robot.model.layout import outwards, resolve_mimics
from cardan._robot.records import Actuator

KINDS: dict[type[Joint], str] = {  # joints URDF has, by type
    J.Revolute: "revolute",
    J.UnboundedRevolute: "continuous",
    J.Prismatic: "prismatic",
    Fixed: "fixed",
    J.FreeFlyer: "floating",
    J.Planar: "planar",
    J.Spherical: "spherical",
}
TURNING, MIMICABLE = (J.Revolute, J.UnboundedRevolute), (J.Revolute, J.UnboundedRevolute, J.Prismatic)
_BASE = "\0base"  # no joint of a mechanism that can be written is named so
_STANDARD_GRAVITY = Vector3(0.0, 0.0, -9.81)


@dataclass(frozen=True, slots=True)
class UrdfForm:
    """What URDF can say of a mechanism; every pose is in link frames."""

    name: str  # of the robot
    bodies: tuple[Body, ...]  # the links, but for the world
    world: bool  # whether the world is a link
    # joints from the root outwards, in document order; child poses are the identity (for a planar joint the
    # rotation onto its axis)
    tree: tuple[Connection, ...]
    loops: tuple[Connection, ...]  # joints that close loops
    frames: tuple[Frame, ...]  # frames on links
    shapes: tuple[Shape, ...]  # shapes on links
    actuators: tuple[Actuator, ...]  # what drives the joints
    moved: dict[str, SE3]  # X_body_link of the links whose frame is not their body's


def urdf_form(thing: Mechanism | Model) -> UrdfForm:
    """Return a mechanism or model as URDF has it; MechanismError for what it cannot say, and for parts."""
    tree, loops = _model_tree(thing) if isinstance(thing, Model) else _directed(thing)
    for c in (*tree, *loops):
        _check_joint(c, closing=c in loops)
    resolve_mimics(tree)
    links = {name: SE3.identity() for name in (WORLD, *(body.name for body in thing.bodies))}  # X_body_link

    def on_link(body: str, thing: Any) -> Any:
        """Return a pose or an inertia on a body, in its axes, as one on its link."""
        return thing if links[body] == SE3.identity() else links[body].inverse() @ thing

    written: dict[str, Connection] = {}
    children = {c.child for c in tree}
    for c, *_ in outwards((c.parent for c in tree if c.parent not in children), tree):
        written[c.name], links[c.child] = _between_links(replace(c, parent_pose=on_link(c.parent, c.parent_pose)))
    poses = [(on_link(c.parent, c.parent_pose), on_link(c.child, c.child_pose)) for c in loops]
    world = any(c.parent == WORLD for c in tree) or any(s.body == WORLD for s in thing.shapes)
    return UrdfForm(
        name=thing.name,
        bodies=tuple(Body(b.name, b.inertia and on_link(b.name, b.inertia)) for b in thing.bodies),
        world=world,
        tree=tuple(written[c.name] for c in tree),
        loops=tuple(replace(c, parent_pose=X, child_pose=Y) for c, (X, Y) in zip(loops, poses, strict=True)),
        frames=tuple(replace(f, pose=on_link(f.body, f.pose)) for f in thing.frames),
        shapes=tuple(replace(s, pose=on_link(s.body, s.pose)) for s in thing.shapes),
        actuators=thing.actuators,
        moved={name: X for name, X in links.items() if SE3.identity() != X},
    )


def _model_tree(model: Model) -> tuple[W.Joints, W.Joints]:
    """Return a model's joints and closures, without the base joint that `cardan.load` adds by itself."""
    if model.gravity != _STANDARD_GRAVITY:
        raise W.refused("URDF", "gravity", tuple(model.gravity), "write model.with_gravity((0, 0, -9.81))")
    if model.inputs:
        raise W.refused("URDF", "inputs of a model", tuple(model.inputs))
    tree = model.connections[1:] if W.has_given_base(model) else model.connections
    return tuple(map(_recognised, tree)), tuple(map(_recognised, model.closures))


def _directed(m: Mechanism) -> tuple[W.Joints, W.Joints]:
    """Return the joints of the tree, directed from the root, and those that close loops.

    The root is the world if a joint or shape is on it; else the first body that is no joint's child; else, where that
    would turn round a joint URDF cannot turn, the first body for which it need not be.
    """
    bodies, joints = tuple(body.name for body in m.bodies), tuple(map(_recognised, m.joints))
    on_world = any(WORLD in (c.parent, c.child) for c in joints) or any(s.body == WORLD for s in m.shapes)
    forest, root = W.connected(bodies, joints), WORLD if on_world else bodies[0]
    if loose := [body for body in bodies if forest.find(body) != forest.find(root)]:
        raise MechanismError(
            f"{m.name!r} cannot be written as URDF, which has one root: {loose[0]!r} is not connected to {root!r}; "
            f"join them with a joint (Fixed or FreeFlyer, say). {W.INSTEAD}."
        )
    if on_world:
        return rooted(bodies, joints, (), Fixed(), ())
    children = {c.child for c in joints}
    first = None
    for root in sorted(bodies, key=lambda body: body in children):
        tree, closures = rooted(bodies, joints, (Connection(_BASE, Fixed(), WORLD, root),), Fixed(), ())
        first = first or (tree[1:], closures)
        if all(_is_known(c.joint) for c in tree):
            return tree[1:], closures
        if not all(_is_known(c.joint) or _is_known(reverse(c.joint)) for c in tree):
            break  # no root helps
    assert first is not None  # there is a body
    return first


def _recognised(c: Connection) -> Connection:
    return c if _is_known(c.joint) else W.as_hinge(c, KINDS)


def _is_known(joint: Joint) -> bool:
    return type(W.without_mimic(joint)) in (MIMICABLE if isinstance(joint, Mimic) else KINDS)


def _check_joint(c: Connection, *, closing: bool) -> None:
    if closing and isinstance(c.joint, Mimic):
        raise W.refused("URDF", f"joint {c.name!r}", "a Mimic that closes a loop")
    if not _is_known(c.joint):
        kinds = ", ".join(kind.__name__ for kind in KINDS)
        why = f"it has {kinds}, and mimics of the first three; put others together with bodies between"
        raise W.refused("URDF", f"joint {c.name!r}", _described(c.joint), why)
    inner = W.without_mimic(c.joint)
    if isinstance(inner, J.UnboundedRevolute) and inner.order != "cos_sin":
        raise W.refused("URDF", f"joint {c.name!r}", f"of order {inner.order!r}", "it has the order 'cos_sin'")


def _described(joint: Joint) -> str:
    inner, name = getattr(joint, "joint", None), type(joint).__name__
    return f"{name}({_described(inner)})" if isinstance(inner, Joint) else name


def _between_links(c: Connection) -> tuple[Connection, SE3]:
    """Return a joint as URDF has it, and X_body_link of its child."""
    X_cj, kept = c.child_pose, SE3.identity()
    if X_cj == SE3.identity():
        return c, kept
    if isinstance(c.joint, J.Planar) and not any(X_cj.translation):
        pairs = zip(X_cj.rotation.entries(), W.rotation_onto(across(c)).entries(), strict=True)
        if max(abs(a - b) for a, b in pairs) <= 1e-15:  # what the reader makes of URDF's axis
            return c, kept
    if not _keeps_frame(c):
        return replace(c, child_pose=kept), X_cj
    joint, inner = c.joint, W.without_mimic(c.joint)
    if not isinstance(inner, Fixed):
        inner = replace(inner, axis=X_cj.rotation @ Vector3.of(inner.axis))
        joint = replace(joint, joint=inner) if isinstance(joint, Mimic) else inner
    return replace(c, joint=joint, parent_pose=c.parent_pose @ X_cj.inverse(), child_pose=kept), kept


def _keeps_frame(c: Connection) -> bool:
    inner = W.without_mimic(c.joint)
    if isinstance(inner, (Fixed, J.Prismatic)):
        return True
    arm = c.child_pose.translation
    axis = c.child_pose.rotation @ Vector3.of(inner.axis) if isinstance(inner, TURNING) else None
    return axis is not None and math.hypot(*arm.cross(axis)) <= 4e-16 * math.hypot(*arm)  # two roundings of the product


def across(c: Connection) -> Vector3:
    return c.child_pose.rotation @ Vector3(0.0, 0.0, 1.0)
