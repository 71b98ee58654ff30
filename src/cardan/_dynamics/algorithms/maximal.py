"""From coordinates to the poses and twists of the links, and back: generalised and maximal coordinates.

A link is the child body of a joint that moves; those fixed to one another are one. Forwards,

    X_wl, V_l        by the outward recursion (`kinematics.py`)

Backwards, joint by joint, each from the frames p and c that its two links carry,

    X = X_wp^-1 X_wc           q = the joint's configuration whose pose X_J(q) is nearest to X
    V = V_c - X^-1 V_p         v = S(q)^+ V
    residual = (R^T (p - p_J), log(R_J^T R))        with (R, p) = X, (R_J, p_J) = X_J(q)

A mimic joint has no coordinates: its residual is what its primary's do not explain.

Source: Featherstone (2008), sections 2.8 and 3.6; Newton's `eval_fk` and `eval_ik` for the names.
Cost: about 80 operations a joint forwards and backwards, where the joint has a closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3
from cardan._algebra.spatial.rotations import (
    matrix_from_quaternion_xyzw,
    quaternion_xyzw_from_matrix,
)
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.linear import coordinates
from cardan._dynamics.algorithms.rows import offset
from cardan._dynamics.algorithms.tree import Vector, of_parent
from cardan._robot.joints import Mimic
from cardan._robot.model import Model, Node

# scalars here; arrays from the compiled functions
Rows = TypeVar("Rows")


class MaximalState(NamedTuple, Generic[Rows]):
    """Poses and twists of the links, in the order of `Model.link_names`.

    Attributes:
        poses: of each in the world: position [m], then quaternion (x, y, z, w).
        twists: of each [linear; angular] [m/s, rad/s], at its origin in its own axes.
    """

    poses: Rows
    twists: Rows


class GeneralisedState(NamedTuple, Generic[Rows]):
    """Coordinates of a mechanism whose links have given poses and twists.

    Attributes:
        q: configuration.
        v: velocity.
        residual: for each link what of its pose its joint does not allow [m, rad], along the joint's child axes.
    """

    q: Rows
    v: Rows
    residual: Rows


def eval_fk(model: Model, q: Vector, v: Vector) -> MaximalState[list[list[Scalar]]]:
    """Return the poses and twists of the links."""
    kinematics = Kinematics(model, q, v)
    poses = [pose_scalars(kinematics.pose(link)) for link in model.link_names]
    return MaximalState(poses, [list(kinematics.twist(link).scalars()) for link in model.link_names])


def eval_ik(
    model: Model, poses: Sequence[Vector], twists: Sequence[Vector], near: Vector | None = None
) -> GeneralisedState[list[Scalar]]:
    """Return the coordinates of the links' poses and twists.

    Args:
        model: the robot.
        poses: of the links.
        twists: of the links.
        near: a configuration such as the last one: of several coordinates of one pose the nearest are returned.
    """
    X, V = node_states(model, poses, twists)
    return coordinates_of(model, X, V, near)


def coordinates_of(
    model: Model, X: Sequence[SE3], V: Sequence[Motion], near: Vector | None = None
) -> GeneralisedState[list[Any]]:
    """Return the coordinates of the nodes' poses in the world and twists."""
    q: list[Scalar] = [0.0] * model.nq
    v: list[Scalar] = [0.0] * model.nv
    for node in model.nodes:
        if not isinstance(node.joint, Mimic):
            own = node.joint.nearest_configuration(across(node, X), None if near is None else node.configuration(near))
            S = node.joint.motion_subspace(own)
            _set(q, node.q, own)
            _set(v, node.v, coordinates(S, relative_twist(node, X, V)))
    residuals = {
        node.name: offset(across(node, X), node.joint.transform(node.configuration(q))) for node in model.nodes
    }
    return GeneralisedState(q, v, [list(residuals[c.name].scalars()) for c in model.connections if c.joint.nv])


def node_states(model: Model, poses: Sequence[Vector], twists: Sequence[Vector]) -> tuple[list[SE3], list[Motion]]:
    """Return the poses in the world and the twists of the nodes, of those of the links."""
    X: list[SE3] = [SE3.identity()] * len(model.nodes)
    V: list[Motion] = [Motion.zero()] * len(model.nodes)
    for link, x, twist in zip(model.link_names, poses, twists, strict=True):
        at = model.attachment(link)
        to_node = at.pose.inverse()
        X[at.node], V[at.node] = pose_of(x) @ to_node, at.pose @ Motion.of(tuple(twist))
    return X, V


def across(node: Node, X: Sequence[SE3]) -> SE3:
    """Return the pose of a joint's child frame, the node's, in its parent frame."""
    return (of_parent(X, node.parent, SE3.identity()) @ node.placement).inverse() @ X[node.index]


def relative_twist(node: Node, X: Sequence[SE3], V: Sequence[Motion]) -> Motion:
    """Return the twist of a node relative to its parent, in its own axes."""
    if node.parent < 0:
        return V[node.index]
    return V[node.index] - across(node, X).inverse_act(node.placement.inverse_act(V[node.parent]))


def pose_of(scalars: Vector) -> SE3:
    """Return the pose of a position and a quaternion (x, y, z, w) of any length but 0."""
    return SE3(matrix_from_quaternion_xyzw(tuple(scalars[3:])), Vector3(*scalars[:3]))


def pose_scalars(X: SE3) -> list[Scalar]:
    """Return the position and the quaternion (x, y, z, w) of a pose."""
    return [*X.translation, *quaternion_xyzw_from_matrix(X.rotation)]


def _set(values: list[Scalar], indices: Sequence[int], own: Sequence[Scalar]) -> None:
    for i, value in zip(indices, own, strict=True):
        values[i] = value
