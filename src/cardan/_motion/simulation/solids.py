"""What shapes of a world collide as: a mesh as its convex hull."""

from __future__ import annotations

from dataclasses import replace

from cardan._algebra.errors import MissingExtraError, ParameterError
from cardan._robot.description import Hull, Mechanism, Shape
from cardan._robot.geometry.shapes import collision_mesh


def with_solids(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism whose collision meshes are hulls. Those that cannot be read stay meshes."""
    if not any(collision_mesh(shape) for shape in mechanism.shapes):
        return mechanism
    shapes = tuple(map(solid, mechanism.shapes))
    return mechanism.with_annotations(replace(mechanism.annotations, shapes=shapes)).mechanism


def solid(shape: Shape) -> Shape:
    """Return a shape, as a hull if it is a collision mesh; as `with_solids`."""
    try:
        return replace(shape, geometry=Hull.of(mesh)) if (mesh := collision_mesh(shape)) else shape
    except (MissingExtraError, ParameterError):
        return shape  # it is said where it matters: of what stands on the ground, and by a solver
