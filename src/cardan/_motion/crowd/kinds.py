"""The trees of a model by kind: those that are alike share programs, and differ in numbers that these are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.manifolds import Euclidean
from cardan._algebra.spatial import SE3, Inertia, Vector3
from cardan._compiler.program.exact import evaluate_exactly
from cardan._dynamics.algorithms.along import are_many
from cardan._dynamics.algorithms.chains import LARGE, depth_of, trees_of
from cardan._dynamics.algorithms.cluster import ClosedSet, ClusterMember
from cardan._dynamics.algorithms.tree import supports
from cardan._motion.contact.touching import ContactPair
from cardan._motion.crowd.rows import BLOCK, LANES
from cardan._robot.joints import FreeFlyer, Joint
from cardan._robot.joints.catalogue.of_another import renamed_primaries
from cardan._robot.joints.derivation.programs import joint_program, keep_by_joint, replaced
from cardan._robot.model import WORLD, Body, Connection, Model, simplified_tree
from cardan._robot.model.layout import Node

FREE = Connection("free", FreeFlyer(), WORLD, "body")
"""What holds a loose body: nothing limits, drives or slows it."""
INERTIA, PLACE = "inertial_parameters", "place"
"""What models are given of each tree: of a loose body; of robots that hang on the world at several places."""
LONG = 32
"""Nodes one after the other from which on a tree has no matrix; or `LARGE` in all.

A rope of 32 links begins after 3 s in place of 10 s, and its step takes as long as that of one program (measured).
Robots have up to 110 joints, and at most some 15 one after the other.
"""
BASE = "base"
"""In pairs of a tree alone: the body that it hangs on, in its place."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of a model: its nodes, its bodies, and where its coordinates are.

    If it has several roots on one body, or a cluster's, that body is the last of its bodies.
    """

    nodes: tuple[Node, ...]
    bodies: tuple[int, ...]
    q: tuple[int, ...]
    v: tuple[int, ...]
    base: int = -1  # the body it hangs on, which is fixed in the world; -1 for the world itself
    hang: SE3 = field(default_factory=SE3)  # where, in that body


class Ball(NamedTuple):
    """A ball about a shape on a node of a tree, and how far it may move before pairs are listed again [m]."""

    node: int
    centre: tuple[float, ...]
    extent: float
    margin: float
    slack: float = 0.0


class Hinge(NamedTuple):
    """How far coordinates move the child frame of a joint, at most, for each unit that they change by."""

    slides: tuple[float, ...]  # the frame's origin, by each coordinate [m]
    turns: tuple[float, ...]  # the frame about its origin [rad]
    offset: float  # from the origin of the parent frame to that, where all coordinates are 0 [m]
    axis: Vector3 | None  # how one coordinate turns it, in its own axes; None of several, or if that changes


@dataclass(eq=False)
class Kind:
    """Trees that share programs."""

    model: Model  # of each of them; where its frames are, the attachments of its bodies say
    kinematic: tuple[str, ...]  # joints of that model which move as they are told
    trees: list[Tree] = field(default_factory=list)
    numbers: list[list[float]] = field(default_factory=list)  # what its model is given, of each tree
    touching: tuple[int, ...] = ()  # its nodes that carry shapes
    pairs: tuple[ContactPair, ...] | None = None  # what a tree alone may touch; None where no such program is made
    touches_itself: bool = True  # whether these have pairs of the tree with itself, too
    balls: tuple[Ball, ...] = ()  # about its shapes
    alike: Sequence[bool] = ()  # of each tree, whether it has just these
    shapes: Sequence[Sequence[int]] = ()  # of each tree
    is_lonely: bool = False  # whether nothing else may touch these
    hinges: Mapping[int, Hinge] = field(default_factory=dict)  # of its nodes, if they are looked at (`itself`)
    is_held: bool = False  # whether these are those of its root, too, and of pairs with what is fixed in the world

    @property
    def is_loose(self) -> bool:
        return INERTIA in self.model.inputs

    @cached_property
    def is_long(self) -> bool:
        """Whether its trees have no matrix: what touches their bodies is borne by the recursion (`long_trees`)."""
        return are_long(self.model.nodes)

    @property
    def block(self) -> int:
        """How many numbers a block of a vector has: of long trees one comes after the other."""
        return LANES if self.is_long else BLOCK

    @property
    def blocks(self) -> int:
        """How many blocks a vector of each tree has."""
        return -(-self.model.nv // self.block)

    @property
    def matrix_blocks(self) -> int:
        """How many blocks the lower half of the mass matrix of each tree has."""
        return 0 if self.is_long else self.blocks * (self.blocks + 1) // 2

    @cached_property
    def axes(self) -> list[tuple[int, int]]:
        """What moves nodes with shapes of a tree: a node, and which of v; nothing of loose bodies and long trees."""
        if self.is_loose or self.is_long:
            return []
        below = sorted({i for node in self.touching for i in supports(self.model, node)})
        return [(i, j) for i in below for j in self.model.nodes[i].v]

    @property
    def is_spread(self) -> bool:
        """Whether its trees hang on the world at several places."""
        return PLACE in self.model.inputs


def are_long(nodes: Sequence[Node]) -> bool:
    """Return whether the nodes of a tree are gone over in loops: most are alike, none follows another."""
    is_long = depth_of(nodes) >= LONG or len(nodes) >= LARGE
    own = [j for node in nodes for j in node.v]
    return is_long and are_many(nodes, LONG) and len(set(own)) == len(own)


def trees_with_bodies(model: Model) -> list[Tree]:
    """Return the trees of a model, in the order of their first nodes."""
    trees = trees_of(model)
    tree_of = {node.index: k for k, nodes in enumerate(trees) for node in nodes}
    bodies: list[list[int]] = [[] for _ in trees]
    for k, body in enumerate(model.bodies):
        at = model.attachments[body.name].node
        if at >= 0:
            bodies[tree_of[at]].append(k)
    found = []
    for nodes, own in zip(trees, bodies, strict=True):
        q, v = (tuple(sorted({i for node in nodes for i in getattr(node, key)})) for key in ("q", "v"))
        found.append(Tree(tuple(nodes), tuple(own), q, v))
    return found


def kinds_of(model: Model, kinematic: Sequence[str], whole: bool = False) -> list[Kind]:
    """Return the kinds of trees of a model, of which some joints move as they are told; `whole` keeps their bodies."""
    found: dict[Any, Kind] = {}
    loose = _loose_model(model)
    children = {c.child: c for c in model.connections}
    number, order = ({name: k for k, name in enumerate(names)} for names in (model.body_names, model.joint_names))
    for tree in trees_with_bodies(model):
        told = [node.name for node in tree.nodes if node.name in kinematic]
        if is_loose(model, tree, children) and not told:
            kind = found.setdefault("loose", Kind(simplified_tree(loose), ()))
            kind.numbers.append([float(e) for e in tree.nodes[0].inertia.parameters()])
        else:
            base = _base_of(model, tree, children)
            if base is not None:
                tree = replace(tree, bodies=(*tree.bodies, number[base]))
            parts, root, names = _parts_of(model, tree, children, order, told)
            place = SE3.identity()
            if root is not None:
                place = model.attachments[root.parent].pose @ root.parent_pose
                hang = SE3.identity() if base else root.parent_pose
                tree = replace(tree, base=number.get(base or root.parent, -1), hang=hang)
            kind = found.get((parts, names))
            if kind is None:
                alone = Model("tree", *parts, gravity=model.gravity)
                kind = found[parts, names] = Kind(alone, names)
            kind.numbers.append(np.ravel(place.matrix()).tolist())
        kind.trees.append(tree)
    for kind in found.values():
        if not kind.is_loose:
            kind.model = _placed(kind, whole)
    return list(found.values())


def _placed(kind: Kind, whole: bool) -> Model:
    """Return the model of trees that are alike but for where they hang: there, or where each is said to hang."""
    root = next(c.name for c in kind.model.connections if c.parent == WORLD)
    first, place = kind.numbers[0], {PLACE: (root, "parent_pose")}
    if any(numbers != first for numbers in kind.numbers):
        return kind.model.with_inputs(**place)  # not simplified: frames of nodes must not depend on what is given
    kind.numbers = [[] for _ in kind.trees]
    is_moved = first != np.ravel(np.eye(4)).tolist()
    there = {PLACE: np.reshape(first, (4, 4))}
    placed = kind.model.with_inputs(**place).filled_with(there) if is_moved else kind.model
    return placed if whole else simplified_tree(placed)  # as a robot alone has it


def hinges_of(model: Model, is_held: bool) -> Mapping[int, Hinge]:
    """Return the bounds of all nodes of a tree, if each has them and coordinates are in a row.

    Its root counts if what is fixed in the world does. Nodes may share coordinates, as fingers of a gripper do.
    """
    found = dict[int, Hinge]()
    for node in model.nodes if is_held else model.nodes[1:]:
        bounds = bounds_of(node.joint) if node.parent >= 0 or node is model.nodes[0] else None
        if bounds is None:
            return {}
        found[node.index] = bounds
    own = sorted({both for i in found for both in zip(model.nodes[i].v, model.nodes[i].q, strict=True)})
    in_a_row = [(own[0][0] + k, own[0][1] + k) for k in range(len(own))]
    return found if own == in_a_row else {}


def _speeds(joint: Joint, q: Any) -> dict[str, list[Any]]:
    """Return the squares of how fast each coordinate moves and turns the child frame, and how the first turns it."""
    S = list(joint.motion_subspace(q))
    squares = [part.dot(part) for column in S for part in (column.linear, column.angular)]
    return {"squares": squares, "axis": [*S[0].angular]}


@keep_by_joint("transform", "motion_subspace")
def bounds_of(joint: Joint) -> Hinge | None:
    """Return how far coordinates move a joint's child frame, if the speeds are the same everywhere.

    Hinges and slides are so, screws, several of them where axes meet, copies. S is traced, and its speeds must be
    numbers in exact arithmetic (`evaluate_exactly`): what is piecewise, as a spline, may be so at any samples.
    """
    if type(joint.manifold) is not Euclidean:
        return None
    program = joint_program("speeds", joint, _speeds, q=joint.nq)
    numbers = evaluate_exactly(program).numbers
    known = np.array([numbers[r] for r in program.results], dtype=float)  # NaN of what is no number
    squares, axis = known[:-3], known[-3:]
    if np.isnan(squares).any():
        return None
    slides, turns = np.sqrt(squares).reshape(-1, 2).T
    q = np.array(joint.neutral())
    offset = float(joint.transform(q.tolist()).translation.norm()) + float(slides @ np.abs(q))
    is_fixed = joint.nv == 1 and not np.isnan(axis).any()
    return Hinge(tuple(slides.tolist()), tuple(turns.tolist()), offset, Vector3(*axis.tolist()) if is_fixed else None)


def is_loose(model: Model, tree: Tree, children: dict[str, Connection]) -> bool:
    """Return whether a tree is a body alone, as `FREE` holds it, with its pose in the world as coordinates."""
    body = model.bodies[tree.bodies[0]].name
    if len(tree.nodes) + len(tree.bodies) > 2 or tree.nodes[0].placement != SE3.identity():
        return False
    return replaced(children[body], name=FREE.name, parent=FREE.parent, child=FREE.child) == FREE


def _loose_model(model: Model) -> Model:
    """Return the model of a body that moves freely, whose inertia it is given."""
    body = Body(FREE.child, Inertia(1.0, (0.0, 0.0, 0.0), np.eye(3)))
    return Model("body", (body,), (FREE,), gravity=model.gravity).with_inputs("inertial_parameters")


def _base_of(model: Model, tree: Tree, children: dict[str, Connection]) -> str | None:
    """Return the body that all of a tree hangs on, if it has several roots, or a cluster's; None if there is none."""
    own = {model.bodies[k].name for k in tree.bodies}
    roots = [c for c in map(children.__getitem__, own) if c.parent not in own]
    bases = {c.parent for c in roots}
    is_one = len(bases) == 1 and WORLD not in bases and (len(roots) > 1 or roots[0].joint.is_placed)
    return bases.pop() if is_one else None


def _parts_of(
    model: Model, tree: Tree, children: dict[str, Connection], order: Mapping[str, int], told: Sequence[str]
) -> tuple[tuple[tuple[Body, ...], tuple[Connection, ...]], Connection | None, tuple[str, ...]]:
    """Return the bodies and joints of one tree, under names that its kind has; a single root is at the origin.

    With them go that root, unless it is a joint of a cluster, and the joints that are told.
    """
    bodies = [model.bodies[k] for k in tree.bodies]
    own = sorted((children[b.name] for b in bodies), key=lambda c: order[c.name])
    body = {b.name: f"b{k}" for k, b in enumerate(bodies)}
    joint = {c.name: f"j{k}" for k, c in enumerate(own)}
    roots = [c for c in own if c.parent not in body]  # on a body that is fixed in the world, or on the world
    root = roots[0] if len(roots) == 1 and not roots[0].joint.is_placed else None
    plain: dict[int, ClosedSet] = {}
    connections = []
    for c in own:
        changes: dict[str, Any] = {"name": joint[c.name], "child": body[c.child], "parent": body.get(c.parent, "world")}
        if c.parent not in body:
            place = model.attachments[c.parent].pose @ c.parent_pose
            changes["parent_pose"] = place if root is None else SE3.identity()
        if isinstance(c.joint, ClusterMember):
            closed = c.joint.closed
            plain[id(closed)] = plain.get(id(closed)) or closed.plain()
            changes["joint"] = c.joint.plain(joint.__getitem__, plain[id(closed)])
        elif c.joint.primaries:
            changes["joint"] = renamed_primaries(c.joint, joint.__getitem__)
        connections.append(replaced(c, **changes))
    renamed = tuple(replaced(b, name=body[b.name]) for b in bodies)
    return (renamed, tuple(connections)), root, tuple(joint[name] for name in told)
