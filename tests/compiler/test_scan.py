"""Loops over rows of data: as the same written out, with derivatives that are loops, on every target."""

import shutil
from dataclasses import replace
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest

import cardan
from cardan._compiler.program import autodiff
from cardan._compiler.program.passes import results_in_place, with_entries
from cardan.errors import ParameterError, ProgramError
from program_rules import verify
from programs import evaluated, run_c, same

PENDULUM = cardan.robots.double_pendulum().model()


class Row(NamedTuple):
    tau: Any
    weight: Any


def written_out(step, carry, data):
    rows = zip(*data, strict=True) if isinstance(data, tuple) else data
    kept = []
    for row in rows:
        carry, own = step(carry, type(data)(*row) if isinstance(data, tuple) else row)
        kept.append(own)
    return carry, [np.stack([row[k] for row in kept]) for k in range(len(kept[0]))]


def rollout(steps, scan=cardan.scan):
    """Return the cost of a motion under given efforts, the weights of which are given too, and the motion."""

    @cardan.function(shapes={"tau": (steps, "nv"), "weight": (steps,)})
    def moved(model, q, v, tau, weight):
        def step(carry, row):
            (q, v), cost = carry
            v = v + 0.01 * cardan.forward_dynamics(model, q, v, row.tau)
            q = q + 0.01 * v
            return ((q, v), cost + row.weight * (q @ q + row.tau @ row.tau)), [q, row.weight * v[0], 1.0]

        ((q, v), cost), (path, speed, _) = scan(step, ((q, v), 0.0), Row(tau, weight))
        return {"cost": cost, "path": path, "speed": speed, "end": q}

    return moved


def cost_of(steps, scan=cardan.scan):
    moved = rollout(steps, scan)

    @cardan.function(shapes={"tau": (steps, "nv"), "weight": (steps,)})
    def cost(model, q, v, tau, weight):
        return moved(model, q, v, tau, weight)["cost"]

    return cost


def given(batch, steps):
    rng = np.random.default_rng(2)
    return [rng.normal(size=(batch, *shape)) for shape in ((2,), (2,), (steps, 2), (steps,))]


@pytest.fixture
def always_loops(monkeypatch):
    monkeypatch.setattr(autodiff, "LONG", 0)


@pytest.mark.parametrize("target", ["numpy", "llvm"])
def test_as_written_out(target):
    ours, theirs = (rollout(6, scan).on(target) for scan in (cardan.scan, written_out))
    found, expected = ours(PENDULUM, *given(9, 6)), theirs(PENDULUM, *given(9, 6))
    assert [region.passes for region in verify(ours.program(PENDULUM)).regions] == [6]
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("target", ["numpy", "llvm"])
def test_gradient(always_loops, target):
    """Of what is carried, and of rows of two arrays."""
    names = ("q", "tau", "weight")
    ours, theirs = (cardan.gradient(cost_of(6, scan), names).on(target) for scan in (cardan.scan, written_out))
    assert [region.passes for region in verify(ours.program(PENDULUM)).regions] == [6, 6]
    for found, expected in zip(ours(PENDULUM, *given(9, 6)), theirs(PENDULUM, *given(9, 6)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_of_rows_by_rows(always_loops, mode):
    """Of what is kept by data, and along one direction."""
    ours, theirs = (cardan.derivative(rollout(4, scan), "tau", mode=mode) for scan in (cardan.scan, written_out))
    found, expected = ours(PENDULUM, *given(3, 4)), theirs(PENDULUM, *given(3, 4))
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-11, atol=1e-14)
    along = cardan.jacobian_vector_product(rollout(4), "tau")(PENDULUM, *given(3, 4), direction=np.ones((3, 4, 2)))
    np.testing.assert_allclose(along["path"], expected["path"].sum((-1, -2)), rtol=1e-11, atol=1e-14)


def test_hessian(always_loops):
    ours, theirs = (cardan.hessian(cost_of(3, scan), "tau") for scan in (cardan.scan, written_out))
    np.testing.assert_allclose(ours(PENDULUM, *given(2, 3)), theirs(PENDULUM, *given(2, 3)), rtol=1e-10, atol=1e-13)


def test_programs_do_not_grow_with_rows(always_loops):
    few, many = (cardan.gradient(cost_of(steps), "tau").program(PENDULUM) for steps in (10, 1000))
    assert few.operations == many.operations < 300
    assert len(few.columns) == len(many.columns)


def test_differences(always_loops):
    q, v, tau, weight = (a[0] for a in given(1, 500))
    found, cost, h = cardan.gradient(cost_of(500), "tau")(PENDULUM, q, v, tau, weight), cost_of(500), 1e-5
    for row, k in (0, 0), (250, 1), (499, 0):
        moved = tau + np.array([[[h]], [[-h]]]) * (np.arange(1000).reshape(500, 2) == 2 * row + k)
        ahead, behind = cost(PENDULUM, q, v, moved, weight)
        np.testing.assert_allclose(found[row, k], (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-6)


def test_any_split_and_threads_have_the_same_bits(always_loops):
    arrays, gradient = given(50, 40), cardan.gradient(cost_of(40), "tau")
    expected = gradient(PENDULUM, *arrays)
    assert same([gradient.on(threads=3)(PENDULUM, *arrays)], [expected])
    parts = [gradient(PENDULUM, *(a[part] for a in arrays)) for part in (slice(0, 7), slice(7, 50))]
    assert same([np.concatenate(parts)], [expected])


def test_not_a_number_counts_from_its_row_on():
    arrays = given(3, 5)
    arrays[2][1, 3] = np.nan
    path = rollout(5)(PENDULUM, *arrays)["path"]
    np.testing.assert_array_equal(np.isnan(path).all(-1), [[False] * 5, [False] * 3 + [True] * 2, [False] * 5])


def test_on_numbers_symbols_and_nothing_kept():
    total, sums = cardan.scan(lambda s, x: (s + x, s + x), 0.0, np.arange(4.0))
    assert (total, sums.tolist()) == (6.0, [0.0, 1.0, 3.0, 6.0])
    assert cardan.scan(lambda s, x: (s @ x, None), np.eye(2), np.array([np.eye(2)] * 3))[1] == ()
    third = mpmath.mpf(1) / 3  # it has more digits than a float, for one
    assert cardan.scan(lambda s, x: (s + x, s), third, np.arange(3.0))[1].tolist() == [third, third, third + 1]
    kept = cardan.scan(lambda s, x: (s + x, (s, s > 0)), np.float32(0.0), np.ones(3, np.float32))[1]
    assert [a.dtype for a in kept] == [np.float32, bool]

    @cardan.function
    def polynomial(model, q):
        """Known rows, and one row alone."""
        found, _ = cardan.scan(lambda s, c: (s * q[0] + c, ()), 0.0 * q[0], np.array([2.0, -1.0, 3.0]))
        return cardan.scan(lambda s, x: (s + x, s * x), found, q[:1])

    found, kept = polynomial(PENDULUM, np.array([0.5, 0.0]))
    assert (found, kept) == (3.5, [1.5])


def test_bad_input():
    step = lambda s, x: (s + x, s)  # noqa: E731
    for data in (np.zeros((0, 2)), 1.0, (), (np.zeros(2), np.zeros(3))):
        with pytest.raises(ParameterError, match="one number of rows"):
            cardan.scan(step, 0.0, data)
    with pytest.raises(ParameterError, match="expected two: what is carried on"):
        cardan.scan(lambda s, x: s, 0.0, np.zeros(2))
    with pytest.raises(ParameterError, match=r"carries on: got \(2,\), expected \(\), as at first"):
        cardan.scan(lambda s, x: (x, None), 0.0, np.zeros((3, 2)))
    with pytest.raises(ParameterError, match="keeps: got"):
        cardan.scan(lambda s, x: (s + 1, np.zeros(s + 1)), 0, np.zeros(3))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_in_c(always_loops, tmp_path):
    program, arrays = cardan.gradient(cost_of(20), "tau").program(PENDULUM), given(5, 20)
    out = np.empty((5, 20, 2))
    run_c(tmp_path, program, arrays, [out])
    np.testing.assert_allclose(out.reshape(5, 40), evaluated(program, "llvm", arrays)[0], rtol=1e-11, atol=1e-14)


def test_results_that_are_rows_are_where_they_were_put():
    """What is kept of rows stays at its distance, so the number of instructions is the same for any number of rows."""
    few, many = (results_in_place(rollout(steps).program(PENDULUM)) for steps in (4, 40))
    assert len(verify(few).instructions) == len(verify(many).instructions)
    placed = [column for column in many.columns if column.results]
    assert sorted((c.rows, c.stride) for c in placed) == [(40, 1), (40, 2), (40, 2)]
    lines = str(many).splitlines()
    assert any("40 rows, results from 1 on, each 2 further" in line for line in lines)
    assert [line for line in lines if "end[0] <- %" in line]
    own = with_entries(many)
    assert not any(column.results for column in verify(own).columns)
    for target in ("numpy", "llvm"):
        found, expected = (evaluated(p, target, given(9, 40)) for p in (many, own))
        assert same(found, expected)
    assert same(evaluated(many, "llvm", given(9, 40)), evaluated(own, "llvm", given(9, 40)))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"result": None}, "do not fill"),
        ({"result": 2}, "do not fill"),
        ({"stride": 1}, "do not fill"),
        ({"rows": 5}, "no entries of one result"),
        ({"result": 10**6}, "no entries of one result"),
        ({"start": 0}, "is known"),
    ],
)
def test_results_of_columns_are_verified(changed, says):
    program = results_in_place(rollout(4).program(PENDULUM))
    n = next(n for n, column in enumerate(program.columns) if column.results)
    columns = (*program.columns[:n], program.columns[n]._replace(**changed), *program.columns[n + 1 :])
    with pytest.raises(ProgramError, match=says):
        verify(replace(program, columns=columns))
