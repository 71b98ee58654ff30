"""Trees of many alike joints are looped over: answers as written out, to rounding, and the same bits however cut."""

import shutil

import numpy as np
import pytest

import cardan
from cardan.joints import Prismatic, Revolute, Spherical
from programs import evaluated, run_c

HINGES, MIXED, BALLS = (Revolute([0, 0, 1]),), (Revolute([0, 0, 1]), Prismatic([0.6, 0.0, 0.8])), (Spherical(),)
FUNCTIONS = (cardan.inverse_dynamics, cardan.forward_dynamics)


def tree(kinds, n=56, back=5):
    """Return a robot whose joints join one of the `back` bodies before."""
    rng = np.random.default_rng(n + back)
    m = cardan.Mechanism("tree")
    for k in range(n):
        moment = np.diag(rng.uniform(0.02, 0.03, 3))
        m.add_body(f"b{k}", cardan.Inertia(mass=rng.uniform(0.5, 2.0), com=rng.normal(size=3) / 20, inertia=moment))
        joint, parent = kinds[k % len(kinds)], f"b{rng.integers(max(0, k - back), k)}" if k else "world"
        armature = rng.uniform(0.0, 0.1, joint.nv)
        pose = cardan.SE3(translation=rng.normal(size=3) / 10)
        m.add_joint(f"j{k}", joint, parent, f"b{k}", pose, armature=armature)
    return m.model(base="fixed")


def states(model, rows):
    rng = np.random.default_rng(5)
    return [model.random_configuration((rows,), seed=4), *rng.normal(size=(2, rows, model.nv))]


@pytest.mark.parametrize("kinds", [HINGES, MIXED, BALLS], ids=["hinges", "mixed", "balls"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
@pytest.mark.parametrize("back", [1, 5], ids=["chain", "tree"])
def test_loops_answer_as_the_page_written_out(function, kinds, back):
    model = tree(kinds, back=back)
    given = states(model, 9)
    found = function(model, *given)
    for row in (0, 8):
        expected = np.array(function.kernel(model, *(a[row].tolist() for a in given)))
        np.testing.assert_allclose(found[row], expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_external_forces_act_on_looped_bodies():
    model = tree(HINGES)
    q, v, x = (a[0] for a in states(model, 1))
    f = np.random.default_rng(1).normal(size=(len(model.body_names), 6))
    for function in FUNCTIONS:
        expected = np.array(function.kernel(model, q.tolist(), v.tolist(), x.tolist(), f.tolist()))
        np.testing.assert_allclose(function(model, q, v, x, f), expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bits_hang_on_no_cut_of_the_batch(dtype):
    model = tree(MIXED)
    given = [a.astype(dtype) for a in states(model, 70)]
    for function in FUNCTIONS:
        whole = function(model, *given)
        assert np.array_equal(function.on("llvm", threads=2)(model, *given), whole)
        for rows in (1, 7, 8, 33):
            assert np.array_equal(function(model, *(a[:rows] for a in given)), whole[:rows])
        assert np.array_equal(function(model, *(a[69] for a in given)), whole[69])


def test_other_targets_agree(tmp_path):
    model = tree(MIXED)
    given = [np.ascontiguousarray(a) for a in states(model, 3)]
    for function in FUNCTIONS:
        own = function.program(model)
        (native,), (plain,) = evaluated(own, "llvm", given), evaluated(own, "numpy", given)
        np.testing.assert_allclose(native, plain, atol=1e-9 * np.abs(plain).max())
        if shutil.which("gcc"):
            folder, made = tmp_path / function.name, np.empty_like(plain)
            folder.mkdir()  # a library at the same path would be the one that is loaded already
            run_c(folder, own, given, [made])
            np.testing.assert_allclose(made, plain, atol=1e-9 * np.abs(plain).max())


def test_programs_do_not_grow_with_the_number_of_joints():
    for function in FUNCTIONS:
        few, many = (function.program(tree(HINGES, n, 1)) for n in (60, 240))
        assert few.operations == many.operations
        assert many.work > 3.5 * few.work


def test_robots_that_ship_are_written_out():
    for name in ("arm7", "quadruped", "humanoid"):
        model = getattr(cardan.robots, name)().model()
        assert not any(function.program(model).regions for function in FUNCTIONS)


@pytest.mark.full
def test_derivatives_of_loops():
    model = tree(HINGES, 50, 1)
    q, v, a = (x[0] for x in states(model, 1))
    slopes = cardan.derivative(cardan.inverse_dynamics, "a")(model, q, v, a)
    np.testing.assert_allclose(slopes, cardan.mass_matrix(model, q), atol=1e-9)
    by_q, h = cardan.derivative(cardan.inverse_dynamics, "q")(model, q, v, a), 1e-6
    moved = np.eye(50)[3] * h
    step = cardan.inverse_dynamics(model, q + moved, v, a) - cardan.inverse_dynamics(model, q - moved, v, a)
    np.testing.assert_allclose(by_q[:, 3], step / (2 * h), atol=1e-5)
