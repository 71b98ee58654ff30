"""Functions, bound ones and users' in other processes: pickled, spawned, by joblib."""

import copy
import multiprocessing
import pickle
import sys
from functools import partial

import numpy as np
import pytest

import cardan
from cardan.errors import FunctionReferenceError


@cardan.function
def weighed(model, q, gain: float):
    """A user's own function."""
    return gain * cardan.center_of_mass(model, q)


@pytest.fixture(scope="module")
def arm():
    return cardan.robots.arm7().model()


FUNCTIONS = {
    "its own": cardan.inverse_dynamics,
    "a user's": weighed,
    "a derivative": cardan.derivative(cardan.mass_matrix, "q", mode="reverse"),
    "a gradient": cardan.gradient(cardan.potential_energy, "q"),
    "a Hessian": cardan.hessian(cardan.potential_energy, "q"),
    "on another target": cardan.potential_energy.on("numpy"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_pickled_as_where_they_are(arm, name):
    function = FUNCTIONS[name]
    again = pickle.loads(pickle.dumps(function))
    if name in ("its own", "a user's"):
        assert again is function
    assert (again.name, again.target, again.__doc__) == (function.name, function.target, function.__doc__)
    q = np.linspace(0.0, 1.0, arm.nq)
    arguments = {"its own": (q, q, q), "a user's": (q, 2.0)}.get(name, (q,))
    np.testing.assert_array_equal(again(arm, *arguments), function(arm, *arguments))
    assert copy.deepcopy({"held": function})["held"] is function


def test_bound_functions_are_pickled_with_their_model(arm):
    fast = cardan.jacobian.bind(arm, frame="tool", expressed_in="frame")
    again = pickle.loads(pickle.dumps(fast))
    q = np.linspace(0.0, 1.0, arm.nq)
    np.testing.assert_array_equal(again(q), fast(q))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(weighed.bind(arm, gain=3.0)))(q, 3.0), weighed(arm, q, 3.0))


def test_a_function_within_another_is_refused_with_the_reason(monkeypatch):
    for library in [name for name in sys.modules if name.endswith("cloudpickle")]:
        monkeypatch.delitem(sys.modules, library)
    local = cardan.function(lambda model, q: q)
    with pytest.raises(FunctionReferenceError, match="top of a module"):
        pickle.dumps(local)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools(arm, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    states = np.random.default_rng(0).normal(size=(4, arm.nq))
    tasks = [(partial(cardan.gravity_forces, arm), (q,)) for q in states]
    tasks += [(cardan.gravity_forces.bind(arm), (q,)) for q in states]
    tasks += [(weighed, (arm, q, 2.0)) for q in states]
    with multiprocessing.get_context(method).Pool(1) as pool:
        found = [pool.apply(function, arguments) for function, arguments in tasks]
    for (function, arguments), result in zip(tasks, found, strict=True):
        np.testing.assert_array_equal(result, function(*arguments))


def test_functions_of_a_notebook_go_along_as_code(arm):
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    cloudpickle = pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    local = cardan.function(lambda model, q: 2.0 * q)

    states = np.random.default_rng(0).normal(size=(3, arm.nq))
    again = pickle.loads(cloudpickle.dumps(local))
    np.testing.assert_array_equal(again(arm, states), 2.0 * states)
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(weighed)(arm, q, 2.0) for q in states)
    np.testing.assert_array_equal(found, weighed(arm, states, 2.0))


def test_models_that_came_through_pickle_share_programs_and_fast_paths(arm):
    model, q = pickle.loads(pickle.dumps((arm, np.ones(arm.nq))))
    np.testing.assert_array_equal(cardan.gravity_forces(model, q), cardan.gravity_forces(arm, np.ones(arm.nq)))
    key = (("q",), ())
    assert cardan.gravity_forces.compiled(model, *key) is cardan.gravity_forces.compiled(arm, *key)


def test_a_function_that_was_redefined_is_sent_as_it_was(arm, monkeypatch):
    """As in a notebook: its name leads to the new one, which was taken for it."""
    pytest.importorskip("cloudpickle")

    def made(gain):
        def redefined(model, q):
            return gain * q[0]

        redefined.__qualname__ = "redefined"
        return cardan.function(redefined)

    first, second = made(2.0), made(3.0)
    monkeypatch.setattr(sys.modules[__name__], "redefined", second, raising=False)
    q = np.linspace(1.0, 2.0, arm.nq)
    sent = pickle.dumps(first)
    assert [pickle.loads(pickle.dumps(f))(arm, q) for f in (first, second)] == [2.0, 3.0]
    assert pickle.loads(sent) is pickle.loads(sent)  # compiled once, however often it comes
    assert pickle.loads(pickle.dumps(first.bind(arm)))(q) == 2.0
