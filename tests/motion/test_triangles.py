"""Triangles as ground: planes where they are flat, boxes where they are stairs; robots that stand, rays, bad input."""

import warnings
from functools import reduce
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cardan
from cardan import WorldBuilder, solvers
from cardan._algebra.content import digest, parts
from cardan._algebra.scalar import minimum
from cardan._motion.collision import FAR
from cardan._motion.collision.convex import witness
from cardan._motion.collision.flat_cells import flat_cells
from cardan._motion.collision.on_triangles import on_triangles
from cardan._motion.collision.support_points import Triangle
from cardan._motion.collision.triangle_edge import on_edge
from cardan._motion.collision.triangle_grid import ground_of
from cardan._robot.geometry import triangles
from cardan._robot.geometry.triangles import MOST, features_of
from cardan.description import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HeightField,
    Hull,
    Mesh,
    Plane,
    Shape,
    Sphere,
    TriangleMesh,
)
from cardan.errors import MeshWarning, ParameterError, UnsupportedError
from test_raycast import first_of_triangles, on_terrain, rays_on_field
from test_terrain import TILTED, ball_on, dog_on, rough
from two_shapes import SHAPES, compiled, matrices, random_poses
from two_shapes import pose as pose_of

SOLIDS = [Sphere, Ellipsoid, Capsule, Box, Cylinder, Cone, Hull]


def cut(n, m):
    """The triangles of a grid of n rows of m points."""
    k = np.arange(n * m).reshape(n, m)
    a, b, c, d = (e.ravel() for e in (k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]))
    return np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


def flat(n=24, size=4.0, tilt=None, seed=0):
    """About 2 n^2 triangles of many forms in a plane."""
    rng, x = np.random.default_rng(seed), np.linspace(-0.5 * size, 0.5 * size, n)
    points = np.stack([*np.meshgrid(x, x), np.zeros((n, n))], axis=-1)
    points[1:-1, 1:-1, :2] += (x[1] - x[0]) * rng.uniform(-0.3, 0.3, (n - 2, n - 2, 2))
    points = points.reshape(-1, 3)
    return TriangleMesh(points if tilt is None else points @ tilt.T, cut(n, n))


def of_heights(field):
    """The upper triangles of a height field."""
    vertices, _ = field.surface()
    rows, columns = np.shape(field.heights)
    return TriangleMesh(vertices[: rows * columns], cut(rows, columns))


def standing_at(n):
    return np.broadcast_to(np.eye(3), (n, 3, 3)).copy(), np.zeros((n, 3))


@pytest.mark.full
@pytest.mark.parametrize("kind", SOLIDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("tilt", [None, TILTED], ids=["level", "tilted"])
def test_what_is_flat_is_a_plane(kind, tilt):
    n, rng, shape = 300, np.random.default_rng(0), SHAPES[kind]
    R, p = random_poses(rng, n)
    T = np.eye(3) if tilt is None else tilt
    p = (p * (1.0, 1.0, 0.3) + (0.0, 0.0, 0.5)) @ T.T
    found = compiled(shape, (R, p), flat(tilt=tilt), standing_at(n))
    plane = np.broadcast_to(T, (n, 3, 3)).copy(), np.zeros((n, 3))
    expected = compiled(shape, (R, p), Plane(), plane)
    near = expected[0].min(axis=-1) > -0.15  # what is deeper than it is thick has gone through
    assert (expected[0].min(axis=-1)[near] < 0.1).sum() > 50
    ways = [np.sort(np.where(e[0] < 0.15, e[0], FAR), axis=-1)[near] for e in (found, expected)]
    count = min(e.shape[-1] for e in ways)
    np.testing.assert_allclose(ways[0][:, :count], ways[1][:, :count], atol=1e-9)
    assert (ways[0][:, count:] == FAR).all()
    k, j = found[0].argmin(axis=-1), expected[0].argmin(axis=-1)
    rows = np.flatnonzero(near & (expected[0].min(axis=-1) < 0.15))
    np.testing.assert_allclose(found[2][rows, k[rows]], expected[2][rows, j[rows]], atol=1e-9)


@pytest.mark.slow
def test_a_box_slides_over_triangles_as_over_a_plane():
    """At 2 m/s, over some hundred edges between triangles of one plane."""
    ends = []
    for ground in (flat(n=24, size=8.0), Plane()):
        b = WorldBuilder()
        b.add_shape("world", ground, name="ground")
        b.add_body("box", pose=cardan.SE3(translation=(-3.0, 0.1, 0.0501)))
        b.add_shape("box", Box((0.3, 0.2, 0.1)), density=500.0)
        world = b.finalize()
        state = world.state()
        state.q[:, :3], state.v[:, :2] = (-3.0, 0.1, 0.0501), (2.0, 0.3)
        ends.append(solvers.Featherstone(world, 2e-3).step(state, steps=600))
    assert ends[0].q[0, 0] > -2.8
    np.testing.assert_allclose(ends[0].q, ends[1].q, atol=1e-9)
    np.testing.assert_allclose(ends[0].v, ends[1].v, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_ball_rolls_down_triangles_as_on_a_tilted_plane(dtype):
    ends = []
    for ground, pose in ((flat(tilt=TILTED, size=6.0), cardan.SE3()), (Plane(), cardan.SE3(TILTED))):
        world = ball_on(ground, pose)
        state = world.state(dtype=dtype)
        state.q[:, :3] = 0.1 * TILTED[:, 2]
        ends.append(solvers.Featherstone(world, 2e-3).step(state, steps=300).q)
    assert ends[0][0, 0] < -0.2
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9 if dtype is np.float64 else 1e-3)


def unevenly_cut(tilt=TILTED, scale=1.0):
    """A square of 8 m of tiles in rows, each row cut at other places: all but its rim are sides that end in others."""
    rng, y, triangles = np.random.default_rng(3), np.linspace(-4.0, 4.0, 9), []
    for low, high in pairwise(y):
        x = np.linspace(-4.0, 4.0, rng.integers(5, 14))
        x[1:-1] += rng.uniform(-0.2, 0.2, len(x) - 2)
        for left, right in pairwise(x):
            a, b, c, d = (left, low, 0.0), (right, low, 0.0), (right, high, 0.0), (left, high, 0.0)
            triangles += [a, b, c, a, c, d]
    vertices = scale * np.array(triangles) @ tilt.T
    return TriangleMesh(vertices, np.arange(len(vertices)).reshape(-1, 3))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("is_single", [False, True])
def test_a_plane_that_is_cut_unevenly_has_edges_at_its_rim_alone(scale, is_single):
    vertices, triangles = unevenly_cut(scale=scale).surface()
    vertices = np.asarray(vertices).astype(np.float32) if is_single else vertices
    edges = features_of(vertices, triangles).edges
    rim = edges[edges[:, 10:] @ TILTED[:, 2] > 0.5]  # others turn by a rounding of single precision
    assert is_single or len(rim) == len(edges)
    across = np.abs(rim[:, 1:4] @ TILTED)[:, :2].max(axis=1)
    np.testing.assert_allclose(across, 4.0 * scale, rtol=1e-6)
    np.testing.assert_allclose(2.0 * rim[:, 0].sum(), 32.0 * scale, rtol=1e-6)


def test_ends_on_the_sides_of_a_soup_are_found_once_each_without_a_look_at_all_pairs(monkeypatch):
    rng, n, looked_at = np.random.default_rng(0), 2000, []
    points = rng.random((n, 3))
    sides = rng.random((n, 2, 3))
    part = rng.uniform(0.1, 0.9, (n // 2, 1))
    points[: n // 2] = (1.0 - part) * sides[: n // 2, 0] + part * sides[: n // 2, 1]

    def counting(*given):
        for pairs in beside(*given):
            looked_at.append(len(pairs[0]))
            yield pairs

    beside = triangles._points_beside
    monkeypatch.setattr(triangles, "_points_beside", counting)
    side, end, at = triangles._ends_on(sides, points)
    order = np.argsort(side)
    assert np.array_equal(side[order], np.arange(n // 2))
    assert np.array_equal(end[order], np.arange(n // 2))
    np.testing.assert_allclose(at[order], part[:, 0], rtol=1e-12)
    assert sum(looked_at) < 0.25 * n * n


def test_a_ridge_whose_sides_are_cut_at_other_places_is_an_edge_throughout():
    """Its two sides are cut into two and three: no rim is along it, and each piece has both faces' directions."""
    vertices = [(-3, 0, 1), (3, 0, 1), (0, 0, 1), (-1, 0, 1), (1, 0, 1), (0, -1, 0), (0, 1, 0)]
    triangles = [(5, 2, 0), (5, 1, 2), (6, 0, 3), (6, 3, 4), (6, 4, 1)]
    edges = features_of(vertices, triangles).edges
    ridge = edges[np.abs(edges[:, 4]) == 1.0]
    np.testing.assert_allclose(np.sort(2.0 * ridge[:, 0]), [1.0, 1.0, 2.0, 2.0])
    ways = np.sort(ridge[:, 7:].reshape(-1, 2, 3)[..., 1], axis=1)
    np.testing.assert_allclose(ways, [[-np.sqrt(0.5), np.sqrt(0.5)]] * len(ridge))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_ball_rolls_over_an_unevenly_cut_plane_as_over_a_plane(dtype):
    """Along a seam 13 mm beside it, and over the ends of others."""
    ends = []
    for ground, pose in ((unevenly_cut(), cardan.SE3()), (Plane(), cardan.SE3(TILTED))):
        world = ball_on(ground, pose)
        state = world.state(dtype=dtype)
        state.q[:, :3] = TILTED @ (-1.0, 0.013, 0.0995)
        state.v[:, :3] = TILTED @ (1.5, 0.0, 0.0)
        ends.append(solvers.Featherstone(world, 2e-3).step(state, steps=600).q)
    assert np.linalg.norm(ends[1][0, :3] - TILTED @ (-1.0, 0.013, 0.1)) > 0.5
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9 if dtype is np.float64 else 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SOLIDS, ids=lambda kind: kind.__name__)
def test_a_reach_leaves_out_only_what_is_beyond_it(kind):
    """On jagged hills, with walls: the least gap within a reach is that of all that is near."""
    rng, n, shape = np.random.default_rng(5), 400, SHAPES[kind]
    field = HeightField(rng.uniform(-0.25, 0.25, (13, 15)), (1.4, 1.2), 0.2)
    mesh, reach = of_heights(field), 0.02

    @cardan.function(shapes={"A": (4, 4)})
    def gaps(model, A):
        near, far = (on_triangles(shape, pose_of(A), mesh, cardan.SE3(), own) for own in (reach, None))
        return [[c.gap for c in found] for found in (near, far)]

    R, p = random_poses(rng, n)
    p = p * (1.0, 1.0, 0.3) + (0.0, 0.0, 0.45)
    found = gaps(dog_on(Plane()).model, matrices((R, p))).min(axis=-1)
    near, far = found.T
    is_near = (far < reach) & (far > -0.05)
    assert is_near.sum() > 20
    np.testing.assert_allclose(near[is_near], far[is_near], atol=1e-9)


def jagged_poses(n, seed=5):
    """Poses on a jagged field of 1.4 m by 1.2 m, the first ones far above it."""
    R, p = random_poses(np.random.default_rng(seed), n)
    p = p * (1.0, 1.0, 0.3) + (0.0, 0.0, 0.5)
    p[:3, 2] = 40.0
    return R, p


def spike(sides=4):
    angles = 2.0 * np.pi / sides * np.arange(sides)
    rim = np.column_stack([0.3 * np.cos(angles), 0.3 * np.sin(angles), 0.0 * angles])
    return TriangleMesh([(0, 0, 0.7), *rim], [(0, 1 + k, 1 + (k + 1) % sides) for k in range(sides)])


JAGGED = of_heights(HeightField(np.random.default_rng(5).uniform(-0.25, 0.25, (9, 11)), (1.4, 1.2), 0.2))
NEAR_ALL = [(kind, JAGGED) for kind in (Sphere, Capsule, Box, Cylinder, Hull)]
NEAR_ALL += [(Box, spike(4)), (Hull, spike(9)), (Capsule, spike(5))]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "mesh"), NEAR_ALL, ids=[f"{k.__name__}-{len(m.triangles)}" for k, m in NEAR_ALL])
def test_gaps_are_those_of_all_triangles_one_by_one(kind, mesh):
    """Above the surface, the least gap is the least distance from any triangle, in both precisions."""
    n, shape = 60 if mesh is JAGGED else 400, SHAPES[kind]
    reach = 0.08 if mesh is JAGGED else 0.3  # all of a small surface is near
    corners = np.array(mesh.vertices)[np.array(mesh.triangles)]
    A = matrices(jagged_poses(n))

    @cardan.function(shapes={"A": (4, 4)}, returns=())
    def least(model, A):
        return reduce(minimum, (c.gap for c in on_triangles(shape, pose_of(A), mesh, cardan.SE3(), reach)))

    @cardan.function(shapes={"A": (4, 4), "T": (3, 3)}, returns=())
    def distance(model, A, T):
        triangle = Triangle(*(cardan.spatial.Vector3(*(T[i, j] for j in range(3))) for i in range(3)))
        return witness(shape, pose_of(A), triangle, cardan.SE3()).gap

    model = dog_on(Plane()).model
    expected = distance(model, np.repeat(A, len(corners), 0), np.tile(corners, (n, 1, 1))).reshape(n, -1).min(axis=1)
    is_near = (expected > 1e-6) & (expected < 0.9 * reach)
    assert is_near.sum() > 8
    for dtype, atol in ((np.float64, 1e-9), (np.float32, 2e-6)):
        found = least(model, A.astype(dtype))
        np.testing.assert_allclose(found[is_near], expected[is_near], atol=atol)
        assert (found[expected > 1.1 * reach] > reach).all()


def plates():
    """A floor with a hole, a block on it, a thick slab of its height beside, and two long triangles across the axes."""
    x, k = np.linspace(-2.0, 2.0, 21), cut(21, 21)
    floor = np.stack([*np.meshgrid(x, x), np.zeros((21, 21))], axis=-1).reshape(-1, 3)
    k = k[np.abs(floor[k].mean(axis=1)[:, :2] - 1.0).max(axis=1) > 0.4]
    across = np.array([(-6.0, -2.0, 0.0), (-2.5, 1.5, 0.0), (-2.9, 1.9, 0.0), (-6.4, -1.6, 0.0)])
    own = [(floor, k), (across, np.array([(0, 1, 2), (0, 2, 3)]))]
    for size, at in ((0.4, (-1.0, 1.0, 0.1)), (3.0, (4.0, 0.0, 0.0))):
        vertices, triangles = TriangleMesh.of(HeightField(np.zeros((2, 2)), (size, size), 0.2)).surface()
        own.append((vertices + at, triangles))
    first = np.cumsum([0, *(len(vertices) for vertices, _ in own)])
    every = [triangles + k for (_, triangles), k in zip(own, first, strict=False)]
    return TriangleMesh(np.concatenate([vertices for vertices, _ in own]), np.concatenate(every))


def terraces():
    """A floor, a second one above half of it, a slope up to that, and four steps down beside."""

    def rectangle(x, y, z):
        return [(x[0], y[0], z[0]), (x[1], y[0], z[1]), (x[1], y[1], z[1]), (x[0], y[1], z[0])]

    own = [rectangle((-4.0, 0.0), (-2.0, 2.0), (0.0, 0.0)), rectangle((-4.0, -2.0), (-2.0, 0.5), (0.9, 0.9))]
    own += [rectangle((0.0, 3.0), (-2.0, 2.0), (0.0, 0.9)), rectangle((3.0, 5.0), (-2.0, 2.0), (0.9, 0.9))]
    for k in range(4):
        x, z = 5.0 + 0.5 * k, 0.9 - 0.15 * k
        own += [rectangle((x, x), (-2.0, 2.0), (z, z - 0.15)), rectangle((x, x + 0.5), (-2.0, 2.0), (z - 0.15,) * 2)]
    faces = 4 * np.arange(len(own))[:, None, None] + np.array([(0, 1, 2), (0, 2, 3)])
    return TriangleMesh(np.concatenate(own), faces.reshape(-1, 3))


FLAT_PLACES = [(plates, 1), (terraces, 7)]


@pytest.mark.parametrize(("made", "count"), FLAT_PLACES, ids=["plates", "terraces"])
def test_cells_said_to_be_flat_are_one_plane(made, count):
    """Rays down meet that plane first, and then nothing less deep than it says; also in squares about a cell."""
    mesh, rng = made(), np.random.default_rng(7)
    level, rings, which, planes = flat_cells(mesh)
    rings, which = (table.numbers.reshape(int(level.rows), int(level.columns)) for table in (rings, which))
    own = rings >= 0.0
    rows = planes.table.numbers.reshape(-1, planes.stride)
    assert set(which[own]) == set(range(len(rows))) == set(range(count))
    row, column = np.argwhere(own)[rng.integers(own.sum(), size=2000)].T
    away = rng.uniform(-1.0, 1.0, (2, 2000)) * (rings[row, column] + 0.5)
    x, y = level.x + (column + 0.5 + away[0]) / level.per_x, level.y + (row + 0.5 + away[1]) / level.per_y
    point, normal, depth = np.split(rows[which[row, column].astype(int)], [3, 6], axis=1)
    z = point[:, 2] - ((x - point[:, 0]) * normal[:, 0] + (y - point[:, 1]) * normal[:, 1]) / normal[:, 2]
    down = np.tile((0.0, 0.0, -1.0), (2000, 1))
    top, _ = first_of_triangles(np.column_stack([x, y, z + 3.0]), down, *mesh.surface())
    np.testing.assert_allclose(top, 3.0, atol=1e-9)
    below, _ = first_of_triangles(np.column_stack([x, y, z - 1e-6]), down, *mesh.surface())
    assert (below > depth[:, 0] - 1e-5).all()
    assert (own.mean() > 0.1) & (rings.max() > 3.0)
    if made is plates:
        assert not ((np.abs(x - 1.0) < 0.4) & (np.abs(y - 1.0) < 0.4)).any()


def test_what_faces_down_has_no_flat_cells():
    mesh = terraces()
    assert flat_cells(TriangleMesh(mesh.vertices, [t[::-1] for t in mesh.triangles])) is None


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", [Sphere, Capsule, Box, Hull], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("made", [plates, terraces])
def test_flat_cells_leave_out_nothing(made, kind, dtype, monkeypatch):
    """Candidates within reach are those that a search of all features finds, in the air and deep; state by state."""
    shape, mesh, reach = SHAPES[kind], made(), 0.05
    R, _ = random_poses(np.random.default_rng(11), 3000)
    A = matrices((R, np.random.default_rng(12).uniform((-6.5, -2.2, -0.2), (7.2, 2.2, 1.4), (3000, 3))))

    def compiled_gaps():
        @cardan.function(shapes={"A": (4, 4)})
        def gaps(model, A):
            return [c.gap for c in on_triangles(shape, pose_of(A), mesh, cardan.SE3(), reach)]

        return gaps(dog_on(Plane()).model, A.astype(dtype)), gaps

    found, gaps = compiled_gaps()
    assert gaps(dog_on(Plane()).model, A[::-1].astype(dtype))[::-1].tobytes() == found.tobytes()
    monkeypatch.setattr("cardan._motion.collision.on_triangles.flat_cells", lambda mesh: None)
    expected, _ = compiled_gaps()
    a, b = (np.sort(np.where(e < reach, e, FAR), axis=-1) for e in (found, expected))
    assert (b[:, 0] < reach).sum() > 300
    np.testing.assert_allclose(a, b, atol=1e-9 if dtype is np.float64 else 3e-6)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", [Sphere, Box, Hull], ids=lambda kind: kind.__name__)
def test_states_apart_find_what_each_finds_alone(kind, dtype):
    """Each lane of a vector has what waits of its own: the bits are those of each state by itself, in any order."""
    shape = SHAPES[kind]
    mesh = of_heights(HeightField(np.random.default_rng(5).uniform(-0.25, 0.25, (13, 15)), (1.4, 1.2), 0.2))

    @cardan.function(shapes={"A": (4, 4)})
    def all_of(model, A):
        found = on_triangles(shape, pose_of(A), mesh, cardan.SE3(), 0.05)
        return [[c.gap, *c.point, *c.normal] for c in found]

    model, A = dog_on(Plane()).model, matrices(jagged_poses(41)).astype(dtype)
    together = all_of(model, A)
    assert (together[..., 0] < 0.05).sum() > 30
    assert all_of(model, A[::-1].copy())[::-1].tobytes() == together.tobytes()
    assert np.stack([all_of(model, one) for one in A]).tobytes() == together.tobytes()


def test_the_separation_on_an_arc_is_the_greatest_of_all_its_directions():
    """Of points at random, seen along z: against ten thousand directions between both ends of the arc."""
    rng, seen = np.random.default_rng(11), {True: 0, False: 0}
    z = cardan.spatial.Vector3(0.0, 0.0, 1.0)
    for _ in range(200):
        half = rng.uniform(0.02, 0.7)
        points = rng.normal(size=(rng.integers(1, 30), 3)) * (0.3, 0.1, 0.2) + (*rng.uniform(-0.4, 0.4, 2), 0.0)
        angles = np.linspace(0.5 * np.pi - half, 0.5 * np.pi + half, 10001)
        arc = np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles])
        ends = [cardan.spatial.Vector3(*map(float, end)) for end in arc[[0, -1]]]

        def lowest(n, points=points):
            return cardan.spatial.Vector3(*map(float, points[np.argmin(points @ np.array([*n]))]))

        found = on_edge(lowest, (ends[0], ends[1]), z, cardan.spatial.Vector3(0.0, 1.0, 0.0), 1.0, 0.5 * FAR)
        greatest = (points @ arc.T).min(axis=0).max()
        if found.gap >= FAR or abs(found.n.x) > np.sin(half):  # apart, and nearest out of the arc
            continue
        seen[greatest > 0.0] += 1
        if greatest > 0.0:
            assert found.is_known
            assert found.gap == pytest.approx(greatest, abs=2e-4)
            assert (points @ np.array([*found.n])).min() == pytest.approx(found.gap, abs=1e-12)
        elif found.is_known:  # one of the directions along which it is least deep
            assert found.gap <= greatest + 2e-4  # between two of them
            assert (points @ np.array([*found.n])).min() == pytest.approx(found.gap, abs=1e-9)
    assert min(seen.values()) > 20


@pytest.mark.slow
def test_a_corner_of_a_hull_meets_a_ridge_at_its_distance():
    ridge = TriangleMesh([(0, -1, 0), (0, 1, 0), (1, 0, -0.2), (-1, 0, -0.2)], [(0, 2, 1), (0, 1, 3)])
    tip = Hull([(0, 0, 0), (0.1, 0, 0.2), (-0.1, 0.1, 0.2), (-0.1, -0.1, 0.2)])
    x = np.array([0.0005, -0.0004, 0.0])
    p = np.column_stack([x, [0.1, 0.0, -0.3], np.full(3, 0.01)])
    gap, point, normal = compiled(tip, standing_at(3)[:1] + (p,), ridge, standing_at(3))
    np.testing.assert_allclose(gap.min(axis=-1), np.hypot(x, 0.01), atol=1e-12)
    assert (np.sort(gap, axis=-1)[:, 1] > 0.5 * FAR).all()  # once, by its edge and by neither face
    k = gap.argmin(axis=-1)
    np.testing.assert_allclose(
        normal[np.arange(3), k], np.column_stack([x, 0 * x, p[:, 2]]) / gap.min(-1)[:, None], atol=1e-9
    )
    np.testing.assert_allclose(point[np.arange(3), k], 0.0, atol=1e-12)


@pytest.mark.slow
def test_a_hull_around_the_tip_of_a_spike_touches_it():
    """Its lowest vertex along two faces' normals is behind the edge between them: its distance there has no sign."""
    base = [(0.3, 0.3, 0), (-0.3, 0.3, 0), (-0.3, -0.3, 0), (0.3, -0.3, 0)]
    spike = TriangleMesh([(0, 0, 1), *base], [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 1)])
    hull = Hull(
        [
            (0.61, -0.77, 0.13),
            (-0.17, -0.14, -0.06),
            (-0.61, -0.07, -0.26),
            (1.0, 0.07, -0.11),
            (-0.08, -0.2, -0.32),
            (-0.12, 0.14, -0.07),
            (0.29, -0.06, 0.01),
            (0.46, 0.16, -0.15),
            (-0.05, 0.16, 0.58),
        ]
    )
    b = WorldBuilder()
    b.add_shape("world", spike)
    b.add_body("stone")
    b.add_shape("stone", hull)
    state = b.finalize().state()
    state.q[0] = [-0.077, 0.0115, 1.174, 0.8339, 0.0397, -0.5317, 0.1427]  # the tip is within the hull
    state.q[0, 3:] /= np.linalg.norm(state.q[0, 3:])
    assert state.world.collide(state).gap.min() < -0.1


RISE, RUN, WIDTH = 0.1, 0.3, 2.0


def stairs(steps=4):
    profile = [(-1.0, 0.0)]
    for k in range(steps):
        profile += [(k * RUN, k * RISE), (k * RUN, (k + 1) * RISE)]
    profile.append((steps * RUN + 1.0, steps * RISE))
    y = np.linspace(-0.5 * WIDTH, 0.5 * WIDTH, 6)
    vertices = [(x, e, z) for x, z in profile for e in y]
    return TriangleMesh(vertices, cut(len(profile), len(y))[:, ::-1])


def add_boxes(b, steps=4):
    ends = [-1.0, *(RUN * k for k in range(steps)), steps * RUN + 1.0]
    for k, (start, end) in enumerate(pairwise(ends)):
        middle = cardan.SE3(translation=(0.5 * (start + end), 0.0, RISE * k - 0.5))
        b.add_shape("world", Box((end - start, WIDTH, 1.0)), middle, name=f"step{k}")


@pytest.mark.full
@pytest.mark.parametrize(
    ("shape", "seed", "x", "off"),
    [
        (Sphere(0.1), 0, 0.13, 1e-9),
        pytest.param(Capsule(0.06, 0.2), 42, 0.42, 1e-3, marks=pytest.mark.full),
        pytest.param(Box((0.25, 0.2, 0.15)), 42, 0.42, 0.02, marks=pytest.mark.full),
        pytest.param(Cylinder(0.08, 0.1), 42, 0.42, 2e-3, marks=pytest.mark.full),
        (Hull(0.3 * np.array(SHAPES[Hull].vertices)), 42, 0.42, 2e-3),
    ],
    ids=["Sphere", "Capsule", "Box", "Cylinder", "Hull"],
)
def test_stairs_are_boxes(shape, seed, x, off):
    """Dropped half a metre on steps, askew: each comes to rest where it does on boxes, after a few blows."""
    R, ends = Rotation.random(random_state=seed).as_matrix(), []
    for make in (lambda b: b.add_shape("world", stairs(), name="stairs"), add_boxes):
        b = WorldBuilder()
        make(b)
        b.add_body("thing", pose=cardan.SE3(R, (x, 0.05, 0.8)))
        b.add_shape("thing", shape, density=1000.0)
        world = b.finalize()
        ends.append(solvers.Featherstone(world, 2e-3).step(world.state(), steps=1500))
    mesh, boxes = ends
    assert not mesh.diverged.any()
    assert np.abs(mesh.v).max() < 0.01
    np.testing.assert_allclose(mesh.q[:, 2], boxes.q[:, 2], atol=1e-3)  # on the same step, on the same side
    np.testing.assert_allclose(mesh.q[:, :3], boxes.q[:, :3], atol=off)


@pytest.mark.slow
def test_a_robot_that_lies_on_the_edges_of_stairs_has_contacts_that_are_solved():
    """A decision on its contacts led to the next in a circle: 40 iterations ended with 10 m/s on velocities of 0.02."""
    b = WorldBuilder()
    b.add_shape("world", stairs(8), name="stairs")
    b.add(cardan.robots.quadruped(), base="floating")
    world = b.finalize()
    state, control = world.state(), world.control()
    turned = np.array([0.198, -0.019, -0.093, 0.976])
    legs = [-0.578, 1.143, -2.701, -0.76, 1.144, -2.7, -0.577, 1.143, -2.701, -0.76, 1.144, -2.7]
    state.q[0] = [-0.302, -0.011, 0.103, *(turned / np.linalg.norm(turned)), *legs]
    state.v[0] = [0, 0, 0, 0.001, 0, 0, 0.001, 0, 0.002, 0, 0, 0, -0.005, -0.018, 0.001, -0.001, 0, 0]
    control.position[0, 6:] = [0, 1.023, -1.554, 0, 0.377, -1.4, 0, 0.377, -1.4, 0, 1.023, -1.554]
    assert solvers.XPBD(world, 2e-3).step(state, control).residual[0] < 1e-3


@pytest.mark.slow
def test_a_ball_lies_still_in_a_corner_of_three_walls():
    third = 2.0 * np.pi / 3.0 * np.arange(3)
    rim = np.column_stack([np.cos(third), np.sin(third), np.full(3, 0.7)])
    corner = TriangleMesh([(0, 0, 0), *rim], [(0, 1, 2), (0, 2, 3), (0, 3, 1)])
    b = WorldBuilder()
    b.add_shape("world", corner, name="corner")
    b.add_body("ball", pose=cardan.SE3(translation=(0.02, 0.01, 0.25)))
    b.add_shape("ball", Sphere(0.1), density=1000.0)
    world = b.finalize()
    state = solvers.Featherstone(world, 2e-3).step(world.state(), steps=3000)
    assert np.abs(state.v).max() < 1e-3
    assert (world.collide(state).gap[0] < 0.0).sum() == 3


@pytest.mark.full
def test_a_ball_rolls_in_a_bowl_and_keeps_its_energy():
    """A bowl of 20 000 triangles: without friction it slides to and fro, as high as before but for the facets."""
    r, n = 1.0, 100
    x = np.linspace(-0.8, 0.8, n + 1)
    X, Y = np.meshgrid(x, x)
    bowl = TriangleMesh(np.column_stack([X.ravel(), Y.ravel(), (0.5 / r * (X**2 + Y**2)).ravel()]), cut(n + 1, n + 1))
    assert ground_of(bowl).edges is not None  # its rim alone
    b = WorldBuilder()
    b.add_shape("world", bowl, name="bowl", material=cardan.Material(friction=0.0))
    b.add_body("ball")
    b.add_shape("ball", Sphere(0.1), density=1000.0, material=cardan.Material(friction=0.0))
    world = b.finalize()
    state, solver = world.state(), solvers.Featherstone(world, 5e-4)
    state.q[:, :3] = (0.4, 0.0, 0.5 * 0.16 + 0.1 * 1.075)

    def energy(s):
        return 9.81 * s.q[0, 2] + 0.5 * (s.v[0] ** 2).sum()

    state = solver.step(state, steps=100)  # it starts a little in the bowl
    began, heights = energy(state), []
    for _ in range(40):
        state = solver.step(state, steps=100)
        heights.append(energy(state))
        assert np.hypot(*state.q[0, :2]) < 0.45
    assert min(heights) > began - 0.1 * (began - 9.81 * 0.1)
    assert max(heights) < began + 1e-3


@pytest.mark.full
def test_a_quadruped_stands_on_triangles_as_on_the_field_they_are_of():
    field = rough(60)
    worlds = [dog_on(ground) for ground in (of_heights(field), field)]
    crouched, ends = np.tile([0.0, 0.7, -1.4], 4), []
    for world in worlds:
        state, control = world.state(3), world.control()
        state.q[:, :2] = [[0.0, 0.0], [0.6, -0.5], [-0.4, 0.3]]
        state.q[:, 7:], control.position[:, 6:] = crouched, crouched
        cardan.simulation.stand(state)
        assert (world.collide(state).gap.min(axis=-1) > -1e-12).all()
        solver = solvers.Featherstone(world, 2e-3)
        ends.append(solver.step(state, control, steps=1000))
    mesh, heights = ends
    assert not mesh.diverged.any()
    np.testing.assert_allclose(mesh.q[:, :3], heights.q[:, :3], atol=5e-3)
    np.testing.assert_allclose(mesh.q[:, 7:], heights.q[:, 7:], atol=0.05)
    state, control = worlds[0].state(3), worlds[0].control()
    state.q[:], control.position[:, 6:] = mesh.q, crouched
    solver = solvers.Featherstone(worlds[0], 2e-3)
    together = solver.step(state, control, steps=50).q
    alone = [solver.step(state[k : k + 1], control, steps=50).q for k in range(3)]
    assert np.concatenate(alone).tobytes() == together.tobytes()


@pytest.mark.slow
def test_a_finer_mesh_is_no_longer_program():
    sizes = []
    for n in (8, 120):
        mesh = flat(n)

        @cardan.function(shapes={"p": (3,)})
        def gap(model, p, mesh=mesh):
            X = cardan.SE3(None, cardan.spatial.Vector3(*p))
            return cardan._motion.collision.points(Sphere(0.1), X, mesh, cardan.SE3())[0].gap

        sizes.append(gap.trace(dog_on(Plane()).model).program.operations)
    assert sizes[1] < 1.2 * sizes[0]


# --- rays -----------------------------------------------------------------------------------------------------------


def scan():
    field = HeightField(np.random.default_rng(3).uniform(-0.3, 0.4, (7, 11)), (1.5, 0.9), 0.2)
    return TriangleMesh.of(field)


@pytest.mark.slow
def test_rays_are_those_on_all_triangles():
    mesh = scan()
    world = on_terrain(mesh)
    o, d = rays_on_field(np.random.default_rng(4), 6000)
    expected, normals = first_of_triangles(o, d, *mesh.surface())
    found = cardan.raycast(world, world.initial, o, d, bodies="world")
    met = np.isfinite(expected)
    assert 2000 < met.sum() < 5000
    np.testing.assert_allclose(found.distance, expected, atol=1e-11)
    np.testing.assert_allclose(found.normal[met], normals[met], atol=1e-9)
    apart = cardan.raycast(world, world.initial, o[::7], d[::7], bodies="world")
    np.testing.assert_array_equal(apart.distance, found.distance[::7])
    single = cardan.raycast(world, *(np.float32(e) for e in (world.initial, o, d)), bodies="world")
    same = np.isfinite(single.distance) == met
    assert same.mean() > 0.999
    off = np.abs(single.distance[same & met] - found.distance[same & met])
    assert np.quantile(off, 0.99) < 1e-5


@pytest.mark.slow
def test_rays_on_features_of_many_sizes():
    rng = np.random.default_rng(7)
    corners = rng.normal(size=(300, 1, 3)) + 10.0 ** rng.uniform(-2.0, 0.3, (300, 1, 1)) * rng.normal(size=(300, 3, 3))
    mesh = TriangleMesh(corners.reshape(-1, 3), np.arange(900).reshape(-1, 3))
    assert len(ground_of(mesh).faces.levels) > 1
    world = on_terrain(mesh)
    o, d = rng.normal(size=(3000, 3)), rng.normal(size=(3000, 3))
    d /= np.linalg.norm(d, axis=-1, keepdims=True)
    expected, _ = first_of_triangles(o, d, *mesh.surface())
    found = cardan.raycast(world, world.initial, o, d, bodies="world")
    np.testing.assert_allclose(found.distance, expected, atol=1e-9)


# --- the shape itself -----------------------------------------------------------------------------------------------


def test_closed_surfaces_have_volume_and_open_ones_none():
    ramp = HeightField([[0.0, 1.0], [0.0, 1.0]], (2.0, 3.0), 0.5)
    closed = TriangleMesh.of(ramp)
    assert closed.volume == pytest.approx(ramp.volume)
    np.testing.assert_allclose(closed.inertia(2.0).parameters(), ramp.inertia(2.0).parameters())
    with pytest.raises(ParameterError, match=r"is open.*expected a closed surface"):
        flat(4).inertia(1.0)


def test_a_mesh_file_becomes_triangles(tmp_path):
    pytest.importorskip("trimesh")
    path = tmp_path / "corner.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    mesh = TriangleMesh.of(Mesh("corner.obj", str(path), (-2.0, 1.0, 1.0)))
    assert mesh.volume == pytest.approx(1.0 / 3.0)
    assert min(x for x, *_ in mesh.vertices) == -2.0


@pytest.mark.parametrize(
    ("vertices", "triangles", "says"),
    [
        ([(0, 0, 0), (1, 0, 0), (0, np.nan, 0)], [(0, 1, 2)], r"nan.*row 2.*finite"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], np.empty((0, 3), int), "0 triangles"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 3)], r"\[0, 1, 3\] in row 0.*0 to 2"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, -1)], "numbers from 0"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0.0, 1.0, 2.0)], "float64"),
        ([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2), (0, 0, 1)], "without area"),
        ([(0, 0), (1, 0), (0, 1)], [(0, 1, 2)], r"shape \(3, 2\)"),
        ([(0, 0, 0), (1, 0)], [(0, 1, 2)], "not of one length"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], np.zeros((10**7, 3), np.int8), rf"10000000 triangles.*1 to {MOST}"),
    ],
)
def test_what_is_no_surface_is_refused(vertices, triangles, says):
    with pytest.raises(ParameterError, match=says):
        TriangleMesh(vertices, triangles)


def test_neighbours_that_face_different_ways_are_told():
    square = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    with pytest.warns(MeshWarning, match="at 1 sides the triangles face different ways"):
        TriangleMesh(square, [(0, 1, 2), (0, 3, 2)])
    with warnings.catch_warnings(action="error"):
        TriangleMesh([*square, (0, 0, 0)], [(0, 1, 2), (4, 2, 3), (0, 0, 1)])  # a place twice, and no area


def test_what_moves_is_refused_with_a_way_out():
    b = WorldBuilder()
    b.add_ground()
    b.add_body("cart")
    b.add_shape("cart", scan(), density=1000.0)
    with pytest.raises(UnsupportedError, match=r"triangle mesh 'cart' on the moving body 'cart'.*convex hull"):
        b.finalize()


def test_other_libraries_refuse_it_by_name(tmp_path):
    for name in ("hill.urdf", "hill.sdf", *["hill.xml"] * (find_spec("mujoco") is not None)):
        with pytest.raises((UnsupportedError, ParameterError), match="TriangleMesh"):
            cardan.save(_hill(), tmp_path / name)


def _hill():
    robot = cardan.description.Mechanism("hill")
    robot.add_body("base", cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
    robot.add_joint("root", cardan.joints.FreeFlyer(), "world", "base")
    robot.add_shape(Shape("world", "collision", flat(6), name="hill"))
    return robot


def test_a_surface_is_read_as_two_arrays():
    """Going through 80 000 triangles one number after the other took most of ten seconds before the first step."""
    mesh = flat(24)
    assert len(parts(mesh).met) < 10
    vertices, triangles = map(np.array, mesh.surface())
    assert digest(mesh) == digest(TriangleMesh(vertices.tolist(), triangles.tolist()))
    other = vertices.copy()
    other[-1, 2] = -1e-300
    assert (
        len({digest(own) for own in (mesh, TriangleMesh(other, triangles), TriangleMesh(vertices, triangles[1:]))}) == 3
    )
    with pytest.raises(ValueError, match="read-only"):
        mesh.surface()[0][:] = 0.0


def test_json_keeps_it(tmp_path):
    hill = _hill()
    cardan.save(hill, tmp_path / "hill.json")
    assert cardan.load_mechanism(tmp_path / "hill.json").shapes == hill.shapes
