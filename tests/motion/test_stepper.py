"""One world stepped in a loop of Python: the same bits as `step`, arrays that stay, everything else from the state."""

import copy
import pickle

import numpy as np
import pytest

import cardan
from cardan._dynamics.call.store import name_of
from cardan._motion.simulation.solvers import XPBD, Featherstone
from cardan.errors import ParameterError

DT = 0.002


@pytest.fixture(scope="module")
def quadruped():
    return cardan.robots.quadruped().world("floating", ground=True)


def assert_same_states(a, b):
    for name in ("q", "v", "warm", "residual", "time", "diverged"):
        x, y = getattr(a, name), getattr(b, name)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        assert x.tobytes() == y.tobytes(), name


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("steps", [1, 3])
def test_the_bits_of_step(quadruped, dtype, steps):
    solver = Featherstone(quadruped, DT, contact="compliant")
    state, control = quadruped.state(dtype=dtype), quadruped.control(dtype=dtype)
    state.v[:, -3:] = 0.3
    state = solver.step(state, control, steps=4)  # so that time and count do not begin at 0
    begun = state.copy()
    advance, after = solver.stepper(state, control, steps=steps), state
    for k in range(5):
        control.effort[0, -1] = 0.2 * k  # in the control's own array
        after = solver.step(after, control, steps=steps)
        assert advance() is None
    assert_same_states(advance.state, after)
    assert advance.q.tobytes() == after.q.tobytes()
    assert advance.v.tobytes() == after.v.tobytes()
    assert (advance.time, advance.residual, advance.diverged) == (after.time[0], after.residual[0], False)
    assert_same_states(state, begun)


def test_no_control_and_another_solver():
    world = cardan.robots.double_pendulum().world()
    state = world.state(q=[0.4, 0.1])
    for solver in (Featherstone(world, DT), XPBD(world, DT)):
        advance = solver.stepper(state)
        for _ in range(3):
            advance()
        assert_same_states(advance.state, solver.step(state, steps=3))


def test_constants_of_the_world_are_those_of_the_state():
    world = cardan.robots.double_pendulum().world().with_inputs("gravity")
    state = world.state(q=[0.4, 0.1])
    state.constants["gravity"][...] = (0.0, 0.0, -1.62)
    solver = Featherstone(world, DT)
    advance = solver.stepper(state)
    expected = solver.step(state)
    state.constants["gravity"][...] = 0.0  # its own, since it was made
    advance()
    assert_same_states(advance.state, expected)
    assert advance.state.constants["gravity"].tolist() == [[0.0, 0.0, -1.62]]


def test_its_arrays_stay_and_may_be_written_into():
    world = cardan.robots.double_pendulum().world()
    solver = Featherstone(world, DT)
    advance = solver.stepper(world.state(q=[0.4, 0.1]))
    q, v = advance.q, advance.v
    advance()
    assert (q is advance.q, v is advance.v) == (True, True)
    kept = advance.state
    q[:], v[:] = (0.1, -0.2), 0.5
    advance()
    assert_same = np.testing.assert_array_equal
    expected = solver.step(world.state(q=[0.1, -0.2], v=[0.5, 0.5]))
    assert_same(q, expected.q[0])
    assert_same(v, expected.v[0])
    assert kept.q.tobytes() == solver.step(world.state(q=[0.4, 0.1])).q.tobytes()


def test_a_world_that_diverges_stands_still_and_says_so():
    world = cardan.robots.double_pendulum().world()
    control, solver = world.control(), Featherstone(world, DT)
    advance, state = solver.stepper(world.state(), control), world.state()
    for effort in (0.0, np.nan, np.nan):
        control.effort[0] = effort
        advance()
        state = solver.step(state, control)
    assert advance.diverged
    assert np.isfinite(advance.q).all()
    assert_same_states(advance.state, state)
    assert advance.time == state.time[0] == DT


@pytest.mark.full
def test_time_is_exact_beyond_the_whole_numbers_of_single_precision():
    builder = cardan.WorldBuilder()
    builder.add_body("bead", inertia=cardan.Inertia(1.0, (0.0, 0.0, 0.0), np.eye(3)))
    world = builder.finalize()
    solver, steps = Featherstone(world, 2.0**-20), 2**20
    advance = solver.stepper(world.state(dtype="float32"), steps=steps)
    for _ in range(18):
        advance()
    assert (advance.time, advance.diverged) == (18.0, False)
    assert advance.state.time.tolist() == [18.0]


def test_it_is_not_copied_for_its_arrays_are_one_memory():
    world = cardan.robots.double_pendulum().world()
    advance = Featherstone(world, DT).stepper(world.state())
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"its state"):
            copied(advance)


def test_several_worlds_are_refused(quadruped):
    solver = Featherstone(quadruped, DT)
    with pytest.raises(ParameterError, match=r"2 worlds.*`step` takes several"):
        solver.stepper(quadruped.state(2))
    with pytest.raises(ParameterError, match="steps"):
        solver.stepper(quadruped.state(), steps=0)


def test_worlds_that_differ_in_targets_alone_share_the_programs_of_a_step(quick_target):
    mechanism, _ = cardan.robots.double_pendulum().with_drives({"*": cardan.Drive(30.0, 1.0)})
    found, programs = [], []
    for target in (0.3, -0.2):
        b = cardan.WorldBuilder()
        b.add(mechanism)
        b.targets[mechanism.joints[0].name] = target
        world = b.finalize()
        solver = Featherstone(world, DT)
        found.append(solver.step(world.state(), steps=400).q[0, 0])
        programs.append(name_of(solver._step.made_from, world.model, ("q", "v", "count", "position"), ()))
        one = solver.function(world.model, world.initial, np.zeros(2), 0.0)  # to the targets of its world
        np.testing.assert_array_equal(one["q"], solver.step(world.state()).q[0])
    assert programs[0] == programs[1]
    assert found[1] < found[0]
