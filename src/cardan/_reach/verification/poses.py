"""The transform itself: a rigid motion on and off the manifold, smooth, with an inverse, and within limits."""

from __future__ import annotations

import numpy as np

from cardan._algebra.errors import ReachError
from cardan._algebra.manifolds.manifold import finite_range
from cardan._algebra.spatial import SE3
from cardan._reach.verification.check import Ledger, Skip, check
from cardan._reach.verification.differences import entries
from cardan._reach.verification.samples import Samples, floats
from cardan._robot.joints import Joint, Limits
from cardan._robot.joints.first_checks import rotation_fault

OFF = 1.3  # factor that takes a constrained configuration off its manifold


@check("rigid motion", "R^T R = 1, det R = 1", 1e-12)
def rigid(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Look at the rotation matrices on the manifold."""
    for q, X in zip(samples.q, samples.poses, strict=True):
        _see_rotation(X, q, ledger)
    if ledger.failed and (fault := rotation_fault([_rotation(X) for X in samples.poses], ledger.tolerance)):
        ledger.cause = f"{fault.what}; {fault.cure}"


@check("off the manifold", "transform(k q) is a rigid motion, that of normalize(k q)", 1e-12)
def off_manifold(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Rounding and integrators leave the manifold; the transform must come back to it."""
    moved = [tuple(OFF * e for e in q) for q in samples.q]
    back = [floats(joint.normalize(q)) for q in moved]
    if all(np.allclose(a, b) for a, b in zip(moved, back, strict=True)):
        raise Skip("every q is on the manifold")
    for q, normal in zip(moved, back, strict=True):
        X = joint.transform(q)
        _see_rotation(X, q, ledger)
        ledger.see(entries(X), entries(joint.transform(normal)), q, label="[R row by row, p]")
    if ledger.failed:
        ledger.cause = "transform uses its coordinates as they come; divide them by their norm first"


def _see_rotation(X: SE3, q: tuple[float, ...], ledger: Ledger) -> None:
    R = _rotation(X)
    ledger.see(R.T @ R, np.eye(3), q, label="R^T R")
    ledger.see(np.linalg.det(R), 1.0, q, label="det R")


def _rotation(X: SE3) -> np.ndarray:
    return np.array([list(row) for row in X.rotation.rows()], dtype=float)


@check("inverse of transform", "transform(configuration_from_transform(X)) = X", 1e-6)
def round_trip(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Find configurations of poses the joint has."""
    kept, off = 0, 0.0
    for q, X in zip(samples.q[:6], samples.poses, strict=False):
        try:
            found = floats(joint.configuration_from_transform(X))
        except ReachError as error:
            ledger.fail(f"the configuration found has a pose {error.residual:.3g} away", q)
            ledger.cause = (
                "nearest_configuration is not the inverse of transform"
                if type(joint).nearest_configuration is not Joint.nearest_configuration
                else "the search did not find q: S may be wrong, or q far from the random configurations; "
                "give the joint its own nearest_configuration"
            )
            return
        ledger.see(entries(joint.transform(found)), entries(X), q, label="[R row by row, p]")
        gap = np.abs(np.array(joint.difference(q, found), dtype=float)).max(initial=0.0)
        kept, off = kept + (gap < 1e-6), max(off, float(gap))
    if kept < min(6, len(samples.q)):
        ledger.note = f"another q with the same pose was found at {min(6, len(samples.q)) - kept} of 6 poses"


@check("limits", "random configurations keep to the limits, lower <= limit_coordinates(q) <= upper")
def limits(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Draw within a box."""
    if not joint.nv:
        raise Skip("there is nothing to limit")
    low, high = finite_range(samples.bounds.lower, samples.bounds.upper, 0.5)
    lower, upper = low + 0.1 * (high - low), low + np.linspace(0.6, 0.8, joint.nv) * (high - low)
    bounds = Limits(lower=lower.tolist(), upper=upper.tolist())
    for q in joint.random_configuration((32,), seed=samples.seed, limits=bounds):
        x = np.array(joint.manifold.limit_coordinates(floats(q)), dtype=float)
        ledger.see(x, np.clip(x, lower, upper), floats(q), label="limit coordinates")
