"""`python -m benchmarks jax`: what a call inside a program of JAX costs, beside the bare call and a callback.

Times are of one call whose result is waited for, in microseconds, the shortest of many, in rounds that alternate:

- bare: `cardan.function(model, ...)` on NumPy arrays.
- jitted: `jax.jit(wrap(function, model))` on JAX's arrays.
- callback: `jax.jit` of `jax.pure_callback` to the bare call.
- nothing: `jax.jit` of a sum of the same arrays: what JAX itself needs to begin and end.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

import cardan
from cardan.interop.jax import wrap

BATCHES = (1, 64, 4096)
FUNCTIONS = ("inverse_dynamics", "forward_dynamics")
ROUNDS, SECONDS = 7, 0.05


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks jax", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--robots", nargs="+", default=["arm7", "humanoid"], choices=cardan.robots.ROBOTS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    args = parser.parse_args(given)
    jax.config.update("jax_enable_x64", True)
    print(f"jax {jax.__version__}, {cardan.num_threads()} threads; microseconds a call")
    print("| robot | function | states | bare | jitted | callback | nothing |\n|---|---|---|---|---|---|---|")
    for robot in args.robots:
        for name in FUNCTIONS:
            for batch in BATCHES:
                times = measured(cases(robot, name, batch), args.rounds)
                print(
                    f"| {robot} | {name} | {batch} | " + " | ".join(f"{1e6 * t:.1f}" for t in times) + " |", flush=True
                )


def cases(robot: str, name: str, batch: int) -> list[Callable[[], Any]]:
    """Return the calls to compare."""
    model, function = getattr(cardan.robots, robot)().model(), getattr(cardan, name)
    rng = np.random.default_rng(0)
    shape = (batch,) if batch > 1 else ()
    arrays = [model.random_configuration(shape, seed=0), *rng.normal(size=(2, *shape, model.nv))]
    theirs = [jax.numpy.asarray(x) for x in arrays]
    result = jax.ShapeDtypeStruct(arrays[1].shape, arrays[1].dtype)
    calls = (
        jax.jit(wrap(function, model)),
        jax.jit(lambda *x: jax.pure_callback(lambda *y: function(model, *map(np.asarray, y)), result, *x)),
        jax.jit(lambda q, v, a: q[..., :1] + v + a),
    )
    np.testing.assert_array_equal(calls[0](*theirs), function(model, *arrays))
    return [lambda: function(model, *arrays), *(lambda f=f: f(*theirs).block_until_ready() for f in calls)]


def measured(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Return the shortest time of each call [s], in rounds that alternate between them."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        best = [min(found, shortest(call)) for found, call in zip(best, calls, strict=True)]
    return best


def shortest(call: Callable[[], Any]) -> float:
    """Return the shortest mean time of ten calls [s], looked for over `SECONDS`."""
    call()  # compiles it
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        started = time.perf_counter()
        for _ in range(10):
            call()
        best = min(best, (time.perf_counter() - started) / 10)
    return best
