"""Angles without a seam: a point (cos, sin) or (sin, cos) on the unit circle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds.manifold import Manifold, Rows, Scalars, identity_rows, within_a_turn
from cardan._algebra.scalar import atan2, cos, sin, sqrt
from cardan._algebra.spatial import Scalar

Order = Literal["cos_sin", "sin_cos"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class UnitComplex(Manifold):
    """The unit circle; the velocity is the rate of the angle [rad/s].

    Args:
        order: `"cos_sin"` (Pinocchio, iDynTree) or `"sin_cos"` (RigidBodyDynamics.jl).

    Throughout:
        cosine, sine: of the angle [-].
        angle: [rad].

    Examples:
        >>> circle = cardan.manifolds.UnitComplex()
        >>> circle.pack(0.0, 1.0), circle.from_angle(0.0), circle.angle((1.0, 0.0))
        ((0.0, 1.0), (1.0, 0.0), 0.0)
        >>> circle.cos_sin((0.0, 1.0)), circle.unit_cos_sin((0.0, 2.0))
        ((0.0, 1.0), (0.0, 1.0))
    """

    order: Order = "cos_sin"
    nq = 2
    nv = 1

    def __post_init__(self) -> None:
        if self.order not in ("cos_sin", "sin_cos"):
            raise ParameterError("order of a unit complex number", got=self.order, expected="'cos_sin' or 'sin_cos'")

    def pack(self, cosine: T, sine: T) -> tuple[T, T]:
        """Return the coordinates of a direction given by its cosine and sine."""
        return (cosine, sine) if self.order == "cos_sin" else (sine, cosine)

    def cos_sin(self, q: Scalars) -> tuple[Scalar, Scalar]:
        """Return (cosine, sine) of the coordinates as they are."""
        a, b = q
        return self.pack(a, b)

    def unit_cos_sin(self, q: Scalars) -> tuple[Scalar, Scalar]:
        """Return (cosine, sine) divided by their norm."""
        c, s = self.cos_sin(q)
        n = sqrt(c * c + s * s)
        return c / n, s / n

    def angle(self, q: Scalars) -> Scalar:
        """Return the angle in [-pi, pi]."""
        c, s = self.cos_sin(q)
        return atan2(s, c)

    def from_angle(self, angle: Scalar) -> tuple[Any, Any]:
        """Return the coordinates of an angle [rad]."""
        return self.pack(cos(angle), sin(angle))

    def unit_parts(self) -> tuple[tuple[int, int], ...]:
        return ((0, 2),)

    def neutral(self) -> tuple[float, ...]:
        return self.pack(1.0, 0.0)

    def integrate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        c, s = self.cos_sin(q)
        dc, ds = cos(v[0]), sin(v[0])
        return self.normalize(self.pack(c * dc - s * ds, s * dc + c * ds))

    def difference(self, q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
        (c0, s0), (c1, s1) = self.cos_sin(q0), self.cos_sin(q1)
        return (atan2(c0 * s1 - s0 * c1, c0 * c1 + s0 * s1),)

    def difference_rate_jacobian(self, difference: Scalars) -> Rows:
        return identity_rows(1)

    def velocity_to_configuration_derivative_jacobian(self, q: Scalars) -> Rows:
        c, s = self.cos_sin(q)
        return [[e] for e in self.pack(-s, c)]

    def configuration_derivative_to_velocity_jacobian(self, q: Scalars) -> Rows:
        c, s = self.cos_sin(q)
        n = c * c + s * s
        return [list(self.pack(-s / n, c / n))]

    def normalize(self, q: Scalars) -> tuple[Scalar, ...]:
        return self.pack(*self.unit_cos_sin(q))

    def principal_value(self, q: Scalars) -> tuple[Scalar, ...]:
        return tuple(q)

    def limit_coordinates(self, q: Scalars) -> tuple[Scalar, ...]:
        return (self.angle(q),)

    def random(
        self, rng: np.random.Generator, shape: tuple[int, ...], lower: np.ndarray, upper: np.ndarray
    ) -> np.ndarray:
        low, high = within_a_turn(lower, upper, "an angle on the unit circle")
        angle = rng.uniform(low[0], high[0], size=shape)
        return np.stack(self.from_angle(angle), axis=-1)
