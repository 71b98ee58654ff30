"""What an IMU, a sensor of contact and a load cell read: laws of motion and of equilibrium."""

import numpy as np
import pytest

import cardan
from cardan import solvers
from cardan._robot.model import Material
from cardan.description import Box, Shape, Sphere
from contact_worlds import stack_world


def arm():
    """An arm that turns about z, with a frame at its end that looks along it."""
    m = cardan.Mechanism("arm")
    m.add_body("link", cardan.Inertia(1.0, (0.5, 0.0, 0.0), np.eye(3)))
    m.add_joint("turn", cardan.joints.Revolute((0, 0, 1)), "world", "link")
    m.add_frame("imu", "link", cardan.SE3(translation=(0.7, 0.0, 0.2)))
    return m.model()


def test_an_imu_at_rest_and_on_an_arm_that_turns():
    model, w, rate = arm(), 3.0, 2.0
    np.testing.assert_allclose(cardan.imu(model, [0.4], [0.0], [0.0], "imu"), (0, 0, 9.81, 0, 0, 0), atol=1e-15)
    turning = cardan.imu(model, [0.4], [w], [rate], "imu")
    np.testing.assert_allclose(turning, (-w * w * 0.7, rate * 0.7, 9.81, 0, 0, w), rtol=1e-14, atol=1e-14)


def test_an_imu_that_falls_freely_feels_nothing_at_the_centre_of_mass():
    dog = cardan.robots.quadruped().model(base="floating")
    rng = np.random.default_rng(0)
    q, a = dog.neutral(), np.zeros(dog.nv)
    a[:3] = 0.0, 0.0, -9.81  # the base is level: its own axes are those of the world
    np.testing.assert_allclose(cardan.imu(dog, q, np.zeros(dog.nv), a, "trunk"), 0.0, atol=1e-14)
    q, (v, a) = cardan.integrate(dog, q, rng.normal(size=dog.nv)), rng.normal(size=(2, dog.nv))
    R = cardan.frame_transform(dog, q, "front_left_foot")[:3, :3]
    moving = cardan.frame_acceleration(dog, q, v, a, "front_left_foot")[:3] + (0.0, 0.0, 9.81)
    turning = cardan.frame_velocity(dog, q, v, "front_left_foot", expressed_in="frame")[3:]
    reads = cardan.imu(dog, q, v, a, ("front_left_foot", "trunk"))
    np.testing.assert_allclose(reads[0], (*(R.T @ moving), *turning), atol=1e-12)
    many = cardan.imu(dog, np.float32([q] * 3), np.float32([v] * 3), np.float32([a] * 3), "front_left_foot")
    assert many.dtype == np.float32
    np.testing.assert_allclose(many, [reads[0]] * 3, rtol=1e-4, atol=1e-4)


def test_derivatives_of_an_imu_are_differences():
    dog = cardan.robots.quadruped().model(base="floating")
    rng, step = np.random.default_rng(1), 1e-6
    q = cardan.integrate(dog, dog.neutral(), rng.normal(size=dog.nv))
    v, a, e = rng.normal(size=(3, dog.nv))
    exact = cardan.derivative(cardan.imu, "q")(dog, q, v, a, "front_left_foot") @ e
    there = [cardan.imu(dog, cardan.integrate(dog, q, s * e), v, a, "front_left_foot") for s in (step, -step)]
    np.testing.assert_allclose(exact, (there[0] - there[1]) / (2.0 * step), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.full
def test_contacts_of_a_body_add_up(dtype):
    """Each cube of a stack that stands: the cube below bears what is above, and all that acts on it is its weight."""
    world = stack_world((1.0, 2.0, 4.0))
    solver = solvers.Featherstone(world, 2e-3)
    state = solver.step(world.state(2, dtype), steps=500)
    felt = solver.body_contact_forces(state)
    assert (felt.shape, felt.dtype) == ((2, 3, 6), np.dtype(dtype))
    expected = np.zeros((2, 3, 6))
    expected[..., 2] = 9.81 * np.array((1.0, 2.0, 4.0))
    np.testing.assert_allclose(felt, expected, atol=5e-2)
    upper = solver.body_contact_forces(state, bodies=["box2"])
    turned = solver.body_contact_forces(state, bodies=["box2", "box1"])
    np.testing.assert_array_equal(turned[:, ::-1], solver.body_contact_forces(state, bodies="box[12]"))
    np.testing.assert_array_equal(upper, felt[:, 2:])


@pytest.mark.full
def test_wrenches_in_the_axes_of_bodies_are_external_forces():
    """They change the momentum as the forces at the contacts do, wherever the bodies are and however turned."""
    dog = cardan.robots.quadruped().world("floating", ground=True)
    solver, state = solvers.Featherstone(dog, 2e-3), dog.state()
    state.v = 0.3 * np.random.default_rng(0).normal(size=(1, dog.model.nv))
    state = solver.step(state, steps=100)
    model, contacts = dog.model, solver.contact_forces(state)
    assert contacts.force.any()
    own = solver.body_contact_forces(state, expressed_in="frame")
    zero = np.zeros_like(state.v)
    still, pushed = (cardan.inverse_dynamics(model, state.q, zero, zero, *more) for more in ([], [own]))
    feet = tuple(dog.pairs[pair].a for pair in contacts.pair)
    arms = contacts.point[0] - cardan.frame_transform(model, state.q[0], feet)[:, :3, 3]
    torques = np.cross(arms, contacts.force[0]) + contacts.torque[0]
    J = cardan.jacobian(model, state.q[0], feet)
    by_points = np.einsum("cij,ci->j", J, np.concatenate([contacts.force[0], torques], axis=-1))
    np.testing.assert_allclose((still - pushed)[0], by_points, atol=1e-9)


def test_a_load_cell_reads_the_plate_and_what_lies_on_it():
    m = cardan.Mechanism("scale")
    m.add_body("plate", cardan.Inertia(0.5, (0.0, 0.0, 0.0), 0.01 * np.eye(3)))
    m.add_joint("cell", cardan.joints.Fixed(), "world", "plate", parent_pose=cardan.SE3(translation=(0.3, 0.0, 0.4)))
    m.add_shape(Shape("plate", "collision", Box((0.4, 0.4, 0.02)), surface=Material(stiffness=1e4)))
    m.add_body("ball", cardan.Inertia(2.0, (0.0, 0.0, 0.0), 0.008 * np.eye(3)))
    m.add_joint("free", cardan.joints.FreeFlyer(), "world", "ball")
    m.add_shape(Shape("ball", "collision", Sphere(0.1), surface=Material(stiffness=1e4)))
    world = m.world()
    solver = solvers.Featherstone(world, 1e-3)
    q = world.initial.copy()
    q[world.model.slices["free"][0]][:3] = 0.4, 0.05, 0.51
    state = solver.step(world.state(q=q), steps=1000)
    felt = solver.body_contact_forces(state, expressed_in="frame")
    zero = np.zeros_like(state.v)
    reads = cardan.joint_wrenches(world.model, state.q, state.v, zero, felt)[0, world.model.joint_names.index("cell")]
    expected = (0.0, 0.0, 9.81 * 2.5, 9.81 * 2.0 * 0.05, -9.81 * 2.0 * 0.1, 0.0)
    np.testing.assert_allclose(reads, expected, atol=2e-2)
