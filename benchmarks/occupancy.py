"""How many threads of a kernel a multiprocessor holds at once, of those it could.

Source: NVIDIA, CUDA C++ Programming Guide, "Compute Capabilities" (table of technical specifications), and CUDA
Occupancy Calculator: registers are given out to warps, by 256 in each of four quarters of a multiprocessor; shared
memory to blocks, by 128 bytes, with 1 kB of the system's own for each.
"""

from __future__ import annotations

from typing import NamedTuple

from cardan._algebra.errors import UnknownNameError
from cardan._compiler.targets.cuda.compiler import Resources
from cardan._compiler.targets.cuda.staging import WARP

_QUARTERS, _REGISTER_UNIT, _SHARED_UNIT, _OWN_SHARED = 4, 256, 128, 1024


class Limits(NamedTuple):
    """What a multiprocessor has.

    Attributes:
        warps: at once.
        blocks: at once.
        registers: in all.
        shared: bytes of shared memory for all blocks.
        block_shared: bytes that one block may have.
    """

    warps: int
    blocks: int
    registers: int
    shared: int
    block_shared: int


LIMITS = {
    "sm_80": Limits(64, 32, 65536, 164 * 1024, 163 * 1024),
    "sm_90": Limits(64, 32, 65536, 228 * 1024, 227 * 1024),
    "sm_100": Limits(64, 32, 65536, 228 * 1024, 227 * 1024),
}


def occupancy(resources: Resources, threads: int, architecture: str) -> float:
    """Return the part of the warps of a multiprocessor that are there at once: 0 if a block does not fit.

    Args:
        resources: of the kernel.
        threads: of a block.
        architecture: one of `LIMITS`.

    Raises:
        UnknownNameError: for another one.
    """
    if architecture not in LIMITS:
        raise UnknownNameError("architecture", architecture, LIMITS, where="occupancy")
    limits, warps = LIMITS[architecture], -(-threads // WARP)
    taken = -(-resources.shared // _SHARED_UNIT) * _SHARED_UNIT
    if taken > limits.block_shared:
        return 0.0
    of_warp = max(1, -(-resources.registers * WARP // _REGISTER_UNIT)) * _REGISTER_UNIT
    by_registers = limits.registers // _QUARTERS // of_warp * _QUARTERS // warps
    by_shared = limits.shared // (taken + _OWN_SHARED)
    blocks = min(limits.blocks, limits.warps // warps, by_registers, by_shared)
    return blocks * warps / limits.warps
