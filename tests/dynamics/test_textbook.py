"""Definitions to the letter of their source, against the rewrites that run: the same numbers, fewer operations."""

import numpy as np
import pytest

import cardan
from cardan._dynamics.algorithms import aba, forward_derivatives, rnea
from closeness import close
from mechanisms import random_model, random_state

EPS = np.finfo(float).eps
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in (1, 2, 3))]


def by_definition(definition):
    """Return a textbook page's definition as a function of arrays; external forces are rows of six numbers."""

    @cardan.function(shapes={"x": ("nv",), "external_forces": ("nbodies", 6)}, simplified=True)
    def defined(model, q, v, x, external_forces=None):
        return definition(model, q, v, x, external_forces)

    return defined


newton_euler = by_definition(rnea.newton_euler)
articulated_body = by_definition(aba.articulated_body)
by_inverse_dynamics = by_definition(forward_derivatives.by_inverse_dynamics)


def tree(seed, joints=cardan.joints.CATALOGUE):
    """A floating tree of joint types, all but those whose velocity is another's: there is no table for these."""
    joints = [joint for joint in joints if not joint.primaries]
    return random_model(seed, joints=joints, base="floating")


@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_dynamics_is_the_recursion_of_newton_and_euler(seed, reference_target):
    model = tree(seed)
    q, v, a = random_state(model, seed)
    f = np.random.default_rng(seed).normal(size=(model.nbodies, 6))
    found = cardan.inverse_dynamics(model, q, v, a, f)
    # every sum on the way to the root rounds: some units in the last place of the largest effort
    close(found, newton_euler(model, q, v, a, f), 32 * EPS, model=model, equation="(5.7) to (5.11)")


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_is_table_7_1(seed, reference_target):
    model = tree(seed)
    q, v, tau = random_state(model, seed)
    f = np.random.default_rng(seed).normal(size=(model.nbodies, 6))
    found, defined = cardan.forward_dynamics(model, q, v, tau, f), articulated_body(model, q, v, tau, f)
    M = cardan.mass_matrix(model, q)  # as efforts: accelerations are as wrong as M is ill conditioned
    close(M @ found, M @ defined, 1e-15 * np.linalg.cond(M) + 1e-12, model=model, equation="(1) to (7)")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.full
def test_derivatives_of_forward_dynamics_are_minus_the_inverse_mass_times_those_of_inverse(
    seed, reference_target, all_joints_or
):
    model = tree(seed, all_joints_or(cardan.joints.CATALOGUE[::3]))
    q, v, tau = random_state(model, seed)
    f = np.random.default_rng(seed).normal(size=(model.nbodies, 6))
    found, defined = cardan.forward_dynamics_derivatives(model, q, v, tau, f), by_inverse_dynamics(model, q, v, tau, f)
    M = cardan.mass_matrix(model, q)
    for name, ours, theirs in zip(("dq", "dv", "dtau"), found, defined, strict=True):
        tolerance = 1e-15 * np.linalg.cond(M) + 1e-11
        close(M @ ours, M @ theirs, tolerance, model=model, equation=f"(0), {name}")


@pytest.mark.parametrize("robot", ["arm7", "quadruped", "humanoid"])
def test_rewrites_take_fewer_operations_than_their_definitions(robot):
    mechanism = getattr(cardan.robots, robot)()
    model = mechanism.model(base="fixed" if robot == "arm7" else "floating")
    pairs = (
        (cardan.inverse_dynamics, newton_euler),
        (cardan.forward_dynamics, articulated_body),
    )
    for rewrite, definition in pairs:
        fewer, more = (function.trace(model).program.operations for function in (rewrite, definition))
        assert fewer < more, f"{rewrite.name}: {fewer} operations, by the definition {more}"
