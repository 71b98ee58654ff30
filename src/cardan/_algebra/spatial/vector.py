"""Three-dimensional vectors and matrices over scalars of any type.

The components are separate scalars: a component may be a float, a whole batch (a NumPy array) or a symbol. An exact
float zero or one among them stays a float, which is how a traced program loses what a robot does not need.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np

from cardan._algebra.arrays import array_of, stack, symbolic
from cardan._algebra.checked_numbers import numbers
from cardan._algebra.errors import ParameterError, ShapeError, users_line
from cardan._algebra.scalar import Scalar, is_finite, is_symbol, is_zero, sqrt
from cardan._algebra.spatial.composition import noted


def components(value: Any, shape: tuple[int, ...], name: str, hint: str = "") -> tuple[Scalar, ...]:
    """Return the entries of `value`, row by row, as separate scalars.

    Args:
        value: nested sequences of scalars of the given shape, or an array of shape (..., *shape), whose entries then
            are arrays of the leading shape.
        shape: `(3,)`, `(3, 3)`, ...
        name: what to call it in an error.
        hint: what is likely to be meant by another shape.

    Raises:
        ShapeError: if the shape does not fit.

    Examples:
        >>> cardan.spatial.components([[1.0, 2.0], [3.0, 4.0]], (2, 2), "matrix")
        (1.0, 2.0, 3.0, 4.0)
    """
    if isinstance(value, np.ndarray):
        if value.ndim < len(shape) or value.shape[value.ndim - len(shape) :] != shape:
            expected = f"(..., {', '.join(map(str, shape))})"
            raise ShapeError("cardan.spatial", name, got=value.shape, expected=expected, hint=hint)
        entries = (value[(..., *index)] for index in np.ndindex(*shape))
        # Batches are copied: what is made of an array does not change with it.
        return tuple(e.copy() if e.ndim else float(e) if e.dtype.kind in "fiu" else e[()] for e in entries)
    rows = [value]
    for size in shape:
        if any(not hasattr(row, "__len__") or len(row) != size for row in rows):
            raise ShapeError("cardan.spatial", name, got=np.shape(value), expected=str(shape), hint=hint)
        rows = [entry for row in rows for entry in row]
    return tuple(scalar_of(name, e) for e in rows)


def scalar_of(name: str, value: Any) -> Any:
    """Return a scalar of any type, whole numbers and NumPy's as floats; raise for what is no single scalar."""
    if type(value) is float:  # first, as this runs for every entry of every vector
        return value
    if isinstance(value, np.ndarray) and value.dtype == object:
        hint = f"One scalar is needed{users_line()}: np.cos(q[0]) instead of np.cos(q)."
        raise ShapeError("cardan.spatial", f"entry of {name}", got=value.shape, expected="()", hint=hint)
    if isinstance(value, _NO_SCALARS) or (type(value) is int and not is_finite(value)):
        raise ParameterError(name, got=value, expected="a number")
    if type(value) is int or (isinstance(value, (np.generic, np.ndarray)) and not value.ndim and value.dtype != object):
        return float(value)
    return value


_NO_SCALARS = (str, bytes, bool, complex, list, tuple, dict, type(None))
_NO_SCALARS += (np.flexible, np.bool_, np.datetime64, np.timedelta64)


def as_arrays(value: Any) -> Any:
    """Return an argument of NumPy's functions with arrays in place of vectors and matrices."""
    if isinstance(value, (Vector3, Matrix3)):
        return array_of(value)
    return type(value)(map(as_arrays, value)) if type(value) in (list, tuple) else value


class _Arrays:
    """What vectors and matrices are to NumPy: its operators leave the work to us, its functions get arrays."""

    __slots__ = ()
    __array_ufunc__ = None

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*as_arrays(args), **kwargs)


class Vector3(_Arrays, tuple[Any, Any, Any]):
    """Three scalars (x, y, z).

    It combines as an array of shape (3,) does: `v + w`, `v * w` component by component, `v @ w` the inner product.
    A NumPy array of numbers as a factor is a batch of numbers, one scalar.

    Args:
        x: first scalar, of any unit.
        y: second.
        z: third.

    Throughout:
        value: three scalars, or an array of shape (..., 3).
        name: what to call it in an error.
        other: a vector.

    Examples:
        >>> x = cardan.spatial.Vector3(1.0, 0.0, 0.0)
        >>> y = cardan.spatial.Vector3.of([0.0, 2.0, 0.0]) + cardan.spatial.Vector3.zero()
        >>> x.cross(y), x.dot(y), y.norm(), y.norm_squared()
        ((0.0, 0.0, 2.0), 0.0, 2.0, 4.0)
        >>> x.outer(y)[0, 1], x.skew()[1, 2]
        (2.0, -1.0)
    """

    __slots__ = ()

    def __new__(cls, x: Scalar, y: Scalar, z: Scalar) -> Vector3:
        return tuple.__new__(cls, (x, y, z))

    def __getnewargs__(self) -> tuple[Scalar, Scalar, Scalar]:
        return (self[0], self[1], self[2])

    @staticmethod
    def of(value: Any, name: str = "vector") -> Vector3:
        """Return `value` (three scalars, or an array of shape (..., 3)) as a vector."""
        return value if type(value) is Vector3 else Vector3(*components(value, (3,), name))

    @staticmethod
    def zero() -> Vector3:
        """Return the zero vector."""
        return _ZERO

    @property
    def x(self) -> Scalar:
        """The first component."""
        return self[0]

    @property
    def y(self) -> Scalar:
        """The second component."""
        return self[1]

    @property
    def z(self) -> Scalar:
        """The third component."""
        return self[2]

    def __add__(self, other: Any) -> Vector3:
        return Vector3(self[0] + other[0], self[1] + other[1], self[2] + other[2])

    __radd__ = __add__

    def __sub__(self, other: Any) -> Vector3:
        return Vector3(self[0] - other[0], self[1] - other[1], self[2] - other[2])

    def __rsub__(self, other: Any) -> Vector3:
        return Vector3(other[0] - self[0], other[1] - self[1], other[2] - self[2])

    def __neg__(self) -> Vector3:
        return Vector3(-self[0], -self[1], -self[2])

    def __mul__(self: Vector3, factor: Any) -> Vector3:
        a, b, c = factor if _is_nested(factor) else (factor, factor, factor)
        return Vector3(self[0] * a, self[1] * b, self[2] * c)

    __rmul__: ClassVar[Callable[[Vector3, Any], Vector3]] = __mul__

    def __truediv__(self, divisor: Any) -> Vector3:
        a, b, c = divisor if _is_nested(divisor) else (divisor, divisor, divisor)
        return Vector3(self[0] / a, self[1] / b, self[2] / c)

    def __matmul__(self, other: Any) -> Any:
        """Return the inner product with a vector, or the row self^T M of a matrix."""
        matrix = _matrix(other, (self,))
        return self.dot(other) if matrix is None else matrix.transpose_apply(self)

    def __rmatmul__(self, other: Any) -> Any:
        matrix = _matrix(other, (self,))
        return self.dot(other) if matrix is None else matrix @ self

    def dot(self, other: Any) -> Scalar:
        """Return the inner product."""
        return self[0] * other[0] + self[1] * other[1] + self[2] * other[2]

    def cross(self, other: Any) -> Vector3:
        """Return the vector product self x other."""
        a, b, c = self
        x, y, z = other
        return Vector3(b * z - c * y, c * x - a * z, a * y - b * x)

    def norm_squared(self) -> Scalar:
        """Return the squared length."""
        return self.dot(self)

    def norm(self) -> Scalar:
        """Return the length."""
        return sqrt(self.dot(self))

    def skew(self) -> Matrix3:
        """Return the matrix [u] with [u] v = u x v."""
        x, y, z = self
        return Matrix3((0.0, -z, y, z, 0.0, -x, -y, x, 0.0))

    def outer(self, other: Any) -> Matrix3:
        """Return the matrix with entries self_i other_j."""
        return Matrix3(tuple(a * b for a in self for b in other))


_ZERO = Vector3(0.0, 0.0, 0.0)
_vector = partial(tuple.__new__, Vector3)


class Matrix3(_Arrays, tuple[Vector3, Vector3, Vector3]):
    """Three rows of three scalars; made of its nine entries, row by row, or of its rows.

    `R[i]` is a row, `R[i, j]` an entry, `R[:, j]` a column, `np.array(R)` the array of shape (..., 3, 3).

    Args:
        entries: nine scalars, row by row, or three rows; of any unit.

    Throughout:
        value: nested sequences of scalars, or an array of shape (..., 3, 3).
        name: what to call it in an error.
        x, y, z: entries of the diagonal; of `from_columns`, the columns.
        vector: three scalars.
        R: a rotation.

    Examples:
        >>> R = cardan.spatial.Matrix3.of(np.eye(3))
        >>> R.trace(), list(R.rows())[0], list(R.columns())[2], R.entries()[0]
        (3.0, (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), 1.0)
        >>> R.transpose_apply(cardan.spatial.Vector3(1.0, 2.0, 3.0))
        (1.0, 2.0, 3.0)
        >>> D = cardan.spatial.Matrix3.diagonal(1.0, 2.0, 3.0) @ cardan.spatial.Matrix3.identity()
        >>> columns = cardan.spatial.Matrix3.from_columns(*D.columns()) + cardan.spatial.Matrix3.zero()
        >>> columns == D, D.axial(), D.rotated(R) == D
        (True, (0.0, 0.0, 0.0), True)
    """

    __slots__ = ()

    def __new__(cls, entries: Iterable[Any]) -> Matrix3:
        flat = tuple(entries)
        if len(flat) == 9:
            flat = (flat[0:3], flat[3:6], flat[6:9])
        elif len(flat) != 3:
            raise ShapeError("cardan.spatial", "matrix", got=(len(flat),), expected="nine entries, or three rows")
        return tuple.__new__(cls, map(_vector, flat))

    @staticmethod
    def of(value: Any, name: str = "matrix", hint: str = "") -> Matrix3:
        """Return a value as a matrix.

        Args:
            value: 3x3 nested sequences, or an array of shape (..., 3, 3).
            name: what to call it in an error.
            hint: what is likely to be meant by another shape.
        """
        return value if type(value) is Matrix3 else Matrix3(components(value, (3, 3), name, hint))

    @staticmethod
    def identity() -> Matrix3:
        """Return the identity."""
        return _IDENTITY

    @staticmethod
    def zero() -> Matrix3:
        """Return the zero matrix."""
        return Matrix3((0.0,) * 9)

    @staticmethod
    def diagonal(x: Scalar, y: Scalar, z: Scalar) -> Matrix3:
        """Return the diagonal matrix."""
        return Matrix3((x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z))

    @staticmethod
    def from_columns(x: Any, y: Any, z: Any) -> Matrix3:
        """Return the matrix with the given columns."""
        return Matrix3(zip(x, y, z, strict=True))

    @overload
    def __getitem__(self, index: int) -> Vector3: ...
    @overload
    def __getitem__(self, index: Any) -> Any: ...
    def __getitem__(self, index: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        if type(index) is not tuple:
            if type(index) is int and not -3 <= index < 3:
                raise IndexError(f"Matrix3 has rows 0 to 2, got {index}; an entry is R[i, j], all nine are R.entries()")
            return tuple.__getitem__(self, index)
        picked = symbolic(self.entries(), (3, 3))[index]
        if not isinstance(picked, np.ndarray):
            return picked
        return Vector3(*picked) if picked.shape == (3,) else stack(picked.tolist())

    def entries(self) -> tuple[Scalar, ...]:
        """Return the nine entries, row by row."""
        a, b, c = self
        return (*a, *b, *c)

    def rows(self) -> tuple[Vector3, Vector3, Vector3]:
        """Return the three rows."""
        x, y, z = self
        return x, y, z

    def columns(self) -> Iterator[Vector3]:
        """Yield the three columns."""
        return map(_vector, zip(*self, strict=True))

    @property
    def T(self) -> Matrix3:
        """The transpose."""
        (a, b, c), (d, e, f), (g, h, i) = self
        return noted(Matrix3((a, d, g, b, e, h, c, f, i)), "inverse", self)

    def __matmul__(self, other: Any) -> Any:
        (a, b, c), (d, e, f), (g, h, i) = self
        if type(other) is not Matrix3:
            matrix = None if type(other) is Vector3 else _matrix(other, self)
            if matrix is not None:
                return self @ matrix
            x, y, z = other
            return Vector3(a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z)
        product = Matrix3.from_columns(*(self @ column for column in other.columns()))
        return noted(product, "product", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        matrix = _matrix(other, self)
        return self.transpose_apply(other) if matrix is None else matrix @ self

    def transpose_apply(self, vector: Any) -> Vector3:
        """Return self.T @ vector."""
        (a, b, c), (d, e, f), (g, h, i) = self
        x, y, z = vector
        return Vector3(a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z)

    def __add__(self, other: Any) -> Matrix3:
        return Matrix3(a + b for a, b in zip(self, other, strict=True))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Matrix3:
        return Matrix3(a - b for a, b in zip(self, other, strict=True))

    def __rsub__(self, other: Any) -> Matrix3:
        return Matrix3(b - a for a, b in zip(self, other, strict=True))

    def __neg__(self) -> Matrix3:
        return Matrix3(-row for row in self)

    def __mul__(self: Matrix3, factor: Any) -> Matrix3:
        rows = factor if _is_nested(factor) else (factor, factor, factor)
        return Matrix3(a * b for a, b in zip(self, rows, strict=True))

    __rmul__: ClassVar[Callable[[Matrix3, Any], Matrix3]] = __mul__

    def __truediv__(self, divisor: Any) -> Matrix3:
        rows = divisor if _is_nested(divisor) else (divisor, divisor, divisor)
        return Matrix3(a / b for a, b in zip(self, rows, strict=True))

    def rotated(self, R: Matrix3) -> Matrix3:
        """Return R self R^T."""
        turn = plane_turn(R)
        return turn.of(self) if turn and turn.saves(self.entries()) else R @ self @ R.T

    def trace(self) -> Scalar:
        """Return the sum of the diagonal."""
        a, b, c = self
        return a[0] + b[1] + c[2]

    def axial(self) -> Vector3:
        """Return the vector u of the skew part: (self - self.T) / 2 = [u]."""
        (_, b, c), (d, _, f), (g, h, _) = self
        return Vector3(h - f, c - g, d - b) * 0.5

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(stack(self), dtype=dtype)


_IDENTITY = Matrix3.diagonal(1.0, 1.0, 1.0)


def _is_nested(value: Any) -> bool:
    """Return whether a factor has entries of its own; an array of numbers is a batch of one scalar."""
    return isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.dtype == object)


def _matrix(value: Any, beside: Iterable[Vector3]) -> Matrix3 | None:
    """Return what stands at the other side of an @ as a matrix; None if it is a vector.

    Beside entries that are batches, an array holds batches, too: three of them, one for each component.
    """
    if type(value) is Matrix3:
        return value
    if isinstance(value, np.ndarray):
        batched = any(isinstance(e, np.ndarray) for row in beside for e in row)
        return Matrix3.of(value) if value.shape[-2:] == (3, 3) and not batched else None
    nested = isinstance(value, (tuple, list)) and all(isinstance(row, (tuple, list)) for row in value)
    return Matrix3.of(value) if nested else None


class PlaneTurn(NamedTuple):
    """A rotation that turns one plane and takes the axis across it to a coordinate axis.

    Around the entry `sign` = +-1 in its row and column it is [[a, b], [-s b, s a]], a^2 + b^2 = 1, s = +-1. Of a block
    G of a matrix R G R^T has the trace and the difference of the entries off the diagonal, so that one number makes it,

        e = b (G_22 - G_11) + a (G_12 + G_21):    [[G_11 + b e, s (a e - G_21)], [s (a e - G_12), G_22 - b e]]

    which takes half of the operations, and none of what is isotropic or skew. Moments of inertia that are far smaller
    than others would be their difference so: what is symmetric is turned by products that are made once, a^2, b^2, a b,
    and a moment is a sum of moments.
    """

    row: int  # of the entry +-1
    column: int
    sign: float  # the entry
    a: Scalar  # the first row of the block
    b: Scalar

    def saves(self, entries: Iterable[Scalar]) -> bool:
        """Return whether it takes operations to turn a matrix of such entries: numbers are turned as they are."""
        return any(map(is_symbol, (self.a, self.b, *entries)))

    def of(self, G: Matrix3) -> Matrix3:
        """Return R G R^T."""
        _, j, _, a, b = self
        j1, j2 = _OTHERS[j]
        e = b * (G[j2][j2] - G[j1][j1]) + a * (G[j1][j2] + G[j2][j1])
        ae, be = a * e, b * e
        return self._around(G, G[j1][j1] + be, ae - G[j2][j1], ae - G[j1][j2], G[j2][j2] - be)

    def of_symmetric(self, G: Matrix3) -> Matrix3:
        """Return R G R^T of a matrix that is symmetric."""
        _, j, _, a, b = self
        j1, j2 = _OTHERS[j]
        x, y, off = G[j1][j1], G[j2][j2], G[j1][j2]
        if is_zero(y - x) and is_zero(off):
            return self._around(G, x, off, off, y)
        aa, bb, ab = a * a, b * b, a * b
        across = ab * (y - x) + (aa - bb) * off
        both = ab * (off + off)
        return self._around(G, aa * x + bb * y + both, across, across, bb * x + aa * y - both)

    def _around(self, G: Matrix3, xx: Scalar, xy: Scalar, yx: Scalar, yy: Scalar) -> Matrix3:
        """Return R G R^T, given its block but for the signs."""
        i, j, sign, *_ = self
        (i1, i2), (j1, j2) = _OTHERS[i], _OTHERS[j]
        s = sign if (i + j) % 2 == 0 else -sign
        found: list[list[Scalar]] = [[0.0] * 3 for _ in range(3)]
        found[i][i], found[i1][i1], found[i2][i2] = G[j][j], xx, yy
        found[i1][i2], found[i2][i1] = xy * s, yx * s
        found[i1][i], found[i2][i] = self._turned(G[j1][j], G[j2][j], s)
        found[i][i1], found[i][i2] = self._turned(G[j][j1], G[j][j2], s)
        return Matrix3(found)

    def _turned(self, x: Scalar, y: Scalar, s: float) -> tuple[Scalar, Scalar]:
        """Return what the block makes of a vector, with the sign of the entry +-1."""
        return (self.a * x + self.b * y) * self.sign, (self.a * y - self.b * x) * (self.sign * s)


_OTHERS = ((1, 2), (0, 2), (0, 1))


def plane_turn(R: Matrix3) -> PlaneTurn | None:
    """Return a rotation as one of a plane, if its other entries are known to be 0 and +-1 and those are neither.

    An entry that rounds to 1 is not enough: beside it an axis that is tilted by 1e-8 has 1e-8.
    """
    rows = R.rows()
    for i, j in ((i, j) for i in range(3) for j in range(3)):
        (i1, i2), (j1, j2), entry = _OTHERS[i], _OTHERS[j], rows[i][j]
        beside = (rows[i][j1], rows[i][j2], rows[i1][j], rows[i2][j])
        if isinstance(entry, float) and abs(entry) == 1.0 and all(map(is_zero, beside)):
            a, b = rows[i1][j1], rows[i1][j2]
            return None if is_zero(a) or is_zero(b) else PlaneTurn(i, j, entry, a, b)
    return None


class Symmetric3(tuple[Any, ...]):
    """A symmetric 3x3 matrix as its six entries (xx, xy, xz, yy, yz, zz).

    Args:
        iterable: the six entries.

    Throughout:
        value: a symmetric matrix, nested sequences or an array of shape (..., 3, 3).
        name: what to call it in an error.
        a, b: vectors; of `isotropic`, the entry of the diagonal.
        R: a rotation.
        k: which row and column.
        column: its three entries.

    Examples:
        >>> J = cardan.spatial.Symmetric3.of(np.diag([1.0, 2.0, 3.0]))
        >>> J.matrix()[1, 1], J.rotated(cardan.SE3().rotation) == J, J.with_column(0, (4.0, 0.0, 0.0))[0]
        (2.0, True, 4.0)
        >>> x, y = cardan.spatial.Vector3(1.0, 0.0, 0.0), cardan.spatial.Vector3(0.0, 1.0, 0.0)
        >>> cardan.spatial.Symmetric3.outer_square(x), cardan.spatial.Symmetric3.outer_sum(x, y)
        ((1.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0, 0.0, 0.0))
        >>> cardan.spatial.Symmetric3.point(x), cardan.spatial.Symmetric3.isotropic(2.0)
        ((0.0, -0.0, -0.0, 1.0, -0.0, 1.0), (2.0, 0.0, 0.0, 2.0, 0.0, 2.0))
    """

    __slots__ = ()
    __array_ufunc__ = None

    @staticmethod
    def of(value: Any, name: str = "matrix") -> Symmetric3:
        """Return `value` (3x3, symmetric) as its six entries; the upper triangle is read."""
        if type(value) is Symmetric3:
            return value
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = Matrix3.of(value, name)
        return Symmetric3((xx, xy, xz, yy, yz, zz))

    @staticmethod
    def isotropic(a: Scalar) -> Symmetric3:
        """Return a times the identity."""
        return Symmetric3((a, 0.0, 0.0, a, 0.0, a))

    def matrix(self) -> Matrix3:
        """Return all nine entries."""
        xx, xy, xz, yy, yz, zz = self
        return Matrix3((xx, xy, xz, xy, yy, yz, xz, yz, zz))

    def __matmul__(self, other: Any) -> Vector3:
        xx, xy, xz, yy, yz, zz = self
        x, y, z = other
        return Vector3(xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z)

    def __add__(self, other: Any) -> Symmetric3:
        return Symmetric3(a + b for a, b in zip(self, other, strict=True))

    def __sub__(self, other: Any) -> Symmetric3:
        return Symmetric3(a - b for a, b in zip(self, other, strict=True))

    def __mul__(self: Symmetric3, factor: Any) -> Symmetric3:
        return Symmetric3(a * factor for a in self)

    __rmul__: ClassVar[Callable[[Symmetric3, Any], Symmetric3]] = __mul__

    def with_column(self, k: int, column: Any) -> Symmetric3:
        """Return the matrix with another k-th column and row."""
        rows = [list(row) for row in self.matrix().rows()]
        for i, e in enumerate(column):
            rows[i][k] = rows[k][i] = e
        return Symmetric3.of(Matrix3(rows))

    def rotated(self, R: Matrix3) -> Symmetric3:
        """Return R self R^T."""
        turn = plane_turn(R)
        if turn and turn.saves(self):
            return Symmetric3.of(turn.of_symmetric(self.matrix()))
        half = [self @ row for row in R.rows()]  # self R^T, column by column
        r = R.rows()
        return Symmetric3(r[i].dot(half[j]) for i in range(3) for j in range(i, 3))

    @staticmethod
    def outer_sum(a: Any, b: Any) -> Symmetric3:
        """Return a b^T + b a^T."""
        return Symmetric3(a[i] * b[j] + b[i] * a[j] for i in range(3) for j in range(i, 3))

    @staticmethod
    def outer_square(a: Any) -> Symmetric3:
        """Return a a^T."""
        return Symmetric3(a[i] * a[j] for i in range(3) for j in range(i, 3))

    @staticmethod
    def point(a: Any) -> Symmetric3:
        """Return [a]^T [a] = (a.a) 1 - a a^T: the inertia about the origin of a unit mass at a."""
        x, y, z = a
        xx, yy, zz = x * x, y * y, z * z
        return Symmetric3((yy + zz, -(x * y), -(x * z), xx + zz, -(y * z), xx + yy))


def unit_vector(value: Any, what: str) -> Vector3:
    """Return the direction of three finite numbers; components below 1e-15, residues of rounding, become 0.

    Args:
        value: three finite numbers, of any length but 0.
        what: what to call it in an error.

    Raises:
        ParameterError: if they are not three finite numbers, or all zero.

    Examples:
        >>> cardan.spatial.unit_vector((0.0, 3.0, 4.0), "axis")
        (0.0, 0.6, 0.8)
    """
    expected = "three finite numbers, not all zero"
    vector = Vector3(*numbers(what, value, expected, count=3))
    if not any(vector):
        raise ParameterError(what, got=tuple(vector), expected=expected)
    if abs(math.hypot(*vector) - 1.0) > 4e-16:  # further off than rounding leaves a unit vector: a second time is none
        _, exponent = math.frexp(max(map(abs, vector)))
        vector = Vector3(*(math.ldexp(e, -exponent) for e in vector))  # so that no length is too small or large
        length = math.hypot(*vector)
        vector = Vector3(*(e / length for e in vector))
    return Vector3(*(e if abs(e) > 1e-15 else 0.0 for e in vector))
