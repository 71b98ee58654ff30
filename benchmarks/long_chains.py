"""`python -m benchmarks long_chains`: chains and trees of many joints, looped, written out and by Pinocchio.

Each subject is measured in processes of its own, in turns with the others: processor time of the first call (tracing
and compiling) with the memory that it took at most, and of a state in microseconds, alone and in batches of 64 and of
512, on one thread. The least of the rounds counts.

`loops` is as it ships; `written out` is the same page with every node as its own code. `tree` is a random tree.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import cardan
from benchmarks.robots import chain_urdf

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
PINOCCHIO = {"inverse_dynamics": "rnea", "forward_dynamics": "aba", "mass_matrix": "crba"}
SUBJECTS = ("loops", "written out", "pinocchio")
UP_TO = {("written out", "inverse_dynamics"): 1000, ("written out", "forward_dynamics"): 1000}
UP_TO |= {("written out", "mass_matrix"): 100} | {("pinocchio", function): 300 for function in FUNCTIONS}
"""Joints beyond which code that is written out takes minutes to compile, or Pinocchio more than 4 GB."""
BATCHES, SECONDS = (1, 64, 512), 0.1


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks long_chains", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("--robots", nargs="+", default=["chain50", "chain100", "chain300", "chain1000", "tree10000"])
    parser.add_argument("--functions", nargs="+", default=FUNCTIONS[:2], choices=FUNCTIONS)
    parser.add_argument("--subjects", nargs="+", default=SUBJECTS, choices=SUBJECTS)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--worker", nargs=3, metavar=("ROBOT", "FUNCTION", "SUBJECT"), help=argparse.SUPPRESS)
    args = parser.parse_args(given)
    if args.worker:
        print(json.dumps(worker(*args.worker)))
        return
    print("| robot | function | subject | first call [s] | memory [MB] | B = 1 | 64 | 512 |\n" + "|---" * 8 + "|")
    for name in args.robots:
        for function in args.functions:
            own = [s for s in args.subjects if _count(name) <= UP_TO.get((s, function), 10_000)]
            rounds = [[in_process(name, function, subject) for subject in own] for _ in range(args.rounds)]
            for subject, *found in zip(own, *rounds, strict=True):
                figures = " | ".join(f"{min(column):.3g}" for column in zip(*found, strict=True))
                print(f"| {name} | {function} | {subject} | {figures} |", flush=True)


def in_process(*subject: str) -> list[float]:
    """Return what a process finds that begins without a cache."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "benchmarks.long_chains", "--worker", *subject]
        env = {**os.environ, "CARDAN_CACHE_DIR": cache, "CARDAN_NUM_THREADS": "1"}
        done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def worker(name: str, function: str, subject: str) -> list[float]:
    """Return seconds of the first call, megabytes it took, and microseconds of a state for each batch."""
    mechanism = mechanism_of(name)
    model = mechanism.model(base="fixed")
    if subject == "written out":
        _write_out()
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    calls = pinocchio(mechanism, model, function) if subject == "pinocchio" else ours(model, function)
    calls[0]()
    seconds = time.process_time() - started
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return [seconds, memory, *(1e6 * least(call) / rows for call, rows in zip(calls, BATCHES, strict=True))]


def mechanism_of(name: str) -> Any:
    """Return a chain of benchmarks.robots, or a random tree of hinges."""
    n = _count(name)
    if name.startswith("chain"):
        return cardan.load_mechanism(chain_urdf(n))
    rng = np.random.default_rng(n)
    m = cardan.Mechanism(name)
    for k in range(n):
        m.add_body(f"b{k}", cardan.Inertia(mass=1.0, com=rng.normal(size=3) / 20, inertia=np.eye(3) / 50))
        parent = f"b{rng.integers(k)}" if k else "world"
        pose = cardan.SE3(translation=rng.normal(size=3) / 10)
        m.add_joint(f"j{k}", cardan.joints.Revolute([0, 0, 1]), parent, f"b{k}", pose)
    return m


def _count(name: str) -> int:
    return int(name.removeprefix("chain").removeprefix("tree"))


def _write_out() -> None:
    """Let pages go over nodes one by one, whatever their number."""
    from cardan._dynamics.algorithms import along

    along.LOOP_FROM = 2**31


def states(model: Any, function: str, rows: int) -> list[np.ndarray]:
    """Return the arguments."""
    rng = np.random.default_rng(0)
    return [rng.uniform(-1.0, 1.0, (rows, model.nv)) for _ in range(1 if function == "mass_matrix" else 3)]


def ours(model: Any, function: str) -> list[Callable[[], Any]]:
    """Return calls, one for each batch."""
    bound = getattr(cardan, function).bind(model)
    given = [states(model, function, rows) for rows in BATCHES]
    given[0] = [a[0] for a in given[0]]
    return [lambda own=own: bound(*own) for own in given]  # type: ignore[misc]


def pinocchio(mechanism: Any, model: Any, function: str) -> list[Callable[[], Any]]:
    """Return calls, one for each batch, whose states follow one another."""
    import pinocchio as pin

    theirs = pin.buildModelFromXML(  # type: ignore[attr-defined]
        cardan.to_urdf(mechanism)
    )
    data, call = theirs.createData(), getattr(pin, PINOCCHIO[function])

    def run(given: list[np.ndarray]) -> None:
        for state in zip(*given, strict=True):
            call(theirs, data, *state)

    given = [states(model, function, rows) for rows in BATCHES]
    return [lambda own=own: run(own) for own in given]  # type: ignore[misc]


def least(call: Callable[[], Any]) -> float:
    """Return the least processor time of a call [s]."""
    call()
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        started = time.process_time()
        for _ in range(3):
            call()
        best = min(best, (time.process_time() - started) / 3)
    return best


if __name__ == "__main__":
    main()
