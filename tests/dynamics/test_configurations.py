"""Between configurations: the way, how far, whether they are the same, and Jacobians carried along."""

import numpy as np
import pytest

import cardan
from cardan.errors import DTypeError, ParameterError, ShapeError
from cardan.joints import CATALOGUE
from mechanisms import random_model, random_state

pytestmark = pytest.mark.usefixtures("reference_target")
JOINTS = (*CATALOGUE[:5], *CATALOGUE[5:16:2])


@pytest.fixture(scope="module")
def model():
    return random_model(2, joints=JOINTS, base="floating")


@pytest.fixture(scope="module")
def ends(model):
    return model.random_configuration((2,), seed=1)


def test_the_way_between_two_configurations(model, ends):
    q0, q1 = ends
    u = np.linspace(0.0, 1.0, 5)
    path = cardan.interpolate(model, q0, q1, u)
    assert path.shape == (5, model.nq)
    whole = cardan.difference(model, q0, q1)
    np.testing.assert_allclose(cardan.difference(model, q0, path), u[:, None] * whole, atol=1e-12)
    np.testing.assert_allclose(path[0], q0, atol=1e-15)
    assert cardan.is_same_configuration(model, path[-1], q1, tolerance=1e-12)
    np.testing.assert_allclose(cardan.interpolate(model, q0, q1, 0.25), path[1], atol=1e-15)
    np.testing.assert_allclose(cardan.interpolate(model, q0, q1, 1), path[4], atol=1e-15)
    rate = cardan.derivative(cardan.interpolate, "u")(model, q0, q1, 0.25)
    np.testing.assert_allclose(rate, cardan.velocity_to_configuration_derivative(model, path[1], whole), atol=1e-12)


def test_the_length_of_the_way(model, ends):
    q0, q1 = ends
    got = cardan.distance(model, q0, q1)
    np.testing.assert_allclose(got, np.linalg.norm(cardan.difference(model, q0, q1)), rtol=1e-14)
    np.testing.assert_allclose(cardan.distance(model, q1, q0), got, rtol=1e-12)
    np.testing.assert_allclose(cardan.distance(model, q0, cardan.interpolate(model, q0, q1, 0.5)), got / 2, rtol=1e-12)
    assert cardan.distance(model, ends, ends[:, None]).shape == (2, 2)


def test_a_quaternion_and_its_negative_are_the_same_configuration():
    dog = cardan.robots.quadruped().model(base="floating")
    q = dog.random_configuration((3,), seed=2)
    other = q.copy()
    other[:, 3:7] *= -1.0
    other[1, 8] += 1e-3
    other[2, 0] = np.nan
    np.testing.assert_array_equal(cardan.is_same_configuration(dog, q, other), [True, False, False])
    assert cardan.is_same_configuration(dog, q, other, tolerance=1e-2)[1]
    assert cardan.is_same_configuration(dog, q.astype(np.float32), q.astype(np.float32)).all()
    assert np.ndim(cardan.is_same_configuration(dog, q[0], other[0])) == 0


@cardan.function
def stays(model, q, v):
    return cardan.where(cardan.is_same_configuration(model, q, model.neutral()), 0.0, v[0])


def test_sameness_chooses_within_a_function():
    arm = cardan.robots.arm7().model()
    q = np.array([arm.neutral(), arm.neutral() + 0.1])
    np.testing.assert_array_equal(stays(arm, q, np.ones(7)), [0.0, 1.0])


def test_jacobians_are_carried_along(model):
    q, v, _ = random_state(model, seed=3)
    J = np.random.default_rng(0).normal(size=(4, model.nv, 2))
    by = cardan.integrate_derivatives(model, q, 0.3 * v)
    np.testing.assert_allclose(cardan.integrate_transport(model, q, 0.3 * v, J), by.dq @ J, atol=1e-14)
    np.testing.assert_allclose(cardan.integrate_transport(model, q, 0.3 * v, J, by="v"), by.dv @ J, atol=1e-14)
    with pytest.raises(ParameterError, match="integrate_transport: by: got 'a', expected 'q' or 'v'"):
        cardan.integrate_transport(model, q, v, J, by="a")
    with pytest.raises(ShapeError, match=r"integrate_transport: argument 'J' has shape \(3,\)"):
        cardan.integrate_transport(model, q, v, np.zeros(3))


def test_what_cannot_be_carried_along_is_told():
    arm = cardan.robots.double_pendulum().model()
    q, v = np.zeros((2, 2)), np.ones((2, 2))
    with pytest.raises(DTypeError, match="integrate_transport: argument 'J' is an array of text"):
        cardan.integrate_transport(arm, q, v, [["a"], ["b"]])
    with pytest.raises(ShapeError, match=r"integrate_transport: .* leading .* J: \(3,\), q and v: \(2,\)"):
        cardan.integrate_transport(arm, q, v, np.ones((3, 2, 1)))


@pytest.mark.parametrize("tolerance", [-1.0, "a", np.nan, None])
def test_a_tolerance_is_a_number(tolerance):
    arm = cardan.robots.double_pendulum().model()
    with pytest.raises(ParameterError, match=r"is_same_configuration: tolerance: got .*, expected a number >= 0"):
        cardan.is_same_configuration(arm, arm.neutral(), arm.neutral(), tolerance=tolerance)


def test_tensors_are_compared_and_carried_along():
    torch = pytest.importorskip("torch")
    arm = cardan.robots.double_pendulum().model()
    q = torch.tensor([[0.1, 0.2], [0.3, 0.4]], dtype=torch.float64, requires_grad=True)
    J = torch.ones((2, 2, 1), dtype=torch.float64, requires_grad=True)
    assert cardan.is_same_configuration(arm, q, q + torch.tensor([[0.0, 0.0], [0.0, 1.0]])).tolist() == [True, False]
    cardan.integrate_transport(arm, q, q, J).sum().backward()
    assert J.grad.flatten().tolist() == [1.0, 1.0, 1.0, 1.0]


def test_a_distance_of_jax_tracers_is_one():
    jax = pytest.importorskip("jax")
    arm = cardan.robots.double_pendulum().model()
    length = jax.jit(lambda q: cardan.distance(arm, q, arm.neutral()))(np.array([3.0, 4.0]))
    assert float(length) == 5.0


def test_pinocchio_has_the_same():
    pin = pytest.importorskip("pinocchio")
    text = cardan.to_urdf(cardan.robots.quadruped())
    theirs = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    dog = cardan.load_mechanism(text).model(base="floating")
    q0, q1 = dog.random_configuration((2,), seed=5)  # joints in the same order: both have the base first
    assert list(theirs.names)[2:] == [n for n in dog.joint_names if dog.joint(n).nv][1:]
    v = 0.3 * np.random.default_rng(0).normal(size=dog.nv)
    J = np.random.default_rng(1).normal(size=(dog.nv, 3))
    for u in (0.0, 0.3, 1.0):
        expected = pin.interpolate(theirs, q0, q1, u)
        assert cardan.is_same_configuration(dog, cardan.interpolate(dog, q0, q1, u), expected, tolerance=1e-12)
    np.testing.assert_allclose(cardan.distance(dog, q0, q1), pin.distance(theirs, q0, q1), rtol=1e-12)
    for argument, by in ((pin.ARG0, "q"), (pin.ARG1, "v")):
        expected = pin.dIntegrateTransport(theirs, q0, v, J, argument)
        np.testing.assert_allclose(cardan.integrate_transport(dog, q0, v, J, by=by), expected, atol=1e-12)
