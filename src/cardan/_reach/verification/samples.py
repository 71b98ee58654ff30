"""Where checks look, and what is true there: the joint seen through its transform alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cardan._algebra.spatial import SE3
from cardan._reach.verification.differences import subspace_by_differences
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
