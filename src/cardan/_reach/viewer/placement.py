"""Where everything that is drawn is: the poses of all bodies and frames in all worlds, by one compiled call."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cardan._algebra.spatial import Matrix3
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._motion.simulation.kinematics import body_poses
from cardan._robot.model import Model


@dataclass(frozen=True, slots=True)
class Placement:
    rows: dict[str, int]  # where each one's pose is, by name
    positions: np.ndarray  # [m], shape (worlds, rows, 3)
    wxyz: np.ndarray  # unit quaternions, shape (worlds, rows, 4)

    def points(self, names: list[str], local: np.ndarray) -> np.ndarray:
        """Return points (n, 3), each in the axes of one body or frame, in the scene: shape (worlds, n, 3)."""
        rows = [self.rows[name] for name in names]
        return self.positions[:, rows] + rotated(self.wxyz[:, rows], local)

    def turns(self, names: list[str], local: np.ndarray) -> np.ndarray:
        """Return quaternions wxyz (n, 4), relative to one body or frame each, in the scene: shape (worlds, n, 4)."""
        return product(self.wxyz[:, [self.rows[name] for name in names]], local)

    def matrix(self, name: str, world: int) -> np.ndarray:
        row = self.rows[name]
        return pose_matrix(self.positions[world, row], self.wxyz[world, row])


def place_bodies(model: Model, q: np.ndarray, offsets: np.ndarray) -> Placement:
    """Return the poses of bodies and frames at configurations (worlds, nq), worlds at offsets (worlds, 3) [m]."""
    poses = body_poses(model, q, bodies=model.frame_names)
    rows = {name: row for row, name in enumerate(model.frame_names)}
    return Placement(rows, poses[..., :3] + offsets[:, None], poses[..., [6, 3, 4, 5]])


def grid(worlds: int, spacing: float) -> np.ndarray:
    """Return the origins of worlds in a square grid about the origin, shape (worlds, 3) [m]."""
    cells = np.stack(np.divmod(np.arange(worlds), math.ceil(math.sqrt(worlds))), axis=-1)[:, ::-1]
    middle = 0.5 * (cells.max(axis=0) + cells.min(axis=0))
    return np.column_stack([spacing * (cells - middle), np.zeros(worlds)])


# --- quaternions wxyz ---------------------------------------------------------------------------------------------


def rotated(wxyz: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return R(q) v = v + 2 w (u x v) + 2 u x (u x v), for q = (w, u)."""
    w, u = wxyz[..., :1], wxyz[..., 1:]
    across = np.cross(u, vectors)
    return vectors + 2.0 * (w * across + np.cross(u, across))


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the quaternion of the rotation b and then a."""
    w, x, y, z = np.moveaxis(a, -1, 0)
    s, i, j, k = np.moveaxis(np.asarray(b), -1, 0)
    found = w * s - x * i - y * j - z * k, w * i + x * s + y * k - z * j
    return np.stack([*found, w * j - x * k + y * s + z * i, w * k + x * j - y * i + z * s], axis=-1)


def pose_matrix(position: np.ndarray, wxyz: np.ndarray) -> np.ndarray:
    """Return a pose as a homogeneous matrix (4, 4), from a quaternion of any length but 0."""
    X = np.eye(4)
    X[:3, :3] = rotated(np.asarray(wxyz) / np.linalg.norm(wxyz), np.eye(3)).T
    X[:3, 3] = position
    return X


def quaternion_wxyz(R: np.ndarray) -> np.ndarray:
    xyzw = quaternion_xyzw_from_matrix(Matrix3(float(e) for e in np.ravel(R)))
    return np.array(xyzw, dtype=float)[[3, 0, 1, 2]]
