"""Finite Fourier series: periodic motions of a few frequencies, whose derivatives are exact.

    phi(t) = sum_k  s_k sin(k w t) + c_k cos(k w t),      q(t) = q0 exp(phi(t))

Measured over whole periods they are averaged without distortion, and their velocities and accelerations are computed
instead of differentiated: what identification wants (`cardan.identification.excitation` chooses the coefficients).

Source: Swevers, Ganseman, Tukel, De Schutter and Van Brussel, Optimal robot excitation and identification (1997).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import positive
from cardan._algebra.errors import ShapeError
from cardan._dynamics.algorithms.configuration import normalize
from cardan._dynamics.call.arguments import check_finite, numeric_array
from cardan._dynamics.call.signature import check_model
from cardan._motion.trajectories.piecewise import Jet
from cardan._motion.trajectories.trajectory import Sample, Trajectory, checked_configurations, moved
from cardan._robot.model import Model


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
            array = values[name] = np.array(numeric_array(where, name, getattr(self, name)), dtype=float)
            if array.ndim != 2 or array.shape[1] != self.model.nv:
                raise ShapeError(where, name, got=array.shape, expected=f"(harmonics, {self.model.nv})")
            check_finite(where, name, array, array.shape[:1])
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
