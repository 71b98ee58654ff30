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
(`triangle_edge`). What a look leaves over waits for the next one (`waiting`).

Of all candidates few are kept. One more than that, and the one goes that has the least

    min |x - y|^2 - (L / t) (gap - least gap)       y: deeper ones; with L / 2 times the normals' difference beside them

L being the size of the shape and t the slope of `on_plane`: the deepest stays, and those that are spread around it.

Above what is flat far enough around (`flat_cells`) the candidates are those on the plane, and nothing is looked at.

Source: Ericson, Real-Time Collision Detection (2005), section 5.1, for regions of faces, edges and corners; the rest is
made here.
Cost: five support points; ten operations and five numbers for each face in the cells beside the shape; where it is not
below, a support point and nine numbers; up to four more for its plane, and 40 operations for each point of that; for
each of its edges and corners a support point, and its page; 150 for each candidate that counts.
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
    Candidate,
    any_exists,
    chosen,
    existing,
    in_precision,
    select,
)
from cardan._motion.collision.convex import SHALLOW, Witness, convex_convex, witness
from cardan._motion.collision.convex_pairs import CONVEX_PAIRS, Page
from cardan._motion.collision.flat_cells import flat_cells
from cardan._motion.collision.flat_contact import flat_convex, manifold
from cardan._motion.collision.on_plane import LOW, candidates_above
from cardan._motion.collision.support_points import extent_of, farthest_along, middle_of, radius_of, support
from cardan._motion.collision.triangle_edge import OnEdge, on_edge
from cardan._motion.collision.triangle_grid import (
    AT_ONCE,
    UPWARDS,
    Face,
    Features,
    Ground,
    Level,
    OfFaces,
    Search,
    find_faces,
    ground_of,
    on_levels,
)
from cardan._motion.collision.waiting import Pending, Waiting
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
    slack = in_precision(at.x, *ROUNDING) * ground.size
    zero = 0.0 * sum((*X_ba.rotation.entries(), *X_ba.translation), 0.0)
    body = _Body(a, X_ba, X_ba @ middle_of(a), size, reach, (), slack, zero)
    none = Candidate(zero + FAR, Vector3(zero, zero, zero), Vector3(zero, zero, zero + 1.0))
    kept, flats = [none] * most_of(a), flat_cells(b)
    if flats is None:
        return _on_features(body, ground, at, around, kept)
    is_flat, plane = flats.below(at, around)

    def on_flat() -> list[Candidate]:
        n = X_ba.rotation.transpose_apply(plane.normal)
        found = candidates_above(a, plane.height(X_ba.translation), n, reach)
        own = [_on_face(None, c, n, body) for c in found]
        return own + kept[len(own) :]

    kept = when(is_flat, on_flat, kept)
    return when(logical_not(is_flat), lambda: _on_features(body, ground, at, around, kept), kept)


def _on_features(body: _Body, ground: Ground, at: Vector3, around: Vector3, kept: Any) -> list[Candidate]:
    """Return the candidates on faces, edges and corners near a box of that middle and half sides."""
    zero = body.zero
    lows = each(lambda d: _least(body.shape, body.X, d) - (body.reach + body.slack) * d.norm(), UPWARDS)
    body = body._replace(lows=lows)

    def in_level(level: Level, kept: Any) -> Any:
        x, y = around.x + level.half_x, around.y + level.half_y
        columns, last = (level.column(at.x - x), level.column(at.x + x)), level.row(at.y + y)
        is_beside = logical_and(at.z - around.z <= level.high, at.z + around.z >= level.low)
        begin = Search(level.row(at.y - y) + zero, zero, zero, where(is_beside, last, -1.0))

        def further(search: Search, low: Pending, near: Pending, kept: Any) -> Any:
            search, low = find_faces(
                ground.faces, level, columns, search, low, lambda k: body.is_low(ground.faces.tops(k))
            )
            waiting = low, near, kept
            return search, *when(_is_any(low, near), lambda: _met(body, ground, *waiting), waiting)

        def going(search: Search, low: Pending, near: Pending, kept: Any) -> Any:
            return logical_or(search.goes_on, _is_any(low, near))

        # Two faces at least are done with in each pass: there is room for all of their edges.
        total = ground.faces.total
        stacks = Pending.none(2 * AT_ONCE, zero), Pending.none(min(total, AT_ONCE), zero)
        return repeat_while(max(total - 1, 1), going, further, begin, *stacks, kept)[-1]

    return list(on_levels(ground.faces, in_level, kept))


def _least(a: Geometry, X: SE3, d: Vector3) -> Scalar:
    """Return the least d . x of all points x of a shape at X."""
    own = X.rotation.transpose_apply(d)
    return d.dot(X.translation) - farthest_along(a, -own) - radius_of(a) * d.norm()


class _Body(NamedTuple):
    """A shape, and its pose in the surface's frame."""

    shape: Geometry
    X: SE3
    deep: Vector3  # a point within it
    size: Scalar
    reach: Scalar
    lows: Sequence[Scalar]  # least d . x, less reach, of its points x along each of the `UPWARDS`
    slack: Scalar  # by how much faces overlap [m]
    zero: Scalar  # of the kind of the numbers of a pose: a batch of NumPy's, a symbol

    def is_above(self, n: Vector3, start: Vector3) -> Any:
        """Return whether n . (x - start) is beyond reach for all points x of the shape."""
        return _least(self.shape, self.X, n) - n.dot(start) > self.reach * n.norm()

    def is_apart(self, nearest: Vector3) -> Any:
        """Return whether what is convex, and has that point nearest to the middle, is beyond reach along the way."""
        return self.is_above(self.deep - nearest, nearest)

    def is_low(self, tops: Sequence[Scalar]) -> Any:
        """Return whether what reaches so far along the `UPWARDS` may be within reach."""
        return reduce(logical_and, (top >= low for top, low in zip(tops, self.lows, strict=True)))


def most_of(a: Geometry) -> int:
    """Return how many candidates a shape has on triangles."""
    return MOST.get(type(a), FLAT_MOST)


# --- features -------------------------------------------------------------------------------------------------------


def _is_any(low: Pending, near: Pending) -> Any:
    return logical_or(low.is_any, near.is_any)


def _met(body: _Body, ground: Ground, low: Pending, near: Pending, kept: Any) -> tuple[Pending, Pending, Any]:
    """Return the faces that wait still, and the candidates that are kept of these and those on some of the faces.

    Of the faces, some are not below the shape, and some may be within reach. Edges and corners do not wait longer.
    """
    owners = ground.edges, ground.corners
    edges, corners = (Pending.none(2 * own.most if own else 1, body.zero) for own in owners)

    def look(face: Waiting, near: Pending) -> Pending:
        is_apart = body.is_apart(ground.faces.face(face.number).nearest(body.deep))
        return near.with_one(logical_not(is_apart), face.number)

    def on_face(row: Waiting, state: Any) -> Any:
        face, kept = ground.faces.face(row.number), state[-1]
        n = body.X.rotation.transpose_apply(face.normal)
        found = candidates_above(body.shape, face.height(body.X.translation), n, body.reach)
        is_met = reduce(minimum, (c.gap for c in found)) < body.reach
        edges, corners = (_with_all(*both, row.number, is_met) for both in zip(state, owners, strict=False))

        def counting() -> Any:
            return _with_each(kept, [_on_face(face, c, n, body) for c in found], body.size)

        return edges, corners, when(is_met, counting, kept)

    def have_room(state: Any) -> Any:
        both = zip(state, owners, strict=False)
        return reduce(logical_and, (own.has_room(of.most) for own, of in both if of), True)

    low, near = low.gone_through(look, near, lambda near: near.has_room(1))
    near, (edges, corners, kept) = near.gone_through(on_face, (edges, corners, kept), have_room)
    if ground.edges:
        page, own = _on_edges if _has_sides(body.shape) else _on_round_edges, ground.edges.features
        kept = page(body, own, edges.those(partial(_is_edge_near, body, own)), kept)
    if ground.corners:
        own = ground.corners.features
        near_corners = corners.those(partial(_is_corner_near, body, own))
        _, kept = near_corners.gone_through(partial(_on_corner, body, own), kept)
    return low, near, kept


def _with_all(waiting: Pending, own: OfFaces | None, face: Scalar, is_met: Any) -> Pending:
    """Return what waits, and the edges or corners of a face, if it is met."""
    if own is not None:
        first, end = own.range_of(face)
        for k in (first + float(n) for n in range(own.most)):
            waiting = waiting.with_one(logical_and(is_met, k < end), k)
    return waiting


def _also(condition: Any, other: Callable[[], Any]) -> Any:
    """Return whether two conditions hold, the second one asked only where the first does."""
    return when(condition, lambda: where(other(), 1.0, 0.0), 0.0) > 0.5


def _on_face(face: Face | None, c: Candidate, n: Vector3, body: _Body) -> Candidate:
    """Return a candidate on the plane of a face, of normal n in the shape's frame; `FAR` if it is not on the face.

    No face is one that goes on to all sides.
    """
    deep = _deep(body.shape, c.point, n)
    above = c.gap + n.dot(deep - c.point)
    is_in = c.gap < 0.0
    fall = where(logical_and(is_in, above > 0.0), above - c.gap, 1.0)
    way = select(is_in, (deep - c.point) * (1.0 / fall), n)
    foot = body.X @ (c.point - way * c.gap)
    inside = logical_and(face is None or face.has(foot, body.slack), above > 0.0)
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


class _Edge(NamedTuple):
    """An edge, and how its faces go on from it."""

    half: Scalar  # of its length
    middle: Vector3
    along: Vector3
    u: Vector3
    u_other: Vector3

    @staticmethod
    def of(edges: Features, k: Scalar) -> _Edge:
        return _Edge(edges.number(k, 0), *edges.vectors(k, 1, 4))

    @property
    def outwards(self) -> Vector3:
        """The mean of both faces' normals."""
        between = self.u + self.u_other
        return between * (1.0 / sqrt(between.norm_squared()))

    @property
    def pose(self) -> SE3:
        across = self.along.cross(self.u)
        return SE3(Matrix3([(self.u[k], across[k], self.along[k]) for k in range(3)]), self.middle)

    @property
    def shape(self) -> Capsule:
        own = object.__new__(Capsule)  # nothing checks its length, which is a symbol
        object.__setattr__(own, "radius", 0.0)
        object.__setattr__(own, "length", 2.0 * self.half)
        return own

    def of_inside(self, body: _Body, found: Sequence[Candidate]) -> list[Candidate]:
        """Return those of some candidates that are between the ends, which are corners, and whose normals count."""
        kept = []
        for c in found:
            s = self.along.dot(body.X @ (c.point - c.normal * c.gap) - self.middle)
            inside = absolute(s) < self.half * (1.0 - 1e-6)
            counts = _counts(body, c, (-self.u, -self.u_other), self.outwards)
            kept.append(existing(logical_and(logical_and(counts, inside), c.gap < 0.5 * FAR), c))
        return kept


def _is_edge_near(body: _Body, edges: Features, k: Scalar) -> Any:
    """Return whether an edge may be within reach of a shape."""
    own = _Edge.of(edges, k)
    nearest = own.middle + own.along * clip((body.deep - own.middle).dot(own.along), -own.half, own.half)
    tops = [d.dot(own.middle) + absolute(d.dot(own.along)) * own.half for d in UPWARDS]
    return _also(body.is_low(tops), lambda: logical_not(body.is_apart(nearest)))


def _has_sides(a: Geometry) -> bool:
    """Return whether a shape may meet an edge with several points."""
    return CONVEX_PAIRS.get((type(a), Capsule), CONVEX_PAIRS.get((Capsule, type(a)))) is flat_convex


def _on_round_edges(body: _Body, edges: Features, found: Pending, kept: Any) -> Any:
    """Return the candidates that are kept of these and those of a shape without sides on edges."""

    def on_edge(row: Waiting, kept: Any) -> Any:
        own = _Edge.of(edges, row.number)
        return _with_each(kept, own.of_inside(body, _candidates(body, own.shape, own.pose)), body.size)

    return found.gone_through(on_edge, kept)[1]


def _on_edges(body: _Body, edges: Features, found: Pending, kept: Any) -> Any:
    """Return the candidates that are kept of these and those on edges: of one point first, then of several."""
    nothing = Vector3(body.zero, body.zero, body.zero)
    deep = Pending.none(len(found.rows), body.zero)
    sides = Pending.none(len(found.rows), body.zero, Witness(body.zero, nothing, nothing, nothing))

    def along(row: Waiting, state: Any) -> Any:
        (deep, sides, kept), own = state, _Edge.of(edges, row.number)
        gap, n, point, is_one, is_known = _along(body, own)
        is_known = logical_and(is_known, gap > -SHALLOW * (extent_of(body.shape) + own.half))
        is_near = gap < body.reach
        is_met = logical_and(is_near, is_known)
        alone = existing(logical_and(is_met, is_one), Candidate(gap, point, n))
        deep = deep.with_one(logical_and(is_near, logical_not(is_known)), row.number)
        known = Witness(gap, n, point, point - n * gap)
        sides = sides.with_one(logical_and(is_met, logical_not(is_one)), row.number, known)
        return deep, sides, _with_each(kept, own.of_inside(body, [alone]), body.size)

    def overlapped(row: Waiting, sides: Pending) -> Pending:
        """Add an edge if a search finds that it is overlapped. Others are beyond their ends, as seen from the shape."""
        own = _Edge.of(edges, row.number)
        deepest = witness(body.shape, body.X, own.shape, own.pose, reach=0.0)
        return sides.with_one(deepest.gap < 0.0, row.number, deepest)

    def on_sides(row: Waiting, kept: Any) -> Any:
        own = _Edge.of(edges, row.number)
        several = manifold(body.shape, body.X, own.shape, own.pose, row.known)
        return _with_each(kept, own.of_inside(body, several), body.size)

    _, (deep, sides, kept) = found.gone_through(along, (deep, sides, kept))
    _, sides = deep.gone_through(overlapped, sides)
    return sides.gone_through(on_sides, kept)[1]


def _along(body: _Body, own: _Edge) -> OnEdge:
    """Return where a shape is nearest to an edge between both normals, in its frame."""
    along, to_own = own.along, body.X.rotation.transpose_apply
    arc = own.u.cross(along) - own.u * LOW, along.cross(own.u_other) - own.u_other * LOW  # as `_counts` has it
    middle, size = body.X.inverse_act(own.middle), extent_of(body.shape)
    first, last, along, n = (to_own(way) for way in (*arc, along, own.outwards))
    found = on_edge(lambda n: support(body.shape, -n) - middle, (first, last), along, n, size, body.reach)
    return found._replace(point=found.point + middle)


def _is_corner_near(body: _Body, corners: Features, k: Scalar) -> Any:
    """Return whether a corner may be within reach of a shape."""
    (at,) = corners.vectors(k, 0, 1)
    return _also(body.is_low([d.dot(at) for d in UPWARDS]), lambda: logical_not(body.is_apart(at)))


def _on_corner(body: _Body, corners: Features, row: Waiting, kept: Any) -> Any:
    """Return the candidates that are kept of these and that on a corner."""
    (at,), around = corners.vectors(row.number, 0, 1), corners.vectors(row.number, 3, AROUND + 1)
    (c,) = _candidates(body, Sphere(0.0), SE3(None, at))
    return _with_each(kept, [existing(_counts(body, c, around, -around[-1]), c)], body.size)


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
    return when(any_exists(found), lambda: repeat(len(found), further, kept, *found)[0], kept)


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
