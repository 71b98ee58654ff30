"""The builder of worlds: links, bodies, shapes, joints, articulations, whole mechanisms."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cardan._algebra.errors import (
    DuplicateNameError,
    Explained,
    MechanismError,
    ParameterError,
    ShapeError,
    UnknownNameError,
    check_known,
)
from cardan._algebra.spatial import SE3, Inertia, checked_pose
from cardan._motion.simulation.articulation import Articulation, articulation
from cardan._motion.simulation.pairs import Disabled, contact_pairs
from cardan._motion.simulation.rest import rest_configuration
from cardan._motion.simulation.roots import moves_freely
from cardan._motion.simulation.standing import stood, warn_of_start
from cardan._motion.simulation.world import World, default_targets
from cardan._robot.description import Mechanism, Plane, Shape
from cardan._robot.description.editing import Parts, joined
from cardan._robot.description.mechanism import base_joint
from cardan._robot.description.rooting import Forest, base_name
from cardan._robot.geometry.shapes import ALL_BITS, Geometry
from cardan._robot.joints import Fixed, FreeFlyer, Joint, Limits
from cardan._robot.model import WORLD, Connection, Drive, Material, Model
from cardan._robot.model.start import said_start
from cardan._robot.records import EARTH_GRAVITY

WATER = 1000.0
"""[kg/m^3]"""


class WorldBuilder(Explained):
    """Collects what a world is made of; `finalize()` makes a `World` of it.

    Errors are raised by the call that causes them. `"world"` is the fixed world itself, wherever a link is named.

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
        targets: where drives go by default, by joint, in the coordinates limits are stated in.

    Args:
        name: name of the world.
        gravity: [m/s^2], in world axes.

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
        >>> builder.finalize().model.nv
        14

    Peers: Newton `ModelBuilder`.
    """

    def __init__(self, name: str = "world", gravity: Sequence[float] = EARTH_GRAVITY) -> None:
        self.gravity = gravity
        self.q: dict[str, Any] = {}
        self.v: dict[str, Any] = {}
        self.targets: dict[str, Any] = {}
        self._parts = Mechanism(name)
        self._inertia: dict[str, Inertia | None] = {}
        self._locked: set[str] = set()
        self._poses: dict[str, SE3] = {}
        self._articulations: dict[str, tuple[str, ...]] = {}
        self._apart: set[tuple[str, str]] = set()
        self._together: set[tuple[str, str]] = set()
        self._colliding: set[str] = set()
        self._starts: dict[str, Any] = {}
        self._loose: set[str] = set()  # joints that move freely, and which nobody put anywhere

    # --- bodies and what is on them ---

    def add_link(self, name: str, pose: Any = None, inertia: Inertia | None = None, lock_inertia: bool = False) -> str:
        """Add a body that joints will hold, and return its name.

        Args:
            name: new name.
            pose: where it begins, in the world; by default where its joint's neutral configuration puts it.
            inertia: what it has besides that of its shapes.
            lock_inertia: whether shapes that are added to it leave its inertia as it is.

        Returns:
            Its name.

        Raises:
            DuplicateNameError, ParameterError: for a name in use; a wrong inertia or pose.
        """
        X = None if pose is None else checked_pose(f"pose of link {name!r}", pose)
        self._parts.add_body(name, inertia)
        self._inertia[name] = inertia
        if lock_inertia:
            self._locked.add(name)
        if X is not None:
            self._poses[name] = X
        return name

    def add_body(self, name: str, pose: Any = None, inertia: Inertia | None = None, lock_inertia: bool = False) -> str:
        """Add a body that moves freely: a link, its joint `<name>_free` and its articulation; return its name.

        The arguments are those of `add_link`; the joint's coordinates begin at the pose.

        Args:
            name: new name.
            pose: where it begins, in the world.
            inertia: what it has besides that of its shapes.
            lock_inertia: whether shapes that are added to it leave its inertia as it is.

        Returns:
            Its name.
        """
        joint = f"{name}_free"
        self._check_new_joint(joint)
        self._check_new_articulation(name)
        self.add_link(name, pose, inertia, lock_inertia)
        self.add_joint(joint, FreeFlyer(), WORLD, name)
        self.add_articulation(name, [joint])
        return name

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
    ) -> Shape:
        """Add a shape to a link; what it is made of adds mass, centre of mass and inertia, unless those are locked.

        Args:
            link: the link, or `"world"`.
            geometry: such as `cardan.description.Box((0.1, 0.1, 0.1))`.
            pose: X_link_shape; identity by default.
            density: [kg/m^3]; that of water by default, 0 for a shape without mass.
            material: what contact feels; by default `Material()`.
            name: its own name; may be empty.
            role: `"collision"`, or `"visual"`, which nothing touches.
            group: what it is, as bits.
            mask: groups it may touch.
            margin: how far around it contact is felt [m].
            rgba: colour, four numbers in [0, 1].

        Returns:
            The shape.

        Raises:
            UnknownNameError, ParameterError: for an unknown link, a wrong value.
        """
        at = SE3.identity() if pose is None else pose
        given: dict[str, Any] = {"name": name, "rgba": rgba, "surface": material}
        given |= {"group": group, "mask": mask, "margin": margin}
        shape = Shape(link, role, geometry, at, **given)  # pyright: ignore[reportArgumentType] -- checked there
        self._parts._check_body(link, "shape")
        adds = link != WORLD and link not in self._locked
        inertia = shape.inertia(density) if adds else None
        self._parts.add_shape(shape)
        if inertia is not None:
            own = self._inertia[link]
            self._inertia[link] = inertia if own is None else own + inertia
        return shape

    def add_ground(self, material: Material | None = None, pose: Any = None, name: str = "ground") -> Shape:
        """Add a half space to the world, solid below z = 0 of `pose`.

        Args:
            material: what contact feels; by default `Material()`.
            pose: X_world_shape; by default the half space is below z = 0 of the world.
            name: of the shape.

        Returns:
            The shape.
        """
        return self.add_shape(WORLD, Plane(), pose, 0.0, material, name=name)

    # --- joints and articulations ---

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
        """Add a joint and return its name.

        Args:
            name: new name.
            joint: what kind of joint.
            parent: a link, or `"world"`.
            child: a link.
            parent_pose: the joint's parent frame in the parent; identity by default.
            child_pose: the joint's child frame in the child; identity by default.
            limits: position, velocity and effort limits.
            drive: gains of a drive that follows `Control.position` and `Control.velocity`.
            properties: damping, friction, armature, compliance, spring, as for `Mechanism.add_joint`.

        Returns:
            Its name.

        Raises:
            DuplicateNameError, UnknownNameError, ParameterError: for a name in use, an unknown link, a wrong value.
        """
        sides = (parent_pose, child_pose)
        added = self._parts.add_joint(name, joint, parent, child, *sides, limits, drive=drive, **properties)
        if parent == WORLD and sides == (None, None) and moves_freely(joint):
            self._loose.add(name)
        return added.name

    def add_articulation(self, name: str, joints: Sequence[str], *, self_collision: bool = False) -> str:
        """Name some joints, from the world on and added one after the other, as one articulation.

        Args:
            name: new name.
            joints: their names.
            self_collision: whether the shapes of its links may touch one another, but for links that a joint connects.

        Returns:
            Its name.

        Raises:
            DuplicateNameError: for a name in use.
            UnknownNameError: for an unknown joint.
            MechanismError: for a joint that is in another articulation, or none at all.
        """
        self._check_new_articulation(name)
        known = {c.name for c in self._parts.joints}
        held = {joint: other for other, its in self._articulations.items() for joint in its}
        if isinstance(joints, str) or not list(joints):
            raise ParameterError(f"joints of articulation {name!r}", got=joints, expected="a list of names of joints")
        for joint in joints:
            if joint not in known:
                raise UnknownNameError("joint", joint, known, where=f"articulation {name!r}")
            if joint in held:
                raise MechanismError(
                    f"joint {joint!r} is in articulation {held[joint]!r}; it cannot be in {name!r}, too."
                )
        self._articulations[name] = tuple(dict.fromkeys(joints))
        self._colliding |= {name} if self_collision else set()
        return name

    def add(
        self,
        mechanism: Mechanism,
        prefix: str = "",
        pose: Any = None,
        base: str | Joint = "fixed",
        *,
        name: str | None = None,
        self_collision: bool = False,
        disabled: Disabled = (),
    ) -> tuple[str, ...]:
        """Add all of a mechanism, and return the names of its articulations: one for each connected part.

        Args:
            mechanism: what to add; later changes of it do not matter.
            prefix: goes before all its names.
            pose: where its world is in this one. Without it what floats stands on level ground, if there is any.
            base: by what its parts that hang on no joint of their own are attached to the world, as for
                `Mechanism.model`: `"fixed"`, `"floating"` or any joint.
            name: name of its articulation; by default prefix and the mechanism's name. Where there are several, the
                others end in the name of their first link.
            self_collision: whether shapes of one articulation may touch one another. By default they do not: those of
                most robot descriptions overlap where they never meet in truth.
            disabled: pairs of its links that may not touch nevertheless, beside its own `disabled_contacts`, as
                `cardan.formats.disabled_contacts` reads them from an SRDF file; what it has no such link for is left
                aside.

        Returns:
            The names of its articulations.

        Raises:
            DuplicateNameError: if a name is in use.
            MechanismError: if it has no body; if a base other than fixed is asked for and nothing needs one.
        """
        if not isinstance(mechanism, Mechanism):
            hint = "A Model has a base already; cardan.load_mechanism reads a mechanism."
            raise ParameterError("mechanism to add", got=mechanism, expected="a cardan.Mechanism", hint=hint)
        if not mechanism.bodies:
            raise MechanismError(f"mechanism {mechanism.name!r} has no body: give it one with add_body.")
        X = SE3.identity() if pose is None else checked_pose(f"pose of mechanism {mechanism.name!r}", pose)
        twin = mechanism.prefixed(prefix).mechanism
        bases = _bases(twin, prefix, base_joint(base))
        parts = [joints for _, joints in _components(twin, [*bases, *twin.joints])]
        first = prefix + mechanism.name if name is None else name
        names = [first, *(f"{first}_{joints[0].child}" for joints in parts[1:])]
        begin = [c for c in bases if isinstance(c.joint, FreeFlyer)]
        both = self._joined(twin, [c if c in begin else _moved(c, X) for own in parts for c in own], X)
        for new in names:
            self._check_new_articulation(new)
        self._parts = both  # from here on nothing is refused
        self._inertia |= {body.name: body.inertia for body in twin.bodies}
        if pose is not None:
            self.q |= {c.name: np.array(c.joint.nearest_configuration(X), dtype=float) for c in begin}
        self._loose |= {c.name for c in bases if moves_freely(c.joint) and pose is None}
        said = said_start(mechanism.annotations.configurations)
        self._starts |= {prefix + joint: own for joint, own in said.items()}
        self._articulations |= {n: tuple(c.name for c in joints) for n, joints in zip(names, parts, strict=True)}
        bodies = {WORLD, *(b.name for b in twin.bodies)}
        self._colliding |= set(names) if self_collision else set()
        apart = {tuple(body if body == WORLD else prefix + body for body in pair) for pair in disabled}
        self._apart |= {(a, b) for a, b in apart if {a, b} <= bodies}
        return tuple(names)

    def disable_contact(self, a: str, b: str) -> None:
        """Let the shapes of two bodies pass through one another; `"world"` may be one.

        Args:
            a: name of a body.
            b: name of another.
        """
        self._parts.disable_contact(a, b)

    def enable_contact(self, a: str, b: str) -> None:
        """Let the shapes of two bodies touch although a joint connects them, or they are of one robot.

        It counts for more than `disable_contact`. Shapes that overlap where the world begins are left out still.

        Args:
            a: name of a body.
            b: name of another.

        Raises:
            UnknownNameError: for a body that does not exist.

        Examples:
            >>> builder.enable_contact("arm/forearm_roll", "arm/wrist_pitch")

        Peers: Newton `collision_filter_parent`.
        """
        known = (WORLD, *(body.name for body in self._parts.bodies))
        for body in (a, b):
            check_known("body", body, known, f"world {self._parts.name!r}: enable_contact")
        self._together.add((a, b))

    # --- the world ---

    def finalize(
        self,
        check_orphans: bool = True,
        *,
        movable_bases: bool = False,
        closing: Sequence[str] = (),
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
            closing: names of joints that shall close the loops they are part of.
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
        if not self._parts.bodies:
            has = "shapes on the world alone" if self._parts.shapes else "nothing in it"
            raise MechanismError(
                f"world {self._parts.name!r} has {has}, expected at least one link: nothing could move. Add one with "
                "add_body, add_link or add(mechanism)."
            )
        held = {joint for joints in self._articulations.values() for joint in joints}
        orphans = tuple(c.name for c in self._parts.joints if c.name not in held)
        if orphans and check_orphans:
            shown = ", ".join(map(repr, orphans[:12])) + (", ..." if len(orphans) > 12 else "")
            raise MechanismError(
                f"joints in no articulation: {shown}. Name them in add_articulation(name, joints), or keep them "
                "as they are: finalize(check_orphans=False)."
            )
        mechanism, added = self._mechanism()
        model = mechanism.model(gravity=self.gravity, closing=closing)
        trees = {n: (*joints, *_bases_of(mechanism, joints, added)) for n, joints in self._articulations.items()}
        articulations = {name: articulation(model, name, joints) for name, joints in trees.items()}
        ordered = dict(sorted(articulations.items(), key=lambda item: model.joint_names.index(item[1].joints[0])))
        movable = _movable(model, ordered) if movable_bases else {}
        given = self._coordinates(model, self._given(model), "q")
        rest = rest_configuration(model, self._poses, given)
        loose = self._put_nowhere(ordered, {*given}, [c.name for c in added.values()])
        apart = self._apart.union(mechanism.disabled_contacts)
        families = {b: name for name, a in ordered.items() if name not in self._colliding for b in a.bodies}
        pairs = contact_pairs(model, mechanism.shapes, apart, rest.tolist(), keep_overlapping, families, self._together)
        world = World(
            model=model,
            mechanism=mechanism,
            articulations=ordered,
            pairs=pairs.touching,
            overlapping=pairs.overlapping,
            orphans=orphans,
            initial=stood(model, pairs.touching, rest, loose),
            initial_velocity=_along_v(model, np.zeros(model.nv), self._coordinates(model, self.v, "v")),
            targets=_along_v(model, default_targets(model), self._coordinates(model, self.targets, "v")),
        )
        warn_of_start(world)
        owned = {name: (joint, "parent_pose") for joints in movable.values() for name, joint in joints.items()}
        return replace(world.with_inputs(**owned), movable=movable) if movable else world

    def _mechanism(self) -> tuple[Mechanism, dict[str, Connection]]:
        """Return the description, and the free joints that were added to it, by the body each holds."""
        joints, added = list(self._parts.joints), {}
        for anchor, own in _loose(self._parts, joints):
            added[anchor] = Connection(f"{anchor}_free", FreeFlyer(), WORLD, anchor)
            first = min((joints.index(c) for c in own), default=len(joints))
            joints.insert(first, added[anchor])
        bodies = tuple(replace(body, inertia=self._inertia[body.name]) for body in self._parts.bodies)
        parts = self._parts._parts()._replace(bodies=bodies, joints=tuple(joints))
        return Mechanism(self._parts.name, self.gravity)._made_of(parts), added

    def _put_nowhere(
        self, articulations: Mapping[str, Articulation], given: set[str], added: Collection[str]
    ) -> list[Articulation]:
        """Return what moves freely in the world and begins where nobody put it."""
        loose = self._loose.union(added) - given
        return [
            a
            for a in articulations.values()
            if loose.intersection(a.joints) and self._poses.keys().isdisjoint(a.bodies)
        ]

    def _given(self, model: Model) -> dict[str, Any]:
        """Return the coordinates that joints are said to begin with: what added mechanisms say, unless `q` does."""
        return {joint: own for joint, own in self._starts.items() if joint in model.slices} | self.q

    def _coordinates(self, model: Model, given: Mapping[str, Any], size: str) -> dict[str, np.ndarray]:
        """Return coordinates by joint as arrays."""
        found = {}
        for name, value in given.items():
            own = model.q_slice(name) if size == "q" else model.v_slice(name)
            array = np.atleast_1d(np.asarray(value, dtype=float))
            if array.shape != (own.stop - own.start,):
                expected = f"({own.stop - own.start},)"
                raise ShapeError("finalize", name, got=array.shape, expected=expected, hint=repr(model.joint(name)))
            if not np.isfinite(array).all():
                raise ParameterError(f"initial {size} of joint {name!r}", got=value, expected="finite numbers")
            found[name] = array
        return found

    # --- names ---

    def _joined(self, twin: Mechanism, joints: Sequence[Connection], X: SE3) -> Mechanism:
        """Return what there is with a mechanism's parts, held by other joints, and what is on its world at X."""
        frames = tuple(replace(f, pose=X @ f.pose) if f.body == WORLD else f for f in twin.frames)
        shapes = tuple(replace(s, pose=X @ s.pose) if s.body == WORLD else s for s in twin.shapes)
        more = Parts(twin.bodies, tuple(joints), frames, replace(twin.annotations, shapes=shapes))
        return self._parts._made_of(joined(self._parts._parts(), more, f"world {self._parts.name!r}"))

    def _check_new_joint(self, name: str) -> None:
        if any(c.name == name for c in self._parts.joints):
            raise DuplicateNameError("joint", name, f"world {self._parts.name!r} (give prefix=...)")

    def _check_new_articulation(self, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ParameterError("name of an articulation", got=name, expected="a non-empty text")
        if name in self._articulations:
            raise DuplicateNameError("articulation", name, f"world {self._parts.name!r}")

    def __repr__(self) -> str:
        counts = f"{len(self._parts.bodies)} links, {len(self._parts.joints)} joints, {len(self._parts.shapes)} shapes"
        return f"<WorldBuilder {self._parts.name!r}: {counts}, {len(self._articulations)} articulations>"


def world_of(
    mechanism: Mechanism,
    base: str | Joint = "fixed",
    *,
    ground: bool | Material = False,
    gravity: Sequence[float] | None = None,
    pose: Any = None,
    self_collision: bool = False,
    disabled: Disabled = (),
    movable_bases: bool = False,
    closing: Sequence[str] = (),
    keep_overlapping: bool = False,
) -> World:
    """Return the world of one mechanism; see `Mechanism.world`."""
    b = WorldBuilder(mechanism.name, mechanism.gravity if gravity is None else gravity)
    b.add(mechanism, pose=pose, base=base, self_collision=self_collision, disabled=disabled)
    if ground:
        b.add_ground(ground if isinstance(ground, Material) else None)
    return b.finalize(movable_bases=movable_bases, closing=closing, keep_overlapping=keep_overlapping)


def _bases(m: Mechanism, prefix: str, base: Joint) -> list[Connection]:
    """Return the joints by which the parts of a mechanism hang on the world that do not by their own.

    Raises:
        MechanismError: if a joint is asked for and all do.
    """
    own = {c.name.removeprefix(prefix) for c in m.joints}
    anchors = [anchor for anchor, _ in _loose(m, m.joints)]
    if not anchors and not isinstance(base, Fixed):
        raise MechanismError(f"base={base!r}: every body of {m.name!r} already hangs on the world by its joints.")
    names = [base_name(anchor.removeprefix(prefix), own, plain=k == 0) for k, anchor in enumerate(anchors)]
    return [Connection(prefix + name, base, WORLD, anchor) for name, anchor in zip(names, anchors, strict=True)]


def _loose(m: Mechanism, joints: Sequence[Connection]) -> list[tuple[str, list[Connection]]]:
    """Return the parts that do not hang on the world: a first body, no joint's child if there is one; its joints."""
    found = []
    for bodies, own in _components(m, joints):
        if not any(WORLD in (c.parent, c.child) for c in own):
            children = {c.child for c in own}
            found.append((next((b for b in bodies if b not in children), bodies[0]), own))
    return found


def _moved(c: Connection, X: SE3) -> Connection:
    """Return a joint with its end on the world, if it has one, moved by X."""
    if c.parent == WORLD:
        return replace(c, parent_pose=X @ c.parent_pose)
    return replace(c, child_pose=X @ c.child_pose) if c.child == WORLD else c


def _components(m: Mechanism, joints: Sequence[Connection]) -> list[tuple[list[str], list[Connection]]]:
    """Return the bodies and joints of each part that hangs together without the world, in document order."""
    forest = Forest(b.name for b in m.bodies)
    for c in joints:
        if WORLD not in (c.parent, c.child):
            forest.join(c.parent, c.child)
    parts: dict[str, tuple[list[str], list[Connection]]] = {}
    for body in (b.name for b in m.bodies):
        parts.setdefault(forest.find(body), ([], []))[0].append(body)
    for c in joints:
        parts[forest.find(c.parent if c.child == WORLD else c.child)][1].append(c)
    return list(parts.values())


def _bases_of(mechanism: Mechanism, joints: Sequence[str], added: Mapping[str, Connection]) -> list[str]:
    """Return the free joint that was added for an articulation, if there is one."""
    bodies = {body for c in mechanism.joints if c.name in set(joints) for body in (c.parent, c.child)}
    return [c.name for anchor, c in added.items() if anchor in bodies]


def _along_v(model: Model, values: np.ndarray, given: Mapping[str, np.ndarray]) -> np.ndarray:
    for name, own in given.items():
        values[model.v_slice(name)] = own
    values.setflags(write=False)
    return values


def _movable(model: Model, articulations: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return, for each articulation that does not float, its joints on the world by the names of their inputs.

    What closes a loop on the world cannot be moved: such an articulation is left out.
    """
    held = {body for c in model.closures if WORLD in (c.parent, c.child) for body in (c.parent, c.child)}
    found = {}
    for name, its in articulations.items():
        on_world = [c.name for c in model.connections if c.parent == WORLD and c.child in its.bodies]
        if not its.is_floating and not held.intersection(its.bodies):
            found[name] = {f"{joint}_pose": joint for joint in on_world}
    return found
