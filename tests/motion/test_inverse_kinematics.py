"""Inverse kinematics: what it finds does what was asked, within the limits, and depends on nothing else."""

import numpy as np
import pytest

import cardan
from cardan.errors import ConfigurationError, DTypeError, NotFiniteError, ParameterError, ShapeError, UnknownNameError
from cardan.joints import Fixed, Planar, Prismatic, Revolute, Spherical, UnboundedRevolute
from cardan.spatial import SE3
from cardan.tasks import CenterOfMass, FramePose, FramePosition, LookAt, Posture, RelativeFrame, Stack
from mechanisms import random_mechanism
from own_tasks import Height


@pytest.fixture(scope="module")
def arm():
    return cardan.robots.arm7().model()


@pytest.fixture(scope="module")
def poses(arm):
    """Poses its tool can have, and how."""
    q = arm.random_configuration((60,), seed=3)
    return q, cardan.frame_transform(arm, q, "tool")


@pytest.fixture(scope="module")
def held():
    """A ball joint, one in the plane and a turning one, all with limits, which are no bounds of entries of q."""
    m = cardan.Mechanism("held")
    for name in ("ball", "plane", "turn"):
        m.add_body(name, cardan.Inertia(1.0, (0, 0, 0.1), np.diag([0.1, 0.2, 0.15])))
    m.add_joint("ball", Spherical(), "world", "ball", limits=cardan.Limits([-0.5, -0.4, -0.3], [0.5, 0.4, 0.3]))
    m.add_joint("plane", Planar(), "ball", "plane", limits=cardan.Limits([-0.2, -0.1, -0.3], [0.2, 0.3, 0.3]))
    m.add_joint(
        "turn", UnboundedRevolute((0, 0, 1)), "plane", "turn", SE3(None, (0.3, 0, 0)), limits=cardan.Limits([-1], [1])
    )
    m.add_frame("tip", "turn", SE3(None, (0.2, 0.1, 0.3)))
    return m.model()


def outside(model, q):
    """The largest distance of a limit coordinate from its limits."""
    x = cardan.limit_coordinates(model, q)
    return np.maximum(x - model.upper, model.lower - x).max(initial=0.0)


def test_what_is_found_reaches_within_the_limits(arm, poses):
    found = cardan.inverse_kinematics(arm, frame="tool", target=poses[1])
    assert found.converged.all()
    assert found.residual.max() <= 1e-6
    np.testing.assert_allclose(cardan.frame_transform(arm, found.q, "tool"), poses[1], atol=2e-6)
    assert outside(arm, found.q) == 0.0
    assert "60 of 60" in str(found)


def test_the_residual_is_the_largest_error_at_what_is_found(arm, poses):
    far = poses[1].copy()
    far[::2, :3, 3] *= 4.0
    found = cardan.inverse_kinematics(arm, frame="tool", target=far, restarts=3)
    error = Stack(arm, FramePose("tool", far)).linearized(found.q).error
    np.testing.assert_allclose(found.residual, np.abs(error).max(axis=-1), atol=1e-15)
    np.testing.assert_array_equal(found.converged, found.residual <= 1e-6)


def test_results_depend_on_nothing_else_in_the_batch(arm, poses):
    whole = cardan.inverse_kinematics(arm, frame="tool", target=poses[1])
    again = cardan.inverse_kinematics(arm, frame="tool", target=poses[1][::-1])
    alone = [cardan.inverse_kinematics(arm, frame="tool", target=X) for X in poses[1]]
    np.testing.assert_array_equal(whole.q, again.q[::-1])
    for name in ("q", "converged", "residual", "restarts", "iterations"):
        np.testing.assert_array_equal(getattr(whole, name), [getattr(one, name) for one in alone])
    other = cardan.inverse_kinematics(arm, frame="tool", target=poses[1], seed=1)
    assert (other.q != whole.q)[whole.restarts > 0].any()
    np.testing.assert_array_equal(other.q[whole.restarts == 0], whole.q[whole.restarts == 0])


@pytest.mark.parametrize(("name", "frame"), [("arm7", "tool"), ("five_bar", "tip")])
def test_the_pose_of_a_frame_is_the_task_of_it_whenever_it_is_asked_for(name, frame):
    model = getattr(cardan.robots, name)().model()
    X = cardan.frame_transform(model, model.start_configuration(), frame)
    asked = cardan.inverse_kinematics(model, FramePose(frame, X))
    for target in (X, X[None], X.tolist(), SE3.of(X)):  # what is known of the first is used by those after it
        found = cardan.inverse_kinematics(model, frame=frame, target=target)
        np.testing.assert_array_equal(found.q.reshape(-1), asked.q)
        assert np.all(found.converged)
        assert np.all(found.iterations == asked.iterations)
    assert cardan.inverse_kinematics(model, frame=frame, target=X, limits=False).converged
    for other, target, error in (([frame], X, UnknownNameError), (frame, 2.0 * X, ParameterError)):
        with pytest.raises(error):
            cardan.inverse_kinematics(model, frame=other, target=target)
    with pytest.raises(ParameterError):
        cardan.inverse_kinematics(model, frame=frame)


@pytest.mark.parametrize("restarts", [0, 3])
def test_one_problem_without_a_solution_is_that_of_a_batch(arm, poses, restarts):
    X = poses[1][:2].copy()
    X[:, 0, 3] += 5.0
    whole = cardan.inverse_kinematics(arm, frame="tool", target=X, restarts=restarts)
    for row in range(2):
        for _ in range(2):
            one = cardan.inverse_kinematics(arm, frame="tool", target=X[row], restarts=restarts)
            for name in ("q", "converged", "residual", "restarts", "iterations"):
                np.testing.assert_array_equal(getattr(whole, name)[row], getattr(one, name))


def test_batches_of_every_shape(arm, poses):
    for shape in ((), (1,), (3, 1, 2), (0,), (2, 0)):
        X = poses[1][: int(np.prod(shape))].reshape((*shape, 4, 4)) if shape else poses[1][0]
        found = cardan.inverse_kinematics(arm, frame="tool", target=X, q0=poses[0][0])
        assert found.q.shape == (*shape, 7)
        assert np.shape(found.converged) == np.shape(found.residual) == np.shape(found.iterations) == shape
    both = cardan.inverse_kinematics(arm, [FramePose("tool", poses[1][:3, None])], q0=poses[0][:2])
    assert both.q.shape == (3, 2, 7)


def test_it_stays_where_it_begins(arm, poses):
    q, X = poses
    found = cardan.inverse_kinematics(arm, frame="tool", target=X, q0=q, restarts=0)
    np.testing.assert_allclose(found.q, q, atol=1e-12)
    assert not found.restarts.any()


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e4, 1e9])
def test_a_robot_of_any_size_takes_the_same_steps(arm, poses, scale):
    other = cardan.robots.arm7(scale).model()
    X = poses[1].copy()
    X[:, :3, 3] *= scale
    found = cardan.inverse_kinematics(other, frame="tool", target=X, tolerance=1e-6 * max(scale, 1.0), restarts=40)
    assert found.converged.all()
    assert found.iterations.mean() < 40.0


@pytest.mark.full
def test_every_joint(quick_target):
    """A chain of all joints there are, a mimic among them, of which a pose and a whole configuration are asked."""
    model = random_mechanism(7, chain=True).model()
    q, end = model.random_configuration((6,), seed=3), model.body_names[-1]
    found = cardan.inverse_kinematics(model, frame=end, target=cardan.frame_transform(model, q, end))
    assert found.converged.all()
    found = cardan.inverse_kinematics(model, Posture(q), q0=model.random_configuration((6,), seed=4))
    np.testing.assert_allclose(cardan.difference(model, q, found.q), 0.0, atol=1e-6)


# --- limits ---


def test_a_solution_at_its_limits():
    """Two slides of which one ends before the target, and a third one behind it: only one way to share is left."""
    m = cardan.Mechanism("slides")
    for k, reach in enumerate((0.2, 0.3, 5.0)):
        m.add_body(f"part{k}")
        parent = f"part{k - 1}" if k else "world"
        m.add_joint(f"slide{k}", Prismatic((1, 0, 0)), parent, f"part{k}", limits=cardan.Limits([-0.1], [reach]))
    model = m.model()
    found = cardan.inverse_kinematics(model, FramePosition("part2", (5.5, 0.0, 0.0)))
    np.testing.assert_allclose(found.q, [0.2, 0.3, 5.0], atol=1e-6)
    assert found.converged
    assert outside(model, found.q) == 0.0
    best = cardan.inverse_kinematics(model, FramePosition("part2", (7.0, 0.0, 0.0)), restarts=2)
    np.testing.assert_allclose(best.q, [0.2, 0.3, 5.0])
    assert not best.converged
    assert best.residual == pytest.approx(1.5)
    free = cardan.inverse_kinematics(model, FramePosition("part2", (7.0, 0.0, 0.0)), limits=False)
    assert free.converged
    assert outside(model, free.q) > 1.0


@pytest.mark.slow
def test_limits_that_are_no_bounds_of_entries(held):
    q = held.random_configuration((40,), seed=3)
    found = cardan.inverse_kinematics(held, frame="tip", target=cardan.frame_transform(held, q, "tip"))
    assert found.converged.all()
    assert outside(held, found.q) <= 1e-9
    best = cardan.inverse_kinematics(held, FramePosition("tip", [(2.0, 0.0, 0.0), (0.2, 0.9, 0.0)]), restarts=3)
    assert not best.converged.any()
    assert outside(held, best.q) <= 1e-5


def test_a_start_outside_the_limits_is_brought_inside(arm, poses):
    found = cardan.inverse_kinematics(arm, frame="tool", target=poses[1], q0=np.full(7, 50.0), restarts=0)
    assert outside(arm, found.q) == 0.0


# --- where there is none, one, several ---


def test_what_cannot_be_reached_is_pointed_at(arm):
    """The nearest the wrist can come to a far place, over all configurations: straight towards it."""
    shoulder = np.array([0.0, 0.0, 0.36])
    towards = np.array([0.6, 0.0, 0.8])
    found = cardan.inverse_kinematics(arm, FramePosition("wrist_pitch", shoulder + 9.0 * towards))
    assert not found.converged
    at = cardan.frame_transform(arm, found.q, "wrist_pitch")[:3, 3] - shoulder
    np.testing.assert_allclose(at, 0.8 * towards, atol=1e-5)


def test_singular_targets_and_starts(arm):
    straight = cardan.frame_transform(arm, arm.neutral(), "tool")
    q0 = arm.random_configuration((20,), seed=5)
    found = cardan.inverse_kinematics(arm, frame="tool", target=straight, q0=q0)
    assert found.converged.all()
    assert cardan.inverse_kinematics(arm, frame="tool", target=straight, q0=arm.neutral(), restarts=0).converged


def test_all_branches_of_a_cuspidal_arm():
    """Wenger's orthogonal arm (1, 2, 1.5; 1), four ways to some places, each found from beside it and stayed on.

    Source: Wenger, Cuspidal and noncuspidal robot manipulators (2007), figure 3.
    """
    m = cardan.Mechanism("cuspidal")
    turned = (cardan.spatial.rotations.rotation_about_axis((1.0, 0.0, 0.0), a) for a in (-np.pi / 2, np.pi / 2))
    first, second = (SE3(R, (d, r * s, 0.0)) for R, d, r, s in zip(turned, (1.0, 2.0), (0.0, 0.0), (1, 1), strict=True))
    for k in range(3):
        m.add_body(f"link{k}")
    m.add_joint("joint0", Revolute((0, 0, 1)), "world", "link0")
    m.add_joint("joint1", Revolute((0, 0, 1)), "link0", "link1", first)
    m.add_joint("joint2", Revolute((0, 0, 1)), "link1", "link2", SE3(None, (0.0, 0.0, 1.0)) @ second)
    m.add_frame("tip", "link2", SE3(None, (1.5, 0.0, 0.0)))
    model = m.model()
    task = FramePosition("tip", (2.5, 0.0, 0.5))
    starts = model.random_configuration((200,), seed=0)
    found = cardan.inverse_kinematics(model, task, q0=starts, restarts=0)
    turns = np.round(np.angle(np.exp(1j * found.q[found.converged])), 4)
    ways = np.unique(turns, axis=0)
    assert len(ways) == 4
    beside = cardan.inverse_kinematics(model, task, q0=ways + 0.05, restarts=0)
    np.testing.assert_allclose(beside.q, ways, atol=1e-3)


# --- robots with more to do ---


def test_ones_own_task_among_others(arm):
    heights = np.array([0.4, 0.7])
    tasks = [Height("tool", heights, weight=3.0), LookAt("tool", (0, 0, 1), (1.0, 1.0, 0.2))]
    found = cardan.inverse_kinematics(arm, tasks)
    assert found.converged.all()
    X = cardan.frame_transform(arm, found.q, "tool")
    np.testing.assert_allclose(X[:, 2, 3], heights, atol=1e-6)
    way = np.array((1.0, 1.0, 0.2)) - X[:, :3, 3]
    np.testing.assert_allclose(X[:, :3, 2], way / np.linalg.norm(way, axis=-1, keepdims=True), atol=2e-6)


def test_an_entry_of_no_weight_is_free(arm):
    task = FramePose("tool", np.eye(4), weight=(1, 1, 0, 0, 0, 0))
    found = cardan.inverse_kinematics(arm, task)
    assert found.converged
    np.testing.assert_allclose(cardan.frame_transform(arm, found.q, "tool")[:2, 3], 0.0, atol=1e-6)


def test_tasks_of_lower_priority_choose_among_the_solutions(arm, poses):
    """The way to a posture has no part along the motions that leave the tool where it is (but for joints at limits)."""
    home = np.array([0.1, 0.5, -0.2, 1.0, 0.3, 0.4, 0.2])
    tasks = [FramePose("tool", poses[1]), Posture(home, priority=3)]
    found, plain = cardan.inverse_kinematics(arm, tasks), cardan.inverse_kinematics(arm, tasks[0])
    assert found.converged.all()
    assert found.residual.max() <= 1e-6
    assert outside(arm, found.q) == 0.0
    farther, nearer = (np.linalg.norm(f.q - home, axis=-1) for f in (plain, found))
    assert (nearer <= farther + 1e-3).all()
    J = Stack(arm, tasks[0]).linearized(found.q).jacobian
    along = np.einsum("ij,ij->i", np.linalg.svd(J)[2][:, -1], found.q - home)
    at_limit = np.minimum(found.q - arm.lower, arm.upper - found.q).min(axis=-1) < 1e-6
    assert np.median(np.abs(along[~at_limit])) < 1e-3
    only = cardan.inverse_kinematics(arm, Posture(home, priority=3))
    np.testing.assert_allclose(only.q, home, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "end"), [("five_bar", "tip"), pytest.param("stewart_platform", "platform", marks=pytest.mark.full)]
)
def test_loops_are_closed(name, end, quick_target):
    model = getattr(cardan.robots, name)().model()
    rng = np.random.default_rng(0)
    away = cardan.integrate(model, model.neutral(), 0.2 * rng.normal(size=(4, model.nv)))
    X = cardan.frame_transform(model, cardan.assemble(model, away), end)
    found = cardan.inverse_kinematics(model, frame=end, target=X)
    assert found.converged.all()
    assert np.abs(cardan.loop_residual(model, found.q)).max() <= 1e-6
    np.testing.assert_allclose(cardan.frame_transform(model, found.q, end), X, atol=2e-6)


@pytest.mark.slow
def test_a_floating_robot_stands_where_it_is_told():
    """Four feet and the centre of mass of a quadruped."""
    model = cardan.robots.quadruped().model(base="floating")
    q = cardan.integrate(model, model.neutral(), 0.3 * np.random.default_rng(1).normal(size=model.nv))
    q[7:] = np.clip(q[7:], model.lower[6:], model.upper[6:])
    feet = [name for name in model.body_names if name.endswith("foot")]
    assert len(feet) == 4
    X = cardan.frame_transform(model, q, feet)
    com = cardan.center_of_mass(model, q)
    tasks = [*(FramePosition(foot, x[:3, 3]) for foot, x in zip(feet, X, strict=True)), CenterOfMass(com)]
    found = cardan.inverse_kinematics(model, tasks)
    assert found.converged
    np.testing.assert_allclose(cardan.center_of_mass(model, found.q), com, atol=2e-6)
    assert np.linalg.norm(found.q[3:7]) == pytest.approx(1.0)


@pytest.mark.full
def test_a_humanoid_with_its_feet_on_the_ground():
    model = cardan.robots.humanoid().model(base="floating")
    rng = np.random.default_rng(0)
    q = cardan.integrate(model, model.neutral(), 0.3 * rng.normal(size=(20, model.nv)))
    q[:, 7:] = np.clip(q[:, 7:], model.lower[6:], model.upper[6:])
    ends = ("left_foot", "right_foot", "left_hand", "right_hand")
    X = cardan.frame_transform(model, q, ends)
    tasks = [*(FramePose(end, X[:, k]) for k, end in enumerate(ends)), CenterOfMass(cardan.center_of_mass(model, q))]
    found = cardan.inverse_kinematics(model, tasks)
    assert found.converged.all()
    assert outside(model, found.q) == 0.0


def test_a_robot_that_cannot_move():
    m = cardan.Mechanism("still")
    m.add_body("stone")
    m.add_joint("joint", Fixed(), "world", "stone", SE3(None, (1.0, 0.0, 0.0)))
    model = m.model()
    there, away = np.eye(4), np.eye(4)
    there[0, 3] = 1.0
    found = cardan.inverse_kinematics(model, frame="stone", target=[there, away])
    assert found.q.shape == (2, 0)
    assert found.converged.tolist() == [True, False]
    assert found.residual.tolist() == [0.0, 1.0]


# --- bad input ---


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        ({}, ParameterError, "tasks, or frame= and target="),
        ({"target": np.eye(4)}, ParameterError, "tasks, or frame= and target="),
        ({"frame": "tool"}, ParameterError, "FramePose: target"),
        ({"frame": "tool", "target": np.eye(4), "tasks": FramePose("tool", np.eye(4))}, ParameterError, "tasks, or"),
        ({"frame": "tol", "target": np.eye(4)}, UnknownNameError, "did you mean 'tool'"),
        ({"frame": "tool", "target": np.diag([1.0, 1, -1, 1])}, ParameterError, "rotation matrix"),
        ({"frame": "tool", "target": np.full((2, 4, 4), np.nan)}, NotFiniteError, "target"),
        ({"frame": "tool", "target": np.zeros(3)}, ShapeError, r"\(..., 4, 4\)"),
        ({"tasks": [np.eye(4)]}, DTypeError, "a ndarray, expected a task"),
        ({"tasks": Posture(np.zeros(7)), "q0": np.zeros(6)}, ShapeError, "q0"),
        ({"tasks": Posture(np.zeros(7)), "q0": np.full(7, np.inf)}, NotFiniteError, "q0"),
        ({"tasks": Posture(np.zeros((2, 7))), "q0": np.zeros((3, 7))}, ShapeError, "leading"),
        ({"tasks": Posture(np.zeros(7)), "restarts": -1}, ParameterError, "restarts"),
        ({"tasks": Posture(np.zeros(7)), "restarts": 1.5}, ParameterError, "restarts"),
        ({"tasks": Posture(np.zeros(7)), "tolerance": 0.0}, ParameterError, "tolerance"),
        ({"tasks": Posture(np.zeros(7)), "tolerance": "fine"}, ParameterError, "tolerance"),
        ({"tasks": Posture(np.zeros(7)), "tolerance": [1e-6, 1e-3]}, ParameterError, "tolerance"),
        ({"tasks": Posture(np.zeros(7)), "seed": "x"}, ParameterError, "seed"),
        ({"tasks": RelativeFrame("tool", "bse", np.eye(4))}, UnknownNameError, "base"),
    ],
)
def test_what_is_refused(arm, call, error, said):
    with pytest.raises(error, match=said):
        cardan.inverse_kinematics(arm, **call)


def test_a_start_without_an_orientation_is_refused(held):
    q0 = np.zeros((2, held.nq))
    q0[0] = held.neutral()
    with pytest.raises(ConfigurationError, match="quaternion"):
        cardan.inverse_kinematics(held, FramePosition("tip", (0.4, 0.1, 0.3)), q0=q0)
    varied = held.with_inputs("mass")
    with pytest.raises(ParameterError, match="filled_with"):
        cardan.inverse_kinematics(varied, FramePosition("tip", (0.4, 0.1, 0.3)))
    with pytest.raises(DTypeError, match=r"cardan\.Model"):
        cardan.inverse_kinematics(cardan.robots.arm7(), frame="tool", target=np.eye(4))
