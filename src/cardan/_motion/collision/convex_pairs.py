"""The page of every two convex shapes: one of closed form where there is one, else a search."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement

from cardan._motion.collision.box_box import box_box
from cardan._motion.collision.box_round import box_capsule, box_sphere
from cardan._motion.collision.candidate import Candidate
from cardan._motion.collision.convex import convex_convex
from cardan._motion.collision.flat_contact import flat_convex
from cardan._motion.collision.nearest_features import smooth_convex
from cardan._motion.collision.round_shapes import (
    capsule_capsule,
    capsule_sphere,
    cone_sphere,
    cylinder_sphere,
    sphere_sphere,
)
from cardan._robot.geometry.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Hull, Sphere

Page = Callable[..., list[Candidate]]  # of a, X_a, b and X_b

CONVEX = Hull, Box, Ellipsoid, Cone, Cylinder, Capsule, Sphere
"""Of two, the first one here is the first one of their page."""
AT_A_POINT = frozenset({Ellipsoid, Sphere})
"""What touches another shape at one point; all others have faces or straight lines."""


def _searched(both: tuple[type, type]) -> Page:
    if Ellipsoid in both:
        return smooth_convex
    return flat_convex if AT_A_POINT.isdisjoint(both) else convex_convex


CONVEX_PAIRS: dict[tuple[type, type], Page] = {
    both: _searched(both) for both in combinations_with_replacement(CONVEX, 2)
} | {
    (Sphere, Sphere): sphere_sphere,
    (Capsule, Sphere): capsule_sphere,
    (Capsule, Capsule): capsule_capsule,
    (Box, Sphere): box_sphere,
    (Box, Capsule): box_capsule,
    (Box, Box): box_box,
    (Cylinder, Sphere): cylinder_sphere,
    (Cone, Sphere): cone_sphere,
}
