"""Where Pinocchio 4.1 is wrong, the law of physics decides: finite differences side with cardan.

(FACTS 7.) The Coriolis matrix, the Jacobian rate and the derivatives of inverse dynamics of
joints whose motion subspace depends on q.
"""

import numpy as np
import pytest

import cardan
from cardan import joints as J
from mechanisms import central_difference, random_inertia, random_pose, times

pin = pytest.importorskip("pinocchio", reason="needs the `oracles` extra: pin", exc_type=ImportError)

WRONG_IN_PIN = {
    "SphericalZYX": (J.SphericalZYX(), lambda: pin.JointModelSphericalZYX()),
    "Universal": (J.Universal(), lambda: pin.JointModelUniversal(np.eye(3)[0], np.eye(3)[1])),
    "Ellipsoid": (J.Ellipsoid((0.5, 0.7, 1.1)), lambda: pin.JointModelEllipsoid(0.5, 0.7, 1.1)),
}


def one_joint(name):
    """The same body on the same joint, in both libraries."""
    mine, yours = WRONG_IN_PIN[name]
    rng = np.random.default_rng(0)
    inertia = random_inertia(rng)
    m = cardan.Mechanism("one")
    m.add_body("b", inertia)
    m.add_joint("j", mine, "world", "b")
    m.add_frame("f", "b", random_pose(rng))
    ours = m.model()
    theirs = pin.Model()
    theirs.addJoint(0, yours(), pin.SE3.Identity(), "j")
    matrix = np.array([list(row) for row in inertia.inertia_at_com.matrix().rows()])
    theirs.appendBodyToJoint(1, pin.Inertia(inertia.mass, np.array(list(inertia.com)), matrix), pin.SE3.Identity())
    return ours, theirs, theirs.createData(), rng


@pytest.mark.parametrize("name", WRONG_IN_PIN)
def test_coriolis_matrix_and_jacobian_rate(name):
    ours, theirs, data, rng = one_joint(name)
    q, v = ours.random_configuration(seed=1), rng.normal(size=ours.nv)

    coriolis = cardan.bias_forces(ours, q, v) - cardan.gravity_forces(ours, q)
    np.testing.assert_allclose(times(cardan.coriolis_matrix(ours, q, v), v), coriolis, atol=1e-13)
    assert np.abs(pin.computeCoriolisMatrix(theirs, data, q, v) @ v - coriolis).max() > 1e-4

    rate = cardan.jacobian_derivative(ours, q, v, "b", expressed_in="frame")
    moved = central_difference(
        lambda s: cardan.jacobian(ours, cardan.integrate(ours, q, s * v), "b", expressed_in="frame")
    )
    np.testing.assert_allclose(rate, moved, atol=1e-8)
    pin.computeJointJacobiansTimeVariation(theirs, data, q, v)
    pin.forwardKinematics(theirs, data, q, v)
    theirs_rate = np.array(pin.getJointJacobianTimeVariation(theirs, data, 1, pin.LOCAL)).reshape(6, -1)
    assert np.abs((theirs_rate - moved) @ v).max() > 1e-4


@pytest.mark.parametrize("name", WRONG_IN_PIN)
def test_derivatives_of_inverse_dynamics(name):
    ours, theirs, data, rng = one_joint(name)
    q, v, a = ours.random_configuration(seed=1), *rng.normal(size=(2, ours.nv))
    by = cardan.inverse_dynamics_derivatives(ours, q, v, a)
    wrong = 0.0
    for k, found in enumerate(by[:2]):
        numeric = np.empty_like(found)
        for j, e in enumerate(np.eye(ours.nv)):
            moved = (lambda s, e=e: (q + s * e, v, a), lambda s, e=e: (q, v + s * e, a))[k]
            numeric[:, j] = central_difference(lambda s, moved=moved: cardan.inverse_dynamics(ours, *moved(s)))
        np.testing.assert_allclose(found, numeric, atol=1e-7)
        wrong = max(wrong, np.abs(np.array(pin.computeRNEADerivatives(theirs, data, q, v, a)[k]) - numeric).max())
    assert wrong > 1e-3
