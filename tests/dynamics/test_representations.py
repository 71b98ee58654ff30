"""Velocity representations of the base: laws that hold in each, on random floating trees of every joint type."""

import pickle

import numpy as np
import pytest

import cardan
from cardan import joints as J
from closeness import close
from mechanisms import central_difference, random_mechanism, random_model, random_pose, random_state, times

KINDS = ("body", "inertial", "mixed")
AT = {"body": ("frame", "frame"), "inertial": ("world", "world"), "mixed": ("frame", "world")}


@pytest.fixture(autouse=True)
def quick_target_but_for_batches(request):
    if "batches" not in request.node.name:
        request.getfixturevalue("quick_target")


@pytest.fixture(
    scope="module", params=[J.CATALOGUE[1:17:5], pytest.param(J.CATALOGUE, marks=pytest.mark.full)], ids=len
)
def model(request):
    return random_model(3, joints=request.param)


@pytest.fixture(params=KINDS)
def case(model, request):
    q, v, a = random_state(model, 5)
    r = cardan.representation(model, request.param)
    return model, r, q, v, a, r.velocity(q, v), r.acceleration(q, v, a)


def moved(model, q, v, s):
    return cardan.integrate(model, q, s * v)


def test_base_velocity_is_that_of_its_frame(case):
    model, r, q, v, _, w, _ = case
    assert r.base_joints == ("root",)
    at, axes = AT[r.representation]
    close(w[:6], cardan.frame_velocity(model, q, v, "body", at=at, expressed_in=axes))
    np.testing.assert_array_equal(w[6:], v[6:])


def test_acceleration_is_the_derivative_of_the_components(case):
    model, r, q, v, a, _, b = case
    close(b, central_difference(lambda s: r.velocity(moved(model, q, v, s), v + s * a)), 1e-8)


def test_round_trips_and_power(case):
    model, r, q, v, a, w, b = case
    tau = np.random.default_rng(2).normal(size=model.nv)
    close(r.from_velocity(q, w), v, 1e-13)
    close(r.from_acceleration(q, w, b), a, 1e-12)
    close(r.from_effort(q, r.effort(q, tau)), tau, 1e-13)
    close(r.effort(q, tau) @ w, tau @ v, 1e-13)
    np.testing.assert_array_equal(r.configuration(q), q)
    M, A = cardan.mass_matrix(model, q), np.random.default_rng(3).normal(size=(4, model.nv))
    close(r.from_mass_matrix(q, r.mass_matrix(q, M)), M, 1e-12)
    close(r.from_jacobian(q, r.jacobian(q, A)), A, 1e-12)
    close(times(r.jacobian(q, A), w), A @ v, 1e-12)


def test_equation_of_motion(case):
    model, r, q, v, a, w, b = case
    tau = r.effort(q, cardan.inverse_dynamics(model, q, v, a))
    close(times(r.mass_matrix(q), b) + r.bias_forces(q, v), tau)
    gravity = r.effort(q, cardan.gravity_forces(model, q))
    close(times(r.coriolis_matrix(q, v), w) + gravity, r.bias_forces(q, v))
    close(0.5 * w @ times(r.mass_matrix(q), w), cardan.kinetic_energy(model, q, v))


def test_mass_rate_minus_twice_coriolis_is_skew(case):
    """iDynTree's is not, with a moving base (FACTS 7)."""
    model, r, q, v, *_ = case
    rate = central_difference(lambda s: r.mass_matrix(moved(model, q, v, s)))
    C = r.coriolis_matrix(q, v)
    close(C + C.T, rate, 1e-8)


@pytest.mark.parametrize("of", [None, *KINDS])
def test_frames(case, of):
    model, r, q, v, a, w, b = case
    at, axes = AT[of or r.representation]
    options = {"at": at, "expressed_in": axes}
    twist = cardan.frame_velocity(model, q, v, "frame3", **options)
    rate = cardan.frame_acceleration(model, q, v, a, "frame3", **options)
    close(r.frame_velocity(q, w, "frame3", of), twist)
    close(r.frame_acceleration(q, w, b, "frame3", of), rate)
    jacobian, change = r.frame_jacobian(q, "frame3", of), r.frame_jacobian_derivative(q, w, "frame3", of)
    close(times(jacobian, w), twist)
    close(times(jacobian, b) + times(change, w), rate)
    close(change, central_difference(lambda s: r.frame_jacobian(moved(model, q, v, s), "frame3", of)), 1e-8)


@pytest.mark.slow
def test_several_frames_are_one_program(case):
    _, r, q, _, _, w, b = case
    names = ("frame1", "frame3", "body2")
    for found, one in (
        (r.frame_velocity(q, w, names), lambda f: r.frame_velocity(q, w, f)),
        (r.frame_acceleration(q, w, b, names), lambda f: r.frame_acceleration(q, w, b, f)),
        (r.frame_jacobian(q, names, "mixed"), lambda f: r.frame_jacobian(q, f, "mixed")),
        (r.frame_jacobian_derivative(q, w, names), lambda f: r.frame_jacobian_derivative(q, w, f)),
    ):
        assert len(found) == 3
        for part, name in zip(found, names, strict=True):
            close(part, one(name), 1e-13)


def test_momentum_and_wrenches(case):
    model, r, q, v, _, w, _ = case
    h = r.momentum(q, w)
    close(times(r.momentum_matrix(q), w), h)
    still = cardan.frame_velocity(model, q, v, "body", at="body", expressed_in="body")
    f = np.random.default_rng(4).normal(size=6)
    force = r.wrench(q, f, "body")
    close(r.from_wrench(q, force, "body"), f, 1e-13)
    close(force @ w[:6], f @ still, 1e-12)
    X = cardan.frame_transform(model, q, "body")
    at_com = cardan.centroidal_momentum(model, q, v)
    com = cardan.center_of_mass(model, q)
    about = {"inertial": np.zeros(3)}.get(r.representation, X[:3, 3])
    expected = np.concatenate([at_com[:3], at_com[3:] + np.cross(com - about, at_com[:3])])
    if r.representation == "body":
        expected = np.concatenate([X[:3, :3].T @ expected[:3], X[:3, :3].T @ expected[3:]])
    close(h, expected)


def test_base_on_a_tilted_frame_with_mrp():
    """World axes are the world's, not those of the base joint's parent frame."""
    rng = np.random.default_rng(8)
    m = random_mechanism(1, joints=[J.Revolute((0, 0, 1)), J.Spherical()])
    m.add_joint("base", J.FloatingMRP(), "world", "body", random_pose(rng), random_pose(rng))
    model = m.model()
    q, v, a = random_state(model, 2)
    for kind in KINDS:
        r = cardan.representation(model, kind)
        own = model.v_slice("base")
        b = r.acceleration(q, v, a)
        close(b, central_difference(lambda s, r=r: r.velocity(moved(model, q, v, s), v + s * a)), 1e-8)
        if kind == "mixed":
            X = model.connection("base")
            at_joint = cardan.frame_velocity(model, q, v, "body", expressed_in="world")
            shift = cardan.frame_transform(model, q, "body")[:3, :3] @ np.array(X.child_pose.translation)
            expected = np.concatenate([at_joint[:3] + np.cross(at_joint[3:], shift), at_joint[3:]])
            close(r.velocity(q, v)[own], expected)
        close(times(r.mass_matrix(q), b) + r.bias_forces(q, v), r.effort(q, cardan.inverse_dynamics(model, q, v, a)))


def test_batches_float32_and_fixed_base():
    model = random_model(3, joints=[J.Revolute((0, 0, 1))])
    q, v, _ = random_state(model, 1, (3, 1, 2))
    r = cardan.representation(model, "mixed")
    assert r.velocity(q, v).shape == (3, 1, 2, model.nv)
    assert r.frame_jacobian(q, "body").shape == (3, 1, 2, 6, model.nv)
    assert r.velocity(q.astype("f4"), v.astype("f4")).dtype == np.float32
    fixed = random_model(3, joints=[J.Revolute((0, 0, 1))], base="fixed")
    q, v, _ = random_state(fixed, 1)
    r = cardan.representation(fixed, "inertial")
    assert r.base_joints == ()
    np.testing.assert_array_equal(r.velocity(q, v), v)
    at_origin = cardan.frame_velocity(fixed, q, v, "body0", at="world")
    close(r.frame_velocity(q, v, "body0"), at_origin)


class Drifting(J.Joint):
    """A user's free joint: X = (R, p), its velocity the twist, written as a product of what ships."""

    manifold = J.FreeFlyer().manifold

    def transform(self, q):
        return J.FreeFlyer().transform(q)

    def motion_subspace(self, q):
        return J.FreeFlyer().motion_subspace(q)


def test_a_base_is_what_moves_freely_whatever_its_class():
    rng = np.random.default_rng(0)
    m = random_mechanism(1, joints=[J.Revolute((0, 0, 1))])
    pose = random_pose(rng)
    models = []
    for joint in (J.FreeFlyer(), Drifting(), J.Composite((J.Translation(), J.Spherical()))):
        made = m.copy()
        made.add_joint("base", joint, "world", "body", pose)
        models.append(made.model())
    q, v, _ = random_state(models[0], 0)
    expected, found = (cardan.representation(model, "mixed") for model in models[:2])
    np.testing.assert_array_equal(found.velocity(q, v), expected.velocity(q, v))
    assert cardan.representation(models[2], "mixed").base_joints == ()  # its v is no twist
    again = pickle.loads(pickle.dumps(expected))
    np.testing.assert_array_equal(again.mass_matrix(q), expected.mass_matrix(q))


def test_refusals(model):
    with pytest.raises(cardan.errors.UnknownNameError, match="did you mean 'mixed'"):
        cardan.representation(model, "mixd")
    r = cardan.representation(model, "body")
    with pytest.raises(cardan.errors.UnknownNameError, match="there is no frame named 'nowhere'"):
        r.frame_jacobian(model.neutral(), "nowhere")
    with pytest.raises(cardan.errors.ShapeError, match="rows"):
        r.jacobian(model.neutral(), np.zeros(model.nv))
    with pytest.raises(cardan.errors.MechanismError, match="has inputs"):
        cardan.representation(model.with_inputs("gravity"), "body")


@pytest.mark.parametrize("convert", [cardan.spatial.represented, cardan.spatial.in_body])
@pytest.mark.parametrize("name", ["world", "MIXED", None])
def test_a_twist_is_in_no_representation_that_does_not_exist(convert, name):
    with pytest.raises(cardan.errors.UnknownNameError, match="representation"):
        convert(cardan.Motion((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)), cardan.SE3(), name)
