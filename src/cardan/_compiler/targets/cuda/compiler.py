"""From a program to a kernel compiled by NVRTC, which needs neither a device nor its driver, and kept on disk.

Where the kernel was made before, the program itself is not needed.

NVRTC is called through `cuda.bindings`, not through `cuda.core.Program`: of the two it is the one that is loaded in a
third of the time, takes options as they are, and asks for no device.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from cardan._algebra.errors import TargetError
from cardan._compiler.program.program import Program
from cardan._compiler.runtime import disk_cache
from cardan._compiler.runtime.extras import package
from cardan._compiler.runtime.log import log
from cardan._compiler.targets.runner import Outline

OPTIONS = ("--fmad=false", "-default-device", "--ptxas-options=-v")
"""Products and sums are joined where the text says so; what a kernel takes is in the log."""
_SUCCESS, _LINES = 0, 12
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_WHOLE_STACK = re.compile(r"(\d+) bytes cumulative stack size")
_SHARED = re.compile(r"(\d+) bytes smem")
_REGISTERS = re.compile(r"Used (\d+) registers")


class Resources(NamedTuple):
    registers: int  # of a thread, of 4 bytes
    spill_stores: int  # bytes of instructions that put registers into memory, as there were too few; all functions
    spill_loads: int  # bytes of those that take them back
    stack: int  # bytes of a thread's own memory: arrays, and what is spilled
    shared: int  # bytes of shared memory a block takes


class Cubin(NamedTuple):
    image: bytes  # what a driver loads
    resources: Resources  # what it takes
    seconds: float = 0.0  # it was compiled in; 0 if it was found on disk


class CudaKernel(NamedTuple):
    name: str
    cubin: Cubin


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
    """Return NVRTC's version; MissingExtraError or TargetError if there is none."""
    _, major, minor = _nvrtc().nvrtcVersion()
    return major, minor


def architecture_for(major: int, minor: int) -> str:
    """Return the architecture to compile for, for a device of some compute capability; TargetError if NVRTC knows none.

    What is compiled for one runs on those of the same major version with the same or a larger minor one.
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
    """Return a kernel compiled for an architecture, such as `"sm_90"`, or found on disk.

    Without NVRTC that raises as `version`; a TargetError has NVRTC's words if it cannot compile the text.
    """
    key = key_of(source, architecture)
    found = kept(key)
    if found is None:
        found = _compiled(source, name, architecture)
        disk_cache.save(key, json.dumps(found.resources).encode() + b"\n" + found.image)
    return found


def key_of(source: str, architecture: str) -> str:
    return hashlib.sha256(repr(("cuda", source, OPTIONS, architecture, version())).encode()).hexdigest()


def kept(key: str) -> Cubin | None:
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
            lines = [line for line in said.rstrip("\0").splitlines() if line.strip()]
            more = f"\n... ({len(lines) - _LINES} more lines)" if len(lines) > _LINES else ""
            shown, ours = "\n".join(lines[:_LINES]) or str(status), ".".join(map(str, version()))
            raise TargetError(f"NVRTC {ours} cannot compile {name} for {architecture}:\n{shown}{more}")
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


def resources_of(said: str) -> Resources:
    frames = [tuple(map(int, numbers)) for numbers in _FRAME.findall(said)]
    own = max((stack for stack, _, _ in frames), default=0)
    stores, loads = (sum(frame[k] for frame in frames) for k in (1, 2))
    return Resources(
        _largest(_REGISTERS, said), stores, loads, max(own, _largest(_WHOLE_STACK, said)), _largest(_SHARED, said)
    )


def _largest(pattern: re.Pattern[str], text: str) -> int:
    return max(map(int, pattern.findall(text)), default=0)


def kernel_of(outline: Outline, program: Callable[[], Program], single: bool, architecture: str) -> CudaKernel:
    """Return the kernel of a program: found on disk, or written and compiled now; only then `program()` is called."""
    of = ("kernel", outline.digest, outline.name, single, architecture, OPTIONS, version(), _REVISION)
    name = hashlib.sha256(repr(of).encode()).hexdigest()
    if data := disk_cache.load(name):
        said = json.loads(data)
        if cubin := kept(said["cubin"]):
            return CudaKernel(said["name"], cubin)
    code = write_kernel(program(), single)
    found = CudaKernel(code.name, compiled(code.source, code.name, architecture))
    if _revision() == _REVISION:  # else the modules that wrote the text may be newer than the name says
        names = {"name": found.name, "cubin": key_of(code.source, architecture)}
        disk_cache.save(name, json.dumps(names).encode())
    return found


def write_kernel(program: Program, single: bool) -> Any:
    from cardan._compiler.targets.cuda.text import cuda_code

    return cuda_code(program, single=single)


def _revision() -> str:
    """Return a digest of what writes kernels, as it is on disk now: the targets, and what they ask of programs."""
    targets = Path(__file__).parents[1]
    return disk_cache.revision_of((*targets.rglob("*.py"), *(targets.parent / "program").glob("*.py")))


_REVISION = _revision()
