"""The protocol of a configuration space, on one page.

A manifold says how nv velocities move nq coordinates. Its methods take and return sequences of scalars of any type;
`random` alone works on arrays. Velocities are body-fixed: integrate(q, v) is right multiplication, q exp(v).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._algebra.explained import ExplainedABC
from cardan._algebra.spatial import Scalar

Scalars = Sequence[Scalar]
Rows = list[list[Scalar]]
Shape = tuple[int, ...]


class Manifold(ExplainedABC):
    """A configuration space with nq coordinates and nv degrees of freedom.

    Implementations are frozen dataclasses: equal parameters, equal manifolds.

    Throughout:
        q, q0, q1, near: coordinates, nq numbers or symbols of any library [rad, m].
        v: velocities, nv of them [rad/s, m/s]; `integrate` holds them for one second.
        qdot: time derivatives of the coordinates, nq of them [rad/s, m/s].
        fv: what is dual to v, nv numbers: the gradient of a number by v.
        difference: what `difference` returned, nv numbers [rad, m].
        x: limit coordinates, nv numbers [rad, m].
        rng: a generator of NumPy.
        shape: leading dimensions.
        lower, upper: limits, shape (nv,) [rad, m]; infinite where there is none.

    Examples:
        >>> plane = cardan.manifolds.SE2()
        >>> q = plane.integrate(plane.neutral(), (1.0, 0.0, 0.5))
        >>> v = plane.difference(plane.neutral(), q)
        >>> tuple(round(e, 12) for e in v)
        (1.0, 0.0, 0.5)
        >>> plane.normalize(q) == plane.principal_value(q), plane.unit_parts()
        (True, ((2, 4),))
        >>> plane.limit_coordinates(plane.neutral()), plane.nearest_image(q, q) == q
        ((0.0, 0.0, 0.0), True)
        >>> list(plane.openings(np.zeros((1, 4)))), plane.apart(q, q)
        ([], (0.0, 0.0, 0.0))
        >>> plane.toward(plane.neutral(), (1.0, 0.0, 0.0))
        (1.0, 0.0, 0.0)
        >>> plane.random(np.random.default_rng(0), (10,), np.full(3, -1.0), np.full(3, 1.0)).shape
        (10, 4)
        >>> qdot = plane.velocity_to_configuration_derivative(q, v)
        >>> bool(np.allclose(plane.configuration_derivative_to_velocity(q, qdot), v))
        True
        >>> rows, inverse = (plane.velocity_to_configuration_derivative_jacobian(q),
        ...     plane.configuration_derivative_to_velocity_jacobian(q))
        >>> bool(np.allclose(np.array(inverse) @ np.array(rows), np.eye(3)))
        True
        >>> len(plane.configuration_derivative_to_velocity_adjoint(q, v)), len(plane.difference_rate_jacobian(v))
        (4, 3)
        >>> coordinates, rate = plane.local_coordinates(plane.neutral(), q, v)
    """

    nq: int
    nv: int

    @abstractmethod
    def neutral(self) -> tuple[float, ...]:
        """Return the reference configuration, nq floats [rad, m]."""

    @abstractmethod
    def integrate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        """Return the configuration reached from q by the constant velocity v after unit time (global coordinates)."""

    @abstractmethod
    def difference(self, q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
        """Return the shortest v with integrate(q0, v) = q1, nv scalars (local coordinates of q1 around q0)."""

    @abstractmethod
    def difference_rate_jacobian(self, difference: Scalars) -> Rows:
        """Return K (nv x nv) with d(difference(q0, q))/dt = K v, given difference(q0, q)."""

    @abstractmethod
    def velocity_to_configuration_derivative_jacobian(self, q: Scalars) -> Rows:
        """Return the rows of J (nq x nv) with dq/dt = J v."""

    @abstractmethod
    def configuration_derivative_to_velocity_jacobian(self, q: Scalars) -> Rows:
        """Return the rows of the left inverse of that map (nv x nq): v = K dq/dt, off the manifold, too."""

    @abstractmethod
    def normalize(self, q: Scalars) -> tuple[Scalar, ...]:
        """Return the configuration on the manifold nearest to q."""

    @abstractmethod
    def limit_coordinates(self, q: Scalars) -> tuple[Scalar, ...]:
        """Return the nv coordinates in which position limits are stated.

        Lengths [m] and angles [rad] themselves where there are such; the rotation vector for an orientation.
        """

    def toward(self, q: Scalars, x: Scalars) -> tuple[Scalar, ...]:
        """Return the change of q, nv numbers, to where `limit_coordinates` are x, nv numbers [rad, m]."""
        return self.difference(q, self.integrate(self.neutral(), x))

    @abstractmethod
    def random(self, rng: np.random.Generator, shape: Shape, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return random configurations, shape (*shape, nq).

        Coordinates with finite limits (in the sense of `limit_coordinates`) are uniform between them; unlimited
        lengths are uniform in [-1, 1] m, angles in [-pi, pi], and orientations uniform over all rotations.
        """

    # The rest follows from the above, or is as most have it.

    def apart(self, q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
        """Return what is 0 for the same configuration alone [rad, m], n scalars: `difference`, unless that is not."""
        return self.difference(q0, q1)

    def nearest_image(self, q: Scalars, near: Scalars) -> tuple[Scalar, ...]:
        """Return those coordinates of the point q that are nearest to others: of q and -q, of parameters and shadow."""
        return tuple(q)

    def principal_value(self, q: Scalars) -> tuple[Scalar, ...]:
        """Return the preferred one among the coordinates of the same configuration (quaternion w >= 0, |MRP| <= 1)."""
        return tuple(q)

    def unit_parts(self) -> tuple[tuple[int, int], ...]:
        """Return where, (start, stop), only the direction of coordinates counts: they must not all be 0."""
        return ()

    def openings(self, q: np.ndarray) -> Iterator[tuple[str, np.ndarray, list[float]]]:
        """Yield what is 0 on the manifold alone, at coordinates of shape (n, nq): most manifolds have nothing such.

        That is a name, numbers of shape (n, m) [rad, m], and the size of each of these m that counts as 1.
        """
        return iter(())

    def local_coordinates(self, q0: Scalars, q: Scalars, v: Scalars) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
        """Return the local coordinates of q around q0 and their time derivative while q moves with velocity v."""
        phi = self.difference(q0, q)
        return phi, matrix_vector(self.difference_rate_jacobian(phi), v)

    def velocity_to_configuration_derivative(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        """Return dq/dt, nq scalars."""
        return matrix_vector(self.velocity_to_configuration_derivative_jacobian(q), v)

    def configuration_derivative_to_velocity(self, q: Scalars, qdot: Scalars) -> tuple[Scalar, ...]:
        """Return v, nv scalars, from dq/dt."""
        return matrix_vector(self.configuration_derivative_to_velocity_jacobian(q), qdot)

    def configuration_derivative_to_velocity_adjoint(self, q: Scalars, fv: Scalars) -> tuple[Scalar, ...]:
        """Return fq, nq scalars, with <fq, dq/dt> = <fv, v>: a gradient in v pulled back to one in q."""
        return matrix_vector(transpose(self.configuration_derivative_to_velocity_jacobian(q), self.nq), fv)


class Placed(Manifold):
    """A position of some lengths, then coordinates of how it is turned; the velocity is along axes of the body."""

    _lengths: int

    @abstractmethod
    def _turning(self) -> Manifold:
        """Return the manifold of the coordinates after the position."""

    @abstractmethod
    def _axes(self, q: Scalars) -> Rows:
        """Return the rotation matrix, whose columns are the axes of the body."""

    @property
    def nq(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of coordinates."""
        return self._lengths + self._turning().nq

    def unit_parts(self) -> tuple[tuple[int, int], ...]:
        return tuple((a + self._lengths, b + self._lengths) for a, b in self._turning().unit_parts())

    def neutral(self) -> tuple[float, ...]:
        return (0.0,) * self._lengths + self._turning().neutral()

    def velocity_to_configuration_derivative_jacobian(self, q: Scalars) -> Rows:
        turn = self._turning().velocity_to_configuration_derivative_jacobian(q[self._lengths :])
        return block_diagonal([(self._axes(q), self._lengths), (turn, self._turning().nv)])

    def configuration_derivative_to_velocity_jacobian(self, q: Scalars) -> Rows:
        # The axes are orthonormal, so the transpose is the inverse; the turning has a left inverse of its own.
        turn = self._turning().configuration_derivative_to_velocity_jacobian(q[self._lengths :])
        return block_diagonal([(transpose(self._axes(q), self._lengths), self._lengths), (turn, self._turning().nq)])

    def nearest_image(self, q: Scalars, near: Scalars) -> tuple[Scalar, ...]:
        n = self._lengths
        return (*q[:n], *self._turning().nearest_image(q[n:], near[n:]))

    def normalize(self, q: Scalars) -> tuple[Scalar, ...]:
        return (*q[: self._lengths], *self._turning().normalize(q[self._lengths :]))

    def principal_value(self, q: Scalars) -> tuple[Scalar, ...]:
        return (*q[: self._lengths], *self._turning().principal_value(q[self._lengths :]))

    def limit_coordinates(self, q: Scalars) -> tuple[Scalar, ...]:
        return (*q[: self._lengths], *self._turning().limit_coordinates(q[self._lengths :]))

    def random(self, rng: np.random.Generator, shape: Shape, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        n = self._lengths
        position = uniform(rng, shape, lower[:n], upper[:n], 1.0)
        return np.concatenate([position, self._turning().random(rng, shape, lower[n:], upper[n:])], axis=-1)


def matrix_vector(rows: Rows, vector: Scalars) -> tuple[Scalar, ...]:
    """Return rows @ vector."""
    return tuple(sum((a * x for a, x in zip(row, vector, strict=True)), 0.0) for row in rows)


def transpose(rows: Rows, columns: int) -> Rows:
    """Return the transpose of rows; `columns` says how many there are when there is no row."""
    return [[row[k] for row in rows] for k in range(columns)]


def identity_rows(n: int) -> Rows:
    """Return the identity matrix as rows of floats."""
    return [[float(i == j) for j in range(n)] for i in range(n)]


def block_diagonal(blocks: Sequence[tuple[Rows, int]]) -> Rows:
    """Return the block-diagonal matrix of (rows, number of columns) blocks."""
    width = sum(columns for _, columns in blocks)
    out: Rows = []
    start = 0
    for rows, columns in blocks:
        out += [[0.0] * start + list(row) + [0.0] * (width - start - columns) for row in rows]
        start += columns
    return out


def within_a_turn(lower: Any, upper: Any, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the part of limits inside [-pi, pi], where angles of a circle or a rotation vector are, or raise."""
    low, high = np.maximum(lower, -np.pi), np.minimum(upper, np.pi)
    if (low > high).any():
        got = (tuple(np.ravel(lower)), tuple(np.ravel(upper)))
        raise ParameterError(f"limits of {what}", got=got, expected="an interval that overlaps [-pi, pi]")
    return low, high


def uniform(rng: np.random.Generator, shape: Shape, lower: Any, upper: Any, reach: float | np.ndarray) -> np.ndarray:
    """Return uniform samples between the limits; where a limit is infinite, `reach` from the other one or from 0."""
    start, stop = finite_range(lower, upper, reach)
    return rng.uniform(start, stop, size=(*shape, np.size(lower)))


def finite_range(lower: Any, upper: Any, reach: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return limits; where one is infinite, the range reaches as far to both sides, from the other one or about 0."""
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    if np.isfinite((low, high)).all():
        return low, high
    no_low, no_high = ~np.isfinite(low), ~np.isfinite(high)
    start = np.where(no_low, np.where(no_high, -1.0 * np.asarray(reach), high - 2.0 * reach), low)
    return start, np.where(no_high, np.where(no_low, reach, start + 2.0 * reach), high)
