"""What this core can do at most: a loop of multiply-adds on vectors, none waiting for another."""

import ctypes
import time

import numpy as np

from cardan.program.targets.llvm import Loaded, compile_object, host_lanes

CHAINS, ROUNDS = 24, 200_000


def _text(lanes):
    v, width = lanes.vector, 8 * lanes.bytes
    fma = f"@llvm.fma.{lanes.suffix}"
    factor, term = lanes.constant(0.999), lanes.constant(1e-3)
    lines = [f"declare {v} {fma}({v}, {v}, {v})"]
    lines += [
        "define i32 @evaluate(ptr %i, ptr %out, i64 %rows, ptr %l, ptr %h) #0 {",
        "entry:",
        "  br label %loop",
        "loop:",
    ]
    lines += ["  %k = phi i64 [ 0, %entry ], [ %next, %loop ]"]
    lines += [f"  %a{c} = phi {v} [ zeroinitializer, %entry ], [ %b{c}, %loop ]" for c in range(CHAINS)]
    lines += [f"  %b{c} = call {v} {fma}({v} %a{c}, {v} {factor}, {v} {term})" for c in range(CHAINS)]
    lines += ["  %next = add i64 %k, 1", "  %more = icmp slt i64 %next, %rows"]
    lines += ["  br i1 %more, label %loop, label %done", "done:"]
    for c in range(CHAINS):
        lines.append(f"  %p{c} = getelementptr i8, ptr %out, i64 {c * lanes.bytes}")
        lines.append(f"  store {v} %b{c}, ptr %p{c}, align 8")
    attributes = f'"prefer-vector-width"="{width}" "min-legal-vector-width"="{width}"'
    return "\n".join([*lines, "  ret i32 0", "}", f"attributes #0 = {{ {attributes} }}"])


def peak_operations(dtype=np.float64):
    """Return floating-point operations a second of one core, a multiply-add counting as two."""
    lanes = host_lanes(np.dtype(dtype))
    code = Loaded(compile_object(_text(lanes)))
    out = np.empty(CHAINS * lanes.width, dtype=dtype)
    best = min(_seconds(code, out) for _ in range(7))
    return 2.0 * CHAINS * lanes.width * ROUNDS / best


def _seconds(code, out):
    started = time.perf_counter()
    code.entry(None, ctypes.c_void_p(out.ctypes.data), ROUNDS, None, None)
    return time.perf_counter() - started
