"""Parameters from measurements: what can be seen, what is found again, what stays possible whatever is measured."""

import pickle

import numpy as np
import pytest

import cardan
import cardan.identification as identification
from cardan.joints import CATALOGUE, Mimic, Prismatic, Revolute
from cardan.spatial import Inertia
from cardan.trajectories import FourierSeries
from mechanisms import random_inertia, random_model, random_state

pytestmark = pytest.mark.usefixtures("quick_target")
TERMS = ("viscous", "coulomb", "offset")


def two_links(length=1.0, gravity=(0.0, 0.0, -9.81), **options):
    """A planar arm with vertical axes, or under gravity along -y, as in textbooks."""
    m, rng = cardan.Mechanism("two links", gravity=gravity), np.random.default_rng(0)
    m.add_body("upper", random_inertia(rng))
    m.add_body("fore", random_inertia(rng))
    m.add_joint("shoulder", Revolute([0.0, 0.0, 1.0]), "world", "upper", **options)
    m.add_joint("elbow", Revolute([0.0, 0.0, 1.0]), "upper", "fore", cardan.SE3(translation=[length, 0, 0]), **options)
    return m.model()


def motion(model, seed=0, samples=400):
    rng = np.random.default_rng(seed)
    sines, cosines = 0.4 * rng.normal(size=(2, 4, model.nv))
    wave = FourierSeries(model, 4.0, sines, cosines)
    return wave.at(np.linspace(0.0, 4.0, samples, endpoint=False))


def friction(v, viscous, coulomb, offset):
    return viscous * v + coulomb * np.sign(v) + offset


@pytest.fixture(scope="module")
def planar():
    return two_links(gravity=(0.0, -9.81, 0.0))


# --- energies


def test_energies_are_linear_in_the_inertial_parameters():
    model = random_model(0, armature=False)
    q, v, _ = random_state(model, seed=3, shape=(2, 3))
    p = model.inertial_parameters()
    kinetic, potential = cardan.kinetic_energy_regressor(model, q, v), cardan.potential_energy_regressor(model, q)
    assert kinetic.shape == potential.shape == (2, 3, p.size)
    np.testing.assert_allclose(kinetic @ p, cardan.kinetic_energy(model, q, v), rtol=1e-12)
    np.testing.assert_allclose(potential @ p, cardan.potential_energy(model, q), rtol=1e-12)


def test_power_is_the_rate_of_the_energies_parameter_by_parameter(planar):
    q, v, a = motion(planar, samples=3)
    before, after = (cardan.integrate(planar, q, h * v + 0.5 * h * h * a) for h in (-1e-5, 1e-5))
    energy = [
        cardan.kinetic_energy_regressor(planar, x, v + h * a) + cardan.potential_energy_regressor(planar, x)
        for x, h in ((before, -1e-5), (after, 1e-5))
    ]
    power = np.einsum("...i,...ij->...j", v, cardan.torque_regressor(planar, q, v, a))
    np.testing.assert_allclose((energy[1] - energy[0]) / 2e-5, power, atol=1e-7)


# --- what can be seen


def test_base_parameters_of_two_links_as_in_textbooks(planar):
    """Khalil and Dombre, section 9.4: l = 1 takes the mass of the second link to the first one's inertia and moment."""
    assert str(identification.base_parameters(two_links(length=0.5))).splitlines() == [
        "Izz(upper) + 0.25 m(fore)",
        "mx(fore)",
        "my(fore)",
        "Izz(fore)",
    ]
    assert identification.base_parameters(planar).expressions == (
        "mx(upper) + m(fore)",
        "my(upper)",
        "Izz(upper) + m(fore)",
        "mx(fore)",
        "my(fore)",
        "Izz(fore)",
    )


def test_armature_hides_in_the_inertia_of_the_first_link_alone(planar):
    base = identification.base_parameters(planar, ("armature", "viscous"))
    assert "Izz(upper) + m(fore) + armature(shoulder)" in base.expressions
    assert "armature(elbow)" in base.expressions
    assert len(base) == 6 + 1 + 2


@pytest.mark.parametrize("length", [1e-9, 1e9])
def test_base_parameters_do_not_depend_on_the_scale(length):
    base = identification.base_parameters(two_links(length=length, gravity=(0.0, -9.81, 0.0)), ("viscous",))
    assert len(base) == 8
    assert base.margin > 1e6


@pytest.mark.parametrize(("base", "count"), [("fixed", 4), ("floating", 10 + 4)])
def test_a_slide_shows_what_it_can(base, count):
    """On a fixed base a slide shows its mass; a turning joint on it seven more, less Izz ... of gravity: 3 + 1."""
    m, rng = cardan.Mechanism("slide"), np.random.default_rng(1)
    for name in ("cart", "pole"):
        m.add_body(name, random_inertia(rng))
    if base == "floating":
        m.add_body("trunk", random_inertia(rng))
    m.add_joint("slide", Prismatic([1.0, 0.0, 0.0]), "world" if base == "fixed" else "trunk", "cart")
    m.add_joint("hinge", Revolute([0.0, 1.0, 0.0]), "cart", "pole")
    model = m.model(base=base) if base == "fixed" else m.model(root="trunk", base=base)
    found = identification.base_parameters(model)
    q, v, a = random_state(model, seed=2, shape=(50,))
    Y = cardan.torque_regressor(model, q, v, a).reshape(-1, 10 * model.nbodies)
    assert len(found) == np.linalg.matrix_rank(Y, tol=1e-9) >= count
    np.testing.assert_allclose(Y[:, found.columns] @ found.matrix, Y, atol=1e-9 * np.abs(Y).max())


def test_base_parameters_of_every_joint_make_up_the_torques():
    model = random_model(2, joints=CATALOGUE[1:17:3], base="fixed")
    q, v, a = random_state(model, seed=5, shape=(4,))
    base = identification.base_parameters(model, ("viscous", "offset"))
    W, p = identification.regressor(model, q, v, a, base.terms), identification.parameters(model, base.terms)
    p[10 * model.nbodies :] = np.arange(2 * model.nv)
    np.testing.assert_allclose(W[..., base.columns] @ (base.matrix @ p), W @ p, atol=1e-8 * np.abs(W @ p).max())
    assert base.margin > 1e3


def test_copied_joints_have_one_coefficient():
    m, rng = cardan.Mechanism("gripper"), np.random.default_rng(1)
    for name in ("left", "right"):
        m.add_body(name, random_inertia(rng))
    m.add_joint("finger", Revolute([0.0, 0.0, 1.0]), "world", "left")
    m.add_joint("copy", Mimic(Revolute([0.0, 0.0, 1.0]), "finger", -2.0, 0.0), "world", "right")
    base = identification.base_parameters(m.model(), ("viscous",))
    assert base.expressions == ("Izz(left) + 4 Izz(right)", "viscous(finger)")


# --- least squares


@pytest.fixture(scope="module")
def measured(planar):
    """States, torques with noise of two sizes, the noise, and the true base parameters."""
    q, v, a = motion(planar)
    noise = np.array([0.05, 0.005])
    tau = cardan.inverse_dynamics(planar, q, v, a) + friction(v, [0.3, 0.1], [0.8, 0.4], [0.0, -0.2])
    tau = tau + noise * np.random.default_rng(1).normal(size=tau.shape)
    base = identification.base_parameters(planar, TERMS)
    p = np.concatenate([planar.inertial_parameters(), [0.3, 0.1, 0.8, 0.4, 0.0, -0.2]])
    return (q, v, a), tau, noise, base, base.matrix @ p


@pytest.mark.parametrize("weighted", [True, False])
def test_true_parameters_are_found_within_their_sigmas(planar, measured, weighted):
    states, tau, noise, base, truth = measured
    found = identification.identify(planar, *states, tau, terms=TERMS, weighted=weighted, base=base)
    errors = (found.values - truth) / found.sigma
    assert np.abs(errors).max() < 3.5
    assert 0.3 < np.sqrt((errors**2).mean()) < 2.0
    np.testing.assert_allclose(found.noise, noise, rtol=0.12)
    np.testing.assert_allclose(found.effort(planar, *states), tau, atol=5.0 * noise.max())
    assert 1.0 < found.condition < 100.0


@pytest.mark.full
def test_sigmas_are_those_of_many_repetitions(planar, measured):
    states, _, noise, base, truth = measured
    W = identification.regressor(planar, *states, TERMS)[..., base.columns]
    rng = np.random.default_rng(8)
    found = [
        identification.identify(
            planar, *states, W @ truth + noise * rng.normal(size=W.shape[:2]), terms=TERMS, base=base
        )
        for _ in range(60)
    ]
    spread = np.std([f.values for f in found], axis=0)
    np.testing.assert_allclose(spread, np.mean([f.sigma for f in found], axis=0), rtol=0.35)


def test_weights_make_better_of_a_noisy_joint(planar, measured):
    states, tau, _, base, _ = measured
    both = [
        identification.identify(planar, *states, tau, terms=TERMS, weighted=w, base=base).sigma for w in (True, False)
    ]
    assert (both[0] <= 1.05 * both[1]).all()
    assert (both[0] / both[1]).min() < 0.4


def test_known_noise_gives_its_own_sigmas(planar, measured):
    states, tau, noise, base, _ = measured
    one, ten = (identification.identify(planar, *states, tau, terms=TERMS, noise=k * noise, base=base) for k in (1, 10))
    np.testing.assert_allclose(10.0 * one.sigma, ten.sigma, rtol=1e-9)
    np.testing.assert_allclose(one.values, ten.values, rtol=1e-6, atol=1e-9)
    assert str(one).count("+-") == len(base)
    assert str(pickle.loads(pickle.dumps(one))) == str(one)


def test_armature_of_the_model_is_known(measured):
    model = two_links(gravity=(0.0, -9.81, 0.0), armature=[0.7])
    states = measured[0]
    tau = cardan.inverse_dynamics(model, *states)
    base = identification.base_parameters(model)
    found = identification.identify(model, *states, tau, terms=(), base=base)
    np.testing.assert_allclose(found.values, base.matrix @ model.inertial_parameters(), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_masses_of_any_scale_are_found(planar, measured, scale):
    states, _, _, base, _ = measured
    model = planar.with_values(inertial_parameters=scale * planar.inertial_parameters())
    base = identification.base_parameters(model)
    tau = cardan.inverse_dynamics(model, *states)
    found = identification.identify(model, *states, tau, terms=(), base=base)
    np.testing.assert_allclose(found.values, base.matrix @ model.inertial_parameters(), rtol=1e-8, atol=1e-12 * scale)
    fitted = identification.identify_consistent(model, *states, 2.0 * tau, terms=(), noise=1e-6 * scale).model
    np.testing.assert_allclose(cardan.inverse_dynamics(fitted, *states), 2.0 * tau, atol=1e-4 * scale)


def test_motions_that_show_too_little_are_refused(planar):
    q, _, _ = motion(planar)
    with pytest.raises(cardan.CardanError, match=r"do not show Izz.*moves all joints"):
        identification.identify(planar, q, 0.0 * q, 0.0 * q, 0.0 * q, terms=())
    with pytest.raises(cardan.CardanError, match=r"do not show .*moves all joints"):
        identification.identify(planar, q[:2], q[:2], q[:2], q[:2], terms=())


# --- inertias that are possible


def is_possible(inertia):
    return inertia.mass > 0.0 and not inertia.faults(tolerance=0.0)


def test_a_consistent_fit_finds_base_parameters_from_a_bad_guess(planar, measured):
    states, tau, noise, base, truth = measured
    rng = np.random.default_rng(2)
    guess = planar.with_values(inertial_parameters=planar.inertial_parameters() * rng.uniform(0.5, 1.5, size=20))
    assert any(body.inertia.faults() for body in guess.bodies)
    fit = identification.identify_consistent(guess, *states, tau, terms=TERMS)
    assert fit.converged
    assert all(map(is_possible, fit.inertias.values()))
    p = np.concatenate([fit.model.inertial_parameters(), *fit.coefficients.values()])
    sigma = identification.identify(planar, *states, tau, terms=TERMS, base=base).sigma
    assert np.abs((base.matrix @ p - truth) / sigma).max() < 4.0
    np.testing.assert_allclose(fit.noise, noise, rtol=0.15)
    np.testing.assert_array_equal(fit.model.passive("damping"), fit.coefficients["viscous"])
    predicted = cardan.inverse_dynamics(fit.model, *states) + cardan.passive_forces(fit.model, *states[:2])
    np.testing.assert_allclose(predicted + fit.coefficients["offset"], tau, atol=5.0 * noise.max())


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_consistent_fit_stays_possible_whatever_is_measured(planar, measured, size):
    states = measured[0]
    nonsense = size * np.random.default_rng(3).normal(size=states[1].shape)
    fit = identification.identify_consistent(planar, *states, nonsense - 3.0 * size * states[2])
    assert all(map(is_possible, fit.inertias.values()))
    assert all((fit.coefficients[term] >= 0.0).all() for term in ("viscous", "coulomb"))


@pytest.mark.parametrize("seed", range(4))
def test_a_guess_that_is_impossible_does_not_hold_a_consistent_fit(planar, measured, seed):
    """Torques without noise, of bodies that are possible: what comes near them must explain them all."""
    states = measured[0]
    tau = cardan.inverse_dynamics(planar, *states)
    p = planar.inertial_parameters()
    guess = planar.with_values(inertial_parameters=p * np.random.default_rng(seed).uniform(0.5, 1.5, p.size))
    assert any(not is_possible(body.inertia) for body in guess.bodies)
    fit = identification.identify_consistent(guess, *states, tau, terms=())
    assert fit.converged
    assert all(map(is_possible, fit.inertias.values()))
    assert fit.residual.max() < 1e-5 * np.abs(tau).max()


def test_what_is_not_seen_stays_as_it_was(planar, measured):
    """The height of the centre of mass does not show in a planar arm."""
    states = measured[0]
    fit = identification.identify_consistent(planar, *states, cardan.inverse_dynamics(planar, *states), terms=())
    np.testing.assert_allclose(fit.model.inertial_parameters(), planar.inertial_parameters(), rtol=1e-4, atol=1e-5)


def test_a_firm_prior_keeps_the_model_and_a_loose_one_lets_go(planar, measured):
    states = measured[0]
    tau = 3.0 * cardan.inverse_dynamics(planar, *states)
    firm, loose = (
        identification.identify_consistent(planar, *states, tau, terms=(), noise=10.0, prior=prior).model.mass
        / planar.mass
        for prior in (1e-4, 1e3)
    )
    assert firm == pytest.approx(1.0, abs=0.01)
    assert loose > 1.5


def test_massless_and_flat_bodies_are_taken_as_they_are(measured):
    m, rng = cardan.Mechanism("odd"), np.random.default_rng(0)
    m.add_body("upper", random_inertia(rng))
    m.add_body("point", Inertia(1.0, [0.2, 0.0, 0.0]))
    m.add_body("hand")
    m.add_joint("shoulder", Revolute([0.0, 0.0, 1.0]), "world", "upper")
    m.add_joint("elbow", Revolute([0.0, 0.0, 1.0]), "upper", "point", cardan.SE3(translation=[1.0, 0, 0]))
    m.add_joint("flange", cardan.joints.Fixed(), "point", "hand")
    model = m.model()
    tau = cardan.inverse_dynamics(model, *measured[0])
    fit = identification.identify_consistent(model, *measured[0], tau, terms=(), noise=1e-3)
    assert fit.inertias["hand"].mass == 0.0
    assert is_possible(fit.inertias["point"])
    np.testing.assert_allclose(cardan.inverse_dynamics(fit.model, *measured[0]), tau, atol=1e-2)


# --- bad input


def test_torques_within_closed_loops_are_not_those_of_the_tree():
    bars = cardan.robots.four_bar().model()
    still = np.zeros((9, bars.nv))
    with pytest.raises(cardan.errors.UnsupportedError, match="closed loops"):
        identification.base_parameters(bars)
    for fit in (identification.identify, identification.identify_consistent):
        with pytest.raises(cardan.errors.UnsupportedError, match="closed loops"):
            fit(bars, still, still, still, still)


def test_no_samples_are_no_measurement(planar):
    """A consistent fit of nothing had settled, with residuals that were nan."""
    none = np.zeros((0, 2))
    for fit in (identification.identify, identification.identify_consistent):
        with pytest.raises(cardan.errors.ShapeError, match="one sample or more"):
            fit(planar, none, none, none, none)


def test_bad_input(planar, measured):
    (q, v, a), tau, _, base, _ = measured
    identify, errors = identification.identify, cardan.errors
    with pytest.raises(errors.UnknownNameError, match="no term named 'viscos'; did you mean 'viscous'"):
        identify(planar, q, v, a, tau, terms=("viscos",))
    with pytest.raises(errors.ParameterError, match=r"\('viscous',\)"):
        identify(planar, q, v, a, tau, terms="viscous")
    with pytest.raises(errors.ParameterError, match="each once"):
        identify(planar, q, v, a, tau, terms=("viscous", "viscous"))
    with pytest.raises(errors.NotFiniteError, match=r"tau\[3, 1\] is nan"):
        identify(planar, q, v, a, np.where(np.arange(800).reshape(400, 2) == 7, np.nan, tau))
    with pytest.raises(errors.ParameterError, match="standard deviations > 0"):
        identify(planar, q, v, a, tau, terms=TERMS, noise=0.0, base=base)
    with pytest.raises(errors.ParameterError, match="that of terms"):
        identify(planar, q, v, a, tau, terms=(), base=base)
    with pytest.raises(errors.ParameterError, match="that of another robot"):
        identify(cardan.robots.double_pendulum().model(), q, v, a, tau, terms=TERMS, base=base)
    with pytest.raises(errors.ParameterError, match="a BaseParameters"):
        identify(planar, q, v, a, tau, terms=TERMS, base="base")
    with pytest.raises(errors.ShapeError):
        identify(planar, q, v, a, tau[:10], terms=TERMS, base=base)
    with pytest.raises(errors.MechanismError, match="begin with a guess"):
        identification.identify_consistent(planar.with_values(inertial_parameters=np.zeros(20)), q, v, a, tau)
