"""Worlds of many bodies: the law of few bodies, islands that know nothing of one another, lists that grow."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np
import pytest

import cardan
from cardan import SE3, Drive, Inertia, Material, WorldBuilder
from cardan._motion.contact.touching import AHEAD as STEPS_AHEAD
from cardan._motion.crowd import layout
from cardan._motion.crowd.itself import apart_as_before
from cardan._motion.crowd.kinds import bounds_of, kinds_of
from cardan._motion.crowd.parts import FACTORS, HEAPS, HINGES, MEETING, RESTING, ROBOTS, SLEEPERS, TIES
from cardan._motion.crowd.sweeps import AHEAD
from cardan._motion.crowd.tables import BITS, CONTACTS, MASK
from cardan._motion.simulation import pairs
from cardan.description import Box, Capsule, Hull, Plane, Shape, Sphere
from cardan.errors import UnsupportedError
from cardan.joints import (
    Cylindrical,
    Fixed,
    FreeFlyer,
    Helical,
    Mimic,
    Prismatic,
    Reversed,
    Revolute,
    Spline,
    Translation,
    Universal,
)
from cardan.solvers import XPBD, Featherstone, Variational
from representatives import represented
from robots_data import urdf_files

DT = 0.002


def scene(count, kind="box", seed=0, spacing=0.22, material=None, robot=False):
    """A loose heap above ground, three to a row; with a driven robot among it if asked for."""
    rng = np.random.default_rng(seed)
    b = WorldBuilder()
    b.add_ground(material)
    shapes = {"box": [Box((0.2, 0.18, 0.2))], "ball": [Sphere(0.1)], "capsule": [Capsule(0.06, 0.1)]}
    shapes["mixed"] = [own[0] for own in shapes.values()]
    for k in range(count):
        x = spacing * np.array([k % 3, k // 3 % 3, k // 9]) + rng.uniform(-0.004, 0.004, 3) + [0, 0, 0.12]
        b.add_body(f"b{k}", pose=SE3(translation=x))
        b.add_shape(f"b{k}", shapes[kind][k % len(shapes[kind])], material=material, density=500.0 + 50.0 * k)
    if robot:
        b.add_link("base", inertia=Inertia(3.0, (0, 0, 0), 0.02 * np.eye(3)))
        b.add_link("arm", inertia=Inertia(1.0, (0.1, 0, 0), 0.01 * np.eye(3)))
        b.add_joint("free", FreeFlyer(), "world", "base")
        b.add_joint(
            "hinge", Revolute((0, 1, 0)), "base", "arm", drive=Drive(stiffness=20.0, damping=1.0), friction=[0.1]
        )
        b.add_shape("base", Box((0.2, 0.2, 0.1)), density=0.0)
        b.add_shape("arm", Capsule(0.04, 0.3), SE3.from_rpy((0, np.pi / 2, 0), (0.3, 0, 0)), density=0.0)
        b.add_articulation("robot", ["free", "hinge"])
        b.q["free"] = [1.0, 0.2, 0.3, 0, 0, 0, 1]
    return b.finalize()


def moved(state, seed=1):
    state.v = 0.3 * np.random.default_rng(seed).standard_normal(state.v.shape)
    return state


ALL_KINDS = [(4, kind) for kind in ("box", "ball", "capsule", "mixed")]


@pytest.mark.slow
@pytest.mark.parametrize(("count", "kind"), represented([(2, "ball"), *ALL_KINDS], by=[(2, "ball")].count))
def test_the_law_is_that_of_one_program(count, kind):
    """Step by step from the same state: velocities agree to what is allowed after the first iterations."""
    world = scene(count, kind, robot=kind == "mixed")
    tables, program = Featherstone(world, DT, tables=True), Featherstone(world, DT, tables=False)
    assert tables.tables
    assert not program.tables
    state = moved(world.state())
    for _ in range(60):
        a, b = tables.step(state), program.step(state)
        np.testing.assert_allclose(a.v, b.v, atol=2e-3)  # twice CONVERGED: they go on by ways of their own
        assert a.residual[0] <= 1e-3
        state = b


@pytest.mark.full
def test_surfaces_with_all_they_have():
    """Restitution, own stiffness and dissipation, torsional and rolling friction."""
    rubber = Material(friction=0.7, restitution=0.4, stiffness=2e4, dissipation=3.0, torsional=0.01, rolling=0.002)
    for material in (rubber, Material(friction=0.0), Material(restitution=0.9)):
        world = scene(4, "ball", material=material)
        tables, program = Featherstone(world, DT, tables=True), Featherstone(world, DT, tables=False)
        state = moved(world.state())
        for _ in range(40):
            a, b = tables.step(state), program.step(state)
            np.testing.assert_allclose(a.v, b.v, atol=3e-4)
            state = b


@pytest.mark.full
def test_controls_reach_robots_and_bodies():
    world = scene(4, "box", robot=True)
    tables, program = Featherstone(world, DT, tables=True), Featherstone(world, DT, tables=False)
    control = world.control()
    control.position[0, -1], control.effort[0, -1] = 0.7, 0.2
    control.apply_force("b1", (3.0, 0.0, 0.0))
    a, b = (solver.step(world.state(), control, steps=20) for solver in (tables, program))
    np.testing.assert_allclose(a.q, b.q, atol=1e-6)
    assert abs(a.q[0, -1]) > 0.01
    np.testing.assert_allclose(a.warm, b.warm, atol=1e-2)


@pytest.mark.slow
def test_belts_carry():
    b = WorldBuilder()
    b.add_link("belt", inertia=Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add_shape("belt", Box((20, 1, 0.1)), density=0.0)
    b.add_joint("drum", cardan.joints.Prismatic([1, 0, 0]), "world", "belt")
    b.add_articulation("conveyor", ["drum"])
    for k in range(4):
        b.add_body(f"crate{k}", pose=SE3(translation=[0.5 * k, 0, 0.15]))
        b.add_shape(f"crate{k}", Box((0.2, 0.2, 0.2)))
    world = b.finalize().with_kinematic("drum")
    solver, control = Featherstone(world, DT), world.control()
    assert solver.tables
    control.velocity[:, 0] = 1.0
    state = solver.step(world.state(), control, steps=500)
    assert state.q[0, 0] == pytest.approx(1.0)
    np.testing.assert_allclose(state.v[0, 1::6], 1.0, atol=1e-3)


@pytest.mark.slow
def test_an_island_does_not_feel_who_is_beside_it():
    """Bits of a heap alone are those it has among others, with kinds of their own, before and behind it."""
    b, alone = WorldBuilder(), WorldBuilder()
    surface = Material(stiffness=5e4)  # else it follows the masses of all
    for builder in (b, alone):
        builder.add_ground(surface)
    for k in range(5):
        b.add_body(f"far{k}", pose=SE3(translation=[9.0, 0.0, 0.06 + 0.13 * k]))
        b.add_shape(f"far{k}", Capsule(0.06, 0.1), material=surface)
    for builder in (b, alone):
        for k in range(8):
            builder.add_body(f"b{k}", pose=SE3(translation=[0.11 * (k % 2), 0.1 * (k % 3), 0.12 + 0.21 * k]))
            builder.add_shape(f"b{k}", Sphere(0.1) if k % 2 else Box((0.2, 0.2, 0.2)), material=surface)
    for k in range(3):
        b.add_body(f"late{k}", pose=SE3(translation=[-9.0, 0.0, 0.12 + 0.25 * k]))
        b.add_shape(f"late{k}", Box((0.2, 0.2, 0.2)), material=surface)
    worlds = b.finalize(), alone.finalize()
    states = [Featherstone(world, DT).step(world.state(), steps=300) for world in worlds]
    np.testing.assert_array_equal(states[0].q[:, 5 * 7 : 13 * 7], states[1].q)


@pytest.mark.slow
def test_a_heap_of_rigid_balls_does_not_feel_another_one():
    """Both take so many sweeps that they go ahead of these, each by its own momentum."""
    b, alone = WorldBuilder(), WorldBuilder()
    for builder, places in ((b, (-9.0, 9.0)), (alone, (9.0,))):
        builder.add_ground()
        for x in places:
            for k in range(72 if x > 0.0 else 40):
                place = [x + 0.19 * (k % 3) + 0.01 * (k // 9), 0.19 * (k // 3 % 3), 0.11 + 0.19 * (k // 9)]
                builder.add_body(f"b{x}{k}", pose=SE3(translation=place))
                builder.add_shape(f"b{x}{k}", Sphere(0.1))
    worlds, counts = (b.finalize(), alone.finalize()), []
    solvers = [XPBD(world, DT) for world in worlds]
    states = [world.state() for world in worlds]
    for _ in range(60):
        states = [solver.step(state) for solver, state in zip(solvers, states, strict=True)]
        c = solvers[1]._by_tables._idle[0, 1, False][0].c
        counts.append(c.island_count[: c.islands].max(initial=0))
        np.testing.assert_array_equal(states[0].q[:, 40 * 7 :], states[1].q)
    assert max(counts) > AHEAD


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ball", "mixed"])
def test_bits_do_not_depend_on_threads_worlds_or_splits(kind):
    world = scene(9, kind, robot=kind == "mixed")
    solver, state = Featherstone(world, DT), moved(world.state(worlds=5))
    before = cardan.num_threads()
    try:
        cardan.set_num_threads(1)
        whole = solver.step(state, steps=80)
        cardan.set_num_threads(3)
        assert solver.step(state, steps=80) == whole
    finally:
        cardan.set_num_threads(before)
    one = solver.step(state[3:4], steps=80)
    np.testing.assert_array_equal(one.q, whole.q[3:4])
    steps = state
    for _ in range(80):
        steps = solver.step(steps)
    assert steps == whole


@pytest.mark.slow
def test_impulses_are_part_of_the_state(tmp_path):
    world = scene(9, "ball")
    solver = Featherstone(world, DT)
    state = solver.step(moved(world.state(worlds=2)), steps=60)
    after = solver.step(state, steps=40)
    state.save(tmp_path / "state.npz")
    other = Featherstone(world, DT)
    for copied in (pickle.loads(pickle.dumps(state)), cardan.State.load(world, tmp_path / "state.npz"), state.copy()):
        assert copied == state
        assert other.step(copied, steps=40) == after
    assert solver.step(state[1:], steps=40) == after[1:]
    assert pickle.loads(pickle.dumps(solver)).step(state, steps=40) == after


@pytest.mark.full
def test_impulses_go_on_where_others_come_and_go():
    """Who is elsewhere is not felt, to the last bit: so it is when it comes, and when it goes again."""
    b = WorldBuilder()
    hard = cardan.Material(stiffness=1e5)  # else it follows all masses
    b.add_ground(hard)
    for k in range(40):
        at = 0.19 * np.array([k % 4, k // 4 % 4, k // 16]) + [0.003 * (k % 4), 0.002 * (k % 3), 0.1]
        b.add_body(f"b{k}", pose=SE3(translation=at))
        b.add_shape(f"b{k}", Sphere(0.09), material=hard)
    pile = b.finalize()
    state = Featherstone(pile, DT).step(pile.state(worlds=2), steps=150)
    after = Featherstone(pile, DT).step(state, steps=10)
    b.add_body("far", pose=SE3(translation=(9.0, 0.0, 0.1)))
    b.add_shape("far", Box((0.2, 0.2, 0.2)), material=hard)
    wider = b.finalize()
    found = Featherstone(wider, DT).step(wider.state_from(state), steps=10)
    np.testing.assert_array_equal(found.v[:, :-6], after.v)
    b.remove("far")
    again = b.finalize().state_from(found)
    assert Featherstone(pile, DT).step(again, steps=10) == Featherstone(pile, DT).step(after, steps=10)
    cold = wider.state_from(state)
    cold.kept_impulses = None
    assert np.any(Featherstone(wider, DT).step(cold, steps=10).v[:, :-6] != after.v)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_stepper_takes_the_same_steps(dtype):
    world = scene(9, "ball", robot=True)
    solver, state, control = Featherstone(world, DT), moved(world.state(dtype=dtype)), world.control(dtype=dtype)
    control.effort[0, -1] = 0.3
    state = solver.step(state, control, steps=20)
    advance, expected = solver.stepper(state, control, steps=2), state
    for k in range(21):
        control.position[0, -1] = 0.1 * k
        expected = solver.step(expected, control, steps=2)
        advance()
        if k == 10:
            advance.q[2] += 1.0
            expected.q[0, 2] += 1.0
    assert advance.state == expected


@pytest.mark.slow
def test_impulses_of_some_worlds():
    """A row may be taken twice, in any order; what worlds that begin anew had is dropped."""
    world = scene(9, "ball")
    solver = Featherstone(world, DT)
    state = solver.step(moved(world.state(worlds=4)), steps=60)
    after = solver.step(state, steps=5)
    for rows in ([2, 0, 2], [3], [], slice(None, None, -1)):
        assert solver.step(state[rows], steps=5) == after[rows]
    assert solver.contact_forces(state[[]]).force.shape == (0, 0, 3)
    mask = np.array([True, False, False, True])
    left = state.kept_impulses.without(mask)
    state.kept_impulses = left
    assert state[[1, 2]] == solver.step(moved(world.state(worlds=4)), steps=60)[[1, 2]]
    assert not len(state[[0, 3]].kept_impulses.key)


@pytest.mark.slow
def test_lists_that_memory_cannot_hold_are_an_error_that_says_what_to_do(monkeypatch):
    """What begins in one place has a contact for each two bodies; NumPy said how many bytes it could not have."""
    world = scene(12, "mixed")
    solver = Featherstone(world, DT, tables=True)
    tighten(solver)
    (engine,) = solver._by_tables._idle[0, 1, False]

    def refuse(most):
        raise MemoryError

    monkeypatch.setitem(engine._room, CONTACTS, (refuse, "contact_most"))
    with pytest.raises(cardan.errors.UnsupportedError, match=r"memory of this machine cannot take a step of 12.*apart"):
        solver.step(world.state())


@pytest.mark.slow
def test_lists_grow_when_they_are_too_short():
    """Forty boxes fall on one another: more contacts than there was room for, and none is dropped."""
    world = scene(40, "box", spacing=0.19)
    solver = Featherstone(world, DT)
    state = solver.step(world.state(), steps=2)
    (engine,) = solver._by_tables._idle[0, 1, False]
    for name in ("near_most", "contact_most", "patch_most", "block_most", "side_most"):
        assert getattr(engine.c, name) >= 64
    small = Featherstone(world, DT)
    tighten(small)
    np.testing.assert_array_equal(small.step(world.state(), steps=2).q, state.q)


@pytest.mark.slow
@pytest.mark.parametrize("make", [Featherstone, XPBD])
def test_parts_of_a_step_are_compiled_when_one_needs_them_and_it_is_taken_again(make):
    """What falls alone needs none; where boxes meet factors are needed."""
    world = scene(12, "mixed")
    solver = make(world, DT, tables=True)
    state = world.state()
    state.q.reshape(-1, 7)[:, :3] *= 5.0  # far from one another
    solver.step(state)
    (engine,) = solver._by_tables._idle[0, 1, False]
    assert not engine.c.parts[[ROBOTS, HEAPS, FACTORS, TIES, MEETING]].any()
    before = solver.step(world.state(), steps=120)
    assert engine.c.parts[[FACTORS, MEETING]].all()
    assert not engine.c.parts[[ROBOTS, TIES, HINGES, SLEEPERS, RESTING]].any()
    again = solver.step(before, steps=3)
    first = make(world, DT, tables=True).step(before, steps=3)
    assert again.q.tobytes() + again.v.tobytes() == first.q.tobytes() + first.v.tobytes()


def tighten(solver):
    """Give the lists of a solver's tables no room."""
    engine = solver._by_tables._made(1, False)
    for give, name in engine._room.values():
        setattr(engine.c, name, 3)
        give(3)
    solver._by_tables._idle[0, 1, False] = [engine]


@pytest.mark.parametrize(("name", "value"), [("v", np.nan), ("q", 1e31)])
@pytest.mark.slow
def test_what_is_no_number_stays_in_its_island(name, value):
    """A body without a number, or beyond all, stands still and is flagged; other islands and worlds go on."""
    b = WorldBuilder()
    b.add_ground()
    for k in range(6):
        b.add_body(f"b{k}", pose=SE3(translation=[2.0 * (k // 2), 0.0, 0.3 + 0.25 * (k % 2)]))
        b.add_shape(f"b{k}", Box((0.2, 0.2, 0.2)))
    world = b.finalize()
    solver, state = Featherstone(world, DT), world.state(worlds=2)
    good = solver.step(state, steps=200)
    getattr(state, name)[0, 0] = value
    bad = solver.step(state, steps=200)
    assert bad.diverged.tolist() == [True, False]
    assert np.isfinite(bad.q).all()
    np.testing.assert_array_equal(bad.q[1], good.q[1])
    np.testing.assert_array_equal(bad.q[0, 14:], good.q[0, 14:])
    np.testing.assert_array_equal(bad.q[0, :7], state.q[0, :7])


@pytest.mark.slow
def test_heaps_of_rigid_balls_are_right_in_each_step():
    """Forty balls in a box without a lid, where impulses go many ways: 100 sweeps left up to 43 mm/s."""
    rng, b = np.random.default_rng(0), WorldBuilder()
    b.add_ground()
    for k, (n, place) in enumerate([((1, 0, 0), -0.07), ((0, 1, 0), -0.07), ((-1, 0, 0), -0.44), ((0, -1, 0), -0.44)]):
        x = np.cross(n, (0.0, 0.0, 1.0))
        b.add_shape("world", Plane(), SE3(np.stack([x, np.cross(n, x), n], axis=1), place * np.array(n)), name=f"w{k}")
    for k in range(40):
        x = 0.12 * np.array([k % 4, k // 4 % 4, k // 16]) + [*(0.01 * rng.random(2)), 0.06]
        b.add_body(f"b{k}", pose=SE3(translation=x))
        b.add_shape(f"b{k}", Sphere(0.05), density=1000.0)
    world = b.finalize()
    solver, state, worst = XPBD(world, DT), world.state(), 0.0
    for _ in range(300):
        state = solver.step(state)
        worst = max(worst, state.residual[0])
    assert worst <= 1e-3
    assert np.abs(state.q.reshape(-1, 7)[:, :3]).max() < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ball", "box"])
def test_energy_is_lost_and_heaps_come_to_rest(kind):
    world = scene(18, kind)
    solver, state = Featherstone(world, DT), world.state()
    before = np.inf
    for _ in range(15):
        state = solver.step(state, steps=50)
        energy = cardan.kinetic_energy(world.model, state.q, state.v) + cardan.potential_energy(world.model, state.q)
        assert energy[0] < before + 0.02 * world.model.mass  # what springs of contacts give back is less
        before = energy[0]
    weight = solver.body_contact_forces(state).sum(axis=1)[0, 2]
    if kind == "box":
        assert weight == pytest.approx(9.81 * world.model.mass, rel=0.02)
        assert np.abs(state.v).max() < 0.05


@pytest.mark.slow
def test_momentum_is_made_by_outside_forces_alone():
    """Bodies that meet in empty space keep their momentum, however many are in a heap."""
    b = WorldBuilder(gravity=(0, 0, 0))
    rng = np.random.default_rng(2)
    for k in range(12):
        x = 0.19 * np.array([k % 3, k // 3 % 2, k // 6]) + rng.uniform(-0.02, 0.02, 3)
        b.add_body(f"b{k}", pose=SE3(translation=x))
        b.add_shape(f"b{k}", Box((0.15, 0.15, 0.15)) if k % 2 else Sphere(0.09))
    world = b.finalize(keep_overlapping=True)
    state = moved(world.state())
    before = cardan.centroidal_momentum(world.model, state.q, state.v)[0, :3]
    after = Featherstone(world, DT).step(state, steps=200)
    np.testing.assert_allclose(cardan.centroidal_momentum(world.model, after.q, after.v)[0, :3], before, atol=2e-4)


@pytest.mark.slow
def test_single_precision_is_taken_and_given():
    world = scene(6, "box")
    solver = Featherstone(world, DT)
    state = solver.step(world.state(worlds=2, dtype="float32"), steps=50)
    assert state.q.dtype == np.float32
    np.testing.assert_allclose(state.q, solver.step(world.state(worlds=2), steps=50).q, atol=1e-5)


@pytest.mark.full
def test_which_pairs_may_touch():
    """Groups, masks, families, disabled pairs and chosen ones hold in tables as in one program."""
    b = WorldBuilder()
    b.add_ground()
    for k in range(5):
        b.add_body(f"b{k}", pose=SE3(translation=[0, 0, 0.15 + 0.3 * k]))
        b.add_shape(f"b{k}", Sphere(0.1), group=2 if k == 1 else 1, mask=1 if k == 2 else 0xFFFFFFFF)
    b.disable_contact("b3", "b4")
    world = b.finalize()
    assert Featherstone(world, DT).tables
    for own in (world, world.with_contacts("*/ground"), world.with_contacts("b0")):
        tables, program = Featherstone(own, DT), Featherstone(own, DT, tables=False)
        a, p = (solver.step(own.state(), steps=400) for solver in (tables, program))
        np.testing.assert_allclose(a.q, p.q, atol=1e-3)
    feet = Featherstone(world, DT).step(world.state(), steps=600)
    assert {world.pairs[k].name for k in Featherstone(world, DT).contact_forces(feet).pair} <= {
        p.name for p in world.pairs
    }


def test_what_tables_do_not_take_is_said():
    world = scene(5, "ball")
    with pytest.raises(UnsupportedError, match="one step as a function"):
        Featherstone(world, DT).function
    varied = world.with_inputs("contact_friction")
    assert not Featherstone(varied, DT).tables
    with pytest.raises(UnsupportedError, match="contact_friction"):
        Featherstone(varied, DT, tables=True).tables
    with pytest.raises(UnsupportedError, match="convex"):
        Featherstone(world, DT, tables=True, contact="compliant").tables


@pytest.mark.slow
def test_trees_that_mimic_one_another_are_one():
    """A lever that another on the world follows; and many pairs are rows of tables, however few trees."""
    b = WorldBuilder()
    b.add_ground()
    for k, joint in enumerate((Revolute((0, 1, 0)), cardan.joints.Mimic(Revolute((0, 1, 0)), "j0", -2.0))):
        b.add_link(f"lever{k}", inertia=Inertia(1.0, (0.3, 0, 0), 0.01 * np.eye(3)))
        b.add_joint(f"j{k}", joint, "world", f"lever{k}", SE3(translation=(0, k, 0.3)))
        b.add_articulation(f"a{k}", [f"j{k}"])
        for n in range(40):
            b.add_shape(f"lever{k}", Sphere(0.05), SE3(translation=(0.01 * n, 0, 0)), density=0.0)
    world = b.finalize()
    tables, program = Featherstone(world, DT), Featherstone(world.with_contacts("lever0*39/*"), DT)
    assert tables.tables
    assert not program.tables
    for _ in range(2):
        found = tables.step(world.state(), steps=20)
    np.testing.assert_allclose(found.q, program.step(program.world.state(), steps=20).q, atol=1e-6)


@pytest.mark.slow
def test_a_thousand_bodies_are_listed_by_rules():
    """No pair is made before somebody asks for it."""
    b = WorldBuilder()
    b.add_ground()
    for k in range(300):
        b.add_body(f"b{k}", pose=SE3(translation=[0.3 * (k % 10), 0.3 * (k // 10 % 10), 0.2 + 0.3 * (k // 100)]))
        b.add_shape(f"b{k}", Sphere(0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world = b.finalize()
        solver = Featherstone(world, DT)
    assert len(world.pairs) == 300 * 301 // 2
    assert "_all" not in vars(world.pairs)
    state = solver.step(world.state(), steps=100)
    assert np.isfinite(state.q).all()
    with pytest.raises(UnsupportedError, match=r"all 45150 pairs of shapes.*with_contacts.*contact_forces"):
        world.collide(state)
    assert "_all" not in vars(world.pairs)


@pytest.mark.full
def test_a_wall_of_bricks_stands_and_replays():
    b = WorldBuilder()
    b.add_ground()
    for row in range(10):
        for k in range(10 - row % 2):
            name = f"b{row}_{k}"
            b.add_body(name, pose=SE3(translation=[0.2 * k + 0.1 * (row % 2), 0.0, 0.05 + 0.1 * row]))
            b.add_shape(name, Box((0.2, 0.1, 0.1)), material=Material(stiffness=1e6))
    world = b.finalize()
    solver, state = Featherstone(world, DT), world.state()
    after = solver.step(state, steps=1000)
    assert np.abs(after.q.reshape(-1, 7)[:, :3] - state.q.reshape(-1, 7)[:, :3]).max() < 0.01
    assert after.residual[0] < 1e-3
    assert Featherstone(world, DT).step(state, steps=1000) == after


def test_planes_that_lean_bear_too():
    """A tray of five planes: every body rests on some of them."""
    b = WorldBuilder()
    b.add_ground()
    for axis, sign in ((0, 1), (0, -1), (1, 1), (1, -1)):
        n = np.zeros(3)
        n[axis] = sign
        R = np.stack([np.cross([0, 0, 1.0], n), [0, 0, 1.0], n], axis=1)
        b.add_shape("world", Plane(), SE3(rotation=R, translation=-0.3 * n), 0.0, name=f"wall{axis}{sign}")
    for k in range(12):
        b.add_body(
            f"b{k}", pose=SE3(translation=[0.22 * (k % 2) - 0.11, 0.22 * (k // 2 % 2) - 0.11, 0.2 + 0.25 * (k // 4)])
        )
        b.add_shape(f"b{k}", Sphere(0.1))
    world = b.finalize()
    state = Featherstone(world, DT).step(world.state(), steps=1500)
    x = state.q.reshape(-1, 7)[:, :3]
    assert np.abs(x[:, :2]).max() < 0.21
    assert x[:, 2].min() > 0.095


def test_replicated_robots_share_where_their_joints_are_and_each_stands_where_it_was_put():
    robot = cardan.robots.quadruped()
    b = cardan.WorldBuilder()
    b.replicate(robot, 2, base="fixed", spacing=5.0)
    nodes = {node.name: node for node in b.finalize().model.nodes}
    for node in robot.model().nodes:
        one, other = nodes[f"0_{node.name}"], nodes[f"1_{node.name}"]
        assert repr(one.inertia) == repr(other.inertia) == repr(node.inertia)
        if node.parent >= 0:
            assert one.placement is other.placement
            assert one.placement == node.placement
        else:
            apart = other.placement.translation - one.placement.translation
            assert tuple(apart) == (5.0, 0.0, 0.0)


def test_replicated_robots_are_those_added_one_by_one():
    robot = cardan.robots.quadruped()
    b = cardan.WorldBuilder()
    b.add_ground()
    held = b.q
    assert b.replicate(robot, 3, 1.5, "r", base="floating") == ("r0_quadruped", "r1_quadruped", "r2_quadruped")
    world = b.finalize()
    assert Featherstone(world, DT).tables  # because they may meet
    assert not Featherstone(world.with_contacts("ground"), DT).tables
    starts = world.initial.reshape(3, -1)
    own = robot.world("floating", ground=True).initial
    np.testing.assert_allclose(starts[:, :2], [[-0.75, -0.75], [0.75, -0.75], [-0.75, 0.75]])
    np.testing.assert_allclose(starts[:, 2:], np.broadcast_to(own[2:], (3, len(own) - 2)), atol=1e-15)
    one = cardan.WorldBuilder()
    one.add_ground()
    for k, (x, y) in enumerate([(-0.75, -0.75), (0.75, -0.75), (-0.75, 0.75)]):
        one.add(robot, f"r{k}_", cardan.SE3(translation=(x, y, 0.0)), base="floating", stand=True)
    assert one.finalize().model == world.model
    assert one.finalize().initial.tobytes() == world.initial.tobytes()
    b.add_body("s2_trunk")
    with pytest.raises(cardan.errors.DuplicateNameError, match="s2_trunk"):
        b.replicate(robot, 4, prefix="s", base="floating")
    with pytest.raises(cardan.errors.DuplicateNameError, match="'twin'"):
        b.replicate(robot, 2, prefix="t", base="floating", name="twin")
    assert [*b.finalize().articulations] == ["r0_quadruped", "r1_quadruped", "r2_quadruped", "s2_trunk"]
    assert b.q is held


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "3", np.nan])
def test_only_whole_numbers_of_robots(number):
    with pytest.raises(cardan.errors.ParameterError, match="whole number"):
        cardan.WorldBuilder().replicate(cardan.robots.quadruped(), number)


def test_a_world_that_diverged_says_so_and_keeps_no_impulse_of_it():
    world = scene(12, "ball")
    solver = Featherstone(world, DT)
    state = solver.step(world.state(worlds=2), steps=100)
    control = world.control(worlds=2)
    control.effort[0, 3] = np.nan
    after = solver.step(state, control, steps=1)
    assert after.diverged.tolist() == [True, False]
    assert np.isnan(after.residual).tolist() == [True, False]
    assert np.isfinite(after.kept_impulses.impulse).all()
    assert np.isfinite(after.q).all()


@pytest.mark.full
@pytest.mark.parametrize("limited", ["effort", "velocity", "lower"])
def test_limits_of_loose_bodies(limited):
    b = WorldBuilder()
    b.add_ground()
    for k in range(4):
        b.add_link(f"b{k}")
        b.add_shape(f"b{k}", Sphere(0.1))
        bound = [-9.0, -9.0, 0.4, -9.0, -9.0, -9.0] if limited == "lower" else [1.0] * 6
        b.add_joint(f"j{k}", FreeFlyer(), "world", f"b{k}", limits=cardan.Limits(**{limited: bound}))
        b.add_articulation(f"a{k}", [f"j{k}"])
        b.q[f"j{k}"] = [1.0 * k, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]
    world = b.finalize()
    control = world.control()
    control.effort[:] = 3.0
    states = [Featherstone(world, DT, tables=tables).step(world.state(), control, steps=60) for tables in (True, False)]
    np.testing.assert_allclose(states[0].v, states[1].v, atol=1e-9)


def test_bodies_of_all_sizes_meet():
    """A ball of a kilometre and one of a million kilometres lie beside balls of a millimetre."""
    b = WorldBuilder(gravity=(0.0, 0.0, 0.0))
    for k, r in enumerate((1e9, 1e3, 1e-3)):
        b.add_body(f"a{k}", pose=SE3(translation=[0.0, 1e10 * k, 0.0]))
        b.add_body(f"b{k}", pose=SE3(translation=[1.9 * r, 1e10 * k, 0.0]))
        for name in "ab":
            b.add_shape(f"{name}{k}", Sphere(r))
    with pytest.warns(cardan.errors.StartWarning):
        world = b.finalize(keep_overlapping=True)
    found = Featherstone(world, DT, tables=True).contact_forces(world.state())
    assert [world.pairs[k].name for k in found.pair] == ["b0/a0", "b1/a1", "b2/a2"]


@pytest.mark.full
def test_wrenches_act_on_bodies_that_are_welded():
    b = cardan.WorldBuilder()
    for k in range(4):
        b.add_body(f"box{k}", pose=SE3(translation=[1.0 * k, 0.0, 0.5]))
        b.add_shape(f"box{k}", Box((0.2, 0.2, 0.2)))
        b.add_link(f"ball{k}")
        b.add_shape(f"ball{k}", Sphere(0.1))
        b.add_joint(f"weld{k}", cardan.joints.Fixed(), f"box{k}", f"ball{k}", SE3(translation=[0.0, 0.3, 0.0]))
    world = b.finalize(check_orphans=False)
    control = world.control()
    control.apply_force("ball0", (0.0, 0.0, 3.0))
    control.apply_force("box1", (0.0, 1.0, 3.0))
    by_tables, by_program = (
        Featherstone(world, 0.002, tables=tables).step(world.state(), control, steps=50) for tables in (True, False)
    )
    np.testing.assert_allclose(by_tables.v, by_program.v, atol=1e-12)


def test_one_solver_steps_on_several_threads_at_once():
    world = scene(12, "ball")
    solver = Featherstone(world, DT)
    starts = [moved(world.state(), seed) for seed in range(4)]
    alone = [solver.step(state, steps=300).q for state in starts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda state: solver.step(state, steps=300).q, starts * 3))
    assert all(np.array_equal(q, alone[k % 4]) for k, q in enumerate(together))


@pytest.mark.slow
def test_robots_move_as_one_program_moves_them():
    """Robots of two links with dry friction and a stop that is met, thrown without gravity."""
    b = WorldBuilder(gravity=(0.0, 0.0, 0.0))
    for k in range(2):
        b.add_link(f"a{k}", inertia=Inertia(1.0, (0.02, 0.01, 0.03), np.diag([0.02, 0.025, 0.03])))
        b.add_link(f"b{k}", inertia=Inertia(1.0, (0.1, 0.05, 0.0), np.diag([0.02, 0.025, 0.03])))
        b.add_joint(f"free{k}", FreeFlyer(), "world", f"a{k}")
        limits = cardan.Limits([-1.0], [0.02])
        hinge = Revolute((0, 1, 0)), f"a{k}", f"b{k}", SE3(translation=(0.1, 0.0, 0.0))
        b.add_joint(f"hinge{k}", *hinge, friction=[0.2 + k], limits=limits)
        b.add_shape(f"a{k}", Sphere(0.1), density=0.0)
        b.add_articulation(f"r{k}", [f"free{k}", f"hinge{k}"])
        b.q[f"free{k}"], b.v[f"free{k}"] = [2.0 * k, 0, 1, 0, 0, 0, 1], [0.1, 0.2, 0.3, 1.0, 2.0, 3.0]
    world = b.finalize()
    tables, program = (Featherstone(world, DT, tables=tables).step(world.state(), steps=60) for tables in (True, False))
    np.testing.assert_allclose(tables.v, program.v, atol=1e-10)


def robots(places):
    """Robots of two links with a drive above ground, each at a place along x."""
    b = WorldBuilder()
    surface = Material(stiffness=1e5)  # its default follows all the mass there is
    b.add_ground(surface)
    for k, x in enumerate(places):
        b.add_link(f"a{k}", inertia=Inertia(1.0, (0.02, 0.01, 0.03), np.diag([0.02, 0.025, 0.03])))
        b.add_link(f"b{k}", inertia=Inertia(1.0, (0.1, 0.05, 0.0), np.diag([0.02, 0.025, 0.03])))
        b.add_joint(f"free{k}", FreeFlyer(), "world", f"a{k}")
        hinge = Revolute((0, 1, 0)), f"a{k}", f"b{k}", SE3(translation=(0.1, 0.0, 0.0))
        b.add_joint(f"hinge{k}", *hinge, friction=[0.2], drive=Drive(20.0, 1.0))
        b.add_shape(f"a{k}", Sphere(0.1), density=0.0, material=surface)
        arm = Capsule(0.04, 0.2), SE3(translation=(0.1, 0.0, 0.0))
        b.add_shape(f"b{k}", *arm, density=0.0, material=surface)
        b.add_articulation(f"r{k}", [f"free{k}", f"hinge{k}"])
        b.q[f"free{k}"], b.v[f"free{k}"] = [x, 0, 0.15, 0, 0, 0, 1], [0.1 * k, 0.2, 0.3, 1.0, 2.0, 3.0]
    return b.finalize()


@pytest.mark.full
def test_a_robot_that_meets_no_other_moves_as_in_a_world_of_its_own():
    many = robots([3.0 * k for k in range(5)])
    with_neighbours = robots([3.0 * k for k in range(5)] + [0.25, 12.2])
    solver, beside = Featherstone(many, DT), Featherstone(with_neighbours, DT)
    after, others = solver.step(many.state(), steps=300), beside.step(with_neighbours.state(), steps=300)
    for k in range(5):
        one = robots([3.0 * k])
        start = one.state()
        start.v = many.state().v.reshape(5, -1)[k]
        alone = Featherstone(one, DT).step(start, steps=300)
        np.testing.assert_allclose(after.q.reshape(5, -1)[k], alone.q[0], atol=1e-9)
    np.testing.assert_array_equal(others.q.reshape(7, -1)[1:4], after.q.reshape(5, -1)[1:4])  # they met nobody
    weight = solver.contact_forces(solver.step(after, steps=800)).force[0, :, 2].sum()
    assert weight == pytest.approx(9.81 * many.model.mass, rel=1e-4)


def arm(joint=None):
    """A base that is fixed, with a shape, and three links that swing over it and the ground; a joint for the last."""
    m = cardan.Mechanism("arm")
    m.add_body("base", Box((0.2, 0.2, 0.2)).inertia_of_mass(5.0))
    m.add_joint("root", Fixed(), "world", "base", SE3(translation=(0.0, 0.0, 0.1)))
    m.add_shape(Shape("base", "collision", Box((0.2, 0.2, 0.2))))
    for k, (on, height) in enumerate([("base", 0.15), ("l0", 0.2), ("l1", 0.2)]):
        m.add_body(f"l{k}", Capsule(0.04, 0.3).inertia_of_mass(1.0))
        ends = SE3(translation=(0.0, 0.0, height)), SE3(translation=(0.0, 0.0, -0.2))
        own = joint if joint and k == 2 else Revolute((0, 1, 0) if k else (1, 0, 0))
        m.add_joint(f"j{k}", own, on, f"l{k}", *ends, damping=(0.3,) * own.nv)
        m.add_shape(Shape(f"l{k}", "collision", Capsule(0.04, 0.3)))
    return m


def arms(spacing, itself=False):
    b, one = WorldBuilder(), arm()
    one.self_collision = itself
    b.add_ground()
    b.replicate(one, 4, spacing=spacing)
    world = b.finalize()
    state = world.state()
    state.q = 0.3 * np.random.default_rng(1).normal(size=(1, 12))
    return world, state


@pytest.mark.slow
def test_arms_at_several_places_are_one_kind_and_move_as_one_alone():
    world, state = arms(3.0)
    solver = Featherstone(world, DT)
    after, one = solver.step(state, steps=300), arm().world(ground=True)
    alone = one.state(4)
    alone.q = state.q.reshape(4, 3)
    np.testing.assert_allclose(after.q.reshape(4, 3), Featherstone(one, DT).step(alone, steps=300).q, atol=1e-12)
    assert [len(kind.trees) for kind in kinds_of(world.model, ())] == [4]


@pytest.mark.full
@pytest.mark.parametrize("itself", [False, True], ids=["", "and themselves"])
def test_arms_touch_each_other_and_their_bases_as_in_one_program(monkeypatch, itself):
    if itself:
        monkeypatch.setattr(layout, "MOST_MET", 6)
    world, state = arms(0.45, itself)
    tables, program = (Featherstone(world, DT, tables=tables) for tables in (True, False))
    after, expected = tables.step(state, steps=250), program.step(state, steps=250)
    np.testing.assert_allclose(after.q, expected.q, atol=1e-6)
    assert np.abs(tables.contact_forces(after).force).max() > 1.0


@pytest.mark.full
@pytest.mark.parametrize(
    ("most", "staying"),
    [(64, 1000), (2, 1000), (64, 0), (2, 0)],
    ids=["some", "and the ground, too", "a base that is not looked at", "and the ground"],
)
def test_a_robot_that_may_touch_itself_in_many_places_moves_as_one_program_moves_it(monkeypatch, most, staying):
    """It is alone while it does not; and then has just its contacts with itself and the world. One of more is never."""
    monkeypatch.setattr(layout, "MOST_MET", 6)
    monkeypatch.setattr(layout, "MOST_FIXED", most)
    monkeypatch.setattr(layout, "MOST_STAYING", staying)
    world = arm().world(ground=True, self_collision=True)
    assert len(world.pairs) == 7
    of_itself = [pair.name for pair in world.pairs].index("l2/l0")
    tables, forgetful, program = (Featherstone(world, DT, tables=tables) for tables in (True, True, False))
    state = world.state(3)
    state.q, state.v = [[0.1, 0.0, 0.0], [0.2, 2.0, 2.0], [0.0, 2.6, 2.6]], [[0, 0, 0], [0, 0, 3], [0, 0, 0]]
    pushes = np.zeros(3)  # of each world: in how many steps the arm touches itself
    for _ in range(200):
        after, expected = tables.step(state), program.step(state)
        np.testing.assert_allclose(after.v, expected.v, atol=2e-3)
        np.testing.assert_array_equal(after.v, forgetful.step(state).v)  # whatever is known of steps before
        forget(forgetful)
        found = program.contact_forces(state)
        pushes += found.force[:, found.pair == of_itself].any(axis=(1, 2))
        state = expected
    assert pushes[0] == 0
    assert 0 < pushes[1] < 200
    assert pushes[2] == 200


@pytest.fixture
def one_thread():
    before = cardan.num_threads()
    cardan.set_num_threads(1)
    yield
    cardan.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "speed"), [("talos_full_v2.urdf", 1.0), ("g1_29dof_rev_1_0.urdf", 3.0)])
def test_what_a_humanoid_of_hulls_knows_of_steps_before_loses_no_contact(one_thread, name, speed):
    """Of Talos two of these 24 lost a contact of 30 N between their feet. G1 moves as fast as robots walk.

    Neither what is known counts, nor on how many threads worlds are, nor which of them step together.
    """
    file = next((file for file in urdf_files() if file.name == name), None)
    if file is None:
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of coarse hulls
        world = cardan.load_mechanism(file).world("floating", self_collision=True)
    known, forgetful, threaded, split = (Featherstone(world, 2e-3, tables=True) for _ in range(4))
    state = world.state(24)
    state.v = speed * np.random.default_rng(0).normal(size=(24, world.model.nv))
    pushed = 0
    for _ in range(10):
        after = known.step(state)
        np.testing.assert_array_equal(after.v, forgetful.step(state).v)
        forget(forgetful)
        cardan.set_num_threads(2)
        np.testing.assert_array_equal(after.v, threaded.step(state).v)
        cardan.set_num_threads(1)
        np.testing.assert_array_equal(after.v[5:12], split.step(state[5:12]).v)
        pushed += np.count_nonzero(known.contact_forces(state).force.any(axis=(1, 2)))
        state = after
    assert pushed >= 2


def levers(c, q):
    """Return of each pair of a robot how far each hinge moves its shapes, at most, with slides at q."""
    found = np.zeros((c.inner_count, c.tree_hinges[0]))
    for p, ends in enumerate(c.inner_ends):
        for shape, end in zip(((c.inner[p] >> BITS) & MASK, c.inner[p] & MASK), ends, strict=True):
            travel = 0.0
            for i in range(c.path_first[shape], end):
                k = c.path_v[i]
                found[p, k] += c.path_lever[i] + c.path_turn[i] * travel
                travel += c.path_slide[i] * abs(q[k])
    return found


def gaps_of_pairs(world, c, q):
    """Return the gap of each pair of a robot at each of some configurations."""
    shapes = np.sort(np.stack([(c.inner >> BITS) & MASK, c.inner & MASK], axis=1))
    return np.asarray(cardan.clearance(world, q.astype(float)).distance)[:, world.pairs.rules.numbers(shapes)]


def check_bounds(world, state, steps):
    """Check that no bound is above its gap, and what is not looked at is apart; return how often it was so, and not."""
    solver, known, close = Featherstone(world, DT, tables=True), 0, 0
    for _ in range(steps):
        after = solver.step(state)
        (engine,) = chain(*solver._by_tables._idle.values())
        c = engine.c
        before, then = (gaps_of_pairs(world, c, s.q) for s in (state, after))
        margin, with_skin = c.inner_margin.reshape(2, -1)
        is_apart = (c.tree_apart == 1) & (after.residual == 0.0)
        assert (np.minimum(before, then)[is_apart] > margin).all()
        for t in np.flatnonzero(c.tree_apart == 0):
            first = t * c.inner_count
            own = slice(first, first + c.tree_close[t])
            is_close = np.isin(np.arange(c.inner_count), c.close_pair[own])
            gaps = np.maximum(before[t, is_close], 0.0)  # how deep two hulls are may be along another way out
            assert (c.close_gap[own] <= gaps + 1e-6 * c.inner_extent[is_close]).all()
            q, v = (first + np.arange(c.tree_hinges[t]) for first in (c.hinge_q[t], c.hinge_v[t]))
            left = c.far_room[v] - np.abs(c.looked_q - c.far_q)[q]
            assert (before[t] >= with_skin + levers(c, c.looked_q[q]) @ left)[~is_close].all()
            close += c.tree_close[t]
        known += is_apart.sum()
        state = after
    return known, close


@pytest.mark.full
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "name",
    [
        "g1_29dof_rev_1_0.urdf",
        "talos_full_v2.urdf",
        "anymal.urdf",
        "allegro_right_hand.urdf",
        "tiago.urdf",
        "panda.urdf",
    ],
)
def test_bounds_of_gaps_are_below_the_gaps_of_all_pairs(one_thread, name, dtype):
    """Gaps are those of `clearance`. No pair is as near as its margin before or after a step without a look."""
    file = next((file for file in urdf_files() if file.name == name), None)
    if file is None:
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of coarse hulls
        base = None if name.startswith("allegro") else "floating"
        world = cardan.load_mechanism(file).world(base, self_collision=True)
    rng, state = np.random.default_rng(0), world.state(16, dtype=dtype)
    state.v = np.logspace(-1.0, 0.5, 16)[:, None] * rng.normal(size=(16, world.model.nv))
    known, close = check_bounds(world, state, 40)
    assert known > 60
    assert close > 60


def machine(seed, size, is_held=False):
    """A tree of eight links of about a size, by joints of all kinds that have bounds.

    Its root floats, or is a hinge or a slide beside shapes that are fixed in the world.
    """
    rng, m = np.random.default_rng(seed), cardan.Mechanism("machine", gravity=(0.0, 0.0, -9.81 * size))
    kinds = [
        Revolute,
        Prismatic,
        Prismatic,
        lambda axis: Helical(axis, 0.3 * size),
        Cylindrical,
        lambda _: Translation(),
    ]
    kinds += [lambda _: Universal((0, 1, 0), (1, 0, 0)), lambda axis: Reversed(Helical(axis, 0.2 * size))]
    shapes = [Sphere(0.2 * size), Box(0.3 * size * np.ones(3)), Capsule(0.1 * size, 0.3 * size)]
    shapes.append(Hull(0.2 * size * rng.normal(size=(9, 3))))
    m.add_body("b0", Sphere(0.3 * size).inertia_of_mass(1.0))
    m.add_joint("root", (Revolute, Prismatic)[seed % 2](rng.normal(size=3)) if is_held else FreeFlyer(), "world", "b0")
    for k in range(3 if is_held else 0):
        m.add_shape(
            Shape("world", "collision", shapes[k + 1], SE3.from_rpy(rng.normal(size=3), size * rng.normal(size=3)))
        )
    for k in range(8):
        pose, at = (SE3.from_rpy(rng.normal(size=3), 0.4 * size * rng.normal(size=3)) for _ in range(2))
        if k:
            m.add_body(f"b{k}", Sphere(0.3 * size).inertia_of_mass(1.0))
            joint = kinds[rng.integers(len(kinds))](rng.normal(size=3)) if k > 1 else Prismatic(rng.normal(size=3))
            joint = joint if k < 7 else Mimic(Revolute(rng.normal(size=3)), "j1", -0.5 / size, 0.3)
            m.add_joint(f"j{k}", joint, f"b{rng.integers(max(0, k - 2), k)}", f"b{k}", pose, at)
        m.add_shape(
            Shape(
                f"b{k}", "collision", shapes[k % 4], SE3.from_rpy(rng.normal(size=3), 0.2 * size * rng.normal(size=3))
            )
        )
    return m


def configurations(world, c, size, n, rng, far=0.3):
    """Return random configurations, and by how much coordinates and velocities differ."""
    hinges = c.tree_hinges[0]
    unit = np.concatenate([[size] * 3, [1.0] * 3, c.hinge_unit[c.hinge_v[0] + np.arange(hinges)]])[-world.model.nv :]
    q = np.tile(world.model.neutral(), (n, 1))
    q[:, -hinges:] += far * unit[-hinges:] * rng.normal(size=(n, hinges))
    return q, unit


@pytest.mark.full
@pytest.mark.parametrize("is_held", [False, True], ids=["floating", "held"])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_slides_and_screws_move_shapes_by_no_more_than_their_paths_say(size, is_held):
    """From any configuration to any other, as gaps say: slides lengthen the levers of hinges before them."""
    most, rng = 0.0, np.random.default_rng(0)
    for seed in range(3):
        world = machine(seed, size, is_held).world(self_collision=True)
        solver = Featherstone(world, DT, tables=True)
        solver.step(world.state())
        (engine,) = chain(*solver._by_tables._idle.values())
        c = engine.c
        hinges = c.tree_hinges[0]
        assert hinges == world.model.nv - (0 if is_held else 6)
        assert c.inner_count == len(world.pairs)
        q, unit = configurations(world, c, size, 40, rng, far=10.0)
        other = q.copy()
        other[:, -hinges:] += np.logspace(-3.0, 0.5, 40)[:, None] * (unit[-hinges:] * rng.normal(size=(40, hinges)))
        gaps, others = gaps_of_pairs(world, c, q), gaps_of_pairs(world, c, other)
        for k in range(40):
            change = np.abs(other[k] - q[k])[-hinges:]
            are_apart = np.minimum(gaps[k], others[k]) > 0.0  # how deep is no distance
            bound = levers(c, q[k, -hinges:]) @ change
            moved = np.abs(others[k] - gaps[k])
            assert (moved <= bound + 1e-9 * size)[are_apart].all()
            most = max(most, (moved / bound)[are_apart].max())
    assert most > 0.6


@pytest.mark.slow
def test_what_a_slide_holds_far_out_is_moved_far_by_a_hinge():
    """The hinge's lever is that of the slide as it is: 10 m here, where the boom is a point in its own frame."""
    m = cardan.Mechanism("crane")
    for body in ("base", "turn", "boom"):
        m.add_body(body, Sphere(0.1).inertia_of_mass(100.0 if body == "base" else 1.0))
    m.add_joint("root", FreeFlyer(), "world", "base")
    m.add_joint("turn", Revolute((0, 0, 1)), "base", "turn")
    m.add_joint("slide", Prismatic((1, 0, 0)), "turn", "boom", damping=(1e4,))
    m.add_shape(Shape("base", "collision", Sphere(0.1), SE3(translation=(10.0, 1.0, 0.0))))
    m.add_shape(Shape("boom", "collision", Sphere(0.1)))
    world = m.world(self_collision=True)
    tables, program, state = (*(Featherstone(world, DT, tables=own) for own in (True, False)), world.state())
    state.q[:, -1], state.v[:, -2] = 10.0, 0.5
    known = 0
    for _ in range(120):
        after, expected = tables.step(state), program.step(state)
        np.testing.assert_allclose(after.v, expected.v, atol=1e-6)
        known += sum(int(engine.c.tree_apart.sum()) for engine in chain(*tables._by_tables._idle.values()))
        state = expected
    assert state.v[0, -2] < 0.1
    assert known > 40


@pytest.mark.slow
def test_a_joint_that_is_fast_on_a_short_way_has_no_bound():
    """A cam whose curve has one longer stretch: at most samples of it the speed is the same."""
    angles = np.cumsum([0.0, *(2.0 if k == 5 else 0.1 for k in range(20))])
    cam = Spline([SE3.from_rpy((0.0, 0.0, float(angle))) for angle in angles], span=(0.0, 10.0))
    assert bounds_of(cam) is None
    m = cardan.Mechanism("cam", gravity=(0, 0, 0))
    m.add_body("arm", Sphere(0.1).inertia_of_mass(1.0))
    m.add_joint("cam", cam, "world", "arm")
    m.add_shape(Shape("arm", "collision", Sphere(0.05), SE3(translation=(1.0, 0.0, 0.0))))
    m.add_shape(Shape("world", "collision", Sphere(0.05), SE3(translation=(np.cos(1.5), np.sin(1.5), 0.0))))
    world = m.world(self_collision=True)
    solver, state = Featherstone(world, DT, tables=True), world.state()
    state.v[0, 0] = 5.0
    for _ in range(10):
        state = solver.step(state, steps=80)
        assert world.collide(state).gap.min() > -1e-6
    assert state.q[0, 0] < 3.0  # it went through


@pytest.mark.full
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("is_held", [False, True], ids=["floating", "held"])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_bounds_of_machines_with_slides_are_below_the_gaps_of_all_pairs(one_thread, size, is_held, dtype):
    """And their steps hang on nothing before."""
    rng, known, close, touching = np.random.default_rng(0), 0, 0, 0
    for seed in range(3):
        world = machine(seed, size, is_held).world(self_collision=True)
        state, solver, forgetful = (
            world.state(16, dtype=dtype),
            *(Featherstone(world, DT, tables=True) for _ in range(2)),
        )
        solver.step(state)
        (engine,) = chain(*solver._by_tables._idle.values())
        q, unit = configurations(world, engine.c, size, 16, rng)
        state.q, state.v = q, np.logspace(-1.5, 1.0, 16)[:, None] * unit * rng.normal(size=(16, len(unit)))
        found = check_bounds(world, state, 20)
        known, close = known + found[0], close + found[1]
        for _ in range(20):
            after = solver.step(state)
            np.testing.assert_array_equal(after.v, forgetful.step(state).v)
            forget(forgetful)
            touching += robots_that_touch_themselves(solver)
            state = after
    assert min(known, close, touching) > 60


def motions_of_machine(seed, size, is_held, dtype, worlds):
    """Return a world of a machine, and a state in which it moves at many speeds."""
    world, rng = machine(seed, size, is_held).world(self_collision=True), np.random.default_rng(seed)
    solver, state = Featherstone(world, DT, tables=True), world.state(worlds, dtype=dtype)
    solver.step(state)
    (engine,) = chain(*solver._by_tables._idle.values())
    q, unit = configurations(world, engine.c, size, worlds, rng)
    state.q, state.v = q, np.logspace(-1.5, 1.0, worlds)[:, None] * unit * rng.normal(size=(worlds, len(unit)))
    return world, state


@pytest.mark.full
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("is_held", [False, True], ids=["floating", "held"])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_contacts_that_the_twists_of_nodes_rule_out_are_those_whose_law_is_open(one_thread, size, is_held, dtype):
    """A step is the same to the bit if the law of every pair is asked that hinges could close."""
    ruled_out = touching = 0
    for seed in range(4):
        world, state = motions_of_machine(seed, size, is_held, dtype, 24)
        solver, thorough = (Featherstone(world, DT, tables=True) for _ in range(2))
        thorough.step(state)
        (every,) = chain(*thorough._by_tables._idle.values())
        every.c.slip = 1e300  # so nothing is ruled out
        every.c.horizon = max(every.c.horizon, STEPS_AHEAD)  # and more is looked at than friction reaches
        for _ in range(20):
            after, expected = solver.step(state), thorough.step(state)
            for name in ("q", "v", "residual"):
                np.testing.assert_array_equal(getattr(after, name), getattr(expected, name))
            np.testing.assert_array_equal(after.kept_impulses.key, expected.kept_impulses.key)
            np.testing.assert_array_equal(after.kept_impulses.impulse, expected.kept_impulses.impulse)
            (engine,) = chain(*solver._by_tables._idle.values())
            ruled_out += np.count_nonzero(engine.c.close_way != every.c.close_way)
            touching += robots_that_touch_themselves(solver)
            state = after
    assert ruled_out > 100
    assert touching > 40


@pytest.mark.slow
def test_shapes_are_at_least_as_far_apart_as_along_the_way_of_a_search_before(one_thread, monkeypatch):
    """Along what a search found in one place, hulls are measured in another; other shapes by the boxes about them."""
    monkeypatch.setattr(layout, "MOST_MET", 6)
    one, rng = arm(), np.random.default_rng(0)
    for body, count in [("base", 9), ("l0", 12), ("l1", 7), ("l2", 15)]:
        one.add_shape(Shape(body, "collision", Hull(0.06 * rng.normal(size=(count, 3)))))
    world = one.world(ground=True, self_collision=True)
    solver, state = Featherstone(world, DT, tables=True), world.state(30)
    found = []
    for _ in range(3):
        state.q = [0.0, 2.4, 2.4] + 0.15 * rng.normal(size=(30, 3))
        solver.step(state)
        (engine,) = chain(*solver._by_tables._idle.values())
        c, gaps = engine.c, np.asarray(cardan.clearance(world, state.q).distance)
        shapes = np.stack([(c.inner >> BITS) & MASK, c.inner & MASK], axis=1)
        column = world.pairs.rules.numbers(np.sort(shapes, axis=1))
        for t in range(30):
            for k in range(t * c.inner_count, t * c.inner_count + c.tree_close[t]):
                if c.close_way[k].any():
                    bound = apart_as_before(c, t, k)
                    assert bound == apart_as_before.python(c, t, k)
                    found.append((bound, gaps[t, column[c.close_pair[k]]]))
    bound, gap = np.array(found).T
    assert (bound <= gap + 1e-9).all()
    assert 3 < np.count_nonzero(np.isclose(bound, gap, rtol=0.0, atol=1e-6)) < len(gap)


def forget(solver):
    """Let a solver forget for how long robots are apart from themselves, how far, and which pairs were near."""
    for engine in chain(*solver._by_tables._idle.values()):
        engine._forget_pairs()
        engine.c.listed_count[...] = -1


def robots_that_touch_themselves(solver):
    return sum(int(engine.c.tree_touched.sum()) for engine in chain(*solver._by_tables._idle.values()))


@pytest.mark.slow
def test_a_hand_of_boxes_deep_in_itself_steps_the_same_whatever_was_before(one_thread):
    """What is known of pairs from before decides what is looked at, and must decide nothing else."""
    file = next((file for file in urdf_files() if file.name == "allegro_right_hand.urdf"), None)
    if file is None:
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of coarse hulls
        world = cardan.load_mechanism(file).world("floating", self_collision=True)
    rng, n = np.random.default_rng(1), 128
    known, forgetful = (Featherstone(world, DT, tables=True) for _ in range(2))
    state, q, touching = world.state(n), world.model.random_configuration((n,), seed=1), 0
    for _ in range(40):
        q[:, 7:] += 1e-3 * rng.normal(size=(n, 16))
        state.q, state.v = q, 0.1 * rng.normal(size=(n, world.model.nv))
        after = known.step(state)
        np.testing.assert_array_equal(after.v, forgetful.step(state).v)
        forget(forgetful)
        touching += robots_that_touch_themselves(known)
    for k in range(16):
        np.testing.assert_array_equal(after.v[k], forgetful.step(state[k : k + 1]).v[0])
    assert touching > 1000


@pytest.mark.slow
def test_a_robot_beside_another_steps_the_same_whatever_was_before(one_thread, touching_arms):
    """That it is listed with another hangs on steps before. Whether it is near one is what counts."""
    b, one = WorldBuilder(), arm()
    one.self_collision = True
    b.add_ground()
    b.replicate(one, 2, spacing=0.6)
    world, rng = b.finalize(), np.random.default_rng(0)
    known, forgetful = (Featherstone(world, DT, tables=True) for _ in range(2))
    state, touching = world.state(64), 0
    q = np.tile([0.0, 2.0, 2.0], (64, 2)) + 0.3 * rng.normal(size=(64, 6))
    for _ in range(60):
        q += 0.003 * rng.normal(size=q.shape)
        state.q, state.v = q, 3.0 * rng.normal(size=(64, 6))
        np.testing.assert_array_equal(known.step(state).v, forgetful.step(state).v)
        forget(forgetful)
        touching += robots_that_touch_themselves(known)
    assert touching > 1000


def folded(world, gap):
    """Return the configuration of an arm, folded, whose last link is so far from the first."""
    low, high = 2.0, 2.9
    for _ in range(60):
        q = np.array([0.0, 0.5 * (low + high), 0.5 * (low + high)])
        near = cardan.clearance(world, q, pairs=["l2/l0"]).distance[0]
        low, high = (q[1], high) if near > gap else (low, q[1])
    return q


@pytest.fixture
def touching_arms(monkeypatch):
    """Arms whose pairs with themselves are more than a program of one alone has."""
    monkeypatch.setattr(layout, "MOST_MET", 6)
    return arm().world(ground=True, self_collision=True)


def of_which_the_first_is_alone(world, gaps, speeds):
    """Return states after a step of arms folded up to gaps, the first of which alone is alone; and as if all were."""
    apart, state = arm().world(ground=True), world.state(len(gaps))
    state.q, state.v = [folded(world, gap) for gap in gaps], speeds
    free, solver = apart.state(len(gaps)), Featherstone(world, DT, tables=True)
    free.q, free.v = state.q, state.v
    after, expected = solver.step(state), Featherstone(apart, DT, tables=False).step(free)
    engines = chain(*solver._by_tables._idle.values())
    assert sum(int(engine.c.tree_alone.sum()) for engine in engines) == 1
    np.testing.assert_allclose(after.v[0], expected.v[0], atol=1e-12)
    return after, expected


@pytest.mark.slow
def test_a_robot_that_is_near_itself_and_does_not_touch_is_alone(touching_arms):
    """At 3 mm contact is looked for. Where its step alone does not close the gap, nothing acts."""
    speeds = [[0.0, 0.0, 0.0], [0.0, 0.0, 10.0], [0.0, 0.0, 0.0]]
    after, expected = of_which_the_first_is_alone(touching_arms, (3e-3, 3e-3, -1e-4), speeds)
    assert (np.abs(after.v - expected.v).max(axis=1)[1:] > 1e-3).all()


@pytest.mark.slow
def test_the_step_alone_of_a_robot_stands_if_what_is_near_opens(touching_arms):
    """At 3 mm and 10 rad/s shapes may meet in a step. The law of their contact says that they part."""
    speeds = [[0.0, 0.0, -10.0], [0.0, 0.0, 10.0]]
    after, expected = of_which_the_first_is_alone(touching_arms, (3e-3, 3e-3), speeds)
    assert np.abs(after.v[1] - expected.v[1]).max() > 1.0


@pytest.mark.slow
def test_forces_of_a_robot_on_itself_are_those_of_one_program_before_any_step(touching_arms):
    """A link that closes 12 mm in a step touches, whatever a look at the robot has left of its hinges' speeds."""
    state = touching_arms.state(1)
    state.q, state.v = [folded(touching_arms, 0.012)], [[0.0, 0.0, 20.0]]
    found, expected = (
        np.abs(Featherstone(touching_arms, DT, tables=tables).contact_forces(state).force).max()
        for tables in (True, False)
    )
    assert found == pytest.approx(expected, rel=1e-6)
    assert expected > 100.0


@pytest.mark.slow
def test_forces_of_a_robot_on_itself_do_not_hang_on_the_state_that_was_asked_for_before():
    """Pairs that were listed where it was stretched out were taken for all that there are, and it did not touch."""
    world = arm().world(self_collision=True)
    apart, solver = world.state(1), Featherstone(world, DT, tables=True)
    apart.q = [[0.1, 0.0, 0.0]]
    touching = world.state(1)
    touching.q, touching.v = [folded(world, 1e-3)], [[0.0, 0.0, 10.0]]
    assert not solver.contact_forces(apart).force.any()
    expected = Featherstone(world, DT, tables=True).contact_forces(touching).force
    assert np.abs(expected).max() > 1.0
    np.testing.assert_array_equal(solver.contact_forces(touching).force, expected)


@pytest.mark.slow
def test_what_is_known_of_a_robot_ends_where_its_state_is_no_number(touching_arms):
    state, solver = touching_arms.state(2), Featherstone(touching_arms, DT, tables=True)
    state.q = [[0.1, 0.0, 0.0], folded(touching_arms, 1e-3)]
    expected = Featherstone(touching_arms, DT, tables=True).step(state, steps=5)
    state.q = [[0.1, 0.0, 0.0]] * 2
    state.v = [[1e200, 0.0, 0.0], [0.0, 1e308, -1e308]]
    assert np.isnan(solver.step(state, steps=3).residual).all()
    state.v = np.zeros((2, 3))
    state.q = [[0.1, 0.0, 0.0], folded(touching_arms, 1e-3)]
    np.testing.assert_array_equal(solver.step(state, steps=5).v, expected.v)


@pytest.mark.slow
def test_a_robot_that_touches_itself_is_the_same_among_others_that_do_not(touching_arms):
    state, solver = touching_arms.state(19), Featherstone(touching_arms, DT, tables=True)
    rng = np.random.default_rng(0)
    state.q = [folded(touching_arms, 1e-3) if k % 3 else rng.normal(size=3) for k in range(19)]
    state.v = rng.normal(size=(19, 3))
    together = solver.step(state, steps=5)
    for k in range(19):
        own = touching_arms.state(1)
        own.q, own.v = state.q[[k]], state.v[[k]]
        np.testing.assert_array_equal(solver.step(own, steps=5).v[0], together.v[k])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("joint", "bent"),
    [(Universal((0, 1, 0), (1, 0, 0)), 2.3), (Mimic(Revolute((0, 1, 0)), "j1"), 1.7)],
    ids=["in one place", "as one"],
)
def test_joints_of_several_hinges_have_room(touching_arms, joint, bent):
    """It holds for many steps, and hangs on nothing else. Hinges are in one place, or share a coordinate."""
    world, rng = arm(joint).world(ground=True, self_collision=True), np.random.default_rng(1)
    tables, forgetful, program = (Featherstone(world, DT, tables=tables) for tables in (True, True, False))
    state = world.state(8)
    state.q = np.array([0.0, bent, bent, 0.0])[: world.model.nq] + 0.1 * rng.normal(size=(8, world.model.nq))
    state.v = 0.1 * rng.normal(size=(8, world.model.nv))
    listed = known = 0
    for _ in range(60):
        after, expected = tables.step(state), program.step(state)
        np.testing.assert_array_equal(after.v, forgetful.step(state).v)
        np.testing.assert_allclose(after.v, expected.v, atol=2e-3)
        for engine in chain(*tables._by_tables._idle.values()):
            listed, known = listed + engine.c.tree_coupled.sum(), known + engine.c.tree_apart.sum()
        forget(forgetful)
        state = expected
    assert listed > known > 60


@pytest.mark.slow
def test_many_robots_that_nothing_can_touch_are_rows():
    b = WorldBuilder()
    b.add_ground()
    b.replicate(cardan.robots.cart_pole(), 40, spacing=1.0)
    world = b.finalize()
    state, one = world.state(), cardan.robots.cart_pole().world()
    state.q = np.random.default_rng(0).normal(size=(1, 80))
    solver, alone = Featherstone(world, DT), one.state(40)
    assert solver.tables
    alone.q = state.q.reshape(40, 2)
    expected = Featherstone(one, DT).step(alone, steps=20).q
    np.testing.assert_allclose(solver.step(state, steps=20).q.reshape(40, 2), expected, atol=1e-12)


@pytest.mark.full
def test_robots_are_pushed_apart_and_then_alone():
    """Two that meet are an island, and part; what happens to each is that of one program."""
    world = robots([0.0, 0.22, 3.0, 6.0])
    tables, program = (Featherstone(world, DT, tables=tables) for tables in (True, False))
    state = world.state()
    for _ in range(10):
        after, expected = tables.step(state, steps=5), program.step(state, steps=5)
        np.testing.assert_allclose(after.v, expected.v, atol=1e-3)
        state = expected


def test_steps_in_single_precision_are_the_same_however_many_a_call_takes():
    world = scene(9, "mixed")
    solver = Featherstone(world, DT)
    start = moved(world.state(dtype=np.float32))
    state = start
    for _ in range(20):
        state = solver.step(state)
    np.testing.assert_array_equal(solver.step(start, steps=20).q, state.q)


@pytest.mark.full
def test_bodies_that_move_as_told_are_felt_as_in_one_program():
    b = WorldBuilder()
    b.add_ground()
    for k in range(4):
        b.add_body(f"b{k}", pose=SE3(translation=(0.02 * k, 0.0, 0.1 + 0.19 * k)))
        b.add_shape(f"b{k}", Box((0.2, 0.2, 0.2)))
    world = b.finalize(keep_overlapping=True).with_kinematic("b0_free")
    control = world.control()
    control.velocity[:, :3] = 0.1
    states = [Featherstone(world, DT, tables=tables).step(world.state(), control, steps=20) for tables in (True, False)]
    np.testing.assert_allclose(states[0].v, states[1].v, atol=1e-4)


@pytest.mark.full
def test_grounds_that_move_and_meet_no_other():
    b = WorldBuilder()
    b.add_link("lift", inertia=Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add_joint("rail", cardan.joints.Prismatic((0, 0, 1)), "world", "lift", drive=Drive(1e5, 1e3))
    b.add_shape("lift", Plane(), density=0.0)
    b.add_articulation("lift", ["rail"])
    for k in range(4):
        b.add_body(f"ball{k}", pose=SE3(translation=(0.5 * k, 0.0, 0.1)))
        b.add_shape(f"ball{k}", Sphere(0.1))
    world = b.finalize()
    states = [Featherstone(world, DT, tables=tables).step(world.state(), steps=50) for tables in (True, False)]
    np.testing.assert_allclose(states[0].v, states[1].v, atol=1e-4)


@pytest.mark.full
def test_few_tables_are_kept_for_numbers_of_worlds():
    solver, world = Featherstone(scene(4, "ball"), DT), scene(4, "ball")
    for count in range(1, 30):
        solver.step(world.state(worlds=count))
    assert sum(map(len, solver._by_tables._idle.values())) <= 16


def heaps(with_others=True):
    """Two stacks and a ball that comes down on one of them after a second; capsules far away."""
    b, surface = WorldBuilder(), Material(stiffness=5e4, dissipation=20.0)
    b.add_ground(surface)
    for k in range(5 * with_others):
        b.add_body(f"far{k}", pose=SE3(translation=[9.0, 0.0, 0.06 + 0.13 * k]))
        b.add_shape(f"far{k}", Capsule(0.06, 0.1), material=surface)
    for k in range(6):
        b.add_body(f"box{k}", pose=SE3(translation=[3.0 * (k % 2), 0.0, 0.1 + 0.2 * (k // 2)]))
        b.add_shape(f"box{k}", Box((0.2, 0.2, 0.2)), material=surface)
    b.add_body("ball", pose=SE3(translation=[0.1, 0.0, 6.0]))
    b.add_shape("ball", Sphere(0.1), material=surface)
    return b.finalize()


def asleep(state):
    return (state.kept_impulses.rest < 0).astype(int).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("make", [Featherstone, XPBD, Variational])
def test_an_island_at_rest_sleeps_until_something_touches_it(make):
    world, alone = heaps(), heaps(with_others=False)
    solver, own = (make(w, DT, sleep=0.02) for w in (world, alone))
    assert own.tables
    state, before = world.state(), np.inf
    seen, residuals = list[list[int]](), list[float]()
    for k in range(140):
        state = solver.step(state, steps=10)
        energy = cardan.kinetic_energy(world.model, state.q, state.v) + cardan.potential_energy(world.model, state.q)
        # What springs of contacts give back is less. Shapes begin 90 mm deep: rigid contacts leave that in 45 steps.
        assert (k < 5 and make is not Featherstone) or energy[0] < before + 0.02 * world.model.mass
        before = energy[0]
        residuals.append(float(state.residual[0]))
        if asleep(state)[0][5:] != seen[-1:]:
            seen.append(asleep(state)[0][5:])
    stacks = [0, 1, 0, 1, 0, 1, 0]
    assert [1, 1, 1, 1, 1, 1, 0] in seen
    assert stacks in seen[seen.index([1, 1, 1, 1, 1, 1, 0]) :]
    assert max(residuals) < 1e-3
    after = own.step(alone.state(), steps=1400)
    np.testing.assert_array_equal(after.q, state.q[:, 35:])
    still = np.repeat(np.array(asleep(after)[0]) == 1, 6)
    assert still.any()
    np.testing.assert_array_equal(after.v[0, still], 0.0)


def test_a_ball_that_spins_slowly_in_its_place_falls_asleep():
    """Nothing resists that. Its surface may be ten times as fast as `sleep`, as no point of a box may be."""
    b = cardan.WorldBuilder()
    b.add_ground()
    for k in range(4):
        b.add_body(f"ball{k}", pose=cardan.SE3(translation=[k, 0.0, 0.1]))
        b.add_shape(f"ball{k}", Sphere(0.1))
    state = b.finalize().state()
    state.v[0, [5, 11, 17]] = 0.2, 4.0, 6.0
    after = Featherstone(state.world, dt=0.002, sleep=0.05).step(state, steps=300)
    np.testing.assert_array_equal(after.v[0, [5, 11, 17]] == 0.0, [True, True, False])
    np.testing.assert_allclose(after.v[0, 17], 6.0, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.full)])
def test_sleep_is_part_of_the_state(tmp_path, dtype):
    world = heaps()
    solver, start = Featherstone(world, DT, sleep=0.02), world.state(worlds=3, dtype=dtype)
    start.v = 0.05 * np.random.default_rng(0).standard_normal(start.v.shape)
    middle = solver.step(start, steps=400)
    assert any(map(any, asleep(middle)))
    middle.save(tmp_path / "state.npz")
    after = solver.step(middle, steps=300)
    assert asleep(after) != asleep(middle)
    for copied in (pickle.loads(pickle.dumps(middle)), cardan.State.load(world, tmp_path / "state.npz")):
        assert copied == middle
        assert Featherstone(world, DT, sleep=0.02).step(copied, steps=300) == after
    steps, advance = middle, solver.stepper(middle[1], steps=3)
    threads = cardan.num_threads()
    try:
        cardan.set_num_threads(2)
        for _ in range(100):
            steps = solver.step(steps, steps=3)
            advance()
    finally:
        cardan.set_num_threads(threads)
    assert steps == after
    np.testing.assert_array_equal(advance.state.q, after[1].q)
    np.testing.assert_array_equal(solver.step(middle[[2, 0, 2]], steps=300).q, after.q[[2, 0, 2]])


def test_who_acts_on_a_body_asleep_wakes_its_island():
    world = heaps(with_others=False)
    solver = Featherstone(world, DT, sleep=0.02)
    state = solver.step(world.state(), steps=480)
    rest, one, other = [1] * 6 + [0], [0, 1] * 3 + [0], [1, 0] * 3 + [0]
    assert asleep(state) == [rest]
    assert asleep(solver.step(state)) == [rest]
    before = solver.step(state, steps=3)
    moved_one, thrown, lost, push = state.copy(), state.copy(), state.copy(), world.control()
    moved_one.q[0, 7 * 2] += 1e-12
    thrown.v[0, 6 * 3] = 1e-12
    lost.q[0, 2] = np.nan
    assert [asleep(solver.step(s)) for s in (moved_one, thrown, lost)] == [[one], [other], [one]]
    push.apply_force("box1", (0.0, 0.0, 1e-9))
    assert asleep(solver.step(state, push)) == [other]
    push.wrenches[...] = 0.0
    push.effort[0, 0] = 1e-9
    assert asleep(solver.step(state, push)) == [one]
    bottom = solver.contact_forces(state).force[..., 2].max()  # of those asleep as of others
    assert bottom == pytest.approx(3 * 8.0 * 9.81 / 4, rel=1e-4)
    assert solver.step(state, steps=3) == before
    small = Featherstone(world, DT, sleep=0.02)
    tighten(small)
    assert small.step(state, steps=300) == solver.step(state, steps=300)  # the ball comes down meanwhile
    push.effort[...] = 0.1
    assert asleep(solver.step(world.state(), push, steps=480)) == [[0] * 7]  # what is pushed stays awake
    assert not np.any(Featherstone(world, DT).step(state).kept_impulses.rest)


@pytest.mark.parametrize("speed", [0, -1, np.nan, np.inf, "1", True])
def test_only_speeds_to_sleep_at(speed):
    for make in (Featherstone, XPBD):
        with pytest.raises(cardan.errors.ParameterError, match="sleep"):
            make(scene(4, "ball"), DT, sleep=speed)


def test_one_program_does_not_sleep():
    with pytest.raises(UnsupportedError, match="leave out sleep"):
        Featherstone(scene(4, "ball"), DT, sleep=0.1, tables=False)
    with pytest.raises(UnsupportedError, match="leave out sleep"):
        Featherstone(cardan.robots.arm7().world(), DT, sleep=0.1).tables


def test_what_keeps_a_world_from_tables_is_named_with_a_way_out(monkeypatch):
    """A world that has to go by one program was told to take tables, which refused it."""
    b = WorldBuilder()
    b.add_ground()
    b.add(cardan.robots.four_bar())
    for k in range(6):
        b.add_body(f"b{k}", pose=SE3(translation=[0.3 * k, 2.0, 0.2]))
        b.add_shape(f"b{k}", Sphere(0.1))
    world = b.finalize()
    for make in (Featherstone, XPBD):
        with pytest.raises(
            UnsupportedError, match=r"the constraint '.*finalize\(loops=.clusters.\), or ask for tables=Fal"
        ):
            assert make(world, DT, tables=True).tables
    monkeypatch.setattr(pairs, "MANY", 3)
    with pytest.warns(UserWarning, match=r"or make clusters of loops, finalize\(loops=.clusters.\) \(the constraint '"):
        Featherstone(world, DT)
    with pytest.warns(UserWarning, match=r"or take cardan.solvers.Featherstone\(tables=True\)\."):
        cardan.solvers.SemiImplicit(b.finalize(loops="clusters"), DT)
    assert Featherstone(b.finalize(loops="clusters"), DT).tables


@pytest.mark.slow
@pytest.mark.parametrize("base", [FreeFlyer(), Revolute((0, 0, 1)), "fixed"], ids=["free", "column", "fixed"])
def test_robots_with_loops_are_of_one_kind_and_move_as_one_program_moves_them(base):
    """Clusters of other names and at other places; on a column, or fixed, they hang on the world at several places."""
    bars = cardan.robots.four_bar()
    bars = bars.with_drives({"crank_joint": Drive(20.0, 0.5), "rocker_joint": Drive(0.0, 0.2)}).mechanism
    b = WorldBuilder()
    b.add_ground()
    for k in range(4):
        place = SE3.from_rpy((0.0, 0.0, 0.3 * k), (1.5 * k, 0.2 * k, 0.4))
        b.add(bars, prefix=f"r{k}_", pose=place, base=base, stand=False, self_collision=True)
        b.add_shape(f"r{k}_coupler", Box((0.3, 0.1, 0.1)))
        b.add_shape(f"r{k}_base", Box((0.3, 0.1, 0.1)), SE3(translation=(0.2, 0.0, 0.0)))
    world = b.finalize(loops="clusters")
    assert [len(kind.trees) for kind in kinds_of(world.model, ())] == [4]
    state = moved(world.state(worlds=3))
    for steps in (1, 40):
        one, rows = (Featherstone(world, DT, tables=tables).step(state, steps=steps) for tables in (False, True))
        assert not rows.diverged.any()
        assert np.abs(rows.v - one.v).max() < 1e-4 * np.abs(one.v).max(), steps


@pytest.mark.slow
def test_more_bodies_than_an_island_of_a_robot_may_have_are_refused():
    """On a plate that a joint holds lie 200 balls: no contact is dropped, the state stays, fewer balls are stepped."""
    b, side = WorldBuilder(), 15
    b.add_link("plate")
    b.add_shape("plate", Box((0.1 * side + 0.2, 0.1 * side + 0.2, 0.1)))
    b.add_joint("lift", cardan.joints.Prismatic([0, 0, 1]), "world", "plate")
    b.add_articulation("table", ["lift"])
    for k in range(200):
        at = SE3(translation=[0.1 * (k % side - side / 2), 0.1 * (k // side - side / 2), 0.089])
        b.add_link(f"ball{k}")
        b.add_shape(f"ball{k}", Sphere(0.04))
        b.add_joint(f"free{k}", FreeFlyer(), "world", f"ball{k}", at)
        b.add_articulation(f"body{k}", [f"free{k}"])
    world = b.finalize()
    solver, state = Featherstone(world, DT), world.state()
    before = state.q.copy()
    with pytest.raises(UnsupportedError, match="more than 192 bodies that touch one another; let fewer bodies touch"):
        solver.step(state, steps=2)
    assert np.array_equal(state.q, before)
    q = before.copy()
    q[..., 1 + 7 * 100 + 2 :: 7] += 1.0  # the balls behind the hundredth, away from the plate
    assert solver.step(world.state(q=q), steps=2).residual[0] <= 1e-3
