"""A program on arrays of a device: one kernel for each dtype and device, launched on the caller's stream.

A launch allocates nothing and waits for nothing, so it may be captured in a graph.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.errors import DTypeError
from cardan._compiler.program.program import Program
from cardan._compiler.targets.cuda.driver import Driver, LoadedKernel, driver
from cardan._compiler.targets.runner import Arrays, Outline, Runner

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
TAKES = "an array on a device: of CuPy or PyTorch, or made by cardan.interop.cuda.to_device"


class CudaProgram(Runner):
    """A program as kernels, made for each dtype and loaded on each device when they are first needed."""

    def __init__(self, outline: Outline, program: Callable[[], Program]) -> None:
        self.outline, self.program, self.outputs = outline, program, outline.outputs
        self._loaded: dict[tuple[Driver, int, bool], LoadedKernel] = {}
        self._lock = Lock()

    def launch(self, arrays: Sequence[Buffer], results: Sequence[Buffer], count: int, stream: int) -> None:
        """Compute the outputs, on the device where the results are, after what is on a stream; without waiting.

        The results are apart from the inputs and from each other. The first launch loads the kernel, and may raise.
        """
        if not count or not results:
            return
        first = results[0]
        loaded = self.kernel(first.device, first.dtype == SINGLE)
        places = chain.from_iterable((buffer.address, buffer.stride) for buffer in (*arrays, *results))
        driver().launch(loaded, count, (*places, self.outline.passes), stream)

    def times(self, count: int) -> CudaProgram:
        other = copy.copy(self)
        other.outline = self.outline.times(count)
        return other

    def kernel(self, device: int, single: bool) -> LoadedKernel:
        key = driver(), device, single
        if key not in self._loaded:
            with self._lock:
                if key not in self._loaded:
                    self._loaded[key] = key[0].load(self.outline, self.program, single, device)
        return self._loaded[key]

    def write(self, arrays: Arrays, results: Arrays, batch: int, dtype: np.dtype, threads: int | None = None) -> None:
        """Refuse arrays of NumPy with a DTypeError: nothing is copied to a device unasked."""
        name = self.outline.inputs[0].name if self.outline.inputs else "out"
        hint = "Nothing is copied to a device unasked; without target=, arrays of NumPy are computed on the processor."
        raise DTypeError(self.outline.name, name, got="in the memory of the processor", expected=TAKES, hint=hint)

    def describe(self) -> list[str]:
        lines = []
        for (_, device, single), loaded in self._loaded.items():
            launch, cubin = loaded.kernel
            r = cubin.resources
            kind = SINGLE if single else DOUBLE
            spills = f"{r.spill_stores} bytes of spills stored, {r.spill_loads} loaded"
            shared = f"{r.shared + launch.shared} bytes of shared memory a block"
            lines.append(
                f"cuda, {kind}, device {device}: {launch.threads} threads a block; {r.registers} registers; {spills}; "
                f"{shared}"
            )
        return lines or ["cuda: a kernel is compiled for each dtype and device when it is first called"]


class Buffer(NamedTuple):
    address: int  # of the first entry of the first row
    rows: int  # how many, for who computes them; one may serve all states (stride 0)
    entries: int  # of a row, one after the other
    # entries from the beginning of a row to that of the next: 0 where all states share one; may be negative
    stride: int
    dtype: np.dtype  # float64 or float32
    device: int  # its number
    owner: Any = None  # what keeps the memory from being freed

    @property
    def span(self) -> tuple[int, int]:
        reach = self.stride * (self.rows - 1)
        first, behind = min(0, reach), max(0, reach) + self.entries
        size = self.dtype.itemsize if self.rows and self.entries else 0
        return self.address + size * first, self.address + size * behind


def overlap(a: Buffer, b: Buffer) -> bool:
    (start, stop), (first, last) = a.span, b.span
    return a.device == b.device and max(start, first) < min(stop, last)


def row_stride(shape: Sequence[int], strides: Sequence[int], core: Sequence[int], batch: Sequence[int]) -> int | None:
    """Return how many entries it is from the row of a state to that of the next: 0 if all states share one.

    None says that there is no one stride, or that a row lies in pieces. Shape and strides, in entries, are those of an
    array (..., core); its leading dimensions are broadcast to the batch.
    """
    lead = len(shape) - len(core)
    if not _is_in_order(shape[lead:], strides[lead:]):
        return None
    padded = [0] * (len(batch) - lead) + [0 if n == 1 else s for n, s in zip(shape[:lead], strides[:lead], strict=True)]
    steps = [(n, s) for n, s in zip(batch, padded, strict=True) if n != 1]
    if not steps or not math.prod(batch):
        return 0
    for (_, outer), (n, inner) in pairwise(steps):
        if outer != n * inner:
            return None
    return steps[-1][1]


def _is_in_order(shape: Sequence[int], strides: Sequence[int]) -> bool:
    expected = 1
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n != 1 and stride != expected:
            return math.prod(shape) == 0
        expected *= n
    return True


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))
