"""Where a joint's transform is defined: bounds of its positions, which what samples, searches and limits it respects.

A linkage that cannot be closed beyond an angle, a spline that ends: their `Joint.domain` says so, in the coordinates of
`Manifold.limit_coordinates`. Numbers and angles can be bounded so, not orientations or positions in a moving frame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Manifold
from cardan._algebra.manifolds.scalar_coordinates import configuration_of
from cardan._algebra.scalar import clip
from cardan._algebra.spatial import Scalar
from cardan._robot.joints.limits import Limits, checked_limits


def narrowed(joint: Any, limits: Limits | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper positions, shape (nv,), that both a joint's domain and limits allow.

    Raises:
        ParameterError: if there are no such positions, or limits are something else.
    """
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
        if any(np.isfinite(x) and sign * x > sign * b for x, b in zip(given, bound, strict=True)):
            expected = f"at {'least' if sign < 0 else 'most'} {tuple(bound)}, where the domain of the joint ends"
            raise ParameterError(f"limits of joint {name!r}: {side}", got=tuple(given), expected=expected)
        kept[side] = [x if np.isfinite(x) else b for x, b in zip(given, bound, strict=True)]
    return replace(limits, **kept)


def neutral_within(joint: Any) -> tuple[float, ...]:
    """Return the manifold's neutral configuration; where that is outside of the domain, one in its middle."""
    q = joint.manifold.neutral()
    return tuple(moved_within(joint.manifold, q, *narrowed(joint))) if is_bounded(joint) else q


def moved_within(manifold: Manifold, q: Sequence[float], lower: np.ndarray, upper: np.ndarray) -> Sequence[float]:
    """Return a joint's coordinates as they are, or with those beyond their bounds in the middle of these."""
    values = [float(e) for e in manifold.limit_coordinates(tuple(q))]
    allowed = []
    for value, low, high in zip(values, lower.tolist(), upper.tolist(), strict=True):
        is_between = math.isfinite(low) and math.isfinite(high) and not low <= value <= high
        allowed.append(0.5 * low + 0.5 * high if is_between else max(min(value, high), low))
    return q if allowed == values else configuration_of(manifold, allowed)


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


def kept_within(joint: Any, q: Sequence[Scalar], limits: Limits | None = None) -> Sequence[Scalar]:
    """Return q, moved to the nearest bound of the domain (and of limits) where it is beyond; of any type of scalars."""
    if limits is None and not is_bounded(joint):
        return q
    lower, upper = narrowed(joint, limits)
    x = joint.manifold.limit_coordinates(q)
    back = [clip(e, float(a), float(b)) - e for e, a, b in zip(x, lower, upper, strict=True)]
    return joint.manifold.integrate(q, back)
