"""The least that is an array on a device, for tests and benchmarks without CuPy or PyTorch.

Who imports it can pass its arrays to functions: `on_device` takes them as those of any other library.
"""

import functools
import math
import weakref

import numpy as np

from cardan._compiler.targets.cuda.driver import driver
from cardan._dynamics.call.registry import register_arrays
from cardan._reach.interop import on_device
from cardan._reach.interop.on_device import Layout, Library
from cardan.errors import DTypeError, ShapeError

LEGACY = 1  # handle of the stream that is there always


class DeviceArray:
    """An array of float64 or float32: where it lies, on which stream, and what keeps its memory."""

    def __init__(self, layout, stream, owner):
        self.layout, self.stream, self.owner = layout, stream, owner
        self.shape, self.dtype, self.device = layout.shape, layout.dtype, layout.device
        self.size = math.prod(layout.shape)

    def view(self, shape, strides, *, offset=0, read_only=False):
        """Return a view; strides and offset in entries."""
        address = self.layout.address + offset * self.dtype.itemsize
        layout = Layout(address, shape, strides, self.dtype, self.device, not read_only)
        return DeviceArray(layout, self.stream, self.owner)

    def to_numpy(self):
        """Return a copy in the memory of the processor."""
        if not self.size:
            return np.empty(self.shape, self.dtype)
        reach = [s * (n - 1) for n, s in zip(self.shape, self.layout.strides, strict=True)]
        before, behind = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
        whole = np.empty(behind - before + 1, self.dtype)  # from the first entry to the last
        start = self.layout.address + before * self.dtype.itemsize
        api = driver().api
        with driver().on(self.device):
            taken = api.cuMemcpyDtoHAsync(whole.ctypes.data, start, whole.nbytes, self.stream)
            assert int(taken[0]) == int(api.cuStreamSynchronize(self.stream)[0]) == 0
        strides = [s * self.dtype.itemsize for s in self.layout.strides]
        return np.lib.stride_tricks.as_strided(whole[-before:], self.shape, strides).copy()


class Memory:
    """Bytes of a device; given back when nothing holds them."""

    def __init__(self, size, device, stream):
        api = driver().api
        with driver().on(device):
            status, address = api.cuMemAllocAsync(max(size, 1), stream)
        assert int(status) == 0, f"{size} bytes on device {device}: {status}"
        self.address = int(address)
        weakref.finalize(self, _free, driver(), self.address, device, stream).atexit = False


def _free(of, address, device, stream):
    with of.on(device):
        of.api.cuMemFreeAsync(address, stream)


def contiguous_strides(shape):
    """Return strides in entries."""
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))


def empty(shape, dtype, device=0, stream=LEGACY):
    """Return an array of any content."""
    memory = Memory(math.prod(shape) * np.dtype(dtype).itemsize, device, stream)
    layout = Layout(memory.address, tuple(shape), contiguous_strides(shape), np.dtype(dtype), device)
    return DeviceArray(layout, stream, memory)


def to_device(array, device=0, stream=LEGACY):
    """Return a copy on a device."""
    plain = np.ascontiguousarray(array)
    made = empty(np.shape(array), plain.dtype, device, stream)
    if plain.size:
        api = driver().api
        with driver().on(device):
            taken = api.cuMemcpyHtoDAsync(made.layout.address, plain.ctypes.data, plain.nbytes, stream)
            assert int(taken[0]) == int(api.cuStreamSynchronize(stream)[0]) == 0
    return made


class Own(Library):
    """What `on_device` asks of a library."""

    kind = "DeviceArray"

    def holds(self, value):
        """Return whether it is one."""
        return isinstance(value, DeviceArray)

    def layout(self, array):
        """Return where it lies."""
        return array.layout

    def stream(self, where, arrays, device):
        """Return the stream that all are on."""
        first, *others = arrays
        for name in others:
            if arrays[name].stream != arrays[first].stream:
                got, expected = f"on stream {arrays[name].stream}", f"on {arrays[first].stream}, as {first!r} is"
                raise DTypeError(where, name, got=got, expected=expected)
        return arrays[first].stream

    def empty(self, shape, dtype, like):
        """Return a result."""
        return empty(shape, dtype, like.device, like.stream)

    def filled(self, number, dtype, like):
        """Return a number."""
        return to_device(np.full((), number, dtype), like.device, like.stream)

    def copied(self, where, name, array, shape):
        """Refuse what is not in step."""
        raise ShapeError(where, name, got=array.shape, expected="rows in step")


LIBRARY = Own()
called = functools.partial(on_device.called, LIBRARY)
called_bound = functools.partial(on_device.called_bound, LIBRARY)
register_arrays(f"{__name__.partition('.')[0]}.DeviceArray", __name__)
