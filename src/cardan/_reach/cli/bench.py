"""`cardan bench FILE`: how fast the compiled functions of a robot are on this machine."""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite
import numpy as np

from cardan._algebra.checked_numbers import whole
from cardan._compiler.program import Array
from cardan._compiler.runtime.threads import num_threads
from cardan._compiler.targets.llvm.machine import host_features
from cardan._dynamics.call.function import Function
from cardan._reach.cli.options import ROBOT, add, frame_option, function_named, load_robot, table, tell
from cardan._robot.model import Model
from cardan._version import __version__

USUAL = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "forward_kinematics", "jacobian")
WITH_LOOPS = ("constrained_inverse_dynamics", "constrained_forward_dynamics", *USUAL[3:])
COLUMNS = {
    "function": "{function}",
    "operations": "{operations}",
    "compile": "{compile_s:.2f} s",
    "one thread": "{one_thread_ns:.1f} ns",
    "all threads": "{all_threads_ns:.1f} ns",
    "one call": "{call_us:.2f} us",
}
LARGEST_RESULT = 2**28  # bytes a batch may write
CALLS = 200  # single calls timed together: one alone is near the clock's resolution


def fill(parser: argparse.ArgumentParser) -> None:
    add(parser, *ROBOT, "--frame", "--json")
    parser.add_argument("--batch", type=int, default=4096, metavar="N", help="states in a batch (default: 4096)")
    usual = f"functions (default: {' '.join(USUAL)}; of robots with loops {' '.join(WITH_LOOPS)})"
    add(parser, "--function", nargs="+", help=usual)


def run(args: argparse.Namespace) -> int:
    asked = args.function and [function_named(name) for name in args.function]  # before the robot is read
    model, batch = load_robot(args), whole("--batch", args.batch, 1)
    chosen = asked or [function_named(name) for name in (WITH_LOOPS if model.has_loops else USUAL)]
    frame = args.frame or model.body_names[-1]
    with empty_cache():  # else the time to compile would be that to read a file
        rows = [measured(function, model, frame_option(function, frame), batch) for function in chosen]
    where = environment()
    plain = {"robot": model.name, "nv": model.nv, "environment": where, "functions": rows}
    tell(args, plain, report(model, where, rows))
    return 0


@contextmanager
def empty_cache() -> Iterator[None]:
    before = os.environ.get("CARDAN_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="cardan-bench-") as place:
        os.environ["CARDAN_CACHE_DIR"] = place
        try:
            yield
        finally:
            os.environ.pop("CARDAN_CACHE_DIR")
            os.environ.update({} if before is None else {"CARDAN_CACHE_DIR": before})


def environment() -> dict[str, Any]:
    """Return what the times depend on: machine, versions, threads."""
    return {
        "cardan": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "llvmlite": llvmlite.__version__,
        "machine": platform.machine(),
        "processor": host_features()[0],
        "threads": num_threads(),
    }


def random_arrays(model: Model, inputs: tuple[Array, ...], batch: int) -> list[np.ndarray]:
    """Return a batch of arguments: configurations on the manifold, and normal numbers for everything else."""
    rng = np.random.default_rng(0)
    return [
        model.random_configuration((batch,), seed=k)
        if a.name in ("q", "q0", "q1")
        else rng.normal(size=(batch, *a.shape))
        for k, a in enumerate(inputs)
    ]


def measured(
    function: Function, model: Model, options: dict[str, Any], batch: int, seconds: float = 0.2
) -> dict[str, Any]:
    """Return the times of a function as plain data; this layout is stable.

    Each time is measured for some seconds; the batch has fewer states than asked for if the results would be huge.
    """
    started = time.perf_counter()
    fast = function.on(threads=1).bind(model, **options)
    program = function.program(model, **options)
    single = [a[0] for a in random_arrays(model, program.inputs, 1)]  # one state alone, as a control loop calls it
    fast(*single)
    compiling = time.perf_counter() - started
    states = min(batch, max(64, LARGEST_RESULT // (8 * program.entries + 8)))
    arrays = random_arrays(model, program.inputs, states)
    every = function.on(threads=num_threads()).bind(model, **options)
    out = {"out": fast(*arrays)}  # memory that is there already: the system's first touch of a page is not timed

    def calls() -> None:
        for _ in range(CALLS):
            fast(*single)

    one, all_threads = (shortest(lambda run=run: run(*arrays, **out), seconds) / states for run in (fast, every))
    return {
        "function": function.name,
        "operations": program.operations,
        "states": states,
        "compile_s": compiling,
        "one_thread_ns": one * 1e9,
        "all_threads_ns": all_threads * 1e9,
        "call_us": shortest(calls, seconds / 2) / CALLS * 1e6,
    }


def shortest(run: Callable[[], Any], seconds: float) -> float:
    """Return the shortest of the times a call takes [s], called for so many seconds and three times at least."""
    times, started = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - started < seconds:
        before = time.perf_counter()
        run()
        times.append(time.perf_counter() - before)
    return min(times)


def report(model: Model, where: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    states = max(row["states"] for row in rows)
    head = f"{model.name}, nv = {model.nv}: times of one state, in batches of {states}, float64"
    machine = f"{where['processor']}, {where['threads']} threads"
    cells = [tuple(text.format(**row) for text in COLUMNS.values()) for row in rows]
    return f"{head}\n{machine}\n\n{table(tuple(COLUMNS), cells)}"
