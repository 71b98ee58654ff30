"""Wrenches a joint resists: the orthogonal complement of its motion subspace, for scalars of any type."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt as float_sqrt
from typing import Any

from cardan._algebra.scalar import is_zero, sqrt, where
from cardan._algebra.spatial import Force, ForceSubspace, Motion, Scalar


def orthogonal_complement(columns: Sequence[Motion]) -> ForceSubspace:
    """Return 6 - n orthonormal wrenches orthogonal to n motions."""
    found = _complement([list(column.scalars()) for column in columns], 6)
    return ForceSubspace(Force(e[:3], e[3:]) for e in found)


def sparse_complement(columns: Sequence[Motion]) -> ForceSubspace:
    """Return another basis of the same wrenches: each component that no motion has, whatever its symbols, by itself.

    So the ball joint's are three forces, also by Euler angles at their singularity.
    """
    work = [list(column.scalars()) for column in columns]
    moved = [i for i in range(6) if not all(is_zero(column[i]) for column in work)]
    if len(moved) < len(work):  # fewer components than motions: these always depend on one another
        return orthogonal_complement(columns)
    mixed = []
    for part in _complement([[column[i] for i in moved] for column in work], len(moved)):
        values = dict(zip(moved, part, strict=True))
        mixed.append([values.get(i, 0.0) for i in range(6)])
    single = [[float(i == j) for i in range(6)] for j in range(6) if j not in moved]
    return ForceSubspace(Force(e[:3], e[3:]) for e in (*single, *mixed))


def _complement(work: list[list[Scalar]], size: int) -> list[list[Scalar]]:
    """Return an orthonormal basis of the complement of n vectors of a size, by Householder reflections.

    The product of the reflections that make the vectors upper triangular maps the last unit vectors to the complement;
    this holds at singular configurations, where the vectors depend on one another, too.

    Source: Golub and Van Loan, Matrix Computations (2013), section 5.2.
    """
    reflections: list[tuple[int, list[Scalar], Scalar]] = []
    for k, column in enumerate(work):
        u, scale = _reflection(column, k)
        reflections.append((k, u, scale))
        for other in work[k + 1 :]:
            _reflect(other, k, u, scale)
    basis = []
    for j in range(len(work), size):
        e: list[Scalar] = [float(i == j) for i in range(size)]
        for k, u, scale in reversed(reflections):
            _reflect(e, k, u, scale)
        basis.append(e)
    return basis


def _reflection(x: list[Scalar], k: int) -> tuple[list[Scalar], Scalar]:
    """Return u and 2 / u.u with (1 - 2 u u^T / u.u) x = (.., -+|x|, 0, .., 0) from entry k on.

    The sign changes at x_k = -|x| / 2, where nothing cancels, and not at 0, where rounding would decide it.
    """
    tail = x[k:]
    square = _dot(tail, tail)
    norm = float_sqrt(square) if isinstance(square, float) else sqrt(square)
    head = tail[0] + where(tail[0] < -0.5 * norm, -norm, norm)
    u = [head, *tail[1:]]
    length = _dot(u, u)
    vanishes = length <= 0.0  # the guarded division is finite on both branches, and so are its derivatives
    return u, where(vanishes, 0.0, 2.0 / where(vanishes, 1.0, length))


def _reflect(x: list[Scalar], k: int, u: list[Scalar], scale: Scalar) -> None:
    amount = _dot(u, x[k:]) * scale
    for i, e in enumerate(u):
        x[k + i] = x[k + i] - e * amount


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)
