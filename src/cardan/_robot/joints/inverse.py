"""The inverse of a joint's transform where there is no closed form: searches; and the check of any result.

Both search on the manifold for the q where X(q) is nearest to X, by steps of Levenberg and Marquardt,

    (S^T S + mu D) dq = S^T log(X(q)^-1 X)        D = diag(S^T S)

On numbers the search goes on until it has arrived, from several starts. On symbols it has as many steps as the program
was written with: from `near`, a configuration not far away; or from those of tables, sampled beforehand, whose poses
are nearest. Its damping mu = |angle that is left|^2 vanishes as it arrives: so it converges quadratically, also where S
loses rank (a chart's singularity), where mu = 0 would not.

Source: Marquardt (1963); Yamashita and Fukushima, On the rate of convergence of the Levenberg-Marquardt method (2001).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cardan._algebra.arrays.functions import solved_positive
from cardan._algebra.errors import ReachError
from cardan._algebra.scalar import is_symbol, where
from cardan._algebra.spatial import SE3, Motion, Scalar, log_se3
from cardan._robot.joints.limits import move_to_bounds

STARTS = 12  # configurations a search on numbers begins at, one after the other, until one arrives
STEPS = 60  # from each of them; most searches arrive in fewer than ten
STEPS_NEAR = 6  # of a search written out, from a configuration near by: from 0.1 rad away four arrive
STEPS_FAR = 16  # of a search written out, from a table
# Configurations in a table; there is one for every two freedoms: a start in each finds what one misses (of poses of a
# composite joint of five freedoms one start finds 0.82, three 0.97).
TABLE = 48
# Damping that is left on arrival: more than roundings of S^T S in float32, too little to slow the last steps.
ROUNDING = 1e-6


def search_configuration(joint: Any, X_pc: SE3, near: Sequence[Any] | None = None) -> tuple[Scalar, ...]:
    """Return the configuration whose transform is nearest to X_pc.

    On numbers it starts at `near`; or at the neutral configuration, then at random ones, the same each time.
    """
    target = X_pc.matrix()
    if target.dtype == object or any(map(is_symbol, () if near is None else near)):
        return _write_out(joint, X_pc, near)
    starts = None if near is None else np.stack(np.broadcast_arrays(*near), axis=-1)
    anywhere = [np.array(joint.neutral()), *joint.random_configuration((STARTS - 1,), seed=0)] if near is None else []
    batch = np.broadcast_shapes(target.shape[:-2], () if starts is None else starts.shape[:-1])
    target, found = np.broadcast_to(target, (*batch, 4, 4)), np.empty((*batch, joint.nq))
    for index in np.ndindex(*batch):
        own = anywhere if starts is None else [np.broadcast_to(starts, found.shape)[index]]
        found[index] = _search_one(joint, SE3.of(target[index]), own)
    return tuple(found[..., k][()] for k in range(joint.nq))


def _write_out(joint: Any, X: SE3, near: Sequence[Scalar] | None) -> tuple[Scalar, ...]:
    if near is not None:
        return _walk(joint, X, near, STEPS_NEAR)
    starts = [_nearest_of_table(joint, X, k) for k in range((joint.nv + 1) // 2)]
    found = [_walk(joint, X, start, STEPS_FAR) for start in starts]
    if len(found) == 1:
        return found[0]
    offsets = [_offset(joint, X, q) for q in found]
    return _least(found, [_product(e, e) for e in offsets])


def _walk(joint: Any, X: SE3, q: Sequence[Scalar], steps: int) -> tuple[Scalar, ...]:
    for _ in range(steps):
        S, error = joint.motion_subspace(tuple(q)), _offset(joint, X, q)
        damping = 1.0 + ROUNDING + error.angular.norm_squared()
        A = [[_product(a, b) for b in S] for a in S]
        for i, row in enumerate(A):
            row[i] = where(row[i] > 0.0, row[i] * damping, 1.0)  # a coordinate that moves nothing stays
        step = [row[0] for row in solved_positive(A, [[_product(s, error)] for s in S])]
        q = move_to_bounds(joint, joint.integrate(tuple(q), step))
    return tuple(q)


def _least(configurations: Iterable[Sequence[Scalar]], sizes: Iterable[Scalar]) -> tuple[Scalar, ...]:
    """Return the configuration for which a number is the smallest."""
    pairs = zip(configurations, sizes, strict=True)
    best, least = next(pairs)
    for q, size in pairs:
        nearer = size < least
        best = [where(nearer, a, b) for a, b in zip(q, best, strict=True)]
        least = where(nearer, size, least)
    return tuple(best)


def _offset(joint: Any, X: SE3, q: Sequence[Scalar]) -> Motion:
    return log_se3(joint.transform(tuple(q)).inverse() @ X)


def _product(a: Motion, b: Motion) -> Scalar:
    return a.linear.dot(b.linear) + a.angular.dot(b.angular)


def _nearest_of_table(joint: Any, X: SE3, seed: int) -> tuple[Scalar, ...]:
    """Return the configuration of a table with the least |R - R_k|^2 + |p - p_k|^2 / L^2, L its places' spread."""
    table = [joint.neutral(), *joint.random_configuration((TABLE - 1,), seed=seed).tolist()]
    poses = [joint.transform(tuple(q)) for q in table]
    first = poses[0].translation
    square = sum(((P.translation - first).norm_squared() for P in poses), 0.0) * (1.0 / len(poses))
    # If all places are one, their distance does not count; the inner guard keeps the division finite then.
    scale = where(square > 0.0, 1.0 / where(square > 0.0, square, 1.0), 0.0)

    def distance(P: SE3) -> Scalar:
        turned = sum((a * b for a, b in zip(X.rotation.entries(), P.rotation.entries(), strict=True)), 0.0)
        return (X.translation - P.translation).norm_squared() * scale - 2.0 * turned

    return _least(table, map(distance, poses))


def _search_one(joint: Any, X: SE3, starts: Sequence[np.ndarray]) -> np.ndarray:
    best, best_error = starts[0], np.inf
    for start in starts:
        q, error = _descend(joint, X, start)
        if error < best_error:
            best, best_error = q, error
        if best_error < 1e-12:
            break
    return best


def _descend(joint: Any, X: SE3, q: np.ndarray) -> tuple[np.ndarray, float]:
    damping, error = 1e-3, _error(joint, X, q)
    for _ in range(STEPS):
        S = np.array(joint.subspace(q), dtype=float)
        lhs = S.T @ S + damping * np.eye(joint.nv)
        step = np.linalg.solve(lhs, S.T @ error)
        candidate = np.array(move_to_bounds(joint, joint.integrate(q, step)), dtype=float)
        new_error = _error(joint, X, candidate)
        if new_error @ new_error < error @ error:
            q, error, damping = candidate, new_error, damping * 0.1
        else:
            damping *= 10.0
        if damping > 1e12 or np.abs(error).max() < 1e-14:
            break
    return q, float(np.abs(error).max())


def _error(joint: Any, X: SE3, q: Any) -> np.ndarray:
    return np.array(_offset(joint, X, q).scalars(), dtype=float)


def check_reached(joint: Any, X: SE3, q: Any, tolerance: float) -> None:
    """Raise `ReachError` if numbers q do not have the transform X; symbols pass."""
    offsets = _offset(joint, X, q).scalars()
    if not all(isinstance(e, (int, float, np.ndarray, np.generic)) for e in offsets):
        return
    residual = max(float(np.max(abs(np.asarray(e)), initial=0.0)) for e in offsets)
    if not residual <= tolerance:
        raise ReachError(repr(joint), residual, tolerance)
