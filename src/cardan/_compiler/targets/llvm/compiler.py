"""From a program to its image: plan, text, LLVM.

Straight lines are written by the table of this processor if there is one, and by LLVM otherwise; CARDAN_EMITTER
chooses.
"""

from __future__ import annotations

import os
import sys
import warnings

import numpy as np

from cardan._algebra.errors import SizeWarning, TargetError, levels_inside
from cardan._compiler.program.program import Program
from cardan._compiler.runtime.log import announced
from cardan._compiler.runtime.memory import collection_paused
from cardan._compiler.targets.llvm.direct.allocation import Machine
from cardan._compiler.targets.llvm.direct.x86 import AVX, AVX512
from cardan._compiler.targets.llvm.image import Image
from cardan._compiler.targets.llvm.machine import compile_image, host_features, host_lanes
from cardan._compiler.targets.llvm.plan import plan_program
from cardan._compiler.targets.llvm.text import llvm_text
from cardan._compiler.targets.llvm.writer import Lanes

EMITTERS = ("direct", "llvm")
OPERATION = 70e-6  # seconds LLVM takes for an operation: 33 000 took 2.4 s, 125 000 took 7.2 s (Zen 4, 2026) ...
QUICKER = 3  # ... and so much less where there is a table: 307 000 of a world took 5.5 s, 339 000 took 8.0 s
MANY = 400_000  # operations of which a user is warned, who may do with fewer: ten seconds with a table


def compile_program(program: Program, dtype: np.dtype, lanes: Lanes | None = None) -> Image:
    lanes = lanes or host_lanes(dtype)
    machine = choose_table(lanes)
    seconds = OPERATION * program.operations / (QUICKER if machine else 1)
    if program.operations > MANY:
        warnings.warn(SizeWarning(program.name, program.operations, seconds), stacklevel=levels_inside())
    with announced(f"compiling {program.name} ({program.operations} operations)", seconds), collection_paused():
        plan = plan_program(program, machine)
        return compile_image(
            llvm_text(program, lanes, plan),
            "evaluate",
            width=lanes.width,
            workspace=plan.slots * lanes.bytes,
            heap=plan.heap_bytes(lanes),
            functions=len(plan.blocks),
        )


def choose_table(lanes: Lanes) -> Machine | None:
    """Return the table for such lanes; None if LLVM writes all. TargetError for an invalid CARDAN_EMITTER."""
    wanted = os.environ.get("CARDAN_EMITTER") or ""
    if wanted and wanted not in EMITTERS:
        raise TargetError(f"CARDAN_EMITTER is {wanted!r}, expected one of {EMITTERS}, or nothing for the best.")
    table = None if wanted == "llvm" else _table(lanes)
    if wanted == "direct" and table is None:
        raise TargetError(
            "CARDAN_EMITTER is 'direct', but there is no table for this processor, system or width "
            f"({host_features()[0]}, {sys.platform}, {lanes.vector}); use 'llvm', or unset it."
        )
    return table


def _table(lanes: Lanes) -> Machine | None:
    if not sys.platform.startswith("linux"):  # others have other object files, or let callees keep vectors
        return None
    features = set(host_features()[1].split(","))
    if {"+avx512f", "+avx512dq", "+avx512vl"} <= features and lanes.bytes in (16, 32, 64):
        return AVX512
    return AVX if {"+avx", "+fma"} <= features and lanes.bytes in (16, 32) else None


def host_text(program: Program) -> str:
    """Return a program as LLVM writes it for this machine, in double precision."""
    return llvm_text(program, host_lanes(np.dtype(np.float64)))
