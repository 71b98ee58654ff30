"""The trees of a model by kind: those that are alike share programs, and differ in numbers that these are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.spatial import SE3, Inertia
from cardan._motion.contact.touching import Pair
from cardan._robot.joints import FreeFlyer, Mimic
from cardan._robot.joints.derivation.programs import replaced
from cardan._robot.model import WORLD, Body, Connection, Model, simplified_tree
from cardan._robot.model.layout import Node

FREE = Connection("free", FreeFlyer(), WORLD, "body")
"""What holds a loose body: nothing limits, drives or slows it."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of a model: its nodes, its bodies, and where its coordinates are."""

    nodes: tuple[Node, ...]
    bodies: tuple[int, ...]
    q: tuple[int, ...]
    v: tuple[int, ...]


class Ball(NamedTuple):
    """A ball about a shape on a node of a tree, and how far it may move before pairs are listed again [m]."""

    node: int
    centre: tuple[float, ...]
    extent: float
    margin: float
    slack: float = 0.0


@dataclass(eq=False)
class Kind:
    """Trees that share programs."""

    model: Model  # of each of them; where its frames are, the attachments of its bodies say
    kinematic: tuple[str, ...]  # joints of that model which move as they are told
    trees: list[Tree] = field(default_factory=list)
    numbers: list[list[float]] = field(default_factory=list)  # what its model is given, of each tree
    touching: tuple[int, ...] = ()  # its nodes that carry shapes
    pairs: tuple[Pair, ...] | None = None  # what a tree alone may touch; None where no such program is made
    balls: tuple[Ball, ...] = ()  # about its shapes
    alike: Sequence[bool] = ()  # of each tree, whether it has just these
    shapes: Sequence[Sequence[int]] = ()  # of each tree

    @property
    def is_loose(self) -> bool:
        return bool(self.model.inputs)


def trees_of(model: Model) -> list[Tree]:
    """Return the trees of a model, in the order of their first nodes."""
    by_root: dict[int, list[Node]] = {}
    root_of: list[int] = []
    for node in model.nodes:  # a parent comes before its children
        root_of.append(node.index if node.parent < 0 else root_of[node.parent])
        by_root.setdefault(root_of[-1], []).append(node)
    bodies: dict[int, list[int]] = {root: [] for root in by_root}
    for k, body in enumerate(model.bodies):
        at = model.attachments[body.name].node
        if at >= 0:
            bodies[root_of[at]].append(k)
    found = []
    for root, nodes in by_root.items():
        q, v = (tuple(sorted({i for node in nodes for i in getattr(node, key)})) for key in ("q", "v"))
        found.append(Tree(tuple(nodes), tuple(bodies[root]), q, v))
    return found


def kinds_of(model: Model, kinematic: Sequence[str]) -> list[Kind]:
    """Return the kinds of trees of a model, of which some joints move as they are told."""
    found: dict[Any, Kind] = {}
    loose = _loose_model(model)
    children = {c.child: c for c in model.connections}
    for tree in trees_of(model):
        told = [node.name for node in tree.nodes if node.name in kinematic]
        if is_loose(model, tree, children) and not told:
            key, own, names, numbers = "loose", loose, (), [float(e) for e in tree.nodes[0].inertia.parameters()]
        else:
            own, names = _model_of(model, tree, children, told)
            key, numbers = (own, names), []
        kind = found.setdefault(key, Kind(simplified_tree(own), names))  # as a robot alone has it
        kind.trees.append(tree)
        kind.numbers.append(numbers)
    return list(found.values())


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


def _model_of(
    model: Model, tree: Tree, children: dict[str, Connection], told: Sequence[str]
) -> tuple[Model, tuple[str, ...]]:
    """Return the model of one tree, under names that all trees of its kind have, and the joints that are told."""
    bodies = [model.bodies[k] for k in tree.bodies]
    own = sorted((children[b.name] for b in bodies), key=lambda c: model.joint_names.index(c.name))
    body = {b.name: f"b{k}" for k, b in enumerate(bodies)}
    joint = {c.name: f"j{k}" for k, c in enumerate(own)}
    connections = []
    for c in own:
        changes: dict[str, Any] = {"name": joint[c.name], "child": body[c.child], "parent": body.get(c.parent, "world")}
        if c.parent not in body:  # a body that is fixed in the world may carry it
            changes["parent_pose"] = model.attachments[c.parent].pose @ c.parent_pose
        if isinstance(c.joint, Mimic):
            changes["joint"] = replaced(c.joint, primary=joint[c.joint.primary])
        connections.append(replaced(c, **changes))
    renamed = tuple(replaced(b, name=body[b.name]) for b in bodies)
    alone = Model("tree", renamed, tuple(connections), gravity=model.gravity)
    return alone, tuple(joint[name] for name in told)
