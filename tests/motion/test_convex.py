"""Pairs of convex shapes that are searched by their support points: laws of all, closed forms, lying and standing."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import cardan
from cardan._motion.collision.convex import convex_convex, search
from cardan._motion.collision.flat_contact import flat_convex
from cardan._motion.simulation.collide import collide_function
from cardan._robot.geometry.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Hull, Sphere
from cardan._robot.geometry.support import reach
from cardan.simulation import contact_points
from cardan.spatial import SE3
from exact_distance import corners
from two_shapes import (
    EVERY_SEARCHED_PAIR,
    SHAPES,
    SOME_SEARCHED_PAIRS,
    after,
    compiled,
    directions,
    from_surface,
    random_poses,
    shapes_of,
    sized,
    smallest,
)


def cube(half):
    return Hull([[half * e for e in corner] for corner in product((-1.0, 1.0), repeat=3)])


def near(rng, a, b, n, deepest=0.02, farthest=0.05):
    """Poses in which one direction, at least, separates the shapes that far or has them that deep."""
    A, B = random_poses(rng, n), random_poses(rng, n)
    d = directions(rng, n)
    gap = rng.uniform(-deepest, farthest, n)
    far = [reach(s, np.einsum("nji,nj->ni", X[0], sign * d)) for s, X, sign in ((a, A, 1.0), (b, B, -1.0))]
    return A, (B[0], A[1] + d * (far[0] + far[1] + gap)[:, None])


def deepest(found):
    """Gap, point and normal of the candidate of least gap."""
    gap, point, normal = found
    rows, first = np.arange(len(gap)), gap.argmin(axis=-1)
    return gap[rows, first], point[rows, first], normal[rows, first]


def opposite(A, B, gap, point, normal):
    """The point on B, in its frame."""
    in_world = np.einsum("nij,nj->ni", A[0], point - gap[:, None] * normal) + A[1]
    return np.einsum("nji,nj->ni", B[0], in_world - B[1])


def same_gaps(one, other):
    """To 1e-6 apart; of overlaps, one in a hundred may be found 0.1 mm or 1 % too deep."""
    off = np.abs(one - other)
    assert off[other > 0.0].max() < 1e-6
    assert np.quantile(off, 0.99) < 1e-6
    assert (off < np.maximum(2e-4, 0.02 * np.abs(other))).all()


# --- laws -----------------------------------------------------------------------------------------------------------


@pytest.mark.full
@EVERY_SEARCHED_PAIR
def test_laws_of_two_shapes(kinds):
    """Points on both surfaces, the same seen from B and from elsewhere, the normal as the gap's gradient."""
    a, b = shapes_of(kinds)
    rng, n = np.random.default_rng(1), 1000
    A, B = near(rng, a, b, n)
    gap, point, normal = deepest(compiled(a, A, b, B))
    np.testing.assert_allclose(np.linalg.norm(normal, axis=-1), 1.0, atol=1e-12)
    assert np.abs(from_surface(a, point)).max() < 1e-3
    off = np.maximum(np.abs(from_surface(a, point)), np.abs(from_surface(b, opposite(A, B, gap, point, normal))))
    assert np.quantile(off, 0.95) < 1e-5
    swapped, _, swapped_normal = deepest(compiled(b, B, a, A))
    same_gaps(swapped, gap)
    M = random_poses(rng, n)
    moved, _, moved_normal = deepest(compiled(a, after(M, A), b, after(M, B)))
    same_gaps(moved, gap)
    clear = gap > 1e-3  # of overlaps, two may be as deep
    np.testing.assert_allclose(moved_normal[clear], normal[clear], atol=2e-3)
    in_world, in_b = np.einsum("nij,nj->ni", A[0], normal), np.einsum("nij,nj->ni", B[0], swapped_normal)
    np.testing.assert_allclose(in_b[clear], -in_world[clear], atol=2e-3)
    e, w, step = directions(rng, n), directions(rng, n), 1e-4
    turned = A[0] @ Rotation.from_rotvec(step * w).as_matrix()
    there = deepest(compiled(a, (turned, A[1] + step * np.einsum("nij,nj->ni", A[0], e)), b, B))[0]
    rate = np.einsum("ni,ni->n", normal, e + np.cross(w, point))
    assert np.quantile(np.abs((there - gap) / step - rate), 0.97) < 1e-2


@pytest.mark.slow
@SOME_SEARCHED_PAIRS
def test_no_direction_separates_more(kinds):
    """The gap is the greatest separation: along the normal, and along no other direction is there a greater one."""
    a, b = shapes_of(kinds)
    rng, n, tried = np.random.default_rng(2), 500, 200
    A, B = near(rng, a, b, n)
    gap, _, normal = deepest(compiled(a, A, b, B))

    def separation(d):  # unit vectors in the world, from B to A, shape (..., n, 3)
        in_a, in_b = (np.einsum("nji,...nj->...ni", X[0], d) for X in (A, B))
        return np.einsum("...ni,ni->...n", d, A[1] - B[1]) - reach(a, -in_a) - reach(b, in_b)

    along = np.einsum("nij,nj->ni", A[0], normal)
    np.testing.assert_allclose(separation(along), gap, atol=1e-9)
    random = directions(rng, tried * n).reshape(tried, n, 3)
    beside = along + 0.05 * random
    for d in (random, beside / np.linalg.norm(beside, axis=-1, keepdims=True)):
        assert np.mean(separation(d).max(axis=0) > gap + np.maximum(1e-4, 0.01 * np.abs(gap))) < 0.005


@pytest.mark.full
@EVERY_SEARCHED_PAIR
@pytest.mark.parametrize("scale", [1e-3, pytest.param(1e3, marks=pytest.mark.full)])
def test_sizes_scale_and_single_precision_suffices(kinds, scale):
    a, b = shapes_of(kinds)
    A, B = near(np.random.default_rng(3), a, b, 500)
    expected = compiled(a, A, b, B)[0].min(axis=-1)
    large, far = (sized(shape, scale) for shape in (a, b)), [(X[0], scale * X[1]) for X in (A, B)]
    a, b = large
    found = compiled(a, far[0], b, far[1])[0].min(axis=-1)
    np.testing.assert_allclose(found / scale, expected, atol=1e-5)
    single = [tuple(x.astype(np.float32) for x in X) for X in far]
    found = compiled(a, single[0], b, single[1])[0].min(axis=-1)
    off = np.abs(found / scale - expected)
    assert np.quantile(off, 0.99) < 1e-5
    assert off.max() < 1e-3


@pytest.mark.parametrize("size", [pytest.param(1.0, marks=pytest.mark.full), 0.0])
@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.full)])
def test_ties_are_finite(size, dtype):
    """One centre, faces in one plane, parallel axes; shapes without size are points."""
    turns = [Rotation.from_rotvec(angle * np.eye(3)[k]).as_matrix() for k in range(3) for angle in (0, math.pi / 2, 1)]
    A = [np.array(x, dtype) for x in zip(*product(turns, product((-0.5, 0.0, 0.2), repeat=3)), strict=True)]
    B = np.eye(3, dtype=dtype), np.zeros(3, dtype)
    for kinds in (
        (Cylinder, Cylinder),
        (Ellipsoid, Hull),
        (Hull, Box),
        (Sphere, Capsule),
        (Capsule, Hull),
        (Cone, Cone),
    ):
        a, b = (SHAPES[kind] for kind in kinds)
        one, two = sized(a, size), sized(b, size)
        page = flat_convex if set(kinds) <= {Capsule, Cylinder, Cone, Box, Hull} else convex_convex
        with np.errstate(all="raise", under="ignore"):
            found = page(one, SE3(*A), two, SE3(*B))
        assert all(np.isfinite(x).all() for c in found for x in (c.gap, *c.point, *c.normal))
        assert min(np.min(c.gap) for c in found) <= 1.0


# --- closed forms ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (SHAPES[Sphere], Sphere(0.2), None),
        (SHAPES[Capsule], Capsule(0.1, 1.1), None),
        (SHAPES[Capsule], Sphere(0.2), None),
        (SHAPES[Box], Sphere(0.2), None),
        (SHAPES[Cylinder], Sphere(0.2), None),
        (SHAPES[Cone], Sphere(0.2), None),
        (SHAPES[Box], Capsule(0.1, 1.1), None),
        (SHAPES[Sphere], Sphere(0.2), (Ellipsoid((0.3, 0.3, 0.3)), Sphere(0.2))),
        (Box((0.4, 0.4, 0.4)), Sphere(0.2), (cube(0.2), Sphere(0.2))),
    ],
)
def test_the_search_finds_what_closed_forms_know(a, b, same):
    """Apart to rounding of the search; overlapping as well, as long as less than 20 mm."""
    A, B = near(np.random.default_rng(4), a, b, 1000)
    expected = smallest(a, A, b, B)
    one, two = same or (a, b)
    (found,) = convex_convex(one, SE3(*A), two, SE3(*B))
    shallow = expected > -0.02
    assert shallow.sum() > 500
    np.testing.assert_allclose(found.gap[shallow], expected[shallow], atol=1e-8)


def test_two_boxes_are_as_deep_as_their_separating_axes_say():
    a, b = Box((0.4, 0.6, 0.8)), Box((0.5, 0.3, 0.7))
    A, B = near(np.random.default_rng(5), a, b, 500, farthest=0.0)
    expected = smallest(a, A, b, B)
    found = convex_convex(a, SE3(*A), b, SE3(*B))[0].gap
    inside = (expected < 0.0) & (expected > -0.02)
    off = np.abs(found - expected)[inside]
    assert np.mean(off > np.maximum(1e-4, 0.012 * np.abs(expected[inside]))) < 0.01  # edges left to faces: by 0.1 %


@pytest.mark.full
@pytest.mark.parametrize("kinds", [(Sphere, Hull), (Capsule, Hull), (Box, Hull), (Hull, Hull)])
def test_overlaps_are_as_deep_as_the_nearest_face_of_the_differences(kinds):
    """Of both cores' corners; deep ones too, where many directions are local answers: 1.6 % were over 1 % off."""
    a, b = shapes_of(kinds)
    rng = np.random.default_rng(11)
    A, B = random_poses(rng, 600, 0.12), random_poses(rng, 600, 0.12)
    one, other = ((np.einsum("nij,kj->nki", R, corners(shape)) + p[:, None]) for shape, (R, p) in ((a, A), (b, B)))
    differences = (one[:, :, None] - other[:, None]).reshape(600, -1, 3)
    highest = np.array([ConvexHull(points).equations[:, 3].max() for points in differences])
    inside = highest < 0.0
    found = search(a, b, SE3(*A).inverse() @ SE3(*B), shallow=0.0).separation
    assert inside.sum() > 200
    assert (found <= highest + 1e-6)[inside].all()
    np.testing.assert_allclose(found[inside], highest[inside], rtol=0.01)


@pytest.mark.full
def test_what_hardly_overlaps_is_no_deeper_than_over_the_next_edge():
    """Up to 0.4 % of the sizes the first face that was found counted: of 2000 pairs 17 were over 0.1 mm off."""
    n, rng = 400, np.random.default_rng(5)
    a, b = cube(0.15), Hull((directions(rng, 12) * (0.3, 0.2, 0.25)).tolist())
    (R, p), (S, r) = random_poses(rng, n), random_poses(rng, n)
    apart = search(a, b, SE3(R, p).inverse() @ SE3(S, r))
    way = (apart.separation + rng.uniform(0.0, 4e-3, n)) * np.stack(np.broadcast_arrays(*apart.n))
    r = r + np.einsum("nij,jn->ni", R, way)
    one, other = (np.einsum("nij,kj->nki", Q, corners(shape)) + t[:, None] for shape, Q, t in ((a, R, p), (b, S, r)))
    differences = (one[:, :, None] - other[:, None]).reshape(n, -1, 3)
    expected = np.array([ConvexHull(points).equations[:, 3].max() for points in differences])
    found = search(a, b, SE3(R, p).inverse() @ SE3(S, r)).separation
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_hulls_of_few_points():
    """A point, a segment, a triangle, a square: distances known by hand, and none where they touch."""
    point, segment = Hull([(0, 0, 0)]), Hull([(-1, 0, 0), (1, 0, 0)])
    square = Hull([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])
    for a, b, X, expected in [
        (point, point, SE3(translation=(0, 3, 4)), 5.0),
        (segment, point, SE3(translation=(2, 1, 0)), math.sqrt(2.0)),
        (segment, segment, SE3.from_rpy((0, 0, 1), (0.1, 0.2, 0.5)), 0.5),
        (square, point, SE3(translation=(0.3, 0.2, -0.7)), 0.7),
        (square, square, SE3(translation=(0.5, 0.5, 0.25)), 0.25),
        (square, square, SE3(translation=(3, 0, 0)), 1.0),
        (square, segment, SE3(translation=(0, 0, 0)), 0.0),
        (square, Sphere(0.1), SE3(translation=(0.3, 0.2, 0.05)), -0.05),
    ]:
        found = contact_points(a, SE3(), b, X)
        np.testing.assert_allclose(found.gap.min(), expected, atol=1e-9)


# --- manifolds ------------------------------------------------------------------------------------------------------

LYING = (math.pi / 2, 0.0, 0.0)
SLOPE = math.atan(0.1 / 0.4)  # of the side of a cone of radius 0.1 and height 0.4
LEANING = math.pi / 2 + SLOPE  # turned so about x, its side is below, level, and its tip at -y


def on_its_side(y=0.0):
    """The pose of that cone whose side is at z = 0 from y to y + sqrt(0.17)."""
    return SE3.from_rpy((LEANING, 0, 0), (0, y + 0.2 * math.cos(SLOPE), 0.2 * math.sin(SLOPE)))


def lifted(X, z):
    return SE3(translation=(0, 0, z)) @ X


@pytest.mark.parametrize(
    ("a", "X", "b", "corners"),
    [
        (cube(0.1), SE3(translation=(0, 0, 0.199)), Box((0.2, 0.2, 0.2)), list(product((-0.1, 0.1), repeat=2))),
        (cube(0.1), SE3(translation=(0.1, 0.05, 0.199)), cube(0.1), list(product((0.0, 0.1), (-0.05, 0.1)))),
        (Box((1, 1, 0.2)), SE3(translation=(0.1, 0, 0.199)), cube(0.1), list(product((-0.1, 0.1), repeat=2))),
        (Cylinder(0.1, 0.4), SE3.from_rpy(LYING, (0, 0.4, 0.199)), Box((1, 1, 0.2)), [(0, 0.2), (0, 0.5)]),
        (Cylinder(0.1, 0.4), SE3.from_rpy(LYING, (0, 0.1, 0.199)), (Cylinder(0.1, 0.4), LYING), [(0, -0.1), (0, 0.2)]),
        (Capsule(0.1, 0.4), SE3.from_rpy(LYING, (0, 0, 0.199)), cube(0.1), [(0, -0.1), (0, 0.1)]),
        (Cone(0.1, 0.4), lifted(on_its_side(0.4), 0.099), Box((1, 1, 0.2)), [(0, 0.4), (0, 0.5)]),
        (Cone(0.1, 0.4), lifted(on_its_side(), 0.099), cube(0.1), [(0, 0), (0, 0.1)]),
        (Cone(0.1, 0.4), lifted(on_its_side(), 0.099), (Cylinder(0.1, 0.4), LYING), [(0, 0), (0, 0.2)]),
        (Cone(0.1, 0.4), lifted(on_its_side(), 0.099), (Capsule(0.1, 0.4), LYING), [(0, 0), (0, 0.2)]),
        (
            Cone(0.1, 0.4),
            lifted(on_its_side(0.1), -0.001),
            (Cone(0.1, 0.4), SE3.from_rpy((math.pi, 0, 0)) @ on_its_side(-0.3)),
            [(0, 0.1), (0, 0.3)],
        ),
        (
            cube(0.1),
            SE3.from_rpy((math.pi / 4, 0, 0), (0, 0, 0.099 + 0.1 * 2**0.5)),
            Box((1, 1, 0.2)),
            [(-0.1, 0), (0.1, 0)],
        ),
        (
            Cylinder(0.1, 0.4),
            SE3.from_rpy((math.pi / 2, 0, 1), (0, 0.1, 0.199)),
            (Cylinder(0.1, 0.4), LYING),
            [(0, 0.1)],
        ),
    ],
)
@pytest.mark.parametrize("tilt", [0.0, 1e-7, 1e-5])
def test_what_lies_has_the_corners_of_its_overlap(a, X, b, corners, tilt):
    """1 mm deep, each corner once, whichever shape is first; also turned a little, anywhere."""
    b, turn = b if isinstance(b, tuple) else (b, (0, 0, 0))
    turn = turn if isinstance(turn, SE3) else SE3.from_rpy(turn)
    M = SE3.from_rpy((0.3, -0.8, 1.9), (1.0, -2.0, 0.5))
    X_a, X_b = M @ SE3.from_rpy((tilt, -tilt, tilt)) @ X, M @ turn
    for found in (contact_points(a, X_a, b, X_b), contact_points(b, X_b, a, X_a)):
        there = found.gap < 0.0
        places = np.array([M.inverse_act(SE3(None, p).translation) for p in found.point[there]], dtype=float)[:, :2]
        np.testing.assert_allclose(found.gap[there], -1e-3, atol=1e-6 + tilt)
        assert len(places) == len(corners)
        off = np.linalg.norm(places[:, None] - np.array(corners)[None], axis=-1)
        assert off.min(axis=0).max() < 1e-4 + 10.0 * tilt


@pytest.mark.parametrize("kind", [Cylinder, Cone])
def test_what_is_round_stands_on_four_points_of_its_rim(kind):
    found = contact_points(kind(0.1, 0.4), SE3(translation=(0.2, 0, 0.299)), Box((1, 1, 0.2)), SE3())
    np.testing.assert_allclose(found.gap, -1e-3, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found.point[:, :2] - [0.2, 0], axis=-1), 0.1, atol=1e-12)
    np.testing.assert_allclose(found.point.mean(axis=0), [0.2, 0, 0.099], atol=1e-12)


@pytest.mark.full
@EVERY_SEARCHED_PAIR
def test_the_least_gap_is_among_the_candidates(kinds):
    a, b = shapes_of(kinds)
    A, B = near(np.random.default_rng(6), a, b, 500)
    (one,) = convex_convex(a, SE3(*A), b, SE3(*B))
    size = 1.0
    np.testing.assert_allclose(compiled(a, A, b, B)[0].min(axis=-1), one.gap, atol=3e-6 * size)


# --- worlds ---------------------------------------------------------------------------------------------------------


def on_table(*shapes_and_poses):
    b = cardan.WorldBuilder()
    b.add_shape("world", Box((2.0, 2.0, 0.2)), pose=SE3(translation=(0, 0, -0.1)))
    for k, (shape, X) in enumerate(shapes_and_poses):
        b.add_body(f"body{k}", pose=X)
        b.add_shape(f"body{k}", shape)
    return b.finalize()


@pytest.mark.full
def test_pairs_of_the_same_hulls_are_one_block():
    """And what each is alone; other hulls have a block of their own."""
    small, large = cube(0.1), cube(0.12)
    shapes = [small, small, small, large]
    world = on_table(*((s, SE3(translation=(0.3 * k, 0.02 * k, 0.12))) for k, s in enumerate(shapes)))
    pairs = tuple(pair for pair in world.pairs if pair.b != "world")
    q = world.state().q
    together = collide_function(pairs)(world.model, q)
    alone = [collide_function((pair,))(world.model, q) for pair in pairs]
    np.testing.assert_array_equal(together.gap, np.concatenate([found.gap for found in alone], axis=-1))
    one = collide_function(pairs[:1]).program(world.model).operations
    assert collide_function(pairs).program(world.model).operations < 3.0 * one


@pytest.mark.full
def test_a_cube_as_a_hull_rests_as_a_box_does():
    """On a box, for a second: within 0.1 mm and 1e-3 rad."""
    found = []
    for top in (Box((0.2, 0.2, 0.2)), cube(0.1)):
        world = on_table(
            (Box((0.2, 0.2, 0.2)), SE3(translation=(0, 0, 0.1))), (top, SE3(translation=(0.03, 0.02, 0.3)))
        )
        found.append(cardan.solvers.Featherstone(world, 2e-3).step(world.state(), steps=500))
    box, hull = found
    np.testing.assert_allclose(hull.q, box.q, atol=1e-4)
    np.testing.assert_allclose(hull.q[0, 10:], [0, 0, 0, 1], atol=5e-4)
    assert np.abs(hull.v).max() < 1e-6


@pytest.mark.full
def test_where_cylinders_cross_at_a_small_angle_the_deepest_point_is_on_both():
    """Before, it was an end of their overlap, up to 9 mm beside the other one's surface."""
    rng = np.random.default_rng(3)
    R = Rotation.from_rotvec(0.05 * rng.normal(size=(100, 3))).as_matrix()
    p = rng.normal(size=(100, 3)) * (0.03, 0.03, 0.1)
    a, b = Cylinder(0.06, 0.2), Cylinder(0.05, 0.25)
    found = flat_convex(a, SE3(), b, SE3(R, p))
    least, number = np.min([c.gap for c in found], axis=0), np.argmin([c.gap for c in found], axis=0)
    point, normal = (
        np.array([[*each] for each in column])[number, :, np.arange(100)]
        for column in ([c.point for c in found], [c.normal for c in found])
    )
    opposite = np.einsum("nji,nj->ni", R, point - normal * least[:, None] - p)
    for shape, x in ((a, point), (b, opposite)):
        outside = np.maximum(np.hypot(x[:, 0], x[:, 1]) - shape.radius, abs(x[:, 2]) - 0.5 * shape.length)
        np.testing.assert_allclose(outside[least < 0.0], 0.0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "pose"),
    [
        (Cylinder(0.1, 0.4), SE3.from_rpy(LYING, (0.1, 0.2, 0.1))),
        (Cone(0.1, 0.4), on_its_side(0.2)),
        (Cone(0.1, 0.4), SE3(translation=(0.1, 0.2, 0.2))),
    ],
    ids=["cylinder", "cone on its side", "cone on its base"],
)
def test_what_lies_keeps_still(shape, pose):
    world = on_table((shape, pose))
    solver = cardan.solvers.Featherstone(world, 2e-3)
    state = solver.step(world.state(), steps=250)
    q = np.array(state.q)
    speeds = [np.abs((state := solver.step(state)).v).max() for _ in range(50)]
    assert max(speeds) < 1e-6
    np.testing.assert_allclose(state.q, q, atol=1e-7)


FLATS = [
    Box((4.0, 4.0, 0.2)),
    Cylinder(2.0, 0.2),
    Hull([(x, y, z) for x in (-2, 2) for y in (-2, 2) for z in (-0.1, 0.1)]),
]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("flat", FLATS, ids=lambda flat: type(flat).__name__)
def test_an_ellipsoid_meets_a_flat_face_along_its_normal_and_lies_there(flat, dtype):
    """The normal was 1e-4 off, the point beside it: a ball rolled off, in single precision by 8 cm in 5 s."""
    ball, poses = Ellipsoid((0.1, 0.1, 0.1)), np.tile(np.eye(4, dtype=dtype), (8, 1, 1))
    poses[:, :2, 3], poses[:, 2, 3] = np.random.default_rng(2).uniform(-0.9, 0.9, (8, 2)), 0.199
    found = contact_points(ball, poses, flat, np.eye(4, dtype=dtype))
    exact = 1e-14 if dtype == "float64" else 2e-6
    np.testing.assert_allclose(found.normal[:, 0], [[0.0, 0.0, 1.0]] * 8, atol=exact)
    np.testing.assert_allclose(found.point[:, 0] - poses[:, :3, 3], [[0.0, 0.0, -0.1]] * 8, atol=exact)
    b = cardan.WorldBuilder()
    b.add_shape("world", flat, SE3(translation=[0.0, 0.0, -0.1]))
    b.add_body("ball", pose=SE3(translation=[0.31, -0.17, 0.1]))
    b.add_shape("ball", ball, density=1000.0)
    world = b.finalize()
    after = cardan.solvers.Featherstone(world, 2e-3).step(world.state(dtype=dtype), steps=2500)
    np.testing.assert_allclose(after.q[0, :2], [0.31, -0.17], atol=1e-9 if dtype == "float64" else 1e-5)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_ellipsoid_that_is_over_a_rim_meets_the_rim(dtype):
    """In single precision points were up to 0.4 m away, anywhere beneath the ball."""
    rng, n = np.random.default_rng(0), 4000
    ball, drum = Ellipsoid((0.2, 0.3, 0.4)), Cylinder(0.3, 0.5)
    lean, turn, gap = 10.0 ** rng.uniform(-4.0, -1.0, n), rng.uniform(-np.pi, np.pi, n), rng.uniform(1e-3, 0.1, n)
    out = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=-1)
    up = out * np.sin(lean)[:, None] + np.array([0.0, 0.0, 1.0]) * np.cos(lean)[:, None]
    rim = out * 0.3 + np.array([0.0, 0.0, 0.25])
    R, _ = random_poses(rng, n)
    below = np.einsum("nji,nj->ni", R, -up) * np.array(ball.radii)
    below *= np.array(ball.radii) / np.linalg.norm(below, axis=-1, keepdims=True)
    r = rim + up * gap[:, None] - np.einsum("nij,nj->ni", R, below)
    here = np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3))
    poses = [(X[0].astype(dtype), X[1].astype(dtype)) for X in (here, (R, r))]
    found, point, normal = deepest(compiled(drum, poses[0], ball, poses[1]))
    point_atol, normal_atol = (5e-5, 1e-4) if dtype == "float64" else (1.5e-3, 3e-3)
    np.testing.assert_allclose(found, gap, atol=1e-9 if dtype == "float64" else 2e-6)
    np.testing.assert_allclose(point, rim, atol=point_atol)
    np.testing.assert_allclose(normal, -up, atol=normal_atol)


@pytest.mark.parametrize("askew", [0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
def test_planks_that_cross_touch_at_four_corners_of_what_they_share(askew):
    """Only both tips of such a rhombus were found: nothing held a plank up beside the line between them."""
    half = np.array([0.5, 0.05, 0.01])
    turn = np.linspace(0.25, np.pi / 2, 60)
    R = Rotation.from_rotvec(turn[:, None] * [0.0, 0.0, 1.0]).as_matrix()
    own = Rotation.from_rotvec([0.0, 0.0, askew])
    plank = Box(2.0 * half)
    under = Hull([own.apply(half * corner) for corner in product((-1.0, 1.0), repeat=3)])
    here = np.tile(own.inv().as_matrix(), (60, 1, 1)), np.zeros((60, 3))
    gap, point, _ = compiled(plank, (R, np.tile([0.0, 0.0, 0.02 - 1e-4], (60, 1))), under, here)
    np.testing.assert_allclose(gap, -1e-4, atol=1e-12)
    x, y = np.moveaxis(point[..., :2], -1, 0)
    order = np.argsort(np.arctan2(y, x), axis=1)
    x, y = np.take_along_axis(x, order, axis=1), np.take_along_axis(y, order, axis=1)
    area = 0.5 * np.abs((x * np.roll(y, -1, 1) - y * np.roll(x, -1, 1)).sum(axis=1))
    np.testing.assert_allclose(area, 0.01 / np.sin(turn), rtol=1e-3)


@pytest.mark.parametrize("askew", np.linspace(0.0, np.pi, 7)[:-1])
def test_a_long_hexagon_shows_a_face_whichever_way_it_lies(askew):
    """Its tips were farthest to all four sides at half of the angles, so that it lay on one point, and rocked."""
    angle = np.arange(6) * np.pi / 3.0
    under = Hull([(0.3 * np.cos(a), 0.1 * np.sin(a), z) for z in (-0.01, 0.01) for a in angle])
    own, turn = Rotation.from_rotvec([0.0, 0.0, askew]), np.linspace(0.0, np.pi, 40)
    over = Hull(own.apply(under.vertices))
    R = Rotation.from_rotvec(turn[:, None] * [0.0, 0.0, 1.0]).as_matrix()
    here = np.tile(np.eye(3), (40, 1, 1)), np.zeros((40, 3))
    gap, point, _ = compiled(over, (R, np.tile([0.0, 0.0, 0.02 - 1e-4], (40, 1))), under, here)
    touching = np.abs(gap + 1e-4) < 1e-9
    assert (touching.sum(axis=1) >= 3).all()
    point = np.where(touching[..., None], point, point[:, :1])
    centred = point[..., :2] - point[..., :2].mean(axis=1, keepdims=True)
    width = np.sqrt(np.linalg.eigvalsh(np.einsum("kpi,kpj->kij", centred, centred)))[:, 0]
    assert (width > 0.05).all()
