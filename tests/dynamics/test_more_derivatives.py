"""Derivatives for optimisation: by several arguments, along tangents, of moving and of frames; sparsity patterns."""

import pickle
import runpy
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import cardan
from cardan._dynamics.functions.derivatives import CONFIGURATION
from cardan.errors import ParameterError, ShapeError, UnknownNameError
from closeness import close
from mechanisms import central_difference, random_model, random_state

ARM = cardan.robots.arm7().model()
DOG = cardan.load(cardan.robots.urdf_path("quadruped"), base="floating")
FOOT = "rear_right_foot"
CART = cardan.robots.cart_pole().model()
ONE_EACH = list({joint.manifold: joint for joint in cardan.joints.CATALOGUE if joint.nv}.values())


def kite():
    """A floating body and a hinge: small, and not flat."""
    m = cardan.Mechanism("kite")
    for name in ("sail", "tail"):
        m.add_body(name, cardan.Inertia(1.0, (0.1, 0.2, 0.0), np.diag([0.1, 0.2, 0.15])))
    m.add_joint("hinge", cardan.joints.Revolute((0, 1, 0)), "sail", "tail")
    return m.model(base="floating")


KITE = kite()


class Next(NamedTuple):
    q_next: object
    v_next: object


@cardan.function
def step(model, q, v, tau, dt=0.01):
    v_next = v + dt * cardan.forward_dynamics(model, q, v, tau)
    return cardan.integrate(model, q, dt * v_next), v_next


@cardan.function
def named_step(model, q, v):
    v_next = v - 0.01 * cardan.gravity_forces(model, q)
    return Next(cardan.integrate(model, q, 0.01 * v_next), v_next)


@cardan.function
def goal(model, q, v):
    return {"goal": cardan.integrate(model, q, v), "speed": v @ v}


def numeric(model, function):
    """The derivative of a configuration along its tangent, by differences; `function` takes a tangent vector."""
    there = function(np.zeros(model.nv))

    def rate(direction):
        return central_difference(lambda h: cardan.difference(model, there, function(h * direction)))

    return np.stack([rate(e) for e in np.eye(model.nv)], axis=-1)


# --- by several arguments --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("of", [cardan.inverse_dynamics, named_step, goal])
def test_each_is_what_there_is_by_it_alone(of):
    q, v, a = random_state(ARM, 0, shape=(3,))
    given = (q, v, a)[: len(of.interface.shapes) - ("external_forces" in of.interface.shapes)]
    names = ("v", "q")  # in any order
    by = cardan.derivative(of, list(names))(ARM, *given)
    assert by._fields == ("dv", "dq")
    for name, found in zip(names, by, strict=True):
        alone = cardan.derivative(of, name)(ARM, *given)
        assert type(found) is type(alone)
        parts = [(found, alone)] if isinstance(alone, np.ndarray) else [(found[k], alone[k]) for k in alone]
        for got, expected in parts:
            close(got, expected)


def test_what_they_share_is_computed_once():
    alone = [cardan.derivative(step, name).program(ARM).operations for name in ("q", "v", "tau")]
    together = cardan.derivative(step, ("q", "v", "tau")).program(ARM).operations
    assert max(alone) < together < sum(alone)


def test_one_sweep_a_way():
    """What has more directions than there are results goes backwards, what has fewer forwards, in one program."""

    @cardan.function
    def energy(model, q, v, a=1.0):
        return a * cardan.kinetic_energy(model, q, v)

    q, v, _ = random_state(DOG, 1, shape=(2,))
    by = cardan.derivative(energy, ("q", "v", "a"))(DOG, q, v, 2.0)
    close(by.dv, 2.0 * np.einsum("bij,bj->bi", cardan.mass_matrix(DOG, q), v))
    close(by.dq, 2.0 * cardan.gradient(cardan.kinetic_energy, "q")(DOG, q, v))
    close(by.da, cardan.kinetic_energy(DOG, q, v))


def test_inputs_of_the_model_are_arguments():
    varied = ARM.with_inputs(load=("tool", "inertia"))
    q, v, a = random_state(ARM, 2)
    values = varied.input_values()
    by = cardan.derivative(cardan.inverse_dynamics, ("load", "q"))(varied, q, v, a, **values)
    close(by.dload, cardan.derivative(cardan.inverse_dynamics, "load")(varied, q, v, a, **values))
    close(by.dq, cardan.inverse_dynamics_derivatives(ARM, q, v, a).dq)


def test_they_differentiate_again_and_inline():
    q, v, a = random_state(CART, 3)
    once = cardan.derivative(cardan.inverse_dynamics, ("q", "v"))
    twice = cardan.derivative(once, "v")(CART, q, v, a)
    close(
        twice.dv,
        np.swapaxes(cardan.derivative(cardan.derivative(cardan.inverse_dynamics, "v"), "v")(CART, q, v, a), 1, 2),
    )

    @cardan.function
    def inside(model, q, v, a):
        return once(model, q, v, a).dq @ v

    close(inside(CART, q, v, a), once(CART, q, v, a).dq @ v)


def test_results_and_functions_are_pickled_and_kept():
    q, v, a = random_state(ARM, 4)
    of = cardan.derivative(step, ("q", "v"), tangent=True)
    by = of(ARM, q, v, a)
    back = pickle.loads(pickle.dumps(by))
    assert type(back) is type(by)
    np.testing.assert_array_equal(back.dq[0], by.dq[0])
    again = pickle.loads(pickle.dumps(of))(ARM, q, v, a)  # found on disk
    np.testing.assert_array_equal(again.dv[1], by.dv[1])
    fast = of.bind(ARM, dt=0.01)
    out = fast(q, v, a, 0.02)
    assert fast(q, v, a, 0.01, out=out) is out
    np.testing.assert_array_equal(out.dq[0], by.dq[0])


@pytest.mark.parametrize("wrt", [(), ("q", "q"), ("q", 1), 3, None])
def test_what_names_no_arguments_is_refused(wrt):
    with pytest.raises(ParameterError, match="several, each once"):
        cardan.derivative(step, wrt)


def test_those_by_one_argument_name_the_one_by_several():
    for made in (cardan.jacobian_vector_product, cardan.vector_jacobian_product):
        with pytest.raises(ParameterError, match=r"one argument\. cardan\.derivative takes several"):
            made(cardan.kinetic_energy, ("q", "v"))


def spent(model, q, v, u):
    return cardan.kinetic_energy(model, q, v) * u + cardan.potential_energy(model, q) * (v @ v)


SPENT = cardan.function(spent)


def test_gradients_by_several_arguments():
    q, v, _ = random_state(DOG, 5, shape=(2,))
    by = cardan.gradient(SPENT, ("q", "v", "u"))(DOG, q, v, 2.0)
    for name, part in zip(("q", "v", "u"), by, strict=True):
        close(part, cardan.gradient(SPENT, name)(DOG, q, v, 2.0))
    assert by._fields == ("dq", "dv", "du")
    assert by.du.shape == (2,)


@pytest.mark.slow
def test_hessians_by_several_arguments_are_blocks(quick_target):
    q, v, _ = random_state(DOG, 5, shape=(2,))
    H = cardan.hessian(SPENT, ("q", "v", "u"))(DOG, q, v, 2.0)
    for name, row in zip(("q", "v", "u"), H, strict=True):
        close(getattr(row, f"d{name}"), cardan.hessian(SPENT, name)(DOG, q, v, 2.0))
    again = cardan.derivative(cardan.gradient(SPENT, ("q", "v", "u")), ("q", "v", "u"))(DOG, q, v, 2.0)
    close(H.dq.dv, again.dv.dq)  # rows along q: the gradient's; columns along v
    close(H.dq.dv, np.swapaxes(H.dv.dq, -1, -2))
    close(H.dv.du, again.du.dv)
    close(H.dq.du, H.du.dq)
    close(H.du.du, np.zeros(2))
    assert np.block([list(row[:2]) for row in H[:2]]).shape == (2, 36, 36)
    step = np.random.default_rng(0).normal(size=36)
    f = lambda h: SPENT(DOG, cardan.integrate(DOG, q, h * step[:18]), v + h * step[18:], 2.0)  # noqa: E731
    second = (f(1e-3) - 2.0 * f(0.0) + f(-1e-3)) / 1e-6
    whole = np.block([list(row[:2]) for row in H[:2]])
    np.testing.assert_allclose(step @ whole @ step, second, rtol=1e-4)


def test_hessians_by_several_arguments_pickle_and_refuse(quick_target):
    of = cardan.hessian(SPENT, ["q", "v"])
    q, v, _ = random_state(DOG, 5)
    first, again = of(DOG, q, v, 1.0), pickle.loads(pickle.dumps(of(DOG, q, v, 1.0)))
    np.testing.assert_array_equal(again.dq.dv, first.dq.dv)
    with pytest.raises(ParameterError, match="one number"):
        cardan.hessian(cardan.inverse_dynamics, ("q", "v"))(DOG, q, v, v)
    with pytest.raises(ParameterError, match="several, each once"):
        cardan.gradient(SPENT, ("q", "q"))


def test_unknown_arguments_are_named():
    q, v, a = random_state(ARM, 0)
    with pytest.raises(UnknownNameError, match="array argument named 'tua'; did you mean 'tau'"):
        cardan.derivative(step, ("q", "tua"))(ARM, q, v, a)
    with pytest.raises(ParameterError, match=r"argument 'external_forces'.*expected it given"):
        cardan.derivative(cardan.inverse_dynamics, ("q", "external_forces"))(ARM, q, v, a)


# --- along the tangent -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("quick_target")
@pytest.mark.parametrize("mode", ["forward", pytest.param("reverse", marks=pytest.mark.full)])
def test_the_tangent_of_a_configuration_on_every_manifold(mode):
    model = random_model(5, joints=ONE_EACH)
    q, v, _ = random_state(model, 5)
    by = cardan.derivative(cardan.integrate, ("q", "v"), mode=mode, tangent=True)(model, q, v)
    assert by.dq.shape == by.dv.shape == (model.nv, model.nv)
    at_q = numeric(model, lambda e: cardan.integrate(model, cardan.integrate(model, q, e), v))
    at_v = numeric(model, lambda e: cardan.integrate(model, q, v + e))
    np.testing.assert_allclose(by.dq, at_q, atol=1e-8)
    np.testing.assert_allclose(by.dv, at_v, atol=1e-8)
    rates = cardan.derivative(cardan.integrate, "v", mode=mode, tangent=False)(model, q, v)
    assert rates.shape == (model.nq, model.nv)


@pytest.mark.slow
def test_of_several_results_those_that_are_configurations():
    q, v, tau = random_state(KITE, 6, shape=(2,))
    A = cardan.derivative(step, ("q", "v"), tangent=True)(KITE, q, v, tau)
    assert [m.shape for by in A for m in by] == [(2, KITE.nv, KITE.nv)] * 4
    close(cardan.derivative(step, "q", tangent=(0,))(KITE, q, v, tau)[0], A.dq[0])
    close(cardan.derivative(step, "q", tangent=0)(KITE, q, v, tau)[0], A.dq[0])
    named = cardan.derivative(named_step, "q", tangent=True)(KITE, q, v)
    assert {n: m.shape[-2] for n, m in named.items()} == {"q_next": KITE.nv, "v_next": KITE.nv}
    found = cardan.derivative(goal, "q", tangent=("goal",))(KITE, q, v)
    alone = cardan.derivative(goal, "q", tangent="goal")(KITE, q, v)
    np.testing.assert_array_equal(alone["goal"], found["goal"])
    close(found["goal"], cardan.integrate_derivatives(KITE, q, v).dq)
    flat = cardan.derivative(step, "q", tangent=True)(CART, CART.neutral(), np.zeros(CART.nv), np.zeros(CART.nv))
    plain = cardan.derivative(step, "q")(CART, CART.neutral(), np.zeros(CART.nv), np.zeros(CART.nv))
    np.testing.assert_array_equal(flat, plain)


@pytest.mark.parametrize("rate", ["q_dot", "q_ddot", "q_rate", "q_vel", "q_velocity_next", "q_base_dot"])
def test_a_rate_of_coordinates_is_no_configuration(rate):
    @cardan.function
    def moving(model, q, v):
        return {"q": q, rate: cardan.velocity_to_configuration_derivative(model, q, v)}

    q, v, _ = random_state(KITE, 6)
    plain, along = (cardan.derivative(moving, "v", tangent=chosen)(KITE, q, v) for chosen in (False, True))
    assert along[rate].shape == (KITE.nq, KITE.nv)
    np.testing.assert_array_equal(along[rate], plain[rate])
    for name in ("q_next", "q_relative", "q_dots", "q_accurate"):
        assert CONFIGURATION.fullmatch(name)


def test_what_is_no_configuration_is_refused():
    q, v, tau = random_state(KITE, 7)
    with pytest.raises(ParameterError, match=r'tangent=\("goal",\) by name, tangent=\(0,\) by place'):
        cardan.derivative(goal, "q", tangent=True)(KITE, q, v)
    with pytest.raises(UnknownNameError, match="result named 'q_nxt'; did you mean 'q_next'"):
        cardan.derivative(named_step, "q", tangent=("q_nxt",))(KITE, q, v)
    with pytest.raises(ShapeError, match=r"'speed' has shape \(\), expected \(8,\), a configuration"):
        cardan.derivative(goal, "q", tangent=("speed",))(KITE, q, v)
    m = cardan.Mechanism("ball")
    m.add_body("ball", cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_joint("free", cardan.joints.FloatingMRP(), "world", "ball")
    ball = m.model()  # nq = nv, and not flat: which of two results is the configuration?
    q, v, tau = random_state(ball, 0)
    with pytest.raises(ParameterError, match="configurations among the results of step"):
        cardan.derivative(step, "q", tangent=True)(ball, q, v, tau)
    assert cardan.derivative(step, "q", tangent=(0,))(ball, q, v, tau)[0].shape == (6, 6)


# --- moving ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("quick_target")
@pytest.mark.slow
def test_moving_on_every_manifold():
    """Against differences; and one undoes the other: d difference(q, integrate(q, v)) / dv = 1."""
    model = random_model(6, joints=ONE_EACH)
    q, v, _ = random_state(model, 6)
    v *= 0.5
    q1 = cardan.integrate(model, q, v)
    of_sum, of_difference = cardan.integrate_derivatives(model, q, v), cardan.difference_derivatives(model, q, q1)
    close(of_difference.dq1 @ of_sum.dv, np.eye(model.nv), 1e-12)
    close(of_difference.dq0 + of_difference.dq1 @ of_sum.dq, np.zeros((model.nv, model.nv)), 1e-12)
    e = np.eye(model.nv)
    columns = [central_difference(lambda h: cardan.difference(model, cardan.integrate(model, q, h * c), q1)) for c in e]  # noqa: B023
    np.testing.assert_allclose(of_difference.dq0, np.stack(columns, axis=-1), atol=1e-8)


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-9, 1e-4, 1.0, np.pi - 1e-9, 3.0, 1e3])
def test_they_undo_one_another_at_every_size(size):
    q = DOG.random_configuration((2,), seed=1)
    v = size * np.array([[1, 2, 2, 0.6, 0.0, 0.8, *[1.0] * 12], [0, 0, 0, 0, 0, 1.0, *[0.0] * 12]])
    by = cardan.integrate_derivatives(DOG, q, v)
    back = cardan.difference_derivatives(DOG, q, cardan.integrate(DOG, q, v))
    assert all(np.isfinite(m).all() for m in (*by, *back))
    if size < np.pi:
        close(back.dq1 @ by.dv, np.broadcast_to(np.eye(DOG.nv), (2, DOG.nv, DOG.nv)), 1e-8 if size > 3.1 else 1e-12)


def pins():
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(cardan.robots.urdf_path("quadruped")), pin.JointModelFreeFlyer())
    order = np.array(cardan.conventions.to("pinocchio", DOG).v_permutation)
    assert (order == np.arange(DOG.nv)).all()
    return pin, model, model.createData()


def test_moving_is_pinocchios():
    pin, model, _ = pins()
    q, v, _ = random_state(DOG, 8)
    q1 = cardan.integrate(DOG, q, v)
    mine, moved = cardan.integrate_derivatives(DOG, q, v), cardan.difference_derivatives(DOG, q, q1)
    for found, theirs in (
        (mine.dq, pin.dIntegrate(model, q, v, pin.ArgumentPosition.ARG0)),
        (mine.dv, pin.dIntegrate(model, q, v, pin.ArgumentPosition.ARG1)),
        (moved.dq0, pin.dDifference(model, q, q1, pin.ArgumentPosition.ARG0)),
        (moved.dq1, pin.dDifference(model, q, q1, pin.ArgumentPosition.ARG1)),
    ):
        close(found, theirs, 1e-13)


# --- frames ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expressed_in", ["frame", "world"])
def test_motions_of_frames_against_differences(expressed_in):
    q, v, a = random_state(DOG, 9)
    at = {"at": "frame", "expressed_in": expressed_in}
    velocity = cardan.frame_velocity_derivatives(DOG, q, v, FOOT, **at)
    acceleration = cardan.frame_acceleration_derivatives(DOG, q, v, a, FOOT, **at)
    moved = np.eye(DOG.nv)
    for found, of in (
        (velocity.dq, lambda e: cardan.frame_velocity(DOG, cardan.integrate(DOG, q, e), v, FOOT, **at)),
        (acceleration.dq, lambda e: cardan.frame_acceleration(DOG, cardan.integrate(DOG, q, e), v, a, FOOT, **at)),
        (acceleration.dv, lambda e: cardan.frame_acceleration(DOG, q, v + e, a, FOOT, **at)),
    ):
        columns = [central_difference(lambda h: of(h * e)) for e in moved]  # noqa: B023
        np.testing.assert_allclose(found, np.stack(columns, axis=-1), atol=1e-7)
    J = cardan.jacobian(DOG, q, FOOT, **at)
    close(velocity.dv, J)
    close(acceleration.da, J)


def test_motions_of_frames_are_pinocchios():
    pin, model, data = pins()
    q, v, a = random_state(DOG, 10)
    pin.computeForwardKinematicsDerivatives(model, data, q, v, a)
    frame, local = model.getFrameId(FOOT), pin.ReferenceFrame.LOCAL
    dq, dv = pin.getFrameVelocityDerivatives(model, data, frame, local)
    mine = cardan.frame_velocity_derivatives(DOG, q, v, FOOT, expressed_in="frame")
    close(mine.dq, dq, 1e-13)
    close(mine.dv, dv, 1e-13)
    _, aq, av, aa = pin.getFrameAccelerationDerivatives(model, data, frame, local)
    mine = cardan.frame_acceleration_derivatives(DOG, q, v, a, FOOT, expressed_in="frame")
    for found, theirs in zip(mine, (aq, av, aa), strict=True):
        close(found, theirs, 1e-12)


def test_several_frames_are_one_program():
    q, v, _ = random_state(DOG, 11, shape=(2,))
    by = cardan.frame_velocity_derivatives(DOG, q, v, [FOOT, "front_left_foot"])
    assert by.dq.shape == by.dv.shape == (2, 2, 6, DOG.nv)
    np.testing.assert_allclose(by.dq[:, 0], cardan.frame_velocity_derivatives(DOG, q, v, FOOT).dq, atol=1e-13)


# --- sparsity --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "options"),
    [
        (cardan.mass_matrix, {}),
        (cardan.jacobian, {"frame": FOOT}),
        (cardan.inverse_dynamics_derivatives, {}),
        (cardan.derivative(named_step, ("q", "v"), tangent=True), {}),
    ],
)
def test_the_pattern_is_where_numbers_are(of, options):
    """What is False is 0 at every state, what is True hardly ever; the form is that of the results."""
    pattern = of.sparsity(DOG, **options)
    state = random_state(DOG, 12, shape=(5,))[: len(of.interface.shapes) - ("external_forces" in of.interface.shapes)]
    results = of(DOG, *state, **options)
    pairs = list(zip(leaves(pattern), leaves(results), strict=True))
    assert pairs
    for mask, values in pairs:
        assert mask.dtype == bool
        found = (values != 0.0).any(axis=0)
        assert not (found & ~mask).any()
        assert (mask & ~found).sum() <= 0.01 * mask.sum()  # 0 for reasons of physics, not of structure


def leaves(results):
    if isinstance(results, np.ndarray):
        return [results]
    return [e for part in (results.values() if isinstance(results, dict) else results) for e in leaves(part)]


def test_a_branch_does_not_see_the_others():
    dv = cardan.frame_velocity_derivatives.sparsity(DOG, frame=FOOT).dv
    moves = [joint for joint in DOG.joint_names if dv[:, DOG.v_slice(joint)].any()]
    assert len(moves) == 4  # the base's and the leg's own
    assert cardan.potential_energy.sparsity(DOG).shape == ()
    with pytest.raises(ParameterError, match="values for"):
        cardan.jacobian.sparsity(DOG)


# --- examples --------------------------------------------------------------------------------------------------------


def example(name, picture):
    """What an example's `main` returns, and what is in it."""
    pytest.importorskip("matplotlib").use("agg")
    written = runpy.run_path(str(Path(__file__).parents[2] / "examples" / f"{name}.py"))
    found = written["main"](str(picture))
    assert picture.stat().st_size > 1000
    return found, written


def test_numpy_knows_what_a_derivative_returns_within_another_function(quick_target):
    slope = cardan.gradient(cardan.potential_energy, "q")

    @cardan.function
    def lifted(model, q):
        return np.where(slope(model, q) > 0.0, slope(model, q), 0.0)

    q = ARM.random_configuration((5,), seed=0)
    expected = np.maximum(cardan.gravity_forces(ARM, q), 0.0)
    assert expected.max() > 0.0
    np.testing.assert_allclose(lifted(ARM, q), expected, atol=1e-12)


@pytest.mark.slow
def test_iterative_lqr_swings_up(tmp_path):
    (states, forces, cost), _ = example("ilqr", tmp_path / "ilqr.png")
    assert abs(states[0, 1]) == np.pi
    assert np.abs(states[-1]).max() < 0.05  # upright, at rest, where it began
    assert cost < 100.0  # 4984 at rest
    assert np.abs(forces).max() < 50.0  # N


@pytest.mark.full
def test_direct_collocation_swings_up(tmp_path):
    found, written = example("direct_collocation", tmp_path / "motion.png")
    assert found.success
    assert np.abs(written["defects"](found.x)).max() < 1e-7
    states, forces = written["unpacked"](found.x)
    np.testing.assert_allclose(states[-1], written["GOAL"], atol=1e-7)
    assert np.abs(forces).max() <= 20.0 + 1e-9
    h, z = 1e-6, found.x + 0.1
    columns = [written["defects"](z + h * e) - written["defects"](z - h * e) for e in np.eye(len(z))]
    np.testing.assert_allclose(written["defects_derivative"](z), np.stack(columns, axis=-1) / (2 * h), atol=1e-7)
