"""Flat configuration spaces, products of several side by side, and which coordinates are limited as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.by_fields import computed
from cardan._algebra.manifolds.manifold import Manifold, Rows, Scalars, Shape, block_diagonal, identity_rows, uniform
from cardan._algebra.spatial import Scalar


@dataclass(frozen=True, slots=True)
class Euclidean(Manifold):
    """R^n: angles counted over many turns, lengths, or any other free numbers.

    Args:
        n: number of coordinates.
        reach: half-width of the interval random samples of unlimited coordinates come from: pi for angles [rad], 1 m
            for lengths [m]. One number, or one for each coordinate.

    Examples:
        >>> cardan.manifolds.Euclidean(2).integrate((0.0, 1.0), (0.5, 0.5))
        (0.5, 1.5)
    """

    n: int
    reach: float | tuple[float, ...] = float(np.pi)

    @computed
    def nq(self) -> int:
        """Number of coordinates."""
        return self.n

    @computed
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return self.n

    def neutral(self) -> tuple[float, ...]:
        return (0.0,) * self.n

    def integrate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        return tuple(a + b for a, b in zip(q, v, strict=True))

    def difference(self, q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
        return tuple(b - a for a, b in zip(q0, q1, strict=True))

    def difference_rate_jacobian(self, difference: Scalars) -> Rows:
        return identity_rows(self.n)

    def velocity_to_configuration_derivative_jacobian(self, q: Scalars) -> Rows:
        return identity_rows(self.n)

    def configuration_derivative_to_velocity_jacobian(self, q: Scalars) -> Rows:
        return identity_rows(self.n)

    def normalize(self, q: Scalars) -> tuple[Scalar, ...]:
        return tuple(q)

    def limit_coordinates(self, q: Scalars) -> tuple[Scalar, ...]:
        return tuple(q)

    def random(self, rng: np.random.Generator, shape: Shape, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        return uniform(rng, shape, lower, upper, np.asarray(self.reach))


@dataclass(frozen=True, slots=True)
class Product(Manifold):
    """The coordinates and velocities of several manifolds, one after the other.

    Args:
        factors: the manifolds, in order.

    Examples:
        >>> cardan.manifolds.Product((cardan.manifolds.Euclidean(1), cardan.manifolds.UnitQuaternion())).nq
        5
        >>> [q for _, q, v in cardan.manifolds.Product((cardan.manifolds.Euclidean(1),)).slices()]
        [slice(0, 1, None)]
    """

    factors: tuple[Manifold, ...]

    @computed
    def nq(self) -> int:
        """Number of coordinates."""
        return sum(f.nq for f in self.factors)

    @computed
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return sum(f.nv for f in self.factors)

    def slices(self) -> Iterator[tuple[Manifold, slice, slice]]:
        """Yield each factor with its slices of q and of v."""
        iq = iv = 0
        for factor in self.factors:
            yield factor, slice(iq, iq + factor.nq), slice(iv, iv + factor.nv)
            iq, iv = iq + factor.nq, iv + factor.nv

    def _chain(self, part: Callable[[Manifold, slice, slice], Any]) -> tuple[Any, ...]:
        return tuple(e for factor, iq, iv in self.slices() for e in part(factor, iq, iv))

    def openings(self, q: np.ndarray) -> Iterator[tuple[str, np.ndarray, list[float]]]:
        return (own for f, iq, _ in self.slices() for own in f.openings(q[:, iq]))

    def unit_parts(self) -> tuple[tuple[int, int], ...]:
        return tuple((a + iq.start, b + iq.start) for f, iq, _ in self.slices() for a, b in f.unit_parts())

    def neutral(self) -> tuple[float, ...]:
        return self._chain(lambda f, iq, iv: f.neutral())

    def integrate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        return self._chain(lambda f, iq, iv: f.integrate(q[iq], v[iv]))

    def difference(self, q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
        return self._chain(lambda f, iq, iv: f.difference(q0[iq], q1[iq]))

    def apart(self, q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
        return self._chain(lambda f, iq, iv: f.apart(q0[iq], q1[iq]))

    def nearest_image(self, q: Scalars, near: Scalars) -> tuple[Scalar, ...]:
        return self._chain(lambda f, iq, iv: f.nearest_image(q[iq], near[iq]))

    def normalize(self, q: Scalars) -> tuple[Scalar, ...]:
        return self._chain(lambda f, iq, iv: f.normalize(q[iq]))

    def principal_value(self, q: Scalars) -> tuple[Scalar, ...]:
        return self._chain(lambda f, iq, iv: f.principal_value(q[iq]))

    def limit_coordinates(self, q: Scalars) -> tuple[Scalar, ...]:
        return self._chain(lambda f, iq, iv: f.limit_coordinates(q[iq]))

    def toward(self, q: Scalars, x: Scalars) -> tuple[Scalar, ...]:
        return self._chain(lambda f, iq, iv: f.toward(q[iq], x[iv]))

    def difference_rate_jacobian(self, difference: Scalars) -> Rows:
        return block_diagonal([(f.difference_rate_jacobian(difference[iv]), f.nv) for f, _, iv in self.slices()])

    def velocity_to_configuration_derivative_jacobian(self, q: Scalars) -> Rows:
        return block_diagonal(
            [(f.velocity_to_configuration_derivative_jacobian(q[iq]), f.nv) for f, iq, _ in self.slices()]
        )

    def configuration_derivative_to_velocity_jacobian(self, q: Scalars) -> Rows:
        return block_diagonal(
            [(f.configuration_derivative_to_velocity_jacobian(q[iq]), f.nq) for f, iq, _ in self.slices()]
        )

    def random(self, rng: np.random.Generator, shape: Shape, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        parts = [f.random(rng, shape, lower[iv], upper[iv]) for f, _, iv in self.slices()]
        return np.concatenate([np.zeros((*shape, 0)), *parts], axis=-1)


PROBES = (0.25, -7.0)  # changes of a coordinate, one of more than a turn: an angle that wraps is then seen


def scalar_coordinates(manifold: Manifold) -> list[tuple[int, int]]:
    """Return the indices in q and v of the coordinates that are lengths or angles themselves.

    They are found by what they do: changed alone, one of them changes one limit coordinate alone, and as much, and the
    configuration stays on the manifold.
    """
    if isinstance(manifold, Product):
        own = [(iq.start, iv.start, scalar_coordinates(factor)) for factor, iq, iv in manifold.slices()]
        return [(a + i, b + j) for a, b, pairs in own for i, j in pairs]
    neutral = [float(e) for e in manifold.neutral()]
    before, found = _limited(manifold, neutral), []
    for i, e in enumerate(neutral):
        places = [(*neutral[:i], e + by, *neutral[i + 1 :]) for by in PROBES]
        moved = [_limited(manifold, q) for q in places if tuple(manifold.normalize(q)) == q]
        for k in range(manifold.nv):
            if moved == [[*before[:k], e + by, *before[k + 1 :]] for by in PROBES]:
                found.append((i, k))
    return found


def configuration_of(manifold: Manifold, values: Sequence[float]) -> tuple[float, ...]:
    """Return the configuration whose limit coordinates are given."""
    plain, neutral = scalar_coordinates(manifold), manifold.neutral()
    # Lengths and angles are coordinates themselves; a rotation vector leads to its orientation from the neutral one.
    turned = list(values)
    for _, k in plain:
        turned[k] = 0.0
    q = list(manifold.integrate(neutral, manifold.toward(neutral, turned)))
    for i, k in plain:
        q[i] = values[k]
    return tuple(float(e) for e in q)


def _limited(manifold: Manifold, q: Sequence[float]) -> list[float]:
    return [float(e) for e in manifold.limit_coordinates(tuple(q))]
