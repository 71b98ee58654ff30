"""Numbers as they are given: a whole one, one above 0 or not below it, or several; a truth value, or a seed."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError


def whole(what: str, value: Any, least: int, most: int | None = None, hint: str = "") -> int:
    """Return a whole number from the least to the most; `ParameterError` for all else, truth values included."""
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most):
        expected = f"a whole number >= {least}" if most is None else f"a whole number from {least} to {most}"
        raise ParameterError(what, got=value, expected=expected, hint=hint)
    return number


def generator(what: str, seed: Any) -> np.random.Generator:
    """Return what makes random numbers, of anything that NumPy makes one of; `ParameterError` for all else."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ParameterError(what, got=seed, expected="a whole number >= 0, or a numpy.random.Generator") from None


def batch_shape(what: str, shape: Any) -> tuple[int, ...]:
    """Return the shape of a batch from its numbers or from the only one; `ParameterError` for all else."""
    try:
        sizes = tuple(shape)
    except TypeError:
        sizes = (shape,)
    return tuple(whole(what, size, 0) for size in sizes)


def positive(what: str, value: Any, unit: str = "", *, unlimited: bool = False, or_zero: bool = False) -> float:
    """Return a positive number, infinite only if it may be unlimited; raise `ParameterError` for anything else."""
    kind = f"a {'' if unlimited else 'finite '}number {'>=' if or_zero else '>'} 0"
    expected = kind + f" [{unit}]" * bool(unit) + ", infinite for no limit" * unlimited
    least, most = 0.0 if or_zero else math.ulp(0.0), math.inf if unlimited else sys.float_info.max
    return number(what, value, expected, lambda x: least <= x <= most)


def not_negative(what: str, value: Any, unit: str = "") -> float:
    """Return a finite number that is not below 0; raise `ParameterError` for anything else."""
    return positive(what, value, unit, or_zero=True)


def number(what: str, value: Any, expected: str, is_right: Callable[[float], bool] = math.isfinite) -> float:
    """Return one number that is right, which NaN is not; raise `ParameterError` for anything else, texts included."""
    try:
        found = _as_float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not is_right(found):
        raise ParameterError(what, got=value, expected=expected)
    return found


def numbers(
    what: str,
    values: Any,
    expected: str,
    is_right: Callable[[float], bool] = math.isfinite,
    *,
    count: int | None = None,
    least: int = 0,
) -> tuple[float, ...]:
    """Return so many numbers as floats, each of which is right; `ParameterError` for all else, texts included."""
    try:
        if isinstance(values, (bytes, bytearray)):  # whose entries are numbers
            raise TypeError
        found = tuple(map(_as_float, values))
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(what, got=values, expected=expected) from None
    if len(found) < least or count not in (None, len(found)) or not all(map(is_right, found)):
        raise ParameterError(what, got=found if len(found) != 1 else found[0], expected=expected)
    return found


def _as_float(value: Any) -> float:
    own = _own(value)
    if isinstance(own, (bool, str, bytes, bytearray)):  # which Python would read
        raise TypeError
    return float(own)


def _own(value: Any) -> Any:
    """Return what an array without axes holds, also of other libraries: it reads texts, and drops imaginary parts."""
    return value.item() if getattr(value, "shape", None) == () else value


def truth(what: str, value: Any) -> bool:
    """Return a truth value; `ParameterError` for all else, such as `"no"`, which Python takes for true.

    An array without axes may be one, as number checks have it, also of other libraries.
    """
    own = _own(value)
    if not isinstance(own, bool):
        raise ParameterError(what, got=value, expected="True or False")
    return own
