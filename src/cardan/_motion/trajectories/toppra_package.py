"""The library toppra, an extra: imported when it is used, and not before."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from cardan._compiler.runtime.extras import package

LARGEST = 1e4  # bound of x where nothing else bounds it, in units in which a typical one is 1


def squared_speeds(
    grid: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, ceiling: np.ndarray
) -> tuple[np.ndarray, int | None]:
    """Return the largest x from 0 to 0 with a u + b x + c <= 0 and x <= ceiling, u = dx/ds / 2.

    The grid has the shape (n + 1,), as the ceiling; a, b and c have (n + 1, rows).

    Returns:
        x at the points of the grid, and None; or zeros, and the point from which no way leads on.
    """
    algorithm, constraint = (
        package(f"toppra.{part}", "time-optimal path parametrisation", "toppra") for part in ("algorithm", "constraint")
    )

    class Given(constraint.LinearConstraint):  # F (a u + b x + c) <= g; its base is there only if toppra is
        def __init__(self) -> None:
            super().__init__()
            self.identical, self.dof = True, 1  # one F and g for all points

        def compute_constraint_params(self, path: Any, gridpoints: np.ndarray) -> Any:
            # At a point and, with the x that u leads to, x + 2 u ds, at the next; after the last, at that again.
            step = 2.0 * np.diff(gridpoints)[:, None]
            following = [np.concatenate([e[1:], e[-1:]]) for e in (a, b, c)]
            following[0][:-1] += step * b[1:]
            rows = [np.concatenate(pair, axis=1) for pair in zip((a, b, c), following, strict=True)]
            count = rows[0].shape[1]
            bound = np.stack([np.zeros_like(ceiling), np.minimum(ceiling, LARGEST)], axis=1)
            return *rows, np.eye(count), np.zeros(count), None, bound

    path = SimpleNamespace(path_interval=(grid[0], grid[-1]), dof=1)
    with _silence():
        solver = algorithm.TOPPRA([Given()], path, gridpoints=grid, solver_wrapper="seidel")
        found: Any = solver.compute_parameterization(0.0, 0.0, return_data=True)
    _, speeds, _, reached = found
    if speeds is None or np.isnan(speeds).any():
        return np.zeros_like(grid), _stuck(reached, speeds)
    return speeds**2, None


def _stuck(controllable: np.ndarray, speeds: np.ndarray | None) -> int:
    """Return the point at which the way back from the end, or the way forth, breaks off."""
    broken = np.flatnonzero(np.isnan(controllable).any(axis=1))
    if broken.size:
        return int(broken[-1])
    return 0 if speeds is None else int(np.flatnonzero(np.isnan(speeds))[0])


@contextmanager
def _silence() -> Iterator[None]:
    """Keep toppra from telling about failures on the standard error: they become errors."""
    logger = logging.getLogger("toppra")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
