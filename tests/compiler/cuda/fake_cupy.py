"""CuPy as far as cardan asks for it, its arrays in the memory of an emulated device.

CuPy itself needs a device to make an array. With --device the tests take CuPy, if it is installed.
"""

import contextlib
import sys
import types

import numpy as np


class Place:
    """A device."""

    def __init__(self, number):
        self.id = number

    def __enter__(self):
        CURRENT.append(self.id)

    def __exit__(self, *_):
        CURRENT.pop()


CURRENT, STREAMS = [0], {}


class ndarray:  # noqa: N801 -- CuPy's name
    """An array, in the memory of one of NumPy's."""

    def __init__(self, array, number):
        self.array, self.device = array, Place(number)
        self.data = types.SimpleNamespace(ptr=array.ctypes.data)
        self.shape, self.strides, self.dtype, self.itemsize = array.shape, array.strides, array.dtype, array.itemsize

    def get(self):
        return self.array.copy()

    def __getitem__(self, key):
        return ndarray(self.array[key], self.device.id)

    @property
    def T(self):
        return ndarray(self.array.T, self.device.id)


ndarray.__module__ = "cupy"


def asarray(array):
    return ndarray(np.array(array), CURRENT[-1])


def empty(shape, dtype):
    return ndarray(np.empty(shape, dtype), CURRENT[-1])


def full(shape, number, dtype):
    return ndarray(np.full(shape, number, dtype), CURRENT[-1])


def broadcast_to(array, shape):
    return ndarray(np.broadcast_to(array.array, shape), array.device.id)


def ascontiguousarray(array):
    return ndarray(np.ascontiguousarray(array.array), array.device.id)


def current_stream():
    return types.SimpleNamespace(ptr=STREAMS.get(CURRENT[-1], 0))


@contextlib.contextmanager
def installed(monkeypatch):
    """Give a module that is imported as `cupy`."""
    module = types.ModuleType("cupy")
    for thing in (ndarray, asarray, empty, full, broadcast_to, ascontiguousarray):
        setattr(module, thing.__name__, thing)
    module.cuda = types.SimpleNamespace(Device=Place, get_current_stream=current_stream)
    monkeypatch.setitem(sys.modules, "cupy", module)
    from cardan._reach.interop import cupy_arrays

    cupy_arrays.library.cache_clear()
    yield module
    cupy_arrays.library.cache_clear()
