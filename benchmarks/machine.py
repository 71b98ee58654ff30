"""What this machine can do at most, and what else it was doing: without that, no time says anything."""

from __future__ import annotations

import os
import platform
import time
from functools import cache
from typing import Any

import numpy as np

from benchmarks.peak import peak_operations
from cardan._reach.cli.bench import environment


def peak() -> float:
    """Return floating-point operations a second of one core now, a multiply-add counting as two (about 10 ms)."""
    return peak_operations(runs=3)


@cache
def _block(size: int) -> np.ndarray:
    return np.empty(size, dtype=np.uint8)


def store_seconds(size: int, seconds: float = 0.002) -> float:
    """Return how long filling a block takes, one that is in the memory or cache where its size has put it.

    Args:
        size: bytes.
        seconds: for so long it is filled again, and at least three times; the shortest time counts.
    """
    block, times, started = _block(size), [], time.perf_counter()
    while len(times) < 4 or time.perf_counter() - started < seconds:
        before = time.perf_counter()
        block.fill(1)
        times.append(time.perf_counter() - before)
    return min(times[1:])


def description() -> dict[str, Any]:
    """Return what the times depend on, and the load beside which they were taken."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None  # 0 on an idle machine
    return (
        environment()
        | {"peak_gflops": peak() / 1e9}
        | {"system": platform.platform(), "model": model_name(), "load_average": load}
    )


def model_name() -> str:
    """Return what the processor calls itself, where Linux says it."""
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
