"""Base parameters by an ordinary or weighted fit, with standard deviations.

    minimise sum over samples and joints of ((W b - tau) / sigma_j)^2,      cov(b) = (W^T Sigma^-1 W)^-1

The noise sigma_j of each joint's torque is given, or estimated from the residuals of a first, ordinary fit.

Source: Gautier, Dynamic identification of robots with power model (1997); Swevers et al. (1997).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.checked_numbers import truth
from cardan._algebra.errors import ExcitationError, ParameterError
from cardan._dynamics.call.arguments import shaped_array
from cardan._motion.identification.combinations import (
    BaseParameters,
    Measured,
    Terms,
    checked_base,
    natural_units,
    regressor,
)
from cardan._robot.model import Model

WHERE = "identify"
BLIND = 1e-10  # smallest singular value, relative to the largest, of a regressor whose data show all base parameters


@dataclass(frozen=True, slots=True, eq=False)
class Identification:
    """Base parameters found from measurements. Returned by `identify`. Prints as a table.

    Attributes:
        base: which combinations of parameters they are.
        values: of the base parameters, shape (count,).
        sigma: their standard deviations, shape (count,).
        covariance: shape (count, count).
        noise: standard deviation of each torque's noise [N m, N], shape (nv,): as given, or as the residuals say.
        condition: condition number of the regressor, in the robot's own units: how well the motion excites.

    Throughout:
        model, q, v, a: as for `regressor`.

    Examples:
        >>> pendulum = cardan.robots.double_pendulum().model()
        >>> sines, cosines = np.random.default_rng(0).normal(size=(2, 3, 2))
        >>> states = cardan.trajectories.FourierSeries(pendulum, 5.0, sines, cosines).at(np.linspace(0.0, 5.0, 99))
        >>> torques = cardan.inverse_dynamics(pendulum, *states)
        >>> found = cardan.identification.identify(pendulum, *states, torques, terms=())
        >>> found.effort(pendulum, *states).shape, found.sigma.shape
        ((99, 2), (6,))
    """

    base: BaseParameters
    values: np.ndarray
    sigma: np.ndarray
    covariance: np.ndarray
    noise: np.ndarray
    condition: float

    def effort(self, model: Model, q: Any, v: Any, a: Any) -> np.ndarray:
        """Return the torques that the base parameters predict [N m, N], without armature unless it is a term.

        Model and states are those of `regressor`, and so are the errors.
        """
        return regressor(model, q, v, a, self.base.terms)[..., self.base.columns] @ self.values

    def __str__(self) -> str:
        rows = zip(self.values, self.sigma, self.base.expressions, strict=True)
        return "\n".join(f"{value:12.5g} +- {sigma:9.2g}   {text}" for value, sigma, text in rows)


def identify(
    model: Model,
    q: Any,
    v: Any,
    a: Any,
    tau: Any,
    *,
    terms: Terms = ("viscous", "coulomb"),
    noise: Any = None,
    weighted: bool = True,
    base: BaseParameters | None = None,
) -> Identification:
    """Return the base parameters that explain measured torques best, with their standard deviations.

    Those do not know of noise in q, v and a.

    Args:
        model: the robot; of its inertias and friction nothing is used.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        a: accelerations [rad/s^2, m/s^2], shape (..., nv).
        tau: measured torques [N m, N], shape (..., nv). The part of the model's armature is known, unless it is a term.
        terms: what else there is beside the inertias, as for `regressor`.
        noise: standard deviation of the torques' noise [N m, N], one number or shape (nv,); None to estimate it, joint
            by joint, from the residuals.
        weighted: whether joints count by their noise; if not, all samples count the same.
        base: the base parameters of the model with these terms, if they are known already.

    Raises:
        ExcitationError: where the samples do not show all base parameters; says which.
        ParameterError: for noise that is none, or a base of other terms, or of another robot.
        ShapeError, DTypeError, NotFiniteError: for an array that does not fit.
        UnsupportedError: for a model with closed loops.

    Source: Gautier (1997); Swevers et al. (1997).

    Examples:
        >>> pendulum = cardan.robots.double_pendulum().model()
        >>> sines, cosines = np.random.default_rng(0).normal(size=(2, 3, 2))
        >>> states = cardan.trajectories.FourierSeries(pendulum, 5.0, sines, cosines).at(np.linspace(0.0, 5.0, 99))
        >>> measured = cardan.inverse_dynamics(pendulum, *states)
        >>> found = cardan.identification.identify(pendulum, *states, measured, terms=())
        >>> bool(np.allclose(found.effort(pendulum, *states), measured))
        True
    """
    measured = Measured(WHERE, model, q, v, a, tau, terms)
    base = checked_base(WHERE, model, terms, base)
    W = measured.W[..., base.columns]
    scaled = natural_units(model).scaled(W, base).reshape(-1, len(base))
    _check_excited(scaled, base)
    known = None if noise is None else checked_noise(WHERE, noise, model.nv)
    weighted = truth("identify: weighted", weighted)
    sigma = known if known is not None and weighted else np.ones(model.nv)
    values = _solve(W, measured.tau, sigma)
    found = residual_noise(measured.tau - W @ values, len(base)) if known is None else known
    if weighted and known is None:
        sigma, values = found, _solve(W, measured.tau, found)
    covariance = _covariance(W, sigma, found)
    condition = float(np.linalg.cond(scaled)) if len(base) else 1.0
    return Identification(base, values, np.sqrt(np.diag(covariance)), covariance, found, condition)


def _solve(W: np.ndarray, tau: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    return least_squares((W / sigma[:, None]).reshape(-1, W.shape[-1]), (tau / sigma).ravel())


def _covariance(W: np.ndarray, sigma: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return the covariance of a fit with weights 1 / sigma to torques with another noise."""
    rows = (W / sigma[:, None]).reshape(-1, W.shape[-1])
    size = column_sizes(rows)
    pseudo = np.linalg.pinv(rows / size).reshape(W.shape[-1], *W.shape[:2]) * (noise / sigma)
    pseudo = pseudo.reshape(W.shape[-1], -1) / size[:, None]
    return pseudo @ pseudo.T


def column_sizes(rows: np.ndarray) -> np.ndarray:
    """Return the norm of each column, 1 where that is 0: columns are divided by it, so that no unit is favoured."""
    size = np.linalg.norm(rows, axis=0)
    return np.where(size > 0.0, size, 1.0)


def least_squares(rows: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the x with the least |rows x - right|, found in columns of one size."""
    size = column_sizes(rows)
    return np.linalg.lstsq(rows / size, right, rcond=None)[0] / size


def residual_noise(residual: np.ndarray, count: int) -> np.ndarray:
    """Return the standard deviation of each joint's residual, shape (n, nv), after `count` parameters were fitted."""
    n, nv = residual.shape
    free = max(n - count / max(nv, 1), 1.0)
    noise = np.sqrt((residual**2).sum(axis=0) / free)
    floor = 1e-12 * noise.max(initial=0.0)  # a joint without noise must not outweigh all others for ever
    return np.maximum(noise, floor if floor > 0.0 else np.finfo(float).tiny)


def _check_excited(W: np.ndarray, base: BaseParameters) -> None:
    """Raise `ExcitationError` for base parameters that the rows of a regressor do not show, naming the heaviest."""
    _, sizes, directions = np.linalg.svd(W / column_sizes(W), full_matrices=len(W) < len(base))
    sizes = np.concatenate([sizes, np.zeros(len(base) - len(sizes))])
    if len(base) and sizes[-1] <= BLIND * sizes[0]:
        weakest = int(np.argmax(np.abs(directions[-1])))
        raise ExcitationError(WHERE, base.expressions[weakest], float(sizes[-1] / (sizes[0] or 1.0)))


def checked_noise(where: str, noise: Any, nv: int) -> np.ndarray:
    """Return standard deviations of noise, shape (nv,), of one or nv positive numbers."""
    array = shaped_array(where, "noise", noise, (nv,), ())
    if not (array > 0.0).all():
        raise ParameterError(f"{where}: noise", got=float(array.min()), expected="standard deviations > 0 [N m, N]")
    return np.broadcast_to(array, (nv,)).copy()
