"""Which pairs of shapes there are, and the candidates of any two shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cardan.algorithms.collision.box_box import box_box
from cardan.algorithms.collision.box_capsule import box_capsule
from cardan.algorithms.collision.box_sphere import box_sphere
from cardan.algorithms.collision.candidate import Candidate
from cardan.algorithms.collision.capsule_capsule import capsule_capsule
from cardan.algorithms.collision.capsule_sphere import capsule_sphere
from cardan.algorithms.collision.on_plane import (
    box_on_plane,
    capsule_on_plane,
    cylinder_on_plane,
    ellipsoid_on_plane,
    sphere_on_plane,
)
from cardan.algorithms.collision.sphere_sphere import sphere_sphere
from cardan.errors import UnsupportedError
from cardan.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Plane, Sphere
from cardan.spatial import SE3

Pair = Callable[[Any, SE3, Any, SE3], list[Candidate]]

PAIRS: dict[tuple[type, type], Pair] = {
    (Sphere, Plane): sphere_on_plane,
    (Capsule, Plane): capsule_on_plane,
    (Ellipsoid, Plane): ellipsoid_on_plane,
    (Box, Plane): box_on_plane,
    (Cylinder, Plane): cylinder_on_plane,
    (Sphere, Sphere): sphere_sphere,
    (Capsule, Sphere): capsule_sphere,
    (Capsule, Capsule): capsule_capsule,
    (Box, Sphere): box_sphere,
    (Box, Capsule): box_capsule,
    (Box, Box): box_box,
}
"""For each two types of shapes, in one of their orders, the page that knows them."""


def points(shape_a: Geometry, X_a: SE3, shape_b: Geometry, X_b: SE3) -> list[Candidate]:
    """Return the candidates for contact of two shapes: as many for the same types in every pose.

    Args:
        shape_a: one shape.
        X_a: X_world_a, its pose.
        shape_b: the other.
        X_b: X_world_b, its pose.

    Raises:
        UnsupportedError: if no page knows the two.
    """
    kinds, swapped = (type(shape_a), type(shape_b)), (type(shape_b), type(shape_a))
    if kinds in PAIRS:
        return PAIRS[kinds](shape_a, X_a, shape_b, X_b)
    if swapped in PAIRS:
        X_ab = X_a.inverse() @ X_b
        return [c.seen_from_b(X_ab) for c in PAIRS[swapped](shape_b, X_b, shape_a, X_a)]
    names = " and a ".join(kind.__name__ for kind in kinds)
    known = ", ".join(f"{a.__name__}-{b.__name__}" for a, b in PAIRS)
    instead = f"the pairs there are, in either order: {known}. Put these in its place, or leave the pair out"
    raise UnsupportedError(f"contact of a {names}", "cardan's own collision", instead)
