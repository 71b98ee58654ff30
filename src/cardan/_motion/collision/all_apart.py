"""Whether all pairs of shapes are apart: what is surely so, or surely not, costs a few operations; the rest its page.

Every shape is between two capsules about one segment, its *spine*: half its length h, the radius r of the inner one and
R of the outer. An obstacle is between balls about its middle m, of radii r' and R'. With t = clip(z . (m - c), -h, h)
for a spine through c along z, and the squared distance of m from it,

    d^2 = |m - c|^2 - t (2 z . (m - c) - t)

they are farther apart than a margin if d > R + R' + margin, and not if d <= r + r' + margin; both are exact for spheres
and capsules beside spheres. Only what lies between is looked at by its page, and a state of which it is known that it
is not free takes part in nothing any more: native code leaves out what no state needs that is computed with it.

Obstacles are rows of numbers: their pages are loops over a few of one kind.

Source: Ericson, Real-Time Collision Detection (2005), section 5.1.2, for points and segments.
Cost: 17 operations for a shape and an obstacle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, reduce
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.repeat import each, when
from cardan._algebra.scalar import absolute, clip, logical_and, minimum, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._motion.collision.bounds import may_meet
from cardan._motion.collision.box_box import box_box, box_separation
from cardan._motion.collision.box_round import box_capsule
from cardan._motion.collision.candidate import FAR
from cardan._motion.collision.convex import convex_convex
from cardan._motion.collision.distance import SEARCHED
from cardan._motion.collision.round_shapes import capsule_capsule, capsule_sphere, sphere_sphere
from cardan._motion.collision.table import PAIRS, Two, check_page, in_order, kind_of, of_alike, of_sizes, sizes_of
from cardan._robot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Hull, Plane, Sphere
from cardan._robot.geometry.support import box_about

ROWS = 8  # obstacles of a loop: of those of a loop that one state is near, all are looked at in turn
FIRST = box_capsule, capsule_capsule  # pages whose first candidate has the least gap
SHORT = sphere_sphere, capsule_sphere, capsule_capsule  # pages that are not worth to ask whether they are needed


def are_apart(pairs: Sequence[Two], margin: Scalar) -> Any:
    """Return whether all pairs are farther apart than a margin [m]."""
    moving: list[Two] = []
    standing: dict[Any, list[Two]] = {}  # by the shape that moves
    for two in pairs:
        check_page(type(two.a), type(two.b))
        if _stands_still(two.X_b):
            standing.setdefault((two.a, *map(id, two.X_a.translation)), []).append(two)
        else:
            moving.append(two)
    apart: Any = 1.0
    for own in reversed(standing.values()):  # what is farther out is rather in the way
        apart = _when_apart(apart, lambda apart, own=own: _with_obstacles(own, margin, apart))
    if moving:
        apart = _when_apart(apart, lambda apart: _with_one_another(moving, margin, apart))
    return apart > 0.5


def _stands_still(X: SE3) -> bool:
    return all(isinstance(e, float) for e in (*X.rotation.entries(), *X.translation))


def _when_apart(apart: Any, body: Any) -> Any:
    return body(apart) if isinstance(apart, float) else when(apart > 0.5, body, 0.0, apart)


def _and(apart: Any, also: Any) -> Any:
    return where(also, apart, 0.0)


# --- shapes that stand still ----------------------------------------------------------------------------------------


def _with_obstacles(pairs: Sequence[Two], margin: Scalar, apart: Any) -> Any:
    """Return whether one shape is apart from obstacles, too, where it is said to be apart so far."""
    spine = Spine.of(pairs[0].a, pairs[0].X_a)
    left: dict[Any, list[tuple[Two, Scalar]]] = {}  # by kind; each with a number that is below 0 where it may be near
    hit: Scalar = 1.0  # below 0 where it is
    for two in pairs:
        if isinstance(two.b, Plane):
            apart = _and(apart, _gap(two, margin) > margin)
            continue
        ball = Ball.of(two.b, two.X_b)
        squared = spine.squared_distance(ball.middle)
        if spine.inner >= 0.0 and ball.inner >= 0.0:
            hit = minimum(hit, squared - _square(spine.inner + ball.inner + margin))
        if (spine.inner, ball.inner) != (spine.outer, ball.outer):
            squared = squared - _square(spine.outer + ball.outer + margin)
            left.setdefault(kind_of(two.b), []).append((two, squared))
    apart = _and(apart, hit > 0.0)
    for rows in left.values():
        for k in range(0, len(rows), ROWS):
            apart = _with_rows(rows[k : k + ROWS], margin, apart)
    return apart


def _square(reach: Scalar) -> Scalar:
    """Return the square of a distance, with its sign."""
    return reach * absolute(reach)


def _with_rows(rows: Sequence[tuple[Two, Scalar]], margin: Scalar, apart: Any) -> Any:
    """Return the same for obstacles of one kind."""
    (a, X_a, like, _), _ = rows[0]

    def gap(sizes: Any, X_b: SE3, near: Scalar) -> Scalar:
        two = Two(a, X_a, of_sizes(like, sizes), X_b)
        return when(logical_and(near <= 0.0, apart > 0.5), lambda: _gap(two, margin), FAR)

    def least() -> Scalar:
        columns = [sizes_of(two.b) for two, _ in rows], [two.X_b for two, _ in rows], [near for _, near in rows]
        return reduce(minimum, each(gap, *columns))

    some_near = reduce(minimum, (near for _, near in rows)) <= 0.0
    return _and(apart, when(logical_and(some_near, apart > 0.5), least, FAR) > margin)


# --- shapes that move -----------------------------------------------------------------------------------------------


def _with_one_another(pairs: Sequence[Two], margin: Scalar, apart: Any) -> Any:
    def gap(two: Two, _: Any) -> Scalar:
        if PAIRS[type(two.a), type(two.b)] in SHORT:
            return _gap(two, margin)
        return when(logical_and(may_meet(*two, margin), apart > 0.5), lambda: _gap(two, margin), FAR)

    found = of_alike([in_order(two)[0] for two in pairs], gap, [None] * len(pairs))
    return _and(apart, reduce(minimum, found) > margin)


def _gap(two: Two, margin: Scalar) -> Scalar:
    """Return a gap of two shapes that is on the same side of the margin as theirs."""
    two, _ = in_order(two)
    page = PAIRS[type(two.a), type(two.b)]
    if page is box_box:  # along their axes boxes are never farther apart than they are, and as deep
        separation = box_separation(*two)
        unsure = logical_and(separation > 0.0, separation <= margin)
        return when(unsure, lambda: convex_convex(*two, margin)[0].gap, separation)
    if page in SEARCHED:
        return convex_convex(*two, margin)[0].gap
    first, *others = page(*two)
    return first.gap if page in FIRST else reduce(minimum, (c.gap for c in others), first.gap)


# --- what is surely so ----------------------------------------------------------------------------------------------


class Spine(NamedTuple):
    """A segment in a shape, and the capsules about it that are in the shape, and around it."""

    middle: Vector3
    axis: Vector3
    half: float
    inner: float  # radius [m]; below 0 if there is none
    outer: float

    @staticmethod
    def of(shape: Geometry, X: SE3) -> Spine:
        """Return the spine of a shape, along the longest side of the box about it.

        Its ends are as far within the box as its shortest side is long, for most have ends that are round so far.
        """
        middle, sides = box_about(shape)
        half = list(map(float, sides))
        axis = max(range(3), key=half.__getitem__)
        short, long = sorted(half[:axis] + half[axis + 1 :])
        inner, outer = short if isinstance(shape, FULL) else NONE, math.hypot(short, short, long)
        if isinstance(shape, ROUND):
            inner, outer = max(inner, 0.0), long
        elif isinstance(shape, Hull):
            end = (half[axis] - short) * np.eye(3)[axis]
            inner, outer = _radii_of_hull(shape, tuple(map(float, middle)), tuple(end.tolist()))
        return Spine(X @ middle, list(X.rotation.columns())[axis], half[axis] - short, inner, outer)

    def squared_distance(self, p: Vector3) -> Scalar:
        way = p - self.middle
        if not self.half:
            return way.norm_squared()
        along = self.axis.dot(way)
        t = clip(along, -self.half, self.half)
        return way.norm_squared() - t * (along * 2.0 - t)


class Ball(NamedTuple):
    """The balls about a shape's middle that are in the shape, and around it."""

    middle: Vector3
    inner: float  # radius [m]; below 0 if there is none
    outer: float

    @staticmethod
    def of(shape: Geometry, X: SE3) -> Ball:
        middle, sides = box_about(shape)
        half = list(map(float, sides))
        inner = min(half) if isinstance(shape, (*FULL, *ROUND)) else NONE
        outer = max(half) if isinstance(shape, ROUND) else math.hypot(*half)
        if isinstance(shape, Hull):
            inner, outer = _radii_of_hull(shape, tuple(map(float, middle)))
        return Ball(X @ middle, inner, outer)


FULL = Sphere, Capsule, Box, Cylinder  # shapes that have in them the capsule about their spine with the shortest side
ROUND = Sphere, Capsule, Ellipsoid  # shapes within the capsule about their spine with the other side
NONE = -1.0
MOST = 64  # vertices of a hull whose faces are looked for among all that three of them span


@lru_cache(256)
def _radii_of_hull(
    hull: Hull, middle: tuple[float, ...], end: tuple[float, ...] = (0.0, 0.0, 0.0)
) -> tuple[float, float]:
    """Return the radii of the capsules about a segment, from its middle to one end, in a hull and around it."""
    points, way = np.array(hull.vertices) - middle, np.array(end)
    length = float(np.linalg.norm(way))
    along = np.clip(points @ way / max(length, 1e-300), -length, length) / max(length, 1e-300)
    outer = float(np.linalg.norm(points - along[:, None] * way, axis=1).max())
    if not 4 <= len(points) <= MOST:
        return NONE, outer
    a, b, c = (points[list(k)] for k in zip(*combinations(range(len(points)), 3), strict=True))
    normals = np.cross(b - a, c - a)
    size = np.linalg.norm(normals, axis=1)
    wide = size > 1e-12 * outer * outer
    normals, a = normals[wide] / size[wide, None], a[wide]
    heights = normals @ points.T - (normals * a).sum(axis=1)[:, None]
    slack = 1e-9 * outer
    below, above = heights.max(axis=1) < slack, heights.min(axis=1) > -slack
    if not below.any() or (below & above).any():
        return NONE, outer  # it is flat
    faces, on = np.concatenate([normals[below], -normals[above]]), np.concatenate([a[below], a[above]])
    depths = (faces * on).sum(axis=1) - np.abs(faces @ way)
    return float(depths.min()) * (1.0 - 1e-9), outer
