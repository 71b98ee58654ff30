"""Ropes and chains: trees without a matrix move as those with one, and as one program moves them."""

import numpy as np
import pytest

from cardan import SE3, Drive, Limits, WorldBuilder
from cardan._motion.crowd import kinds
from cardan.description import Box, Capsule, Sphere
from cardan.joints import FreeFlyer, Revolute, Spherical, Universal
from cardan.solvers import Featherstone

DT = 0.002
LYING = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]  # a capsule lies along x
BENDS = {"drive": Drive(stiffness=0.02, damping=1e-4), "friction": [1e-3], "limits": Limits([-0.3], [0.3])}


def ropes(links, joint=None, *, count=1, free=False, bodies=0, self_collision=False, **properties):
    """Ropes of links of 4 cm side by side, the first link on the world or free, and some bodies above them."""
    b = WorldBuilder()
    b.add_ground()
    for r in range(count):
        names = [f"{r}_{k}" for k in range(links)]
        for k, name in enumerate(names):
            b.add_link(name)
            b.add_shape(name, Capsule(0.008, 0.024), SE3(LYING, [0.02, 0, 0]))
            at = SE3(translation=[0.04, 0, 0] if k else [0, 0.02 * r, 0.02])
            first = FreeFlyer() if free else Spherical()
            own, more = (joint or Spherical(), properties) if k else (first, {})
            b.add_joint(f"to_{name}", own, names[k - 1] if k else "world", name, at, **more)
        b.add_articulation(f"rope{r}", [f"to_{name}" for name in names], self_collision=self_collision)
    for k in range(bodies):
        b.add_body(f"body{k}", pose=SE3(translation=[0.1 + 0.07 * k, 0.003, 0.06]))
        b.add_shape(f"body{k}", Sphere(0.02) if k % 2 else Box((0.03, 0.03, 0.03)))
    return b.finalize()


def moved(state, size=0.3):
    state.v = size * np.random.default_rng(0).standard_normal(state.v.shape)
    return state


def prepared(world, monkeypatch, fewest):
    """Return what steps a world, with no matrix of trees of so many links."""
    monkeypatch.setattr(kinds, "LONG", fewest)
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
