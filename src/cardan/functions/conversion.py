"""A second try for a call that the fast path refused: its arguments converted to arrays that it takes.

A list, a column of a trajectory, whole numbers, float32 beside float64, one state for a batch: all are right, and few
in a control loop are large. They are converted here by the rules of `checked_batch`, in a microsecond or two, and what
else is wrong with them is left to it: it has the words for it.
"""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_
from typing import Any

import numpy as np

from cardan.functions.arguments import PIECE, common_dtype
from cardan.runtime.threads import NUMBER


class SecondTry:
    """What a fast path leaves a call to: it is tried once more with converted arguments, else goes the long way.

    Args:
        cores: core shapes of the arrays.
        slow: the long way, which takes the arguments as they came.
        complete: returns all arrays, in order, of those by position and those by keyword; None if all come by position.
    """

    __slots__ = ("_complete", "_cores", "_fast", "_slow")

    def __init__(
        self,
        cores: Iterable[tuple[int, ...]],
        slow: Callable[..., Any],
        complete: Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Any, ...]] | None = None,
    ) -> None:
        self._cores, self._slow, self._complete = tuple(cores), slow, complete
        self._fast: Callable[[], Any] = lambda: None

    def of(self, fast: Callable[..., Any]) -> None:
        """Say which fast path it is; it is not kept alive."""
        self._fast = weakref.ref(fast)

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Return the result of a call that the fast path refused."""
        given = {"out": named.pop("out")} if "out" in named else {}
        whole = arrays
        if self._complete is not None and (named or len(arrays) != len(self._cores)):
            whole = self._complete(arrays, named)
        ready, fast = converted(self._cores, whole), self._fast()
        if fast is None or (ready is None and whole is arrays):  # as it came: another try would end here again
            return self._slow(*whole, **given)
        return fast(*(ready or whole), **given)


def converted(cores: tuple[tuple[int, ...], ...], values: Sequence[Any]) -> list[np.ndarray] | None:
    """Return arguments as contiguous arrays of one dtype and batch; None if they are, or if that is not for here.

    Args:
        cores: core shapes of the arrays.
        values: numbers, lists and arrays.
    """
    arrays = [value if type(value) is np.ndarray else _array(value) for value in values]
    dtype = _common(*[array.dtype for array in arrays])
    shapes = _broadcast(cores, *[array.shape for array in arrays])
    if dtype is None or shapes is None:
        return None
    ready = [
        array
        if array.dtype == dtype and array.flags.c_contiguous and array.shape == shape
        else _copied(array, shape, dtype)
        for array, shape in zip(arrays, shapes, strict=True)
    ]
    return None if all(map(is_, ready, values)) else ready


_COMMON = frozenset({float, int, list, tuple})
_NUMBERS = (np.generic, *_COMMON)
_OTHERS = np.empty((), dtype=object)
"""Stands for what the long way has rules for: it is refused as no array of real numbers."""


def _array(value: Any) -> np.ndarray:
    """Return numbers as an array."""
    if type(value) not in _COMMON and not isinstance(value, _NUMBERS):  # the first is quicker
        return _OTHERS
    try:
        return np.asarray(value)
    except Exception:  # ragged, or of another library's symbols: the long way knows
        return _OTHERS


@functools.lru_cache(maxsize=256)
def _common(*dtypes: np.dtype) -> np.dtype | None:
    """Return the dtype to calculate in; None if one of these is no real number's."""
    return common_dtype(dtypes) if all(d.kind in "fiu" for d in dtypes) else None


@functools.lru_cache(maxsize=256)
def _broadcast(cores: tuple[tuple[int, ...], ...], *shapes: tuple[int, ...]) -> list[tuple[int, ...]] | None:
    """Return the shapes that arrays are broadcast to; None if there are none, or too many rows.

    What the long way takes is little beside many rows, and it copies one row for many in pieces.
    """
    sizes = [len(shape) - len(core) for shape, core in zip(shapes, cores, strict=True)]
    if any(shape[size:] != core for shape, size, core in zip(shapes, sizes, cores, strict=True)):
        return None
    try:
        batch = np.broadcast_shapes(*(shape[:size] for shape, size in zip(shapes, sizes, strict=True)))
    except (ValueError, RuntimeError):  # they do not broadcast, or have too many dimensions
        return None
    full = [batch + core for core in cores]
    return full if NUMBER * max(map(math.prod, full)) <= PIECE else None


def _copied(array: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return a contiguous copy, broadcast to a shape."""
    copy = np.empty(shape, dtype)
    copy[...] = array
    return copy
