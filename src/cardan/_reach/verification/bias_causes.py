"""The likely cause of a wrong bias: a simple error of the whole, or terms v_i v_j that are missing or miscounted.

bias = sum_ij B_ij v_i v_j:    B_ii = bias(e_i),    B_ij = bias(e_i + e_j) - bias(e_i) - bias(e_j) for i < j
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from cardan._reach.verification.causes import CLOSE, WHOLE, adjoints, error_of, said
from cardan._reach.verification.samples import Samples, columns, vector
from cardan._robot.joints import Joint

AXES = np.array([f"{part} {axis}" for part in ("linear", "angular") for axis in "xyz"])
Bias = Callable[[np.ndarray], np.ndarray]


def bias_cause(joint: Joint, samples: Samples, q: Any) -> str:
    """Return in words what is wrong with a joint's bias; q is where it is wrong."""
    kinds = (joint, samples.alone)
    got, true = (np.array([vector(j.bias(q, v)) for q, v in samples.states])[:, :, None] for j in kinds)
    whole = error_of(got, true, WHOLE, adjoints(samples.poses)) or _classical(samples, got, true)
    if whole == "{is} zero":
        return "the bias is zero although S depends on q: leave `bias` out, and it is derived"
    if whole:
        return f"the bias {said(whole)}"
    mine, right = (lambda v, j=j: vector(j.bias(q, tuple(v))) for j in kinds)
    v = np.linspace(0.5, 1.0, joint.nv)
    if not np.allclose(mine(2.0 * v), 4.0 * mine(v), atol=CLOSE):
        return "the bias is not quadratic in v: bias(q, 2 v) must be 4 bias(q, v)"
    pairs = combinations_with_replacement(range(joint.nv), 2)
    return "; ".join(filter(None, (_term(mine, right, i, j, joint.velocity_names) for i, j in pairs)))


def _classical(samples: Samples, got: np.ndarray, true: np.ndarray) -> str:
    """Return whether it is the acceleration of the child's origin, which has w x (S v)_linear in addition."""
    twists = np.array([columns(samples.alone.motion_subspace(q)) @ v for q, v in samples.states])
    extra = np.pad(np.cross(twists[:, 3:], twists[:, :3]), ((0, 0), (0, 3)))
    if not np.allclose(got, true + extra[:, :, None], atol=CLOSE):
        return ""
    return "{is} the acceleration of the child's origin, R^T d2p/dt2: the term -w x (S v)_linear is missing"


def _term(got: Bias, true: Bias, i: int, j: int, names: tuple[str, ...]) -> str:
    """Return a sentence about the product of two velocities, if its coefficient is wrong."""
    mine, right = _coefficient(got, i, j, len(names)), _coefficient(true, i, j, len(names))
    wrong = np.abs(mine - right) > CLOSE * (1.0 + np.abs(right))
    if not wrong.any():
        return ""
    words = error_of(mine[None, wrong, None], right[None, wrong, None])
    verdict = "is missing" if words == "{is} zero" else said(words or "{is} wrong")
    product = f"{names[i]}^2" if i == j else f"{names[i]} {names[j]}"
    return f"the term in {product} ({', '.join(AXES[wrong])}) {verdict}"


def _coefficient(bias: Bias, i: int, j: int, nv: int) -> np.ndarray:
    """Return B_ij."""
    a, b = np.eye(nv)[[i, j]]
    return bias(a) if i == j else bias(a + b) - bias(a) - bias(b)
