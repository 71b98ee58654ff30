"""The motion subspace of a joint: a basis of the twists it allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cardan.spatial.motion import Force, Motion
from cardan.spatial.vector import Scalar
from cardan.words import Explained


class MotionSubspace(Explained, tuple[Motion, ...]):
    """The columns of S (6 x nv), each a motion: `S @ v` is a twist, `S.T @ f` the joint torques of a wrench.

    Args:
        columns: motions.

    Examples:
        >>> S = cardan.spatial.MotionSubspace([cardan.Motion((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))])
        >>> S @ [2.0], len(S.rows())
        (Motion(linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 2.0)), 6)
    """

    __slots__ = ()
    __array_ufunc__ = None

    def __new__(cls, columns: Iterable[Motion]) -> MotionSubspace:
        return tuple.__new__(cls, columns)

    def __matmul__(self, v: Sequence[Scalar]) -> Motion:
        total = Motion.zero()
        for column, rate in zip(self, v, strict=True):
            total = total + column * rate
        return total

    @property
    def T(self) -> Transposed:
        """The transpose, which maps a wrench to joint torques."""
        return Transposed(self)

    def rows(self) -> list[list[Scalar]]:
        """Return S as six rows of nv scalars."""
        if not self:
            return [[] for _ in range(6)]
        return [list(row) for row in zip(*(column.scalars() for column in self), strict=True)]


class Transposed:
    """S^T of a motion subspace."""

    __slots__ = ("_columns",)
    __array_ufunc__ = None

    def __init__(self, columns: MotionSubspace) -> None:
        self._columns = columns

    def __matmul__(self, f: Force) -> tuple[Scalar, ...]:
        return tuple(column.dot(f) for column in self._columns)
