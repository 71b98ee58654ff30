"""Derivatives of loops are loops: against the same written out, against differences in 50 digits, on every target."""

import shutil

import mpmath
import numpy as np
import pytest

import cardan
from cardan._compiler.program import autodiff, expr, trace
from cardan._compiler.program.program import Array
from cardan._compiler.program.replay import replay, straight
from program_rules import verify
from programs import LOOPS, evaluated, random_program, run_c, same, skipping_program
from representatives import represented

PENDULUM = cardan.robots.double_pendulum().model()


@pytest.fixture
def always_loops(monkeypatch):
    monkeypatch.setattr(autodiff, "LONG", 0)
    monkeypatch.setattr(autodiff, "LONGEST", 0)
    monkeypatch.setattr(expr, "WORTH", 0)


def rollout(steps, loop=cardan.repeat):
    """Return the cost of where a robot is after some steps under one effort."""

    @cardan.function(shapes={"tau": ("nv",)})
    def cost(model, q, v, tau):
        def step(q, v):
            v = v + 0.01 * cardan.forward_dynamics(model, q, v, tau)
            return q + 0.01 * v, v

        q, v = loop(steps, step, q, v)
        return q @ q + v @ v

    return cost


def written_out(count, body, *start):
    for _ in range(count):
        start = body(*start)
    return start


def states(batch, seed=0):
    return np.random.default_rng(seed).normal(size=(3, batch, PENDULUM.nv))


@pytest.mark.parametrize("target", ["numpy", "llvm"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_gradient_of_a_rollout(always_loops, mode, target):
    ours, theirs = (cardan.derivative(rollout(6, loop), ("q", "tau"), mode=mode).on(target)
                    for loop in (cardan.repeat, written_out))  # fmt: skip
    for found, expected in zip(ours(PENDULUM, *states(9)), theirs(PENDULUM, *states(9)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_hessian_of_a_rollout(always_loops):
    ours, theirs = (cardan.hessian(rollout(4, loop), ("q", "v")) for loop in (cardan.repeat, written_out))
    assert [region.passes for region in verify(ours.program(PENDULUM)).regions] == [4, 4]
    for found, expected in zip(ours(PENDULUM, *states(3)), theirs(PENDULUM, *states(3)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_programs_do_not_grow_with_passes(always_loops):
    few, many = (verify(cardan.gradient(rollout(steps), "tau").program(PENDULUM)) for steps in (20, 2000))
    assert few.operations == many.operations < 300
    assert [region.passes for region in many.regions] == [2000, 2000]


def test_differences_in_fifty_digits():
    steps, (q, v, tau) = 400, states(1)
    program = rollout(steps).program(PENDULUM)
    found = cardan.gradient(rollout(steps), "q")(PENDULUM, q[0], v[0], tau[0])
    with mpmath.workdps(50):
        h = mpmath.mpf(10) ** -20
        x = [mpmath.mpf(float(e)) for e in (*q[0], *v[0], *tau[0])]
        cost = lambda k, d: replay(program, [*x[:k], x[k] + d, *x[k + 1 :]])[program.results[0]]  # noqa: E731
        expected = [float((cost(k, h) - cost(k, -h)) / (2 * h)) for k in range(2)]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_any_split_and_threads_have_the_same_bits():
    given, gradient = states(100), cardan.gradient(rollout(2000), "tau")
    expected = gradient(PENDULUM, *given)
    assert same([gradient.on(threads=3)(PENDULUM, *given)], [expected])
    assert same([np.concatenate([gradient(PENDULUM, *(a[s] for a in given)) for s in (slice(0, 7), slice(7, 100))])],
                [expected])  # fmt: skip


def test_one_state_that_is_not_finite_leaves_the_others():
    given, gradient = states(9), cardan.gradient(rollout(2000), "tau")
    expected = gradient(PENDULUM, *given)
    given[0, 4] = np.nan
    found = gradient(PENDULUM, *given)
    assert np.isnan(found[4]).all()
    assert same([np.delete(found, 4, 0)], [np.delete(expected, 4, 0)])


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_derivative_that_is_0_is_0_where_a_slope_of_another_pass_is_infinite(always_loops, mode):
    """The root of 0 is carried on, and not chosen in the next pass."""

    def function(x):
        y, z = cardan.repeat(5, lambda y, z: (cardan.sqrt(z), cardan.where(y > 0.5, y, 0.0 * z)), x[0], 0.0 * x[0])
        return {"y": np.array([y + z])}

    program = autodiff.jacobian(trace("f", function, [Array("x", (1,))], regions=True), "x", mode=mode)
    assert program.regions
    assert evaluated(program, "numpy", [np.zeros((1, 1))])[0] == 0.0


RANDOM = [(seed, kind, mode) for seed in range(72) for kind in "rs" for mode in ("forward", "reverse", "twice")]


@pytest.mark.parametrize(
    ("seed", "kind", "mode"), represented(RANDOM, by=[*RANDOM[:5], RANDOM[206], RANDOM[427]].count)
)
def test_random_programs(monkeypatch, always_loops, seed, kind, mode):
    """Loops beside and within each other, some of which end early."""
    loops = LOOPS if kind == "r" else (LOOPS, cardan.when, cardan.repeat_while)
    program = random_program(seed, loops, 1 + seed % 3) if kind == "r" else skipping_program(seed, *loops)
    given = list(np.random.default_rng(seed).uniform(-1.0, 1.0, (2, 11, 3)))

    def derivative(program):
        if mode != "twice":
            return verify(autodiff.jacobian(program, ["x", "y"], mode=mode))
        return verify(autodiff.jacobian(autodiff.vector_jacobian_product(program, ["x"]), ["x", "y"], mode="forward"))

    own = derivative(program)
    given = given if mode != "twice" else [*given, *given]
    expected = evaluated(derivative(straight(program)), "numpy", given)
    for target in ("numpy", "llvm")[: 2 if seed == 0 else 1]:
        for found, wanted in zip(evaluated(own, target, given), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_in_c(always_loops, tmp_path):
    program, given = cardan.gradient(rollout(200), "tau").program(PENDULUM), states(5)
    out = np.empty((5, 2))
    run_c(tmp_path, program, list(given), [out])
    np.testing.assert_allclose(out, evaluated(program, "llvm", list(given))[0], rtol=1e-9)
