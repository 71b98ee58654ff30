"""The LLVM target: a program as native vector code for this machine's processor.

What was compiled before is loaded from the disk cache, without the program and without LLVM.
"""

from __future__ import annotations

import copy
import ctypes
import functools
import time
from collections.abc import Callable
from itertools import chain
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from cardan._algebra.errors import TargetError
from cardan._compiler.program.program import Program, places_of
from cardan._compiler.runtime import processor
from cardan._compiler.runtime.log import log
from cardan._compiler.runtime.threads import split, work_of
from cardan._compiler.targets.llvm.fast_path import FastPath, serves
from cardan._compiler.targets.llvm.fast_path_layout import KINDS
from cardan._compiler.targets.llvm.image import LOCK, Image, workspace
from cardan._compiler.targets.llvm.store import is_kept, kept, load
from cardan._compiler.targets.llvm.writer import Lanes
from cardan._compiler.targets.runner import Arrays, Outline, PythonCall, Runner

FEW = 16  # bytes of the vectors that a few states fill
MANY = 2**10  # states: more than a few
PATIENCE = 1000  # states that code for other numbers of them serves before their own is compiled: 0.05 to 1 s of work
_POINTER = ctypes.c_void_p
_HERE = "cardan._compiler.targets.llvm"
_ENTRY = ctypes.CFUNCTYPE(None, _POINTER, _POINTER, ctypes.c_int64, _POINTER, ctypes.c_int64)


def _address(array: np.ndarray, row: int) -> int:
    start = array.__array_interface__["data"][0]
    return start + row * array.strides[0] if row else start


def _place(result: np.ndarray, row: int) -> tuple[int, int]:
    """Return where a result's row begins, and how many entries further the next one does."""
    return _address(result, row), result.strides[0] // result.itemsize


class CodeKind(NamedTuple):
    dtype: np.dtype  # of the states
    few: bool  # whether it computes a few of them, or many at a time

    @property
    def number(self) -> int:
        return (0 if self.dtype.itemsize == 8 else 1) + 2 * self.few

    @property
    def other(self) -> CodeKind:
        return self._replace(few=not self.few)


class LoadedCode:
    def __init__(self, image: Image, origin: str) -> None:
        self.code, self.image, self.origin = load(image, "evaluate"), image, origin
        self.heap, self.address = image.heap, self.code.address
        self.entry = _ENTRY(self.address)

    def __call__(self, arrays: Arrays, results: Arrays, start: int, stop: int, passes: int) -> None:
        table = (ctypes.c_void_p * len(arrays))(*[_address(a, start) for a in arrays])
        places = (ctypes.c_int64 * (2 * len(results)))(*chain.from_iterable(_place(r, start) for r in results))
        _space, heap = workspace(self.heap) if self.heap else (None, None)  # one for each caller: threads share nothing
        self.entry(table, places, stop - start, heap, passes)


class NativeProgram(Runner):
    """A program as native code, loaded or compiled for each dtype when it is first needed.

    A processor without multiply-add is a TargetError.
    """

    def __init__(self, outline: Outline, program: Callable[[], Program]) -> None:
        if not is_supported():
            lacking = "the llvm target needs a processor with fused multiply-add, this one has none"
            raise TargetError(f"{lacking}; use on('numpy').")
        self.outline, self.program = outline, program
        self.outputs = outline.outputs
        self.total = sum(a.size for a in outline.outputs)
        self.work = work_of(outline.operations, self.total)
        self._loaded: dict[CodeKind, LoadedCode] = {}
        self.patience = np.full(KINDS, PATIENCE, dtype=np.int64)
        self._fast_paths: WeakSet[FastPath] = WeakSet()

    def times(self, count: int) -> NativeProgram:
        other = copy.copy(self)
        other.outline = self.outline.times(count)
        other.work = work_of(other.outline.operations, self.total)
        return other

    def code(self, dtype: np.dtype, rows: int, *, for_good: bool = False) -> LoadedCode:
        """Return the code for so many states; for a while that of the other kind, unless it is `for_good`."""
        kind = CodeKind(dtype, rows <= few_states(dtype))
        if kind in self._loaded:
            return self._loaded[kind]
        other = self._loaded.get(kind.other)
        if other is not None and not for_good:
            self.patience[kind.number] -= rows
            if self.patience[kind.number] > 0:
                return other
        with LOCK:  # of several threads one compiles, and no fast path appears meanwhile
            if kind not in self._loaded:
                self._loaded[kind] = self._load(kind)
                for fast_path in self._fast_paths:
                    self._open(fast_path)
        return self._loaded[kind]

    def _load(self, kind: CodeKind) -> LoadedCode:
        started = time.perf_counter()
        image, found = kept(self._source(kind), lambda: _compiled(self.program(), kind))
        if found and is_kept(self._source(kind.other)):
            self.patience[kind.other.number] = 0
        seconds = time.perf_counter() - started
        if seconds > 1.0:
            log().info(
                "compiled %s (%d operations a state) in %.1f s", self.outline.name, self.outline.operations, seconds
            )
        return LoadedCode(image, "found in the disk cache" if found else f"compiled in {seconds:.3f} s")

    def _source(self, kind: CodeKind) -> str:
        return f"{self.outline.digest} {kind.dtype}{' few' * kind.few}"

    def write(self, arrays: Arrays, results: Arrays, batch: int, dtype: np.dtype, threads: int | None = None) -> None:
        if not batch * self.total:
            return
        code, passes = self.code(dtype, batch), self.outline.passes
        split(batch, self.work, code.image.width, threads, lambda a, b: code(arrays, results, a, b, passes))

    def fast_path(self, call: PythonCall) -> Callable[..., Any] | None:
        arrays, outputs = [a.shape for a in self.outline.inputs], self.outputs
        results = [(self.total,)] if call.packed else [a.shape for a in outputs]
        if not serves(arrays, results, len(outputs)):
            return None
        beside = [(0, place.start, self.total) for place in places_of(outputs)]
        made = FastPath(
            call,
            arrays,
            results,
            beside if call.packed else [(k, 0, a.size) for k, a in enumerate(outputs)],
            work=self.work,
            few=[few_states(np.dtype(f"f{size}")) for size in (8, 4)],
            patience=self.patience,
            passes=self.outline.passes,
        )
        with LOCK:
            self._fast_paths.add(made)
            self._open(made)
        return made.function

    def describe(self) -> list[str]:
        if not any(kind.dtype == np.float64 for kind in self._loaded):
            self.code(np.dtype(np.float64), MANY)
        lines = []
        for kind, code in self._loaded.items():
            image = code.image
            made = f"{image.functions} functions, {len(image.code)} bytes of machine code, {code.origin}"
            lines.append(
                f"llvm, {kind.dtype}: {image.width} states at a time; {made}; workspace {image.workspace} bytes"
            )
        return lines

    def _open(self, fast_path: FastPath) -> None:
        for kind, code in self._loaded.items():
            fast_path.open(kind.number, code)


def few_states(dtype: np.dtype) -> int:
    """Return up to how many states have code of their own, in which as many fill a vector of 16 bytes; 0 for none.

    It computes them in half the time of code that fills vectors of 64 bytes, or less: it goes through a fourth of the
    memory, and the vectors are not filled anyway. Next to code for vectors of 32 bytes it would not pay.
    """
    return FEW // dtype.itemsize if _fills_large_vectors() else 0


@functools.cache
def _fills_large_vectors() -> bool:
    known = processor.has_vectors_of_64_bytes()
    if known is None:
        from cardan._compiler.targets.llvm.machine import host_lanes

        return host_lanes(np.dtype(np.float64)).bytes == 64
    return known


def _compiled(program: Program, kind: CodeKind) -> Image:
    from cardan._compiler.targets.llvm.compiler import compile_program  # needs LLVM

    scalar = "double" if kind.dtype.itemsize == 8 else "float"
    return compile_program(program, kind.dtype, Lanes(few_states(kind.dtype), scalar) if kind.few else None)


def is_supported() -> bool:
    known = processor.has_multiply_add()
    if known is None:
        from cardan._compiler.targets.llvm.machine import has_multiply_add

        return has_multiply_add()
    return known
