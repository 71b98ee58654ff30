"""Wrenches on bodies in a step: laws of momentum, the same in all solvers, every world its own, no cost without any."""

import pickle

import numpy as np
import pytest

import cardan
from cardan._motion.simulation.links import mass_centers, wrench_efforts
from cardan.description import Box
from cardan.errors import NotFiniteError, ParameterError, ShapeError, UnknownNameError
from cardan.joints import Fixed, Revolute

pytestmark = pytest.mark.usefixtures("quick_target")

DT = 1e-4
SOLVERS = ("Featherstone", "XPBD", "Variational", "SemiImplicit", "MuJoCo")


def solver_of(name, world, dt=DT, **options):
    if name == "MuJoCo":
        pytest.importorskip("mujoco")
    return getattr(cardan.solvers, name)(world, dt, **options)


@pytest.fixture(scope="module")
def dog():
    return cardan.robots.quadruped().world("floating")


def moving(world, worlds=3, dtype="float64"):
    rng = np.random.default_rng(2)
    q = world.model.random_configuration((worlds,), seed=1)
    v = 0.3 * rng.normal(size=(worlds, world.model.nv))
    return world.state(worlds, dtype, q=q, v=v), 5.0 * rng.normal(size=(worlds, world.model.nbodies, 6))


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_a_force_against_the_weight_holds_a_body_that_spins(name):
    b = cardan.WorldBuilder()
    b.add_body("brick", inertia=cardan.Inertia(2.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.1, 0.1])))
    b.v["brick_free"] = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    world = b.finalize()
    state, control = world.state(), world.control()
    control.apply_force("brick", (0.0, 0.0, 2.0 * 9.81))

    def center(state):
        return mass_centers(world.model, state.q, bodies=("brick",))[0, 0]

    begun, speed = center(state), state.newton()[1][0, 0]
    state = solver_of(name, world, 1e-3).step(state, control, steps=200)
    assert np.allclose(center(state), begun + 0.2 * speed[:3], atol=2e-4)
    assert np.allclose(state.newton()[1][0, 0], speed, atol=1e-3)


def armed():
    """Return a world of a trunk that floats, with an arm that has a tool fixed to it."""
    m = cardan.Mechanism("armed")
    inertia = cardan.Inertia(1.5, (0.1, 0.05, 0.2), np.diag([0.2, 0.3, 0.25]))
    for name in ("trunk", "arm", "tool"):
        m.add_body(name, inertia)
    m.add_joint("shoulder", Revolute([0, 1, 0]), "trunk", "arm", cardan.SE3(translation=(0.3, 0.0, 0.0)))
    m.add_joint("flange", Fixed(), "arm", "tool", cardan.SE3(translation=(0.4, 0.0, 0.1)))
    return m.world("floating")


@pytest.mark.parametrize("name", SOLVERS)
def test_all_solvers_take_a_wrench_as_the_efforts_it_amounts_to(name):
    world = armed()
    state, wrenches = moving(world)
    solver, control, plain = solver_of(name, world), world.control(3), world.control(3)
    control.wrenches = wrenches
    plain.effort = wrench_efforts(world.model, state.q, wrenches)
    found, expected = solver.step(state, control), solver.step(state, plain)
    tolerance = 1.0 if name == "SemiImplicit" else 1e-6  # its bodies have moved before efforts act
    assert np.allclose(found.v, expected.v, atol=tolerance * DT)
    assert np.abs(found.v - solver.step(state).v).max() > 10.0 * DT


def test_the_efforts_of_wrenches_are_their_power(dog):
    state, wrenches = moving(dog, 5)
    model = dog.model
    tau = wrench_efforts(model, state.q, wrenches)
    everything = cardan._motion.simulation.links.mass_center_twists(model, state.q, state.v, bodies=model.body_names)
    power = (everything * wrenches).sum(axis=(1, 2))
    assert np.allclose((tau * state.v).sum(axis=-1), power, rtol=1e-12)
    small = wrench_efforts(model, state.q.astype("float32"), wrenches.astype("float32"))
    assert small.dtype == np.float32
    assert np.allclose(small, tau, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("options", [{}, {"integrator": "rk4", "limits": False}], ids=["implicit", "rk4"])
def test_momentum_changes_by_the_wrenches(options):
    world = weightless()
    model = world.model
    state, wrenches = moving(world, 2)
    control = world.control(2)
    control.wrenches = wrenches
    after = cardan.solvers.Featherstone(world, 1e-5, **options).step(state, control)

    def momentum(state):
        """Return linear momentum, and angular momentum about the origin of the world."""
        own = cardan.centroidal_momentum(model, state.q, state.v)
        return np.concatenate(
            [own[:, :3], own[:, 3:] + np.cross(cardan.center_of_mass(model, state.q), own[:, :3])], axis=-1
        )

    places = mass_centers(model, state.q, bodies=model.body_names)
    force = wrenches[..., :3].sum(axis=1)
    moment = (wrenches[..., 3:] + np.cross(places, wrenches[..., :3])).sum(axis=1)
    rate = (momentum(after) - momentum(state)) / 1e-5
    assert np.allclose(rate, np.concatenate([force, moment], axis=-1), rtol=1e-3, atol=0.05)


def weightless():
    b = cardan.WorldBuilder(gravity=(0.0, 0.0, 0.0))
    b.add(cardan.robots.quadruped(), base="floating")
    return b.finalize()


def test_loops_mimics_and_masses_of_each_world():
    world = cardan.robots.four_bar().world().with_inputs("com")
    state, wrenches = moving(world, 2)
    state.q, state.v = world.initial, np.zeros(world.model.nv)
    state.constants["com"][1] += 0.05
    control, plain = world.control(2), world.control(2)
    control.wrenches = wrenches
    plain.effort = wrench_efforts(world.model, state.q, wrenches, **state.model_constants)
    solver = cardan.solvers.Featherstone(world, DT)
    assert np.allclose(solver.step(state, control).v, solver.step(state, plain).v, atol=1e-12)
    alone = wrench_efforts(world.model, state.q, wrenches, com=state.constants["com"][0])
    assert not np.allclose(plain.effort[1], alone[1])


@pytest.mark.full
def test_every_world_has_its_own_and_the_ground_feels_it():
    b = cardan.WorldBuilder()
    b.add_ground()
    b.add_body("box", pose=cardan.SE3(translation=(0.0, 0.0, 0.1)))
    b.add_shape("box", Box((0.2, 0.2, 0.2)), density=125.0)  # 1 kg
    world = b.finalize()
    state, control = world.state(3), world.control(3)
    control.apply_force("box", [(0.0, 0.0, -10.0), (0.0, 0.0, 5.0)], worlds=[1, 2])
    solver = cardan.solvers.Featherstone(world, 2e-3)
    state = solver.step(state, control, steps=50)
    felt = solver.contact_forces(state, control).force[..., 2].sum(axis=-1)
    assert np.allclose(felt, [9.81, 19.81, 4.81], atol=1e-3)
    single = world.control()
    single.apply_force("box", (0.0, 0.0, -10.0))
    assert np.allclose(solver.contact_forces(state, single).force[1, :, 2].sum(), 19.81, atol=1e-3)


def test_where_a_force_acts(dog):
    state, _ = moving(dog)
    control, model = dog.control(3), dog.model
    name = model.body_names[4]
    point = state.poses[:, 1, :3]
    control.apply_force(name, (1.0, 2.0, 3.0), at=point, state=state)
    center = mass_centers(model, state.q, bodies=(name,))[:, 0]
    expected = np.cross(point - center, (1.0, 2.0, 3.0))
    assert np.allclose(control.wrenches[:, 4], np.concatenate([np.tile([1.0, 2.0, 3.0], (3, 1)), expected], axis=1))
    control.apply_force(name, torque=(0.0, 0.0, 1.0), worlds=[True, False, False])
    assert control.wrenches[0, 4].tolist() == [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert control.wrenches[1, 4, :3].tolist() == [1.0, 2.0, 3.0]
    control.apply_force(name)
    assert not control.wrenches.any()


@pytest.mark.parametrize(
    ("do", "error", "said"),
    [
        (lambda c, s: c.apply_force("nothing"), UnknownNameError, "nothing"),
        (lambda c, s: c.apply_force("trunk", at=(0.0, 0.0, 0.0)), ParameterError, "state="),
        (lambda c, s: c.apply_force("trunk", at=(0.0, 0.0, 0.0), state=s[:2]), ParameterError, "3 worlds"),
        (lambda c, s: c.apply_force("trunk", (1.0, 2.0)), ShapeError, "force"),
        (lambda c, s: c.apply_force("trunk", (np.nan, 0.0, 0.0)), NotFiniteError, "force"),
        (lambda c, s: c.apply_force("trunk", (1.0, 0.0, 0.0), worlds=[7]), ParameterError, "worlds"),
        (lambda c, s: setattr(c, "wrenches", np.zeros((3, 2, 6))), ShapeError, "wrenches"),
    ],
)
def test_what_is_refused_leaves_everything_as_it_was(dog, do, error, said):
    state, control = moving(dog)[0], dog.control(3)
    with pytest.raises(error, match=said):
        do(control, state)
    assert control.names == ("effort", "position", "velocity") or not control.wrenches.any()


def test_a_body_fixed_on_the_world_is_not_pushed():
    control = cardan.robots.arm7().world().control()
    with pytest.raises(ParameterError, match="fixed on the world"):
        control.apply_force("base", (1.0, 0.0, 0.0))


def test_copies_rows_and_pickles_carry_them(dog):
    control = dog.control(3, "float32")
    assert pickle.loads(pickle.dumps(control)).names == ("effort", "position", "velocity")
    control.wrenches[1] = 2.0
    for twin in (control.copy(), pickle.loads(pickle.dumps(control))):
        assert twin.wrenches.dtype == np.float32
        assert twin.wrenches is not control.wrenches
        assert (twin.wrenches == control.wrenches).all()
    assert (control[1:2].wrenches == 2.0).all()


@pytest.mark.slow
def test_a_stepper_reads_them_and_none_come_later(dog):
    state, wrenches = moving(dog, 1)
    control, late = dog.control(), dog.control()
    control.wrenches = wrenches
    solver = cardan.solvers.Featherstone(dog, DT)
    advance = solver.stepper(state, control)
    control.wrenches = -wrenches
    advance()
    assert advance.q.tobytes() == solver.step(state, control).q.tobytes()
    solver.stepper(state, late)
    with pytest.raises(ParameterError, match=r"before solver\.stepper"):
        late.apply_force("trunk", (1.0, 0.0, 0.0))


@pytest.mark.slow
def test_a_step_without_wrenches_does_not_read_any(dog):
    state, _ = moving(dog)
    solver, control = cardan.solvers.Featherstone(dog, DT), dog.control(3)
    solver.step(state, control)
    assert control.names == ("effort", "position", "velocity")
    assert "wrenches" not in solver._bound(1, control.names).made_by[2]
    control.wrenches[:] = 1.0
    assert "wrenches" in solver._bound(1, control.names).made_by[2]


def test_derivatives_with_respect_to_wrenches():
    world = cardan.robots.double_pendulum().world()
    model, solver = world.model, cardan.solvers.Featherstone(world, 1e-3)
    q, v, w = np.array([0.3, -0.4]), np.array([0.1, 0.2]), np.zeros((model.nbodies, 6))
    J = cardan.derivative(solver.function, "wrenches")(model, q, v, 0.0, wrenches=w)["v"].reshape(2, -1)
    for k in range(w.size):
        step = np.eye(w.size)[k].reshape(w.shape)
        ends = [solver.function(model, q, v, 0.0, wrenches=w + s * step)["v"] for s in (1.0, -1.0)]
        assert np.allclose(J[:, k], (ends[0] - ends[1]) / 2.0, atol=1e-9)


def test_forces_are_of_the_worlds_chosen_in_their_order():
    world = cardan.robots.quadruped().world("floating")
    control = world.control(worlds=2)
    control.apply_force("trunk", [(2.0, 0.0, 0.0), (3.0, 0.0, 0.0)], worlds=[1, 0])
    assert control.wrenches[:, 0, 0].tolist() == [3.0, 2.0]
