"""`cardan.distributed`: the bits of one call for all chunks, engines and formats, sums; and what goes wrong."""

import multiprocessing
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import cardan
from cardan._reach.distributed import mapping
from cardan.distributed import map as mapped
from cardan.errors import ChunkError, DTypeError, FunctionReferenceError, ParameterError, ShapeError

ROWS = 1000


@cardan.function
def report(model, q, v, gain: float = 1.0):
    return {"energy": gain * cardan.kinetic_energy(model, q, v), "center": cardan.center_of_mass(model, q)}


@pytest.fixture(scope="module")
def arm():
    return cardan.robots.arm7().model()


@pytest.fixture(scope="module")
def states(arm):
    q = arm.random_configuration((ROWS,), seed=0)
    v, a = np.random.default_rng(0).normal(size=(2, ROWS, arm.nv))
    return {"q": q, "v": v, "a": a}


@pytest.fixture(scope="module")
def torques(arm, states):
    return cardan.inverse_dynamics(arm, **states)


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def by_threads(*args, **kwargs):
    return mapped(*args, **{"workers": 2, **kwargs})


# --- the same bits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 7, 64, 999, 1000, 10**9, None])
def test_the_results_are_those_of_one_call_whatever_the_chunk(arm, states, chunk):
    some = {name: array[:150] for name, array in states.items()} if chunk == 1 else states
    got = by_threads(cardan.inverse_dynamics, arm, some, chunk=chunk)
    np.testing.assert_array_equal(got, cardan.inverse_dynamics(arm, **some))


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.mark.slow
def test_the_results_are_those_of_one_call_in_processes(arm, states, torques, processes):
    got = mapped(cardan.inverse_dynamics, arm, states, engine=processes, workers=2, chunk=137)
    np.testing.assert_array_equal(got, torques)
    total = cardan.distributed.sum(cardan.inverse_dynamics, arm, states, engine=processes, workers=2)
    np.testing.assert_array_equal(total, cardan.distributed.sum(cardan.inverse_dynamics, arm, states))
    assert processes.submit(int).result() == 0


@pytest.mark.parametrize("solver", [cardan.solvers.Featherstone, cardan.solvers.XPBD])
def test_a_sweep_of_worlds_has_the_bits_of_one_call(solver):
    steps = solver(cardan.robots.double_pendulum().world(), dt=1e-3).function.repeated(10)
    model, rng = cardan.robots.double_pendulum().world().model, np.random.default_rng(0)
    states = {"q": rng.normal(size=(40, model.nq)), "v": rng.normal(size=(40, model.nv)), "count": np.zeros(40)}
    expected = steps(model, **states)
    for sent in (steps, pickle.loads(pickle.dumps(steps))):
        got = by_threads(sent, model, states, chunk=9)
        for name, values in expected.items():
            np.testing.assert_array_equal(got[name], values)


@pytest.mark.full
def test_sums_have_the_same_bits_for_all_workers(arm, states, monkeypatch):
    monkeypatch.setattr(mapping, "BYTES", 20_000)  # so that there are some ten chunks
    given = {"q": states["q"], "v": states["v"]}
    found = cardan.distributed.sum(report, arm, given)
    for name, terms in report(arm, **given).items():
        np.testing.assert_allclose(found[name], terms.sum(axis=0), rtol=1e-13)
    for workers in (2, 7):
        for name, values in cardan.distributed.sum(report, arm, given, workers=workers).items():
            np.testing.assert_array_equal(values, found[name])
    narrow = cardan.distributed.sum(cardan.kinetic_energy, arm, {n: a.astype(np.float32) for n, a in given.items()})
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, found["energy"], rtol=1e-5)
    assert cardan.distributed.sum(report, arm, {n: a[:0] for n, a in given.items()})["energy"] == 0.0


def test_results_go_to_arrays_of_files(arm, states, torques, workplace):
    np.save("q.npy", np.asfortranarray(states["q"]))
    data = {**states, "q": np.load("q.npy", mmap_mode="r"), "v": states["v"].astype(">f8")}
    out = np.lib.format.open_memmap("tau.npy", "w+", float, torques.shape)
    assert by_threads(cardan.inverse_dynamics, arm, data, out, chunk=130) is out
    np.testing.assert_array_equal(np.load("tau.npy"), torques)
    want = report(arm, states["q"], states["v"])
    several = {name: np.empty_like(array) for name, array in want.items()}
    by_threads(report, arm, {name: states[name] for name in "qv"}, several, chunk=300)
    assert all(np.array_equal(several[name], want[name]) for name in want)


def test_results_have_the_functions_form(arm, states):
    q, v = states["q"], states["v"]
    got, want = by_threads(report, arm, {"q": q, "v": v}, chunk=99), report(arm, q, v)
    assert got.keys() == want.keys()
    assert all(np.array_equal(got[name], want[name]) for name in want)
    derivatives = by_threads(cardan.forward_dynamics_derivatives, arm, {"q": q, "v": v, "tau": states["a"]}, chunk=400)
    assert type(derivatives) is type(cardan.forward_dynamics_derivatives(arm, q, v, states["a"]))


def test_leading_dimensions_are_broadcast_as_in_a_call(arm, states):
    data = {"q": states["q"][:30].reshape(10, 3, 7), "v": states["v"][:3], "a": states["a"][:10, None]}
    want = cardan.inverse_dynamics(arm, **data)
    np.testing.assert_array_equal(by_threads(cardan.inverse_dynamics, arm, data, chunk=4), want)
    rest = np.zeros(arm.nv)
    got = by_threads(cardan.inverse_dynamics, arm, {"q": states["q"]}, v=rest, a=rest, chunk=400)
    np.testing.assert_array_equal(got, cardan.inverse_dynamics(arm, states["q"], rest, rest))


def test_options_numbers_and_the_models_inputs_are_given_by_name(arm, states):
    q, v = states["q"], states["v"]
    got = by_threads(cardan.jacobian, arm, {"q": q}, frame="tool", chunk=300)
    np.testing.assert_array_equal(got, cardan.jacobian(arm, q, "tool"))
    gained = by_threads(report, arm, {"q": q, "v": v}, gain=2.5, chunk=300)
    np.testing.assert_array_equal(gained["energy"], report(arm, q, v, gain=2.5)["energy"])
    varied = arm.with_inputs(payload=(arm.body_names[-1], "mass"))
    masses = np.linspace(0.1, 5.0, ROWS)
    swept = by_threads(cardan.gravity_forces, varied, {"q": q[0], "payload": masses}, chunk=300)
    np.testing.assert_array_equal(swept, cardan.gravity_forces(varied, q[0], payload=masses))


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_the_precision_is_that_of_a_call(arm, states, dtype):
    data = {name: array.astype(dtype) for name, array in states.items()}
    got, want = by_threads(cardan.inverse_dynamics, arm, data, chunk=300), cardan.inverse_dynamics(arm, **data)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_no_rows_are_no_error(arm):
    none = dict.fromkeys("qva", np.zeros((0, 7)))
    assert by_threads(cardan.inverse_dynamics, arm, none).shape == (0, 7)


def test_a_row_that_fails_is_named_with_its_reason(arm, states):
    q = states["q"].copy()
    q[456, 2] = np.nan
    function = cardan.inverse_dynamics.on(checked=True)
    with pytest.raises(ChunkError, match=r"rows 400 to 499: NotFiniteError: .*q\[56, 2\] is nan"):
        by_threads(function, arm, {**states, "q": q}, chunk=100)


def test_dasks_own_arrays_take_functions_by_their_signature(arm, states, torques):
    array = pytest.importorskip("dask.array")
    given = [array.from_array(a, chunks=(300, -1)) for a in states.values()]
    signature = cardan.inverse_dynamics.signature(arm)
    tau = array.apply_gufunc(cardan.inverse_dynamics.bind(arm), signature, *given, output_dtypes=float)
    np.testing.assert_array_equal(tau.compute(scheduler="threads"), torques)


# --- what does not fit --------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_told(arm, states):
    q, v = states["q"], states["v"]
    f, g = cardan.inverse_dynamics, cardan.gravity_forces
    short, narrow = {**states, "v": v[:7]}, {**states, "v": v[:, :6]}
    for error, said, call in (
        (ParameterError, "engine: got 'spawn', expected an", lambda: by_threads(f, arm, states, engine="spawn")),
        (ShapeError, r"leading \(batch\) dimensions are q: \(1000,\), v: \(7,\)", lambda: by_threads(f, arm, short)),
        (ShapeError, r"argument 'v' has shape \(1000, 6\), expected \(..., 7\)", lambda: by_threads(f, arm, narrow)),
        (ShapeError, "a first dimension, of rows", lambda: by_threads(g, arm, {"q": q[0]})),
        (ShapeError, r"\(1000, 7\), of 'result'", lambda: by_threads(g, arm, {"q": q}, np.empty((999, 7)))),
        (TypeError, "missing a required argument: 'a'", lambda: by_threads(f, arm, {"q": q, "v": v})),
        (TypeError, "unexpected keyword argument 'qq'", lambda: by_threads(g, arm, {"q": q, "qq": q})),
        (DTypeError, "an array of complex numbers", lambda: by_threads(g, arm, {"q": q + 1j})),
        (DTypeError, "a mapping with the key 1", lambda: by_threads(g, arm, {1: q})),
        (DTypeError, "'data' is a list, expected a mapping", lambda: by_threads(g, arm, [q])),
        (ParameterError, "distributed: function", lambda: by_threads(np.sin, arm, {"q": q})),
        (DTypeError, "expected a cardan.Model", lambda: by_threads(g, None, {"q": q})),
        (ParameterError, "distributed: chunk: got 0", lambda: by_threads(g, arm, {"q": q}, chunk=0)),
        (ParameterError, "distributed: workers: got True", lambda: by_threads(g, arm, {"q": q}, workers=True)),
        (ParameterError, "by the names of results", lambda: by_threads(report, arm, {"q": q, "v": v}, q)),
        (ParameterError, "given as options, too", lambda: by_threads(g, arm, {"q": q}, q=q)),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            call()


def test_a_function_that_cannot_be_sent_is_refused_with_the_reason(arm, states, monkeypatch, processes):
    for library in [name for name in sys.modules if name.endswith("cloudpickle")]:
        monkeypatch.delitem(sys.modules, library)

    @cardan.function
    def local(model, q):
        return 2.0 * q[0]

    with pytest.raises(FunctionReferenceError, match="Define it at the top of a module"):
        mapped(local, arm, {"q": states["q"]}, engine=processes)
    np.testing.assert_array_equal(by_threads(local, arm, {"q": states["q"]}), 2.0 * states["q"][:, 0])
