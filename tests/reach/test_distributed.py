"""`cardan.distributed.map`: the bits of one call for all chunks, engines and formats; and what goes wrong."""

import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan._reach.distributed.engines import Processes, Schedule, Threads
from cardan._reach.distributed.outputs import Arrays
from cardan.distributed import map as mapped
from cardan.errors import (
    ChunkError,
    DTypeError,
    FunctionReferenceError,
    ParameterError,
    ShapeError,
    UnknownNameError,
)

ROWS = 1000
FORMATS = ("", ".npy", ".npz")


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
    return mapped(*args, **{"engine": "threads", "workers": 2, **kwargs})


def read(out):
    """Return the one array of a file or folder, by the package it belongs to."""
    if out.suffix == ".npy":
        return np.load(out)
    if out.suffix == ".npz":
        return np.load(out)["result"]
    return np.load(out / "result.npy")


# --- the same bits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 7, 64, 999, 1000, 10**9, None])
def test_the_results_are_those_of_one_call_whatever_the_chunk(arm, states, chunk):
    some = {name: array[:150] for name, array in states.items()} if chunk == 1 else states
    got = by_threads(cardan.inverse_dynamics, arm, some, chunk=chunk)
    np.testing.assert_array_equal(got, cardan.inverse_dynamics(arm, **some))


def test_the_results_are_those_of_one_call_in_processes(arm, states, torques):
    got = mapped(cardan.inverse_dynamics, arm, states, engine="processes", workers=2, chunk=137)
    np.testing.assert_array_equal(got, torques)


@pytest.mark.parametrize("engine", ["threads", pytest.param("processes", marks=pytest.mark.full)])
@pytest.mark.parametrize("solver", [cardan.solvers.Featherstone, cardan.solvers.XPBD])
def test_a_sweep_of_worlds_has_the_bits_of_one_call(solver, engine):
    steps = solver(cardan.robots.double_pendulum().world(), dt=1e-3).function.repeated(10)
    model, rng = cardan.robots.double_pendulum().world().model, np.random.default_rng(0)
    states = {"q": rng.normal(size=(40, model.nq)), "v": rng.normal(size=(40, model.nv)), "count": np.zeros(40)}
    expected = steps(model, **states)
    for sent in (steps, pickle.loads(pickle.dumps(steps))):
        got = mapped(sent, model, states, engine=engine, workers=2, chunk=9)
        for name, values in expected.items():
            np.testing.assert_array_equal(got[name], values)


def test_an_executor_of_the_callers_computes_and_is_left_open(arm, states, torques, workplace):
    """Threads here stand for a cluster's executor, which is handed bytes."""
    with ThreadPoolExecutor(2) as executor:
        for out in (None, Path("tau.npy")):
            got = mapped(cardan.inverse_dynamics, arm, states, out, engine=executor, workers=2, chunk=137)
            np.testing.assert_array_equal(got if out is None else np.load(out), torques)
        assert executor.submit(int).result() == 0


@pytest.mark.parametrize("ending", FORMATS)
def test_what_is_written_is_read_again(arm, states, torques, workplace, ending):
    out = by_threads(cardan.inverse_dynamics, arm, states, f"deep/tau{ending}", chunk=130)
    assert out == Path(f"deep/tau{ending}")
    np.testing.assert_array_equal(read(out), torques)
    assert os.listdir("deep") == [out.name]
    data = {"q": states["q"], "v": states["v"], "tau": out}
    back = by_threads(cardan.forward_dynamics, arm, data, chunk=77)
    np.testing.assert_array_equal(back, cardan.forward_dynamics(arm, states["q"], states["v"], torques))


@pytest.mark.parametrize("ending", ["", ".npz"])
def test_one_path_holds_all_arguments(arm, states, workplace, ending):
    """Written by a function that gives them, for one that takes some."""
    given = by_threads(report, arm, {"q": states["q"], "v": states["v"]}, f"report{ending}", chunk=300)

    @cardan.function(shapes={"center": (3,)})
    def height(model, center, energy: float):
        return center[2] + energy

    want = report(arm, states["q"], states["v"])
    np.testing.assert_array_equal(
        by_threads(height, arm, given, chunk=70), height(arm, want["center"], energy=want["energy"])
    )


def test_arrays_lie_as_numpy_and_others_write_them(arm, states, torques, workplace):
    np.savez("plain.npz", **states, unused=np.zeros(3))
    np.savez_compressed("small.npz", **states)
    for name, array in states.items():
        np.save(f"{name}.npy", np.asfortranarray(array))
    mixed = {"q": states["q"].astype(">f8"), "v": np.load("v.npy", mmap_mode="r"), "a": "a.npy"}
    for data in ("plain.npz", Path("small.npz"), ".", mixed):
        np.testing.assert_array_equal(by_threads(cardan.inverse_dynamics, arm, data, chunk=333), torques)


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


@pytest.mark.parametrize("ending", FORMATS)
def test_no_rows_are_no_error(arm, workplace, ending):
    none = dict.fromkeys("qva", np.zeros((0, 7)))
    assert by_threads(cardan.inverse_dynamics, arm, none).shape == (0, 7)
    assert len(read(by_threads(cardan.inverse_dynamics, arm, none, Path(f"none{ending}")))) == 0


# --- workers that die, disks that are full, maps that are interrupted ---------------------------------------------


class KillsAWorker:
    """An array during whose reading, in the middle, a worker is killed."""

    def __init__(self, array, row):
        self.array, self.row, self.killed = array, row, 0
        self.shape, self.dtype = array.shape, array.dtype

    def __getitem__(self, rows):
        if rows.start == self.row and not self.killed and (workers := multiprocessing.active_children()):
            os.kill(workers[0].pid, getattr(signal, "SIGKILL", signal.SIGTERM))
            self.killed = workers[0].pid
        return self.array[rows]


@pytest.mark.full
def test_a_worker_killed_in_the_middle_loses_nothing(arm, states, torques, workplace):
    deadly = KillsAWorker(states["q"], 600)
    out = mapped(cardan.inverse_dynamics, arm, {**states, "q": deadly}, Path("tau.npy"), workers=2, chunk=20)
    assert deadly.killed
    np.testing.assert_array_equal(np.load(out), torques)


def dies(chunk):
    if chunk[0] == 3:
        os._exit(1)
    return chunk


@pytest.mark.full
def test_a_chunk_that_kills_its_worker_is_named_and_not_tried_for_ever():
    engine = Processes(2)
    schedule = Schedule("simulate", engine, lambda chunk: engine.submit(dies, chunk), 1)
    with pytest.raises(ChunkError, match=r"simulate: rows 3 to 3: the worker died 2 times") as caught:
        list(schedule.results((k, k + 1) for k in range(8)))
    engine.close()
    assert (caught.value.start, caught.value.attempts, caught.value.died) == (3, 2, True)


class Flaky:
    """Fails a number of times."""

    def __init__(self, times, error):
        self.times, self.error, self.calls = times, error, 0

    def __call__(self, chunk):
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return chunk


@pytest.mark.parametrize(
    ("error", "times", "calls"),
    [
        (OSError("the network"), 2, 3),
        (MemoryError(), 3, 3),
        (OSError(28, "No space left on device"), 1, 1),
        (ValueError("the data"), 1, 1),
    ],
    ids=["passes", "does not pass", "disk full", "data"],
)
def test_what_may_pass_is_tried_again_and_nothing_else_is(error, times, calls):
    engine, flaky = Threads(1), Flaky(times, error)
    schedule = Schedule("f", engine, lambda chunk: engine.submit(flaky, chunk), 2)
    if times < calls:
        assert list(schedule.results([(0, 5)])) == [((0, 5), (0, 5))]
    else:
        with pytest.raises(ChunkError, match="rows 0 to 4") as caught:
            list(schedule.results([(0, 5)]))
        assert caught.value.__cause__ is error
        assert pickle.loads(pickle.dumps(caught.value)).stop == 5
    assert flaky.calls == calls
    engine.close()


def test_a_row_that_fails_is_named_with_its_reason(arm, states):
    q = states["q"].copy()
    q[456, 2] = np.nan
    function = cardan.inverse_dynamics.on(checked=True)
    with pytest.raises(ChunkError, match=r"rows 400 to 499: failed: NotFiniteError: .*q\[56, 2\] is nan") as caught:
        by_threads(function, arm, {**states, "q": q}, chunk=100)
    assert caught.value.attempts == 1


@pytest.mark.parametrize("ending", ["", ".npz"])
def test_an_interrupted_map_goes_on_where_it_stopped(arm, states, torques, workplace, monkeypatch, ending):
    out = Path(f"tau{ending}")
    q = states["q"].copy()
    q[620] = np.nan
    checked = cardan.inverse_dynamics.on(checked=True)
    with pytest.raises(ChunkError):
        by_threads(checked, arm, {**states, "q": q}, out, chunk=100)
    assert not out.exists()
    assert os.listdir(".") == [f"{out}.unfinished"]
    assert len(Path(f"{out}.unfinished/done").read_text().split()) >= 4
    with pytest.raises(ParameterError, match="unfinished results of another function, robot, data or chunk"):
        by_threads(cardan.inverse_dynamics, arm, states, out, chunk=100)
    by_threads(cardan.inverse_dynamics, arm, states, out, chunk=100, overwrite=True)
    np.testing.assert_array_equal(read(out), torques)


def _longer(file: Path) -> None:
    with open(file, "ab") as stream:
        stream.write(b"x" * 4000)


def _flipped(file: Path) -> None:
    with open(file, "r+b") as stream:
        stream.seek(20)
        stream.write(b"\x55" * 8)


DAMAGES = {
    "binary list": (lambda folder: (folder / "done").write_bytes(b"\xff\xfe0\n\x00\n"), "no list of rows"),
    "list of words": (lambda folder: (folder / "done").write_text("0\nseven\n"), "no list of rows"),
    "list with a huge number": (lambda folder: (folder / "done").write_text("9" * 5000 + "\n"), "no list of rows"),
    "list of other rows": (lambda folder: (folder / "done").write_text("7\n"), "no chunk begins at row 7"),
    "list of rows beyond": (lambda folder: (folder / "done").write_text("99900\n"), "no chunk begins at row 99900"),
    "list that is a folder": (
        lambda folder: ((folder / "done").unlink(), (folder / "done").mkdir()),
        "Is a directory|Permission denied",
    ),
    "no list": (lambda folder: (folder / "done").unlink(), "No such file"),
    "no results": (lambda folder: (folder / "results/result.npy").unlink(), r"cannot be read: No such file"),
    "shorter results": (lambda folder: os.truncate(folder / "results/result.npy", 1000), "has 1000 bytes and not"),
    "longer results": (
        lambda folder: _longer(folder / "results/result.npy"),
        r"has \d+ bytes and not",
    ),
    "zeroed results": (
        lambda folder: (folder / "results/result.npy").write_bytes(
            b"\0" * (folder / "results/result.npy").stat().st_size
        ),
        "does not begin as it was begun",
    ),
    "another header": (lambda folder: _flipped(folder / "results/result.npy"), "does not begin as it was begun"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_progress_is_named_and_can_be_begun_anew(arm, states, torques, workplace, monkeypatch, name):
    damage, told = DAMAGES[name]
    monkeypatch.setattr(Arrays, "finish", lambda self, place, table: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        by_threads(cardan.inverse_dynamics, arm, states, "out", chunk=250)
    monkeypatch.undo()
    monkeypatch.chdir(workplace)
    damage(Path("out.unfinished"))
    with pytest.raises(ParameterError, match=f"{told}.*Remove 'out.unfinished', or pass overwrite=True"):
        by_threads(cardan.inverse_dynamics, arm, states, "out", chunk=250)
    by_threads(cardan.inverse_dynamics, arm, states, "out", chunk=250, overwrite=True)
    np.testing.assert_array_equal(np.load("out/result.npy"), torques)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
@pytest.mark.full
def test_workers_end_with_a_caller_that_is_killed(workplace):
    code = (
        "import os, signal\nfrom cardan._reach.distributed.engines import Processes\n"
        "print(Processes(1).submit(os.getpid).result(), flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    worker, _ = caller.communicate(timeout=60)  # ends when nobody holds the pipe any more, the worker neither
    assert caller.returncode == -signal.SIGKILL
    assert int(worker) > 0


def test_what_is_done_is_not_done_again(arm, states, torques, workplace, monkeypatch):
    written, write = [], Arrays.write

    def fails(self, place, table, start, results):
        if start == 500:
            raise OSError(28, "No space left on device")
        write(self, place, table, start, results)

    def counts(self, place, table, start, results):
        written.append(start)
        write(self, place, table, start, results)

    monkeypatch.setattr(Arrays, "write", fails)
    with pytest.raises(ChunkError, match=r"rows 500 to 599: failed: OSError: \[Errno 28\] No space left on device"):
        by_threads(cardan.inverse_dynamics, arm, states, "tau.npy", chunk=100)
    assert not Path("tau.npy").exists()
    done = [int(line) for line in Path("tau.npy.unfinished/done").read_text().split()]
    with open("tau.npy.unfinished/done", "a") as stream:
        stream.write("70")  # a line that was cut off
    monkeypatch.setattr(Arrays, "write", counts)
    by_threads(cardan.inverse_dynamics, arm, states, "tau.npy", chunk=100)
    assert len(done) >= 4
    assert sorted(done + written) == list(range(0, ROWS, 100))
    np.testing.assert_array_equal(np.load("tau.npy"), torques)
    assert os.listdir(".") == ["tau.npy"]


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the disk cannot be asked for room")
def test_a_disk_without_room_is_told_before_anything_is_computed(workplace):
    code = (
        "import resource, sys, cardan, numpy as np\n"
        "sys.dont_write_bytecode = True\n"  # files of bytecode would be cut short, for all processes that share them
        "arm = cardan.robots.arm7().model()\n"
        "cardan.gravity_forces.on('numpy')(arm, np.zeros((2, 7)))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "data = {'q': np.zeros((1000, 7))}\n"
        "cardan.distributed.map(cardan.gravity_forces.on('numpy'), arm, data, 'tau.npy', engine='threads')\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "OSError: [Errno 27] File too large (56128 bytes)" in ran.stderr
    assert os.listdir(".") == []


def test_what_is_there_is_replaced_when_that_is_asked_for(arm, states, torques, workplace):
    Path("tau").mkdir()
    Path("tau/old.npy").touch()
    with pytest.raises(ParameterError, match="expected a name that is free"):
        by_threads(cardan.inverse_dynamics, arm, states, "tau")
    assert os.listdir("tau") == ["old.npy"]
    by_threads(cardan.inverse_dynamics, arm, states, "tau", overwrite=True)
    assert os.listdir("tau") == ["result.npy"]
    assert os.listdir(".") == ["tau"]


def test_the_list_of_what_is_done_says_of_what(arm, states, workplace, monkeypatch):
    monkeypatch.setattr(Arrays, "finish", lambda self, place, table: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        by_threads(cardan.inverse_dynamics, arm, states, "tau")
    work = json.loads(Path("tau.unfinished/work.json").read_text())
    assert work["program"][0] == cardan.inverse_dynamics.compiled(arm, ("q", "v", "a"), ()).digest
    assert work["cardan"] == cardan.__version__


@cardan.function
def from_home(model, q):
    return q - model.named_configurations["home"]


def test_results_of_a_robot_with_another_home_are_not_gone_on_with(arm, states, workplace, monkeypatch):
    """They were: the digest that told robots apart left out what a function may well read."""
    robots = []
    for home in (0.25, 0.75):
        m = cardan.robots.arm7()
        m.add_configuration("home", {arm.joint_names[1]: home})
        robots.append(m.model())
    with monkeypatch.context() as patch:
        patch.setattr(Arrays, "finish", lambda self, place, table: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            by_threads(from_home, robots[0], {"q": states["q"]}, "moved")
    with pytest.raises(ParameterError, match="unfinished results of another function, robot"):
        by_threads(from_home, robots[1], {"q": states["q"]}, "moved")
    by_threads(from_home, robots[0], {"q": states["q"]}, "moved")
    np.testing.assert_allclose(np.load("moved/result.npy")[:, 0], states["q"][:, 0] - 0.25)


def test_results_of_another_count_of_steps_are_not_gone_on_with(arm, states, workplace, monkeypatch):
    moved = cardan.function(lambda model, q: {"q": q + 1.0})
    monkeypatch.setattr(Arrays, "finish", lambda self, place, table: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        by_threads(moved.repeated(2), arm, {"q": states["q"]}, "moved")
    with pytest.raises(ParameterError, match="unfinished results of another function"):
        by_threads(moved.repeated(3), arm, {"q": states["q"]}, "moved")


# --- programs -----------------------------------------------------------------------------------------------------


SCRIPT = """
import os
import numpy as np
import cardan

def kept():
    return set(os.listdir(os.environ["CARDAN_CACHE_DIR"]))

if __name__ == "__main__":
    arm, data = cardan.robots.arm7().model(), {"q": np.ones((40, 7))}
    for chunk in (5, 40):
        cardan.distributed.map(cardan.mass_matrix, arm, data, engine="threads", chunk=chunk)
    before = kept()
    cardan.distributed.map(cardan.mass_matrix, arm, data, engine="processes", workers=2, chunk=5)
    print(len(before) > 0, kept() - before)
"""


@pytest.mark.full  # tests/dynamics/test_processes.py has pools, too
def test_workers_find_the_program_on_the_disk(workplace, monkeypatch):
    """What one process compiled none of the workers compiles again: the cache holds what it held."""
    Path("script.py").write_text(SCRIPT)
    Path("cache").mkdir()
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(workplace / "cache"))
    ran = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True)
    assert ran.stdout.split() == ["True", "set()"], ran.stderr


@pytest.mark.full
@pytest.mark.parametrize("guarded", [True, False])
def test_a_script_without_a_main_guard_is_told(workplace, guarded):
    """Its workers run it, too, from its top."""
    lines = ["import cardan, numpy as np", "f, arm = cardan.gravity_forces, cardan.robots.arm7().model()"]
    call = "print(cardan.distributed.map(f, arm, {'q': np.zeros((9, 7))}, workers=1, retries=0).shape)"
    Path("script.py").write_text("\n".join([*lines, f"if __name__ == '__main__': {call}" if guarded else call]))
    ran = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "(9, 7)\n" if guarded else "under `if __name__ == '__main__':`" in ran.stderr


def test_dasks_own_arrays_take_functions_by_their_signature(arm, states, torques):
    array = pytest.importorskip("dask.array")
    given = [array.from_array(a, chunks=(300, -1)) for a in states.values()]
    signature = cardan.inverse_dynamics.signature(arm)
    tau = array.apply_gufunc(cardan.inverse_dynamics.bind(arm), signature, *given, output_dtypes=float)
    np.testing.assert_array_equal(tau.compute(scheduler="threads"), torques)


# --- what does not fit --------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_told(arm, states, workplace):
    q, v = states["q"], states["v"]
    f, g = cardan.inverse_dynamics, cardan.gravity_forces
    far, short, narrow = {"engine": "proceses"}, {**states, "v": v[:7]}, {**states, "v": v[:, :6]}
    np.save("objects.npy", np.array([{}], dtype=object))
    for ending in ("npy", "npz"):
        Path(f"text.{ending}").write_text("q")
    for error, said, call in (
        (UnknownNameError, "named 'proceses'.*did you mean 'processes'", lambda: mapped(f, arm, states, **far)),
        (ShapeError, r"leading \(batch\) dimensions are q: \(1000,\), v: \(7,\)", lambda: by_threads(f, arm, short)),
        (ShapeError, r"argument 'v' has shape \(1000, 6\), expected \(..., 7\)", lambda: by_threads(f, arm, narrow)),
        (ShapeError, "a first dimension, of rows", lambda: by_threads(g, arm, {"q": q[0]})),
        (TypeError, "missing a required argument: 'a'", lambda: by_threads(f, arm, {"q": q, "v": v})),
        (TypeError, "unexpected keyword argument 'qq'", lambda: by_threads(g, arm, {"q": q, "qq": q})),
        (DTypeError, "an array of complex numbers", lambda: by_threads(g, arm, {"q": q + 1j})),
        (DTypeError, "a mapping with the key 1", lambda: by_threads(g, arm, {1: q})),
        (ParameterError, "text.npz: got 'File is not a zip file'", lambda: by_threads(g, arm, "text.npz")),
        (DTypeError, "'data' is a list, expected a mapping", lambda: by_threads(g, arm, [q])),
        (ParameterError, "function to map", lambda: by_threads(np.sin, arm, {"q": q})),
        (DTypeError, "expected a cardan.Model", lambda: by_threads(g, None, {"q": q})),
        (ParameterError, "map: chunk: got 0", lambda: by_threads(g, arm, {"q": q}, chunk=0)),
        (ParameterError, "map: retries: got -1", lambda: by_threads(g, arm, {"q": q}, retries=-1)),
        (ParameterError, "map: workers: got True", lambda: by_threads(g, arm, {"q": q}, workers=True)),
        (ParameterError, "got 'tau.csv', expected a name that", lambda: by_threads(g, arm, {"q": q}, "tau.csv")),
        (ParameterError, "for 2 results", lambda: by_threads(report, arm, {"q": q, "v": v}, "r.npy")),
        (ParameterError, "given as options, too", lambda: by_threads(g, arm, {"q": q}, q=q)),
        (FileNotFoundError, "nowhere.npy", lambda: by_threads(g, arm, {"q": "nowhere.npy"})),
        (FileNotFoundError, "nowhere", lambda: by_threads(g, arm, "nowhere")),
        (ParameterError, "an array of objects", lambda: by_threads(g, arm, {"q": "objects.npy"})),
        (ParameterError, "as np.save writes it", lambda: by_threads(g, arm, {"q": "text.npy"})),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            call()


def test_a_function_that_cannot_be_sent_is_refused_with_the_reason(arm, states, monkeypatch):
    for library in [name for name in sys.modules if name.endswith("cloudpickle")]:
        monkeypatch.delitem(sys.modules, library)

    @cardan.function
    def local(model, q):
        return 2.0 * q[0]

    with pytest.raises(FunctionReferenceError, match="Define it at the top of a module"):
        mapped(local, arm, {"q": states["q"]})
    np.testing.assert_array_equal(by_threads(local, arm, {"q": states["q"]}), 2.0 * states["q"][:, 0])


def test_progress_is_shown_where_it_is_asked_for(arm, states, capsys):
    pytest.importorskip("tqdm")
    by_threads(cardan.gravity_forces, arm, {"q": states["q"]}, chunk=100)
    assert capsys.readouterr().err == ""
    by_threads(cardan.gravity_forces, arm, {"q": states["q"]}, chunk=100, progress=True)
    assert "1000/1000" in capsys.readouterr().err
