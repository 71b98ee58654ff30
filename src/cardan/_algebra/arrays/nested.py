"""Nested values and the scalars in them: arrays, tuples, lists, spatial objects, and what says what it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cardan._algebra.arrays.symbolic import symbolic


def shape_of(value: Any) -> Any:
    """Return the shape of nested values: () for a scalar, that of an array, a list of those of a sequence's entries."""
    if isinstance(value, np.ndarray):
        return value.shape
    return [shape_of(part) for part in value] if isinstance(value, (tuple, list)) else ()


def entries_of(value: Any) -> Iterator[Any]:
    """Yield the scalars of nested values. An object of another class may say what it is made of (`__parts__`)."""
    if isinstance(value, np.ndarray):
        yield from value.ravel().tolist()
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from entries_of(part)
    elif hasattr(type(value), "__parts__"):
        yield from entries_of(value.__parts__())
    else:
        yield value


def rebuilt(template: Any, entries: Iterator[Any]) -> Any:
    """Return other entries in the form of a value."""
    if isinstance(template, np.ndarray):
        return symbolic((next(entries) for _ in range(template.size)), template.shape)
    if isinstance(template, list):
        return [rebuilt(part, entries) for part in template]
    if isinstance(template, tuple):
        return tuple.__new__(type(template), [rebuilt(part, entries) for part in template])
    if hasattr(type(template), "__parts__"):
        return type(template).__of_parts__(rebuilt(template.__parts__(), entries))
    return next(entries)
