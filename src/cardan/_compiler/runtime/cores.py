"""How many cores this process may keep busy: those it is bound to, what its container allows, what its caller says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import inf
from pathlib import Path, PurePosixPath

from cardan._algebra.errors import ParameterError


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
    """Return a number >= 1 written in decimal; 0 if it is none."""
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
