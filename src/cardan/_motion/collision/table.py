"""Which pairs of shapes there are, and the candidates of any two shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.repeat import each, when
from cardan._algebra.arrays.symbolic import rebuilt
from cardan._algebra.content import own_module
from cardan._algebra.errors import UnsupportedError
from cardan._algebra.scalar import is_zero
from cardan._algebra.spatial import SE3, Scalar
from cardan._compiler.runtime import reading
from cardan._motion.collision.bounds import may_meet
from cardan._motion.collision.candidate import NOWHERE, Candidate, axis_of
from cardan._motion.collision.convex import convex_convex
from cardan._motion.collision.convex_pairs import CONVEX_PAIRS, Page
from cardan._motion.collision.flat_contact import flat_convex
from cardan._motion.collision.height_field import on_height_field
from cardan._motion.collision.nearest_features import smooth_convex
from cardan._motion.collision.on_plane import ABOVE, on_plane
from cardan._motion.collision.on_triangles import most_of, on_triangles
from cardan._robot.geometry.shapes import Geometry, HeightField, Hull, Plane, TriangleMesh
from cardan._robot.geometry.support import ENDING, box_about

CONSTANT = (HeightField, TriangleMesh)  # shapes of so many numbers that a program has them, not its blocks

# Sizes [m] that are looked at in metres. Beyond, squares of squares of lengths would under- and overflow, in single
# precision from 1e-9 and 1e8 m on, and what is `FAR` would be near.
USUAL = 2.0**-10, 2.0**10

REACHING: tuple[Page, ...] = (convex_convex, flat_convex, on_plane, on_triangles, smooth_convex)
"""Pages that do less for what is out of reach."""

# For each two types of shapes, in one of their orders, the page that knows them.
PAIRS: dict[tuple[type, type], Page] = {
    **{(kind, Plane): on_plane for kind in ABOVE},
    **{(kind, HeightField): on_height_field for kind in ABOVE},
    **{(kind, TriangleMesh): on_triangles for kind in ABOVE},
    **CONVEX_PAIRS,
}


def has_page(a: type, b: type) -> bool:
    return (a, b) in PAIRS or (b, a) in PAIRS


def check_page(a: type, b: type) -> None:
    """Raise `UnsupportedError` if no page knows two types of shapes."""
    if not has_page(a, b):
        known = ", ".join(f"{a.__name__}-{b.__name__}" for a, b in PAIRS)
        instead = f"the pairs there are, in either order: {known}. Put these in its place, leave the pair out, "
        instead += "or let MuJoCo find it: cardan.solvers.MuJoCo"
        raise UnsupportedError(f"contact of a {a.__name__} and a {b.__name__}", "cardan's own collision", instead)


class Two(NamedTuple):
    """Two shapes and their poses, X_world_a and X_world_b."""

    a: Geometry
    X_a: SE3
    b: Geometry
    X_b: SE3

    @property
    def swapped(self) -> Two:
        return Two(self.b, self.X_b, self.a, self.X_a)

    @property
    def X_ab(self) -> SE3:
        return SE3(self.X_a.rotation.T @ self.X_b.rotation, self.X_a.inverse_act(self.X_b.translation))

    @property
    def ground_below(self) -> SE3:
        """X_ab where B is a plane, by the point of it that is nearest to A: so no far origin rounds A's height."""
        normal = axis_of(self.X_b)
        R = self.X_a.rotation.T @ self.X_b.rotation
        *_, n = R.columns()
        return SE3(R, n * normal.dot(self.X_b.translation - self.X_a.translation))


def points(shape_a: Geometry, X_a: SE3, shape_b: Geometry, X_b: SE3) -> list[Candidate]:
    """Return the candidates for contact of two shapes, X_world_a and X_world_b their poses; as `points_of`."""
    return points_of([Two(shape_a, X_a, shape_b, X_b)])[0]


def count_of(shape_a: Geometry, shape_b: Geometry) -> int:
    """Return how many candidates two shapes have, in every pose."""
    check_page(type(shape_a), type(shape_b))
    two = Two(shape_a, SE3(), shape_b, SE3())
    two = two if is_in_order(two) else two.swapped
    if isinstance(two.b, TriangleMesh):
        return most_of(two.a)
    key = type(two.a), type(two.b)
    if key not in _COUNTS or _COUNTS[key][0] is not PAIRS[key]:
        # Of plain numbers: a page of symbols would be part of the trace that asks first, and of no other.
        _COUNTS[key] = PAIRS[key], len(PAIRS[key](_of_numbers(two.a), SE3(), _of_numbers(two.b), SE3()))
    return _COUNTS[key][1]


def _of_numbers(shape: Geometry) -> Any:
    """Return a shape of that type with some sizes."""
    return of_sizes(shape, rebuilt(sizes_of(shape), count(1.0, 0.1)))


_COUNTS: dict[tuple[type, type], tuple[Any, int]] = {}  # by types, with the page that was asked


def points_of(
    pairs: Sequence[Two],
    frames: Sequence[SE3] | None = None,
    reaches: Sequence[Scalar] | None = None,
    page_of: Callable[[Two], Page] | None = None,
) -> list[list[Candidate]]:
    """Return the candidates of each of many pairs, as many in every pose; pairs that are alike share one block.

    They are in the frame of each pair's A, or where X_frame_a says. With reaches [m], pairs whose bounds are farther
    apart may have no candidate, which saves their page. `UnsupportedError` names shapes that no page knows. Another
    page than that of `PAIRS` is what `page_of` says, for shapes in the same order; it returns one candidate.
    """
    ordered = [in_order(two) for two in pairs]
    swapped = [is_other for _, is_other in ordered]
    units = [unit_of(two) for two in pairs]
    if frames:
        frames = [SE3(X.rotation, X.translation * (1.0 / unit)) for X, unit in zip(frames, units, strict=True)]
    if reaches:
        reaches = [reach * (1.0 / unit) for reach, unit in zip(reaches, units, strict=True)]
    more = [own for own in (frames, reaches) if own]

    def found(two: Two, is_swapped: bool, *more: Any) -> list[Candidate]:
        X, reach = (*more, None, None)[:2] if frames else (None, *more, None)[:2]
        return _candidates(two, is_swapped, page_of, X, reach)

    own = [in_unit(two, unit) for (two, _), unit in zip(ordered, units, strict=True)]
    all_found = of_alike(own, found, swapped, *more)
    return [[c.in_metres(unit) for c in those] for those, unit in zip(all_found, units, strict=True)]


def unit_of(two: Two) -> float:
    """Return the unit of length [m] in which a pair is looked at: a power of 2, so that it rounds nothing."""
    shapes = [shape for shape in (two.a, two.b) if not isinstance(shape, Plane)]
    if not all(isinstance(shape, ENDING) for shape in shapes):
        return 1.0
    halves = [half for shape in shapes for half in box_about(shape)[1]]
    size = max(halves) if all(isinstance(half, float) for half in halves) else 0.0  # rows of a loop are symbols
    return 1.0 if not size or USUAL[0] < size < USUAL[1] else 2.0 ** round(math.log2(size))


def in_unit(two: Two, unit: float) -> Two:
    """Return two shapes with their lengths in a unit."""
    if unit == 1.0:
        return two
    shapes = (of_sizes(own, [np.divide(size, unit).tolist() for size in sizes_of(own)]) for own in (two.a, two.b))
    poses = (SE3(X.rotation, X.translation * (1.0 / unit)) for X in (two.X_a, two.X_b))
    (a, b), (X_a, X_b) = shapes, poses
    return Two(a, X_a, b, X_b)


def in_order(two: Two) -> tuple[Two, bool]:
    """Return two shapes in the order of their page, and whether that is the other one; or raise as `check_page`."""
    check_page(type(two.a), type(two.b))
    return (two, False) if is_in_order(two) else (two.swapped, True)


def of_alike(pairs: Sequence[Two], body: Callable[..., Any], marks: Sequence[Any], *more: Sequence[Any]) -> list[Any]:
    """Return what `body(two, mark, ...)` makes of each of many pairs; ones that are alike, marks too, share a block.

    A block is given sizes and the pose of B in A; this is all that a pair hangs on.
    """
    alike: dict[Any, list[int]] = {}
    relative = [two.ground_below if isinstance(two.b, Plane) else two.X_ab for two in pairs]
    for k, (two, (R, p)) in enumerate(zip(pairs, relative, strict=True)):
        # A program has no operations for entries known to be 0: pairs that differ in these are no block.
        zeros = tuple(is_zero(e) for e in (*R.entries(), *p))
        alike.setdefault((kind_of(two.a), kind_of(two.b), marks[k], zeros), []).append(k)
    found: dict[int, Any] = {}
    for members in alike.values():
        own = [[part[k] for k in members] for part in (relative, *more)]
        found |= zip(members, _by_one_block([pairs[k] for k in members], body, marks[members[0]], *own), strict=True)
    return [found[k] for k in range(len(pairs))]


def is_in_order(two: Two) -> bool:
    """Return whether shapes are in the order of their page."""
    return (type(two.a), type(two.b)) in PAIRS


def _by_one_block(alike: Sequence[Two], body: Callable[..., Any], mark: Any, *columns: Sequence[Any]) -> list[Any]:
    """Return what a body makes of pairs that are alike, traced once if that is worth it (see `each`).

    A plane's page is short, but for hulls, and takes a row of a pose or two.
    """
    first = alike[0]
    if own_module(PAIRS[type(first.a), type(first.b)].__module__) is None:
        reading.note()  # somebody else's page, which no key of a program knows

    def block(sizes_a: Any, sizes_b: Any, X_ab: SE3, *more: Any) -> Any:
        return body(Two(of_sizes(first.a, sizes_a), SE3(), of_sizes(first.b, sizes_b), X_ab), mark, *more)

    is_short = isinstance(first.b, Plane) and (mark or not isinstance(first.a, Hull))
    if len(alike) == 1 or is_short:
        return [body(two, mark, *more) for two, _, *more in zip(alike, *columns, strict=True)]
    return each(block, *(rows_of(side) for side in zip(*((two.a, two.b) for two in alike), strict=True)), *columns)


def within(page: Page, two: Two, reach: Scalar | None) -> list[Candidate]:
    """Return the candidates of a page, which may be none where shapes are farther apart than a reach."""
    return page(*two) if reach is None or page not in REACHING else page(*two, reach=reach)


def _candidates(
    two: Two, swapped: bool, page_of: Callable[[Two], Page] | None, X: SE3 | None, reach: Scalar | None
) -> list[Candidate]:
    """Return the candidates of two shapes in the order of their page; `swapped`: wanted the other way round."""
    page, count = (page_of(two), 1) if page_of else (PAIRS[type(two.a), type(two.b)], count_of(two.a, two.b))

    def found() -> list[Candidate]:
        own = within(page, two, reach)
        if swapped:
            own = [c.seen_from_b(two.X_ab.inverse()) for c in own]
        return [Candidate(c.gap, X @ c.point, X.rotation @ c.normal) for c in own] if X else own

    if reach is None:
        return found()
    return when(may_meet(*two, reach), found, [NOWHERE] * count)


def kind_of(shape: Geometry, doublings: int = 1) -> Any:
    """Return what shapes that share a block have in common: a type, or the shape whose numbers are its constants.

    Of two hulls that do, one may have 2^doublings times as many vertices: the other takes as long.
    """
    if isinstance(shape, Hull):
        return Hull, -(-(len(shape.vertices) - 1).bit_length() // doublings)
    return id(shape) if isinstance(shape, CONSTANT) else type(shape)


def rows_of(alike: Sequence[Geometry]) -> list[list[Any]]:
    """Return the sizes of shapes that are alike; of hulls, as many vertices each."""
    most = max(len(shape.vertices) if isinstance(shape, Hull) else 0 for shape in alike)
    return [sizes_of(shape, most) for shape in alike]


def sizes_of(shape: Geometry, most: int = 0) -> list[Any]:
    """Return the numbers of a shape: of a hull so many vertices at least, its first one several times."""
    if isinstance(shape, CONSTANT):
        return []
    sizes = [getattr(shape, field.name) for field in fields(shape)]
    if isinstance(shape, Hull):
        sizes[0] = (*shape.vertices, *[shape.vertices[0]] * (most - len(shape.vertices)))
    return sizes


def of_sizes(like: Geometry, sizes: Sequence[Any]) -> Any:
    """Return a shape whose sizes may be symbols, so that nothing checks them; terrains have none."""
    if isinstance(like, CONSTANT):
        return like
    shape = object.__new__(type(like))
    for field, size in zip(fields(like), sizes, strict=True):
        object.__setattr__(shape, field.name, size)
    return shape
