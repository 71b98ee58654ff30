"""Stribeck friction: static friction that falls to Coulomb's as a joint begins to move, and viscous beyond.

    tau = (c + (s - c) exp(-(v / v_s)^2)) sign(v) + d v

It is linear in c, s - c and d once v_s is known: for each v_s these follow by least squares, and what is left is a
search along one number (variable projection).

Source: Armstrong-Helouvry, Dupont and Canudas de Wit, A survey of models, analysis tools and compensation methods for
the control of machines with friction (1994), equation 7; Golub and Pereyra (1973) for variable projection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError, ShapeError
from cardan._dynamics.call.arguments import check_finite, numeric_array
from cardan._motion.identification.least_squares import least_squares

# How many velocities are tried: at first many, as the error may have several minima (60 are 8 % apart over two
# decades); then between the neighbours of the best, to the last digits that a minimum has.
GRIDS = (60, *[20] * 8)


@dataclass(frozen=True, slots=True, eq=False)
class Stribeck:
    """Friction of joints.

    Args:
        coulomb: friction of a joint that moves, shape (nv,) [N m, N].
        static: friction as it begins to move, shape (nv,) [N m, N].
        velocity: at which that has mostly passed, shape (nv,) [rad/s, m/s].
        viscous: shape (nv,) [N m s/rad, N s/m].

    Raises:
        ShapeError, DTypeError, NotFiniteError: for arrays that do not fit one another.
        ParameterError: for a velocity that is not positive.

    Examples:
        >>> friction = cardan.identification.Stribeck(*np.array([[1.0], [1.8], [0.05], [0.6]]))
        >>> friction.effort([0.0]).item(), friction.effort([2.0]).item()
        (0.0, 2.2)
    """

    coulomb: np.ndarray
    static: np.ndarray
    velocity: np.ndarray
    viscous: np.ndarray

    def __post_init__(self) -> None:
        for name in ("coulomb", "static", "velocity", "viscous"):
            array = _finite("Stribeck", name, getattr(self, name)).copy()
            if array.shape != np.shape(self.coulomb):
                raise ShapeError("Stribeck", name, got=array.shape, expected=f"{np.shape(self.coulomb)}, as coulomb")
            object.__setattr__(self, name, array)
        if not (self.velocity > 0.0).all():
            got = float(self.velocity.min())
            raise ParameterError("Stribeck: velocity", got=got, expected="velocities > 0 [rad/s, m/s]")

    def effort(self, v: Any) -> np.ndarray:
        """Return the torques against friction [N m, N]; 0 at rest.

        Args:
            v: velocities [rad/s, m/s], shape (..., nv).
        """
        v = np.asarray(v, dtype=float)
        dry = self.coulomb + (self.static - self.coulomb) * np.exp(-((v / self.velocity) ** 2))
        return dry * np.sign(v) + self.viscous * v


def fit_stribeck(v: Any, effort: Any) -> Stribeck:
    """Return the friction that explains torques at velocities best, each joint for itself.

    Args:
        v: velocities [rad/s, m/s], shape (n, nv).
        effort: what is left of the measured torques without the inertias' part [N m, N], shape (n, nv).

    Raises:
        ShapeError, DTypeError, NotFiniteError: for arrays that do not fit.
        ParameterError: for fewer than four samples, or a joint that does not move.

    Source: Armstrong-Helouvry, Dupont and Canudas de Wit (1994), equation 7.

    Examples:
        >>> true = cardan.identification.Stribeck(*np.array([[1.0], [1.8], [0.05], [0.6]]))
        >>> speeds = np.linspace(-1.5, 1.5, 101)[:, None]  # what is left of torques is friction
        >>> friction = cardan.identification.fit_stribeck(speeds, true.effort(speeds))
        >>> bool(np.isclose(friction.static[0], 1.8))
        True
    """
    v, tau = (_finite("fit_stribeck", name, value) for name, value in {"v": v, "effort": effort}.items())
    if v.ndim != 2 or v.shape != tau.shape:
        raise ShapeError("fit_stribeck", "effort", got=tau.shape, expected=f"{v.shape}, as v, of two axes")
    if len(v) < 4 or not np.abs(v).max(axis=0, initial=0.0).all():
        expected = "four samples or more, in which every joint moves"
        raise ParameterError("fit_stribeck: v", got=f"{len(v)} samples", expected=expected)
    columns = [_one(v[:, j], tau[:, j]) for j in range(v.shape[1])]
    return Stribeck(*np.array(columns).reshape(-1, 4).T.copy())


def _finite(where: str, name: str, given: Any) -> np.ndarray:
    array = np.asarray(numeric_array(where, name, given), dtype=float)
    check_finite(where, name, array.reshape(-1), array.shape)
    return array


def _one(v: np.ndarray, tau: np.ndarray) -> tuple[float, float, float, float]:
    """Return (coulomb, static, velocity, viscous) of one joint."""
    moving = np.abs(v[v != 0.0])
    low, high, vs = max(moving.min(), 1e-4 * moving.max()), moving.max(), 0.0
    for count in GRIDS:
        grid = np.geomspace(low, high, count)
        k = int(np.argmin([_linear(v, tau, vs)[1] for vs in grid]))
        low, high, vs = grid[max(k - 1, 0)], grid[min(k + 1, count - 1)], float(grid[k])
    coulomb, rise, viscous = _linear(v, tau, vs)[0]
    return coulomb, coulomb + rise, vs, viscous


def _linear(v: np.ndarray, tau: np.ndarray, vs: float) -> tuple[np.ndarray, float]:
    """Return c, s - c and d of one joint for a known velocity, and the sum of squares they leave."""
    A = np.stack([np.sign(v), np.sign(v) * np.exp(-((v / vs) ** 2)), v], axis=1)
    x = least_squares(A, tau)
    return x, float(((A @ x - tau) ** 2).sum())
