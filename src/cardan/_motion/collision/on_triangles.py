"""Shapes on a surface of triangles: by its faces, its edges that stand out and its corners that do; the best are kept.

A face of normal m and height h(x) = m . x - e is met by the points that the shape has on its plane (`on_plane`). Such a
point p counts if the shape comes in through this face: with c a point deep in the shape beside p,

    h(p) < 0    the way from c to p crosses the face
    h(p) >= 0   the foot of p on the plane is on the face

and h(c) > 0 in both. So a point that is in the matter has one face, whatever others have their planes above it, and the
points on faces that lie in one plane are those on this plane: nothing is caught at the edges between.

An edge that stands out is a capsule of radius 0, a corner a sphere of radius 0: the pages of these say where the shape
meets them. They count if the normal is between those of the faces around (`triangles.Features`).

Edges and corners are looked at with a face that they are on. None counts unless the shape is within reach of that
face's plane: a separation along any direction is a lower bound of the distance. For the same reason a face is left
out where all of it is below the shape along one of five directions upwards (`triangle_grid.UPWARDS`), along which the
least of the shape is found once; and where the shape is beyond reach along the way from the face's nearest point to its
middle. So are edges and corners. Where a shape with sides meets an edge is found on the arc between the normals
(`triangle_edge`).

Of all candidates few are kept. One more than that, and the one goes that has the least

    min |x - y|^2 - (L / t) (gap - least gap)       y: deeper ones; with L / 2 times the normals' difference beside them

L being the size of the shape and t the slope of `on_plane`: the deepest stays, and those that are spread around it.

Source: Ericson, Real-Time Collision Detection (2005), section 5.1, for regions of faces, edges and corners; the rest is
made here.
Cost: five support points; 30 operations and seven numbers for each face in the cells beside the shape, 200 and nine
more where it is not below; 40 for each point on a face that is met; for each of its edges and corners two support
points, or its page; 150 for each candidate that counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import each, repeat, repeat_while, when
from cardan._algebra.scalar import absolute, clip, logical_and, logical_not, logical_or, minimum, sqrt, where
from cardan._algebra.spatial import SE3, Matrix3, Scalar, Vector3
from cardan._motion.collision.candidate import (
    FAR,
    NOWHERE,
    Candidate,
    chosen,
    existing,
    in_precision,
    select,
)
from cardan._motion.collision.convex import SHALLOW, Witness, convex_convex, witness
from cardan._motion.collision.convex_pairs import CONVEX_PAIRS, Page
from cardan._motion.collision.flat_contact import flat_convex, manifold
from cardan._motion.collision.on_plane import LOW, candidates_above
from cardan._motion.collision.support_points import extent_of, farthest_along, middle_of, radius_of, support
from cardan._motion.collision.triangle_edge import on_edge
from cardan._motion.collision.triangle_grid import (
    UPWARDS,
    Face,
    Features,
    Grid,
    Ground,
    Level,
    Search,
    ground_of,
    next_face,
    on_levels,
)
from cardan._robot.geometry.shapes import Capsule, Cone, Cylinder, Ellipsoid, Geometry, Hull, Sphere, TriangleMesh
from cardan._robot.geometry.support import box_about
from cardan._robot.geometry.triangles import AROUND

MOST = {Sphere: 3, Ellipsoid: 3, Capsule: 4}
FLAT_MOST = 6  # candidates of a shape with faces: four on the ground, and two on a wall beside it
SAME = 1e-4  # of a shape's size: candidates nearer than this, their normals alike, are one
ROUNDING = 1e-11, 3e-6  # of the surface's size, in double and single precision: by how much faces overlap
ALIGNED = 1e-9, 1e-5  # sine by which a normal may be out of its cone
ACROSS = 0.5  # cosine between the normal of what overlaps and the mean of those around, below which it is across
NEAR = 1.0  # of a shape's size: how far around it is looked if nobody says how far


def on_triangles(a: Geometry, X_a: SE3, b: TriangleMesh, X_b: SE3, reach: Scalar | None = None) -> list[Candidate]:
    """Return the candidates; there are none farther than a reach [m] from the box about A."""
    ground = ground_of(b)
    X_ba = SE3(X_b.rotation.T @ X_a.rotation, X_b.inverse_act(X_a.translation))
    middle, half = box_about(a)
    size = 2.0 * half.norm()
    reach = NEAR * size if reach is None else reach
    at = X_ba @ middle
    around = Vector3(*(Vector3(*map(absolute, row)).dot(half) + reach for row in X_ba.rotation.rows()))
    radius = (a.radius if isinstance(a, Sphere) else 0.5 * size) + reach
    slack = in_precision(at.x, *ROUNDING) * ground.size
    lows = each(lambda d: _least(a, X_ba, d) - (reach + slack) * d.norm(), UPWARDS)
    body = _Body(a, X_ba, at, X_ba @ middle_of(a), half, size, reach, radius, lows, slack)
    zero = 0.0 * sum((*X_ba.rotation.entries(), *X_ba.translation), 0.0)  # batches of NumPy's keep their shape
    none = Candidate(zero + FAR, Vector3(zero, zero, zero), Vector3(zero, zero, zero + 1.0))
    kept = [none] * most_of(a)

    def in_level(level: Level, kept: Any) -> Any:
        x, y = around.x + level.half_x, around.y + level.half_y
        columns, last = (level.column(at.x - x), level.column(at.x + x)), level.row(at.y + y)
        is_beside = logical_and(at.z - around.z <= level.high, at.z + around.z >= level.low)
        begin = Search(level.row(at.y - y) + zero, zero, zero, where(is_beside, last, -1.0), zero)

        def further(search: Any, kept: Any) -> Any:
            found = next_face(grid, level, columns, Search(*search), lambda k: _is_near(body, grid, k))
            return found, when(found.is_found > 0.5, lambda: _with_face(kept, body, ground, found.k - 1.0), kept)

        return repeat_while(grid.total, lambda search, _: Search(*search).goes_on, further, begin, kept)[1]

    grid = ground.faces
    return list(on_levels(grid, in_level, kept))


def _least(a: Geometry, X: SE3, d: Vector3) -> Scalar:
    """Return the least d . x of all points x of a shape at X."""
    own = X.rotation.transpose_apply(d)
    return d.dot(X.translation) - farthest_along(a, -own) - radius_of(a) * d.norm()


class _Body(NamedTuple):
    """A shape, its pose in the surface's frame, and the ball about it in which features count."""

    shape: Geometry
    X: SE3
    at: Vector3  # the middle of the box about it
    deep: Vector3  # a point within it
    half: Vector3  # of that box's sides, in the shape's frame
    size: Scalar
    reach: Scalar
    radius: Scalar
    lows: Sequence[Scalar]  # least d . x, less reach, of its points x along each of the `UPWARDS`
    slack: Scalar  # by how much faces overlap [m]

    def least(self, n: Vector3, start: Vector3) -> Scalar:
        """Return n . (x - start) of the point x of the box about the shape where it is least."""
        side = Vector3(*map(absolute, self.X.rotation.transpose_apply(n)))
        return n.dot(self.at - start) - side.dot(self.half)

    def lowest(self, n: Vector3) -> Vector3:
        """Return the point of its core, in its frame, that is the lowest along n."""
        return support(self.shape, -self.X.rotation.transpose_apply(n))

    def is_above(self, n: Vector3, start: Vector3) -> Any:
        """Return whether n . (x - start) is beyond reach for all points x of the shape."""
        return _least(self.shape, self.X, n) - n.dot(start) > self.reach * n.norm()

    def is_apart(self, nearest: Vector3) -> Any:
        """Return whether what is convex, and has that point nearest to the middle, is beyond reach along the way."""
        return self.is_above(self.deep - nearest, nearest)

    def is_low(self, tops: Sequence[Scalar]) -> Any:
        """Return whether what reaches so far along the `UPWARDS` may be within reach."""
        return reduce(logical_and, (top >= low for top, low in zip(tops, self.lows, strict=True)))

    def is_around(self, p: Vector3) -> Any:
        """Return whether a point is within the ball about the shape."""
        return (self.at - p).norm_squared() < self.radius * self.radius


def most_of(a: Geometry) -> int:
    """Return how many candidates a shape has on triangles."""
    return MOST.get(type(a), FLAT_MOST)


# --- features -------------------------------------------------------------------------------------------------------


def _is_near(body: _Body, grid: Grid, k: Scalar) -> Any:
    """Return whether a shape may be within reach of a face, or of its edges and corners, from outside.

    A separation along any direction is a lower bound of the distance.
    """

    def is_beside() -> Any:
        face = grid.face(k)
        is_near = body.least(face.normal, face.corners[0]) < body.reach
        for side, start in zip(face.outwards(), face.corners, strict=True):
            is_near = logical_and(is_near, body.least(side, start) <= (body.reach + body.slack) * side.norm())
        return is_near

    return _also(body.is_low(grid.tops(k)), is_beside)


def _also(condition: Any, other: Callable[[], Any]) -> Any:
    """Return whether two conditions hold, the second one asked only where the first does."""
    return when(condition, lambda: where(other(), 1.0, 0.0), 0.0) > 0.5


def _with_face(kept: Any, body: _Body, ground: Ground, k: Scalar) -> Any:
    """Return the candidates that are kept of these and those on a face, its edges and its corners."""
    face = ground.faces.face(k)
    is_apart = body.is_apart(face.nearest(body.deep))
    return when(logical_not(is_apart), lambda: _with_points(kept, body, ground, k, face), kept)


def _with_points(kept: Any, body: _Body, ground: Ground, k: Scalar, face: Face) -> Any:
    """Return the same of a face that may be within reach."""
    n = body.X.rotation.transpose_apply(face.normal)
    found = candidates_above(body.shape, face.height(body.X.translation), n, body.reach)

    def all_of() -> Any:
        best = _with_each(kept, [_on_face(face, c, n, body) for c in found], body.size)
        for own, page in ((ground.edges, _on_edge), (ground.corners, _on_corner)):
            if own is not None:
                best = _with_features(best, own.range_of(k), own.most, partial(page, body, own.features), body.size)
        return best

    return when(reduce(minimum, (c.gap for c in found)) < body.reach, all_of, kept)


def _with_features(
    kept: Any, places: tuple[Scalar, Scalar], most: int, page: Callable[[Scalar], _Feature], size: Scalar
) -> Any:
    first, end = places

    def further(k: Scalar, kept: Any) -> tuple[Scalar, Any]:
        is_near, found = page(k)
        return k + 1.0, when(is_near, lambda: _with_each(kept, found(), size), kept)

    return repeat_while(most, lambda k, _: k < end, further, first, kept)[1]


def _on_face(face: Face, c: Candidate, n: Vector3, body: _Body) -> Candidate:
    """Return a candidate on the plane of a face, of normal n in the shape's frame; `FAR` if it is not on the face."""
    deep = _deep(body.shape, c.point, n)
    above = c.gap + n.dot(deep - c.point)
    is_in = c.gap < 0.0
    fall = where(logical_and(is_in, above > 0.0), above - c.gap, 1.0)
    way = select(is_in, (deep - c.point) * (1.0 / fall), n)
    foot = body.X @ (c.point - way * c.gap)
    inside = logical_and(face.has(foot, body.slack), above > 0.0)
    return existing(logical_and(inside, c.gap < 0.5 * FAR), c)


def _deep(a: Any, p: Vector3, n: Vector3) -> Vector3:
    """Return a point deep in a shape, beside a point p of its surface where -n is the normal outwards."""
    if isinstance(a, (Sphere, Hull, Cone)):
        return middle_of(a)
    if isinstance(a, Capsule):
        return Vector3(0.0, 0.0, clip(p.z, -0.5 * a.length, 0.5 * a.length))
    if isinstance(a, Ellipsoid):
        return p + n * reduce(minimum, a.radii)
    if isinstance(a, Cylinder):
        inner = minimum(a.radius, 0.5 * a.length)
        part = 1.0 - inner / (a.radius + 1e-30)
        return Vector3(p.x * part, p.y * part, clip(p.z, inner - 0.5 * a.length, 0.5 * a.length - inner))
    inner = 0.5 * reduce(minimum, a.size)
    return Vector3(*(clip(e, inner - 0.5 * s, 0.5 * s - inner) for e, s in zip(p, a.size, strict=True)))


# Of an edge or corner: whether it may be within reach of a shape, and what makes the candidates on it.
_Feature = tuple[Any, Callable[[], list[Candidate]]]


def _on_edge(body: _Body, edges: Features, k: Scalar) -> _Feature:
    """Return the candidates on the inside of an edge; its ends are corners."""
    half, (middle, along, u, u_other) = edges.number(k, 0), edges.vectors(k, 1, 4)
    nearest = middle + along * clip((body.deep - middle).dot(along), -half, half)
    between = u + u_other
    outwards = between * (1.0 / sqrt(between.norm_squared()))
    across = along.cross(u)
    R = Matrix3([(u[k], across[k], along[k]) for k in range(3)])
    edge = object.__new__(Capsule)  # nothing checks its length, which is a symbol
    object.__setattr__(edge, "radius", 0.0)
    object.__setattr__(edge, "length", 2.0 * half)

    def existing_of(found: Sequence[Candidate]) -> list[Candidate]:
        kept = []
        for c in found:
            s = along.dot(body.X @ (c.point - c.normal * c.gap) - middle)
            inside = absolute(s) < half * (1.0 - 1e-6)
            counts = _counts(body, c, (-u, -u_other), outwards)
            kept.append(existing(logical_and(logical_and(counts, inside), c.gap < 0.5 * FAR), c))
        return kept

    def searched() -> list[Candidate]:
        """Return the candidates of what has sides: the nearest between both normals, and what is beside it."""
        arc = u.cross(along) - u * LOW, along.cross(u_other) - u_other * LOW  # as `_counts` has it
        size, X = extent_of(body.shape), SE3(R, middle)
        found = on_edge(lambda n: body.X @ body.lowest(n) - middle, arc, along, outwards, size, body.reach)
        point, n = body.X.inverse_act(found.point + middle), body.X.rotation.transpose_apply(found.n)
        is_near, is_known = found.gap < body.reach, logical_and(found.is_known, found.gap > -SHALLOW * (size + half))

        def several() -> list[Candidate]:
            # How deep a shape is that overlaps the edge with no side there, a search says.
            own = Witness(found.gap, n, point, point - n * found.gap)
            deepest = when(logical_not(is_known), lambda: witness(body.shape, body.X, edge, X, reach=body.reach), own)
            return manifold(body.shape, body.X, edge, X, deepest)

        alone = [existing(is_near, Candidate(found.gap, point, n)), *[NOWHERE] * 3]
        return when(logical_and(is_near, logical_not(logical_and(found.is_one, is_known))), several, alone)

    def near() -> list[Candidate]:
        is_searched = _page_of(body.shape, edge) is flat_convex
        return existing_of(searched() if is_searched else _candidates(body, edge, SE3(R, middle)))

    is_near = logical_and(body.is_around(nearest), body.least(outwards, middle) < body.reach)
    is_near = logical_and(is_near, body.is_low([d.dot(middle) + absolute(d.dot(along)) * half for d in UPWARDS]))
    return _also(is_near, lambda: logical_not(body.is_apart(nearest))), near


def _on_corner(body: _Body, corners: Features, k: Scalar) -> _Feature:
    (at,), (behind,) = corners.vectors(k, 0, 1), corners.vectors(k, corners.stride - 3, 1)
    outwards = -behind

    def near() -> list[Candidate]:
        (c,) = _candidates(body, Sphere(0.0), SE3(None, at))
        around = corners.vectors(k, 3, AROUND + 1)
        return [existing(_counts(body, c, around, outwards), c)]

    is_near = logical_and(body.is_around(at), body.least(outwards, at) < body.reach)
    return _also(is_near, lambda: logical_not(body.is_apart(at))), near


def _counts(body: _Body, c: Candidate, around: Sequence[Vector3], outwards: Vector3) -> Any:
    """Return whether the normal of a candidate is in the cone of those that rise along no side.

    What has faces lies on an edge however it leans a little. Where it overlaps a corner beside an edge of its own, the
    normal is that of a face, which may be out of the cone: then it is enough that it is not across.
    """
    n = body.X.rotation @ c.normal
    is_flat = type(body.shape) not in MOST
    slack = LOW if is_flat else in_precision(n.x, *ALIGNED)
    counts = reduce(logical_and, (n.dot(d) <= slack for d in around))
    return logical_or(counts, logical_and(c.gap < 0.0, n.dot(outwards) > ACROSS)) if is_flat else counts


def _page_of(a: Geometry, feature: Geometry) -> Page:
    """Return the page of a shape and a capsule or sphere, whichever is its first."""
    return CONVEX_PAIRS.get((type(a), type(feature))) or CONVEX_PAIRS[type(feature), type(a)]


def _candidates(body: _Body, feature: Geometry, X: SE3) -> list[Candidate]:
    """Return the candidates of a shape and a feature at X in the surface's frame."""
    a, X_ba, page = body.shape, body.X, _page_of(body.shape, feature)
    if page is convex_convex:
        return page(a, X_ba, feature, X, reach=body.reach)
    if (type(a), type(feature)) in CONVEX_PAIRS:
        return page(a, X_ba, feature, X)
    return [c.seen_from_b(X_ba.inverse() @ X) for c in page(feature, X, a, X_ba)]


# --- what is kept ---------------------------------------------------------------------------------------------------


def _with_each(kept: Any, found: Sequence[Candidate], size: Scalar) -> Any:
    """Return the candidates that are kept of these and further ones."""

    def further(kept: Any, first: Candidate, *others: Candidate) -> tuple[Any, ...]:
        return when(first.gap < 0.5 * FAR, lambda: _best(kept, first, size), kept), *others, first

    if len(found) == 1:
        return further(kept, *found)[0]
    # Mostly none of them counts.
    exists = reduce(minimum, (c.gap for c in found)) < 0.5 * FAR
    return when(exists, lambda: repeat(len(found), further, kept, *found)[0], kept)


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
        found.append(chosen(goes, new, c))
    return found
