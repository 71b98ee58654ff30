"""Angles without a seam, as points (cos, sin) or (sin, cos) on the unit circle, and motions of the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from cardan._algebra.errors import check_one_of
from cardan._algebra.manifolds.manifold import Manifold, Placed, Rows, Scalars, Shape, identity_rows, within_a_turn
from cardan._algebra.manifolds.product import Euclidean
from cardan._algebra.scalar import atan2, cos, floor, sin, sqrt
from cardan._algebra.spatial import Scalar, stumpff

Order = Literal["cos_sin", "sin_cos"]
T = TypeVar("T")
TURN = 2.0 * np.pi


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
        check_one_of("order of a unit complex number", self.order, ("cos_sin", "sin_cos"))

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

    def limit_coordinates(self, q: Scalars) -> tuple[Scalar, ...]:
        return (self.angle(q),)

    def random(self, rng: np.random.Generator, shape: Shape, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        low, high = within_a_turn(lower, upper, "an angle on the unit circle")
        angle = rng.uniform(low[0], high[0], size=shape)
        return np.stack(self.from_angle(angle), axis=-1)


@dataclass(frozen=True, slots=True)
class SE2(Placed):
    """Position (x, y) and heading; v = (vx, vy, w) in body axes [m/s, rad/s].

    Args:
        heading: `UnitComplex()` for q = (x, y, cos, sin), `Euclidean(1)` for q = (x, y, angle). With an angle, turns
            are counted by `integrate`; `difference` returns the shortest motion, so it sees angles modulo 2 pi.

    Examples:
        >>> cardan.manifolds.SE2().neutral(), cardan.manifolds.SE2(cardan.manifolds.Euclidean(1)).neutral()
        ((0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0))
        >>> cardan.manifolds.SE2().cos_sin((0.0, 0.0, 1.0, 0.0))
        (1.0, 0.0)
    """

    heading: UnitComplex | Euclidean = UnitComplex()
    _lengths = 2
    nv = 3

    def _turning(self) -> Manifold:
        return self.heading

    def cos_sin(self, q: Scalars) -> tuple[Scalar, Scalar]:
        """Return cosine and sine of the heading."""
        if isinstance(self.heading, UnitComplex):
            return self.heading.unit_cos_sin(q[2:])
        return cos(q[2]), sin(q[2])

    def _axes(self, q: Scalars) -> Rows:
        c, s = self.cos_sin(q)
        return [[c, -s], [s, c]]

    def integrate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        c, s = self.cos_sin(q)
        a, b, w = v
        _, c1, c2, *_ = stumpff(w * w)  # sin w / w and (1 - cos w) / w^2, also where w is 0
        x, y = c1 * a - w * c2 * b, w * c2 * a + c1 * b
        return (q[0] + c * x - s * y, q[1] + s * x + c * y, *self.heading.integrate(q[2:], (w,)))

    def difference(self, q0: Scalars, q1: Scalars) -> tuple[Scalar, ...]:
        c, s = self.cos_sin(q0)
        dx, dy = q1[0] - q0[0], q1[1] - q0[1]
        x, y = c * dx + s * dy, c * dy - s * dx
        (w,) = self.heading.difference(q0[2:], q1[2:])
        if isinstance(self.heading, Euclidean):
            w = w - TURN * floor(w / TURN + 0.5)  # the angle counts turns; the shortest way has none
        _, _, c2, c3, c4, _ = stumpff(w * w)
        half, k = 0.5 * w, 0.5 * w * w * (c3 - 2.0 * c4) / c2  # 1 - k = (w / 2) cot(w / 2)
        return x - k * x + half * y, y - k * y - half * x, w

    def difference_rate_jacobian(self, difference: Scalars) -> Rows:
        """Return the inverse right Jacobian: that of SE(3), restricted to the plane.

        With ad the adjoint of the twist, J^-1 = 1 + ad/2 + c ad^2, since ad^3 = -w^2 ad on the plane.
        """
        a, b, w = difference
        _, _, c2, c3, c4, _ = stumpff(w * w)
        c = 0.5 * (c3 - 2.0 * c4) / c2
        half, k = 0.5 * w, 1.0 - c * w * w
        return [[k, -half, 0.5 * b + c * w * a], [half, k, c * w * b - 0.5 * a], [0.0, 0.0, 1.0]]
