"""How many threads a batch may use, and splitting it over them.

A batch is worth splitting where its work takes longer than waking a thread, which is asleep until then: nothing here
spins. Work is estimated as operations and bytes: on the processors measured a double-precision operation of a state,
eight or four states at a time, takes about as long as writing a byte of its result (30 to 45 ps each, from 1000
operations and 200 bytes of a Panda to 100 000 and 35 000 of Talos).
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from math import inf
from pathlib import Path, PurePosixPath
from queue import SimpleQueue
from typing import Any

from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import ParameterError

WORTHWHILE = 6_000_000  # work of a batch from which splitting gains (about 0.2 ms)
GRAIN = 1_000_000  # ... that is not split further: far longer than taking the next part, or waiting for the last one
PART = 400_000_000  # ... that is done at a stretch (about 15 ms): so long an interrupt has to wait
NUMBER = 8  # bytes
COUNT = ctypes.c_int64(0)  # what `num_threads` returned last, where machine code reads it; 0 while nobody has asked
_chosen: list[int] = []


def work_of(operations: int, numbers: int) -> int:
    """Return the work of a state: the operations that are done, and the bytes of the numbers that are written."""
    return operations + NUMBER * numbers


def num_threads() -> int:
    """Return how many threads large batches are split over.

    That is what `set_num_threads` said; else CARDAN_NUM_THREADS; else OMP_NUM_THREADS, which joblib, Dask, Ray and
    torchrun set for the processes they start, if it is less than the cores this process may use (those it is bound to,
    and what the control group of a container allows).

    Examples:
        >>> cardan.num_threads() >= 1
        True
    """
    COUNT.value = _chosen[0] if _chosen else _default()
    return COUNT.value


def default_threads() -> int:
    """Return how many threads to use where nothing was set: CARDAN_NUM_THREADS, or fewer than there are cores.

    OMP_NUM_THREADS counts, too: what starts several processes at once sets it for each of them, so that they do not
    crowd each other out: joblib (loky), Dask's nannies, Ray's workers, torchrun, and schedulers of clusters. An invalid
    one is ignored. Variables of single libraries (OPENBLAS_NUM_THREADS, ...) are about these libraries alone.

    Raises:
        ParameterError: if CARDAN_NUM_THREADS is not a number of threads.
    """
    ours = os.environ.get("CARDAN_NUM_THREADS", "").strip()
    if ours:
        if not _count(ours):
            raise ParameterError("CARDAN_NUM_THREADS", got=ours, expected="an integer >= 1")
        return _count(ours)
    everyones = _count(os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip())  # one number a nested level
    cores = available_cores()
    return min(everyones or cores, cores)


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def available_cores() -> int:
    """Return how many cores this process may use at once: those it is bound to, or fewer by its control groups."""
    affinity = getattr(os, "sched_getaffinity", None)
    bound = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, int(min(bound, group_limit())))  # rounded down: more threads would all be halted once it is used up


def group_limit(root: Path = Path("/")) -> float:
    """Return how many cores' time Linux' control groups (containers, services) allow this process; inf without a limit.

    `root` is the folder that has `proc` and `sys`.
    """
    return min((_quota(file) for file in _limit_files(root)), default=inf)


def _limit_files(root: Path) -> Iterator[Path]:
    """Yield the files with the limit of the process's group and of all groups around it."""
    try:
        groups = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in groups:
        if line.startswith("0::/"):  # version 2, which has one hierarchy
            own = PurePosixPath(line[4:])
            yield from (root / "sys/fs/cgroup" / group / "cpu.max" for group in (own, *own.parents))


def _quota(file: Path) -> float:
    """Return what a file says: microseconds of processor time, or `max`, in a period of microseconds."""
    try:
        quota, period = file.read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return inf


_default = cache(default_threads)


def set_num_threads(count: int) -> None:
    """Set how many threads large batches are split over, whatever the environment says; see `num_threads`.

    Args:
        count: at least 1.

    Examples:
        >>> cardan.set_num_threads(cardan.num_threads())
    """
    _chosen[:] = [whole("number of threads", count, 1)]
    num_threads()


class _Pool:
    """Threads that wait for tasks, begun one by one.

    They are daemons, so that the interpreter can end without them. A `ThreadPoolExecutor` tells those it knows of to
    end, but it does not know of one in whose start it was interrupted; for that one the process would wait forever.
    """

    def __init__(self, count: int) -> None:
        self.missing, self.tasks = deque(range(count)), SimpleQueue[Callable[[], object]]()

    def submit(self, task: Callable[[], object]) -> None:
        if self.missing:
            threading.Thread(target=self._serve, name="cardan", daemon=True).start()
            with suppress(IndexError):  # two callers began the last one: that makes one more
                self.missing.pop()
        self.tasks.put(task)

    def _serve(self) -> None:
        while True:
            self.tasks.get()()


_pool = cache(_Pool)


def _forget_default() -> None:
    _default.cache_clear()
    COUNT.value = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child inherits the pool, but not its threads
    os.register_at_fork(after_in_child=_forget_default)  # ... and its environment may be made its own


class _Team:
    """The parts of a batch, and the threads that take one after the other.

    Whatever happens, once `finish` returns or raises no thread is at work on a part, and none will be: parts are taken
    from a queue that is empty then, by threads that were on the list before they took one.
    """

    def __init__(self, parts: deque[tuple[int, int]], run: Callable[[int, int], object]) -> None:
        self.parts, self.run = parts, run
        self.helpers: list[Any] = []  # locks, each held while its thread is at work
        self.errors: list[BaseException] = []

    def work(self, take: Callable[[], tuple[int, int]]) -> None:
        while True:
            try:
                part = take()
            except IndexError:
                return
            self.run(*part)

    def help(self) -> None:
        """Take parts on another thread; what goes wrong there is raised where the batch was asked for."""
        at_work = threading.RLock()
        with at_work:
            self.helpers.append(at_work)
            try:
                self.work(self.parts.pop)
            except BaseException as error:
                self.errors.append(error)
                self.parts.clear()

    def finish(self) -> None:
        """Wait for the parts somebody has begun, once no others are left; what comes up meanwhile is raised then.

        That is an interrupt, or whatever else a program's own signal handler raises: a time-out, SystemExit.
        """
        while self.helpers:
            try:
                self.helpers[-1].acquire()  # may be repeated after an interrupt, as a plain lock's could not
                self.helpers.pop()
            except BaseException as error:
                self.errors.append(error)
        if self.errors:
            raise self.errors.pop(
                0
            )  # it knows this frame: left in the list, it would hold the batch's arrays in a ring


def split(rows: int, work: int, step: int, threads: int | None, run: Callable[[int, int], object]) -> None:
    """Call run(start, stop) over all rows, in parts, on several threads where it is worth it; see `work_of` for work.

    An interrupt is seen between two parts. Once it is raised here, nothing runs any more. Parts are multiples of `step`
    rows. The caller's is one of at most so many threads; None is for `num_threads()`, which is not called for few
    states. `run` releases the interpreter while it computes.
    """
    if rows * work < WORTHWHILE:
        run(0, rows)
        return
    threads = threads or num_threads()
    fed = min(threads, rows * work // GRAIN)  # waking a thread costs the caller some microseconds
    team = _Team(_parts(rows, work, step, fed), run)
    try:
        try:
            with suppress(
                RuntimeError
            ):  # no threads any more: the interpreter is shutting down, or the system has none
                for _ in range(min(fed, len(team.parts)) - 1):
                    _pool(threads - 1).submit(team.help)
            team.work(team.parts.popleft)
        finally:
            team.parts.clear()  # where a second signal is seen, if it came while the first was handled
    finally:
        team.finish()


def _parts(rows: int, work: int, step: int, threads: int) -> deque[tuple[int, int]]:
    """Return (start, stop) of parts in order: the caller takes them from the front, all other threads from the back.

    They are largest at both ends and become smaller to where both meet, so a thread that comes late keeps nobody
    waiting long (guided self-scheduling; Polychronopoulos, Kuck, IEEE Trans. Computers C-36, 1987), and most of what
    the caller did last time it does again, with the cache it has. One thread alone stops for interrupts only.
    """
    least, most = (max(limit // work // step, 1) for limit in (GRAIN, PART))  # in steps, as all sizes here
    first: deque[tuple[int, int]] = deque()
    last: deque[tuple[int, int]] = deque()
    front, back = 0, -(-rows // step)
    while front < back:
        size = min(_share(back - front, least, threads), most)
        first.append((front, front := min(front + size, back)))
        for _ in range(threads - 1):
            if front < back:
                last.appendleft((max(back - size, front), back))
                back = last[0][0]
    return deque((a * step, min(b * step, rows)) for a, b in (*first, *last))


def _share(left: int, least: int, threads: int) -> int:
    """Return how much of what is left each thread takes: most of its share, but all where crumbs would remain."""
    if threads == 1:
        return left
    size = max(3 * left // (4 * threads), least)
    return size if left >= threads * (size + least // 2) else -(-left // threads)
