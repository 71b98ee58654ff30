"""The likely cause of a wrong bias: a simple error of the whole, or terms v_i v_j that are missing or miscounted.

bias = sum_ij B_ij v_i v_j:    B_ii = bias(e_i),    B_ij = bias(e_i + e_j) - bias(e_i) - bias(e_j) for i < j
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from cardan.joints import Joint
from cardan.verification.causes import CLOSE, WHOLE, error_of, said
from cardan.verification.samples import Samples, columns, vector

AXES = ("linear x", "linear y", "linear z", "angular x", "angular y", "angular z")
Bias = Callable[[np.ndarray], np.ndarray]


def bias_cause(joint: Joint, samples: Samples, q: Any) -> str:
    """Return in words what is wrong with a joint's bias; q is where it is wrong."""
    got = [vector(joint.bias(q, v))[:, None] for q, v in samples.states]
    true = [vector(samples.alone.bias(q, v))[:, None] for q, v in samples.states]
    whole = error_of(got, true, samples.poses, WHOLE) or _classical(samples, got, true)
    if whole == "{is} zero":
        return "the bias is zero although S depends on q: leave `bias` out, and it is derived"
    if whole:
        return f"the bias {said(whole)}"
    mine: Bias = lambda v: vector(joint.bias(q, tuple(v)))  # noqa: E731
    right: Bias = lambda v: vector(samples.alone.bias(q, tuple(v)))  # noqa: E731
    v = np.linspace(0.5, 1.0, joint.nv)
    if not np.allclose(mine(2.0 * v), 4.0 * mine(v), atol=CLOSE):
        return "the bias is not quadratic in v: bias(q, 2 v) must be 4 bias(q, v)"
    return "; ".join(_terms(_coefficients(mine, joint.nv), _coefficients(right, joint.nv), joint.velocity_names))


def _classical(samples: Samples, got: Sequence[np.ndarray], true: Sequence[np.ndarray]) -> str:
    """Return whether it is the acceleration of the child's origin, which has w x (S v)_linear in addition."""
    for (q, v), mine, right in zip(samples.states, got, true, strict=True):
        twist = columns(samples.alone.motion_subspace(q)) @ np.array(v)
        extra = np.concatenate([np.cross(twist[3:], twist[:3]), np.zeros(3)])
        if not np.allclose(mine[:, 0], right[:, 0] + extra, atol=CLOSE):
            return ""
    return "{is} the acceleration of the child's origin, R^T d2p/dt2: the term -w x (S v)_linear is missing"


def _coefficients(bias: Bias, nv: int) -> dict[tuple[int, int], np.ndarray]:
    e = np.eye(nv)
    return {
        (i, j): bias(e[i]) if i == j else bias(e[i] + e[j]) - bias(e[i]) - bias(e[j])
        for i, j in combinations_with_replacement(range(nv), 2)
    }


def _terms(got: Any, true: Any, names: Sequence[str]) -> list[str]:
    """Return a sentence for each product of velocities whose coefficient is wrong."""
    sentences = []
    for (i, j), right in true.items():
        wrong = np.abs(got[i, j] - right) > CLOSE * (1.0 + np.abs(right))
        if wrong.any():
            words = error_of([got[i, j][wrong]], [right[wrong]], (), {})
            where = ", ".join(np.array(AXES)[wrong])
            product = f"{names[i]}^2" if i == j else f"{names[i]} {names[j]}"
            verdict = "is missing" if words == "{is} zero" else said(words) if words else "is wrong"
            sentences.append(f"the term in {product} ({where}) {verdict}")
    return sentences
