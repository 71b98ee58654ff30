"""The shipped mechanisms: builders, their URDF, and laws by hand."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan import robots
from cardan.cli import main
from cardan.description import Box, Cylinder, Sphere
from cardan.errors import DescriptionError, ParameterError, UnknownNameError
from urdf_mechanisms import check_urdf


@pytest.mark.parametrize("name", robots.ROBOTS)
def test_builders_make_sound_robots(name):
    mechanism = robots.ROBOTS[name]()
    for body in mechanism.bodies:
        massless_base = body.name == "base" and body.inertia is None
        assert massless_base or (body.inertia.mass > 0.0 and body.inertia.faults() == [])
    fixed, floating = mechanism.model(), mechanism.model(base="floating")
    assert floating.nv == fixed.nv + 6
    assert np.linalg.eigvalsh(cardan.mass_matrix(fixed, fixed.random_configuration((5,), seed=0))).min() > 0.0


@pytest.mark.parametrize("name", robots.ROBOTS)
def test_what_is_drawn_is_what_has_the_inertia(name):
    """Each body is a homogeneous solid: from its mass and the shape drawn follows its inertia."""
    mechanism = robots.ROBOTS[name]()
    drawn = [shape for shape in mechanism.shapes if shape.role == "visual"]
    shapes = {shape.body: shape for shape in drawn}
    assert len(shapes) == len(drawn) == sum(body.inertia is not None for body in mechanism.bodies)
    for body in mechanism.bodies:
        if body.inertia is None:
            continue
        pose = shapes[body.name].pose
        upright = np.diag(moments(shapes[body.name].geometry)) * body.inertia.mass
        R = np.array(pose.rotation.rows())
        actual = np.array(body.inertia.inertia_at_com.matrix().rows())
        np.testing.assert_allclose(actual, R @ upright @ R.T, atol=1e-13 * (1 + np.abs(actual).max()))
        np.testing.assert_allclose(body.inertia.com, pose.translation, atol=1e-15)


@pytest.mark.parametrize(("name", "count"), [("quadruped", 9), ("humanoid", 15)])
def test_what_touches_is_what_is_drawn_and_apart_at_the_start(name, count):
    robot = robots.ROBOTS[name]()
    touching = [s for s in robot.shapes if s.role == "collision"]
    assert len(touching) == count
    assert all(replace(s, role="visual") in robot.shapes for s in touching)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world = robot.world("floating", ground=True, self_collision=True)
    assert len(world.pairs) > count  # with one another, too
    assert world.overlapping == ()


def moments(solid):
    """Principal moments per mass of a box, a sphere or a cylinder along z."""
    match solid:
        case Box(size=(x, y, z)):
            return (y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12
        case Sphere(radius=r):
            return (0.4 * r * r,) * 3
        case Cylinder(radius=r, length=h):
            return r * r / 4 + h * h / 12, r * r / 4 + h * h / 12, r * r / 2
    raise AssertionError(solid)


@pytest.mark.parametrize("name", robots.ROBOTS)
def test_shipped_urdf_is_the_builder(name):
    text = Path(robots.urdf_path(name)).read_text(encoding="utf-8")
    assert text == cardan.to_urdf(robots.ROBOTS[name]())
    assert check_urdf(robots.urdf_path(name)) == []
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
    assert arm.nv == 7
    assert np.isfinite([*arm.lower, *arm.upper, *arm.velocity_upper, *arm.effort_upper]).all()
    assert min(arm.passive("damping")) > 0.0
    assert robots.cart_pole(track=1.5).model().upper[0] == 1.5
    dog, heavy_dog = robots.quadruped().model(), robots.quadruped(trunk_mass=10.0, leg_length=0.6).model()
    assert heavy_dog.mass - dog.mass == pytest.approx(2.0)
    assert cardan.frame_transform(heavy_dog, np.zeros(12), "rear_left_foot")[2, 3] == pytest.approx(-0.6)
    assert robots.humanoid(height=3.2).model().mass == pytest.approx(8.0 * robots.humanoid().model().mass)
    assert robots.chain(np.int64(3)).model().nv == 3


def test_chain_axes_alternate():
    axes = [tuple(c.joint.axis) for c in robots.chain(4).joints]
    assert axes == [(0, 1, 0), (1, 0, 0)] * 2


@pytest.mark.parametrize("build", [robots.quadruped, robots.humanoid])
def test_left_and_right_are_mirror_images(build):
    """Mirrored configurations (turns about x and z change sign) have mirrored centres of mass and equal energies."""
    model = build().model()
    assert abs(cardan.center_of_mass(model, model.neutral())[1]) < 1e-14
    index = [model.q_slice(name).start for name in mirrored(model)]
    turns = {c.name: c.joint.axis for c in build().joints if c.joint.nv}
    sign = np.array([1.0 if turns[name][1] else -1.0 for name in moving(model)])
    q, v = np.random.default_rng(0).normal(size=(2, 20, model.nq))
    q_mirror, v_mirror = (sign * x[:, index] for x in (q, v))
    com, com_mirror = cardan.center_of_mass(model, q), cardan.center_of_mass(model, q_mirror)
    np.testing.assert_allclose(com_mirror, com * [1, -1, 1], atol=1e-13)
    energy = cardan.kinetic_energy(model, q, v)
    np.testing.assert_allclose(cardan.kinetic_energy(model, q_mirror, v_mirror), energy, rtol=1e-12)


def moving(model):
    """Names of the joints that move, in the order of q."""
    return [name for name in model.joint_names if model.q_slice(name).start < model.q_slice(name).stop]


def mirrored(model):
    """The same with left and right exchanged."""
    swap = {"left": "right", "right": "left"}
    return ["_".join(swap.get(word, word) for word in name.split("_")) for name in moving(model)]


def test_double_pendulum_by_hand():
    """Two homogeneous rods: potential energy and, as the Hessian of the kinetic energy, the mass matrix.

    x1 = -r1 (sin q1, cos q1) and x2 = -l1 (sin q1, cos q1) - r2 (sin q12, cos q12), with q12 = q1 + q2.
    """
    m1, l1, m2, l2, radius, g = 1.3, 0.6, 0.7, 0.45, 0.03, 9.81
    robot = robots.double_pendulum(m1, l1, m2, l2, radius).model()
    r1, r2 = l1 / 2, l2 / 2
    I1, I2 = (m * (3 * radius**2 + length**2) / 12 for m, length in ((m1, l1), (m2, l2)))
    for q1, q2 in np.random.default_rng(0).uniform(-np.pi, np.pi, size=(10, 2)):
        potential = -m1 * g * r1 * np.cos(q1) - m2 * g * (l1 * np.cos(q1) + r2 * np.cos(q1 + q2))
        assert cardan.potential_energy(robot, [q1, q2]) == pytest.approx(potential, rel=1e-13, abs=1e-13)
        M22 = I2 + m2 * r2**2
        M12 = M22 + m2 * l1 * r2 * np.cos(q2)
        M11 = I1 + m1 * r1**2 + I2 + m2 * (l1**2 + r2**2 + 2 * l1 * r2 * np.cos(q2))
        np.testing.assert_allclose(cardan.mass_matrix(robot, [q1, q2]), [[M11, M12], [M12, M22]], rtol=1e-12)


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
    potential = mp * 9.81 * length / 2 * np.cos(theta)
    assert cardan.potential_energy(robot, [0.7, theta]) == pytest.approx(potential, rel=1e-13)


@pytest.mark.parametrize(
    "build",
    [
        lambda: robots.chain(0),
        lambda: robots.chain(2.0),
        lambda: robots.chain(True),
        lambda: robots.chain(3, radius=0.0),
        lambda: robots.chain(3, mass=-1.0),
        lambda: robots.double_pendulum(length1=0.0),
        lambda: robots.cart_pole(pole_mass=float("nan")),
        lambda: robots.cart_pole(track=float("inf")),
        lambda: robots.arm7(scale=-1.0),
        lambda: robots.arm7(payload=-0.1),
        lambda: robots.quadruped(leg_length=0.0),
        lambda: robots.quadruped(trunk_mass=-1.0),
        lambda: robots.humanoid(height="tall"),
    ],
)
def test_wrong_parameters_are_refused(build):
    with pytest.raises(ParameterError):
        build()


@pytest.mark.parametrize("name", robots.BUILDERS)
def test_names_of_robots_that_ship_are_loaded(name):
    assert cardan.load_mechanism(name) == robots.BUILDERS[name]()


def test_a_file_counts_for_more_than_the_name_of_a_robot_that_ships(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("out.npz").touch()
    assert main(["simulate", "double_pendulum", "--seconds", "0.01", "-o", "out.npz"]) == 0
    cardan.save(robots.chain(2), "own.json")
    Path("own.json").rename("quadruped")
    assert cardan.load_mechanism("quadruped").name == "chain2"
    with pytest.raises(DescriptionError, match=r"quadrupd.*robots that ship are .*quadruped"):
        cardan.load("quadrupd")
    assert main(["check", "quadrupd"]) == 1
    assert "cannot be read" in capsys.readouterr().out


def test_unknown_robots_are_refused_with_suggestions():
    with pytest.raises(UnknownNameError, match="did you mean 'arm7'"):
        robots.urdf_path("arm")
