"""What shapes of a world collide as: a mesh as its convex hull."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from cardan._algebra.errors import HullWarning, MissingExtraError, ParameterError, levels_inside
from cardan._robot.description import Hull, Mechanism, Mesh, Shape

COARSE = 1e-3, 0.01
"""Of a hull's error [m] and of its error over its size: it is coarse if it has more of both."""


def with_solids(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism whose collision meshes are hulls. Those that cannot be read stay meshes.

    Warns:
        HullWarning: of coarse hulls.
    """
    if not any(_collides_as_mesh(shape) for shape in mechanism.shapes):
        return mechanism
    shapes, coarse = [], {}
    for shape in mechanism.shapes:
        if _collides_as_mesh(shape):
            try:
                shape = replace(shape, geometry=Hull.of(shape.geometry))
            except (MissingExtraError, ParameterError):
                pass  # it is said where it matters: of what stands on the ground, and by a solver
            else:
                size = np.linalg.norm(np.ptp(shape.geometry.vertices, axis=0))
                if shape.geometry.error > max(COARSE[0], COARSE[1] * size):
                    coarse[shape.body] = f"up to {1e3 * shape.geometry.error:.2g} mm within the mesh"
        shapes.append(shape)
    if coarse:
        warnings.warn(HullWarning(mechanism.name, coarse), stacklevel=levels_inside())
    return mechanism.with_annotations(replace(mechanism.annotations, shapes=tuple(shapes))).mechanism


def _collides_as_mesh(shape: Shape) -> bool:
    return shape.role == "collision" and isinstance(shape.geometry, Mesh)
