"""The shipped mechanisms: builders, their URDF, and laws by hand."""

from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan import robots
from cardan.errors import MechanismError, ParameterError, UnknownNameError


@pytest.mark.parametrize("name", robots.ROBOTS)
def test_builders_make_sound_robots(name):
    mechanism = robots.ROBOTS[name]()
    for body in mechanism.bodies:
        assert body.inertia is None or body.inertia.faults() == []
    fixed, floating = mechanism.model(), mechanism.model(base="floating")
    assert floating.nv == fixed.nv + 6
    assert fixed.mass > 0.0


@pytest.mark.parametrize("name", robots.ROBOTS)
def test_shipped_urdf_is_the_builder(name):
    text = Path(robots.urdf_path(name)).read_text(encoding="utf-8")
    assert text == robots.urdf_text(robots.ROBOTS[name]())
    assert cardan.check_urdf(robots.urdf_path(name)) == []
    built, read = robots.ROBOTS[name]().model(), cardan.load(robots.urdf_path(name))
    q = built.random_configuration((5,), seed=0)
    v, a = np.random.default_rng(0).normal(size=(2, 5, built.nv))
    np.testing.assert_allclose(
        cardan.inverse_dynamics(built, q, v, a), cardan.inverse_dynamics(read, q, v, a), atol=1e-11
    )
    for limit in ("lower", "upper", "velocity_upper", "effort_upper"):
        np.testing.assert_array_equal(getattr(built, limit), getattr(read, limit))
    assert built.passive("damping") == read.passive("damping")


def test_parameters_have_their_effect():
    assert robots.chain(9).model().nv == 9
    assert robots.chain(4, mass=2.0).model().mass == pytest.approx(8.0)
    assert robots.humanoid().model().nv == 30
    assert robots.quadruped().model().nv == 12
    arm, large = robots.arm7().model(), robots.arm7(scale=2.0).model()
    height = [cardan.frame_transform(m, np.zeros(7), "tool")[2, 3] for m in (arm, large)]
    assert height[1] == pytest.approx(2.0 * height[0])
    heavy = robots.arm7(payload=3.8).model()
    assert heavy.mass - arm.mass == pytest.approx(3.0)


@pytest.mark.parametrize("build", [robots.quadruped, robots.humanoid])
def test_left_and_right_are_mirror_images(build):
    com = cardan.center_of_mass(build().model(), np.zeros(build().model().nq))
    assert abs(com[1]) < 1e-12


def test_cart_pole_by_hand():
    mc, mp, length = 1.2, 0.3, 0.9
    robot = robots.cart_pole(mc, mp, length).model()
    theta = 0.4
    moment = mp * (3 * 0.02**2 + length**2) / 12 + mp * length**2 / 4
    coupling = mp * length / 2 * np.cos(theta)
    expected = [[mc + mp, coupling], [coupling, moment]]
    np.testing.assert_allclose(cardan.mass_matrix(robot, [0.7, theta]), expected, rtol=1e-13)
    gravity = [0.0, -mp * 9.81 * length / 2 * np.sin(theta)]
    np.testing.assert_allclose(cardan.gravity_forces(robot, [0.7, theta]), gravity, atol=1e-13)


@pytest.mark.parametrize(
    "build",
    [
        lambda: robots.chain(0),
        lambda: robots.chain(2.0),
        lambda: robots.chain(3, mass=-1.0),
        lambda: robots.double_pendulum(length1=0.0),
        lambda: robots.cart_pole(pole_mass=float("nan")),
        lambda: robots.arm7(scale=-1.0),
        lambda: robots.quadruped(leg_length=0.0),
        lambda: robots.humanoid(height="tall"),
    ],
)
def test_wrong_parameters_are_refused(build):
    with pytest.raises(ParameterError):
        build()


def test_names_and_limits_of_the_writer():
    with pytest.raises(UnknownNameError, match="did you mean 'arm7'"):
        robots.urdf_path("arm")
    m = cardan.Mechanism("m")
    m.add_body("b")
    m.add_joint("j", cardan.joints.Spherical(), "world", "b")
    with pytest.raises(MechanismError, match="'j'"):
        robots.urdf_text(m)
