"""The LLVM target: a program as native vector code for this machine's processor.

A table (`llvm_text`, `llvm_math`), a tool (llvmlite) and a launcher.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import struct
import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np

from cardan._version import __version__
from cardan.errors import TargetError
from cardan.program.ops import Op
from cardan.program.program import Program
from cardan.runtime import disk_cache as cache
from cardan.runtime.threads import WORTHWHILE, num_threads, split
from cardan.targets.llvm.door import Door, serves
from cardan.targets.llvm.machine import (
    LOCK,
    Engine,
    compile_object,
    host_features,
    host_lanes,
    is_supported,
    machine_name,
)
from cardan.targets.llvm.plan import Lanes, heap_bytes, plan_program
from cardan.targets.llvm.text import llvm_text
from cardan.targets.runner import Runner

_POINTER = ctypes.c_void_p
_ENTRY = ctypes.CFUNCTYPE(None, _POINTER, _POINTER, ctypes.c_int64, _POINTER)


def _address(array: np.ndarray, row: int) -> int:
    start = array.__array_interface__["data"][0]
    return start + row * array.strides[0] if row else start


class Loaded:
    """A program's machine code in memory."""

    def __init__(self, code: bytes, heap: int, origin: str) -> None:
        self.engine, self.heap, self.origin, self.size = Engine(code, "evaluate"), heap, origin, len(code)
        self.address = self.engine.address
        self.entry = _ENTRY(self.address)

    def __call__(self, arrays: Sequence[np.ndarray], out: np.ndarray, start: int, stop: int) -> None:
        """Evaluate rows start to stop."""
        addresses = [_address(a, start) for a in arrays]
        table = (ctypes.c_void_p * len(addresses))(*addresses)
        if not self.heap:
            return self.entry(table, _address(out, start), stop - start, None)
        space = np.empty(self.heap + 64, dtype=np.uint8)  # one for each caller: threads share nothing
        aligned = _address(space, 0) + 63 & ~63
        return self.entry(table, _address(out, start), stop - start, aligned)


@functools.cache
def _generator() -> bytes:
    """Return a digest of this target's own source: code another revision generated must never be taken for ours."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()


def program_key(program: Program, lanes: Lanes) -> str:
    """Return the name under which a program's machine code is kept: what it computes, for whom, by which version."""
    digest = hashlib.sha256()
    versions = (__version__, *machine_name(), lanes.vector)
    digest.update(_generator())
    layout = (program.inputs, [a.shape for a in program.outputs], program.results)
    digest.update(repr((versions, layout)).encode())
    numbers = {op: k for k, op in enumerate(Op)}
    digest.update(bytes(numbers[i.op] for i in program.instructions))
    digest.update(array("q", [a for i in program.instructions for a in (*i.args, -1)]).tobytes())
    digest.update(array("d", [i.value for i in program.instructions]).tobytes())
    return digest.hexdigest()


def load_program(program: Program, lanes: Lanes) -> Loaded:
    """Return a program's machine code from the disk cache, or compile and keep it.

    An entry is the workspace it needs from the heap (eight bytes), then the machine code.
    """
    key = program_key(program, lanes)
    started, entry = time.perf_counter(), cache.load(key)
    origin = "found in the disk cache"
    if entry is None:
        plan = plan_program(program)
        entry = struct.pack("<Q", heap_bytes(plan, lanes)) + compile_object(llvm_text(program, lanes, plan))
        seconds = time.perf_counter() - started
        if seconds > 1.0:
            cache.LOG.info("compiled %s (%d operations) in %.1f s", program.name, program.operations, seconds)
        cache.save(key, entry)
        origin = f"compiled in {seconds:.3f} s"
    return Loaded(entry[8:], struct.unpack("<Q", entry[:8])[0], origin)


class NativeProgram(Runner):
    """A program as native code, compiled for each dtype when it is first needed."""

    def __init__(self, program: Program) -> None:
        self.program, self.work = program, program.operations + len(program.results)
        self._loaded: dict[np.dtype, Loaded] = {}
        self._doors: WeakSet[Door] = WeakSet()

    def code(self, dtype: np.dtype) -> Loaded:
        """Return the machine code for a dtype."""
        if dtype not in self._loaded:
            with LOCK:  # of several threads one compiles, and no door appears meanwhile
                if dtype not in self._loaded:
                    self._loaded[dtype] = load_program(self.program, host_lanes(dtype))
                    for door in self._doors:
                        self._open(door)
        return self._loaded[dtype]

    def __call__(
        self,
        arrays: Sequence[np.ndarray],
        batch: int,
        dtype: np.dtype,
        threads: int | None = None,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the flattened outputs; see `Runner`."""
        result = np.empty((batch, len(self.program.results)), dtype=dtype) if out is None else out
        if not result.size:
            return result
        code, step = self.code(dtype), host_lanes(dtype).width
        split(batch, self.work, step, threads or num_threads(), lambda a, b: code(arrays, result, a, b))
        return result

    def door(
        self, name: str, slow: Callable[..., Any], finish: Callable[[np.ndarray], Any] | None
    ) -> Callable[..., Any] | None:
        """Return a function that reads the arrays itself; see `Runner` and `llvm_door`."""
        arrays, outputs = [a.shape for a in self.program.inputs], self.program.outputs
        output = (sum(a.size for a in outputs),) if finish else outputs[0].shape
        if not serves(arrays, output):
            return None
        door = Door(name, arrays, output, work=self.work, limit=WORTHWHILE, slow=slow, finish=finish)
        with LOCK:
            self._doors.add(door)
            self._open(door)
        return door.function

    def describe(self) -> list[str]:
        """Return the width, the functions and bytes of the machine code, and where it came from."""
        self.code(np.dtype(np.float64))
        lines = []
        for dtype, code in self._loaded.items():
            lanes, plan = host_lanes(dtype), plan_program(self.program)
            made = f"{len(plan.blocks)} functions, {code.size} bytes of object code, {code.origin}"
            space = f"workspace {plan.tiles * plan.slots * lanes.bytes} bytes"
            lines.append(f"llvm, {dtype}: {lanes.width} states at a time on {host_features()[0]}; {made}; {space}")
        return lines

    def _open(self, door: Door) -> None:
        for dtype, code in self._loaded.items():
            door.open(dtype, code)


def compile_llvm(program: Program) -> NativeProgram:
    """Return a program as native code.

    Raises:
        TargetError: on a processor without multiply-add.
    """
    if not is_supported():
        name = host_features()[0]
        raise TargetError(
            f"the llvm target needs a processor with fused multiply-add, {name} has none; use on('numpy')."
        )
    return NativeProgram(program)
