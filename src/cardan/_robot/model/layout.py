"""From the description to the tree: who hangs on whom, which coordinates are whose, what rides on what.

Algorithms run over the nodes: the movable joints in topological order, each with the inertia that rides on it. At the
end: the layout table that `print(model)` shows, and hints for names that no frame has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from operator import add, matmul, methodcaller
from typing import Any

import numpy as np

from cardan._algebra.by_fields import ByFields
from cardan._algebra.errors import MechanismError, ParameterError, ShapeError, check_known, check_new, visible
from cardan._algebra.scalar import is_finite, is_symbol, is_zero, where
from cardan._algebra.spatial import SE3, Inertia, Scalar, Symmetric3, Vector3, snapped
from cardan._robot.joints import Coupled, Fixed, Joint, Mimic, Revolute
from cardan._robot.joints.catalogue.of_another import Follower, equipped, following_directly, following_fewer
from cardan._robot.joints.derivation.programs import replaced
from cardan._robot.joints.limits import Limits, move_to_middle, warn_of_stops
from cardan._robot.model.annotations import names_told
from cardan._robot.records import WORLD, Body, Configuration, Connection, Frame


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Node(ByFields):
    """A movable joint and everything fixed to its child frame, which is the frame the dynamics is computed in.

    A mimic joint is a node whose `q` and `v` indices are those of its primary.
    """

    index: int  # position in `Model.nodes`; a parent comes before its children
    name: str  # name of the joint
    joint: Joint  # the joint itself
    parent: int  # index of the parent node, -1 for the world
    placement: SE3  # X from the joint's parent frame to the parent node's frame
    inertia: Inertia  # inertia of all bodies fixed to the child frame, in that frame
    q: tuple[int, ...]  # indices of the joint's coordinates in the model's q
    v: tuple[int, ...]  # indices of the joint's velocities in the model's v
    armature: tuple[float, ...]  # drive inertia along v
    damping: tuple[float, ...]  # viscous friction along v
    friction: tuple[float, ...]  # dry friction along v
    drive_stiffness: tuple[float, ...]  # proportional gains of the drive along v
    drive_damping: tuple[float, ...]  # derivative gains of the drive along v
    spring_stiffness: tuple[float, ...]  # of the spring along v
    spring_rest: tuple[float, ...]  # where it is at rest, in the limit coordinates of the joint at q

    def configuration(self, q: Sequence[Scalar]) -> tuple[Scalar, ...]:
        """Return the joint's own part of the model's q."""
        return tuple(q[i] for i in self.q)

    def velocity(self, v: Sequence[Scalar]) -> tuple[Scalar, ...]:
        """Return the joint's own part of a vector of the model's nv velocities or accelerations."""
        return tuple(v[i] for i in self.v)

    def scatter(self, total: list[Scalar], part: Sequence[Scalar]) -> None:
        """Add the joint's own part to a vector of nv efforts."""
        for i, value in zip(self.v, part, strict=True):
            total[i] = total[i] + value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attachment(ByFields):
    """Where a body or frame rides."""

    node: int  # index of the node, -1 for the world
    pose: SE3  # X_node_body, its pose in the node's frame


Slices = dict[str, tuple[slice, slice]]
DRIVEN = ("drive_stiffness", "drive_damping")
SQUARED = ("armature", "damping", *DRIVEN, "spring_stiffness")
PASSIVE = ("armature", "damping", "friction", *DRIVEN, "spring_stiffness", "spring_rest")


def check_unique(bodies: Sequence[Body], frames: Sequence[Frame], connections: Sequence[Connection]) -> None:
    """Raise `DuplicateNameError` where a name is used twice; bodies and frames share one set of names."""
    places, joints = {WORLD}, set[str]()
    for kind, records, seen in (("body", bodies, places), ("frame", frames, places), ("joint", connections, joints)):
        for record in records:
            check_new(kind, record.name, seen, "model")
            seen.add(record.name)


def check_closures(bodies: Sequence[Body], closures: Sequence[Connection]) -> None:
    """Raise unless the closing joints connect bodies that exist and have no inertia of their own."""
    names = {WORLD, *(b.name for b in bodies)}
    for c in closures:
        for body in (c.parent, c.child):
            check_known("body", body, names, f"joint {c.name!r}")
        drive = (*c.drive_stiffness, *c.drive_damping)
        for what, values in (("an armature", c.armature), ("a drive", drive), ("a spring", c.spring_stiffness)):
            if any(values or ()):
                raise MechanismError(
                    f"joint {c.name!r} has {what} but closes a loop, where it has no coordinate to count for; "
                    "let another joint of the loop close it: model(closing=[...])."
                )


def ordered_tree(bodies: Sequence[Body], connections: Sequence[Connection]) -> list[Connection]:
    """Return the connections from the world outwards, depth first, siblings in document order; raise for no forest."""
    names = [b.name for b in bodies]
    known = {WORLD, *names}
    parent_joint: dict[str, str] = {}
    for c in connections:
        for body in (c.parent, c.child):
            check_known("body", body, known, f"joint {c.name!r}")
        if c.child == WORLD:
            raise MechanismError(f"joint {c.name!r}: the world cannot be a child; swap parent and child.")
        if c.child in parent_joint:
            other = parent_joint[c.child]
            raise MechanismError(f"body {c.child!r} has two parents, through joints {other!r} and {c.name!r}.")
        parent_joint[c.child] = c.name
    order = [c for c, *_ in outwards((WORLD,), connections)]
    if len(order) < len(names):
        reached = {c.child for c in order}
        lost = [n for n in names if n not in reached]
        raise MechanismError(f"bodies {lost[:6]} are not connected to the world, or lie on a loop.")
    return order


def outwards(starts: Iterable[str], joints: Iterable[Connection]) -> Iterator[tuple[Connection, str, str]]:
    """Yield the joints of spanning trees, depth first, each with the body it comes from and the one it leads to.

    A tree begins at each start that none of those before is connected to.
    """
    at: dict[str, list[Connection]] = {}
    for c in joints:
        at.setdefault(c.parent, []).append(c)
        at.setdefault(c.child, []).append(c)
    reached: set[str] = set()
    for start in starts:
        stack: list[tuple[Connection | None, str, str]] = [] if start in reached else [(None, start, start)]
        reached.add(start)
        while stack:
            joint, above, body = stack.pop()
            if joint is not None:
                yield joint, above, body
            new: list[tuple[Connection | None, str, str]] = []
            for c in at.get(body, ()):
                other = c.child if c.parent == body else c.parent
                if other not in reached:
                    reached.add(other)
                    new.append((c, body, other))
            stack += reversed(new)  # the last one on the stack is visited first: neighbours keep their order


def coordinate_slices(connections: Sequence[Connection]) -> Slices:
    """Return each joint's slices of q and v, in document order; a mimic's are empty."""
    slices: Slices = {}
    iq = iv = 0
    for c in connections:
        nq, nv = (0, 0) if c.joint.primaries else (c.joint.nq, c.joint.nv)
        slices[c.name] = slice(iq, iq + nq), slice(iv, iv + nv)
        iq, iv = iq + nq, iv + nv
    return slices


def resolve_mimics(connections: Sequence[Connection]) -> dict[str, Any]:
    """Return each joint that follows others with primaries that follow none; raise if there are no such primaries."""
    by_name = {c.name: c.joint for c in connections}
    followed = {name: joint.primaries for name, joint in by_name.items() if joint.primaries}
    for name, primaries in followed.items():
        for primary in primaries:
            check_known("joint", primary, by_name, f"mimic joint {name!r}")
    try:
        order = [name for name in TopologicalSorter(followed).static_order() if name in followed]
    except CycleError as error:
        through = sorted(set(error.args[1]))
        name = next(name for name in by_name if name in through)
        raise MechanismError(f"mimic joint {name!r} copies itself, through {through[:6]}.") from None
    resolved: dict[str, Any] = {}
    for name in order:
        resolved[name] = following_directly(by_name[name], resolved)
        for of in resolved[name].primaries:
            resolved[name] = _copying(name, resolved[name], of, by_name[of])
        _check_finite(name, resolved[name], by_name)
    return {name: resolved[name] for name in followed}


def _check_finite(name: str, joint: Any, joints: Mapping[str, Joint]) -> None:
    """Raise if a joint is nowhere while those it follows are neutral."""
    x = joint.inner_configuration([e for of in joint.primaries for e in joints[of].neutral()])
    if not (isinstance(joint, Mimic) or all(is_finite(e) for e in x if not is_symbol(e))):
        raise MechanismError(
            f"coupled joint {name!r} is at {x[0]} while {', '.join(joint.primaries)} are neutral: its function "
            f"{joint.function!r} must be defined wherever they may be."
        )


def _copying(name: str, joint: Any, of: str, primary: Joint) -> Joint:
    found = joint.copying(primary)
    if found is None:
        raise MechanismError(
            f"mimic joint {name!r} ({type(joint.joint).__name__}, {joint.joint.manifold!r}) cannot copy {of!r} "
            f"({type(primary).__name__}, {primary.manifold!r}): both need the same kind of coordinates."
        )
    return found


def place(
    bodies: Sequence[Body],
    frames: Sequence[Frame],
    order: Sequence[Connection],
    slices: Slices,
    mimics: dict[str, Any],
) -> tuple[tuple[Node, ...], dict[str, Attachment]]:
    """Return the nodes, and where every body and frame rides."""
    attachments = {WORLD: Attachment(-1, SE3.identity())}
    skeleton: list[tuple[Connection, int, SE3]] = []
    made: dict[tuple[Any, ...], tuple[Any, Any]] = {}
    standing_still = methodcaller("transform", ())

    def once(make: Callable[..., Any], *of: Any) -> Any:
        """Return what is made of these very objects: robots of one kind share them, and so what is made of them."""
        key = make, *map(id, of)
        if key not in made:
            made[key] = make(*of), of  # what is held here shares its id with nothing later
        return made[key][0]

    # Products leave 1e-17 in place of 0, which costs operations as a constant of a program: poses are snapped.
    for c in order:
        base = attachments[c.parent]
        at_joint, to_child = once(matmul, base.pose, c.parent_pose), once(SE3.inverse, c.child_pose)
        if c.joint.nv == 0:
            fixed = once(matmul, once(matmul, at_joint, once(standing_still, c.joint)), to_child)
            attachments[c.child] = Attachment(base.node, once(snapped, fixed))
        else:
            attachments[c.child] = Attachment(len(skeleton), once(snapped, to_child))
            skeleton.append((c, base.node, once(snapped, at_joint)))
    for frame in frames:
        check_known("body", frame.body, attachments, f"frame {frame.name!r}")
        base = attachments[frame.body]
        attachments[frame.name] = Attachment(base.node, once(snapped, once(matmul, base.pose, frame.pose)))
    inertias = [Inertia.zero()] * len(skeleton)
    for body in bodies:
        at = attachments[body.name]
        if body.inertia is not None and at.node >= 0:
            inertias[at.node] = once(add, inertias[at.node], once(matmul, at.pose, body.inertia))
    nodes = tuple(_node(i, *s, inertias[i], slices, mimics.get(s[0].name)) for i, s in enumerate(skeleton))
    return (*nodes, *_rotors(nodes, order)), attachments


def _node(index: int, c: Connection, parent: int, placement: SE3, inertia: Inertia, slices: Slices, mimic: Any) -> Node:
    joint = mimic or c.joint
    owners = [slices[name] for name in joint.primaries or (c.name,)]
    k, offset = (joint.multiplier, joint.offset) if isinstance(joint, Mimic) else (1.0, 0.0)
    node = Node(
        index=index,
        name=c.name,
        joint=joint,
        parent=parent,
        placement=placement,
        inertia=inertia,
        q=tuple(i for iq, _ in owners for i in range(iq.start, iq.stop)),
        v=tuple(i for _, iv in owners for i in range(iv.start, iv.stop)),
        # Powers are the same: what grows with the velocity counts k^2 at the primary, dry friction |k|.
        **{name: tuple(k * k * e for e in getattr(c, name) or ()) for name in SQUARED},
        friction=tuple(abs(k) * e for e in c.friction or ()),
        # Where the primary is when the mimic is at its rest; one that does not move with it has no stiffness.
        spring_rest=tuple(0.0 if is_zero(k) else (e - offset) / where(k == 0.0, 1.0, k) for e in c.spring_rest),
    )
    return _equipped(node, c, DRIVEN if isinstance(joint, Mimic) else PASSIVE) if joint.primaries else node


def _equipped(node: Node, c: Connection, moved: Sequence[str]) -> Node:
    """Return the node of a joint that follows others with what acts along its own coordinates at its inner joint.

    Of a coupled joint that is not constant along the velocities of the joints it follows. Of a mimic joint all but the
    drive is, whose efforts have bounds of their own.
    """
    joint: Any = node.joint
    n = joint.joint.nv
    acting = {name.removeprefix("spring_"): getattr(c, name)[:n] for name in moved if name != "armature"}
    efforts = Limits(effort=(c.limits.effort or ())[:n], effort_lower=(c.limits.effort_lower or ())[:n])
    joint = replaced(joint, joint=equipped(joint.joint, efforts, **acting))
    return replaced(node, joint=joint, **dict.fromkeys(moved, (0.0,) * joint.nv))


def _rotors(nodes: Sequence[Node], connections: Sequence[Connection]) -> list[Node]:
    """Return nodes for the armatures of joints that follow others so that velocities along them are not constant.

    Each is two wheels in the world, of half the inertia, that turn with the joint against each other: they have the
    drive's kinetic energy, and as it no momentum.
    """
    given = {c.name: c.armature or (0.0,) for c in connections}
    turning = [
        (node, inertia, joint)
        for node in nodes
        if isinstance(node.joint, Follower)
        for inertia, joint in node.joint.rotors(given[node.name])
        if not is_zero(inertia)
    ]
    found: list[Node] = []
    for node, inertia, joint in turning:
        wheel = Inertia.from_origin(0.0, Vector3.zero(), Symmetric3((0.0, 0.0, 0.0, 0.0, 0.0, inertia * 0.5)))
        for side in (-1.0, 1.0):
            own: Any = replaced(joint, joint=Revolute((0.0, 0.0, side)))
            still = dict.fromkeys(PASSIVE, (0.0,) * own.nv)
            at = {"index": len(nodes) + len(found), "name": node.name + ARMATURE, "parent": -1}
            found.append(replaced(node, **at, **still, joint=own, placement=SE3.identity(), inertia=wheel))
    return found


def rest_along_v(nodes: Sequence[Node], nv: int) -> tuple[Any, ...]:
    """Return where all springs of each degree of freedom together do not pull; each one's own rest if it is alone."""
    rest: list[Scalar] = [0.0] * nv
    total: list[Scalar] = [0.0] * nv
    for node in nodes:
        for j, stiffness, own in zip(node.v, node.spring_stiffness, node.spring_rest, strict=True):
            # A spring alone keeps its very own rest: the mean of one, (k r) / k, would be rounded.
            if is_zero(total[j]):
                rest[j] = own if not is_zero(stiffness) or is_zero(rest[j]) else rest[j]
            elif not is_zero(stiffness):
                rest[j] = (total[j] * rest[j] + stiffness * own) / (total[j] + stiffness)
            total[j] = total[j] + stiffness
    return tuple(rest)


ARMATURE = " (armature)"  # follows the name of a joint in the names of its rotors
# What has no meaning at a joint without degrees of freedom.
WITHOUT_MOTION: dict[str, Any] = dict.fromkeys(("limits", "damping", "friction", "armature", "drive", "spring"))


def locked(connections: Sequence[Connection], configurations: Mapping[str, Any]) -> tuple[Connection, ...]:
    """Return the joints with some of them fixed at their configurations, and with these all that mimic them."""
    if not isinstance(configurations, Mapping):
        expected = "coordinates by joint: {'knee': 0.5}"
        hint = "To lock joints where q has them: {name: q[model.q_slice(name)] for name in names}."
        raise ParameterError("lock", got=configurations, expected=expected, hint=hint)
    mimics = resolve_mimics(connections)
    joints = {c.name: c.joint for c in connections}
    at = {name: _configuration(joints, name, value) for name, value in configurations.items()}
    at |= {n: tuple(e for p in m.primaries for e in at[p]) for n, m in mimics.items() if at.keys() >= {*m.primaries}}
    moved = {n for n, m in mimics.items() if not at.keys().isdisjoint(m.primaries)}

    def lock(c: Connection) -> Connection:
        if c.name not in at:
            return replace(c, joint=following_fewer(mimics[c.name], at)) if c.name in moved else c
        if not c.joint.primaries:
            warn_of_stops(c.name, c.joint, c.limits, at[c.name])
        X = mimics.get(c.name, c.joint).transform(at[c.name])
        return replace(c, joint=Fixed(), parent_pose=c.parent_pose @ X, **WITHOUT_MOTION)

    return tuple(map(lock, connections))


def _configuration(joints: Mapping[str, Any], name: str, value: Any) -> tuple[float, ...]:
    check_known("joint", name, joints, "lock")
    joint = joints[name]
    if joint.primaries:
        by = ", ".join(map(repr, joint.primaries))
        if joint.is_placed:
            expected = f"is moved by its cluster: lock {by}, which has the coordinates of all joints of the cluster."
            raise MechanismError(f"joint {name!r} {expected}")
        raise MechanismError(f"joint {name!r} mimics {by}: lock {'those' if len(joint.primaries) > 1 else 'that one'}.")
    q = np.atleast_1d(np.asarray(value, dtype=float))
    if q.shape != (joint.nq,):
        raise ShapeError("lock", name, got=q.shape, expected=f"({joint.nq},)", hint=names_told(joint))
    if not np.isfinite(q).all():
        raise ParameterError(f"configuration of joint {name!r}", got=tuple(q), expected="finite numbers")
    return tuple(q.tolist())


# Configurations that say where a robot begins: those of MJCF files; one's own and those of USD files, which win.
STARTS = ("qpos0", "initial")
# The one that says where drives go unless a control says otherwise: one's own and that of USD files.
TARGET = "target"


def said_start(configurations: Iterable[Configuration]) -> dict[str, tuple[float, ...]]:
    """Return the coordinates, by joint, that configurations say a robot begins with."""
    by_name = {c.name: c.coordinates for c in configurations}
    return {joint: own for name in STARTS for joint, own in by_name.get(name, {}).items()}


def configuration_of(model: Any, configuration: Configuration) -> np.ndarray:
    """Return a configuration that is given by joint, shape (nq,) [rad, m]; joints not named are neutral."""
    q = model.neutral()
    for joint, own in configuration.coordinates.items():
        if joint in model.slices:  # a joint that closes a loop has none
            q[model.slices[joint][0]] = own
    return q


def start_configuration(model: Any) -> np.ndarray:
    """Return where a robot begins, shape (nq,); see `Model.start_configuration`."""
    q, said = model.neutral(), said_start(model.annotations.configurations)
    # Joints that loops hang on stay neutral: the loops close where their bodies are drawn.
    closing = {node for c in model.closures for node in _path(model, c.parent) ^ _path(model, c.child)}
    fixed = {i for node in closing for i in model.nodes[node].q}
    lower, upper = model.lower, model.upper
    for c in model.connections:
        own, along = model.slices[c.name]
        if c.name in said:
            q[own] = said[c.name]
        elif not c.joint.primaries and c.joint.nv and fixed.isdisjoint(range(own.start, own.stop)):
            q[own] = move_to_middle(c.joint.manifold, q[own].tolist(), lower[along], upper[along])
    return q


def _path(model: Any, body: str) -> set[int]:
    node, path = model.attachment(body).node, set()
    while node >= 0:
        path.add(node)
        node = model.nodes[node].parent
    return path


HEADER = ("joint", "type", "parent -> child", "q", "v", "position limits")


def layout_table(model: Any) -> str:
    """Return the joints of a model with their slices of q and v and their limits, as text."""
    lines = aligned([HEADER, *(_row(model, connection) for connection in model.connections)])
    sizes = f"{len(model.bodies)} bodies, {model.mass:.6g} kg, nq = {model.nq}, nv = {model.nv}"
    closing = [closing_text(c, type(c.joint).__name__) for c in model.closures]
    given = [f"given at every call: {name} {each.shape}" for name, each in model.inputs.items()]
    return "\n".join([f"{visible(model.name)}: {sizes}", lines[0], "-" * len(lines[0]), *lines[1:], *closing, *given])


def closing_text(c: Connection, kind: str) -> str:
    """Return a joint that closes a loop as a line."""
    return f"closing: {visible(c.parent)} <-[{visible(c.name)}: {kind}]-> {visible(c.child)}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of text as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def kind_of(joint: Joint) -> str:
    """Return what kind of joint it is, what a mimic copies, and which joints lead a cluster."""
    if isinstance(joint, Mimic):
        return f"{type(joint.joint).__name__} = {joint.multiplier:g} {visible(joint.primary)} + {joint.offset:g}"
    if isinstance(joint, Coupled):
        of = getattr(joint.function, "__name__", type(joint.function).__name__)
        return f"{type(joint.joint).__name__} = {visible(of)}({', '.join(map(visible, joint.by))})"
    if isinstance(joint, Follower) and joint.is_placed:
        closed: Any = joint.manifold
        inner = type(joint.own.joint if joint.own else joint.joint).__name__
        return f"{inner} of a cluster" if joint.primaries else f"{inner} of a cluster led by {visible(closed.leading)}"
    return type(joint).__name__


def _row(model: Any, c: Any) -> tuple[str, ...]:
    iq, iv = model.slices[c.name]
    between = f"{visible(c.parent)} -> {visible(c.child)}"
    own = next((own for own in c.joint.manifold.part.connections if own.name == c.name), c) if c.joint.is_placed else c
    pairs = zip(own.limits.lower, own.limits.upper, strict=True)
    shown = ["free" if math.isinf(a) and math.isinf(b) else f"[{a:.4g}, {b:.4g}]" for a, b in pairs]
    limits = shown[0] if len(set(shown)) == 1 else ", ".join(shown)
    return visible(c.name), kind_of(c.joint), between, _slice(iq), _slice(iv), limits


def _slice(s: slice) -> str:
    if s.stop == s.start:
        return "-"
    return str(s.start) if s.stop == s.start + 1 else f"{s.start}:{s.stop}"


_AT_THE_FRAME, _OF_THE_BODY, _OF_THE_WORLD = (
    "at='frame', expressed_in='world' (the default)",
    "at='frame', expressed_in='frame'",
    "at='world', expressed_in='world'",
)
WORDS = {
    "LOCAL_WORLD_ALIGNED": f"Pinocchio's LOCAL_WORLD_ALIGNED is {_AT_THE_FRAME}",
    "LOCAL": f"Pinocchio's LOCAL is {_OF_THE_BODY}",
    "WORLD": f"Pinocchio's WORLD is {_OF_THE_WORLD}; the frame is {WORLD!r}",
    "MIXED_REPRESENTATION": f"iDynTree's MIXED_REPRESENTATION is {_AT_THE_FRAME}",
    "BODY_FIXED_REPRESENTATION": f"iDynTree's BODY_FIXED_REPRESENTATION is {_OF_THE_BODY}",
    "INERTIAL_FIXED_REPRESENTATION": f"iDynTree's INERTIAL_FIXED_REPRESENTATION is {_OF_THE_WORLD}",
    "universe": f"Pinocchio's universe is {WORLD!r}",
}


def explain_word(word: Any, connections: Iterable[Connection]) -> str:
    """Return the end of a message about a frame that does not exist; empty where nothing is known of the word."""
    last = str(word).rpartition(".")[2]  # of an enumeration's member
    if last in WORDS or (last := last.upper()) in WORDS:
        return f"{WORDS[last]}."
    moved = next((c.child for c in connections if c.name == word), None)
    return f"{word!r} is a joint; the body it moves is {moved!r}." if moved is not None else ""
