"""Arrays as a kernel sees them: where the row of the first state begins, and how far it is to that of the next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np


class Buffer(NamedTuple):
    address: int  # of the first entry of the first row
    rows: int  # how many, for who computes them; one may serve all states (stride 0)
    entries: int  # of a row, one after the other
    # entries from the beginning of a row to that of the next: 0 where all states share one; may be negative
    stride: int
    dtype: np.dtype  # float64 or float32
    device: int  # its number
    owner: Any = None  # what keeps the memory from being freed

    @property
    def span(self) -> tuple[int, int]:
        reach = self.stride * (self.rows - 1)
        first, behind = min(0, reach), max(0, reach) + self.entries
        size = self.dtype.itemsize if self.rows and self.entries else 0
        return self.address + size * first, self.address + size * behind


def overlap(a: Buffer, b: Buffer) -> bool:
    (start, stop), (first, last) = a.span, b.span
    return a.device == b.device and max(start, first) < min(stop, last)


def row_stride(shape: Sequence[int], strides: Sequence[int], core: Sequence[int], batch: Sequence[int]) -> int | None:
    """Return how many entries it is from the row of a state to that of the next: 0 if all states share one.

    None says that there is no one stride, or that a row lies in pieces. Shape and strides, in entries, are those of an
    array (..., core); its leading dimensions are broadcast to the batch.
    """
    lead = len(shape) - len(core)
    if not _is_in_order(shape[lead:], strides[lead:]):
        return None
    padded = [0] * (len(batch) - lead) + [0 if n == 1 else s for n, s in zip(shape[:lead], strides[:lead], strict=True)]
    steps = [(n, s) for n, s in zip(batch, padded, strict=True) if n != 1]
    if not steps or not math.prod(batch):
        return 0
    for (_, outer), (n, inner) in pairwise(steps):
        if outer != n * inner:
            return None
    return steps[-1][1]


def _is_in_order(shape: Sequence[int], strides: Sequence[int]) -> bool:
    expected = 1
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n != 1 and stride != expected:
            return math.prod(shape) == 0
        expected *= n
    return True
