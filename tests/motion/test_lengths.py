"""Ropes, struts and rods in generalised coordinates: `Distance` joints, in the tree and closing loops."""

import numpy as np
import pytest

import cardan
from cardan import SE3, Inertia
from cardan.errors import UnsupportedError
from cardan.joints import Distance, FreeFlyer
from cardan.solvers import Featherstone, Variational

ENDS = (0.05, 0.0, 0.0), (0.0, 0.02, 0.0)


def bob(joint):
    m = cardan.Mechanism("bob")
    m.add_body("bob", Inertia(2.0, (0.0, 0.0, 0.0), 1e-3 * np.eye(3)))
    m.add_joint("line", joint, "world", "bob")
    return m.world()


def tied(joint):
    """Two balls that fly apart, tied to one another off their centres, and how far the ends are apart."""
    m = cardan.Mechanism("tied")
    for name, mass in (("a", 1.0), ("b", 3.0)):
        m.add_body(name, Inertia(mass, (0.0, 0.0, 0.0), 1e-2 * np.eye(3)))
        m.add_joint(f"{name}_free", FreeFlyer(), "world", name)
    m.add_joint("line", joint, "a", "b", *(SE3(translation=end) for end in ENDS))
    world = m.world(gravity=(0.0, 0.0, 0.0))
    q, v = world.model.neutral(), np.zeros(12)
    q[7], v[:3], v[6:9] = 0.6, (-2.0, 0.7, 0.0), (1.0, 0.0, 0.0)

    def apart(q):
        ends = [
            cardan.frame_transform(world.model, q, n)[..., :3, :] @ [*p, 1.0] for n, p in zip("ab", ENDS, strict=True)
        ]
        return np.linalg.norm(ends[0] - ends[1], axis=-1)

    return world, q, v, apart


def test_a_body_falls_until_its_rope_is_taut_and_swings():
    world, dt = bob(Distance(maximum=1.0)), 2e-3
    motion = Featherstone(world, dt).rollout(world.state(q=[[0.9, 0, 0, 0, 0, 0, 1]]), steps=1500)
    length = np.linalg.norm(motion.q[:, 0, :3], axis=1)
    assert length.max() < 1.0 + 5e-4
    taut = int(np.argmax(length > 1.0 - 1e-3))
    assert motion.time[taut, 0] == pytest.approx(np.sqrt(2.0 * np.sqrt(1.0 - 0.9**2) / 9.81), abs=5e-3)
    np.testing.assert_allclose(motion.v[taut - 5, 0, 2], -9.81 * motion.time[taut - 5, 0], rtol=1e-9)
    energy = (motion.v[:, 0, :3] ** 2).sum(axis=1) + 2.0 * 9.81 * motion.q[:, 0, 2]
    # What went along the line at once is lost, the rest stays: v^2 across it, by the sine of its slope.
    left = energy[0] - 2.0 * 9.81 * np.sqrt(1.0 - 0.9**2) * (1.0 - 0.9**2)
    np.testing.assert_allclose(energy[taut + 3 :], left, atol=0.01 * 2.0 * 9.81)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("joint", "speed", "bound"), [(Distance(maximum=1.0), 1.0, 1.0), (Distance(0.4, 9.0), -1.0, 0.4)]
)
def test_ends_that_are_tied_keep_momentum(joint, speed, bound):
    world, q, v, apart = tied(joint)
    v = speed * v
    motion = Featherstone(world, 1e-3).rollout(world.state(q=[q], v=[v]), steps=1000)
    far = apart(motion.q[:, 0])
    assert joint.minimum - 1e-4 < far.min()
    assert far.max() < joint.maximum + 1e-4
    assert np.abs(far - bound).min() < 1e-4
    momentum = cardan.centroidal_momentum(world.model, motion.q[:, 0], motion.v[:, 0])
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-5)
    other = Variational(world, 1e-3).step(world.state(q=[q], v=[v]), steps=1000)
    np.testing.assert_allclose(motion.q[-1], other.q, atol=2e-3)


def test_a_rod_swings_at_its_length():
    world = bob(Distance(0.5, 0.5))
    motion = Featherstone(world, 1e-3).rollout(world.state(q=[[0.3, 0.0, -0.4, 0, 0, 0, 1]]), steps=2000)
    np.testing.assert_allclose(np.linalg.norm(motion.q[:, 0, :3], axis=1), 0.5, atol=1e-5)
    energy = (motion.v[:, 0, :3] ** 2).sum(axis=1) + 2.0 * 9.81 * motion.q[:, 0, 2]
    np.testing.assert_allclose(energy, energy[0], atol=0.02)


@pytest.mark.full
def test_a_step_has_the_derivative_of_its_differences():
    world, q, v, _ = tied(Distance(maximum=0.6))
    step = Featherstone(world, 1e-2).function

    def after(v):
        return step(world.model, q, v, 0)["v"]

    h, exact = 1e-6, cardan.derivative(step, "v")(world.model, q, v, 0)["v"]
    e = np.random.default_rng(0).normal(size=12)
    np.testing.assert_allclose(exact @ e, (after(v + h * e) - after(v - h * e)) / (2.0 * h), atol=1e-6)


def test_where_bounds_would_be_left_out_they_are_refused():
    world = bob(Distance(maximum=1.0))
    for options in ({"contact": None}, {"contact": "compliant"}, {"integrator": "rk4", "contact": None}):
        with pytest.raises(UnsupportedError, match="the bounds of joint 'line'"):
            Featherstone(world, 1e-3, **options)
    assert Featherstone(world, 1e-3).contact_forces(world.state()).force.shape == (1, 0, 3)
