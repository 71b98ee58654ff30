"""What a core of this machine can do at most: a loop of multiply-adds on vectors, none waiting for another."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

import numpy as np

from cardan._compiler.targets.llvm.machine import compile_image, host_lanes
from cardan._compiler.targets.llvm.store import load
from cardan._compiler.targets.llvm.writer import Lanes, Writer, attributes

CHAINS = 24  # sums that grow side by side: enough to hide the latency of a multiply-add on every unit
ROUNDS = 200_000
_LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)


def peak_operations(dtype: type[np.floating] = np.float64, runs: int = 7) -> float:
    """Return floating-point operations a second of one core, a multiply-add counting as two; the fastest run counts."""
    lanes = host_lanes(np.dtype(dtype))
    engine = load(compile_image(_text(lanes), "peak"), "peak")
    loop = _LOOP(engine.address)
    sums = np.empty(CHAINS * lanes.width, dtype=dtype)
    best = min(_seconds(loop, sums) for _ in range(runs))
    return 2.0 * CHAINS * lanes.width * ROUNDS / best


def _seconds(loop: Callable[..., None], sums: np.ndarray) -> float:
    sums[: sums.size // 2], sums[sums.size // 2 :] = 0.999, 1e-3
    started = time.perf_counter()
    loop(sums.ctypes.data, ROUNDS)
    return time.perf_counter() - started


def _text(lanes: Lanes) -> str:
    """Return the loop as LLVM IR: `peak(sums, rounds)`; the factor is the first of the sums, the term the last.

    It has no constants of its own, so the machine code is one section and needs no other near it.
    """
    w, v = Writer(lanes), lanes.vector
    places = [w.at("%sums", chain * lanes.bytes) for chain in range(CHAINS)]
    factor, term = (w.load(v, place, 8) for place in (places[0], places[-1]))
    zeros = [(v, "zeroinitializer")] * CHAINS
    sums = w.loop(0, "%rounds", 1, lambda _, *sums: [w.fma(a, factor, term) for a in sums], *zeros)
    for total, place in zip(sums, places, strict=True):
        w.store(v, total, place, 8)
    return "\n".join([w.procedure("peak", [("ptr", "%sums"), ("i64", "%rounds")], linkage=""), *attributes(lanes)])
