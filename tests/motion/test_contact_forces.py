"""Forces at contacts: what they do to momentum, who bears what, and who does not tell."""

import pickle

import numpy as np
import pytest

import cardan
from cardan import WorldBuilder, solvers
from cardan._dynamics.algorithms import stepping
from cardan._robot.model import Material
from cardan.description import Box, HeightField, Sphere
from cardan.errors import ParameterError, UnknownNameError, UnsupportedError
from contact_worlds import ball_world, box_world, stack_world

LAWS = ("convex", "coulomb", "compliant")


def made(law, world, dt):
    """Return a solver: one of the package's, or `Featherstone` with a law of contact."""
    if law in LAWS:
        return solvers.Featherstone(world, dt, contact=law)
    if law == "MuJoCo":
        pytest.importorskip("mujoco")
    return getattr(solvers, law)(world, dt)


slow = [pytest.param(name, marks=pytest.mark.full) for name in ("coulomb", "Variational", "SemiImplicit")]
every = pytest.mark.parametrize("law", ["convex", "compliant", "XPBD", *slow, "MuJoCo"])
"""Every solver, and every law of contact of the default one."""


def momentum(world, state):
    """Return the momentum [N s] and that about the centre of mass [N m s], in world axes."""
    return cardan.centroidal_momentum(world.model, state.q, state.v)


def unbalanced(world, state, after, found, dt):
    """Return what changed a single body's momentum in a step beside its weight and the forces found [N], [N m]."""
    rate = (momentum(world, after) - momentum(world, state)) / dt
    arms = found.point - state.poses[:, :1, :3]
    moment = (np.cross(arms, found.force) + found.torque).sum(axis=1)
    weight = world.model.mass * np.array(tuple(world.model.gravity))
    return rate[:, :3] - weight - found.force.sum(axis=1), rate[:, 3:] - moment


@pytest.mark.slow
@every
def test_what_rests_is_borne_and_what_slides_is_held_by_its_friction(law):
    world, dt = box_world(Material(friction=0.4)), 1e-3
    solver = made(law, world, dt)
    state = solver.step(world.state(2, v=[[0.0] * 6, [1.0, 0.2, 0.0, 0.0, 0.0, 0.0]]), steps=120)
    rests = solver.step(state, steps=880)
    found, sliding = solver.contact_forces(rests), solver.contact_forces(state)
    assert (found.force.shape, found.pair.shape) == ((2, len(found.pair), 3), (len(found.point[0]),))
    weight = [0.0, 0.0, 9.81]
    np.testing.assert_allclose(found.force.sum(axis=1), [weight, weight], atol=1e-6 if law != "compliant" else 2e-2)
    drag, N = sliding.force[1].sum(axis=0)[:2], sliding.force[1, :, 2].sum()
    coarse = 1e-4 if law != "compliant" else 4e-3  # that one's friction is smoothed
    np.testing.assert_allclose(np.hypot(*drag) / N, 0.4, atol=coarse)
    if law != "MuJoCo":  # whose four soft corners do not pull straight against the slip of their body
        slip = np.array([1.0, 0.2]) / np.hypot(1.0, 0.2)
        np.testing.assert_allclose(drag / N, -0.4 * slip, atol=10.0 * coarse)


@pytest.mark.slow
@every
def test_they_change_the_momentum_with_the_weight(law):
    """A box that tumbles onto the ground: p' - p = dt (m g + sum f), exactly, in every step."""
    world, dt = box_world(Material(friction=0.5)), 1e-3
    solver, state = made(law, world, dt), world.state()
    state.q = [[0.0, 0.0, 0.14, 0.2, 0.3, 0.1, np.sqrt(0.86)]]
    state.v = [[1.0, 0.2, -1.0, 1.0, 2.0, 3.0]]
    peak, most = 0.0, np.zeros(2)
    for _ in range(100):
        found, after = solver.contact_forces(state), solver.step(state)
        missing = unbalanced(world, state, after, found, dt)
        most = np.maximum(most, [np.abs(e).max() for e in missing])
        peak, state = max(peak, np.abs(found.force).max()), after
    assert peak > 50.0
    assert most[0] < 1e-10 * peak
    # In maximal coordinates the angular momentum is as exact; in joint ones it is turned in a step of first order.
    assert most[1] < (1e-10 if law in ("XPBD", "Variational", "SemiImplicit") else dt) * peak


@pytest.mark.slow
@every
def test_two_bodies_do_the_same_to_each_other(law):
    """A ball hits another in empty space: the first one's momentum changes by the force, the other's by its reverse."""
    b = WorldBuilder(gravity=(0.0, 0.0, 0.0))
    for k, mass in enumerate((1.0, 3.0)):
        b.add_body(f"ball{k}", pose=cardan.SE3(translation=[0.21 * k, 0.04 * k, 0.0]))
        b.add_shape(f"ball{k}", Sphere(0.1), density=mass * 0.75 / (np.pi * 1e-3))
    world, dt = b.finalize(), 1e-3
    solver, state = made(law, world, dt), world.state()
    state.v = [[2.0, 0.0, 0.0, 0.0, 0.0, 20.0, *np.zeros(6)]]
    (pair,) = world.pairs
    total = np.zeros(3)
    for _ in range(40):
        found = solver.contact_forces(state).force.sum(axis=1)[0]
        felt, after = solver.body_contact_forces(state)[0], solver.step(state)
        speeds = [_speeds(s) for s in (state, after)]
        gained = (speeds[1] - speeds[0]) * np.array([[1.0], [3.0]]) / dt
        np.testing.assert_allclose(gained, felt[:, :3], atol=1e-9 + 1e-9 * np.abs(felt).max())
        np.testing.assert_allclose(felt[0, :3], found if pair.a == "ball0" else -found, atol=1e-12)
        np.testing.assert_allclose(felt[0, :3], -felt[1, :3], atol=1e-12)
        total, state = total + dt * found, after
    assert np.abs(total).max() > 1.0


def _speeds(state):
    """Return the velocities of both balls in world axes, (2, 3)."""
    R = cardan.SE3.from_quaternion(state.poses[0, :, 3:], state.poses[0, :, :3]).matrix()[:, :3, :3]
    return (R @ state.v.reshape(2, 6)[:, :3, None])[..., 0]


@pytest.mark.full
@pytest.mark.parametrize("law", ["XPBD", "Variational", "SemiImplicit"])
def test_all_feet_together_change_a_robots_momentum(law):
    """What a falling quadruped gains is its weight and the ground's: joints make no momentum, but for their gaps.

    Bodies that are an angle off where coordinates put them have their momentum turned by it.
    """
    world, dt = cardan.robots.quadruped().world("floating", ground=True), 1e-3
    solver, state = made(law, world, dt), world.state()
    state.v = 0.5 * np.random.default_rng(0).normal(size=(1, world.model.nv))
    state.v[0, :3] = 0.3, 0.0, -0.5
    weight, peak = world.model.mass * np.array(tuple(world.model.gravity)), 0.0
    for _ in range(60):
        found, after = solver.contact_forces(state).force.sum(axis=1), solver.step(state)
        rate = (momentum(world, after) - momentum(world, state))[:, :3] / dt
        peak = max(peak, np.abs(found).max())
        gaps = world.model.mass * np.abs(after.v).max() * after.residual[0]
        np.testing.assert_allclose(rate, weight + found, atol=1e-9 * max(peak, 1.0) + gaps)
        state = after
    assert peak > 50.0


@pytest.mark.slow
@pytest.mark.parametrize("dt", [1e-3, 4e-3])
def test_forces_on_a_robot_are_those_that_accelerate_it_where_a_step_begins(dt):
    """m times the acceleration of the centre of mass; the change of momentum itself where a joint is fast, or made so.

    Momentum is off by how limbs turn within the step: by up to 62 N of 3800 in this landing.
    """
    dog, _ = cardan.robots.quadruped().with_drives({"*": cardan.Drive(stiffness=60.0, damping=2.0)})
    world = dog.world("floating", ground=True)
    model, solver, crouched = world.model, solvers.Featherstone(world, dt), np.tile([0.0, 0.7, -1.4], 4)
    state, control, rng = world.state(), world.control(), np.random.default_rng(0)
    state.q[:, 2], state.q[:, 7:] = 0.34, crouched
    control.position[:, 6:] = crouched
    state.v[0] = [0.0, 0.0, -3.0, 1.0, 2.0, 0.5, *(3.0 * rng.normal(size=12))]
    weight, com = model.mass * np.array(tuple(model.gravity)), np.array(tuple(model.nodes[0].inertia.com))
    peak, kinds = 0.0, set()
    for _ in range(int(0.12 / dt)):
        after = solver.step(state, control)
        acting = weight + solver.contact_forces(state, control).force[0].sum(axis=0)
        squared = state.v[0, 6:] ** 2 + (after.v - state.v)[0, 6:] ** 2
        is_fast = (squared**2).sum() > (0.05 / dt) ** 4
        if is_fast:
            found = (momentum(world, after) - momentum(world, state))[:, :3] / dt
        else:  # v' along the axes of before, and the base's own turning, which is none of its acceleration
            a = (np.array([stepping.seen_from(model, state.q[0], after.q[0], after.v[0])]) - state.v) / dt
            a[:, :3] -= np.cross(state.v[:, 3:6], state.v[:, :3] + np.cross(state.v[:, 3:6], com))
            found = cardan.centroidal_momentum_rate(model, state.q, state.v, a)[:, :3]
        peak, state = max(peak, np.abs(acting).max()), after
        kinds.add(bool(is_fast))
        np.testing.assert_allclose(found[0], acting, atol=1e-9 * max(peak, 100.0))
    assert peak > 1000.0
    assert kinds == ({False} if dt == 1e-3 else {False, True})


@pytest.mark.parametrize("law", LAWS)
def test_a_ball_at_rest_is_borne(native_target, law):
    world = ball_world(Material(stiffness=1e4))
    solver = solvers.Featherstone(world, 1e-3, contact=law)
    state = solver.step(world.state(), steps=3000)
    found = solver.contact_forces(state)
    np.testing.assert_allclose(found.force.sum(axis=1), [[0.0, 0.0, 9.81 * world.model.mass]], atol=2e-3)
    contacts = world.collide(state)
    np.testing.assert_allclose(found.point, contacts.point, atol=1e-12)
    np.testing.assert_array_equal(found.pair, contacts.pair)


@pytest.mark.full
def test_each_of_a_stack_bears_what_is_above(native_target):
    world = stack_world((1.0, 2.0, 4.0))
    solver = solvers.Featherstone(world, 2e-3)
    state = solver.step(world.state(), steps=500)
    found = solver.contact_forces(state)
    borne = {}
    for k, pair in enumerate(world.pairs):
        sign = 1.0 if pair.a > pair.b or pair.b == "world" else -1.0  # upwards on the upper one
        borne[pair.a, pair.b] = sign * found.force[0, found.pair == k, 2].sum()
    loads = sorted(load for load in borne.values() if abs(load) > 0.1)
    np.testing.assert_allclose(loads, 9.81 * np.array([4.0, 6.0, 7.0]), rtol=2e-3)


def test_the_force_is_on_the_first_body_of_a_pair_whichever_it_is(native_target):
    """A shape on a body that is fixed to the world, and a ball on it: the first of their pair feels the force."""
    b = WorldBuilder("table")
    b.add_link("table")
    b.add_joint("stand", cardan.joints.Fixed(), "world", "table")
    b.add_shape("table", Box((1.0, 1.0, 0.2)))
    b.add_body("ball", pose=cardan.SE3(translation=[0.0, 0.0, 0.2]))
    b.add_shape("ball", Sphere(0.1), density=1000.0)
    b.add_articulation("table", ["stand"])
    world = b.finalize()
    solver = solvers.Featherstone(world, 1e-3)
    state = solver.step(world.state(), steps=500)
    (pair,) = world.pairs
    found = solver.contact_forces(state).force.sum(axis=1)[0, 2]
    assert found == pytest.approx(
        (1.0 if pair.a == "ball" else -1.0) * 9.81 * 1000.0 * 4.0 / 3.0 * np.pi * 1e-3, rel=1e-2
    )


@pytest.mark.full
def test_surfaces_and_controls_of_each_world_count(native_target):
    world = box_world(Material(friction=0.5)).with_inputs("contact_friction")
    solver = solvers.Featherstone(world, 1e-3)
    state = world.state(2, v=[[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]] * 2, contact_friction=[[0.1], [0.4]])
    state = solver.step(state, steps=60)
    total = solver.contact_forces(state).force.sum(axis=1)
    np.testing.assert_allclose(-total[:, 0] / total[:, 2], [0.1, 0.4], rtol=0.02)
    push = world.control(2)
    push.effort = np.array([[0.0, 0.0, -10.0, 0.0, 0.0, 0.0]] * 2)
    state = solver.step(state, push, steps=600)
    pushed = solver.contact_forces(state, push).force.sum(axis=1)
    np.testing.assert_allclose(pushed[:, 2], 9.81 + 10.0, rtol=1e-3)


def test_nothing_that_touches_and_nobody_who_tells():
    free = box_world(None, ground=False)
    assert solvers.Featherstone(free, 1e-3).contact_forces(free.state(3)).force.shape == (3, 0, 3)
    world = ball_world(None)

    class Silent(solvers.XPBD):
        contact_forces = solvers.Solver.contact_forces

    with pytest.raises(UnsupportedError, match="forces at contacts"):
        Silent(world, 1e-3).contact_forces(world.state())
    assert solvers.XPBD(world, 1e-3, contacts=False).contact_forces(world.state(2)).force.shape == (2, 0, 3)
    with pytest.raises(ParameterError):
        solvers.Featherstone(world, 1e-3).contact_forces(free.state())


# --- MuJoCo's --------------------------------------------------------------------------------------------------------


def test_mujoco_tells_what_bears_a_box():
    """In the convention of Featherstone's: on the box, against gravity, friction up the slope."""
    pytest.importorskip("mujoco")
    world = box_world(Material(friction=0.8), slope=0.3)
    total = {}
    for name in ("MuJoCo", "Featherstone"):
        solver = getattr(solvers, name)(world, 2e-3)
        state = solver.step(world.state(2), steps=500)
        found = solver.contact_forces(state)
        assert all(world.pairs[k].name == "box/ground" for k in found.pair)
        moment = np.cross(found.point - state.poses[:, :1, :3], found.force) + found.torque
        total[name] = np.concatenate([found.force.sum(axis=1), moment.sum(axis=1)], axis=1)
    weight = world.model.mass * np.array(tuple(world.model.gravity))
    np.testing.assert_allclose(total["MuJoCo"], [[*-weight, 0.0, 0.0, 0.0]] * 2, atol=2e-2)
    np.testing.assert_allclose(total["MuJoCo"], total["Featherstone"], atol=2e-2)


def test_mujoco_tells_who_pushes_whom():
    pytest.importorskip("mujoco")
    world = stack_world((1.0, 2.0))
    solver = solvers.MuJoCo(world, 2e-3)
    found = solver.contact_forces(solver.step(world.state(), steps=500))
    up = {p.name: found.force[0, found.pair == k, 2].sum() for k, p in enumerate(world.pairs)}
    signs = {p.name: 1.0 if p.b == "world" or p.a == "box1" else -1.0 for p in world.pairs}
    assert {k: signs[k] * e for k, e in up.items() if abs(e) > 1.0} == pytest.approx(
        {"box0/ground": 3.0 * 9.81, "box1/box0": 2.0 * 9.81}, rel=1e-2
    )


def test_mujoco_without_contact_or_limits():
    pytest.importorskip("mujoco")
    world = box_world(None)
    solver = solvers.MuJoCo(world, 1e-3, contact=None, limits=False)
    assert solver.contact_forces(world.state(3)).force.shape == (3, 0, 3)
    np.testing.assert_allclose(solver.step(world.state(), steps=10).v[0, 2], -9.81e-2, rtol=1e-6)
    again = pickle.loads(pickle.dumps(solver))
    assert (again.contact, again.limits) == (None, False)
    with pytest.raises(UnknownNameError, match=r"'convex'.*Featherstone"):
        solvers.MuJoCo(world, 1e-3, contact="convex")
    state = world.state(2)
    state.q[1, 0] = np.nan
    forces = solvers.MuJoCo(world, 1e-3).contact_forces(state).force
    assert np.isfinite(forces[0]).all()
    assert np.isnan(forces[1]).all()


def test_mujoco_loses_no_force_of_a_pair_with_many_contacts():
    """A board on a wavy field has more contacts than a pair has places: their sum is its weight all the same."""
    pytest.importorskip("mujoco")
    b = WorldBuilder()
    x, y = np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9))
    b.add_shape("world", HeightField(0.1 * np.round(np.cos(8 * x) * np.cos(8 * y)), (2.0, 2.0), 0.2), name="field")
    b.add_body("board", pose=cardan.SE3(translation=[0, 0, 0.13]))
    b.add_shape("board", Box((1.6, 1.6, 0.05)))
    world = b.finalize()
    solver = solvers.MuJoCo(world, 2e-3)
    found = solver.contact_forces(solver.step(world.state(), steps=1000))
    assert found.force.shape[1] == 8
    np.testing.assert_allclose(found.force[0].sum(axis=0) / world.model.mass, [0, 0, 9.81], atol=5e-2)
