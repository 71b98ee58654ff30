"""The builder of worlds: links, bodies, shapes, joints, articulations, whole mechanisms."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from cardan._algebra.checked_numbers import positive, truth, whole
from cardan._algebra.errors import (
    MechanismError,
    ParameterError,
    ShapeError,
    check_known,
    check_new,
    first_of,
    quoted,
)
from cardan._algebra.explained import ExplainedSettings, explained_keywords
from cardan._algebra.spatial import SE3, Inertia, checked_pose
from cardan._compiler.runtime.memory import collection_paused
from cardan._dynamics.algorithms.drives import undetermined
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._motion.simulation.articulation import Articulation, articulations
from cardan._motion.simulation.cutting import closed_at, cut_bodies, still_closing
from cardan._motion.simulation.pairs import contact_pairs
from cardan._motion.simulation.solids import with_solids
from cardan._motion.simulation.standing import (
    lifted_out,
    moves_freely,
    root_joints,
    stood,
    warn_of_start,
    warn_start,
    within_limits,
)
from cardan._motion.simulation.world import World
from cardan._robot.description import Mechanism, Plane, Shape, editing
from cardan._robot.geometry.shapes import ALL_BITS, Geometry
from cardan._robot.joints import FreeFlyer, Joint, Limits
from cardan._robot.model import WORLD, Connection, Drive, Material, Model
from cardan._robot.model.annotations import names_told
from cardan._robot.model.layout import STARTS, TARGET
from cardan._robot.records import EARTH_GRAVITY, check_name

LOOSE = FreeFlyer()
"""The joint of bodies that move freely: all share it, as robots of a kind share theirs."""
WATER = 1000.0
"""[kg/m^3]"""
REACH = 1e-6
"""How far a link may be from where it was put, beside its distance from the origin: people write six digits."""


class WorldBuilder(ExplainedSettings):
    """Collects what a world is made of; `finalize()` makes a `World` of it.

    Errors are raised by the call that causes them: `DuplicateNameError` for a name in use, `UnknownNameError` for one
    that does not exist, `ParameterError` for an invalid value. `"world"` is the fixed world itself, wherever a link is
    named.

        b = cardan.WorldBuilder()
        b.add_link("bob")
        b.add_shape("bob", Sphere(0.1))
        b.add_joint("hinge", Revolute([0, 1, 0]), "world", "bob", child_pose=SE3(translation=[0, 0, 1]))
        b.add_articulation("pendulum", ["hinge"])
        b.q["hinge"] = 0.5
        world = b.finalize()

    Attributes:
        q: coordinates that states begin with, by joint; others begin where the poses of links put them, or neutral.
        v: velocities that states begin with, by joint; others begin with 0.
        targets: where drives go by default, by joint, in the coordinates limits are stated in; others go where the
            configuration `"target"` of their description says, or neutral.

    Args:
        name: name of the world.
        gravity: [m/s^2], in world axes.

    Throughout:
        name: new name.
        inertia: what a body has besides that of its shapes.
        lock_inertia: whether shapes that are added to a body leave its inertia as it is.
        material: what contact feels; by default `Material()`.
        self_collision: whether shapes of one articulation may touch one another, but for links that a joint connects.
        a, b: names of bodies; `"world"` may be one.

    Examples:
        >>> from cardan.description import Box, Sphere
        >>> builder = cardan.WorldBuilder()
        >>> ground = builder.add_ground()
        >>> name = builder.add_link("cart")
        >>> shape = builder.add_shape("cart", Box((0.4, 0.2, 0.1)))
        >>> joint = builder.add_joint("rail", cardan.joints.Prismatic((1.0, 0.0, 0.0)), "world", "cart")
        >>> name = builder.add_articulation("trolley", ["rail"])
        >>> builder.add(mechanism, prefix="arm/")
        ('arm/arm7',)
        >>> ball = builder.add_body("ball", pose=cardan.SE3(translation=(0.0, 0.0, 1.0)))
        >>> shape = builder.add_shape("ball", Sphere(0.1))  # 1000 kg/m^3
        >>> builder.disable_contact("cart", "world")
        >>> builder.set_contact("cart", "arm/forearm_roll", cardan.Material(friction=0.1))
        >>> builder.enable_contact("arm/forearm_roll", "arm/wrist_pitch")
        >>> builder.finalize().model.nv
        14
        >>> builder.remove("ball", "trolley")
        ('cart', 'ball', 'rail', 'ball_free')

    Peers: Newton `ModelBuilder`.
    """

    def __init__(self, name: str = "world", gravity: Sequence[float] = EARTH_GRAVITY) -> None:
        self.gravity = gravity
        self.q: dict[str, Any] = {}
        self.v: dict[str, Any] = {}
        self.targets: dict[str, Any] = {}
        self._mechanism = Mechanism(name)
        self._locked: set[str] = set()
        self._poses: dict[str, SE3] = {}
        self._articulations: dict[str, tuple[str, ...]] = {}
        self._held: dict[str, str] = {}  # the articulation of each joint that is in one
        self._together: set[tuple[str, str]] = set()
        self._colliding: set[str] = set()
        self._starts: list[str] = []  # configurations that descriptions begin with, the one that counts last
        self._aims: list[str] = []  # and those that their drives go to
        self._loose: set[str] = set()  # joints that move freely, and which nobody put anywhere
        self._above: dict[str, np.ndarray] = {}  # coordinates of some of these, of which the height does not count
        self._lifts = False  # whether what a description puts in the ground shall stand on it

    @explained_keywords
    def add_link(self, name: str, pose: Any = None, inertia: Inertia | None = None, lock_inertia: bool = False) -> str:
        """Add a body that joints will hold.

        Args:
            pose: where it begins, in the world; by default where its joint's neutral configuration puts it.

        Returns:
            Its name.
        """
        poses = {} if pose is None else {name: checked_pose(f"pose of link {name!r}", pose)}
        is_locked = truth("lock_inertia", lock_inertia)
        self._mechanism.add_body(name, inertia)
        self._locked |= {name} if is_locked else set()
        self._poses |= poses
        return name

    @explained_keywords
    def add_body(self, name: str, pose: Any = None, inertia: Inertia | None = None, lock_inertia: bool = False) -> str:
        """Add a body that moves freely: a link, its joint `<name>_free` and its articulation.

        Args:
            pose: where it begins, in the world: there the joint's coordinates begin.

        Returns:
            Its name.
        """
        joint, own = f"{name}_free", self._mechanism
        check_new("joint", joint, own._joints, f"world {own.name!r} (give prefix=...)")
        self._check_new_articulation(name)
        self.add_link(name, pose, inertia, lock_inertia)
        self.add_joint(joint, LOOSE, WORLD, name)
        return self.add_articulation(name, [joint])

    @explained_keywords
    def add_shape(
        self,
        link: str,
        geometry: Geometry,
        pose: Any = None,
        density: float = WATER,
        material: Material | None = None,
        *,
        name: str = "",
        role: str = "collision",
        group: int = 1,
        mask: int = ALL_BITS,
        margin: float = 0.0,
        rgba: Sequence[float] | None = None,
        surface_velocity: Sequence[float] | None = None,
    ) -> Shape:
        """Add a shape to a link; what it is made of adds mass, centre of mass and inertia, unless those are locked.

        Args:
            link: the link, or `"world"`.
            geometry: such as `cardan.description.Box((0.1, 0.1, 0.1))`.
            pose: X_link_shape; identity by default.
            density: [kg/m^3]; that of water by default, 0 for a shape without mass.
            name: its own name; may be empty.
            role: `"collision"`, or `"visual"`, which nothing touches.
            group, mask: what it is, as bits; groups it may touch.
            margin: how far around it contact is felt [m].
            rgba: colour, four numbers in [0, 1].
            surface_velocity: how the surface runs, linear and angular [m/s, rad/s], in the shape's axes (`Shape`).

        Returns:
            The shape.
        """
        at = SE3.identity() if pose is None else pose
        kind: Any = role
        contact: dict[str, Any] = {"surface": material, "surface_velocity": surface_velocity}
        contact |= {"group": group, "mask": mask, "margin": margin}
        shape = Shape(link, kind, geometry, at, name, rgba, **contact)
        adds = link != WORLD and link not in self._locked
        inertia = shape.inertia(density) if adds else None  # first: it refuses what has no volume
        self._mechanism.add_shape(shape)
        if inertia is not None:
            body = self._mechanism._bodies[link]
            total = inertia if body.inertia is None else body.inertia + inertia
            self._mechanism._exchange(replace(body, inertia=total))
        return shape

    def add_ground(self, material: Material | None = None, pose: Any = None, name: str = "ground") -> Shape:
        """Add a half space to the world, solid below z = 0 of `pose`.

        Args:
            pose: X_world_shape; by default the half space is below z = 0 of the world.

        Returns:
            The shape.
        """
        return self.add_shape(WORLD, Plane(), pose, 0.0, material, name=name)

    def add_joint(
        self,
        name: str,
        joint: Joint,
        parent: str,
        child: str,
        parent_pose: Any = None,
        child_pose: Any = None,
        limits: Limits | None = None,
        drive: Drive | None = None,
        **properties: Any,
    ) -> str:
        """Add a joint.

        Args:
            joint: what kind of joint.
            parent, child: links; the parent may be `"world"`.
            parent_pose, child_pose: the joint's frames in them; identity by default.
            drive: gains of a drive that follows `Control.position` and `Control.velocity`.
            limits: of position, velocity and effort.
            properties: damping, friction, armature, compliance, spring, as for `Mechanism.add_joint`.

        Returns:
            Its name.
        """
        sides = (parent_pose, child_pose)
        added = self._mechanism.add_joint(name, joint, parent, child, *sides, limits, drive=drive, **properties)
        if parent == WORLD and sides == (None, None) and moves_freely(joint):
            self._loose.add(name)
        return added.name

    def add_articulation(self, name: str, joints: Sequence[str], *, self_collision: bool = False) -> str:
        """Name some joints, from the world on and added one after the other, as one articulation.

        Args:
            joints: their names.

        Returns:
            Its name.

        Raises:
            MechanismError: for a joint that is in another articulation.
            ParameterError: if there is no joint.
        """
        self._check_new_articulation(name)
        if isinstance(joints, str) or not list(joints):
            raise ParameterError(f"joints of articulation {name!r}", got=joints, expected="a list of names of joints")
        for joint in joints:
            check_known("joint", joint, self._mechanism._joints, f"articulation {name!r}")
            if joint in self._held:
                message = f"joint {joint!r} is in articulation {self._held[joint]!r}; it cannot be in {name!r}, too."
                raise MechanismError(message)
        touches = truth("self_collision", self_collision)
        self._articulations[name] = tuple(dict.fromkeys(joints))
        self._held |= dict.fromkeys(joints, name)
        self._colliding |= {name} if touches else set()
        return name

    def add(
        self,
        mechanism: Mechanism,
        prefix: str = "",
        pose: Any = None,
        base: str | Joint = "fixed",
        *,
        name: str | None = None,
        self_collision: bool | None = None,
        stand: bool | None = None,
    ) -> tuple[str, ...]:
        """Add all of a mechanism (`Mechanism.append`), with an articulation for each connected part.

        Args:
            mechanism: what to add; later changes of it do not matter.
            prefix: goes before all its names.
            pose: where its world is in this one.
            base: by what its parts that hang on no joint of their own are attached to the world, as for
                `Mechanism.model`: `"fixed"`, `"floating"` or any joint.
            name: name of its articulation; by default prefix and the mechanism's name. Where there are several, the
                others end in the name of their first link.
            self_collision: whether shapes of one articulation may touch one another. None for what the mechanism
                says (`Mechanism.self_collision`), as files of MuJoCo do.
            stand: whether what floats by that base is put on level ground, if there is any; by default without a pose.

        Returns:
            The names of its articulations.

        Raises:
            MechanismError: if it has no body; if a base other than fixed is asked for and nothing needs one.
            ParameterError: if it is a model.
        """
        return self._add([(prefix, pose)], mechanism, base, name, self_collision, stand)

    def _add(
        self,
        copies: Sequence[tuple[str, Any]],
        mechanism: Mechanism,
        base: str | Joint = "fixed",
        name: str | None = None,
        self_collision: bool | None = None,
        stand: bool | None = None,
    ) -> tuple[str, ...]:
        """Add copies of a mechanism, each with a prefix of its own and at its own pose; all or none (`add`)."""
        _check_mechanism(mechanism)
        touches = mechanism.self_collision if self_collision is None else truth("self_collision", self_collision)
        is_put = None if stand is None else truth("stand", stand)
        placed = [mechanism._placed(prefix, pose, base)[0] for prefix, pose in copies]
        both = self._mechanism._with(placed)
        trees: list[list[list[Connection]]] = []  # of each copy
        new: dict[str, tuple[str, ...]] = {}
        for (prefix, _), parts in zip(copies, placed, strict=True):
            trees.append([joints for _, joints in editing.components(parts)])
            first = prefix + mechanism.name if name is None else name
            for k, joints in enumerate(trees[-1]):
                tree = f"{first}_{joints[0].child}" if k else first
                self._check_new_articulation(tree, new)
                new[tree] = tuple(c.name for c in joints)
        self._mechanism = both  # from here on nothing is refused
        self._articulations |= new
        self._held |= {joint: tree for tree, joints in new.items() for joint in joints}
        self._colliding |= set(new) if touches else set()
        known = mechanism.named_configurations
        for (prefix, pose), own in zip(copies, trees, strict=True):
            there = {prefix + c.name for c in mechanism.joints}
            bases = [c for joints in own for c in joints if c.name not in there and moves_freely(c.joint)]
            stands = pose is None if is_put is None else is_put
            self._loose |= {c.name for c in bases if stands}
            places = self._above if stands else self.q
            places |= {} if pose is None else _put_in_world(both, bases)
            self._starts += [prefix + said for said in STARTS if said in known]
            self._aims += [prefix + TARGET] if TARGET in known else []
        return tuple(new)

    def replicate(
        self, mechanism: Mechanism, count: int, spacing: float = 2.0, prefix: str = "", **how: Any
    ) -> tuple[str, ...]:
        """Add a mechanism many times, on a square grid about the origin that is filled row by row.

        Robots of one kind share their programs in a step, whatever their number.

        Args:
            mechanism: what to add.
            count: how often.
            spacing: from one to the next, along x and along y [m].
            prefix: goes before the names of all, before the number of each: link `foot` becomes `0_foot`, `1_foot`, ...
            how: as for `add`, but for the pose; what floats stands on level ground.

        Returns:
            The names of the articulations.

        Raises:
            ParameterError: for a count or a spacing that is none.
            MechanismError: as `add`.

        Examples:
            >>> b = cardan.WorldBuilder()
            >>> ground = b.add_ground()
            >>> b.replicate(cardan.robots.quadruped(), 3, spacing=1.5, base="floating")
            ('0_quadruped', '1_quadruped', '2_quadruped')
            >>> b.finalize().initial.reshape(3, -1)[:, :2].tolist()
            [[-0.75, -0.75], [0.75, -0.75], [-0.75, 0.75]]

        Peers: Newton `ModelBuilder.replicate`, of whose worlds each has one; here they are in one world, and meet.
        """
        count, spacing = whole("count", count, 1), positive("spacing", spacing, "m")
        side = math.isqrt(count - 1) + 1
        places = [[spacing * (at - 0.5 * (side - 1)) for at in (k % side, k // side)] for k in range(count)]
        poses = [SE3(translation=(*place, 0.0)) for place in places]
        copies = [(f"{prefix}{k}_", pose) for k, pose in enumerate(poses)]
        return self._add(copies, mechanism, **{"stand": True, **how})

    def remove(self, *names: str) -> tuple[str, ...]:
        """Take out articulations with all their bodies, or bodies, joints and frames, as `Mechanism.remove` does.

        A body that no joint holds any more moves freely. `World.state_from` lets the others go on from a state.

        Args:
            names: of articulations first, then of bodies, joints and frames.

        Returns:
            The names of the bodies, joints and frames that are gone.

        Raises:
            UnknownNameError: for what does not exist.
            MechanismError: for a joint that another one copies, which stays.
        """
        for name in names:
            check_name("body, joint, frame or articulation", name)
        own = self._mechanism
        children = {c.name: c.child for c in own.joints}
        held = {name: {children[joint] for joint in joints} for name, joints in self._articulations.items()}
        self._mechanism, report = own.remove(*(e for name in names for e in sorted(held.get(name, {name}))))
        gone = set(report.removed)
        for by_name in (self.q, self.v, self.targets, self._poses, self._held, self._above):
            for name in gone.intersection(by_name):
                del by_name[name]
        left = {name: tuple(j for j in joints if j not in gone) for name, joints in self._articulations.items()}
        self._articulations = {name: joints for name, joints in left.items() if joints}
        self._colliding &= self._articulations.keys()
        self._locked -= gone
        self._loose -= gone
        self._together = {pair for pair in self._together if gone.isdisjoint(pair)}
        return report.removed

    def disable_contact(self, a: str, b: str) -> None:
        """Let the shapes of two bodies pass through one another."""
        self._mechanism.disable_contact(a, b)

    def set_contact(
        self, a: str, b: str, material: Material, shapes: Sequence[str] = ("", ""), margin: float | None = None
    ) -> None:
        """Give the contact of two bodies a surface of its own; see `Mechanism.set_contact`.

        Args:
            shapes: names of one shape on each; `""` stands for all of a body.
            margin: how far apart they feel one another [m]; None for the sum of both shapes'.
        """
        self._mechanism.set_contact(a, b, material, shapes, margin)

    def enable_contact(self, a: str, b: str) -> None:
        """Let the shapes of two bodies touch although a joint connects them, or they are of one robot.

        It counts for more than `disable_contact`. Shapes that overlap where the world begins are left out still.

        Peers: Newton `collision_filter_parent`.
        """
        known = (WORLD, *(body.name for body in self._mechanism.bodies))
        for body in (a, b):
            check_known("body", body, known, f"world {self._mechanism.name!r}: enable_contact")
        self._together.add((a, b))

    @explained_keywords
    def finalize(
        self,
        check_orphans: bool = True,
        *,
        movable_bases: bool = False,
        closing: Sequence[str] = (),
        loops: Literal["constraints", "clusters"] = "constraints",
        keep_overlapping: bool = False,
    ) -> World:
        """Return the world; the builder can go on.

        What hangs on no joint to the world moves freely, by a joint `<link>_free` that is added. It begins where `q`
        and the poses of links say, or else where the mechanisms that were added begin (`Model.start_configuration`).
        What moves freely stands on level ground, if there is any, unless it was put somewhere: by a pose, by `q`, or by
        a joint of its own description.

        Args:
            check_orphans: refuse joints that are in no articulation; otherwise they are kept, and named by
                `World.orphans`.
            movable_bases: let `View.set_root_poses` move articulations that are fixed on the world, too, in every world
                by itself: the poses of their first joints are inputs of the model then, which costs some speed.
            closing: names of joints that shall close the loops they are part of. Those with forces of their own close
                them through a body (`cut_bodies`).
            loops: whether loops are constraints, or clusters (`cardan.clustered`), which stay closed.
            keep_overlapping: whether pairs of shapes may touch that overlap where the world begins, and would be left
                out (`contact_pairs`).

        Raises:
            MechanismError: for a world without a link; orphan joints; an articulation that is no tree on the world, or
                lies in pieces.
            ParameterError: for poses of links that their joints do not allow.

        Warns:
            OverlapWarning: of pairs that are left out because they overlap.
            StartWarning: of shapes that begin deep in one another, and of what has nothing to stand on the ground with.
        """
        asked = {"check_orphans": check_orphans, "movable_bases": movable_bases, "keep_overlapping": keep_overlapping}
        with collection_paused():  # many bodies are many objects, and all of them stay
            return _make_world(self, closing, loops, **{name: truth(name, value) for name, value in asked.items()})

    def _check_new_articulation(self, name: str, beside: Collection[str] = ()) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ParameterError("name of an articulation", got=name, expected="a non-empty text")
        for names in (self._articulations, beside):
            check_new("articulation", name, names, f"world {self._mechanism.name!r}")

    def __repr__(self) -> str:
        own = self._mechanism
        counts = f"{len(own.bodies)} links, {len(own.joints)} joints, {len(own.shapes)} shapes"
        return f"<WorldBuilder {own.name!r}: {counts}, {len(self._articulations)} articulations>"


def world_of(
    mechanism: Mechanism,
    base: str | Joint = "fixed",
    *,
    ground: bool | Material = False,
    gravity: Sequence[float] | None = None,
    pose: Any = None,
    self_collision: bool | None = None,
    **options: Any,
) -> World:
    """Return the world of one mechanism; see `Mechanism.world`."""
    if not isinstance(ground, (bool, np.bool_, Material)):
        expected = "True, False or a cardan.Material; other grounds are shapes of the world (WorldBuilder.add_shape)"
        raise ParameterError("ground", got=ground, expected=expected)
    b = WorldBuilder(mechanism.name, mechanism.gravity if gravity is None else gravity)
    b.add(mechanism, pose=pose, base=base, self_collision=self_collision)
    if ground:
        b.add_ground(ground if isinstance(ground, Material) else None)
        b._lifts = pose is None  # the description knew nothing of this ground
    return _holding_weightless(b.finalize(**options))


def _holding_weightless(world: World) -> World:
    """Return the world in which joints stand still that move nothing that has inertia, as some of files do.

    Warns:
        StartWarning: of these.
    """
    still = [node.name for node in undetermined(world.model) if not node.joint.is_floating]
    if not still:
        return world
    what = (
        f": joints {first_of(still)} move nothing that has inertia, and nothing holds them: they stand still, or move "
    )
    what += "as Control.velocity says (World.with_kinematic). Give the bodies that they carry mass and inertia, or the "
    warn_start(world.name, what + "joints drives, springs or damping.", still)
    return world.with_kinematic(still)


def drive_all(mechanism: Mechanism, drive: Drive) -> Mechanism:
    """Return a mechanism with a drive at every joint that has coordinates: no mimic, none that closes a loop."""
    tree = {c.name for c in mechanism.model().connections if c.joint.nv and not c.joint.primaries}
    for c in mechanism.joints:
        if c.name in tree:
            mechanism = mechanism.replace_joint(c.name, c.joint, drive=drive).mechanism
    return mechanism


def _check_mechanism(mechanism: Any) -> None:
    if not isinstance(mechanism, Mechanism):
        hint = "A Model has a base already; cardan.load_mechanism reads a mechanism."
        raise ParameterError("mechanism to add", got=mechanism, expected="a cardan.Mechanism", hint=hint)
    if not mechanism.bodies:
        raise MechanismError(f"mechanism {mechanism.name!r} has no body: give it one with add_body.")


def _put_in_world(mechanism: Mechanism, bases: Sequence[Connection]) -> dict[str, np.ndarray]:
    """Let the coordinates of free base joints say where they are, in place of their frames, and return those."""
    found = {}
    for c in bases:
        if isinstance(c.joint, FreeFlyer):
            found[c.name] = np.array(c.joint.nearest_configuration(c.parent_pose), dtype=float)
            mechanism._exchange(replace(c, parent_pose=SE3.identity()))
    return found


def _orphans(b: WorldBuilder, may_be: bool) -> tuple[str, ...]:
    """Return the joints in no articulation, or raise for them; raise for a world in which nothing could move."""
    own = b._mechanism
    if not own.bodies:
        has = "shapes on the world alone" if own.shapes else "nothing in it"
        raise MechanismError(
            f"world {own.name!r} has {has}, expected at least one link: nothing could move. Add one with add_body, "
            "add_link or add(mechanism)."
        )
    orphans = tuple(c.name for c in own.joints if c.name not in b._held)
    if orphans and not may_be:
        raise MechanismError(
            f"joints in no articulation: {first_of(list(map(quoted, orphans)), 12)}. Name them in "
            "add_articulation(name, joints), or keep them as they are: finalize(check_orphans=False)."
        )
    return orphans


def _make_world(
    b: WorldBuilder,
    closing: Sequence[str],
    loops: Literal["constraints", "clusters"],
    *,
    check_orphans: bool,
    movable_bases: bool,
    keep_overlapping: bool,
) -> World:
    orphans = _orphans(b, not check_orphans)
    mechanism, added = _with_free_joints(with_solids(b._mechanism), b.gravity)
    mechanism = cut_bodies(mechanism, closing)
    model = mechanism.model(gravity=b.gravity, closing=still_closing(mechanism, closing), loops=loops)
    starts, aims = (_said(model, names) for names in (b._starts, b._aims))
    whole, own = dict(b._articulations), {c.name: c for c in mechanism.joints}
    for name, joints in b._articulations.items() if added else ():
        bodies = {body for joint in joints if joint in own for body in (own[joint].parent, own[joint].child)}
        whole[name] = (*joints, *(c.name for anchor, c in added.items() if anchor in bodies))
    ordered = articulations(model, whole)
    given = _coordinates(model, b._above | starts | b.q, "q")
    begun = closed_at(model, rest_configuration(model, b._poses, given).tolist())
    there = Kinematics(model, (begun if b._poses else within_limits(model, begun, given)).tolist())
    loose = b._loose.union(c.name for c in added.values()).difference(starts, b.q)
    free = [a for a in ordered.values() if loose.intersection(a.joints) and b._poses.keys().isdisjoint(a.bodies)]
    families = {body: name for name, a in ordered.items() if name not in b._colliding for body in a.bodies}
    pairs = contact_pairs(
        model,
        mechanism.shapes,
        mechanism.disabled_contacts,
        there,
        keep_overlapping,
        families,
        b._together,
        mechanism.contact_surfaces,
    )
    aimed = model.neutral()
    for joint, own in _coordinates(model, aims, "q").items():
        aimed[model.slices[joint][0]] = own
    described = np.array(model.manifold.limit_coordinates(aimed.tolist()), dtype=float).reshape(model.nv)
    there = stood(pairs.touching, there, free)
    if b._lifts:
        joints = root_joints(model, ordered.values())
        floating = [a for a in ordered.values() if moves_freely(joints[a.name].joint)]
        others = [a for a in floating if a not in free and b.q.keys().isdisjoint(a.joints)]
        there = lifted_out(pairs.touching, there, others)
    initial = np.array(there.q)
    initial.setflags(write=False)
    world = World(
        model=model,
        mechanism=mechanism,
        articulations=ordered,
        pairs=pairs.touching,
        overlapping=pairs.overlapping,
        orphans=orphans,
        initial=initial,
        initial_velocity=_along_v(model, np.zeros(model.nv), b.v),
        targets=_along_v(model, described, b.targets),
    )
    warn_of_start(world, there)
    movable = _movable(model, ordered) if movable_bases else {}
    # Each world has its own place of them.
    owned = {name: (joint, "parent_pose") for joints in movable.values() for name, joint in joints.items()}
    return replace(world.with_inputs(**owned), movable=movable) if movable else world


def _said(model: Model, names: Sequence[str]) -> dict[str, Any]:
    """Return the coordinates of joints in configurations, of which the last counts; not of joints that were cut off."""
    by_name = {c.name: c.coordinates for c in model.annotations.configurations}
    said = [both for name in names for both in by_name.get(name, {}).items()]
    return {joint: own for joint, own in said if joint in model.slices}


def _with_free_joints(m: Mechanism, gravity: Sequence[float]) -> tuple[Mechanism, dict[str, Connection]]:
    """Return the description, and the free joints that were added to it, by the body each holds."""
    parts, joints, added = m._parts(), list(m.joints), {}
    for anchor, own in editing.loose(parts):
        added[anchor] = Connection(f"{anchor}_free", FreeFlyer(), WORLD, anchor)
        # Before the first of its tree, so that the joints of an articulation stand together.
        joints.insert(min((joints.index(c) for c in own), default=len(joints)), added[anchor])
    return Mechanism(m.name, gravity)._made_of(parts._replace(joints=tuple(joints))), added


def _movable(model: Model, articulations: Mapping[str, Articulation]) -> dict[str, dict[str, str]]:
    """Return, for each articulation that does not float, its joints on the world by the names of their inputs.

    What closes a loop on the world cannot be moved: such an articulation is left out.
    """
    held = {body for c in model.closures if WORLD in (c.parent, c.child) for body in (c.parent, c.child)}
    on_world = [c for c in model.connections if c.parent == WORLD]
    return {
        name: {f"{c.name}_pose": c.name for c in on_world if c.child in its.bodies}
        for name, its in articulations.items()
        if not its.is_floating and not held.intersection(its.bodies)
    }


def _coordinates(model: Model, given: Mapping[str, Any], size: str) -> dict[str, np.ndarray]:
    found = {}
    for name, value in given.items():
        joint = model.joint(name)
        own = model.v_slice(name) if size == "v" else model.slices[name][0]  # a cluster's q is given as a whole
        array = np.atleast_1d(np.asarray(value, dtype=float))
        if array.shape != (own.stop - own.start,):
            expected = f"({own.stop - own.start},)"
            hint = "" if joint.is_placed and size == "v" else names_told(joint, size == "v")
            raise ShapeError("finalize", name, got=array.shape, expected=expected, hint=hint)
        if not np.isfinite(array).all():
            raise ParameterError(f"initial {size} of joint {name!r}", got=value, expected="finite numbers")
        found[name] = array
    return found


def _along_v(model: Model, values: np.ndarray, given: Mapping[str, Any]) -> np.ndarray:
    """Return values along v with those that are given by joint; read-only."""
    for name, own in _coordinates(model, given, "v").items():
        values[model.v_slice(name)] = own
    values.setflags(write=False)
    return values


def rest_configuration(model: Model, poses: Mapping[str, SE3], given: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the configuration states begin with, shape (nq,).

    Joints have the coordinates that are given; otherwise those that put their child where it was said to be; otherwise
    they are where the model begins. A link that cannot be where it was said to be raises `ParameterError`.
    """
    q = model.start_configuration()
    for name, own in given.items():
        q[model.slices[name][0]] = own
    X: list[SE3] = []
    children = {c.name: c.child for c in model.connections}
    for node in model.nodes if poses else ():
        above = (X[node.parent] if node.parent >= 0 else SE3.identity()) @ node.placement
        child = children.get(node.name, "")
        if child in poses and node.name not in given and not node.joint.primaries:
            wanted = above.inverse() @ poses[child] @ model.attachment(child).pose.inverse()
            q[list(node.q)] = np.array(node.joint.nearest_configuration(wanted), dtype=float)
        X.append(above @ node.joint.transform(tuple(q[list(node.q)].tolist())))
    for body, pose in poses.items():
        at = model.attachment(body)
        found = (X[at.node] if at.node >= 0 else SE3.identity()) @ at.pose
        off = np.abs(found.matrix().astype(float) - pose.matrix().astype(float)).max()
        size = 1.0 + max(abs(float(e)) for e in pose.translation)
        if not off <= REACH * size:  # so that NaN is refused, too
            hint = "Leave the pose out, give the joint's coordinates in b.q, or move the joint's frames."
            expected = f"one its joints allow, such as {tuple(found.translation)}"
            raise ParameterError(f"pose of link {body!r}", got=tuple(pose.translation), expected=expected, hint=hint)
    q.setflags(write=False)
    return q
