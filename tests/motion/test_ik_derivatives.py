"""Derivatives of what inverse kinematics and assembly find: against solutions nearby, laws, and by hand."""

import math

import numpy as np
import pytest

import cardan
import linkages
from cardan.errors import AssemblyError, ParameterError, UnknownNameError
from cardan.joints import CATALOGUE, Revolute
from cardan.spatial import SE3
from cardan.tasks import CenterOfMass, ClosedLoops, FramePose, FramePosition, Posture, Stack
from mechanisms import random_mechanism

pytestmark = pytest.mark.usefixtures("quick_target")
H = 1e-4


def nearest(model, start, error, target, free):
    """The solution of e(q) = target nearest to a start, nearly: the way there is across what solves e(q) = 0."""
    q = start
    for _ in range(4):
        e, J = error(q)
        step = np.zeros(model.nv)
        step[free] = np.linalg.pinv(J[:, free], rcond=1e-7) @ (target - e)
        q = cardan.integrate(model, q, step)
    return q


def assert_right(model, q, tasks, fixed=(), atol=1e-6):
    """Derivatives are central differences of solutions."""
    by = cardan.inverse_kinematics_derivatives(model, q, tasks, fixed=fixed)
    kept = [i for name in fixed for i in range(model.nv)[model.v_slice(name)]]
    free = [i for i in range(model.nv) if i not in kept]
    given = [*tasks, *([ClosedLoops()] if model.has_loops else [])]
    stack = Stack(model, given)
    count = stack.weights() > 0.0

    def error(q):
        e, J = stack.linearized(q)
        return e[count], J[count]

    zero = np.zeros(int(count.sum()))

    def difference(start, target):
        a, b = (nearest(model, start(h), error, target(h), free) for h in (H, -H))
        return (cardan.difference(model, q, a) - cardan.difference(model, q, b)) / (2.0 * H)

    for j in range(model.nv):
        unit = np.eye(model.nv)[j]
        found = difference(lambda h, unit=unit: cardan.integrate(model, q, h * unit), lambda h: zero)
        np.testing.assert_allclose(by.dq0[:, j], found, atol=atol)
    asked = np.flatnonzero(count)[: len(zero) - (stack.rows[-1].stop - stack.rows[-1].start) * model.has_loops]
    for k, i in enumerate(asked):
        moved = np.eye(len(zero))[k]
        found = difference(lambda h: q, lambda h, moved=moved: h * moved)
        np.testing.assert_allclose(by.dtarget[:, i], found, atol=atol * max(1.0, np.abs(found).max()))
    assert not by.dtarget[:, np.setdiff1d(np.arange(stack.size), asked)].any()
    return by


def test_an_arm_of_seven_axes_and_the_nearest_of_its_solutions():
    arm = cardan.robots.arm7().model()
    q = arm.random_configuration(seed=1)
    X = cardan.frame_transform(arm, q, "tool")
    by = assert_right(arm, q, [FramePose("tool", X)])
    J = cardan.jacobian(arm, q, "tool")
    np.testing.assert_allclose(J @ by.dtarget, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(by.dq0 @ by.dq0, by.dq0, atol=1e-12)  # a projection, on motions that change no pose
    assert round(float(np.trace(by.dq0))) == 1
    alike = cardan.inverse_kinematics_derivatives(arm, q, frame="tool", target=X)
    np.testing.assert_array_equal(alike.dtarget, by.dtarget)


def test_moved_targets_are_those_of_the_search():
    """Along the axes of the world, what a search finds for a pose that was moved a little."""
    arm = cardan.robots.arm7().model()
    q = arm.random_configuration(seed=4)
    X = cardan.frame_transform(arm, q, "tool")
    by = cardan.inverse_kinematics_derivatives(arm, q, frame="tool", target=X)
    move, turn, h = np.array([0.3, -0.2, 0.5]), np.array([-0.4, 0.1, 0.6]), 1e-5
    ends = []
    for sign in (h, -h):
        R = np.array(SE3(cardan.spatial.rotations.matrix_from_rotation_vector(sign * turn)).matrix())[:3, :3]
        target = np.eye(4)
        target[:3, :3], target[:3, 3] = R @ X[:3, :3], X[:3, 3] + sign * move
        found = cardan.inverse_kinematics(arm, frame="tool", target=target, q0=q, restarts=0, tolerance=1e-12)
        assert found.converged
        ends.append(found.q)
    np.testing.assert_allclose((ends[0] - ends[1]) / (2 * h), by.dtarget @ np.concatenate([move, turn]), atol=1e-6)


FEW = CATALOGUE[1:8:3]  # a hinge, one in (cos, sin), a ball


@pytest.mark.parametrize(
    ("seed", "joints"), [(0, FEW), (1, FEW), pytest.param(2, CATALOGUE, marks=pytest.mark.full)], ids=["0", "1", "all"]
)
def test_random_trees(seed, joints):
    model = random_mechanism(seed, joints).model(base="floating")
    q = model.random_configuration(seed=seed)
    tip = model.body_names[-1]
    place, c = cardan.frame_transform(model, q, tip)[:3, 3], cardan.center_of_mass(model, q)
    assert_right(model, q, [FramePosition(tip, place, weight=(1.0, 0.0, 2.0)), CenterOfMass(c)], atol=2e-5)


def test_loops_stay_closed():
    model = cardan.robots.five_bar().model()
    q = cardan.assemble(model, model.neutral() + 0.1)
    tip = FramePosition("tip", cardan.frame_transform(model, q, "tip")[:3, 3], weight=(1.0, 0.0, 1.0))
    by = assert_right(model, q, [tip])
    np.testing.assert_allclose(cardan.loop_jacobian(model, q) @ by.dtarget, 0.0, atol=1e-12)
    np.testing.assert_allclose(by.dq0, 0.0, atol=1e-12)  # the tip's place says all


@pytest.mark.slow
def test_a_humanoid_stands():
    robot = cardan.robots.humanoid().model(base="floating")
    q = robot.neutral()
    feet = [FramePose(f, cardan.frame_transform(robot, q, f)) for f in ("left_foot", "right_foot")]
    q = cardan.integrate(robot, q, 0.1 * np.random.default_rng(0).normal(size=robot.nv))
    found = cardan.inverse_kinematics(robot, feet, q0=q, tolerance=1e-10)
    assert_right(robot, found.q, feet, fixed=("left_knee",) if "left_knee" in robot.joint_names else (), atol=1e-5)


def test_a_batch_has_the_same_rows():
    arm = cardan.robots.arm7().model()
    q = arm.random_configuration((2, 3), seed=5)
    p = cardan.frame_transform(arm, q, "tool")[..., :3, 3]
    many = cardan.inverse_kinematics_derivatives(arm, q, FramePosition("tool", p))
    assert many.dtarget.shape == (2, 3, 7, 3)
    one = cardan.inverse_kinematics_derivatives(arm, q[1, 2], FramePosition("tool", p[1, 2]))
    np.testing.assert_allclose(many.dtarget[1, 2], one.dtarget, atol=1e-14)
    np.testing.assert_allclose(many.dq0[1, 2], one.dq0, atol=1e-14)


def test_an_empty_batch_has_empty_derivatives():
    """It was an IndexError of Python's."""
    arm = cardan.robots.arm7().model()
    by = cardan.inverse_kinematics_derivatives(arm, np.zeros((2, 0, 7)), FramePosition("tool", [0.0, 0.0, 1.0]))
    assert by.dtarget.shape == (2, 0, 7, 3)
    assert by.dq0.shape == (2, 0, 7, 7)


def test_joints_that_stay():
    arm = cardan.robots.arm7().model()
    q = arm.random_configuration(seed=2)
    stays = "joint3"
    by = assert_right(arm, q, [FramePose("tool", cardan.frame_transform(arm, q, "tool"))], fixed=(stays,))
    assert not by.dtarget[2].any()
    np.testing.assert_array_equal(by.dq0[2], np.eye(7)[2])
    np.testing.assert_allclose(by.dq0[:, [0, 1, 3, 4, 5, 6]], 0.0, atol=1e-12)  # six are left, for six


def two_bars(scale=1.0):
    m = cardan.Mechanism("two_bars")
    for name, x in (("upper", 0.0), ("lower", scale)):
        m.add_body(name, cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
        parent = "world" if name == "upper" else "upper"
        m.add_joint(f"{name}_joint", Revolute((0.0, 1.0, 0.0)), parent, name, SE3(None, (x, 0.0, 0.0)))
    m.add_frame("end", "lower", SE3(None, (scale, 0.0, 0.0)))
    return m.model()


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_two_bars_by_hand(scale):
    model, a, b = two_bars(scale), 0.3, 1.1
    x, z = (scale * (f(a) + f(a + b)) for f in (math.cos, math.sin))
    task = FramePosition("end", (x, 0.0, -z), weight=(1.0, 0.0, 1.0))
    by = cardan.inverse_kinematics_derivatives(model, [a, b], task)
    J = scale * np.array(
        [[-math.sin(a) - math.sin(a + b), -math.sin(a + b)], [-math.cos(a) - math.cos(a + b), -math.cos(a + b)]]
    )
    np.testing.assert_allclose(by.dtarget[:, [0, 2]] * scale, np.linalg.inv(J) * scale, rtol=1e-12)
    for straight in (0.0, math.pi):
        place = cardan.frame_transform(model, [a, straight], "end")[:3, 3]
        with pytest.raises(ParameterError, match=r"q: got .*weight 0 frees it"):
            cardan.inverse_kinematics_derivatives(model, [a, straight], FramePosition("end", place, weight=(1, 0, 1)))


def test_what_is_refused():
    model, good = two_bars(), [0.3, 1.1]
    place = cardan.frame_transform(model, good, "end")[:3, 3]
    derivatives = cardan.inverse_kinematics_derivatives
    with pytest.raises(ParameterError, match=r"Entry 1 of FramePosition cannot change there"):
        derivatives(model, good, FramePosition("end", place))  # out of its plane
    many = np.array([good, good, [0.3, 1.2]])
    with pytest.raises(ParameterError, match=r"q\[2\]: got .*a solution, with errors up to 1e-06; the largest is 0.0"):
        derivatives(model, many, FramePosition("end", place, weight=(1, 0, 1)))
    with pytest.raises(ParameterError, match=r"priorities of tasks: got .*expected one"):
        derivatives(model, good, [FramePosition("end", place, weight=(1, 0, 1)), Posture(good, priority=1)])
    with pytest.raises(ParameterError, match="what is asked of inverse_kinematics_derivatives: got 'nothing'"):
        derivatives(model, good)
    with pytest.raises(ParameterError, match=r"weights: got .*expected each entry 0 in all rows"):
        derivatives(model, good, FramePosition("end", place, weight=[[1, 0, 1], [1, 0, 0]]))
    with pytest.raises(UnknownNameError):
        derivatives(model, good, FramePosition("end", place, weight=(1, 0, 1)), fixed=("nobody",))


class Guard(FramePosition):
    is_guard = True


def test_guards_play_no_part():
    arm = cardan.robots.arm7().model()
    q = arm.random_configuration(seed=3)
    place = cardan.frame_transform(arm, q, "tool")[:3, 3]
    guarded = cardan.inverse_kinematics_derivatives(arm, q, [FramePosition("tool", place), Guard("tool", place + 1.0)])
    alone = cardan.inverse_kinematics_derivatives(arm, q, FramePosition("tool", place))
    np.testing.assert_array_equal(guarded.dq0, alone.dq0)


def test_what_is_found_is_differentiated_within_a_function():
    """By `implicit`, with dtarget as what solves the equation: as deep in a program as one likes."""
    arm = cardan.robots.arm7().model()
    q = arm.random_configuration(seed=1)
    place = cardan.frame_transform(arm, q, "tool")[:3, 3]
    by = cardan.inverse_kinematics_derivatives(arm, q, FramePosition("tool", place))

    @cardan.function(shapes={"place": (3,), "W": ("nv", 3)})
    def effort(model, q, place, W):
        at = cardan.implicit(
            q,
            lambda x: W @ np.array(FramePosition("tool").error(model, x, place)),
            lambda x, b: b,
            lambda x, d: cardan.integrate(model, x, d),
        )
        return cardan.gravity_forces(model, at)

    found = cardan.derivative(effort, "place")(arm, q, place, by.dtarget)
    by_q = cardan.derivative(cardan.gravity_forces, "q")(arm, q)
    np.testing.assert_allclose(found, by_q @ by.dtarget, atol=1e-10)


# --- assembly ---


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "bennett", "parallelogram", "ankle"])
def test_assembly(name):
    shipped = {"four_bar": cardan.robots.four_bar, "five_bar": cardan.robots.five_bar, "ankle": linkages.parallel_ankle}
    model = (shipped.get(name) or getattr(linkages, name))().model()
    q = cardan.assemble(model, cardan.assemble(model) + 0.0)
    by = cardan.assemble_derivatives(model, q)
    assert round(float(np.trace(by))) == cardan.mobility(model, q)
    np.testing.assert_allclose(by @ by, by, atol=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(3):
        v = rng.normal(size=model.nv)
        ends = [cardan.assemble(model, cardan.integrate(model, q, h * v), tolerance=1e-14, steps=20) for h in (H, -H)]
        moved = cardan.difference(model, ends[1], ends[0]) / (2.0 * H)
        np.testing.assert_allclose(by @ v, moved, atol=1e-6)


def test_what_follows_a_crank():
    model = cardan.robots.four_bar().model()
    q = cardan.assemble(model, [0.5, 0.0, 0.0], fixed=("crank_joint",))
    by = cardan.assemble_derivatives(model, np.stack([q, q]), fixed=("crank_joint",))
    follows = cardan.project_velocity(model, q, [1.0, 0.0, 0.0], fixed=("crank_joint",))
    np.testing.assert_allclose(by[1], np.outer(follows, [1.0, 0.0, 0.0]), atol=1e-12)


def test_ranks_are_those_around_a_place_where_no_other_is_found(monkeypatch):
    """They had been those at the place itself: at a singular one derivatives were wrong, and nothing said so."""
    model, t = linkages.parallelogram().model(), math.pi / 2 - 0.5
    flat = np.array([[t, -t, t, t]])
    monkeypatch.setattr("cardan._dynamics.functions.assembly._places", lambda model: [])
    with pytest.raises(ParameterError, match="loops are singular there: 3 of their rows are independent"):
        cardan.assemble_derivatives(model, flat)


def test_singular_assemblies_are_refused():
    model, t = linkages.parallelogram().model(), math.pi / 2 - 0.5
    flat = np.array([[0.0, 0.0, 0.0, 0.0], [t, -t, t, t]])
    with pytest.raises(
        ParameterError, match=r"q\[1\]: got .*loops are singular there: 3 of their rows are independent"
    ):
        cardan.assemble_derivatives(model, flat)
    bars = cardan.Mechanism("bars")
    for name, parent, x in (("crank", "world", 0.0), ("coupler", "crank", 0.15), ("rocker", "world", 0.4)):
        bars.add_body(name, linkages.inertia(1))
        bars.add_joint(f"{name}_joint", Revolute((0.0, 1.0, 0.0)), parent, name, SE3(None, (x, 0.0, 0.0)))
    ends = SE3(None, (0.4, 0.0, 0.0)), SE3(None, (0.3, 0.0, 0.0))
    bars.add_joint("closing", Revolute((0.0, 1.0, 0.0)), "coupler", "rocker", *ends)
    crank = bars.model()
    straight = cardan.assemble(crank, [0.6, 0.0, 1.2], fixed=("coupler_joint",))  # an end of the rocker's range
    cardan.assemble_derivatives(crank, straight, fixed=("crank_joint",))
    with pytest.raises(ParameterError, match="'rocker_joint' are fixed"):
        cardan.assemble_derivatives(crank, straight, fixed=("rocker_joint",))
    with pytest.raises(AssemblyError):
        cardan.assemble_derivatives(crank, [0.5, 0.3, 0.0])
    with pytest.raises(UnknownNameError):
        cardan.assemble_derivatives(crank, cardan.assemble(crank), fixed=("nobody",))
