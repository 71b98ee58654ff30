"""What the algorithms run over: the movable joints in topological order, each with the inertia that rides on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cardan._algebra.by_fields import ByFields
from cardan._algebra.spatial import SE3, Inertia, Scalar
from cardan._robot.joints import Joint


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Node(ByFields):
    """A movable joint and everything fixed to its child frame, which is the frame the dynamics is computed in.

    A mimic joint is a node whose `q` and `v` indices are those of its primary.

    Attributes:
        index: position in `Model.nodes`; a parent comes before its children.
        name: name of the joint.
        joint: the joint itself.
        parent: index of the parent node, -1 for the world.
        placement: X from the joint's parent frame to the parent node's frame.
        inertia: inertia of all bodies fixed to the child frame, in that frame.
        q: indices of the joint's coordinates in the model's q.
        v: indices of the joint's velocities in the model's v.
        armature: drive inertia along v.
        damping: viscous friction along v.
        friction: dry friction along v.
        drive_stiffness: proportional gains of the drive along v.
        drive_damping: derivative gains of the drive along v.
        spring_stiffness: of the spring along v.
        spring_rest: where it is at rest, in the limit coordinates of the joint at q.
    """

    index: int
    name: str
    joint: Joint
    parent: int
    placement: SE3
    inertia: Inertia
    q: tuple[int, ...]
    v: tuple[int, ...]
    armature: tuple[float, ...]
    damping: tuple[float, ...]
    friction: tuple[float, ...]
    drive_stiffness: tuple[float, ...]
    drive_damping: tuple[float, ...]
    spring_stiffness: tuple[float, ...]
    spring_rest: tuple[float, ...]

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
    """Where a body or frame rides.

    Attributes:
        node: index of the node, -1 for the world.
        pose: X_node_body, its pose in the node's frame.
    """

    node: int
    pose: SE3
