"""Which pairs of shapes there are, and the candidates of any two shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

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
from cardan.arrays.repeat import each
from cardan.errors import UnsupportedError
from cardan.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Plane, Sphere
from cardan.scalar import is_zero
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


class Two(NamedTuple):
    """Two shapes and their poses, X_world_a and X_world_b."""

    a: Geometry
    X_a: SE3
    b: Geometry
    X_b: SE3

    @property
    def kinds(self) -> tuple[type, type]:
        """Their types."""
        return type(self.a), type(self.b)

    @property
    def X_ab(self) -> SE3:
        """The pose of B in A."""
        return SE3(self.X_a.rotation.T @ self.X_b.rotation, self.X_a.inverse_act(self.X_b.translation))


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
    return points_of([Two(shape_a, X_a, shape_b, X_b)])[0]


def points_of(pairs: Sequence[Two]) -> list[list[Candidate]]:
    """Return the candidates of each of many pairs, those of pairs that are alike by one block of a program.

    Raises:
        UnsupportedError: if no page knows two of the shapes.
    """
    ordered = [two if two.kinds in PAIRS else Two(two.b, two.X_b, two.a, two.X_a) for two in pairs]
    alike: dict[Any, list[int]] = {}
    for k, two in enumerate(ordered):
        alike.setdefault(_likeness(two, pairs[k]), []).append(k)
    found: dict[int, list[Candidate]] = {}
    for members in alike.values():
        found |= zip(members, _by_one_block([ordered[k] for k in members]), strict=True)
    return [
        found[k] if two is one else [c.seen_from_b(one.X_a.inverse() @ one.X_b) for c in found[k]]
        for k, (one, two) in enumerate(zip(pairs, ordered, strict=True))
    ]


def _likeness(two: Two, given: Two) -> Any:
    """Return what pairs of one block have in common: their types, and which entries of the pose are known to be 0."""
    if two.kinds not in PAIRS:
        names = " and a ".join(kind.__name__ for kind in given.kinds)
        known = ", ".join(f"{a.__name__}-{b.__name__}" for a, b in PAIRS)
        instead = f"the pairs there are, in either order: {known}. Put these in its place, or leave the pair out"
        raise UnsupportedError(f"contact of a {names}", "cardan's own collision", instead)
    R, p = two.X_ab
    return two.kinds, tuple(is_zero(e) for e in (*R.entries(), *p))


def _by_one_block(alike: Sequence[Two]) -> list[list[Candidate]]:
    """Return the candidates of pairs of the same types, traced once if that is worth it (see `each`).

    A block is given sizes and the pose of B in A; this is all that a pair hangs on, and a plane's page, which is short,
    takes a row of a pose or two instead.
    """
    kinds, page = alike[0].kinds, PAIRS[alike[0].kinds]
    if len(alike) == 1 or Plane in kinds:
        return [page(*two) for two in alike]

    def block(sizes_a: Any, sizes_b: Any, X_ab: SE3) -> list[Candidate]:
        return page(_of_sizes(kinds[0], sizes_a), SE3(), _of_sizes(kinds[1], sizes_b), X_ab)

    sizes = ([_sizes(shape) for shape in shapes] for shapes in zip(*((two.a, two.b) for two in alike), strict=True))
    return each(block, *sizes, [two.X_ab for two in alike])


def _sizes(shape: Any) -> list[Any]:
    return [getattr(shape, field.name) for field in fields(shape)]


def _of_sizes(kind: type, sizes: Sequence[Any]) -> Any:
    """Return a shape whose sizes may be symbols, so that nothing checks them."""
    shape = object.__new__(kind)
    for field, size in zip(fields(kind), sizes, strict=True):
        object.__setattr__(shape, field.name, size)
    return shape
