"""What a kernel calls that Python has not: as Python functions, which say what is computed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from cardan._compiler.kernels.types import WIDTH

floor, unrolled = math.floor, range
PROGRAMS: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""Programs and bound kernels, by the addresses that kernels know them by."""


def fma(a: Any, b: Any, c: Any) -> Any:
    """Return a b + c, rounded once; of vectors entry by entry, of which a number is one with equal entries."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) or isinstance(c, np.ndarray):
        rows = zip(*(np.broadcast_to(np.asarray(e, dtype=float), WIDTH).tolist() for e in (a, b, c)), strict=True)
        return np.array([fma(*row) for row in rows])
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact) if exact else a * b + c
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def sqrt(x: Any) -> Any:
    """Return the square root of a number, or of each entry of a vector."""
    return np.sqrt(x) if isinstance(x, np.ndarray) else math.sqrt(x)


def greater(a: Any, b: Any) -> Any:
    """Return the greater entries of two vectors or numbers, and those of the first where one is NaN."""
    return np.where(b > a, b, a)


def are_positive(x: Any) -> bool:
    """Return whether no entry of a vector is negative or NaN."""
    return bool((x >= 0.0).all())


def is_any(condition: bool) -> bool:
    """Return a condition; in a kernel across cases, whether it holds in any."""
    return condition


def turn(given: Any, at: int, by: int, to: Any, own: int, step: int) -> None:
    """Write the columns of eight vectors from `at` on, from `own` on; steps lie between those of each."""
    to[own : own + WIDTH * step : step] = np.array(given[at : at + WIDTH * by : by]).T


def scratch(*shape: int) -> Any:
    """Return an array of doubles of a fixed shape for this call of a kernel; what is in it is not known."""
    return np.full(shape, np.nan)


def vectors(*shape: int) -> Any:
    """Return an array of vectors likewise."""
    return np.full((*shape, WIDTH), np.nan)


def tail(array: Any, first: int) -> Any:
    """Return a view of an array from a row on."""
    return array[first:]


def run(program: Any, rows: int, first: int = 0) -> None:
    """Run a program, or the one at an address, on so many rows of its arrays."""
    if rows > 0:
        (PROGRAMS[program] if isinstance(program, int) else program)(rows, first)


def call(bound: int) -> None:
    """Call a kernel that is bound to its arguments, by its address."""
    PROGRAMS[bound]()


def lowest_one(bits: int) -> int:
    """Return the place of the lowest bit that is 1; 64 if none is."""
    return (bits & -bits).bit_length() - 1 if bits else 64
