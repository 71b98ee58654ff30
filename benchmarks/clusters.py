"""`python -m benchmarks clusters`: `cardan.distributed.map` by each engine, with 1, 2 and 4 workers.

Two uses: a sweep of a parameter, each value simulated for a thousand steps in one program, with results in memory; and
the regressors of an identification, from one file to another. Beginning processes is part of the time.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cardan

STEPS = 1000
ENGINES = ("threads", "processes")


@cardan.function
def step(model: cardan.Model, q: Any, v: Any, damping: float) -> Any:
    """Return the state a millisecond later, joints damped."""
    a = cardan.forward_dynamics(model, q, v, -damping * v)
    v = v + 1e-3 * a
    return {"q": cardan.integrate(model, q, 1e-3 * v), "v": v}


def main(given: Sequence[str] | None = None) -> int:
    """Print a table, a line for each engine and number of workers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks clusters", description=__doc__)
    parser.add_argument("--values", type=int, default=20_000, help="of the parameter that is swept")
    parser.add_argument("--states", type=int, default=100_000, help="of the identification")
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2, 4])
    args = parser.parse_args(given)
    arm = cardan.robots.arm7().model()
    rng = np.random.default_rng(0)
    swept = {
        "q": np.zeros((args.values, 7)),
        "v": rng.normal(size=(args.values, 7)),
        "damping": rng.random(args.values),
    }
    print(
        f"{args.values} values of {STEPS} steps; regressors of {args.states} states ({args.states * 5040 / 1e9:.2f} GB)"
    )
    print(f"{'engine':<12}{'workers':>8}{'sweep, M steps/s':>20}{'regressor, 1000 states/s':>28}{'peak here, MB':>16}")
    with tempfile.TemporaryDirectory() as folder:
        states = Path(folder) / "states.npz"
        np.savez(states, **{name: rng.normal(size=(args.states, 7)) for name in "qva"})
        for engine, workers in itertools.product(args.engines, args.workers):
            how = {"engine": engine, "workers": workers}
            sweep = _seconds(
                lambda how=how: cardan.distributed.map(step.repeated(STEPS), arm, swept, chunk=1000, **how)
            )
            out = Path(folder) / "regressor.npy"
            regressor = _seconds(
                lambda how=how, out=out: cardan.distributed.map(
                    cardan.torque_regressor, arm, states, out, chunk=4000, overwrite=True, **how
                )
            )
            rates = args.values * STEPS / sweep / 1e6, args.states / regressor / 1e3
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
            print(f"{engine:<12}{workers:>8}{rates[0]:>20.1f}{rates[1]:>28.1f}{peak:>16.0f}", flush=True)
    return 0


def _seconds(work: Any) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    raise SystemExit(main())
