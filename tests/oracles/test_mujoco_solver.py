"""The solver `cardan.solvers.MuJoCo`: MuJoCo's own steps of our worlds, with our states, controls and flags."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cardan
from cardan import joints as J
from cardan._robot.geometry.shapes import Box, Mesh, Shape, Sphere
from cardan._robot.records import Drive, Material
from cardan.errors import ParameterError, UnknownNameError, UnsupportedError
from cardan.interop import to_mjspec
from mechanisms import random_inertia, random_pose
from test_mujoco_spec import EXPRESSIBLE

mujoco = pytest.importorskip("mujoco", reason="needs the `mujoco` extra", exc_type=ImportError)
pytestmark = pytest.mark.usefixtures("quick_target")


def arm(*joints, drives=(), limits=None, **properties):
    """A chain of bodies on the world."""
    rng = np.random.default_rng(4)
    m = cardan.Mechanism("arm")
    for k, joint in enumerate(joints):
        m.add_body(f"b{k}", random_inertia(rng))
        drive = drives[k] if k < len(drives) else None
        poses = random_pose(rng), random_pose(rng)
        m.add_joint(
            f"j{k}", joint, f"b{k - 1}" if k else "world", f"b{k}", *poses, drive=drive, limits=limits, **properties
        )
    return m.world(ground=False)


def boxes(*masks, **surface):
    b = cardan.WorldBuilder()
    b.add_ground()
    for k, (group, mask) in enumerate(masks):
        b.add_body(f"box{k}")
        b.add_shape(f"box{k}", Box((0.2, 0.2, 0.2)), material=Material(**surface), group=group, mask=mask)
    return b.finalize()


def test_the_drive_of_one_joint_of_several_in_a_row_is_found():
    """A joint `a+b` of a file is two there; it was looked for by the name ''."""
    m = cardan.Mechanism("pair")
    m.add_body("b", cardan.Inertia(1.0, (0, 0, 0.1), np.diag([0.1, 0.1, 0.05])))
    m.add_joint("yaw+pitch", J.Universal(), "world", "b", drive=Drive([0.0, 50.0], [0.0, 5.0]))
    world = m.world(gravity=(0, 0, 0))
    control = world.control()
    control.position[:] = [0.3, 0.4]
    after = cardan.solvers.MuJoCo(world, 0.002).step(world.state(), control, steps=2000)
    np.testing.assert_allclose(after.q, [[0.0, 0.4]], atol=1e-3)


def test_steps_are_mujocos_own():
    drives = [Drive(100.0, 5.0), Drive(0.0, 2.0), Drive(30.0)]
    world = arm(J.Revolute((0, 1, 0)), J.Prismatic(), J.Revolute(), drives=drives, damping=[0.1])
    solver = cardan.solvers.MuJoCo(world, 0.002, integrator="implicitfast")
    state = world.state(2, q=[[0.1, 0.2, 0.3], [0.4, -0.5, 0.6]], v=[1.0, -1.0, 2.0])
    control = world.control(2)
    control.position, control.velocity, control.effort = [0.5, 9.0, -0.5], [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]
    new = solver.step(state, control, steps=50)

    mj = to_mjspec(world).compile()
    mj.opt.integrator, mj.opt.timestep = mujoco.mjtIntegrator.mjINT_IMPLICITFAST, 0.002
    for row in range(2):
        data = mujoco.MjData(mj)
        data.qpos[:], data.qvel[:] = state.q[row], state.v[row]
        data.ctrl[:] = [0.5 + (5.0 * 0.1 + 1.0) / 100.0, 0.2 + 2.0 / 2.0, -0.5 + 3.0 / 30.0]
        mujoco.mj_step(mj, data, 50)
        np.testing.assert_array_equal(new.q[row], data.qpos)
        np.testing.assert_array_equal(new.v[row], data.qvel)
    np.testing.assert_allclose(new.time, 0.1)
    assert not new.diverged.any()


def gaps_of_motion(world):
    """How far our accurate and MuJoCo's first-order motion are apart after 20 ms, with steps of 1 and 0.5 ms."""
    model, rng = world.model, np.random.default_rng(1)
    q = cardan.normalize(model, 0.2 * model.random_configuration(seed=3))
    state, control = world.state(q=q, v=0.5 * rng.normal(size=model.nv)), world.control()
    control.effort = rng.normal(size=model.nv)
    for count in (20, 40):
        dt = 0.02 / count
        ours = cardan.solvers.Featherstone(world, dt, integrator="rk4", contact=None, limits=False)
        theirs = cardan.solvers.MuJoCo(world, dt, integrator="euler")
        ends = [solver.rollout(state, control, steps=count).state for solver in (ours, theirs)]
        yield np.abs(cardan.difference(model, ends[0].q, ends[1].q)).max()


def test_motion_without_contact_is_that_of_generalised_coordinates():
    """To the order of the step, with efforts."""
    kinds = J.Revolute((0, 1, 0)), J.Planar(), J.Spherical(), J.Universal(), J.UnboundedRevolute((0, 1, 0))
    b = cardan.WorldBuilder()
    b.add_body("free", inertia=random_inertia(np.random.default_rng(1)))
    b.add(arm(*kinds).mechanism, prefix="a/")
    coarse, fine = gaps_of_motion(b.finalize())
    assert coarse < 5e-3
    assert fine < 0.6 * coarse


@pytest.mark.full
@pytest.mark.parametrize("joint", EXPRESSIBLE, ids=lambda joint: type(joint).__name__)
def test_motion_on_every_joint_that_both_have(joint):
    coarse, fine = gaps_of_motion(arm(J.Revolute((0, 1, 0)), joint, J.Prismatic()))
    assert coarse < 5e-3
    assert fine < 0.6 * coarse


def test_efforts_and_drives_saturate_together():
    limits = J.Limits(effort=[2.0])
    world = arm(J.Revolute((0, 1, 0)), drives=[Drive(100.0, 1.0)], limits=limits)
    free = arm(J.Revolute((0, 1, 0)), limits=limits)
    control, pushed = world.control(), free.control()
    control.position, control.effort, pushed.effort = [1.0], [50.0], [2.0]
    a, b = (
        cardan.solvers.MuJoCo(w, 1e-3, integrator="euler").step(w.state(), c).v
        for w, c in ((world, control), (free, pushed))
    )
    np.testing.assert_allclose(a, b, rtol=1e-12)
    pushed.effort = [70.0]
    np.testing.assert_allclose(cardan.solvers.MuJoCo(free, 1e-3, integrator="euler").step(free.state(), pushed).v, b)


def test_a_force_on_a_body_turns_with_it():
    """Of many steps in one call, as of many calls."""
    b = cardan.WorldBuilder()
    b.add_body("free", inertia=random_inertia(np.random.default_rng(0)))
    world = b.finalize()
    solver = cardan.solvers.MuJoCo(world, 0.01)
    state, control = world.state(v=[0, 0, 0, 1, 2, 3]), world.control()
    control.effort = [5, 0, 0, 0, 1, 0]
    at_once, one_by_one = solver.step(state, control, steps=10), state
    for _ in range(10):
        one_by_one = solver.step(one_by_one, control)
    np.testing.assert_array_equal(at_once.q, one_by_one.q)
    np.testing.assert_array_equal(at_once.v, one_by_one.v)


def test_targets_on_the_circle_are_the_nearest():
    world = arm(J.UnboundedRevolute((0, 1, 0)), drives=[Drive(50.0, 20.0)]).with_inputs()
    solver = cardan.solvers.MuJoCo(world, 0.005)
    state, control = world.state(q=[np.cos(3.0), np.sin(3.0)]), world.control()
    control.position = [-3.0]
    turned = solver.step(state, control, steps=1).v[0, 0]
    assert turned > 0.0  # over pi, not back through 0


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_worlds_do_not_see_one_another(dtype):
    world = boxes((1, 1), (1, 1))
    solver = cardan.solvers.MuJoCo(world, 0.005)
    state = world.state(5, dtype)
    state.q[:, 2] = [0.1, 0.12, 0.15, 0.2, 0.3]
    state.q[:, 9] = 0.55
    before = state.copy()
    together = solver.step(state, steps=40)
    alone = [solver.step(state[k : k + 1], steps=40) for k in range(5)]
    assert state == before
    np.testing.assert_array_equal(together.q, np.concatenate([s.q for s in alone]))
    np.testing.assert_array_equal(together.v, np.concatenate([s.v for s in alone]))
    assert together.dtype == np.dtype(dtype)
    threads = cardan.num_threads()
    try:
        cardan.set_num_threads(1)
        again = pickle.loads(pickle.dumps(solver))
        out = again.world.state(5, dtype)
        same = solver.step(state, steps=40, out=state)
    finally:
        cardan.set_num_threads(threads)
    assert same is state
    np.testing.assert_array_equal(same.q, together.q)
    out.q, out.v = before.q, before.v
    np.testing.assert_array_equal(again.step(out, steps=40).q, together.q)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e308])
@pytest.mark.parametrize("drives", [(), [Drive(1e3, 10.0)]])
def test_a_world_that_diverges_is_flagged_and_stands_still(bad, drives):
    world = arm(J.Revolute((0, 1, 0)), J.Revolute((1, 0, 0)), drives=drives)
    solver = cardan.solvers.MuJoCo(world, 0.002)
    state, control = world.state(3, q=[0.1, 0.2]), world.control(3)
    well = solver.step(state, control, steps=20)
    control.effort[1] = bad
    new = solver.step(state, control, steps=20)
    np.testing.assert_array_equal(new.diverged, [False, True, False])
    np.testing.assert_array_equal(new.q[[0, 2]], well.q[[0, 2]])
    np.testing.assert_array_equal(new.q[1], state.q[1])
    np.testing.assert_allclose(new.time, [0.04, 0.0, 0.04])
    after = solver.step(new, world.control(3), steps=20)
    assert after.diverged[1]
    assert np.isfinite(after.q).all()


def test_a_solver_may_be_used_by_several_threads():
    world = boxes((1, 1))
    solver = cardan.solvers.MuJoCo(world, 0.002)
    states = [world.state(3, q=[0.1 * k, 0, 0.3, 0, 0, 0, 1]) for k in range(8)]
    expected = [solver.step(state, steps=50) for state in states]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda state: solver.step(state, steps=50), states)) == expected


def test_mimic_joints_follow():
    """Turning on and on, past the seam of the circle."""
    rng = np.random.default_rng(3)
    m = cardan.Mechanism("wheels")
    for k, joint in enumerate(
        [J.UnboundedRevolute((0, 0, 1)), J.Mimic(J.UnboundedRevolute((0, 0, 1)), "j0", 2.5, 0.3)]
    ):
        m.add_body(f"b{k}", random_inertia(rng))
        m.add_joint(f"j{k}", joint, "world", f"b{k}", cardan.SE3(translation=(k, 0, 0)))
    world = m.world(ground=False)
    solver = cardan.solvers.MuJoCo(world, 0.001)
    state = world.state(v=[10.0])
    for _ in range(20):
        state = solver.step(state, steps=50)
        assert abs(state.v[0, 0] - 10.0) < 1e-3
    angle = np.arctan2(state.q[0, 1], state.q[0, 0])
    assert angle == pytest.approx(np.remainder(10.0 + np.pi, 2 * np.pi) - np.pi, abs=2e-3)


def test_loops_stay_closed():
    world = cardan.robots.four_bar().world(ground=False)
    model = world.model
    q = cardan.assemble(model)
    solver = cardan.solvers.MuJoCo(world, 0.001)
    state = world.state(q=q, v=cardan.project_velocity(model, q, np.ones(model.nv)))
    new = solver.step(state, steps=300)
    assert np.abs(cardan.difference(model, new.q[0], q)).max() > 0.1
    assert np.abs(cardan.loop_residual(model, new.q[0])).max() < 1e-4


def test_a_box_slides_to_its_stop():
    """From 2 m/s over 2^2 / (2 mu g)."""
    world = boxes((1, 1), friction=0.5)
    mu = world.pairs[0].material.friction
    solver = cardan.solvers.MuJoCo(world, 0.001)
    state = solver.step(world.state(q=[0, 0, 0.1, 0, 0, 0, 1]), steps=200)
    start = state.q[0, 0]
    state.v = [2.0, 0, 0, 0, 0, 0]
    stopped = solver.step(state, steps=1000)
    assert np.abs(stopped.v).max() < 0.01
    assert stopped.q[0, 0] - start == pytest.approx(4.0 / (2.0 * mu * 9.81), rel=0.02)


def test_what_touches_is_what_the_world_lists():
    world = boxes(
        (1, 1), (2, 2), friction=0.2, torsional=0.01
    )  # the second box and the ground are of no common group, nor are the boxes
    assert [(pair.a, pair.b) for pair in world.pairs] == [("box0", "world")]
    state = world.state(q=[0, 0, 0.1, 0, 0, 0, 1, 0, 0, 0.35, 0, 0, 0, 1])
    solver = cardan.solvers.MuJoCo(world, 0.002)
    np.testing.assert_allclose(solver.model.pair_friction, [[np.sqrt(0.8 * 0.2)] * 2 + [0.01, 0.0, 0.0]], atol=1e-15)
    assert solver.model.pair_dim.tolist() == [4]
    new = solver.step(state, steps=500)
    assert new.q[0, 2] == pytest.approx(0.1, abs=1e-3)
    assert new.q[0, 9] < -1.0


def test_what_it_would_leave_out_is_refused():
    with pytest.raises(UnsupportedError, match=r"solver MuJoCo cannot take the input 'gravity'"):
        cardan.solvers.MuJoCo(arm(J.Revolute()).with_inputs("gravity"), 0.01)
    with pytest.raises(UnsupportedError, match="compliance of joint 'j0'"):
        cardan.solvers.MuJoCo(arm(J.Revolute(), compliance=[1e-3] * 6), 0.01)
    with pytest.raises(UnsupportedError, match="joint 'j0', a Distance"):
        cardan.solvers.MuJoCo(arm(J.Distance(0.0, 1.0)), 0.01)
    with pytest.raises(UnsupportedError, match=r"solver MuJoCo cannot take joint 'j1', a Cable.*Featherstone"):
        cardan.solvers.MuJoCo(arm(J.Revolute(), J.Cable()), 0.01)
    with pytest.raises(UnsupportedError, match="the restitution of contact pair"):
        cardan.solvers.MuJoCo(boxes((1, 1), restitution=0.5), 0.01)
    with pytest.raises(UnsupportedError, match="step as a function"):
        _ = cardan.solvers.MuJoCo(arm(J.Revolute()), 0.01).function
    for options in ({"integrator": "verlet"}, {"cone": "round"}, {"constraints": "admm"}):
        with pytest.raises(UnknownNameError):
            cardan.solvers.MuJoCo(arm(J.Revolute()), 0.01, **options)
    for dt in (0.0, -1.0, np.nan):
        with pytest.raises(ParameterError):
            cardan.solvers.MuJoCo(arm(J.Revolute()), dt)


def test_its_table_names_the_joints_it_refuses():
    """Failed before: it said yes to every joint."""
    table = cardan.solvers.MuJoCo.supports
    named = table["joint it lacks"] + "Distance"
    for joint in J.CATALOGUE:
        if joint.primaries:
            continue  # of a joint that is there
        try:
            cardan.solvers.MuJoCo(arm(joint), 1e-3)
        except UnsupportedError:
            assert type(joint).__name__ in named
        else:
            assert type(joint).__name__ not in named


def test_a_sphere_rolls_with_its_friction():
    b = cardan.WorldBuilder()
    b.add_ground(material=Material(rolling=0.01))
    b.add_body("ball")
    b.add_shape("ball", Sphere(0.1), material=Material(rolling=0.01))
    world = b.finalize()
    solver = cardan.solvers.MuJoCo(world, 0.002)
    new = solver.step(world.state(q=[0, 0, 0.1, 0, 0, 0, 1], v=[0.5, 0, 0, 0, 5.0, 0]), steps=1500)
    assert np.abs(new.v).max() < 0.02


def test_what_is_only_seen_does_not_matter():
    """A mesh that is drawn, whose file MuJoCo cannot find, and a shape that touches nothing."""
    m = cardan.Mechanism("ball")
    m.add_body("ball", cardan.Inertia(mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3)))
    m.add_shape(Shape("ball", "visual", Mesh("nowhere.obj")))
    m.add_shape(Shape("ball", "collision", Sphere(0.1)))
    world = m.world(base="floating", ground=True)
    solver = cardan.solvers.MuJoCo(world, 1e-3)
    assert solver.model.ngeom == 2  # the ball and the ground
    state = world.state(q=[0, 0, 1.0, 0, 0, 0, 1])
    np.testing.assert_allclose(solver.step(state, steps=100).v[0, 2], -0.981, rtol=1e-6)
    with pytest.raises(ParameterError, match=r"nowhere\.obj"):
        cardan.interop.to_mjspec(world)
    assert len(cardan.interop.to_mjspec(world, shapes="touching").geoms) == 2
