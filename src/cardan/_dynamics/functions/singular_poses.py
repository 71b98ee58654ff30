"""Where closed loops are singular: a search over closed poses within the limits, cluster by cluster.

    s = the least singular value of K that is not always 0      0 where constraints lose rank: freedoms more than else
    s = that of K_d, of the dependent columns                   0 at a toggle: independent coordinates determine nothing

Poses wander along tangents of the closed mechanism, then go down with s by steps that are halved where none leads down:
near a singular pose s grows in proportion to the way. What is found is singular. That nothing else is, no search shows.

Source: Gosselin and Angeles, Singularity analysis of closed-loop kinematic chains (1990), for the two kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cardan._dynamics.algorithms.cluster import ClosedSet
from cardan._dynamics.algorithms.configuration import difference, integrate, limit_coordinates
from cardan._dynamics.algorithms.dependent import lengths
from cardan._dynamics.algorithms.loops import loop_jacobian
from cardan._dynamics.functions.assembly import DEPENDENT, closed_near
from cardan._robot.model import Model

POSES, WAYS = 16, 6  # that wander, and directions each tries at once
WANDERED, DESCENT = 8, 40  # steps of each kind
STEP = 0.4  # the longest step [rad, units of length]
SINGULAR = 1e-4  # s there, of its median
NEAR = 0.1  # poses nearer to one another are one [rad, units of length]
CLOSED = 1e-9  # how far poses may be open [rad, m]
MOST = 3  # poses of one kind that are told, the nearest first: often there is a curve of them


class SingularPose(NamedTuple):
    """A pose at which loops are singular."""

    loops: tuple[str, ...]  # the joints that close them
    what: str
    coordinates: Mapping[str, tuple[float, ...]]  # of each joint of theirs [rad, m]


def singular_poses(model: Model, closed: ClosedSet) -> list[SingularPose]:
    """Return singular poses of a cluster of a model within its limits, the nearest to its neutral one first."""
    part = closed.part
    search = _Search(model, closed)
    dependent = [j for j in range(part.nv) if j not in closed.free]
    kinds = (
        (list(range(part.nv)), "constraints lose rank"),
        (dependent, f"{closed.leading} no longer determines the rest (a toggle)"),
    )
    found: list[SingularPose] = []
    known: list[np.ndarray] = []
    for columns, what in kinds:
        poses = list(search.poses(columns, known))
        known += poses
        found += [SingularPose(part.closure_names, what, search.named(q)) for q in poses]
    return found


class _Search:
    def __init__(self, model: Model, closed: ClosedSet) -> None:
        self.part, self.rng = closed.part, np.random.default_rng(0)
        self.sizes, self.freedoms = np.array(lengths(self.part)), closed.nv
        self.joints = closed.joint_names
        ends = [[getattr(model, end)[model.v_slice(n)] for n in self.joints] for end in ("lower", "upper")]
        self.lower, self.upper = (np.concatenate(own) for own in ends)
        self.start = np.array(closed.start)
        Q = np.tile(self.start, (POSES, 1))
        for _ in range(WANDERED):
            Q = self._moved(Q, STEP * self._ways(Q, 1)[:, 0])
        self.wandered = Q

    def poses(self, columns: Sequence[int], known: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
        """Yield singular poses that are not known."""
        measure = self._measure(columns)
        Q, steps = self.wandered, np.full(POSES, STEP)
        s = measure(Q)
        least = SINGULAR * np.median(s)
        for _ in range(DESCENT):
            ways = self._ways(Q, WAYS) * steps[:, None, None]
            tried = self._moved(np.repeat(Q, WAYS, axis=0), ways.reshape(-1, self.part.nv)).reshape(POSES, WAYS, -1)
            sizes = measure(tried.reshape(-1, self.part.nq)).reshape(POSES, WAYS)
            best = np.arange(POSES), sizes.argmin(axis=1)
            down = sizes[best] < s
            Q, s = np.where(down[:, None], tried[best], Q), np.minimum(sizes[best], s)
            steps = np.where(down, steps, 0.5 * steps)
        found = Q[s <= least]
        away = [np.linalg.norm(difference(self.part, self.start, q) / self.sizes) for q in found]
        known, told = list(known), 0
        for q in found[np.argsort(away)]:
            apart = [np.linalg.norm(difference(self.part, other, q) / self.sizes) for other in known]
            if told < MOST and min(apart, default=NEAR) >= NEAR:
                known.append(q)
                told += 1
                yield q

    def named(self, q: np.ndarray) -> dict[str, tuple[float, ...]]:
        x = limit_coordinates(self.part, q)
        return {n: tuple(map(float, x[self.part.v_slice(n)])) for n in self.joints}

    def _measure(self, columns: Sequence[int]) -> Callable[[np.ndarray], np.ndarray]:
        """Return the function s of poses, relative to the largest singular value; infinite of columns that are none."""

        def values(Q: np.ndarray) -> np.ndarray:
            s = np.linalg.svd((loop_jacobian(self.part, Q) * self.sizes)[..., columns], compute_uv=False)
            return s / s.max(axis=-1, keepdims=True)

        # of wandering poses most are not singular
        rank = int(np.median((values(self.wandered) > DEPENDENT).sum(axis=-1)))
        return lambda Q: values(Q)[:, rank - 1]

    def _ways(self, Q: np.ndarray, count: int) -> np.ndarray:
        """Return random motions of poses that keep them closed to first order, of length 1: (poses, count, nv)."""
        free = np.linalg.svd(loop_jacobian(self.part, Q) * self.sizes)[2][:, self.part.nv - self.freedoms :]
        along = self.rng.normal(size=(len(Q), count, self.freedoms))
        return along / np.linalg.norm(along, axis=-1, keepdims=True) @ free

    def _moved(self, Q: np.ndarray, ways: np.ndarray) -> np.ndarray:
        """Return poses moved along ways and closed again; those that leave the limits, or do not close, stay."""
        moved, gaps = closed_near(
            self.part, integrate(self.part, Q, ways * self.sizes), range(self.part.nv), CLOSED, 20
        )
        x = limit_coordinates(self.part, moved)
        good = (np.abs(gaps).max(axis=-1) <= CLOSED) & ((x >= self.lower) & (x <= self.upper)).all(axis=-1)
        return np.where(good[:, None], moved, Q)
