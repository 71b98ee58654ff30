"""Contact in maximal coordinates against statics, Coulomb, restitution, conservation laws, differences."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cardan
from cardan import SE3, Drive, Inertia, Limits, Material, Mechanism, WorldBuilder
from cardan._compiler.kernels import record
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._motion.maximal_steps import Efforts
from cardan._motion.maximal_steps.bodies import System
from cardan._motion.maximal_steps.non_penetration import Touched
from cardan._motion.maximal_steps.rigid_step import fall_of, fallen
from cardan._motion.simulation.builder import drive_all
from cardan._motion.simulation.solvers import XPBD, Featherstone, SemiImplicit, Variational
from cardan.description import Box, Capsule, Plane, Shape, Sphere
from cardan.errors import UnsupportedError
from cardan.joints import FreeFlyer, Prismatic, Revolute
from contact_worlds import stack_world

G = 9.81
BALL = Sphere(0.05)
LYING = (0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))
SHAPES = {"box": (Box((0.1, 0.2, 0.1)), 0.05), "sphere": (Sphere(0.1), 0.1), "capsule": (Capsule(0.1, 0.3), 0.1)}
by_tables = [pytest.param(partial(make, tables=True), id=f"{make.__name__} by tables") for make in (XPBD, Variational)]
of_one_program = pytest.mark.parametrize("make", [XPBD, Variational])
rigid = pytest.mark.parametrize("make", [XPBD, Variational, *by_tables])
every = pytest.mark.parametrize("make", [XPBD, Variational, *by_tables, SemiImplicit])


def on_ground(shape, z, material=None, slope=0.0):
    b = WorldBuilder(gravity=G * np.array([np.sin(slope), 0.0, -np.cos(slope)]))
    b.add_body("body", pose=SE3(translation=[0, 0, z]))
    b.add_shape("body", shape, material=material)
    b.add_ground(material)
    return b.finalize()


def two_spheres(restitution):
    b = WorldBuilder(gravity=[0, 0, 0])
    for name, x, density in (("a", -0.15, 1000.0), ("b", 0.15, 3000.0)):
        b.add_body(name, pose=SE3(translation=[x, 0, 0]))
        b.add_shape(name, Sphere(0.1), density=density, material=Material(friction=0.5, restitution=restitution))
    return b.finalize()


# --- statics ---


@pytest.mark.full
@pytest.mark.parametrize("shape", SHAPES)
@rigid
def test_what_rests_does_not_sink_in_five_seconds(make, shape):
    geometry, height = SHAPES[shape]
    world = on_ground(geometry, height)
    q = world.initial.copy()
    q[3:7] = LYING if shape == "capsule" else q[3:7]
    after = make(world, 5e-3).step(world.state(q=q), steps=1000)
    assert np.abs(world.collide(after).gap).max() < 1e-7
    assert np.abs(after.q - q).max() < 5e-5
    assert np.abs(after.v).max() < 2e-5
    assert not after.diverged.any()


def test_the_impulses_of_what_rests_carry_its_weight():
    """Those of positions, in the multipliers of a step: a box's corners bear a quarter each."""
    h, world = 2e-3, on_ground(*SHAPES["box"])

    @cardan.function
    def impulses(model, q, v):
        system, moment, loads = System(model), Snapshot(model, q, v), Efforts([0.0] * 6, [0.0] * 6)
        start = system.placed(q, v)
        fall = fall_of(moment, 1.0, h)
        touched = Touched(system, start, moment, fallen(moment, loads, fall, h), fall, loads.W, h, world.pairs)
        return [list(g) for g in touched.pushed.impulses]

    found = impulses(world.model, world.initial, np.zeros(6))
    weight = h * G * world.model.mass
    np.testing.assert_allclose(np.sum(found, axis=0), [0.0, 0.0, weight], atol=1e-9 * weight)
    np.testing.assert_allclose(found[:, 2], 0.25 * weight, rtol=0.1)


def test_a_spring_rests_at_the_depth_of_its_load():
    world = on_ground(*SHAPES["sphere"])
    after = SemiImplicit(world, 5e-3).step(world.state(), steps=600)
    load, stiffness = G * world.model.mass, world.pairs[0].material.stiffness
    np.testing.assert_allclose(world.collide(after).gap, -load / stiffness, rtol=1e-6)
    assert np.abs(after.v).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1e-2, pytest.param(1e2, marks=pytest.mark.full)])
@rigid
def test_a_light_foot_bears_a_heavy_trunk_on_a_driven_leg(make, ratio):
    """Which passes over bodies alone would not carry: the foot would be pushed, and the trunk go on falling."""
    trunk, foot, stiffness = 10.0, 10.0 * ratio, 4e3 * max(1.0, ratio)
    m = Mechanism("hopper")
    for name, mass in (("trunk", trunk), ("foot", foot)):
        m.add_body(name, Inertia(mass, (0, 0, 0), 0.01 * mass * np.eye(3)))
    m.add_shape(Shape("foot", "collision", Box((0.2, 0.2, 0.1))))
    m.add_joint("free", FreeFlyer(), "world", "trunk")
    m.add_joint("leg", Prismatic((0, 0, -1)), "trunk", "foot", drive=Drive(stiffness, 400.0 * max(1.0, ratio)))
    world = m.world(ground=True)
    q = world.initial.copy()
    q[2], q[7] = 0.55, 0.5
    control = world.control()
    control.position = [[*np.zeros(6), 0.5]]
    after = make(world, 2e-3).step(world.state(q=q), control, steps=1000)
    np.testing.assert_allclose(after.q[0, 7], 0.5 - trunk * G / stiffness, atol=1e-4)
    np.testing.assert_allclose(world.collide(after).gap, 0.0, atol=3e-6)
    assert np.abs(after.v).max() < 5e-3


@pytest.mark.full
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@every
def test_a_quadruped_stands_on_its_drives(make, dtype):
    world = drive_all(cardan.robots.quadruped(), Drive(80.0, 2.0)).world(base="floating", ground=True)
    q = world.initial.copy()
    q[2], q[7:] = 0.383, np.tile([0.0, 0.6, -1.2], 4)
    control = world.control(dtype=dtype)
    control.position = cardan.limit_coordinates(world.model, q)
    after = make(world, 1e-3).step(world.state(q=q, dtype=dtype), control, steps=2000)
    assert not after.diverged.any()
    assert 0.36 < after.q[0, 2] < 0.383
    assert after.q[0, 6] > 0.999  # upright
    assert world.collide(after).gap.min() > (-2e-3 if make is SemiImplicit else -1e-6)
    assert after.residual[0] < 1e-2


@pytest.mark.full
@rigid
def test_a_stack_of_boxes_stands(make):
    b = WorldBuilder()
    for k in range(4):
        b.add_body(f"box{k}", pose=SE3(translation=[0.01 * (k % 2), 0, 0.05 + 0.1 * k]))
        b.add_shape(f"box{k}", Box((0.2, 0.2, 0.1)))
    b.add_ground()
    world = b.finalize()
    state = world.state()
    after = make(world, 2e-3).step(state, steps=1000)
    assert np.abs(after.poses[..., 2] - state.poses[..., 2]).max() < 5e-5
    assert np.abs(after.poses[..., :2] - state.poses[..., :2]).max() < 2e-3


# --- friction, restitution ---


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [pytest.param("float64", marks=pytest.mark.full), "float32"])
@of_one_program
def test_a_block_on_an_incline_sticks_below_its_friction_and_slides_by_the_rest(make, dtype):
    """One compiled step, a friction in each world."""
    slope, mu = np.arctan(0.4), np.array([0.5, 0.42, 0.38, 0.2, 0.0])
    world = on_ground(Box((0.1, 0.1, 0.1)), 0.05, slope=slope).with_inputs("contact_friction")
    state = world.state(len(mu), dtype=dtype, contact_friction=mu[:, None])
    after = make(world, 2e-3).step(state, steps=250)
    rate = G * np.maximum(np.sin(slope) - mu * np.cos(slope), 0.0)
    coarse = 1e-4 if dtype == "float64" else 2e-3
    np.testing.assert_allclose(after.v[:, 0], 0.5 * rate, atol=coarse)
    np.testing.assert_allclose(after.q[:, 0], 0.125 * rate, rtol=5e-3, atol=coarse)
    np.testing.assert_allclose(after.q[:, 2], 0.05, atol=1e-6)


def test_springs_creep_where_others_stick_and_slide_as_they_do():
    slope, mu = np.arctan(0.4), np.array([0.5, 0.2, 0.0])
    world = on_ground(Box((0.1, 0.1, 0.1)), 0.05, slope=slope).with_inputs("contact_friction")
    state = world.state(len(mu), contact_friction=mu[:, None])
    after = SemiImplicit(world, 5e-4).step(state, steps=1000)
    rate = G * np.maximum(np.sin(slope) - mu * np.cos(slope), 0.0)
    np.testing.assert_allclose(after.v[:, 0], 0.5 * rate, atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_velocities_of_a_robot_that_stands_on_springs_are_the_rates_of_its_coordinates(dt):
    dog, _ = cardan.robots.quadruped().with_drives({"*": cardan.Drive(stiffness=60.0, damping=2.0)})
    world = dog.world(base="floating", ground=True)
    solver = SemiImplicit(world, dt)
    before = solver.step(world.state(), steps=round(1.0 / dt))
    after = solver.step(before)
    rates = world.model.manifold.difference(before.q[0].tolist(), after.q[0].tolist())
    np.testing.assert_allclose(after.v[0], np.divide(rates, dt), atol=0.02)  # efforts acted after contacts: 1.4 rad/s


def on_slide(axis, gap, ground=None, **options):
    """A box on a slide above the ground."""
    b = cardan.WorldBuilder()
    b.add_link("x", inertia=cardan.Inertia(2.0, (0.0, 0.0, 0.0), 0.01 * np.eye(3)))
    place = cardan.SE3(translation=[0.0, 0.0, 0.05 + gap])
    b.add_joint("slide", cardan.joints.Prismatic(axis), "world", "x", parent_pose=place)
    b.add_shape("x", Box((0.1, 0.1, 0.1)))
    if ground is None:
        b.add_ground()
    else:
        b.add_shape("world", ground)
    return b.finalize(check_orphans=False, **options)


@pytest.mark.parametrize("make", [Featherstone, XPBD, Variational, SemiImplicit])
@pytest.mark.parametrize("gap", [1e-3, 1e-9, 0.0])
@pytest.mark.filterwarnings("ignore::cardan.errors.OverlapWarning")
def test_a_plane_does_not_brake_what_slides_along_it_on_joints_that_bear_it(make, gap):
    world = on_slide((1.0, 0.0, 0.0), gap)
    after = make(world, 1e-3).step(world.state(v=[[1.0]]), steps=100)  # the convex law took two thirds, others all
    assert after.v[0, 0] == pytest.approx(1.0, abs=1e-12)


def test_what_slides_askew_touches_a_plane_as_before():
    assert len(on_slide((1.0, 0.0, 1e-3), 1e-3).pairs) == 1
    with pytest.warns(cardan.errors.OverlapWarning, match="x/world"):
        assert not on_slide((1.0, 0.0, 0.0), 0.0, Plane()).pairs


def test_a_slide_that_an_input_tilts_touches_a_plane():
    world = on_slide((1.0, 0.0, 0.0), 0.25)
    assert not world.pairs
    assert not world.with_inputs("mass", "damping").pairs
    tilted = world.with_inputs(place=("slide", "parent_pose"))
    place = SE3(Rotation.from_rotvec((0.0, 0.5, 0.0)).as_matrix(), (0.0, 0.0, 0.3))
    after = Featherstone(tilted, 1e-3).step(tilted.state(place=place.matrix()[None]), steps=2000)
    assert 0.3 - np.sin(0.5) * after.q[0, 0] > 0.06  # the box slid through the ground, to -5 m


def test_a_slide_whose_base_is_movable_touches_a_plane():
    b = cardan.WorldBuilder()
    b.add_link("x", inertia=cardan.Inertia(2.0, (0.0, 0.0, 0.0), 0.01 * np.eye(3)))
    b.add_joint("slide", Prismatic((1.0, 0.0, 0.0)), "world", "x", cardan.SE3(translation=[0.0, 0.0, 0.3]))
    b.add_shape("x", Box((0.1, 0.1, 0.1)))
    b.add_articulation("drawer", ["slide"])
    b.add_shape("world", Plane(), SE3(Rotation.from_rotvec((0.0, 0.5 * np.pi, 0.0)).as_matrix(), (-1.0, 0.0, 0.0)))
    b.add_ground()
    assert len(b.finalize().pairs) == 1 < len(b.finalize(movable_bases=True).pairs)


def test_a_plane_that_joints_lift_touches_a_slide_of_the_same_robot():
    b = cardan.WorldBuilder(gravity=(0.0, 0.0, 0.0))
    for name in ("base", "table", "box"):
        b.add_link(name, inertia=cardan.Inertia(2.0, (0.0, 0.0, 0.0), 0.01 * np.eye(3)))
    x, z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    b.add_joint("base", cardan.joints.Prismatic(x), "world", "base")
    b.add_joint("lift", cardan.joints.Prismatic(z), "base", "table")
    b.add_joint("slide", cardan.joints.Prismatic(x), "base", "box", cardan.SE3(translation=[0.0, 0.0, 0.06]))
    b.add_shape("box", Box((0.1, 0.1, 0.1)))
    b.add_shape("table", Plane(), density=0.0)
    assert len(b.finalize(check_orphans=False).pairs) == 1


def test_a_rail_that_falls_between_two_level_parts_touches_a_plane():
    b = cardan.WorldBuilder()
    b.add_link("x", inertia=cardan.Inertia(2.0, (0.0, 0.0, 0.0), 0.01 * np.eye(3)))
    heights = (0.0, 0.0, 0.0, -0.2, -0.4, -0.4, -0.4)
    frames = [cardan.SE3(translation=(0.25 * k, 0.0, z)) for k, z in enumerate(heights)]
    rail = cardan.joints.Spline(frames, (0.0, 1.5))
    b.add_joint("rail", rail, "world", "x", cardan.SE3(translation=[0.0, 0.0, 0.2]))
    b.add_shape("x", Box((0.1, 0.1, 0.1)))
    b.add_ground()
    assert len(b.finalize(check_orphans=False).pairs) == 1  # random configurations were beyond the rail's ends


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
def test_springs_bear_what_a_slide_moves_along_the_normal_alone_or_not_at_all(axis):
    world = on_slide(axis, 0.01, Box((10.0, 1.0, 1e-9)))
    after = SemiImplicit(world, 1e-3).step(world.state(v=[[1.0]]), steps=1000)  # ended with a ZeroDivisionError
    assert after.q[0, 0] == pytest.approx(1.0 if axis[0] else -0.01, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("make", [XPBD, Variational, SemiImplicit])
def test_a_ball_bounces_to_the_square_of_its_restitution(make):
    e = np.array([0.0, 0.5, 0.8, 0.9])
    world = on_ground(Sphere(0.1), 0.6, Material(restitution=0.0)).with_inputs("contact_restitution")
    found = make(world, 1e-3).rollout(world.state(4, contact_restitution=e[:, None]), steps=800)
    heights = [z[np.argmax(z < 1e-3) :].max() for z in found.q[:, :, 2].T - 0.1]  # after it first touches
    np.testing.assert_allclose(np.divide(heights, 0.5), e**2, rtol=0.15 if make is SemiImplicit else 0.03, atol=6e-3)


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [pytest.param(0.0, marks=pytest.mark.full), 0.5])
@every
def test_two_spheres_that_meet_askew_and_spin_keep_all_their_momentum(make, restitution):
    world = two_spheres(restitution)
    v = np.zeros(12)
    v[:3], v[4] = (1.0, 0.3, 0.0), 2.0
    state = world.state(v=v)
    after = make(world, 1e-3).step(state, steps=300)
    before, kept = (cardan.centroidal_momentum(world.model, s.q, s.v) for s in (state, after))
    np.testing.assert_allclose(kept, before, atol=1e-11)
    assert np.abs(after.v[0, 6:9]).max() > 0.1  # they did meet


def thrown_heap(seed=1):
    """Return a world of 18 boxes and balls of 100 and 5000 kg/m^3 that bounce and rub, and a state thrown askew."""
    rng, count, material = np.random.default_rng(seed), 18, Material(friction=0.8, restitution=0.9)
    b = WorldBuilder()
    b.add_ground(material)
    for k in range(count):
        place = 0.24 * np.array([k % 3, k // 3 % 3, k // 9]) + [0, 0, 0.15] + rng.uniform(-0.01, 0.01, 3)
        b.add_body(f"b{k}", pose=SE3.from_rpy(tuple(rng.uniform(-3, 3, 3)), tuple(place)))
        shape, density = (Box((0.18, 0.16, 0.17)), Sphere(0.09))[k % 2], float(rng.choice([100.0, 5000.0]))
        b.add_shape(f"b{k}", shape, material=material, density=density)
    world = b.finalize()
    return world, world.state(
        v=np.tile([0.9, 0.9, 0.9, 3, 3, 3], count) * np.random.default_rng(seed).normal(size=6 * count)
    )


@pytest.mark.slow
@pytest.mark.parametrize("dt", [1e-3, 4e-3])
@pytest.mark.parametrize("make", [XPBD, Variational])
def test_heavy_and_light_things_that_meet_with_friction_and_bounce_make_no_energy(make, dt):
    """Restitution by velocities alone made up to a quarter of all in one step."""
    world, start = thrown_heap()
    motion = make(world, dt).rollout(start, steps=int(0.4 / dt))
    model, q, v = world.model, motion.q[:, 0], motion.v[:, 0]
    energy = cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q)
    assert np.diff(energy).max() < 1e-4 * energy[0]
    assert energy[-1] < 0.9 * energy[0]


@pytest.mark.slow
@pytest.mark.parametrize("dt", [1e-3, 4e-3])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_heap_of_the_default_solver_makes_no_energy(dt, seed):
    """By the velocities of the middle of steps, along which weight works; it made up to 1.3 % in one."""
    world, start = thrown_heap(seed)
    motion = Featherstone(world, dt).rollout(start, steps=int(0.4 / dt))
    model, q, v = world.model, motion.q[:, 0], motion.v[:, 0]
    mass = np.array([node.inertia.mass for node in model.nodes])
    rising = [_linear(world, q[k], v[k])[:, 2] @ mass for k in range(len(q))]
    energy = cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q) - 0.5 * dt * G * np.array(rising)
    assert np.diff(energy).max() < 1e-6 * energy[0]
    assert energy[-1] < 0.9 * energy[0]


@pytest.mark.slow
@pytest.mark.parametrize("make", [Featherstone, XPBD])
def test_steps_by_tables_take_nothing_of_what_memory_held_before(make, monkeypatch):
    """What bounced was tied to what it did not push, by impulses of positions that only rigid contacts have."""
    world, start = thrown_heap(2)
    plain = record.aligned_zeros

    def filled(shape, dtype, make=np.zeros, byte=0):
        return plain(shape, dtype, make if make is np.zeros else lambda n, dtype: np.full(n, byte, dtype))

    motions = []
    for byte in (0, 63):  # doubles of 0 and of 5e-4
        monkeypatch.setattr(record, "aligned_zeros", partial(filled, byte=byte))
        motions.append(make(world, 4e-3, tables=True).rollout(start, steps=60).v)
    np.testing.assert_array_equal(*motions)


def falling_quadrupeds(restitution):
    b, count, rng = WorldBuilder(), 24, np.random.default_rng(0)
    b.add(cardan.robots.quadruped(), base="floating")
    b.add_ground(Material(friction=0.8, restitution=restitution))
    world = b.finalize()
    v, quaternion = rng.normal(size=(count, world.model.nv)), rng.normal(size=(count, 4))
    q = np.tile(world.initial, (count, 1))
    q[:, 2], q[:, 3:7] = 0.6, quaternion / np.linalg.norm(quaternion, axis=1)[:, None]
    v[:, :3] *= 0.5
    v[:, 6:] *= 2.0
    return world, world.state(worlds=count, q=q, v=v)


@pytest.mark.slow
@pytest.mark.parametrize("make", [XPBD, Variational])
def test_a_robot_that_falls_on_limbs_at_their_stops_makes_no_energy(make):
    """Whether a stop is touched was decided once, without what contacts do to it: 1 to 2 J came in a step."""
    world, start = falling_quadrupeds(0.0)
    motion = make(world, 1e-3).rollout(start, steps=800)
    energy = cardan.kinetic_energy(world.model, motion.q, motion.v) + cardan.potential_energy(world.model, motion.q)
    assert (np.diff(energy, axis=0) / energy[0]).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("dt", [2e-3, 1e-2])
def test_an_arm_between_its_stops_is_pulled_to_neither(dt):
    """A decision could take a joint from one stop to the other one, which pulled it there in a step, with 6 kJ."""
    m = cardan.Mechanism("arm")
    for k in range(3):
        m.add_body(f"l{k}", Box((0.4, 0.05, 0.05)).inertia_of_mass(1.0))
        place, limits = SE3(translation=(0.4 if k else 0.0, 0.0, 0.0)), Limits([-1.0], [1.0], effort=[20.0])
        parent = f"l{k - 1}" if k else "world"
        m.add_joint(f"j{k}", Revolute((0, 1, 0)), parent, f"l{k}", place, limits=limits, friction=[0.3], damping=[0.05])
    world, rng = m.world(), np.random.default_rng(0)
    q = rng.uniform(-1.0, 1.0, (16, 3))
    v = rng.normal(size=(16, 3)) * np.logspace(0.0, 1.5, 16)[:, None]
    motion = XPBD(world, dt).rollout(world.state(worlds=16, q=q, v=v), steps=150)
    energy = cardan.kinetic_energy(world.model, motion.q, motion.v) + cardan.potential_energy(world.model, motion.q)
    assert np.diff(energy, axis=0).max() < 0.02
    assert motion.residual.max() < 10.0  # what pulled was wrong by the way between both stops in a step


@pytest.mark.slow
@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.parametrize("restitution", [0.0, 0.9])
def test_a_robot_that_bounces_on_limbs_at_their_stops_makes_no_energy(restitution, tables):
    """A program took stops that were touched for open where it looked for the share: up to 27 J came in a step."""
    world, start = falling_quadrupeds(restitution)
    motion, model = Featherstone(world, 1e-3, tables=tables).rollout(start, steps=800), world.model
    rising = cardan.centroidal_momentum(model, motion.q, motion.v)[..., 2]
    energy = cardan.kinetic_energy(model, motion.q, motion.v) + cardan.potential_energy(model, motion.q)
    assert (np.diff(energy - 0.5e-3 * G * rising, axis=0) / energy[0]).max() < 0.01


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::cardan.errors.StartWarning")
def test_what_is_wedged_has_the_least_wrong_velocities_that_were_found():
    """The last of all iterations counted: 250 m/s were left where others had left 0.8."""
    b, rng, count, material = WorldBuilder(), np.random.default_rng(2), 32, Material(friction=1.0)
    for side in (1.0, -1.0):
        tilt = SE3(Rotation.from_euler("y", side * 60.0, degrees=True).as_matrix(), (0.0, 0.0, 0.0))
        b.add_shape("world", Plane(), tilt, name=f"plane {side}", material=material)
    b.add_body("body", pose=SE3(translation=(0, 0, 1.4)))
    b.add_shape("body", Box((0.2, 0.16, 0.12)), density=500.0, material=material)
    world = b.finalize()
    quaternions = Rotation.random(count, random_state=3).as_quat()
    q = np.concatenate([rng.uniform(-0.02, 0.02, (count, 2)), np.full((count, 1), 0.2), quaternions], axis=1)
    v = rng.normal(size=(count, 6)) * [1.0, 1.0, 3.0, 3.0, 3.0, 3.0]
    motion = XPBD(world, 2e-3).rollout(world.state(worlds=count, q=q, v=v), steps=600)
    assert motion.residual.max() < 1.0


@pytest.mark.parametrize("make", [XPBD, Variational])
@pytest.mark.slow
def test_a_wall_that_runs_pushes_a_ball_along_the_floor(make):
    """Iterations went to and fro: without an impulse, the wall ran through the ball."""
    material, b = Material(friction=0.5), WorldBuilder()
    b.add_ground(material)
    b.add_link("wall", inertia=Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add_shape("wall", Box((0.1, 0.5, 0.5)), material=material, density=0.0)
    b.add_joint("slide", cardan.joints.Prismatic([1, 0, 0]), "world", "wall", SE3(translation=(-0.2, 0, 0.3)))
    b.add_articulation("pusher", ["slide"])
    b.add_body("ball", pose=SE3(translation=(0, 0, 0.1)))
    b.add_shape("ball", Sphere(0.1), material=material, density=1000.0)
    world = b.finalize().with_kinematic("slide")
    control = world.control()
    control.velocity[:, 0] = 2.0
    motion = make(world, 2e-3).rollout(world.state(v=[2.0, *[0.0] * 6]), control, steps=200)
    np.testing.assert_allclose(motion.q[-1, 0, 1], motion.q[-1, 0, 0] - 0.2 + 0.15, atol=1e-3)


def squeezed_ball(*others, **how):
    """A light ball between two heavy ones that slip, and other balls of some densities, with a restitution and places.

    Returns the world, and velocities with which only the first three move.
    """
    heap = [(5000.0, 1.0, (0, 0, 0)), (100.0, 1.0, (0.07, 0, 0.185)), (5000.0, 1.0, (0, 0, 0.37))]
    b = WorldBuilder(**how)
    for k, (density, restitution, place) in enumerate([*heap, *others]):
        b.add_body(f"b{k}", pose=SE3(translation=place))
        surface = Material(friction=1.0, restitution=restitution)
        b.add_shape(f"b{k}", Sphere(0.1), material=surface, density=density)
    v = np.zeros((3 + len(others), 6))
    v[0], v[2] = (0, 0, 2.0, 0, 9.0, 0), (2.0, 0, -2.0, 0, -9.0, 0)
    return b.finalize(), v.ravel()


@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.parametrize("make", [XPBD, Variational])
@pytest.mark.slow
def test_forces_are_those_that_bodies_took_though_restitution_would_have_made_energy(make, tables):
    """A light ball between two heavy ones, that slip; forces less the weight are the change of momentum."""
    world, v = squeezed_ball()
    solver, state = make(world, 2e-3, tables=tables), world.state(v=v)
    energy = cardan.kinetic_energy(world.model, state.q, state.v) + cardan.potential_energy(world.model, state.q)
    for _ in range(30):
        forces, after = solver.contact_forces(state), solver.step(state)
        total = np.zeros((3, 3))
        for k, force in zip(forces.pair, forces.force[0], strict=True):
            pair = world.pairs[k]
            total[int(pair.a[1])] += force
            total[int(pair.b[1])] -= force
        mass = np.array([world.model.nodes[k].inertia.mass for k in range(3)])
        impulse = solver.dt * (total + mass[:, None] * [0.0, 0.0, -G])
        change = mass[:, None] * _linear(world, after.q[0], after.v[0]) - mass[:, None] * _linear(
            world, state.q[0], state.v[0]
        )
        np.testing.assert_allclose(change, impulse, atol=1e-9 * mass.max())
        now = cardan.kinetic_energy(world.model, after.q, after.v) + cardan.potential_energy(world.model, after.q)
        assert now <= energy * (1.0 + 1e-6)
        energy, state = now, after


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.parametrize("make", [XPBD, Variational])
@pytest.mark.slow
def test_who_meets_elsewhere_gives_back_all_and_pays_for_nothing(make, tables, dtype):
    """The squeezed ball would make energy. Balls 5 m away left at 0.79 m/s; what others lost it made."""
    meeting, lossy = ((1000.0, 1.0, (x, 0, 0)) for x in (5.0, 5.2)), ((5000.0, 0.0, (x, 0, 0)) for x in (9.0, 9.2))
    world, v = squeezed_ball(*meeting, *lossy, gravity=[0, 0, 0])
    v[18], v[30], v[36] = 1.0, 3.0, -3.0
    state = world.state(v=v, dtype=dtype)
    solver, size = make(world, 2e-3, tables=tables), np.finfo(dtype).eps ** 0.5
    mass = np.array([node.inertia.mass for node in world.model.nodes])
    heap = _kinetic_energies(world, state)[:3].sum()
    for _ in range(12):
        state = solver.step(state)
        now = _kinetic_energies(world, state)[:3].sum()
        assert now <= heap * (1.0 + size)
        heap = now
    np.testing.assert_allclose(_linear(world, state.q[0], state.v[0])[3:, 0], [0.0, 1.0, 0.0, 0.0], atol=size)
    np.testing.assert_allclose(
        mass @ _linear(world, state.q[0], state.v[0]), mass @ np.reshape(v, (-1, 6))[:, :3], rtol=size, atol=size
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.slow
def test_a_squeezed_ball_of_the_default_solver_makes_no_energy_and_no_other_feels_it(tables, dtype):
    """In a program it made 9 % in one step; two balls 5 m away meet as if alone, and forces are those that act."""
    world, v = squeezed_ball(*((1000.0, 1.0, (x, 0, 0)) for x in (5.0, 5.2)), gravity=[0, 0, 0])
    v[18] = 1.0
    state, mass = world.state(v=v, dtype=dtype), np.array([node.inertia.mass for node in world.model.nodes])
    solver, small = Featherstone(world, 2e-3, tables=tables), 1e-9 if dtype == "float64" else 1e-4
    for _ in range(12):
        forces, after = solver.contact_forces(state), solver.step(state)
        total = np.zeros((5, 3))
        for k, force in zip(forces.pair, forces.force[0], strict=True):
            total[int(world.pairs[k].a[1])] += force
            total[int(world.pairs[k].b[1])] -= force
        change = _linear(world, after.q[0], after.v[0]) - _linear(world, state.q[0], state.v[0])
        np.testing.assert_allclose(mass[:, None] * change, solver.dt * total, atol=small * mass.max())
        gained = _kinetic_energies(world, after) - _kinetic_energies(world, state)
        assert gained[:3].sum() <= small * _kinetic_energies(world, state).sum()
        state = after
    yields = 1e-3 if dtype == "float64" else 1e-2  # what meets rigidly, by the floors of `cone`
    np.testing.assert_allclose(_linear(world, state.q[0], state.v[0])[3:, 0], [0.0, 1.0], atol=yields)


def _kinetic_energies(world, state):
    """Return those of bodies [J], which are free ones."""
    own = zip((node.inertia for node in world.model.nodes), state.v[0].astype(float).reshape(-1, 6), strict=True)
    return np.array([0.5 * v @ np.asarray(inertia.matrix()) @ v for inertia, v in own])


def _linear(world, q, v):
    """Return the velocity of each body's origin, in the world's axes."""
    poses, twists = cardan.eval_fk(world.model, q, v)
    return np.array([Rotation.from_quat(X[3:]).apply(V[:3]) for X, V in zip(poses, twists, strict=True)])


@pytest.mark.parametrize("dt", [2e-3, 1e-2])
@pytest.mark.parametrize(("friction", "restitution"), [(0.8, 1.0), (0.1, 1.0), (0.2, 0.5), (0.8, 0.0)])
@pytest.mark.slow
@rigid
def test_a_spinning_ball_leaves_a_wall_as_two_impulses_say(make, friction, restitution, dt):
    """Friction stops the slip or is mu times the push. Velocities turned with the ball: some led back into the wall."""
    rng, n, radius, u = np.random.default_rng(3), 64, 0.1, np.array([-0.1, 0.0, 0.0])
    b, material = WorldBuilder(gravity=[0, 0, 0]), Material(friction=friction, restitution=restitution)
    b.add_shape("world", Box((0.2, 9.0, 9.0)), SE3(translation=[-0.1, 0, 0]), material=material)
    b.add_body("ball", pose=SE3(translation=[1, 0, 0]))
    b.add_shape("ball", Sphere(radius), density=1000.0, material=material)
    state = (world := b.finalize()).state(worlds=n)
    v, w = np.column_stack([-rng.uniform(0.3, 5.0, n), 3.0 * rng.normal(size=(n, 2))]), 30.0 * rng.normal(size=(n, 3))
    turn = Rotation.random(n, random_state=rng)
    state.q[:, 0], state.q[:, 3:] = radius + 1e-3 - rng.random(n) * dt * v[:, 0], turn.as_quat()
    state.v[:] = np.hstack([turn.inv().apply(v), turn.inv().apply(w)])
    after = make(world, dt).step(state, steps=3)
    turn = Rotation.from_quat(np.array(after.q[:, 3:]))
    push, per_turn = -(1.0 + restitution) * v[:, :1] * [1.0, 0.0, 0.0], 0.4 * radius**2  # of 1 kg
    slip = (v + np.cross(w, u)) * [0.0, 1.0, 1.0]
    stop = slip / (1.0 + radius**2 / per_turn)
    most = friction * np.linalg.norm(push, axis=1) / np.linalg.norm(stop, axis=1)
    impulse = push - stop * np.minimum(most, 1.0)[:, None]
    np.testing.assert_allclose(turn.apply(after.v[:, :3]), v + impulse, atol=1e-5)
    np.testing.assert_allclose(turn.apply(after.v[:, 3:]), w + np.cross(u, impulse) / per_turn, atol=1e-5 / radius)


def test_spheres_leave_one_another_as_fast_as_their_restitution_says():
    world = two_spheres(0.5)
    after = XPBD(world, 1e-3).step(world.state(v=[1.0, *np.zeros(11)]), steps=200)
    np.testing.assert_allclose(after.v[0, 6] - after.v[0, 0], 0.5, rtol=1e-6)
    np.testing.assert_allclose(after.v[0, 6], 1.5 / 4.0, rtol=1e-6)


@rigid
@pytest.mark.slow
def test_what_was_put_inside_is_moved_out_and_not_thrown(make):
    world = on_ground(Sphere(0.1), 0.08)
    after = make(world, 1e-3).step(world.state(), steps=20)
    np.testing.assert_allclose(after.q[0, 2], 0.1, atol=1e-6)
    assert np.abs(after.v).max() < 1e-2


# --- joints, loops ---


@rigid
def test_a_pendulum_comes_to_rest_on_the_ground_and_swings_as_before_until_then(make):
    m = Mechanism("pendulum")
    m.add_body("rod", Inertia(1.0, (0.5, 0, 0), 0.05 * np.eye(3)))
    m.add_shape(Shape("rod", "collision", Sphere(0.05), SE3(translation=[1.0, 0, 0])))
    m.add_joint("hinge", Revolute((0, 1, 0)), "world", "rod", SE3(translation=[0, 0, 0.5]))
    world = m.world(ground=True)
    solver, alone = make(world, 1e-3), Featherstone(world, 1e-4, contact=None)
    free = alone.step(world.state(), steps=2000)
    np.testing.assert_allclose(solver.step(world.state(), steps=200).q, free.q, atol=1e-2)
    after = solver.step(world.state(), steps=1500)
    np.testing.assert_allclose(np.sin(after.q), 0.45, atol=1e-6)
    assert np.abs(after.v).max() < 1e-5


@pytest.mark.full
@of_one_program
def test_a_closed_loop_comes_to_rest_on_a_plane(make):
    """Its coupler's pin, a ball of 2 cm, on a plane 10 cm below the cranks' pins."""
    m = cardan.robots.four_bar()
    m.add_shape(Shape("coupler", "collision", Sphere(0.02)))
    m.add_shape(Shape("world", "collision", Plane(), SE3(translation=[0, 0, -0.1])))
    world = m.world()
    after = make(world, 1e-3).step(world.state(), steps=1500)
    np.testing.assert_allclose(after.poses[0, 1, 2], -0.08, atol=1e-7)
    np.testing.assert_allclose(cardan.loop_residual(world.model, after.q), 0.0, atol=1e-9)
    assert np.abs(after.v).max() < 2e-8  # 1e-9 m/s of the pin, at a lever of 10 cm


# --- every form of a call ---


@pytest.mark.slow
@rigid
def test_many_worlds_are_the_same_ones_and_steps_are_repeated_bit_for_bit(make):
    world = on_ground(Box((0.1, 0.2, 0.1)), 0.07)
    rng = np.random.default_rng(3)
    v = rng.normal(size=(5, 6))
    solver = make(world, 2e-3)
    together = solver.step(world.state(5, v=v), steps=40)
    for k in range(5):
        one = solver.step(world.state(v=v[k]), steps=40)
        np.testing.assert_allclose(one.q[0], together.q[k], atol=1e-12)
    state = world.state(v=v[0])
    np.testing.assert_array_equal(solver.step(state, steps=3).q, solver.step(solver.step(state, steps=2)).q)


@pytest.mark.slow
@pytest.mark.parametrize("make", [pytest.param(XPBD, marks=pytest.mark.full), Variational, SemiImplicit])
def test_a_step_is_differentiated_through_a_contact(make):
    slope = np.arctan(0.4)
    world = on_ground(Sphere(0.1), 0.0999, Material(friction=0.1), slope=slope)
    step = make(world, 1e-3).function
    q, v = world.initial, np.array([0.3, 0.1, -0.2, 0.0, 1.0, 0.5])

    @cardan.function(returns=())
    def speed(model, q, v):
        return sum(e * e for e in step(model, q, v, count=0.0)["v"])

    slopes = cardan.gradient(speed, "v")(world.model, q, v)
    h = 1e-6
    differences = [(speed(world.model, q, v + h * e) - speed(world.model, q, v - h * e)) / (2 * h) for e in np.eye(6)]
    np.testing.assert_allclose(slopes, differences, rtol=1e-4, atol=1e-6)


# --- refused ---


@pytest.mark.parametrize("make", [XPBD, Variational, SemiImplicit])
def test_rolling_friction_is_refused_by_name_unless_nothing_touches(make):
    world = on_ground(Sphere(0.1), 0.1, Material(rolling=1e-3))
    with pytest.raises(UnsupportedError, match=r"rolling friction.*\(body.*convex law"):
        make(world, 1e-3)
    make(world, 1e-3, contacts=False)


def neighbours(world, count):
    """A stack of which each touches the next alone."""
    joined = {f"box{k + 1}/box{k}" for k in range(count - 1)} | {"box0/ground"}
    return world.with_contacts([pair.name for pair in world.pairs if pair.name in joined])


@pytest.mark.full
@rigid
def test_a_thousand_on_one_stands_though_it_was_touched(make):
    """Both threw the lower one out, at every step."""
    world = neighbours(stack_world((1.0, 1000.0), size=0.1), 2)
    state = world.state(worlds=8)
    state.v = 0.01 * np.random.default_rng(0).normal(size=state.v.shape)
    after = make(world, 5e-3).step(state, steps=100)
    assert np.abs(after.q - state.q).max() < 1e-3
    assert np.abs(after.v).max() < 1e-2
    assert after.residual.max() < 1e-3


@pytest.mark.full
@rigid
@pytest.mark.parametrize("dt", [2e-3, 5e-3])
def test_ten_boxes_stand_for_five_seconds(make, dt):
    world = neighbours(stack_world((1.0,) * 10, size=0.1), 10)
    after = make(world, dt).step(world.state(), steps=round(5.0 / dt))
    assert np.abs(after.q - world.state().q).max() < 1e-5
    assert after.residual.max() < 1e-4


# --- by tables ---


def pile(count, shape=BALL, **how):
    """A grid of bodies, a little askew, above ground."""
    rng, side = np.random.default_rng(0), int(np.ceil(count ** (1 / 3)))
    b = WorldBuilder(**how)
    for k in range(count):
        at = np.array([k % side, k // side % side, k // side**2]) * 0.105 + 0.01 * rng.random(3) + [0.0, 0.0, 0.05]
        b.add_body(f"b{k}", pose=SE3(translation=at))
        b.add_shape(f"b{k}", shape)
    b.add_ground()
    return b.finalize()


@pytest.mark.slow
@of_one_program
def test_tables_take_the_steps_of_one_program(make):
    """Three balls fall on one another: each step from the same state, as exact as the residual says."""
    world = pile(3)
    rows, program = make(world, 2e-3, tables=True), make(world, 2e-3)
    assert rows.tables
    assert not program.tables
    state = world.state(v=np.random.default_rng(1).normal(size=18))
    for _ in range(200):
        after = program.step(state)
        np.testing.assert_allclose(rows.step(state).v, after.v, atol=5e-4)  # 1e-5 m/s at a lever of 5 cm
        np.testing.assert_allclose(rows.step(state).q, after.q, atol=1e-6)
        state = after


@pytest.mark.slow
@of_one_program
def test_bits_of_tables_do_not_depend_on_threads_worlds_or_lists(make):
    world = pile(12, Box((0.1, 0.1, 0.1)))
    state = world.state(worlds=3)
    state.v = 0.3 * np.random.default_rng(2).normal(size=state.v.shape)
    solver, tight, before = make(world, 2e-3), make(world, 2e-3), cardan.num_threads()
    whole = solver.step(state, steps=100)
    try:
        cardan.set_num_threads(3)
        assert solver.step(state, steps=100) == whole
    finally:
        cardan.set_num_threads(before)
    engine = tight._by_tables._made(3, False)
    for give, name in engine._room.values():
        setattr(engine.c, name, 3)
        give(3)
    tight._by_tables._idle[0, 3, False] = [engine]
    assert tight.step(state, steps=100) == whole
    np.testing.assert_array_equal(solver.step(state[1:2], steps=100).q, whole.q[1:2])


@pytest.mark.slow
@of_one_program
def test_a_heap_keeps_all_its_momentum_and_a_pile_its_place(make):
    world = pile(40, gravity=[0, 0, 0]).with_contacts("b*/b*")
    state = world.state(v=0.5 * np.random.default_rng(3).normal(size=240))
    after = make(world, 2e-3).step(state, steps=200)
    before, kept = (cardan.centroidal_momentum(world.model, s.q, s.v) for s in (state, after))
    np.testing.assert_allclose(kept, before, atol=1e-11)
    world = pile(27, Box((0.1, 0.1, 0.1)))
    after = make(world, 2e-3).step(world.state(), steps=500)
    assert world.collide(after).gap.min() > -1e-6
    assert np.abs(after.v).max() < 1e-3
    assert after.residual[0] <= 1e-4


@pytest.mark.slow
@of_one_program
def test_robots_and_bodies_in_one_world_move_as_in_worlds_of_their_own(make):
    """More robots than are solved together; of loose balls the bits are those they have alone."""
    b, balls, count = WorldBuilder(), WorldBuilder(), 10
    robot = drive_all(cardan.robots.quadruped(), Drive(80.0, 2.0))
    for builder in (b, balls):
        builder.add_ground()
        for k in range(3):
            builder.add_body(f"b{k}", pose=SE3(translation=[20.0, 0.01 * k, 0.06 + 0.11 * k]))
            builder.add_shape(f"b{k}", BALL)
    b.replicate(robot, count, 1.5, base="floating")
    world, one, loose = b.finalize(), robot.world(base="floating", ground=True), balls.finalize()
    q, own = one.initial.copy(), world.initial.copy()
    q[2], q[7:] = 0.383, np.tile([0.0, 0.6, -1.2], 4)
    robots = own[21:].reshape(count, -1)
    robots[:, 2:] = q[2:]
    control, alone = world.control(), one.control()
    alone.position = cardan.limit_coordinates(one.model, q)
    control.position = [[*np.zeros(18), *np.tile(alone.position[0], count)]]
    after = make(world, 1e-3).step(world.state(q=own), control, steps=100)
    single = make(one, 1e-3).step(one.state(q=q), alone, steps=100)
    found = after.q[0, 21:].reshape(count, -1)[:, 2:]
    np.testing.assert_allclose(found, np.tile(single.q[:, 2:], (count, 1)), atol=1e-9)  # each in a lane of its own
    assert after.residual[0] < 1e-3
    np.testing.assert_array_equal(after.q[:, :21], make(loose, 1e-3, tables=True).step(loose.state(), steps=100).q)


@pytest.mark.slow
@of_one_program
def test_robots_take_the_steps_of_one_program_in_lanes_and_where_they_meet(make):
    """Five that are thrown askew: each is alone, then two of them meet; the bits do not hang on what was before."""
    m = Mechanism("flail")
    m.add_body("box", Inertia(2.0, (0, 0, 0), 0.02 * np.eye(3)))
    m.add_shape(Shape("box", "collision", Box((0.2, 0.2, 0.1))))
    m.add_body("arm", Inertia(0.5, (0.1, 0, 0), 2e-3 * np.eye(3)))
    m.add_shape(Shape("arm", "collision", Sphere(0.05), SE3(translation=[0.2, 0, 0])))
    m.add_joint("hinge", Revolute((0, 1, 0)), "box", "arm", SE3(translation=[0.15, 0, 0]), damping=[0.01])
    b = WorldBuilder()
    b.add_ground()
    b.replicate(m, 5, 0.6, base="floating")
    world = b.finalize()
    state = world.state()
    state.q.reshape(5, -1)[:, 2] += 0.1
    state.v.reshape(5, -1)[...] = 0.3 * np.random.default_rng(0).normal(size=(5, 7))
    state.v.reshape(5, -1)[0, 0] = 2.0
    rows, program = make(world, 2e-3, tables=True), make(world, 2e-3, tables=False)
    start, met = state, False
    for _ in range(150):
        after = program.step(state)
        if after.residual[0] < 1e-3:  # of one step the program's search ends before it is right
            np.testing.assert_allclose(rows.step(state).q, after.q, atol=3e-5)
        forces = rows.contact_forces(state)
        pushing = forces.pair[np.linalg.norm(forces.force[0], axis=-1) > 0.0]
        met |= any("ground" not in world.pairs[k].name for k in pushing)
        state = after
    assert met
    assert rows.step(start, steps=150) == rows.step(rows.step(start, steps=70), steps=80)


def chain(count, **joint):
    """Links on hinges in a row from the world, a ball at the end of each."""
    m = Mechanism("chain")
    for k in range(count):
        m.add_body(f"b{k}", Inertia(1.0, (0.1, 0, 0), 0.01 * np.eye(3)))
        m.add_shape(Shape(f"b{k}", "collision", Sphere(0.03), SE3(translation=[0.2, 0, 0])))
        at = SE3(translation=[0.2, 0, 0] if k else [0, 0, 0.25])
        m.add_joint(f"j{k}", Revolute((0, 1, 0)), f"b{k - 1}" if k else "world", f"b{k}", at, **joint)
    return m


@pytest.mark.slow
@of_one_program
@pytest.mark.parametrize("count", [3, 18])
def test_tables_take_the_same_steps_in_flight(make, count):
    """Joints of a few robots, and of as many in a row as ropes have."""
    world = chain(count).world(ground=True)
    rng = np.random.default_rng(0)
    start = world.state(q=0.1 * rng.normal(size=count) - 1.0, v=rng.normal(size=count))
    found, same = (make(world, 1e-3, tables=tables).step(start, steps=100) for tables in (True, False))
    assert world.collide(found).gap.min() > 0.0
    np.testing.assert_allclose(found.q, same.q, atol=1e-11)
    np.testing.assert_allclose(found.v, same.v, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "lost"), [(XPBD, 1.0), (Variational, 2e-4)])
def test_the_energy_of_variational_steps_by_tables_does_not_drift(make, lost):
    """Two links swing upside down for eight seconds, with up to 2.4 J."""
    world = chain(2).world(gravity=(0.0, 0.0, 9.81), ground=True)
    found = make(world, 2e-3, tables=True).rollout(world.state(q=[-0.5, 0.4]), steps=4000, every=10)
    q, v = found.q[:, 0], found.v[:, 0]
    energy = cardan.kinetic_energy(world.model, q, v) + cardan.potential_energy(world.model, q)
    assert 0.1 * lost < np.abs(energy - energy[0]).max() < lost


@pytest.mark.slow
@rigid
def test_the_residual_is_of_the_velocities_that_stops_see(make):
    """Programs judged stops by the velocities that contacts leave with: 300 rad/s."""
    world = chain(3, limits=cardan.Limits(lower=[-0.3], upper=[0.3])).world(ground=True)
    solver, state = make(world, 2e-3), world.state(q=[0.2, 0.2, -0.2], v=[0.0, 0.0, -2.0])
    for _ in range(100):
        state = solver.step(state)
        assert state.residual[0] < 1e-2
    assert world.collide(state).gap.min() < 1e-6


def test_what_tables_do_not_take_is_said():
    world = pile(5)
    assert XPBD(world, 1e-3).tables
    with pytest.raises(UnsupportedError, match="one step as a function"):
        XPBD(world, 1e-3).function
    varied = world.with_inputs("contact_friction")
    assert not XPBD(varied, 1e-3).tables
    for own, how, named in ((varied, {}, "contact_friction"), (world, {"contacts": False}, "passes through")):
        with pytest.raises(UnsupportedError, match=named):
            XPBD(own, 1e-3, tables=True, **how).tables
    with pytest.raises(UnsupportedError, match=r"j0.*long"):
        XPBD(chain(32).world(ground=True), 1e-3, tables=True).tables
