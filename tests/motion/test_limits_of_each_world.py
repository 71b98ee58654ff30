"""Position and effort limits as inputs: every world its own, checked as those of a description."""

import numpy as np
import pytest

import cardan
from cardan.errors import NotFiniteError, ParameterError, UnsupportedError
from cardan.joints import Mimic, Revolute

DT = 2e-3


def hinge(name="hinge", limits=None, **options):
    b = cardan.WorldBuilder(gravity=(0.0, 0.0, 0.0))
    b.add_link("bar", inertia=cardan.Inertia(1.0, (0.5, 0.0, 0.0), np.eye(3) * 0.1))
    b.add_joint(name, Revolute([0, 1, 0]), "world", "bar", limits=limits, **options)
    b.add_articulation("arm", [name])
    return b.finalize()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["Featherstone", "XPBD", "Variational", "SemiImplicit"])
def test_every_world_has_stops_of_its_own(name, dtype):
    world = hinge().with_inputs("lower", "upper")
    lower, upper = [[-np.inf], [-0.1], [0.0]], [[np.inf], [0.1], [0.3]]
    state, control = world.state(3, dtype, lower=lower, upper=upper), world.control(3, dtype)
    control.effort[:] = 1.0
    solver = getattr(cardan.solvers, name)(world, DT)
    state = solver.step(state, control, steps=500)
    assert np.allclose(state.q[1:, 0], [0.1, 0.3], atol=2e-3)
    assert state.q[0, 0] > 0.5
    control.effort[:] = -1.0
    state = solver.step(state, control, steps=800)
    assert np.allclose(state.q[1:, 0], [-0.1, 0.0], atol=2e-3)


def test_limits_that_are_given_are_those_that_are_written():
    limits = cardan.Limits(lower=[-0.2], upper=[0.1], effort=[0.5])
    written = hinge(limits=limits, drive=cardan.Drive([5.0], [0.5]))
    given = hinge(limits=cardan.Limits(effort=[9.0]), drive=cardan.Drive([5.0], [0.5]))
    given = given.with_inputs("lower", "upper", "effort_lower", "effort_upper")
    control, same = written.control(), given.control()
    control.position = same.position = 1.0 * np.ones(1)
    state = given.state(lower=[-0.2], upper=[0.1], effort_lower=[-0.5], effort_upper=[0.5])
    solver = cardan.solvers.Featherstone(written, DT, iterations=4)
    expected = solver.rollout(written.state(), control, steps=300, every=10)
    found = cardan.solvers.Featherstone(given, DT, iterations=4).rollout(state, same, steps=300, every=10)
    assert np.allclose(found.q, expected.q, atol=1e-12)
    assert np.allclose(found.v, expected.v, atol=1e-10)


def test_a_drive_gives_no_more_than_the_effort_limit_of_its_world():
    world = hinge(drive=cardan.Drive([1e4], [0.0])).with_inputs(torque=("hinge", "effort_upper"))
    state, control = world.state(2, torque=[[0.25], [0.5]]), world.control(2)
    control.position[:] = 3.0
    state = cardan.solvers.Featherstone(world, DT).step(state, control)
    assert np.allclose(state.v[:, 0], DT * np.array([0.25, 0.5]) / 0.35, rtol=1e-9)


def test_through_a_view_and_for_some_worlds():
    world = cardan.robots.arm7().world().with_inputs("lower", "upper")
    view, state = world.view("arm7", joints=["joint2"]), world.state(3)
    begun = view.constants(state, "upper")
    view.set_constants(state, "upper", 0.3, worlds=[1])
    assert view.constants(state, "upper")[:, 0, 0].tolist() == [begun[0, 0, 0], 0.3, begun[2, 0, 0]]
    view.set_constants(state, "upper", np.inf, worlds=[2])
    with pytest.raises(ParameterError, match="lower <= upper"):
        view.set_constants(state, "upper", -7.0)
    with pytest.raises(NotFiniteError):
        view.set_constants(state, "upper", np.nan)
    assert view.constants(state, "upper")[:, 0, 0].tolist() == [begun[0, 0, 0], 0.3, np.inf]


def test_limits_are_checked_as_those_of_a_description():
    world = hinge().with_inputs("lower", "upper", "effort_upper")
    state = world.state(2)
    with pytest.raises(ParameterError, match="lower <= upper"):
        world.state(2, lower=[0.5], upper=[0.2])
    state.constants["upper"] = [0.5]
    with pytest.raises(ParameterError, match="lower <= upper"):
        state.constants["lower"] = [[0.0], [0.6]]
    with pytest.raises(NotFiniteError):
        state.constants["upper"] = [np.nan]
    with pytest.raises(ParameterError, match="-inf for no limit"):
        state.constants["lower"] = [np.inf]
    with pytest.raises(ParameterError, match="effort_lower <= effort_upper"):
        hinge(limits=cardan.Limits(effort=[1.0])).with_inputs("effort_upper").state(effort_upper=[-2.0])
    assert np.isinf(state.constants["lower"]).all()


@pytest.mark.slow
def test_an_orientation_has_no_limits_to_give():
    world = cardan.robots.quadruped().world("floating").with_inputs("lower")
    state = world.state(2)
    lower = state.constants["lower"].copy()
    lower[:, 2] = 0.1  # heights are coordinates
    with pytest.raises(ParameterError, match="root"):
        state.constants["lower"] = np.full(world.model.nv, -1.0)
    state.constants["lower"] = lower
    solver = cardan.solvers.Featherstone(world, DT)
    state.q[:, 2] = 0.2
    assert (solver.step(state, steps=200).q[:, 2] > 0.09).all()


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_an_explicit_step_has_no_stops(integrator):
    world = hinge().with_inputs("upper")
    with pytest.raises(UnsupportedError, match="upper"):
        cardan.solvers.Featherstone(world, DT, integrator=integrator)
    cardan.solvers.Featherstone(world, DT, integrator=integrator, limits=False)


def test_numbers_in_their_place_are_a_model_again():
    model = cardan.robots.arm7().model().with_inputs("lower", "effort_upper")
    assert np.array_equal(model.input_values()["lower"], model.lower)
    fixed = model.with_values(lower=model.lower - 0.5, effort_upper=model.effort_upper)
    assert np.allclose(fixed.lower, model.lower - 0.5)
    assert model.digest != fixed.digest


def test_a_checked_step_takes_a_limit_that_is_none():
    world = hinge().with_inputs("lower", "upper")
    solver = cardan.solvers.Featherstone(world, DT)
    careful = cardan.Function(solver.function.made_from, checked=True)
    q, v = np.zeros(1), np.ones(1)
    assert np.isfinite(careful(world.model, q, v, 0.0, lower=[-np.inf], upper=[np.inf])["v"]).all()
    with pytest.raises(NotFiniteError, match="upper"):
        careful(world.model, q, v, 0.0, lower=[-np.inf], upper=[np.nan])


def test_mimics_have_the_limits_of_their_primaries():
    m = cardan.Mechanism("gripper")
    for name in ("left", "right"):
        m.add_body(name, cardan.Inertia(1.0, (0.0, 0.0, 0.1), np.eye(3) * 0.1))
    m.add_joint("open", Revolute([0, 1, 0]), "world", "left")
    m.add_joint("copy", Mimic(Revolute([0, 1, 0]), "open", -1.0), "world", "right")
    world = m.world().with_inputs("lower", "upper")
    state, control = world.state(2, lower=[[-0.1], [-np.inf]], upper=[[0.2], [0.3]]), world.control(2)
    control.effort[:] = 1.0
    end = cardan.solvers.Featherstone(world, DT).step(state, control, steps=600)
    assert np.allclose(end.q[:, 0], [0.2, 0.3], atol=2e-3)


@pytest.mark.parametrize("solver", ["Featherstone", "XPBD", "Variational", "SemiImplicit"])
@pytest.mark.parametrize("name", ["lower", "upper", "effort_lower", "effort_upper", "friction"])
def test_a_limit_that_becomes_nan_in_place_is_flagged(name, solver, quick_target):
    """A stop that is NaN was no stop, or threw its joint to the other one; an effort had no limit, friction no end."""
    limits = cardan.Limits(lower=[-0.2], upper=[0.1], effort=[0.5])
    world = hinge(limits=limits, drive=cardan.Drive([5.0], [0.5])).with_inputs(name)
    state, control = world.state(3), world.control(3)
    control.effort[:] = 0.2
    state.constants[name][1] = np.nan
    after = getattr(cardan.solvers, solver)(world, DT).step(state, control, steps=20)
    assert after.diverged.tolist() == [False, True, False]
    assert np.array_equal(after.q[1], state.q[1])


@pytest.mark.parametrize("solver", ["Featherstone", "XPBD", "Variational", "SemiImplicit"])
def test_a_surface_that_becomes_nan_in_place_is_flagged(solver, quick_target):
    b = cardan.WorldBuilder()
    b.add_ground()
    b.add_body("crate", pose=cardan.SE3(translation=[0, 0, 0.1]))
    b.add_shape("crate", cardan.description.Box((0.2, 0.2, 0.2)))
    world = b.finalize().with_inputs("contact_restitution")
    state = world.state(2)
    state.constants["contact_restitution"][1] = np.nan
    after = getattr(cardan.solvers, solver)(world, DT).step(state, steps=2)
    assert after.diverged.tolist() == [False, True]
