"""Differential inverse kinematics: optimality, limits, priorities, loops, and the libraries that do the same."""

import builtins
import pickle
from dataclasses import dataclass
from unittest import mock

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.optimize import lsq_linear

import cardan
from cardan import pose_error, solve_ik
from cardan._algebra.errors import (
    InfeasibleError,
    MechanismError,
    MissingExtraError,
    NotFiniteError,
    ParameterError,
    ShapeError,
    UnknownNameError,
)
from cardan._dynamics.algorithms import loops
from cardan.tasks import (
    CenterOfMass,
    ClosedLoops,
    Damping,
    DifferentialIK,
    FrameOrientation,
    FramePose,
    FramePosition,
    Posture,
    Stack,
    Task,
)

pytest.importorskip("daqp", reason="needs the extra `qp`")
RNG = np.random.default_rng(8)
ARM = cardan.robots.arm7().model()
DOG = cardan.load(cardan.robots.urdf_path("quadruped"), base="floating")
BAR = cardan.robots.five_bar().model()
DT = 0.01


def poses(count, seed=0):
    return cardan.frame_transform(ARM, ARM.random_configuration((count,), seed=seed), "tool")


def residual(tasks, q, v, dt=DT):
    """J v dt + gain e of tasks, times their weights."""
    stack = Stack(ARM, tasks)
    e, J = stack.linearized(q)
    return stack.weights() * ((J @ v[..., None])[..., 0] * dt + stack.gains() * e)


# --- what is best ----------------------------------------------------------------------------------------------------


def test_without_limits_it_is_the_least_squares_solution():
    q = ARM.random_configuration((5,), seed=1)
    tasks = [FramePose("tool", poses(5), weight=(1, 2, 3, 0.5, 1, 1), gain=0.3), Posture(ARM.neutral(), weight=0.1)]
    v = solve_ik(ARM, q, tasks, DT, limits=False, damping=1e-4)
    stack = Stack(ARM, tasks)
    e, J = stack.linearized(q)
    A = np.concatenate([stack.weights()[..., None] * J, np.broadcast_to(1e-2 * np.eye(7), (5, 7, 7))], axis=1)
    b = np.concatenate([stack.weights() * stack.gains() * e, np.zeros((5, 7))], axis=1)
    expected = [-np.linalg.lstsq(a, c)[0] for a, c in zip(A, b, strict=True)]
    np.testing.assert_allclose(v * DT, expected, atol=1e-9)


def test_within_limits_no_other_motion_is_better():
    """The conditions of Karush, Kuhn and Tucker: free velocities have no slope, those at a bound one into it."""
    q = ARM.random_configuration((20,), seed=2)
    tasks = [FramePose("tool", poses(20)), Posture(ARM.neutral(), weight=0.1, gain=0.2)]
    v = solve_ik(ARM, q, tasks, DT, damping=1e-6)
    lower = np.maximum(ARM.velocity_lower, (ARM.lower - q) / DT)
    upper = np.minimum(ARM.velocity_upper, (ARM.upper - q) / DT)
    assert (v >= lower - 1e-12).all()
    assert (v <= upper + 1e-12).all()
    stack = Stack(ARM, tasks)
    J = stack.weights()[..., None] * stack.linearized(q).jacobian
    slope = (np.swapaxes(J, -1, -2) @ residual(tasks, q, v)[..., None])[..., 0] + 1e-6 * v * DT
    at_lower, at_upper = v <= lower + 1e-9, v >= upper - 1e-9
    assert (at_lower | at_upper).any()
    assert (~(at_lower | at_upper)).any()
    np.testing.assert_allclose(slope[~(at_lower | at_upper)], 0.0, atol=1e-8)
    assert (slope[at_lower] >= -1e-8).all()
    assert (slope[at_upper] <= 1e-8).all()


def test_step_after_step_it_gets_there():
    goal = ARM.random_configuration((6,), seed=3) * 0.6
    q, X = goal + 0.4 * RNG.normal(size=goal.shape), cardan.frame_transform(ARM, goal, "tool")
    tasks = [FramePose("tool", X, gain=0.5)]
    for _ in range(120):
        v = solve_ik(ARM, q, tasks, DT)
        assert (np.abs(v) <= ARM.velocity_upper).all()
        q = cardan.integrate(ARM, q, v * DT)
    np.testing.assert_allclose(cardan.frame_transform(ARM, q, "tool"), X, atol=1e-9)


def test_leading_axes_are_a_batch():
    q, X = ARM.random_configuration((3, 1), seed=4), poses(2, seed=5)
    tasks = [FramePose("tool", X), Damping(weight=0.1)]
    v = solve_ik(ARM, q, tasks, DT)
    assert v.shape == (3, 2, 7)
    one = solve_ik(ARM, q[2, 0], [FramePose("tool", X[1]), Damping(weight=0.1)], DT)
    np.testing.assert_allclose(v[2, 1], one, atol=1e-9)
    assert solve_ik(ARM, np.zeros((0, 7)), FramePose("tool", X[0]), DT).shape == (0, 7)
    np.testing.assert_allclose(solve_ik(ARM, q.astype(np.float32), tasks, DT), v, atol=1e-4)


def test_prepared_steps_are_the_same():
    """Of new targets, of those it began with, of a batch; with loops, and as copies, too."""
    q, (first, second) = ARM.random_configuration(seed=1), poses(2)
    rest = Posture(ARM.neutral(), weight=0.1)
    step = DifferentialIK(ARM, [FramePose("tool", first), rest], DT)
    np.testing.assert_array_equal(step(q), solve_ik(ARM, q, [FramePose("tool", first), rest], DT))
    np.testing.assert_array_equal(step(q, second), solve_ik(ARM, q, [FramePose("tool", second), rest], DT))
    np.testing.assert_array_equal(
        step(q, None, q), solve_ik(ARM, q, [FramePose("tool", first), Posture(q, weight=0.1)], DT)
    )
    np.testing.assert_array_equal(step(q, poses(2)), [step(q, first), step(q, second)])
    np.testing.assert_array_equal(step(q), step(q, first))  # what was given once is not kept
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(step))(q, second), step(q, second))
    closed = cardan.assemble(BAR)
    pushed = DifferentialIK(BAR, Posture(BAR.neutral()), DT)(closed, closed + 0.1)
    np.testing.assert_array_equal(pushed, solve_ik(BAR, closed, Posture(closed + 0.1), DT))
    with pytest.raises(ParameterError, match="at most 2"):
        step(q, first, None, None)
    with pytest.raises(ParameterError, match="a rotation matrix"):
        step(ARM.neutral(), 2.0 * first + np.diag([0.0, 0.0, 0.0, -1.0]))
    with pytest.raises(ParameterError, match="takes none"):
        DifferentialIK(ARM, [rest, Damping()], DT)(ARM.neutral(), None, 1.0)


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e6])
def test_the_size_of_a_robot_makes_no_difference(size):
    """Lengths, limits of lengths and targets times a number: the same angles, and lengths times that number."""

    def gantry(size):
        m = cardan.Mechanism("gantry")
        for name in ("cart", "hand"):
            m.add_body(name, cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
        rail = cardan.Limits(lower=[-size], upper=[size], velocity=[3.0 * size])
        m.add_joint("rail", cardan.joints.Prismatic((1, 0, 0)), "world", "cart", limits=rail)
        m.add_joint("arm", cardan.joints.Prismatic((0, 1, 0)), "cart", "hand", limits=rail)
        return m.model()

    def steps(size):
        model, q = gantry(size), np.array([0.5, -0.2]) * size
        task = FramePosition("hand", np.array([2.0, 0.1, 0.0]) * size, gain=0.1)
        return solve_ik(model, q, task, 0.3, damping=1e-12) / size

    np.testing.assert_allclose(steps(size), steps(1.0), rtol=1e-9)


# --- limits ----------------------------------------------------------------------------------------------------------


def test_a_bound_is_reached_and_not_passed():
    q = ARM.upper - 0.005
    v = solve_ik(ARM, q, Posture(ARM.upper + 1.0), DT)
    np.testing.assert_allclose(cardan.integrate(ARM, q, v * DT), ARM.upper, atol=1e-15)
    outside = ARM.upper + 1.0
    v = solve_ik(ARM, outside, Posture(outside), DT)
    np.testing.assert_array_equal(v, ARM.velocity_lower)  # back, as fast as it may
    free = solve_ik(ARM, outside, Posture(outside), DT, limits=False)
    np.testing.assert_allclose(free, 0.0, atol=1e-12)


def test_limits_of_other_coordinates_are_kept_to_first_order():
    m = cardan.Mechanism("shoulder")
    m.add_body("upper", cardan.Inertia(1.0, (0, 0, 0.1), np.eye(3)))
    within = cardan.Limits(lower=[-0.5] * 3, upper=[0.5] * 3)
    m.add_joint("ball", cardan.joints.Spherical(), "world", "upper", limits=within)
    model = m.model()
    q = cardan.integrate(model, model.neutral(), [0.45, 0.1, -0.2])
    target = cardan.integrate(model, model.neutral(), [1.5, 0.3, -0.2])
    for _ in range(20):
        v = solve_ik(model, q, Posture(target, gain=0.2), DT)
        q = cardan.integrate(model, q, v * DT)
    coordinates = cardan.limit_coordinates(model, q)
    assert coordinates[0] == pytest.approx(0.5, abs=1e-3)
    assert (coordinates <= 0.5 + 1e-3).all()


# --- priorities ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [0.01, 0.3])
def test_what_comes_first_is_not_disturbed(dt):
    """And what is left is used as well as can be: as by least squares in which the first weighs 1e5 times as much."""
    q = ARM.random_configuration((20,), seed=6)
    X = poses(20, seed=7)
    first, second = FramePosition("tool", X[:, :3, 3], gain=0.05), FrameOrientation("tool", X[:, :3, :3], priority=1)
    third = Posture(ARM.neutral(), priority=5)
    alone, both, three = (solve_ik(ARM, q, t, dt) for t in (first, [second, first], [second, first, third]))
    for v in (both, three):
        np.testing.assert_allclose(residual(first, q, v, dt), residual(first, q, alone, dt), atol=1e-7)
        assert (np.abs(v) <= ARM.velocity_upper + 1e-12).all()
    np.testing.assert_allclose(residual(second, q, three, dt), residual(second, q, both, dt), atol=1e-6)
    (e0, J0), (e1, J1) = Stack(ARM, first).linearized(q), Stack(ARM, second).linearized(q)
    lower = np.maximum(dt * ARM.velocity_lower, ARM.lower - q)
    upper = np.minimum(dt * ARM.velocity_upper, ARM.upper - q)
    for k in range(20):
        A, b = np.concatenate([1e5 * J0[k], J1[k]]), -np.concatenate([1e5 * 0.05 * e0[k], e1[k]])
        expected = lsq_linear(A, b, (lower[k], upper[k]), tol=1e-14, method="bvls").x
        costs = [np.square(residual(second, q, v, dt)[k]).sum() for v in (np.tile(expected / dt, (20, 1)), both)]
        assert costs[1] <= costs[0] + 1e-4


def test_rows_that_weigh_nothing_leave_everything_to_the_next():
    q = ARM.random_configuration(seed=8)
    first = FramePosition("tool", np.zeros(3), weight=(0, 0, 1))
    v = solve_ik(ARM, q, [first, Posture(ARM.neutral(), priority=1)], DT, limits=False)
    moved = solve_ik(ARM, q, [first], DT, limits=False)
    assert np.linalg.norm(v) > np.linalg.norm(moved)
    J = cardan.jacobian(ARM, q, "tool")
    assert (J @ v)[2] == pytest.approx((J @ moved)[2], abs=1e-6)


# --- loops -----------------------------------------------------------------------------------------------------------


def test_loops_stay_closed():
    q = cardan.assemble(BAR)
    goal = cardan.frame_transform(BAR, q, "tip")[:3, 3] + (0.01, 0.0, -0.02)
    for _ in range(15):
        v = solve_ik(BAR, q, FramePosition("tip", goal, gain=0.7), 0.1)
        r, J = cardan.loop_residual(BAR, q), cardan.derivative(cardan.loop_residual, "q")(BAR, q)
        np.testing.assert_allclose(J @ v * 0.1, -r, atol=1e-9)
        q = cardan.integrate(BAR, q, v * 0.1)
    assert np.abs(cardan.loop_residual(BAR, q)).max() < 1e-10
    np.testing.assert_allclose(cardan.frame_transform(BAR, q, "tip")[:3, 3], goal, atol=1e-6)


def test_closing_loops_can_be_all_there_is_to_do():
    q = cardan.assemble(BAR) + 0.01 * RNG.normal(size=BAR.nq)
    for _ in range(6):
        q = cardan.integrate(BAR, q, 0.1 * solve_ik(BAR, q, ClosedLoops(gain=0.9), 0.1, limits=False))
    assert np.abs(cardan.loop_residual(BAR, q)).max() < 1e-6


def skate(*functions):
    m = cardan.Mechanism("skater")
    m.add_body("skate", cardan.Inertia(mass=2.0, com=[0.4, 0.0, 0.0], inertia=0.3 * np.eye(3)))
    m.add_joint("moves", cardan.joints.Planar(), "world", "skate")
    return m.model().with_constraints(*functions)


def blade(model, q, v):
    return cardan.frame_velocity(model, q, v, "skate", expressed_in="frame")[1]


def turntable(model, q, v):
    """Turns by 0.3 rad/s, and slower further out: no velocity of rest."""
    return v[2] - 0.3 / (1.0 + q[0] * q[0])


def test_constraints_of_velocities_hold():
    """A blade went 10 m/s sideways: its function is no function of places, so its slope by q was none."""
    model = skate(blade, turntable)
    tree = model.spanning_tree()
    q = cardan.integrate(tree, tree.neutral(), np.array([[0.0, 0.0, 0.0], [0.5, -0.2, 0.8]]))
    goal = np.array([1.0, 1.0, 0.0])
    v = solve_ik(model, q, FramePosition("skate", goal), 0.1)
    ahead, sideways, *_ = cardan.frame_velocity(tree, q, v, "skate", expressed_in="frame").T
    np.testing.assert_allclose(sideways, 0.0, atol=1e-12)
    np.testing.assert_allclose(v[:, 2], 0.3 / (1.0 + q[:, 0] ** 2), atol=1e-12)
    X = cardan.frame_transform(tree, q, "skate")
    along = np.einsum("ni,ni->n", X[:, :3, 0], goal - X[:, :3, 3])
    np.testing.assert_allclose(ahead, along / 0.1, rtol=1e-6)  # as near as the blade lets it


def sphere(model, q):
    place = cardan.frame_transform(model, q, "tool")[:3, 3]
    return place[0] * place[0] + place[1] * place[1] + place[2] * place[2] - 0.36


def test_constraints_of_places_hold():
    """The tool stays on a sphere, where it is asked to and where it is asked away from it."""
    model = ARM.with_constraints(sphere)
    found = cardan.inverse_kinematics(model, FramePosition("tool", (0.36, 0.0, 0.48)))
    assert found.converged
    assert abs(cardan.loop_residual(model, found.q)[0]) < 1e-6
    q = found.q
    for _ in range(5):
        q = cardan.integrate(model, q, 0.1 * solve_ik(model, q, FramePosition("tool", (0.4, 0.3, 0.6)), 0.1))
    assert abs(cardan.loop_residual(model, q)[0]) < 1e-6
    place = cardan.frame_transform(ARM, q, "tool")[:3, 3]
    np.testing.assert_allclose(np.linalg.norm(place), 0.6, atol=1e-6)
    assert place[1] > 0.05


def push(model, q, v, a):
    return a[0] - 0.2


def test_a_robot_without_loops_is_not_asked_for_their_poses(monkeypatch):
    """Poses of all bodies were computed at each call, in Python."""
    monkeypatch.setattr(loops, "relative_kinematics", mock.Mock(side_effect=AssertionError))
    assert loops.constraints(ARM, ARM.neutral().tolist()) == []


def test_constraints_of_accelerations_are_refused():
    with pytest.raises(MechanismError, match="solve_ik: constraint 'push' is one of accelerations"):
        solve_ik(skate(push), skate().neutral(), FramePosition("skate", (1.0, 0.0, 0.0)), 0.1)


def test_what_excludes_one_another_is_named_with_its_rows():
    m = cardan.robots.five_bar()
    for name in BAR.joint_names:
        if BAR.joint(name).nv:
            m = m.replace_joint(name, BAR.joint(name), cardan.Limits(velocity=[1e-3])).mechanism
    model = m.model()
    q = cardan.assemble(model)
    states = np.stack([q, q + 0.2, q])
    with pytest.raises(InfeasibleError, match=r"1 rows of the batch \(1\).*loop '.*limits of joint '") as caught:
        solve_ik(model, states, Damping(), 0.01)
    assert caught.value.rows == [(1,)]


# --- what is given ---------------------------------------------------------------------------------------------------


# The last joint is none that the task moves: of what it asks, nothing becomes NaN.
UNASKED = {"q": np.append(np.zeros(6), np.nan), "tasks": [FramePosition(ARM.body_names[1], np.zeros(3))]}


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        ({"dt": 0.0}, ParameterError, "solve_ik: dt: got 0.0, expected a finite number > 0"),
        ({"dt": np.nan}, ParameterError, "dt"),
        ({"dt": "fast"}, ParameterError, "dt"),
        ({"damping": 0.0}, ParameterError, "damping"),
        ({"q": np.zeros(6)}, ShapeError, "'q'"),
        ({"q": np.full(7, np.nan)}, NotFiniteError, r"q\[0\] is nan"),
        (UNASKED, NotFiniteError, r"q\[6\] is nan"),
        (UNASKED | {"limits": False}, NotFiniteError, r"q\[6\] is nan"),
        ({"tasks": []}, ParameterError, "at least one task"),
        ({"model": ARM.with_inputs(load=("tool", "mass"))}, ParameterError, r"got \('load',\), expected none"),
        ({"tasks": [FramePose("tol", np.eye(4))]}, UnknownNameError, "did you mean 'tool'"),
        ({"tasks": [FramePose("tool", 2 * np.eye(4))]}, ParameterError, "target"),
    ],
)
def test_bad_input_is_refused(change, kind, said):
    given = {"model": ARM, "q": ARM.neutral(), "tasks": [FramePose("tool", np.eye(4))], "dt": DT}
    with pytest.raises(kind, match=said):
        solve_ik(**{**given, **change})


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    original = builtins.__import__
    monkeypatch.setattr("importlib.import_module", lambda name: original(f"{name}_is_missing"))
    with pytest.raises(MissingExtraError, match=r'pip install "cardan\[qp\]"'):
        solve_ik(ARM, ARM.neutral(), Damping(), DT)


# --- beside other libraries ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BodyTwist(Task):
    """A frame's error as pink and mink have it: log(X_target^-1 X), in the frame's axes."""

    frame: str
    target: ArrayLike | None = None

    def target_shape(self, model):
        return 4, 4

    def error(self, model, q, target):
        return -pose_error(cardan.frame_transform(model, q, self.frame), target)


def test_it_is_what_pink_finds():
    pink, pin = pytest.importorskip("pink"), pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(cardan.robots.urdf_path("quadruped")), pin.JointModelFreeFlyer())
    foot, worst = "rear_right_foot", 0.0
    for seed in range(10):
        q, home = (DOG.random_configuration(seed=k) for k in (seed, seed + 100))
        q[7:] = np.clip(q[7:], 0.9 * DOG.lower[6:], 0.9 * DOG.upper[6:])
        X = cardan.frame_transform(DOG, cardan.integrate(DOG, q, 0.5 * RNG.normal(size=DOG.nv)), foot)
        frame = pink.tasks.FrameTask(foot, 1.0, 0.5, gain=0.3)
        frame.set_target(pin.SE3(X))
        com = pink.tasks.ComTask([1.0, 2.0, 3.0], gain=0.7)
        com.set_target(np.array([0.1, 0.2, 0.5]))
        posture = pink.tasks.PostureTask(0.1, gain=0.5)
        posture.set_target(home)
        configuration = pink.Configuration(model, model.createData(), q)
        limits = [pink.limits.VelocityLimit(model), pink.limits.ConfigurationLimit(model, config_limit_gain=1.0)]
        theirs = pink.solve_ik(
            configuration, [frame, com, posture], DT, solver="daqp", damping=1e-6, limits=limits, safety_break=False
        )
        mine = [
            BodyTwist(foot, X, weight=(1, 1, 1, 0.5, 0.5, 0.5), gain=0.3),
            CenterOfMass((0.1, 0.2, 0.5), weight=(1, 2, 3), gain=0.7),
            Posture(home, weight=[0.0] * 6 + [0.1] * 12, gain=0.5),
        ]
        v = solve_ik(DOG, q, mine, DT, damping=1e-6)
        worst = max(worst, np.abs(v - theirs).max() / np.abs(theirs).max())
    assert worst < 1e-8


def test_it_is_what_mink_finds():
    mink, mujoco = pytest.importorskip("mink"), pytest.importorskip("mujoco")
    model = cardan.interop.to_mjspec(cardan.robots.arm7()).compile()
    assert model.nv == ARM.nv
    for seed in range(5):
        q, home = (ARM.random_configuration(seed=k) for k in (seed, seed + 100))
        X = poses(1, seed=seed)[0]
        frame = mink.FrameTask("tool", "body", position_cost=1.0, orientation_cost=0.5, gain=0.3)
        frame.set_target(mink.SE3.from_matrix(X))
        posture = mink.PostureTask(model, cost=0.1, gain=0.5)
        posture.set_target(home)
        configuration = mink.Configuration(model, q=q)
        limits = [mink.ConfigurationLimit(model, gain=1.0)]
        limits += [mink.VelocityLimit(model, {f"joint{k + 1}": speed for k, speed in enumerate(ARM.velocity_upper)})]
        theirs = mink.solve_ik(configuration, [frame, posture], DT, solver="daqp", damping=1e-6, limits=limits)
        mine = [BodyTwist("tool", X, weight=(1, 1, 1, 0.5, 0.5, 0.5), gain=0.3), Posture(home, weight=0.1, gain=0.5)]
        np.testing.assert_allclose(solve_ik(ARM, q, mine, DT, damping=1e-6), theirs, atol=1e-8)
    assert mujoco.__version__


class Nothing(Task):
    """A task of no rows."""

    def error(self, model, q, target):
        return []


def test_a_priority_may_ask_nothing():
    reach = FramePosition("tool", (0.4, 0.0, 0.6))
    found = solve_ik(ARM, ARM.neutral(), [reach, Nothing(priority=1)], DT)
    np.testing.assert_allclose(found, solve_ik(ARM, ARM.neutral(), reach, DT), atol=1e-6)


def test_a_robot_that_cannot_move_is_told_to_stay():
    rock = cardan.Mechanism("rock")
    rock.add_body("stone")
    rock.add_joint("lies", cardan.joints.Fixed(), "world", "stone")
    still = rock.model()
    asked = FramePosition("stone", np.zeros((2, 3)))
    assert solve_ik(still, still.neutral(), asked, DT).shape == (2, 0)
    assert solve_ik(still, still.neutral(), [asked, Nothing(priority=1)], DT).shape == (2, 0)


def test_a_direction_to_the_frame_itself_is_refused_with_its_row():
    """There was NaN, without a word."""
    arm = cardan.robots.arm7().model()
    q = np.zeros((2, arm.nq))
    places = np.stack([[1.0, 0.0, 1.0], cardan.frame_transform(arm, q[1], "tool")[:3, 3]])
    with pytest.raises(NotFiniteError, match=r"of the tasks\[1, "):
        cardan.solve_ik(arm, q, cardan.tasks.LookAt("tool", [0.0, 0.0, 1.0], places), 0.01)


def test_a_target_too_far_to_be_squared_is_refused():
    """Velocities were NaN, without a word."""
    far = cardan.tasks.FramePose("tool", cardan.SE3(translation=(1e308, 0.0, 0.0)))
    with pytest.raises(NotFiniteError, match="targets right"):
        cardan.solve_ik(ARM, ARM.random_configuration(seed=0), far, DT)
