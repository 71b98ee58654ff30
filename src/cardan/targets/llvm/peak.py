"""What a core of this machine can do at most: a loop of multiply-adds on vectors, none waiting for another."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

import numpy as np

from cardan.targets.llvm.image import load
from cardan.targets.llvm.machine import compile_image, host_lanes
from cardan.targets.llvm.plan import Lanes

CHAINS = 24  # sums that grow side by side: enough to hide the latency of a multiply-add on every unit
ROUNDS = 200_000
_LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)


def peak_operations(dtype: type[np.floating] = np.float64, runs: int = 7) -> float:
    """Return floating-point operations a second of one core, a multiply-add counting as two.

    Args:
        dtype: float64 or float32.
        runs: how often the loop is timed; the fastest counts.
    """
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
    v, fma, width = lanes.vector, f"@llvm.fma.{lanes.suffix}", 8 * lanes.bytes
    chains = range(CHAINS)
    return "\n".join(
        [
            f"declare {v} {fma}({v}, {v}, {v})",
            "define void @peak(ptr %sums, i64 %rounds) #0 {",
            "entry:",
            f"  %factor = load {v}, ptr %sums, align 8",
            f"  %last = getelementptr i8, ptr %sums, i64 {(CHAINS - 1) * lanes.bytes}",
            f"  %term = load {v}, ptr %last, align 8",
            "  br label %loop",
            "loop:",
            "  %k = phi i64 [ 0, %entry ], [ %next, %loop ]",
            *(f"  %a{c} = phi {v} [ zeroinitializer, %entry ], [ %b{c}, %loop ]" for c in chains),
            *(f"  %b{c} = call {v} {fma}({v} %a{c}, {v} %factor, {v} %term)" for c in chains),
            "  %next = add i64 %k, 1",
            "  %more = icmp slt i64 %next, %rounds",
            "  br i1 %more, label %loop, label %done",
            "done:",
            *(line for c in chains for line in _store(c, lanes)),
            "  ret void",
            "}",
            f'attributes #0 = {{ nounwind "prefer-vector-width"="{width}" "min-legal-vector-width"="{width}" }}',
        ]
    )


def _store(chain: int, lanes: Lanes) -> tuple[str, str]:
    offset = chain * lanes.bytes
    return (
        f"  %p{chain} = getelementptr i8, ptr %sums, i64 {offset}",
        f"  store {lanes.vector} %b{chain}, ptr %p{chain}, align 8",
    )
