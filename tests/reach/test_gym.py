"""Environments of Gymnasium: Gymnasium's own checks, and that many worlds are what one world is, many times."""

import copy
import pickle
import subprocess
import sys
import warnings
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env, data_equivalence  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import cardan  # noqa: E402
import cardan.gym  # noqa: E402
from cardan._algebra.spatial import Vector3  # noqa: E402
from cardan._reach.gym.rendering import parts_near  # noqa: E402
from cardan._reach.gym.tasks import SCAN, bumps  # noqa: E402
from cardan._reach.gym.vectorised import mixed, uniform  # noqa: E402
from cardan._reach.pictures.scene import moved  # noqa: E402
from cardan.description import Box, Shape  # noqa: E402
from cardan.errors import ParameterError, ShapeError  # noqa: E402

POLE, DOG, ARM = "cardan/CartPoleSwingUp-v0", "cardan/QuadrupedWalk-v0", "cardan/ArmReach-v0"
ROUGH = "cardan/QuadrupedRough-v0"
NAMES = [POLE, *(pytest.param(name, marks=pytest.mark.full) for name in (ARM, DOG, ROUGH))]
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]


def worlds(name=POLE, count=4, **options):
    return gymnasium.make_vec(name, num_envs=count, **options)


def played(envs, steps, seed=0, again=True):
    """Return all that comes of a reset (where it is asked for) and of steps with random actions."""
    actions = gymnasium.vector.utils.batch_space(envs.single_action_space, envs.num_envs)
    actions.seed(7)
    found = [envs.reset(seed=seed)] if again else []
    return found + [envs.step(actions.sample()) for _ in range(steps)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gymnasium_finds_no_fault(name, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*Box observation space (min|max)imum value is")  # velocities have no bound
        undrawn = find_spec("matplotlib") is None  # it draws a picture, too
        check_env(gymnasium.make(name, dtype=dtype).unwrapped, skip_render_check=undrawn)
        envs = worlds(name, dtype=dtype)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    assert envs.observation_space.dtype == envs.action_space.dtype == dtype
    for observations, *_ in played(envs, 20):
        assert observations in envs.observation_space
        assert np.isfinite(observations).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_many_worlds_are_many_single_ones(name, mode):
    """What Gymnasium makes of several environments of one world each is the oracle, to the last bit."""
    ours = worlds(name, max_episode_steps=5, autoreset_mode=mode.value)
    options = {"vectorization_mode": "sync", "vector_kwargs": {"autoreset_mode": mode}}
    theirs = gymnasium.make_vec(name, num_envs=4, max_episode_steps=5, **options)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    for mine, other in zip(played(ours, 13, seed=3), played(theirs, 13, seed=3), strict=True):
        for a, b in zip(mine[:-1], other[:-1], strict=True):
            np.testing.assert_array_equal(a, b)
        assert infos_agree(mine[-1], other[-1])


def infos_agree(ours, theirs):
    if "final_obs" in theirs:
        ended = theirs["_final_obs"]
        np.testing.assert_array_equal(ours["_final_obs"], ended)
        np.testing.assert_array_equal(ours["final_obs"][ended], np.stack(list(theirs["final_obs"][ended])))
        assert infos_agree(ours["final_info"], theirs["final_info"])
    plain = {k: v for k, v in theirs.items() if "final" not in k and not k.startswith("_")}
    masks = {k: theirs[f"_{k}"] for k in plain}
    return all(
        data_equivalence(np.asarray(ours[k])[m], np.asarray(v)[m], exact=True)
        for (k, v), m in zip(plain.items(), masks.values(), strict=True)
    )


def test_worlds_go_the_same_way_in_any_split_and_with_any_number_of_threads():
    count, threads = 4001, cardan.num_threads()  # enough work for a second thread
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (3, count, 7))
    whole, parts = worlds(ARM, count), [worlds(ARM, 7), worlds(ARM, count - 7)]
    whole.reset(seed=5)
    parts[0].reset(seed=5)
    parts[1].reset(seed=12)
    try:
        for action in actions:
            cardan.set_num_threads(2)
            seen = whole.step(action)
            cardan.set_num_threads(1)
            split = [parts[0].step(action[:7]), parts[1].step(action[7:])]
            for k in range(4):
                np.testing.assert_array_equal(seen[k], np.concatenate([split[0][k], split[1][k]]))
    finally:
        cardan.set_num_threads(threads)


def test_seeds_decide_and_later_episodes_differ():
    envs = worlds()
    first, second, again = envs.reset(seed=1)[0], envs.reset()[0], envs.reset(seed=1)[0]
    np.testing.assert_array_equal(first, again)
    assert not np.any(np.all(first == second, axis=1))
    assert len(np.unique(first, axis=0)) == envs.num_envs
    np.testing.assert_array_equal(envs.reset(seed=[1, 9, 3, 4])[0][[0, 2]], first[[0, 2]])
    fresh = [worlds(count=1).reset()[0] for _ in range(2)]
    assert not np.array_equal(*fresh)


def test_an_action_that_is_no_number_ends_that_world_alone():
    envs = worlds()
    reference = played(worlds(), 0) + [worlds_step(0.5)]
    envs.reset(seed=0)
    actions = np.full((4, 1), 0.5)
    actions[2] = np.nan
    observations, rewards, terminated, truncated, infos = envs.step(actions)
    assert terminated.tolist() == infos["diverged"].tolist() == [False, False, True, False]
    assert not truncated.any()
    assert rewards[2] == 0.0
    assert np.isfinite(observations).all()
    np.testing.assert_array_equal(observations[[0, 1, 3]], reference[1][0][[0, 1, 3]])
    _, rewards, terminated, _, infos = envs.step(np.full((4, 1), 0.5))
    assert not terminated.any()
    assert not infos["diverged"].any()


def worlds_step(action):
    envs = worlds()
    envs.reset(seed=0)
    return envs.step(np.full((4, 1), action))


def test_actions_beyond_their_bounds_are_those_at_the_bounds():
    np.testing.assert_array_equal(worlds_step(1e300)[0], worlds_step(1.0)[0])


def test_without_autoreset_worlds_are_reset_by_a_mask():
    envs = worlds(max_episode_steps=2, autoreset_mode="Disabled")
    start = played(envs, 2)[0][0]
    with pytest.raises(ParameterError, match=r"ended in worlds \[0, 1, 2, 3\]"):
        envs.step(np.zeros((4, 1)))
    mask = np.array([True, False, True, False])
    observations, _ = envs.reset(seed=0, options={"reset_mask": mask})
    np.testing.assert_array_equal(observations[mask], start[mask])
    assert not np.any(np.all(observations[~mask] == start[~mask], axis=1))


@pytest.mark.parametrize("duplicate", [lambda envs: pickle.loads(pickle.dumps(envs)), copy.deepcopy])
def test_an_environment_goes_on_as_its_pickle_and_its_copy(duplicate):
    envs = worlds(max_episode_steps=6)
    played(envs, 3)
    twin = duplicate(envs)
    for mine, other in zip(played(envs, 9, again=False), played(twin, 9, again=False), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(mine[:-1], other[:-1], strict=True))


def test_faults_are_told():
    envs = worlds()
    with pytest.raises(ParameterError, match=r"reset\(\) first"):
        envs.step(np.zeros((4, 1)))
    with pytest.raises(ParameterError, match="or 4 of them"):
        envs.reset(seed=[1, 2])
    envs.reset(seed=0)
    with pytest.raises(ShapeError, match=r"\(4, 1\)"):
        envs.step(np.zeros((3, 1)))
    with pytest.raises(ParameterError, match="array of bool"):
        envs.reset(options={"reset_mask": [1, 0, 0, 0]})
    with pytest.raises(ParameterError, match="SameStep"):
        worlds(autoreset_mode="sometimes")
    with pytest.raises(ParameterError, match="rgb_array"):
        worlds(render_mode="human")
    for limit in (0, -5, "a"):  # which cut every episode off at once, or were found in a step
        with pytest.raises(ParameterError, match="max_episode_steps"):
            worlds(max_episode_steps=limit)
    with pytest.raises(ParameterError, match="num_envs"):
        cardan.gym.VectorisedWorlds(cardan.gym.CartPoleSwingUp, 0)


@pytest.mark.slow
def test_without_gymnasium_the_extra_is_named():
    code = "import sys; sys.modules['gymnasium'] = None; import cardan.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "cardan[gym]"' in done.stderr


def test_numbers_of_worlds_are_those_of_splitmix64_and_uniform():
    zero = np.zeros(1, np.uint64)
    assert mixed(np.array([0x9E3779B97F4A7C15], np.uint64))[0] == 0xE220A8397B1DCDAF  # published: the first of seed 0
    numbers = uniform(np.arange(4000, dtype=np.uint64), np.repeat(zero, 4000), 6)
    later = uniform(np.arange(4000, dtype=np.uint64), np.repeat(zero + np.uint64(1), 4000), 6)
    for sample in (numbers, later):
        assert 0.0 <= sample.min() < 0.001 < 0.999 < sample.max() < 1.0
        np.testing.assert_allclose(sample.mean(axis=0), 0.5, atol=0.02)
        np.testing.assert_allclose(sample.var(axis=0), 1 / 12, atol=0.005)
    correlation = np.corrcoef(np.hstack([numbers, later, np.roll(numbers, 1, axis=0)]), rowvar=False)
    assert np.abs(correlation - np.eye(18)).max() < 0.07


# --- what the tasks ask for ---


def test_a_pole_that_stands_over_the_middle_earns_all_and_one_that_hangs_nothing():
    task = cardan.gym.CartPoleSwingUp()
    state = task.solver.world.state(3, q=[[0.0, 0.0], [0.0, np.pi], [2.4, 0.0]])
    earned = task.reward(state, np.empty((3, 0)), np.zeros((3, 1)))
    np.testing.assert_allclose(earned, [1.0, 0.0, 0.5], atol=1e-15)


def test_the_cart_feels_the_force_that_is_asked_for():
    task = cardan.gym.CartPoleSwingUp(force=3.0)
    control, state = task.solver.world.control(1), task.solver.world.state(1)
    task.command(control, state, np.array([[-0.5]]))
    assert control.effort.tolist() == [[-1.5, 0.0]]


def test_the_arm_reaches_its_goals_along_its_jacobian():
    model, envs = cardan.robots.arm7().model(), worlds(ARM, 8)
    seen, _ = envs.reset(seed=0)
    for _ in range(140):
        J = cardan.jacobian(model, seen[:, :7], "tool")[:, :3]
        transposed = J.swapaxes(1, 2)
        damped = transposed @ np.linalg.inv(J @ transposed + 0.01 * np.eye(3))
        speeds = np.einsum("wij,wj->wi", damped, 3.0 * seen[:, 17:])
        seen, rewards, _, _, infos = envs.step(speeds / model.velocity_upper)
    assert np.median(infos["distance"]) < 0.01
    assert (rewards <= -infos["distance"]).all()


@pytest.mark.full
def test_the_quadruped_stands_on_its_stance_and_ends_where_it_falls():
    envs = worlds(DOG)
    height = envs.reset(seed=0)[0][:, 0]
    for _ in range(150):
        seen, rewards, terminated, *_ = envs.step(np.zeros(envs.action_space.shape))
        assert not terminated.any()
    assert (np.abs(seen[:, 0] - height) < 0.06).all()
    assert (np.abs(rewards - 0.5) < 0.1).all()
    task = cardan.gym.QuadrupedWalk()
    state = task.solver.world.state(2, q=task.start(np.full((2, 12), 0.5)).q)
    state.q[0, 2], state.q[1, 3:7] = 0.1, [1.0, 0.0, 0.0, 0.0]
    assert task.failed(state).all()


def test_the_quadruped_sees_the_terrain_it_comes_to():
    step = Shape("world", "collision", Box((1.0, 2.0, 0.2)), pose=cardan.SE3(translation=(1.0, 0.0, 0.0)))
    places = [(0.0, 0.0), (0.4, 0.1), (0.6, 0.0), (1.6, 0.0)]
    envs = worlds(DOG, 3, terrain=[step], scan=places, dtype="float32")
    seen = envs.reset(seed=0)[0]
    assert (seen.shape, seen.dtype) == ((3, 38), np.float32)
    assert seen in envs.observation_space
    np.testing.assert_allclose(seen[:, -4:], seen[:, :1] - (0.0, 0.0, 0.1, 0.0), atol=1e-5)


@pytest.mark.full
def test_the_quadruped_walks_where_its_legs_trot():
    """Diagonal legs together, each swung forward while it is lifted: a gait that any policy can find."""
    envs, leg = worlds(DOG, 8), np.pi * np.array([0, 1, 1, 0])  # phases of the legs
    envs.reset(seed=0)
    speeds = []
    for k in range(200):
        phase = 2 * np.pi * 2.5 * 0.02 * k + leg
        lifted = 0.9 * np.maximum(0.0, np.cos(phase - 0.5))
        actions = np.stack([0.0 * lifted, 0.5 * lifted - 0.6 * np.sin(phase), -lifted], axis=1)
        *_, terminated, _, infos = envs.step(np.tile(actions.ravel(), (8, 1)))
        speeds.append(infos["speed"])
        assert not terminated.any()
    assert (np.mean(speeds, axis=0) > 0.3).all()


@pytest.mark.full
def test_the_bumps_are_those_of_their_seed_and_seen_by_the_scan():
    """The scan is held against the heights themselves, read between the corners of a cell's two triangles."""
    seen = [worlds(ROUGH, terrain_seed=k).reset(seed=0)[0] for k in (1, 1, 2)]
    np.testing.assert_array_equal(seen[0], seen[1])
    assert (seen[0][:, -6:] != seen[2][:, -6:]).all()
    field, (x, y) = bumps(1).geometry, np.transpose(SCAN)
    h, cell = np.array(field.heights), field.size[0] / (len(field.heights) - 1)
    j, i = (np.floor(a / cell + 79.5).astype(int) for a in (x, y))
    u, v = (a / cell + 79.5 - k for a, k in ((x, j), (y, i)))
    right, left = h[i, j + 1], h[i + 1, j]
    lower = h[i, j] + u * (right - h[i, j]) + v * (h[i + 1, j + 1] - right)
    upper = h[i, j] + v * (left - h[i, j]) + u * (h[i + 1, j + 1] - left)
    ground = np.where(u > v, lower, upper)
    np.testing.assert_allclose(seen[0][:, -6:], seen[0][:, :1] - ground, atol=1e-12)
    for wrong in (-1, 0.5):
        with pytest.raises(ParameterError, match="terrain_seed"):
            worlds(ROUGH, terrain_seed=wrong)


def test_episodes_begin_on_terrain_without_a_look_at_its_depth():
    """How deep feet are was looked at where each began: most of a step's time, and a warning at every other step."""
    envs = gymnasium.make_vec("cardan/QuadrupedRough-v0", num_envs=8, max_episode_steps=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", cardan.errors.StartWarning)
        envs.reset(seed=0)
        for _ in range(5):
            envs.step(np.zeros(envs.action_space.shape, np.float32))


@pytest.mark.full
def test_of_terrain_the_cells_about_the_robot_are_drawn_where_they_are():
    pose = cardan.SE3.from_rpy((0.0, 0.0, 0.7), (3.0, -2.0, 0.5))
    field = replace(bumps(0), pose=pose)
    (part,) = parts_near(field, pose @ Vector3(7.7, -1.0, 0.3))
    assert np.shape(part.geometry.heights) == (13, 10)  # the field ends there
    corners, every = (moved(s.pose.matrix(), s.geometry.surface()[0][:n]) for s, n in ((part, 130), (field, 160**2)))
    assert (np.abs(corners[:, None] - every).max(axis=-1).min(axis=1) < 1e-12).all()
    assert parts_near(field, pose @ Vector3(9.0, 0.0, 0.0)) == []


@pytest.mark.full
def test_worlds_are_drawn():
    pytest.importorskip("matplotlib")
    one, several = gymnasium.make(POLE, render_mode="rgb_array"), worlds(count=2, render_mode="rgb_array")
    one.reset(seed=0)
    several.reset(seed=0)
    picture, pictures = one.render(), several.render()
    assert picture.dtype == np.uint8
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20  # a robot, and no empty page
    np.testing.assert_array_equal(picture, pictures[0])
    for _ in range(20):
        one.step(np.ones(1))
    assert (one.render() != picture).any()
    assert one.metadata["render_fps"] == 50


def test_who_asks_for_no_picture_gets_none():
    env = cardan.gym.SingleWorld(cardan.gym.CartPoleSwingUp)
    env.reset(seed=0)
    with pytest.raises(ParameterError, match="rgb_array"):
        env.render()


@pytest.mark.parametrize("seed", [1.5, -1, "a", [1, 2], [0.5, 1.0, 2.0], 2**64])
def test_a_seed_that_is_none_is_refused(seed):
    """1.5 was taken for 1, without a word."""
    envs = gymnasium.make_vec("cardan/CartPoleSwingUp-v0", num_envs=3)
    with pytest.raises(ParameterError, match="expected a whole number in"):
        envs.reset(seed=seed)
