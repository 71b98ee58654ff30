"""Kernels compiled by NVRTC, which needs neither a device nor its driver, and kept on disk.

NVRTC is called through `cuda.bindings`, not through `cuda.core.Program`: of the two it is the one that is loaded in a
third of the time, takes options as they are, and asks for no device.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import time
from typing import Any, NamedTuple

from cardan._algebra.errors import TargetError
from cardan._compiler.runtime import disk_cache
from cardan._compiler.runtime.extras import package
from cardan._compiler.runtime.log import log

OPTIONS = ("--fmad=false", "-default-device", "--ptxas-options=-v")
"""Products and sums are joined where the text says so; what a kernel takes is in the log."""
_SUCCESS, _LINES = 0, 12
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_WHOLE_STACK = re.compile(r"(\d+) bytes cumulative stack size")
_SHARED = re.compile(r"(\d+) bytes smem")
_REGISTERS = re.compile(r"Used (\d+) registers")


class Resources(NamedTuple):
    """What a kernel takes of a device.

    Attributes:
        registers: of a thread, of 4 bytes.
        spill_stores: bytes of instructions that put registers into memory, as there were too few; all functions.
        spill_loads: bytes of those that take them back.
        stack: bytes of a thread's own memory: arrays, and what is spilled.
        shared: bytes of shared memory the kernel declares; what it is given at the launch is not counted.
    """

    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    shared: int


class Launch(NamedTuple):
    """How a kernel is launched.

    Attributes:
        name: of the kernel.
        threads: of a block.
        states: that a block computes.
        shared: bytes of shared memory a block is given beyond those the kernel declares.
    """

    name: str
    threads: int
    states: int
    shared: int


class Cubin(NamedTuple):
    """A compiled kernel.

    Attributes:
        image: what a driver loads.
        resources: what it takes.
        seconds: it was compiled in; 0 if it was found on disk.
    """

    image: bytes
    resources: Resources
    seconds: float = 0.0


@functools.cache
def _nvrtc() -> Any:
    """Return the module of NVRTC, after a call that shows its library to be there."""
    nvrtc = package("cuda.bindings.nvrtc", "the cuda target", "cuda")
    try:
        nvrtc.nvrtcVersion()
    except Exception as error:
        why, mend = str(error).partition("\n")[0], "pip install nvidia-cuda-nvrtc"
        raise TargetError(f"the cuda target needs NVRTC, which was not found: {mend} ({why})") from None
    return nvrtc


def version() -> tuple[int, int]:
    """Return NVRTC's version.

    Raises:
        MissingExtraError, TargetError: if there is none.
    """
    _, major, minor = _nvrtc().nvrtcVersion()
    return major, minor


def architecture_for(major: int, minor: int) -> str:
    """Return the architecture to compile for, for a device of some compute capability.

    What is compiled for one runs on those of the same major version with the same or a larger minor one.

    Raises:
        TargetError: if NVRTC knows none that will do.
    """
    _, known = _nvrtc().nvrtcGetSupportedArchs()
    fitting = [n for n in known if n // 10 == major and n % 10 <= minor]
    if not fitting:
        ours = ".".join(map(str, version()))
        mend = "take an older NVRTC" if 10 * major + minor < min(known) else "pip install --upgrade nvidia-cuda-nvrtc"
        listed = ", ".join(f"{n // 10}.{n % 10}" for n in known)
        raise TargetError(
            f"the device has compute capability {major}.{minor}, NVRTC {ours} knows {listed}: {mend}, or compute on "
            "the processor (NumPy arrays)."
        )
    return f"sm_{max(fitting)}"


def compiled(source: str, name: str, architecture: str) -> Cubin:
    """Return a kernel compiled, or found on disk.

    Args:
        source: its text.
        name: of the kernel.
        architecture: of the device, such as `"sm_90"`.

    Raises:
        MissingExtraError, TargetError: without NVRTC, and with what it says where it cannot compile the text.
    """
    key = key_of(source, architecture)
    found = kept(key)
    if found is None:
        found = _compiled(source, name, architecture)
        disk_cache.save(key, json.dumps(found.resources).encode() + b"\n" + found.image)
    return found


def key_of(source: str, architecture: str) -> str:
    """Return the name under which the compiled form of a text is kept."""
    return hashlib.sha256(repr(("cuda", source, OPTIONS, architecture, version())).encode()).hexdigest()


def kept(key: str) -> Cubin | None:
    """Return what is kept under a name of `key_of`; None if there is nothing."""
    data = disk_cache.load(key)
    if data is None:
        return None
    head, _, image = data.partition(b"\n")
    return Cubin(image, Resources(*json.loads(head)))


def _compiled(source: str, name: str, architecture: str) -> Cubin:
    nvrtc, started = _nvrtc(), time.perf_counter()
    options = [f"--gpu-architecture={architecture}".encode(), *(option.encode() for option in OPTIONS)]
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), f"{name}.cu".encode(), 0, [], [])
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        said = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).decode(errors="replace")
        if int(status) != _SUCCESS:
            raise TargetError(_refusal(name, architecture, status, said))
        image = _text(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    seconds = time.perf_counter() - started
    if seconds > 1.0:
        log().info("compiled %s for %s in %.1f s", name, architecture, seconds)
    return Cubin(image, resources_of(said), seconds)


def _text(size_of: Any, write: Any, program: Any) -> bytes:
    _, size = size_of(program)
    text = b"\0" * size
    write(program, text)
    return text


def _refusal(name: str, architecture: str, status: Any, said: str) -> str:
    lines = [line for line in said.rstrip("\0").splitlines() if line.strip()]
    more = f"\n... ({len(lines) - _LINES} more lines)" if len(lines) > _LINES else ""
    shown = "\n".join(lines[:_LINES]) or str(status)
    return f"NVRTC {'.'.join(map(str, version()))} cannot compile {name} for {architecture}:\n{shown}{more}"


def resources_of(said: str) -> Resources:
    """Return what a kernel takes, from what the assembler said of it and the functions it calls."""
    frames = [tuple(map(int, numbers)) for numbers in _FRAME.findall(said)]
    own = max((stack for stack, _, _ in frames), default=0)
    stores, loads = (sum(frame[k] for frame in frames) for k in (1, 2))
    return Resources(
        _largest(_REGISTERS, said), stores, loads, max(own, _largest(_WHOLE_STACK, said)), _largest(_SHARED, said)
    )


def _largest(pattern: re.Pattern[str], text: str) -> int:
    return max(map(int, pattern.findall(text)), default=0)
