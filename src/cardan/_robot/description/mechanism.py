"""The description of a mechanism: bodies, joints between them, frames and shapes on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from cardan._algebra.checked_numbers import truth
from cardan._algebra.errors import MechanismError, ParameterError, check_known, check_new, check_one_of
from cardan._algebra.explained import ExplainedSettings, explained_keywords
from cardan._algebra.spatial import SE3, Inertia, MotionSubspace, Vector3, checked_pose
from cardan._robot.description import editing
from cardan._robot.description.paths import BodyGraph, Visit, tree_text
from cardan._robot.description.rooting import base_name, rooted
from cardan._robot.geometry.shapes import Shape
from cardan._robot.joints import Fixed, FreeFlyer, Joint, Limits
from cardan._robot.model import WORLD, Annotations, Body, Connection, Drive, Frame, Model
from cardan._robot.model.annotations import check_coordinates, check_gears, kinds_of
from cardan._robot.records import (
    EARTH_GRAVITY,
    Actuator,
    Configuration,
    ContactSurface,
    Group,
    Material,
    Spring,
    checked_gravity,
)
from cardan._robot.registered import MAKERS, render

FrameKind = Literal["operational", "sensor"]


class Edited(NamedTuple):
    """The result of an edit.

    Attributes:
        mechanism: the new mechanism.
        report: what became of names, bodies and frames.
    """

    mechanism: Mechanism
    report: editing.Report

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            where = f"; the mechanism has: .mechanism.{name}" if hasattr(Mechanism, name) else ""
            raise AttributeError(f"'Edited' object has no attribute {name!r}{where}")


class Mechanism(ExplainedSettings):
    """Bodies connected by joints; `model()` makes a `Model` of it. A body named `"world"` always exists.

    Errors are raised by the call that causes them. Bodies must be added before the joints and frames that name them.
    Mechanisms of equal parts are equal; `copy()` gives one to go on from.

    Args:
        name: name of the robot.
        gravity: [m/s^2], in world axes, of the models made of it unless they are given another.

    Throughout:
        body: name of a body, or `"world"`.
        child: name of a body or frame, whose pose or motion it is.
        parent: name of a body or frame, from which it is seen.
        q: coordinates by joint [rad, m], shapes (..., nq) (or (...) where nq = 1); joints left out are neutral.
        prefix: goes before names, such as `"left/"`.
        shape, actuator, group, annotations: records, with the names of their bodies and joints.
        configurations: for each joint to lock, its own nq coordinates (a number where nq = 1).

    Examples:
        >>> m = cardan.Mechanism("swing")
        >>> body = m.add_body("link", cardan.Inertia(mass=2.0, com=(0.0, 0.0, -0.3)))
        >>> joint = m.add_joint("hinge", cardan.joints.Revolute(axis=(0.0, 1.0, 0.0)), "world", "link")
        >>> frame = m.add_frame("tip", "link", cardan.SE3(translation=(0.0, 0.0, -0.6)))
        >>> m.model()
        <Model 'swing': 1 bodies, nq=1, nv=1>
        >>> from cardan.description import Shape, Sphere
        >>> m.add_shape(Shape("link", "visual", Sphere(0.1), name="ball")).name
        'ball'
        >>> m.add_actuator(cardan.Actuator("motor", "hinge")).name
        'motor'
        >>> m.add_group(cardan.Group("all", joints=("hinge",))).joints
        ('hinge',)
        >>> m.add_configuration("home", {"hinge": 0.5})
        >>> m.model().named_configurations["home"].tolist()
        [0.5]
        >>> m.disable_contact("link", "world")
        >>> m.disabled_contacts
        (('link', 'world'),)

        Other mechanisms made of it, and how it moves:

        >>> m.prefixed("left/").mechanism.joints[0].name, m.renamed({"hinge": "knee"}).mechanism.joints[0].name
        ('left/hinge', 'knee')
        >>> m.replace_joint("hinge", cardan.joints.Spherical()).mechanism.model().nv
        3
        >>> m.remove("tip").mechanism.frames, [body.name for body in m.extract("link").mechanism.bodies]
        ((), ['link'])
        >>> mechanism.lock({"joint3": 0.0}).mechanism.model().nv, m.copy() == m
        (6, True)
        >>> driven = mechanism.with_drives({"*": cardan.Drive(400.0, 40.0)}).mechanism
        >>> driven.model().passive("drive_stiffness")[0]
        400.0
        >>> mechanism.with_annotations(mechanism.annotations).mechanism == mechanism
        True
        >>> smaller = mechanism.without_massless_leaves().mechanism, mechanism.merge_fixed().mechanism
        >>> m.transform({"hinge": 0.0}, "tip", "world")[:3, 3].round(3).tolist(), m.transform({}, "tip", "link").shape
        ([0.0, 0.0, -0.6], (4, 4))
        >>> m.motion_subspace({"hinge": 0.0}, "link", "world")["hinge"].shape
        (6, 1)
        >>> [visit[0] for visit in m.traversal()], m.path("tip", "world")
        (['world', 'link'], ('hinge',))

    Peers: RigidBodyDynamics.jl `Mechanism`, roboticstoolbox `DHRobot`.
    """

    def __init__(self, name: str = "mechanism", gravity: Sequence[float] = EARTH_GRAVITY) -> None:
        self.name = name
        self.gravity = gravity
        self._self_collision = False
        self._bodies: dict[str, Body] = {}
        self._joints: dict[str, Connection] = {}
        self._frames: dict[str, Frame] = {}
        self._shapes: list[Shape] = []
        self._actuators: dict[str, Actuator] = {}
        self._groups: dict[str, Group] = {}
        self._configurations: dict[str, Configuration] = {}
        self._disabled_contacts: dict[tuple[str, str], None] = {}
        self._contact_surfaces: list[ContactSurface] = []

    @property
    def gravity(self) -> Vector3:
        """Acceleration of gravity in world axes [m/s^2], of the models made of it unless they are given another."""
        return self._gravity

    @gravity.setter
    def gravity(self, gravity: Sequence[float]) -> None:
        self._gravity = checked_gravity(gravity)

    @property
    def self_collision(self) -> bool:
        """Whether worlds let shapes of one articulation touch one another, but for links that a joint connects.

        `world` and `WorldBuilder.add` may be told otherwise. False until the description or you say so.
        """
        return self._self_collision

    @self_collision.setter
    def self_collision(self, self_collision: bool) -> None:
        self._self_collision = truth("self_collision", self_collision)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies, in the order they were added."""
        return tuple(self._bodies.values())

    @property
    def joints(self) -> tuple[Connection, ...]:
        """The joints, in the order they were added."""
        return tuple(self._joints.values())

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frames, in the order they were added."""
        return tuple(self._frames.values())

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Visual and collision shapes, in the order they were added."""
        return tuple(self._shapes)

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """What drives the joints, in the order they were added."""
        return tuple(self._actuators.values())

    @property
    def groups(self) -> Mapping[str, Group]:
        """Groups of bodies and joints by name."""
        return MappingProxyType(self._groups)

    @property
    def named_configurations(self) -> Mapping[str, Mapping[str, tuple[float, ...]]]:
        """Coordinates [rad, m] by joint, by the name of the configuration; joints that are left out are neutral."""
        return MappingProxyType({c.name: c.coordinates for c in self._configurations.values()})

    @property
    def disabled_contacts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of bodies whose shapes do not touch."""
        return tuple(self._disabled_contacts)

    @property
    def contact_surfaces(self) -> tuple[ContactSurface, ...]:
        """What the contact of two bodies feels, in place of what their surfaces combine to."""
        return tuple(self._contact_surfaces)

    @property
    def annotations(self) -> Annotations:
        """All that is beside bodies, joints and frames, as one record, which models carry."""
        more = (self.shapes, self.actuators, tuple(self._groups.values()), tuple(self._configurations.values()))
        return Annotations(*more, self.disabled_contacts, self.contact_surfaces, self.self_collision)

    @explained_keywords
    def add_body(self, name: str, inertia: Inertia | None = None) -> Body:
        """Add a rigid body and return its record.

        Args:
            name: new name.
            inertia: about the centre of mass, in body axes; None for a body without inertia.

        Raises:
            DuplicateNameError, ParameterError: for a name in use; for an empty name, a wrong inertia, or one that no
                body can have (`Inertia.faults`).
        """
        if isinstance(inertia, Inertia) and (faults := inertia.faults()):
            hint = "It is about the centre of mass; cardan.Inertia.from_origin takes that about the origin."
            raise ParameterError(f"inertia of body {name!r}", got=faults[0], expected="one of a body", hint=hint)
        return self._add_body(name, inertia)

    def _add_body(self, name: str, inertia: Inertia | None = None) -> Body:
        """Add a body of a file: its reader has doubted an inertia that no body can have."""
        body = Body(name, inertia)
        self._check_new("body", name)
        self._bodies[name] = body
        return body

    def _exchange(self, record: Body | Connection) -> None:
        """Hold another body or joint under the name of one there is, for a builder that is not done with it."""
        table: dict[str, Any] = self._bodies if isinstance(record, Body) else self._joints
        table[record.name] = record

    @explained_keywords
    def add_joint(
        self,
        name: str,
        joint: Joint,
        parent: str,
        child: str,
        parent_pose: Any = None,
        child_pose: Any = None,
        limits: Limits | None = None,
        damping: Sequence[float] | None = None,
        friction: Sequence[float] | None = None,
        armature: Sequence[float] | None = None,
        drive: Drive | None = None,
        compliance: Sequence[float] | None = None,
        spring: Spring | None = None,
    ) -> Connection:
        """Add a joint and return its record: X_parent_child = parent_pose @ joint.transform(q) @ child_pose.inverse().

        Args:
            name: new name.
            joint: what kind of joint, such as `Revolute(axis=[0, 1, 0])`.
            parent: name of a body, or `"world"`.
            child: name of a body.
            parent_pose: the joint's parent frame in the parent body; identity by default.
            child_pose: the joint's child frame in the child body; identity by default.
            limits: position, velocity and effort limits, nv numbers each.
            damping: viscous friction [N m s/rad, N s/m], nv numbers.
            friction: dry friction [N m, N], nv numbers.
            armature: inertia of the drive, felt at the joint [kg m^2, kg], nv numbers.
            drive: gains of a drive that follows targets.
            compliance: how far the joint gives way [m/N, rad/(N m)], six numbers, for solvers that can.
            spring: pulls towards a place of rest.

        Raises:
            DuplicateNameError, UnknownNameError, ParameterError: for a name in use, an unknown body, a wrong value.
        """
        optional = {"parent_pose": parent_pose, "child_pose": child_pose, "limits": limits}
        given: dict[str, Any] = {key: value for key, value in optional.items() if value is not None}
        given |= {"damping": damping, "friction": friction, "armature": armature}
        record = Connection(name, joint, parent, child, drive=drive, compliance=compliance, spring=spring, **given)
        check_new("joint", name, self._joints, f"mechanism {self.name!r}")
        for body in (parent, child):
            self._check_body(body, f"joint {name!r}")
        if parent == child:
            raise MechanismError(f"joint {name!r} connects body {parent!r} with itself.")
        self._joints[name] = record
        return record

    def add_frame(self, name: str, body: str, pose: Any = None, kind: FrameKind = "operational") -> Frame:
        """Add a frame fixed on a body (or the world), at `pose` = X_body_frame, and return its record.

        Args:
            name: new name.
            body: the body, or `"world"`.
            pose: X_body_frame; identity by default.
            kind: `"operational"` (a tool, a contact) or `"sensor"`.
        """
        frame = Frame(name, body, SE3.identity() if pose is None else pose, kind)
        self._check_new("frame", name)
        self._check_body(body, f"frame {name!r}")
        self._frames[name] = frame
        return frame

    def add_shape(self, shape: Shape) -> Shape:
        """Add a visual or collision shape and return it; shapes take no part in the dynamics.

        Raises:
            UnknownNameError, DuplicateNameError: for a body that does not exist, a name in use.
        """
        if not isinstance(shape, Shape):
            raise ParameterError("shape", got=shape, expected='a Shape: Shape("link", "collision", Box((1, 1, 1)))')
        self._check_body(shape.body, "shape")
        self._shapes.append(shape)
        return shape

    def add_actuator(self, actuator: Actuator) -> Actuator:
        """Add what drives joints and return it; models carry it, the dynamics takes no notice of it.

        Raises:
            UnknownNameError, DuplicateNameError: for a joint that does not exist, a name in use.
        """
        if not isinstance(actuator, Actuator):
            raise ParameterError("actuator", got=actuator, expected="a cardan.Actuator")
        check_new("actuator", actuator.name, self._actuators, f"mechanism {self.name!r}")
        for name in actuator.joints:
            check_known("joint", name, self._joints, f"actuator {actuator.name!r}")
        check_gears(actuator, {name: self._joints[name].joint for name in actuator.joints})
        self._actuators[actuator.name] = actuator
        return actuator

    def add_group(self, group: Group) -> Group:
        """Add a group of bodies and joints and return it.

        Raises:
            UnknownNameError, DuplicateNameError: for a body or joint that does not exist, a name in use.
        """
        if not isinstance(group, Group):
            raise ParameterError("group", got=group, expected="a cardan.Group")
        check_new("group", group.name, self._groups, f"mechanism {self.name!r}")
        for name in group.joints:
            check_known("joint", name, self._joints, f"group {group.name!r}")
        for name in group.bodies:
            self._check_body(name, f"group {group.name!r}")
        self._groups[group.name] = group
        return group

    def add_configuration(self, name: str, coordinates: Mapping[str, Any]) -> None:
        """Name a configuration, such as `"home"`; `"initial"` is where worlds and viewers begin.

        Args:
            name: new name.
            coordinates: nq numbers (or a number where nq = 1) by joint; joints that are left out are neutral. Those of
                joints that close loops count for models in which they do not (`model(closing=...)`).

        Raises:
            DuplicateNameError, UnknownNameError, ShapeError, ParameterError: for a name in use; a joint that does not
                exist or mimics another; another number of coordinates; one that is not finite.
        """
        configuration = Configuration(name, coordinates)
        check_new("configuration", name, self._configurations, f"mechanism {self.name!r}")
        check_coordinates(configuration, kinds_of(self._joints.values()))
        self._configurations[name] = configuration

    def disable_contact(self, one: str, other: str) -> None:
        """Let the shapes of two bodies pass through one another.

        Args:
            one: name of a body.
            other: name of another.
        """
        for body in (one, other):
            self._check_body(body, "disabled contact")
        self._disabled_contacts[one, other] = None

    def set_contact(
        self,
        one: str,
        other: str,
        material: Material,
        shapes: Sequence[str] = ("", ""),
        margin: float | None = None,
    ) -> ContactSurface:
        """Give the contact of two bodies a surface of its own, in place of what their shapes' surfaces combine to.

        They touch then, whatever else keeps them apart: masks, joints, `disable_contact`, one robot's shapes that do
        not touch one another. Of several for one pair of shapes the last counts.

        Args:
            one: name of a body.
            other: name of another.
            material: of the contact.
            shapes: names of one shape on each; `""` stands for all of a body.
            margin: how far apart they feel one another [m]; None for the sum of both shapes'.

        Returns:
            The record.

        Raises:
            UnknownNameError: for a body, or a shape on it, that does not exist.
            ParameterError: for one body with itself.

        Examples:
            >>> dog = cardan.robots.quadruped()
            >>> dog.set_contact("trunk", "world", cardan.Material(friction=0.1)).material.friction
            0.1

        Peers: MJCF's `pair`.
        """
        own = ContactSurface(one, other, material, shapes, margin)
        if one == other:
            raise ParameterError("bodies of a contact", got=(one, other), expected="two bodies")
        for body, shape in zip((one, other), own.shapes, strict=True):
            self._check_body(body, "contact surface")
            names = [s.name for s in self._shapes if s.body == body and s.role == "collision"]
            if shape:
                check_known("shape", shape, names, f"body {body!r}")
        self._contact_surfaces.append(own)
        return own

    @explained_keywords
    def model(
        self,
        root: str = WORLD,
        base: str | Joint = "fixed",
        gravity: Sequence[float] | None = None,
        *,
        closing: Sequence[str] = (),
        loops: Literal["constraints", "clusters"] = "constraints",
    ) -> Model:
        """Return a tree of this mechanism, hanging on the world.

        The root is attached to the world by a base joint named `"root"`, or `"root_<body>"` where the robot has a
        joint of that name. So is, with `root="world"`, every connected
        part that does not hang on the world by its own joints, at its first body that is no joint's child; further
        parts by `"root_<body>"`. Joints the root asks to run the other way are reversed, with the same names,
        coordinates, velocities and limits. A joint closes a loop if the joints before it, the base joint first,
        already connect its bodies; it becomes one of `Model.closures`.

        Args:
            root: a body or frame, which the base joint moves; or `"world"`.
            base: `"fixed"`, `"floating"` (a `FreeFlyer`), or any joint.
            gravity: [m/s^2], in world axes; by default that of the mechanism.
            closing: names of joints that shall close the loops they are part of.
            loops: whether loops are constraints beside the tree, or clusters, which stay closed: `cardan.clustered`
                of the model, with its choices.

        Raises:
            UnknownNameError: if there is no such root or joint.
            MechanismError: if there is no body; if a base other than fixed is asked for and every body already hangs
                on the world; if a joint of `closing` closes no loop; as `cardan.clustered`, with `loops="clusters"`.

        Examples:
            >>> mechanism.model().nv, mechanism.model(base="floating").nv
            (7, 13)
        """
        if not self._bodies:
            raise MechanismError(f"mechanism {self.name!r} has no body; add one with add_body.")
        for name in closing:
            check_known("joint", name, self._joints, "closing")
        check_one_of("loops", loops, ("constraints", "clusters"))
        joint = base_joint(base)
        bases = [] if root == WORLD else [self._base(root, joint)]
        tree, closures = rooted(tuple(self._bodies), self.joints, bases, joint, closing)
        if len(tree) + len(closures) == len(self._joints) and not isinstance(joint, Fixed):
            raise MechanismError(
                f"base={base!r}: every body of {self.name!r} already hangs on the world by its joints."
            )
        chosen = self.gravity if gravity is None else gravity
        found = Model(self.name, self.bodies, tree, self.frames, chosen, closures, annotations=self.annotations)
        return MAKERS["clusters"](found) if loops == "clusters" else found

    def world(self, base: str | Joint = "fixed", **options: Any) -> Any:
        """Return the world that holds this mechanism alone, ready for a solver.

        Args:
            base: as for `model`.
            options: `ground`, True or a `Material`: a half space below z = 0; `gravity`, by default that of the
                mechanism; `pose`, where it is put: without it what floats stands on the ground; `self_collision`,
                whether its own shapes may touch one another, by default as it says itself;
                `movable_bases`, `closing`, `loops` and `keep_overlapping`, as for `WorldBuilder.finalize`.

        Raises:
            MechanismError: as for `model`.

        Examples:
            >>> mechanism.world(ground=True).state(worlds=4).q.shape
            (4, 7)
        """
        return MAKERS["world"](self, base, **options)

    # --- another mechanism of this one; nothing here changes it ---

    def prefixed(self, prefix: str) -> Edited:
        """Return the mechanism with a prefix before every name but the world's, those of configurations too."""
        return self._edited(editing.renamed(self._parts(), lambda name: prefix + name))

    def renamed(self, names: Mapping[str, str]) -> Edited:
        """Return the mechanism with other names for some bodies, joints, frames, actuators, groups, configurations.

        Args:
            names: new names by old ones.

        Raises:
            UnknownNameError, DuplicateNameError: for a name that does not exist; for one in use.
        """
        known = dict.fromkeys(editing.names(self._parts()))
        for name in names:
            check_known("body, joint or frame", name, known)
        return self._edited(editing.renamed(self._parts(), lambda name: names.get(name, name)))

    def append(
        self, other: Mechanism, *, prefix: str = "", pose: Any = None, base: str | Joint | None = None
    ) -> Edited:
        """Return both mechanisms side by side in one world, under the gravity of this one.

        Configurations of one name become one, of all joints. Shapes of one articulation may touch one another
        (`self_collision`) if either says so.

        Args:
            other: comes after this one.
            prefix: goes before the other one's names.
            pose: where the other one's world is in this one; identity by default.
            base: gives each part of the other one that does not hang on the world a base joint, named as those of
                `model`, with the prefix: `"fixed"`, `"floating"` or any joint. The joints of a part then stand
                together, the base joint first. None leaves parts as they are: `model` gives them a base.

        Raises:
            DuplicateNameError: if a name is used in both.
            ParameterError: for an invalid pose or base.
            MechanismError: if a base other than fixed is asked for and every body hangs on the world by its joints.

        Examples:
            >>> both = mechanism.append(mechanism, prefix="second/").mechanism
            >>> both.model().nv
            14
            >>> beside = cardan.SE3(translation=(0.0, 1.0, 0.0))
            >>> pair = mechanism.append(m, prefix="swing/", pose=beside).mechanism
            >>> pair.joints[-1].parent_pose.translation[1]
            1.0

        Peers: Pinocchio `appendModel`, RigidBodyDynamics.jl `attach`.
        """
        more, report = other._placed(prefix, pose, base)
        return Edited(self._with([more]), replace(report, added=tuple(editing.names(more))))

    def _placed(self, prefix: str, pose: Any, base: str | Joint | None) -> tuple[editing.Parts, editing.Report]:
        """Return the parts of this one as `append` adds them to another one."""
        parts, report = editing.renamed(self._parts(), lambda name: prefix + name)
        if base is not None:
            parts = editing.based(parts, base_joint(base), prefix, self.name)
        if pose is not None:
            parts = editing.moved(parts, WORLD, WORLD, checked_pose(f"pose of mechanism {self.name!r}", pose))
        return parts, report

    def _with(self, others: Sequence[editing.Parts]) -> Mechanism:
        """Return this one and the parts of others side by side."""
        return self._made_of(editing.joined([self._parts(), *others], f"mechanism {self.name!r}"))

    def merge(
        self,
        other: Mechanism,
        name: str,
        joint: Joint,
        parent: str,
        child: str,
        parent_pose: Any = None,
        child_pose: Any = None,
        *,
        prefix: str = "",
        **properties: Any,
    ) -> Edited:
        """Return both mechanisms as one, with a joint between.

        Args:
            other: comes after this one.
            name: of the new joint.
            joint: what kind of joint.
            parent: a body or frame of this mechanism, or `"world"`.
            child: a body or frame of the other one, as it is called there.
            parent_pose: the joint's parent frame on `parent`; identity by default.
            child_pose: the joint's child frame on `child`; identity by default.
            prefix: goes before the other one's names.
            properties: limits, damping, friction, armature, drive, compliance, spring, as for `add_joint`.

        Raises:
            DuplicateNameError, UnknownNameError, ParameterError: for a name in both, an unknown one, a wrong value.

        Examples:
            >>> gripper = cardan.Mechanism("gripper")
            >>> body = gripper.add_body("hand", cardan.Inertia(0.3))
            >>> held = mechanism.merge(gripper, "wrist", cardan.joints.Fixed(), "tool", "hand").mechanism
            >>> held.model().nv
            7
        """
        both, report = self.append(other, prefix=prefix)
        (a, X_a), (b, X_b) = self._side(parent, parent_pose), other._side(child, child_pose)
        both.add_joint(name, joint, a, b if b == WORLD else prefix + b, X_a, X_b, **properties)
        return Edited(both, replace(report, added=(*report.added, name)))

    def lock(self, configurations: Mapping[str, Any]) -> Edited:
        """Return the mechanism with joints fixed at given configurations, and with them those that mimic them."""
        return self._edited(editing.locked(self._parts(), configurations))

    def replace_joint(self, name: str, joint: Joint, limits: Limits | None = None, **properties: Any) -> Edited:
        """Return the mechanism with another kind of joint between the same frames.

        Args:
            name: of the joint.
            joint: the new kind.
            limits: new limits; by default the old ones, if nv is the same.
            properties: new damping, friction, armature, drive, spring; likewise.

        Configurations lose its coordinates, and actuators on it go, if it has other coordinates than before.

        Raises:
            ParameterError: if limits, damping, friction, armature, drive or spring would be lost because nv differs.
            MechanismError: if a mimic joint cannot copy the new one.
        """
        return self._edited(editing.with_joint(self._parts(), name, joint, limits, properties))

    def with_drives(self, drives: Mapping[str, Drive | None]) -> Edited:
        """Return the mechanism with drives at some joints: `with_drives({"*": Drive(400.0, 40.0), "finger*": None})`.

        Args:
            drives: by the joint's name or a pattern as file names have them; of several that match, the last counts.
                A pattern passes over joints that do not move and those that copy others.

        Raises:
            UnknownNameError: for a pattern that matches no joint that can have a drive.
            ParameterError: for gains that do not fit.
        """
        return self._edited(editing.with_drives(self._parts(), drives))

    def with_hulls(
        self,
        vertices: int | None = None,
        error: float | None = None,
        concavity: Mapping[str, float | None] | float | None = None,
    ) -> Edited:
        """Return the mechanism with convex hulls in place of its collision meshes (`Hull.of`, `Hull.parts`).

        A world does so by itself, with the defaults.

        Args:
            vertices: the most that a hull has, at least 4; by default as `Hull.of`.
            error: how far a mesh may reach beyond its hull [m], if the vertices are enough for that; by default 1 mm or
                1 % of the size, whichever is less.
            concavity: [-] of meshes with hollows, that become several hulls each: `0.05`, or by the body's name or
                a pattern as file names have them, `{"finger*": 0.05}`; of several that match, the last counts.

        Raises:
            MissingExtraError: without the extra `mesh`, or `decompose` for a concavity.
            ParameterError: for a mesh that cannot be read.
            UnknownNameError: for a pattern that matches no body with a collision mesh.

        Examples:
            >>> cardan.robots.quadruped().with_hulls(vertices=32).mechanism == cardan.robots.quadruped()
            True
        """
        return self._edited(editing.with_hulls(self._parts(), vertices, error, concavity))

    def with_annotations(self, annotations: Annotations) -> Edited:
        """Return the mechanism with other shapes, actuators, groups, configurations and contacts.

        Raises:
            UnknownNameError, ShapeError, DuplicateNameError: for a body or joint that does not exist; for numbers that
                do not fit a joint; for a name that is used twice.
        """
        annotations.check(self._bodies, kinds_of(self.joints))
        return self._edited(editing.with_annotations(self._parts(), annotations))

    def remove(self, *names: str) -> Edited:
        """Return the mechanism without some bodies, joints or frames; with a body go its joints, frames and shapes.

        With a joint go the actuators on it; configurations and groups lose it.

        Args:
            names: of bodies, joints and frames.
        """
        return self._edited(editing.without(self._parts(), names))

    def extract(self, *bodies: str) -> Edited:
        """Return some bodies with the joints between them; `"world"` may be one.

        Args:
            bodies: their names.
        """
        return self._edited(editing.extracted(self._parts(), bodies))

    def without_massless_leaves(self) -> Edited:
        """Return the mechanism without ends that have no inertia.

        Those fixed on their neighbour become frames of it; those that move are removed, with their frames.
        """
        return self._edited(editing.without_massless_leaves(self._parts()))

    def merge_fixed(self, keep: Sequence[str] = ()) -> Edited:
        """Return the mechanism with bodies that are fixed on one another made one; the others become frames of it.

        Args:
            keep: bodies that stay bodies. Those fixed on the world stay, too, and those on joints with compliance.
        """
        return self._edited(editing.with_fixed_merged(self._parts(), keep))

    def _parts(self) -> editing.Parts:
        return editing.Parts(self.bodies, self.joints, self.frames, self.annotations)

    def _edited(self, result: tuple[editing.Parts, editing.Report]) -> Edited:
        parts, report = result
        return Edited(self._made_of(parts), report)

    def _made_of(self, parts: editing.Parts) -> Mechanism:
        """Return a mechanism of other parts, with the name and gravity of this one."""
        twin, more = Mechanism(self.name, self.gravity), parts.annotations
        twin._hold("body", twin._bodies, parts.bodies)
        twin._hold("joint", twin._joints, parts.joints)
        twin._hold("frame", twin._frames, parts.frames)
        twin._hold("actuator", twin._actuators, more.actuators)
        twin._hold("group", twin._groups, more.groups)
        twin._hold("configuration", twin._configurations, more.configurations)
        twin._shapes, twin._disabled_contacts = list(more.shapes), dict.fromkeys(more.disabled_contacts)
        twin._contact_surfaces = list(more.contact_surfaces)
        twin._self_collision = more.self_collision
        return twin

    def _hold(self, kind: str, table: dict[str, Any], records: Iterable[Any]) -> None:
        """Take records into a table by name; raise where one is used twice."""
        for record in records:
            if kind in ("body", "frame"):
                self._check_new(kind, record.name)
            check_new(kind, record.name, table, f"mechanism {self.name!r}")
            table[record.name] = record

    def _side(self, name: str, pose: Any) -> tuple[str, Any]:
        """Return the body of a body or frame, and a pose on it moved to there."""
        if name not in self._frames:
            self._check_body(name, f"mechanism {self.name!r}")
            return name, pose
        frame = self._frames[name]
        return frame.body, frame.pose if pose is None else frame.pose @ SE3.of(pose)

    # --- seen without a root ---

    def transform(self, q: Mapping[str, Any], child: str, parent: str) -> np.ndarray:
        """Return X_parent_child of any two connected bodies or frames, shape (..., 4, 4).

        Returns:
            Homogeneous matrices [m], shape (..., 4, 4).

        Raises:
            UnknownNameError, MechanismError: for an unknown name; if the two are not connected.
        """
        return self._graph(q).transform(q, child, parent).matrix()

    def motion_subspace(self, q: Mapping[str, Any], child: str, parent: str) -> dict[str, np.ndarray]:
        """Return S of the child relative to the parent, in the child's frame, for each joint between: (..., 6, nv).

        For two bodies with one joint between it is that joint's, in either order: S_ab = -X_ab S_ba.

        Returns:
            By the joint's name, shape (..., 6, nv), rows [m/s, rad/s] for each velocity of one.
        """
        found = self._graph(q).motion_subspace(q, child, parent)
        return {name: MotionSubspace(columns).matrix() for name, columns in found.items()}

    def traversal(self, base: str = WORLD) -> list[Visit]:
        """Return all bodies connected with a base, each after the one it is reached from: (body, parent, joint).

        Args:
            base: name of a body, or `"world"`.
        """
        return self._graph({}).traversal(base)

    def path(self, child: str, parent: str) -> tuple[str, ...]:
        """Return the names of the joints from the parent to the child."""
        return tuple(c.name for c in self._graph({}).path(child, parent))

    def _graph(self, q: Mapping[str, Any]) -> BodyGraph:
        graph = BodyGraph(tuple(self._bodies), self.joints, self.frames)
        graph.check_configuration(q)
        return graph

    def __str__(self) -> str:
        return tree_text(self.name, self.bodies, self.joints, self.frames)

    def _repr_html_(self) -> str:
        return render(self)

    def copy(self) -> Mechanism:
        """Return a mechanism that can be changed without changing this one."""
        return self._made_of(self._parts())

    __copy__ = copy

    def __eq__(self, other: object) -> bool:
        """Whether name, gravity and all that was added are equal, each in the same order."""
        if not isinstance(other, Mechanism):
            return NotImplemented
        return (self.name, self.gravity, self._parts()) == (other.name, other.gravity, other._parts())

    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride] -- it can change

    def _base(self, root: str, joint: Joint) -> Connection:
        check_known("root", root, (WORLD, *self._bodies, *self._frames))
        body, pose = self._side(root, SE3.identity())
        if body == WORLD:
            raise MechanismError(f"root={root!r} is a frame of the world, which cannot move.")
        return Connection(base_name(body, self._joints), joint, WORLD, body, child_pose=pose)

    def _check_new(self, kind: str, name: str) -> None:
        for taken in ((WORLD,), self._bodies, self._frames):
            check_new(kind, name, taken, f"mechanism {self.name!r} (bodies and frames share their names)")

    def _check_body(self, body: str, where: str) -> None:
        if body != WORLD and body not in self._bodies:  # no list of all for each of thousands
            check_known("body", body, (WORLD, *self._bodies), where)

    def __repr__(self) -> str:
        counts = f"{len(self._bodies)} bodies, {len(self._joints)} joints, {len(self._frames)} frames"
        more = {"actuators": self._actuators, "groups": self._groups, "configurations": self._configurations}
        return f"<Mechanism {self.name!r}: {counts}{''.join(f', {len(e)} {what}' for what, e in more.items() if e)}>"


def base_joint(base: Any) -> Joint:
    """Return the joint a word for a base stands for."""
    if isinstance(base, Joint):
        return base
    if base in ("fixed", "floating"):
        return Fixed() if base == "fixed" else FreeFlyer()
    raise ParameterError("base", got=base, expected="'fixed', 'floating' or a joint")
