"""Wrenches a joint resists: the orthogonal complement of its motion subspace, for scalars of any type."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt as float_sqrt
from typing import Any

from cardan.scalar import sqrt, where
from cardan.spatial import Force, Motion, Scalar


def orthogonal_complement(columns: Sequence[Motion]) -> list[Force]:
    """Return 6 - n orthonormal wrenches orthogonal to n motions, by Householder reflections.

    The product of the reflections that make the motions upper triangular maps the last 6 - n unit vectors to the
    complement; this holds at singular configurations, where the motions depend on one another, too.

    Source: Golub and Van Loan, Matrix Computations (2013), section 5.2.
    """
    work = [list(column.scalars()) for column in columns]
    reflections: list[tuple[int, list[Scalar], Scalar]] = []
    for k, column in enumerate(work):
        u, scale = _reflection(column, k)
        reflections.append((k, u, scale))
        for other in work[k + 1 :]:
            _reflect(other, k, u, scale)
    basis = []
    for j in range(len(work), 6):
        e: list[Scalar] = [float(i == j) for i in range(6)]
        for k, u, scale in reversed(reflections):
            _reflect(e, k, u, scale)
        basis.append(Force(e[:3], e[3:]))
    return basis


def _reflection(x: list[Scalar], k: int) -> tuple[list[Scalar], Scalar]:
    """Return u and 2 / u.u with (1 - 2 u u^T / u.u) x = (.., -+|x|, 0, .., 0) from entry k on."""
    tail = x[k:]
    square = _dot(tail, tail)
    norm = float_sqrt(square) if isinstance(square, float) else sqrt(square)
    head = tail[0] + where(tail[0] < 0.0, -norm, norm)
    u = [head, *tail[1:]]
    length = _dot(u, u)
    vanishes = length <= 0.0
    return u, where(vanishes, 0.0, 2.0 / where(vanishes, 1.0, length))


def _reflect(x: list[Scalar], k: int, u: list[Scalar], scale: Scalar) -> None:
    amount = _dot(u, x[k:]) * scale
    for i, e in enumerate(u):
        x[k + i] = x[k + i] - e * amount


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)
