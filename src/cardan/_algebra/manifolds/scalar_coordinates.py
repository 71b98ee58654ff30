"""Which coordinates are limited as they are: lengths and angles themselves."""

from __future__ import annotations

from collections.abc import Sequence

from cardan._algebra.manifolds.manifold import Manifold
from cardan._algebra.manifolds.product import Product

PROBES = (0.25, -7.0)
"""Changes of a coordinate, one of them of more than a turn."""


def scalar_coordinates(manifold: Manifold) -> list[tuple[int, int]]:
    """Return the indices in q and v of the coordinates that are lengths or angles themselves.

    They are found by what they do: changed alone, one of them changes one limit coordinate alone, and as much.
    """
    if isinstance(manifold, Product):
        own = [(iq.start, iv.start, scalar_coordinates(factor)) for factor, iq, iv in manifold.slices()]
        return [(a + i, b + j) for a, b, pairs in own for i, j in pairs]
    neutral = [float(e) for e in manifold.neutral()]
    before, found = _limited(manifold, neutral), []
    for i, e in enumerate(neutral):
        moved = [_limited(manifold, [*neutral[:i], e + by, *neutral[i + 1 :]]) for by in PROBES]
        for k in range(manifold.nv):
            if moved == [[*before[:k], e + by, *before[k + 1 :]] for by in PROBES]:
                found.append((i, k))
    return found


def configuration_of(manifold: Manifold, values: Sequence[float]) -> tuple[float, ...]:
    """Return the configuration whose limit coordinates are given.

    Lengths and angles are coordinates themselves; the rotation vector of an orientation leads to it from the neutral
    one.
    """
    plain = scalar_coordinates(manifold)
    turned = list(values)
    for _, k in plain:
        turned[k] = 0.0
    q = list(manifold.integrate(manifold.neutral(), turned))
    for i, k in plain:
        q[i] = values[k]
    return tuple(float(e) for e in q)


def _limited(manifold: Manifold, q: Sequence[float]) -> list[float]:
    return [float(e) for e in manifold.limit_coordinates(tuple(q))]
