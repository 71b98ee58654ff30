"""What a joint leaves fixed, as rows: how far a pose is from it, and the wrenches that would bring it back.

Of the pose X of a joint's child frame in its parent frame, with q the joint's configuration nearest to X, S and T its
motion subspace and the wrenches it resists there, T^T S = 0, T orthonormal,

    C = T^T e(X),   e = (R^T (p - p_J), log(R_J^T R))       [m, rad]      dC/dt = T^T V where C = 0

with (R, p) = X, (R_J, p_J) = X_J(q) and V the twist of the child frame relative to the parent frame, in child axes.
Nothing but the joint's own definition is used: no joint type is named.

Source: Featherstone (2008), sections 3.5 and 8.2, for T; the residual by q is made here.
Cost: about 100 operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan._algebra.spatial import SE3, Force, Motion, MotionSubspace, Scalar
from cardan._algebra.spatial.rotations import rotation_vector_from_matrix
from cardan._robot.joints import Joint
from cardan._robot.joints.wrench import sparse_complement


class JointRows(NamedTuple):
    residual: list[Scalar]  # C, 6 - nv scalars
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
