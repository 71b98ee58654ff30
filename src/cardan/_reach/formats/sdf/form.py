"""A mechanism in the form SDF has: scopes of links, joints and frames, everything at rest in a place.

SDF says where links are when every coordinate is zero, and where a joint is on its child; cardan has a pose of the
joint on either side. With X the poses of bodies at rest both say the same,

    X_child = X_parent parent_pose child_pose^-1,

for the joints of a spanning tree by the choice of X; a joint that closes a loop must be closed at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cardan._algebra.errors import UnsupportedError, quoted
from cardan._algebra.spatial import SE3
from cardan._reach.formats import written as W
from cardan._reach.formats.sdf.scopes import ROOT, SEPARATOR, WORLD_FRAME
from cardan._robot import joints as J
from cardan._robot.description import Mechanism
from cardan._robot.joints import FreeFlyer, Joint
from cardan._robot.model import WORLD, Body, Connection, Frame, Model
from cardan._robot.records import EARTH_GRAVITY

KINDS: dict[type[Joint], str] = {  # joints SDF has, by type
    J.Fixed: "fixed",
    J.Revolute: "revolute",
    J.UnboundedRevolute: "continuous",
    J.Prismatic: "prismatic",
    J.Helical: "screw",
    J.Spherical: "ball",
    J.Universal: "universal",
}
_PARALLEL = 1.0 - 1e-9  # cosine from which two axes are one: a universal joint would be singular
CLOSED = 1e-9  # how far a loop may be open at rest [m], and in the entries of its rotation
_BY = "SDF"


@dataclass(slots=True)
class ModelParts:
    """What stands in one model: parts by the last part of their names, and models in it."""

    prefix: str  # of the names of all of them
    links: dict[str, Body] = field(default_factory=dict)  # the bodies, by name
    joints: dict[str, Connection] = field(default_factory=dict)  # the joints, by name
    frames: list[Frame] = field(default_factory=list)  # the frames, but for sensors that stand on links and joints
    models: dict[str, ModelParts] = field(default_factory=dict)  # groups by name

    def local(self, name: str, what: str) -> str:
        """Return what something is called from here, or raise `UnsupportedError` if it is not in here."""
        if name.startswith(self.prefix):
            return name[len(self.prefix) :]
        instead = f"name it without {self.prefix!r} (Mechanism.renamed), so that it sees {quoted(name)}"
        raise UnsupportedError(what, _BY, instead)


@dataclass(frozen=True, slots=True)
class SdfForm:
    name: str  # of the mechanism
    top: ModelParts  # what is in the model itself
    poses: dict[str, SE3]  # X_root_body at rest
    # by body, the joint that leads to it from where the tree begins; only those directed so
    tree: dict[str, Connection]
    called: dict[str, str]  # names of joints in the file: that of a link is taken
    sensors: dict[str, list[Frame]]  # frames that stand on a link or joint, by its name
    loose: dict[str, bool]  # by its first body, every part without a joint to the world: whether it floats
    losses: tuple[str, ...]  # what SDF cannot say and the motion does not need


def sdf_form(thing: Mechanism | Model) -> SdfForm:
    """Return a mechanism or model as SDF has it; UnsupportedError names what SDF cannot say."""
    joints = [_recognised(c) for c in _joints_of(thing)]
    floating = [c for c in joints if isinstance(c.joint, FreeFlyer)]
    written = [c for c in joints if not isinstance(c.joint, FreeFlyer)]
    for c in joints:
        _check_joint(c)
    bodies = [body.name for body in thing.bodies]
    given = {f.body: f.pose.inverse() for f in thing.frames if f.name == ROOT and f.body != WORLD}
    children = {c.child for c in joints}
    starts = (WORLD, *given, *(body for body in bodies if body not in children), *bodies)
    poses, tree = W.poses_at_rest(starts, joints, given)
    for c in written:
        _check_closed(c, poses)
    sensors, frames = _split_sensors(thing, {c.name for c in written})
    top, called = _grouped(thing.bodies, written, frames)
    moving = {body: c for body, c in tree.items() if not isinstance(c.joint, FreeFlyer)}
    losses = _losses(thing, floating, called)
    return SdfForm(thing.name, top, poses, moving, called, sensors, _loose(thing, joints, written), losses)


def _joints_of(thing: Mechanism | Model) -> Sequence[Connection]:
    """Return all joints, without the base that `cardan.load` adds for a file that is one model of one part."""
    if not isinstance(thing, Model):
        return W.joints_of(thing)
    if thing.inputs:
        raise W.refused(_BY, "inputs of a model", tuple(thing.inputs))
    falls_otherwise = tuple(map(float, thing.gravity)) != EARTH_GRAVITY
    may_be_world = falls_otherwise or all(SEPARATOR in body.name for body in thing.bodies)
    return W.joints_of(thing)[W.has_given_base(thing) and not may_be_world :]


def _recognised(c: Connection) -> Connection:
    """Return a joint that SDF has under another name, such as a user's own hinge, under its own.

    The child of a joint is not the world there, and no joint is a reversed one.
    """
    if c.child == WORLD or (isinstance(W.without_mimic(c.joint), J.Reversed) and c.parent != WORLD):
        c = c.reversed()
    inner = W.without_mimic(c.joint)
    if type(inner) in KINDS or isinstance(inner, FreeFlyer):
        return c
    if isinstance(inner, J.Composite) and [type(j) for j in inner.joints] == [J.Revolute, J.Revolute]:
        axes: Any = [joint.axis for joint in inner.joints]  # pyright: ignore[reportAttributeAccessIssue]
        if tuple(inner.placements or ()) == (SE3.identity(),) * 2 and abs(axes[0].dot(axes[1])) < _PARALLEL:
            return replace(c, joint=J.Universal(*axes))
    return W.as_hinge(c, KINDS)


def _check_joint(c: Connection) -> None:
    """Raise `UnsupportedError` for what SDF cannot say of a joint."""
    inner, name = W.without_mimic(c.joint), f"joint {c.name!r}"
    kind = type(inner).__name__
    if isinstance(inner, FreeFlyer):
        if c.parent != WORLD or isinstance(c.joint, J.Mimic):
            raise W.refused(_BY, name, kind, "only what floats in the world is free there")
    elif type(inner) not in KINDS:
        kinds = ", ".join(kind.__name__ for kind in KINDS)
        raise W.refused(_BY, name, kind, f"it has {kinds}; put others together with bodies between")
    W.check_is_said(c, _BY, "drive_stiffness", "drive_damping", "compliance")
    ends = ("lower", "upper", *(() if isinstance(inner, J.UnboundedRevolute) else ("velocity", "effort")))
    if isinstance(inner, (J.Spherical, FreeFlyer, J.UnboundedRevolute)) and W.is_bounded(c, *ends):
        raise W.refused(_BY, f"limits of {name}", c.limits, f"a {kind} has none there")
    differs = any(len(set(e)) > 1 for e in (c.damping or (), c.friction or ()))
    if isinstance(inner, J.Spherical) and (any(c.spring_stiffness) or differs):
        raise W.refused(_BY, f"spring, or damping that differs, of {name}", kind)


def _check_closed(c: Connection, poses: dict[str, SE3]) -> None:
    one, other = poses[c.parent] @ c.parent_pose, poses[c.child] @ c.child_pose
    scale = max(1.0, *(abs(float(e)) for e in one.translation))
    gap = np.abs(one.matrix() - other.matrix()).max()
    if gap > CLOSED * scale:
        instead = "it is closed where every coordinate is zero, or it is not SDF's; write JSON, or move its poses"
        raise UnsupportedError(f"joint {c.name!r}, which closes a loop that is open by {gap:.2g} at rest", _BY, instead)


def _split_sensors(thing: Any, joints: set[str]) -> tuple[dict[str, list[Frame]], list[Frame]]:
    bodies = {body.name for body in thing.bodies}
    sensors: dict[str, list[Frame]] = {}
    frames = []
    for frame in thing.frames:
        owner = frame.name.rpartition(SEPARATOR)[0]
        if frame.kind == "sensor" and owner in bodies | joints:
            sensors.setdefault(owner, []).append(frame)
        elif frame.name != ROOT:
            frames.append(frame)
    return sensors, frames


def _grouped(
    bodies: Sequence[Body], joints: Sequence[Connection], frames: Sequence[Frame]
) -> tuple[ModelParts, dict[str, str]]:
    """Return all parts in the models their names say, and what joints are called there."""
    top = ModelParts("")
    models: set[str] = set()
    for body in bodies:
        _group_of(top, body.name, make=True).links[body.name] = body
        steps = body.name.split(SEPARATOR)
        models |= {SEPARATOR.join(steps[:k]) for k in range(1, len(steps))}
    for part in (*bodies, *frames):
        if part.name in models:
            what = f"{part.name!r} beside '{part.name}::...'"
            raise UnsupportedError(what, _BY, "a model there has one of the names")
    taken = models | {body.name for body in bodies}
    for frame in frames:
        _group_of(top, frame.name).frames.append(frame)
        taken.add(frame.name)
    called: dict[str, str] = {}
    for c in joints:
        name = c.name
        while name in taken:
            name += "_joint"
        taken.add(name)
        called[c.name] = name
        _group_of(top, c.name).joints[c.name] = c
    return top, called


def checked_steps(what: str, name: str) -> list[str]:
    steps = name.split(SEPARATOR)
    if not all(steps) or steps[-1] == WORLD_FRAME or any(e.startswith("__") and e.endswith("__") for e in steps):
        raise UnsupportedError(f"{what} {name!r}", _BY, "it is reserved there; Mechanism.renamed gives another")
    return steps


def _group_of(top: ModelParts, name: str, *, make: bool = False) -> ModelParts:
    *path, _ = checked_steps("the name", name)
    group = top
    for step in path:
        if step not in group.models and not make:
            raise UnsupportedError(f"the name {name!r}", _BY, f"{step!r} is no model with a body; Mechanism.renamed")
        group = group.models.setdefault(step, ModelParts(f"{group.prefix}{step}{SEPARATOR}"))
    return group


def _loose(thing: Any, joints: Sequence[Connection], written: Sequence[Connection]) -> dict[str, bool]:
    """Return by its first body every part that SDF's joints hang on nothing: whether a floating base moves it."""
    forest = W.connected((body.name for body in thing.bodies), written)
    floating = {forest.find(c.child) for c in joints if isinstance(c.joint, FreeFlyer)}
    firsts = forest.anchors((body.name for body in thing.bodies), lambda _: 0)
    return {body: forest.find(body) in floating for body in firsts}


def _names_of_base(body: str) -> tuple[str, str]:
    """Return what the reader may call the joint by which a body floats: `root` in the scope of its model."""
    model, separator, link = body.rpartition(SEPARATOR)
    return f"{model}{separator}root", f"{model}{separator}root_{link}"


def _losses(thing: Any, floating: Sequence[Connection], called: dict[str, str]) -> tuple[str, ...]:
    kinds = W.beside(thing.annotations)
    kinds["names of floating bases, which are no joints there"] = [
        c.name for c in floating if c.name not in _names_of_base(c.child)
    ]
    taken = [name for name, other in called.items() if name != other]
    kinds["names of joints that are those of other things (they end in _joint now)"] = taken
    return tuple(W.losses_of(kinds))
