"""Loops as clusters: one joint between two ends, in the coordinates of the closed mechanism."""

import re

import numpy as np
import pytest

import cardan
import linkages
from cardan.errors import MechanismError, ShapeError
from cardan.robots import five_bar, four_bar, stewart_platform

MECHANISMS = {
    "four_bar": lambda: four_bar().model(),
    "tilted": lambda: linkages.tilted(four_bar()).model(),
    "five_bar": lambda: five_bar().model(),
    "slider_crank": lambda: linkages.slider_crank_of_bars().model(),
    "bennett": lambda: linkages.bennett().model(),
    "parallelogram": lambda: linkages.parallelogram().model(),
    "ankle": lambda: linkages.parallel_ankle().model(),
    "scissor": lambda: linkages.scissor(3).model(),
    "cassie": lambda: linkages.leg().model(base="floating"),
    "humanoid": lambda: linkages.humanoid_with_ankles().model(base="floating"),
    "stewart": lambda: stewart_platform().model(),
}
FREEDOMS = {"four_bar": 1, "five_bar": 2, "bennett": 1, "parallelogram": 1, "ankle": 2, "cassie": 9, "stewart": 6}
LIGHT = ("four_bar",)
each = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.full] * (n not in LIGHT)) for n in MECHANISMS]
)


def state(model, seed=0, rows=5):
    rng = np.random.default_rng(seed)
    q = cardan.integrate(model, model.neutral(), 0.2 * rng.normal(size=(rows, model.nv)))
    return q, *(rng.normal(size=(rows, model.nv)) for _ in range(3))


def error(found, expected):
    return np.abs(found - expected).max() / max(1.0, np.abs(expected).max())


@each
def test_a_cluster_moves_as_the_loops_it_closes(name):
    loops = MECHANISMS[name]()
    model, tree = cardan.clustered(loops), loops.spanning_tree()
    assert model.nv == FREEDOMS.get(name, model.nv)
    assert not model.closures
    q, v, _, tau = state(model)
    out = cardan.converter(model, loops)
    x, dx = out.configuration(q), out.velocity(q, v)
    assert np.abs(cardan.loop_residual(loops, x)).max() < 1e-14
    accelerations = cardan.forward_dynamics(model, q, v, tau)
    expected = cardan.constrained_forward_dynamics(loops, x, dx, out.effort(q, tau)).accelerations
    assert error(out.acceleration(q, v, accelerations), expected) < 1e-12
    assert error(cardan.inverse_dynamics(model, q, v, accelerations), tau) < 1e-11
    assert error(cardan.kinetic_energy(model, q, v), cardan.kinetic_energy(tree, x, dx)) < 1e-13


@each
def test_states_convert_both_ways(name):
    loops = MECHANISMS[name]()
    model, tree = cardan.clustered(loops), loops.spanning_tree()
    q, v, a, _ = state(model)
    out, back = cardan.converter(model, loops), cardan.converter(loops, model)
    x, dx, ddx = out.configuration(q), out.velocity(q, v), out.acceleration(q, v, a)
    opening = (cardan.loop_jacobian(loops, x) @ ddx[..., None])[..., 0] + cardan.loop_bias(loops, x, dx)
    assert np.abs(opening).max() < 1e-12
    for found, expected in ((back.configuration(x), q), (back.velocity(x, dx), v), (back.acceleration(x, dx, ddx), a)):
        np.testing.assert_array_equal(found, expected)
    efforts = back.effort(x, cardan.inverse_dynamics(tree, x, dx, ddx))
    assert error(cardan.inverse_dynamics(model, q, v, a), efforts) < 1e-12
    assert error(cardan.forward_kinematics(model, q), cardan.forward_kinematics(tree, x)) < 1e-14


@each
def test_derivatives_are_those_by_differences(name):
    model = cardan.clustered(MECHANISMS[name]())
    q, v, _, tau = state(model, rows=1)
    q, v, tau = q[0], v[0], tau[0]
    by = cardan.forward_dynamics_derivatives(model, q, v, tau)
    steps = np.concatenate([h * np.eye(model.nv) for h in (1e-6, -1e-6)])
    for found, values in (
        (by.dq, cardan.forward_dynamics(model, cardan.integrate(model, q, steps), v, tau)),
        (by.dv, cardan.forward_dynamics(model, q, v + steps, tau)),
        (by.dtau, cardan.forward_dynamics(model, q, v, tau + steps)),
    ):
        ahead, behind = np.split(values, 2)
        assert error(found, (ahead - behind).T / 2e-6) < 1e-7


def test_configurations_stay_closed_however_far_they_go():
    loops = four_bar().model()
    model = cardan.clustered(loops, ["crank_joint"])
    rng = np.random.default_rng(0)
    q, step = model.random_configuration((50,), seed=0), rng.uniform(-3.0, 3.0, (50, 1))
    there = cardan.integrate(model, q, step)
    for each_q in (q, there, cardan.normalize(model, there + 1e-3 * rng.normal(size=there.shape))):
        assert np.abs(cardan.loop_residual(loops, each_q)).max() < 1e-13
    assert q[:, 0].max() - q[:, 0].min() > 5.0  # the crank turns all around
    np.testing.assert_allclose(cardan.difference(model, q, there), step, atol=1e-13)


def test_the_assembly_mode_is_in_the_configuration():
    loops = four_bar().model()
    other = cardan.assemble(loops, [0.0, -1.6, 2.7], fixed=("crank_joint",))
    mirrored = cardan.clustered(loops, ["crank_joint"], near=other)
    np.testing.assert_allclose(mirrored.neutral(), other, atol=1e-12)
    assert np.abs(mirrored.neutral() - cardan.clustered(loops).neutral()).max() > 1.0
    q = mirrored.random_configuration((20,), seed=0)
    assert np.abs(cardan.loop_residual(loops, q)).max() < 1e-13


@cardan.function
def rk4(model, q, v):
    """Runge and Kutta's fourth order on the manifold, in steps of 1 ms."""
    dt, still = 1e-3, 0.0 * v
    a1 = cardan.forward_dynamics(model, q, v, still)
    v2 = v + dt / 2 * a1
    a2 = cardan.forward_dynamics(model, cardan.integrate(model, q, dt / 2 * v), v2, still)
    v3 = v + dt / 2 * a2
    a3 = cardan.forward_dynamics(model, cardan.integrate(model, q, dt / 2 * v2), v3, still)
    v4 = v + dt * a3
    a4 = cardan.forward_dynamics(model, cardan.integrate(model, q, dt * v3), v4, still)
    q = cardan.integrate(model, q, dt / 6 * (v + 2 * v2 + 2 * v3 + v4))
    return {"q": q, "v": v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)}


@pytest.mark.parametrize(("name", "drift"), [("four_bar", 1e-7), pytest.param("bennett", 1e-7, marks=pytest.mark.full)])
def test_ten_seconds_keep_energy_and_stay_closed(name, drift):
    loops = MECHANISMS[name]()
    model = cardan.clustered(loops)
    q, v = model.neutral(), np.full(model.nv, 3.0)
    energy = cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q)
    end = rk4.repeated(10_000)(model, q, v)
    q, v = end["q"], end["v"]
    assert abs(cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q) - energy) < drift
    assert np.abs(cardan.loop_residual(loops, q)).max() < 1e-14


def test_where_the_independent_coordinate_determines_nothing_results_are_no_numbers():
    model = cardan.clustered(linkages.slider_crank_of_bars().model(), ["slide"])
    crank = cardan.clustered(linkages.slider_crank_of_bars().model(), ["crank_joint"])
    angle = 0.8  # of the crank at q = 0: from there it turns to its dead point
    dead = cardan.integrate(crank, crank.neutral(), [-angle])
    assert np.isnan(cardan.forward_dynamics(model, dead, [0.1], [0.1])).all()
    assert np.isfinite(cardan.forward_dynamics(crank, dead, [0.1], [0.1])).all()


def test_passive_properties_count_along_the_coordinates_of_their_joints():
    def linkage(**own):
        m = four_bar()
        (c,) = [c for c in m.joints if c.name == "rocker_joint"]
        return m.replace_joint("rocker_joint", c.joint, **own).mechanism.model()

    model = cardan.clustered(linkage(damping=[0.3], spring=cardan.Spring(2.0, 0.1)), ["crank_joint"])
    q, v, _, _ = state(model)
    tree = linkage(damping=[0.3], spring=cardan.Spring(2.0, 0.1)).spanning_tree()
    out, back = cardan.converter(model, four_bar().model()), cardan.converter(four_bar().model(), model)
    x, dx = out.configuration(q), out.velocity(q, v)
    np.testing.assert_allclose(
        cardan.passive_forces(model, q, v), back.effort(x, cardan.passive_forces(tree, x, dx)), rtol=1e-12
    )
    independent = cardan.clustered(linkage(friction=[0.2], armature=[0.1]), ["rocker_joint"])
    assert (independent.passive("friction"), independent.passive("armature")) == ((0.2,), (0.1,))
    with pytest.raises(MechanismError, match=r"'rocker_joint' .* is dependent and has friction, armature"):
        cardan.clustered(linkage(friction=[0.2], armature=[0.1]), ["crank_joint"])


@pytest.mark.parametrize(
    ("independent", "message"),
    [
        (
            ["crank_joint", "rocker_joint"],
            "do not determine the others of the loop closed by 'closing_joint'; those of 'crank",
        ),
        (["closing_joint"], "closes a loop and has no coordinates"),
    ],
)
def test_wrong_choices_are_refused_with_better_ones(independent, message):
    with pytest.raises(MechanismError, match=re.escape(message)):
        cardan.clustered(four_bar().model(), independent)


def test_what_is_no_cluster_is_refused():
    with pytest.raises(MechanismError, match="'tip_joint' has 2 freedoms, and independent are 1"):
        cardan.clustered(five_bar().model(), ["left_joint"])
    with pytest.raises(MechanismError, match="no joint that closes a loop"):
        cardan.clustered(cardan.robots.arm7().model())
    with pytest.raises(ShapeError, match=r"expected \(3,\)"):
        cardan.clustered(four_bar().model(), near=[0.0])
    with pytest.raises(MechanismError, match="cannot be closed near the given configuration"):
        cardan.clustered(four_bar().model(), near=[np.nan, 0.0, 0.0])
