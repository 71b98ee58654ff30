"""The same motion in the coordinates of another tree of the same mechanism.

A joint both trees have keeps its coordinates. Every other joint of the target (a base joint elsewhere, one that closes
a loop in the source or is locked there, one of another type) lies between two bodies whose motion the source knows:

    X = X_wp^-1 X_wc           q = the joint's configuration with this transform
    V = V_c - X^-1 V_p         v = S^+ V
    A = A_c - X^-1 A_p - V_c x V        a = S^+ (A - bias)

with p and c the joint's own frames, S^+ = (S^T S)^-1 S^T. Efforts go by virtual work.

Source: Traversaro (2017), section 3.2, for the free base; FACTS, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan.algorithms.kinematics import Kinematics
from cardan.algorithms.linear import coordinates, gram
from cardan.algorithms.tree import Vector
from cardan.joints import Mimic
from cardan.model import Connection, Model
from cardan.spatial import SE3, Force, Motion, MotionSubspace, Scalar


def owners(model: Model) -> list[Connection]:
    """Return the joints that have coordinates of their own."""
    return [c for c in model.connections if not isinstance(c.joint, Mimic) and c.joint.nv > 0]


def shared_joints(source: Model, target: Model) -> frozenset[str]:
    """Return the names of the joints both have, whichever way round."""
    known = {c.name: c for c in owners(source)}
    return frozenset(c.name for c in owners(target) if c.name in known and is_same(known[c.name], c))


def is_same(a: Connection, b: Connection) -> bool:
    """Return whether two joints are of one kind, between the same bodies at the same places, either way round."""
    b = b if a.parent == b.parent else b.reversed()
    mine, theirs = (a.parent, a.child, a.joint), (b.parent, b.child, b.joint)
    return mine == theirs and a.parent_pose == b.parent_pose and a.child_pose == b.child_pose


def converted_configuration(source: Model, target: Model, q: Vector) -> list[Scalar]:
    """Return the target's q."""
    shared, kinematics = shared_joints(source, target), Kinematics(source, q)
    found: list[Scalar] = []
    for c in owners(target):
        same = c.name in shared
        found += q[source.q_slice(c.name)] if same else c.joint.nearest_configuration(_pose(kinematics, c))
    return found


def converted_velocity(source: Model, target: Model, q: Vector, v: Vector) -> list[Scalar]:
    """Return the target's v."""
    shared, kinematics = shared_joints(source, target), Kinematics(source, q, v)
    found: list[Scalar] = []
    for c in owners(target):
        found += v[source.v_slice(c.name)] if c.name in shared else _Between(kinematics, c).velocity
    return found


def converted_acceleration(source: Model, target: Model, q: Vector, v: Vector, a: Vector) -> list[Scalar]:
    """Return the target's dv/dt."""
    shared, kinematics = shared_joints(source, target), Kinematics(source, q, v, a)
    found: list[Scalar] = []
    for c in owners(target):
        found += a[source.v_slice(c.name)] if c.name in shared else _Between(kinematics, c).acceleration
    return found


def converted_effort(source: Model, target: Model, q: Vector, tau: Vector) -> list[Scalar]:
    """Return the target's efforts, of the same virtual work.

    Of a joint the target does not have, the efforts tau are those of the wrench S (S^T S)^-1 tau across it, which the
    target's own joints feel as one on each of its two bodies.
    """
    shared = shared_joints(source, target)
    there = Kinematics(target, converted_configuration(source, target, q))
    wrenches = [Force.zero() for _ in target.nodes]
    for c in owners(source):
        if c.name not in shared:
            between = _Between(there, c)
            across = between.wrench(tau[source.v_slice(c.name)])
            _add(target, wrenches, c.child, c.child_pose @ across)
            _add(target, wrenches, c.parent, c.parent_pose @ -(between.X @ across))
    found: list[Scalar] = [0.0] * target.nv
    for c in owners(target):
        if c.name in shared:
            found[target.v_slice(c.name)] = tau[source.v_slice(c.name)]
    for node in reversed(target.nodes):
        wrench = wrenches[node.index]
        node.scatter(found, there.relative.S[node.index].T @ wrench)
        if node.parent >= 0:
            wrenches[node.parent] = wrenches[node.parent] + there.relative.X[node.index] @ wrench
    return found


def _add(model: Model, wrenches: list[Force], body: str, wrench: Force) -> None:
    """Add a wrench on a body, in its own frame, to that on its node."""
    at = model.attachment(body)
    if at.node >= 0:
        wrenches[at.node] = wrenches[at.node] + at.pose @ wrench


class _Between:
    """What a joint between two bodies does, while these move as a tree has them move."""

    def __init__(self, kinematics: Kinematics, connection: Connection) -> None:
        self.kinematics, self.connection, self.joint = kinematics, connection, connection.joint
        self.X = _pose(kinematics, connection)
        self.q = self.joint.nearest_configuration(self.X)
        self.S = MotionSubspace(self.joint.motion_subspace(self.q))

    @property
    def velocity(self) -> list[Scalar]:
        """The joint's v."""
        return coordinates(self.S, self._relative_twist())

    @property
    def acceleration(self) -> list[Scalar]:
        """The joint's dv/dt."""
        c, kinematics, V = self.connection, self.kinematics, self._relative_twist()
        A_c = c.child_pose.inverse_act(kinematics.acceleration(c.child))
        A_p = c.parent_pose.inverse_act(kinematics.acceleration(c.parent))
        A = A_c - self.X.inverse_act(A_p) - self._child_twist().cross(V)
        return coordinates(self.S, A - self.joint.bias(self.q, coordinates(self.S, V)))

    def wrench(self, tau: Sequence[Scalar]) -> Force:
        """Return the wrench S (S^T S)^-1 tau on the child, in the joint's child frame."""
        weights = gram([column.scalars() for column in self.S]).solve(tau)
        linear, angular = self.S @ weights
        return Force(linear, angular)

    def _child_twist(self) -> Motion:
        return self.connection.child_pose.inverse_act(self.kinematics.twist(self.connection.child))

    def _relative_twist(self) -> Motion:
        V_p = self.connection.parent_pose.inverse_act(self.kinematics.twist(self.connection.parent))
        return self._child_twist() - self.X.inverse_act(V_p)


def _pose(kinematics: Kinematics, c: Connection) -> SE3:
    """Return the pose of the joint's child frame in its parent frame."""
    parent, child = kinematics.pose(c.parent) @ c.parent_pose, kinematics.pose(c.child) @ c.child_pose
    return parent.inverse() @ child
