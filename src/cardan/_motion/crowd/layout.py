"""From a world to the tables of a crowd: trees by kind, nodes, shapes, kinds of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.spatial import SE3, Inertia
from cardan._dynamics.algorithms.tree import supports
from cardan._robot.description import Mechanism
from cardan._robot.geometry.shapes import HeightField, Plane, TriangleMesh
from cardan._robot.joints import FreeFlyer
from cardan._robot.joints.derivation.programs import replaced
from cardan._robot.model import Body, Connection, Model, simplified_tree
from cardan._robot.model.layout import Node

GROUNDS = (Plane, HeightField, TriangleMesh)
FORCES = ("armature", "damping", "friction", "drive_stiffness", "drive_damping", "spring_stiffness")


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of a model: its nodes, and where its coordinates are."""

    nodes: tuple[Node, ...]
    q: tuple[int, ...]
    v: tuple[int, ...]

    @property
    def is_loose(self) -> bool:
        """Whether it is a single body that nothing holds or drives, in the axes of the world when it is at its zero."""
        (node, *others) = self.nodes
        is_free = type(node.joint) is FreeFlyer and node.placement == SE3.identity()
        return not others and is_free and not any(any(getattr(node, name)) for name in FORCES)


@dataclass(eq=False)
class Kind:
    """Trees that one program computes."""

    model: Model  # of one of them
    trees: list[Tree]
    numbers: list[list[float]]  # of each tree, what its model is given
    touching: tuple[int, ...] = ()  # its nodes that carry shapes

    @property
    def inputs(self) -> dict[str, Any]:
        return {name: given.shape for name, given in self.model.inputs.items()}


def trees_of(model: Model) -> list[Tree]:
    """Return the trees of a model, in the order of their first nodes."""
    by_root: dict[int, list[Node]] = {}
    for node in model.nodes:
        by_root.setdefault(supports(model, node.index)[-1], []).append(node)
    found = []
    for nodes in by_root.values():
        q, v = (sorted({i for node in nodes for i in getattr(node, key)}) for key in ("q", "v"))
        found.append(Tree(tuple(nodes), tuple(q), tuple(v)))
    return found


def loose_model(model: Model) -> Model:
    """Return the model of a body that moves freely, whose inertia is given."""
    m = Mechanism("body", gravity=model.gravity)
    m.add_body("body", Inertia(1.0, (0.0, 0.0, 0.0), np.eye(3)))
    m.add_joint("free", FreeFlyer(), "world", "body")
    return m.model(gravity=model.gravity).with_inputs("inertial_parameters")


def own_model(model: Model, tree: Tree) -> Model:
    """Return the model of one tree alone, under names that trees of a kind share."""
    names = {node.name for node in tree.nodes}
    nodes = {node.index for node in tree.nodes}
    bodies = [b for b in model.bodies if model.attachments[b.name].node in nodes]
    new = {body.name: f"b{k}" for k, body in enumerate(bodies)}
    first = {c.name: f"j{k}" for k, c in enumerate(c for c in model.connections if c.child in new)}
    connections = []
    for c in model.connections:
        if c.child not in new:
            continue
        changes: dict[str, Any] = {"name": first[c.name], "child": new[c.child], "parent": new.get(c.parent, "world")}
        if c.parent not in new:  # what is fixed on the world may carry it
            changes["parent_pose"] = model.attachments[c.parent].pose @ c.parent_pose
        connections.append(replaced(c, **changes))
    own = tuple(replaced(b, name=new[b.name]) for b in bodies)
    return Model("tree", own, tuple(connections), gravity=model.gravity)
