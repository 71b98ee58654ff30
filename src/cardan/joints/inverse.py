"""The inverse of a joint's transform: search where there is no closed form, and the check of any result."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.errors import DTypeError, ReachError
from cardan.spatial import SE3, Scalar, log_se3

STARTS = 12
STEPS = 60


def search_configuration(joint: Any, X_pc: SE3) -> tuple[Scalar, ...]:
    """Return the configuration whose transform is nearest to X_pc, found by Levenberg-Marquardt on the manifold.

    The step solves S(q) dq = log(X_pc(q)^-1 X_pc) in the least-squares sense, damped. Starts at the neutral
    configuration, then at random ones, the same each time.
    """
    target = X_pc.matrix()
    if target.dtype == object:
        raise DTypeError(
            type(joint).__name__, "X_pc", got="symbolic", expected="numbers: this joint has no closed form"
        )
    batch = target.shape[:-2]
    found = np.empty((*batch, joint.nq))
    for index in np.ndindex(*batch):
        found[index] = _search_one(joint, SE3.of(target[index]))
    return tuple(found[..., k][()] for k in range(joint.nq))


def _search_one(joint: Any, X: SE3) -> np.ndarray:
    starts = [np.array(joint.neutral()), *joint.random_configuration((STARTS - 1,), seed=0)]
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
        S = np.array(joint.subspace(q).rows(), dtype=float).reshape(6, joint.nv)
        lhs = S.T @ S + damping * np.eye(joint.nv)
        step = np.linalg.solve(lhs, S.T @ error)
        candidate = np.array(joint.integrate(q, step), dtype=float)
        new_error = _error(joint, X, candidate)
        if new_error @ new_error < error @ error:
            q, error, damping = candidate, new_error, damping * 0.1
        else:
            damping *= 10.0
        if damping > 1e12 or np.abs(error).max() < 1e-14:
            break
    return q, float(np.abs(error).max())


def _error(joint: Any, X: SE3, q: Any) -> np.ndarray:
    return np.array(log_se3(joint.transform(tuple(q)).inverse() @ X).scalars(), dtype=float)


def check_reached(joint: Any, X: SE3, q: Any, tolerance: float) -> None:
    """Raise `ReachError` if numbers q do not have the transform X; symbols pass."""
    offsets = log_se3(joint.transform(q).inverse() @ X).scalars()
    if not all(isinstance(e, (int, float, np.ndarray, np.generic)) for e in offsets):
        return
    residual = max(float(np.max(np.abs(e), initial=0.0)) for e in offsets)
    if not residual <= tolerance:
        raise ReachError(repr(joint), residual, tolerance)
