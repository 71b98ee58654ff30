"""Candidates for contact: separating axes, surfaces, and the laws any two shapes obey."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cardan
from cardan._motion.collision import FAR, points
from cardan._motion.simulation.collide import collide_function
from cardan._robot.geometry.shapes import Box, Capsule, Cone, Cylinder, HeightField, Mesh, Plane, Sphere
from cardan.errors import ParameterError, ShapeError, UnsupportedError
from cardan.robots import double_pendulum
from cardan.simulation import contact_points
from cardan.spatial import SE3
from program_rules import verify
from representatives import in_turn, represented
from two_shapes import (
    EVERY_PAIR,
    LEVEL,
    OWN,
    SEARCHED,
    SHAPES,
    after,
    candidates,
    compiled,
    directions,
    each_of,
    from_surface,
    gaps_function,
    matrices,
    random_poses,
    shapes_of,
    sized,
    smallest,
)

# --- depths ---------------------------------------------------------------------------------------------------------


def turned(axis, angle):
    return Rotation.from_rotvec(angle * np.eye(3)["xyz".index(axis)]).as_matrix()


AXES = [turned(axis, angle) for axis in "xyz" for angle in (0.0, math.pi / 4, math.pi / 2, math.pi)]
PLACES = [np.array(p) for p in product((-0.5, 0.0, 0.2), repeat=3)]


def reach(shape, d):
    """How far a solid reaches from its centre along directions in its frame."""
    match shape:
        case Sphere(radius=r):
            return r + 0.0 * d[..., 0]
        case Capsule(radius=r, length=length):
            return r + np.abs(d[..., 2]) * length / 2
        case Box(size=size):
            return np.abs(d) @ np.array(size) / 2
    raise AssertionError(shape)


@pytest.mark.parametrize("kinds", [(Box, Box), (Box, Capsule), (Capsule, Capsule), (Box, Sphere)])
def test_no_direction_separates_more(kinds):
    """Of all directions n, n . p - reach_a - reach_b is greatest along the normal: the depth of the overlap."""
    a, b = shapes_of(kinds)
    rng = np.random.default_rng(4)
    A, B = random_poses(rng, 300, 0.15), random_poses(rng, 300, 0.15)
    gap, _, normal = candidates(a, A, b, B)
    first = gap.argmin(axis=-1)
    normal = np.einsum("nij,nj->ni", A[0], normal[np.arange(300), first])
    gap = gap.min(axis=-1)

    def separation(n):  # (m, 300, 3), from B to A
        in_a, in_b = np.einsum("nji,mnj->mni", A[0], n), np.einsum("nji,mnj->mni", B[0], n)
        return np.einsum("mni,ni->mn", n, A[1] - B[1]) - reach(a, in_a) - reach(b, in_b)

    n = directions(rng, 200 * 300).reshape(200, 300, 3)
    near = normal + 1e-2 * n
    deep = (gap < 0.0) & (np.abs(separation(normal[None])[0] - gap) < 1e-6)
    assert deep.sum() > 0.8 * (gap < 0.0).sum() > 100
    for tried in (n, near / np.linalg.norm(near, axis=-1, keepdims=True)):
        assert (separation(tried) <= gap + 1e-6)[:, deep].all()


# --- surfaces -------------------------------------------------------------------------------------------------------


def on_surfaces(a, A, b, B):
    """Gaps, and how far the point is from the surface of A, and `point - gap normal` from that of B."""
    gap, point, normal = candidates(a, A, b, B)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=-1), 1.0, atol=1e-12)
    opposite = np.einsum("nij,ncj->nci", A[0], point - gap[..., None] * normal) + (A[1] - B[1])[:, None]
    return gap, from_surface(a, point), from_surface(b, np.einsum("nji,ncj->nci", B[0], opposite))


@EVERY_PAIR
def test_points_are_on_both_surfaces(kinds):
    """The nearest ones are; all others are on a surface or, of a sphere in a capsule, in it."""
    a, b = shapes_of(kinds)
    rng = np.random.default_rng(1)
    gap, on_a, on_b = on_surfaces(a, random_poses(rng, 2000), b, random_poses(rng, 2000))
    tolerance = 5e-6 if kinds == (Box, Box) else 1e-12
    if kinds == (Box, Box):  # deep edges may cross beyond their ends
        deep = gap < 0.0
        assert np.quantile(np.abs(on_a)[deep], 0.95) < tolerance
        assert np.quantile(np.abs(on_b)[deep], 0.95) < tolerance
        gap = np.where(deep, FAR, gap)
    nearest = (gap == gap.min(axis=-1, keepdims=True)) & (gap < FAR)
    assert np.abs(on_a)[nearest].max() < tolerance
    assert np.abs(on_b)[nearest].max() < tolerance
    shallow = (gap < FAR) & (gap.min(axis=-1, keepdims=True) > (-0.1 if Box in kinds else -FAR))
    assert on_a[shallow].max() < tolerance
    assert on_b[shallow].max() < tolerance


# --- laws -----------------------------------------------------------------------------------------------------------


@EVERY_PAIR
def test_swapped_shapes_touch_at_the_same_points(kinds):
    a, b = shapes_of(kinds)
    rng = np.random.default_rng(2)
    A, B = random_poses(rng, 500), random_poses(rng, 500)
    gap, point, normal = candidates(a, A, b, B)
    swapped_gap, swapped_point, swapped_normal = candidates(b, B, a, A)
    if kinds[0] is kinds[1]:  # the others are chosen along the axis, or on the face, of A
        gap, swapped_gap = (np.where(g == g.min(axis=-1, keepdims=True), g, FAR) for g in (gap, swapped_gap))
    atol = 1e-5 if kinds == (Box, Box) else 1e-12
    np.testing.assert_allclose(np.sort(gap, axis=-1), np.sort(swapped_gap, axis=-1), atol=atol)
    first, other = gap.argmin(axis=-1), swapped_gap.argmin(axis=-1)
    rows = np.arange(500)
    apart = np.sort(gap, axis=-1)
    clear = (gap.shape[1] == 1) | (apart[:, min(1, gap.shape[1] - 1)] - apart[:, 0] > 1e-3)
    world = np.einsum("nij,nj->ni", A[0], normal[rows, first])
    swapped_world = np.einsum("nij,nj->ni", B[0], swapped_normal[rows, other])
    np.testing.assert_allclose(world[clear], -swapped_world[clear], atol=1e-9)
    opposite = point[rows, first] - gap[rows, first, None] * normal[rows, first]
    in_world = np.einsum("nij,nj->ni", A[0], opposite) + A[1]
    swapped = np.einsum("nij,nj->ni", B[0], swapped_point[rows, other]) + B[1]
    np.testing.assert_allclose(in_world[clear], swapped[clear], atol=1e-5 if kinds == (Box, Box) else 1e-9)


@EVERY_PAIR
def test_moving_both_changes_nothing(kinds):
    a, b = shapes_of(kinds)
    rng = np.random.default_rng(3)
    A, B, M = random_poses(rng, 500), random_poses(rng, 500), random_poses(rng, 500)
    for one, other in zip(candidates(a, A, b, B), candidates(a, after(M, A), b, after(M, B)), strict=True):
        close = np.isclose(one, other, atol=1e-9).reshape(500, -1).all(axis=-1)
        assert close.mean() > 0.99  # but at edges between two choices


@EVERY_PAIR
def test_the_normal_is_the_gradient_of_the_gap(kinds):
    """Moving A by a small e changes the gap by normal . e, turning it by w by normal . (w x point)."""
    a, b = shapes_of(kinds)
    rng = np.random.default_rng(5)
    n, step = 1000, 1e-6
    A, B = random_poses(rng, n), random_poses(rng, n)
    gap, point, normal = candidates(a, A, b, B)
    first, rows = gap.argmin(axis=-1), np.arange(n)
    point, normal = point[rows, first], normal[rows, first]
    for _ in range(3):
        e, w = directions(rng, n), directions(rng, n)
        turned = A[0] @ Rotation.from_rotvec(step * w).as_matrix()
        moved = smallest(a, (turned, A[1] + step * np.einsum("nij,nj->ni", A[0], e)), b, B)
        rate = np.einsum("ni,ni->n", normal, e + np.cross(w, point))
        off = np.abs((moved - gap.min(axis=-1)) / step - rate)
        usual = 0.9 if kinds == (Box, Box) else 0.99  # edges within 2.6 degrees of a face are left to its corners
        assert np.quantile(off, usual) < 1e-4


@pytest.mark.slow
@EVERY_PAIR
def test_gaps_do_not_jump(kinds):
    """Moving A by d changes the smallest gap by |d| at most: near ties of choices, too."""
    a, b = shapes_of(kinds)
    rng, n, step = np.random.default_rng(13), 20000, 1e-5
    turn, place = np.array(AXES)[rng.integers(len(AXES), size=n)], np.array(PLACES)[rng.integers(len(PLACES), size=n)]
    near = (
        turn @ Rotation.from_rotvec(1e-3 * rng.normal(size=(n, 3))).as_matrix(),
        place + 1e-3 * rng.normal(size=(n, 3)),
    )
    for A in (near, random_poses(rng, n)):
        moved = A[0], A[1] + step * directions(rng, n)
        gap = smallest(a, A, b, LEVEL)
        # Edges of boxes are left to a face where they are within 2.6 degrees of it: by 0.1 % of the depth.
        allowed = 1.01 * step + (2e-3 * np.abs(gap) if kinds == (Box, Box) else 0.0)
        assert (np.abs(smallest(a, moved, b, LEVEL) - gap) < allowed).all()


# --- manifolds: who stands does not rock ----------------------------------------------------------------------------


def touching(a, A, b, B, tolerance=1e-9):
    """Points, in the frame of A, of the candidates whose gaps are the smallest."""
    gap, point, normal = candidates(a, A, b, B)
    return point[gap < gap.min() + tolerance], normal[gap < gap.min() + tolerance]


def lifted(z, rotation=None):
    return (np.eye(3) if rotation is None else rotation), np.array([0.0, 0.0, z])


def has_corners(found, corners, atol=1e-5):
    """Each corner is one of the points found, seen along z."""
    off = np.linalg.norm(found[:, None, :2] - np.array(corners)[None], axis=-1)
    assert off.min(axis=0).max() < atol


@pytest.mark.parametrize("tilt", [0.0, 1e-9, -1e-9, 1e-5])
@pytest.mark.parametrize("axis", "xyz")
def test_boxes_stand_on_four_corners(axis, tilt):
    """On a plane, on a box of the same size, on a larger and on a smaller one, turned a little."""
    box, large, R = SHAPES[Box], Box((2.0, 2.0, 0.2)), turned(axis, tilt)
    corners = list(product((-0.2, 0.2), (-0.3, 0.3)))
    cases = [(box, 0.39, Plane()), (box, 0.799, box), (box, 0.499, large), (large, 0.499, box)]
    for a, height, b in cases:
        found, normal = touching(a, lifted(height, R), b, LEVEL, 1e-4)
        has_corners(found, corners, 1e-4)
        assert len(found) == 4 or abs(tilt) > 1e-6
        np.testing.assert_allclose(normal, np.array([[0.0, 0.0, 1.0]] * len(normal)), atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("tilt", [0.0, 1e-7, 1e-6, 1e-5, 1e-3])
def test_no_corner_of_a_stack_is_lost(dtype, tilt, quick_target):
    """Anywhere, turned a little, shifted a little: sides that nearly coincide are one side, or both, but never none."""
    rng, n, box = np.random.default_rng(11), 2000, SHAPES[Box]
    small = Rotation.from_rotvec(tilt * rng.normal(size=(n, 3))).as_matrix()
    above = small, np.column_stack([tilt * rng.normal(size=(n, 2)), np.full(n, 0.799 - 2.0 * tilt)])
    M = random_poses(rng, n, 2.0)
    level = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))
    poses = [tuple(x.astype(dtype) for x in after(M, X)) for X in (above, level)]
    gap, point, _ = compiled(box, poses[0], box, poses[1])
    place = np.einsum("nij,ncj->nci", small, point) + above[1][:, None]
    for corner in product((-0.2, 0.2), (-0.3, 0.3)):
        off = np.linalg.norm(place[..., :2] - corner, axis=-1)
        assert np.where(gap < 0.0, off, np.inf).min(axis=-1).max() < 1e-5 + 10.0 * tilt


def test_overlaps_of_two_faces_have_all_their_corners():
    """Turned by 45 degrees: eight; crossed plates: four; a corner over a corner: four; one at 30 degrees by areas."""
    square, plate = Box((1.0, 1.0, 1.0)), Box((2.0, 0.5, 0.1))
    found, _ = touching(square, lifted(0.99, turned("z", math.pi / 4)), square, LEVEL)
    assert len(found) == 8
    np.testing.assert_allclose(np.linalg.norm(found[:, :2], axis=-1), 0.5 / math.cos(math.pi / 8), atol=1e-5)
    found, _ = touching(plate, lifted(0.099, turned("z", math.pi / 2)), plate, LEVEL)
    np.testing.assert_allclose(np.abs(found), [[0.25, 0.25, 0.05]] * 4, atol=1e-5)
    found, _ = touching(square, (np.eye(3), np.array([0.7, 0.6, 0.99])), square, LEVEL)
    expected = list(product((-0.5, -0.2), (-0.5, -0.1)))
    assert len(found) == 4
    has_corners(found, expected)


def test_two_edges_touch_at_one_point():
    R = turned("z", math.pi / 2) @ turned("x", math.pi / 4)
    box = Box((1.0, 1.0, 1.0))
    above = turned("x", math.pi / 4), np.array([0.1, 0.2, math.sqrt(2.0) - 0.01])
    gap, point, normal = candidates(box, above, box, (R, np.zeros(3)))
    assert (gap < FAR).sum() == 1
    np.testing.assert_allclose(gap[0], -0.01, atol=1e-12)
    np.testing.assert_allclose(above[0] @ normal[0], [0.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(above[0] @ point[0] + above[1], [0.0, 0.2, math.sqrt(0.5) - 0.01], atol=1e-12)


@pytest.mark.parametrize("tilt", [0.0, 1e-12, -1e-12, 1e-7])
def test_capsules_lie_on_two_points(tilt):
    """On a plane, along another, along a box's face and along its edge: at both ends of what overlaps."""
    capsule = Capsule(0.1, 1.0)
    lying = turned("y", math.pi / 2 + tilt)
    found, _ = touching(capsule, lifted(0.09, lying), Plane(), LEVEL, 1e-6)
    np.testing.assert_allclose(np.sort(found[:, 2]), [-0.5, 0.5], atol=1e-6)
    level = turned("y", math.pi / 2), np.array([0.3, 0.0, 0.0])
    found, _ = touching(capsule, lifted(0.19, lying), capsule, level, 1e-6)
    np.testing.assert_allclose(np.sort(found[:, 2]), [-0.2, 0.5], atol=1e-6)
    box = Box((0.6, 1.0, 0.2))
    found, _ = touching(capsule, lifted(0.19, lying), box, LEVEL, 1e-6)
    np.testing.assert_allclose(np.sort(found[:, 2]), [-0.3, 0.3], atol=1e-6)
    beside = lying, np.array([0.0, 0.56, 0.16])
    found, normal = touching(capsule, beside, box, LEVEL, 1e-6)
    np.testing.assert_allclose(np.sort(found[:, 2]), [-0.3, 0.3], atol=1e-6)
    np.testing.assert_allclose(normal @ lying.T, [[0.0, math.sqrt(0.5), math.sqrt(0.5)]] * 2, atol=1e-6)


def test_cylinders_stand_and_lie():
    cylinder = Cylinder(0.3, 0.5)
    found, _ = touching(cylinder, lifted(0.24), Plane(), LEVEL)
    assert len(found) == 3
    np.testing.assert_allclose(found.mean(axis=0), [0.0, 0.0, -0.25], atol=1e-12)
    found, _ = touching(cylinder, lifted(0.29, turned("x", math.pi / 2)), Plane(), LEVEL)
    np.testing.assert_allclose(np.sort(found[:, 2]), [-0.25, 0.25], atol=1e-12)


def test_cones_stand_on_their_rim_lie_on_their_side_and_point():
    cone, lower = Cone(0.3, 0.4), 0.2 * 0.6  # the middle of one on its side is half the height times the sine above
    found, _ = touching(cone, lifted(0.19), Plane(), LEVEL)
    assert len(found) == 3
    np.testing.assert_allclose(found.mean(axis=0), [0.0, 0.0, -0.2], atol=1e-12)
    found, _ = touching(cone, lifted(lower - 0.01, turned("y", math.pi / 2 + math.atan2(0.3, 0.4))), Plane(), LEVEL)
    np.testing.assert_allclose(found[np.argsort(found[:, 2])], [(0.3, 0.0, -0.2), (0.0, 0.0, 0.2)], atol=1e-12)
    found, _ = touching(cone, lifted(0.19, turned("x", math.pi)), Plane(), LEVEL)
    np.testing.assert_allclose(found, [(0.0, 0.0, 0.2)], atol=1e-12)


# --- where choices are tied, and numbers large or small -------------------------------------------------------------


def grid(scale):
    """Poses where centres, faces, edges and axes coincide."""
    R, p = zip(*product(AXES, PLACES), strict=True)
    return np.array(R), scale * np.array(p)


@EVERY_PAIR
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@in_turn("dtype", [np.float64, np.float32])
def test_every_number_is_finite_at_every_scale(kinds, scale, dtype):
    """And gaps scale with the shapes; without size, all are points."""
    rng = np.random.default_rng(6)
    R, p = grid(scale)
    free = Rotation.random(len(p), random_state=rng).as_matrix()
    for size in (scale, 0.0):
        a, b = (sized(shape, scale if isinstance(shape, HeightField) else size) for shape in shapes_of(kinds))
        for rotation in (R, free):
            A = rotation.astype(dtype), p.astype(dtype)
            B = np.eye(3, dtype=dtype), np.zeros(3, dtype=dtype)
            gap, point, normal = candidates(a, A, b, B)
            assert all(np.isfinite(x).all() for x in (gap, point, normal))
            np.testing.assert_allclose(np.linalg.norm(normal, axis=-1), 1.0, atol=1e-6)
            assert (gap.min(axis=-1) < 10.0 * scale).all()
    if scale != 1.0 and dtype is np.float64:
        a, b = shapes_of(kinds)
        found = smallest(*(sized(a, scale), (free, p)), sized(b, scale), LEVEL)
        np.testing.assert_allclose(found / scale, smallest(a, (free, p / scale), b, LEVEL), atol=1e-5)


@pytest.mark.slow
@each_of([kinds for kinds in (*SEARCHED, *OWN) if HeightField not in kinds])
@in_turn("size", [1e-9, 1e9])
def test_single_precision_at_any_size(kinds, size, quick_target):
    """Gaps of searched pairs were up to 10 % off at 1e-9 m; at 1e9 m all of curved ones were infinite."""
    a, b = shapes_of(kinds)
    rng = np.random.default_rng(16)
    (R, p), B = random_poses(rng, 200, 0.5), (np.broadcast_to(np.eye(3), (200, 3, 3)), np.zeros((200, 3)))
    expected = compiled(a, (R, p), b, B)[0].min(axis=-1)
    A, B = ([x.astype(np.float32) for x in X] for X in ((R, size * p), B))
    found = compiled(sized(a, size), A, sized(b, size), B)[0].min(axis=-1) / size
    apart = expected > 0.0  # a depth may be another's way out
    np.testing.assert_allclose(found[apart], expected[apart], atol=5e-6)


@EVERY_PAIR
@pytest.mark.parametrize("tilt", represented([0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2], by=[0.0, 1e-6].count))
def test_single_precision_near_ties(kinds, tilt, quick_target):
    """Rotations are orthonormal to 1e-7 then: the depths are still those of the same poses in double precision."""
    a, b = shapes_of(kinds)
    rng, n = np.random.default_rng(12), 1000
    turn, place = np.array(AXES)[rng.integers(len(AXES), size=n)], np.array(PLACES)[rng.integers(len(PLACES), size=n)]
    near = (
        turn @ Rotation.from_rotvec(tilt * rng.normal(size=(n, 3))).as_matrix(),
        place + tilt * rng.normal(size=(n, 3)),
    )
    M = random_poses(rng, n)
    single = [tuple(x.astype(np.float32) for x in X) for X in (after(M, near), M)]
    double = [tuple(x.astype(np.float64) for x in X) for X in single]
    found, exact = compiled(a, single[0], b, single[1])[0].min(axis=-1), smallest(a, double[0], b, double[1])
    # Of axes nearer to parallel than 3e-3, single precision does not know where they cross.
    atol = 2e-3 if kinds == (Capsule, Capsule) else 2e-4 if kinds == (Box, Capsule) else 2e-6
    np.testing.assert_allclose(found[exact < 0.0], exact[exact < 0.0], atol=atol)


@EVERY_PAIR
def test_far_from_the_origin(kinds):
    a, b = shapes_of(kinds)
    rng = np.random.default_rng(7)
    A, B = random_poses(rng, 300), random_poses(rng, 300)
    far = np.array([1e6, -1e6, 1e6])
    found = smallest(a, (A[0], A[1] + far), b, (B[0], B[1] + far))
    np.testing.assert_allclose(found, smallest(a, A, b, B), atol=1e-8)


@pytest.mark.slow
@EVERY_PAIR
def test_compiled_with_derivatives_everywhere_finite(kinds, quick_target):
    """The program is the page; its derivatives are finite where choices are tied, in both precisions."""
    a, b = shapes_of(kinds)
    gaps, model = gaps_function(a, b), double_pendulum().model()
    rng = np.random.default_rng(8)
    A, B = random_poses(rng, 200), random_poses(rng, 200)
    for found, by_hand in zip(compiled(a, A, b, B), candidates(a, A, b, B), strict=True):
        np.testing.assert_allclose(found, by_hand, atol=1e-9)
    derivative = cardan.derivative(gaps, wrt="A")
    X = matrices(grid(1.0))
    for dtype in (np.float64, np.float32):
        for Y in (X, np.broadcast_to(np.eye(4), X.shape)):
            assert np.isfinite(derivative(model, Y.astype(dtype), np.eye(4, dtype=dtype))).all()


@EVERY_PAIR
def test_plain_numbers_and_symbols_of_others(kinds):
    """The pages run on floats, mpmath's numbers and CasADi's symbols, with the values they have on arrays."""
    a, b = shapes_of(kinds)
    R, p = grid(1.0)
    expected = candidates(a, (R, p), b, LEVEL)[0]
    for k in range(0, len(p), 5):
        found = points(a, SE3(R[k], p[k]), b, SE3())
        np.testing.assert_allclose([c.gap for c in found], expected[k], atol=1e-12)
    number = SE3([[mpmath.mpf(e) for e in row] for row in R[7]], [mpmath.mpf(e) for e in p[7]])
    np.testing.assert_allclose([float(c.gap) for c in points(a, number, b, SE3())], expected[7], atol=1e-12)
    casadi = pytest.importorskip("casadi", reason="needs the `oracles` extra: casadi")
    x = casadi.SX.sym("x", 3)
    if HeightField in kinds:
        with pytest.raises(UnsupportedError, match=r"cardan\.cell cannot take .*casadi"):
            points(a, SE3(R[7], [x[0], x[1], x[2]]), b, SE3())
        return
    gaps = casadi.Function("gaps", [x], [c.gap for c in points(a, SE3(R[7], [x[0], x[1], x[2]]), b, SE3())])
    found = gaps(p[7])
    np.testing.assert_allclose(
        [float(g) for g in (found if isinstance(found, tuple) else [found])], expected[7], atol=1e-12
    )


def test_a_box_parts_from_the_nearest_face():
    """A sphere's centre in a box leaves by the face it is nearest to."""
    box, rng = SHAPES[Box], np.random.default_rng(9)
    inside = (rng.random((500, 3)) - 0.5) * np.array(box.size)
    gap, _, normal = candidates(box, LEVEL, Sphere(0.1), (np.eye(3), inside))
    depth = np.array(box.size) / 2 - np.abs(inside)
    np.testing.assert_allclose(gap[:, 0], -0.1 - depth.min(axis=-1), atol=1e-12)
    rows, axis = np.arange(500), depth.argmin(axis=-1)
    np.testing.assert_allclose(normal[rows, 0, axis], -np.sign(inside[rows, axis]))


def test_pairs_that_are_not_there_are_named():
    for a, b in ((Plane(), Plane()), (Mesh("a.stl"), Sphere(1.0))):
        with pytest.raises(UnsupportedError, match=f"{type(a).__name__} and a {type(b).__name__}.*Capsule-Plane"):
            points(a, SE3(), b, SE3())


# --- worlds ---------------------------------------------------------------------------------------------------------


def stack(n=3):
    """Boxes of 0.2 m on one another and on the ground, 1 mm into each other, and a ball beside them."""
    b = cardan.WorldBuilder()
    b.add_ground()
    for k in range(n):
        b.add_body(f"box{k}", pose=SE3(translation=[0.0, 0.0, 0.1 + 0.199 * k]))
        b.add_shape(f"box{k}", Box((0.2, 0.2, 0.2)))
    b.add_body("ball", pose=SE3(translation=[1.0, 0.0, 0.05]))
    b.add_shape("ball", Sphere(0.05))
    return b.finalize()


def test_a_world_collides_where_the_state_is_now(quick_target):
    """Gaps, points and normals are those of its pairs at the state's coordinates, whatever was asked before."""
    world = stack()
    state = world.state(3)
    found = world.collide(state)
    assert found.gap.shape == (3, len(found.pair))
    assert found.point.shape == found.normal.shape == (3, len(found.pair), 3)
    names = [world.pairs[k].name for k in found.pair]
    on_ground, between = [n == "box0/ground" for n in names], [n == "box1/box0" for n in names]
    np.testing.assert_allclose(found.gap[0, on_ground], 0.0, atol=1e-12)
    touching = np.isfinite(found.gap[0]) & between
    assert touching.sum() == 4
    np.testing.assert_allclose(found.gap[0, touching], -1e-3, atol=1e-12)
    np.testing.assert_allclose(found.normal[0, touching], [[0.0, 0.0, 1.0]] * 4, atol=1e-12)
    np.testing.assert_allclose(np.abs(found.point[0, touching]), [[0.1, 0.1, 0.199]] * 4, atol=1e-6)
    state.q[1, world.model.q_slice("box0_free").start + 2] += 0.5
    np.testing.assert_allclose(world.collide(state).gap[1, on_ground][:4], 0.5, atol=1e-12)
    np.testing.assert_array_equal(world.collide(state).gap[0], found.gap[0])
    assert world.collide(world.state(2, "float32")).gap.dtype == np.float32
    with pytest.raises(ParameterError, match="state to collide"):
        world.collide(stack().state())


def mixed():
    """Five boxes, two balls and two capsules, each of its own size, near one another; one box cannot turn."""
    b = cardan.WorldBuilder()
    b.add_ground()
    makers = (lambda r: Box((r, 1.3 * r, 0.8 * r)), lambda r: Sphere(0.5 * r), lambda r: Capsule(0.3 * r, r))
    for k, make in enumerate([makers[j] for j in (1, 0, 2, 0, 0, 1, 0, 2)]):
        b.add_body(f"body{k}", pose=SE3(translation=[0.2 * (k % 3), 0.2 * (k // 3), 0.1 + 0.02 * k]))
        b.add_shape(f"body{k}", make(0.2 + 0.02 * k))
    b.add_link("cart")
    b.add_shape("cart", makers[0](0.3))
    b.add_joint("rail", cardan.joints.Prismatic([1, 0, 0]), "world", "cart", SE3(translation=[0.0, 0.0, 0.6]))
    b.add_articulation("cart", ["rail"])
    return b.finalize()


@pytest.mark.slow
def test_pairs_of_a_kind_are_one_block_and_what_each_is_alone(reference_target):
    """Bit for bit, whichever way round a pair is; the program grows by a pair's share of moving values about."""
    world = mixed()
    rng = np.random.default_rng(4)
    q = world.state(50).q
    q = cardan.normalize(world.model, q + 0.1 * rng.normal(size=q.shape))
    together = collide_function(world.pairs)
    boxes = [pair for pair in world.pairs if type(pair.shape_a) is type(pair.shape_b) is Box]
    assert len(boxes) == 10
    single = collide_function((boxes[0],)).program(world.model).operations
    program = verify(collide_function(tuple(boxes)).program(world.model))
    assert [region.passes for region in program.regions] == [10, 1]  # and within, what boxes side by side need
    assert program.operations < 2.5 * single
    assert program.work > 9 * single
    found = together(world.model, q)
    alone = [collide_function((pair,))(world.model, q) for pair in world.pairs]
    for name in ("gap", "point", "normal"):
        expected = np.concatenate([getattr(each, name) for each in alone], axis=1)
        np.testing.assert_array_equal(getattr(found, name), expected)


def test_constants_of_each_world_move_its_shapes(quick_target):
    """A pose that is an input counts in the world it is given for."""
    b = cardan.WorldBuilder()
    b.add_ground()
    b.add_link("bob")
    b.add_shape("bob", Sphere(0.1))
    b.add_joint("slide", cardan.joints.Prismatic([0, 0, 1]), "world", "bob", SE3(translation=[0.0, 0.0, 1.0]))
    b.add_articulation("slider", ["slide"])
    world = b.finalize().with_inputs(base=("slide", "parent_pose"))
    state = world.state(2)
    state.constants["base"] = np.array([SE3().matrix(), SE3(translation=[0.0, 0.0, 0.5]).matrix()])
    np.testing.assert_allclose(world.collide(state).gap, [[-0.1], [0.4]], atol=1e-15)


def test_a_world_without_pairs_collides_nowhere():
    b = cardan.WorldBuilder()
    b.add_body("ball", inertia=cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
    world = b.finalize()
    found = world.collide(world.state(2))
    assert found.gap.shape == (2, 0)
    assert found.normal.shape == (2, 0, 3)


def test_pairs_nobody_knows_are_named_with_their_bodies():
    b = cardan.WorldBuilder()
    b.add_ground()
    b.add_body("scan", inertia=cardan.Inertia(1.0, (0, 0, 0), np.eye(3)), lock_inertia=True)
    b.add_shape("scan", Mesh("scan.stl"))
    world = b.finalize()
    with pytest.raises(UnsupportedError, match=r"pair 'scan/ground': a mesh that cannot be read .*scan\.stl"):
        world.collide(world.state())


def test_shapes_of_one_robot_that_overlap_at_rest_are_no_pair():
    """Those of two robots are, and so is what stands in the ground."""
    m = cardan.Mechanism("arm")
    for name, parent in (("upper", "world"), ("lower", "upper"), ("hand", "lower")):
        m.add_body(name, cardan.Inertia(1.0, (0, 0, 0.1), np.eye(3) * 0.01))
        m.add_shape(cardan.description.Shape(name, "collision", Capsule(0.05, 0.2)))
        at = SE3(translation=[0.0, 0.0, 0.02 if parent == "lower" else 0.2])
        m.add_joint(f"{name}_joint", cardan.joints.Revolute([0, 1, 0]), parent, name, at)
    b = cardan.WorldBuilder()
    b.add_ground()
    b.add(m, "a_")
    b.add(m, "b_")
    pairs = {pair.name for pair in b.finalize().pairs}
    assert not {"a_hand/a_upper", "b_hand/b_upper"} & pairs
    assert {"b_hand/a_hand", "b_upper/a_upper", "a_upper/ground", "b_upper/ground"} <= pairs


def test_many_pairs_are_worth_a_warning():
    b = cardan.WorldBuilder()
    for k in range(21):
        b.add_body(f"ball{k}")
        b.add_shape(f"ball{k}", Sphere(0.1))
    world = b.finalize()
    assert cardan.solvers.Featherstone(world, 0.01).tables
    with pytest.warns(UserWarning, match="210 pairs of shapes"):
        cardan.solvers.Featherstone(world, 0.01, tables=False)


def test_two_shapes_alone():
    """In world axes, for batches of poses on either side, in either order."""
    X = matrices((np.array([np.eye(3)] * 5), np.array([[0.0, 0.0, 0.1 * k] for k in range(5)])))
    found = contact_points(Sphere(0.1), X, Plane(), SE3(translation=[0.0, 0.0, 0.05]))
    np.testing.assert_allclose(found.gap, 0.1 * np.arange(5)[:, None] - 0.15, atol=1e-15)
    np.testing.assert_allclose(found.point[:, 0, 2], 0.1 * np.arange(5) - 0.1, atol=1e-15)
    swapped = contact_points(Plane(), SE3(translation=[0.0, 0.0, 0.05]), Sphere(0.1), X)
    np.testing.assert_allclose(swapped.gap, found.gap, atol=1e-15)
    np.testing.assert_allclose(swapped.point[:, 0, 2], 0.05, atol=1e-15)
    np.testing.assert_allclose(swapped.normal, -found.normal)
    assert contact_points(Box((1, 1, 1)), SE3(), Box((1, 1, 1)), SE3(translation=[0, 0, 3])).gap.min() == 2.0
    with pytest.raises(ShapeError, match="pose"):
        contact_points(Sphere(0.1), np.eye(3), Plane(), SE3())
