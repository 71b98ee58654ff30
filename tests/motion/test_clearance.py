"""Clearance: distances of shapes, what they change by as a robot moves, and whether it is free."""

import numpy as np
import pytest

import cardan
from cardan import SE3
from cardan.description import Box, Capsule, Cylinder, Ellipsoid, Hull, Mesh, Plane, Shape, Sphere
from cardan.errors import ParameterError, UnknownNameError, UnsupportedError
from clearance_robots import OBSTACLES, SHAPES, solid_arm, solid_body

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


# --- derivatives ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def every():
    """A floating body of all shapes beside obstacles of all shapes."""
    model = solid_body(*SHAPES)
    q = model.random_configuration(24, seed=4)
    q[:, :3] = 0.6 * np.random.default_rng(4).normal(size=(24, 3))
    return model, q


@pytest.mark.full
def test_derivatives_are_those_of_differences(every):
    model, q = every
    J = cardan.clearance_jacobian(model, q, pairs=[], obstacles=OBSTACLES)
    assert J.shape == (24, len(SHAPES) * len(OBSTACLES), 6)

    def distance(moved):
        return cardan.clearance(model, moved, pairs=[], obstacles=OBSTACLES).distance

    coarse, fine = (np.stack([slopes(distance, model, each, h) for each in q]) for h in (1e-3, 5e-4))
    smooth = np.abs(coarse - fine).max(axis=-1) < 1e-7  # else there is a kink within the differences
    kinds = [{type(own), type(other)} for own in SHAPES for other, _ in OBSTACLES]
    curved = np.array([bool(kind & {Cylinder, Ellipsoid}) for kind in kinds])
    smooth &= distance(q) > np.where(curved, 0.0, -0.05)  # overlapping, searches may end beside the deepest points
    for searched, tolerance in ((curved, 1e-6), (~curved, 1e-9)):
        chosen = smooth & searched
        assert chosen.sum() > 0.6 * 24 * searched.sum()
        np.testing.assert_allclose(J[chosen], fine[chosen], rtol=0.0, atol=tolerance)


@pytest.mark.full
def test_derivatives_of_ones_own_functions_are_right(every):
    """Of the least distance, smoothly: of round shapes and of boxes, which are searched for."""
    model, q = solid_body(SHAPES[0], SHAPES[2]), every[1]

    @cardan.function(returns=())
    def least(_, q):
        d = cardan.clearance(model, q, pairs=[], obstacles=OBSTACLES[:3]).distance
        return -cardan.log(sum(cardan.exp(-5.0 * e) for e in d)) / 5.0

    d = cardan.clearance(model, q, pairs=[], obstacles=OBSTACLES[:3]).distance
    weights = np.exp(-5.0 * d) / np.exp(-5.0 * d).sum(axis=-1, keepdims=True)
    expected = np.einsum("np,npj->nj", weights, cardan.clearance_jacobian(model, q, pairs=[], obstacles=OBSTACLES[:3]))
    np.testing.assert_allclose(cardan.gradient(least, "q")(model, q), expected, atol=1e-12)


def test_second_derivatives_of_round_shapes_are_right():
    model = solid_body(*SHAPES[:2])
    obstacles = [(Capsule(0.1, 0.4), TURNED), (Plane(), SE3())]

    @cardan.function(returns=())
    def total(_, q):
        return sum(cardan.clearance(model, q, pairs=[], obstacles=obstacles).distance)

    q = model.random_configuration(seed=3)
    D = slopes(lambda moved: cardan.gradient(total, "q")(model, moved), model, q, 1e-3)
    np.testing.assert_allclose(cardan.hessian(total, "q")(model, q), 0.5 * (D + D.T), atol=1e-8)


def test_joints_that_move_both_bodies_change_nothing():
    model = solid_arm("capsule")
    J = cardan.clearance_jacobian(model, model.random_configuration(20, seed=0), pairs=["tool/upper_arm_roll"])
    above = [model.v_slice(joint).start for joint in model.joint_names[:3]]
    assert np.all(J[..., above] == 0.0)
    assert np.abs(J).max() > 0.1


# --- as a compiled function -----------------------------------------------------------------------------------------


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


def test_what_is_nan_is_not_free():
    model, far = solid_body(BALL), [(BALL, at(9.0, 9.0, 9.0))]
    q = np.stack([model.neutral()] * 3)
    q[1, 0], q[2, 1] = np.nan, np.inf
    assert cardan.is_free(model, q, obstacles=far).tolist() == [True, False, False]
    assert not cardan.is_free(model, model.neutral(), np.nan, obstacles=far)


# --- tasks ----------------------------------------------------------------------------------------------------------


def test_inverse_kinematics_keeps_away_and_its_row_is_smooth():
    model, ball = solid_arm("capsule"), [(Sphere(0.15), at(0.45, 0.0, 0.75))]
    q = model.random_configuration(200, seed=3)
    target = cardan.frame_transform(model, q[cardan.is_free(model, q, 0.05, pairs=[], obstacles=ball)], "tool")
    pose, keep = cardan.tasks.FramePose("tool", target), cardan.tasks.KeepApart(model, 0.02, pairs=[], obstacles=ball)
    careless, careful = (cardan.inverse_kinematics(model, tasks) for tasks in ([pose], [pose, keep]))
    assert careful.converged.all()
    assert cardan.is_free(model, careful.q, 0.02, pairs=[], obstacles=ball).all()
    assert not cardan.is_free(model, careless.q, 0.0, pairs=[], obstacles=ball).all()

    @cardan.function
    def both(model, q):
        return {"e": keep.error(model, q, 0.1), "J": keep.jacobian(model, q, 0.1)}

    J, found = cardan.derivative(both, "q")(model, q)["e"], both(model, q)
    assert 0.02 < (found["e"] > 0.0).mean() < 0.98
    np.testing.assert_allclose(found["J"], J, atol=1e-12)


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


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"pairs": "elbow2"}, UnknownNameError, "elbow"),
        ({"obstacles": [BALL]}, ParameterError, r"obstacle#0.*geometry, pose"),
        ({"obstacles": [Shape("tool", "collision", BALL)]}, ParameterError, r"obstacles stand still"),
        ({"obstacles": [(Mesh("package://nowhere/x.stl"), SE3())]}, UnsupportedError, "a mesh that cannot be read"),
    ],
)
@pytest.mark.filterwarnings("ignore::cardan.errors.HullWarning")
def test_what_cannot_be_is_named(given, error, message):
    model = solid_arm("capsule")
    with pytest.raises(error, match=message):
        cardan.clearance(model, model.neutral(), **given)


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
