"""How many threads a batch may use, and splitting it over them."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from queue import SimpleQueue
from typing import Any

from cardan.errors import ParameterError

WORTHWHILE = 8_000_000  # operations times states from which a split gains (about 200 us of work)
PART = 400_000_000  # ... that are done at a stretch (about 10 ms): so long an interrupt has to wait
_chosen: list[int] = []


def _available() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def num_threads() -> int:
    """Return how many threads large batches are split over.

    Examples:
        >>> cardan.num_threads() >= 1
        True
    """
    if not _chosen:
        _chosen.append(_asked_for() or _available())
    return _chosen[0]


def _asked_for() -> int:
    """Return what CARDAN_NUM_THREADS says; 0 where it is not set."""
    given = os.environ.get("CARDAN_NUM_THREADS", "").strip()
    if given and not (given.isascii() and given.isdecimal() and len(given) < 10):
        raise ParameterError("CARDAN_NUM_THREADS", got=given, expected="an integer >= 1")
    return checked_count(int(given)) if given else 0


def set_num_threads(count: int) -> None:
    """Set how many threads large batches are split over; the default is CARDAN_NUM_THREADS, or all cores.

    Args:
        count: at least 1.

    Examples:
        >>> cardan.set_num_threads(cardan.num_threads())
    """
    _chosen[:] = [checked_count(count)]


def checked_count(count: int) -> int:
    """Return a number of threads, if it is one."""
    if not isinstance(count, int) or count < 1:
        raise ParameterError("number of threads", got=count, expected="an integer >= 1")
    return count


class _Pool:
    """Threads that wait for tasks, begun one by one.

    They are daemons, so that the interpreter can end without them. A `ThreadPoolExecutor` tells those it knows of to
    end, but it does not know of one in whose start it was interrupted; for that one the process would wait forever.
    """

    def __init__(self, count: int) -> None:
        self.missing, self.tasks = deque(range(count)), SimpleQueue[Callable[[], object]]()

    def submit(self, task: Callable[[], object]) -> None:
        """Let a thread do a task, which raises nothing."""
        if self.missing:
            threading.Thread(target=self._serve, name="cardan", daemon=True).start()
            with suppress(IndexError):  # two callers began the last one: that makes one more
                self.missing.pop()
        self.tasks.put(task)

    def _serve(self) -> None:
        while True:
            self.tasks.get()()


@cache
def _pool(count: int) -> _Pool:
    return _Pool(count)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child inherits the pool, but not its threads


class _Team:
    """The parts of a batch, and the threads that take one after the other.

    Whatever happens, once `finish` returns or raises no thread is at work on a part, and none will be: parts are taken
    from a queue that is empty then, by threads that were on the list before they took one.
    """

    def __init__(self, parts: Iterable[tuple[int, int]], run: Callable[[int, int], object]) -> None:
        self.parts, self.run = deque(parts), run
        self.helpers: list[Any] = []  # locks, each held while its thread is at work
        self.errors: list[BaseException] = []

    def work(self) -> None:
        """Take parts until there are none."""
        while True:
            try:
                part = self.parts.popleft()
            except IndexError:
                return
            self.run(*part)

    def help(self) -> None:
        """Take parts on another thread; what goes wrong there is raised where the batch was asked for."""
        at_work = threading.RLock()
        with at_work:
            self.helpers.append(at_work)
            try:
                self.work()
            except BaseException as error:
                self.errors.append(error)
                self.parts.clear()

    def finish(self) -> None:
        """Drop the parts nobody has begun, and wait for those somebody has; an interrupt meanwhile is raised then."""
        self.parts.clear()
        while self.helpers:
            try:
                self.helpers[-1].acquire()  # may be repeated after an interrupt, as a plain lock's could not
                self.helpers.pop()
            except KeyboardInterrupt as error:
                self.errors.append(error)
        if self.errors:
            raise self.errors[0]


def split(rows: int, work: int, step: int, threads: int, run: Callable[[int, int], object]) -> None:
    """Call run(start, stop) over all rows, in parts, on several threads where it is worth it.

    An interrupt is seen between two parts. Once it is raised here, nothing runs any more.

    Args:
        rows: number of states.
        work: operations a state.
        step: parts are multiples of this many rows.
        threads: at most, the caller's among them.
        run: releases the interpreter while it computes.
    """
    if rows * work < WORTHWHILE:
        run(0, rows)
        return
    size = min(-(-rows // threads), PART // work)
    size = max(-(-size // step), 1) * step
    team = _Team([(k, min(k + size, rows)) for k in range(0, rows, size)], run)
    try:
        with suppress(RuntimeError):  # no threads any more: the interpreter is shutting down, or the system has none
            for _ in range(min(threads, len(team.parts)) - 1):
                _pool(threads - 1).submit(team.help)
        team.work()
    finally:
        team.finish()
