"""How a subject is timed: cardan and its peers alike, a short stretch at a time, in turns."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.spread import Spread

CALLS = 200  # single calls timed together
SECONDS = 0.02  # each figure is measured so long in each round, and one call of it at least
FIGURES = {
    "call": "one call for one state",
    "batch": "a batch on one thread, result allocated by the call",
    "out": "a batch on one thread, into a given array",
    "cached": "a batch of 256 states on one thread, into a given array, all in the cache",
    "threads": "a batch on all threads",
}
"""What is timed, each with what it means. All are seconds of one state."""


@dataclass(frozen=True)
class Calls:
    """What to time of a subject for one quantity of one robot; None for what it cannot do.

    Attributes:
        value: returns the result for the first state.
        call: evaluates `CALLS` states, each by one call from Python.
        batch, out, threads: evaluate a batch; see `FIGURES`.
        cached: evaluates a small one.
        states: how many states the batches have.
        few: how many the small one has.
    """

    value: Callable[[], Any]
    call: Callable[[], Any] | None = None
    batch: Callable[[], Any] | None = None
    out: Callable[[], Any] | None = None
    cached: Callable[[], Any] | None = None
    threads: Callable[[], Any] | None = None
    states: int = 1
    few: int = 1

    def of(self, figure: str) -> tuple[Callable[[], Any] | None, int]:
        """Return what to run for a figure, and how many states that evaluates."""
        return getattr(self, figure), {"call": CALLS, "cached": self.few}.get(figure, self.states)


class Times(NamedTuple):
    """Seconds of one state, a number for each round: of the clock, and of processor time of all threads."""

    wall: list[float]
    cpu: list[float]


class Subject:
    """A library about to compute a quantity: made ready on creation, then timed a figure at a time.

    Attributes:
        times: by figure.
        reason: why it does not serve; empty if it does.
        prepare: processor seconds until the first result, those of a compiler it called among them.
    """

    def __init__(self, prepare: Callable[[], Calls]) -> None:
        self.reason = ""
        self.times: dict[str, Times] = {}
        self.calls: Calls | None = None
        self._guard(lambda: self._prepare(prepare))

    def _prepare(self, prepare: Callable[[], Calls]) -> None:
        started = processor_seconds()
        calls = prepare()
        calls.value()
        self.prepare = processor_seconds() - started
        self.calls = calls

    def measure(self, figure: str, seconds: float = SECONDS) -> None:
        """Measure a figure once more, if it has it; a failure is kept as the reason."""
        if self.calls is None or self.reason:
            return
        run, states = self.calls.of(figure)
        if run is not None:
            self._guard(lambda: self._keep(figure, *stretch(run, states, seconds)))

    def _keep(self, figure: str, wall: float, cpu: float) -> None:
        times = self.times.setdefault(figure, Times([], []))
        times.wall.append(wall)
        times.cpu.append(cpu)

    def _guard(self, run: Callable[[], None]) -> None:
        try:
            run()
        except Exception as error:
            self.reason = reason(error)

    @property
    def record(self) -> dict[str, Any]:
        """What was found, as plain data."""
        if self.reason:
            return {"reason": self.reason}
        spreads = {
            figure: {kind: Spread.of(values)._asdict() for kind, values in times._asdict().items()}
            for figure, times in self.times.items()
        }
        return {"prepare_s": self.prepare} | spreads


def stretch(run: Callable[[], Any], states: int, seconds: float) -> tuple[float, float]:
    """Return seconds of a state, of the clock and of processor time, from calls that take so long together.

    The first call, which finds the caches full of what ran before, does not count.
    """
    run()
    count, wall, cpu = 0, time.perf_counter(), time.process_time()
    while count == 0 or time.perf_counter() - wall < seconds:
        run()
        count += states
    return (time.perf_counter() - wall) / count, (time.process_time() - cpu) / count


def processor_seconds() -> float:
    """Return processor time of this process, all its threads, and the processes it has waited for."""
    return sum(os.times()[:4])


def reason(error: Exception) -> str:
    """Return an exception as one line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, NotImplementedError) else f"{type(error).__name__}: {text}"


@contextmanager
def on_one_core() -> Iterator[None]:
    """Hold every thread of this process on one core, for libraries whose own threads cannot be counted (Linux)."""
    cores = os.sched_getaffinity(0)
    _hold({min(cores)})
    try:
        yield
    finally:
        _hold(cores)


def _hold(cores: set[int]) -> None:
    for thread in Path("/proc/self/task").iterdir():
        try:
            os.sched_setaffinity(int(thread.name), cores)
        except ProcessLookupError:  # it has ended
            continue
