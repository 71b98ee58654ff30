"""A robot as MuJoCo's specification: what it can say is said exactly, and what it cannot is refused by name."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cardan._algebra.errors import DescriptionWarning, DTypeError, DuplicateNameError, UnsupportedError
from cardan._algebra.spatial import SE3, Inertia, Matrix3
from cardan._dynamics.call.signature import refuse_inputs
from cardan._dynamics.coordinates import conventions
from cardan._reach.interop.mujoco_collision import (
    add_pairs,
    add_shapes,
    add_surfaces,
    check_grounds,
    ends_of,
    keep_apart,
    set_groups,
)
from cardan._reach.interop.mujoco_joints import (
    LIBRARY,
    Chain,
    add_joints,
    add_loop,
    add_polynomial,
    add_sum,
    bounds,
    chain_of,
    is_planar,
    placed,
    step_names,
)
from cardan._reach.interop.mujoco_package import mujoco
from cardan._robot.description import Mechanism
from cardan._robot.geometry.shapes import Shape
from cardan._robot.joints import FreeFlyer, Linear, Mimic, Reversed, Spherical
from cardan._robot.joints.catalogue.of_another import kind_within, polynomial_of
from cardan._robot.model import WORLD, Body, Connection, Model
from cardan._robot.model.user_constraints import name_of
from cardan._robot.records import Actuator

if TYPE_CHECKING:
    import mujoco as mj

# --- actuators, named configurations and disabled contacts: general actuators, keyframes and exclusions ---
#
# An actuator of several coordinates acts on a fixed tendon, whose length is the sum of gear x; its gear there is 1.


def drives_said(model: Model) -> set[tuple[str, int]]:
    """Return the coordinates, by joint and index there, whose drive an actuator of the model says, too."""
    connections = {c.name: c for c in model.connections}
    return {key for a in model.actuators if (key := _drive_of(a, connections)) is not None}


def _drive_of(actuator: Actuator, connections: Mapping[str, Connection]) -> tuple[str, int] | None:
    """Return the one coordinate an actuator drives just as the drive there does."""
    moved = _moved(actuator)
    if len(moved) != 1 or actuator.bias is None or actuator.joints[0] not in connections:
        return None
    ((joint, k), gear), (constant, length, rate) = *moved.items(), actuator.bias
    c, gain = connections[joint], (-length or -rate)
    given = (-length * gear * gear, -rate * gear * gear)
    drive = (c.drive_stiffness[k], c.drive_damping[k])
    return (joint, k) if constant == 0.0 and gain == actuator.gain and np.allclose(given, drive, 1e-12, 0.0) else None


def _moved(actuator: Actuator) -> dict[tuple[str, int], float]:
    """Return the gears that are not 0, by joint and index there."""
    return {(joint, k): gear for joint, row in actuator._rows() for k, gear in enumerate(row) if gear}


def add_actuators(writer: _Writer, model: Model) -> None:
    """Add the actuators of a model; one that MuJoCo cannot say is left out with a warning."""
    connections = {c.name: c for c in model.connections}
    for actuator in model.actuators:
        if why := _why_not(actuator, connections, writer.chains):
            message = f"{model.name}: actuator {actuator.name!r} is left out: {why}"
            warnings.warn(DescriptionWarning(message), stacklevel=2)
        else:
            _add_actuator(writer, actuator, connections)


def _why_not(actuator: Actuator, connections: Mapping[str, Connection], chains: Mapping[str, Chain]) -> str:
    moved = _moved(actuator)
    if actuator.kind != "effort" and (actuator.gain is None or actuator.bias is None):
        return "its gain or bias is not known"
    if not moved or not all(joint in connections for joint, _ in moved):
        return "it moves nothing in the tree"
    for joint, k in moved:
        c, kind = connections[joint], chains[joint].steps[0].kind
        if (kind == "free" and k < 3) or (is_planar(c) and k < 2):
            return f"it pushes joint {joint!r} along axes that move with the child"
        if kind in ("ball", "free") and len(actuator.joints) > 1:
            return f"it acts on joint {joint!r}, no hinge or slide, and on others"
    return ""


def _add_actuator(writer: _Writer, actuator: Actuator, connections: Mapping[str, Connection]) -> None:
    mj, steps, there = writer.mj, writer.steps, writer.spec.add_actuator(name=actuator.name)
    moved = _moved(actuator)
    joint = next(iter(moved))[0]
    kind = writer.chains[joint].steps[0].kind
    if kind in ("ball", "free"):
        there.trntype, there.target = mj.mjtTrn.mjTRN_JOINT, steps[joint][0]
        # About axes of the child body, not of the joint.
        about = [moved.get((joint, i + 3 * (kind == "free")), 0.0) for i in range(3)]
        axes = connections[joint].child_pose.rotation.rows()
        turned = [sum(row[i] * about[i] for i in range(3)) for row in axes]
        there.gear = [0.0] * 3 + turned if kind == "free" else turned + [0.0] * 3
    elif len(moved) == 1:
        ((_, k), gear) = next(iter(moved.items()))
        there.trntype, there.target, there.gear = mj.mjtTrn.mjTRN_JOINT, steps[joint][k], [gear] + [0.0] * 5
    else:
        there.trntype, there.target = mj.mjtTrn.mjTRN_TENDON, f"{actuator.name}:length"
        tendon = writer.spec.add_tendon(name=there.target)
        for (name, k), gear in moved.items():
            tendon.wrap_joint(steps[name][k], gear)
    _set_law(mj, there, actuator)


def _set_law(mj: Any, there: Any, actuator: Actuator) -> None:
    there.gainprm[0] = 1.0 if actuator.gain is None else actuator.gain
    if actuator.bias is not None and any(actuator.bias):
        there.biastype = mj.mjtBias.mjBIAS_AFFINE
        there.biasprm[:3] = list(actuator.bias)
    for key, (lower, upper) in (("ctrl", actuator.control_range), ("force", actuator.effort_range)):
        if math.isfinite(lower) or math.isfinite(upper):
            setattr(there, f"{key}limited", mj.mjtLimited.mjLIMITED_TRUE)
            setattr(there, f"{key}range", bounds(lower, upper))


INITIAL = "initial"  # the keyframe in which a world begins


# --- drives as MuJoCo's servos: one actuator for each coordinate that has one, by the name of its joint there ---
#
#     position    force = stiffness (ctrl - x) - damping v      ctrl = target + (damping v_target + effort) / stiffness
#     velocity    force = damping (ctrl - v)                    ctrl = v_target + effort / damping
#
# The second where the stiffness is 0. The force of both is cut off at the joint's limits of effort.


def add_drives(writer: _Writer, c: Connection) -> None:
    """Add the actuators of a joint, but for those of its coordinates that are `said` already."""
    chain, names = writer.chains[c.name], writer.steps[c.name]
    for k, (stiffness, damping) in enumerate(zip(c.drive_stiffness, c.drive_damping, strict=True)):
        if not (stiffness or damping) or (c.name, k) in writer.said:
            continue
        _check(c, chain, k, stiffness)
        # A ball has three servos.
        name = names[k] if len(names) == c.joint.nv else f"{c.name}:{k}"
        is_ball = name not in names
        there = {"target": names[0 if is_ball else k], "trntype": writer.mj.mjtTrn.mjTRN_JOINT}
        servo = writer.spec.add_actuator(name=name, **there)
        if is_ball:
            servo.gear = [*list(c.child_pose.rotation.columns())[k], 0.0, 0.0, 0.0]
        if stiffness:
            servo.set_to_position(kp=stiffness, kv=damping)
        else:
            servo.set_to_velocity(kv=damping)


def _check(c: Connection, chain: Chain, k: int, stiffness: float) -> None:
    what = ""
    if c.joint.primaries:
        what = f"the drive of joint {c.name!r}, which mimics {c.joint.primaries[0]!r}"
    elif chain.steps[0].kind == "free" or (is_planar(c) and k < 2):
        what = f"the drive of joint {c.name!r} along axes that are not fixed in its parent"
    elif chain.steps[0].kind == "ball" and stiffness:
        what = f"the stiffness of the drive of joint {c.name!r}, a ball, whose error is a rotation"
    if what:
        raise UnsupportedError(what, LIBRARY, "drive hinges and slides, and balls by damping alone")


LEAST = 1e-15  # the smallest mass [kg] and principal moment [kg m^2] MuJoCo takes for one

Shapes = bool | Literal["touching"] | Iterable[Shape]  # which shapes come along; see `to_mjspec`


def to_mjspec(robot: Any, *, shapes: Shapes = True, annotations: bool = False) -> mj.MjSpec:  # pyright: ignore
    """Return a robot as a `mujoco.MjSpec`, to be compiled, changed, or written as XML there.

    Bodies, joints, frames (as sites) and actuators have the names they have here; a joint that is several of MuJoCo's
    in a row has them as `name:0`, `name:1`, ..., one named `a+b` of two as `a` and `b`. The state there is
    `cardan.conventions.to("mujoco", model)`'s. What is fixed to a moving body is part of that body's inertia where one
    of them has none that a body could have. Loops and mimic joints are equality constraints, which are soft there; a
    loop that a joint closes which MuJoCo has only in trees is cut through that joint's child instead, whose half
    `name:half` is welded to it. Drives are position actuators (velocity actuators without a stiffness); effort limits
    are the joints' ranges of actuator forces. Springs are the joints' stiffness and springref. Limits of velocity are
    left out, as no algorithm here heeds them. Without `Mechanism.self_collision` excludes named `self_collision:0`, ...
    keep the bodies of an articulation apart. Cones are hulls of 64 sides.

    Args:
        robot: a mechanism (its model with a fixed base is taken), a model, or a world.
        shapes: whether the robot's shapes come along, as geoms without mass; `"touching"` for those alone that may
            touch something, without what is only seen; or shapes to take instead.
        annotations: whether actuators, named configurations (as keyframes) and disabled contacts come along, too; a
            drive that an actuator says has no servo of its own then.

    Returns:
        The specification.

    Raises:
        MissingExtraError: without the extra `mujoco`.
        UnsupportedError: for what MuJoCo cannot say; the message names it.

    Examples:
        >>> cardan.interop.to_mjspec(mechanism).compile().nv
        7
    """
    module = mujoco("to_mjspec")
    model = model_of(robot)
    for function in model.constraints:
        raise UnsupportedError(f"constraint {name_of(function)!r}", "MuJoCo", "hand over the model without it")
    for joint in getattr(robot, "kinematic", ()):
        what, instead = f"joint {joint!r}, which moves as it is told", "hand over the world without that"
        raise UnsupportedError(what, "MuJoCo", instead)
    q = getattr(robot, "initial", None)
    free = [c for c in model.connections if c.parent == WORLD and c.joint.is_floating] if q is not None else []
    starts = {c.name: c.joint.transform(tuple(q[model.q_slice(c.name)].tolist())) for c in free}  # pyright: ignore
    writer = _Writer(module, model, drives_said(model) if annotations else (), starts)
    _add_shapes(writer, robot, shapes)
    if hasattr(robot, "initial"):
        to, q, v = conventions.to("mujoco", model), robot.initial, robot.initial_velocity
        writer.spec.add_key(name=INITIAL, qpos=to.configuration(q).tolist(), qvel=to.velocity(q, v).tolist())
    if annotations:
        writer.annotate(model)
    return writer.spec


def _add_shapes(writer: _Writer, robot: Any, shapes: Shapes) -> None:
    """Add shapes; those of a world touch where the world lists it, all others by their groups."""
    own, pairs = tuple(getattr(robot, "shapes", ())), getattr(robot, "pairs", None)
    if shapes == "touching":
        listed = {end for pair in pairs or () for end in ends_of(pair)}
        solid = (s for s in own if s.role == "collision")
        chosen = tuple(s for s in solid if pairs is None or (s.body, s.geometry, s.pose) in listed)
    else:
        chosen = own if shapes is True else tuple(shapes or ())
    names = add_shapes(writer.mj, writer.spec, writer.bodies, chosen)
    if (shapes is True or shapes == "touching") and pairs is not None:
        add_pairs(writer.mj, writer.spec, names, chosen, pairs)
    else:
        check_grounds(chosen, lambda body: writer.model.attachment(body).node)
        set_groups(writer.spec, names, chosen)
        if not writer.model.annotations.self_collision:
            keep_apart(writer.spec, writer.model, chosen)
        add_surfaces(writer.spec, names, chosen, writer.model.contact_surfaces)


def _check_names(chains: dict[str, Chain]) -> None:
    seen: set[str] = set()
    for joint, chain in chains.items():
        for name in step_names(joint, len(chain.steps)):
            if name in seen:
                raise DuplicateNameError("joint", name, "to_mjspec, where joints in a row are name:0, name:1, ...")
            seen.add(name)


def model_of(robot: Any) -> Model:
    if isinstance(robot, Mechanism):
        return robot.model()
    model = getattr(robot, "model", robot)
    if not isinstance(model, Model):
        raise DTypeError("to_mjspec", "robot", got=type(robot).__name__, expected="a mechanism, a model or a world")
    refuse_inputs(model, ": give model.with_values(...).")
    return model


class _Writer:
    """One specification in the making: bodies from the world outwards, then what refers to them."""

    def __init__(
        self, mj: Any, model: Model, said: Collection[tuple[str, int]] = (), starts: Mapping[str, SE3] | None = None
    ) -> None:
        self.mj, self.model, self.spec, self.said = mj, model, mj.MjSpec(), said
        self._starts = starts or {}  # what moves freely is drawn where it begins: X_joint by joint
        self.bodies = {WORLD: self.spec.worldbody}
        self.steps: dict[str, list[str]] = {}
        self.spec.modelname, self.spec.option.gravity = model.name, list(model.gravity)
        compiler = self.spec.compiler
        compiler.degree, compiler.autolimits = False, True
        compiler.inertiafromgeom = mj.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
        self.chains = {c.name: _chain(model, c) for c in model.connections}
        moving = {c.child for c in model.connections if self.chains[c.name].steps}
        self._summed = {model.attachments[b.name].node for b in model.bodies if not _stands_alone(b, b.name in moving)}
        self._summed.discard(-1)  # the node of what does not move
        _check_names(self.chains)
        self._children: dict[str, list[Connection]] = {body: [] for body in (WORLD, *model.body_names)}
        for c in model.connections:
            self._children[c.parent].append(c)
        self._add_bodies()
        self._add_constraints()

    def _add_bodies(self) -> None:
        between = _between(self.model, self.chains, self._children)
        stack = self._children[WORLD][::-1]
        while stack:
            row = [stack.pop()]
            while row[-1].child in between:
                row += self._children[row[-1].child]
            # The child of the last of some joints in a row, with all of them: between are only massless bodies.
            last, chains = row[-1], [self.chains[c.name] for c in row]
            rest = [self._starts.get(c.name, chain.rest) for c, chain in zip(row, chains, strict=True)]
            at_rest = [c.parent_pose @ X @ c.child_pose.inverse() for c, X in zip(row, rest, strict=True)]
            body = self.bodies[row[0].parent].add_body(name=last.child, **placed(_product(at_rest)))
            self.bodies[last.child] = body
            _set_inertia(body, last, self._inertia(last, moves=bool(chains[-1].steps)))
            for k, (c, chain) in enumerate(zip(row, chains, strict=True)):
                c = replace(c, child_pose=_product(at_rest[k + 1 :]).inverse() @ c.child_pose)
                self.steps[c.name] = add_joints(self.mj, body, c, chain)
                add_drives(self, c)
            stack += self._children[row[-1].child][::-1]

    def _inertia(self, c: Connection, moves: bool) -> Inertia | None:
        """Return the inertia of a joint's child: its own, or all that moves with it where a part cannot stand alone."""
        model, at = self.model, self.model.attachments[c.child]
        if at.node not in self._summed:
            own = model.body(c.child).inertia
            return own if moves or _is_real(own) else None
        return at.pose.inverse() @ model.nodes[at.node].inertia if moves else None

    def annotate(self, model: Model) -> None:
        """Add what a model says beside bodies, joints and frames, but for shapes."""
        add_actuators(self, model)
        there = {key.name for key in self.spec.keys}
        for name, q in model.named_configurations.items():
            if name not in there:
                qpos = conventions.to("mujoco", model).configuration(np.asarray(q, dtype=float))
                self.spec.add_key(name=name, qpos=qpos.tolist())
        for one, other in model.annotations.disabled_contacts:
            self.spec.add_exclude(bodyname1=one, bodyname2=other)
        # MuJoCo has the frames of balls and free joints at their bodies: marks say where they are.
        for c in self.model.connections:
            ends = {FreeFlyer: (c.parent_pose, c.child_pose), Spherical: (c.child_pose,)}.get(type(c.joint), ())
            if any(pose != SE3.identity() for pose in ends):
                for side, body, pose in (("parent", c.parent, c.parent_pose), ("child", c.child, c.child_pose)):
                    self.bodies[body].add_site(name=f"{c.name}:{side}", **placed(pose))

    def _add_constraints(self) -> None:
        for node in self.model.nodes:
            if node.joint.primaries and node.name in self.steps:
                coupled = self.model.connection(node.name).joint
                follower: Any = node.joint if isinstance(node.joint, Mimic) else coupled
                function = getattr(follower, "function", None)
                if isinstance(function, Linear) and len(follower.primaries) > 1:
                    others = [self.steps[name][0] for name in follower.primaries]
                    (own,) = self.steps[node.name]
                    add_sum(self.mj, self.spec, own, others, function)
                    continue
                ends = zip(self.steps[node.name], self.steps[follower.primaries[0]], strict=True)
                for own, other in ends:
                    add_polynomial(self.mj, self.spec, own, other, _polynomial(node.name, follower))
        for c in self.model.closures:
            add_loop(self.mj, self.spec, self.bodies, self.model, c)
        for frame in self.model.frames:
            self.bodies[frame.body].add_site(name=frame.name, **placed(frame.pose))


def _polynomial(name: str, joint: Any) -> Sequence[float]:
    """Return the polynomial of one other coordinate, constant first, by which a joint follows it."""
    coefficients = polynomial_of(joint)
    if coefficients is None or len(coefficients) > 5:  # as many as MuJoCo's joint equality has
        what = f"joint {name!r}, which follows {', '.join(map(repr, joint.by))} by {joint.function!r}"
        raise UnsupportedError(what, LIBRARY, "couple it by a Polynomial, of degree 4 at most")
    return coefficients


def _between(model: Model, chains: Mapping[str, Chain], children: Mapping[str, Sequence[Connection]]) -> set[str]:
    """Return the massless bodies that only pass hinges and slides on to hinges and slides of one body."""
    beside = model.annotations
    used = {body for c in model.closures for body in (c.parent, c.child)}
    used |= {part.body for part in (*model.frames, *beside.shapes)}
    used |= {body for pair in beside.disabled_contacts for body in pair}
    of_scalars = {name for name, c in chains.items() if c.steps and {s.kind for s in c.steps} <= {"hinge", "slide"}}
    return {
        c.child
        for c in model.connections
        if c.child not in used
        and not any((model.body(c.child).inertia or Inertia.zero()).parameters())
        and len(children[c.child]) == 1
        and {joint.name for joint in (c, *children[c.child])} <= of_scalars
    }


def _product(poses: Iterable[SE3]) -> SE3:
    return reduce(SE3.__matmul__, poses, SE3.identity())


def _chain(model: Model, c: Connection) -> Chain:
    """Return a joint as MuJoCo has it, or raise `UnsupportedError`."""
    inner = replace(c, joint=kind_within(c.joint))
    known = c.joint.nv == 0 or conventions.PEERS["mujoco"]().chart(model, inner) is not None
    chain = None if c.joint.has_efforts else chain_of(c.joint)
    if chain is None or not known:
        what = f"joint {c.name!r}, a {type(inner.joint).__name__} between {c.parent!r} and {c.child!r}"
        raise UnsupportedError(what, LIBRARY, _remedy(inner))
    return chain


def _remedy(c: Connection) -> str:
    if isinstance(c.joint, Reversed):
        return "root the robot elsewhere, so that the joint runs forwards: Mechanism.model(root=...)"
    return "lock it (model.lock), or replace it"


def _is_real(inertia: Inertia | None) -> bool:
    return inertia is not None and inertia.mass > 0.0 and not inertia.faults()


def _stands_alone(body: Body, moves: bool) -> bool:
    """Return whether MuJoCo takes a body's own inertia; what is fixed to another may have none."""
    inertia = body.inertia
    if moves:
        return inertia is not None and _is_real(inertia) and min(_principal(inertia)[0]) >= LEAST <= inertia.mass
    return inertia is None or _is_real(inertia) or not any(inertia.parameters())


def _principal(inertia: Inertia) -> tuple[np.ndarray, np.ndarray]:
    """Return the principal moments, ascending, and their axes."""
    J_c = inertia.inertia_at_com.matrix() if inertia.mass > 0.0 else Matrix3.zero()
    return np.linalg.eigh(np.array([list(row) for row in J_c.rows()], dtype=float))


def _set_inertia(body: Any, c: Connection, inertia: Inertia | None) -> None:
    if inertia is None:
        return
    moments, axes = _principal(inertia)
    if c.joint.nv and (min(inertia.mass, moments[0]) < LEAST or inertia.faults()):
        shown = f"mass {inertia.mass:.3g} kg, principal moments {', '.join(f'{m:.3g}' for m in moments)} kg m^2"
        what = f"body {c.child!r}, with all that is fixed to it ({shown})"
        instead = f"give all that moves a mass and moments above {LEAST:g} that a real body could have"
        raise UnsupportedError(what, LIBRARY, instead)
    axes[:, 2] *= np.linalg.det(axes)
    place = placed(SE3(Matrix3.of(axes), inertia.com))
    body.explicitinertial, body.mass = True, inertia.mass
    body.ipos, body.iquat = place["pos"], place["quat"]
    largest = min(moments[2], moments[0] + moments[1])  # a plate's is the sum but for rounding
    body.inertia = [max(moments[0], 0.0), moments[1], largest]
