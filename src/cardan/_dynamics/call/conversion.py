"""A second try for a call that the fast path refused: its arguments converted to arrays that it takes.

A list, a column of a trajectory, whole numbers, float32 besides float64, one state for a batch: all are right, and few
in a control loop are large. They are converted here by the rules of `checked_batch`, in a microsecond or two.
Whatever else is wrong with them is left to it: it has the words for it.
"""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter, is_
from typing import Any

import numpy as np
from numpy import ndarray

from cardan._compiler.runtime.threads import NUMBER
from cardan._dynamics.call.arguments import PIECE, common_dtype


class SecondTry:
    """What a fast path leaves a call to: it is tried once more with converted arguments, else goes the `slow` way.

    That takes the arguments as they came. `complete` returns all arrays, in order, of those by position and those by
    keyword; it is None if all come by position. `alone` has the places of arguments that the long way knows by being
    one number: they are not made a batch here.
    """

    __slots__ = ("_alone", "_complete", "_cores", "_fast", "_slow")

    def __init__(
        self,
        cores: Iterable[tuple[int, ...]],
        slow: Callable[..., Any],
        complete: Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Any, ...]] | None = None,
        alone: Iterable[int] = (),
    ) -> None:
        self._cores, self._slow, self._complete, self._alone = tuple(cores), slow, complete, tuple(alone)
        self._fast: Callable[[], Any] = lambda: None

    def of(self, fast: Callable[..., Any]) -> None:
        """Say which fast path it is; it is not kept alive."""
        self._fast = weakref.ref(fast)

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        out = {"out": named.pop("out")} if "out" in named else {}
        fast = self._fast() or self._slow
        if self._complete is not None and (named or len(arrays) != len(self._cores)):
            return fast(*self._complete(arrays, named), **out)
        ready = converted(self._cores, arrays)
        if ready is None or any(ready[k].ndim for k in self._alone):
            return self._slow(*arrays, **out)
        return fast(*ready, **out)


def converted(cores: tuple[tuple[int, ...], ...], values: Sequence[Any]) -> list[np.ndarray] | None:
    """Return arguments as contiguous arrays of one dtype and batch; None if they are, or if that is not for here."""
    arrays = [value if type(value) is ndarray else _array(value) for value in values]
    plan = _plan(cores, *map(_kind, arrays))
    if plan is None:
        return None
    ready = [
        array if fits and array.flags.c_contiguous else _copied(array, shape, dtype)
        for array, (fits, shape, dtype) in zip(arrays, plan, strict=True)
    ]
    return None if all(map(is_, ready, values)) else ready


_kind = attrgetter("shape", "dtype")
_COMMON = frozenset({float, int, list, tuple})
_NUMBERS = (np.generic, *_COMMON)
_OTHERS = np.empty((), dtype=object)
"""Stands for what the long way has rules for: it is refused as no array of real numbers."""


def _array(value: Any) -> np.ndarray:
    if type(value) not in _COMMON and not isinstance(value, _NUMBERS):  # the first is quicker
        return _OTHERS
    try:
        return np.asarray(value)
    except Exception:  # ragged, or of another library's symbols: the long way knows
        return _OTHERS


@functools.lru_cache(maxsize=256)
def _plan(
    cores: tuple[tuple[int, ...], ...], *kinds: tuple[tuple[int, ...], np.dtype]
) -> list[tuple[bool, tuple[int, ...], np.dtype]] | None:
    """Return what arrays of these shapes and dtypes must become: shape and dtype, and whether they have them.

    None for those that `checked_batch` refuses, and for many rows: these take longer than the long way, which copies
    one row for many in pieces.
    """
    sizes = [len(shape) - len(core) for (shape, _), core in zip(kinds, cores, strict=True)]
    pairs = list(zip(kinds, sizes, strict=True))
    if any(dtype.kind not in "fiu" for _, dtype in kinds) or cores != tuple(shape[n:] for (shape, _), n in pairs):
        return None
    try:
        batch = np.broadcast_shapes(*(shape[:n] for (shape, _), n in pairs))
    except (ValueError, RuntimeError):  # they do not broadcast, or have too many dimensions
        return None
    full, dtype = [batch + core for core in cores], common_dtype(found for _, found in kinds)
    if NUMBER * max(map(math.prod, full)) > PIECE:
        return None
    return [(kind == (shape, dtype), shape, dtype) for kind, shape in zip(kinds, full, strict=True)]


def _copied(array: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    copy = np.empty(shape, dtype)
    copy[...] = array  # broadcasts in C; `np.broadcast_to` is twenty calls of Python
    return copy
