"""Shows of contact against analysis: what rolls, tilts, stands, meshes and is held, by the default solver."""

import numpy as np
import pytest

import cardan
from cardan import SE3, Material, WorldBuilder
from cardan._motion.simulation.solvers import Featherstone
from cardan.description import Box, Cylinder, Sphere
from contact_worlds import EARTH, energy

full = pytest.mark.full


def on_ground(shape, friction, *, slope=0.0, height=0.0, turn=None, rolling=0.0, density=1000.0):
    """One body on a half space; on a slope gravity leans towards x."""
    b = WorldBuilder(gravity=(EARTH * np.sin(slope), 0.0, -EARTH * np.cos(slope)))
    surface = Material(friction=friction, rolling=rolling)
    b.add_ground(surface)
    b.add_body("body", pose=SE3(translation=[0.0, 0.0, height]))
    b.add_shape("body", shape, pose=turn or SE3(), density=density, material=surface)
    return b.finalize()


def turns(motion):
    """Return the rotations of the first body of a rollout, (T, 3, 3)."""
    return SE3.from_quaternion(motion.q[:, 0, 3:7], motion.q[:, 0, :3]).matrix()[:, :3, :3]


def speeds(motion):
    """Return the linear and the angular velocity of the first body of a rollout in world axes, (T, 3) each."""
    v = motion.v[:, 0, :6].reshape(-1, 2, 3) @ np.swapaxes(turns(motion), -1, -2)
    return v[:, 0], v[:, 1]


# --- an incline ---


@pytest.mark.parametrize("dt", [1e-3, pytest.param(1e-2, marks=full)])
def test_a_box_on_an_incline_sticks_just_below_the_critical_angle_and_slides_just_above(dt):
    """With mu = 0.5: at 0.98 of the critical slope it stays, at 1.02 it slides by g (sin - mu cos) t^2 / 2."""
    for part in (0.98, 1.02):
        slope = np.arctan(0.5 * part)
        world = on_ground(Box((0.2, 0.2, 0.1)), 0.5, slope=slope, height=0.05)
        after = Featherstone(world, dt).step(world.state(), steps=round(1.0 / dt))
        excess = max(EARTH * (np.sin(slope) - 0.5 * np.cos(slope)), 0.0)
        assert after.q[0, 0] == pytest.approx(0.5 * excess, rel=5e-3, abs=1e-3)
        assert after.v[0, 0] == pytest.approx(excess, rel=5e-3, abs=1e-3)


# --- what rolls ---

LYING = SE3([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
ROUND = {"sphere": (Sphere(0.1), SE3(), 0.4), "cylinder": (Cylinder(0.1, 0.2), LYING, 0.5)}
"""A shape, how it lies, and I / m r^2."""


@pytest.mark.parametrize("kind", ROUND)
def test_what_slips_comes_to_roll(kind):
    """Thrown at v0 without spin it slips until t = v0 / (mu g (1 + m r^2 / I)), then rolls at v0 / (1 + I / m r^2)."""
    shape, turn, ratio = ROUND[kind]
    world, v0, mu, dt = on_ground(shape, 0.3, height=0.1, turn=turn), 2.0, 0.3, 1e-3
    motion = Featherstone(world, dt).rollout(world.state(v=[[v0, 0, 0, 0, 0, 0]]), steps=1000)
    v, w = speeds(motion)
    slip, until = v[:, 0] - 0.1 * w[:, 1], v0 / (mu * EARTH * (1.0 + 1.0 / ratio))
    slips = int(np.argmax(slip < 1e-3)) * dt
    assert slips == pytest.approx(until, abs=0.03 * until)
    np.testing.assert_allclose(v[-1], [v0 / (1.0 + ratio), 0.0, 0.0], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(w[-1], [0.0, v0 / (1.0 + ratio) / 0.1, 0.0], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", ROUND)
def test_what_rolls_down_an_incline_is_slowed_by_its_inertia_alone(kind):
    """By g sin / (1 + I / m r^2), if friction holds it."""
    shape, turn, ratio = ROUND[kind]
    world = on_ground(shape, 0.6, slope=0.3, height=0.1, turn=turn)
    after = Featherstone(world, 5e-3).step(world.state(), steps=200)
    assert after.time[0] == pytest.approx(1.0)
    motion = Featherstone(world, 5e-3).rollout(after, steps=1)
    assert speeds(motion)[0][0, 0] == pytest.approx(EARTH * np.sin(0.3) / (1.0 + ratio), rel=1e-5)


# --- a coin ---


def spun_coin(tilt, radius=0.05, thick=0.002, rolling=0.0):
    """A coin that rolls round on its rim while its centre is still: its world, state, and the rate of its precession.

    About the centre, with c the point of contact, N = m g and Om upwards: Om x L = c x N. The spin is along c, so that
    c is at rest.
    """
    world = on_ground(Cylinder(radius, thick), 1.0, rolling=rolling, density=8000.0)
    m = world.model.mass
    across, about = m * (3.0 * radius**2 + thick**2) / 12.0, 0.5 * m * radius**2
    sin, cos, share = np.sin(tilt), np.cos(tilt), 0.5 * thick / radius
    lever = radius * cos - 0.5 * thick * sin
    rate = np.sqrt(m * EARTH * lever / (sin * cos * across - sin * sin * about * share))
    state = world.state()
    height = radius * sin + 0.5 * thick * cos
    state.q = [[0.0, 0.0, height, 0.0, np.sin(0.5 * tilt), 0.0, np.cos(0.5 * tilt)]]
    state.v = [[0.0, 0.0, 0.0, -rate * sin, 0.0, rate * sin * share]]
    return world, state, rate


def wobble(motion):
    """Return the tilt of the body's axis z and the angle by which it has gone round."""
    axis = turns(motion)[:, :, 2]
    return np.arccos(np.clip(axis[:, 2], -1.0, 1.0)), np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))


def test_a_coin_rolls_round_on_its_rim():
    """It keeps its tilt and rate for 8 turns; with the lever of a step's beginning its tilt would grow by 9 %."""
    world, state, rate = spun_coin(0.3)
    motion = Featherstone(world, 1e-3).rollout(state, steps=1000)
    tilt, angle = wobble(motion)
    np.testing.assert_allclose(tilt, 0.3, atol=4e-3)
    assert angle[-1] - angle[0] == pytest.approx(rate, rel=5e-3)
    now = cardan.kinetic_energy(world.model, motion.q, motion.v) + cardan.potential_energy(world.model, motion.q)
    np.testing.assert_allclose(now[:, 0] / energy(world, state), 1.0, atol=6e-3)
    assert np.hypot(*motion.q[-1, 0, :2]) < 1e-3


@full
def test_a_coin_spins_down_ever_faster():
    """Euler's disk with rolling friction rho: it sinks as sqrt(tilt) = sqrt(tilt_0) - 2/3 rho sqrt(g / R) t / R.

    That is the power rho m g |w| taken from the energy 3/2 m g R sin(tilt) of a thin disk at a small tilt. It goes
    round at sqrt(4 g / (R sin(tilt))), 5 times as fast in the end, and its energy never grows.
    """
    radius, rolling, start = 0.05, 1e-3, 0.3
    world, state, _ = spun_coin(start, radius, rolling=rolling)
    motion = Featherstone(world, 1e-3).rollout(state, steps=2400, every=10)
    tilt, angle = wobble(motion)
    now = cardan.kinetic_energy(world.model, motion.q, motion.v) + cardan.potential_energy(world.model, motion.q)
    assert np.all(np.diff(now[:, 0]) < 0.0)
    sinks = np.sqrt(start) - 2.0 / 3.0 * rolling * np.sqrt(EARTH / radius) / radius * motion.time[:, 0]
    np.testing.assert_allclose(tilt, sinks**2, rtol=0.03, atol=1.5e-3)
    rate = np.gradient(angle, motion.time[:, 0])[5:-5]
    np.testing.assert_allclose(rate, np.sqrt(4.0 * EARTH / (radius * np.sin(tilt[5:-5]))), rtol=0.03)
    assert rate[-1] > 4.5 * rate[0]
