"""What shapes of a world collide as: a mesh as its convex hull."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from cardan._algebra.errors import HullWarning, MissingExtraError, ParameterError, levels_inside
from cardan._robot.description import Hull, Mechanism, Shape
from cardan._robot.geometry.shapes import collision_mesh

COARSE = 1e-3, 0.01
"""Of a hull's error [m] and of its error over its size: it is coarse if it has more of both."""


def with_solids(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism whose collision meshes are hulls. Those that cannot be read stay meshes.

    Warns:
        HullWarning: of coarse hulls.
    """
    if not any(collision_mesh(shape) for shape in mechanism.shapes):
        return mechanism
    shapes = solids(mechanism.name, mechanism.shapes)
    return mechanism.with_annotations(replace(mechanism.annotations, shapes=shapes)).mechanism


def solids(name: str, shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """Return shapes, collision meshes among them as hulls; as `with_solids`."""
    found, coarse = [], {}
    for shape in shapes:
        if mesh := collision_mesh(shape):
            try:
                hull = Hull.of(mesh)
            except (MissingExtraError, ParameterError):
                pass  # it is said where it matters: of what stands on the ground, and by a solver
            else:
                size = np.linalg.norm(np.ptp(hull.vertices, axis=0))
                shape = replace(shape, geometry=hull)
                if hull.error > max(COARSE[0], COARSE[1] * size):
                    coarse[shape.body] = f"up to {1e3 * hull.error:.2g} mm within the mesh"
        found.append(shape)
    if coarse:
        warnings.warn(HullWarning(name, coarse), stacklevel=levels_inside())
    return tuple(found)
