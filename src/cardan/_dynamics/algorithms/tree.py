"""Relative kinematics and the outward recursions every algorithm begins with.

Notation: X_i maps node i's frame to its parent's; V_i, A_i are the twist and spatial acceleration of node i, in its own
frame; p(i) is its parent. Lists are indexed by node.

    X_i = placement_i X_J(q_i)          V_i = X_i^-1 V_p(i) + S_i v_i
    A_i = X_i^-1 A_p(i) + S_i a_i + bias_i + V_i x S_i v_i

Source: Featherstone (2008), equations 4.2 and 5.7 to 5.11.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from cardan._algebra.spatial import SE3, ArticulatedInertia, Force, Inertia, Motion, MotionSubspace, Scalar
from cardan._algebra.spatial.vector import plane_turn
from cardan._robot.model import Model, Node

Vector = Sequence[Scalar]
T = TypeVar("T")
Carried = TypeVar("Carried", Inertia, ArticulatedInertia)


class Relative(NamedTuple):
    """Pose of each node in its parent, its motion subspace, and its pose across its joint alone.

    X is `placement @ J`; inertias are carried by one or the other (`inwards`).
    """

    X: list[SE3]
    S: list[MotionSubspace]
    J: list[SE3]

    def inwards(self, node: Node, inertia: Carried) -> Carried:
        """Return an inertia of a node in the frame of its parent's node.

        Two turns of a plane each take fewer operations than the one turn of space that they make.
        """
        J, placement = self.J[node.index], node.placement
        planes = plane_turn(J.rotation) and plane_turn(placement.rotation)
        by_two = planes and not plane_turn(self.X[node.index].rotation)
        return placement @ (J @ inertia) if by_two else self.X[node.index] @ inertia


def of_parent(values: Sequence[T], parent: int, world: T) -> T:
    return values[parent] if parent >= 0 else world


def relative_kinematics(model: Model, q: Vector) -> Relative:
    own = [node.configuration(q) for node in model.nodes]
    J = [node.joint.transform(qi) for node, qi in zip(model.nodes, own, strict=True)]
    X = [node.placement @ across for node, across in zip(model.nodes, J, strict=True)]
    S = [node.joint.subspace(qi) for node, qi in zip(model.nodes, own, strict=True)]
    return Relative(X, S, J)


def world_poses(model: Model, X: Sequence[SE3]) -> list[SE3]:
    poses: list[SE3] = []
    for node in model.nodes:
        poses.append(poses[node.parent] @ X[node.index] if node.parent >= 0 else X[node.index])
    return poses


def poses_in_one_frame(model: Model, relative: Relative) -> list[SE3]:
    """Return the pose of every node in the frame of its tree's first node."""
    pose: list[SE3] = []
    for node in model.nodes:
        pose.append(pose[node.parent] @ relative.X[node.index] if node.parent >= 0 else SE3.identity())
    return pose


def twists(model: Model, relative: Relative, v: Vector) -> list[Motion]:
    V: list[Motion] = []
    for node in model.nodes:
        X, S = relative.X[node.index], relative.S[node.index]
        joint = S @ node.velocity(v)
        V.append(X.inverse_act(V[node.parent]) + joint if node.parent >= 0 else joint)  # (5.7)
    return V


def velocity_products(model: Model, relative: Relative, q: Vector, v: Vector, V: Sequence[Motion]) -> list[Motion]:
    """Return c_i = bias_i + V_i x S_i v_i of every node: its relative acceleration at zero joint acceleration."""
    products = []
    for node in model.nodes:
        rates = node.velocity(v)
        joint = relative.S[node.index] @ rates
        products.append(node.joint.bias(node.configuration(q), rates) + V[node.index].cross(joint))
    return products


def accelerations(
    model: Model, relative: Relative, c: Sequence[Motion], a: Vector, world: Motion | None = None
) -> list[Motion]:
    """Return A_i of every node; `world` is the acceleration of the world, minus gravity in dynamics."""
    A: list[Motion] = []
    for node in model.nodes:
        own = relative.S[node.index] @ node.velocity(a) + c[node.index]
        above = of_parent(A, node.parent, world or Motion.zero())
        A.append(relative.X[node.index].inverse_act(above) + own)  # (5.8)
    return A


class Outward(NamedTuple):
    """The outward recursion of a motion: X_i and S_i, V_i, c_i, A_i of every node."""

    relative: Relative
    V: list[Motion]
    c: list[Motion]
    A: list[Motion]

    def body_forces(self, model: Model) -> list[Force]:
        """Return f_i = I_i A_i + V_i x* I_i V_i of every node: equation 5.9."""
        return [n.inertia @ self.A[n.index] + self.V[n.index].cross(n.inertia @ self.V[n.index]) for n in model.nodes]


def outward(model: Model, q: Vector, v: Vector, a: Vector | None = None, world: Motion | None = None) -> Outward:
    """Return the outward recursion; `world` as for `accelerations`. Without a, A is empty."""
    relative = relative_kinematics(model, q)
    V = twists(model, relative, v)
    c = velocity_products(model, relative, q, v, V)
    return Outward(relative, V, c, [] if a is None else accelerations(model, relative, c, a, world))


def weightless(model: Model) -> Motion:
    """Return the acceleration of the world that stands for gravity: a world in free rise feels the same."""
    return Motion(-model.gravity, (0.0, 0.0, 0.0))


def supports(model: Model, node: int) -> list[int]:
    """Return the node and all its ancestors, from the node to the root."""
    path = []
    while node >= 0:
        path.append(node)
        node = model.nodes[node].parent
    return path


def deepest(model: Model) -> int:
    """Return the largest number of degrees of freedom between the world and a node."""
    return max((depth(model, node.index) for node in model.nodes), default=0)


def depth(model: Model, node: int) -> int:
    return sum(len(model.nodes[i].v) for i in supports(model, node))
