"""CUDA's driver in the memory of the host: the functions that `targets.cuda.driver` calls, and kernels as fibers.

What a device would not tell is told: memory written outside of what was allocated, streams of another device, a kernel
that is launched while another device is current.
"""

import contextlib
import ctypes
import threading
from enum import IntEnum
from types import SimpleNamespace

import numpy as np
from host_cuda import HostKernel

from cardan._compiler.targets.cuda.compiler import Cubin, CudaKernel, Resources, write_kernel
from cardan._compiler.targets.cuda.driver import Driver, use

GUARD = 256  # bytes before and behind what is allocated
MARK = 0xA5


class Status(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_DEVICE = 101
    CUDA_ERROR_INVALID_IMAGE = 200
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_INVALID_HANDLE = 400
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900


class Attribute(IntEnum):
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97


OK = Status.CUDA_SUCCESS


class EmulatedApi:
    """The functions of `cuda.bindings.driver`, as far as they are called.

    Args:
        devices: how many there are.
        memory: bytes each has.
        orders: in which the threads of each launch are run, one after the other; all give the same.
        pretend: whether memory is only counted, and nothing is run.

    Attributes:
        calls: names of the functions called, in order.
        launches: what each launch was given: grid, block, shared, stream, and all arguments as numbers.
    """

    CUdevice_attribute = Attribute
    CUpointer_attribute = SimpleNamespace(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL=9)

    def __init__(self, devices=2, memory=2**30, orders=("forward", "shuffled"), *, pretend=False):
        self.devices, self.memory, self.orders, self.pretend = devices, memory, orders, pretend
        self.has = {12: 65536, 16: 4, 75: 9, 76: 0, 97: 227 * 1024}
        self._current = threading.local()  # each thread has its own
        self.blocks, self.used, self.launches, self.calls = {}, 0, [], []
        self.streams = {}  # handle: device
        self.capturing = False
        self.kernels = []
        kinds = [ctypes.c_size_t, *[ctypes.c_uint] * 7, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_size_t]
        self.function = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(self._launched)

    def __getattribute__(self, name):
        if name.startswith("cu"):
            object.__getattribute__(self, "calls").append(name)
        return object.__getattribute__(self, name)

    @property
    def stack(self):
        """The devices made current in this thread, the last one being so."""
        return self._current.__dict__.setdefault("stack", [])

    def stream(self, device=0):
        """Return a new stream."""
        handle = 1000 + len(self.streams)
        self.streams[handle] = device
        return handle

    # --- devices ---

    def cuInit(self, flags):
        return (OK if self.devices else Status.CUDA_ERROR_NO_DEVICE,)

    def cuDeviceGetCount(self):
        return OK, self.devices

    def cuDeviceGet(self, number):
        return OK, number

    def cuDeviceGetName(self, size, device):
        return OK, b"Emulated\0\0"

    def cuDeviceGetAttribute(self, attribute, device):
        return OK, self.has[int(attribute)]

    def cuDevicePrimaryCtxRetain(self, device):
        return OK, device

    def cuCtxGetDevice(self):
        return (OK, self.stack[-1]) if self.stack else (Status.CUDA_ERROR_INVALID_CONTEXT, None)

    def cuCtxPushCurrent(self, context):
        self.stack.append(context)
        return (OK,)

    def cuCtxPopCurrent(self):
        return OK, self.stack.pop()

    # --- kernels ---

    def cuModuleLoadData(self, image):
        if self.capturing:
            return Status.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, None
        return OK, image.decode()

    def cuModuleGetFunction(self, module, name):
        return OK, None if self.pretend else HostKernel(module, name.decode())

    def cuLaunchKernel(self, function, *rest):
        *grid, stream, places, _ = rest
        assert grid[1:3] == [1, 1]
        assert grid[4:6] == [1, 1]
        if not self._is_stream(stream):
            return (Status.CUDA_ERROR_INVALID_HANDLE,)
        count = self.counted if self.pretend else function.parameters
        values = [ctypes.c_longlong.from_address(p).value for p in (ctypes.c_void_p * count).from_address(places)]
        self.launches.append((grid[0], grid[3], grid[6], stream, values))
        if not self.pretend:
            for order in self.orders:
                function.launch(grid[0], grid[3], grid[6], values, order, seed=len(self.launches))
            self._look_at_guards()
        return (OK,)

    # --- kernels for all devices, launched by who calls the driver's function itself ---

    def cuLibraryLoadData(self, image, *options):
        return OK, image.decode()

    def cuLibraryGetKernel(self, library, name):
        self.kernels.append(HostKernel(library, name.decode()))
        return OK, len(self.kernels)  # 0 is none

    def cuGetProcAddress(self, name, version, flags):
        assert name == b"cuLaunchKernel"
        return OK, ctypes.cast(self.function, ctypes.c_void_p).value, 0

    def _launched(self, kernel, *rest):
        *grid, stream, places, extra = rest
        (status,) = self.cuLaunchKernel(self.kernels[kernel - 1], *grid, stream or 0, places, extra)
        return int(status)

    def _is_stream(self, stream):
        return stream in (0, 1, 2) or self.streams.get(stream) == self.stack[-1]

    # --- memory ---

    def cuMemAllocAsync(self, size, stream):
        if not self._is_stream(stream):
            return Status.CUDA_ERROR_INVALID_HANDLE, None
        if self.used + size > self.memory:
            return Status.CUDA_ERROR_OUT_OF_MEMORY, None
        whole = np.full(GUARD * 2 + (0 if self.pretend else size), MARK, np.uint8)
        address = whole.ctypes.data + GUARD
        self.blocks[address] = whole, size, self.stack[-1]
        self.used += size
        return OK, address

    def cuMemFreeAsync(self, address, stream):
        self.used -= self.blocks.pop(address)[1]
        return (OK,)

    def cuMemcpyHtoDAsync(self, to, source, size, stream):
        ctypes.memmove(to, source, size)
        return (OK,)

    def cuMemcpyDtoHAsync(self, to, source, size, stream):
        ctypes.memmove(to, source, size)
        return (OK,)

    def cuMemGetInfo(self):
        return OK, self.memory - self.used, self.memory

    def cuPointerGetAttribute(self, what, address):
        for start, (_, size, device) in list(self.blocks.items()):
            if start <= address < start + size:
                return OK, device
        return Status.CUDA_ERROR_INVALID_VALUE, None

    def _look_at_guards(self):
        for whole, size, _ in list(self.blocks.values()):  # other threads allocate and free meanwhile
            assert (whole[:GUARD] == MARK).all(), "a kernel wrote before an array"
            assert (whole[GUARD + size :] == MARK).all(), "a kernel wrote behind an array"

    # --- streams, and what is said ---

    def cuStreamSynchronize(self, stream):
        return (OK if self._is_stream(stream) else Status.CUDA_ERROR_INVALID_HANDLE,)

    def cuStreamCreate(self, flags):
        return OK, self.stream(self.stack[-1])

    def cuEventCreate(self, flags):
        return OK, 77

    def cuEventSynchronize(self, event):
        return (OK,)

    def cuEventElapsedTime(self, begun, ended):
        return OK, 50.0

    def cuEventRecord(self, event, stream):
        return (OK,)

    def cuGetErrorName(self, status):
        return OK, status.name.encode()

    def cuGetErrorString(self, status):
        return OK, status.name.removeprefix("CUDA_ERROR_").replace("_", " ").lower().encode()


RESOURCES = Resources(registers=64, spill_stores=0, spill_loads=0, stack=0, shared=0)


def built(outline, program, single, device):
    """Return a kernel that is its own text, which the emulated driver compiles for the host."""
    code = write_kernel(program(), single)
    return CudaKernel(code.name, Cubin(code.source.encode(), RESOURCES))


@contextlib.contextmanager
def emulated(api=None, build=built, **options):
    """Compute on an emulated device for a while."""
    api = api or EmulatedApi(**options)
    with use(Driver(api, build)):
        yield api
