"""Properties of contacts given for each world."""

import dataclasses
import pickle

import numpy as np
import pytest

import cardan
from cardan._motion.simulation.solvers import Featherstone, Variational
from cardan.description import Box, Shape, Sphere
from cardan.errors import CardanError
from cardan.joints import Revolute

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


# --- surfaces of pairs ------------------------------------------------------------------------------------------------


def boxes(count=2):
    """Boxes side by side on a slope, which grips."""
    b = cardan.WorldBuilder(gravity=9.81 * np.array([np.sin(SLOPE), 0.0, -np.cos(SLOPE)]))
    for k in range(count):
        b.add_body(f"box{k}", pose=cardan.SE3(translation=[0, k, 0.05]))
        b.add_shape(f"box{k}", Box((0.1, 0.1, 0.1)), material=cardan.Material(friction=1.0))
    b.add_ground(cardan.Material(friction=1.0))
    return b


def test_a_pair_has_a_surface_of_its_own():
    b = boxes()
    b.set_contact("box1", "world", cardan.Material(friction=0.1))
    world = b.finalize()
    after = Featherstone(world, 2e-3).step(world.state(), steps=250)
    speeds = cardan.eval_fk(world.model, after.q, after.v).twists[0, :, 0]
    assert abs(speeds[0]) < 1e-4
    np.testing.assert_allclose(speeds[1], 9.81 * (np.sin(SLOPE) - 0.1 * np.cos(SLOPE)) * 0.5, rtol=2e-2)


def test_its_stiffness_and_margin_are_those_of_the_pair():
    b = boxes()
    b.set_contact("world", "box1", cardan.Material(friction=1.0, stiffness=2e3, dissipation=0.5), margin=0.01)
    b.disable_contact("box1", "world")
    world = b.finalize()
    rigid, soft = world.with_contacts("*ground").pairs
    assert (soft.material.stiffness, soft.material.dissipation, soft.margin) == (2e3, 0.5, 0.01)
    assert rigid.material.stiffness != 2e3
    q = Featherstone(world, 2e-3).step(world.state(), steps=1000).q.reshape(2, 7)
    # Four points bear the weight m g cos of 1 kg: k d = m g cos / 4.
    depth = 9.81 * np.cos(SLOPE) / 4 / 2e3
    np.testing.assert_allclose(0.05 + 0.01 - q[1, 2], depth, rtol=5e-2)


def two_fingers():
    """Two bodies on hinges, each with a ball; they never touch by their masks."""
    m = cardan.Mechanism("fingers")
    for k, name in enumerate(("thumb", "index")):
        m.add_body(name, Sphere(0.1).inertia(1000.0))
        m.add_joint(f"joint_{name}", Revolute((0, 1, 0)), "world", name, cardan.SE3(translation=(k, 0, 0)))
        m.add_shape(Shape(name, "collision", Sphere(0.1), name=f"{name}_tip", group=0, mask=0))
    return m


def test_of_several_the_last_counts_and_shapes_touch_that_nothing_else_lets():
    m = two_fingers()
    assert not len(m.world().pairs)
    m.set_contact("thumb", "index", cardan.Material(friction=0.3))
    last = m.set_contact("index", "thumb", cardan.Material(friction=0.4), ("index_tip", "thumb_tip"))
    assert m.contact_surfaces[1] is last
    (pair,) = m.world().pairs
    assert (pair.material.friction, pair.margin) == (0.4, 0.0)
    assert not len(m.world().with_contacts([]).pairs)
    assert m.model().contact_surfaces == m.contact_surfaces


def test_surfaces_of_pairs_go_where_their_bodies_go():
    m = two_fingers()
    m.set_contact("thumb", "index", cardan.Material(friction=0.3), margin=0.01)
    twin = cardan.from_json(cardan.to_json(m))
    assert twin == m
    assert twin.contact_surfaces == m.contact_surfaces
    assert pickle.loads(pickle.dumps(m)).contact_surfaces == m.contact_surfaces
    assert cardan.from_json(cardan.to_json(m.model())).contact_surfaces == m.contact_surfaces
    left, _ = m.prefixed("left/")
    (own,) = left.contact_surfaces
    assert (own.a, own.b, own.margin) == ("left/thumb", "left/index", 0.01)
    both = two_fingers().append(left)[0]
    assert both.contact_surfaces == left.contact_surfaces


def test_wrong_surfaces_of_pairs_are_refused():
    m = two_fingers()
    with pytest.raises(CardanError, match="'ring'"):
        m.set_contact("thumb", "ring", cardan.Material())
    with pytest.raises(CardanError, match="two bodies"):
        m.set_contact("thumb", "thumb", cardan.Material())
    with pytest.raises(CardanError, match="'nail'"):
        m.set_contact("thumb", "index", cardan.Material(), ("nail", ""))
    with pytest.raises(CardanError, match=r"a cardan\.Material"):
        m.set_contact("thumb", "index", 0.5)
    with pytest.raises(CardanError, match="margin"):
        m.set_contact("thumb", "index", cardan.Material(), margin=-1.0)
    assert not m.contact_surfaces


def test_tables_say_that_they_have_none():
    b = boxes()
    b.set_contact("box1", "world", cardan.Material(friction=0.1))
    with pytest.raises(CardanError, match="the surface of its own of contact between 'box1' and 'world'"):
        Featherstone(b.finalize(), 2e-3, tables=True)


def test_mujoco_gets_surfaces_of_pairs():
    mujoco = pytest.importorskip("mujoco")
    m = two_fingers()
    m.set_contact("thumb", "index", cardan.Material(friction=0.3, torsional=0.01), margin=0.02)
    there = cardan.interop.to_mjspec(m).compile()
    assert isinstance(there, mujoco.MjModel)
    assert (there.npair, there.pair_dim.tolist(), there.pair_margin.tolist()) == (1, [4], [0.02])
    np.testing.assert_allclose(there.pair_friction[0, :2], 0.3)
