"""CuPy's arrays: computed on their device, on CuPy's current stream, and returned as such."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from cardan._algebra.errors import DTypeError
from cardan._reach.interop import on_device
from cardan._reach.interop.on_device import Layout, Library


class Cupy(Library):
    kind = "cupy.ndarray"

    def __init__(self) -> None:
        import cupy  # pyright: ignore[reportMissingImports] -- who passes its arrays has it

        self._cupy = cupy

    def holds(self, value: Any) -> bool:
        return isinstance(value, self._cupy.ndarray)

    def layout(self, array: Any) -> Layout:
        if any(s % array.itemsize for s in array.strides):
            got, expected = f"one with strides {array.strides}", f"multiples of {array.itemsize} bytes"
            raise DTypeError(self.kind, "array", got=got, expected=expected, hint="Copy it on its device first.")
        strides = tuple(s // array.itemsize for s in array.strides)
        return Layout(array.data.ptr, array.shape, strides, array.dtype, array.device.id)

    def stream(self, where: str, arrays: Mapping[str, Any], device: int) -> int:
        with self._cupy.cuda.Device(device):  # there is one for each
            return self._cupy.cuda.get_current_stream().ptr

    def empty(self, shape: tuple[int, ...], dtype: np.dtype, like: Any) -> Any:
        with like.device:
            return self._cupy.empty(shape, dtype)

    def filled(self, number: float, dtype: np.dtype, like: Any) -> Any:
        with like.device:
            return self._cupy.full((), number, dtype)

    def copied(self, where: str, name: str, array: Any, shape: tuple[int, ...]) -> Any:
        with array.device:
            return self._cupy.ascontiguousarray(self._cupy.broadcast_to(array, shape))


library = functools.cache(Cupy)


def called(*call: Any) -> Any:
    return on_device.called(library(), *call)


def called_bound(*call: Any) -> Any:
    return on_device.called_bound(library(), *call)
