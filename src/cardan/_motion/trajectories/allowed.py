"""What is allowed: bounds along the velocities, the model's or the caller's, and what numbers may be."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._dynamics.algorithms.configuration import difference, integrate, is_same_configuration
from cardan._dynamics.call.arguments import shaped_array
from cardan._robot.model import Model


class Bounds(NamedTuple):
    """What a quantity may be, from below and above, shape (nv,) each; infinite where it is not limited."""

    lower: np.ndarray
    upper: np.ndarray

    @property
    def finite(self) -> np.ndarray:
        """Which are limited from both sides, shape (nv,)."""
        return np.isfinite(self.lower) & np.isfinite(self.upper)

    def along(self, direction: np.ndarray) -> np.ndarray:
        """Return the largest factors of a direction, shape (..., nv), that stay within, one for each entry."""
        room = np.where(direction > 0.0, self.upper, -self.lower)
        with np.errstate(divide="ignore"):
            return np.where(direction == 0.0, np.inf, room / np.abs(np.where(direction == 0.0, 1.0, direction)))


def way(where: str, model: Model, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
    """Return `difference` of configurations, rows or one; raise `ParameterError` if it leads elsewhere.

    In a cluster it does where the assembly modes are two, or a toggle is between.
    """
    step = difference(model, q0, q1)
    tolerance = 1e-6 + 1e-12 * float(np.abs(q1).max(initial=0.0))  # far away rounding alone is more
    reached = np.atleast_1d(is_same_configuration(model, integrate(model, q0, step), q1, tolerance=tolerance))
    if not reached.all():
        what = f"{where}: configuration {np.argmin(reached) + 1}"
        raise ParameterError(what, got="another", expected="one of the assembly mode before it, and no toggle between")
    return step


def bounds(where: str, name: str, given: Any, model: Model, own: tuple[np.ndarray, np.ndarray] | None = None) -> Bounds:
    """Return the bounds of an argument: what is given, in both directions; for None the model's own, if it has some.

    One number or nv may be given; `ParameterError` names the joint of one that is not positive.
    """
    if given is None:
        return Bounds(*own) if own else Bounds(np.full(model.nv, -np.inf), np.full(model.nv, np.inf))
    values = np.broadcast_to(shaped_array(where, name, given, (model.nv,), (), finite=False), (model.nv,))
    wrong = np.flatnonzero(~(values > 0.0))
    if wrong.size:
        k = int(wrong[0])
        expected = "a number > 0, infinite for no limit"
        raise ParameterError(f"{where}: {name} of {dof_name(model, k)}", got=float(values[k]), expected=expected)
    return Bounds(-values, values)


def dof_name(model: Model, k: int) -> str:
    """Return the name of a degree of freedom, for messages: its joint's, and which of it."""
    joint, own = next((name, own) for name, (_, own) in model.slices.items() if own.start <= k < own.stop)
    which = f", velocity {k - own.start} of {own.stop - own.start}" if own.stop - own.start > 1 else ""
    return f"joint {joint!r}{which}"


def smallest(where: str, name: str, limits: Bounds, step: np.ndarray, model: Model) -> float:
    """Return the largest factor of a step that stays within limits; raise `ParameterError` if there is none > 0."""
    factors = limits.along(step)
    k = int(np.argmin(factors))
    if not factors[k] > 0.0:
        what, own = f"{where}: {name} limit of {dof_name(model, k)}", (limits.lower[k], limits.upper[k])
        raise ParameterError(what, got=own, expected="one that lets it move the way it must")
    return float(factors[k])


def check_limited(where: str, name: str, limited: np.ndarray, moving: np.ndarray, model: Model, hint: str) -> None:
    """Raise `ParameterError` for a degree of freedom that moves and is not limited, naming its joint."""
    missing = np.flatnonzero(moving & ~limited)
    if missing.size:
        what = f"{where}: {name} limit of {dof_name(model, int(missing[0]))}"
        raise ParameterError(what, got="none", expected="a finite one, as it moves", hint=hint)
