"""This machine's processor as the system describes it, without LLVM: importing that takes longer than a first call."""

from __future__ import annotations

import functools
import sys

_SYSTEM = "/sys/devices/system/cpu/"
_X86 = "cpu:type:x86"
_FMA, _AVX512 = "008C", ("0130", "0131")  # the kernel's numbers, in words of 32 bits: word 4, bit 12; 9, 16 and 17 (DQ)


@functools.cache
def description() -> str | None:
    """Return a text that differs between x86 processors that run different code; None where the system has none.

    Linux's has maker, family, model and every feature of the instruction set that the system allows. (It reads
    quickly everywhere; `/proc/cpuinfo` takes 10 ms on some kernels, as it measures frequencies.)
    """
    if not sys.platform.startswith("linux"):
        return None
    try:
        with open(_SYSTEM + "modalias") as file:
            features = file.read().strip()
    except OSError:
        return None
    return features if features.startswith(_X86) else None


def has_multiply_add() -> bool | None:
    """Return whether the processor multiplies and adds as one instruction; None if the system does not say."""
    known = description()
    return None if known is None else _FMA in _features(known)


def has_vectors_of_64_bytes() -> bool | None:
    """Return whether the processor computes on vectors of 64 bytes; None if the system does not say."""
    known = description()
    return None if known is None else _features(known).issuperset(_AVX512)


def _features(known: str) -> set[str]:
    return set(known.rpartition(":")[2].split(","))
