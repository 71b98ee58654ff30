"""Limits of a joint: position, velocity and effort, each from below and from above; and the domain of its transform.

A linkage that cannot be closed beyond an angle, a spline that ends: their `Joint.domain` says so, in the coordinates of
`Manifold.limit_coordinates`. What samples, searches and limits respects it. Numbers and angles can be bounded so, not
orientations or positions in a moving frame.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cardan._algebra.by_fields import ByFields
from cardan._algebra.checked_numbers import numbers
from cardan._algebra.errors import ParameterError, StartWarning, levels_inside
from cardan._algebra.manifolds import Manifold
from cardan._algebra.manifolds.product import configuration_of
from cardan._algebra.scalar import clip
from cardan._algebra.spatial import Scalar

PASSED = 0.01  # how far a joint may be locked beyond a stop without a warning [rad, m]: files give few digits


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
    expected = "a sequence of numbers, one for each dof (infinite for no limit), not NaN"
    return numbers(f"limit {name}", value, expected, lambda e: not math.isnan(e))


def checked_limits(what: str, limits: Any) -> Limits:
    """Return limits, those without any bound for None; raise `ParameterError` for anything else."""
    if limits is not None and not isinstance(limits, Limits):
        raise ParameterError(what, got=limits, expected="a cardan.Limits(lower=[...], upper=[...])")
    return limits or Limits()


def narrow_limits(joint: Any, limits: Limits | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper positions, shape (nv,), that both a joint's domain and limits allow, or raise."""
    own: Any
    given: Any
    name = type(joint).__name__
    checked = checked_limits(f"limits of {name}", limits)
    own, given = (bounds.resolved(joint.nv, name) for bounds in (_domain(joint), checked))
    lower, upper = np.maximum(own.lower, given.lower), np.minimum(own.upper, given.upper)
    if (lower > upper).any():
        expected = f"positions of its domain, {own.lower} to {own.upper}"
        raise ParameterError(f"limits of {name}", got=(given.lower, given.upper), expected=expected)
    return lower, upper


def limits_within(joint: Any, limits: Limits, name: str) -> Limits:
    """Return a joint's limits, its domain's if there is no limit; raise `ParameterError` for one beyond the domain."""
    own = _domain(joint).resolved(joint.nv, name)
    kept = {}
    for side, sign in (("lower", -1.0), ("upper", 1.0)):
        given, bound = getattr(limits, side), getattr(own, side)
        if any(math.isfinite(x) and sign * x > sign * b for x, b in zip(given, bound, strict=True)):
            expected = f"at {'least' if sign < 0 else 'most'} {tuple(bound)}, where the domain of the joint ends"
            raise ParameterError(f"limits of joint {name!r}: {side}", got=tuple(given), expected=expected)
        kept[side] = [x if math.isfinite(x) else b for x, b in zip(given, bound, strict=True)]
    return replace(limits, **kept)


def neutral_within(joint: Any) -> tuple[float, ...]:
    """Return the manifold's neutral configuration; where that is outside of the domain, one in its middle."""
    # The neutral one is kept where it can be: zero is what everybody expects.
    q = joint.manifold.neutral()
    return tuple(move_to_middle(joint.manifold, q, *narrow_limits(joint))) if is_bounded(joint) else q


def move_to_middle(manifold: Manifold, q: Sequence[float], lower: np.ndarray, upper: np.ndarray) -> Sequence[float]:
    """Return a joint's coordinates as they are, or with those beyond their bounds in the middle of these."""
    values = [float(e) for e in manifold.limit_coordinates(tuple(q))]
    allowed = []
    for value, low, high in zip(values, lower.tolist(), upper.tolist(), strict=True):
        is_between = math.isfinite(low) and math.isfinite(high) and not low <= value <= high
        allowed.append(0.5 * low + 0.5 * high if is_between else max(min(value, high), low))
    return q if allowed == values else configuration_of(manifold, allowed)


def warn_of_stops(name: str, joint: Any, limits: Limits, q: Sequence[float]) -> None:
    """Warn of a joint that is locked beyond its stops: mostly degrees are meant."""
    x = np.array(joint.manifold.limit_coordinates(q), dtype=float)
    over = np.maximum(np.array(limits.lower) - x, x - np.array(limits.upper)).max(initial=0.0)
    if over > PASSED:
        told = f"joint {name!r} is locked {over:.3g} rad or m beyond its stops. Angles are in radians: np.radians(q)."
        warnings.warn(StartWarning(told, [name]), stacklevel=levels_inside())


def is_bounded(joint: Any) -> bool:
    """Return whether a joint's domain has any bound."""
    domain = _domain(joint)
    return domain.lower is not None or domain.upper is not None


def _domain(joint: Any) -> Limits:
    """Return a joint's domain, or raise `ParameterError` if it is something else."""
    if not isinstance(joint.domain, Limits):
        expected = "positions as cardan.Limits(lower=[...], upper=[...])"
        raise ParameterError(f"domain of {type(joint).__name__}", got=joint.domain, expected=expected)
    return joint.domain


def move_to_bounds(joint: Any, q: Sequence[Scalar]) -> Sequence[Scalar]:
    """Return q, moved to the nearest bound of the domain where it is beyond; of any type of scalars."""
    if not is_bounded(joint):
        return q
    lower, upper = narrow_limits(joint)
    x = joint.manifold.limit_coordinates(q)
    # By a step on the manifold, not by setting coordinates: limits are numbers along the tangent.
    back = [clip(e, float(a), float(b)) - e for e, a, b in zip(x, lower, upper, strict=True)]
    return joint.manifold.integrate(q, back)
