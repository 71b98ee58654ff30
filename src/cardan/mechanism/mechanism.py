"""The description of a mechanism: bodies, joints between them, frames and shapes on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cardan.errors import DuplicateNameError, MechanismError, ParameterError, UnknownNameError
from cardan.joints import Fixed, FreeFlyer, Joint, Limits
from cardan.mechanism.rooting import rooted
from cardan.mechanism.shapes import Shape
from cardan.model import WORLD, Body, Connection, Frame, Model
from cardan.spatial import Inertia


class Mechanism:
    """Bodies connected by joints; `model()` makes a `Model` of it. A body named `"world"` always exists.

    Errors are raised by the call that causes them. Bodies must be added before the joints and frames that name them.
    Mechanisms of equal parts are equal; `copy()` gives one to go on from.

    Args:
        name: name of the robot.
    """

    def __init__(self, name: str = "mechanism") -> None:
        self.name = name
        self._bodies: dict[str, Body] = {}
        self._joints: dict[str, Connection] = {}
        self._frames: dict[str, Frame] = {}
        self._shapes: list[Shape] = []

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

    def add_body(self, name: str, inertia: Inertia | None = None) -> Body:
        """Add a rigid body and return its record.

        Args:
            name: new name.
            inertia: about the centre of mass, in body axes; None for a body without inertia.

        Raises:
            DuplicateNameError, ParameterError: for a name in use; for an empty name or a wrong inertia.
        """
        body = Body(name, inertia)
        self._check_new("body", name)
        self._bodies[name] = body
        return body

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
    ) -> Connection:
        """Add a joint: X_parent_child = parent_pose @ joint.transform(q) @ child_pose.inverse().

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

        Raises:
            DuplicateNameError, UnknownNameError, ParameterError: for a name in use, an unknown body, a wrong value.
        """
        optional = {"parent_pose": parent_pose, "child_pose": child_pose, "limits": limits}
        given: dict[str, Any] = {key: value for key, value in optional.items() if value is not None}
        record = Connection(name, joint, parent, child, damping=damping, friction=friction, armature=armature, **given)
        if name in self._joints:
            raise DuplicateNameError("joint", name, f"mechanism {self.name!r}")
        for body in (parent, child):
            self._check_body(body, f"joint {name!r}")
        if parent == child:
            raise MechanismError(f"joint {name!r} connects body {parent!r} with itself.")
        self._joints[name] = record
        return record

    def add_frame(self, name: str, body: str, pose: Any = None) -> Frame:
        """Add a frame fixed on a body (or the world), at `pose` = X_body_frame, and return its record."""
        frame = Frame(name, body) if pose is None else Frame(name, body, pose)
        self._check_new("frame", name)
        self._check_body(body, f"frame {name!r}")
        self._frames[name] = frame
        return frame

    def add_shape(self, shape: Shape) -> Shape:
        """Add a visual or collision shape; shapes take no part in the dynamics."""
        if not isinstance(shape, Shape):
            raise ParameterError("shape", got=shape, expected="a cardan.mechanism.Shape")
        self._check_body(shape.body, "shape")
        self._shapes.append(shape)
        return shape

    def model(
        self,
        root: str = WORLD,
        base: str | Joint = "fixed",
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        *,
        closing: Sequence[str] = (),
    ) -> Model:
        """Return a tree of this mechanism, hanging on the world.

        The root is attached to the world by a base joint named `"root"`. So is, with `root="world"`, every connected
        part that does not hang on the world by its own joints, at its first body that is no joint's child; further
        parts by `"root_<body>"`. Joints the root asks to run the other way are reversed, with the same names,
        coordinates, velocities and limits. A joint closes a loop if the joints before it, the base joint first,
        already connect its bodies; it becomes one of `Model.closures`.

        Args:
            root: a body or frame, which the base joint moves; or `"world"`.
            base: `"fixed"`, `"floating"` (a `FreeFlyer`), or any joint.
            gravity: [m/s^2], in world axes.
            closing: names of joints that shall close the loops they are part of.

        Raises:
            UnknownNameError: if there is no such root or joint.
            MechanismError: if there is no body; if a base other than fixed is asked for and every body already hangs
                on the world; if a joint of `closing` closes no loop.
        """
        if not self._bodies:
            raise MechanismError(f"mechanism {self.name!r} has no body; add one with add_body.")
        for name in closing:
            if name not in self._joints:
                raise UnknownNameError("joint", name, self._joints, where="closing")
        base_joint = _base_joint(base)
        bases = [] if root == WORLD else [self._base(root, base_joint)]
        tree, closures = rooted(tuple(self._bodies), self.joints, bases, base_joint, closing)
        if len(tree) + len(closures) == len(self._joints) and not isinstance(base_joint, Fixed):
            raise MechanismError(
                f"base={base!r}: every body of {self.name!r} already hangs on the world by its joints."
            )
        return Model(self.name, self.bodies, tree, self.frames, tuple(gravity), closures)

    def copy(self) -> Mechanism:
        """Return a mechanism that can be changed without changing this one."""
        twin = Mechanism(self.name)
        twin._bodies, twin._joints = dict(self._bodies), dict(self._joints)
        twin._frames, twin._shapes = dict(self._frames), list(self._shapes)
        return twin

    __copy__ = copy

    def __eq__(self, other: object) -> bool:
        """Whether name, bodies, joints, frames and shapes are equal, each in the same order."""
        if not isinstance(other, Mechanism):
            return NotImplemented
        mine = (self.name, self.bodies, self.joints, self.frames, self.shapes)
        return mine == (other.name, other.bodies, other.joints, other.frames, other.shapes)

    __hash__ = None  # pyright: ignore[reportAssignmentType] -- it can change

    def _base(self, root: str, joint: Joint) -> Connection:
        """Return the base joint of a body or frame."""
        if "root" in self._joints:
            raise DuplicateNameError("joint", "root", f"mechanism {self.name!r} (this name is the base joint's)")
        if root in self._bodies:
            return Connection("root", joint, WORLD, root)
        if root not in self._frames:
            raise UnknownNameError("root", root, (WORLD, *self._bodies, *self._frames))
        frame = self._frames[root]
        if frame.body == WORLD:
            raise MechanismError(f"root={root!r} is a frame of the world, which cannot move.")
        return Connection("root", joint, WORLD, frame.body, child_pose=frame.pose)

    def _check_new(self, kind: str, name: str) -> None:
        if name == WORLD or name in self._bodies or name in self._frames:
            raise DuplicateNameError(kind, name, f"mechanism {self.name!r} (bodies and frames share their names)")

    def _check_body(self, body: str, where: str) -> None:
        if body != WORLD and body not in self._bodies:
            raise UnknownNameError("body", body, [WORLD, *self._bodies], where=where)

    def __repr__(self) -> str:
        counts = f"{len(self._bodies)} bodies, {len(self._joints)} joints, {len(self._frames)} frames"
        return f"<Mechanism {self.name!r}: {counts}>"


def _base_joint(base: Any) -> Joint:
    if isinstance(base, Joint):
        return base
    if base in ("fixed", "floating"):
        return Fixed() if base == "fixed" else FreeFlyer()
    raise ParameterError("base", got=base, expected="'fixed', 'floating' or a joint")
