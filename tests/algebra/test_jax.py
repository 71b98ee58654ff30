"""JAX: its arrays are numbers, its tracers are scalars like any other."""

import numpy as np
import pytest

import cardan

pytestmark = pytest.mark.full  # compiles by JAX, which takes long


@pytest.fixture
def jax():
    """The package, imported when it is asked for: it takes a second."""
    module = pytest.importorskip("jax", reason="needs jax")
    module.config.update("jax_enable_x64", True)
    return module


@pytest.fixture
def arm():
    return cardan.load(cardan.robots.urdf_path("arm7"))


def test_arrays_are_numbers(jax, arm):
    q = arm.random_configuration((3,), seed=0)
    np.testing.assert_array_equal(cardan.gravity_forces(arm, jax.numpy.array(q)), cardan.gravity_forces(arm, q))


def test_functions_inside_jit_and_grad(jax, arm):
    q = arm.random_configuration(seed=0)
    torques = jax.jit(lambda q: jax.numpy.stack(list(cardan.gravity_forces(arm, q))))
    np.testing.assert_allclose(torques(q), cardan.gravity_forces(arm, q), atol=1e-13)
    slope = jax.grad(lambda q: cardan.potential_energy(arm, q))(jax.numpy.array(q))
    np.testing.assert_allclose(slope, cardan.gravity_forces(arm, q), atol=1e-13)


def test_algorithms_on_lists_of_tracers(jax, arm):
    q = arm.random_configuration(seed=1)
    tau = jax.jit(lambda *x: jax.numpy.stack(cardan.inverse_dynamics.kernel(arm, *map(list, x))))(q, q, q)
    np.testing.assert_allclose(tau, cardan.inverse_dynamics(arm, q, q, q), atol=1e-13)
