"""From a program to its image: plan, text, LLVM."""

from __future__ import annotations

import numpy as np

from cardan._compiler.program.program import Program
from cardan._compiler.runtime.collector import collection_paused
from cardan._compiler.runtime.progress import announced
from cardan._compiler.targets.llvm.direct.choice import chosen
from cardan._compiler.targets.llvm.image import Image
from cardan._compiler.targets.llvm.lanes import Lanes
from cardan._compiler.targets.llvm.machine import compile_image, host_lanes
from cardan._compiler.targets.llvm.plan import heap_bytes, plan_program
from cardan._compiler.targets.llvm.text import llvm_text

OPERATION = 70e-6  # seconds LLVM takes for an operation: 33 000 took 2.4 s, 125 000 took 7.2 s (Zen 4, 2026) ...
QUICKER = 6  # ... and so much less where there is a table: 125 000 in 1.1 s


def compile_program(program: Program, dtype: np.dtype, lanes: Lanes | None = None) -> Image:
    """Return the native code of a program for `lanes`, by default those of this machine."""
    lanes = lanes or host_lanes(dtype)
    machine = chosen(lanes)
    seconds = OPERATION * program.operations / (QUICKER if machine else 1)
    with announced(f"compiling {program.name} ({program.operations} operations)", seconds), collection_paused():
        plan = plan_program(program, machine)
        return compile_image(
            llvm_text(program, lanes, plan),
            "evaluate",
            width=lanes.width,
            workspace=plan.tiles * plan.slots * lanes.bytes,
            heap=heap_bytes(plan, lanes),
            functions=len(plan.blocks),
        )
