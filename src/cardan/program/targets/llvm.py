"""The LLVM target: a program as native vector code for this machine's processor.

A table (`llvm_text`, `llvm_math`), a tool (llvmlite) and a launcher.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import struct
import threading
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from cardan._version import __version__
from cardan.errors import TargetError
from cardan.program import cache
from cardan.program.ops import Op
from cardan.program.program import Program
from cardan.program.targets.llvm_plan import Lanes, heap_bytes, plan_program
from cardan.program.targets.llvm_text import LIBM, llvm_text
from cardan.program.targets.numpy import Runner, compile_numpy
from cardan.program.threads import num_threads, split

_LOCK = threading.Lock()
_POINTER = ctypes.c_void_p
_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, _POINTER, ctypes.c_int64, _POINTER, _POINTER)


@functools.cache
def host_features() -> tuple[str, str]:
    """Return the name and the features of this machine's processor, as LLVM knows them."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def is_supported() -> bool:
    """Return whether this processor has what the generated code relies on: fused multiply-add."""
    machine = llvm.get_default_triple().split("-")[0]
    return machine not in ("x86_64", "i386", "i686") or "+fma" in host_features()[1].split(",")


@functools.cache
def host_lanes(dtype: np.dtype) -> Lanes:
    """Return how many states of a dtype this machine computes at a time."""
    features = set(host_features()[1].split(","))
    size = 64 if "+avx512f" in features and "+avx512dq" in features else 32 if "+avx" in features else 16
    return Lanes(size // dtype.itemsize, "double" if dtype.itemsize == 8 else "float")


def _target_machine() -> Any:
    name, features = host_features()
    target = llvm.Target.from_default_triple()
    # small code model, position independent: constants stay near the code and cost no register (fact 2)
    return target.create_target_machine(cpu=name, features=features, opt=2, reloc="pic", codemodel="small")


@functools.cache
def libm_table() -> Any:
    """Return the addresses of the C library's functions, in the order of `LIBM`."""
    addresses = []
    for name in LIBM:
        address = llvm.address_of_symbol(name)
        if address is None:
            library = ctypes.CDLL(None)
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        addresses.append(address)
    return (ctypes.c_void_p * len(LIBM))(*addresses)


def compile_object(text: str) -> bytes:
    """Return the machine code of a module."""
    with _LOCK:
        module = llvm.parse_assembly(text)
        module.verify()
        machine = _target_machine()
        options = llvm.create_pipeline_tuning_options(speed_level=0)
        llvm.create_pass_builder(machine, options).getModulePassManager().run(
            module, llvm.create_pass_builder(machine, options)
        )
        return machine.emit_object(module)


def _address(array: np.ndarray, row: int) -> int:
    start = array.__array_interface__["data"][0]
    return start + row * array.strides[0] if row else start


class Loaded:
    """Machine code in memory, with the entry to call; unloaded when it is no longer referred to."""

    def __init__(self, code: bytes, heap: int = 0) -> None:
        self.heap = heap
        with _LOCK:
            self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
            self.engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self.engine.finalize_object()
            self.entry = _ENTRY(self.engine.get_function_address("evaluate"))

    def __call__(self, arrays: Sequence[np.ndarray], out: np.ndarray, start: int, stop: int) -> int:
        """Evaluate rows start to stop; return 1 if an angle was beyond the fast range."""
        addresses = [_address(a, start) for a in arrays]
        table = (ctypes.c_void_p * len(addresses))(*addresses)
        if not self.heap:
            return self.entry(table, _address(out, start), stop - start, libm_table(), None)
        space = np.empty(self.heap + 64, dtype=np.uint8)  # one for each caller: threads share nothing
        aligned = _address(space, 0) + 63 & ~63
        return self.entry(table, _address(out, start), stop - start, libm_table(), aligned)


@functools.cache
def _generator() -> bytes:
    """Return a digest of this target's own source: code another revision generated must never be taken for ours."""
    files = sorted(Path(__file__).parent.glob("llvm*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()


def program_key(program: Program, lanes: Lanes) -> str:
    """Return the name under which a program's machine code is kept: what it computes, for whom, by which version."""
    digest = hashlib.sha256()
    versions = (__version__, llvmlite.__version__, *host_features(), llvm.get_default_triple(), lanes.vector)
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
    entry = cache.load(key)
    if entry is None:
        started = time.perf_counter()
        plan = plan_program(program)
        entry = struct.pack("<Q", heap_bytes(plan, lanes)) + compile_object(llvm_text(program, lanes, plan))
        seconds = time.perf_counter() - started
        if seconds > 1.0:
            cache.LOG.info("compiled %s (%d operations) in %.1f s", program.name, program.operations, seconds)
        cache.save(key, entry)
    return Loaded(entry[8:], struct.unpack("<Q", entry[:8])[0])


def compile_llvm(program: Program) -> Runner:
    """Return the program as native code, compiled for each dtype when it is first needed.

    States with an angle beyond 1e12 rad send their whole batch to the reference target, which is exact there.
    """
    if not is_supported():
        name = host_features()[0]
        raise TargetError(
            f"the llvm target needs a processor with fused multiply-add, {name} has none; use on('numpy')."
        )
    exact = compile_numpy(program)
    loaded: dict[np.dtype, Loaded] = {}
    width, work = len(program.results), program.operations + len(program.results)

    def run(
        arrays: Sequence[np.ndarray],
        batch: int,
        dtype: np.dtype,
        threads: int | None = None,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        result = np.empty((batch, width), dtype=dtype) if out is None else out
        if not result.size:
            return result
        code = loaded.get(dtype)
        if code is None:
            code = loaded[dtype] = load_program(program, host_lanes(dtype))
        step = host_lanes(dtype).width
        far = split(batch, work, step, threads or num_threads(), lambda a, b: code(arrays, result, a, b))
        return exact(arrays, batch, dtype, out=result) if far else result

    return run
