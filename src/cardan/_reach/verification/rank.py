"""The rank of S, and the configurations where it drops.

The smallest singular value sigma = u^T S(q) w, kept with its sign, crosses zero at a singular configuration; Newton's
method along its gradient g_j = u^T (dS/dq_j) w finds the nearest one: dq = -sigma g / |g|^2.

Source: Golub and Van Loan, Matrix Computations (2013), section 2.4, for the derivative of a singular value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cardan._reach.verification.check import Ledger, Skip, check
from cardan._reach.verification.samples import Numbers, Samples, columns, floats
from cardan._robot.joints import Joint

RANK = 1e-9  # singular values below this, relative to the largest, are zero
STEPS, STRIDE, SMALL = 40, 0.5, 1e-7
SHOWN = 6


@dataclass(frozen=True, slots=True)
class Singularity:
    """A configuration where S loses rank.

    Attributes:
        q: the configuration.
        rank: of S there.
        free: which of the nv velocities keep it singular, to first order.
        text: all of that in words.

    Examples:
        >>> ball = cardan.joints.SphericalZYX()
        >>> cardan.verify_joint(ball, samples=2).singularities[0].rank
        2
    """

    q: Numbers
    rank: int
    free: tuple[bool, ...]
    text: str


def rank_of(S: np.ndarray) -> int:
    values = np.linalg.svd(S, compute_uv=False)
    return int((values > RANK * max(1.0, values.max(initial=0.0))).sum())


@check("rank", "rank S(q) = nv at almost every q")
def rank(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    if not joint.nv:
        raise Skip("there are no columns")
    ranks = [rank_of(columns(joint.motion_subspace(q))) for q in samples.q]
    best = max(ranks)
    q = samples.q[ranks.index(best)]
    ledger.see(best, joint.nv, q, label="rank of S")
    if ledger.failed:
        hint = "; are these the coordinates of a quaternion? Then the manifold is UnitQuaternion()"
        ledger.cause = "some velocities do nothing, or the same as others: there are fewer degrees of freedom than nv"
        ledger.cause += hint if (joint.nq, joint.nv, best) == (4, 4, 3) else ""


def singularities(joint: Joint, samples: Samples) -> tuple[Singularity, ...]:
    """Return singular configurations near the samples, different ones, the simplest first; not all there are."""
    if not joint.nv or max(rank_of(columns(joint.motion_subspace(q))) for q in samples.q) < joint.nv:
        return ()
    found: dict[str, Singularity] = {}
    for q in samples.q:
        singular = _search(joint, q, samples)
        if singular is not None:
            known = found.setdefault(singular.text, singular)
            if sum(singular.free) > sum(known.free):
                found[singular.text] = singular
    order = sorted(found.values(), key=lambda s: (-sum(s.free), float(np.abs(s.q).max(initial=0.0))))
    return tuple(order[:SHOWN])


def _search(joint: Joint, start: Numbers, samples: Samples) -> Singularity | None:
    q, g = start, np.zeros(joint.nv)
    for _ in range(STEPS):
        u, sigma, w = _smallest(joint, q)
        if sigma < SMALL * 1e-3:  # near enough: further steps would be rounding
            break
        g = np.array([u @ _rate(joint, q, e) @ w for e in np.eye(joint.nv)])
        if g @ g < 1e-12:  # nothing changes sigma here, or it is not differentiable
            break
        step = -sigma * g / (g @ g)
        step *= min(1.0, STRIDE / np.linalg.norm(step))  # a long step leaves the range in which sigma is nearly linear
        moved = floats(joint.integrate(q, tuple(step)))
        if not samples.holds(moved):
            return None
        q = moved
    _, sigma, _ = _smallest(joint, q)
    if not sigma < SMALL:
        return None
    free = tuple(bool(_remains(joint, q, e, samples)) for e in np.eye(joint.nv))
    found = int((np.linalg.svd(columns(joint.motion_subspace(q)), compute_uv=False) > SMALL).sum())
    return Singularity(q, found, free, _named(joint, q, found, free))


def _smallest(joint: Joint, q: Numbers) -> tuple[np.ndarray, float, np.ndarray]:
    U, values, W = np.linalg.svd(columns(joint.motion_subspace(q)), full_matrices=False)
    return U[:, -1], float(values[-1]), W[-1]


def _rate(joint: Joint, q: Numbers, e: np.ndarray) -> np.ndarray:
    ends = [columns(joint.motion_subspace(joint.integrate(q, tuple(sign * 1e-5 * e)))) for sign in (1.0, -1.0)]
    return (ends[0] - ends[1]) / 2e-5


def _remains(joint: Joint, q: Numbers, e: np.ndarray, samples: Samples) -> bool:
    # Three places that no period of pi has in common.
    ahead = [floats(joint.integrate(q, tuple(t * e))) for t in (-0.4, 0.3, 0.9)]
    return all(_smallest(joint, there)[1] < 1e-5 for there in ahead if samples.holds(there))


def _named(joint: Joint, q: Numbers, found: int, free: tuple[bool, ...]) -> str:
    """Return the configuration in words; coordinates that do not matter are left open."""
    if joint.nq == joint.nv:
        fixed = [f"{n} = {angle(x)}" for n, x, f in zip(joint.coordinate_names, q, free, strict=True) if not f]
        if fixed:
            anything = [n for n, f in zip(joint.coordinate_names, free, strict=True) if f]
            rest = f", any {', '.join(anything)}" if anything else ""
            return f"rank {found} at {', '.join(fixed)}{rest}"
    return f"rank {found} at q = ({', '.join(f'{x:.4g}' for x in q)})"


def angle(x: float) -> str:
    turns = x / (0.5 * math.pi)
    k = round(turns)
    if k and abs(turns - k) < 1e-6:
        return {1: "pi/2", -1: "-pi/2", 2: "pi", -2: "-pi"}.get(k, f"{k} pi/2" if k % 2 else f"{k // 2} pi")
    return f"{x:.5g}" if abs(x) > 1e-9 else "0"
