"""States and controls: what they hold, how it is written, and that it comes back to the last bit."""

import copy
import dataclasses
import io
import multiprocessing
import pickle

import numpy as np
import pytest

import cardan
from cardan import Inertia, State, WorldBuilder
from cardan.description import Sphere
from cardan.errors import (
    ConfigurationError,
    DescriptionError,
    DTypeError,
    NotFiniteError,
    ParameterError,
    ShapeError,
    UnknownNameError,
)
from cardan.joints import Prismatic, Revolute
from cardan.simulation import solvers
from mechanisms import random_mechanism
from test_world import TURNED, pendulum, walker

pytestmark = pytest.mark.usefixtures("reference_target")


@pytest.fixture(scope="module")
def world():
    return walker().world(base="floating", pose=TURNED)


def moved(world, worlds=3, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    q = world.model.random_configuration((worlds,), seed=rng)
    return world.state(worlds, dtype, q, rng.standard_normal((worlds, world.model.nv)))


# --- arrays --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arrays_are_the_states_own(world, dtype):
    q = world.model.random_configuration((4,), seed=1)
    state = world.state(4, dtype, q=q)
    assert {array.dtype for array in (state.q, state.v, state.warm)} == {np.dtype(dtype)}
    assert state.time.dtype == np.float64  # a million steps of 1 ms in float32 would be 8 s off
    assert (state.q.shape, state.v.shape) == ((4, world.model.nq), (4, world.model.nv))
    q[...] = 0.0
    held = state.q
    state.q = world.initial
    assert held is state.q
    np.testing.assert_array_equal(held, np.broadcast_to(world.initial, held.shape).astype(dtype))
    state.q[1, 7:] = 0.25
    assert (state.q[:, 7:] == [[0, 0], [0.25, 0.25], [0, 0], [0, 0]]).all()
    state.q[:, 7] += 1.0
    state.v += 1.0
    assert (state.v == 1.0).all()
    state.time = 0.5
    assert (state.time == 0.5).all()


@pytest.mark.parametrize(
    ("name", "value", "error", "said"),
    [
        ("q", np.zeros(3), ShapeError, r"state: argument 'q' has shape \(3,\), expected \(9,\) or \(3, 9\)"),
        ("q", np.zeros((2, 9)), ShapeError, r"\(2, 9\)"),
        ("q", np.zeros(9), ConfigurationError, "quaternion"),
        ("q", "text", DTypeError, "'q'"),
        ("v", np.full((3, 8), np.nan), NotFiniteError, r"v\[0, 0\] is nan"),
        ("v", [[0] * 8, [0] * 7 + [np.inf], [0] * 8], NotFiniteError, r"v\[1, 7\] is inf"),
        ("v", [0] * 7 + [np.inf], NotFiniteError, r"v\[7\] is inf"),
        ("time", np.nan, NotFiniteError, r"time\[\] is nan"),
        ("v", 1.0 + 2j, DTypeError, "'v'"),
        ("warm", np.zeros(9), ShapeError, "'warm'"),
        ("time", np.zeros((3, 1)), ShapeError, "'time'"),
        ("poses", np.zeros((3, 2, 7)), ShapeError, "'poses'"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(world, name, value, error, said):
    state = moved(world)
    before = state.copy()
    with pytest.raises(error, match=said):
        setattr(state, name, value)
    assert state == before


@pytest.mark.parametrize(
    "wrong", [{"worlds": -1}, {"worlds": 1.5}, {"worlds": True}, {"dtype": "int32"}, {"dtype": "x"}]
)
def test_states_are_of_a_number_of_worlds_and_a_type(world, wrong):
    for make in (world.state, world.control):
        with pytest.raises(ParameterError):
            make(**wrong)
    with pytest.raises(UnknownNameError, match=r"world.with_inputs"):
        world.state(mass=1.0)


def test_a_state_of_no_world(world):
    state = world.state(0)
    state.poses, state.twists = state.poses, state.twists
    assert state.q.shape == (0, 9)
    assert state.newton()[0].shape == (0, 3, 7)
    assert pickle.loads(pickle.dumps(state)) == state


# --- poses and twists ----------------------------------------------------------------------------------------------


def test_poses_are_never_out_of_date(world):
    state = moved(world)
    for _ in range(2):
        links = list(world.links)
        X = cardan.frame_transform(world.model, state.q, links)
        V = cardan.frame_velocity(world.model, state.q, state.v, links, expressed_in="frame")
        np.testing.assert_allclose(state.poses[..., :3], X[..., :3, 3], atol=1e-14)
        np.testing.assert_allclose(state.twists, V, atol=1e-13)
        state.q[:, 7] += 0.3  # in place, with no word to anyone
        state.v[1] *= -2.0


@pytest.mark.parametrize(("dtype", "close"), [("float64", 1e-12), ("float32", 1e-4)])
def test_writing_poses_and_twists_writes_coordinates(world, dtype, close):
    one, other = moved(world, dtype=dtype), moved(world, dtype=dtype, seed=5)
    v = other.v.copy()
    other.poses = one.poses
    np.testing.assert_allclose(other.poses, one.poses, atol=close)
    np.testing.assert_allclose(other.q[:, 7:], one.q[:, 7:], atol=close)
    assert (other.v == v).all()  # positions alone were written
    other.twists = one.twists
    np.testing.assert_allclose(other.v, one.v, atol=10 * close)
    assert other.dtype == dtype


def test_turns_are_kept_when_poses_are_written():
    state = pendulum().world().state(1, q=[6.5 * np.pi])
    state.poses = state.poses
    np.testing.assert_allclose(state.q, 6.5 * np.pi)


def test_poses_the_joints_do_not_allow_are_refused(world):
    state = moved(world)
    before = state.copy()
    poses, twists = state.poses.copy(), state.twists.copy()
    poses[1, 2, 0] += 0.01
    twists[2, 1, 0] += 0.1
    with pytest.raises(ParameterError, match="link 'right_leg' of world 1, off by"):
        state.poses = poses
    with pytest.raises(ParameterError, match="link 'left_leg' of world 2"):
        state.twists = twists
    assert state == before


def test_newtons_twist_is_of_the_centre_of_mass_in_world_axes(world):
    """By the difference of its positions along the motion."""
    state = moved(world)
    state.v *= 0.1
    poses, twists = state.newton()
    np.testing.assert_array_equal(poses, state.poses)
    h, places = 1e-5, []
    for s in (-h, h):
        q = cardan.integrate(world.model, state.q, s * state.v)
        X = cardan.frame_transform(world.model, q, list(world.links))
        coms = [world.model.body(link).inertia.com for link in world.links]
        places.append((X[..., :3, :3] @ np.array(coms)[:, :, None])[..., 0] + X[..., :3, 3])
    np.testing.assert_allclose(twists[..., :3], (places[1] - places[0]) / (2 * h), atol=1e-8)
    spins = cardan.frame_velocity(world.model, state.q, state.v, list(world.links), expressed_in="world")[..., 3:]
    np.testing.assert_allclose(twists[..., 3:], spins, atol=1e-13)


def test_many_trees_that_are_alike_go_by_one_program_of_each_kind():
    b = WorldBuilder()
    for k in range(36):
        name, place = f"b{k}", cardan.SE3(translation=[0.5 * k, 0.0, 1.0])
        if k % 3:
            b.add_body(name, place, Inertia(1.0 + k, (0, 0, 0), np.eye(3)))
        else:  # each hangs somewhere else
            b.add_link(name, inertia=Inertia(1.0, (0.1, 0, 0), np.eye(3)))
            b.add_joint(f"j{k}", Revolute([0, 1, 0]), "world", name, place)
            b.add_articulation(f"a{k}", [f"j{k}"])
    state = moved(b.finalize())
    model, q, v = state.world.model, state.q.copy(), state.v.copy()
    for found, expected in zip((state.poses, state.twists), cardan.eval_fk(model, q, v), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-14)
    poses, twists = state.poses.copy(), state.twists.copy()
    state.q, state.v = state.world.initial, np.zeros_like(v)
    state.poses, state.twists = poses, twists
    np.testing.assert_allclose(state.poses, poses, atol=1e-14)
    np.testing.assert_allclose(state.v, v, atol=1e-13)


def test_poses_of_every_kind_of_joint():
    world = random_mechanism(3).world(base="floating")
    state = moved(world, 2)
    poses = state.poses
    assert poses.shape == (2, len(world.links), 7)
    np.testing.assert_allclose(np.linalg.norm(poses[..., 3:], axis=-1), 1.0, atol=1e-12)


# --- copies, files -------------------------------------------------------------------------------------------------


def test_copies_share_nothing(world):
    state = moved(world)
    for twin in (state.copy(), copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert twin == state
        twin.q[0, 0] += 1e-16 if state.q[0, 0] == 0 else abs(state.q[0, 0]) * 1e-15
        assert twin != state
    assert state[1:].q.tolist() == state.q[1:].tolist()
    assert len(state[[0, 2]]) == len(state[np.array([True, False, True])]) == 2
    assert state[1] == state[1:2]
    assert state != state[1]
    assert (state == 3) is False


def test_equal_is_to_the_last_bit(world):
    state = world.state(2)
    other = state.copy()
    other.v[0, 0] = -0.0
    assert other != state
    state.v[0, 0], other.v[0, 0] = np.nan, np.nan
    assert state == other


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_saved_state_comes_back_to_the_last_bit(world, dtype, tmp_path):
    varied = world.with_inputs("mass", "gravity")
    state = varied.state(3, dtype, gravity=[0, 0, -1.0])
    state.v[...] = np.random.default_rng(2).standard_normal(state.v.shape)
    state.v[0, 0], state.q[1, 0] = np.nan, -0.0
    state.warm[...], state.time[...], state.diverged = 1 / 3, 0.1, [False, True, False]
    state.constants["mass"][1] *= 2.0
    state.save(tmp_path / "state.npz")
    back = State.load(varied, tmp_path / "state.npz")
    assert back == state
    again = walker().world(base="floating", pose=TURNED).with_inputs("mass", "gravity")
    assert State.load(again, str(tmp_path / "state.npz")) == state


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_steps_go_on_from_a_file_as_without_it(dtype, tmp_path):
    """The time, too, to the last bit: 0.01 + 5 * 0.01 is not 6 * 0.01."""
    world = pendulum().world()
    solver = solvers.Featherstone(world, 0.01)
    start, ends = world.state(3, dtype, q=np.ones((3, world.model.nq))), range(1, 8)
    whole = [solver.step(start, steps=n) for n in ends]
    for n in ends:
        half = solver.step(start, steps=n)
        half.save(tmp_path / "state.npz")  # which reads its time
        for middle in (half, State.load(world, tmp_path / "state.npz"), pickle.loads(pickle.dumps(half)), half[:]):
            for k, end in zip(ends, whole[n:], strict=False):
                assert solver.step(middle, steps=k) == end


def test_steps_of_several_lengths_keep_their_time():
    world = pendulum().world()
    state = world.state()
    for dt in (1e-3, 0.1, 1 / 240, 2e-3, 1e-3):
        state = solvers.Featherstone(world, dt).step(state, steps=7)
        assert state.time.dtype == np.float64
    np.testing.assert_allclose(state.time, 7 * (1e-3 + 0.1 + 1 / 240 + 2e-3 + 1e-3), rtol=1e-15)
    state.time = [0.7]
    solver = solvers.Featherstone(world, 1e-3)
    np.testing.assert_allclose(solver.step(state, steps=3).time, 0.703, rtol=1e-15)


def test_a_file_of_another_world_is_refused(world, tmp_path):
    file = tmp_path / "state.npz"
    pendulum().world().state().save(file)
    with pytest.raises(DescriptionError, match="another world than 'walker'"):
        State.load(world, file)
    file.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(DescriptionError, match="holds no state of cardan"):
        State.load(world, file)
    np.savez(file, q=np.zeros((1, 9)))
    with pytest.raises(DescriptionError, match="v, time, warm, residual, diverged, world missing"):
        State.load(world, file)
    with pytest.raises(FileNotFoundError):
        State.load(world, tmp_path / "none.npz")


def test_a_file_with_arrays_of_other_shapes_is_refused(world, tmp_path):
    file = tmp_path / "state.npz"
    world.state(2).save(file)
    with np.load(file) as stored:
        arrays = dict(stored)
    for name, array in {"v": np.zeros((2, 3)), "warm": np.zeros((1, 8)), "constants.mass": np.zeros(2)}.items():
        stream = io.BytesIO()
        np.savez(stream, **{**arrays, name: array})
        file.write_bytes(stream.getvalue())
        with pytest.raises(DescriptionError, match=name.removeprefix("constants.")):
            State.load(world, file)


def poses_elsewhere(state):
    return state.newton()[0]


@pytest.mark.full
def test_a_state_goes_to_another_process(world):
    state = moved(world)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply(poses_elsewhere, (state,))
    np.testing.assert_array_equal(there, state.newton()[0])


# --- constants of each world ---------------------------------------------------------------------------------------


def test_constants_belong_to_each_world(world):
    varied = world.with_inputs("mass", "gravity", kp=("left_hip", "drive_stiffness"))
    state = varied.state(3, mass=np.arange(1.0, 6.0))
    np.testing.assert_array_equal(state.constants["mass"], np.tile(np.arange(1.0, 6.0), (3, 1)))
    assert state.constants["gravity"].tolist() == [[0, 0, -9.81]] * 3
    state.constants["gravity"] = [[0, 0, -1], [0, 0, -2], [0, 0, -3]]
    tau = cardan.gravity_forces(varied.model, state.q, **state.constants)
    np.testing.assert_allclose(np.linalg.norm(tau[:, :3], axis=-1), [15.0, 30.0, 45.0])
    with pytest.raises(ShapeError, match="gravity"):
        state.constants["gravity"] = [1.0]
    with pytest.raises(NotFiniteError, match="mass"):
        state.constants["mass"] = np.nan * np.ones(5)
    with pytest.raises(UnknownNameError, match="did you mean 'mass'"):
        state.constants["masses"] = 1.0
    with pytest.raises(ParameterError, match=r"mass\[1, 2\]: got -1.0, expected a mass >= 0"):
        state.constants["mass"] = np.where(np.arange(15).reshape(3, 5) == 7, -1.0, 2.0)
    assert state.constants["mass"].min() == 1.0
    twin = state.copy()
    twin.constants["mass"][0, 0] = 9.0
    assert state.constants["mass"][0, 0] == 1.0
    assert state[1:].constants["gravity"].tolist() == [[0, 0, -2], [0, 0, -3]]


@pytest.mark.parametrize("name", ["damping", "drive_stiffness", "friction", "contact_friction", "contact_restitution"])
def test_a_constant_that_nothing_can_have_is_refused_by_name(name):
    b = WorldBuilder()
    b.add_ground()
    b.add_body("ball")
    b.add_shape("ball", Sphere(0.1))
    varied = b.finalize().with_inputs(name)
    wrong = 1.5 if name == "contact_restitution" else -0.5
    for constants in (varied.state(2).constants, pickle.loads(pickle.dumps(varied.state(2)))[1:].copy().constants):
        with pytest.raises(ParameterError, match=rf"{name}\[0, 0\]: got {wrong}, expected a number"):
            constants[name] = np.full(constants[name].shape, wrong)
    with pytest.raises(ParameterError, match=name):
        varied.state(2, **{name: np.full(constants[name].shape[1:], wrong)})


def test_ten_inertial_parameters_begin_with_a_mass():
    varied = pendulum().world().with_inputs(ten=("bob", "inertial_parameters"))
    own = varied.state().constants["ten"]
    with pytest.raises(ParameterError, match=r"ten\[0, 0\]: got -2.0, expected a mass"):
        varied.state(ten=[-2.0, *own[0, 1:]])
    varied.state(ten=[2.0, -1.0, *own[0, 2:]])


def test_newtons_twists_follow_the_mass_centre_of_each_world():
    world = pendulum().world().with_inputs("com")
    state = world.state(2, v=[2.0])
    state.constants["com"] = [[[0, 0, -1.0]], [[0, 0, -2.0]]]
    np.testing.assert_allclose(state.newton()[1][:, 0, 0], [-2.0, -4.0])


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("mass", [2.0]), ("com", [[0, 0, -1.0]]), ("gravity", [0, 0, -1.6]), ("armature", [0.5]), ("damping", [2.0]),
        ("friction", [0.7]), ("drive_stiffness", [90.0]), ("drive_damping", [7.0]),
    ],
)  # fmt: skip
def test_a_step_takes_the_constants_of_each_world(name, other):
    """One world as it was described, one with another value: as two models with these numbers, to the last digits."""
    limits, drive = cardan.Limits(effort=[50.0]), cardan.Drive(30.0, 1.0)
    properties = {"friction": [0.1], "armature": [0.1], "damping": [0.1], "limits": limits, "drive": drive}
    m = cardan.Mechanism("pendulum")
    m.add_body("bob", Inertia(1.0, (0, 0, -0.5), np.eye(3) * 0.01))
    m.add_joint("hinge", Revolute([0, 1, 0]), "world", "bob", **properties)
    both = m.world().with_inputs(name)
    state = both.state(2)
    state.constants[name][1] = other
    after = solvers.Featherstone(both, 2e-3).step(moved_to(state, 0.8), steps=5)
    for k, value in enumerate(state.constants[name]):
        alone = dataclasses.replace(m.world(), model=m.model().with_values(**{name: value}))
        expected = solvers.Featherstone(alone, 2e-3).step(moved_to(alone.state(), 0.8), steps=5)
        np.testing.assert_allclose(after.q[k], expected.q[0], rtol=1e-13)
        np.testing.assert_allclose(after.v[k], expected.v[0], rtol=1e-12)
    assert abs(after.v[1] - after.v[0]) > 1e-6


def moved_to(state, q):
    state.q = np.full(state.q.shape, q)
    return state


# --- time ------------------------------------------------------------------------------------------------------------


def lost(state):
    """Let the second world diverge."""
    state.v[1] = 1e200
    return state


def test_time_and_divergence_are_the_states_own_arrays():
    solver = solvers.Featherstone(pendulum().world(), 0.25)
    begin = lost(solver.world.state(2))
    for read in (False, True):
        state = solver.step(begin, steps=4)
        held = (state.time, state.diverged) if read else None
        later, kept = solver.step(state), state.copy()
        state.time[...], state.diverged = 7.0, True
        assert (later.time.tolist(), later.diverged.tolist()) == ([1.25, 0.0], [False, True])
        assert (kept.time.tolist(), kept.diverged.tolist()) == ([1.0, 0.0], [False, True])
        assert solver.step(state).time.tolist() == [7.25, 7.0]
        assert held is None or (held[0] is state.time and held[1] is state.diverged)
    assert (begin.time.tolist(), begin.diverged.any()) == ([0.0, 0.0], False)


def test_who_reads_the_time_does_not_change_it():
    """Each read began a new count, of which the rounding errors were summed."""
    solver = solvers.Featherstone(pendulum().world(), 0.1)
    read = unread = solver.world.state(2)
    unread.time = 0.05
    for _ in range(9):
        read, unread = solver.step(read), solver.step(unread)
        assert (read.time > 0.0).all()
        assert not read.diverged.any()
    assert read == unread
    read.diverged[1] = True  # what is written counts
    assert solver.step(read).diverged.tolist() == [False, True]


def test_what_is_stepped_in_place_keeps_its_arrays():
    solver = solvers.Featherstone(pendulum().world(), 0.25)
    state = lost(solver.world.state(2))
    arrays = state.q, state.v, state.time, state.diverged, state.residual
    for _ in range(3):
        assert solver.step(state, out=state) is state
    assert all(
        a is b for a, b in zip(arrays, (state.q, state.v, state.time, state.diverged, state.residual), strict=True)
    )
    assert (state.time.tolist(), state.diverged.tolist()) == ([0.75, 0.0], [False, True])
    state.time = [1.0, 2.0]
    assert solver.step(state, out=state.copy()).time.tolist() == [1.25, 2.0]


def test_a_step_takes_what_it_is_given_now_not_what_the_last_one_took():
    world = cardan.robots.double_pendulum().world()
    solver = solvers.Featherstone(world, 0.01)
    state, one, other = world.state(2), world.control(), world.control(2)

    def step_as_the_first(control=None, steps=1):
        nonlocal state
        fresh = solvers.Featherstone(world, 0.01)  # it knows of no step before
        expected, state = (s.step(state, control, steps=steps) for s in (fresh, solver))
        assert state == expected

    for control in (one, other):  # the first is spread over both worlds
        for k in range(3):
            control.effort[...] = 0.1 * k
            step_as_the_first(control)
    for steps in (1, 1, 2, 2):
        step_as_the_first(steps=steps)
    step_as_the_first(other)
    other.apply_force(world.links[-1], (3.0, 0.0, 0.0))  # wrenches, which there were not
    step_as_the_first(other)
    step_as_the_first(cardan.robots.double_pendulum().world().control(2))
    unlike = cardan.robots.arm7().world()
    wrongs = {"control": unlike.control(2)}, {"out": state[:1]}, {"state": unlike.state(2)}, {"state": state.q}
    for wrong in (*wrongs, {"steps": True}, {"steps": 0}):
        with pytest.raises(ParameterError):
            solver.step(**{"state": state, **wrong})


def test_what_is_stepped_into_has_the_constants_it_was_stepped_with():
    """It kept its own, so that the next step was one of another world."""
    world = pendulum().world().with_inputs("gravity")
    solver = solvers.Featherstone(world, 0.25)
    moon, out = world.state(2, gravity=[0.0, 0.0, -1.6], q=[1.0]), world.state(2)
    after = solver.step(moon)
    assert solver.step(moon, out=out) == after
    assert solver.step(out) == solver.step(after)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_time_is_exact_through_solvers_and_copies(dtype):
    world = pendulum().world()
    short, long = (solvers.Featherstone(world, dt) for dt in (0.001, 0.002))
    state = world.state(2, dtype)
    for _ in range(3):
        state = pickle.loads(pickle.dumps(short.step(state)))
        state = long.step(state, steps=2)[[1, 0]].copy()
    np.testing.assert_allclose(state.time, 0.015, rtol=1e-15)
    assert not state.diverged.any()


# --- of another world ------------------------------------------------------------------------------------------------


def yard():
    b = WorldBuilder()
    b.add(pendulum(), name="swing")
    for k, name in enumerate("ab"):
        b.add_body(name, inertia=Inertia(1.0, (0, 0, 0), np.eye(3)), pose=cardan.SE3(translation=(2, k, 3)))
        b.add_shape(name, Sphere(0.1))
    b.add_ground()
    return b


def test_bodies_come_and_go_between_steps():
    b = yard()
    inputs = "mass", "gravity", "damping", "contact_friction"
    world = b.finalize().with_inputs(*inputs, place=("b_free", "parent_pose"))
    state = moved(world)
    state.time, state.diverged = [1.0, 2.0, 3.0], [False, True, False]
    for array in (state.constants[name] for name in inputs):
        array[...] = 0.1 + np.arange(array.size).reshape(array.shape) / array.size
    assert world.state_from(state) == state
    b.q["a_free"], b.targets["b_free"] = world.initial[world.model.q_slice("a_free")], np.zeros(6)
    assert b.remove("a") == ("a", "a_free")
    assert not b.q
    b.add_body(
        "c", pose=cardan.SE3(translation=(0, 0, 5)), lock_inertia=True, inertia=Inertia(1.0, (0, 0, 0), np.eye(3))
    )
    b.add_shape("c", Sphere(0.1))
    other = b.finalize().with_inputs(*inputs, place=("b_free", "parent_pose"))
    after = other.state_from(state)
    for joint in ("hinge", "b_free"):
        for name, of in (("q", "q_slice"), ("v", "v_slice"), ("warm", "v_slice")):
            mine, own = getattr(after, name), getattr(state, name)
            np.testing.assert_array_equal(
                mine[:, getattr(other.model, of)(joint)], own[:, getattr(world.model, of)(joint)]
            )
    new = other.model.q_slice("c_free")
    assert (after.q[:, new] == other.initial[new]).all()
    assert not after.v[:, other.model.v_slice("c_free")].any()
    assert (after.time.tolist(), after.diverged.tolist()) == ([1.0, 2.0, 3.0], [False, True, False])
    before, masses = state.constants["mass"], after.constants["mass"]
    kept = [world.model.body_names.index(name) for name in other.model.body_names if name != "c"]
    np.testing.assert_array_equal(masses, np.c_[before[:, kept], np.ones(3)])
    np.testing.assert_array_equal(after.constants["gravity"], state.constants["gravity"])
    pairs = [[pair.name for pair in w.pairs] for w in (world, other)]
    for k, pair in enumerate(pairs[1]):
        expected = state.constants["contact_friction"][:, pairs[0].index(pair)] if pair in pairs[0] else 0.8
        np.testing.assert_array_equal(after.constants["contact_friction"][:, k], expected)
    with pytest.raises(ParameterError, match=r"constants of the state: got \['contact_friction', 'mass'"):
        b.finalize().state_from(state)
    b.remove("swing")
    b.add_link("bob", inertia=Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add_joint("hinge", Prismatic((0, 0, 1)), "world", "bob")
    b.add_articulation("swing", ["hinge"])
    another = b.finalize()
    with pytest.raises(ParameterError, match=r"joint 'hinge' of the state: got .*Revolute.* expected .*Prismatic"):
        another.state_from(state)
    with pytest.raises(ParameterError, match=r"expected a cardan\.State"):
        another.state_from(state.q)
    with pytest.raises(ParameterError, match=r"World\.state_from"):
        solvers.Featherstone(another, 0.001).step(state)
    with pytest.raises(UnknownNameError, match="swinc"):
        b.remove("swinc")
    for removed in (b.remove, cardan.robots.cart_pole().remove):
        with pytest.raises(ParameterError, match=r"got \['swing'\], expected a non-empty text"):
            removed(["swing"])
    assert list(b.finalize().articulations) == ["b", "c", "swing"]


# --- control ---------------------------------------------------------------------------------------------------------


def test_control_begins_at_the_targets_and_takes_what_it_is_given():
    b = WorldBuilder()
    b.add(pendulum())
    b.add_body("ball", inertia=Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add_shape("ball", Sphere(0.1))
    b.targets["hinge"] = 0.5
    world = b.finalize()
    control = world.control(2, "float32")
    assert control.position.tolist() == [[0.5] + [0.0] * 6] * 2
    assert (control.dtype, len(control)) == (np.float32, 2)
    control.effort = np.arange(7.0)
    control.velocity[1, 0] = 3.0
    twin = pickle.loads(pickle.dumps(control))
    copied = control.copy()
    control.effort[...] = np.nan  # hostile, and a solver's to flag
    for same in (twin, copied):
        assert same.effort.tolist() == [list(range(7))] * 2
        assert same.velocity[1, 0] == 3.0
    assert len(control[1:]) == 1
    with pytest.raises(ShapeError, match="control: argument 'effort'"):
        control.effort = np.zeros(3)
    with pytest.raises(DTypeError):
        control.position = ["a"] * 7
    for name in ("effort", "position", "velocity"):
        before = getattr(control, name).copy()
        with pytest.raises(NotFiniteError, match=rf"control: {name}\[1, 3\] is nan"):
            setattr(control, name, np.where(np.arange(14).reshape(2, 7) == 10, np.nan, 1.0))
        np.testing.assert_array_equal(getattr(control, name), before)


def test_contacts_are_the_same_whichever_bodies_are_there_and_come_first():
    """Shapes of one name on several bodies are numbered, differently in each world."""
    worlds = []
    for names in ("abc", "cb"):
        b = WorldBuilder()
        for name in names:
            b.add_body(name, pose=cardan.SE3(translation=(ord(name), 0, 0)))
            b.add_shape(name, Sphere(0.1), name="hull")
        worlds.append(b.finalize().with_inputs("contact_friction"))
    state = worlds[0].state()
    state.constants["contact_friction"][0] = [0.1 if {p.a, p.b} == {"b", "c"} else 0.2 for p in worlds[0].pairs]
    assert worlds[1].state_from(state).constants["contact_friction"].item() == 0.1


def test_worlds_that_were_pickled_are_compared_once(monkeypatch):
    """And not in each step: of a thousand bodies that takes five times the step."""
    world = pendulum().world()
    solver, looked = solvers.Featherstone(world, dt=0.001, tables=False), []
    own = type(world).moves_like
    monkeypatch.setattr(type(world), "moves_like", lambda one, other: looked.append(other) or own(one, other))
    state, control = pickle.loads(pickle.dumps((world.state(), world.control())))
    for _ in range(3):
        state = solver.step(state, control, steps=1)
        solver._check_state(state)
    assert [other for other in looked if other is world] == [world]
