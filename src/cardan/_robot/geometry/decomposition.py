"""Parts of a surface that are nearly convex: what a mesh with hollows collides as, if that is asked for.

The parts are cut by CoACD. Its concavity is a distance between a part and its hull, in parts of half the mesh's
largest extent: the lower, the more parts.

Source: Wei, Liu, Ling and Su, Approximate convex decomposition for 3D meshes with collision-aware concavity and tree
search (2022).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._compiler.runtime.extras import package

CONCAVITY = 0.01, 1.0  # what CoACD takes
SEED = 0  # of its search: the same parts every time


def convex_parts(points: np.ndarray, triangles: Any, concavity: float) -> list[np.ndarray]:
    """Return the vertices of each part, shapes (n, 3) [m], of a surface of points (n, 3) [m] and triangles (m, 3).

    Raises:
        MissingExtraError: without the extra `decompose`.
        ParameterError: for a concavity that is not from 0.01 to 1, for points that are not finite, and
            for a surface of which nothing is left.
    """
    low, high = CONCAVITY
    if not low <= concavity <= high:
        raise ParameterError("concavity", got=concavity, expected=f"a number from {low:g} to {high:g}")
    if not np.isfinite(points).all():
        raise ParameterError("points of a mesh", got="some that are not finite", expected="finite numbers [m]")
    coacd = package("coacd", "cutting a mesh into convex parts", "decompose")
    coacd.set_log_level("error")
    cut = coacd.run_coacd(coacd.Mesh(points, np.asarray(triangles)), threshold=float(concavity), seed=SEED)
    found = [np.asarray(part) for part, _ in cut if len(part)]
    if not found:
        got = f"no part of {len(triangles)} triangles"
        raise ParameterError("convex parts of a mesh", got=got, expected="a surface that encloses a volume")
    return found
