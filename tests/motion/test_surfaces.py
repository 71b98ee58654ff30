"""Properties of contacts given for each world."""

import pickle
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cardan
from cardan._motion.simulation.solvers import Featherstone, MuJoCo, Variational
from cardan.description import Box, Capsule, Shape, Sphere
from cardan.errors import CardanError, ParameterError
from cardan.joints import Prismatic, Revolute

SLOPE = np.arctan(0.3)


def box_world(friction=0.5):
    b = cardan.WorldBuilder(gravity=9.81 * np.array([np.sin(SLOPE), 0.0, -np.cos(SLOPE)]))
    b.add_body("box", pose=cardan.SE3(translation=[0, 0, 0.05]))
    b.add_shape("box", Box((0.1, 0.1, 0.1)), material=cardan.Material(friction=friction))
    b.add_ground(cardan.Material(friction=friction))
    return b.finalize()


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_state_of_a_world_with_other_surfaces_is_refused():
    """Failed before: it was stepped with the surfaces of the solver's world."""
    rough, smooth = box_world(), box_world(friction=0.1)
    solver, twin = Featherstone(rough, 1e-3), pickle.loads(pickle.dumps(rough))
    assert solver.step(twin.state()) == solver.step(rough.state())
    with pytest.raises(CardanError, match="a state made by this solver's world"):
        solver.step(smooth.state())


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


@pytest.mark.slow
def test_what_contact_feels_is_not_taken_for_the_name_of_a_look():
    """A builder's shapes take it as `material`; the record of a shape has a name there, and lost the friction."""
    rubber = cardan.Material(friction=1.2)
    said = r"material of a shape of 'foot': got Material.*What contact feels is `surface`"
    with pytest.raises(ParameterError, match=said):
        Shape("foot", "collision", Sphere(0.1), material=rubber)
    assert Shape("foot", "collision", Sphere(0.1), material="rubber", surface=rubber).surface is rubber


@pytest.mark.slow
def test_a_pair_has_a_surface_of_its_own():
    b = boxes()
    b.set_contact("box1", "world", cardan.Material(friction=0.1))
    world = b.finalize()
    after = Featherstone(world, 2e-3).step(world.state(), steps=250)
    speeds = cardan.eval_fk(world.model, after.q, after.v).twists[0, :, 0]
    assert abs(speeds[0]) < 1e-4
    np.testing.assert_allclose(speeds[1], 9.81 * (np.sin(SLOPE) - 0.1 * np.cos(SLOPE)) * 0.5, rtol=2e-2)


@pytest.mark.slow
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


def test_a_surface_may_leave_friction_to_the_other():
    rough, smooth = cardan.Material(friction=0.7), cardan.Material(friction=None, torsional=0.01)
    assert (smooth.combined(rough).friction, rough.combined(smooth).friction) == (0.7, 0.7)
    assert smooth.combined(smooth).friction == 0.0
    assert cardan.Material(friction=0.0).combined(rough).friction == 0.0
    m = two_fingers()
    m.add_shape(Shape("thumb", "collision", Sphere(0.1), surface=smooth))
    m.add_shape(Shape("index", "collision", Sphere(0.1), surface=cardan.Material(friction=0.0)))
    twin = cardan.from_json(cardan.to_json(m))
    assert twin == m
    assert twin.shapes[2].surface == smooth
    with pytest.raises(ParameterError, match="friction of the contact of 'thumb' and 'index': got None"):
        m.set_contact("thumb", "index", smooth)


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


def test_of_what_is_fixed_to_one_another_there_is_no_contact_and_that_is_said():
    m = cardan.Mechanism("one")
    for name, parent in (("hand", "world"), ("nail", "hand")):
        m.add_body(name, Sphere(0.1).inertia(1000.0))
        m.add_joint(name, Revolute((0, 1, 0)) if name == "hand" else cardan.joints.Fixed(), parent, name)
        m.add_shape(Shape(name, "collision", Sphere(0.1)))
    m.set_contact("hand", "nail", cardan.Material())
    with pytest.warns(UserWarning, match="contact of 'hand' and 'nail' is left out"):
        assert not len(m.world().pairs)


@pytest.mark.full
def test_tables_have_them():
    b = boxes()
    b.set_contact("box1", "world", cardan.Material(friction=0.1), margin=0.004)
    b.set_contact("box0", "box1", cardan.Material(friction=0.3, stiffness=1e4))
    world = b.finalize()
    tables, program = Featherstone(world, 2e-3, tables=True), Featherstone(world, 2e-3, tables=False)
    state = tables.step(world.state(), steps=50)
    np.testing.assert_allclose(tables.step(state).v, program.step(state).v, atol=1e-6)
    np.testing.assert_allclose(tables.step(state, steps=200).q, program.step(state, steps=200).q, atol=1e-5)


def test_mujoco_gets_surfaces_of_pairs():
    mujoco = pytest.importorskip("mujoco")
    m = two_fingers()
    m.set_contact("thumb", "index", cardan.Material(friction=0.3, torsional=0.01), margin=0.02)
    there = cardan.interop.to_mjspec(m).compile()
    assert isinstance(there, mujoco.MjModel)
    assert (there.npair, there.pair_dim.tolist(), there.pair_margin.tolist()) == (1, [4], [0.02])
    np.testing.assert_allclose(there.pair_friction[0, :2], 0.3)


# --- surfaces that run ------------------------------------------------------------------------------------------------


def on_running(shape, twist, torsional=0.0, tilt=(0.0, 0.0, 0.0), at=(0.3, 0.1), restitution=0.0):
    m, b = cardan.Material(friction=0.5, torsional=torsional, restitution=restitution), cardan.WorldBuilder()
    R = cardan.SE3.from_rpy(tilt, (0, 0, 0))
    place = R @ cardan.SE3(translation=(0, 0, -0.05))
    b.add_shape("world", Box((20, 20, 0.1)), place, material=m, surface_velocity=twist, name="belt")
    b.add_body("thing", pose=R @ cardan.SE3(translation=(*at, 0.1)))
    b.add_shape("thing", shape, material=m)
    return b.finalize()


CUBE, BALL = Box((0.2, 0.2, 0.2)), Sphere(0.1)


@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.slow
def test_what_bounces_on_a_belt_is_held_up_and_driven(tables):
    """A belt gives energy. All was taken of what it did, so that a ball sank through it."""
    world = on_running(BALL, (20.0, 0, 0, 0, 0, 0), restitution=0.9)
    state = world.state(v=[0, 0, -3.0, 0, 0, 0])
    motion = Featherstone(world, 2e-3, tables=tables).rollout(state, steps=10)
    assert motion.q[:, 0, 2].min() > 0.09
    leaving = np.diff(motion.q[-2:, 0, :3], axis=0)[0] / 2e-3
    assert (leaving[[0, 2]] > 2.5).all()


@pytest.mark.full
@pytest.mark.parametrize(
    ("shape", "twist", "how"),
    [
        (CUBE, (1.0, 0.5, 0.3, 0, 0, 0), {}),
        (CUBE, (0, 0.5, 0, 0, 0, 0), {"tilt": (0.1, 0.2, 0.5)}),
        (CUBE, (0, 0, 0, 0.5, 0.3, 2.0), {}),
        (BALL, (0, 0, 0, 0, 0, 2.0), {"torsional": 0.05, "at": (0.0, 0.0)}),
        (BALL, (0.5, 0.3, 0.7, 0, 0, 0), {}),
    ],
)
def test_surfaces_run_as_those_of_mujoco(shape, twist, how):
    pytest.importorskip("mujoco")
    world = on_running(shape, twist, **how)
    state = world.state()
    own, tables = (Featherstone(world, 1e-3, tables=by).step(state, steps=300) for by in (False, True))
    there = MuJoCo(world, 1e-3).step(state, steps=300)
    np.testing.assert_allclose(own.v, there.v, atol=0.02)
    np.testing.assert_allclose(tables.v, own.v, atol=1e-3)
    if "torsional" not in how:
        smooth = Featherstone(world, 1e-3, contact="compliant").step(state, steps=300)
        np.testing.assert_allclose(smooth.v[:, :2], own.v[:, :2], atol=0.01)  # it rocks more


@pytest.mark.full
def test_what_lies_on_a_surface_goes_as_on_one_that_moves():
    """A plate that moves does what a surface does that runs over a plate at rest, while nothing comes to its end."""
    b, rubber = cardan.WorldBuilder(), cardan.Material(friction=0.5)
    b.add_link("plate", inertia=cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add_shape("plate", Box((20, 20, 0.1)), cardan.SE3(translation=(0, 0, -0.05)), density=0.0, material=rubber)
    b.add_joint("drum", Prismatic((1, 0, 0)), "world", "plate")
    b.add_articulation("conveyor", ["drum"])
    b.add_body("thing", pose=cardan.SE3(translation=(0.3, 0.1, 0.1)))
    b.add_shape("thing", CUBE, material=rubber)
    moving = b.finalize().with_kinematic("drum")
    control, state = moving.control(), moving.state()
    control.velocity[:, 0] = state.v[:, 0] = 0.8
    expected = Featherstone(moving, 1e-3).step(state, control, steps=300)
    world = on_running(CUBE, (0.8, 0, 0, 0, 0, 0)).with_inputs("contact_surface_velocity")
    given = world.state(worlds=3)
    given.constants["contact_surface_velocity"][:, 0] = [1.0, 0.0, -1.0]
    found = Featherstone(world, 1e-3).step(given, steps=300)
    np.testing.assert_allclose(found.v[0], expected.v[0, 1:], atol=1e-4)
    np.testing.assert_allclose(found.v[2] * [-1, 1, 1, 1, -1, 1], found.v[0], atol=1e-6)
    assert not np.any(np.abs(found.v[1]) > 1e-4)


def test_surfaces_that_run_are_written_or_refused_by_name(tmp_path):
    m = cardan.Mechanism("conveyor")
    m.add_body("base", cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_shape(Shape("base", "collision", CUBE, name="belt", surface_velocity=(1, 0, 0, 0, 0, 2)))
    for name in ("twice.json", *["twice.xml"] * (find_spec("mujoco") is not None)):
        cardan.save(m, tmp_path / name)
        (shape,) = cardan.load_mechanism(tmp_path / name).shapes
        assert shape.surface_velocity == (1, 0, 0, 0, 0, 2)
    with pytest.raises(CardanError, match="the surface velocity of shape 'belt'"):
        cardan.save(m, tmp_path / "twice.sdf")
    with pytest.raises(CardanError, match="a surface that runs"):
        cardan.solvers.XPBD(on_running(CUBE, (1, 0, 0, 0, 0, 0)), 1e-3)
    with pytest.raises(CardanError, match="'contact_surface_velocity': got 'none in this world'"):
        boxes().finalize().with_inputs("contact_surface_velocity")
    for wrong in (1, (1, 0, 0), "abcdef", (1, 0, 0, 0, 0, np.nan)):
        with pytest.raises(CardanError, match=r"surface velocity of a shape of 'base': got .* expected six finite"):
            Shape("base", "collision", CUBE, surface_velocity=wrong)


# --- friction of two coefficients -------------------------------------------------------------------------------------


def on_ground(
    mu, ratio, shape=None, at=(0.0, 0.0, 0.05), turn=(0.0, 0.0, 0.0), lies=(0.0, 0.0, 0.0), gravity=(0, 0, -9.81)
):
    """A body on a plane that is turned, as its gravity is."""
    G, b = Rotation.from_rotvec(lies), cardan.WorldBuilder(gravity=Rotation.from_rotvec(lies).apply(gravity))
    R = (G * Rotation.from_rotvec(turn)).as_matrix()
    b.add_body("body", pose=cardan.SE3(R.tolist(), G.apply(at)))
    b.add_shape("body", shape or Box((0.1, 0.1, 0.1)), density=1000.0)
    b.add_ground(pose=cardan.SE3(G.as_matrix().tolist(), (0, 0, 0)))
    b.set_contact("body", "world", cardan.Material(friction=mu, anisotropy=ratio))
    return b.finalize()


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "ratio"), [(0.1, 5.0), pytest.param(0.5, 0.2, marks=pytest.mark.full)])
def test_friction_of_two_coefficients_is_that_of_an_ellipse(mu, ratio):
    """It sticks along y and not along x, or the other way; what slides askew is slowed by what takes most power."""
    world, dt, steps = on_ground(mu, ratio).with_inputs("gravity"), 2e-3, 250
    lean = np.array([[0.3, 0.0], [0.0, 0.3], [0.2, 0.2]])
    down = -np.sqrt(1.0 - (lean**2).sum(axis=1, keepdims=True))
    state = Featherstone(world, dt).step(world.state(3, gravity=9.81 * np.hstack([lean, down])), steps=steps)
    two, v = mu * np.array([ratio, 1.0]), np.zeros((3, 2))
    for _ in range(100 * steps):  # Euler's method, of the law on paper
        size = np.linalg.norm(two * v, axis=1, keepdims=True) + 1e-9
        v = v + 0.01 * dt * 9.81 * (lean + down * two**2 * v / size)
    np.testing.assert_allclose(state.v[:, :2], v, rtol=5e-3, atol=5e-4)


@pytest.mark.full
@pytest.mark.parametrize("lies", [(0.0, 0.0, 0.0), (0.3, 0.2, 0.1), (1.2, 0.0, 0.0), (0.0, 1.4, 0.3), (-1.5, 0.2, 0.0)])
@pytest.mark.parametrize("kind", ["box", "capsule"])
def test_its_directions_are_those_of_mujoco(kind, lies):
    """MuJoCo's friction is softer: so far velocities differ, and a fifth as much as by a turn of the directions."""
    shape, turn = (Box((0.1, 0.1, 0.1)), (0, 0, 0)) if kind == "box" else (Capsule(0.05, 0.3), (1.2, 1.2, 1.2))
    world = on_ground(0.4, 0.25, shape, turn=turn, lies=lies, gravity=(1.5, 2.0, -9.0))
    ours, theirs = (kind(world, 2e-3).step(world.state(), steps=100).v[0, :3] for kind in (Featherstone, MuJoCo))
    np.testing.assert_allclose(ours, theirs, atol=0.015)


@pytest.mark.full
def test_it_has_derivatives_and_forces():
    world = on_ground(0.4, 0.25, gravity=(1.5, 2.0, -9.0))
    solver = Featherstone(world, 2e-3)
    state = solver.step(world.state(), steps=100)

    @cardan.function(returns=())
    def speed(model, q, v):
        after = solver.function(model, q, v, 0.0)["v"]
        return after[0] + 2.0 * after[1] + 3.0 * after[5]

    slope, h = cardan.gradient(speed, "v")(world.model, state.q, state.v)[0], 1e-5
    ends = [speed(world.model, state.q[0], state.v[0] + side * h * np.eye(6)) for side in (1.0, -1.0)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2.0 * h), atol=1e-6)
    fx, fy, fz = solver.contact_forces(state).force.sum(axis=1)[0]
    assert (fx / 0.1) ** 2 + (fy / 0.4) ** 2 == pytest.approx(fz**2, rel=1e-3)


def test_what_has_one_coefficient_refuses_two():
    world = on_ground(0.4, 0.25)
    with pytest.raises(CardanError, match="anisotropy of a surface"):
        Featherstone(world, 1e-3, contact="compliant")
    with pytest.raises(CardanError, match="or two coefficients"):
        cardan.solvers.XPBD(world, 1e-3)
    with pytest.raises(CardanError, match="friction of two coefficients; give surfaces one, or ask for tables=False"):
        assert Featherstone(world, 1e-3, tables=True).tables


@pytest.mark.full
def test_mjcf_has_two_coefficients_both_ways(tmp_path):
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body name="b"><freejoint/>
        <geom name="g" type="box" size=".1 .1 .1"/></body></worldbody>
        <contact><pair geom1="g" geom2="floor" friction="0.4 0.1"/></contact></mujoco>"""
    m = cardan.load_mechanism(text)
    cardan.save(m, tmp_path / "twice.xml")
    twice = cardan.load_mechanism(tmp_path / "twice.xml")
    for own in (m, twice):
        (surface,) = own.contact_surfaces
        assert (surface.material.friction, surface.material.anisotropy) == (0.4, 0.25)
