"""Quaternions in either order, turned from both sides."""

from __future__ import annotations

from typing import Literal

from cardan.interop.chart import Scalars
from cardan.spatial import Matrix3, Scalar
from cardan.spatial.rotations import quaternion_multiply_xyzw, quaternion_xyzw_from_matrix

Order = Literal["xyzw", "wxyz"]


def reordered(quaternion: Scalars, order: Order) -> list[Scalar]:
    """Return a quaternion (x, y, z, w) in an order."""
    x, y, z, w = quaternion
    return [x, y, z, w] if order == "xyzw" else [w, x, y, z]


def to_xyzw(quaternion: Scalars, order: Order) -> list[Scalar]:
    """Return a quaternion given in an order as (x, y, z, w)."""
    if order == "xyzw":
        return list(quaternion)
    w, x, y, z = quaternion
    return [x, y, z, w]


def turned(left: Matrix3, quaternion: Scalars, right: Matrix3) -> list[Scalar]:
    """Return the quaternion of left R right; identities cost nothing."""
    if left != Matrix3.identity():
        quaternion = quaternion_multiply_xyzw(quaternion_xyzw_from_matrix(left), quaternion)
    if right != Matrix3.identity():
        quaternion = quaternion_multiply_xyzw(quaternion, quaternion_xyzw_from_matrix(right))
    return list(quaternion)
