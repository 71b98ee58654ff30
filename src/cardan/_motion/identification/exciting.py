"""Excitation: the motion that shows the base parameters best.

A Fourier series of few harmonics, at rest at its beginning and end, as large as the limits allow. Its coefficients are
chosen for the least condition number of the regressor over a period: the best of random ones, then improved by random
steps whose length follows how often they help.

Source: Swevers et al., Optimal robot excitation and identification (1997); Gautier and Khalil (1992); Rechenberg (1973)
for the rule of the length of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import positive, whole
from cardan._algebra.errors import ExcessiveEffortError, MechanismError
from cardan._algebra.manifolds.manifold import finite_range
from cardan._dynamics.algorithms.configuration import integrate
from cardan._dynamics.algorithms.rnea import inverse_dynamics
from cardan._motion.identification.combinations import BaseParameters, Terms, checked_base, natural_units, regressor
from cardan._motion.trajectories.allowed import bounds
from cardan._motion.trajectories.curves import FourierSeries, fourier_jet
from cardan._motion.trajectories.piecewise import Jet
from cardan._motion.trajectories.trajectory import moved
from cardan._robot.model import Model

WHERE = "excitation"
USED = 0.98  # of each limit: the largest value between two samples is a little larger than at them
FAMILY = 16  # candidates at once: one call of the compiled regressor for all of them
OVERLOAD = 10.0  # by how much the condition number's logarithm must improve to be worth torques of twice the limit


def excitation(
    model: Model,
    period: float = 10.0,
    *,
    harmonics: int = 5,
    terms: Terms = (),
    velocity: Any = None,
    acceleration: Any = None,
    trials: int = 30,
    samples: int | None = None,
    base: BaseParameters | None = None,
    seed: int = 0,
) -> FourierSeries:
    """Return a periodic motion along which the base parameters are seen well, within the model's limits.

    It lasts one period, and begins and ends at rest in the middle of the joints' ranges. Position limits that are
    infinite count as half a turn, or the robot's own length. `identify` tells the condition number that a motion
    has, and so does its own standard deviations.

    Args:
        model: the robot.
        period: how long it takes [s].
        harmonics: how many multiples of 1 / period, at least 3.
        terms: what else will be identified, as for `regressor`.
        velocity: largest velocities [rad/s, m/s], one number or shape (nv,); None for the model's.
        acceleration: largest accelerations [rad/s^2, m/s^2], one number or shape (nv,); None for none.
        trials: how many generations of candidates, sixteen each; half of them are random, half improve the best.
        samples: at how many times the regressor is looked at; by default six for each period of the highest.
        base: the base parameters of the model with these terms, if they are known already.
        seed: of the random numbers.

    Raises:
        ParameterError: for fewer harmonics than 3, numbers that are none, a base of other terms or another robot.
        MechanismError: for a model whose torques depend on no parameter, or one with closed loops.
        ExcessiveEffortError: if no motion was found that the effort limits of the model allow.

    Source: Swevers et al. (1997); Gautier and Khalil (1992).

    Examples:
        >>> pendulum = cardan.robots.double_pendulum().model()
        >>> motion = cardan.identification.excitation(pendulum, period=5.0, velocity=4.0, trials=2)
        >>> bool(np.abs(motion.at(motion.times(0.01)).v).max() < 4.0)
        True
    """
    harmonics = whole(f"{WHERE}: harmonics", harmonics, 3)  # fewer cannot begin and end at rest
    trials = whole(f"{WHERE}: trials", trials, 2)
    positive(f"{WHERE}: period", period, "s")
    if samples is not None:
        whole(f"{WHERE}: samples", samples, 1)
    base = checked_base(WHERE, model, terms, base)
    if not len(base):
        raise MechanismError(f"{WHERE}: the torques of model {model.name!r} depend on no parameter; give it a joint.")
    units = natural_units(model)
    free = np.minimum(units.speed * units.time, 1.0) * np.pi  # half a turn at most
    lower, upper = finite_range(model.lower, model.upper, free)
    own = model.velocity_lower, model.velocity_upper
    rates = [bounds(WHERE, "velocity", velocity, model, own), bounds(WHERE, "acceleration", acceleration, model)]
    center = integrate(model, model.neutral(), 0.5 * (lower + upper))
    room = [0.5 * (upper - lower), *(np.minimum(-b.lower, b.upper) for b in rates)]
    times = np.linspace(0.0, period, samples or 6 * harmonics, endpoint=False)
    search = _Search(model, base, center, room, period, harmonics, times)
    best, overload = search.best(trials, np.random.default_rng(seed))
    if overload > 0.0:
        raise ExcessiveEffortError(period, overload)
    sines, cosines = search.coefficients(best[None])
    return FourierSeries(model, period, sines[:, 0], cosines[:, 0], center)


@dataclass(eq=False)
class _Search:
    """The search for the best coefficients; a candidate is an array of shape (2 harmonics - 3, nv)."""

    model: Model
    base: BaseParameters
    center: np.ndarray  # where it moves about, shape (nq,)
    room: list[np.ndarray]  # how far it may move from there, how fast and with which acceleration, shape (nv,) each
    period: float
    harmonics: int
    times: np.ndarray

    def __post_init__(self) -> None:
        self.units, k = natural_units(self.model), np.arange(1.0, self.harmonics + 1.0)
        self.at_rest = _null_space(k[None]), _null_space(np.stack([np.ones_like(k), k**2]))
        self.dense = np.linspace(0.0, self.period, 24 * self.harmonics, endpoint=False)

    def best(self, trials: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        """Return the best candidate, and the share by which its torques exceed the limits."""
        shape = (FAMILY, self.at_rest[0].shape[1] + self.at_rest[1].shape[1], self.model.nv)
        best, cost, overload, step = np.zeros(shape[1:]), np.inf, np.inf, 0.3
        for trial in range(trials):
            noise = rng.normal(size=shape)
            family = noise if trial < trials // 2 else best + step * noise * np.abs(best).mean()
            costs, overloads = self.costs(family)
            k = int(np.argmin(costs))
            if trial >= trials // 2:  # longer after a success, shorter after a failure: about one in three succeeds
                step *= 1.5 if costs[k] < cost else 0.8
            if costs[k] < cost:
                best, cost, overload = family[k], float(costs[k]), float(overloads[k])
        return best, overload

    def coefficients(self, family: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return sines and cosines, shape (harmonics, candidates, nv), that begin at rest and use the room there is."""
        # phi(0) = sum c_k, its rate sum k s_k and its acceleration sum k^2 c_k vanish.
        split = self.at_rest[0].shape[1]
        sines = np.tensordot(self.at_rest[0], family[:, :split], (1, 1))
        cosines = np.tensordot(self.at_rest[1], family[:, split:], (1, 1))
        largest = [np.abs(x).max(axis=0) for x in fourier_jet(self.dense, self.period, sines, cosines)]
        with np.errstate(divide="ignore"):
            shares = [room / size for room, size in zip(self.room, largest, strict=True)]
        factor = USED * np.minimum.reduce(shares)
        return sines * factor, cosines * factor

    def costs(self, family: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the logarithm of each candidate's condition number and what its torques cost, and their overload."""
        jet: Jet = fourier_jet(self.times, self.period, *self.coefficients(family))
        sample = moved(self.model, self.center, *(np.moveaxis(x, 1, 0) for x in jet))
        columns = regressor(self.model, *sample, self.base.terms)[..., self.base.columns]
        W = self.units.scaled(columns, self.base).reshape(len(family), -1, len(self.base))
        squares = np.linalg.eigvalsh(np.swapaxes(W, 1, 2) @ W)  # a quarter of the time of singular values
        tau = inverse_dynamics(self.model, *sample)
        # A limit of 0 is that of a joint without a drive: what it would take does not count.
        limits = np.where(tau > 0.0, self.model.effort_upper, -self.model.effort_lower)
        overload = np.maximum(np.abs(tau) / np.where(limits > 0.0, limits, np.inf) - 1.0, 0.0).max(axis=(1, 2))
        least = np.maximum(squares[:, 0], np.finfo(float).eps * squares[:, -1])
        return 0.5 * np.log(squares[:, -1] / least) + OVERLOAD * overload, overload


def _null_space(A: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis, in columns, of what a matrix of full rank takes to 0."""
    return np.linalg.svd(A, full_matrices=True)[2][len(A) :].T
