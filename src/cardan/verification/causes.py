"""The likely cause of a wrong motion subspace: simple errors, each tried on the true one at every sample.

S_true is known from differences of the transform. An error explains a column if applying it to the true column gives
the joint's own at all samples. Columns are tried whole, then as combinations of one another, then half by half.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardan.spatial import SE3

CLOSE = 1e-6
Matrices = Sequence[np.ndarray]
Errors = dict[str, Callable[[np.ndarray, SE3], np.ndarray]]


def _adjoint(X: SE3) -> np.ndarray:
    return np.array(X.adjoint(), dtype=float)


def _rotation(X: SE3) -> np.ndarray:
    return np.array([list(row) for row in X.rotation.rows()], dtype=float)


def _turned(S: np.ndarray, R: np.ndarray) -> np.ndarray:
    return np.vstack([R @ S[:3], R @ S[3:]])


def _at_parent_origin(S: np.ndarray, X: SE3) -> np.ndarray:
    p = _rotation(X).T @ np.array([float(e) for e in X.translation])
    return np.vstack([S[:3] + np.cross(p, S[3:].T).T, S[3:]])


WHOLE: Errors = {
    "{has} linear and angular parts exchanged; a Motion is [linear; angular]": lambda S, X: np.vstack([S[3:], S[:3]]),
    "{is} expressed in the parent frame: dX X^-1 where X^-1 dX belongs": lambda S, X: _adjoint(X) @ S,
    "{is} expressed in the parent's axes: multiply by R^T": lambda S, X: _turned(S, _rotation(X)),
    "{is} that of the parent relative to the child: -Ad(X) S": lambda S, X: -_adjoint(X) @ S,
    "{is} mapped into the child frame twice": lambda S, X: np.linalg.solve(_adjoint(X), S),
    "{is} multiplied by R^T twice": lambda S, X: _turned(S, _rotation(X).T),
    "{is} taken at the parent's origin, not the child's": _at_parent_origin,
}
"""Errors of whole columns, from the likely to the rare; sign, scale and absence come before them."""

HALF: Errors = {
    "{is} expressed in the parent's axes: multiply by R^T": lambda h, X: _rotation(X) @ h,
    "{is} multiplied by R^T twice": lambda h, X: _rotation(X).T @ h,
}
"""Errors of the linear or the angular part of a column alone."""

FACTORS = {
    2.0: "{is} twice too large",
    0.5: "{is} half as large as it must be",
    180.0 / math.pi: "{is} per degree, not per radian: 57.3 times too large",
    math.pi / 180.0: "{is} per degree, not per radian: 57.3 times too small",
}


def error_of(got: Matrices, true: Matrices, poses: Sequence[SE3], errors: Errors) -> str:
    """Return which error turns the true values into those given at every sample; empty if none does."""
    if _all_close(got, [0.0 * t for t in true]):
        return "{is} zero"
    factor = _factor(got, true)
    if factor is not None:
        if factor == -1.0:
            return "{has} the wrong sign"
        return next((w for k, w in FACTORS.items() if math.isclose(k, factor, rel_tol=CLOSE)), _times(factor))
    for words, apply in errors.items():
        if _all_close(got, [apply(t, X) for t, X in zip(true, poses, strict=True)]):
            return words
    if _all_close(got, [true[0]] * len(got)):
        return "{does} not change with q, as if q were neutral"
    return ""


def _times(factor: float) -> str:
    sign = "of the wrong sign and " if factor < 0.0 else ""
    return f"{{is}} {sign}{abs(factor):.4g} times as large as it must be"


def explained(got: Matrices, true: Matrices, poses: Sequence[SE3], names: Sequence[str]) -> tuple[str, bool]:
    """Return in words what is wrong with motion subspaces (6 x nv each), and whether that is all of it.

    Args:
        got: those of the joint, the first at the neutral configuration.
        true: those that belong there.
        poses: the transforms there.
        names: of the velocities.
    """
    n = true[0].shape[1]
    wrong = [j for j in range(n) if not _all_close(_columns(got, [j]), _columns(true, [j]))]
    together = error_of(_columns(got, wrong), _columns(true, wrong), poses, WHOLE)
    whole = {j: together or error_of(_columns(got, [j]), _columns(true, [j]), poses, WHOLE) for j in wrong}
    if all(whole.values()):
        return _by_column(whole, n, names), True
    combined = _combined(got, true, names)
    if combined:
        return combined, True
    parts = {j: whole[j] or _halves(_columns(got, [j]), _columns(true, [j]), poses) for j in wrong}
    return _by_column(parts, n, names), all(parts.values())


def _by_column(errors: dict[int, str], n: int, names: Sequence[str]) -> str:
    """Return a sentence for each error, with the columns that have it."""
    sentences = []
    for words in dict.fromkeys(w for w in errors.values() if w):
        which = [j for j, w in errors.items() if w == words]
        if len(which) == n > 1 or not names:
            subject = "S" if names else "it"
        else:
            listed = ", ".join(f"{j} ({names[j]})" for j in which)
            subject = f"{'columns' if len(which) > 1 else 'column'} {listed}"
        sentences.append(f"{subject} {said(words, plural=subject.startswith('columns'))}")
    return "; ".join(sentences)


def said(words: str, *, plural: bool = False) -> str:
    """Return an error's words with the verb for one thing or for several."""
    verbs = {"is": "are", "has": "have", "does": "do"} if plural else {"is": "is", "has": "has", "does": "does"}
    return words.format(**verbs)


def _halves(got: Matrices, true: Matrices, poses: Sequence[SE3]) -> str:
    """Return what is wrong with the linear and with the angular part of a column."""
    found = []
    for part, rows in (("linear", slice(0, 3)), ("angular", slice(3, 6))):
        mine, right = [g[rows] for g in got], [t[rows] for t in true]
        if not _all_close(mine, right):
            words = error_of(mine, right, poses, HALF)
            found.append(f"{part} part that {said(words)}" if words else _single_entries(mine, right, part))
    return "{has} a " + " and a ".join(found) if found and all(found) else ""


def _single_entries(got: Matrices, true: Matrices, part: str) -> str:
    """Return what is wrong with x, y and z of one part of a column."""
    found = []
    for k, axis in enumerate("xyz"):
        mine, right = [g[k : k + 1] for g in got], [t[k : k + 1] for t in true]
        if not _all_close(mine, right):
            words = error_of(mine, right, (), {})
            if not words:
                return ""
            found.append(f"{part} {axis} that {said(words)}")
    return " and a ".join(found)


def _combined(got: Matrices, true: Matrices, names: Sequence[str]) -> str:
    """Return how the columns are combinations of the true ones, with the same coefficients everywhere."""
    A = np.linalg.lstsq(np.vstack(true), np.vstack(got), rcond=None)[0]
    if not _all_close(got, [t @ A for t in true]):
        return ""
    order = np.abs(A).argmax(axis=0)
    if np.allclose(np.abs(A), np.eye(len(A))[:, order], atol=CLOSE) and sorted(order) == list(range(len(A))):
        moved = [f"column {j} holds that of {names[k]}" for j, k in enumerate(order) if j != k]
        signs = " (some with the wrong sign, too)" if A.sum(axis=0).min() < 0.0 else ""
        return f"the columns are in the wrong order: {', '.join(moved)}{signs}"
    return f"the columns belong to other velocities than the manifold's: S = S_true A with A = {A.round(4).tolist()}"


def _columns(matrices: Matrices, which: list[int]) -> list[np.ndarray]:
    return [m[:, which] for m in matrices]


def _factor(got: Matrices, true: Matrices) -> float | None:
    """Return k with got = k true everywhere."""
    square = sum(float((t * t).sum()) for t in true)
    k = sum(float((g * t).sum()) for g, t in zip(got, true, strict=True)) / square if square else 0.0
    if not np.isfinite(k) or not k or not _all_close(got, [k * t for t in true]):
        return None
    return round(k) if math.isclose(k, round(k), rel_tol=CLOSE) else k


def _all_close(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return all(
        bool((np.abs(x - y) <= CLOSE * (1.0 + np.abs(y).max(initial=0.0))).all()) for x, y in zip(a, b, strict=True)
    )
