"""A general map from motions to forces: four 3x3 blocks, without symmetry."""

from __future__ import annotations

from typing import Any

from cardan._algebra.spatial.inertia import Inertia
from cardan._algebra.spatial.motion import Force, Motion
from cardan._algebra.spatial.se3 import SE3
from cardan._algebra.spatial.vector import Matrix3


class SpatialMatrix(tuple[Any, ...]):
    """The blocks (A, B, C, D) of [f; n] = [[A, B], [C, D]] [v; w].

    Args:
        A: by v, in f.
        B: by w, in f.
        C: by v, in n.
        D: by w, in n.

    Throughout:
        X: X_ab; the matrix is given in b, and returned in a.
        m: a motion.

    Examples:
        >>> zero = cardan.spatial.SpatialMatrix.zero()
        >>> f = zero.transpose_apply(cardan.Motion((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
        >>> moved = zero.transformed(cardan.SE3())
    """

    __slots__ = ()
    __array_ufunc__ = None

    def __new__(cls, A: Matrix3, B: Matrix3, C: Matrix3, D: Matrix3) -> SpatialMatrix:
        return tuple.__new__(cls, (A, B, C, D))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    @staticmethod
    def zero() -> SpatialMatrix:
        """Return zero."""
        return SpatialMatrix(*(Matrix3.zero() for _ in range(4)))

    def __matmul__(self, m: Motion) -> Force:
        A, B, C, D = self
        return Force(A @ m.linear + B @ m.angular, C @ m.linear + D @ m.angular)

    def transpose_apply(self, m: Motion) -> Force:
        """Return self^T m."""
        A, B, C, D = self
        linear = A.transpose_apply(m.linear) + C.transpose_apply(m.angular)
        return Force(linear, B.transpose_apply(m.linear) + D.transpose_apply(m.angular))

    def __add__(self, other: Any) -> SpatialMatrix:
        return SpatialMatrix(*(a + b for a, b in zip(self, other, strict=True)))

    def transformed(self, X: SE3) -> SpatialMatrix:
        """Return X* self X^-1, the same map between motions and forces of the outer frame."""
        R, p = X
        A, B, C, D = (block.rotated(R) for block in self)
        P = p.skew()
        PA = P @ A
        return SpatialMatrix(A, B - A @ P, C + PA, D - (C + PA) @ P + P @ B)


def momentum_rate_matrix(inertia: Inertia, twist: Motion) -> SpatialMatrix:
    """Return B with B m = m x* (I v) - I (v x m): what a body's Coriolis force adds to its mass matrix's rate.

    Args:
        inertia: of the body, in its own axes.
        twist: of the body, in its own axes.

    Examples:
        >>> rod, twist = cardan.Inertia(mass=2.0), cardan.Motion((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
        >>> B = cardan.spatial.momentum_rate_matrix(rod, twist)
    """
    m, h, J = inertia
    v, w = (part.skew() for part in twist)
    H = h.skew()
    linear, angular = ((part).skew() for part in inertia @ twist)
    Hw = H @ w
    return SpatialMatrix(-(w * m), Hw - v * m - linear, -Hw - linear, -(J.matrix() @ w) - H @ v - angular)
