"""Frame Jacobians and their time derivative.

V_r = J v, in the reference (see `kinematics`). With X_rk the pose of node k in the reference,

    J_k = X_rk S_k          dJ_k/dt = X_rk (dS_k/dt + V_k x S_k) - W_r x J_k

for every node k that supports the frame, zero for the others; relative to another frame, less those that support it.

Source: Featherstone (2008), section 4.5; the rate follows from d(X_wk)/dt = X_wk [V_k].
Cost: about 30 operations a supporting joint beyond its pose.
"""

from __future__ import annotations

from collections.abc import Iterable

from cardan._algebra.spatial import SE3, Motion, MotionSubspace
from cardan._dynamics.algorithms.kinematics import Kinematics, Reference
from cardan._dynamics.algorithms.linear import Rows
from cardan._dynamics.algorithms.tree import Vector, supports
from cardan._robot.model import Model, Node


def jacobian(
    model: Model, q: Vector, frame: str, at: str = "frame", expressed_in: str = "world", relative_to: str = "world"
) -> Rows:
    """Return J (6 x nv): the twist of a frame relative to another is J v."""
    kinematics = Kinematics(model, q)
    columns = [Motion.zero()] * model.nv
    for node, X_rk, sign in _supporting(kinematics, frame, Reference.of(frame, at, expressed_in), relative_to):
        _accumulate(columns, node, (X_rk @ s for s in kinematics.relative.S[node.index]), sign)
    return MotionSubspace(columns).rows()


def jacobian_derivative(
    model: Model,
    q: Vector,
    v: Vector,
    frame: str,
    at: str = "frame",
    expressed_in: str = "world",
    relative_to: str = "world",
) -> Rows:
    """Return dJ/dt (6 x nv) while q moves with velocity v."""
    kinematics = Kinematics(model, q, v)
    reference = Reference.of(frame, at, expressed_in)
    W = kinematics.reference_twist(reference)
    columns = [Motion.zero()] * model.nv
    for node, X_rk, sign in _supporting(kinematics, frame, reference, relative_to):
        rates = subspace_rates(kinematics, node, q, v)
        S = kinematics.relative.S[node.index]
        _accumulate(columns, node, (X_rk @ dS - W.cross(X_rk @ s) for s, dS in zip(S, rates, strict=True)), sign)
    return MotionSubspace(columns).rows()


def subspace_rates(kinematics: Kinematics, node: Node, q: Vector, v: Vector) -> list[Motion]:
    """Return dS/dt + V x S of a node: the rate of its motion subspace as the world sees it, in node coordinates."""
    assert kinematics.twists is not None
    rates = node.joint.motion_subspace_rate(node.configuration(q), node.velocity(v))
    V, S = kinematics.twists[node.index], kinematics.relative.S[node.index]
    return [dS + V.cross(s) for s, dS in zip(S, rates, strict=True)]


def _supporting(
    kinematics: Kinematics, frame: str, reference: Reference, relative_to: str
) -> Iterable[tuple[Node, SE3, int]]:
    """Yield the nodes that move the frame relative to the other, each with its pose in the reference and its sign.

    What moves both moves neither relative to the other.
    """
    X_rw = kinematics.reference_pose(reference).inverse()
    model = kinematics.model
    path, other = (supports(model, model.attachment(name).node) for name in (frame, relative_to))
    for these, those, sign in ((path, other, 1), (other, path, -1)):
        for index in these:
            if index not in those:
                yield model.nodes[index], X_rw @ kinematics.poses[index], sign


def _accumulate(columns: list[Motion], node: Node, part: Iterable[Motion], sign: int) -> None:
    for i, column in zip(node.v, part, strict=True):
        columns[i] = columns[i] + column if sign > 0 else columns[i] - column
