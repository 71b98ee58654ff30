"""How one and the same turn is written: an angle as a number or a point on the circle, a rotation in five ways.

angle    cos_sin    sin_cos            about a given axis
xyzw    wxyz    mrp    zyx    rpy      quaternions, Rodrigues parameters, the angles of Rz(yaw) Ry(pitch) Rx(roll)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from cardan.joints import Joint
from cardan.manifolds import MRP, UnitComplex
from cardan.scalar import atan2, cos, sin
from cardan.spatial import Matrix3, Scalar
from cardan.spatial.rotations import (
    matrix_from_quaternion_xyzw,
    matrix_from_zyx,
    quaternion_multiply_xyzw,
    quaternion_xyzw_from_matrix,
    zyx_from_matrix,
)

Scalars = Sequence[Scalar]
Circle = Literal["angle", "cos_sin", "sin_cos"]
Quaternion = Literal["xyzw", "wxyz"]
Rotation = Literal["xyzw", "wxyz", "mrp", "zyx", "rpy"]

SIZES = {"angle": 1, "cos_sin": 2, "sin_cos": 2, "xyzw": 4, "wxyz": 4, "mrp": 3, "zyx": 3, "rpy": 3}
NAMES = {
    "angle": "the angle",
    "cos_sin": "(cos, sin)",
    "sin_cos": "(sin, cos)",
    "xyzw": "quaternion (x, y, z, w)",
    "wxyz": "quaternion (w, x, y, z)",
    "mrp": "Rodrigues parameters",
    "rpy": "roll, pitch, yaw",
}
ONE = Matrix3.identity()


def circle_form(manifold: Any) -> Circle:
    """Return how a space of angles writes them."""
    return manifold.order if isinstance(manifold, UnitComplex) else "angle"


def rotation_form(joint: Joint) -> Rotation:
    """Return how a ball joint, or a free one, writes its rotation."""
    space = getattr(joint.manifold, "orientation", joint.manifold)
    return "mrp" if isinstance(space, MRP) else "xyzw" if space.nq == 4 else "zyx"


def as_circle(q: Scalars, form: Circle, other: Circle) -> list[Scalar]:
    """Return an angle given in a form in another."""
    if form == other:
        return list(q)
    c, s = (cos(q[0]), sin(q[0])) if form == "angle" else UnitComplex(form).cos_sin(q)
    return [atan2(s, c)] if other == "angle" else list(UnitComplex(other).pack(c, s))


def as_rotation(q: Scalars, form: Rotation, other: Rotation, left: Matrix3 = ONE, right: Matrix3 = ONE) -> list[Scalar]:
    """Return left R right, R given in a form, in another; equal forms and identities cost nothing."""
    if left == right == ONE:
        if form == other:
            return list(q)
        if {form, other} == {"zyx", "rpy"}:
            return list(q)[::-1]
    return list(_FROM_XYZW[other](_turned(left, _TO_XYZW[form](q), right)))


def _turned(left: Matrix3, quaternion: Scalars, right: Matrix3) -> Scalars:
    if left != ONE:
        quaternion = quaternion_multiply_xyzw(quaternion_xyzw_from_matrix(left), quaternion)
    if right != ONE:
        quaternion = quaternion_multiply_xyzw(quaternion, quaternion_xyzw_from_matrix(right))
    return quaternion


def _zyx(quaternion: Scalars) -> Scalars:
    return tuple(zyx_from_matrix(matrix_from_quaternion_xyzw(quaternion)))


_TO_XYZW: dict[str, Callable[[Scalars], Scalars]] = {
    "xyzw": tuple,
    "wxyz": lambda q: (*q[1:], q[0]),
    "mrp": MRP().quaternion_xyzw,
    "zyx": lambda q: quaternion_xyzw_from_matrix(matrix_from_zyx(q)),
    "rpy": lambda q: quaternion_xyzw_from_matrix(matrix_from_zyx(q[::-1])),
}
_FROM_XYZW: dict[str, Callable[[Scalars], Scalars]] = {
    "xyzw": tuple,
    "wxyz": lambda q: (q[3], *q[:3]),
    "mrp": MRP().from_quaternion_xyzw,
    "zyx": _zyx,
    "rpy": lambda q: _zyx(q)[::-1],
}
