"""Poses and twists of chosen bodies, compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardan.algorithms.kinematics import Kinematics
from cardan.functions.function import function
from cardan.model import Model
from cardan.spatial import SE3, Matrix3, Motion, Vector3
from cardan.spatial.rotations import matrix_from_quaternion_xyzw, quaternion_xyzw_from_matrix


@function
def body_poses(model: Model, q: Any, bodies: Sequence[str] = ()) -> Any:
    """Return position [m] and quaternion xyzw of bodies in the world."""
    kinematics = Kinematics(model, q)
    poses = [kinematics.pose(body) for body in bodies]
    return [[*X.translation, *quaternion_xyzw_from_matrix(X.rotation)] for X in poses]


@function
def body_twists(model: Model, q: Any, v: Any, bodies: Sequence[str] = ()) -> Any:
    """Return the twists of bodies at their origins, each in its own axes."""
    kinematics = Kinematics(model, q, v)
    return [kinematics.twist(body) for body in bodies]


@function
def mass_center_twists(model: Model, q: Any, v: Any, bodies: Sequence[str] = ()) -> Any:
    """Return the velocities of bodies' centres of mass and their angular velocities, in world axes."""
    kinematics = Kinematics(model, q, v)
    return [_at_mass_center(model, kinematics, body) for body in bodies]


def _at_mass_center(model: Model, kinematics: Kinematics, body: str) -> Motion:
    inertia, twist, R = model.body(body).inertia, kinematics.twist(body), kinematics.pose(body).rotation
    com = Vector3.zero() if inertia is None else inertia.com
    return Motion(R @ (twist.linear + twist.angular.cross(com)), R @ twist.angular)


def pose_of_rows(rows: np.ndarray) -> SE3:
    """Return positions and quaternions xyzw of many worlds, (..., 7), as a pose of arrays."""
    columns = np.moveaxis(rows, -1, 0)
    lengths = np.linalg.norm(columns[3:], axis=0)
    return SE3(matrix_from_quaternion_xyzw(tuple(columns[3:] / lengths)), Vector3(*columns[:3]))


def pose_of_matrices(X: np.ndarray) -> SE3:
    """Return homogeneous matrices of many worlds, (..., 4, 4), as a pose of arrays."""
    return SE3(Matrix3(X[..., i, j] for i in range(3) for j in range(3)), Vector3(*np.moveaxis(X[..., :3, 3], -1, 0)))


def matrices_of(X: SE3, shape: tuple[int, ...]) -> np.ndarray:
    """Return a pose of arrays as homogeneous matrices, (*shape, 4, 4)."""
    entries = [np.broadcast_to(np.asarray(e, dtype=float), shape) for row in X.homogeneous() for e in row]
    return np.stack(entries, axis=-1).reshape(*shape, 4, 4)
