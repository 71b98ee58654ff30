"""Frame Jacobians and their time derivative.

V_r = J v, in the reference (see `kinematics`). With X_rk the pose of node k in the reference,

    J_k = X_rk S_k          dJ_k/dt = X_rk (dS_k/dt + V_k x S_k) - W_r x J_k

for every node k that supports the frame, zero for the others; relative to another frame, less those that support it.

Source: Featherstone (2008), section 4.5; the rate follows from d(X_wk)/dt = X_wk [V_k].
Cost: about 30 operations a supporting joint beyond its pose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cardan._algebra.spatial import SE3, Motion, MotionSubspace
from cardan._dynamics.algorithms.kinematics import FrameName, Frames, Kinematics, Reference, each_frame
from cardan._dynamics.algorithms.linear import Rows
from cardan._dynamics.algorithms.tree import Relative, Vector, between
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model, Node


@public(returns=(6, "nv"))
def jacobian(
    model: Model,
    q: ArrayLike,
    frame: Frames,
    *,
    at: FrameName = "frame",
    expressed_in: FrameName = "world",
    relative_to: str = "world",
) -> Rows | list[Rows]:
    """Return the Jacobian J of a body or frame: its twist is J v.

    Returns:
        J, shape (..., 6, nv), or (..., n, 6, nv): three linear rows [m/s], then three angular ones [rad/s], for each
        velocity of one [rad/s, m/s].

    Examples:
        >>> cardan.jacobian(arm, q, "tool").shape
        (6, 7)
        >>> cardan.jacobian(arm, q, ("upper_arm_roll", "tool"), at="frame", expressed_in="frame").shape
        (2, 6, 7)

    Peers: Pinocchio `computeFrameJacobian` `getFrameJacobian` `computeJointJacobian`, MuJoCo `mj_jac` `mj_jacBody`
    `mj_jacSite`, Drake `CalcJacobianSpatialVelocity` (angular first), iDynTree `getFrameFreeFloatingJacobian`
    `getRelativeJacobian`, RigidBodyDynamics.jl `geometric_jacobian` (angular first, at the world's origin), Newton
    `eval_jacobian` (of centres of mass), roboticstoolbox `jacob0` `jacobe`.
    """
    kinematics = Kinematics(model, q)
    return each_frame(model, frame, lambda name: _jacobian(kinematics, name, at, expressed_in, relative_to))


@public(returns=(6, "nv"))
def jacobian_derivative(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: Frames,
    *,
    at: FrameName = "frame",
    expressed_in: FrameName = "world",
    relative_to: str = "world",
) -> Rows | list[Rows]:
    """Return dJ/dt while q moves with velocity v: the frame's acceleration is J a + dJ/dt v.

    Returns:
        dJ/dt, shape (..., 6, nv), or (..., n, 6, nv), rows as those of `jacobian`, by the second.

    Examples:
        >>> cardan.jacobian_derivative(arm, q, v, "tool").shape
        (6, 7)

    Peers: Pinocchio `frameJacobianTimeVariation` `getFrameJacobianTimeVariation`, MuJoCo `mj_jacDot`.
    """
    kinematics = Kinematics(model, q, v)
    return each_frame(model, frame, lambda name: _rate(kinematics, q, v, name, at, expressed_in, relative_to))


def _jacobian(kinematics: Kinematics, frame: str, at: str, expressed_in: str, relative_to: str) -> Rows:
    return MotionSubspace(columns_of(kinematics, frame, Reference.of(frame, at, expressed_in), relative_to)).rows()


def columns_of(kinematics: Kinematics, frame: str, reference: Reference, relative_to: str) -> list[Motion]:
    """Return for each velocity of one the twist of a frame relative to another, in the reference."""
    columns = [Motion.zero()] * kinematics.model.nv
    for node, X_rk, sign in _supporting(kinematics, frame, reference, relative_to):
        _accumulate(columns, node, (X_rk @ s for s in kinematics.relative.S[node.index]), sign)
    return columns


def _rate(
    kinematics: Kinematics, q: Vector, v: Vector, frame: str, at: str, expressed_in: str, relative_to: str
) -> Rows:
    reference = Reference.of(frame, at, expressed_in)
    W, V = kinematics.reference_twist(reference), kinematics.twists
    assert V is not None
    columns = [Motion.zero()] * kinematics.model.nv
    for node, X_rk, sign in _supporting(kinematics, frame, reference, relative_to):
        rates = subspace_rates(kinematics.relative, V, node, q, v)
        S = kinematics.relative.S[node.index]
        _accumulate(columns, node, (X_rk @ dS - W.cross(X_rk @ s) for s, dS in zip(S, rates, strict=True)), sign)
    return MotionSubspace(columns).rows()


def subspace_rates(relative: Relative, V: Sequence[Motion], node: Node, q: Vector, v: Vector) -> list[Motion]:
    """Return dS/dt + V x S of a node: the rate of its motion subspace as the world sees it, in node coordinates."""
    rates = node.joint.motion_subspace_rate(node.configuration(q), node.velocity(v))
    return [dS + V[node.index].cross(s) for s, dS in zip(relative.S[node.index], rates, strict=True)]


def _supporting(
    kinematics: Kinematics, frame: str, reference: Reference, relative_to: str
) -> Iterable[tuple[Node, SE3, int]]:
    """Yield the nodes that move the frame relative to the other, each with its pose in the reference and its sign.

    What moves both moves neither relative to the other.
    """
    X_rw = kinematics.reference_pose(reference).inverse()
    model = kinematics.model
    own = between(model, *(model.attachment(name).node for name in (frame, relative_to)))
    for nodes, sign in zip(own, (1, -1), strict=True):
        for node in nodes:
            yield node, X_rw @ kinematics.poses[node.index], sign


def _accumulate(columns: list[Motion], node: Node, part: Iterable[Motion], sign: int) -> None:
    for i, column in zip(node.v, part, strict=True):
        columns[i] = columns[i] + column if sign > 0 else columns[i] - column
