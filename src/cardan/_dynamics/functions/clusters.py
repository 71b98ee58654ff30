"""Models whose loops are clusters: joints of loops share the coordinates of the closed mechanism (`cluster`)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from cardan._algebra.errors import AssemblyError, DTypeError, MechanismError, check_known
from cardan._algebra.manifolds import Euclidean
from cardan._algebra.spatial import SE3
from cardan._dynamics.algorithms.cluster import ClosedSet, ClusterMember, with_plain_names
from cardan._dynamics.algorithms.dependent import (
    Block,
    closed_places,
    in_unit,
    least_pivot,
    overlapping,
    partition,
    rows_along_nodes,
    with_sparse_rows,
)
from cardan._dynamics.algorithms.loops import constraints, joint_coordinates, with_loops
from cardan._dynamics.algorithms.tree import between
from cardan._dynamics.call.arguments import shaped_array
from cardan._dynamics.call.signature import check_model, refuse_inputs
from cardan._dynamics.functions.assembly import SEARCH, assemble, closed_near, free_coordinates
from cardan._dynamics.functions.inner_freedoms import told_of_inner
from cardan._robot.joints import Fixed, Limits, Mimic
from cardan._robot.joints.catalogue.of_another import equipped
from cardan._robot.model import WORLD, Body, Connection, Model
from cardan._robot.model.annotations import Annotations, check_coordinates
from cardan._robot.model.layout import PASSIVE, SQUARED, configuration_of
from cardan._robot.records import Actuator, Configuration, Drive, Spring

NEAR_TOGGLE = 0.05
"""How much worse than the best choice driven joints may determine the others. A crank is so near to its dead point when
a step of a tenth of a radian would lead there."""

RIGID = 1e-2
"""The least singular value of constraints that hold a loop, in units of length: axes of files are right to 1e-3."""

Carried = dict[int, list[tuple[int, Connection]]]
"""The joints whose child rides on a node, by the node, with their places in the model."""


def clustered(
    model: Model, independent: Sequence[str] = (), near: Any = None, closing: Sequence[str] | None = None
) -> Model:
    """Return the model with its closed loops as clusters: a tree for every function, in fewer velocities.

    Loops that share joints are a cluster. Its joints keep their names, bodies and places. Its coordinates are those of
    all its joints, as before, and stand at the first of them; its velocities are those of the independent ones. In a
    configuration all loops are closed, in the assembly mode that it has: `normalize` closes what is nearly closed, and
    `random_configuration` and `neutral` are closed. Where the independent velocities do not determine the others (a
    toggle), results are not numbers.

    Args:
        model: a robot with closed loops.
        independent: names of joints whose velocities are to be independent: of a cluster as many as it has freedoms. By
            default those with a drive or an actuator, if they do and `near` is no toggle of theirs, and others that
            determine the rest well.
        near: configuration of `model` [rad, m], shape (nq,), whose assembly mode the neutral one is to have; or
            coordinates by joint, which stay if loops close so: `{"rocker_joint": -0.6}`. It need not be closed. By
            default the neutral configuration of the model, or another one if loops are singular there (lying flat).
        closing: names of the closing joints whose loops become clusters; by default all. The others stay constraints,
            as those of feet that hold, for the `constrained_*` functions.

    Raises:
        MechanismError: for loops without such coordinates (none closed, rows that depend on one another, no freedom
            left), a choice of `independent` that determines nothing, and an actuator at the first joint of a cluster,
            if that is dependent.

    Examples:
        >>> linkage = cardan.clustered(cardan.robots.four_bar().model(), independent=["crank_joint"])
        >>> linkage.nq, linkage.nv, linkage.joint("crank_joint").velocity_names
        (3, 1, ('crank_joint.dangle',))
        >>> q = linkage.random_configuration(seed=0)
        >>> cardan.forward_dynamics(linkage, q, [2.0], [0.1]).shape
        (1,)

    Peers: Drake and MuJoCo have no such joints; `grbda` has clusters of its own kinds.
    """
    check_model("clustered", model)
    with_loops(model, "clustered")
    if not model.closures:
        names = ", ".join(map(repr, model.constraint_names))
        raise MechanismError(f"clustered: constraints of yours ({names}) are no loops that joints close; they stay.")
    refuse_inputs(model, ": clustered, then with_inputs.")
    kept = set(joint_coordinates(model, independent))
    start = None if near is None else _start(model, near)
    changed: dict[str, Connection] = {}
    known: dict[Any, ClosedSet] = {}  # those of other names are alike
    gone: set[str] = set()
    carried: Carried = {}
    for k, c in enumerate(model.connections):
        carried.setdefault(model.attachment(c.child).node, []).append((k, c))
    for nodes, own in _groups(model, model.closure_names if closing is None else closing):
        changed |= _cluster(model, nodes, own, carried, kept, start, known)
        gone |= {c.name for c in own}
    connections = tuple(changed.get(c.name, c) for c in model.connections)
    closures = [c for c in model.closures if c.name not in gone]
    annotations = _annotations(model, changed, gone)
    return replace(model, connections=connections, closures=tuple(closures), annotations=annotations)


def _start(model: Model, near: Any) -> np.ndarray:
    """Return where a search for closed loops begins; of named joints, near where loops close with these as they are."""
    if not isinstance(near, Mapping):
        return shaped_array("clustered", "near", near, (model.nq,))
    given = Configuration("near", near)
    check_coordinates(given, {c.name: c.joint for c in model.connections})
    others = free_coordinates(model, [*given.coordinates])
    return closed_near(model, configuration_of(model, given)[None], others, 0.0, SEARCH)[0][0]


def _annotations(model: Model, changed: Mapping[str, Connection], gone: Collection[str]) -> Annotations:
    """Return the annotations: configurations and gears at the first joint of each cluster, along its coordinates."""
    given = model.annotations

    def geared(actuator: Actuator) -> Actuator:
        rows: dict[str, Any] = {}
        for name, gear in zip(actuator.joints, cast("Any", actuator.gear), strict=True):
            if name not in changed:
                rows[name] = gear
                continue
            joint: Any = changed[name].joint
            along = range(joint.closed.part.nv)[joint.closed.part.v_slice(name)]
            if joint.by and not set(along) & set(joint.closed.free):
                rows[name] = gear  # along its own coordinates, as what else acts there
                continue
            row = rows.setdefault(joint.by[0] if joint.by else name, [0.0] * joint.nv)
            for j, ratio in zip(along, gear * len(along) if len(gear) == 1 else gear, strict=True):
                if j not in joint.closed.free:
                    raise MechanismError(
                        f"clustered: actuator {actuator.name!r} acts on {name!r}, which is dependent and has the "
                        "coordinates of the cluster; choose it among `independent`."
                    )
                row[joint.closed.free.index(j)] += ratio
        return replace(actuator, joints=tuple(rows), gear=tuple(rows.values()))

    def together(c: Configuration) -> Configuration:
        found = {name: own for name, own in c.coordinates.items() if name not in changed}
        for name, first in changed.items():
            joint: Any = first.joint
            if not joint.primaries and not c.coordinates.keys().isdisjoint(joint.closed.joint_names):
                found[name] = tuple(
                    e for n in joint.closed.joint_names for e in c.coordinates.get(n, model.joint(n).neutral())
                )
        return Configuration(c.name, found)

    rest = given.without(joints=gone)
    actuators = tuple(geared(a) if not changed.keys().isdisjoint(a.joints) else a for a in rest.actuators)
    return replace(rest, actuators=actuators, configurations=tuple(map(together, rest.configurations)))


def _groups(model: Model, closing: Sequence[str]) -> Iterator[tuple[set[int], list[Connection]]]:
    """Yield the nodes between the frames of the named closing joints that share some, and these joints."""
    if isinstance(closing, str):
        raise DTypeError("clustered", "closing", got=repr(closing), expected=f"a tuple: ({closing!r},)")
    for name in closing:
        check_known("closing joint", name, model.closure_names, "clustered")
    owner = {j: node.index for node in model.nodes if not node.joint.primaries for j in node.v}
    moved = [_between(model, c) if c.name in closing and c.joint.num_constraints else set() for c in model.closures]
    moved = [nodes | {owner[j] for i in nodes for j in model.nodes[i].v} for nodes in moved]
    for block in overlapping(moved):
        nodes, own = set().union(*(moved[k] for k in block)), [model.closures[k] for k in block]
        if taken := [model.nodes[i].name for i in nodes if model.nodes[i].joint.is_placed]:
            raise MechanismError(
                f"clustered: joint {taken[0]!r}, through which {own[0].name!r} closes a loop, is one of a cluster "
                "already. Make clusters of all loops that share joints at once, of the model without clusters."
            )
        yield nodes, own


def _between(model: Model, closure: Connection) -> set[int]:
    ends = (model.attachment(body).node for body in (closure.parent, closure.child))
    return {node.index for nodes in between(model, *ends) for node in nodes}


def _cluster(
    model: Model,
    nodes: set[int],
    closing: list[Connection],
    carried: Carried,
    kept: set[int],
    near: np.ndarray | None,
    known: dict[Any, ClosedSet],
) -> dict[str, Connection]:
    """Return the joints of a cluster as they are in it, by name."""
    part = _part(model, nodes, closing, carried)
    joints = [c for c in part.connections if c.joint.nv and not c.joint.primaries]
    acting = {name for a in model.annotations.actuators for name in a.joints}
    followers = _followers(model, part, {c.name for c in joints}, acting)
    start = None if near is None else tuple(e for c in joints for e in near[model.slices[c.name][0]].tolist())
    along = {i: j for c in joints for i, j in zip(_v(model, c), _v(part, c), strict=True)}
    driven = {j for c in joints for j in _v(part, c) if c.name in acting or any((*c.drive_stiffness, *c.drive_damping))}
    own = {along[i] for i in kept if i in along}
    key = with_plain_names(part), frozenset(own), frozenset(driven), start
    if key not in known:
        known[key] = _closed_set(with_sparse_rows(part), own, driven, start)
    closed = known[key].named_as(part)
    placed = {c.name: c for i in nodes for _, c in carried[i]}
    found: dict[str, Connection] = {}
    for c in joints:
        member = _member(part, closed, c, (joints[0].name,) if found else ())
        own = {} if found else _along(part, closed.free)
        at = placed[c.name]
        found[c.name] = Connection(c.name, member, at.parent, at.child, at.parent_pose, at.child_pose, **own)
    for name, (at, joint) in followers.items():
        member = ClusterMember(joint, name, closed, (joints[0].name,))
        found[name] = Connection(name, member, at.parent, at.child, at.parent_pose, at.child_pose)
    return found


def _followers(model: Model, part: Model, names: set[str], acting: set[str]) -> dict[str, tuple[Connection, Any]]:
    """Return the joints that follow joints of a cluster alone, by name: as they are, and as they follow these."""
    found: dict[str, tuple[Connection, Any]] = {}
    for node in model.nodes:
        followed = sorted(names.intersection(node.joint.primaries))
        if not followed:
            continue
        (c,) = (c for c in model.connections if c.name == node.name)
        what = f"clustered: joint {c.name!r} follows {followed[0]!r}, a joint of {_loops(part)}"
        if not names.issuperset(node.joint.primaries):
            raise MechanismError(
                f"{what}, and others that are not; the `constrained_*` functions take that, and clustered(closing=...) "
                "the other loops."
            )
        # those of a mimic joint within the loops count along the joint it copies, but for its drive
        counted = isinstance(node.joint, Mimic) and not node.joint.own and c.name in part.joint_names
        acts = any(any(getattr(c, name) or ()) for name in (*SQUARED, "friction"))
        if c.name in acting or (acts and not counted):
            raise MechanismError(
                f"{what}, and has properties or an actuator of its own; give these to {followed[0]!r}."
            )
        found[c.name] = c, node.joint
    return found


def _v(model: Model, c: Connection) -> range:
    return range(model.nv)[model.slices[c.name][1]]


def _part(model: Model, nodes: set[int], closing: list[Connection], carried: Carried) -> Model:
    """Return the joints of a cluster alone, on bodies that stand still: those that carry it, placed to one another."""
    base, *others = {model.nodes[i].parent for i in nodes} - nodes
    if others:
        loops = ", ".join(repr(c.name) for c in closing)
        raise MechanismError(
            f"clustered: the loop closed by {loops} has a joint that follows one elsewhere in the tree; the "
            "`constrained_*` functions take that, and clustered(closing=...) the other loops."
        )
    own = [c for _, c in sorted((row for i in nodes for row in carried[i]), key=lambda row: row[0])]
    both = (body for c in (*own, *closing) for body in (c.parent, c.child))
    ends = dict.fromkeys(b for b in both if (-1 if b == WORLD else model.attachment(b).node) == base)
    poses = {body: SE3.identity() if body == WORLD else model.attachments[body].pose for body in ends}
    first = WORLD if WORLD in ends else next(iter(ends))
    placed = {b: SE3.identity() if b == first else poses[first].inverse() @ X for b, X in poses.items()}
    holding = {c.child: c.name for _, c in carried.get(base, ())}
    held = [Connection(holding[b], Fixed(), WORLD, b, X) for b, X in placed.items() if b != WORLD]
    connections = (*held, *own)
    return Model(model.name, tuple(Body(c.child) for c in connections), connections, closures=tuple(closing))


def _closed_set(part: Model, kept: set[int], driven: set[int], start: Sequence[float] | None) -> ClosedSet:
    samples, other = _place(part, start)
    if not samples:
        where = "" if start is None else " near the given configuration"
        raise MechanismError(f"clustered: {_loops(part)} cannot be closed{where}.{_left_open(part, start)}")
    found = partition(part, samples, kept or driven) if kept or driven else other
    if not kept and (not found or _split(part, found) or _is_worse(part, found, other, samples[0])):
        found = other
    if not found:
        if not other:
            raise MechanismError(
                f"clustered: {_loops(part)}: no coordinates determine the others, since rows of the constraints depend "
                "on one another; give a configuration elsewhere (`near`), or take "
                "cardan.constrained_forward_dynamics."
            )
        raise MechanismError(
            f"clustered: independent coordinates of {_names(part, kept)} do not determine the others of {_loops(part)};"
            f" those of {_names(part, _free(part, other))} do."
        )
    free = _free(part, found)
    if not free:
        nearly = _nearly_free(part, samples[0])
        raise MechanismError(f"clustered: {_loops(part)} leaves no freedom: all its joints stand still.{nearly}")
    if kept and set(free) != kept:
        raise MechanismError(
            f"clustered: {_loops(part)} has {len(free)} freedoms, and independent are {len(kept)}, of "
            f"{_names(part, kept)}; those of {_names(part, free)} would do.{told_of_inner(part, samples)}"
        )
    if split := _split(part, found):
        mend = told_of_inner(part, samples) or " Choose `independent` so that orientations are so as a whole, or not."
        raise MechanismError(f"clustered: joint {split[0].name!r} of {_loops(part)} is independent in part.{mend}")
    blocks = tuple(tuple(map(tuple, b)) for b in found)
    bare = tuple(
        Connection(c.name, c.joint, c.parent, c.child, c.parent_pose, c.child_pose, limits=c.limits)
        for c in part.connections
    )
    plain = ClosedSet(replace(part, connections=bare), blocks, tuple(rows_along_nodes(part)), tuple(samples[0]))
    return replace(plain, start=tuple(float(e) for e in plain.normalize(samples[0]))).shorter()


def _nearly_free(part: Model, q: Sequence[float]) -> str:
    """Return in words by how little joints of a loop stand still, as where axes of a file are rounded."""
    K = np.array(in_unit(part, constraints(part, list(q)))[0], dtype=float)
    least = np.linalg.svd(K, compute_uv=False)[-1] if len(K) >= part.nv else 1.0
    if least > RIGID:
        return ""
    return (
        f" They would move if a row of its constraints were 0, which is {least:.1g}. Axes that are to be parallel, and "
        "are rounded, do that: write them in full, or free a joint of it (a ball in place of a hinge)."
    )


def _left_open(part: Model, start: Sequence[float] | None) -> str:
    """Return in words what stays open nearest to a configuration."""
    try:
        assemble(part, start)
    except AssemblyError as error:
        return f" Nearest to it, {error.loop!r} is open by {error.residual:.3g} m or rad: look at the lengths there."
    return ""


def _place(part: Model, start: Sequence[float] | None) -> tuple[list[list[float]], list[Block]]:
    """Return closed configurations near one another, and a choice of coordinates, if there is one anywhere.

    A linkage that a file describes lying flat has none there.
    """
    tried: list[tuple[list[list[float]], list[Block]]] = []
    for samples in closed_places(part, start):
        tried.append((samples, _unsplit(part, samples)))
        if tried[-1][1]:
            return tried[-1]
    return tried[0] if tried else ([], [])


def _is_worse(part: Model, found: Sequence[Block], other: Sequence[Block], q: Sequence[float]) -> bool:
    """Return whether a choice is near a toggle at a configuration, and another one is not."""
    return bool(other) and least_pivot(part, found, q) < NEAR_TOGGLE * least_pivot(part, other, q)


def _unsplit(part: Model, samples: Sequence[list[float]]) -> list[Block]:
    """Return a choice of coordinates, with orientations independent as a whole or not, if there is such a one."""
    found = partition(part, samples)
    wholes = (partition(part, samples, _v(part, c)) for c in (_split(part, found) if found else ()))
    return next((other for other in wholes if other and not _split(part, other)), found)


def _split(part: Model, found: Sequence[Block]) -> list[Connection]:
    """Return the joints with an orientation that is independent in part."""
    free = set(_free(part, found))
    turning = (c for c in part.connections if not isinstance(c.joint.manifold, Euclidean))
    return [c for c in turning if free.intersection(_v(part, c)) and not free.issuperset(_v(part, c))]


def _free(part: Model, found: Sequence[Block]) -> list[int]:
    dependent = {j for block in found for j in block.columns}
    return [j for j in range(part.nv) if j not in dependent]


def _along(part: Model, free: Sequence[int]) -> dict[str, Any]:
    """Return limits and passive properties along the independent coordinates, as those of one joint."""
    of = lambda values: tuple(values[j] for j in free)  # noqa: E731
    passive = {name: of(part.passive(name)) for name in PASSIVE}
    return {
        "limits": Limits(*(of(getattr(part, name)) for name in LIMITS)),
        "drive": Drive(passive.pop("drive_stiffness"), passive.pop("drive_damping")),
        "spring": Spring(passive.pop("spring_stiffness"), passive.pop("spring_rest")),
        **passive,
    }


LIMITS = ("lower", "upper", "velocity_upper", "effort_upper", "velocity_lower", "effort_lower")


def _member(part: Model, closed: ClosedSet, c: Connection, by: tuple[str, ...]) -> ClusterMember:
    """Return a joint with what acts along its dependent velocities."""

    def of(values: Any, still: float = 0.0) -> tuple[float, ...]:
        return tuple(still if j in closed.free else float(values[j]) for j in _v(part, c))

    has = {name.removeprefix("spring_"): of(part.passive(name)) for name in PASSIVE}
    armature = has.pop("armature")
    if any(armature) and not isinstance(c.joint.manifold, Euclidean):
        raise MechanismError(
            f"clustered: joint {c.name!r} of {_loops(part)} is dependent and has an armature, which counts along "
            "numbers alone, and not along an orientation; choose it among `independent`."
        )
    ends = {"lower": of(part.lower, -math.inf), "upper": of(part.upper, math.inf)}
    ends |= {"effort": of(part.effort_upper, math.inf), "effort_lower": of(part.effort_lower, -math.inf)}
    joint = equipped(c.joint, Limits(**ends), **has)
    return ClusterMember(joint, c.name, closed, by, armature if any(armature) else ())


def _loops(part: Model) -> str:
    return f"the loop closed by {', '.join(map(repr, part.closure_names))}"


def _names(part: Model, along: Iterable[int]) -> str:
    names = dict.fromkeys(c.name for c in part.connections if not set(_v(part, c)).isdisjoint(along))
    return ", ".join(map(repr, names))
