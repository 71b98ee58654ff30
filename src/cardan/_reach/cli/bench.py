"""`cardan bench FILE`: how fast the compiled functions of a robot are on this machine."""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite
import numpy as np

from cardan._algebra.checked_numbers import whole
from cardan._compiler.runtime.threads import num_threads
from cardan._compiler.targets.llvm.machine import host_features
from cardan._compiler.targets.llvm.peak import peak_operations
from cardan._dynamics.call.function import Function
from cardan._reach.cli.options import (
    add_functions,
    add_json,
    add_robot,
    frame_option,
    function_named,
    load_robot,
    table,
    tell,
)
from cardan._reach.cli.timing import timed
from cardan._robot.model import Model
from cardan._version import __version__

USUAL = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "forward_kinematics", "jacobian")
HEADER = ("function", "operations", "compile", "one thread", "all threads", "of peak", "one call")


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_robot(parser)
    add_json(parser)
    parser.add_argument("--batch", type=int, default=4096, metavar="N", help="states in a batch (default: 4096)")
    add_functions(parser, nargs="+", default=USUAL, help=f"functions (default: {' '.join(USUAL)})")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Time the functions and print a line for each."""
    chosen = [function_named(name) for name in args.function]
    model, batch = load_robot(args), whole("--batch", args.batch, 1)
    frame = args.frame or model.body_names[-1]
    peak = peak_operations()
    with empty_cache():
        rows = [measured(function, model, frame, batch, peak) for function in chosen]
    where = environment(peak)
    plain = {"robot": model.name, "nv": model.nv, "environment": where, "functions": rows}
    tell(args, plain, report(model, where, rows))
    return 0


@contextmanager
def empty_cache() -> Iterator[None]:
    """Keep compiled programs in a new, temporary place, so that compiling takes the time it takes at first."""
    before = os.environ.get("CARDAN_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="cardan-bench-") as place:
        os.environ["CARDAN_CACHE_DIR"] = place
        try:
            yield
        finally:
            os.environ.pop("CARDAN_CACHE_DIR")
            os.environ.update({} if before is None else {"CARDAN_CACHE_DIR": before})


def environment(peak: float) -> dict[str, Any]:
    """Return what the times depend on: machine, versions, threads, the multiply-add peak of a core."""
    return {
        "cardan": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "llvmlite": llvmlite.__version__,
        "machine": platform.machine(),
        "processor": host_features()[0],
        "threads": num_threads(),
        "peak_gflops": peak / 1e9,
    }


def measured(function: Function, model: Model, frame: str, batch: int, peak: float) -> dict[str, Any]:
    """Return the times of a function as plain data; this layout is stable.

    Args:
        function: which.
        model: of which robot.
        frame: the option of that name, if the function has it.
        batch: states in a batch.
        peak: operations a second a core can do.
    """
    times = timed(function, model, frame_option(function, frame), batch)
    return {
        "function": function.name,
        "operations": times.operations,
        "states": times.states,
        "compile_s": times.compile,
        "one_thread_ns": times.one_thread * 1e9,
        "all_threads_ns": times.all_threads * 1e9,
        "fraction_of_peak": times.operations / times.one_thread / peak,
        "call_us": times.call * 1e6,
    }


def report(model: Model, where: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """Return the times as a table, with what they depend on above it."""
    states = max(row["states"] for row in rows)
    head = f"{model.name}, nv = {model.nv}: times of one state, in batches of {states}, float64"
    machine = f"{where['processor']}, {where['threads']} threads, {where['peak_gflops']:.0f} GFlop/s a core at most"
    return f"{head}\n{machine}\n\n{table(HEADER, [_cells(row) for row in rows])}"


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["function"],
        str(row["operations"]),
        f"{row['compile_s']:.2f} s",
        f"{row['one_thread_ns']:.1f} ns",
        f"{row['all_threads_ns']:.1f} ns",
        f"{100 * row['fraction_of_peak']:.0f} %",
        f"{row['call_us']:.2f} us",
    )
