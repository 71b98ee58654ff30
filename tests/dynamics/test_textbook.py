"""Definitions to the letter of their source, against the rewrites that run: the same numbers, fewer operations."""

import numpy as np
import pytest

import cardan
from cardan._dynamics.algorithms.aba import articulated_inertias
from cardan._dynamics.algorithms.forward_derivatives import by_inverse_dynamics as derivatives_by_inverse_dynamics
from cardan._dynamics.algorithms.linear import combined
from cardan._dynamics.algorithms.rnea import external
from cardan._dynamics.algorithms.tree import efforts_along, weightless
from closeness import close
from mechanisms import random_model, random_state
from spatial_recursion import outward

EPS = np.finfo(float).eps
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in (1, 2, 3))]


def by_definition(definition):
    """Return a textbook page's definition as a function of arrays; external forces are rows of six numbers."""

    @cardan.function(shapes={"x": ("nv",), "external_forces": ("nbodies", 6)}, simplified=True)
    def defined(model, q, v, x, external_forces=None):
        return definition(model, q, v, x, external_forces)

    return defined


@by_definition
def newton_euler(model, q, v, a, external_forces):
    """Return the efforts of `inverse_dynamics`, by the equations at the head of `rnea`."""
    motion = outward(model, q, v, a, weightless(model), loops=True)  # (5.7), (5.8)
    nodes = motion.relative.nodes(model)
    f = nodes.less(motion.body_forces(model), external(model, external_forces))  # (5.9)
    return efforts_along(nodes, motion.relative, f, a)  # (5.10), (5.11)


@by_definition
def articulated_body(model, q, v, tau, external_forces):
    """Return the accelerations of `forward_dynamics`, by the table at the head of `aba`. No mimic joints."""
    relative, V, c, _ = outward(model, q, v, loops=True)  # (1)
    nodes, X, S = relative.nodes(model), relative.X, relative.S
    p = nodes.each(lambda node: V[node.index].cross(node.inertia @ V[node.index]))
    p = nodes.less(p, external(model, external_forces))
    articulated = articulated_inertias(model, relative)  # (2), (4)

    def inward(node, borne):
        i, (U, D, I_a) = node.index, articulated[node.index]
        u = [t - f for t, f in zip(node.velocity(tau), S[i].T @ borne, strict=True)]  # (3)
        return u, lambda: X[i] @ (borne + I_a @ c[i] + combined(U, D.solve(u)))  # (5)

    u, a = nodes.inwards(p, inward), nodes.efforts()

    def onwards(node, above):
        i, (U, D, _) = node.index, articulated[node.index]
        free = X[i].inverse_act(above) + c[i]  # (6)
        own = D.solve([e - column.dot(free) for e, column in zip(u[i], U, strict=True)])  # (7)
        a.add(node, own)
        return free + S[i] @ own

    nodes.outwards(onwards, weightless(model))
    return a.values()


by_inverse_dynamics = by_definition(derivatives_by_inverse_dynamics)


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
