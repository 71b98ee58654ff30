"""The likely cause of a wrong motion subspace or bias: simple errors, each tried on the true one at every sample.

S_true is known from differences of the transform. An error is a factor, or a matrix A of the pose; it explains a column
if S = A S_true holds there at all samples. Columns are tried whole, then as combinations of one another, then half by
half, then entry by entry. Everything is an array over the samples: S has the shape (n, 6, nv), A (n, 6, 6).

Of a bias, terms v_i v_j may be missing or miscounted:

    bias = sum_ij B_ij v_i v_j:    B_ii = bias(e_i),    B_ij = bias(e_i + e_j) - bias(e_i) - bias(e_j) for i < j
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from cardan._algebra.spatial import SE3
from cardan._reach.verification.samples import Samples, columns, vector
from cardan._robot.joints import Joint

CLOSE = 1e-6  # differences know S_true to about 1e-9; errors that are made by mistake are of order one

FACTORS = {
    "{is} zero": 0.0,
    "{has} the wrong sign": -1.0,
    "{is} twice too large": 2.0,
    "{is} half as large as it must be": 0.5,
    "{is} per degree, not per radian: 57.3 times too large": 180.0 / math.pi,
    "{is} per degree, not per radian: 57.3 times too small": math.pi / 180.0,
}
# What is wrong, by words, and its matrix A made of the adjoint Ad = [R, [p]R; 0, R].
Errors = dict[str, Callable[[np.ndarray], np.ndarray]]

_IN_PARENT_AXES = "{is} expressed in the parent's axes: multiply by R^T"
_TURNED_TWICE = "{is} multiplied by R^T twice"


def _turned(Ad: np.ndarray) -> np.ndarray:
    return Ad * np.kron(np.eye(2), np.ones((3, 3)))


# Errors of whole columns, from the likely to the rare; factors come before them.
WHOLE: Errors = {
    "{has} linear and angular parts exchanged; a Motion is [linear; angular]": lambda Ad: np.roll(np.eye(6), 3, 0),
    "{is} expressed in the parent frame: dX X^-1 where X^-1 dX belongs": lambda Ad: Ad,
    _IN_PARENT_AXES: _turned,
    "{is} that of the parent relative to the child: -Ad(X) S": lambda Ad: -Ad,
    "{is} mapped into the child frame twice": np.linalg.inv,
    _TURNED_TWICE: lambda Ad: _turned(Ad).swapaxes(1, 2),
    "{is} taken at the parent's origin, not the child's": lambda Ad: _turned(Ad).swapaxes(1, 2) @ Ad,
}

# Errors of the linear or the angular part of a column alone.
HALF: Errors = {_IN_PARENT_AXES: lambda Ad: Ad[:, :3, :3], _TURNED_TWICE: lambda Ad: Ad[:, :3, :3].swapaxes(1, 2)}

NONE: Errors = {}
ANY = np.eye(6)[None]  # poses, where no error depends on them
HALVES = {"linear": slice(0, 3), "angular": slice(3, 6)}
ENTRIES = {axis: slice(k, k + 1) for k, axis in enumerate("xyz")}


def adjoints(poses: Sequence[SE3]) -> np.ndarray:
    return np.array([X.adjoint() for X in poses], dtype=float)


def error_of(got: np.ndarray, true: np.ndarray, errors: Errors = NONE, Ad: np.ndarray = ANY) -> str:
    """Return which error turns the true values into those given at every sample; empty if none does.

    Both have the shape (n, rows, columns), the first at the neutral configuration; Ad is of the poses there.
    """
    for words, factor in FACTORS.items():
        if _close(got, factor * true):  # before a free factor: the usual ones have names
            return words
    factor = float((got * true).sum()) / (float((true * true).sum()) or 1.0)
    if _close(got, factor * true):
        return f"{{is}} {'of the wrong sign and ' * (factor < 0.0)}{abs(factor):.4g} times as large as it must be"
    for words, matrix in errors.items():
        if _close(got, matrix(Ad) @ true):
            return words
    return "{does} not change with q, as if q were neutral" if _close(got, true[:1]) else ""


def explained(got: np.ndarray, true: np.ndarray, Ad: np.ndarray, names: Sequence[str]) -> tuple[str, bool]:
    """Return in words what is wrong with motion subspaces, and whether that is all of it.

    The first is at the neutral configuration; Ad is of the poses there, the names are those of the velocities.
    """
    pairs = [(got[:, :, [j]], true[:, :, [j]]) for j in range(len(names))]
    wrong = [j for j, pair in enumerate(pairs) if not _close(*pair)]
    together = error_of(got[:, :, wrong], true[:, :, wrong], WHOLE, Ad)
    whole = {j: together or error_of(*pairs[j], WHOLE, Ad) for j in wrong}
    if all(whole.values()):
        return _by_column(whole, names), True
    if combined := _combined(got, true, names):
        return combined, True
    parts = {j: whole[j] or _by_parts(*pairs[j], Ad) for j in wrong}
    return _by_column(parts, names), all(parts.values())


def _by_column(errors: dict[int, str], names: Sequence[str]) -> str:
    sentences = []
    for words in dict.fromkeys(filter(None, errors.values())):
        which = [j for j, w in errors.items() if w == words]
        listed = ", ".join(f"{j} ({names[j]})" for j in which)
        several = 1 < len(which) < len(names)
        subject = "S" if len(which) == len(names) > 1 else f"column{'s' * several} {listed}"
        sentences.append(f"{subject} {phrase(words, plural=several)}")
    return "; ".join(sentences)


def phrase(words: str, *, plural: bool = False) -> str:
    """Return an error's words with the verb for one thing or for several."""
    verbs = {"is": "are", "has": "have", "does": "do"} if plural else {"is": "is", "has": "has", "does": "does"}
    return words.format(**verbs)


def _by_parts(got: np.ndarray, true: np.ndarray, Ad: np.ndarray) -> str:
    """Return what is wrong with the linear and with the angular part of a column, or else with their entries."""
    found = []
    for part, rows, words in _wrong_parts(got, true, HALVES, HALF, Ad):
        entries = [] if words else _wrong_parts(got[:, rows], true[:, rows], ENTRIES)
        found += [(f"{part} part", words)] if words else [(f"{part} {axis}", w) for axis, _, w in entries]
    if not all(words for _, words in found):
        return ""
    return "{has} a " + " and a ".join(f"{part} that {phrase(words)}" for part, words in found)


def _wrong_parts(
    got: np.ndarray, true: np.ndarray, parts: dict[str, slice], errors: Errors = NONE, Ad: np.ndarray = ANY
) -> list[tuple[str, slice, str]]:
    pairs = {name: (got[:, rows], true[:, rows]) for name, rows in parts.items()}
    return [(name, parts[name], error_of(*pair, errors, Ad)) for name, pair in pairs.items() if not _close(*pair)]


def _combined(got: np.ndarray, true: np.ndarray, names: Sequence[str]) -> str:
    A = np.linalg.lstsq(true.reshape(-1, len(names)), got.reshape(-1, len(names)), rcond=None)[0]
    if not _close(got, true @ A):
        return ""
    order = np.abs(A).argmax(axis=0)
    if np.allclose(np.abs(A), np.eye(len(A))[:, order], atol=CLOSE) and sorted(order) == list(range(len(A))):
        moved = [f"column {j} holds that of {names[k]}" for j, k in enumerate(order) if j != k]
        signs = " (some with the wrong sign, too)" if A.sum(axis=0).min() < 0.0 else ""
        return f"the columns are in the wrong order: {', '.join(moved)}{signs}"
    return f"the columns belong to other velocities than the manifold's: S = S_true A with A = {A.round(4).tolist()}"


def _close(got: np.ndarray, true: np.ndarray) -> bool:
    """Return whether all entries agree, relative to one plus the largest of their sample."""
    size = np.abs(true).max(axis=(1, 2), keepdims=True, initial=0.0)
    return bool((np.abs(got - true) <= CLOSE * (1.0 + size)).all())


# --- the bias ---

AXES = np.array([f"{part} {axis}" for part in ("linear", "angular") for axis in "xyz"])
Bias = Callable[[np.ndarray], np.ndarray]


def bias_cause(joint: Joint, samples: Samples, q: Any) -> str:
    kinds = (joint, samples.alone)
    got, true = (np.array([vector(j.bias(q, v)) for q, v in samples.states])[:, :, None] for j in kinds)
    whole = error_of(got, true, WHOLE, adjoints(samples.poses)) or _classical(samples, got, true)
    if whole == "{is} zero":
        return "the bias is zero although S depends on q: leave `bias` out, and it is derived"
    if whole:
        return f"the bias {phrase(whole)}"
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
    verdict = "is missing" if words == "{is} zero" else phrase(words or "{is} wrong")
    product = f"{names[i]}^2" if i == j else f"{names[i]} {names[j]}"
    return f"the term in {product} ({', '.join(AXES[wrong])}) {verdict}"


def _coefficient(bias: Bias, i: int, j: int, nv: int) -> np.ndarray:
    a, b = np.eye(nv)[[i, j]]
    return bias(a) if i == j else bias(a + b) - bias(a) - bias(b)
