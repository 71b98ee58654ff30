"""Memory of large results, used again once nobody can see it.

A new array of many megabytes is memory the system has never lent before: each page of it is fetched, and cleared, when
it is first written, which takes longer than computing what is in it. Allocators keep small blocks for that reason, and
give large ones back; so here some large ones are kept (docs/decisions/17).

A block is lent with a `_Loan`, which its arrays and all views of them hold, whoever made them: NumPy, a `memoryview`,
DLPack, PyTorch. When the last of them is gone, so is the loan, and with it goes the block back. No reference is ever
counted here.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import math
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

ALIGNED = 2**17  # bytes from which a result begins at a multiple of LINE; the 2 us this takes would slow smaller ones
LEAST = 2**19  # bytes from which a result is lent; smaller ones the allocator of C keeps better
LINE = 64  # bytes of a line of the cache, and of the largest stores: one that crosses lines takes twice as long
KEPT, MOST = 8, 512 * 2**20  # blocks that wait to be lent again, and bytes of them, at most


class MemoryBlocks:
    """Blocks of memory that are lent, and taken back.

    At most `kept` of them wait, and at most `most` bytes; the oldest are freed first. Every step is one that no thread
    can interrupt (a `deque` puts and takes atomically), as a block may come back at any moment, between any two lines.
    """

    def __init__(self, kept: int = KEPT, most: int = MOST) -> None:
        self.kept, self.most = kept, most
        self._waiting: deque[np.ndarray] = deque()

    @property
    def bytes(self) -> int:
        return sum(block.nbytes for block in list(self._waiting))

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return a new array of any content: of memory used before, if it is large."""
        size = math.prod(shape) * dtype.itemsize
        return np.asarray(_Loan(self, self._block(size), size)).view(dtype).reshape(shape)

    def _block(self, size: int) -> np.ndarray:
        """Return the last block that came back and is not much too large, or a new one."""
        others: list[np.ndarray] = []
        try:
            while True:
                block = self._waiting.pop()
                if size <= block.nbytes <= 2 * size:
                    return block
                others.append(block)
        except IndexError:
            return _aligned((size,), _BYTE)
        finally:
            self._waiting.extend(reversed(others))
            self._free_more_than_allowed()  # others may have come back meanwhile

    def back(self, block: np.ndarray) -> None:
        self._waiting.append(block)
        self._free_more_than_allowed()

    def _free_more_than_allowed(self) -> None:
        try:
            while len(self._waiting) > self.kept or self.bytes > self.most:
                self._waiting.popleft()
        except IndexError:  # two threads were about to free the last one
            return

    def clear(self) -> None:
        self._waiting.clear()


_BYTE = np.dtype(np.uint8)


def _aligned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an array of any content that begins at a multiple of LINE; the allocator of C gives 16 mod 64."""
    block: Any = np.empty(math.prod(shape) * dtype.itemsize + LINE, _BYTE)  # a buffer, which its type does not say
    first: Any = ctypes.c_char.from_buffer(block)
    start = -ctypes.addressof(first) % LINE  # a fourth of the time of block.ctypes.data
    return np.ndarray(shape, dtype, block, start)


@functools.cache
def _untrack() -> Callable[[object], None]:
    return ctypes.PYFUNCTYPE(None, ctypes.py_object)(("PyObject_GC_UnTrack", ctypes.pythonapi))


class _Loan:
    """Holds a block for the arrays that show it; the block goes back when the last of them is gone.

    The collector must not know it: that finalizes a ring of objects one after the other, whatever one of them brings
    back to life meanwhile, such as an array of this block. What the collector does not know goes with its last
    reference alone.
    """

    __slots__ = ("__array_interface__", "_block", "_blocks")

    def __init__(self, blocks: MemoryBlocks, block: np.ndarray, size: int) -> None:
        _untrack()(self)
        self._blocks, self._block = blocks, block
        self.__array_interface__: dict[str, Any] = {**block.__array_interface__, "shape": (size,)}

    def __reduce__(self) -> NoReturn:
        raise TypeError("memory on loan is not copied by itself; copy the array")  # a second loan of one block

    def __del__(self) -> None:
        self._blocks.back(self._block)


_RESULTS = MemoryBlocks()
_COUNTS = sys.implementation.name == "cpython" and "free-threading" not in sys.version
_LENDS = _COUNTS and os.environ.get("CARDAN_MEMORY_POOL", "").strip() != "0"


def empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    size = math.prod(shape) * dtype.itemsize
    if size < ALIGNED or not _LENDS:
        return np.empty(shape, dtype)
    return _RESULTS.empty(shape, dtype) if size >= LEAST else _aligned(shape, dtype)


def clear_memory() -> None:
    """Give back to the system the memory that is kept for large results; arrays that are in use stay as they are.

    Of results that nobody refers to any more, up to eight are kept, 512 MB together, if each has half a MB or more: the
    next result of that size needs no new memory, which can take longer than to compute it. Setting CARDAN_MEMORY_POOL=0
    in the environment before cardan is imported keeps none.

    Examples:
        >>> cardan.clear_memory()
    """
    _RESULTS.clear()


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the collector of cycles.

    A trace, or a plan of machine code, makes a hundred thousand tuples that live on, and no cycles.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
