"""How one and the same turn is written: an angle as a number or a point on the circle, a rotation in five ways.

angle    cos_sin    sin_cos            about a given axis
xyzw    wxyz    mrp    zyx    rpy      quaternions, Rodrigues parameters, the angles of Rz(yaw) Ry(pitch) Rx(roll)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from cardan._algebra.manifolds import MRP, Manifold, UnitComplex, UnitQuaternion
from cardan._algebra.scalar import atan2, cos, sin
from cardan._algebra.spatial import Matrix3, Scalar
from cardan._algebra.spatial.rotations import (
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
ONE = Matrix3.identity()

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


def form_of(space: Manifold) -> Any:
    """Return how a configuration space of joints that turn writes its turn; of three numbers, it is zyx."""
    turn = getattr(space, "orientation", getattr(space, "heading", space))
    if isinstance(turn, UnitComplex):
        return turn.order
    if isinstance(turn, UnitQuaternion):
        return "xyzw"
    if isinstance(turn, MRP):
        return "mrp"
    return "zyx" if turn.nq > 1 else "angle"


def rewritten(q: Scalars, form: str, other: str, left: Matrix3 = ONE, right: Matrix3 = ONE) -> list[Scalar]:
    """Return a turn in another form, a rotation R as left R right; equal forms and identities cost nothing."""
    if left == right == ONE:
        if form == other:
            return list(q)
        if {form, other} == {"zyx", "rpy"}:
            return list(q)[::-1]
    turn = _READ[form](q)
    if left != ONE:
        turn = quaternion_multiply_xyzw(quaternion_xyzw_from_matrix(left), turn)
    if right != ONE:
        turn = quaternion_multiply_xyzw(turn, quaternion_xyzw_from_matrix(right))
    return list(_WRITE[other](turn))


def _zyx(quaternion: Scalars) -> Scalars:
    return tuple(zyx_from_matrix(matrix_from_quaternion_xyzw(quaternion)))


_READ: dict[str, Callable[[Scalars], Scalars]] = {
    "angle": lambda q: (cos(q[0]), sin(q[0])),
    "cos_sin": tuple,
    "sin_cos": lambda q: (q[1], q[0]),
    "xyzw": tuple,
    "wxyz": lambda q: (*q[1:], q[0]),
    "mrp": MRP().quaternion_xyzw,
    "zyx": lambda q: quaternion_xyzw_from_matrix(matrix_from_zyx(q)),
    "rpy": lambda q: quaternion_xyzw_from_matrix(matrix_from_zyx(q[::-1])),
}
"""(cos, sin) or a quaternion (x, y, z, w) from each form."""
_WRITE: dict[str, Callable[[Scalars], Scalars]] = {
    "angle": lambda q: (atan2(q[1], q[0]),),
    "cos_sin": tuple,
    "sin_cos": lambda q: (q[1], q[0]),
    "xyzw": tuple,
    "wxyz": lambda q: (q[3], *q[:3]),
    "mrp": MRP().from_quaternion_xyzw,
    "zyx": _zyx,
    "rpy": lambda q: _zyx(q)[::-1],
}
