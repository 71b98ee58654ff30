"""Arrays on a device without a library of arrays: made of NumPy's, given to functions, turned back, lent to others."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cardan._algebra.errors import DTypeError, ParameterError, ShapeError
from cardan._compiler.targets.buffers import contiguous_strides
from cardan._compiler.targets.cuda.driver import LEGACY, driver
from cardan._dynamics.call.arguments import numeric_array
from cardan._reach.interop import on_device
from cardan._reach.interop.on_device import Layout, Library


class DeviceArray:
    """An array of float64 or float32 on a device, which functions take and return.

    It has what other libraries ask for (`__cuda_array_interface__`), so that `cupy.asarray(x)` and
    `torch.as_tensor(x, device="cuda")` see the same memory. `to_device` and `as_device_array` make one.

    Attributes:
        shape: of it.
        dtype: of its entries, NumPy's.
        device: the device's number.
        stream: handle of the stream in whose order it is computed and read.
        layout: where it lies.
    """

    __slots__ = ("_owner", "_stream_owner", "layout", "stream")
    __array_priority__ = 1000
    __array_ufunc__ = None  # NumPy's functions would read memory that is not theirs

    def __init__(self, layout: Layout, stream: int, owner: Any, stream_owner: Any = None) -> None:
        self.layout: Layout = layout
        self.stream: int = stream
        self._owner, self._stream_owner = owner, stream_owner

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of it."""
        return self.layout.shape

    @property
    def dtype(self) -> np.dtype:
        """Of its entries, NumPy's."""
        return np.dtype(self.layout.dtype)

    @property
    def device(self) -> int:
        """Number of the device."""
        return self.layout.device

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of entries."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of its entries."""
        return self.size * self.dtype.itemsize

    def __getitem__(self, key: Any) -> DeviceArray:
        """Return a view, by numbers, slices, `...` and None: `x[::2]`, `x[..., 3:5]`.

        Raises:
            TypeError, IndexError: for anything else, and beyond the ends.
        """
        keys = key if isinstance(key, tuple) else (key,)
        for k in keys:
            if isinstance(k, bool) or not isinstance(k, (int, np.integer, slice, type(None), type(...))):
                raise TypeError(f"a DeviceArray takes numbers, slices, ... and None, not a {type(k).__name__}")
        found, is_open = self.layout, any(k is ... for k in keys)
        bytes_of = np.lib.stride_tricks.as_strided(np.empty(1, np.int8), found.shape, found.strides)  # for its numbers
        part = bytes_of[keys if is_open else (*keys, ...)]  # an array, also of one entry
        offset = part.__array_interface__["data"][0] - bytes_of.__array_interface__["data"][0]
        address = found.address + offset * self.dtype.itemsize
        layout = found._replace(address=address, shape=part.shape, strides=part.strides)
        return DeviceArray(layout, self.stream, self, self._stream_owner)

    def to_numpy(self) -> np.ndarray:
        """Return a copy in the memory of the processor, after waiting for what is on the stream.

        Raises:
            TargetError: if something on the device failed.
        """
        found = np.empty(self.shape, self.dtype)
        if not found.size:
            return found
        if self.layout.strides == contiguous_strides(self.shape):
            driver().copy_out(found, self.layout.address, self.device, self.stream)
            return found
        # Entries are apart: all from the first to the last is copied.
        reach = [s * (n - 1) for n, s in zip(self.shape, self.layout.strides, strict=True)]
        before, behind = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
        whole = np.empty(behind - before + 1, self.dtype)
        driver().copy_out(whole, self.layout.address + before * self.dtype.itemsize, self.device, self.stream)
        strides = [s * self.dtype.itemsize for s in self.layout.strides]
        return np.lib.stride_tricks.as_strided(whole[-before:], self.shape, strides).copy()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        found, size = self.layout, self.dtype.itemsize
        in_order = found.strides == contiguous_strides(self.shape)
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (found.address if self.size else 0, not found.writable),
            "strides": None if in_order else tuple(s * size for s in found.strides),
            "stream": self.stream or LEGACY,
        }

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a DeviceArray is not copied to the processor unasked: x.to_numpy()")

    def __reduce__(self) -> Any:
        raise TypeError("a DeviceArray is neither pickled nor copied, being memory of this process: x.to_numpy()")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<DeviceArray of {self.dtype}, shape {self.shape}, on device {self.device}>"


def to_device(array: Any, device: int | None = None, stream: Any = None) -> DeviceArray:
    """Return a copy of an array on a device.

    Args:
        array: float64 or float32, of NumPy, or what becomes such.
        device: its number; by default the one that is current in this thread.
        stream: in whose order the array, and what is computed of it, is written and read: a handle, or an object with
            `__cuda_stream__`, such as those of PyTorch, CuPy and cuda.core; by default the legacy default stream, as
            in these.

    Raises:
        DTypeError: for entries of another type: nothing is converted unasked.
        ParameterError: for a device or a stream that is none.
        MissingExtraError, TargetError, DeviceMemoryError: where the device, or its software, does not serve.
    """
    given = numeric_array("to_device", "array", array)
    if given.dtype.newbyteorder("=") not in (np.float64, np.float32):
        hint = "Convert it: x.astype(np.float32)."
        raise DTypeError("to_device", "array", got=f"of {given.dtype}", expected="of float64 or float32", hint=hint)
    plain = np.ascontiguousarray(given, given.dtype.newbyteorder("=")).reshape(given.shape)
    number, handle = driver().current() if device is None else _number(device), handle_of(stream)
    made = _empty(plain.shape, plain.dtype, number, handle, stream)
    if plain.size:
        driver().copy_in(made.layout.address, plain, number, handle)
    return made


def as_device_array(array: Any, stream: Any = None) -> DeviceArray:
    """Return an array of another library, without a copy.

    Args:
        array: has `__cuda_array_interface__`: of JAX, Numba, CuPy, PyTorch, RMM ...
        stream: see `to_device`; by default the one the array names, which its library says it may be read after.

    Raises:
        DTypeError: for entries of another type or between others (fields of records), with a mask, or what is not on
            a device.
    """
    said = getattr(array, "__cuda_array_interface__", None)
    if said is None:
        got, expected = f"a {type(array).__name__}", "an array on a device, with __cuda_array_interface__"
        raise DTypeError("as_device_array", "array", got=got, expected=expected, hint="NumPy's: to_device(array).")
    dtype, shape = np.dtype(said["typestr"]), tuple(said["shape"])
    if dtype not in (np.float64, np.float32) or not dtype.isnative:
        hint = "Convert it on its device."
        raise DTypeError("as_device_array", "array", got=f"of {dtype}", expected="of float64 or float32", hint=hint)
    address, is_read_only = said["data"]
    steps = _steps(said, shape, dtype)
    number = driver().device_of(address) if address else driver().current()
    handle = (said.get("stream") or LEGACY) if stream is None else handle_of(stream)
    return DeviceArray(Layout(address, shape, steps, dtype, number, not is_read_only), handle, array, stream)


def _steps(said: Mapping[str, Any], shape: tuple[int, ...], dtype: np.dtype) -> tuple[int, ...]:
    """Return the strides that an array names, in whole entries; a mask, which says that some are none, is refused."""
    strides, address = said.get("strides"), said["data"][0]
    if said.get("mask") is not None:
        raise DTypeError("as_device_array", "array", got="masked", expected="an array of which every entry counts")
    if any(b % dtype.itemsize for b in (address or 0, *(strides or ()))):
        got, expected = f"at address {address} with strides {strides}", f"multiples of {dtype.itemsize} bytes"
        hint = "Fields of records are copied on their device first."
        raise DTypeError("as_device_array", "array", got=got, expected=expected, hint=hint)
    return contiguous_strides(shape) if strides is None else tuple(s // dtype.itemsize for s in strides)


def _number(device: Any) -> int:
    if isinstance(device, bool) or not isinstance(device, (int, np.integer)):
        raise ParameterError("device", got=device, expected="its number, such as 0")
    return int(device)


def handle_of(stream: Any) -> int:
    if stream is None:
        return LEGACY
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    if isinstance(stream, bool) or not isinstance(stream, (int, np.integer)) or stream < 0:
        raise ParameterError("stream", got=stream, expected="a handle, or an object with __cuda_stream__")
    return int(stream)


def _empty(shape: tuple[int, ...], dtype: np.dtype, device: int, stream: int, stream_owner: Any) -> DeviceArray:
    memory = driver().allocate(math.prod(shape) * dtype.itemsize, device, stream, stream_owner)
    layout = Layout(memory.address, shape, contiguous_strides(shape), dtype, device)
    return DeviceArray(layout, stream, memory, stream_owner)


class _Own(Library):
    kind = "DeviceArray"

    def holds(self, value: Any) -> bool:
        return isinstance(value, DeviceArray)

    def layout(self, array: DeviceArray) -> Layout:
        return array.layout

    def stream(self, where: str, arrays: Mapping[str, DeviceArray], device: int) -> int:
        first, *others = arrays
        for name in others:
            if (arrays[name].stream or LEGACY) != (arrays[first].stream or LEGACY):
                got, expected = f"on stream {arrays[name].stream}", f"on {arrays[first].stream}, as {first!r} is"
                hint = "All arrays of a call are on one stream."
                raise DTypeError(where, name, got=got, expected=expected, hint=hint)
        return arrays[first].stream

    def empty(self, shape: tuple[int, ...], dtype: np.dtype, like: DeviceArray) -> DeviceArray:
        return _empty(shape, dtype, like.device, like.stream, like._stream_owner)

    def filled(self, number: float, dtype: np.dtype, like: DeviceArray) -> DeviceArray:
        return to_device(np.full((), number, dtype), like.device, like._stream_owner or like.stream)

    def copied(self, where: str, name: str, array: DeviceArray, shape: tuple[int, ...]) -> DeviceArray:
        hint = "Repeat rows before they are copied to the device, or use CuPy or PyTorch, which copy them there."
        expected = f"rows in step for a batch {shape}, each contiguous (strides {array.layout.strides})"
        raise ShapeError(where, name, got=array.shape, expected=expected, hint=hint)


_OWN = _Own()
called = functools.partial(on_device.called, _OWN)
called_bound = functools.partial(on_device.called_bound, _OWN)
