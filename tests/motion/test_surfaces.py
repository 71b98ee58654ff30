"""Properties of contacts given for each world."""

import dataclasses
import pickle

import numpy as np
import pytest

import cardan
from cardan._motion.simulation.solvers import Featherstone, Variational
from cardan.description import Box
from cardan.errors import CardanError

SLOPE = np.arctan(0.3)


def box_world():
    b = cardan.WorldBuilder(gravity=9.81 * np.array([np.sin(SLOPE), 0.0, -np.cos(SLOPE)]))
    b.add_body("box", pose=cardan.SE3(translation=[0, 0, 0.05]))
    b.add_shape("box", Box((0.1, 0.1, 0.1)), material=cardan.Material(friction=0.5))
    b.add_ground(cardan.Material(friction=0.5))
    return b.finalize()


def test_each_world_has_its_own_friction_and_nothing_is_compiled_anew():
    world = box_world().with_inputs("contact_friction", "gravity")
    solver = Featherstone(world, 2e-3)
    state = world.state(3)
    assert state.constants["contact_friction"].shape == (3, 1)
    np.testing.assert_allclose(state.constants["contact_friction"], 0.5)
    state.constants["contact_friction"] = [[0.0], [0.1], [0.5]]
    after = solver.step(state, steps=250)
    slide = 9.81 * (np.sin(SLOPE) - np.array([0.0, 0.1]) * np.cos(SLOPE)) * 0.5  # m/s after half a second
    speeds = cardan.eval_fk(world.model, after.q, after.v, gravity=state.constants["gravity"]).twists[:, 0, 0]
    np.testing.assert_allclose(speeds[:2], slide, rtol=2e-2)
    assert abs(speeds[2]) < 1e-4


@pytest.mark.full
def test_a_world_of_the_same_numbers_moves_the_same():
    world = box_world()
    plain = Featherstone(world, 2e-3).step(world.state(), steps=100)
    varied = world.with_inputs("contact_friction", "contact_restitution", "contact_stiffness", "contact_dissipation")
    given = Featherstone(varied, 2e-3).step(varied.state(), steps=100)
    np.testing.assert_allclose(given.q, plain.q, atol=1e-9)
    np.testing.assert_allclose(given.v, plain.v, atol=1e-7)


def test_a_state_of_a_world_with_other_surfaces_is_refused():
    """Failed before: it was stepped with the surfaces of the solver's world."""
    rough = box_world()
    smooth = dataclasses.replace(rough, pairs=tuple(replaced(pair, friction=0.1) for pair in rough.pairs))
    solver, twin = Featherstone(rough, 1e-3), pickle.loads(pickle.dumps(rough))
    assert solver.step(twin.state()) == solver.step(rough.state())
    with pytest.raises(CardanError, match="a state made by this solver's world"):
        solver.step(smooth.state())


def replaced(pair, **surface):
    return dataclasses.replace(pair, material=dataclasses.replace(pair.material, **surface))


def test_they_are_copied_saved_and_pickled_with_the_state(tmp_path):
    world = box_world().with_inputs("contact_friction")
    state = world.state(2, contact_friction=[[0.2], [0.3]])
    state.save(tmp_path / "state.npz")
    for twin in (state.copy(), pickle.loads(pickle.dumps(state)), cardan.State.load(world, tmp_path / "state.npz")):
        assert twin == state
        assert twin.constants["contact_friction"].tolist() == [[0.2], [0.3]]
        Featherstone(world, 1e-3).step(twin)


def test_what_cannot_be_is_refused():
    world = box_world()
    with pytest.raises(CardanError, match="each of them once"):
        world.with_inputs("contact_friction", "contact_friction")
    with pytest.raises(CardanError, match="contact_frictoin"):
        world.with_inputs("contact_frictoin")
    varied = world.with_inputs("contact_friction")
    with pytest.raises(CardanError, match="a state made by this solver's world"):
        Featherstone(varied, 1e-3).step(world.state())
    Variational(varied, 1e-3, contacts=False).step(varied.state())
    Featherstone(varied, 1e-3, contact=None).step(varied.state())
    assert varied.state(2).poses.shape == (2, 1, 7)
