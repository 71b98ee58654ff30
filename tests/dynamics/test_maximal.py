"""Poses and twists of links, from coordinates and back; inverses of joints near a configuration."""

import mpmath as mp
import numpy as np
import pytest

import cardan
from cardan._robot.joints.quantities import angle_coordinates
from cardan.errors import ConfigurationError, ShapeError
from cardan.joints import (
    CATALOGUE,
    Cable,
    Composite,
    Ellipsoid,
    Fixed,
    FloatingMRP,
    FreeFlyer,
    Helical,
    Joint,
    Mimic,
    Revolute,
    Spherical,
    SphericalZYX,
    UnboundedRevolute,
    VariableScrew,
)
from mechanisms import random_inertia, random_model, random_pose, random_state
from representatives import represented

pytestmark = pytest.mark.usefixtures("quick_target")
TURN = 2.0 * np.pi
COUNT = 40


class Cam(Joint):
    """A user's joint: a hinge that slides as it turns, with nothing but a transform."""

    manifold = cardan.manifolds.Euclidean(1)

    def transform(self, q):
        c, s = cardan.cos(q[0]), cardan.sin(q[0])
        R = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
        return cardan.SE3(rotation=R, translation=[0.1 * cardan.sin(2.0 * q[0]), 0.0, 0.05 * c])


class Lift(Cam):
    """The same with a closed form, which knows of nothing but the pose."""

    def nearest_configuration(self, X_pc):
        return (cardan.spatial.rotations.angle_about_axis((0.0, 0.0, 1.0), X_pc.rotation),)


MOVING = [j for j in (*CATALOGUE, Cam(), Lift()) if not (j.primaries or isinstance(j, Fixed))]
OF_EACH_KIND = (Revolute, Helical, UnboundedRevolute, SphericalZYX, FreeFlyer, FloatingMRP, Ellipsoid, Cable, Lift)
every = pytest.mark.parametrize("joint", MOVING, ids=lambda j: type(j).__name__)
of_each_kind = pytest.mark.parametrize(
    "joint", represented(MOVING, by=lambda j: isinstance(j, OF_EACH_KIND)), ids=lambda j: type(j).__name__
)


def one_joint(joint):
    """A mechanism of one joint, at awkward places of its two bodies."""
    rng = np.random.default_rng(4)
    m = cardan.Mechanism("one")
    m.add_body("link", random_inertia(rng))
    m.add_body("plate", random_inertia(rng))
    m.add_joint("joint", joint, "world", "link", random_pose(rng), random_pose(rng))
    m.add_joint("weld", Fixed(), "link", "plate", random_pose(rng))
    return m.model()


def far_states(joint, model, seed=1):
    """States at angles of several turns, and configurations 0.1 away."""
    rng = np.random.default_rng(seed)
    q, v = model.random_configuration((COUNT,), seed=seed), rng.normal(size=(COUNT, model.nv))
    for i in angle_coordinates(joint):
        q[:, i] += TURN * rng.integers(-2, 3, size=COUNT)
    return q, v, cardan.integrate(model, q, 0.1 / np.sqrt(model.nv) * rng.uniform(-1.0, 1.0, size=(COUNT, model.nv)))


# --- there and back ---


@every
def test_eval_ik_of_eval_fk_is_the_identity_near_a_configuration(joint):
    model = one_joint(joint)
    q, v, near = far_states(joint, model)
    found = cardan.eval_ik(model, *cardan.eval_fk(model, q, v), near=near)
    assert np.abs(found.residual).max() < 1e-10
    regular = np.linalg.cond(np.array([np.array(joint.subspace(e).rows(), dtype=float) for e in q])) < 30.0
    images = np.array([joint.manifold.nearest_image(a, b) for a, b in zip(q, near, strict=True)], dtype=float)
    assert regular.mean() > 0.7
    np.testing.assert_allclose(found.q[regular], images[regular], atol=1e-9)
    np.testing.assert_allclose(found.v[regular], v[regular], atol=1e-8)


@of_each_kind
def test_without_a_configuration_near_by_the_pose_is_found(joint):
    model = one_joint(joint)
    q, v, _ = far_states(joint, model)
    poses, twists = cardan.eval_fk(model, q, v)
    found = cardan.eval_ik(model, poses, twists)
    closed = np.abs(found.residual).max(axis=(1, 2)) < 1e-9
    assert closed.mean() >= (0.9 if isinstance(joint, Composite) else 1.0)
    again = cardan.eval_fk(model, found.q, found.v)
    regular = closed & (np.linalg.cond(np.array([np.array(joint.subspace(e).rows(), float) for e in found.q])) < 1e4)
    np.testing.assert_allclose(np.abs(again.poses[regular]), np.abs(poses[regular]), atol=1e-8)
    np.testing.assert_allclose(again.twists[regular], twists[regular], atol=1e-8)


@of_each_kind
def test_single_precision_comes_back(joint):
    model = one_joint(joint)
    q, v, near = (x.astype(np.float32) for x in far_states(joint, model))
    found = cardan.eval_ik(model, *cardan.eval_fk(model, q, v), near=near)
    assert found.q.dtype == found.v.dtype == found.residual.dtype == np.float32
    assert np.abs(found.residual).max() < 5e-4
    regular = np.linalg.cond(np.array([np.array(joint.subspace(e).rows(), dtype=float) for e in q])) < 30.0
    np.testing.assert_allclose(found.v[regular], v[regular], atol=2e-2)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.full)])
def test_random_mechanisms_come_back(seed):
    """Every joint type in one tree, floating, a mimic among them."""
    model = random_model(seed)
    q, v, _ = random_state(model, seed, (3, 2))
    poses, twists = cardan.eval_fk(model, q, v)
    assert poses.shape == (3, 2, model.nlinks, 7)
    assert twists.shape == (3, 2, model.nlinks, 6)
    near = cardan.integrate(model, q, np.full(model.nv, 0.02))
    found = cardan.eval_ik(model, poses, twists, near=near)
    assert found.residual.shape == (3, 2, model.nlinks, 6)
    assert np.abs(found.residual).max() < 1e-9
    np.testing.assert_allclose(cardan.difference(model, q, found.q), 0.0, atol=1e-8)
    again = cardan.eval_fk(model, found.q, found.v)
    np.testing.assert_allclose(again.twists, twists, atol=1e-8)


def test_the_residual_can_be_left_out():
    model = cardan.robots.arm7().model()
    q = model.random_configuration((5,), seed=0)
    poses, twists = cardan.eval_fk(model, q, q)
    whole, pair = cardan.eval_ik(model, poses, twists), cardan.eval_ik(model, poses, twists, residual=False)
    np.testing.assert_array_equal(pair[0], whole.q)
    np.testing.assert_array_equal(pair[1], whole.v)
    operations = [cardan.eval_ik.program(model, residual=wanted).operations for wanted in (False, True)]
    assert operations[0] < 0.6 * operations[1]


# --- what the parts say ---


def test_links_are_the_children_of_moving_joints_in_document_order():
    m = cardan.Mechanism("m")
    for name in ("c", "a", "b", "d"):
        m.add_body(name, random_inertia(np.random.default_rng(0)))
    m.add_joint("third", Revolute(), "a", "b")
    m.add_joint("weld", Fixed(), "b", "c")
    m.add_joint("first", Spherical(), "world", "a")
    m.add_joint("copy", Mimic(Revolute(), "third"), "c", "d")
    model = m.model()
    assert model.link_names == ("b", "a", "d")
    assert model.nlinks == 3
    poses, twists = cardan.eval_fk(model, model.neutral(), np.ones(model.nv))
    X = cardan.frame_transform(model, model.neutral(), model.link_names)
    np.testing.assert_array_equal(poses[:, :3], X[:, :3, 3])
    V = cardan.frame_velocity(model, model.neutral(), np.ones(model.nv), model.link_names, expressed_in="frame")
    np.testing.assert_allclose(twists, V, atol=1e-15)


def test_what_does_not_lie_in_the_joint_is_the_residual():
    model = one_joint(Revolute((0.0, 0.0, 1.0)))
    (c,) = [c for c in model.connections if c.name == "joint"]
    lifted = (
        c.parent_pose @ cardan.SE3(translation=(0.0, 0.0, 0.01)) @ c.joint.transform((0.3,)) @ c.child_pose.inverse()
    )
    quaternion = [float(e) for e in cardan.spatial.rotations.quaternion_xyzw_from_matrix(lifted.rotation)]
    poses = [[*map(float, lifted.translation), *quaternion]]
    found = cardan.eval_ik(model, poses, np.zeros((1, 6)))
    np.testing.assert_allclose(found.q, 0.3, atol=1e-15)
    np.testing.assert_allclose(found.residual, [[0.0, 0.0, 0.01, 0.0, 0.0, 0.0]], atol=1e-15)


def test_a_mimic_that_does_not_follow_is_seen():
    def pair(joint):
        m = cardan.Mechanism("pair")
        for k, own in enumerate((Revolute(), joint)):
            m.add_body(f"b{k}", random_inertia(np.random.default_rng(k)))
            m.add_joint(f"j{k}", own, "world", f"b{k}")
        return m.model()

    poses, twists = cardan.eval_fk(pair(Revolute()), [0.2, 0.5], [1.0, 2.0])
    follows = cardan.eval_ik(pair(Mimic(Revolute(), "j0", 2.0, 0.1)), poses, twists)
    np.testing.assert_allclose(follows.residual, 0.0, atol=1e-15)
    np.testing.assert_allclose(follows.v, [1.0], atol=1e-15)
    strays = cardan.eval_ik(pair(Mimic(Revolute(), "j0", 2.0)), poses, twists)
    np.testing.assert_allclose(strays.residual[1], [0.0, 0.0, 0.0, 0.0, 0.0, 0.1], atol=1e-15)


def test_bad_maximal_states_are_refused():
    model = one_joint(Spherical())
    with pytest.raises(ShapeError, match="poses"):
        cardan.eval_ik(model, np.zeros((2, 7)), np.zeros((1, 6)))
    with pytest.raises(ConfigurationError, match="near"):
        cardan.eval_ik(model, np.ones((1, 7)), np.zeros((1, 6)), near=np.zeros(4))


# --- the joints' own inverses ---


def test_angles_are_those_by_which_the_pose_has_a_period():
    found = {type(j).__name__: angle_coordinates(j) for j in (*CATALOGUE, Cam())}
    none = "Fixed Prismatic Helical VariableScrew Translation Spherical FreeFlyer FloatingMRP Planar UnboundedRevolute "
    none += "Cable Spline OpenSimCustom Distance Mimic Coupled"
    assert [n for n, angles in found.items() if not angles] == [n for n in found if n in none.split()]
    assert found["PlanarAngle"] == (2,)
    assert found["D6"] == (2, 3, 4)
    assert found["Cam"] == (0,)
    assert angle_coordinates(Helical(pitch=0.0)) == (0,)  # a hinge, whatever it is called
    assert angle_coordinates(Mimic(Revolute(), "p", multiplier=2.0)) == (0,)


def test_turns_are_counted_from_near_in_both_directions():
    for turns in (-3.0, 0.0, 5.0):
        (q,) = Revolute().nearest_configuration(Revolute().transform((0.4,)), (0.4 + TURN * turns + 3.0,))
        assert q == pytest.approx(0.4 + TURN * turns, abs=1e-14)
    (q,) = Lift().nearest_configuration(Lift().transform((0.4,)), (7.0,))  # a closed form that knows of no `near`
    assert q == pytest.approx(0.4 + TURN, abs=1e-14)
    screw = VariableScrew(pitch=(0.2, 0.0))
    (q,) = screw.nearest_configuration(screw.transform((90.0,)), (91.0,))  # beyond the turns it looks at by itself
    assert q == pytest.approx(90.0, abs=1e-12)


def test_the_nearer_of_two_images_is_taken():
    q = (0.1, 0.2, -0.3, 0.9)
    X = Spherical().transform(q)
    np.testing.assert_allclose(
        Spherical().nearest_configuration(X, tuple(-e for e in q)), -np.array(q) / np.linalg.norm(q), atol=1e-15
    )
    s = (0.1, 0.2, 0.3, 0.9, 0.4, -0.6)  # longer than 1
    found = FloatingMRP().nearest_configuration(FloatingMRP().transform(s), s)
    np.testing.assert_allclose(found, s, atol=1e-14)
    bend = (0.2, 5.0, -1.0)
    np.testing.assert_allclose(Cable().nearest_configuration(Cable().transform(bend), bend), bend, atol=1e-14)


def test_searches_take_numbers_batches_and_symbols():
    cam, q = Cam(), np.array([0.4, 7.0, -2.0])
    X = cardan.SE3.of(np.stack([np.asarray(cam.transform((e,))) for e in q]))
    (found,) = cam.nearest_configuration(X, (q + 0.1,))
    np.testing.assert_allclose(found, q, atol=1e-12)
    (exact,) = cam.nearest_configuration(cam.transform((mp.mpf("0.4"),)), (mp.mpf("0.45"),))
    assert abs(exact - mp.mpf("0.4")) < 1e-12


@pytest.mark.slow
def test_coordinates_of_a_searched_joint_are_converted_to():
    """A joint that closes a loop in one tree is in the other: its coordinate is found by the search written out."""
    m = cardan.Mechanism("two ways")
    m.add_body("a", random_inertia(np.random.default_rng(0)))
    m.add_joint("cam", Cam(), "world", "a", random_pose(np.random.default_rng(1)))
    m.add_joint("free", cardan.joints.FreeFlyer(), "world", "a")
    by_cam, by_free = m.model(closing=["free"]), m.model(closing=["cam"])
    q = np.linspace(-1.5, 1.5, 7)[:, None]
    there, back = cardan.converter(by_cam, by_free), cardan.converter(by_free, by_cam, drop=["free"])
    poses = there.configuration(q)
    np.testing.assert_allclose(back.configuration(poses), q, atol=1e-12)
    np.testing.assert_allclose(cardan.loop_residual(by_free, poses), 0.0, atol=1e-12)
