"""How many threads there are by default, and how a batch is divided among them."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cardan
from cardan._compiler.runtime.threads import (
    GRAIN,
    PART,
    WORTHWHILE,
    available_cores,
    default_threads,
    group_limit,
    split,
    work_of,
)
from cardan._compiler.targets.runner import Outline

# --- how many ----------------------------------------------------------------------------------------------------


@pytest.fixture
def bare(monkeypatch):
    """An environment that says nothing about threads."""
    for name in ("CARDAN_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_by_default_there_is_a_thread_for_each_core(bare):
    assert default_threads() == available_cores() >= 1


@pytest.mark.parametrize(("said", "count"), [("1", 1), (" 1 ", 1), ("1,4", 1), ("999999", None)])
def test_what_starts_many_processes_says_how_many_threads_each_may_have(bare, said, count):
    """As joblib, Dask, Ray and torchrun do; no more than there are cores, which several processes share already."""
    bare.setenv("OMP_NUM_THREADS", said)
    assert default_threads() == (count or available_cores())


@pytest.mark.parametrize("said", ["", "0", "-1", "many", "1e3", "\u00b2", "9" * 5000, ",2"])
def test_what_openmp_would_not_understand_says_nothing(bare, said):
    bare.setenv("OMP_NUM_THREADS", said)
    assert default_threads() == available_cores()


def test_our_own_variable_comes_first_and_may_ask_for_more_threads_than_cores(bare):
    bare.setenv("OMP_NUM_THREADS", "1")
    bare.setenv("CARDAN_NUM_THREADS", "77")
    assert default_threads() == 77


def test_variables_of_single_libraries_are_about_these(bare):
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        bare.setenv(name, "1")
    assert default_threads() == available_cores()


def test_a_process_started_for_one_thread_has_one():
    environment = {k: v for k, v in os.environ.items() if k != "CARDAN_NUM_THREADS"} | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", "import cardan; print(cardan.num_threads())"]
    assert subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout == "1\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_child_that_sets_its_environment_is_heeded(bare):
    script = """
import os, cardan
cardan.num_threads()
if not os.fork():
    os.environ["CARDAN_NUM_THREADS"] = "5"
    os._exit(cardan.num_threads())
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "5\n"


def groups(place, lines, limits):
    """Write what Linux says of control groups."""
    (place / "proc/self").mkdir(parents=True)
    (place / "proc/self/cgroup").write_text(lines)
    for group, limit in limits.items():
        folder = place / "sys/fs/cgroup" / group
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cpu.max").write_text(limit)
    return group_limit(place)


@pytest.mark.parametrize(
    ("lines", "limits", "cores"),
    [
        ("0::/\n", {".": "150000 100000\n"}, 1.5),  # a container
        ("0::/a/b\n", {"a": "400000 100000\n", "a/b": "max 100000\n"}, 4.0),  # a service within a slice
        ("0::/a/b\n", {"a": "max 100000\n"}, np.inf),
        ("0::/../c\n", {".": "200000 100000\n"}, 2.0),  # a group outside what the container sees
        ("12:cpu,cpuacct:/a\n", {"a": "100000 100000\n"}, np.inf),  # version 1
        ("0::/\n", {".": "nonsense"}, np.inf),
        ("0::/\n", {".": "100000 0\n"}, np.inf),
    ],
)
def test_what_a_container_allows(tmp_path, lines, limits, cores):
    assert groups(tmp_path, lines, limits) == cores


def test_a_system_without_control_groups(tmp_path):
    assert group_limit(tmp_path) == np.inf


# --- how a batch is divided --------------------------------------------------------------------------------------


@given(
    rows=st.integers(1, 10**7),
    work=st.integers(1, 10**6),
    step=st.sampled_from([1, 2, 4, 8, 16]),
    threads=st.integers(1, 12),
)
@settings(deadline=None)
def test_parts_are_the_batch_and_begin_where_vectors_do(rows, work, step, threads):
    done = []
    split(min(rows, 200 * PART // work), work, step, threads, lambda start, stop: done.append((start, stop)))
    done.sort()
    assert done[0][0] == 0
    assert all(a[1] == b[0] for a, b in pairwise(done))
    assert done[-1][1] == min(rows, 200 * PART // work)
    assert all(start % step == 0 and start < stop <= start + max(PART // work, step) for start, stop in done)


def test_a_small_batch_is_one_part_of_the_callers():
    for rows in (1, WORTHWHILE // 1000 - 1):
        done = []
        split(rows, 1000, 8, 64, lambda *part, done=done: done.append((part, threading.current_thread())))
        assert done == [((0, rows), threading.current_thread())]


def test_a_thread_is_woken_only_where_there_is_enough_for_it():
    done = []
    split(WORTHWHILE // 1000, 1000, 8, 10**6, lambda *part: done.append(part))
    assert 2 <= len(done) <= 2 * WORTHWHILE // GRAIN + 1


def test_whoever_comes_late_keeps_nobody_waiting_long():
    """The caller does what a thread that never comes would have done, but for what that has begun."""
    caller, mine = threading.current_thread(), []
    late = threading.Event()

    def run(start, stop):
        if threading.current_thread() is caller:
            mine.append(stop - start)
            if sum(mine) >= 600:
                late.set()
        else:
            late.wait(10.0)

    split(1000, 10 * GRAIN // 1000, 1, 2, run)
    late.set()
    assert sum(mine) >= 600


def test_bytes_count_as_much_as_operations():
    assert work_of(100, 0) < work_of(100, 1000) == work_of(100 + 8 * 1000, 0)


@cardan.function
def falls(model, q, v):
    return {"q": q + 1e-3 * v, "v": v - 1e-3 * cardan.inverse_dynamics(model, q, v, 0.0 * v)}


def test_the_work_of_steps_counts_each():
    model = cardan.robots.arm7().model()
    once, often = (Outline.of(f.program(model)) for f in (falls, falls.repeated(1000)))
    assert often.operations == 1000 * once.operations > 10**5


def test_half_of_what_may_be_skipped_counts_as_work():
    """A step of a robot on the ground counted ten times of what it did, and its batches were cut as often."""

    def nested(model, q):
        def block(x):
            return cardan.repeat(2, lambda x: sum((x * x + float(k) for k in range(100)), 0.0 * x), x)

        inner = lambda x: x + cardan.when(x > 1.0, block, 0.0, x)  # noqa: E731
        return block(q[0]) + cardan.when(q[0] > 0.0, lambda x: block(x) + inner(x), 0.0, q[0])

    program = cardan.function(nested).program(cardan.robots.arm7().model())
    assert [r.may_be_skipped for r in program.regions].count(True) == 2
    share = program.usual_work / program.work
    assert 0.55 < share < 0.6  # of three equal blocks the first, half the second, and half of half the third


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_steps_of_few_states_are_shared_and_change_no_bit(dtype):
    model, many = cardan.robots.arm7().model(), falls.repeated(1000)
    q, v = np.linspace(-1.0, 1.0, 2 * 37 * 7).reshape(2, 37, 7).astype(dtype)
    alone = many.on("llvm", threads=1)(model, q, v)
    for threads in (2, 3, 7):
        shared = many.on("llvm", threads=threads)(model, q, v)
        for name in ("q", "v"):
            np.testing.assert_array_equal(shared[name], alone[name])


# --- manners -----------------------------------------------------------------------------------------------------


def test_nothing_spins_once_a_batch_is_done():
    split(100, PART // 100, 1, 4, lambda *_: time.sleep(0.001))
    before = time.process_time()
    time.sleep(0.2)
    assert time.process_time() - before < 0.1


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs a system that binds threads to cores")
def test_cores_a_thread_is_bound_to_are_left_alone():
    before, seen = os.sched_getaffinity(0), set()
    split(100, PART // 100, 1, 4, lambda *_: (time.sleep(0.001), seen.add(frozenset(os.sched_getaffinity(0)))))
    assert os.sched_getaffinity(0) == before
    assert seen == {frozenset(before)}


def batch_of(run):
    """Split a batch in which another thread's part is still at work when the caller has none left."""
    split(1000, 10**5, 8, 2, run)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers that send signals")
@pytest.mark.slow
def test_whatever_a_signal_handler_raises_nothing_runs_any_more():
    """A time-out of a program's own came out of the batch at once, and a thread went on writing."""
    begun, ended, caller = [], [], threading.current_thread()

    class TimedOutError(Exception):
        pass

    def handler(*_):
        raise TimedOutError

    def run(*part):
        if threading.current_thread() is not caller:
            begun.append(part)
            time.sleep(0.5)
            ended.append(part)
        else:
            time.sleep(0.01)

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(TimedOutError):
            batch_of(run)
        assert begun
        assert len(ended) == len(begun)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_what_went_wrong_on_another_thread_keeps_no_arrays():
    """The error knew the frames, these the batch, and that the error: 512 MB waited for the collector."""
    caller, array = threading.current_thread(), np.zeros(1)
    gone = weakref.ref(array)

    def failing(*part, array=array):
        time.sleep(0.01)
        if threading.current_thread() is not caller:
            raise MemoryError

    gc.disable()
    try:
        with pytest.raises(MemoryError):
            batch_of(failing)
        del failing, array
        deadline = time.monotonic() + 10.0  # the other thread may be about to leave
        while gone() is not None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert gone() is None
    finally:
        gc.enable()
