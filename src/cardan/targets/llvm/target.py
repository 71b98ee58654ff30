"""The LLVM target: a program as native vector code for this machine's processor.

What was compiled before is loaded from the disk cache, without the program and without LLVM.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any
from weakref import WeakSet

import numpy as np

from cardan.errors import TargetError
from cardan.program.program import Program
from cardan.runtime import processor
from cardan.runtime.log import log
from cardan.runtime.threads import WORTHWHILE, num_threads, split, work_of
from cardan.targets.llvm.door import Door, serves
from cardan.targets.llvm.image import LOCK, Image, load
from cardan.targets.llvm.store import kept
from cardan.targets.runner import Gathered, Outline, Runner, places_of

_POINTER = ctypes.c_void_p
_ENTRY = ctypes.CFUNCTYPE(None, _POINTER, _POINTER, ctypes.c_int64, _POINTER)


def _address(array: np.ndarray, row: int) -> int:
    start = array.__array_interface__["data"][0]
    return start + row * array.strides[0] if row else start


def _place(result: np.ndarray, row: int) -> tuple[int, int]:
    """Return where a result's row begins, and how many entries further the next one does."""
    return _address(result, row), result.strides[0] // result.itemsize


class Loaded:
    """A program's machine code in memory."""

    def __init__(self, image: Image, origin: str) -> None:
        self.code, self.image, self.origin = load(image, "evaluate"), image, origin
        self.heap, self.address = image.heap, self.code.address
        self.entry = _ENTRY(self.address)

    def __call__(self, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], start: int, stop: int) -> None:
        """Evaluate rows start to stop."""
        table = (ctypes.c_void_p * len(arrays))(*[_address(a, start) for a in arrays])
        places = (ctypes.c_int64 * (2 * len(results)))(*chain.from_iterable(_place(r, start) for r in results))
        if not self.heap:
            return self.entry(table, places, stop - start, None)
        space = np.empty(self.heap + 64, dtype=np.uint8)  # one for each caller: threads share nothing
        aligned = _address(space, 0) + 63 & ~63
        return self.entry(table, places, stop - start, aligned)


class NativeProgram(Runner):
    """A program as native code, loaded or compiled for each dtype when it is first needed."""

    def __init__(self, outline: Outline, program: Callable[[], Program]) -> None:
        self.outline, self.program = outline, program
        self.outputs = outline.outputs
        self.total = sum(a.size for a in outline.outputs)
        self.work = work_of(outline.operations, self.total)
        self._loaded: dict[np.dtype, Loaded] = {}
        self._doors: WeakSet[Door] = WeakSet()

    def code(self, dtype: np.dtype) -> Loaded:
        """Return the machine code for a dtype."""
        if dtype not in self._loaded:
            with LOCK:  # of several threads one compiles, and no door appears meanwhile
                if dtype not in self._loaded:
                    self._loaded[dtype] = self._load(dtype)
                    for door in self._doors:
                        self._open(door)
        return self._loaded[dtype]

    def _load(self, dtype: np.dtype) -> Loaded:
        started = time.perf_counter()
        image, found = kept(f"{self.outline.digest} {dtype}", lambda: _compiled(self.program(), dtype))
        seconds = time.perf_counter() - started
        if seconds > 1.0:
            log().info(
                "compiled %s (%d operations a state) in %.1f s", self.outline.name, self.outline.operations, seconds
            )
        return Loaded(image, "found in the disk cache" if found else f"compiled in {seconds:.3f} s")

    def write(
        self,
        arrays: Sequence[np.ndarray],
        results: Sequence[np.ndarray],
        batch: int,
        dtype: np.dtype,
        threads: int | None = None,
    ) -> None:
        """Compute the outputs; see `Runner`."""
        if not batch * self.total:
            return
        code = self.code(dtype)
        split(batch, self.work, code.image.width, threads or num_threads(), lambda a, b: code(arrays, results, a, b))

    def door(
        self,
        name: str,
        slow: Callable[..., Any],
        parts: Sequence[tuple[int, int, int]] = (),
        *,
        packed: bool = False,
        gathered: Gathered = None,
        finish: Callable[..., Any] | None = None,
    ) -> Callable[..., Any] | None:
        """Return a function that reads the arrays itself; see `Runner` and `door`."""
        arrays, outputs = [a.shape for a in self.outline.inputs], self.outputs
        results = [(self.total,)] if packed else [a.shape for a in outputs]
        if not serves(arrays, results, len(outputs)):
            return None
        beside = [(0, place.start, self.total) for place in places_of(outputs)]
        door = Door(
            name,
            arrays,
            results,
            beside if packed else [(k, 0, a.size) for k, a in enumerate(outputs)],
            work=min(self.work, WORTHWHILE),
            limit=WORTHWHILE,
            slow=slow,
            gathered=gathered,
            finish=finish,
            parts=parts,
        )
        with LOCK:
            self._doors.add(door)
            self._open(door)
        return door.function

    def describe(self) -> list[str]:
        """Return the width, the functions and bytes of the machine code, and where it came from."""
        self.code(np.dtype(np.float64))
        lines = []
        for dtype, code in self._loaded.items():
            image = code.image
            made = f"{image.functions} functions, {len(image.code)} bytes of machine code, {code.origin}"
            lines.append(f"llvm, {dtype}: {image.width} states at a time; {made}; workspace {image.workspace} bytes")
        return lines

    def _open(self, door: Door) -> None:
        for dtype, code in self._loaded.items():
            door.open(dtype, code)


def _compiled(program: Program, dtype: np.dtype) -> Image:
    from cardan.targets.llvm.compiler import compile_program  # needs LLVM

    return compile_program(program, dtype)


def is_supported() -> bool:
    """Return whether this processor has what the generated code relies on: fused multiply-add."""
    known = processor.has_multiply_add()
    if known is None:
        from cardan.targets.llvm.machine import has_multiply_add

        return has_multiply_add()
    return known


def load_llvm(outline: Outline, program: Callable[[], Program]) -> NativeProgram:
    """Return a program as native code.

    Raises:
        TargetError: on a processor without multiply-add.
    """
    if not is_supported():
        raise TargetError(
            "the llvm target needs a processor with fused multiply-add, this one has none; use on('numpy')."
        )
    return NativeProgram(outline, program)
