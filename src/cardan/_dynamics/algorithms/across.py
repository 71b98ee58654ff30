"""What every joint of a model does by itself: pose, motion subspace, twist and bias of its child in its parent frame.

    X_J(q)        S(q)        v_J = S v        c = (dS/dt) v

Source: Featherstone (2008), section 4.4 and the function jcalc of table 4.1.
Cost: that of the joints.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from cardan._algebra.spatial import SE3, Motion, MotionSubspace
from cardan._dynamics.algorithms.tree import Vector
from cardan._robot.model import Model, Node
from cardan._robot.records import Connection

Values = TypeVar("Values")  # lists of spatial objects here; arrays from the compiled function


class JointQuantities(NamedTuple, Generic[Values]):
    """What the joints do, each in its own frames, in the order of `Model.joint_names`.

    Attributes:
        transform: pose of the child frame in the parent frame.
        motion_subspace: S, in the child frame; columns that a joint has not are 0.
        twist: of the child relative to the parent, in the child frame.
        bias: (dS/dt) v, in the child frame.
    """

    transform: Values
    motion_subspace: Values
    twist: Values
    bias: Values


def joint_quantities(model: Model, q: Vector, v: Vector) -> JointQuantities[list]:
    """Return X_J, S, v_J and c of every joint, fixed and mimic ones among them."""
    nodes = {node.name: node for node in model.nodes}
    width = max((len(node.v) for node in model.nodes), default=0)
    rows = [_across(c, nodes.get(c.name), q, v) for c in model.connections]
    X, S, twist, bias = zip(*rows, strict=True) if rows else ((), (), (), ())
    padded = [MotionSubspace([*s, *[Motion.zero()] * (width - len(s))]) for s in S]
    return JointQuantities(list(X), padded, list(twist), list(bias))


def _across(
    connection: Connection, node: Node | None, q: Vector, v: Vector
) -> tuple[SE3, MotionSubspace, Motion, Motion]:
    if node is None:
        return connection.joint.transform(()), MotionSubspace([]), Motion.zero(), Motion.zero()
    own, rates = node.configuration(q), node.velocity(v)
    S = node.joint.subspace(own)
    return node.joint.transform(own), S, S @ rates, node.joint.bias(own, rates)
