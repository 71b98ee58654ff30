"""Forces at contacts: what they do to momentum, who bears what, and who does not tell."""

import pickle

import numpy as np
import pytest

import cardan
from cardan import WorldBuilder, solvers
from cardan._robot.model import Material
from cardan.description import Box, HeightField, Sphere
from cardan.errors import ParameterError, UnknownNameError, UnsupportedError
from contact_worlds import ball_world, box_world, stack_world

LAWS = ("convex", "compliant", "hard")


def momentum(world, state):
    return cardan.centroidal_momentum(world.model, state.q, state.v)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_they_change_the_momentum_with_gravity(quick_target, law, slope):
    """A box that was thrown onto a slope: (p' - p) / dt = m g + sum f, to what the step is first order in."""
    world = box_world(Material(friction=0.5, stiffness=1e5), slope=slope)
    dt = 1e-3
    solver = solvers.Featherstone(world, dt, contact=law)
    state = world.state(2)
    state.q = state.q + np.array([[0, 0, -1e-4, 0, 0, 0, 0], [0, 0, 0.5, 0, 0, 0, 0]])
    state.v = np.array([[0.3, 0.1, -0.05, 0.0, 0.0, 0.0]] * 2)
    found, after = solver.contact_forces(state), solver.step(state)
    total = found.force.sum(axis=1)
    expected = (after.v[:, :3] - state.v[:, :3]) / dt - np.array(
        tuple(world.model.gravity)
    )  # of 1 kg that does not turn
    np.testing.assert_allclose(total[0], expected[0], rtol=0.05, atol=0.2)
    assert total[0, 2] > 5.0
    assert not found.force[1].any()  # half a metre above


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
    with pytest.raises(UnsupportedError, match="forces at contacts"):
        solvers.XPBD(world, 1e-3).contact_forces(world.state())
    with pytest.raises(ParameterError):
        solvers.Featherstone(world, 1e-3).contact_forces(free.state())


# --- MuJoCo's --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_mujoco_tells_what_bears_a_box(slope):
    """In the convention of Featherstone's: on the box, against gravity, friction up the slope."""
    pytest.importorskip("mujoco")
    world = box_world(Material(friction=0.8), slope=slope)
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
