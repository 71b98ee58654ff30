"""A program on arrays of a device: one kernel for each dtype and device, launched on the caller's stream.

A launch allocates nothing and waits for nothing, so it may be captured in a graph.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from itertools import chain
from threading import Lock

import numpy as np

from cardan._algebra.errors import DTypeError
from cardan._compiler.program.program import Program
from cardan._compiler.targets.buffers import Buffer
from cardan._compiler.targets.cuda.driver import Driver, LoadedKernel, driver
from cardan._compiler.targets.cuda.staging import THREADS
from cardan._compiler.targets.runner import Arrays, Outline, Runner

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
TAKES = "an array on a device, of CuPy or PyTorch"


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
            r = loaded.kernel.cubin.resources
            kind = SINGLE if single else DOUBLE
            spills = f"{r.spill_stores} bytes of spills stored, {r.spill_loads} loaded"
            lines.append(
                f"cuda, {kind}, device {device}: {THREADS} threads a block; {r.registers} registers; {spills}; "
                f"{r.shared} bytes of shared memory a block"
            )
        return lines or ["cuda: a kernel is compiled for each dtype and device when it is first called"]
