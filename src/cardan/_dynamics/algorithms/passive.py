"""Passive joint forces: viscous damping, dry friction and springs, as the robot description and the joints state them.

    d v + f sign(v) + k (x - rest) - the joint's own efforts

They are not part of `inverse_dynamics`, `bias_forces` or `forward_dynamics`; add or subtract what is returned here.
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan._algebra.scalar import is_zero, sign
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.linear import dot
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.joints.catalogue.of_another import Follower
from cardan._robot.model import Model, Node


@public(returns=("nv",))
def passive_forces(model: Model, q: ArrayLike, v: ArrayLike) -> list[Scalar]:
    """Return damping v + friction sign(v) + stiffness (x - rest): what joints resist, and take from the drives.

    x are the coordinates of `limit_coordinates`. Of orientations rest - x is the turn to where x is rest, as
    `difference` gives it. What joints exert by themselves (`Joint.efforts`), as a cable does, is subtracted.
    `inverse_dynamics(...) + passive_forces(model, q, v)` is what the drives must give.

    Returns:
        Efforts [N m, N], shape (..., nv).

    Examples:
        >>> pendulum = cardan.robots.double_pendulum().model()
        >>> cardan.passive_forces(pendulum, [0.1, 0.2], [0.0, 0.0]).shape
        (2,)

    Peers: MuJoCo `mj_passive` (of the opposite sign: what the joints do).

    Source: Coulomb's and viscous friction, as URDF's <dynamics> has them; springs as MuJoCo's.
    """
    damping, friction = model.passive("damping"), model.passive("friction")
    # no comparison for a joint without friction
    dry = [0.0 if is_zero(f) else f * sign(rate) for f, rate in zip(friction, v, strict=True)]
    total = [d * rate + f for d, rate, f in zip(damping, v, dry, strict=True)]
    for node in model.nodes:
        if has_spring(node):
            stretched = zip(node.spring_stiffness, to_rest(node, q), strict=True)
            node.scatter(total, [-(k * e) for k, e in stretched])
        if node.joint.has_efforts:
            # what a joint exerts by itself, the drives need not give
            node.scatter(total, [-e for e in node.joint.efforts(node.configuration(q), node.velocity(v))])
        if isinstance(node.joint, Follower) and node.joint.own:
            node.scatter(total, _felt_friction(node.joint, node.configuration(q), node.velocity(v)))
    return total


def _felt_friction(joint: Follower, q: Vector, v: Vector) -> list[Scalar]:
    """Return F^T (f sign(F v)) of dry friction f along the coordinates of a joint that follows others."""
    felt: list[Scalar] = [0.0] * joint.nv
    for f, row in zip(joint.own.friction if joint.own else (), joint.slopes(q), strict=False):
        if not is_zero(f):
            force = f * sign(dot(row, v))
            felt = [e + g * force for e, g in zip(felt, row, strict=True)]
    return felt


def has_spring(node: Node) -> bool:
    return not all(map(is_zero, node.spring_stiffness))


def to_rest(node: Node, q: Vector) -> Sequence[Scalar]:
    """Return the way from a joint's configuration to where its spring does not pull: rest - x, nv numbers."""
    return node.joint.manifold.toward(node.configuration(q), node.spring_rest)
