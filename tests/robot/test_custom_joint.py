"""A joint written here, in under ten lines, runs in every algorithm."""

import numpy as np

import cardan
from cardan import Motion
from cardan.spatial.rotations import rotation_about_axis
from mechanisms import random_model, random_state, times


class Cylindrical(cardan.Joint):
    manifold = cardan.manifolds.Euclidean(2)

    def transform(self, q):
        return cardan.SE3(rotation_about_axis((0.0, 0.0, 1.0), q[1]), (0.0, 0.0, q[0]))

    def motion_subspace(self, q):
        return [Motion((0.0, 0.0, 1.0), (0.0, 0.0, 0.0)), Motion((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))]

    def bias(self, q, v):
        return Motion.zero()


class Parabola(cardan.Joint):
    """Slides along z = x^2 without turning: S depends on q."""

    manifold = cardan.manifolds.Euclidean(1)

    def transform(self, q):
        return cardan.SE3(translation=(q[0], 0.0, q[0] * q[0]))

    def motion_subspace(self, q):
        return [Motion((1.0, 0.0, 2.0 * q[0]), (0.0, 0.0, 0.0))]

    def bias(self, q, v):
        return Motion((0.0, 0.0, 2.0 * v[0] * v[0]), (0.0, 0.0, 0.0))


JOINTS = (Cylindrical(), Parabola(), cardan.joints.Revolute([0, 1, 0]))


def test_it_runs_in_every_algorithm(quick_target):
    model = random_model(0, joints=JOINTS, base="floating")
    q, v, a = random_state(model, seed=1, shape=(3,))
    tau = cardan.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(cardan.forward_dynamics(model, q, v, tau), a, atol=1e-10)
    M, C = cardan.mass_matrix(model, q), cardan.coriolis_matrix(model, q, v)
    np.testing.assert_allclose(times(M, a) + times(C, v) + cardan.gravity_forces(model, q), tau, atol=1e-10)
    np.testing.assert_allclose(0.5 * np.einsum("bi,bij,bj->b", v, M, v), cardan.kinetic_energy(model, q, v))
    for name, function in ((n, getattr(cardan, n)) for n in cardan.__all__):
        if name.startswith(("loop_", "constrained_", "impact")):
            continue  # a tree has none
        if isinstance(function, cardan.Function) and "frame" not in function.parameters.parameters:
            states = {"q": q, "v": v, "a": a, "tau": tau, "q0": q, "q1": q, "qdot": 0.0 * q, "u": 0.5}
            states |= cardan.eval_fk(model, q, v)._asdict()
            states["weights"] = np.ones(6) if "momentum" in name else a
            result = function(model, **{n: states[n] for n in function.parameters.parameters if n in states})
            results = result if isinstance(result, tuple) else (result,)
            assert all(np.isfinite(array).all() for array in results), function.name


def test_a_bead_on_a_parabola_by_hand():
    m = cardan.Mechanism("bead")
    m.add_body("bead", cardan.Inertia(2.0))
    m.add_joint("wire", Parabola(), "world", "bead")
    model = m.model()
    x, v, a = 0.3, -0.7, 1.1
    expected = 2.0 * ((1 + 4 * x * x) * a + 4 * x * v * v + 2 * 9.81 * x)
    np.testing.assert_allclose(cardan.inverse_dynamics(model, [x], [v], [a]), [expected], rtol=1e-14)


def test_the_protocol_serves_it():
    joint = Parabola()
    assert joint == Parabola()
    assert joint != Cylindrical()
    assert (joint.nq, joint.nv, joint.num_constraints, joint.has_constant_motion_subspace) == (1, 1, 5, False)
    np.testing.assert_allclose(joint.configuration_from_transform(joint.transform([0.4])), [0.4], atol=1e-10)
    np.testing.assert_allclose(joint.motion_subspace_rate([0.4], [0.5])[0].linear, [0.0, 0.0, 1.0], atol=1e-15)
    assert cardan.evaluate_joint(joint, "transform", np.zeros((5, 2, 1))).shape == (5, 2, 4, 4)
