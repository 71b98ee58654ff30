"""A function's machine code as it is kept on disk, and in memory: an image that needs no linker.

The image is position independent and refers to nothing outside, so loading it is: memory, a copy, and the right to
execute instead of to write. Elsewhere than on x86-64 with Linux, LLVM's linker loads the object file instead;
`store.load` is the one place that knows.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import platform
import struct
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.errors import TargetError

LOCK = threading.RLock()  # one thread at a time compiles and loads: LLVM's state is not made for several

if hasattr(os, "register_at_fork"):  # a child must not inherit a lock held by a thread it does not have
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


def once(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes each thing once, in one thread: two in a bare `functools.cache` make two."""
    cached = functools.cache(make)

    def made(*args: Any) -> Any:
        with LOCK:
            return cached(*args)

    return made


_HEAD = struct.Struct("<qqqqq")
OBJECT = -1  # the entry of an image that is an object file


class Image(NamedTuple):
    code: bytes  # the bytes; those of an object file, if `entry` is `OBJECT`
    entry: int  # where in them the function begins
    width: int = 1  # states it computes at a time
    workspace: int = 0  # bytes it works in; they begin at a multiple of 64
    heap: int = 0  # as many of them must be given to it; 0 where it takes them from the stack
    functions: int = 1  # of how many it is made

    def to_bytes(self) -> bytes:
        return _HEAD.pack(self.entry, self.width, self.workspace, self.heap, self.functions) + self.code

    @staticmethod
    def from_bytes(data: bytes) -> Image:
        return Image(data[_HEAD.size :], *_HEAD.unpack_from(data))


class LoadedImage:
    """An image in memory, ready to call; unloaded when it is no longer referred to."""

    def __init__(self, image: Image) -> None:
        self.image = image
        memory = mmap.mmap(-1, len(image.code), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        memory.write(image.code)
        self._memory = ctypes.c_char.from_buffer(memory)  # holds the mapping, and says where it is
        start = ctypes.addressof(self._memory)
        if _protect()(start, len(image.code), mmap.PROT_READ | mmap.PROT_EXEC):
            reason = os.strerror(ctypes.get_errno())
            raise TargetError(f"the system does not let memory be executed ({reason}); use on('numpy').")
        self.address = start + image.entry


@functools.cache
def _protect() -> Any:
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return protect


def workspace(size: int) -> tuple[np.ndarray, int]:
    """Return memory of so many bytes, and the first address in it that is a multiple of 64."""
    space = np.empty(size + 64, dtype=np.uint8)
    return space, space.__array_interface__["data"][0] + 63 & ~63


def has_flat_images() -> bool:
    return sys.platform.startswith("linux") and platform.machine() == "x86_64"
