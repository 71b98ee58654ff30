"""The LLVM target equals the NumPy target, and the disk cache cannot harm."""

import _thread
import io
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import cardan
from cardan._compiler.program import Array, trace
from cardan._compiler.runtime import disk_cache as cache
from cardan._compiler.targets import compile_program
from cardan._compiler.targets.llvm import compiler
from cardan._compiler.targets.llvm.machine import compile_object
from cardan._compiler.targets.llvm.plan import Lanes, plan_program
from cardan._compiler.targets.llvm.text import llvm_text
from cardan.errors import SizeWarning
from cardan.joints import CATALOGUE
from mechanisms import random_model, random_state
from representatives import represented

BOUND = {np.float64: 64, np.float32: 256}  # units in the last place of the largest entry of a result


def traced(function, n):
    return trace("f", lambda x: {"y": np.array(function(x), dtype=object)}, [Array("x", (n,))])


def both(program, x):
    x = np.ascontiguousarray(x)
    return [compile_program(program, target)([x], len(x), x.dtype) for target in ("llvm", "numpy")]


# --- every operation, every size -------------------------------------------------------------------------------------


EDGES = [0.0, -0.0, 0.5, -2.0, 1.0, 3.7, 1e-300, -1e300, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_operation_on_edge_values(dtype):
    def everything(x):
        a, b = x
        unary = [
            getattr(cardan, f)(a) for f in ("tan", "asin", "acos", "sqrt", "exp", "log", "absolute", "sign", "floor")
        ]
        binary = [a + b, a - b, a * b, a / b, -a, cardan.atan2(a, b), cardan.minimum(a, b), cardan.maximum(a, b)]
        conditions = [a < b, a <= b, (a < b) & (b < 1.0), (a < b) | (b < 1.0), ~(a < b)]
        return unary + binary + [cardan.where(c, a, b) for c in conditions]

    with np.errstate(over="ignore"):
        x = np.array([(a, b) for a in EDGES for b in EDGES]).astype(dtype)
    native, reference = both(traced(everything, 2), x)
    np.testing.assert_array_equal(np.isnan(native), np.isnan(reference))
    np.testing.assert_allclose(native, reference, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("columns", [1, 3, 7, 8, 9, 40, 150])
def test_every_batch_size_and_width(columns, dtype):
    """Tails of a batch, rows shorter and longer than a vector, and nothing written beyond them."""
    program = traced(lambda x: [2.0 * e + 1.0 for e in reversed(x)], columns)
    run = compile_program(program, "llvm")
    for rows in (0, 1, 2, 7, 8, 9, 15, 16, 17, 33):
        x = np.arange(rows * columns, dtype=dtype).reshape(rows, columns)
        np.testing.assert_array_equal(run([x], rows, np.dtype(dtype)), 2.0 * x[:, ::-1] + 1.0)


def test_results_that_are_inputs_and_constants_and_repeated():
    program = traced(lambda x: [x[1], 3.0, x[0] * x[1], x[1], 0.0, x[0] * x[1], -2.5], 2)
    x = np.random.default_rng(0).normal(size=(19, 2))
    native, reference = both(program, x)
    np.testing.assert_array_equal(native, reference)


def test_long_programs_split_into_blocks_that_hand_on_values_and_conditions():
    def long(x):
        kept, condition = list(x), x[0] < x[1]
        for k in range(3000):
            kept[k % 5] = kept[k % 5] * 0.99 + kept[(k + 1) % 5] * (0.01 + 1e-5 * k)
        return [cardan.where(condition, kept[0], kept[1]), *kept, x[4]]

    program = traced(long, 5)
    assert len(plan_program(program).blocks) > 5
    native, reference = both(program, np.random.default_rng(0).normal(size=(21, 5)))
    np.testing.assert_allclose(native, reference, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("width", [2, 4, 8, 16])
def test_other_widths_compile(width):
    """The widths of other processors: the module is valid and this machine's LLVM translates it."""
    program = cardan.inverse_dynamics.program(cardan.load(cardan.robots.urdf_path("arm7")))
    for scalar in ("double", "float"):
        assert compile_object(llvm_text(program, Lanes(width, scalar)))


@pytest.mark.parametrize("width", [2, 4])
def test_narrower_vectors_run(width):
    """What other processors have, as far as this one runs it: a slot is aligned to a vector of W, not to one of 8."""
    from cardan._compiler.targets.llvm.machine import compile_image
    from cardan._compiler.targets.llvm.target import LoadedCode

    arm, lanes = cardan.load(cardan.robots.urdf_path("arm7")), Lanes(width, "double")
    program, (q, v, a) = cardan.inverse_dynamics.program(arm), random_state(arm, seed=0, shape=(5,))
    out = np.empty((5, 7))
    LoadedCode(compile_image(llvm_text(program, lanes), "evaluate", width=width), "")([q, v, a], [out], 0, 5, passes=0)
    np.testing.assert_allclose(out, cardan.inverse_dynamics.on("numpy")(arm, q, v, a), rtol=1e-11, atol=1e-11)


# --- equality on robots -------------------------------------------------------------------------------------------


def check_equal(function, model, *arrays, **options):
    for dtype in (np.float64, np.float32):
        x = [a.astype(dtype) for a in arrays]
        native, reference = (function.on(t)(model, *x, **options) for t in ("llvm", "numpy"))
        assert native.dtype == reference.dtype == dtype
        unit = np.spacing(np.abs(reference).max(initial=0.0).astype(dtype))
        assert np.abs(native - reference).max(initial=0.0) <= BOUND[dtype] * unit, (function.name, dtype)


SHIPPED = [(name, base) for base in ("fixed", "floating") for name in cardan.robots.ROBOTS]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "base"), represented(SHIPPED, by=[("arm7", "fixed")].count))
def test_shipped_robots(name, base):
    model = cardan.load(cardan.robots.urdf_path(name), base=base)
    q, v, a = random_state(model, seed=0, shape=(37,))
    check_equal(cardan.inverse_dynamics, model, q, v, a)
    if base == "fixed" or model.bodies[0].inertia is not None:  # else a base without mass floats: M is singular
        check_equal(cardan.forward_dynamics, model, q, v, a)
    for function in (cardan.mass_matrix, cardan.center_of_mass, cardan.forward_kinematics):
        check_equal(function, model, q)
    check_equal(cardan.coriolis_matrix, model, q, v)
    check_equal(cardan.jacobian, model, q, frame=model.body_names[-1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "joints"), [(2, CATALOGUE[2::6]), *(pytest.param(k, CATALOGUE, marks=pytest.mark.full) for k in (0, 1))]
)
def test_every_joint(seed, joints):
    model = random_model(seed, joints=joints)
    q, v, a = random_state(model, seed=seed, shape=(11,))
    check_equal(cardan.inverse_dynamics, model, q, v, a)
    check_equal(cardan.mass_matrix, model, q)
    check_equal(cardan.integrate, model, q, v)
    tau = cardan.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(cardan.forward_dynamics(model, q, v, tau), a, atol=1e-9)
    moved = cardan.integrate(model, q, 0.3 * v)
    np.testing.assert_allclose(cardan.difference(model, q, moved), 0.3 * v, atol=1e-12)


# --- threads -----------------------------------------------------------------------------------------------------


def test_threads_change_no_bit():
    arm = cardan.load(cardan.robots.urdf_path("arm7"))
    q, v, a = random_state(arm, seed=0, shape=(20_011,))
    alone = cardan.inverse_dynamics.on(threads=1)(arm, q, v, a)
    for threads in (2, 3, 8):
        np.testing.assert_array_equal(cardan.inverse_dynamics.on(threads=threads)(arm, q, v, a), alone)


def test_many_callers_at_once_get_single_thread_results():
    arm = cardan.load(cardan.robots.urdf_path("arm7"))
    q, v, a = random_state(arm, seed=0, shape=(64,))
    expected = [cardan.inverse_dynamics(arm, q[k], v[k], a[k]) for k in range(64)]
    wrong = []

    def caller(offset):
        for k in range(300):
            i = (k + offset) % 64
            if not np.array_equal(cardan.inverse_dynamics(arm, q[i], v[i], a[i]), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=caller, args=(8 * t,)) for t in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(("rows", "work"), [(1, 10**12), (1000, 10**7), (100_003, 100_000), (10_000_000, 100)])
def test_a_batch_is_done_in_parts_an_interrupt_need_not_wait_long_for(threads, rows, work):
    from cardan._compiler.runtime.threads import PART, split

    done = []
    split(rows, work, 8, threads, lambda start, stop: done.append((start, stop)))
    done.sort()
    assert [start for start, _ in done] == [0, *(stop for _, stop in done[:-1])]
    assert done[-1][1] == rows
    assert all(stop - start <= max(8, PART // work + 8) for start, stop in done)
    assert all(start % 8 == 0 for start, _ in done)


@pytest.mark.slow
def test_after_an_interrupt_nothing_runs_any_more():
    """Each part interrupts the caller when it begins, which may be while other parts are still being handed out."""
    from cardan._compiler.runtime.threads import split

    for _ in range(10):
        begun, done = [], []

        def run(start, stop, begun=begun, done=done):
            begun.append(start)
            if len(begun) == 1:
                _thread.interrupt_main()
            time.sleep(0.02)
            done.append(start)

        try:
            split(80, 10**6, 1, 8, run)
        except KeyboardInterrupt:
            at_once = len(done)
            time.sleep(0.05)
            assert len(done) == at_once


def test_an_interrupt_while_a_thread_begins_does_not_keep_the_process_from_ending():
    """The process waited forever for a thread that no list of threads to be ended had in it."""
    script = """
import threading
from cardan._compiler.runtime.threads import split

def start(thread, begin=threading.Thread.start):
    begin(thread)
    raise KeyboardInterrupt

threading.Thread.start = start
try:
    split(80, 10**6, 1, 2, lambda *part: None)
except KeyboardInterrupt:
    print("interrupted")
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "interrupted\n"), ended.stderr


def test_what_goes_wrong_on_another_thread_is_raised_and_ends_the_batch():
    from cardan._compiler.runtime.threads import split

    done, caller = [], threading.current_thread()

    def run(start, stop):
        if threading.current_thread() is not caller:
            raise MemoryError("there")
        done.append(start)
        time.sleep(0.001)

    with pytest.raises(MemoryError, match="there"):
        split(100_000, 4_000_000, 1, 3, run)
    assert len(done) < 1000


def test_number_of_threads_is_checked():
    before = cardan.num_threads()
    for wrong in (0, 2.0, "2", True, np.zeros(2, int)):
        with pytest.raises(cardan.errors.ParameterError):
            cardan.set_num_threads(wrong)
    for one in (1, np.int64(1)):
        cardan.set_num_threads(one)
        assert cardan.num_threads() == 1
        assert type(cardan.num_threads()) is int
    cardan.set_num_threads(before)


def test_unknown_target():
    arm = cardan.load(cardan.robots.urdf_path("arm7"))
    with pytest.raises(cardan.errors.UnknownNameError, match="did you mean 'llvm'"):
        cardan.gravity_forces.on("lvm")(arm, np.zeros(7))


# --- what a person waiting is told -----------------------------------------------------------------------------------


def test_a_long_compilation_is_announced_to_the_logger_before_it_begins(caplog, monkeypatch):
    from cardan._compiler.targets.llvm import compiler

    caplog.set_level("INFO", "cardan")
    monkeypatch.setenv("CARDAN_EMITTER", "llvm")
    told = []
    monkeypatch.setattr(compiler, "llvm_text", lambda *args: told.append(caplog.text) or llvm_text(*args))
    for seconds, expected in ((2.0, "compiling f (2 operations), which takes about 4 s"), (0.2, "")):
        monkeypatch.setattr(compiler, "OPERATION", seconds)
        compiler.compile_program(traced(lambda x: [x[0] * x[1] + 1.0], 2), np.dtype(float))
        assert expected in told[-1]
        assert bool(expected) == bool(told[-1])
        caplog.clear()


def test_a_long_compilation_shows_on_a_terminal_and_leaves_nothing_there(monkeypatch, caplog):
    from cardan._compiler.runtime.log import announced

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    caplog.set_level("INFO", "cardan")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with announced("compiling f", 2.0):
        while "%" not in terminal.getvalue():
            time.sleep(0.01)
    first, *_, last, _ = terminal.getvalue().split("\r")[1:]
    assert first == "compiling f, about 2 s: 0 % "
    assert not last.strip()
    assert len(last) >= len(first)
    with announced("compiling g", 0.5):
        pass
    assert "g" not in terminal.getvalue().replace("compiling f", "")
    assert not caplog.text


# --- the disk cache ------------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(folder))
    return folder


def evaluate():
    """A program of its own, compiled or loaded anew."""
    program = traced(lambda x: [cardan.sin(x[0]) + 2.0], 1)
    return compile_program(program, "llvm")([np.array([[0.5]])], 1, np.dtype(float))[0, 0]


EXPECTED = np.sin(0.5) + 2.0


def test_an_entry_is_written_owner_only_and_read_back(place, monkeypatch):
    assert evaluate() == EXPECTED
    (entry,) = place.glob("*.entry")
    assert place.stat().st_mode & 0o777 == 0o700
    assert entry.stat().st_mode & 0o077 == 0
    monkeypatch.setattr(
        "cardan._compiler.targets.llvm.machine.compile_object", lambda text: pytest.fail("compiled again")
    )
    assert evaluate() == EXPECTED


@pytest.mark.parametrize(
    "damage", [lambda d: d[:-1], lambda d: d[:40], lambda d: b"", lambda d: d[:99] + b"\0" + d[100:]]
)
def test_a_damaged_entry_is_compiled_anew_never_run(place, damage):
    evaluate()
    (entry,) = place.glob("*.entry")
    good = entry.read_bytes()
    entry.write_bytes(damage(good))
    assert evaluate() == EXPECTED
    assert entry.read_bytes() == good


def test_code_of_another_revision_is_not_taken(place, monkeypatch):
    evaluate()
    monkeypatch.setattr("cardan._compiler.targets.llvm.store._REVISION", b"another revision")
    monkeypatch.setattr("cardan._compiler.targets.llvm.store.revision", lambda: b"another revision")
    assert evaluate() == EXPECTED
    assert len(list(place.glob("*.entry"))) == 2


def test_an_entry_under_the_name_of_another_is_not_taken(place):
    evaluate()
    (entry,) = place.glob("*.entry")
    content = entry.read_bytes()
    cache.save("other", b"the other's")
    (place / "other.entry").write_bytes(content)
    assert cache.load("other") is None


@pytest.mark.skipif(os.name == "nt", reason="pipes and links of POSIX")
@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "endless"])
def test_what_is_no_file_of_bearable_size_is_compiled_anew(place, kind):
    evaluate()
    (entry,) = place.glob("*.entry")
    kept = entry.rename(place / "elsewhere")
    if kind == "pipe":
        os.mkfifo(entry, 0o600)
    elif kind == "link":
        entry.symlink_to(kept)
    elif kind == "folder":
        entry.mkdir(mode=0o700)
    else:
        with entry.open("wb") as stream:
            stream.truncate(2**40)
    assert cache.load(entry.stem) is None
    assert evaluate() == EXPECTED


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_missing_folders_are_made_for_the_user_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path / "one" / "two"))
    before = os.umask(0)
    try:
        cache.save("key", b"content")
    finally:
        os.umask(before)
    assert [p.stat().st_mode & 0o777 for p in (tmp_path / "one", tmp_path / "one" / "two")] == [0o700, 0o700]
    assert cache.load("key") == b"content"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the XDG base directories")
def test_where_the_cache_is(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CARDAN_CACHE_DIR", "~/mine")
    assert cache.directory() == tmp_path / "mine"
    monkeypatch.delenv("CARDAN_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.directory() == tmp_path / ".cache" / "cardan"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.directory() == tmp_path / "xdg" / "cardan"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "missing"))
    cache.save("key", b"content")
    assert not (tmp_path / "missing").exists()


def test_a_full_cache_is_not_listed_at_every_save(place, monkeypatch):
    cache.save("first", b"x")
    looked = []
    monkeypatch.setattr(cache, "_shrink", looked.append)
    for k in range(200):
        cache.save(f"key{k}", b"x" * 10_000)
    assert len(looked) <= 3


def test_what_killed_processes_left_goes(place, monkeypatch):
    cache.save("key", b"content")
    old, new = place / ".staged-old", place / ".staged-new"
    for file in (old, new):
        file.write_bytes(b"half an entry")
    os.utime(old, (0, 0))
    monkeypatch.setattr(cache, "LIMIT", 500)
    cache.save("key", b"x" * 100)
    assert not old.exists()
    assert new.exists()


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_what_others_may_write_is_refused_and_said(place, caplog):
    evaluate()
    (entry,) = place.glob("*.entry")
    entry.chmod(0o666)
    assert cache.load(entry.stem) is None
    entry.chmod(0o600)
    place.chmod(0o777)
    assert cache.load(entry.stem) is None
    assert evaluate() == EXPECTED
    assert "chmod go-w" in caplog.text


def test_a_full_or_missing_disk_does_not_matter(place, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cardan._compiler.runtime.disk_cache.os.replace", full)
    assert evaluate() == EXPECTED
    assert list(place.iterdir()) == []
    monkeypatch.setenv("CARDAN_CACHE_DIR", "/dev/null/cache")
    assert evaluate() == EXPECTED


def test_the_cache_is_bounded_and_can_be_cleared(place, monkeypatch, capsys):
    monkeypatch.setattr(cache, "LIMIT", 250)
    for k in range(5):
        cache.save(f"key{k}", b"x" * 68)
        os.utime(place / f"key{k}.entry", (k, k))
    assert cache.size() <= 250
    assert cache.load("key4") == b"x" * 68
    assert cache.load("key0") is None
    from cardan.cli import main

    assert main(["cache", "dir"]) == main(["cache", "size"]) == main(["cache", "clear"]) == 0
    assert str(place) in capsys.readouterr().out
    assert cache.size() == 0


@pytest.mark.full
def test_many_processes_on_an_empty_cache(place):
    code = (
        "import numpy as np, cardan; arm = cardan.load(cardan.robots.urdf_path('arm7')); "
        "print(repr(cardan.gravity_forces(arm, np.full(7, 0.3)).tolist()))"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)
    ]
    outputs = [process.communicate() for process in running]
    assert {out for out, _ in outputs} == {outputs[0][0]}
    assert all(err == b"" for _, err in outputs)
    assert len(list(place.glob("*.entry"))) == 3  # the outline, its machine code, and the fast path
    assert not list(place.glob(".staged-*"))


@pytest.mark.full
def test_a_large_workspace_lives_on_the_heap():
    """Ten thousand results would overflow a thread's stack; every caller has a workspace of its own."""
    n = 10_000
    program = traced(lambda x: [x[0] * float(k % 7) + x[1] for k in range(n)], 2)
    x = np.random.default_rng(0).normal(size=(50, 2))
    run, results = compile_program(program, "llvm"), []
    callers = [threading.Thread(target=lambda: results.append(run([x], 50, np.dtype(float)))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    expected = x[:, :1] * (np.arange(n) % 7) + x[:, 1:]
    assert len(results) == 4
    for result in results:
        np.testing.assert_allclose(result, expected, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("said", ["cpu:type:x86,ven0000fam0006mod002A:feature:,0000,0019,009C", None])
def test_a_processor_without_multiply_add_gets_the_reference_target(monkeypatch, said):
    """Sandy Bridge, say: AVX, but no fused multiply-add; as Linux says it, and as LLVM does elsewhere."""
    from cardan._compiler import targets
    from cardan._compiler.runtime import processor
    from cardan._compiler.targets.llvm import machine

    monkeypatch.delenv("CARDAN_TARGET", raising=False)
    monkeypatch.setattr(processor, "description", lambda: said)
    monkeypatch.setattr(machine, "host_features", lambda: ("old", "+sse2,+avx"))
    monkeypatch.setattr(machine.llvm, "get_default_triple", lambda: "x86_64-unknown-linux-gnu")
    targets._native.cache_clear()
    try:
        assert targets.default_target() == "numpy"
        with pytest.raises(cardan.errors.TargetError, match="fused multiply-add"):
            compile_program(traced(lambda x: [x[0]], 1), "llvm")
    finally:
        targets._native.cache_clear()


def many_results(seed, count=70):
    """A program with many results, some constant, unlike any other, so that no kept code is taken for it."""

    def function(x):
        parts = [x[k % 3] * (seed + k) + cardan.sin(x[(k + 1) % 3]) * x[k % 2] for k in range(count - 3)]
        return [*parts, 0.0, 2.5, x[0]]

    return traced(function, 3)


@pytest.mark.parametrize("streamed", [False, True], ids=["through the caches", "past the caches"])
@pytest.mark.parametrize("dtype", represented([np.float64, np.float32], by=[np.float64].count))
def test_every_size_of_batch_by_every_way(monkeypatch, streamed, dtype):
    from cardan._compiler.targets.llvm import entry as llvm_entry

    monkeypatch.setattr(llvm_entry, "STREAM", 1 if streamed else 2**40)
    program = many_results(1000.0 + streamed)
    native, exact = compile_program(program, "llvm"), compile_program(program, "numpy")
    for rows in (1, 2, 7, 8, 9, 16, 31, 32, 33, 63, 65, 130):
        x = np.random.default_rng(rows).normal(size=(rows, 3)).astype(dtype)
        memory = np.full(rows * 70 + 9, np.nan, dtype=dtype)
        for shift in (0, 1, 5):
            out = memory[shift : shift + rows * 70].reshape(rows, 70)
            native([x], rows, np.dtype(dtype), 1, out)
            np.testing.assert_allclose(
                out, exact([x], rows, np.dtype(dtype)), rtol=2e-6 if dtype == np.float32 else 1e-14
            )
            assert np.isnan(memory[shift + rows * 70 :]).all()
            memory[:] = np.nan


@pytest.mark.parametrize("streamed", [False, True], ids=["through the caches", "past the caches"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_outputs_are_written_where_they_are_wanted_and_nowhere_else(monkeypatch, streamed, dtype):
    """Dense, and with rows further apart than their entries, as where several outputs are side by side."""
    from cardan._compiler.targets.llvm import entry as llvm_entry

    monkeypatch.setattr(llvm_entry, "STREAM", 1 if streamed else 2**40)
    sizes = {"many": (13, 6), "one": (), "none": (0,), "few": (9,), "constant": (3,)}

    def outputs(x):
        sums = iter(range(1, 200))
        shaped = {n: np.array([x[k % 2] * next(sums) for k in range(np.prod(s, dtype=int))]) for n, s in sizes.items()}
        found = {name: array.astype(object).reshape(sizes[name]) for name, array in shaped.items()}
        return found | {"constant": np.array([0.0, -0.0, 7.0 + streamed], dtype=object)}

    program = trace("f", outputs, [Array("x", (2,))])
    native, exact = compile_program(program, "llvm"), compile_program(program, "numpy")
    for rows in (1, 2, 3, 7, 8, 9, 33):
        x = np.random.default_rng(rows).normal(size=(rows, 2)).astype(dtype)
        for gap in (0, 3):
            memory = [np.full((rows + 2, a.size + gap), np.nan, dtype) for a in program.outputs]
            wanted = [m.copy() for m in memory]
            for target, arrays in ((native, memory), (exact, wanted)):
                results = [m[1:-1, : a.size] for m, a in zip(arrays, program.outputs, strict=True)]
                target.write([x], results, rows, np.dtype(dtype), 1)
            assert all(found.tobytes() == right.tobytes() for found, right in zip(memory, wanted, strict=True))


def test_a_program_that_takes_long_says_so_before_it_is_compiled(monkeypatch):
    program = trace("long", lambda x: {"y": np.array([sum(x[k] * x[0] for k in range(40))])}, [Array("x", (40,))])
    monkeypatch.setattr(compiler, "MANY", program.operations)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiler.compile_program(program, np.dtype(float))
    monkeypatch.setattr(compiler, "MANY", program.operations - 1)
    monkeypatch.setattr(compiler, "plan_program", lambda *_: pytest.fail("compiled before the warning"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SizeWarning, match=rf"long has {program.operations} operations.*with_contacts") as told:
            compiler.compile_program(program, np.dtype(float))
    assert told.value.operations == program.operations
    assert told.value.seconds > 0.0
    assert vars(pickle.loads(pickle.dumps(told.value))) == vars(told.value)
