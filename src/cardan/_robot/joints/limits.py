"""Limits of a joint: position, velocity and effort, each from below and from above."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardan._algebra.by_fields import ByFields
from cardan._algebra.errors import ParameterError


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Limits(ByFields):
    """Bounds for each of the nv degrees of freedom of a joint; None means unlimited.

    Positions are limited in the sense of the tangent: nv numbers, in the coordinates `Manifold.limit_coordinates`
    (angles [rad] and lengths [m]; the rotation vector of an orientation).

    Args:
        lower: smallest positions [rad, m].
        upper: largest positions [rad, m].
        velocity: largest velocities [rad/s, m/s].
        effort: largest efforts [N m, N].
        velocity_lower: smallest velocities [rad/s, m/s]; `-velocity` if None.
        effort_lower: smallest efforts [N m, N]; `-effort` if None.

    Throughout:
        nv: number of degrees of freedom.
        joint: whose, for messages.

    Raises:
        ParameterError: if a bound is NaN or a lower bound exceeds the upper one.

    Examples:
        >>> cardan.Limits(lower=[-1.0], upper=[2.0], effort=[30.0]).resolved(1).velocity
        (inf,)
    """

    lower: Sequence[float] | None = None
    upper: Sequence[float] | None = None
    velocity: Sequence[float] | None = None
    effort: Sequence[float] | None = None
    velocity_lower: Sequence[float] | None = None
    effort_lower: Sequence[float] | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _bounds(name, value))
        for low, high in (("lower", "upper"), ("velocity_lower", "velocity"), ("effort_lower", "effort")):
            lower, upper = getattr(self, low) or (), getattr(self, high) or ()
            if len(lower) == len(upper) and any(a > b for a, b in zip(lower, upper, strict=True)):
                raise ParameterError(f"limits {low} and {high}", got=(lower, upper), expected=f"{low} <= {high}")

    def resolved(self, nv: int, joint: str = "joint") -> Limits:
        """Return the same limits with nv numbers everywhere, infinite where there is no limit.

        Raises:
            ParameterError: if a bound is given with another length than nv.
        """
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and len(value) != nv:
                raise ParameterError(f"limits of {joint!r}: {name}", got=tuple(value), expected=f"{nv} numbers")
        unlimited = (math.inf,) * nv
        velocity, effort = self.velocity or unlimited, self.effort or unlimited
        lower = self.lower or (-math.inf,) * nv
        velocity_lower = self.velocity_lower or tuple(-e for e in velocity)
        effort_lower = self.effort_lower or tuple(-e for e in effort)
        return Limits(lower, self.upper or unlimited, velocity, effort, velocity_lower, effort_lower)


def _bounds(name: str, value: Any) -> tuple[float, ...]:
    try:
        bounds = tuple(float(v) for v in value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"limit {name}", got=value, expected="a sequence of numbers, one for each dof") from None
    if any(math.isnan(v) for v in bounds):
        raise ParameterError(f"limit {name}", got=bounds, expected="numbers (infinite for no limit), not NaN")
    return bounds


def checked_limits(what: str, limits: Any) -> Limits:
    """Return limits, those without any bound for None; raise `ParameterError` for anything else."""
    if limits is not None and not isinstance(limits, Limits):
        raise ParameterError(what, got=limits, expected="a cardan.Limits(lower=[...], upper=[...])")
    return limits or Limits()
