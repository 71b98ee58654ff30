"""Closed loops: the joints that close them, as constraints on the tree.

A closing joint with frames p (of its parent) and c (of its child), which the tree holds at the pose X = X_pc, is closed
where X = X_J(q_J) for some q_J. With q_J the joint's configuration nearest to X, S and T its motion subspace and the
wrenches it resists, T^T S = 0, T orthonormal, the 6 - nv rows of each joint are

    residual    r = T^T e(X),   e = (R^T (p - p_J), log(R_J^T R))      [m, rad]: how far from closed, in axes of c
    Jacobian    K v = T^T V,   V = V_c - X^-1 V_p                      and K = dr/dq where r = 0
    bias        k = T^T (A - bias_J),   A = A_c - X^-1 A_p - V_c x V  at a = 0,   bias_J at v_J = S^+ V
                A = [a_c - a_p - (w_c + w_p) x v; wd_c - wd_p + w_c x w_p],   V = [v; w], a of points (`spin`)

so that a closed loop stays closed if K v = 0 and K a + k = 0. Poses, twists and accelerations are those relative to
the body at which the loop's two sides fork: only the joints between count, and a wrench on the child, with its opposite
on the parent, does work on them alone.

Source: Featherstone (2008), sections 3.5 (T), 8.2 and 8.3; the residual and its bias by q_J are made here, so that a
joint's own `nearest_configuration` and `motion_subspace` are all that is needed.
Cost: about 100 operations a joint of the loop.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from numbers import Real
from typing import Any, NamedTuple

from cardan._algebra.errors import DTypeError, MechanismError, first_of, quoted
from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import SE3, Force, Matrix3, Motion, MotionSubspace, Scalar, Vector3
from cardan._algebra.spatial.motion import sparse_complement
from cardan._algebra.spatial.rotations import rotation_vector_from_matrix
from cardan._dynamics.algorithms.linear import Rows, combined, coordinates
from cardan._dynamics.algorithms.spin import BodyMotion, across, at_rest
from cardan._dynamics.algorithms.tree import Relative, Vector, between, relative_kinematics
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.joints import Joint
from cardan._robot.model import Attachment, Connection, Model, Node
from cardan._robot.model.user_constraints import UserConstraint


class JointRows(NamedTuple):
    residual: list[Scalar]  # r, 6 - nv scalars
    wrenches: list[Force]  # the columns of T, in child axes
    q: tuple[Scalar, ...]  # the joint's configuration nearest to the pose
    S: MotionSubspace  # its motion subspace there


def joint_rows(joint: Joint, X: SE3, near: Sequence[Scalar] | None = None) -> JointRows:
    """Return the rows of a joint whose child frame has the pose X in its parent frame; `near`: a configuration."""
    q = joint.nearest_configuration(X, near)
    S = joint.subspace(q)
    T, e = sparse_complement(S), offset(X, joint.transform(q))
    return JointRows([wrench.dot(e) for wrench in T], list(T), q, S)


def offset(X: SE3, X_J: SE3) -> Motion:
    """Return e = (R^T (p - p_J), log(R_J^T R)): how far X is from X_J, along the axes of X."""
    (R, p), (R_J, p_J) = X, X_J
    return Motion(R.transpose_apply(p - p_J), rotation_vector_from_matrix(R_J.T @ R))


class Side(NamedTuple):
    """What leads from the fork of two frames to one of them, as of a closing joint."""

    nodes: list[Node]  # the joints between, outwards
    frame: SE3  # the frame in the last node, or in that of the fork if there is none
    on: int  # that node; -1 for the world

    def pose(self, relative: Relative) -> SE3:
        """Return the pose of the last node in the fork's."""
        return self.poses(relative)[-1] if self.nodes else SE3.identity()

    def poses(self, relative: Relative) -> list[SE3]:
        """Return the poses of the nodes in the fork's."""
        return list(accumulate((relative.X[node.index] for node in self.nodes), operator.matmul))

    def twist(self, relative: Relative, v: Vector) -> Motion:
        """Return the twist of the last node relative to the fork, in its own axes."""
        V = Motion.zero()
        for node in self.nodes:
            V = relative.X[node.index].inverse_act(V) + relative.S[node.index] @ node.velocity(v)
        return V

    def motion(self, relative: Relative, q: Vector, v: Vector, a: Vector | None, X: SE3) -> tuple[Motion, BodyMotion]:
        """Return how a frame X in the last node moves relative to the fork, in its own axes."""
        motion = at_rest()
        for node in self.nodes:
            motion = across(node, motion, relative, q, v, a)
        return X.inverse_act(self.twist(relative, v)), motion.at(X)

    def efforts(self, relative: Relative, force: Force) -> Iterator[tuple[int, Scalar]]:
        """Yield the efforts along v that a force on the last node, in its frame, asks of the joints between."""
        for node in reversed(self.nodes):
            yield from zip(node.v, relative.S[node.index].T @ force, strict=True)
            force = relative.X[node.index] @ force

    def rows(self, relative: Relative, X: SE3, T: Sequence[Force]) -> list[list[tuple[int, Scalar]]]:
        """Return what each of some wrenches, in a frame X in the last node, asks of the joints between."""
        before = accumulate((len(node.v) for node in self.nodes), initial=0)
        if len(T) * (len(self.nodes) + 1) < sum(before):
            return [list(self.efforts(relative, X @ wrench)) for wrench in T]
        columns: list[tuple[int, Motion]] = []
        for node in self.nodes:
            columns = [(j, relative.X[node.index].inverse_act(column)) for j, column in columns]
            columns += zip(node.v, relative.S[node.index], strict=True)
        moved = [(j, X.inverse_act(column)) for j, column in columns]
        return [[(j, wrench.dot(column)) for j, column in moved] for wrench in T]


class Loop:
    """A closing joint at a configuration of the tree: its rows of the constraints, in the letters of the head.

    With `along_node` rows are along the axes of the node that the child frame is on, where frames of files are turned
    against each other: the same constraints, in fewer operations. With `closed`, K and k are those of a closed loop,
    of K v = 0: points that the joint holds together are one.
    """

    level = 0  # how often what is held is differentiated already (`user_constraints`)

    def __init__(
        self, model: Model, relative: Relative, closure: Connection, along_node: bool = False, closed: bool = False
    ) -> None:
        self.relative, self.closure, self.joint = relative, closure, closure.joint
        self.along_node = along_node
        ends = (closure.parent, closure.parent_pose), (closure.child, closure.child_pose)
        own = ((model.attachment(body), X) for body, X in ends)
        self.parent, self.child = sides(model, *(Attachment(at.node, at.pose @ X) for at, X in own))
        # from the axes of the child frame to those of the rows
        self.turn = self.child.frame.rotation if along_node else Matrix3.identity()
        if along_node:
            self.child = self.child._replace(frame=SE3(None, self.child.frame.translation))
        # the child frame, along the rows' axes, in the node that the parent frame is on; and in the parent frame
        self.in_parent = self.parent.pose(relative).inverse() @ self.child.pose(relative) @ self.child.frame
        self.X = self.parent.frame.inverse() @ self.in_parent @ SE3(self.turn)
        self.q = self.joint.nearest_configuration(self.X)
        self.S = MotionSubspace(_snapped(_turned(self.turn, s)) for s in self.joint.subspace(self.q))
        self.T = list(sparse_complement(self.S))
        e = _turned(self.turn, offset(self.X, self.joint.transform(self.q)))
        self.residual = [wrench.dot(e) for wrench in self.T]
        self.holds = closed and all(is_zero(e) for s in self.S for e in s.linear)
        if self.holds:
            at = self.parent.frame @ self.joint.transform(self.q)
            self.in_parent = SE3(self.in_parent.rotation, at.translation)
        self.K: Rows = [[0.0] * model.nv for _ in self.T]
        for side, X, sign in ((self.child, self.child.frame, 1.0), (self.parent, self.in_parent, -1.0)):
            for row, efforts in zip(self.K, side.rows(relative, X, [wrench * sign for wrench in self.T]), strict=True):
                for j, e in efforts:
                    row[j] = row[j] + e

    def opening(self, q: Vector, v: Vector, a: Vector | None = None, rate: float = 0.0, stiffness: float = 0.0) -> Any:
        """Return K a + k, k by default, with terms that close an open loop: rate K v and stiffness r."""
        (V_c, c), (V_p, p) = (
            side.motion(self.relative, q, v, a, X)
            for side, X in ((self.child, self.child.frame), (self.parent, self.in_parent))
        )
        V, w_c, w_p = V_c - V_p, V_c.angular, V_p.angular
        parting = Vector3.zero() if self.holds else (w_c + w_p).cross(V.linear)
        A = Motion(c.origin - p.origin - parting, c.spin.rate - p.spin.rate + w_c.cross(w_p))
        gaps = [0.0 if stiffness == 0.0 else stiffness * gap for gap in self.residual]
        # a joint whose S changes as it moves accelerates by its bias: that opens nothing
        A = A - self.joint.bias(self.q, coordinates(self.S, V))
        A = A if rate == 0.0 else A + V * rate
        return [wrench.dot(A) + gap for wrench, gap in zip(self.T, gaps, strict=True)]

    def rate(self, q: Vector, v: Vector) -> list[Scalar]:
        """Return K v."""
        return self.opening(q, [0.0] * len(v), v)

    along = rate

    def efforts(self, multipliers: Sequence[Scalar]) -> Iterator[tuple[int, Scalar]]:
        """Yield K^T l, by the index in v: what the joint's wrenches ask of the joints of the loop."""
        own = self.on_nodes(combined(self.T, multipliers))
        for side, (_, force) in zip((self.child, self.parent), own, strict=True):
            yield from side.efforts(self.relative, force)

    def on_nodes(self, wrench: Force) -> list[tuple[int, Force]]:
        """Return what a wrench on the child, and its opposite on the parent, are on the nodes of both; -1: world."""
        return [(self.child.on, self.child.frame @ wrench), (self.parent.on, self.in_parent @ -wrench)]

    def wrench(self, multipliers: Sequence[Scalar]) -> Force:
        """Return T times multipliers: the wrench on the child, in the joint's child frame."""
        own = combined(self.T, multipliers)
        return Force(self.turn.transpose_apply(own.linear), self.turn.transpose_apply(own.angular))

    def rows(self, found: Sequence[Scalar]) -> list[Scalar]:
        """Return what stands in these rows in those of `loop_jacobian`: of a motion that T resists."""
        if not self.along_node:
            return list(found)
        turned = combined(self.T, found)
        motion = Motion(self.turn.transpose_apply(turned.linear), self.turn.transpose_apply(turned.angular))
        plain = sparse_complement(self.joint.subspace(self.q))
        return [wrench.dot(motion) for wrench in plain]

    @property
    def name(self) -> str:
        """That of the closing joint."""
        return self.closure.name

    @property
    def coordinates(self) -> set[int]:
        """The velocities that move its two frames against each other."""
        return {j for side in (self.parent, self.child) for node in side.nodes for j in node.v}

    @property
    def moves(self) -> bool:
        """Whether a joint of the tree moves its two frames against each other."""
        return any(not is_zero(e) for row in self.K for e in row)


SNAPPED = 1e-14  # what rounding leaves of an entry 0 or 1 of an axis


def _turned(turn: Matrix3, motion: Motion) -> Motion:
    return Motion(turn @ motion.linear, turn @ motion.angular)


def _snapped(motion: Motion) -> Motion:
    """Return a motion whose entries that are numbers near 0, 1 or -1 are these."""
    near = [round(float(e)) if isinstance(e, Real) else e for e in motion.scalars()]
    entries = [
        float(n) if isinstance(e, Real) and abs(e - n) < SNAPPED else e
        for e, n in zip(motion.scalars(), near, strict=True)
    ]
    return Motion(entries[:3], entries[3:])


Rowed = Loop | UserConstraint
"""What has rows in K: a closing joint, or a constraint that a user wrote."""


def loops(
    model: Model, relative: Relative, along_nodes: Sequence[bool] | None = None, closed: bool = False
) -> list[Loop]:
    """Return the closing joints of a model, in the order of `Model.closures`, with their constraints.

    `along_nodes` says of each whether its rows are along the axes of the node that its child frame is on, `closed` that
    they stay closed.
    """
    chosen = zip(model.closures, along_nodes or [False] * len(model.closures), strict=True)
    return [Loop(model, relative, closure, along_node, closed) for closure, along_node in chosen]


def constraints(
    model: Model, q: Vector, relative: Relative | None = None, along_nodes: Sequence[bool] | None = None
) -> list[Rowed]:
    """Return all that has rows: the closing joints of a model, then the constraints that users wrote."""
    closing = loops(model, relative or relative_kinematics(model, q), along_nodes) if model.closures else []
    return [*closing, *(UserConstraint(model, function, q) for function in model.constraints)]


@public
def loop_residual(model: Model, q: ArrayLike) -> list[Scalar]:
    """Return how far the closing joints are from closed.

    Args:
        model: a robot with closed loops.

    Returns:
        Gaps [m, rad], shape (..., nc), in the order of `model.closure_names`; 0 where the loops are closed.

    Raises:
        MechanismError: if the model has no loops, or a closing joint's configuration is found by a search.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> bool(np.abs(cardan.loop_residual(linkage, cardan.assemble(linkage))).max() < 1e-12)
        True

    Peers: MuJoCo's data.efc_pos of an equality.
    """
    with_loops(model, "loop_residual")
    return [e for loop in constraints(model, q) for e in loop.residual]


@public
def loop_jacobian(model: Model, q: ArrayLike) -> Rows:
    """Return K: velocities that keep the loops closed have K v = 0.

    It is the derivative of `loop_residual` where the loops are closed.

    Args:
        model: a robot with closed loops.

    Returns:
        K, shape (..., nc, nv), rows [m/s, rad/s] for each velocity of one.

    Raises:
        MechanismError: if the model has no loops.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> cardan.loop_jacobian(linkage, linkage.neutral()).shape[1] == linkage.nv
        True

    Peers: Pinocchio `getConstraintsJacobian`; MuJoCo's data.efc_J of an equality.
    """
    with_loops(model, "loop_jacobian")
    return [row for loop in constraints(model, q) for row in loop.K]


@public
def loop_bias(model: Model, q: ArrayLike, v: ArrayLike) -> list[Scalar]:
    """Return k: accelerations that keep the loops closed have K a + k = 0.

    Args:
        model: a robot with closed loops.

    Returns:
        k [m/s^2, rad/s^2], shape (..., nc).

    Raises:
        MechanismError: if the model has no loops.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q, rest = cardan.assemble(linkage), np.zeros(linkage.nv)
        >>> bool(np.allclose(cardan.loop_bias(linkage, q, rest), 0.0))
        True
    """
    with_loops(model, "loop_bias")
    return [e for loop in constraints(model, q) for e in loop.opening(q, v)]


def with_loops(model: Model, where: str) -> Model:
    if not model.has_loops:
        has_clusters = any(node.joint.is_placed for node in model.nodes)
        clusters = "; its loops are clusters, which cardan.normalize closes and which leave nv freedoms" * has_clusters
        raise MechanismError(
            f"{where}: model {model.name!r} has no joint that closes a loop, and no constraint{clusters}."
        )
    return model


def without_loops(model: Model, where: str) -> Model:
    if closing := model.constraint_names:
        what = "constraints" if model.constraints else "closed loops"
        named = first_of(list(map(quoted, closing)))
        raise MechanismError(
            f"{where}: model {model.name!r} has {what} ({named}), which its tree knows nothing of; use "
            "cardan.constrained_forward_dynamics or cardan.clustered, or model.spanning_tree() to leave them open."
        )
    return model


def check_no_accelerations(where: str, found: Iterable[Rowed]) -> None:
    """Raise for a constraint of accelerations where velocities are asked for."""
    if late := [loop.name for loop in found if loop.level == 2]:
        what = f"constraint {late[0]!r} is one of accelerations, and says nothing of a velocity"
        raise MechanismError(f"{where}: {what}; write it as a function of (model, q, v).")


def joint_coordinates(model: Model, names: Any) -> list[int]:
    """Return the velocity coordinates of joints of the tree."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        expected = f"a tuple: ({names!r},)" if isinstance(names, str) else "a tuple of names"
        raise DTypeError("loops", "joint names", got=repr(names), expected=expected)
    for name in names:
        if name in model.closure_names:
            hint = "closes a loop and has no coordinates; choose another closing joint, model(closing=[...])"
            raise MechanismError(f"joint {name!r} {hint}.")
    return sorted({i for name in names for i in range(model.nv)[model.v_slice(name)]})


def sides(model: Model, a: Attachment, b: Attachment) -> tuple[Side, Side]:
    """Return what leads to each of two places on nodes, from where the two fork."""
    path, other = between(model, a.node, b.node)
    return Side(path, a.pose, a.node), Side(other, b.pose, b.node)
