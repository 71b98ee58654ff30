"""Editing: each operation makes a new mechanism of an old one, and says what became of names, bodies and frames.

All of them are rearrangements of the same immutable records (`Body`, `Connection`, `Frame`); what else a mechanism
holds goes where its bodies and joints go (`Annotations`). The mechanism that is edited stays as it is.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from cardan._algebra.errors import MechanismError, ParameterError, UnknownNameError, check_distinct, check_known
from cardan._algebra.spatial import SE3, Inertia
from cardan._robot.description.rooting import Forest, base_name
from cardan._robot.geometry.shapes import Hull, Shape, collision_mesh
from cardan._robot.joints import Fixed, Joint, Limits
from cardan._robot.joints.catalogue.of_another import renamed_primaries
from cardan._robot.joints.derivation.programs import replaced
from cardan._robot.model import WORLD, Annotations, Body, Connection, Drive, Frame
from cardan._robot.model.layout import WITHOUT_MOTION, resolve_mimics
from cardan._robot.model.layout import locked as locked_joints
from cardan._robot.records import check_name


class Parts(NamedTuple):
    """What a mechanism is made of."""

    bodies: tuple[Body, ...]
    joints: tuple[Connection, ...]
    frames: tuple[Frame, ...]
    annotations: Annotations


def names(parts: Parts) -> Iterator[str]:
    """Yield the names of everything that has one."""
    yield from (x.name for x in (*parts.bodies, *parts.joints, *parts.frames))
    yield from (name for _, name in parts.annotations.named())


@dataclass(frozen=True, slots=True)
class Report:
    """What an edit did. Prints as one line for each change.

    Attributes:
        renamed: new names by old ones, of everything that has one.
        moved: for what rides on another body now: that body and the pose of the old body's frame in it.
        became_frames: bodies that are frames now.
        changed_joints: joints that are of another kind now.
        removed: names of bodies, joints, frames, actuators and groups that are gone.
        added: names of those that came.
        replaced: what has other values now, such as "drive of elbow" and "shapes".
    """

    renamed: Mapping[str, str] = field(default_factory=dict)
    moved: Mapping[str, tuple[str, SE3]] = field(default_factory=dict)
    became_frames: tuple[str, ...] = ()
    changed_joints: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"renamed: {old} -> {new}" for old, new in self.renamed.items()]
        for name, (onto, X) in self.moved.items():
            turned = "" if X.rotation == SE3.identity().rotation else ", turned"
            place = ", ".join(f"{e:.6g}" for e in X.translation)
            lines.append(f"moved: what was on {name} is on {onto}, at ({place}) m{turned}")
        lists = {"now a frame:": self.became_frames, "changed: joint": self.changed_joints}
        lists |= {"removed:": self.removed, "added:": self.added, "replaced:": self.replaced}
        lines += [f"{change} {name}" for change, names in lists.items() for name in names]
        return "\n".join(lines) or "nothing changed"


def renamed(parts: Parts, rename: Callable[[str], str]) -> tuple[Parts, Report]:
    """Return the parts with every name but the world's replaced; all else of them was checked before."""

    def new(name: str) -> str:
        return name if name == WORLD else rename(name)

    def named(kind: str, part: Any, name: str, **changes: Any) -> Any:
        check_name(kind, name)
        return replaced(part, name=name, **changes)

    def joint(c: Connection) -> Connection:
        own = renamed_primaries(c.joint, rename)
        return named("joint", c, rename(c.name), joint=own, parent=new(c.parent), child=new(c.child))

    result = Parts(
        tuple(named("body", b, new(b.name)) for b in parts.bodies),
        tuple(map(joint, parts.joints)),
        tuple(named("frame", f, new(f.name), body=new(f.body)) for f in parts.frames),
        parts.annotations.renamed(new),
    )
    return result, Report(renamed={name: new(name) for name in names(parts) if new(name) != name})


def joined(parts: Sequence[Parts], where: str) -> Parts:
    """Return the parts of some mechanisms, those of the first one first; raise if two use a name."""
    where = f"{where} (give prefix=...)"
    bodies, joints, frames = (tuple(x for own in parts for x in getattr(own, kind)) for kind in Parts._fields[:3])
    check_distinct("body or frame", (x.name for own in parts for x in (*own.bodies, *own.frames)), where)
    check_distinct("joint", (c.name for c in joints), where)
    return Parts(bodies, joints, frames, Annotations.joined([own.annotations for own in parts], where))


def moved(parts: Parts, body: str, onto: str, X: SE3) -> Parts:
    """Return the parts with all that is on a body on another one, where the body's frame is at X; or on itself."""

    def carried(c: Connection) -> Connection:
        if c.parent == body:
            c = replace(c, parent=onto, parent_pose=X @ c.parent_pose)
        return replace(c, child=onto, child_pose=X @ c.child_pose) if c.child == body else c

    frames = tuple(replace(f, body=onto, pose=X @ f.pose) if f.body == body else f for f in parts.frames)
    return Parts(parts.bodies, tuple(map(carried, parts.joints)), frames, parts.annotations.moved(body, onto, X))


def components(parts: Parts) -> list[tuple[list[str], list[Connection]]]:
    """Return the bodies and joints of each part that hangs together without the world, in document order."""
    pairs = ((c.parent, c.child) for c in parts.joints)
    forest = Forest((b.name for b in parts.bodies), (pair for pair in pairs if WORLD not in pair))
    found: dict[str, tuple[list[str], list[Connection]]] = {}
    for body in (b.name for b in parts.bodies):
        found.setdefault(forest.find(body), ([], []))[0].append(body)
    for c in parts.joints:
        found[forest.find(c.parent if c.child == WORLD else c.child)][1].append(c)
    return list(found.values())


def loose(parts: Parts) -> list[tuple[str, list[Connection]]]:
    """Return the parts that do not hang on the world: a first body, no joint's child if there is one; its joints."""
    found = []
    for bodies, own in components(parts):
        if not any(WORLD in (c.parent, c.child) for c in own):
            children = {c.child for c in own}
            found.append((next((b for b in bodies if b not in children), bodies[0]), own))
    return found


def based(parts: Parts, base: Joint, prefix: str, name: str) -> Parts:
    """Return the parts with a base joint for each that does not hang on the world; joints of a part are together.

    The prefix is before all names already, and goes before those of the base joints; name is the mechanism's.
    """
    own, anchors = {c.name.removeprefix(prefix) for c in parts.joints}, [anchor for anchor, _ in loose(parts)]
    if not anchors and not isinstance(base, Fixed):
        reason = f"every body of {name!r} already hangs on the world by its joints: leave base out."
        raise MechanismError(f"base={base!r}: {reason}")
    names = [base_name(anchor.removeprefix(prefix), own, plain=k == 0) for k, anchor in enumerate(anchors)]
    bases = [Connection(prefix + name, base, WORLD, anchor) for name, anchor in zip(names, anchors, strict=True)]
    together = components(parts._replace(joints=(*bases, *parts.joints)))
    return parts._replace(joints=tuple(c for _, joints in together for c in joints))


def locked(parts: Parts, configurations: Mapping[str, Any]) -> tuple[Parts, Report]:
    """Return the parts with joints fixed at given configurations, and those that mimic them with them."""
    joints = locked_joints(parts.joints, configurations)
    changed = tuple(new.name for new, old in zip(joints, parts.joints, strict=True) if new is not old)
    return _annotated(parts._replace(joints=joints), Report(changed_joints=changed), still=changed)


def _annotated(parts: Parts, report: Report, **gone: Collection[str]) -> tuple[Parts, Report]:
    """Return the parts with what is left of their annotations, and the report with what of them went."""
    left = parts.annotations.without(**gone)
    kept = set(left.named())
    removed = (entry[1] for entry in parts.annotations.named() if entry not in kept)
    return parts._replace(annotations=left), replace(report, removed=(*report.removed, *removed))


def with_joint(
    parts: Parts, name: str, joint: Joint, limits: Limits | None, properties: Mapping[str, Any]
) -> tuple[Parts, Report]:
    """Return the parts with another kind of joint; raise if another nv would lose limits or passive properties."""
    check_known("joint", name, [c.name for c in parts.joints])
    old = next(c for c in parts.joints if c.name == name)
    given = {key: value for key, value in {"limits": limits, **properties}.items() if value is not None}
    if not isinstance(joint, Joint):
        raise ParameterError(f"joint {name!r}", got=joint, expected="a joint, such as cardan.joints.Revolute()")
    if joint.nv != old.joint.nv:
        bare = replace(old, **WITHOUT_MOTION)
        lost = [key for key in WITHOUT_MOTION if getattr(old, key) != getattr(bare, key) and key not in given]
        if lost:
            got = f"{type(joint).__name__} with nv = {joint.nv} for {type(old.joint).__name__} with nv = {old.joint.nv}"
            raise ParameterError(f"joint {name!r}", got=got, expected=f"new values for its {', '.join(lost)}")
        given = {**WITHOUT_MOTION, **given}  # what is given, and of the rest nothing
    new = replace(old, joint=joint, **given)
    joints = tuple(new if c.name == name else c for c in parts.joints)
    resolve_mimics(joints)  # raises where a mimic can no longer copy it
    # Configurations and actuators are in the joint's own coordinates: of another manifold they mean nothing.
    same = type(old.joint.manifold) is type(joint.manifold) and old.joint.manifold == joint.manifold
    still = () if same else (name,)
    return _annotated(parts._replace(joints=joints), Report(changed_joints=(name,)), still=still)


def _matched(kind: str, patterns: Mapping[str, Any], known: Sequence[str], where: str) -> dict[str, Any]:
    """Return what is given by patterns of names, by name; of several the last one counts."""
    chosen: dict[str, Any] = {}
    for pattern, value in patterns.items():
        matching = fnmatch.filter(known, pattern)
        if not matching:
            raise UnknownNameError(kind, pattern, known, where=where)
        chosen |= dict.fromkeys(matching, value)
    return chosen


def with_drives(parts: Parts, drives: Mapping[str, Drive | None]) -> tuple[Parts, Report]:
    """Return the parts with drives at the joints whose names match a pattern; of several, the last one counts.

    Actuators that said the drives there were go with them. Joints that do not move and those that copy others have no
    drive of their own: a pattern passes over them.
    """
    if not isinstance(drives, Mapping):
        raise ParameterError("drives", got=drives, expected='a dict of drives by joint: {"*": Drive(400.0, 40.0)}')
    driven = [c.name for c in parts.joints if c.joint.nv and not c.joint.primaries]
    chosen = _matched("joint", drives, driven, "drives")
    joints = tuple(replace(c, drive=chosen[c.name]) if c.name in chosen else c for c in parts.joints)
    others = {c.name: c.drive for c, new in zip(parts.joints, joints, strict=True) if c.drive != new.drive}
    left = parts.annotations.without_drives({name: drive for name, drive in others.items() if drive})
    removed = tuple(a.name for a in parts.annotations.actuators if a not in left.actuators)
    report = Report(removed=removed, replaced=tuple(f"drive of {name}" for name in others))
    return parts._replace(joints=joints, annotations=left), report


def with_hulls(
    parts: Parts, vertices: int | None, error: float | None, concavity: Mapping[str, float | None] | float | None
) -> tuple[Parts, Report]:
    """Return the parts with hulls in place of collision meshes: one of each, or those of its convex parts."""
    meshed = list(dict.fromkeys(shape.body for shape in parts.annotations.shapes if collision_mesh(shape)))
    given = concavity if isinstance(concavity, Mapping) else {"*": concavity} if meshed else {}
    chosen = _matched("body", given, meshed, "collision meshes")

    def solid(shape: Shape) -> list[Shape]:
        mesh, cut = collision_mesh(shape), chosen.get(shape.body)
        if mesh is None:
            return [shape]
        hulls = [Hull.of(mesh, vertices, error)] if cut is None else Hull.parts(mesh, cut, vertices, error)
        numbered = shape.name and len(hulls) > 1
        return [
            replace(shape, geometry=hull, name=f"{shape.name}_{k}" if numbered else shape.name)
            for k, hull in enumerate(hulls)
        ]

    shapes = tuple(own for shape in parts.annotations.shapes for own in solid(shape))
    return with_annotations(parts, replace(parts.annotations, shapes=shapes))


def with_annotations(parts: Parts, annotations: Annotations) -> tuple[Parts, Report]:
    """Return the parts with other annotations."""
    pairs = ((f.name, getattr(parts.annotations, f.name), getattr(annotations, f.name)) for f in fields(annotations))
    replaced = tuple(name.replace("_", " ") for name, old, new in pairs if old != new)
    return parts._replace(annotations=annotations), Report(replaced=replaced)


def without(parts: Parts, names: Collection[str]) -> tuple[Parts, Report]:
    """Return the parts without some bodies, joints or frames, and without what hangs on removed bodies alone.

    With a body go its joints, frames and shapes; the bodies those joints led to stay.
    """
    known = {x.name for x in (*parts.bodies, *parts.joints, *parts.frames)}
    for name in names:
        check_name("body, joint or frame", name)
        check_known("body, joint or frame", name, known)
    bodies = {b.name for b in parts.bodies if b.name in names}
    joints = {c.name for c in parts.joints if c.name in names or c.parent in bodies or c.child in bodies}
    frames = {f.name for f in parts.frames if f.name in names or f.body in bodies}
    for c in parts.joints:
        for primary in joints.intersection(() if c.name in joints else c.joint.primaries):
            raise MechanismError(
                f"joint {c.name!r} copies {primary!r}, which would be removed; remove or lock it, too."
            )
    kept = Parts(
        tuple(b for b in parts.bodies if b.name not in bodies),
        tuple(c for c in parts.joints if c.name not in joints),
        tuple(f for f in parts.frames if f.name not in frames),
        parts.annotations,
    )
    gone = [x.name for x in (*parts.bodies, *parts.joints, *parts.frames) if x.name in bodies | joints | frames]
    return _annotated(kept, Report(removed=tuple(gone)), bodies=bodies, joints=joints)


def extracted(parts: Parts, bodies: Iterable[str]) -> tuple[Parts, Report]:
    """Return the parts that are some bodies, with the joints between them and what is fixed on them."""
    kept = set(bodies)
    known = [b.name for b in parts.bodies]
    for name in kept - {WORLD}:
        check_known("body", name, known)
    outside = [b for b in known if b not in kept]
    if WORLD not in kept:
        outside += [c.name for c in parts.joints if WORLD in (c.parent, c.child)]
        outside += [f.name for f in parts.frames if f.body == WORLD]
    # What is fixed on the world goes, too, unless the world is asked for; leaving out is one operation.
    smaller, report = without(parts, outside)
    return (smaller, report) if WORLD in kept else _annotated(smaller, report, bodies={WORLD})


def without_massless_leaves(parts: Parts) -> tuple[Parts, Report]:
    """Return the parts without bodies at the ends of the tree that have no inertia, again and again.

    One that is fixed on its neighbour becomes a frame there. One that moves is removed with its joint and frames, as
    its motion is that of nothing; but it stays where a joint feels it: if its own is copied by another, or copies one
    that has to move its armature, damping, friction, drive or spring, or exerts efforts of its own.
    """
    reports = []
    # One that goes may leave its neighbour a leaf, so the search begins anew.
    while leaf := next((b.name for b in parts.bodies if _is_idle_leaf(parts, b)), None):
        (c,) = _joints_of(parts, leaf)
        parts, report = _onto(parts, c, leaf) if isinstance(c.joint, Fixed) else without(parts, {leaf})
        reports.append(report)
    return parts, _together(reports)


def _is_idle_leaf(parts: Parts, body: Body) -> bool:
    """Return whether a body has no inertia and hangs on one joint that nothing else feels."""
    joints = _joints_of(parts, body.name)
    has_inertia = body.inertia is not None and any(e != 0.0 for e in body.inertia.parameters())
    if has_inertia or len(joints) != 1:
        return False
    (c,) = joints
    copied = any(c.name in d.joint.primaries for d in parts.joints)
    passive = (c.armature, c.damping, c.friction, c.drive_stiffness, c.drive_damping, c.spring_stiffness)
    drives = c.joint.primaries and (c.joint.has_efforts or any(any(values or ()) for values in passive))
    return not copied and not drives


def with_fixed_merged(parts: Parts, keep: Collection[str] = ()) -> tuple[Parts, Report]:
    """Return the parts with bodies that are fixed on one another made one body; the others become frames of it.

    Bodies fixed on the world stay: the world has no inertia to add theirs to. So do those on a joint that gives way.
    """
    names = {b.name for b in parts.bodies}
    for name in keep:
        check_known("body", name, names, "keep")

    def is_mergeable(c: Connection) -> bool:
        rigid = isinstance(c.joint, Fixed) and not any(c.compliance or ())
        return rigid and WORLD not in (c.parent, c.child) and not (c.parent in keep and c.child in keep)

    reports = []
    while c := next(filter(is_mergeable, parts.joints), None):
        parts, report = _onto(parts, c, c.parent if c.child in keep else c.child)
        reports.append(report)
    return parts, _together(reports)


def _onto(parts: Parts, c: Connection, name: str) -> tuple[Parts, Report]:
    """Return the parts with a body made a frame of the one it is fixed on by joint c, which takes over its inertia."""
    X = c.parent_pose @ c.child_pose.inverse()  # X_parent_child
    other, X = (c.parent, X) if name == c.child else (c.child, X.inverse())
    body = next(b for b in parts.bodies if b.name == name)

    def heavier(b: Body) -> Body:
        if b.name != other or body.inertia is None:
            return b
        return replace(b, inertia=(b.inertia or Inertia.zero()) + X @ body.inertia)

    left = [heavier(b) for b in parts.bodies if b.name != name], [d for d in parts.joints if d is not c]
    result = moved(parts._replace(bodies=tuple(left[0]), joints=tuple(left[1])), name, other, X)
    result = result._replace(frames=(*result.frames, Frame(name, other, X)))
    report = Report(moved={name: (other, X)}, became_frames=(name,), removed=(c.name,))
    return _annotated(result, report, joints={c.name})


def _joints_of(parts: Parts, body: str) -> list[Connection]:
    return [c for c in parts.joints if body in (c.parent, c.child)]


def _together(reports: Sequence[Report]) -> Report:
    """Return one report of edits that followed one another, in which bodies were removed or became frames."""
    moved: dict[str, tuple[str, SE3]] = {}
    for report in reports:
        for name, (onto, X) in report.moved.items():
            # What rides on a body that moves on rides on with it.
            moved = {n: (onto, X @ Y) if o == name else (o, Y) for n, (o, Y) in moved.items()}
            moved[name] = (onto, X)
    removed = tuple(n for r in reports for n in r.removed)
    return Report(
        moved={n: place for n, place in moved.items() if place[0] not in removed},
        became_frames=tuple(n for r in reports for n in r.became_frames if n not in removed),
        removed=removed,
    )
