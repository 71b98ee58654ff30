"""The economical twin of a model: fewer operations, the same dynamics in joint coordinates."""

import numpy as np
import pytest

import cardan
from cardan import algorithms
from cardan.model import economical
from mechanisms import random_model


def evaluated(function, model, *arrays):
    """Run an algorithm on floats."""
    return np.array(function(model, *[list(map(float, a)) for a in arrays]), dtype=float)


@pytest.mark.parametrize("seed", range(30))
def test_the_same_dynamics_on_random_trees(seed):
    model = random_model(seed)
    twin = economical(model)
    rng = np.random.default_rng(seed)
    q = model.random_configuration(seed=seed)
    v, a = rng.normal(size=model.nv), rng.normal(size=model.nv)
    M, M_twin = (evaluated(algorithms.mass_matrix, m, q) for m in (model, twin))
    np.testing.assert_allclose(M_twin, M, atol=1e-13 * np.abs(M).max())
    tau, tau_twin = (evaluated(algorithms.inverse_dynamics, m, q, v, a) for m in (model, twin))
    np.testing.assert_allclose(tau_twin, tau, atol=1e-12 * np.abs(tau).max())
    back, back_twin = (evaluated(algorithms.forward_dynamics, m, q, v, tau) for m in (model, twin))
    condition = np.linalg.cond(M)
    np.testing.assert_allclose(M @ back_twin, M @ back, atol=1e-15 * condition * np.abs(tau).max() + 1e-12)


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.full) for k in range(1, 10))])
def test_external_forces_act_where_they_did(seed):
    model = random_model(seed)
    rng = np.random.default_rng(seed)
    q, v = model.random_configuration(seed=seed), rng.normal(size=model.nv)
    wrenches = rng.normal(size=(model.nbodies, 6))
    with_forces = cardan.inverse_dynamics(model, q, v, v, wrenches) - cardan.inverse_dynamics(model, q, v, v)
    felt = sum(
        cardan.jacobian(model, q, body, expressed_in=body).T @ f
        for body, f in zip(model.body_names, wrenches, strict=True)
    )
    np.testing.assert_allclose(with_forces, -felt, atol=1e-11 * np.abs(felt).max())


def test_bodies_stay_where_they_are():
    model = cardan.robots.humanoid().model(base="floating")
    twin = economical(model)
    q = model.random_configuration(seed=0)
    for name in model.frame_names:
        poses = (algorithms.frame_transform(m, list(q), name).homogeneous() for m in (model, twin))
        X, X_twin = (np.array(X, dtype=float) for X in poses)
        np.testing.assert_allclose(X_twin, X, atol=1e-14)


@pytest.mark.parametrize(
    ("robot", "base", "saving"),
    [("arm7", "fixed", 0.15), ("quadruped", "floating", 0.1), ("humanoid", "floating", 0.1)],
)
def test_it_saves_operations(robot, base, saving):
    from cardan.program import Array, trace

    model = getattr(cardan.robots, robot)().model(base=base)
    inputs = [Array("q", (model.nq,)), Array("v", (model.nv,)), Array("a", (model.nv,))]

    def operations(m):
        return trace(
            "rnea", lambda q, v, a: {"tau": np.array(algorithms.inverse_dynamics(m, q, v, a), dtype=object)}, inputs
        ).operations

    assert operations(economical(model)) < (1.0 - saving) * operations(model)


def test_what_is_left_are_the_base_parameters():
    """Seven a revolute joint, of which the first joint of a fixed base sees three (Gautier and Khalil, 1990)."""
    model = random_model(3, joints=[cardan.joints.Revolute((0.0, 0.0, 1.0))] * 7, chain=True, base="fixed")
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(-3.0, 3.0, size=(3, 200, model.nv))
    Y = cardan.torque_regressor(model, q, v, a)
    rank = np.linalg.matrix_rank(Y.reshape(-1, Y.shape[-1]), tol=1e-9)
    left = sum(e != 0.0 for node in economical(model).nodes for e in node.inertia.parameters())
    assert (model.nv, rank, left) == (7, 45, 49)
