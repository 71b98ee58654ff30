"""Tasks: errors that say what they say, Jacobians that are their rates, programs that do not depend on numbers."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.errors import DTypeError, NotFiniteError, ParameterError, ResultError, ShapeError, UnknownNameError
from cardan.joints import CATALOGUE
from cardan.tasks import (
    CenterOfMass,
    ClosedLoops,
    Damping,
    FrameOrientation,
    FramePose,
    FramePosition,
    LookAt,
    Posture,
    RelativeFrame,
    Stack,
    Task,
)
from mechanisms import central_difference, random_model, times
from own_tasks import Height


class Upright(Task):
    """A user's task without a target, and without a decorator."""

    def error(self, model, q, target):
        return cardan.frame_transform(model, q, "frame3")[:2, 2]


class Flat(Task):
    """A user's task that gives its Jacobian in a wrong shape."""

    def error(self, model, q, target):
        return q[0]

    def jacobian(self, model, q, target):
        return [1.0] + [0.0] * 6


@dataclass(frozen=True, eq=False)
class Turned(Task):
    """A user's task whose field can be changed by whoever holds it."""

    factors: list[float]

    def error(self, model, q, target):
        return self.factors[0] * q[0]


@dataclass(frozen=True, eq=False)
class Shapeless(Task):
    """A user's task whose target has no shape."""

    target: Any = None

    def error(self, model, q, target):
        return q[0] - (target or 0.0)


@dataclass(frozen=True, eq=False)
class Shaped(Task):
    """A user's task whose target has whatever shape it is told."""

    shape: Any
    target: Any = None

    def target_shape(self, model):
        return self.shape

    def error(self, model, q, target):
        return q[:2] - target


@pytest.fixture(scope="module")
def robot(all_joints_or):
    """A floating tree with every joint there is, once; by default, half of them."""
    return random_model(7, joints=all_joints_or(CATALOGUE[::2]))


def asked(model, seed=3):
    """One task of every kind, for a robot of `random_model`."""
    wanted = model.random_configuration(seed=seed)
    X, Y = (cardan.frame_transform(model, wanted, name) for name in ("frame4", "frame9"))
    return [
        FramePose("frame4", X),
        FramePosition("frame5", X[:3, 3]),
        FrameOrientation("frame6", X[:3, :3]),
        RelativeFrame("frame9", "frame2", Y),
        RelativeFrame("body1", "world", Y),
        LookAt("frame7", (0.0, 0.3, 1.0), (0.1, 0.2, 3.0)),
        CenterOfMass((0.1, 0.2, 0.3)),
        Posture(wanted),
        Height("frame8", 0.7),
        Upright(),
    ]


@pytest.mark.slow
def test_jacobians_are_the_rates_of_the_errors_for_every_joint(robot, reference_target):
    stack = Stack(robot, asked(robot))
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration((4,), seed=1), rng.normal(size=(4, robot.nv))
    found = stack.linearized(q)
    assert found.error.shape == (4, stack.size)
    assert found.jacobian.shape == (4, stack.size, robot.nv)
    rate = central_difference(lambda h: stack.linearized(cardan.integrate(robot, q, h * v)).error)
    np.testing.assert_allclose(times(found.jacobian, v), rate, atol=3e-8)


@pytest.mark.slow
def test_closed_forms_are_the_derivatives_of_the_errors(robot, reference_target):
    """The rate of log(R), and of a relative pose, to the last digits: what users get without a closed form."""
    q = robot.random_configuration((3,), seed=2)
    for task in asked(robot):
        derived = type("Derived", (type(task),), {"jacobian": Task.jacobian})
        other = derived.__new__(derived)
        for name, value in vars(task).items():
            object.__setattr__(other, name, value)
        mine, theirs = (Stack(robot, t).linearized(q) for t in (task, other))
        np.testing.assert_allclose(mine.jacobian, theirs.jacobian, atol=1e-11, err_msg=type(task).__name__)


def test_errors_are_what_they_say(robot, reference_target):
    q = robot.random_configuration(seed=5)
    X = cardan.frame_transform(robot, q, "frame4")
    turn = cardan.spatial.rotations.rotation_about_axis((0.0, 0.6, 0.8), 0.4).rows()
    offset = np.array([0.1, -0.2, 0.3])
    shifted = X.copy()
    shifted[:3, :3], shifted[:3, 3] = np.array(turn).T @ X[:3, :3], X[:3, 3] - offset
    e = Stack(robot, FramePose("frame4", shifted)).linearized(q).error
    np.testing.assert_allclose(e, [*offset, 0.0, 0.24, 0.32], atol=1e-12)
    e = Stack(robot, RelativeFrame("frame4", "frame4", np.eye(4))).linearized(q).error
    np.testing.assert_allclose(e, 0.0, atol=1e-12)
    ahead = X[:3, 3] + 2.0 * X[:3, 0]
    np.testing.assert_allclose(Stack(robot, LookAt("frame4", (5, 0, 0), ahead)).linearized(q).error, 0.0, atol=1e-12)
    away = Stack(robot, LookAt("frame4", (-1, 0, 0), ahead)).linearized(q).error
    assert np.linalg.norm(away) == pytest.approx(2.0)
    com = cardan.center_of_mass(robot, q)
    np.testing.assert_allclose(Stack(robot, CenterOfMass(com - offset)).linearized(q).error, offset, atol=1e-12)


def test_a_relative_frame_does_not_feel_the_joints_that_carry_both(reference_target):
    arm = cardan.robots.humanoid().model(base="floating")
    stack = Stack(arm, RelativeFrame("left_hand", "torso", np.eye(4)))
    J = stack.linearized(arm.neutral()).jacobian
    moving = {name for name in arm.joint_names if np.abs(J[:, arm.v_slice(name)]).max(initial=0.0) > 0.0}
    parts = ("shoulder_pitch", "shoulder_roll", "upper_arm", "forearm", "wrist_yaw", "wrist_pitch", "wrist_roll")
    assert moving == {f"left_{part}_joint" for part in parts}


def test_damping_and_loops(reference_target):
    arm, bar = cardan.robots.arm7().model(), cardan.robots.five_bar().model()
    still = Stack(arm, Damping()).linearized(arm.neutral())
    assert not still.error.any()
    np.testing.assert_array_equal(still.jacobian, np.eye(7))
    q, v = bar.random_configuration(seed=1), np.arange(bar.nv) + 1.0
    stack = Stack(bar, ClosedLoops())
    np.testing.assert_allclose(stack.linearized(q).error, cardan.loop_residual(bar, q))
    rate = central_difference(lambda h: stack.linearized(cardan.integrate(bar, q, h * v)).error)
    np.testing.assert_allclose(stack.linearized(q).jacobian @ v, rate, atol=1e-8)
    with pytest.raises(cardan.CardanError, match=r"no closed loops|has no"):
        Stack(arm, ClosedLoops())


def test_numbers_are_no_part_of_the_program(robot):
    first = Stack(robot, [FramePosition("frame4", (1, 2, 3), weight=2.0), Posture(robot.neutral(), gain=0.5)])
    again = Stack(robot, [FramePosition("frame4", (3, 2, 1)), Posture(robot.neutral(), weight=0.1, priority=2)])
    other = Stack(robot, [FramePosition("frame5", (3, 2, 1)), Posture(robot.neutral())])
    assert first.function is again.function
    assert first.function is not other.function


def test_a_field_changed_later_is_not_what_programs_of_other_models_are_made_of(reference_target):
    first, second = cardan.robots.double_pendulum().model(), cardan.robots.cart_pole().model()
    factors = [2.0]
    changed = Turned(factors)
    assert Stack(first, changed).linearized((1.0, 0.0)).error == 2.0
    factors[0] = 5.0
    assert Stack(first, changed).linearized((1.0, 0.0)).error == 5.0
    assert Stack(second, Turned([2.0])).linearized((1.0, 0.0)).error == 2.0
    assert cardan.inverse_kinematics(second, Turned([2.0]), q0=(1.0, 0.0)).converged


def test_a_weight_that_was_changed_to_none_is_refused_when_it_is_used():
    reach = FramePosition("tool", (0.4, 0.0, 0.6), weight=np.ones(3))
    reach.weight[0] = -1.0
    with pytest.raises(ParameterError, match="weight of FramePosition"):
        Stack(cardan.robots.arm7().model(), reach).weights()


@pytest.mark.parametrize("gain", [1, np.float32(0.5), np.int64(1), Decimal("0.5"), np.array(0.5)])
def test_a_gain_is_a_number_of_any_type_and_kept_as_one(gain):
    assert type(Posture(gain=gain).gain) is float
    assert Stack(cardan.robots.arm7().model(), FramePosition("tool", np.zeros(3), gain=gain)).gains()[0] == gain


def test_the_shape_of_a_target_may_be_of_any_whole_numbers(reference_target):
    arm = cardan.robots.arm7().model()
    assert Stack(arm, Shaped((np.int64(2),), (0.1, 0.2))).linearized(np.full(7, 0.3)).error == pytest.approx([0.2, 0.1])


def test_targets_broadcast_against_each_other(reference_target):
    arm = cardan.robots.arm7().model()
    X = cardan.frame_transform(arm, arm.random_configuration((4, 1), seed=0), "tool")
    stack = Stack(arm, [FramePose("tool", X), Posture(np.zeros((3, 7)), weight=np.full(7, 0.5)), Height("tool", 0.5)])
    e, J = stack.linearized(arm.neutral())
    assert e.shape == (4, 3, 14)
    assert J.shape == (4, 3, 14, 7)
    assert stack.weights().tolist() == [1.0] * 6 + [0.5] * 7 + [1.0]
    assert stack.rows == (slice(0, 6), slice(6, 13), slice(13, 14))


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: FramePose("tol", np.eye(4)), UnknownNameError, "did you mean 'tool'"),
        (lambda: FramePose("tool"), ParameterError, r"FramePose: target: got None, expected an array of shape"),
        (lambda: FramePose("tool", np.eye(3)), ShapeError, r"\(3, 3\), expected \(..., 4, 4\)"),
        (lambda: FramePose("tool", -np.eye(4)), ParameterError, "last row"),
        (lambda: FramePose("tool", np.stack([np.eye(4), np.diag([1, 1, -1, 1])])), ParameterError, r"target\[1\].*det"),
        (lambda: FrameOrientation("tool", 1.1 * np.eye(3)), ParameterError, "a rotation matrix"),
        (lambda: FramePosition("tool", [[0, 0, 0], [0, np.nan, 0]]), NotFiniteError, r"\(1, 1\)|\[1, 1\]"),
        (lambda: FramePosition("tool", ["a", "b", "c"]), DTypeError, "text"),
        (lambda: LookAt("tool", (0, 0, 0), (1, 1, 1)), ParameterError, "axis of LookAt"),
        (lambda: Posture(np.zeros(6)), ShapeError, r"\(..., 7\)"),
        (lambda: Posture(np.zeros(7), weight=np.ones(6)), ShapeError, "7"),
        (lambda: Posture(np.zeros(7), weight=-1.0), ParameterError, "weight of Posture"),
        (lambda: Posture(np.zeros(7), gain=0.0), ParameterError, "gain of Posture"),
        (lambda: Posture(np.zeros(7), priority=-1), ParameterError, "priority of Posture"),
        (lambda: [], ParameterError, "at least one task"),
        (lambda: ["tool"], DTypeError, "a str, expected a task"),
        (lambda: [FramePose], DTypeError, "the class FramePose, expected a task"),
        (lambda: Shapeless(0.5), ParameterError, r"target of Shapeless: got 0.5.*target_shape\(model\)"),
        (lambda: Shaped(2, (0, 0)), ParameterError, "target_shape of Shaped: got 2, expected whole numbers in a tuple"),
        (lambda: Shaped(("nq",), (0, 0)), ParameterError, "target_shape of Shaped"),
        (lambda: Flat(), ResultError, r"Flat.jacobian: got a result of shape \(7,\), expected \(1, 7\)"),
    ],
)
def test_what_is_no_task(make, error, said):
    arm = cardan.robots.arm7().model()
    with pytest.raises(error, match=said):
        _used(arm, make())


def _used(model, tasks):
    stack = Stack(model, tasks)
    return stack.weights(), stack.linearized(model.neutral())


@pytest.mark.parametrize(
    ("make", "given"),
    [
        (lambda a: cardan.tasks.Posture(target=a), np.zeros(7)),
        (lambda a: cardan.tasks.FramePosition("tool", target=a), np.array([0.3, 0.0, 0.5])),
        (lambda a: cardan.tasks.FramePose("tool", weight=a), np.ones(6)),
    ],
)
def test_a_task_keeps_what_it_was_given(make, given):
    """A posture of q followed q, to which the loop wrote its steps."""
    task = make(given)
    name = "target" if getattr(task, "target", None) is not None else "weight"
    before = given.copy()
    given += 1.0
    np.testing.assert_array_equal(getattr(task, name), before)
