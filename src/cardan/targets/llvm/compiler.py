"""From a program to its image: plan, text, LLVM."""

from __future__ import annotations

import numpy as np

from cardan.program.program import Program
from cardan.runtime.progress import announced
from cardan.targets.llvm.image import Image
from cardan.targets.llvm.machine import compile_image, host_lanes
from cardan.targets.llvm.plan import Lanes, heap_bytes, plan_program
from cardan.targets.llvm.text import llvm_text

OPERATION = 70e-6  # seconds an operation takes to compile: 33 000 took 2.4 s, 125 000 took 7.2 s (Zen 4, 2026)


def compile_program(program: Program, dtype: np.dtype, lanes: Lanes | None = None) -> Image:
    """Return the native code of a program for `lanes`, by default those of this machine."""
    with announced(f"compiling {program.name} ({program.operations} operations)", OPERATION * program.operations):
        lanes, plan = lanes or host_lanes(dtype), plan_program(program)
        return compile_image(
            llvm_text(program, lanes, plan),
            "evaluate",
            width=lanes.width,
            workspace=plan.tiles * plan.slots * lanes.bytes,
            heap=heap_bytes(plan, lanes),
            functions=len(plan.blocks),
        )
