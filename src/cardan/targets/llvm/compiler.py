"""From a program to its image: plan, text, LLVM."""

from __future__ import annotations

import numpy as np

from cardan.program.program import Program
from cardan.targets.llvm.image import Image
from cardan.targets.llvm.machine import compile_image, host_lanes
from cardan.targets.llvm.plan import heap_bytes, plan_program
from cardan.targets.llvm.text import llvm_text


def compile_program(program: Program, dtype: np.dtype) -> Image:
    """Return the native code of a program."""
    lanes, plan = host_lanes(dtype), plan_program(program)
    return compile_image(
        llvm_text(program, lanes, plan),
        "evaluate",
        width=lanes.width,
        workspace=plan.tiles * plan.slots * lanes.bytes,
        heap=heap_bytes(plan, lanes),
        functions=len(plan.blocks),
    )
