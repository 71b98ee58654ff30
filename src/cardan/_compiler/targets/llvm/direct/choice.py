"""Who writes straight lines: LLVM, or the table of this processor where there is one. CARDAN_EMITTER chooses."""

from __future__ import annotations

import os
import sys

from cardan._algebra.errors import TargetError
from cardan._compiler.targets.llvm.direct.allocation import Machine
from cardan._compiler.targets.llvm.direct.neon import NEON
from cardan._compiler.targets.llvm.direct.x86 import AVX, AVX512
from cardan._compiler.targets.llvm.lanes import Lanes
from cardan._compiler.targets.llvm.machine import host_features

EMITTERS = ("direct", "llvm")


def chosen(lanes: Lanes) -> Machine | None:
    """Return the table that is used for vectors of such lanes; None, where LLVM writes all.

    Raises:
        TargetError: if CARDAN_EMITTER is none of `EMITTERS`, or asks for a table that does not exist.
    """
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
    if os.uname().machine == "aarch64":
        return NEON if lanes.bytes == 16 else None
    features = set(host_features()[1].split(","))
    if {"+avx512f", "+avx512dq", "+avx512vl"} <= features and lanes.bytes in (16, 32, 64):
        return AVX512
    return AVX if {"+avx", "+fma"} <= features and lanes.bytes in (16, 32) else None
