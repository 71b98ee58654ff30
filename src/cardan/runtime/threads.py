"""How many threads a batch may use, and splitting it over them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache

from cardan.errors import ParameterError

WORTHWHILE = 8_000_000  # operations times states from which a split gains (about 200 us of work)
_chosen: list[int] = []


def _available() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def num_threads() -> int:
    """Return how many threads large batches are split over."""
    if not _chosen:
        given = os.environ.get("CARDAN_NUM_THREADS", "")
        _chosen.append(_checked(int(given)) if given.isdigit() else _available())
    return _chosen[0]


def set_num_threads(count: int) -> None:
    """Set how many threads large batches are split over; the default is CARDAN_NUM_THREADS, or all cores."""
    _chosen[:] = [_checked(count)]


def _checked(count: int) -> int:
    if not isinstance(count, int) or count < 1:
        raise ParameterError("number of threads", got=count, expected="an integer >= 1")
    return count


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="cardan")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child inherits the pool, but not its threads


def split(rows: int, work: int, step: int, threads: int, run: Callable[[int, int], object]) -> None:
    """Call run(start, stop) over all rows, in parts on several threads where it is worth it.

    Args:
        rows: number of states.
        work: operations a state.
        step: parts are multiples of this many rows.
        threads: at most.
        run: releases the interpreter while it computes.
    """
    if threads == 1 or rows * work < WORTHWHILE:
        run(0, rows)
        return
    part = -(-rows // (threads * step)) * step
    try:
        parts = [_pool(threads).submit(run, k, min(k + part, rows)) for k in range(0, rows, part)]
    except RuntimeError:  # no threads any more: the interpreter is shutting down, or the system has none left
        run(0, rows)
        return
    try:
        for one in parts:
            one.result()
    finally:  # after an interrupt, too, nothing is written once the caller goes on
        for one in parts:
            one.cancel()
        wait(parts)
