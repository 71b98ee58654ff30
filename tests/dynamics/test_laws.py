"""Laws of physics on random trees with every joint type: fixed and floating base, batches, both dtypes."""

from dataclasses import replace

import numpy as np
import pytest

import cardan
from cardan.joints import CATALOGUE
from mechanisms import central_difference, random_model, random_state, times
from representatives import represented

SMALL = CATALOGUE[
    1:17:3
]  # on the native target always: what ships; tree 0 and OTHERS there with --full, the rest never
OTHERS = (*CATALOGUE[2::4], CATALOGUE[-1])
TREES = [("small", "floating"), ("others", "floating")]
MORE = [
    ("small", "fixed"),
    ("inwards", "floating"),
    *((seed, base) for seed in range(4) for base in ("fixed", "floating")),
]


@pytest.fixture(scope="module", params=[*TREES, *(pytest.param(t, marks=pytest.mark.full) for t in MORE)], ids=str)
def model(request):
    seed, base = request.param
    few = {"small": SMALL, "others": OTHERS, "inwards": SMALL}.get(seed)
    return random_model(4, joints=few, base=base, inwards=seed == "inwards") if few else random_model(seed, base=base)


@pytest.fixture(autouse=True)
def quick_target_for_large_trees(request):
    tree = request.node.callspec.params["model"][0] if "model" in request.fixturenames else "small"
    if tree != "small":
        request.getfixturevalue("quick_target" if tree in (0, "others") else "reference_target")


@pytest.fixture(scope="module")
def state(model):
    return random_state(model, seed=7, shape=(3,))


def scale(x):
    return 1.0 + np.abs(x).max()


def test_forward_after_inverse_dynamics_is_the_identity(model, state):
    q, v, a = state
    tau = cardan.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(cardan.forward_dynamics(model, q, v, tau), a, atol=1e-10 * scale(tau))


def test_forward_after_inverse_dynamics_with_external_forces(model, state):
    q, v, a = state
    f = np.random.default_rng(1).normal(size=(3, model.nbodies, 6))
    tau = cardan.inverse_dynamics(model, q, v, a, f)
    np.testing.assert_allclose(cardan.forward_dynamics(model, q, v, tau, f), a, atol=1e-10 * scale(tau))


def test_external_forces_act_through_the_body_jacobians(model, state):
    q, v, a = state
    f = np.random.default_rng(1).normal(size=(3, model.nbodies, 6))
    felt = cardan.inverse_dynamics(model, q, v, a) - cardan.inverse_dynamics(model, q, v, a, f)
    expected = sum(
        times(np.swapaxes(cardan.jacobian(model, q, body, expressed_in="frame"), -1, -2), f[:, k])
        for k, body in enumerate(model.body_names)
    )
    np.testing.assert_allclose(felt, expected, atol=1e-11 * scale(expected))


def test_inverse_dynamics_is_mass_matrix_and_bias(model, state):
    q, v, a = state
    M, bias = cardan.mass_matrix(model, q), cardan.bias_forces(model, q, v)
    np.testing.assert_allclose(times(M, a) + bias, cardan.inverse_dynamics(model, q, v, a), atol=1e-11 * scale(bias))


@pytest.mark.slow
def test_joints_may_be_listed_before_those_that_carry_them(quick_target):
    """The inverse of the mass matrix was wrong: it took factors for those of a tree, whose coordinates go outwards."""
    model = random_model(4, joints=SMALL, inwards=True)
    q, v, a = random_state(model, seed=7)
    inverse, tau = cardan.mass_matrix_inverse(model, q), cardan.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(cardan.mass_matrix(model, q) @ inverse, np.eye(model.nv), atol=1e-10)
    np.testing.assert_allclose(cardan.forward_dynamics(model, q, v, tau), a, atol=1e-10 * scale(tau))
    by = cardan.forward_dynamics_derivatives(model, q, v, tau)
    np.testing.assert_allclose(by.dtau, inverse, atol=1e-10 * scale(inverse))


def test_mass_matrix_is_symmetric_positive_definite_and_inverted(model, state):
    M = cardan.mass_matrix(model, state[0])
    np.testing.assert_array_equal(M, np.swapaxes(M, -1, -2))
    assert np.linalg.eigvalsh(M).min() > 0.0
    inverse = cardan.mass_matrix_inverse(model, state[0])
    np.testing.assert_array_equal(inverse, np.swapaxes(inverse, -1, -2))
    np.testing.assert_allclose(M @ inverse, np.broadcast_to(np.eye(model.nv), M.shape), atol=1e-10)


def test_kinetic_energy_is_half_vMv(model, state):
    q, v, _ = state
    expected = 0.5 * np.einsum("bi,bij,bj->b", v, cardan.mass_matrix(model, q), v)
    np.testing.assert_allclose(cardan.kinetic_energy(model, q, v), expected, rtol=1e-12)


def test_coriolis_matrix_gives_the_bias(model, state):
    q, v, _ = state
    bias, gravity = cardan.bias_forces(model, q, v), cardan.gravity_forces(model, q)
    np.testing.assert_allclose(times(cardan.coriolis_matrix(model, q, v), v) + gravity, bias, atol=1e-11 * scale(bias))


def test_mass_matrix_rate_minus_twice_coriolis_is_skew(model, state):
    q, v, _ = state
    rate = central_difference(lambda s: cardan.mass_matrix(model, cardan.integrate(model, q, s * v)))
    N = rate - 2.0 * cardan.coriolis_matrix(model, q, v)
    np.testing.assert_allclose(N + np.swapaxes(N, -1, -2), 0.0, atol=1e-7 * scale(rate))


def test_power_balance(model, state):
    """The power of the efforts is the rate of kinetic plus potential energy along the motion."""
    q, v, a = state

    def energy(s):
        moved = cardan.integrate(model, q, s * v)  # to first order, all that matters
        return cardan.kinetic_energy(model, moved, v + s * a) + cardan.potential_energy(model, moved)

    power = np.einsum("bi,bi->b", cardan.inverse_dynamics(model, q, v, a), v)
    np.testing.assert_allclose(power, central_difference(energy), atol=1e-6 * scale(power))


def test_gravity_forces_are_the_gradient_of_potential_energy(model, state):
    q, v, _ = state
    slope = central_difference(lambda s: cardan.potential_energy(model, cardan.integrate(model, q, s * v)))
    np.testing.assert_allclose(
        np.einsum("bi,bi->b", cardan.gravity_forces(model, q), v), slope, atol=1e-6 * scale(slope)
    )


def test_momentum_rate_is_its_derivative_and_the_external_wrench(model, state):
    q, v, a = state
    rate = cardan.centroidal_momentum_rate(model, q, v, a)
    derivative = central_difference(
        lambda s: cardan.centroidal_momentum(model, cardan.integrate(model, q, s * v), v + s * a)
    )
    np.testing.assert_allclose(rate, derivative, atol=1e-6 * scale(rate))


@pytest.mark.usefixtures("quick_target")
@pytest.mark.slow
def test_momentum_of_a_free_robot_changes_by_gravity_alone():
    model = random_model(3, base="floating", armature=False)
    q, v, _ = random_state(model, seed=2)
    tau = np.random.default_rng(0).normal(size=model.nv)
    tau[:6] = 0.0  # nothing holds the base
    a = cardan.forward_dynamics(model, q, v, tau)
    expected = [0.0, 0.0, -9.81 * model.mass, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(cardan.centroidal_momentum_rate(model, q, v, a), expected, atol=1e-9 * 9.81 * model.mass)


def test_momentum_matrix_and_centre_of_mass(model, state):
    q, v, _ = state
    momentum = cardan.centroidal_momentum(model, q, v)
    np.testing.assert_allclose(
        times(cardan.centroidal_momentum_matrix(model, q), v), momentum, atol=1e-11 * scale(momentum)
    )
    velocity = cardan.center_of_mass_velocity(model, q, v)
    np.testing.assert_allclose(momentum[:, :3], model.mass * velocity, atol=1e-11 * scale(momentum))
    np.testing.assert_allclose(
        times(cardan.center_of_mass_jacobian(model, q), v), velocity, atol=1e-12 * scale(velocity)
    )
    moved = central_difference(lambda s: cardan.center_of_mass(model, cardan.integrate(model, q, s * v)))
    np.testing.assert_allclose(velocity, moved, atol=1e-7 * scale(velocity))


def test_centre_of_mass_is_the_mean_of_the_bodies(model, state):
    poses = cardan.forward_kinematics(model, state[0])
    masses = np.array([b.inertia.mass for b in model.bodies])
    coms = np.array([[*b.inertia.com, 1.0] for b in model.bodies])
    mean = np.einsum("b,tbij,bj->ti", masses, poses, coms)[:, :3] / masses.sum()
    np.testing.assert_allclose(cardan.center_of_mass(model, state[0]), mean, atol=1e-12)


def test_torque_regressor(model, state):
    q, v, a = state
    Y = cardan.torque_regressor(model, q, v, a)
    without = replace(model, connections=[replace(c, armature=[0.0] * c.joint.nv) for c in model.connections])
    tau = cardan.inverse_dynamics(without, q, v, a)
    np.testing.assert_allclose(Y @ model.inertial_parameters(), tau, atol=1e-11 * scale(tau))


REFERENCES = [(at, axes) for at in ("frame", "world", "body3") for axes in ("frame", "world", "frame5")]
EACH_ONCE = {("frame", "world"), ("world", "frame"), ("body3", "frame5")}


@pytest.mark.parametrize(("at", "axes"), represented(REFERENCES, by=lambda case: case in EACH_ONCE))
def test_jacobian_velocity_and_acceleration_agree(model, state, at, axes):
    q, v, a = state
    options = {"at": at, "expressed_in": axes}
    for frame in ("frame2", model.body_names[-1]):
        J = cardan.jacobian(model, q, frame, **options)
        rate = cardan.jacobian_derivative(model, q, v, frame, **options)
        velocity = cardan.frame_velocity(model, q, v, frame, **options)
        acceleration = cardan.frame_acceleration(model, q, v, a, frame, **options)
        np.testing.assert_allclose(times(J, v), velocity, atol=1e-11 * scale(velocity))
        np.testing.assert_allclose(times(J, a) + times(rate, v), acceleration, atol=1e-10 * scale(acceleration))
        moved = central_difference(
            lambda s, frame=frame: cardan.jacobian(model, cardan.integrate(model, q, s * v), frame, **options)
        )
        np.testing.assert_allclose(rate, moved, atol=2e-7 * scale(moved))


def test_jacobian_is_the_derivative_of_the_pose(model, state):
    """In world axes at the frame: the velocity of its origin, and the rotation rate R' R^T."""
    q, v, _ = state
    twist = cardan.frame_velocity(model, q, v, "frame4")
    X = cardan.frame_transform(model, q, "frame4")
    rate = central_difference(lambda s: cardan.frame_transform(model, cardan.integrate(model, q, s * v), "frame4"))
    spin = rate[:, :3, :3] @ np.swapaxes(X[:, :3, :3], -1, -2)
    np.testing.assert_allclose(twist[:, :3], rate[:, :3, 3], atol=1e-7 * scale(twist))
    np.testing.assert_allclose(
        twist[:, 3:], np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], -1), atol=1e-7 * scale(twist)
    )


def test_difference_after_integrate(model, state):
    q, v, _ = state
    moved = cardan.integrate(model, q, 0.3 * v)
    np.testing.assert_allclose(cardan.difference(model, q, moved), 0.3 * v, atol=1e-12)
    np.testing.assert_allclose(cardan.integrate(model, q, 0.0 * v), q, atol=1e-15)
    rate = central_difference(lambda s: cardan.integrate(model, q, s * v))
    qdot = cardan.velocity_to_configuration_derivative(model, q, v)
    np.testing.assert_allclose(qdot, rate, atol=1e-8)
    np.testing.assert_allclose(cardan.configuration_derivative_to_velocity(model, q, qdot), v, atol=1e-12)


@pytest.mark.parametrize("shape", [(), (1,), (3, 1, 2), (0,)])
def test_batch_shapes_and_dtypes(shape):
    model = random_model(4, joints=SMALL)
    q, v, a = random_state(model, seed=3, shape=shape)
    tau = cardan.inverse_dynamics(model, q, v, a)
    assert tau.shape == (*shape, model.nv)
    assert tau.dtype == np.float64
    single = cardan.inverse_dynamics(model, *(x.astype(np.float32) for x in (q, v, a)))
    assert single.dtype == np.float32
    if tau.size:
        np.testing.assert_allclose(single, tau, atol=3e-5 * scale(tau))
        one = cardan.inverse_dynamics(model, *(x.reshape(-1, x.shape[-1])[0] for x in (q, v, a)))
        np.testing.assert_allclose(tau.reshape(-1, model.nv)[0], one, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("joints", [CATALOGUE[2:15:6], pytest.param(CATALOGUE, marks=pytest.mark.full)], ids=len)
@pytest.mark.parametrize("offset", [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 1e-1])
def test_laws_hold_near_and_at_singular_configurations(joints, offset):
    """SphericalZYX and the ellipsoid are singular at a middle angle of pi/2; armature keeps M regular there."""
    model = random_model(1, joints=joints, base="fixed")
    q, v, a = random_state(model, seed=4)
    for c in model.connections:
        if type(c.joint).__name__ in ("SphericalZYX", "Ellipsoid"):
            q[model.q_slice(c.name)][1] = np.pi / 2 - offset
    tau = cardan.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(cardan.forward_dynamics(model, q, v, tau), a, atol=1e-8 * scale(tau))
    bias = cardan.bias_forces(model, q, v) - cardan.gravity_forces(model, q)
    np.testing.assert_allclose(times(cardan.coriolis_matrix(model, q, v), v), bias, atol=1e-11 * scale(bias))


def test_not_a_number_stays_with_its_own_state():
    model = random_model(4, joints=SMALL)
    q, v, a = random_state(model, seed=5, shape=(4,))
    expected = cardan.inverse_dynamics(model, q, v, a)
    v[2, 0] = np.nan
    tau = cardan.inverse_dynamics(model, q, v, a)
    assert np.isnan(tau[2]).any()
    np.testing.assert_array_equal(tau[[0, 1, 3]], expected[[0, 1, 3]])


def test_placements_may_be_split_between_both_sides():
    """X = parent_pose X_J child_pose^-1: moving a rigid offset of the child body changes names, not dynamics."""
    from cardan.joints import Revolute
    from mechanisms import random_inertia, random_pose

    rng = np.random.default_rng(0)
    inertia, P, C = random_inertia(rng), random_pose(rng), random_pose(rng)
    plain, offset = cardan.Mechanism("plain"), cardan.Mechanism("offset")
    plain.add_body("b", C.inverse() @ inertia)
    plain.add_joint("j", Revolute([0, 0, 1]), "world", "b", P)
    offset.add_body("b", inertia)
    offset.add_joint("j", Revolute([0, 0, 1]), "world", "b", P, C)
    a, b = plain.model(), offset.model()
    q, v, acc = np.array([0.3]), np.array([-1.2]), np.array([0.7])
    np.testing.assert_allclose(cardan.inverse_dynamics(a, q, v, acc), cardan.inverse_dynamics(b, q, v, acc), rtol=1e-12)
    np.testing.assert_allclose(cardan.center_of_mass(a, q), cardan.center_of_mass(b, q), atol=1e-13)


def test_point_mass_on_the_child_side_weighs():
    """FACTS 7, graph defect 1: a unit mass one metre from the hinge through the child pose gives 9.81 N m."""
    m = cardan.Mechanism("lever")
    m.add_body("b", cardan.Inertia(1.0))
    m.add_joint("j", cardan.joints.Revolute([0, 1, 0]), "world", "b", child_pose=cardan.SE3(translation=[-1, 0, 0]))
    assert abs(abs(cardan.gravity_forces(m.model(), [0.0])[0]) - 9.81) < 1e-12
