"""Passive joint forces: viscous damping, dry friction and springs, as the robot description and the joints state them.

    d v + f sign(v) + k (x - rest) - the joint's own efforts

They are not part of `inverse_dynamics`, `bias_forces` or `forward_dynamics`; add or subtract what is returned here.
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan._algebra.scalar import is_zero, sign
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.tree import Vector
from cardan._robot.model import Model, Node


def passive_forces(model: Model, q: Vector, v: Vector) -> list[Scalar]:
    """Return the efforts the drives spend against the joints' own resistance."""
    damping, friction = model.passive("damping"), model.passive("friction")
    dry = [0.0 if is_zero(f) else f * sign(rate) for f, rate in zip(friction, v, strict=True)]
    total = [d * rate + f for d, rate, f in zip(damping, v, dry, strict=True)]
    for node in model.nodes:
        if has_spring(node):
            stretched = zip(node.spring_stiffness, to_rest(node, q), strict=True)
            node.scatter(total, [-(k * e) for k, e in stretched])
        if node.joint.has_efforts:
            node.scatter(total, [-e for e in node.joint.efforts(node.configuration(q), node.velocity(v))])
    return total


def has_spring(node: Node) -> bool:
    """Return whether a joint has a spring of any stiffness."""
    return not all(map(is_zero, node.spring_stiffness))


def to_rest(node: Node, q: Vector) -> Sequence[Scalar]:
    """Return the way from a joint's configuration to where its spring does not pull: rest - x, nv numbers."""
    space = node.joint.manifold
    return space.difference(node.configuration(q), space.integrate(space.neutral(), node.spring_rest))
