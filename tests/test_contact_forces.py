"""Forces at contacts: what they do to momentum, who bears what, and who does not tell."""

import numpy as np
import pytest

import cardan
from cardan import WorldBuilder, solvers
from cardan.description import Box, Sphere
from cardan.errors import ParameterError, UnsupportedError
from cardan.model import Material
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
