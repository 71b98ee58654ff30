"""The native target: a program as LLVM IR, compiled for this machine and called through a fast path for arrays."""

from cardan._compiler.targets.llvm.store import (
    kept as kept,  # first: it notes the revision of the source before the rest loads
)
