"""The seam to devices: what of CUDA's driver is used, and what its answers mean.

The driver is called through `cuda.bindings.driver`, which is the driver's own interface, call by call. (`cuda.core`
stands on it; it has a way to make a device current and none back, and takes streams as objects of its own. A caller's
stream and current device are here to be left as they are found.) Tests give a driver in the host's memory (`use`).
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from cardan._algebra.errors import DeviceMemoryError, TargetError
from cardan._compiler.program.program import Program
from cardan._compiler.runtime.extras import package
from cardan._compiler.targets.cuda import compiler
from cardan._compiler.targets.cuda.compiler import CudaKernel, kernel_of
from cardan._compiler.targets.cuda.staging import THREADS
from cardan._compiler.targets.runner import Outline

_OUT_OF_MEMORY, _NO_DEVICE, _CAPTURING = 2, 100, range(900, 909)
_MOST_BLOCKS = 2**31 - 1
_SINCE = 12000  # version of CUDA from which on a launch takes the handle of a kernel on all devices


class Device(NamedTuple):
    number: int  # by which it is known in this process
    name: str  # its model
    capability: tuple[int, int]  # its compute capability, major and minor
    shared: int  # bytes of shared memory that a block may have
    registers: int  # that a block may have
    processors: int  # how many multiprocessors there are

    @property
    def architecture(self) -> str:
        return compiler.architecture_for(*self.capability)


Build = Callable[[Outline, Callable[[], Program], bool, Device], CudaKernel]
"""Makes the kernel of a program, in float32 if the third argument says so, for a device."""


def compiled_for(outline: Outline, program: Callable[[], Program], single: bool, device: Device) -> CudaKernel:
    return kernel_of(outline, program, single, device.architecture)


class LoadedKernel(NamedTuple):
    handle: Any  # of the function
    kernel: CudaKernel  # what it was loaded from
    device: int  # its number


class Everywhere(NamedTuple):
    kernel: CudaKernel  # what was loaded
    handle: Any  # of it, for any device
    launch: int  # the address of the driver's function that launches it
    library: Any  # what it is in, which is to be kept
    passes: int  # how often the program is run on its own results; see `Outline`

    @property
    def words(self) -> dict[str, int]:
        return {"threads": THREADS, "passes": self.passes, "launch": self.launch, "kernel": int(self.handle)}


class Driver:
    """Devices, by the functions of a module: those of `cuda.bindings.driver`. TargetError if there is no device."""

    def __init__(self, api: Any, build: Build = compiled_for) -> None:
        self.api, self._build, self.process = api, build, os.getpid()
        self._contexts: dict[int, Any] = {}
        self._devices: dict[int, Device] = {}
        (status,) = api.cuInit(0)
        if int(status) == _NO_DEVICE:
            raise TargetError(f"the cuda target finds no device; {_ELSEWHERE}.")
        self._expect(status, "beginning")
        self.count = int(self._value(api.cuDeviceGetCount(), "counting devices"))

    def device(self, number: int) -> Device:
        """Return a device; TargetError if there is none of this number."""
        if number not in self._devices:
            handle = self._handle(number)
            name = self._value(self.api.cuDeviceGetName(128, handle), "asking for its name")
            has = functools.partial(self._attribute, handle)
            major, minor = has("COMPUTE_CAPABILITY_MAJOR"), has("COMPUTE_CAPABILITY_MINOR")
            shared, registers = has("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"), has("MAX_REGISTERS_PER_BLOCK")
            plain, processors = name.split(b"\0")[0].decode(errors="replace"), has("MULTIPROCESSOR_COUNT")
            self._devices[number] = Device(number, plain, (major, minor), shared, registers, processors)
        return self._devices[number]

    def _handle(self, number: int) -> Any:
        if not 0 <= number < self.count:
            raise TargetError(f"there is no device {number}: this process sees {self.count}, numbered from 0.")
        return self._value(self.api.cuDeviceGet(number), "asking for a device")

    def _attribute(self, handle: Any, name: str) -> int:
        attribute = getattr(self.api.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self._value(self.api.cuDeviceGetAttribute(attribute, handle), "asking what a device has"))

    @contextmanager
    def on(self, number: int) -> Iterator[None]:
        """Make a device current in this thread for a while, unless it is."""
        status, current = self.api.cuCtxGetDevice()
        if int(status) == 0 and int(current) == number:
            yield
            return
        if number not in self._contexts:
            opened = self.api.cuDevicePrimaryCtxRetain(self._handle(number))
            self._contexts[number] = self._value(opened, "opening a device")
        self._expect(self.api.cuCtxPushCurrent(self._contexts[number])[0], "changing the device")
        try:
            yield
        finally:
            self._expect(self.api.cuCtxPopCurrent()[0], "changing the device back")

    def load(self, outline: Outline, program: Callable[[], Program], single: bool, number: int) -> LoadedKernel:
        """Return a program's kernel on a device; TargetError if it does not compile, or is too large."""
        return self.loaded(outline.name, self._build(outline, program, single, self.device(number)), number)

    def loaded(self, name: str, kernel: CudaKernel, number: int) -> LoadedKernel:
        check_fits(name, kernel, self.device(number))
        doing = f"loading {name}"
        with self.on(number):
            module = self._value(self.api.cuModuleLoadData(kernel.cubin.image), doing)
            handle = self._value(self.api.cuModuleGetFunction(module, kernel.name.encode()), doing)
        return LoadedKernel(handle, kernel, number)

    def on_all(self, outline: Outline, program: Callable[[], Program], single: bool) -> Everywhere:
        """Return a program's kernel on all devices at once, for callers that launch it themselves; errors as `load`."""
        devices, doing, api = [self.device(n) for n in range(self.count)], f"loading {outline.name}", self.api
        if len({d.capability for d in devices}) != 1:
            listed = ", ".join(f"{d.name} ({d.architecture})" for d in devices)
            raise TargetError(f"one kernel serves devices of one architecture, these are {listed}: hide some of them.")
        kernel = self._build(outline, program, single, devices[0])
        library = self._value(api.cuLibraryLoadData(kernel.cubin.image, [], [], 0, [], [], 0), doing)
        handle = self._value(api.cuLibraryGetKernel(library, kernel.name.encode()), doing)
        for device in devices:
            check_fits(outline.name, kernel, device)
        address = self._value(api.cuGetProcAddress(b"cuLaunchKernel", _SINCE, 0), doing)
        return Everywhere(kernel, handle, int(address), library, outline.passes)

    def launch(self, loaded: LoadedKernel, count: int, arguments: Sequence[int], stream: int) -> None:
        """Run a kernel on so many states, without waiting for it, on a stream of its device.

        What follows the count are addresses and strides, and the passes, which only repeated programs take. TargetError
        says that there are more states than a grid of blocks has, or that the device refuses.
        """
        name = loaded.kernel.name
        blocks = -(-count // THREADS)
        if blocks > _MOST_BLOCKS:
            most = _MOST_BLOCKS * THREADS
            raise TargetError(f"{name}: {count} states are more than one launch has ({most}): call it in parts.")
        values = (ctypes.c_longlong * (1 + len(arguments)))(count, *arguments)
        start, size = ctypes.addressof(values), ctypes.sizeof(ctypes.c_longlong)
        places = (ctypes.c_void_p * len(values))(*(start + size * k for k in range(len(values))))
        with self.on(loaded.device):
            result = self.api.cuLaunchKernel(
                loaded.handle, blocks, 1, 1, THREADS, 1, 1, 0, stream, ctypes.addressof(places), 0
            )
        self._expect(result[0], f"running {name}")

    def _value(self, answer: Sequence[Any], doing: str) -> Any:
        self._expect(answer[0], doing)
        return answer[1]

    def _expect(self, status: Any, doing: str) -> None:
        code = int(status)
        if code == 0:
            return
        if code == _OUT_OF_MEMORY:
            raise DeviceMemoryError(f"{doing}: the device has not enough memory; {_SMALLER}.")
        name, text = (self._said(f(status)) for f in (self.api.cuGetErrorName, self.api.cuGetErrorString))
        hint = _BEFORE if code in _CAPTURING else ""
        raise TargetError(f"the device refuses {doing}: {text} ({name}).{hint}")

    @staticmethod
    def _said(answer: Sequence[Any]) -> str:
        return answer[1].decode(errors="replace") if answer[1] else "no reason given"


_ELSEWHERE = "arrays of NumPy are computed on the processor"
_SMALLER = "call the function with fewer states at a time, or drop arrays that are not needed"
_BEFORE = " A function is called once before it is captured in a graph: that loads its kernel."


def check_fits(name: str, kernel: CudaKernel, device: Device) -> None:
    resources = kernel.cubin.resources
    if resources.shared > device.shared:
        what = f"{resources.shared} bytes of shared memory a block, of which it has {device.shared}"
    elif (registers := -(-resources.registers // 8) * 8 * THREADS) > device.registers:
        what = f"{registers} registers a block, of which it has {device.registers}"
    elif resources.stack > _MOST_STACK:
        what = f"{resources.stack} bytes of a thread's own memory, of which it has {_MOST_STACK}"
    else:
        return
    raise TargetError(
        f"{name} is too large for {device.name}: its kernel takes {what}. Float32 takes half; so does a function of "
        f"fewer results (a call for each); {_ELSEWHERE}."
    )


_MOST_STACK = 512 * 1024
_used: list[Driver] = []


def driver() -> Driver:
    """Return the driver of this process; MissingExtraError without the extra `cuda`.

    TargetError says that there is no driver or device, that it is too old, or that the process was forked.
    """
    if not _used:
        _used.append(Driver(_api()))
    found = _used[-1]
    if found.process != os.getpid():
        raise TargetError(
            "devices are lost in a process that was forked from one that used them: start processes by spawn, "
            "multiprocessing.get_context('spawn')."
        )
    return found


@contextmanager
def use(other: Driver) -> Iterator[Driver]:
    """Take another driver for a while: for tests."""
    _used.append(other)
    try:
        yield other
    finally:
        _used.remove(other)


def _api() -> Any:
    api = package("cuda.bindings.driver", "the cuda target", "cuda")
    try:
        _, version = api.cuDriverGetVersion()
    except Exception as error:  # what it is called differs from release to release
        why = str(error).partition("\n")[0]
        raise TargetError(f"the cuda target finds no driver of NVIDIA's: {_INSTALL}. ({why})") from None
    check_driver(version, compiler.version())
    return api


_INSTALL = f"install the driver of the device; without one, {_ELSEWHERE}"


def check_driver(version: int, nvrtc: tuple[int, int]) -> None:
    """Raise `TargetError` if a driver cannot load what NVRTC makes; 12040 is version 12.4 of a driver."""
    if version // 1000 < nvrtc[0]:
        raise TargetError(
            f"the driver is of CUDA {version // 1000}.{version % 1000 // 10}, kernels compiled by NVRTC "
            f"{nvrtc[0]}.{nvrtc[1]} need one of CUDA {nvrtc[0]}.0 or later: update the driver."
        )
