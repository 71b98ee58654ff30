"""Clearance: distances of shapes, what they change by as a robot moves, and whether it is free."""

import itertools
from dataclasses import fields
from itertools import combinations_with_replacement

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cardan
from cardan import SE3
from cardan._motion.collision.box_box import box_separation
from cardan._robot.geometry.support import reach
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
from cardan.errors import ParameterError, UnknownNameError, UnsupportedError
from clearance_robots import OBSTACLES, SHAPES, solid_arm, solid_body
from exact_distance import DIGITS, ExactDistance
from two_shapes import from_surface

pytestmark = pytest.mark.filterwarnings("ignore::cardan.errors.OverlapWarning")
BALL, TURNED = Sphere(0.1), SE3(np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]]), (0.3, 0.2, 0.1))


def at(x, y, z):
    return SE3(translation=(x, y, z))


def placed(model, *position):
    """A floating body's configuration, not turned."""
    q = model.neutral()
    q[:3] = position
    return q


def slopes(f, model, q, h):
    """Derivatives of f along the tangent at q, by differences of fourth order."""
    steps = h * np.array([-2.0, -1.0, 1.0, 2.0])
    moved = cardan.integrate(model, q, steps[:, None, None] * np.eye(model.nv))
    return np.einsum("k,kj...->...j", np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * h), f(moved))


# --- distances ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "other", "position", "expected", "normal"),
    [
        (Sphere(0.2), (BALL, at(0, 0, 0)), (0.3, 0.4, 0), 0.2, (0.6, 0.8, 0)),
        (Sphere(0.2), (Plane(), at(0, 0, 1)), (0.3, 0.4, 0), -1.2, (0, 0, 1)),
        (Capsule(0.1, 1.0), (BALL, at(0.5, 0, 0.8)), (0, 0, 0), np.hypot(0.5, 0.3) - 0.2, None),
        (Box((1, 1, 1)), (Box((1, 1, 1)), at(0, 0, 0)), (2, 2, 2), np.sqrt(3.0), np.full(3, 1 / np.sqrt(3.0))),
        (Box((1, 1, 1)), (Box((1, 1, 1)), at(0, 0, 0)), (0.1, 0, 0.9), -0.1, (0, 0, 1)),
        (
            Hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
            (BALL, at(1, 1, 1)),
            (0, 0, 0),
            2 / np.sqrt(3.0) - 0.1,
            None,
        ),
        (Ellipsoid((1, 2, 3)), (Plane(), at(0, 0, 0)), (0, 0, 4), 1.0, (0, 0, 1)),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "volume") else "",
)
def test_distances_are_those_of_geometry(own, other, position, expected, normal):
    model = solid_body(own)
    found = cardan.clearance(model, placed(model, *position), obstacles=[other])
    np.testing.assert_allclose(found.distance, [expected], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=-1), 1.0, atol=1e-12)
    np.testing.assert_allclose(found.on_a - found.on_b, found.normal * found.distance[:, None], atol=1e-12)
    if normal is not None:
        np.testing.assert_allclose(found.normal[0], normal, atol=1e-9)


def deep(kind, count):
    """Configurations in which a shape of SHAPES covers another at the origin in part, and what is found."""
    model, given = pair(SHAPES[kind], SHAPES[kind])
    q = near_poses(model, count, seed=kind, least=0.0)
    q[:, :3] *= 0.3
    return q, cardan.clearance(model, q, **given)


def test_boxes_are_as_deep_as_their_axes_say():
    """Before, 4 % of such boxes had another way out that was more than 1 % shorter."""
    q, found = deep(2, 2000)
    depth = box_separation(SHAPES[2], SE3(Rotation.from_quat(q[:, 3:]).as_matrix(), q[:, :3]), SHAPES[2], SE3())
    np.testing.assert_allclose(np.minimum(found.distance[:, 0], 0.0), np.minimum(depth, 0.0), atol=1e-12)


@pytest.mark.full
def test_nearest_points_deep_in_a_cylinder_are_on_both():
    """Before, 3 of 10 000 were not, by up to half of the radius."""
    q, found = deep(3, 50_000)
    on_a = Rotation.from_quat(q[:, 3:]).inv().apply(found.on_a[:, 0] - q[:, :3])
    for point in (on_a, found.on_b[:, 0]):
        outside = np.maximum(np.hypot(point[:, 0], point[:, 1]) - 0.15, abs(point[:, 2]) - 0.15)
        assert outside.max() < 1e-4


# --- derivatives ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def every():
    """A floating body of all shapes beside obstacles of all shapes."""
    model = solid_body(*SHAPES)
    q = model.random_configuration(24, seed=4)
    q[:, :3] = 0.6 * np.random.default_rng(4).normal(size=(24, 3))
    return model, q


def pair(a, b):
    """A floating body of one shape and the obstacle of another, as arguments of `clearance`."""
    return solid_body(a), {"pairs": [], "obstacles": [(b, SE3())]}


def near_poses(model, n, seed, least=0.02, most=0.8):
    """Configurations whose places are that far from the origin."""
    rng = np.random.default_rng(seed)
    q, d = model.random_configuration(n, seed=seed), rng.normal(size=(n, 3))
    q[:, :3] = d / np.linalg.norm(d, axis=1)[:, None] * rng.uniform(least, most, size=(n, 1))
    return q


KINDS = list(combinations_with_replacement(range(len(SHAPES)), 2))
SOME = {(1, 3), (5, 5)}
EVERY_KIND = pytest.mark.parametrize(
    "kind",
    [kind if kind in SOME else pytest.param(kind, marks=pytest.mark.full) for kind in KINDS],
    ids=lambda kind: "-".join(type(SHAPES[k]).__name__ for k in kind),
)


def times(shape, factor):
    """A shape that is so many times as large."""
    if isinstance(shape, Hull):
        return Hull(np.multiply(shape.vertices, factor))
    return type(shape)(*(np.multiply(getattr(shape, own.name), factor).tolist() for own in fields(shape)))


@pytest.mark.parametrize(
    "kind",
    [kind if kind == (1, 1) else pytest.param(kind, marks=pytest.mark.full) for kind in KINDS],
    ids=lambda kind: "-".join(type(SHAPES[k]).__name__ for k in kind),
)
def test_distances_go_with_the_size(kind):
    """Failed before in single precision from 1e-9 and 1e8 m on, and in double from 1e8."""
    found = {}
    for size, dtype, bound in ((1.0, "float64", 0.0), (1e-9, "float32", 1e-5), (1e12, "float64", 1e-12)):
        model, given = pair(*(times(SHAPES[k], size) for k in kind))
        q = near_poses(model, 60, seed=sum(kind), least=0.2)
        q[:, :3] *= size
        near = cardan.clearance(model, q.astype(dtype), **given)
        free = cardan.is_free(model, q.astype(dtype), 0.05 * size, **given)
        found[size] = near.distance[:, 0].astype(float) / size
        unsure = abs(found[1.0] - 0.05) < 1e-3
        assert (unsure | (free == (found[1.0] > 0.05))).all()
        apart = found[1.0] > 0.0  # a depth may be another's way out
        np.testing.assert_allclose(found[size][apart], found[1.0][apart], atol=bound)


RIMS = [  # found by chance, of two million poses: where a face's or an axis' end is all but nearest
    (Cylinder(0.10984529894855473, 0.25928288235958075),
     Box((0.3595426066472755, 0.26677032290525476, 0.3735248986536035)),
     (0.4332102898909251, 0.15584513261719823, -0.15819506803767505),
     (-0.6306743819445613, -0.5518504515714823, 0.5199583203511084, -0.16539119733786042)),
    (Cylinder(0.2872858087896868, 0.11301125933114704),
     Ellipsoid((0.25653216331788886, 0.0944723126452796, 0.06001709323425379)),
     (0.10926299822577634, -0.1916858206687605, -0.6654353223099682),
     (-0.5591737327367778, 0.8231039926388668, -0.03911025985141965, -0.09107656939921221)),
    (Cone(0.09856463309169052, 0.31349814662745945), Box((0.452334761394823, 0.1493869733414112, 0.30810008089360913)),
     (-0.30042231219656035, -0.34543745772761264, 0.07063016477565728),
     (0.5087094812633404, 0.46412703886981244, -0.5952376829303554, 0.4141169596652911)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "place", "turn"), RIMS, ids=lambda own: getattr(type(own), "__name__", ""))
def test_points_near_a_rim_are_on_it(a, b, place, turn):
    """They were up to 5e-5 m beside the surface."""
    model, given = pair(a, b)
    near = cardan.clearance(model, np.array([*place, *turn]), **given)
    R = Rotation.from_quat(turn).as_matrix()
    assert abs(from_surface(a, R.T @ (near.on_a[0] - place))) < 1e-14
    assert abs(from_surface(b, near.on_b[0])) < 1e-14


@pytest.mark.slow
@EVERY_KIND
def test_distances_and_derivatives_against_50_digits(kind):
    """Apart and overlapping, away from kinks; second derivatives, too."""
    a, b = (SHAPES[k] for k in kind)
    model, given = pair(a, b)
    q = near_poses(model, 60, seed=sum(kind))
    found, J = cardan.clearance(model, q, **given), cardan.clearance_jacobian(model, q, **given)

    @cardan.function(returns=())
    def distance(model, q):
        return cardan.clearance(model, q, **given).distance[0]

    H = cardan.hessian(distance, "q")(model, q)
    np.testing.assert_allclose(cardan.gradient(distance, "q")(model, q), J[:, 0], atol=1e-13)
    checked = {True: 0, False: 0}
    with mpmath.workdps(DIGITS):
        for k in range(len(q)):
            d = found.distance[k, 0]
            if checked[d > 0.0] == 2 or abs(d) < 1e-3 or is_at_kink(model, q[k], given):
                continue
            R = Rotation.from_quat(q[k, 3:7]).as_matrix()
            points = found.normal[k, 0], found.on_a[k, 0], found.on_b[k, 0]
            exact = ExactDistance(a, R, q[k, :3], b, *points)
            assert abs(float(exact()) - d) < 1e-13
            slopes = [float(exact.slope(j)) for j in range(6)]
            np.testing.assert_allclose(J[k, 0], slopes, rtol=0.0, atol=1e-11)
            for i, j in ((0, 0), (0, 4), (3, 3), (2, 5)):
                np.testing.assert_allclose(H[k, i, j], float(exact.second(i, j)), rtol=1e-7, atol=1e-7)
            checked[d > 0.0] += 1
    assert checked == {True: 2, False: 2}


def is_at_kink(model, q, given, h=1e-4):
    """Whether the normal jumps nearby, or the nearest points run away: other features are as near."""
    moved = cardan.integrate(model, q, h * np.concatenate([np.eye(6), -np.eye(6)]))
    here, there = cardan.clearance(model, q, **given), cardan.clearance(model, moved, **given)
    turned = np.abs(there.normal - here.normal).max()
    return turned > 0.01 or np.abs(there.on_a - here.on_a).max() > 0.01 or np.abs(there.on_b - here.on_b).max() > 0.01


@EVERY_KIND
def test_no_distance_is_less_than_a_separation_nor_more_than_that_of_points(kind):
    """Apart, supporting planes and points on both leave no room for another distance."""
    a, b = (SHAPES[k] for k in kind)
    model, given = pair(a, b)
    q = near_poses(model, 3000, seed=7)
    found = cardan.clearance(model, q, **given)
    n, apart = found.normal[:, 0], found.distance[:, 0] > 0.0
    R = Rotation.from_quat(q[:, 3:7]).as_matrix()
    in_a, on_a = (np.einsum("nji,nj->ni", R, x) for x in (n, found.on_a[:, 0] - q[:, :3]))
    separation = np.einsum("ni,ni->n", n, q[:, :3]) - reach(a, -in_a) - reach(b, n)
    np.testing.assert_allclose(separation, found.distance[:, 0], atol=1e-12)
    off = np.maximum(from_surface(a, on_a), from_surface(b, found.on_b[:, 0]))
    assert off[apart].max() < (1e-7 if Hull in {type(a), type(b)} else 1e-12)
    assert np.quantile(off, 0.99) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("kind", [(1, 2), (2, 4), (3, 5), (5, 5)])
def test_nearest_points_and_normals_have_derivatives(kind):
    model, given = pair(*(SHAPES[k] for k in kind))
    q = near_poses(model, 40, seed=3)

    @cardan.function
    def points(_, q):
        near = cardan.clearance(model, q, **given)
        return {"a": near.on_a[0], "b": near.on_b[0], "n": near.normal[0]}

    found = cardan.derivative(points, "q")(model, q)
    for name, derivative in found.items():
        each = [slopes(lambda x, name=name: points(model, x)[name], model, one, 1e-4) for one in q]
        off = np.abs(derivative - np.stack(each)).max(axis=(-1, -2))
        assert np.quantile(off, 0.85) < 1e-6


@pytest.mark.full
def test_jacobians_are_those_of_differences(every):
    """Of many pairs at once, each along its own joints."""
    model, q = every
    J = cardan.clearance_jacobian(model, q, pairs=[], obstacles=OBSTACLES)
    assert J.shape == (24, len(SHAPES) * len(OBSTACLES), 6)

    def distance(moved):
        return cardan.clearance(model, moved, pairs=[], obstacles=OBSTACLES).distance

    coarse, fine = (np.stack([slopes(distance, model, each, h) for each in q]) for h in (1e-3, 5e-4))
    smooth = np.abs(coarse - fine).max(axis=-1) < 1e-7  # else there is a kink within the differences
    assert smooth.mean() > 0.85
    np.testing.assert_allclose(J[smooth], fine[smooth], rtol=0.0, atol=2e-8)


@pytest.mark.slow
def test_derivatives_of_ones_own_functions_are_right_and_short():
    """Of the least distance, smoothly: the search is written once, and a few lines for each pair."""
    model, obstacles = solid_body(SHAPES[0], SHAPES[2]), [(SHAPES[2], SE3(None, (0.1 * k, 0.6, 0.5))) for k in range(8)]

    @cardan.function(returns=())
    def least(_, q):
        d = cardan.clearance(model, q, pairs=[], obstacles=obstacles).distance
        return -cardan.log(sum(cardan.exp(-5.0 * e) for e in d)) / 5.0

    q = near_poses(model, 24, seed=4)
    d = cardan.clearance(model, q, pairs=[], obstacles=obstacles).distance
    weights = np.exp(-5.0 * d) / np.exp(-5.0 * d).sum(axis=-1, keepdims=True)
    expected = np.einsum("np,npj->nj", weights, cardan.clearance_jacobian(model, q, pairs=[], obstacles=obstacles))
    gradient = cardan.gradient(least, "q")
    np.testing.assert_allclose(gradient(model, q), expected, atol=1e-12)
    operations = least.program(model).operations
    assert operations < 9000
    assert gradient.program(model).operations < operations + 400 * len(d[0])


def test_a_capsule_of_almost_no_length_is_a_sphere():
    """Where on its axis the nearest point is was rounding, and turned the normal."""
    short, ball = solid_body(Capsule(0.1, 1e-12)), solid_body(BALL)
    q, given = near_poses(ball, 60, seed=1), {"pairs": [], "obstacles": [(SHAPES[4], SE3())]}
    found, expected = (cardan.clearance_jacobian(model, q, **given) for model in (short, ball))
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "own", [SHAPES[1], *(pytest.param(s, marks=pytest.mark.full) for s in SHAPES if s != SHAPES[1])]
)
def test_triangles_are_as_far_as_the_box_they_enclose(own):
    """Its surface: what is within touches no triangle."""
    box = SHAPES[2]
    surface = TriangleMesh.of(Hull(list(itertools.product(*([-0.5 * e, 0.5 * e] for e in box.size)))))
    model, q = solid_body(own), near_poses(solid_body(own), 200, seed=2)
    solid, open_ = ({"pairs": [], "obstacles": [(shape, TURNED)]} for shape in (box, surface))
    expected, found = cardan.clearance(model, q, **solid), cardan.clearance(model, q, **open_)
    apart = expected.distance[:, 0] > 0.0
    assert 40 < apart.sum() < 180
    for there, here in zip(found, expected, strict=True):
        np.testing.assert_allclose(there[apart], here[apart], atol=1e-9)
    slopes = (cardan.clearance_jacobian(model, q[apart], **given) for given in (open_, solid))
    np.testing.assert_allclose(*slopes, atol=1e-9)
    for margin in (0.0, 0.05, -0.05):
        free = cardan.is_free(model, q, margin, **open_)
        np.testing.assert_array_equal(free, found.distance[:, 0] > margin)


@pytest.mark.slow
def test_what_crosses_triangles_is_not_free_of_them():
    world = ball_on_triangles()
    q = np.stack([world.initial] * 3)
    q[:, 2] = 0.3, 0.05, -0.3
    near = cardan.clearance(world, q)
    np.testing.assert_allclose(near.distance[:, 0], [0.2, -0.05, 0.2], atol=1e-12)
    np.testing.assert_allclose(near.normal[[0, 2], 0], [(0, 0, 1), (0, 0, -1)], atol=1e-12)
    assert cardan.is_free(world, q).tolist() == [True, False, True]
    keep = cardan.tasks.KeepApart(world, 0.3, band=0.01)
    found = cardan.inverse_kinematics(world.model, [keep], q0=q[0])
    assert found.converged
    assert found.q[2] > 0.4 - 1e-9


def ball_on_triangles():
    b = cardan.WorldBuilder()
    b.add_body("ball")
    b.add_shape("ball", BALL, density=1000.0)
    corners = [(-2.0, -2.0, 0.0), (2.0, -2.0, 0.0), (2.0, 2.0, 0.0), (-2.0, 2.0, 0.0)]
    b.add_shape("world", TriangleMesh(corners, [(0, 1, 2), (0, 2, 3)]), name="ground")
    return b.finalize()


def test_joints_that_move_both_bodies_change_nothing():
    model = solid_arm("capsule")
    J = cardan.clearance_jacobian(model, model.random_configuration(20, seed=0), pairs=["tool/upper_arm_roll"])
    above = [model.v_slice(joint).start for joint in model.joint_names[:3]]
    assert np.all(J[..., above] == 0.0)
    assert np.abs(J).max() > 0.1


# --- as a compiled function -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["capsule", pytest.param("box", marks=pytest.mark.full)])
def test_one_state_is_one_of_a_batch_on_every_target(kind):
    model, obstacles = solid_arm(kind), OBSTACLES[:3]
    q = model.random_configuration(9, seed=5)

    @cardan.function
    def near(_, q):
        return cardan.clearance(model, q, obstacles=obstacles)._asdict()

    together, by_numpy = near(model, q), near.on("numpy")(model, q)
    np.testing.assert_allclose(together["distance"], by_numpy["distance"], atol=1e-12)  # sines are other ones
    for name, found in together.items():
        np.testing.assert_array_equal(found[4], near(model, q[4])[name])
        np.testing.assert_array_equal(found, getattr(cardan.clearance(model, q, obstacles=obstacles), name))


def test_capsules_nearly_along_one_another_cross_in_single_precision_as_in_double():
    """Before, their axes were taken for parallel: 6 of 100 such depths were off by up to 0.6 mm."""
    model, given = pair(Capsule(0.1, 0.4), Capsule(0.08, 0.5))
    rng = np.random.default_rng(7)
    tilt = Rotation.from_rotvec(rng.uniform(-3e-3, 3e-3, size=(1000, 3))).as_quat()
    q = np.concatenate([rng.normal(scale=1e-3, size=(1000, 3)), tilt], axis=1).astype(np.float32)
    exact = cardan.clearance(model, q.astype(float), **given).distance
    np.testing.assert_allclose(cardan.clearance(model, q, **given).distance, exact, atol=2e-7)


SMALL_BESIDE_LARGE = [
    (Box((1e-3, 6e-4, 4e-4)), Cone(400.0, 900.0), 1000.0),
    (Capsule(2e-4, 7e-4), Cone(0.4, 0.9), 1.0),
    (Capsule(2e-4, 7e-4), Hull(((1, 0, 0), (-1, 0.2, 0), (0, 1, 0.3), (0.1, -1, 0), (0, 0, 1))), 1.0),
]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("own", "other", "size"), SMALL_BESIDE_LARGE)
def test_nearest_points_of_small_things_beside_large_ones_are_on_them(own, other, size, dtype):
    """They were up to 1e10 m away, in double precision 30 m: rounding put points between the ends of a short edge."""
    b = cardan.WorldBuilder()
    b.add_body("own", pose=SE3())
    b.add_shape("own", own, density=1.0)
    world, rng = b.finalize(), np.random.default_rng(1)
    directions, turns = rng.normal(size=(20000, 3)), rng.normal(size=(20000, 4))
    places = directions / np.linalg.norm(directions, axis=1)[:, None] * rng.uniform(0.0, 2.0 * size, (20000, 1))
    q = np.concatenate([places, turns / np.linalg.norm(turns, axis=1)[:, None]], axis=1).astype(dtype)
    near = cardan.clearance(world, q, pairs=[], obstacles=[(other, SE3())])
    assert abs(near.on_a - near.on_b - near.normal * near.distance[..., None]).max() < 1e-6 * size
    apart = near.distance[:, 0] > 0.0
    away = np.linalg.norm(near.on_a[:, 0] - q[:, :3], axis=1)[apart]
    assert away.max() < 4e-3 + 1e-6 * size


ALONG = [
    (Box((1.0, 0.1, 0.02)), Box((0.6, 0.5, 0.04))),
    (Hull([(x, y, z) for x in (-0.5, 0.5) for y in (-0.05, 0.05) for z in (-0.01, 0.01)]), Box((0.6, 0.5, 0.04))),
    (Box((1.0, 0.01, 0.01)), Cylinder(0.5, 0.01)),
    (Cylinder(0.01, 1.0), Box((0.6, 0.5, 0.04))),
]


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("own", "other"), ALONG, ids=lambda shape: type(shape).__name__)
def test_nearest_points_of_edges_and_faces_along_one_another_are_on_both(own, other, dtype):
    """One of 100 boxes had a point beside it, by up to half of its length. An edge along a cap had so in float32."""
    rng, n, model = np.random.default_rng(0), 3000, solid_body(own)
    askew = Rotation.from_rotvec([0.3, -0.8, 1.9])
    turns = askew * Rotation.create_group("O")[rng.integers(24, size=n)]
    q = np.concatenate([askew.apply(rng.uniform(-0.8, 0.8, (n, 3))), turns.as_quat()], axis=1).astype(dtype)
    near = cardan.clearance(model, q, obstacles=[(other, SE3(askew.as_matrix(), (0.0, 0.0, 0.0)))])
    is_apart = near.distance[:, 0] > 1e-6
    in_own = turns.inv().apply(near.on_a[:, 0] - q[:, :3])
    off = np.maximum(from_surface(own, in_own), from_surface(other, askew.inv().apply(near.on_b[:, 0])))[is_apart]
    assert is_apart.sum() > 1000
    assert off.max() < (1e-12 if dtype == "float64" else 3e-4)


@pytest.mark.full
def test_single_precision_is_near(every):
    model, q = every
    exact, single = (
        cardan.clearance(model, x, pairs=[], obstacles=OBSTACLES).distance for x in (q, q.astype(np.float32))
    )
    assert single.dtype == np.float32
    error = np.abs(exact - single)
    assert np.quantile(error, 0.99) < 3e-6
    assert error.max() < 2e-4


@pytest.mark.parametrize("margin", [0.0, 0.1, -0.05])
@pytest.mark.full
def test_what_is_free_is_farther_than_the_margin(every, margin):
    model, q = every
    for kinds in OBSTACLES[:2], OBSTACLES[2:4], OBSTACLES[4:]:
        d = cardan.clearance(model, q, pairs=[], obstacles=kinds).distance.min(axis=-1)
        free = cardan.is_free(model, q, margin, pairs=[], obstacles=kinds)
        assert free.dtype == bool
        sure = np.abs(d - margin) > 1e-7
        np.testing.assert_array_equal(free[sure], (d > margin)[sure])


@pytest.mark.parametrize(
    "own", [Sphere(0.1), Box((0.2, 0.1, 0.3)), Ellipsoid((0.1, 0.2, 0.1))], ids=lambda own: repr(own)[:3]
)
def test_terrain_is_kept_away_from(own):
    """A world with a height field could be asked for distances alone: all else was a `KeyError`."""
    rng = np.random.default_rng(0)
    field = HeightField(rng.uniform(0.0, 0.2, (20, 20)), (4.0, 4.0), 0.5), at(0.0, 0.0, -0.1)
    model = solid_body(own)
    q = model.random_configuration((2000,), seed=0)
    q[:, :3] = rng.uniform((-2.6, -2.6, -0.5), (2.6, 2.6, 0.7), (2000, 3))
    given = {"pairs": [], "obstacles": [field]}
    (distance,) = cardan.clearance(model, q, **given).distance.T
    for margin in (0.0, 0.1, -0.05):
        np.testing.assert_array_equal(cardan.is_free(model, q, margin, **given), distance > margin)
    near = np.flatnonzero(np.abs(distance) < 0.1)[:50]
    slope = cardan.clearance_jacobian(model, q[near], **given)[:, 0]
    found = slopes(lambda x: cardan.clearance(model, x, **given).distance[..., 0], model, q[near[0]], 1e-5)
    np.testing.assert_allclose(slope[0], found, atol=1e-8)
    keep = cardan.tasks.KeepApart(model, 0.02, **given)
    apart = cardan.inverse_kinematics(model, [keep], q0=q[near])
    assert apart.converged.mean() > 0.9
    assert cardan.is_free(model, apart.q[apart.converged], 0.02, **given).all()


@pytest.mark.filterwarnings("ignore::cardan.errors.StartWarning")
@pytest.mark.slow
def test_a_state_has_its_own_constants():
    """Worlds with inputs could not be asked at all: no argument took these."""
    world = cardan.robots.quadruped().world("floating", ground=True).with_contacts("*_foot")
    varied = world.with_inputs("parent_pose")
    state = varied.state(3, q=world.model.random_configuration((3,), seed=0))
    state.constants["parent_pose"][1, 1:, 2, 3] -= 0.1  # each link hangs lower than that above it
    given = {"parent_pose": state.constants["parent_pose"]}
    foot = cardan.frame_transform(varied.model, state.q, "front_left_foot", **given)[:, 2, 3] - 0.02  # its radius
    distance = cardan.clearance(varied, state, pairs="front_left_foot").distance[:, 0]
    np.testing.assert_allclose(distance, foot, rtol=1e-12)
    assert (cardan.is_free(varied, state, distance, pairs="front_left_foot") == [False] * 3).all()
    assert cardan.is_free(varied, state, distance - 1e-9, pairs="front_left_foot").all()
    v = 1e-6 * np.ones((3, world.model.nv))
    state.q[:], slope = cardan.integrate(world.model, state.q, v), cardan.clearance_jacobian(varied, state)[:, 0]
    after = cardan.clearance(varied, state).distance[:, 0]
    np.testing.assert_allclose(after - distance, np.einsum("ij,ij->i", slope, v), atol=1e-11)
    of_arrays = (cardan.clearance(of, state.q).distance for of in (varied, world))  # of both the model's own
    np.testing.assert_allclose(*of_arrays, atol=1e-14)
    with pytest.raises(ParameterError, match="state of is_free"):
        cardan.is_free(world, state)


def test_what_is_nan_is_not_free():
    model, far = solid_body(BALL), [(BALL, at(9.0, 9.0, 9.0))]
    q = np.stack([model.neutral()] * 3)
    q[1, 0], q[2, 1] = np.nan, np.inf
    assert cardan.is_free(model, q, obstacles=far).tolist() == [True, False, False]
    assert not cardan.is_free(model, model.neutral(), np.nan, obstacles=far)


def test_what_is_as_near_as_the_margin_is_not_free():
    model = solid_body(Sphere(0.25))
    q = model.neutral()
    q[2] = 0.5
    assert not cardan.is_free(model, q, 0.25, obstacles=[(Plane(), SE3())])


# --- tasks ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_inverse_kinematics_keeps_away_and_its_row_is_smooth():
    model, ball = solid_arm("capsule"), [(Sphere(0.15), at(0.45, 0.0, 0.75))]
    q = model.random_configuration(200, seed=3)
    target = cardan.frame_transform(model, q[cardan.is_free(model, q, 0.05, pairs=[], obstacles=ball)], "tool")
    pose, keep = cardan.tasks.FramePose("tool", target), cardan.tasks.KeepApart(model, 0.02, pairs=[], obstacles=ball)
    careless, careful = (cardan.inverse_kinematics(model, tasks) for tasks in ([pose], [pose, keep]))
    assert careful.converged.all()
    assert cardan.is_free(model, careful.q, 0.02, pairs=[], obstacles=ball).all()
    assert not cardan.is_free(model, careless.q, 0.0, pairs=[], obstacles=ball).all()
    last = cardan.inverse_kinematics(model, [cardan.tasks.FramePose("tool", target[-3:]), keep])
    np.testing.assert_array_equal(last.q, careful.q[-3:])  # whatever else is in the batch

    @cardan.function
    def both(model, q):
        return {"e": keep.error(model, q, 0.1), "J": keep.jacobian(model, q, 0.1)}

    J, found = cardan.derivative(both, "q")(model, q)["e"], both(model, q)
    assert 0.02 < (found["e"] > 0.0).mean() < 0.98
    np.testing.assert_allclose(found["J"], J, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_solutions_among_many_obstacles_are_free_and_there(scale):
    """Of every size, whatever else is in the batch, for any number of threads. Some need a descent with all tasks."""
    model, around = solid_arm("capsule", scale), []
    for k, (x, y, z) in enumerate(np.random.default_rng(0).normal(size=(16, 3))):
        place = np.array([x, y, abs(z)]) * 0.7 / np.linalg.norm((x, y, z))
        shape = (Sphere(0.1 * scale), Box((0.15 * scale, 0.1 * scale, 0.2 * scale)))[k % 2]
        around.append((shape, SE3(translation=tuple(scale * place))))
    given = {"pairs": [], "obstacles": around}
    q = model.random_configuration(3000, seed=1)
    q = q[cardan.is_free(model, q, 0.03 * scale, **given)][:100]
    target, keep = cardan.frame_transform(model, q, "tool")[:, :3, 3], 0.02 * scale

    def solved(target):
        tasks = [
            cardan.tasks.FramePosition("tool", target),
            cardan.tasks.KeepApart(model, keep, band=0.01 * scale, **given),
        ]
        return cardan.inverse_kinematics(model, tasks, tolerance=1e-7 * scale)

    found = solved(target)
    assert found.converged.all()
    assert cardan.is_free(model, found.q, keep, **given).all()
    reached = cardan.frame_transform(model, found.q, "tool")[:, :3, 3]
    assert np.abs(reached - target).max() <= 1.1e-7 * scale
    assert found.restarts.max() > 0
    threads = cardan.num_threads()
    try:
        cardan.set_num_threads(1)
        parts = [solved(target[k : k + 7]) for k in range(0, len(target), 7)]
    finally:
        cardan.set_num_threads(threads)
    for name in ("q", "converged", "residual", "restarts", "iterations"):
        np.testing.assert_array_equal(getattr(found, name), np.concatenate([getattr(part, name) for part in parts]))


def test_velocities_go_round_an_obstacle():
    pytest.importorskip("daqp", reason="needs the extra `qp`")
    model, ball = solid_arm("capsule"), [(Sphere(0.1), at(0.45, 0.0, 0.75))]
    q = np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.5, 0.0])
    keep = cardan.tasks.KeepApart(model, 0.02, band=0.03, pairs=[], obstacles=ball, weight=30.0, gain=0.5)
    for _ in range(60):
        reach = cardan.tasks.FramePosition("tool", (0.45, 0.0, 0.75), gain=0.05)
        v = cardan.solve_ik(model, q, [reach, keep, cardan.tasks.Damping(weight=0.05)], 0.02)
        q = cardan.integrate(model, q, 0.02 * np.asarray(v))
        assert cardan.is_free(model, q, 0.005, pairs=[], obstacles=ball)


# --- pairs ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_pairs_are_those_of_the_world_then_those_of_obstacles():
    world = cardan.robots.quadruped().world("floating", ground=True)
    names = [pair.name for pair in world.pairs]
    assert cardan.clearance(world, world.initial).distance.shape == (len(names),)
    np.testing.assert_allclose(
        cardan.clearance(world, world.initial, pairs=[names[1]]).distance,
        cardan.clearance(world, world.initial).distance[1:2],
    )
    wall = Shape("world", "collision", Box((0.1, 4.0, 4.0)), at(1.0, 0.0, 0.0), "wall")
    solid = sum(shape.role == "collision" for shape in world.shapes if shape.body != "world")
    assert cardan.clearance(world, world.initial, obstacles=[wall]).distance.shape == (len(names) + solid,)
    assert cardan.clearance(world, world.initial, pairs=["wall"], obstacles=[wall]).distance.shape == (solid,)
    assert cardan.clearance(world, world.initial, pairs=[]).distance.shape == (0,)
    assert cardan.clearance_jacobian(world, world.initial, pairs=[]).shape == (0, world.model.nv)
    assert cardan.is_free(world, np.stack([world.initial] * 3), pairs=[]).tolist() == [True] * 3


@pytest.mark.slow
def test_poses_of_obstacles_may_be_arrays():
    model, X = solid_arm("capsule"), np.eye(4)
    X[:3, 3] = 0.4, 0.1, 0.6
    q = model.random_configuration(5, seed=0)
    found, expected = (cardan.clearance(model, q, obstacles=[(BALL, pose)]) for pose in (X, SE3.of(X)))
    np.testing.assert_array_equal(found.distance, expected.distance)
    X[0, 3] = 0.5  # it was copied
    moved = cardan.clearance(model, q, obstacles=[(BALL, X)])
    assert not np.array_equal(found.distance, moved.distance)


def test_a_list_of_obstacles_may_change_between_calls():
    """What was asked for last is known by its entries, not by the list."""
    model, around = solid_body(BALL), [(BALL, at(1.0, 0.0, 0.0))]
    q = placed(model, 0.0, 0.0, 0.0)

    def distances():
        return cardan.clearance(model, q, pairs=[], obstacles=around).distance.tolist()

    assert distances() == distances() == [0.8]
    around.append((BALL, at(2.0, 0.0, 0.0)))
    assert distances() == [0.8, 1.8]
    around[0] = BALL, at(3.0, 0.0, 0.0)
    np.testing.assert_allclose(distances(), [2.8, 1.8])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"pairs": "elbow2"}, UnknownNameError, "elbow"),
        ({"obstacles": [BALL]}, ParameterError, r"obstacle#0.*geometry, pose"),
        ({"obstacles": BALL}, ParameterError, "obstacles.*a list"),
        ({"obstacles": Shape("world", "collision", BALL)}, ParameterError, "obstacles.*a list"),
        ({"obstacles": np.zeros((2, 3))}, ParameterError, r"obstacle#0.*geometry, pose"),
        ({"obstacles": [Shape("tool", "collision", BALL)]}, ParameterError, r"obstacles stand still"),
        (
            {"obstacles": [Shape("world", "visual", BALL)]},
            ParameterError,
            r"role of obstacle#0: got 'visual', expected 'c",
        ),
        ({"obstacles": [(SE3(), BALL)]}, ParameterError, r"obstacle#0.*geometry, pose"),
        ({"obstacles": [(BALL, (0.5, 0.0, 0.5))]}, ParameterError, r"pose of obstacle#0: got \(0.5.*translation=\("),
        ({"obstacles": [(BALL, np.stack([np.eye(4)] * 2))]}, ParameterError, r"(?s)pose of obstacle#0.*shape \(4, 4\)"),
        ({"obstacles": [(Mesh("package://nowhere/x.stl"), SE3())]}, UnsupportedError, "a mesh that cannot be read"),
    ],
)
def test_what_cannot_be_is_named(given, error, message):
    model = solid_arm("capsule")
    with pytest.raises(error, match=message):
        cardan.clearance(model, model.neutral(), **given)


def test_obstacles_in_the_place_of_the_margin_are_named():
    model = solid_arm("capsule")
    with pytest.raises(ParameterError, match=r"margin of is_free: got .*obstacles=\[...\]"):
        cardan.is_free(model, model.neutral(), [(BALL, SE3())])


def test_a_robot_that_cannot_touch_anything_is_not_free_in_silence():
    bare = cardan.robots.arm7().model()
    with pytest.raises(ParameterError, match="collision shape"):
        cardan.is_free(bare, bare.neutral(), obstacles=[(BALL, SE3())])
    with pytest.raises(ParameterError, match="self_collision"):
        cardan.is_free(bare, bare.neutral())
    with pytest.raises(ParameterError, match=r"cardan.World or a cardan.Model"):
        cardan.is_free(cardan.robots.arm7(), bare.neutral())
    keep = cardan.tasks.KeepApart(solid_arm("capsule"), 0.1)
    with pytest.raises(ParameterError, match="one of the robot"):
        cardan.inverse_kinematics(cardan.robots.double_pendulum().model(), keep)
