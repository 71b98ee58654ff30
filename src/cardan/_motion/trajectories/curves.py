"""Curves through the configurations of a model: cubic splines on the manifold, and finite Fourier series.

**Splines** have continuous velocity and acceleration. The steps d_i = difference(q_i, q_(i+1)) are laid end to end in
the tangent space, and the ordinary cubic spline through these points gives a velocity v_i and an acceleration a_i at
each knot. Between knots q = q_i exp(phi_i(t)), phi_i being the polynomial of fifth degree from (0, v_i, a_i) to
(d_i, K v_(i+1), K a_(i+1) + dK/dt v_(i+1)), K the Jacobian of the logarithm at d_i: then q, v and a are v_i and a_i
from either side of every knot, so the curve is C2, for every joint. Where coordinates are free, K = 1 and the
polynomials are those of the cubic spline. Only steps enter, so the curve turns with its points: spline(X q_i) =
X spline(q_i).

**Fourier series** are periodic motions of a few frequencies, whose derivatives are exact:

    phi(t) = sum_k  s_k sin(k w t) + c_k cos(k w t),      q(t) = q0 exp(phi(t))

Measured over whole periods they are averaged without distortion, and their velocities and accelerations are computed
instead of differentiated: what identification wants.

Source: de Boor, A Practical Guide to Splines (1978), chapter IV, for the cubic spline; Park and Ravani, Smooth
invariant interpolation of rotations (1997), for polynomials in canonical coordinates; Swevers, Ganseman, Tukel, De
Schutter and Van Brussel, Optimal robot excitation and identification (1997).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import positive
from cardan._algebra.errors import ParameterError, ShapeError
from cardan._dynamics.algorithms.configuration import integrate, normalize
from cardan._dynamics.call.arguments import shaped_array
from cardan._dynamics.call.signature import check_model
from cardan._motion.trajectories.allowed import way
from cardan._motion.trajectories.piecewise import Jet, PiecewisePolynomial
from cardan._motion.trajectories.trajectory import Sample, Trajectory, checked_configurations, local_rates, moved
from cardan._robot.model import Model


@dataclass(frozen=True, slots=True, eq=False)
class Spline(Trajectory):
    """The curve through configurations at given times whose velocity and acceleration are continuous.

    Rotations go the short way from each configuration to the next, whatever the signs of their quaternions.

    Args:
        model: the robot.
        knots: times [s], increasing, shape (n,), n >= 2.
        q: configurations [rad, m], shape (n, nq); the same one may come several times.
        start_velocity: velocity at the first knot [rad/s, m/s], shape (nv,), or one number for all (0.0 for rest); None
            for none prescribed: the acceleration is 0 there, as in a "natural" spline.
        end_velocity: the same for the last knot.

    Raises:
        ShapeError, DTypeError, NotFiniteError, ConfigurationError: for arrays that are no configurations of the model.
        ParameterError: for fewer than two knots, and times that do not increase.

    Examples:
        >>> path = cardan.trajectories.Spline(arm, [0.0, 1.0, 3.0], [arm.neutral(), q, arm.neutral()], 0.0, 0.0)
        >>> bool(np.allclose(path.at(1.0).q, q))
        True

    Source: de Boor (1978); Park and Ravani (1997).
    """

    model: Model
    knots: Any
    q: Any
    start_velocity: Any = None
    end_velocity: Any = None
    _local: PiecewisePolynomial = field(init=False, repr=False)

    def __post_init__(self) -> None:
        q = normalize(self.model, checked_configurations("Spline", self.model, self.q, ndim=2))
        knots = _checked_knots(self.knots, len(q))
        names = "start_velocity", "end_velocity"
        ends = [_checked_velocity(name, getattr(self, name), self.model) for name in names]
        steps = way("Spline", self.model, q[:-1], q[1:])
        for i, step in enumerate(steps):  # the sign of each quaternion is that in which the piece before arrives
            arrived = integrate(self.model, q[i], step)
            q[i + 1] = self.model.manifold.nearest_image(q[i + 1].tolist(), arrived.tolist())
        v, a = _cubic_spline(np.diff(knots), steps, *ends)
        for name, value in (("q", q), ("knots", knots), ("_local", _pieces(self.model, knots, steps, v, a))):
            object.__setattr__(self, name, value)

    @property
    def interval(self) -> tuple[float, float]:
        return float(self.knots[0]), float(self.knots[-1])

    def evaluated(self, t: np.ndarray) -> Sample:
        return moved(self.model, self.q[self._local.piece(t)], *self._local.at(t))


def _cubic_spline(h: np.ndarray, d: np.ndarray, start: Any, end: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities and accelerations at the knots of the cubic spline with steps d in times h.

    The velocities solve the tridiagonal system that makes the acceleration continuous,
        v_(i-1) / h_(i-1) + 2 v_i (1 / h_(i-1) + 1 / h_i) + v_(i+1) / h_i = 3 (d_(i-1) / h_(i-1)^2 + d_i / h_i^2),
    whose diagonal dominates: elimination needs no pivots.
    """
    n, w = len(h) + 1, (1.0 / h)[:, None]
    pull = 3.0 * d * w * w
    diagonal, right = np.zeros((n, 1)), np.zeros((n, d.shape[1]))
    for side in (slice(None, -1), slice(1, None)):
        diagonal[side] += 2.0 * w
        right[side] += pull
    beside = np.concatenate([w, w])  # above the diagonal, then below
    above, below = beside[: n - 1].copy(), beside[n - 1 :].copy()
    if start is not None:
        diagonal[0], above[0], right[0] = 1.0, 0.0, start
    if end is not None:
        diagonal[-1], below[-1], right[-1] = 1.0, 0.0, end
    v = _tridiagonal(below, diagonal, above, right)
    first = (6.0 * d * w - 4.0 * v[:-1] - 2.0 * v[1:]) * w
    last = (-6.0 * d[-1] * w[-1] + 2.0 * v[-2] + 4.0 * v[-1]) * w[-1]
    return v, np.concatenate([first, last[None]])


def _tridiagonal(below: np.ndarray, diagonal: np.ndarray, above: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the solution of a tridiagonal system, shape (n, m), without pivoting."""
    d, x = diagonal.copy(), right.copy()
    for i in range(1, len(d)):
        factor = below[i - 1] / d[i - 1]
        d[i] -= factor * above[i - 1]
        x[i] -= factor * x[i - 1]
    x[-1] /= d[-1]
    for i in reversed(range(len(d) - 1)):
        x[i] = (x[i] - above[i] * x[i + 1]) / d[i]
    return x


def _pieces(model: Model, knots: np.ndarray, d: np.ndarray, v: np.ndarray, a: np.ndarray) -> PiecewisePolynomial:
    """Return the polynomials of fifth degree in local coordinates that meet v and a at both ends of each piece."""
    h = np.diff(knots)[:, None]
    rate, second = local_rates(model, d, v[1:], a[1:])
    v0, a0, v1, a1 = h * v[:-1], h * h * a[:-1], h * rate, h * h * second  # by u = t / h
    D, V, A = d - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0
    powers = [
        np.zeros_like(d), v0, 0.5 * a0,
        10.0 * D - 4.0 * V + 0.5 * A, -15.0 * D + 7.0 * V - A, 6.0 * D - 3.0 * V + 0.5 * A,
    ]  # fmt: skip
    return PiecewisePolynomial(knots, np.stack(powers, axis=1))


def _checked_velocity(name: str, value: Any, model: Model) -> np.ndarray | None:
    """Return a velocity, shape (nv,), of one number or nv; None stays None."""
    if value is None:
        return None
    v = shaped_array("Spline", name, value, (model.nv,), ())
    return np.broadcast_to(v, (model.nv,))


def _checked_knots(knots: Any, count: int) -> np.ndarray:
    times = shaped_array("Spline", "knots", knots, (count,), told=", a time for each configuration")
    if count < 2:
        expected = "at least two times with a configuration each"
        raise ParameterError("Spline: knots", got=times.tolist(), expected=expected)
    back = np.flatnonzero(np.diff(times) <= 0.0)
    if back.size:
        k = int(back[0])
        got = f"{times[k]:.9g} s then {times[k + 1]:.9g} s (knots {k} and {k + 1})"
        hint = "Sort times and configurations together (np.argsort), and leave out what comes twice."
        raise ParameterError("Spline: knots", got=got, expected="times that increase", hint=hint)
    return times


@dataclass(frozen=True, slots=True, eq=False)
class FourierSeries(Trajectory):
    """A periodic motion about a configuration.

    Args:
        model: the robot.
        period: of the lowest frequency [s].
        sines: coefficients of sin(k w t), k = 1, 2, ..., along the velocities [rad, m], shape (harmonics, nv).
        cosines: coefficients of cos(k w t), of the same shape.
        center: the configuration it moves about [rad, m], shape (nq,); None for the neutral one.
        periods: after how many it ends [-].

    Raises:
        ShapeError, DTypeError, NotFiniteError, ConfigurationError: for arrays of another shape, or no configuration.
        ParameterError: unless the period is positive.

    Examples:
        >>> wave = cardan.trajectories.FourierSeries(arm, 10.0, 0.3 * np.ones((1, 7)), np.zeros((1, 7)))
        >>> wave.at(2.5).q.round(6).tolist()[0]
        0.3

    Source: Swevers et al. (1997).
    """

    model: Model
    period: float
    sines: Any
    cosines: Any
    center: Any = None
    periods: float = 1.0

    def __post_init__(self) -> None:
        where = "FourierSeries"
        check_model(where, self.model)
        center = self.model.neutral() if self.center is None else self.center
        values: dict[str, Any] = {}
        for name in ("sines", "cosines"):
            values[name] = shaped_array(where, name, getattr(self, name), ("harmonics", self.model.nv))
        if values["sines"].shape != values["cosines"].shape:
            expected = f"{values['sines'].shape}, as the sines"
            raise ShapeError(where, "cosines", got=values["cosines"].shape, expected=expected)
        values["center"] = normalize(self.model, checked_configurations(where, self.model, center, "center"))
        for name in ("period", "periods"):
            values[name] = positive(f"{where}: {name}", getattr(self, name), "s, 1")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def interval(self) -> tuple[float, float]:
        return 0.0, self.period * self.periods

    def evaluated(self, t: np.ndarray) -> Sample:
        return moved(self.model, self.center, *fourier_jet(t, self.period, self.sines, self.cosines))


def fourier_jet(t: np.ndarray, period: float, sines: np.ndarray, cosines: np.ndarray) -> Jet:
    """Return the sum and its first two derivatives, shape (*t, *batch, nv), of (harmonics, *batch, nv) coefficients."""
    w = 2.0 * np.pi / period * np.arange(1, len(sines) + 1)
    s, c = np.sin(t[..., None] * w), np.cos(t[..., None] * w)

    def total(of_sines: np.ndarray, of_cosines: np.ndarray) -> np.ndarray:
        return np.tensordot(of_sines, sines, 1) + np.tensordot(of_cosines, cosines, 1)

    return total(s, c), total(c * w, -s * w), total(-s * w**2, -c * w**2)
