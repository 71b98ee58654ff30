"""Where checks look, and what is true there: the joint seen through its transform alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cardan._algebra.spatial import SE3
from cardan._reach.verification.differences import subspace_by_differences
from cardan._reach.verification.finding import Numbers
from cardan._robot.joints import Joint, Limits
from cardan._robot.joints.limits import narrow_limits

MARGIN = 0.02
"""Room left at both ends of bounded positions, as a part of their range, or of one where that has no end [rad, m]."""


class TransformAlone(Joint):
    """Another joint without its closed forms: motion subspace and bias are derived from the transform."""

    def __init__(self, joint: Joint) -> None:
        self.joint, self.manifold, self.domain = joint, joint.manifold, joint.domain

    def transform(self, q: Any) -> SE3:
        """Return the joint's."""
        return self.joint.transform(q)


@dataclass
class Samples:
    """Configurations (the neutral one if it is within the limits, then random ones), velocities and accelerations.

    Args:
        joint: whose.
        count: number of configurations.
        seed: of the random numbers.
        limits: positions to keep within, beside those of the joint's domain.
    """

    joint: Joint
    count: int = 12
    seed: int = 0
    limits: Limits | None = None

    @cached_property
    def bounds(self) -> Limits:
        """The positions to keep within, a little inside of what is allowed: differences look to both sides."""
        lower, upper = narrow_limits(self.joint, self.limits)
        room = np.where(np.isfinite(upper - lower), MARGIN * (upper - lower), MARGIN)
        return Limits(lower=(lower + room).tolist(), upper=(upper - room).tolist())

    def random(self, count: int) -> np.ndarray:
        """Return random configurations, shape (count, nq)."""
        found = self.joint.random_configuration((count,), seed=self.seed, limits=self.bounds)
        return found.reshape(count, self.joint.nq)

    def holds(self, q: Any) -> bool:
        """Return whether a configuration is within the bounds."""
        x = np.array(self.joint.manifold.limit_coordinates(tuple(q)), dtype=float)
        return bool(np.all((x >= np.array(self.bounds.lower)) & (x <= np.array(self.bounds.upper))))

    @cached_property
    def q(self) -> list[Numbers]:
        """The configurations."""
        neutral = floats(self.joint.neutral())
        found = [floats(q) for q in self.random(max(self.count - 1, 1))]
        return [neutral if self.holds(neutral) else floats(self.random(self.count + 1)[-1]), *found]

    @cached_property
    def v(self) -> list[Numbers]:
        """A velocity for each configuration."""
        return self._normal(1)

    @cached_property
    def a(self) -> list[Numbers]:
        """An acceleration for each configuration."""
        return self._normal(2)

    @property
    def states(self) -> list[tuple[Numbers, Numbers]]:
        """Configurations with velocities."""
        return list(zip(self.q, self.v, strict=True))

    @cached_property
    def poses(self) -> list[SE3]:
        """The transform at each configuration."""
        return [self.joint.transform(q) for q in self.q]

    @cached_property
    def subspaces(self) -> list[tuple[np.ndarray, float]]:
        """The true S at each configuration, by differences of the transform, with error estimates."""
        return [subspace_by_differences(self.joint, q) for q in self.q]

    @cached_property
    def alone(self) -> Joint:
        """The joint without its closed forms."""
        return TransformAlone(self.joint)

    def _normal(self, stream: int) -> list[Numbers]:
        rng = np.random.default_rng([self.seed, stream])
        return [floats(row) for row in rng.normal(size=(len(self.q), self.joint.nv))]


def floats(values: Any) -> Numbers:
    """Return numbers as a tuple of floats."""
    return tuple(float(e) for e in values)


def columns(motions: Sequence[Any]) -> np.ndarray:
    """Return motions or wrenches as the columns of a matrix of six rows."""
    return np.array([[float(e) for e in m.scalars()] for m in motions], dtype=float).reshape(-1, 6).T


def vector(motion: Any) -> np.ndarray:
    """Return a motion or wrench as six numbers."""
    return np.array([float(e) for e in motion.scalars()])
