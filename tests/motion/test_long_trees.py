"""Ropes and chains: they keep momentum and energy, and move the same with a matrix, without one, and as one program."""

import numpy as np
import pytest

from cardan import (
    SE3,
    Drive,
    Limits,
    WorldBuilder,
    centroidal_momentum,
    integrate,
    kinetic_energy,
    num_threads,
    potential_energy,
    set_num_threads,
)
from cardan._dynamics.algorithms import chains
from cardan._motion.crowd import kinds
from cardan.description import Box, Capsule, Sphere
from cardan.joints import FreeFlyer, Mimic, Revolute, Spherical, Universal
from cardan.solvers import Featherstone

DT = 0.002
LYING = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]  # a capsule lies along x
BENDS = {"drive": Drive(stiffness=0.02, damping=1e-4), "friction": [1e-3], "limits": Limits([-0.3], [0.3])}


def ropes(
    links, joint=None, *, count=1, free=False, bodies=0, self_collision=False, height=0.02, gravity=9.81, size=1.0,
    apart=0.02, bodies_at=(0.1, 0.003, 0.06), **properties,
):  # fmt: skip
    """Ropes of links of 4 cm side by side, the first link on the world or free, and some bodies, above them by default.

    Links of another `size` are so many times as large.
    """
    b = WorldBuilder(gravity=(0, 0, -gravity))
    b.add_ground()
    for r in range(count):
        names = [f"{r}_{k}" for k in range(links)]
        for k, name in enumerate(names):
            b.add_link(name)
            b.add_shape(name, Capsule(0.008 * size, 0.024 * size), SE3(LYING, [0.02 * size, 0, 0]))
            at = SE3(translation=[0.04 * size, 0, 0] if k else [0, apart * r, height])
            first = FreeFlyer() if free else Spherical()
            own, more = (joint or Spherical(), properties) if k else (first, {})
            b.add_joint(f"to_{name}", own, names[k - 1] if k else "world", name, at, **more)
        b.add_articulation(f"rope{r}", [f"to_{name}" for name in names], self_collision=self_collision)
    for k in range(bodies):
        b.add_body(f"body{k}", pose=SE3(translation=np.add(bodies_at, [0.07 * k, 0, 0])))
        b.add_shape(f"body{k}", Sphere(0.02) if k % 2 else Box((0.03, 0.03, 0.03)))
    return b.finalize()


def moved(state, size=0.3):
    state.v = size * np.random.default_rng(0).standard_normal(state.v.shape)
    return state


def prepared(world, monkeypatch, fewest):
    """Return what steps a world, with no matrix of trees of so many links."""
    monkeypatch.setattr(kinds, "LONG", fewest)
    monkeypatch.setattr(chains, "DEEP", 8)
    monkeypatch.setattr("cardan._dynamics.algorithms.along.ALIKE", 4)
    solver = Featherstone(world, DT, tables=True)
    solver.step(world.state())
    return solver


@pytest.mark.full
@pytest.mark.parametrize(
    "options",
    [
        {"free": True, "damping": [1e-4] * 3},
        {"joint": Universal(), "bodies": 3},
        {"joint": Revolute([0, 1, 0]), "bodies": 1, **BENDS},
        {"count": 2, "self_collision": True, "damping": [1e-4] * 3},
    ],
    ids=["ground", "bodies", "drives", "ropes"],
)
def test_trees_without_a_matrix_move_as_those_with_one(options, monkeypatch):
    world = ropes(10, **options)
    recursion, matrix = prepared(world, monkeypatch, 8), prepared(world, monkeypatch, 1000)
    state, right = moved(world.state()), 0
    for _ in range(200):
        after, expected = recursion.step(state), matrix.step(state)
        if expected.residual < 1e-4:  # others are where iterations go in circles, and rounding with them
            right += 1
            np.testing.assert_allclose(after.v, expected.v, rtol=1e-8, atol=1e-8)
            np.testing.assert_allclose(after.residual, expected.residual, atol=1e-6)
        state = expected
    assert right > 100


@pytest.mark.slow
def test_a_rope_that_is_led_moves_as_one_with_a_matrix(monkeypatch):
    """Its end and a link of its middle move as they are told."""
    world = ropes(10, free=True, bodies=1, height=0.1).with_kinematic(["to_0_0", "to_0_6"])
    recursion, matrix = prepared(world, monkeypatch, 8), prepared(world, monkeypatch, 1000)
    state, control = moved(world.state()), world.control()
    control.velocity = 0.5 * np.random.default_rng(1).standard_normal(control.velocity.shape)
    for _ in range(60):
        after, state = recursion.step(state, control), matrix.step(state, control)
        if state.residual < 1e-4:
            np.testing.assert_allclose(after.v, state.v, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(after.v[:, :6], control.velocity[:, :6])


@pytest.mark.slow
def test_a_rope_lies_on_ground_and_is_borne_by_it(monkeypatch):
    """Bits of it hang neither on worlds beside it nor on how many steps a call takes."""
    world = ropes(9, free=True, damping=[1e-4] * 3)
    solver = prepared(world, monkeypatch, 8)
    state = moved(world.state(worlds=2), 0.02)
    both = solver.step(state, steps=300)
    assert both.residual.max() < 1e-4
    force = solver.contact_forces(both).force.sum(axis=1)
    np.testing.assert_allclose(force, [[0, 0, 9.81 * world.model.mass]] * 2, rtol=1e-3, atol=1e-3)
    one = state[1:]
    for _ in range(3):
        one = solver.step(one, steps=100)
    np.testing.assert_array_equal(one.q, both.q[1:])


@pytest.mark.full
def test_a_rope_of_a_hundred_links_goes_by_tables_by_itself():
    world = ropes(100, free=True, damping=[1e-4] * 3)
    solver = Featherstone(world, DT)
    assert solver.tables
    state = solver.step(world.state(), steps=300)
    assert state.residual[0] < 1e-5
    force = solver.contact_forces(state).force[0].sum(axis=0)
    np.testing.assert_allclose(force, [0, 0, 9.81 * world.model.mass], rtol=1e-4, atol=1e-4)


def energy(model, state):
    return kinetic_energy(model, state.q, state.v) + potential_energy(model, state.q)


def growth(world, dt, state, seconds):
    """Return by how much the energy of each world grew at most, over that of its motion and of half its length."""
    solver, model = Featherstone(world, dt), world.model
    start, most = energy(model, state), 0.0
    scale = kinetic_energy(model, state.q, state.v) + 9.81 * model.mass * 0.02 * model.nbodies
    for _ in range(round(seconds / dt / 5)):
        state = solver.step(state, steps=5)
        assert not state.diverged.any()
        most = np.maximum(most, (energy(model, state) - start) / scale)
    return most


@pytest.mark.slow
@pytest.mark.parametrize("links", [18, 34])
def test_a_free_rope_keeps_its_momentum(links):
    """Links with 3 rad/s at random, no longer in line: what changes is the weight's doing alone, whatever the step."""
    world = ropes(links, free=True, height=100.0)
    model, solver = world.model, Featherstone(world, 0.005)
    state = solver.step(moved(world.state(worlds=2), 3.0), steps=20)
    before, seconds = centroidal_momentum(model, state.q, state.v), 0.5
    after = solver.step(state, steps=100)
    fallen = centroidal_momentum(model, after.q, after.v) - before
    np.testing.assert_allclose(fallen[:, :3], [[0, 0, -9.81 * model.mass * seconds]] * 2, atol=1e-11)
    np.testing.assert_allclose(fallen[:, 3:], 0.0, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("dt", [0.002, 0.005])
def test_a_rope_that_whips_gains_no_energy(dt):
    """It hangs by its first link, lets go of the horizontal, and its end whips; undamped."""
    world = ropes(34, height=10.0)
    assert growth(world, dt, moved(world.state(worlds=2)), 2.0).max() < 0.04


@pytest.mark.slow
def test_a_rope_that_falls_on_ground_gains_no_energy():
    world = ropes(34, free=True, height=0.32)
    assert growth(world, 0.002, moved(world.state(worlds=2)), 0.6).max() < 0.01


@pytest.mark.slow
def test_a_fine_chain_that_lands_fast_gains_no_energy():
    """Links of 4 mm move by as much in the step in which they touch ground: they ran away there."""
    world = ropes(40, free=True, height=0.2, size=0.1)
    state = moved(world.state(worlds=3))
    state.v[:, :3] *= 0.1
    start, solver, model = energy(world.model, state), Featherstone(world, 0.002), world.model
    for _ in range(30):
        state = solver.step(state, steps=10)
        assert not state.diverged.any()
        assert (energy(model, state) < 1.001 * start).all()


def coiled(world, fall, *, bend, spin, links):
    """Return ropes of 4 mm links in coils, at most four links above ground, that turn at random as they fall."""
    rng, state = np.random.default_rng(0), world.state(worlds=32)
    change = bend * rng.standard_normal(state.v.shape)
    change[:, : 6 * (fall > 0.0)] = 0.0
    state.q = integrate(world.model, state.q, change)
    state.v = spin * rng.standard_normal(state.v.shape)
    if fall > 0.0:
        state.v[:, :3] *= 0.001
        state.q[:, 2] += 0.004 * rng.uniform(1.0, 4.0, 32) - state.poses[:, :links, 2].min(axis=1)
        state.v[:, 2] -= fall
    return state


@pytest.mark.slow
@pytest.mark.parametrize(("links", "tables"), [(40, True), (17, False)])
@pytest.mark.parametrize(("lengths", "bend", "spin"), [(0.5, 0.05, 25.0), (10.0, 0.3, 25.0), (0.0, 0.1, 500.0)])
def test_links_that_turn_by_radians_in_a_step_are_not_thrown(links, tables, lengths, bend, spin):
    """They land with so many lengths a step, or swing; Coriolis forces pressed them on ground that threw them back."""
    dt = 0.002
    world = ropes(links, free=lengths > 0.0, height=0.0 if lengths else 0.005 * links, size=0.1)
    model, solver = world.model, Featherstone(world, dt, tables=tables)
    state = coiled(world, lengths * 0.004 / dt, bend=bend, spin=spin, links=links)
    start, scale = energy(model, state), kinetic_energy(model, state.q, state.v) + 9.81 * model.mass * 0.002 * links
    for _ in range(12):
        state = solver.step(state, steps=5)
        assert not state.diverged.any()
        assert (energy(model, state) < start + 0.05 * scale).all()


@pytest.mark.full
@pytest.mark.parametrize("links", [20, 100])
def test_no_rope_runs_away(links):
    for dt in (0.001, 0.002, 0.005):
        for free, height in ((False, 10.0), (True, 0.32), (True, 500.0)):
            world = ropes(links, free=free, height=height)
            assert growth(world, dt, moved(world.state(worlds=2)), 5.0).max() < 0.08, (dt, free, height)


@pytest.mark.slow
def test_a_rope_that_swings_gently_keeps_its_energy():
    """What damps joints in whips is not felt in motion that a step can follow."""
    world = ropes(34, height=10.0)
    state = world.state()
    state.q[..., :4] = [0, np.sin(0.95), 0, np.cos(0.95)]  # a little off the vertical
    swing = energy(world.model, state) + 9.81 * world.model.mass * (0.02 * 34 - 10.0)
    after = Featherstone(world, 0.002).step(state, steps=1000)
    assert abs(energy(world.model, after) - energy(world.model, state)) < 0.02 * swing


@pytest.mark.slow
def test_a_chain_moves_by_tables_as_by_one_program():
    world = ropes(18, free=True, damping=[1e-4] * 3)
    one, rows = Featherstone(world, DT, tables=False), Featherstone(world, DT, tables=True)
    state, right = moved(world.state(), 0.02), 0
    for _ in range(60):
        after, expected = rows.step(state), one.step(state)
        if max(after.residual, expected.residual) < 1e-12:
            right += 1
            np.testing.assert_allclose(after.v, expected.v, rtol=1e-8, atol=1e-8)
        state = expected
    assert right > 20


@pytest.mark.slow
def test_a_rope_with_dry_friction_comes_to_rest():
    world = ropes(34, free=True, friction=[1e-3] * 3)
    state = Featherstone(world, DT).step(moved(world.state(), 0.1), steps=400)
    assert state.residual[0] < 1e-6
    assert np.abs(state.v).max() < 1e-3


@pytest.mark.slow
def test_dry_friction_of_a_rope_holds_its_form():
    """It stands out from a wall that its first link hangs on, as stiff as its joints hold."""
    links = 34
    world = ropes(links, height=10.0, friction=[2.0] * 3)
    state = world.state()
    bent = Featherstone(world, DT).step(state, steps=50)
    assert bent.residual[0] < 1e-6
    swing = np.abs(bent.v[0]).reshape(-1, 3).max(axis=1)
    assert swing[0] > 1.0  # the first joint has no friction: the rope swings as a rod
    assert swing[1:].max() < 1e-3


@pytest.mark.slow
def test_dry_friction_of_a_rope_slows_at_its_rate():
    """Its last link turns about the line of the rope; the others hold on to one another, and turn against it."""
    links, friction, w = 34, 1e-6, 5.0
    world = ropes(links, friction=[friction] * 3, height=10.0, gravity=0.0)
    state = world.state()
    state.v[0, -3] = w
    J = world.model.bodies[-1].inertia.inertia_at_com[0]
    after = Featherstone(world, DT).step(state, steps=100)
    slower = friction / J * (1.0 + 1.0 / (links - 1)) * 100 * DT
    np.testing.assert_allclose(after.v[0, -3], w - slower, rtol=1e-4)
    np.testing.assert_allclose(after.v[0, 0], friction / J / (links - 1) * 100 * DT, rtol=1e-4)


@pytest.mark.slow
def test_a_rope_that_is_no_number_stands_still_alone():
    """Another one and a body beside it go on with the same bits, on any number of threads."""
    world = ropes(34, free=True, count=2, apart=1.0, bodies=1, height=0.05, bodies_at=(0.3, 1.0, 0.2))
    solver, model = Featherstone(world, DT), world.model
    state = moved(world.state(worlds=3), 0.1)
    sound = solver.step(state, steps=30)
    state.v[0, 50] = np.nan
    before = num_threads()
    for threads in (1, 2, 7):
        set_num_threads(threads)
        after = solver.step(state, steps=30)
        set_num_threads(before)
        assert after.diverged.tolist() == [True, False, False]
        assert np.isnan(after.residual[0])
        np.testing.assert_array_equal(after.q[1:], sound.q[1:])
        of_second = [i for node in model.nodes[34:] for i in node.q]
        np.testing.assert_array_equal(after.q[0, of_second], sound.q[0, of_second])
        np.testing.assert_array_equal(after.q[0, : of_second[0]], state.q[0, : of_second[0]])


@pytest.mark.slow
def test_a_rope_in_single_precision_loses_energy_as_in_double():
    world = ropes(34, free=True, bodies=1, height=0.3)
    double, single = moved(world.state(worlds=2)), world.state(worlds=2, dtype=np.float32)
    single.q, single.v = double.q, double.v
    start, solver = energy(world.model, double), Featherstone(world, DT)
    ends = [energy(world.model, solver.step(state, steps=300)) / start for state in (double, single)]
    np.testing.assert_allclose(ends[1], ends[0], atol=0.01)
    assert ends[0].max() < 0.1


@pytest.mark.slow
def test_a_box_beside_a_rope_sleeps_until_the_rope_hits_it():
    world = ropes(34, free=True, bodies=1, damping=[1e-4] * 3, bodies_at=(0.7, 0.2, 0.015))
    solver = Featherstone(world, DT, sleep=0.02)
    state = solver.step(world.state(), steps=500)
    assert not state.v[0, -6:].any()
    assert state.v[0, :-6].any()  # a rope does not sleep
    place = state.poses[0, -1].copy()
    state.v[0, 1] = 3.0  # m/s
    assert np.abs(solver.step(state, steps=300).poses[0, -1] - place).max() > 0.01


@pytest.mark.slow
def test_a_chain_with_joints_that_share_a_coordinate_moves_by_tables_as_by_one_program():
    """Tables took it for a rope once its joints were simplified, and ended in a KeyError."""
    b, above = WorldBuilder(), "world"
    for k in range(34):
        b.add_link(f"{k}")
        b.add_shape(f"{k}", Capsule(0.008, 0.024), SE3(LYING, [0.02, 0, 0]))
        joint = Mimic(Revolute([0, 1, 0]), "to_10") if k == 20 else Revolute([0, 1, 0])
        b.add_joint(f"to_{k}", joint, above, f"{k}", SE3(translation=[0.04, 0, 0] if k else [0, 0, 2]))
        above = f"{k}"
    b.add_articulation("rope", [f"to_{k}" for k in range(34)])
    world = b.finalize()
    one, rows = (Featherstone(world, DT, tables=tables).step(world.state(), steps=50) for tables in (False, True))
    np.testing.assert_allclose(rows.v, one.v, atol=1e-8)
