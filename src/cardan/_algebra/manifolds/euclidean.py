"""Flat configuration spaces: dq/dt = v."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cardan._algebra.by_fields import computed
from cardan._algebra.manifolds.manifold import Manifold, Rows, Scalars, identity_rows, uniform
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

    def principal_value(self, q: Scalars) -> tuple[Scalar, ...]:
        return tuple(q)

    def limit_coordinates(self, q: Scalars) -> tuple[Scalar, ...]:
        return tuple(q)

    def random(
        self, rng: np.random.Generator, shape: tuple[int, ...], lower: np.ndarray, upper: np.ndarray
    ) -> np.ndarray:
        return uniform(rng, shape, lower, upper, np.asarray(self.reach))
