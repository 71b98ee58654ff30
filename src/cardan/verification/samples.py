"""Where checks look, and what is true there: the joint seen through its transform alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cardan.joints import Joint
from cardan.spatial import SE3
from cardan.verification.differences import subspace_by_differences
from cardan.verification.finding import Numbers


class TransformAlone(Joint):
    """Another joint without its closed forms: motion subspace and bias are derived from the transform."""

    def __init__(self, joint: Joint) -> None:
        self.joint, self.manifold = joint, joint.manifold

    def transform(self, q: Any) -> SE3:
        """Return the joint's."""
        return self.joint.transform(q)


@dataclass
class Samples:
    """Configurations (the neutral one, then random ones), velocities and accelerations of a joint.

    Args:
        joint: whose.
        count: number of configurations.
        seed: of the random numbers.
    """

    joint: Joint
    count: int = 12
    seed: int = 0

    @cached_property
    def q(self) -> list[Numbers]:
        """The configurations."""
        random = self.joint.random_configuration((max(self.count - 1, 1),), seed=self.seed)
        return [floats(self.joint.neutral()), *map(floats, random)]

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
