"""How a subject is timed: cardan and its peers alike."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardan.cli.timing import CALLS, shortest

SECONDS = 0.1  # each figure is measured so long in each run


@dataclass(frozen=True)
class Calls:
    """What to time of a subject for one quantity of one robot; None for what it cannot do.

    Attributes:
        value: returns the result for the first state.
        calls: evaluates `CALLS` states, each by one call from Python.
        one_thread: evaluates a batch on one thread.
        all_threads: evaluates a batch on all threads.
        states: how many states the batches have.
        prepare_seconds: what it took to make it ready, where that is known; else it is measured from outside.
    """

    value: Callable[[], Any]
    calls: Callable[[], Any] | None = None
    one_thread: Callable[[], Any] | None = None
    all_threads: Callable[[], Any] | None = None
    states: int = 1
    prepare_seconds: float | None = None


class Subject:
    """A library about to compute a quantity: made ready on creation, then timed as often as wanted.

    Attributes:
        seconds: the shortest times found: `prepare_s` until the first result, and of one state `call_s`,
            `one_thread_s`, `all_threads_s`.
        reason: why it does not serve; empty if it does.
    """

    def __init__(self, prepare: Callable[[], Calls]) -> None:
        self.reason = ""
        self.seconds: dict[str, float] = {}
        self.calls: Calls | None = None
        self._guard(lambda: self._prepare(prepare))

    def _prepare(self, prepare: Callable[[], Calls]) -> None:
        started = time.perf_counter()
        calls = prepare()
        calls.value()
        known = calls.prepare_seconds
        self.seconds["prepare_s"] = time.perf_counter() - started if known is None else known
        self.calls = calls

    def measure(self, seconds: float = SECONDS) -> None:
        """Measure once more and keep the shortest times; a failure is kept as the reason."""
        calls = self.calls
        if calls is not None and not self.reason:
            self._guard(lambda: self._measure(calls, seconds))

    def _measure(self, calls: Calls, seconds: float) -> None:
        jobs = {"call_s": (calls.calls, CALLS)}
        jobs |= {"one_thread_s": (calls.one_thread, calls.states), "all_threads_s": (calls.all_threads, calls.states)}
        for name, (run, states) in jobs.items():
            if run is not None:
                found = shortest(run, seconds) / states
                self.seconds[name] = min(found, self.seconds.get(name, found))

    def _guard(self, run: Callable[[], None]) -> None:
        try:
            run()
        except Exception as error:
            self.reason = reason(error)

    @property
    def record(self) -> dict[str, Any]:
        """What was found, as plain data."""
        return {"reason": self.reason} if self.reason else dict(self.seconds)


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
