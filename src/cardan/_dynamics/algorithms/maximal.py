"""From coordinates to the poses and twists of the links, and back: generalised and maximal coordinates.

A link is the child body of a joint that moves; those fixed to one another are one. Forwards,

    X_wl, V_l        by the outward recursion (`kinematics.py`)

Backwards, joint by joint, each from the frames p and c that its two links carry,

    X = X_wp^-1 X_wc           q = the joint's configuration whose pose X_J(q) is nearest to X
    V = V_c - X^-1 V_p         v = S(q)^+ V
    residual = (R^T (p - p_J), log(R_J^T R))        with (R, p) = X, (R_J, p_J) = X_J(q)

A mimic joint has no coordinates: its residual is what its primary's do not explain.

Source: Featherstone (2008), sections 2.8, 3.6 and 5.3; Newton's `eval_fk` and `eval_ik` for the names.
Cost: about 80 operations a joint forwards and backwards, where the joint has a closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3
from cardan._algebra.spatial.rotations import matrix_from_quaternion_xyzw, quaternion_xyzw_from_matrix
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.linear import coordinates
from cardan._dynamics.algorithms.loops import offset
from cardan._dynamics.algorithms.tree import Vector, of_parent
from cardan._dynamics.call.public import ArrayLike, Reals, public
from cardan._robot.model import Model, Node

POSES, TWISTS = ("nlinks", 7), ("nlinks", 6)

# scalars here; arrays from the compiled functions
Rows = TypeVar("Rows")


class MaximalState(NamedTuple, Generic[Rows]):
    """Poses and twists of the links, in the order of `model.link_names`.

    Attributes:
        poses: position in the world [m] and quaternion (x, y, z, w) with w >= 0, shape (..., nlinks, 7).
        twists: [linear; angular] [m/s, rad/s], shape (..., nlinks, 6), at the link's origin in its own axes.
    """

    poses: Rows
    twists: Rows


class GeneralisedState(NamedTuple, Generic[Rows]):
    """Coordinates of a mechanism whose links have given poses and twists.

    Attributes:
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        residual: for each link what of its pose its joint does not allow, position [m] and rotation vector [rad] along
            the joint's child axes, shape (..., nlinks, 6). A mimic joint's is what its primary's coordinates do not
            explain.
    """

    q: Rows
    v: Rows
    residual: Rows


@public(result=MaximalState[Reals])
def eval_fk(model: Model, q: ArrayLike, v: ArrayLike) -> MaximalState[list[list[Scalar]]]:
    """Return the poses and twists of the moving links.

    Examples:
        >>> poses, twists = cardan.eval_fk(arm, q, v)
        >>> poses.shape, twists.shape
        ((7, 7), (7, 6))

    Peers: Newton `eval_fk` (whose twists are those of the centres of mass, in world axes).
    """
    kinematics = Kinematics(model, q, v, loops=True)

    def pose(link: Any) -> list[Scalar]:
        X = kinematics.pose(link)
        return [*X.translation, *quaternion_xyzw_from_matrix(X.rotation)]

    poses, twists = (kinematics.of_bodies(of, model.link_names) for of in (pose, kinematics.twist))
    return MaximalState(poses, twists)


@public(result=GeneralisedState[Reals], shapes={"poses": POSES, "twists": TWISTS, "near": ("nq",)})
def eval_ik(
    model: Model, poses: ArrayLike, twists: ArrayLike, near: ArrayLike | None = None, *, residual: Any = True
) -> Any:
    """Return the coordinates whose links have the given poses and twists, joint by joint.

    Not what brings a tool somewhere: every link's pose is given. Where it does not lie in its joint, the nearest that
    does is taken, and `residual` says what is left.

    Args:
        poses: of the moving links as `eval_fk` returns them [m, -], shape (..., nlinks, 7); quaternions of any length
            but 0.
        twists: of the moving links [m/s, rad/s], shape (..., nlinks, 6).
        near: configurations [rad, m], shape (..., nq), such as the last ones: of several coordinates of one pose (turns
            of an angle, a quaternion and its opposite, Euler angles beyond pi/2) the nearest are returned. Joints
            without a closed form of their inverse are searched from there, which is quicker and finds the right branch.
        residual: False to leave it out, for poses that are known to lie in their joints: then the result is the pair
            (q, v), in a third to a half of the time.

    Examples:
        >>> poses, twists = cardan.eval_fk(arm, q, v)
        >>> q1, v1, residual = cardan.eval_ik(arm, poses, twists, near=q)
        >>> bool(np.allclose(q1, q) and np.allclose(v1, v) and np.allclose(residual, 0.0))
        True

    Peers: Newton `eval_ik`.

    Source: each joint's inverse (`Joint.nearest_configuration`); Featherstone (2008), section 3.6, for v = S^+ V.
    """
    X, V = node_states(model, poses, twists)
    found = coordinates_of(model, X, V, near)
    return found if residual else found[:2]


def coordinates_of(
    model: Model, X: Sequence[SE3], V: Sequence[Motion], near: Vector | None = None
) -> GeneralisedState[list[Any]]:
    q: list[Scalar] = [0.0] * model.nq
    v: list[Scalar] = [0.0] * model.nv
    for node in model.nodes:
        # its coordinates are its primary's, which has set them
        if not node.joint.primaries:
            own = node.joint.nearest_configuration(across(node, X), None if near is None else node.configuration(near))
            S = node.joint.motion_subspace(own)
            _set(q, node.q, own)
            _set(v, node.v, coordinates(S, relative_twist(node, X, V)))
    # when all coordinates are found: a mimic joint may come before its primary
    residuals = {
        node.name: offset(across(node, X), node.joint.transform(node.configuration(q))) for node in model.nodes
    }
    return GeneralisedState(q, v, [list(residuals[c.name].scalars()) for c in model.connections if c.joint.nv])


def node_states(model: Model, poses: Sequence[Vector], twists: Sequence[Vector]) -> tuple[list[SE3], list[Motion]]:
    X: list[SE3] = [SE3.identity()] * len(model.nodes)
    V: list[Motion] = [Motion.zero()] * len(model.nodes)
    for link, x, twist in zip(model.link_names, poses, twists, strict=True):
        at = model.attachment(link)
        pose = SE3(matrix_from_quaternion_xyzw(tuple(x[3:])), Vector3(*x[:3]))
        X[at.node], V[at.node] = pose @ at.pose.inverse(), at.pose @ Motion.of(tuple(twist))
    return X, V


def across(node: Node, X: Sequence[SE3]) -> SE3:
    """Return the pose of a joint's child frame, the node's, in its parent frame."""
    return (of_parent(X, node.parent, SE3.identity()) @ node.placement).inverse() @ X[node.index]


def relative_twist(node: Node, X: Sequence[SE3], V: Sequence[Motion]) -> Motion:
    """Return the twist of a node relative to its parent, in its own axes."""
    if node.parent < 0:
        return V[node.index]
    return V[node.index] - across(node, X).inverse_act(node.placement.inverse_act(V[node.parent]))


def _set(values: list[Scalar], indices: Sequence[int], own: Sequence[Scalar]) -> None:
    for i, value in zip(indices, own, strict=True):
        values[i] = value
