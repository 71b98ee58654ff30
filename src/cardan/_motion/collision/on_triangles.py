"""Shapes on a surface of triangles: by its faces, its edges that stand out and its corners that do; the best are kept.

A face of normal m and height h(x) = m . x - e is met by the points that the shape has on its plane (`on_plane`). Such a
point p counts if the shape comes in through this face: with c a point deep in the shape beside p,

    h(p) < 0    the way from c to p crosses the face
    h(p) >= 0   the foot of p on the plane is on the face

and h(c) > 0 in both. So a point that is in the matter has one face, whatever others have their planes above it, and the
points on faces that lie in one plane are those on this plane: nothing is caught at the edges between.

An edge that stands out is a capsule of no radius, a corner a sphere of none: the pages of these say where the shape
meets them. They count if the normal is between those of the faces around (`triangles.Features`).

Of all candidates few are kept. One more than that, and the one goes that has the least

    min |x - y|^2 - (L / t) (gap - least gap)       y: deeper ones; with L / 2 times the normals' difference beside them

L being the size of the shape and t the slope of `on_plane`: the deepest stays, and those that are spread around it.

Source: Ericson, Real-Time Collision Detection (2005), section 5.1, for regions of faces, edges and corners; the rest is
made here.
Cost: 25 operations for each box of the tree that is looked at, about log2 of the features; 60 for each face and point,
for each edge and corner that of its page, and 350 for each candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from cardan._algebra.arrays.cell import cell
from cardan._algebra.arrays.repeat import repeat, when
from cardan._algebra.scalar import absolute, clip, logical_and, logical_not, minimum, where
from cardan._algebra.spatial import SE3, Matrix3, Scalar, Vector3
from cardan._motion.collision.box_round import box_capsule, box_sphere
from cardan._motion.collision.candidate import FAR, Candidate, existing, in_precision, select
from cardan._motion.collision.convex import convex_convex
from cardan._motion.collision.flat_contact import flat_convex
from cardan._motion.collision.on_plane import LOW, candidates_above
from cardan._motion.collision.round_shapes import capsule_capsule, capsule_sphere, cylinder_sphere, sphere_sphere
from cardan._motion.collision.support_points import middle_of
from cardan._motion.collision.triangle_tree import CORNER, EDGE, FACE, Ground, ground_of, walked
from cardan._robot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Hull, Sphere, TriangleMesh
from cardan._robot.geometry.support import box_about

MOST = {Sphere: 3, Ellipsoid: 3, Capsule: 4}
FLAT_MOST = 6  # candidates of a shape with faces: four on the ground, and two on a wall beside it
SAME = 1e-4  # of a shape's size: candidates nearer than this, their normals alike, are one
ROUNDING = 1e-11, 3e-6  # of the surface's size, in double and single precision: by how much faces overlap
ALIGNED = 1e-9, 1e-5  # sine by which a normal may be out of its cone
NEAR = 1.0  # of a shape's size: how far around it is looked if nobody says how far


def on_triangles(a: Geometry, X_a: SE3, b: TriangleMesh, X_b: SE3, reach: Scalar | None = None) -> list[Candidate]:
    """Return the candidates; there are none farther than a reach [m] from the box about A."""
    ground = ground_of(b)
    X_ba = SE3(X_b.rotation.T @ X_a.rotation, X_b.inverse_act(X_a.translation))
    middle, half = box_about(a)
    size = 2.0 * half.norm()
    reach = NEAR * size if reach is None else reach
    rows = [Vector3(*map(absolute, row)).dot(half) + reach for row in X_ba.rotation.rows()]
    at, around = X_ba @ middle, Vector3(*rows)
    low, high = at - around, at + around

    def meets(box_low: Vector3, box_high: Vector3, *_: Any) -> Any:
        apart = [box_low[k] <= high[k] for k in range(3)] + [low[k] <= box_high[k] for k in range(3)]
        return reduce(logical_and, apart)

    def visited(place: Scalar, is_leaf: Any, kept: Any) -> tuple[Any]:
        return (when(is_leaf, lambda: _with_feature(a, X_ba, ground, size, place, kept), kept),)

    zero = 0.0 * sum((*X_ba.rotation.entries(), *X_ba.translation), 0.0)  # batches of NumPy's keep their shape
    none = [zero + FAR, *(zero + e for e in (0.0, 0.0, 0.0, 0.0, 0.0, 1.0))]
    (kept,) = walked(ground, meets, visited, [Candidate(none[0], Vector3(*none[1:4]), Vector3(*none[4:]))] * most_of(a))
    return list(kept)


def most_of(a: Geometry) -> int:
    """Return how many candidates a shape has on triangles."""
    return MOST.get(type(a), FLAT_MOST)


def _with_feature(a: Geometry, X_ba: SE3, ground: Ground, size: Scalar, place: Scalar, kept: Any) -> Any:
    kinds: list[tuple[Any, Callable[..., list[Candidate]]]] = [(place < ground.edges, _on_face)]
    if ground.corners > ground.edges:
        kinds.append((logical_and(place >= ground.edges, place < ground.corners), _on_edge))
    if ground.end > ground.corners:
        kinds.append((place >= ground.corners, _on_corner))
    for condition, page in kinds:
        kept = when(condition, partial(_with_page, page, a, X_ba, ground, size, place, kept), kept)
    return kept


def _with_page(
    page: Callable[..., list[Candidate]], a: Geometry, X_ba: SE3, ground: Ground, size: Scalar, place: Scalar, kept: Any
) -> Any:
    found = page(a, X_ba, ground, place)
    if len(found) == 1:
        return _with(kept, found[0], size)

    def further(kept: Any, first: Candidate, *others: Candidate) -> tuple[Any, ...]:
        return _with(kept, first, size), *others, first

    return repeat(len(found), further, kept, *found)[0]


def _numbers(ground: Ground, place: Scalar, count: int) -> list[Vector3]:
    """Return the numbers of a feature, three by three; what is left over is filled up."""
    found = [cell(ground.features, place + float(k)) for k in range(count)]
    found += [0.0] * (-count % 3)
    return [Vector3(*found[k : k + 3]) for k in range(0, len(found), 3)]


# --- features -------------------------------------------------------------------------------------------------------


def _on_face(a: Geometry, X_ba: SE3, ground: Ground, place: Scalar) -> list[Candidate]:
    x = [cell(ground.features, place + float(k)) for k in range(FACE)]
    planes = [(Vector3(*x[k : k + 3]), x[k + 3]) for k in range(0, FACE, 4)]
    (m, e), *sides = planes
    n, slack = X_ba.rotation.transpose_apply(m), in_precision(e + X_ba.translation.x, *ROUNDING) * ground.size
    found = []
    for c in candidates_above(a, m.dot(X_ba.translation) - e, n):
        deep = _deep(a, c.point, n)
        above = c.gap + n.dot(deep - c.point)
        is_in = c.gap < 0.0
        fall = where(logical_and(is_in, above > 0.0), above - c.gap, 1.0)
        way = select(is_in, (deep - c.point) * (1.0 / fall), n)
        foot = X_ba @ (c.point - way * c.gap)
        inside = reduce(logical_and, (u.dot(foot) - o <= slack for u, o in sides), above > 0.0)
        found.append(existing(logical_and(inside, c.gap < 0.5 * FAR), c))
    return found


def _deep(a: Geometry, p: Vector3, n: Vector3) -> Vector3:
    """Return a point deep in a shape, beside a point p of its surface where -n is the normal outwards."""
    if isinstance(a, (Sphere, Hull)):
        return middle_of(a)
    if isinstance(a, Capsule):
        return Vector3(0.0, 0.0, clip(p.z, -0.5 * a.length, 0.5 * a.length))
    if isinstance(a, Ellipsoid):
        return p + n * reduce(minimum, a.radii)
    if isinstance(a, Cylinder):
        inner = minimum(a.radius, 0.5 * a.length)
        part = 1.0 - inner / (a.radius + 1e-30)
        return Vector3(p.x * part, p.y * part, clip(p.z, inner - 0.5 * a.length, 0.5 * a.length - inner))
    if isinstance(a, Box):
        inner = 0.5 * reduce(minimum, a.size)
        return Vector3(*(clip(e, inner - 0.5 * s, 0.5 * s - inner) for e, s in zip(p, a.size, strict=True)))
    raise AssertionError(type(a))


def _on_edge(a: Geometry, X_ba: SE3, ground: Ground, place: Scalar) -> list[Candidate]:
    middle, along, u, u_other, (half, _, _) = _numbers(ground, place, EDGE)
    across = along.cross(u)
    R = Matrix3([(u[k], across[k], along[k]) for k in range(3)])
    edge = object.__new__(Capsule)
    object.__setattr__(edge, "radius", 0.0)
    object.__setattr__(edge, "length", 2.0 * half)
    found, slack = [], in_precision(half, *ALIGNED)
    for c in _candidates(EDGE_PAGES, a, X_ba, edge, SE3(R, middle)):
        n = X_ba.rotation @ c.normal
        s = along.dot(X_ba @ (c.point - c.normal * c.gap) - middle)
        inside = absolute(s) < half * (1.0 - 1e-6)
        counts = reduce(logical_and, (n.dot(side) >= -slack for side in (u, u_other)), inside)
        found.append(existing(logical_and(counts, c.gap < 0.5 * FAR), c))
    return found


def _on_corner(a: Geometry, X_ba: SE3, ground: Ground, place: Scalar) -> list[Candidate]:
    at, *around = _numbers(ground, place, CORNER)
    slack = in_precision(at.x, *ALIGNED)
    (c,) = _candidates(CORNER_PAGES, a, X_ba, Sphere(0.0), SE3(None, at))
    n = X_ba.rotation @ c.normal
    return [existing(reduce(logical_and, (n.dot(d) <= slack for d in around)), c)]


EDGE_PAGES = {
    Sphere: capsule_sphere,
    Capsule: capsule_capsule,
    Box: box_capsule,
    Cylinder: flat_convex,
    Ellipsoid: convex_convex,
    Hull: flat_convex,
}
CORNER_PAGES = {
    Sphere: sphere_sphere,
    Capsule: capsule_sphere,
    Box: box_sphere,
    Cylinder: cylinder_sphere,
    Ellipsoid: convex_convex,
    Hull: convex_convex,
}


def _candidates(pages: Any, a: Geometry, X_ba: SE3, feature: Geometry, X: SE3) -> list[Candidate]:
    """Return the candidates of a shape and a feature at X in the surface's frame."""
    page = pages[type(a)]
    if page is not capsule_sphere or isinstance(a, Capsule):
        return page(a, X_ba, feature, X)
    return [c.seen_from_b(X_ba.inverse() @ X) for c in page(feature, X, a, X_ba)]


# --- what is kept ---------------------------------------------------------------------------------------------------


def _with(kept: Sequence[Candidate], new: Candidate, size: Scalar) -> list[Candidate]:
    """Return the candidates with one more, if that is among the best."""
    return when(new.gap < 0.5 * FAR, lambda: _best(kept, new, size), list(kept))


def _best(kept: Sequence[Candidate], new: Candidate, size: Scalar) -> list[Candidate]:
    every = [*kept, new]
    turned = 0.25 * size * size
    least = reduce(minimum, (c.gap for c in every))
    beside: list[Scalar] = [0.5 * FAR] * len(every)  # squared distances from the nearest that is deeper
    for i, one in enumerate(every):
        for j, other in enumerate(every[:i]):
            d = (one.point - other.point).norm_squared() + (one.normal - other.normal).norm_squared() * turned
            is_deeper = one.gap < other.gap
            beside[j] = where(is_deeper, minimum(beside[j], d), beside[j])
            beside[i] = where(is_deeper, beside[i], minimum(beside[i], d))
    worth = []
    for c, d in zip(every, beside, strict=True):
        own = where(d < (SAME * size) * (SAME * size), -FAR, d - (c.gap - least) * (size * (1.0 / LOW)))
        worth.append(where(c.gap < 0.5 * FAR, own, -0.5 * FAR))
    worst = reduce(minimum, worth)
    found, stays = [], True
    for c, own in zip(kept, worth, strict=False):
        goes = logical_and(own <= worst, stays)
        stays = logical_and(stays, logical_not(goes))
        parts = select(goes, new.point, c.point), select(goes, new.normal, c.normal)
        found.append(Candidate(where(goes, new.gap, c.gap), *parts))
    return found
