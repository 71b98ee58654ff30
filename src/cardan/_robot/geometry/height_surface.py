"""The closed surface of a height field: its top, its sides, and the level base beneath.

Every cell of the grid is two triangles that share the diagonal from its corner of least x and y, as MuJoCo has them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def surface_of_heights(
    heights: Sequence[Sequence[float]], size: Sequence[float], base: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices [m], shape (n, 3), and the triangles of them, shape (m, 3), counter-clockwise seen from outside.

    Args:
        heights: above z = 0 [m], rows along y of numbers along x.
        size: full side lengths along x and y [m]; the middle of the rectangle is the origin.
        base: z of the level base [m].
    """
    z = np.array(heights)
    y, x = (np.linspace(-0.5 * side, 0.5 * side, n) for side, n in zip(reversed(size), z.shape, strict=True))
    top = np.stack([*np.meshgrid(x, y), z], axis=-1).reshape(-1, 3)
    number = np.arange(z.size).reshape(z.shape)
    edge = np.concatenate([number[0, :-1], number[:-1, -1], number[-1, :0:-1], number[:0:-1, 0]])
    foot = top[edge] * [1.0, 1.0, 0.0] + [0.0, 0.0, base]
    return np.concatenate([top, foot]), np.concatenate([_cells(number), _below(edge, z.size)])


def _cells(number: np.ndarray) -> np.ndarray:
    """Return the triangles of all cells of a grid of numbered points."""
    a, b, c, d = (each.ravel() for each in (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]))
    return np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)])


def _below(edge: np.ndarray, first: int) -> np.ndarray:
    """Return the triangles of the sides and the base; `edge` is that of the top, its feet are numbered from `first`."""
    foot = first + np.arange(len(edge))
    after, foot_after = np.roll(edge, -1), np.roll(foot, -1)
    sides = [np.stack([edge, foot, foot_after], axis=-1), np.stack([edge, foot_after, after], axis=-1)]
    base = np.stack([np.full(len(edge) - 2, foot[0]), foot[2:], foot[1:-1]], axis=-1)
    return np.concatenate([*sides, base])
