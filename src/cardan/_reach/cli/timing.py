"""Times of a compiled function of one robot: to compile, a state in a batch, one call."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from cardan._compiler.program import Array
from cardan._compiler.runtime.threads import num_threads
from cardan._dynamics.call.function import Function
from cardan._reach.verification.speed import shortest
from cardan._robot.model import Model

LARGEST_RESULT = 2**28  # bytes a batch may write
CALLS = 200  # single calls timed together


class Times(NamedTuple):
    """What a function of one robot takes, compiled.

    Attributes:
        operations: of its program.
        states: how many the batch has; fewer than asked for where the results would be huge.
        compile: from the function to its first result [s].
        one_thread: a state of the batch on one thread [s].
        all_threads: a state on all [s].
        call: one call for one state [s].
    """

    operations: int
    states: int
    compile: float
    one_thread: float
    all_threads: float
    call: float


def random_arrays(model: Model, inputs: tuple[Array, ...], batch: int) -> list[np.ndarray]:
    """Return a batch of arguments: configurations on the manifold, and normal numbers for everything else."""
    rng = np.random.default_rng(0)
    return [
        model.random_configuration((batch,), seed=k)
        if a.name in ("q", "q0", "q1")
        else rng.normal(size=(batch, *a.shape))
        for k, a in enumerate(inputs)
    ]


def timed(function: Function, model: Model, options: dict[str, Any], batch: int, seconds: float = 0.2) -> Times:
    """Return how long everything takes, each measured for so many seconds."""
    started = time.perf_counter()
    fast = function.on(threads=1).bind(model, **options)
    program = function.program(model, **options)
    single = [a[0] for a in random_arrays(model, program.inputs, 1)]
    fast(*single)
    compiling = time.perf_counter() - started
    states = min(batch, max(64, LARGEST_RESULT // (8 * len(program.results) + 8)))
    arrays = random_arrays(model, program.inputs, states)
    every = function.on(threads=num_threads()).bind(model, **options)
    out = {"out": fast(*arrays)}

    def calls() -> None:
        for _ in range(CALLS):
            fast(*single)

    one, all_threads = (shortest(lambda run=run: run(*arrays, **out), seconds) / states for run in (fast, every))
    return Times(program.operations, states, compiling, one, all_threads, shortest(calls, seconds / 2) / CALLS)
