"""Times of a compiled function of one robot: to compile, a state in a batch, one call."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardan.functions import Function
from cardan.model import Model
from cardan.program import Array
from cardan.runtime.threads import num_threads
from cardan.verification.speed import shortest

LARGEST_RESULT = 2**28  # bytes a batch may write
CALLS = 200  # single calls timed together


class Times(NamedTuple):
    """Seconds: to trace and compile (or load), a state on one thread, a state on all, one call for one state."""

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


class Job:
    """A function of one robot, compiled, with a batch to evaluate.

    Attributes:
        program: what was compiled.
        compile_seconds: from the function to its first result.
        states: how many the batch has; fewer than asked for where the results would be huge.
        one_thread, all_threads: what to time: the batch on one thread and on all.
        call, calls: one call for one state; `CALLS` of them.
    """

    def __init__(self, function: Function, model: Model, options: dict[str, Any], batch: int) -> None:
        started = time.perf_counter()
        fast = function.on(threads=1).bind(model, **options)
        self.program = function.program(model, **options)
        single = [a[0] for a in random_arrays(model, self.program.inputs, 1)]
        fast(*single)
        self.compile_seconds = time.perf_counter() - started
        self.states = min(batch, max(64, LARGEST_RESULT // (8 * len(self.program.results) + 8)))
        arrays = random_arrays(model, self.program.inputs, self.states)
        every = function.on(threads=num_threads()).bind(model, **options)
        out = {"out": fast(*arrays)}
        self.one_thread: Callable[[], Any] = lambda: fast(*arrays, **out)
        self.all_threads: Callable[[], Any] = lambda: every(*arrays, **out)
        self.call: Callable[[], Any] = lambda: fast(*single)
        self.calls = lambda: _repeat(fast, single)

    def times(self, seconds: float = 0.2) -> Times:
        """Return how long everything takes, each measured for so many seconds."""
        one = shortest(self.one_thread, seconds) / self.states
        every = shortest(self.all_threads, seconds) / self.states
        return Times(self.compile_seconds, one, every, shortest(self.calls, seconds / 2) / CALLS)


def _repeat(fast: Callable[..., Any], single: list[np.ndarray]) -> None:
    for _ in range(CALLS):
        fast(*single)
