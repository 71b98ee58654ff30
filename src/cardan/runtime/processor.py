"""This machine's processor as the system describes it, without LLVM: importing that takes longer than a first call."""

from __future__ import annotations

import functools
import platform
import sys

_SYSTEM = "/sys/devices/system/cpu/"
_FMA, _X86 = "008C", "cpu:type:x86"  # the kernel's number for fused multiply-add: word 4, bit 12


@functools.cache
def description() -> str | None:
    """Return a text that differs between processors that run different code; None where the system has none.

    Linux's has maker, family, model and every feature of the instruction set that the system allows. (It reads
    quickly everywhere; `/proc/cpuinfo` takes 10 ms on some kernels, as it measures frequencies.)
    """
    if not sys.platform.startswith("linux"):
        return None
    try:
        with open(_SYSTEM + "modalias") as file:
            features = file.read().strip()
        if features.startswith(_X86):
            return features
        with open(_SYSTEM + "cpu0/regs/identification/midr_el1") as file:
            return f"{platform.machine()} {file.read().strip()} {features}"
    except OSError:
        return None


def has_multiply_add() -> bool | None:
    """Return whether the processor multiplies and adds as one instruction; None if the system does not say."""
    known = description()
    if known is None:
        return None
    return not known.startswith(_X86) or _FMA in known.rpartition(":")[2].split(",")
