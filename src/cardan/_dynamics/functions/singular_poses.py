"""Where closed loops are singular, cluster by cluster: the ends of curves of closed poses (`modes`), within the limits.

    s = the least singular value of K that is not always 0      0 where constraints lose rank: freedoms more than else
    det K_d = 0, of the dependent columns                       a toggle: independent coordinates determine nothing

Curves begin at the neutral pose and, of several freedoms, at random ones, and go both ways along a random line. What is
found is singular. That nothing else is, no search shows.

Source: Gosselin and Angeles, Singularity analysis of closed-loop kinematic chains (1990), for the two kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cardan._dynamics.algorithms.cluster import ClosedSet
from cardan._dynamics.algorithms.configuration import difference, limit_coordinates
from cardan._dynamics.algorithms.dependent import lengths
from cardan._dynamics.algorithms.loops import loop_jacobian
from cardan._dynamics.functions.modes import Curve

POSES = 16  # at which curves begin
SINGULAR = 1e-4  # s where constraints lose rank, of that of the neutral pose
NEAR = 0.1  # poses nearer to one another are one [rad, units of length]
FAR = 4.0 * np.pi  # how far a curve is followed, of several freedoms: other curves begin elsewhere
MOST = 3  # poses of one kind that are told, the nearest first: often there is a curve of them


class SingularPose(NamedTuple):
    """A pose at which loops are singular."""

    loops: tuple[str, ...]  # the joints that close them
    what: str
    coordinates: Mapping[str, tuple[float, ...]]  # of each joint of theirs [rad, m]


def singular_poses(closed: ClosedSet, known: Sequence[np.ndarray] | None = None) -> list[SingularPose]:
    """Return singular poses of a cluster within the limits of its joints, the nearest to its neutral one first.

    `known` are the ends of its curves, if someone has them: of one with one coordinate, of its `cluster_range`.
    """
    part, joints, sizes = closed.part, closed.joint_names, np.array(lengths(closed.part))
    lower, upper = part.lower, part.upper

    def least(q: np.ndarray) -> float:
        s = np.linalg.svd(loop_jacobian(part, q) * sizes, compute_uv=False)
        return float(s[part.nv - closed.nv - 1] / s[0])

    kinds = "constraints lose rank", f"the rest no longer follows from {closed.leading} (a toggle)"
    start, told = np.array(closed.start), dict[str, list[np.ndarray]]({kind: [] for kind in kinds})
    found = [q for q in known or _ends(closed, lower, upper) if np.isfinite(q).all()]
    for q in sorted(found, key=lambda q: np.linalg.norm(difference(part, start, q) / sizes)):
        x, own = limit_coordinates(part, q), told[kinds[least(q) > SINGULAR * least(start)]]
        apart = [np.linalg.norm(difference(part, other, q) / sizes) for poses in told.values() for other in poses]
        if ((x >= lower) & (x <= upper)).all() and len(own) < MOST and min(apart, default=NEAR) >= NEAR:
            own.append(q)

    def named(q: np.ndarray) -> dict[str, tuple[float, ...]]:
        x = limit_coordinates(part, q)
        return {n: tuple(map(float, x[part.v_slice(n)])) for n in joints}

    return [SingularPose(part.closure_names, kind, named(q)) for kind, poses in told.items() for q in poses]


def _ends(closed: ClosedSet, lower: np.ndarray, upper: np.ndarray) -> list[np.ndarray]:
    """Return where curves end, in both ways along random lines."""
    rng, free, start = np.random.default_rng(0), list(closed.free), np.array(closed.start)
    others = closed.random(rng, (POSES - 1 if closed.nv > 1 else 0,), lower[free], upper[free])
    lines = rng.normal(size=(1 + len(others), closed.nv)) * np.array(lengths(closed.part))[free]
    begun = zip([start, *others], lines, strict=True)
    return [Curve("singular_poses", closed, q, sign * w).end(FAR)[1] for q, w in begun for sign in (1.0, -1.0)]
