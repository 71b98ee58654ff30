"""The USD reader: the rigid bodies and joints of a stage into a `Mechanism`, every fault with the path of its prim.

Source: UsdPhysics, the rigid body physics schema of OpenUSD (openusd.org).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.errors import first_of
from cardan._algebra.spatial import SE3
from cardan._reach.formats.reading import Description, Options
from cardan._reach.formats.report import Report
from cardan._reach.formats.source import Source
from cardan._reach.formats.usd.joints import UsdJoint, copied, properties, read_joint, with_chains
from cardan._reach.formats.usd.schema import remark_unread
from cardan._reach.formats.usd.shapes import Solid, body_inertia, read_solid, shapes_of
from cardan._reach.formats.usd.stage import Stage, ancestors, brief, opened, pxr
from cardan._reach.formats.usd.values import Scene, called, flag, number, survey, targets, value, vector
from cardan._robot.description import Mechanism
from cardan._robot.description.rooting import Forest
from cardan._robot.geometry.touching import EVERYTHING, MAX_CLASSES, Bits, one_bit_each
from cardan._robot.joints import Fixed, FreeFlyer
from cardan._robot.model import WORLD
from cardan._robot.model.layout import TARGET
from cardan._robot.records import EARTH_GRAVITY, Connection

# --- which shapes may touch: collision groups as bits, filtered pairs as pairs of bodies ---
#
# Two shapes of cardan touch if each one's group has a bit of the other's mask. Groups of USD forbid: two shapes do not
# touch if any group of one filters any group of the other. So every set of groups that shapes are in gets a bit.

MAX_GROUPS = 100
"""Their collections are asked for every shape: more of them take time for nothing a mask of 32 bits can hold."""
MAX_PAIRS = 20_000


def bits_of(stage: Stage, scene: Scene, solids: Sequence[Solid]) -> list[Bits]:
    if not scene.groups:
        return [EVERYTHING] * len(solids)
    if len(scene.groups) > MAX_GROUPS:
        told = f"there are {len(scene.groups)} collision groups, more than {MAX_GROUPS}: they are left out"
        stage.warn(scene.groups[0], told)
        return [EVERYTHING] * len(solids)
    filters = _filters(scene.groups)
    members = [pxr().UsdPhysics.CollisionGroup(g).GetCollidersCollectionAPI() for g in scene.groups]
    queries = {str(e.GetPrim().GetPath()): e.ComputeMembershipQuery() for e in members}
    inside = [frozenset(p for p, q in queries.items() if q.IsPathIncluded(s.prim.GetPath())) for s in solids]
    bits = _bits(stage, scene, dict.fromkeys(inside), filters)
    return [bits.get(groups, EVERYTHING) for groups in inside]


def _filters(groups: Sequence[Any]) -> Mapping[str, set[str]]:
    """Return the groups each group does not touch; groups that are merged by name count as one."""
    paths = [str(g.GetPath()) for g in groups]
    names = {str(g.GetPath()): str(value(g, "physics:mergeGroup") or g.GetPath()) for g in groups}
    same = {name: {p for p in paths if names[p] == name} for name in names.values()}
    found: dict[str, set[str]] = {p: set() for p in paths}
    for group in groups:
        named = {str(path) for path in targets(group, "physics:filteredGroups")} & set(paths)
        others = {p for e in named for p in same[names[e]]}
        if flag(group, "physics:invertFilteredGroups", False):
            others = set(paths) - others
        for one, other in product(same[names[str(group.GetPath())]], others):
            found[one].add(other)
            found[other].add(one)
    return found


def _bits(
    stage: Stage, scene: Scene, classes: Mapping[frozenset[str], None], filters: Mapping[str, set[str]]
) -> dict[frozenset[str], tuple[int, int]]:
    filtering = [c for c in classes if any(filters[group] for group in c)]
    if len(filtering) >= MAX_CLASSES:
        told = f"shapes are in {len(filtering)} different sets of collision groups; a mask has room for"
        stage.warn(scene.groups[0], f"{told} {MAX_CLASSES - 1}: they are left out")
        return {}
    return one_bit_each([frozenset(), *filtering], lambda a, b: not any(filters[group] & b for group in a))


def filtered_pairs(stage: Stage, scene: Scene) -> Iterator[tuple[str, str]]:
    count = 0
    for prim in scene.prims:
        for path in targets(prim, "physics:filteredPairs"):
            other = stage.usd.GetPrimAtPath(path)
            if not other:
                stage.remark(prim, f"physics:filteredPairs names {str(path)!r}, which does not exist")
                continue
            for one, two in product(_bodies(scene, prim), _bodies(scene, other)):
                count += 1
                if count > MAX_PAIRS:
                    stage.warn(prim, f"more than {MAX_PAIRS} filtered pairs: the others are left out")
                    return
                if one != two:
                    yield one, two


def _bodies(scene: Scene, prim: Any) -> list[str]:
    """Return the body a prim is part of, or all bodies below it."""
    body, path = scene.body_of(prim), f"{prim.GetPath()}/"
    return [body] if body else [each for each in scene.bodies if each.startswith(path)]


# --- what belongs together: articulations, joints that belong to none, and bodies that nothing holds to the world ---

WORLD_PATH = ""


def chosen(stage: Stage, scene: Scene, wanted: str | None) -> str | None:
    """Return the path below which things are read ("" for all), of a prim or the root of an articulation; or None."""
    if wanted is None:
        return ""
    roots = [str(root.GetPath()) for root in scene.roots]
    path = wanted.rstrip("/") if wanted.startswith("/") else next((r for r in roots if r.endswith("/" + wanted)), "")
    if path and any(is_below(body, path) for body in scene.bodies):
        return path
    told = f"model={wanted!r} is no prim with rigid bodies below it; roots of articulations: "
    stage.report.error(0, told + (first_of(roots) or "none"))
    return None


def is_below(path: str, root: str) -> bool:
    return not root or path == root or path.startswith(root + "/")


def without_orphans(stage: Stage, scene: Scene, joints: Sequence[UsdJoint]) -> list[UsdJoint]:
    """Return the joints that stay, in the order that closes loops by those that are excluded from articulations.

    An articulation is all that joints connect with a body or a joint at or below its root, not through the world. A
    joint of none is an orphan, about which the option `orphans` decides.
    """
    orphans, report = _orphans(scene, joints), stage.report
    what = stage.options.orphans
    notes = {
        "error": (report.error, ""),
        "warn": (report.warn, "; it is kept (orphans='keep' or 'drop' decides)"),
        "drop": (report.remark, "; it is left out, as orphans='drop' says"),
    }
    told = "belongs to no articulation: there is no PhysicsArticulationRootAPI on what it connects or above"
    for joint in orphans if what in notes else ():
        note, ending = notes[what]
        note(stage.where(joint.prim), f"the joint {told}{ending}")
    left = {joint.path for joint in orphans} if what == "drop" else set()
    kept = [joint for joint in joints if joint.path not in left]
    return sorted(kept, key=lambda joint: joint.is_excluded)


def _orphans(scene: Scene, joints: Sequence[UsdJoint]) -> list[UsdJoint]:
    members = [joint for joint in joints if not joint.is_excluded]
    parts = Forest(scene.bodies, (joint.bodies for joint in members if all(joint.bodies)))
    roots = {str(root.GetPath()) for root in scene.roots}
    rooted = {parts.find(body) for body in scene.bodies if _has_root(body, roots)}
    rooted |= {parts.find(body) for j in members if _has_root(j.path, roots) for body in j.bodies if body}
    return [joint for joint in members if not any(parts.find(body) in rooted for body in joint.bodies if body)]


def _has_root(path: str, roots: set[str]) -> bool:
    return not roots.isdisjoint((path, *ancestors(path)))


def floating(bodies: Iterable[str], joints: Sequence[UsdJoint], ranks: Mapping[str, int]) -> list[str]:
    """Return for each part that nothing holds to the world the body it shall be moved by.

    It is the one of the lowest rank, or else the first body that is no joint's second.
    """
    bodies = list(bodies)
    parts = Forest([WORLD_PATH, *bodies], (joint.bodies for joint in joints))
    second = {joint.bodies[1] for joint in joints if joint.bodies[0]}
    return parts.anchors(bodies, lambda body: ranks.get(body, 2 + (body in second)), WORLD_PATH)


# --- names of bodies, joints and frames: those of their prims, or whole paths where several prims have one name ---


def names_of(report: Report, kind: str, called: Mapping[str, str]) -> dict[str, str]:
    """Return a name for each path, by what each is called; those that clash are remarked on once."""
    count = Counter(called.values())
    clashing = [path for path, name in called.items() if count[name] > 1 or name == WORLD]
    if clashing:
        told = f"{len(clashing)} {kind} have names that others have, too; they are called by their paths, as this one"
        report.remark(clashing[0], told)
    whole = set(clashing)
    return {path: path if path in whole else name for path, name in called.items()}


SELF_COLLISION = ("newton:selfCollisionEnabled", "physxArticulation:enabledSelfCollisions")  # the first counts
OPEN = 1e-4
"""How far a joint may be from what the bodies' poses say and still be met by them, relative: they are often float32."""


def read(source: Source, options: Options) -> Description:
    report = Report(source.name)
    with opened(source, options, report) as stage:
        if stage is None:
            return Description(None, report)
        try:
            reading = Reading(stage, survey(stage))
            mechanism = reading.mechanism()
        except (pxr().Tf.ErrorException, UnicodeDecodeError) as error:  # of what it notices only when it is asked
            report.error(0, f"OpenUSD cannot read it: {brief(error)}")
            return Description(None, report)
        return Description(None if report.errors else mechanism, report)


class Reading:
    def __init__(self, stage: Stage, scene: Scene) -> None:
        self.stage, self.scene, self.report = stage, scene, stage.report
        self.names: dict[str, str] = {"": WORLD}
        self.joint_names: dict[str, str] = {}
        self.poses: dict[str, SE3] = {WORLD: SE3.identity()}

    def mechanism(self) -> Mechanism | None:
        """Return the mechanism; None where nothing is called as the option `model` says."""
        stage, scene = self.stage, self.scene
        root = chosen(stage, scene, stage.options.model)
        remark_unread(self.report, scene)
        if root is None:
            return None
        mechanism = Mechanism(_name(stage, root), self.gravity())
        scene.bodies = {path: prim for path, prim in scene.bodies.items() if is_below(path, root)}
        if not scene.bodies:
            self.report.error(0, "has no rigid body: no prim has the PhysicsRigidBodyAPI")
        self.scene.frames = [prim for prim in self.scene.frames if is_below(str(prim.GetPath()), root)]
        prims = self.scene.bodies | {str(prim.GetPath()): prim for prim in self.scene.frames}
        self.names |= names_of(self.report, "bodies and frames", {path: called(prim) for path, prim in prims.items()})
        self.add_bodies_and_shapes(mechanism, root)
        joints = without_orphans(stage, scene, with_chains(stage, self.joints(root)))
        if not self.report.errors:
            self.add_joints(mechanism, joints)
            self.add_bases(mechanism, joints)
            self.add_frames(mechanism)
            self.add_pairs(mechanism)
            self.set_self_collision(mechanism, root)
            self.add_configurations(mechanism, joints)
        return mechanism

    def gravity(self) -> Sequence[float]:
        """Return gravity in a world with z up; what is left out means down, and the earth's."""
        if not self.scene.scenes:
            return EARTH_GRAVITY
        stage, prim = self.stage, self.scene.scenes[0]
        for other in self.scene.scenes[1:]:
            self.stage.remark(other, "a second PhysicsScene; the first one's gravity counts")
        size = number(stage, prim, "physics:gravityMagnitude", -math.inf, infinite=True) * stage.length
        size = size if 0.0 <= size < math.inf else -EARTH_GRAVITY[2]
        direction = np.array(vector(stage, prim, "physics:gravityDirection", (0.0, 0.0, 0.0)))
        norm = float(np.linalg.norm(direction))
        if not flag(prim, "newton:gravityEnabled", True):
            return (0.0, 0.0, 0.0)
        down = stage.turn @ direction / norm if norm > 0.0 else np.array([0.0, 0.0, -1.0])
        return tuple(float(e) + 0.0 for e in size * down)

    def add_bodies_and_shapes(self, mechanism: Mechanism, root: str) -> None:
        stage, scene = self.stage, self.scene
        prims = [prim for prim in scene.geometries if is_below(str(prim.GetPath()), root)]
        solids = [solid for prim in prims if (solid := read_solid(stage, scene, prim)) is not None]
        colliders: dict[str, list[Any]] = {}
        for solid in solids:
            if solid.collides:
                colliders.setdefault(solid.body, []).append(solid)
        for path, prim in scene.bodies.items():
            if (posed := stage.pose(prim)) is not None:
                name = self.names[path]
                with self.report.described("body", name, stage.where(prim)):
                    mechanism._add_body(name, body_inertia(stage, prim, posed, colliders.get(path, ())))
                self.poses[name] = posed.pose
                if posed.is_sheared:
                    self.stage.remark(prim, "its transform shears it; its pose is the nearest one without")
        for solid, bits in zip(solids, bits_of(stage, scene, solids), strict=True):
            if (solid.body in scene.bodies or not solid.body) and not self.report.errors:
                with self.report.blamed(stage.where(solid.prim)):
                    for shape in shapes_of(stage, solid, self.names[solid.body], bits):
                        mechanism.add_shape(shape)

    def joints(self, root: str) -> list[UsdJoint]:
        found = []
        for prim in self.scene.joints:
            joint = read_joint(self.stage, self.scene, prim)
            if joint is None:
                continue
            if all(body in self.names for body in joint.bodies):
                found.append(joint)
            elif any(is_below(body, root) for body in joint.bodies if body):
                self.stage.warn(prim, "joins a body that is read with one that is not; it is left out")
        return found

    def add_joints(self, mechanism: Mechanism, joints: Sequence[UsdJoint]) -> None:
        named = self.joint_names = names_of(self.report, "joints", {joint.path: joint.called for joint in joints})
        movers = {joint.path: (named[joint.path], joint.joint) for joint in joints if joint.copying is None}
        for joint in joints:
            kind = joint.joint
            if joint.copying is not None:
                kind = copied(self.stage, joint.prim, kind, joint.copying, movers)
            with self.report.described("joint", named[joint.path], self.stage.where(joint.prim)):
                parent, child = (self.names[body] for body in joint.bodies)
                mechanism.add_joint(named[joint.path], kind, parent, child, *joint.poses, **properties(joint.dofs))

    def add_bases(self, mechanism: Mechanism, joints: Sequence[UsdJoint]) -> None:
        """Let what nothing holds fly; what is kinematic, moved by other than forces, stays where it is."""
        held = [path for path, prim in self.scene.bodies.items() if flag(prim, "physics:kinematicEnabled", False)]
        roots = dict.fromkeys((str(root.GetPath()) for root in self.scene.roots), 1)
        bodies = floating(self.scene.bodies, joints, roots | dict.fromkeys(held, 0))
        for body in (path for path in held if path not in bodies):
            told = "physics:kinematicEnabled is left out: a joint leads to it from the world, or from another such body"
            self.stage.warn(self.scene.bodies[body], told)
        taken = {joint.name for joint in mechanism.joints}
        for body in bodies:
            prim, name = self.scene.bodies[body], self.names[body]
            if flag(prim, "cardan:loose", False):  # written so: `model(base=)` decides
                continue
            called = "root" if len(bodies) == 1 and "root" not in taken else f"root_{name}"
            while called in taken:
                called += "_"
            if body in held:
                told = "physics:kinematicEnabled: no force moves it; it is fixed to the world where it stands"
                self.stage.remark(prim, told)
                mechanism.add_joint(called, Fixed(), WORLD, name, parent_pose=self.poses[name])
            else:
                mechanism.add_joint(called, FreeFlyer(), WORLD, name)
            self.report.places["joint", called] = self.stage.where(prim)

    def add_frames(self, mechanism: Mechanism) -> None:
        for prim in self.scene.frames:
            posed, body = self.stage.pose(prim), self.scene.body_of(prim)
            path = str(prim.GetPath())
            if posed is None or self.names.get(body) is None or path in self.scene.bodies:
                continue
            owner, name = self.names[body], self.names[path]
            with self.report.described("frame", name, self.stage.where(prim)):
                mechanism.add_frame(name, owner, self.poses[owner].inverse() @ posed.pose)

    def add_pairs(self, mechanism: Mechanism) -> None:
        for one, other in filtered_pairs(self.stage, self.scene):
            if one in self.names and other in self.names:
                mechanism.disable_contact(self.names[one], self.names[other])

    def set_self_collision(self, mechanism: Mechanism, root: str) -> None:
        """Let bodies of one articulation touch if its root says so; what says nothing stays as the others are."""
        said = {}
        for prim in (prim for prim in self.scene.roots if is_below(str(prim.GetPath()), root)):
            found = (value(prim, name) for name in SELF_COLLISION)
            first = next((e for e in found if e is not None), None)
            if first is not None:
                said[bool(first)] = prim
        mechanism.self_collision = True in said
        if len(said) == 2:
            self.stage.warn(
                said[False], "other articulations collide with themselves and this one does not; all do here"
            )

    def add_configurations(self, mechanism: Mechanism, joints: Sequence[UsdJoint]) -> None:
        """Name where the bodies stand `"initial"`, and where drives want to go `"target"`."""
        starts = {c.name: q for c in mechanism.joints if (q := self.start(c)) is not None}
        names = mechanism.model().joint_names if starts else ()  # none that closes a loop
        if initial := {name: starts[name] for name in names if name in starts}:
            mechanism.add_configuration("initial", initial)
        for name in (TARGET, "state"):
            own = [joint for joint in joints if joint.copying is None]
            said = {self.joint_names[joint.path]: [getattr(dof, name) for dof in joint.dofs] for joint in own}
            found = {joint: values for joint, values in said.items() if any(values)}
            if found:
                mechanism.add_configuration(name, found)

    def start(self, c: Connection) -> tuple[float, ...] | None:
        """Return where the bodies' poses put a joint; None where that is its neutral configuration."""
        if c.joint.primaries:
            return None
        X_pc = (self.poses[c.parent] @ c.parent_pose).inverse() @ self.poses[c.child] @ c.child_pose
        q = tuple(float(e) for e in c.joint.nearest_configuration(X_pc))
        off = np.abs(np.array(c.joint.transform(q).matrix()) - X_pc.matrix()).max()
        if off > OPEN * (1.0 + max(abs(float(e)) for e in X_pc.translation)):
            told = f"the poses of its bodies leave it open by {off:.2g}; configuration 'initial' has what comes nearest"
            self.report.remark(self.report.places["joint", c.name], told)
        still = c.joint.neutral()
        return q if any(abs(a - b) > 1e-6 for a, b in zip(q, still, strict=True)) else None


def _name(stage: Stage, root: str) -> str:
    """Return the name of what is read: that of its root, of the stage's default prim, or of the file."""
    default = stage.usd.GetDefaultPrim()
    return root.rpartition("/")[2] or (called(default) if default else "") or Path(stage.file).stem
