"""Spatial motions and forces (Plucker coordinates), linear part first.

A `Motion` is a twist or spatial acceleration [v; w]; a `Force` is a wrench [f; n], a momentum or an impulse. Both are
expressed in one frame, at its origin. Their pairing f . m is power and does not depend on the frame.

Source: Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 2 (there with the angular part first).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import sqrt as float_sqrt
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np

from cardan._algebra.arrays import stack
from cardan._algebra.errors import DTypeError
from cardan._algebra.explained import ExplainedNames
from cardan._algebra.scalar import is_zero, sqrt, where
from cardan._algebra.spatial.vector import Scalar, Vector3, components

Column = TypeVar("Column", bound="_Spatial")


class AppliedByMatmul(ExplainedNames):
    """What maps by `@`, as its matrix does, and is a tuple within: `*`, which would repeat the tuple, is refused."""

    __slots__ = ()
    __array_ufunc__ = None

    def __mul__(self, other: Any) -> Any:
        raise self._refusal(f"{type(self).__name__} * {type(other).__name__}", "X @ V")

    def __rmul__(self, other: Any) -> Any:
        raise self._refusal(f"{type(other).__name__} * {type(self).__name__}", "X @ V, the map on the left")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.matrix(), dtype=dtype)  # pyright: ignore[reportAttributeAccessIssue] -- each has one

    @staticmethod
    def _refusal(got: str, expected: str) -> DTypeError:
        return DTypeError("cardan.spatial", "*", got=got, expected=f"`@`, as in {expected}")


class _Spatial(ExplainedNames, tuple[Any, Any]):
    """Two vectors, linear and angular; the arithmetic motions and forces share."""

    __slots__ = ()
    __array_ufunc__ = None

    def __new__(cls, linear: Any, angular: Any) -> Self:
        return tuple.__new__(cls, (Vector3.of(linear, "linear"), Vector3.of(angular, "angular")))

    def __getnewargs__(self) -> tuple[Vector3, Vector3]:
        return self[0], self[1]

    @classmethod
    def zero(cls) -> Self:
        """Return zero."""
        return cls(Vector3.zero(), Vector3.zero())

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return `value` (six scalars, linear first, or an array of shape (..., 6))."""
        if isinstance(value, cls):
            return value
        c = components(value, (6,), cls.__name__)
        return cls(Vector3(*c[:3]), Vector3(*c[3:]))

    @property
    def linear(self) -> Vector3:
        """The linear part: velocity of the point at the origin, or force."""
        return self[0]

    @property
    def angular(self) -> Vector3:
        """The angular part: angular velocity, or moment about the origin."""
        return self[1]

    def __add__(self, other: Any) -> Self:
        return type(self)(self[0] + other[0], self[1] + other[1])

    def __sub__(self, other: Any) -> Self:
        return type(self)(self[0] - other[0], self[1] - other[1])

    def __neg__(self) -> Self:
        return type(self)(-self[0], -self[1])

    def __mul__(self, factor: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        if isinstance(factor, AppliedByMatmul):
            return NotImplemented
        return type(self)(self[0] * factor, self[1] * factor)

    def __rmul__(self, factor: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.__mul__(factor)

    def scalars(self) -> tuple[Scalar, ...]:
        """Return the six scalars, linear first."""
        return (*self[0], *self[1])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(stack(self.scalars()), dtype=dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(linear={tuple(self[0])}, angular={tuple(self[1])})"


class Force(_Spatial):
    """A wrench, momentum or impulse [f; n].

    Args:
        linear: force [N], three scalars or shape (..., 3).
        angular: moment about the origin [N m], likewise.

    Throughout:
        motion: a twist, at the same origin and axes.

    Examples:
        >>> weight = cardan.Force(linear=(0.0, 0.0, -9.81), angular=(0.0, 0.0, 0.0))
        >>> weight.dot(cardan.Motion((0.0, 0.0, 1.0), (0.0, 0.0, 0.0)))
        -9.81
    """

    __slots__ = ()

    def dot(self, motion: Motion) -> Scalar:
        """Return the pairing with a motion: power."""
        return self[0].dot(motion[0]) + self[1].dot(motion[1])


class Motion(_Spatial):
    """A twist or spatial acceleration [v; w].

    Args:
        linear: velocity of the point at the origin [m/s], three scalars or shape (..., 3).
        angular: [rad/s], likewise.

    Throughout:
        force: a wrench, at the same origin and axes.
        other: a motion or a wrench, or several as a subspace.

    Examples:
        >>> screw = cardan.Motion(linear=(0.0, 0.0, 0.1), angular=(0.0, 0.0, 1.0))
        >>> screw.dot(cardan.Force((0.0, 0.0, 5.0), (0.0, 0.0, 0.0)))
        0.5
        >>> screw.cross(screw)
        Motion(linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0))
        >>> cardan.Motion.vee(screw.wedge())
        Motion(linear=(0.0, 0.0, 0.1), angular=(0.0, 0.0, 1.0))
    """

    __slots__ = ()

    def dot(self, force: Force) -> Scalar:
        """Return the pairing with a force: power."""
        return self[0].dot(force[0]) + self[1].dot(force[1])

    def wedge(self) -> np.ndarray:
        """Return the 4x4 matrix [[w] v; 0 0] [m/s, rad/s], shape (..., 4, 4): X^-1 dX/dt of a pose with this twist."""
        rows = [[*row, e] for row, e in zip(self[1].skew().rows(), self[0], strict=True)]
        return stack([*rows, [0.0, 0.0, 0.0, 0.0]])

    @classmethod
    def vee(cls, matrix: Any) -> Motion:
        """Return the motion whose `wedge` is a matrix; of its upper left block the skew part counts.

        Args:
            matrix: 4x4 rows of scalars, or an array of shape (..., 4, 4).

        Raises:
            ShapeError: for another shape.
        """
        e = components(matrix, (4, 4), "matrix")
        x, y, z, _ = (e[4 * k : 4 * k + 4] for k in range(4))
        return cls((x[3], y[3], z[3]), (0.5 * (z[1] - y[2]), 0.5 * (x[2] - z[0]), 0.5 * (y[0] - x[1])))

    @overload
    def cross(self, other: Motion) -> Motion: ...
    @overload
    def cross(self, other: Force) -> Force: ...
    @overload
    def cross(self, other: Columns[Any]) -> Columns[Any]: ...
    def cross(self, other: Any) -> Any:
        """Return self x other: the rate of change of a motion, or (dual) of a force, that moves with this twist.

        [v; w] x  [a; b] = [w x a + v x b; w x b]        for a motion
        [v; w] x* [f; n] = [w x f; w x n + v x f]        for a force

        Of a subspace, that of each column.
        """
        if isinstance(other, Columns):
            return other.each(self.cross)
        v, w = self
        a, b = other
        if isinstance(other, Force):
            return Force(w.cross(a), w.cross(b) + v.cross(a))
        return Motion(w.cross(a) + v.cross(b), w.cross(b))


class Columns(AppliedByMatmul, tuple[Column, ...], Generic[Column]):
    """Several motions, or several forces: the columns of a matrix of six rows."""

    __slots__ = ()

    def __new__(cls, columns: Iterable[Column]) -> Self:
        return tuple.__new__(cls, columns)

    def each(self, function: Callable[[Any], Any]) -> Columns[Any]:
        """Return the same of what a function makes of each column.

        Args:
            function: of a column, to another of the same kind.
        """
        return type(self)(function(column) for column in self)

    def rows(self) -> list[list[Scalar]]:
        """Return the six rows, a scalar for each column in them."""
        if not self:
            return [[] for _ in range(6)]
        return [list(row) for row in zip(*(column.scalars() for column in self), strict=True)]

    def matrix(self) -> np.ndarray:
        """Return the matrix, shape (..., 6, columns), in the units of the columns; dtype object if they are symbols."""
        return stack(self.rows()) if self else np.zeros((6, 0))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)})"


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
        >>> (cardan.SE3(translation=(1.0, 0.0, 0.0)) @ S)[0].linear
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

    def _torques(self, f: Force) -> tuple[Scalar, ...]:
        """Return what a wrench does along the columns."""
        return tuple(column.dot(f) for column in self)

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
            return self._columns._torques(f)
        columns = [self._columns._torques(force) for force in f]
        return (
            stack(list(zip(*columns, strict=True))) if self._columns and f else np.zeros((len(self._columns), len(f)))
        )


def applied(matrix: Any, S: Columns[Any]) -> ForceSubspace:
    """Return what a map from motions to forces, such as an inertia, makes of every column."""
    return ForceSubspace(matrix @ column for column in S)


def orthogonal_complement(columns: Sequence[Motion]) -> ForceSubspace:
    """Return 6 - n orthonormal wrenches orthogonal to n motions."""
    found = _complement([list(column.scalars()) for column in columns], 6)
    return ForceSubspace(Force(e[:3], e[3:]) for e in found)


def sparse_complement(columns: Sequence[Motion]) -> ForceSubspace:
    """Return another basis of the same wrenches: each component that no motion has, whatever its symbols, by itself.

    So the ball joint's are three forces, also by Euler angles at their singularity.
    """
    work = [list(column.scalars()) for column in columns]
    moved = [i for i in range(6) if not all(is_zero(column[i]) for column in work)]
    if len(moved) < len(work):  # fewer components than motions: these always depend on one another
        return orthogonal_complement(columns)
    mixed = []
    for part in _complement([[column[i] for i in moved] for column in work], len(moved)):
        values = dict(zip(moved, part, strict=True))
        mixed.append([values.get(i, 0.0) for i in range(6)])
    single = [[float(i == j) for i in range(6)] for j in range(6) if j not in moved]
    return ForceSubspace(Force(e[:3], e[3:]) for e in (*single, *mixed))


def _complement(work: list[list[Scalar]], size: int) -> list[list[Scalar]]:
    """Return an orthonormal basis of the complement of n vectors of a size, by Householder reflections.

    The product of the reflections that make the vectors upper triangular maps the last unit vectors to the complement;
    this holds at singular configurations, where the vectors depend on one another, too.

    Source: Golub and Van Loan, Matrix Computations (2013), section 5.2.
    """
    reflections: list[tuple[int, list[Scalar], Scalar]] = []
    for k, column in enumerate(work):
        u, scale = _reflection(column, k)
        reflections.append((k, u, scale))
        for other in work[k + 1 :]:
            _reflect(other, k, u, scale)
    basis = []
    for j in range(len(work), size):
        e: list[Scalar] = [float(i == j) for i in range(size)]
        for k, u, scale in reversed(reflections):
            _reflect(e, k, u, scale)
        basis.append(e)
    return basis


def _reflection(x: list[Scalar], k: int) -> tuple[list[Scalar], Scalar]:
    """Return u and 2 / u.u with (1 - 2 u u^T / u.u) x = (.., -+|x|, 0, .., 0) from entry k on.

    The sign changes at x_k = -|x| / 2, where nothing cancels, and not at 0, where rounding would decide it.
    """
    tail = x[k:]
    square = _dot(tail, tail)
    norm = float_sqrt(square) if isinstance(square, float) else sqrt(square)
    head = tail[0] + where(tail[0] < -0.5 * norm, -norm, norm)
    u = [head, *tail[1:]]
    length = _dot(u, u)
    vanishes = length <= 0.0  # the guarded division is finite on both branches, and so are its derivatives
    return u, where(vanishes, 0.0, 2.0 / where(vanishes, 1.0, length))


def _reflect(x: list[Scalar], k: int, u: list[Scalar], scale: Scalar) -> None:
    amount = _dot(u, x[k:]) * scale
    for i, e in enumerate(u):
        x[k + i] = x[k + i] - e * amount


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)
