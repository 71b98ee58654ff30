"""Where checks look, and what is true there: the joint seen through its transform alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cardan._algebra.spatial import SE3
from cardan._robot.joints import Joint, Limits
from cardan._robot.joints.limits import narrow_limits

Numbers = tuple[float, ...]
# Room left at both ends of bounded positions, as a part of their range, or of one where that has no end [rad, m].
MARGIN = 0.02


class TransformAlone(Joint):
    """Another joint without its closed forms: motion subspace and bias are derived from the transform."""

    def __init__(self, joint: Joint) -> None:
        self.joint, self.manifold, self.domain = joint, joint.manifold, joint.domain

    def transform(self, q: Any) -> SE3:
        return self.joint.transform(q)


@dataclass
class Samples:
    """Configurations (the neutral one if it is within the limits, then random ones), velocities and accelerations."""

    joint: Joint  # whose
    count: int = 12  # number of configurations
    seed: int = 0  # of the random numbers
    limits: Limits | None = None  # positions to keep within, beside those of the joint's domain

    @cached_property
    def bounds(self) -> Limits:
        """The positions to keep within, a little inside of what is allowed: differences look to both sides."""
        lower, upper = narrow_limits(self.joint, self.limits)
        # A range without an end has no share.
        room = np.where(np.isfinite(upper - lower), MARGIN * (upper - lower), MARGIN)
        return Limits(lower=(lower + room).tolist(), upper=(upper - room).tolist())

    def random(self, count: int) -> np.ndarray:
        found = self.joint.random_configuration((count,), seed=self.seed, limits=self.bounds)
        return found.reshape(count, self.joint.nq)

    def holds(self, q: Any) -> bool:
        x = np.array(self.joint.manifold.limit_coordinates(tuple(q)), dtype=float)
        return bool(np.all((x >= np.array(self.bounds.lower)) & (x <= np.array(self.bounds.upper))))

    @cached_property
    def q(self) -> list[Numbers]:
        neutral = floats(self.joint.neutral())
        found = [floats(q) for q in self.random(max(self.count - 1, 1))]
        # The neutral one is where guards are missing.
        return [neutral if self.holds(neutral) else floats(self.random(self.count + 1)[-1]), *found]

    @cached_property
    def v(self) -> list[Numbers]:
        return self._normal(1)

    @cached_property
    def a(self) -> list[Numbers]:
        return self._normal(2)

    @property
    def states(self) -> list[tuple[Numbers, Numbers]]:
        return list(zip(self.q, self.v, strict=True))

    @cached_property
    def poses(self) -> list[SE3]:
        return [self.joint.transform(q) for q in self.q]

    @cached_property
    def subspaces(self) -> list[tuple[np.ndarray, float]]:
        """The true S at each configuration, by differences of the transform, with error estimates."""
        return [subspace_by_differences(self.joint, q) for q in self.q]

    @cached_property
    def alone(self) -> Joint:
        return TransformAlone(self.joint)

    def _normal(self, stream: int) -> list[Numbers]:
        rng = np.random.default_rng([self.seed, stream])
        return [floats(row) for row in rng.normal(size=(len(self.q), self.joint.nv))]


def floats(values: Any) -> Numbers:
    return tuple(float(e) for e in values)


def columns(motions: Sequence[Any]) -> np.ndarray:
    """Return motions or wrenches as the columns of a matrix of six rows."""
    return np.array([[float(e) for e in m.scalars()] for m in motions], dtype=float).reshape(-1, 6).T


def vector(motion: Any) -> np.ndarray:
    return np.array([float(e) for e in motion.scalars()])


# --- derivatives by differences, extrapolated until rounding stops them: independent of any formula or autodiff ---
#
#     f'(0) = (f(h) - f(-h)) / (2 h) + O(h^2),  h halved and the even powers eliminated one by one
#
# Source: Ridders, Adv. Eng. Software 4 (1982); Press et al., Numerical Recipes (2007), section 5.7.

STEP, LEVELS, SHORTER = 0.1, 6, 8
Function = Callable[[float], Any]


def derivative(f: Function, step: float = STEP) -> tuple[np.ndarray, float]:
    """Return f'(0) of a function with an array as value, and an estimate of its largest error.

    Where the function has no value so far away, as at the end of its domain, it begins with shorter steps.
    """

    def slope(h: float) -> np.ndarray:
        return (np.asarray(f(h), dtype=float) - np.asarray(f(-h), dtype=float)) / (2.0 * h)

    first = slope(step)
    for _ in range(SHORTER):
        if np.isfinite(first).all():
            break
        step *= 0.5  # the function may end nearby: shorter steps stay inside
        first = slope(step)
    table: list[list[np.ndarray]] = []
    best, estimate = np.zeros(0), np.inf  # what agrees best with its neighbours in the table
    for level in range(LEVELS):
        h = step / 2.0**level
        row = [slope(h) if level else first]
        for order in range(1, level + 1):
            row.append(row[-1] + (row[-1] - table[-1][order - 1]) / (4.0**order - 1.0))
            error = max(_size(row[order] - row[order - 1]), _size(row[order] - table[-1][order - 1]))
            if error <= estimate or best.size == 0:  # beyond some level rounding makes it worse again
                best, estimate = row[order], error
        table.append(row)
    return (best, estimate) if np.isfinite(estimate) else (table[-1][0], np.inf)


def _size(x: np.ndarray) -> float:
    return float(np.abs(x).max(initial=0.0)) if np.isfinite(x).all() else np.inf


def scaled(v: Any, t: float) -> tuple[float, ...]:
    return tuple(t * float(e) for e in v)


def rate_along(
    joint: Joint, q: Any, v: Any, f: Callable[[Any], Any], step: float | None = None
) -> tuple[np.ndarray, float]:
    """Return df/dt along integrate(q, t v), and the error estimate; steps are shorter for larger velocities."""
    shorter = STEP / (1.0 + max((abs(float(e)) for e in v), default=0.0))
    return derivative(lambda t: f(joint.integrate(q, scaled(v, t))), shorter if step is None else step)


def twist_by_differences(joint: Joint, q: Any, v: Any) -> tuple[np.ndarray, float]:
    """Return vee(X^-1 dX/dt) along integrate(q, t v), six numbers, and the error estimate."""
    rate, estimate = rate_along(joint, q, v, lambda moved: entries(joint.transform(moved)))
    R = entries(joint.transform(q))[:9].reshape(3, 3)
    W = R.T @ rate[:9].reshape(3, 3)
    angular = 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])
    return np.concatenate([R.T @ rate[9:], angular]), estimate


def subspace_by_differences(joint: Joint, q: Any) -> tuple[np.ndarray, float]:
    """Return S(q), 6 x nv, from the transform alone, and the error estimate."""
    columns = [twist_by_differences(joint, q, e) for e in np.eye(joint.nv)]
    S = np.array([column for column, _ in columns], dtype=float).reshape(joint.nv, 6).T
    return S, max((estimate for _, estimate in columns), default=0.0)


def entries(X: SE3) -> np.ndarray:
    """Return the twelve numbers of a pose: rotation row by row, then translation."""
    return np.array([*X.rotation.entries(), *X.translation], dtype=float)
