"""Subspaces of motions and of forces: a joint's freedoms, and what their motions feel or a joint resists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from cardan._algebra.arrays import stack
from cardan._algebra.spatial.motion import Columns, Force, Motion
from cardan._algebra.spatial.vector import Scalar


class ForceSubspace(Columns[Force]):
    """The columns of a matrix (6 x n), each a force or a momentum, such as I S.

    `np.array(F)` and `F.matrix()` are of shape (6, n); `X @ F` and `V.cross(F)` map every column.

    Args:
        columns: forces.

    Examples:
        >>> S = cardan.joints.Revolute(axis=(0.0, 0.0, 1.0)).subspace([0.5])
        >>> U = cardan.Inertia(mass=2.0, com=(0.3, 0.0, 0.0)) @ S
        >>> np.array(U).shape, S.T @ U[0]
        ((6, 1), (0.18,))
    """

    __slots__ = ()


class MotionSubspace(Columns[Motion]):
    """The columns of S (6 x nv), each a motion: `S @ v` is a twist, `S.T @ f` the joint torques of a wrench.

    `np.array(S)` and `S.matrix()` are of shape (6, nv). `X @ S`, `X.inverse_act(S)`, `V.cross(S)` and `I @ S` map
    every column; `S.T @ (I @ S)` is the matrix S^T I S.

    Args:
        columns: motions.

    Examples:
        >>> S = cardan.spatial.MotionSubspace([cardan.Motion((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))])
        >>> S @ [2.0], S.matrix().shape
        (Motion(linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 2.0)), (6, 1))
        >>> (cardan.SE3.from_translation((1.0, 0.0, 0.0)) @ S)[0].linear
        (0.0, -1.0, 0.0)

    Peers: Pinocchio `JointMotionSubspace` (`se3Action` is X @ S, `motionAction` V.cross(S)), RigidBodyDynamics.jl
    `motion_subspace`.
    """

    __slots__ = ()

    def __matmul__(self, v: Sequence[Scalar]) -> Motion:
        total = Motion.zero()
        for column, rate in zip(self, v, strict=True):
            total = total + column * rate
        return total

    @property
    def T(self) -> Transposed:
        """The transpose, which maps a wrench to joint torques."""
        return Transposed(self)


class Transposed:
    """S^T of a motion subspace."""

    __slots__ = ("_columns",)
    __array_ufunc__ = None

    def __init__(self, columns: MotionSubspace) -> None:
        self._columns = columns

    @overload
    def __matmul__(self, f: Force) -> tuple[Scalar, ...]: ...
    @overload
    def __matmul__(self, f: ForceSubspace) -> np.ndarray: ...
    def __matmul__(self, f: Any) -> Any:
        if not isinstance(f, ForceSubspace):
            return tuple(column.dot(f) for column in self._columns)
        rows = [[column.dot(force) for force in f] for column in self._columns]
        return stack(rows) if self._columns and f else np.zeros((len(self._columns), len(f)))


def applied(matrix: Any, S: Columns[Any]) -> ForceSubspace:
    """Return what a map from motions to forces, such as an inertia, makes of every column."""
    return ForceSubspace(matrix @ column for column in S)
