"""Relative kinematics and the outward recursions every algorithm begins with.

Notation: X_i maps node i's frame to its parent's; V_i, A_i are the twist and spatial acceleration of node i, in its own
frame; p(i) is its parent. Lists are indexed by node.

    X_i = placement_i X_J(q_i)          V_i = X_i^-1 V_p(i) + S_i v_i
    A_i = X_i^-1 A_p(i) + S_i a_i + bias_i + V_i x S_i v_i

Source: Featherstone (2008), equations 4.2 and 5.7 to 5.11.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from cardan._algebra.spatial import SE3, ArticulatedInertia, Force, Inertia, Motion, MotionSubspace, Scalar
from cardan._algebra.spatial.vector import plane_turn
from cardan._dynamics.algorithms.along import Nodes, nodes_of, nodes_of_rows
from cardan._robot.model import Model, Node

Vector = Sequence[Scalar]
T = TypeVar("T")


class Relative(NamedTuple):
    """Pose of each node in its parent, its motion subspace, and its pose across its joint alone.

    X is `placement @ J`; inertias are carried by one or the other (`inwards`).
    """

    X: Sequence[SE3]
    S: Sequence[MotionSubspace]
    J: Sequence[SE3]

    def nodes(self, model: Model) -> Nodes:
        """Return how the nodes are gone over: as for these."""
        return nodes_of_rows(model, self.X)

    def inwards(self, node: Node, inertia: Any) -> Any:
        """Return an inertia of a node, or a force on it, in the frame of its parent's node; a number as it is.

        Of inertias, two turns of a plane each take fewer operations than the one turn of space that they make.
        """
        if not isinstance(inertia, Inertia | ArticulatedInertia):
            return self.X[node.index] @ inertia if isinstance(inertia, Force) else inertia
        J, placement = self.J[node.index], node.placement
        planes = plane_turn(J.rotation) and plane_turn(placement.rotation)
        by_two = planes and not plane_turn(self.X[node.index].rotation)
        return placement @ (J @ inertia) if by_two else self.X[node.index] @ inertia


def of_parent(values: Sequence[T], parent: int, world: T) -> T:
    return values[parent] if parent >= 0 else world


def relative_kinematics(model: Model, q: Vector, loops: bool = False, fewest: int | None = None) -> Relative:
    """Return the relative kinematics; in rows, for pages that can go over many nodes in `loops`: so many at least."""
    nodes = nodes_of(model, q, fewest) if loops else Nodes(model)
    X, J = relative_poses(nodes, q)
    return Relative(X, subspaces(nodes, q), J)


def relative_poses(nodes: Nodes, q: Vector) -> tuple[Sequence[SE3], Sequence[SE3]]:
    """Return X and J (`Relative`)."""
    J = nodes.each(once_a_kind(q, lambda node: node.joint.transform(node.configuration(q))))
    return nodes.each(once_a_kind(q, lambda node: node.placement @ J[node.index]), kept=False), J


def subspaces(nodes: Nodes, q: Vector) -> Sequence[MotionSubspace]:
    """Return the motion subspaces of nodes."""
    return nodes.each(once_a_kind(q, lambda node: node.joint.subspace(node.configuration(q))))


def once_a_kind(q: Vector, body: Callable[[Node], T]) -> Callable[[Node], T]:
    """Return what is made of a node's joint, placement and coordinates; of equal ones once, if all of q are numbers.

    Robots of one kind share their joints and placements, and begin with the same coordinates.
    """
    if not all(type(e) is float for e in q):
        return body
    made: dict[tuple[int, int, bytes], tuple[T, Node]] = {}

    def of(node: Node) -> T:
        coordinates: Any = node.configuration(q)
        key = id(node.joint), id(node.placement), array("d", coordinates).tobytes()
        if key not in made:
            made[key] = body(node), node  # what is held here shares its id with nothing later
        return made[key][0]

    return of


def world_poses(model: Model, relative: Relative) -> Sequence[SE3]:
    return poses_along(relative.nodes(model), relative.X)


def poses_along(nodes: Nodes, X: Sequence[SE3]) -> Sequence[SE3]:
    """Return the poses of nodes in the world, of those in their parents."""
    return nodes.outwards(lambda node, above: above @ X[node.index], SE3.identity())


def poses_in_one_frame(model: Model, relative: Relative) -> Sequence[SE3]:
    """Return the pose of every node in the frame of its tree's first node."""
    X, first = relative.X, SE3.identity()
    return Nodes(model).outwards(lambda node, above: above @ X[node.index] if node.parent >= 0 else first, first)


def twists(model: Model, relative: Relative, v: Vector) -> Sequence[Motion]:
    def twist(node: Node, above: Motion) -> Motion:
        return relative.X[node.index].inverse_act(above) + relative.S[node.index] @ node.velocity(v)  # (5.7)

    return relative.nodes(model).outwards(twist, Motion.zero())


def accelerations(
    model: Model, relative: Relative, q: Vector, v: Vector, a: Vector, V: Sequence[Motion]
) -> Sequence[Motion]:
    """Return A_i of every node, given its twists; gravity is not in it."""

    def acceleration(node: Node, above: Motion) -> Motion:
        rates, S = node.velocity(v), relative.S[node.index]
        c = node.joint.bias(node.configuration(q), rates) + V[node.index].cross(S @ rates)
        return relative.X[node.index].inverse_act(above) + (S @ node.velocity(a) + c)  # (5.8)

    return relative.nodes(model).outwards(acceleration, Motion.zero())


def along_joints(model: Model, relative: Relative, forces: Iterable[Force], onto: Vector) -> list[Scalar]:
    """Return efforts with what forces on the nodes do along the joints."""
    found = efforts_along(Nodes(model), relative, list(forces), [0.0] * model.nv)
    return [a + b for a, b in zip(onto, found, strict=True)]


def efforts_along(nodes: Nodes, relative: Relative, f: Sequence[Force], a: Vector) -> list[Scalar]:
    """Return what forces on the nodes ask of the joints, each of which feels all that it carries, and its rotor a."""
    tau = nodes.efforts()

    def inward(node: Node, force: Force) -> tuple[tuple[()], Callable[[], Force]]:
        i = node.index
        borne = relative.S[i].T @ force
        tau.add(node, [e + r * x for e, r, x in zip(borne, node.armature, node.velocity(a), strict=True)])  # (5.11)
        return (), lambda: relative.X[i] @ force  # (5.10)

    nodes.inwards(f, inward)
    return tau.values()


def sums(model: Model, relative: Relative, own: Callable[[Node], Any]) -> Sequence[Any]:
    """Return the sums of what is on each node and on all that hangs on it: inertias, forces, or numbers."""
    nodes = relative.nodes(model)
    return nodes.inwards(nodes.each(own), lambda node, whole: (whole, lambda: relative.inwards(node, whole)))


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


def between(model: Model, a: int, b: int) -> tuple[list[Node], list[Node]]:
    """Return what moves node a and not b, and b and not a, both outwards: what carries both moves neither."""
    path, other = supports(model, a), supports(model, b)
    both = {*path} & {*other}
    own = ([model.nodes[i] for i in reversed(nodes) if i not in both] for nodes in (path, other))
    return next(own), next(own)


def in_tree_order(model: Model) -> list[int]:
    """Return the indices of v, those of a joint behind those of the joints that carry it; as they are, if they do."""
    above = ((model.nodes[node.parent], node) for node in model.nodes if node.parent >= 0)
    if all(min(parent.v) <= min(node.v) for parent, node in above):
        return list(range(model.nv))
    return list(dict.fromkeys(i for node in model.nodes for i in node.v))


def deepest(model: Model) -> int:
    """Return the largest number of degrees of freedom between the world and a node."""
    return max((depth(model, node.index) for node in model.nodes), default=0)


def depth(model: Model, node: int) -> int:
    return sum(len(model.nodes[i].v) for i in supports(model, node))
